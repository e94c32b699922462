// frontend/Tracing.h -- Python's trace function kept away while the package's own Python code runs.
// Here:      switching sys.settrace's function of this thread off and on again, with an exception set or not.
// Not here:  which code is the user's (callers know).
// Invariant: a debugger's `step` never stops in a line of the package; what the debugger does meanwhile is kept.
#pragma once
#include "frontend/PyRef.h"

namespace tiletwin::frontend {

/// Switches tracing off; on again when it is destroyed. Tracers that leave libraries out themselves (pydevd) are left
/// alone: they do not like to be switched. Used under the GIL.
class TracingPause {
public:
  TracingPause();
  ~TracingPause();
  TracingPause(const TracingPause&) = delete;
  TracingPause& operator=(const TracingPause&) = delete;
  /// The user's code runs now, until pause(), which keeps the trace function that it leaves behind.
  void resume();
  void pause();
  /// The trace function of this thread's user code, also while it is paused; null: none.
  static PyRef users();
  /// The trace function that is active now; null: none.
  static PyRef current();
  /// Makes it the trace function of this thread (None: none).
  static void set(PyObject* function);

private:
  PyRef trace_; ///< null: tracing is not paused
};

} // namespace tiletwin::frontend
