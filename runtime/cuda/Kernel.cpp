// runtime/cuda/Kernel.cpp -- see Kernel.h.
#include "runtime/cuda/Kernel.h"
#include "runtime/cuda/ExplainLaunch.h"
#include "runtime/cuda/RecentLaunches.h"
#include <algorithm>

namespace tiletwin::cuda {
namespace {

struct AttributeRow {
  FunctionAttribute attribute;
  int KernelAttributes::* member;
};
constexpr AttributeRow kAttributes[] = {
    {kFunctionMaxThreads, &KernelAttributes::maxThreads},
    {kFunctionSharedBytes, &KernelAttributes::sharedBytes},
    {kFunctionConstBytes, &KernelAttributes::constBytes},
    {kFunctionLocalBytes, &KernelAttributes::localBytes},
    {kFunctionRegisters, &KernelAttributes::registers},
    {kFunctionBinaryVersion, &KernelAttributes::capability},
    {kFunctionMaxDynamicShared, &KernelAttributes::maxDynamicShared},
};

std::string listOf(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

Error noSuchEntry(const Module& module, const std::string& entry) {
  std::string text = module.name() + " has no entry " + entry;
  try {
    text += "; it has " + listOf(module.entries());
  } catch (const Error&) {} // an old driver does not tell
  return Error(ErrorKind::Image, text, kNotFound);
}

} // namespace

std::shared_ptr<const Kernel> Kernel::find(std::shared_ptr<const Module> module, const std::string& entry) {
  std::shared_ptr<Kernel> kernel(new Kernel(std::move(module)));
  const Module& from = *kernel->module_;
  const Driver& driver = Driver::get();
  ContextScope context(from.device());
  CaptureIsUnaffected capture;
  const Result result = driver.cuModuleGetFunction(&kernel->handle_, from.handle(), entry.c_str());
  if (result == kNotFound) throw noSuchEntry(from, entry);
  check(result, "cuModuleGetFunction", [&] { return from.name() + ", entry " + entry; });
  kernel->name_ = entry;
  kernel->interned_ = internName(entry);
  // Otherwise a driver that loads lazily would do it at the first launch, which may be inside a capture.
  if (driver.cuFuncLoad) check(driver.cuFuncLoad(kernel->handle_), "cuFuncLoad", [&] { return entry; });
  kernel->readAttributes();
  kernel->readParameters();
  return kernel;
}

void Kernel::readAttributes() {
  const Driver& driver = Driver::get();
  for (const AttributeRow& row : kAttributes)
    check(driver.cuFuncGetAttribute(&(attributes_.*row.member), row.attribute, handle_), "cuFuncGetAttribute",
          [&] { return name_; });
  allowedShared_ = uint32_t(std::max(attributes_.maxDynamicShared, 0));
  attributes_.maxDynamicShared = device().maxSharedPerBlock() - attributes_.sharedBytes;
}

void Kernel::readParameters() {
  // cuFuncGetParamInfo would tell them too, but not how many there are: asking for one too many is an error that
  // compute-sanitizer reports.
  if (const PtxEntry* entry = module_->facts().ptx.find(name_)) {
    for (const PtxParameter& parameter : entry->parameters) parameters_.push_back({parameter.offset, parameter.bytes});
    knowsParameters_ = true;
  } else if (auto places = parametersOfCubin(module_->image(), name_)) {
    parameters_ = std::move(*places);
    knowsParameters_ = true;
  }
}

uint32_t Kernel::parameterBytes() const {
  return parameters_.empty() ? 0 : parameters_.back().offset + parameters_.back().bytes;
}

void Kernel::raiseShared(uint32_t bytes) const {
  if (int64_t(bytes) > attributes_.maxDynamicShared) {
    const int64_t required = int64_t(bytes) + attributes_.sharedBytes;
    throw Error::resources(name_ + " on " + device().text() + ": a block needs " + std::to_string(required) +
                               " bytes of shared memory (" + std::to_string(bytes) + " dynamic, " +
                               std::to_string(attributes_.sharedBytes) +
                               " of the kernel's own variables); this GPU has " +
                               std::to_string(device().maxSharedPerBlock()) + " for a block",
                           "shared memory", required, device().maxSharedPerBlock());
  }
  std::lock_guard lock(limitsMutex_);
  if (bytes <= allowedShared_.load(std::memory_order_relaxed)) return;
  check(Driver::get().cuFuncSetAttribute(handle_, kFunctionMaxDynamicShared, int(bytes)), "cuFuncSetAttribute",
        [&] { return name_ + ": allowing " + std::to_string(bytes) + " bytes of dynamic shared memory"; });
  allowedShared_.store(bytes, std::memory_order_release);
}

void Kernel::prepare(const LaunchShape& shape) const {
  ContextScope context(device());
  if (shape.sharedBytes > allowedShared_.load(std::memory_order_acquire)) raiseShared(shape.sharedBytes);
  const uint64_t blocks = uint64_t(shape.cluster[0]) * shape.cluster[1] * shape.cluster[2];
  if (blocks <= kPortableCluster || allowsLargeClusters_.load(std::memory_order_acquire)) return;
  std::lock_guard lock(limitsMutex_);
  check(Driver::get().cuFuncSetAttribute(handle_, kFunctionNonPortableCluster, 1), "cuFuncSetAttribute",
        [&] { return name_ + ": allowing clusters of " + std::to_string(blocks) + " blocks"; });
  allowsLargeClusters_.store(true, std::memory_order_release);
}

void Kernel::launch(const LaunchShape& shape, void** parameters) const { launch(shape, parameters, nullptr); }

void Kernel::launchBlock(const LaunchShape& shape, std::span<const std::byte> parameters) const {
  if (knowsParameters_ && parameters.size() != parameterBytes())
    throw Error(ErrorKind::Argument, name_ + " takes " + std::to_string(parameterBytes()) +
                                         " bytes of parameters, not " + std::to_string(parameters.size()));
  auto* block = const_cast<std::byte*>(parameters.data()); // the driver only reads it
  if (knowsParameters_ && parameters_.size() <= kMostParameters) {
    // The driver knows where the machine code wants each one, which need not be where the block has it.
    std::array<void*, kMostParameters> addresses;
    for (size_t i = 0; i < parameters_.size(); ++i) addresses[i] = block + parameters_[i].offset;
    return launch(shape, addresses.data(), nullptr);
  }
  size_t bytes = parameters.size();
  void* extra[] = {kLaunchBufferPointer, block, kLaunchBufferSize, &bytes, nullptr};
  launch(shape, nullptr, bytes ? extra : nullptr);
}

void Kernel::launch(const LaunchShape& shape, void** parameters, void** extra) const {
  const Driver& driver = Driver::get();
  ContextScope context(device());
  const bool hasCluster = shape.cluster[0] != 0;
  if (hasCluster || shape.sharedBytes > allowedShared_.load(std::memory_order_acquire)) prepare(shape);
  if (!hasCluster && !shape.cooperative && !shape.programmatic) {
    const Result result =
        driver.cuLaunchKernel(handle_, shape.grid[0], shape.grid[1], shape.grid[2], shape.block[0], shape.block[1],
                              shape.block[2], shape.sharedBytes, shape.stream, parameters, extra);
    if (result != kSuccess) failLaunch(result, "cuLaunchKernel", *this, shape);
  } else {
    if (!driver.cuLaunchKernelEx)
      driver.lacks("cuLaunchKernelEx",
                   describeLaunch(*this, shape) + ": a launch with clusters, cooperative or programmatic");
    LaunchAttribute attributes[3] = {};
    LaunchConfig config{shape.grid[0],  shape.grid[1],     shape.grid[2], shape.block[0], shape.block[1],
                        shape.block[2], shape.sharedBytes, shape.stream,  attributes,     0};
    auto add = [&](LaunchAttributeId id) -> LaunchAttribute& {
      LaunchAttribute& attribute = attributes[config.attributeCount++];
      attribute.id = id;
      return attribute;
    };
    if (hasCluster) add(kLaunchClusterDimension).cluster = {shape.cluster[0], shape.cluster[1], shape.cluster[2]};
    if (shape.cooperative) add(kLaunchCooperative).flag = 1;
    if (shape.programmatic) add(kLaunchProgrammatic).flag = 1;
    const Result result = driver.cuLaunchKernelEx(&config, handle_, parameters, extra);
    if (result != kSuccess) failLaunch(result, "cuLaunchKernelEx", *this, shape);
  }
  noteLaunch({interned_, device().ordinal(), shape.grid, shape.block, shape.sharedBytes});
}

int Kernel::residentBlocks(uint32_t threads, uint32_t sharedBytes) const {
  ContextScope context(device());
  int blocks = 0;
  check(Driver::get().cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, handle_, int(threads), sharedBytes),
        "cuOccupancyMaxActiveBlocksPerMultiprocessor", [&] { return name_; });
  return blocks;
}

} // namespace tiletwin::cuda
