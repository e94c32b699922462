// sim/driver/Code.cpp -- see Code.h.
#include "sim/driver/Code.h"
#include "sim/driver/DeviceMemory.h"
#include "sim/driver/DeviceRuntime.h"
#include "sim/driver/LinkPtx.h"
#include "sim/driver/VirtualDevice.h"
#include "sim/machine/Program.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace tiletwin::driver {
namespace {

constexpr int kMostRegisters = 255, kLeastRegisters = 16, kBytesOfRegisterInWarp = 32 * 4;
constexpr int kVersionOfPtx = 10; // 10 * major + minor, as attributes count

} // namespace

// ---- Functions --------------------------------------------------------------------------------------------------------------------

/// Without machine code an estimate: what the simulator's placing of registers takes, within what a GPU has.
int Function::registers() const {
  if (const int noted = module->notedRegisters(kernel->name())) return noted;
  const sim::FunctionCode& code = kernel->program().entryCode();
  const int placed = int(code.registerBytes / kBytesOfRegisterInWarp);
  const int own = kernel->function().maxRegisters, given = module->maxRegisters();
  const int most = std::min(own > 0 ? own : kMostRegisters, given > 0 ? given : kMostRegisters);
  return std::min(std::max(placed, kLeastRegisters), std::min(most, kMostRegisters));
}

int Function::maxThreads() const {
  const auto volume = [](const std::array<int32_t, 3>& d) {
    return std::max(d[0], 1) * std::max(d[1], 1) * std::max(d[2], 1);
  };
  const sim::ptx::Function& f = kernel->function();
  constexpr int kMost = 1024;
  if (f.requiredThreads[0]) return std::min(volume(f.requiredThreads), kMost);
  if (f.maxThreads[0]) return std::min(volume(f.maxThreads), kMost);
  // Registers come in groups of 8 for a thread, threads in warps.
  const int ofThread = (registers() + 7) / 8 * 8;
  return std::min(kMost, module->context().device.limits().registersPerMultiprocessor / ofThread / 32 * 32);
}

int Function::maxDynamicShared() const {
  if (settings.dynamicShared >= 0) return settings.dynamicShared;
  return std::max(module->context().device.limits().sharedPerBlock - int(kernel->staticShared()), 0);
}

Result Function::attribute(int number, int& value) const {
  const sim::ptx::Module& source = *kernel->program().module;
  const Limits& limits = module->context().device.limits();
  const std::array<int32_t, 3>& required = kernel->function().requiredCluster;
  const auto cluster = [&](size_t i) { return required[0] ? std::max(required[i], 1) : settings.cluster[i].load(); };
  switch (number) {
  case kFunctionMaxThreadsPerBlock: value = maxThreads(); break;
  case kFunctionSharedSize: value = int(kernel->staticShared()); break;
  case kFunctionConstSize:
    value = 0;
    for (const sim::ptx::Variable& v : source.variables)
      if (v.space == sim::ptx::Space::Const) value += int(v.bytes);
    break;
  case kFunctionLocalSize: value = int(kernel->program().entryCode().localBytes); break;
  case kFunctionNumRegisters: value = registers(); break;
  case kFunctionPtx: value = source.major * kVersionOfPtx + source.minor; break;
  case kFunctionBinary: value = limits.major * kVersionOfPtx + limits.minor; break;
  case kFunctionCacheModeCa: value = 0; break;
  case kFunctionMaxDynamicSharedSize: value = maxDynamicShared(); break;
  case kFunctionCarveout: value = settings.carveout; break;
  case kFunctionClusterMustBeSet:
    value = settings.mustHaveCluster >= 0 ? settings.mustHaveCluster.load() : required[0] > 0;
    break;
  case kFunctionClusterWidth: value = cluster(0); break;
  case kFunctionClusterHeight: value = cluster(1); break;
  case kFunctionClusterDepth: value = cluster(2); break;
  case kFunctionNonPortable: value = settings.nonPortable; break;
  case kFunctionClusterPolicy: value = settings.clusterPolicy; break;
  default: return cuda::kInvalidValue;
  }
  return cuda::kSuccess;
}

Result Function::setAttribute(int number, int value) {
  switch (number) {
  case kFunctionMaxDynamicSharedSize:
    if (value < 0 || value > module->context().device.limits().sharedOptin - int(kernel->staticShared()))
      return cuda::kInvalidValue;
    settings.dynamicShared = value;
    break;
  case kFunctionCarveout:
    if (value < -1 || value > 100) return cuda::kInvalidValue;
    settings.carveout = value;
    break;
  case kFunctionClusterMustBeSet: settings.mustHaveCluster = value != 0; break;
  case kFunctionClusterWidth:
  case kFunctionClusterHeight:
  case kFunctionClusterDepth:
    if (value < 0 || kernel->function().requiredCluster[0]) return cuda::kInvalidValue;
    settings.cluster[size_t(number - kFunctionClusterWidth)] = value;
    break;
  case kFunctionNonPortable: settings.nonPortable = value != 0; break;
  case kFunctionClusterPolicy: settings.clusterPolicy = value; break;
  default: return cuda::kInvalidValue;
  }
  return cuda::kSuccess;
}

