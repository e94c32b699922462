// sim/driver/Call.h -- what stands around the body of every function of the driver.
// Here:      inDriver, inContext: whether the call may be made now, and no exception leaves it.
// Invariant: null pointers that a function needs are kInvalidValue; the bodies say which.
#pragma once
#include "sim/driver/Api.h"
#include "sim/driver/Context.h"
#include <exception>
#include <new>

namespace tiletwin::driver {

/// True once cuInit has succeeded.
bool isInitialized();
/// Says on stderr what went wrong in the driver itself.
void reportFault(const char* what) noexcept;

/// The result of a body that may throw.
template <class Body> Result guarded(const Body& body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) { return cuda::kOutOfMemory; } catch (const std::exception& error) {
    reportFault(error.what());
    return cuda::kUnknown;
  }
}

/// Of functions that want cuInit and no context.
template <class Body> Result inDriver(const Body& body) noexcept {
  if (!isInitialized()) return cuda::kNotInitialized;
  return guarded(body);
}

/// Whether work can be done in a context now.
inline Result stateOf(const Context& context) {
  if (!context.isActive) return kContextIsDestroyed;
  return context.error;
}

/// Of functions that work in the thread's context: body(context).
template <class Body> Result inContext(const Body& body) noexcept {
  if (!isInitialized()) return cuda::kNotInitialized;
  Context* context = Context::current();
  if (!context) return cuda::kInvalidContext;
  if (const Result state = stateOf(*context)) return state;
  return guarded([&] { return body(*context); });
}

} // namespace tiletwin::driver
