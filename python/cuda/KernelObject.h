// python/cuda/KernelObject.h -- the Python types tiletwin._cuda.Module, code on a GPU, and Kernel, an entry of it.
#pragma once
#include "frontend/PyFunctions.h"
#include "runtime/cuda/Kernel.h"
#include <memory>

namespace tiletwin::python {

/// Adds the types to the module. False with an error set on failure.
bool addKernel(PyObject* module);
/// Null with an error set on failure.
PyRef makeModule(std::shared_ptr<const cuda::Module> module);
/// An integer from 0 to 2^64 - 1. False with an exception set.
bool readNumber(const char* what, PyObject* object, uint64_t& number);

} // namespace tiletwin::python
