// python/cuda/RaiseError.cpp -- see RaiseError.h.
#include "RaiseError.h"
#include "frontend/PackageObject.h"

namespace tiletwin::python {
namespace {

const char* wordOf(cuda::ErrorKind kind) {
  switch (kind) {
  case cuda::ErrorKind::NoDriver: return "no driver";
  case cuda::ErrorKind::NoDevice: return "no device";
  case cuda::ErrorKind::DriverTooOld: return "driver too old";
  case cuda::ErrorKind::Image: return "image";
  case cuda::ErrorKind::Resources: return "resources";
  case cuda::ErrorKind::Launch: return "launch";
  case cuda::ErrorKind::Fault: return "fault";
  case cuda::ErrorKind::Memory: return "memory";
  case cuda::ErrorKind::Argument: return "argument";
  case cuda::ErrorKind::Other: break;
  }
  return "other";
}

} // namespace

void raiseError(const cuda::Error& error) {
  if (error.kind == cuda::ErrorKind::Argument && error.code == cuda::kSuccess) {
    PyErr_SetString(PyExc_ValueError, error.what());
    return;
  }
  const bool isResources = error.kind == cuda::ErrorKind::Resources;
  PyRef type = packageObject(isResources ? "OutOfResources" : "CudaError");
  if (!type) return;
  PyRef value;
  if (isResources) {
    value = call(type, error.required, error.limit, error.resource);
    // Its text is made of the numbers alone, as scripts know it; the note says which kernel and GPU.
    if (value && !callMethod(value.get(), "add_note", error.what())) return;
  } else {
    const std::string name = error.code == cuda::kSuccess ? std::string() : cuda::nameOf(error.code);
    value = call(type, error.what(), int(error.code), name, wordOf(error.kind));
  }
  if (value) PyErr_SetObject(type.get(), value.get());
}

} // namespace tiletwin::python
