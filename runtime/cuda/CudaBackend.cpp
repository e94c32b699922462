// runtime/cuda/CudaBackend.cpp -- see CudaBackend.h.
#include "runtime/cuda/CudaBackend.h"
#include "runtime/cuda/Error.h"
#include "runtime/cuda/Memory.h"
#include "runtime/cuda/Stream.h"
#include <algorithm>
#include <optional>

namespace tiletwin::cuda {
namespace {

constexpr uintptr_t kAlignment = 256; // of the driver's allocations

class CudaKernel : public LoadedKernel {
public:
  explicit CudaKernel(std::shared_ptr<const Kernel> loaded) : kernel(std::move(loaded)) {}
  const std::string& name() const override { return kernel->name(); }
  std::span<const DType> argumentTypes() const override { return types; }
  std::shared_ptr<const Kernel> kernel;
  std::vector<DType> types;
  std::array<uint32_t, 3> requiredThreads{};
};

/// False with `error` set: a parameter is a structure.
bool readTypes(CudaKernel& loaded, std::string& error) {
  const Kernel& kernel = *loaded.kernel;
  auto isStructure = [&](size_t index, uint32_t bytes) {
    error = kernel.name() + ": parameter " + std::to_string(index) + " is a structure of " + std::to_string(bytes) +
            " bytes; a backend's launch passes numbers and pointers";
    return false;
  };
  if (const PtxEntry* entry = kernel.module().facts().ptx.find(kernel.name())) {
    for (const PtxParameter& parameter : entry->parameters) {
      if (!PtxEntry::isNumber(parameter)) return isStructure(loaded.types.size(), parameter.bytes);
      loaded.types.push_back(parameter.isPointer ? DType::Ptr : parameterType(parameter.type, parameter.bytes));
    }
    loaded.requiredThreads = entry->requiredThreads;
    return true;
  }
  if (!kernel.knowsParameters()) {
    error = kernel.name() + ": the image does not tell its kernels' parameters: give PTX";
    return false;
  }
  for (const ParameterPlace& place : kernel.parameters()) {
    if (place.bytes > sizeof(KernelArgument::bits)) return isStructure(loaded.types.size(), place.bytes);
    loaded.types.push_back(parameterType({}, place.bytes));
  }
  return true;
}

/// A range of host memory and its copy on the GPU.
struct Copied {
  uintptr_t begin, end;
  std::unique_ptr<DeviceMemory> memory;
  DevicePointer address = 0; ///< of `begin`
};

/// The buffers of a launch on the GPU; ranges that overlap or touch are one.
class LaunchBuffers {
public:
  LaunchBuffers(Device& device, std::span<const Buffer> buffers, StreamHandle stream)
      : device_(device), stream_(stream) {
    std::vector<const Buffer*> sorted;
    for (const Buffer& buffer : buffers)
      if (buffer.begin < buffer.end) sorted.push_back(&buffer);
    std::sort(sorted.begin(), sorted.end(), [](const Buffer* a, const Buffer* b) { return a->begin < b->begin; });
    for (const Buffer* buffer : sorted) {
      if (!ranges_.empty() && buffer->begin < ranges_.back().end)
        ranges_.back().end = std::max(ranges_.back().end, buffer->end);
      else
        ranges_.push_back({buffer->begin, buffer->end, nullptr});
    }
    for (Copied& range : ranges_) {
      const uintptr_t shift = range.begin % kAlignment;
      range.memory = std::make_unique<DeviceMemory>(device, range.end - range.begin + shift);
      range.address = range.memory->address() + shift;
      copyToDevice(device, range.address, reinterpret_cast<const void*>(range.begin), range.end - range.begin, stream);
    }
  }

  /// Where the GPU has what the host has at `address`; nothing: in no buffer. One past the end of a buffer counts as in it.
  std::optional<DevicePointer> translate(uintptr_t address, const Buffer& buffer) const {
    for (const Copied& range : ranges_)
      if (buffer.begin >= range.begin && buffer.begin < range.end)
        return range.address + (address - range.begin); // may lie outside: kernels may be given such pointers
    return std::nullopt;
  }

