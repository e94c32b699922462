// python/src/LaunchHooks.cpp -- see LaunchHooks.h. The only code that takes the GIL while programs run.
#include "LaunchHooks.h"
#include "Interned.h"
#include <stdexcept>

namespace tiletwin::python {
namespace {

constexpr auto kProgressAfter = std::chrono::seconds(3);

/// The GIL for a scope, on whatever thread.
struct HoldGil {
  PyGILState_STATE state = PyGILState_Ensure();
  ~HoldGil() { PyGILState_Release(state); }
};

void setAttribute(PyObject* error, const char* name, PyRef value) {
  if (!value || PyObject_SetAttrString(error, name, value.get()) < 0) PyErr_Clear();
}

PyRef stringOrNone(const std::string& text) {
  return text.empty() ? PyRef::borrow(Py_None) : PyRef::steal(PyUnicode_FromString(text.c_str()));
}
PyRef numberOrNone(bool known, int64_t number) {
  return known ? PyRef::steal(PyLong_FromLongLong(number)) : PyRef::borrow(Py_None);
}

/// "(3, 17)" as a tuple.
PyRef indexTuple(const std::string& index) {
  PyRef list = PyRef::steal(PyList_New(0));
  for (size_t i = 0; list && i < index.size();) {
    size_t end = index.find_first_of(",)", i);
    size_t digits = index.find_first_of("-0123456789", i);
    if (digits == std::string::npos || end == std::string::npos) break;
    if (digits < end) {
      PyRef number = PyRef::steal(PyLong_FromLongLong(std::atoll(index.c_str() + digits)));
      if (!number || PyList_Append(list.get(), number.get()) < 0) return {};
    }
    i = end + 1;
  }
  return PyRef::steal(list ? PyList_AsTuple(list.get()) : nullptr);
}

/// [((x, y, z), file, line), ...]
PyRef waitingPrograms(const Trap& trap) {
  PyRef list = PyRef::steal(PyList_New(0));
  for (const WaitingProgram& w : trap.waiting) {
    PyRef item = PyRef::steal(Py_BuildValue("((iii)NN)", w.program[0], w.program[1], w.program[2],
                                            stringOrNone(w.where.file).release(),
                                            numberOrNone(w.where.line > 0, w.where.line).release()));
    if (!list || !item || PyList_Append(list.get(), item.get()) < 0) return {};
  }
  return list;
}

/// The exception class of each kind of trap; a null module is Python's own.
struct ErrorRow {
  TrapKind kind;
  const char* module;
  const char* name;
};
constexpr ErrorRow kErrors[] = {
    {TrapKind::OutOfBounds, "tiletwin.errors", "OutOfBoundsError"},
    {TrapKind::OffsetOverflow, "tiletwin.errors", "OutOfBoundsError"},
    {TrapKind::ReadOnly, "builtins", "ValueError"},
    {TrapKind::Assert, "builtins", "AssertionError"},
    {TrapKind::Unsupported, "builtins", "NotImplementedError"},
    {TrapKind::Interrupted, "builtins", "KeyboardInterrupt"},
    {TrapKind::InvalidValue, "builtins", "ValueError"},
    {TrapKind::OutOfMemory, "builtins", "MemoryError"},
    {TrapKind::Misaligned, "builtins", "ValueError"},
    {TrapKind::Deadlock, "tiletwin.errors", "DeadlockError"},
};

} // namespace

/// Calls tiletwin.runtime.progress.<function>(...). False with an exception set.
bool LaunchHooks::tellProgress(const char* function, const char* format, auto... values) {
  PyRef callable = imported("tiletwin.runtime.progress", function);
  return bool(PyRef::steal(callable ? PyObject_CallFunction(callable.get(), format, values...) : nullptr));
}

bool LaunchHooks::poll(int64_t done, int64_t total) {
  HoldGil gil;
  if (PyErr_Occurred() || PyErr_CheckSignals() != 0) return false;
  if (progress_) return tellProgress("update", "LL", (long long)done, (long long)total);
  if (std::chrono::steady_clock::now() - start_ <= kProgressAfter) return true;
  progress_ = true;
  return tellProgress("begin", "sLL", kernel_.c_str(), (long long)done, (long long)total);
}

void LaunchHooks::print(const std::string& printed) {
  HoldGil gil;
  // The exception stays set in this thread, as one of a signal handler does.
  if (!deliverPrinted(printed, printing)) throw std::runtime_error("printing failed");
}

std::optional<Buffer> LaunchHooks::findBuffer(uintptr_t address) {
  HoldGil gil;
  if (PyErr_Occurred()) return {}; // the launch is about to end
  PyRef find = imported("tiletwin.memory", "buffer_at");
  PyRef found = PyRef::steal(find ? PyObject_CallFunction(find.get(), "K", (unsigned long long)address) : nullptr);
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
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  if (!tellProgress("end", "") && !type) return;
  PyErr_Restore(type, value, trace);
}

void raiseTrap(const Trap& trap) {
  const ErrorRow* row = &kErrors[0];
  for (const ErrorRow& candidate : kErrors)
    if (candidate.kind == trap.kind) row = &candidate;
  PyRef type = imported(row->module, row->name);
  if (!type) return;
  PyRef error = PyRef::steal(PyObject_CallFunction(type.get(), "s", trap.message.c_str()));
  if (!error) return;
  PyObject* e = error.get();
  setAttribute(e, "file", stringOrNone(trap.where.file));
  setAttribute(e, "line", numberOrNone(trap.where.line > 0, trap.where.line));
  setAttribute(e, "column", numberOrNone(trap.where.column > 0, trap.where.column));
  setAttribute(e, "variable", stringOrNone(trap.where.variable));
  setAttribute(e, "operation", stringOrNone(trap.operation));
  setAttribute(e, "program", PyRef::steal(Py_BuildValue("(iii)", trap.program[0], trap.program[1], trap.program[2])));
  setAttribute(e, "element", numberOrNone(trap.element >= 0, trap.element));
  setAttribute(e, "index", trap.index.empty() ? PyRef::borrow(Py_None) : indexTuple(trap.index));
  bool hasBuffer = !trap.buffer.empty();
  setAttribute(e, "buffer", stringOrNone(trap.buffer));
  setAttribute(e, "offset", numberOrNone(hasBuffer, trap.offset));
  setAttribute(e, "buffer_bytes", numberOrNone(hasBuffer, trap.bufferBytes));
  setAttribute(e, "access_bytes", numberOrNone(trap.accessBytes > 0, trap.accessBytes));
  if (trap.kind == TrapKind::Deadlock) setAttribute(e, "waiting", waitingPrograms(trap));
  PyErr_SetObject(type.get(), e);
}

} // namespace tiletwin::python
