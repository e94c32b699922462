// python/src/RaiseTrap.cpp -- see RaiseTrap.h.
#include "RaiseTrap.h"
#include "Interned.h"
#include "frontend/PackageObject.h"
#include <cstdlib>

namespace tiletwin::python {
namespace {

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

/// The line of the source under an error of memory, with a caret; empty where there is none to show.
std::string sourceUnder(const Trap& trap) {
  const bool isAccess = trap.kind == TrapKind::OutOfBounds || trap.kind == TrapKind::ReadOnly ||
                        trap.kind == TrapKind::Misaligned || trap.kind == TrapKind::OffsetOverflow;
  PyRef quote = isAccess ? packageObject("quoted_source") : PyRef();
  PyRef text = PyRef::steal(
      quote ? PyObject_CallFunction(quote.get(), "sii", trap.where.file.c_str(), trap.where.line, trap.where.column)
            : nullptr);
  if (!text) PyErr_Clear();
  return text ? std::string(utf8(text.get())) : std::string();
}

/// The exception class of each kind of trap: the package's, or Python's own.
struct ErrorRow {
  TrapKind kind;
  bool isPythons;
  const char* name;
};
constexpr ErrorRow kErrors[] = {
    {TrapKind::OutOfBounds, false, "OutOfBoundsError"},
    {TrapKind::OffsetOverflow, false, "OutOfBoundsError"},
    {TrapKind::ReadOnly, true, "ValueError"},
    {TrapKind::Assert, true, "AssertionError"},
    {TrapKind::Unsupported, true, "NotImplementedError"},
    {TrapKind::Interrupted, true, "KeyboardInterrupt"},
    {TrapKind::InvalidValue, true, "ValueError"},
    {TrapKind::OutOfMemory, true, "MemoryError"},
    {TrapKind::Misaligned, true, "ValueError"},
    {TrapKind::Deadlock, false, "DeadlockError"},
};

} // namespace

void raiseTrap(const Trap& trap) {
  const ErrorRow* row = &kErrors[0];
  for (const ErrorRow& candidate : kErrors)
    if (candidate.kind == trap.kind) row = &candidate;
  PyRef type = row->isPythons ? imported("builtins", row->name) : packageObject(row->name);
  if (!type) return;
  PyRef error = PyRef::steal(PyObject_CallFunction(type.get(), "s", (trap.message + sourceUnder(trap)).c_str()));
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
  setAttribute(e, "view_offset", numberOrNone(trap.ofView, trap.viewOffset));
  setAttribute(e, "view_bytes", numberOrNone(trap.ofView, trap.viewBytes));
  setAttribute(e, "access_bytes", numberOrNone(trap.accessBytes > 0, trap.accessBytes));
  if (trap.kind == TrapKind::Deadlock) setAttribute(e, "waiting", waitingPrograms(trap));
  PyErr_SetObject(type.get(), e);
}

} // namespace tiletwin::python
