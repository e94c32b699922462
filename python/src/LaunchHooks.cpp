// python/src/LaunchHooks.cpp -- see LaunchHooks.h. The only code that takes the GIL while programs run.
#include "LaunchHooks.h"
#include "Gil.h"
#include "frontend/PackageObject.h"
#include "frontend/PyValues.h"
#include <stdexcept>

namespace tiletwin::python {
namespace {

constexpr auto kProgressAfter = std::chrono::seconds(3);

} // namespace

bool LaunchHooks::poll(int64_t done, int64_t total) {
  const GilHeld gil;
  if (PyErr_Occurred() || PyErr_CheckSignals() != 0) return false;
  if (progress_) return bool(call(packageObject("update_progress"), done, total));
  if (std::chrono::steady_clock::now() - start_ <= kProgressAfter) return true;
  progress_ = true;
  return bool(call(packageObject("begin_progress"), kernel_, done, total));
}

void LaunchHooks::print(const std::string& printed) {
  const GilHeld gil;
  // The exception stays set in this thread, as one of a signal handler does.
  if (!deliverPrinted(printed, printing)) throw std::runtime_error("printing failed");
}

std::optional<Buffer> LaunchHooks::findBuffer(uintptr_t address) {
  const GilHeld gil;
  if (PyErr_Occurred()) return {}; // the launch is about to end
  PyRef find = packageObject("buffer_at");
  PyRef found = call(find, address);
  std::optional<Buffer> buffer;
  unsigned long long begin, end;
  const char* name;
  PyObject* owner;
  if (found && found.get() != Py_None && PyArg_ParseTuple(found.get(), "KKsO", &begin, &end, &name, &owner)) {
    buffer = Buffer{name, uintptr_t(begin), uintptr_t(end), uintptr_t(begin), uintptr_t(end), false};
    owners_.push_back(PyRef::borrow(owner));
  }
  if (PyErr_Occurred() && PyThreadState_Get() != launching_) PyErr_WriteUnraisable(find.get());
  return buffer;
}

interp::Hooks LaunchHooks::hooks() {
  interp::Hooks hooks;
  hooks.poll = [this](int64_t done, int64_t total) { return poll(done, total); };
  hooks.print = [this](const std::string& printed) { print(printed); };
  hooks.findBuffer = [this](uintptr_t address) { return findBuffer(address); };
  return hooks;
}

void LaunchHooks::finish() {
  owners_.clear();
  if (!progress_) return;
  PyRef error = takeError();
  if (!call(packageObject("end_progress")) && !error) return;
  if (error) putError(error);
}

} // namespace tiletwin::python
