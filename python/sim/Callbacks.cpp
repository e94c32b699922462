// python/sim/Callbacks.cpp -- see Callbacks.h.
#include "Callbacks.h"
#include "../src/Gil.h"

namespace tiletwin::python {

/// A worker's thread state goes with its last PyGILState_Release, and an exception that is set there with it.
void Callbacks::keepError() {
  PyRef error = takeError();
  if (failed_) return;
  error_ = std::move(error);
  failed_ = true;
}

void Callbacks::print(std::string_view text) {
  if (failed_) return;
  const GilHeld gil;
  if (!call(print_, repairedText(text))) keepError(); // a kernel may print any bytes
}

bool Callbacks::mayGoOn() {
  if (failed_) return false;
  const GilHeld gil;
  if (PyErr_CheckSignals() == 0) return true;
  keepError();
  return false;
}

bool Callbacks::raise() {
  if (!failed_) return false;
  putError(error_);
  return true;
}

} // namespace tiletwin::python
