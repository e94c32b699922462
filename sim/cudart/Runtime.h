// sim/cudart/Runtime.h -- what stands around every function of the runtime: the thread's device, and its last error.
// Here:      enter, inRuntime, record.
// Not here:  the program's kernels and variables (Binaries.h), the functions (*Calls.cpp).
// Idea:      the runtime is a client of the driver. Streams, events, memory and graphs are the driver's handles.
#pragma once
#include "sim/cudart/RuntimeApi.h"

namespace tiletwin::cudart {

/// Makes a context of the thread's device current, unless the thread has one.
Error enter() noexcept;
/// The device that the thread works on.
int currentDevice() noexcept;
/// Selects a device for the thread, and makes its context current.
Error selectDevice(int ordinal) noexcept;
/// Ends all that the thread's device holds.
Error resetDevice() noexcept;

/// The thread's last error; clear: and none from now on.
Error lastError(bool clear) noexcept;
/// Keeps an error as the thread's last one; returns it.
Error record(Error error) noexcept;
/// Says on stderr what cannot be done.
void say(const char* text) noexcept;

/// A body that needs a context: enter, and what it returns, or throws, is recorded.
template <class Body> Error inRuntime(const Body& body) noexcept {
  if (const Error error = enter()) return record(error);
  try {
    return record(body());
  } catch (...) { return record(cuda::kOutOfMemory); }
}

} // namespace tiletwin::cudart
