// python/sim/Callbacks.h -- what a launch calls in Python: the function that takes printed text, and the look for Ctrl-C.
// Invariant: the first exception that Python raises is kept, whichever thread it came in; the launch stops then, and raise() gives
//            it to the thread that launched.
#pragma once
#include "frontend/PyValues.h"
#include <atomic>
#include <string_view>

namespace tiletwin::python {

class Callbacks {
public:
  /// `print` is called with text; it has to live as long as the launch.
  explicit Callbacks(PyObject* print) : print_(print) {}
  /// From any thread, without the GIL.
  void print(std::string_view text);
  /// From the launching thread, without the GIL: false if the launch shall stop.
  bool mayGoOn();
  /// True, with the exception set, if there was one. Under the GIL.
  bool raise();

private:
  void keepError();

  PyObject* print_;
  std::atomic<bool> failed_{false};
  PyRef error_; // under the GIL
};

} // namespace tiletwin::python