  void copyBack() {
    for (const Copied& range : ranges_)
      copyToHost(device_, reinterpret_cast<void*>(range.begin), range.address, range.end - range.begin, stream_);
    synchronize(device_, stream_);
  }

private:
  Device& device_;
  StreamHandle stream_;
  std::vector<Copied> ranges_; // sorted
};

/// The trap of an error of a launch; kind None: it is no trap.
Trap trapOf(const Error& error) {
  switch (error.kind) {
  case ErrorKind::Resources:
  case ErrorKind::Launch:
  case ErrorKind::Argument: return Trap::of(TrapKind::InvalidValue, error.what());
  case ErrorKind::Memory: return Trap::of(TrapKind::OutOfMemory, error.what());
  case ErrorKind::DriverTooOld: return Trap::of(TrapKind::Unsupported, error.what());
  case ErrorKind::Fault: {
    const TrapKind kind = trapOfFault(error.code);
    return kind == TrapKind::None ? Trap() : Trap::of(kind, error.what());
  }
  default: return {};
  }
}

LaunchShape shapeOf(const CudaKernel& kernel, const Launch& launch, StreamHandle stream) {
  LaunchShape shape;
  shape.stream = stream;
  shape.sharedBytes = uint32_t(std::max(launch.sharedBytes, 0));
  const bool hasBlock = launch.block != std::array<int32_t, 3>{};
  for (size_t i = 0; i < 3; ++i) {
    shape.grid[i] = uint32_t(std::max(launch.grid[i], 0));
    shape.block[i] = hasBlock ? uint32_t(std::max(launch.block[i], 1)) : std::max(kernel.requiredThreads[i], 1u);
    if (launch.cluster[0] > 0) shape.cluster[i] = uint32_t(std::max(launch.cluster[i], 1));
  }
  return shape;
}

/// `launched`: set when the kernel is on its way; a fault before is an earlier kernel's.
Trap runOn(const CudaKernel& loaded, const Launch& launch, bool& launched) {
  const Kernel& kernel = *loaded.kernel;
  if (launch.arguments.size() != loaded.types.size())
    return Trap::of(TrapKind::InvalidValue, kernel.name() + " takes " + std::to_string(loaded.types.size()) +
                                                " arguments, not " + std::to_string(launch.arguments.size()));
  Stream stream(kernel.device());
  LaunchBuffers buffers(kernel.device(), launch.buffers, stream.handle());
  std::vector<uint64_t> bits(launch.arguments.size() + 1);
  std::vector<void*> parameters(bits.size());
  for (size_t i = 0; i < launch.arguments.size(); ++i) {
    const KernelArgument& argument = launch.arguments[i];
    bits[i] = argument.bits;
    parameters[i] = &bits[i];
    if (argument.buffer < 0) continue;
    if (size_t(argument.buffer) >= launch.buffers.size())
      return Trap::of(TrapKind::InvalidValue, kernel.name() + ": argument " + std::to_string(i) + " names buffer " +
                                                  std::to_string(argument.buffer) + " of " +
                                                  std::to_string(launch.buffers.size()));
    bits[i] = buffers.translate(uintptr_t(argument.bits), launch.buffers[size_t(argument.buffer)]).value_or(bits[i]);
  }
  kernel.launch(shapeOf(loaded, launch, stream.handle()), parameters.data());
  launched = true;
  buffers.copyBack();
  return {};
}

} // namespace

std::shared_ptr<const LoadedKernel> CudaBackend::load(std::span<const std::byte> bytes, std::string_view entry,
                                                      std::string& error) {
  try {
    auto module = Module::load(Device::get(device_), bytes, std::string(entry), options_);
    auto loaded = std::make_shared<CudaKernel>(Kernel::find(std::move(module), std::string(entry)));
    return readTypes(*loaded, error) ? loaded : nullptr;
  } catch (const Error& refused) {
    error = refused.what();
    return nullptr;
  }
}

Outcome CudaBackend::run(const LoadedKernel& loaded, const Launch& launch) {
  Outcome outcome;
  bool launched = false;
  try {
    outcome.trap = runOn(static_cast<const CudaKernel&>(loaded), launch, launched);
  } catch (const Error& error) {
    if (error.kind != ErrorKind::Fault || launched) outcome.trap = trapOf(error);
    if (!outcome.trap) throw;
  }
  return outcome;
}

} // namespace tiletwin::cuda