Result Function::parameter(size_t index, size_t* offset, size_t* bytes) const {
  const auto& parameters = kernel->function().parameters;
  if (index >= parameters.size() || !offset) return cuda::kInvalidValue;
  *offset = kernel->parameterOffset(index);
  if (bytes) *bytes = size_t(parameters[index].bytes);
  return cuda::kSuccess;
}

// ---- Modules ----------------------------------------------------------------------------------------------------------------------

Result Module::load(Context& context, Image image, int maxRegisters, std::shared_ptr<Module>& module,
                    std::string& why) {
  std::string& ptx = image.ptx;
  if (ptx.starts_with(kRegisterNote) && !maxRegisters)
    maxRegisters = int(std::strtol(ptx.c_str() + kRegisterNote.size(), nullptr, 10));
  if (!addDeviceRuntime(ptx, why)) return cuda::kInvalidPtx;
  sim::ptx::Diagnostic error;
  const sim::LoadOptions options;
  std::shared_ptr<const sim::Module> code = sim::Module::load(ptx, options, error);
  if (!code) {
    why = error.render(options.file, ptx);
    return cuda::kInvalidPtx;
  }
  module = std::make_shared<Module>();
  module->context_ = context.shared_from_this();
  module->code_ = std::move(code);
  module->maxRegisters_ = maxRegisters;
  module->notedRegisters_ = std::move(image.registers);
  const auto& variables = module->code_->source().variables;
  for (size_t i = 0; i < variables.size(); ++i)
    if (const uint64_t at = module->code_->addressOf(i); at && variables[i].bytes) {
      Allocation known;
      known.begin = at;
      known.bytes = variables[i].bytes;
      known.kind = MemoryKind::Module;
      known.device = &context.device;
      known.context = context.id;
      known.name = variables[i].name;
      DeviceMemory::instance().add(std::move(known));
    }
  module->handle = static_cast<ModuleHandle>(Handles<Module>::instance().add(module));
  return cuda::kSuccess;
}

Module::~Module() {
  if (!code_) return;
  for (size_t i = 0; i < code_->source().variables.size(); ++i)
    if (const uint64_t at = code_->addressOf(i))
      DeviceMemory::instance().release(at, [](const Allocation& a) { return a.kind == MemoryKind::Module; });
}

FunctionHandle Module::function(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (const auto known = functions_.find(name); known != functions_.end()) return known->second;
  const sim::Kernel* kernel = code_->find(name);
  if (!kernel) return nullptr;
  auto function = std::make_shared<Function>();
  function->module = Handles<Module>::instance().find(handle);
  if (!function->module) return nullptr; // it is being unloaded
  function->kernel = kernel;
  return functions_[name] = static_cast<FunctionHandle>(Handles<Function>::instance().add(std::move(function)));
}

bool Module::variable(std::string_view name, DevicePointer& address, size_t& bytes) const {
  const auto& variables = code_->source().variables;
  for (size_t i = 0; i < variables.size(); ++i)
    if (variables[i].name == name && code_->addressOf(i)) {
      address = code_->addressOf(i);
      bytes = variables[i].bytes;
      return true;
    }
  return false;
}

void Module::unload() {
  Handles<Module>::instance().take(handle);
  const std::lock_guard lock(mutex_);
  for (const auto& [name, function] : functions_) Handles<Function>::instance().take(function);
  functions_.clear();
}

// ---- Libraries --------------------------------------------------------------------------------------------------------------------

Result Library::moduleIn(Context& context, std::shared_ptr<Module>& module, std::string& why) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<Module>& known = modules_[context.id];
  if (known && !find<Module>(known->handle)) known = nullptr; // the context was reset
  if (!known)
    if (const Result result = Module::load(context, image, maxRegisters, known, why)) {
      modules_.erase(context.id);
      return result;
    }
  module = known;
  return cuda::kSuccess;
}

Result Library::moduleIn(Context& context, std::shared_ptr<Module>& module) {
  std::string why;
  const Result result = moduleIn(context, module, why);
  if (result) sayRefused(why);
  return result;
}

KernelHandle Library::kernel(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (const auto known = kernels_.find(name); known != kernels_.end()) return known->second;
  auto made = std::make_shared<LibraryKernel>();
  made->library = Handles<Library>::instance().find(handle);
  made->name = name;
  return kernels_[name] = static_cast<KernelHandle>(Handles<LibraryKernel>::instance().add(std::move(made)));
}

void Library::unload() {
  Handles<Library>::instance().take(handle);
  const std::lock_guard lock(mutex_);
  for (const auto& [name, kernel] : kernels_) Handles<LibraryKernel>::instance().take(kernel);
  for (const auto& [context, module] : modules_) module->unload();
  kernels_.clear();
  modules_.clear();
}

Result findFunction(Context& context, const void* handle, std::shared_ptr<Function>& function) {
  function = find<Function>(handle);
  if (function) return cuda::kSuccess;
  const std::shared_ptr<LibraryKernel> kernel = find<LibraryKernel>(handle);
  const std::shared_ptr<Library> library = kernel ? kernel->library.lock() : nullptr;
  if (!library) return kInvalidHandle;
  std::shared_ptr<Module> module;
  if (const Result result = library->moduleIn(context, module)) return result;
  function = find<Function>(module->function(kernel->name));
  return function ? cuda::kSuccess : cuda::kNotFound;
}

void sayRefused(const std::string& why) { std::fprintf(stderr, "tiletwin gpu: %s\n", why.c_str()); }

} // namespace tiletwin::driver
