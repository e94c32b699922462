// python/src/Gil.h -- giving the GIL away and taking it, for a scope.
// Idea: when Python ends, before 3.14 a thread that asks for the GIL ends there (a daemon thread in the middle of a launch),
//       and its stack is unwound: destructors would give references away while another thread has the GIL. It stays here
//       instead, as it does from 3.14 on, until the process ends.
// Not here: short pieces of Python that a launch calls; they rarely come to ask.
#pragma once
#include "frontend/PyRef.h"
#include <cxxabi.h>
#include <exception>
#include <string>
#include <unistd.h>

namespace tiletwin::python {

/// Calls `take`, which asks for the GIL, or runs Python code, which gives it away and asks for it again.
template <class Take> auto takeGil(const Take& take) {
  try {
    return take();
  } catch (abi::__forced_unwind&) { // what ends the thread; it must not end here, and unwinds nothing until it goes on
    for (;;) ::pause();
  }
}

/// The thread is without the GIL.
class GilReleased {
public:
  GilReleased() = default;
  GilReleased(const GilReleased&) = delete;
  GilReleased& operator=(const GilReleased&) = delete;
  ~GilReleased() {
    takeGil([this] { PyEval_RestoreThread(state_); });
  }

private:
  PyThreadState* state_ = PyEval_SaveThread();
};

/// Calls work() without the GIL. False with RuntimeError set: what it threw, behind the name of what it works on.
template <class Work> bool workWithoutGil(const std::string& name, const Work& work) {
  std::string fault;
  try {
    const GilReleased released;
    work();
  } catch (const std::exception& error) { fault = error.what(); }
  if (!fault.empty()) PyErr_Format(PyExc_RuntimeError, "%s: %s", name.c_str(), fault.c_str());
  return fault.empty();
}

/// The thread, whichever it is, has the GIL.
class GilHeld {
public:
  GilHeld() = default;
  GilHeld(const GilHeld&) = delete;
  GilHeld& operator=(const GilHeld&) = delete;
  ~GilHeld() { PyGILState_Release(state_); }

private:
  PyGILState_STATE state_ = takeGil(PyGILState_Ensure);
};

} // namespace tiletwin::python
