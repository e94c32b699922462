// sim/driver/ModuleCalls.cpp -- the driver's functions on modules and libraries.
#include "sim/driver/Call.h"
#include "sim/driver/Code.h"
#include "sim/driver/Image.h"
#include "sim/driver/JitOptions.h"
#include "sim/driver/VirtualDevice.h"
#include <algorithm>
#include <fstream>
#include <iterator>

namespace tiletwin::driver {
namespace {

Result loadModule(Context& context, ModuleHandle* handle, const void* image, size_t bytes, const JitOptions& options) {
  if (!handle || !image) return cuda::kInvalidValue;
  Image read;
  std::string why;
  std::shared_ptr<Module> module;
  Result result = readImage(image, bytes, context.device, read, why);
  if (!result) result = Module::load(context, std::move(read), options.maxRegisters(), module, why);
  if (result) {
    sayRefused(why);
    options.writeErrors(why);
    return result;
  }
  *handle = module->handle;
  return cuda::kSuccess;
}

bool readFile(const char* path, std::string& content) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return false;
  content.assign(std::istreambuf_iterator<char>(file), {});
  return true;
}

Result loadLibrary(LibraryHandle* handle, const void* image, size_t bytes, const JitOptions& options) {
  // PTX is read when a context first uses it. Devices are alike, so the image is chosen now.
  std::string why;
  auto library = std::make_shared<Library>();
  library->maxRegisters = options.maxRegisters();
  Context* context = Context::current();
  const VirtualDevice& device = context ? context->device : *VirtualDevice::find(0);
  if (const Result result = readImage(image, bytes, device, library->image, why)) {
    sayRefused(why);
    options.writeErrors(why);
    return result;
  }
  std::shared_ptr<Module> module;
  if (context && context->isActive)
    if (const Result result = library->moduleIn(*context, module, why)) {
      sayRefused(why);
      options.writeErrors(why);
      return result;
    }
  *handle = library->handle = static_cast<LibraryHandle>(Handles<Library>::instance().add(library));
  return cuda::kSuccess;
}

/// body(library, its module in the thread's context).
template <class Body> Result onLibrary(LibraryHandle handle, const Body& body) noexcept {
  return inContext([&](Context& context) {
    const std::shared_ptr<Library> library = find<Library>(handle);
    if (!library) return kInvalidHandle;
    std::shared_ptr<Module> module;
    if (const Result result = library->moduleIn(context, module)) return result;
    return body(*library, *module);
  });
}

/// The same in the first device's primary context where the thread has none: which kernels there are is a matter of the text.
template <class Body> Result onKernels(LibraryHandle handle, const Body& body) noexcept {
  if (Context::current()) return onLibrary(handle, body);
  return inDriver([&] {
    const std::shared_ptr<Library> library = find<Library>(handle);
    const VirtualDevice* device = VirtualDevice::find(0);
    if (!library) return kInvalidHandle;
    if (!device) return cuda::kNoDevice;
    std::shared_ptr<Module> module;
    if (const Result result = library->moduleIn(*device->primary(), module)) return result;
    return body(*library, *module);
  });
}

template <class Body> Result onModule(ModuleHandle handle, const Body& body) noexcept {
  return inContext([&](Context&) {
    const std::shared_ptr<Module> module = find<Module>(handle);
    return module ? body(*module) : kInvalidHandle;
  });
}

/// body(function) of a library's kernel on a device, in its primary context or the thread's.
template <class Body> Result onKernel(KernelHandle handle, DeviceHandle ordinal, const Body& body) noexcept {
  return inDriver([&] {
    const VirtualDevice* device = VirtualDevice::find(ordinal);
    if (!device) return cuda::kInvalidDevice;
    Context* current = Context::current();
    Context& context = current && &current->device == device ? *current : *device->primary();
    if (const Result state = stateOf(context)) return state;
    std::shared_ptr<Function> function;
    if (const Result result = findFunction(context, handle, function)) return result;
    return body(*function);
  });
}

Result globalOf(const Module& module, DevicePointer* address, size_t* bytes, const char* name) {
  DevicePointer at = 0;
  size_t size = 0;
  if (!name) return cuda::kInvalidValue;
  if (!module.variable(name, at, size)) return cuda::kNotFound;
  if (address) *address = at;
  if (bytes) *bytes = size;
  return cuda::kSuccess;
}

} // namespace

