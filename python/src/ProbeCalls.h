// python/src/ProbeCalls.h -- what compiled programs print, and their calls of print_if and breakpoint_if, reach Python.
// Here:      the stream of text and records that the interpreter hands out (interp/Interp.h), taken apart.
// Not here:  how values are shown and how debuggers are started (python/tiletwin/debug.py).
// Invariant: used on the launching thread, under the GIL; everything comes in order of program id.
#pragma once
#include "frontend/PyRef.h"
#include "interp/Interp.h"
#include <array>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace tiletwin::python {

/// The launch whose programs print.
struct PrintingLaunch {
  std::string_view kernel;
  std::array<int32_t, 3> grid{1, 1, 1};
  std::span<const Buffer> buffers;
  /// Runs one program in CPython, from its start. Null with an error set. Empty: there is no Python text to run.
  std::function<PyRef(const std::array<int32_t, 3>&)> runEagerly;
};

/// Writes text to sys.stdout and hands records to tiletwin.debug. False with an exception set.
bool deliverPrinted(const std::string& printed, const PrintingLaunch& launch);

} // namespace tiletwin::python
