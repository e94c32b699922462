// python/src/LaunchHooks.h -- what a running launch asks of Python: signals, progress, output.
#pragma once
#include "ProbeCalls.h"
#include "frontend/PyRef.h"
#include "interp/Interp.h"
#include "runtime/Trap.h"
#include <chrono>

namespace tiletwin::python {

/// Hooks of one launch. The launching thread has released the GIL; each hook takes it for its own duration. Python that
/// runs for a hook on the launching thread may raise what a signal handler raises (KeyboardInterrupt above all), so such
/// an exception always stays set: it ends the launch, and the launch raises it.
class LaunchHooks {
public:
  explicit LaunchHooks(const std::string& kernel) : kernel_(kernel) { printing.kernel = kernel; }
  interp::Hooks hooks();
  /// Ends the progress bar, if one was begun. Needs the GIL; keeps a Python exception that is set, and may set one.
  void finish();
  /// What prints are delivered with; set before the launch.
  PrintingLaunch printing;

private:
  void print(const std::string& printed);
  bool poll(int64_t done, int64_t total);
  std::optional<Buffer> findBuffer(uintptr_t address);
  const std::string& kernel_;
  PyThreadState* launching_ = PyThreadState_Get(); ///< exceptions of hooks that stay set in it end the launch
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  bool progress_ = false;     ///< launch/progress.py is told about this launch
  std::vector<PyRef> owners_; ///< of memory that findBuffer found; under the GIL
};

} // namespace tiletwin::python