extern "C" {

Result cuModuleLoadDataEx(ModuleHandle* module, const void* image, unsigned count, int* options, void** values) {
  return inContext(
      [&](Context& context) { return loadModule(context, module, image, 0, JitOptions(count, options, values)); });
}
Result cuModuleLoadData(ModuleHandle* module, const void* image) {
  return cuModuleLoadDataEx(module, image, 0, nullptr, nullptr);
}
Result cuModuleLoadFatBinary(ModuleHandle* module, const void* image) {
  return cuModuleLoadDataEx(module, image, 0, nullptr, nullptr);
}

Result cuModuleLoad(ModuleHandle* module, const char* path) {
  return inContext([&](Context& context) {
    std::string content;
    if (!path) return cuda::kInvalidValue;
    if (!readFile(path, content)) return kFileNotFound;
    return loadModule(context, module, content.data(), content.size(), {});
  });
}

Result cuModuleUnload(ModuleHandle handle) {
  return onModule(handle, [](Module& module) {
    module.unload();
    return cuda::kSuccess;
  });
}

Result cuModuleGetLoadingMode(int* mode) {
  constexpr int kEager = 1;
  if (!mode) return cuda::kInvalidValue;
  *mode = kEager;
  return cuda::kSuccess;
}

Result cuModuleGetFunction(FunctionHandle* function, ModuleHandle handle, const char* name) {
  return onModule(handle, [&](Module& module) {
    if (!function || !name) return cuda::kInvalidValue;
    *function = module.function(name);
    return *function ? cuda::kSuccess : cuda::kNotFound;
  });
}

Result cuModuleGetFunctionCount(unsigned* count, ModuleHandle handle) {
  return onModule(handle, [&](const Module& module) {
    if (!count) return cuda::kInvalidValue;
    *count = unsigned(module.entryCount());
    return cuda::kSuccess;
  });
}

Result cuModuleEnumerateFunctions(FunctionHandle* functions, unsigned count, ModuleHandle handle) {
  return onModule(handle, [&](Module& module) {
    if (!functions) return cuda::kInvalidValue;
    for (size_t i = 0; i < std::min<size_t>(count, module.entryCount()); ++i)
      functions[i] = module.function(module.entryName(i));
    return cuda::kSuccess;
  });
}

Result cuModuleGetGlobal_v2(DevicePointer* address, size_t* bytes, ModuleHandle handle, const char* name) {
  return onModule(handle, [&](const Module& module) { return globalOf(module, address, bytes, name); });
}

Result cuLibraryLoadData(LibraryHandle* library, const void* image, int* options, void** values, unsigned count,
                         int* libraryOptions, void** libraryValues, unsigned libraryCount) {
  return inDriver([&] {
    if (!library || !image) return cuda::kInvalidValue;
    return loadLibrary(library, image, 0, JitOptions(count, options, values));
  });
}

Result cuLibraryLoadFromFile(LibraryHandle* library, const char* path, int* options, void** values, unsigned count,
                             int* libraryOptions, void** libraryValues, unsigned libraryCount) {
  return inDriver([&] {
    std::string content;
    if (!library || !path) return cuda::kInvalidValue;
    if (!readFile(path, content)) return kFileNotFound;
    return loadLibrary(library, content.data(), content.size(), JitOptions(count, options, values));
  });
}

Result cuLibraryUnload(LibraryHandle handle) {
  return inDriver([&] {
    const std::shared_ptr<Library> library = find<Library>(handle);
    if (!library) return kInvalidHandle;
    library->unload();
    return cuda::kSuccess;
  });
}

Result cuLibraryGetKernel(KernelHandle* kernel, LibraryHandle handle, const char* name) {
  return onKernels(handle, [&](Library& library, Module& module) {
    if (!kernel || !name) return cuda::kInvalidValue;
    if (!module.function(name)) return cuda::kNotFound;
    *kernel = library.kernel(name);
    return cuda::kSuccess;
  });
}

Result cuLibraryGetKernelCount(unsigned* count, LibraryHandle handle) {
  return onKernels(handle, [&](Library&, const Module& module) {
    if (!count) return cuda::kInvalidValue;
    *count = unsigned(module.entryCount());
    return cuda::kSuccess;
  });
}

Result cuLibraryEnumerateKernels(KernelHandle* kernels, unsigned count, LibraryHandle handle) {
  return onKernels(handle, [&](Library& library, const Module& module) {
    if (!kernels) return cuda::kInvalidValue;
    for (size_t i = 0; i < std::min<size_t>(count, module.entryCount()); ++i)
      kernels[i] = library.kernel(module.entryName(i));
    return cuda::kSuccess;
  });
}

Result cuLibraryGetModule(ModuleHandle* module, LibraryHandle handle) {
  return onLibrary(handle, [&](Library&, const Module& found) {
    if (!module) return cuda::kInvalidValue;
    *module = found.handle;
    return cuda::kSuccess;
  });
}

Result cuLibraryGetGlobal(DevicePointer* address, size_t* bytes, LibraryHandle handle, const char* name) {
  return onLibrary(handle, [&](Library&, const Module& module) { return globalOf(module, address, bytes, name); });
}

// A .global variable with the attribute .managed; every variable lies in memory of the host.
Result cuLibraryGetManaged(DevicePointer* address, size_t* bytes, LibraryHandle handle, const char* name) {
  return cuLibraryGetGlobal(address, bytes, handle, name);
}

Result cuKernelGetFunction(FunctionHandle* function, KernelHandle handle) {
  return inContext([&](Context& context) {
    std::shared_ptr<Function> found;
    if (!function) return cuda::kInvalidValue;
    if (const Result result = findFunction(context, handle, found)) return result;
    *function = found->module->function(found->kernel->name());
    return cuda::kSuccess;
  });
}

Result cuKernelGetLibrary(LibraryHandle* library, KernelHandle handle) {
  return inDriver([&] {
    const std::shared_ptr<LibraryKernel> kernel = find<LibraryKernel>(handle);
    const std::shared_ptr<Library> owner = kernel ? kernel->library.lock() : nullptr;
    if (!library) return cuda::kInvalidValue;
    if (!owner) return kInvalidHandle;
    *library = owner->handle;
    return cuda::kSuccess;
  });
}

Result cuKernelGetName(const char** name, KernelHandle handle) {
  return inDriver([&] {
    const std::shared_ptr<LibraryKernel> kernel = find<LibraryKernel>(handle);
    if (!name) return cuda::kInvalidValue;
    if (!kernel) return kInvalidHandle;
    *name = kernel->name.c_str(); // as long as the library
    return cuda::kSuccess;
  });
}

Result cuKernelGetAttribute(int* value, int attribute, KernelHandle kernel, DeviceHandle device) {
  return onKernel(kernel, device, [&](const Function& function) {
    return value ? function.attribute(attribute, *value) : cuda::kInvalidValue;
  });
}

Result cuKernelSetAttribute(int attribute, int value, KernelHandle kernel, DeviceHandle device) {
  return onKernel(kernel, device, [&](Function& function) { return function.setAttribute(attribute, value); });
}

Result cuKernelSetCacheConfig(KernelHandle kernel, int config, DeviceHandle device) {
  return onKernel(kernel, device, [](const Function&) { return cuda::kSuccess; });
}

Result cuKernelGetParamInfo(KernelHandle handle, size_t index, size_t* offset, size_t* bytes) {
  return inContext([&](Context& context) {
    std::shared_ptr<Function> function;
    if (const Result result = findFunction(context, handle, function)) return result;
    return function->parameter(index, offset, bytes);
  });
}

} // extern "C"
} // namespace tiletwin::driver
