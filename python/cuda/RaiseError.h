// python/cuda/RaiseError.h -- errors of the CUDA driver as Python exceptions; running something without the GIL.
#pragma once
#include "../src/Gil.h"
#include "frontend/PyValues.h"
#include "runtime/cuda/Error.h"
#include <exception>
#include <optional>
#include <string>

namespace tiletwin::python {

/// Raises CudaError, OutOfResources (too much shared memory) or ValueError (the caller's mistake).
void raiseError(const cuda::Error& error);

/// Calls work() without the GIL. False with an exception set: what it threw.
template <class Work> bool withoutGil(const Work& work) {
  std::optional<cuda::Error> error;
  std::string fault;
  try {
    const GilReleased released;
    work();
  } catch (const cuda::Error& thrown) { error = thrown; } catch (const std::exception& thrown) {
    fault = thrown.what();
  }
  if (error)
    raiseError(*error);
  else if (!fault.empty())
    PyErr_SetString(PyExc_ValueError, fault.c_str());
  return !error && fault.empty();
}
/// What make() gives without the GIL. Empty with an exception set.
template <class Make> auto madeWithoutGil(const Make& make) {
  std::optional<decltype(make())> made;
  withoutGil([&] { made.emplace(make()); });
  return made;
}

} // namespace tiletwin::python
