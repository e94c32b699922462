// sim/cudart/Binaries.cpp -- see Binaries.h.
#include "sim/cudart/Binaries.h"
#include "sim/driver/Api.h"

namespace tiletwin::cudart {

Error Binary::load() {
  const std::lock_guard lock(mutex_);
  if (!library_ && !failure_) failure_ = cuLibraryLoadData(&library_, image_, nullptr, nullptr, 0, nullptr, nullptr, 0);
  return failure_;
}

Error Binary::kernel(const std::string& name, KernelHandle& kernel) {
  if (const Error error = load()) return error;
  const Result result = cuLibraryGetKernel(&kernel, library_, name.c_str());
  return result == cuda::kNotFound ? kInvalidDeviceFunction : Error(result);
}

Error Binary::variable(const std::string& name, DevicePointer& address, size_t& bytes) {
  if (const Error error = load()) return error;
  const Result result = cuLibraryGetGlobal(&address, &bytes, library_, name.c_str());
  return result == cuda::kNotFound ? kInvalidSymbol : Error(result);
}

Error Binary::setManaged() {
  for (const Managed& one : managed_) {
    DevicePointer address = 0;
    size_t bytes = 0;
    if (const Error error = variable(one.name, address, bytes)) return error;
    *one.place = reinterpret_cast<void*>(address); // NOLINT: an address
  }
  return cuda::kSuccess;
}

Binaries& Binaries::instance() {
  static auto* const all = new Binaries; // constructors of the program register before main
  return *all;
}

Binary* Binaries::add(const void* image) { return new Binary(image); }

void Binaries::addKernel(const void* host, Binary* binary, const char* name) {
  const std::lock_guard lock(mutex_);
  kernels_[host] = {binary, name};
}

void Binaries::addVariable(const void* host, Binary* binary, const char* name) {
  const std::lock_guard lock(mutex_);
  variables_[host] = {binary, name};
}

bool Binaries::find(const std::unordered_map<const void*, Name>& names, const void* host, Name& found) {
  const auto at = names.find(host);
  if (at == names.end()) return false;
  found = at->second;
  return true;
}

bool Binaries::isKernel(const void* host) {
  const std::lock_guard lock(mutex_);
  return kernels_.contains(host);
}

Error Binaries::kernel(const void* host, KernelHandle& kernel) {
  Name found;
  {
    const std::lock_guard lock(mutex_);
    if (!find(kernels_, host, found)) return kInvalidDeviceFunction;
  }
  return found.binary->kernel(found.name, kernel);
}

Error Binaries::variable(const void* host, DevicePointer& address, size_t& bytes) {
  Name found;
  {
    const std::lock_guard lock(mutex_);
    if (!find(variables_, host, found)) return kInvalidSymbol;
  }
  return found.binary->variable(found.name, address, bytes);
}

} // namespace tiletwin::cudart
