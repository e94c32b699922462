// python/src/RaiseTrap.cpp -- see RaiseTrap.h.
#include "RaiseTrap.h"
#include "frontend/PackageObject.h"
#include "frontend/PyValues.h"
#include <cstdlib>

namespace tiletwin::python {
namespace {

void setAttribute(PyObject* error, const char* name, PyRef value) {
  if (!value || PyObject_SetAttrString(error, name, value.get()) < 0) PyErr_Clear();
}

PyRef numberOrNone(bool known, int64_t number) { return known ? toPython(number) : none(); }

/// "(3, 17)" as a tuple.
PyRef indexTuple(const std::string& index) {
  std::vector<int64_t> numbers;
  for (size_t i = 0; i < index.size();) {
    size_t end = index.find_first_of(",)", i);
    size_t digits = index.find_first_of("-0123456789", i);
    if (digits == std::string::npos || end == std::string::npos) break;
    if (digits < end) numbers.push_back(std::atoll(index.c_str() + digits));
    i = end + 1;
  }
  return pyTupleFrom(numbers);
}

/// [((x, y, z), file, line), ...]
PyRef waitingPrograms(const Trap& trap) {
  return pyList(trap.waiting, [](const WaitingProgram& w) {
    return pyTuple(w.program, textOrNone(w.where.file), numberOrNone(w.where.line > 0, w.where.line));
  });
}

/// The line of the source under an error of memory, with a caret; empty where there is none to show.
std::string sourceUnder(const Trap& trap) {
  const bool isAccess = trap.kind == TrapKind::OutOfBounds || trap.kind == TrapKind::ReadOnly ||
                        trap.kind == TrapKind::Misaligned || trap.kind == TrapKind::OffsetOverflow;
  if (!isAccess) return {};
  PyRef text = call(packageObject("quoted_source"), trap.where.file, trap.where.line, trap.where.column);
  if (!text) PyErr_Clear();
  return stringOf(text.get());
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
  PyRef error = call(type, trap.message + sourceUnder(trap));
  if (!error) return;
  PyObject* e = error.get();
  setAttribute(e, "file", textOrNone(trap.where.file));
  setAttribute(e, "line", numberOrNone(trap.where.line > 0, trap.where.line));
  setAttribute(e, "column", numberOrNone(trap.where.column > 0, trap.where.column));
  setAttribute(e, "variable", textOrNone(trap.where.variable));
  setAttribute(e, "operation", textOrNone(trap.operation));
  setAttribute(e, "program", toPython(trap.program));
  setAttribute(e, "element", numberOrNone(trap.element >= 0, trap.element));
  setAttribute(e, "index", trap.index.empty() ? none() : indexTuple(trap.index));
  bool hasBuffer = !trap.buffer.empty();
  setAttribute(e, "buffer", textOrNone(trap.buffer));
  setAttribute(e, "offset", numberOrNone(hasBuffer, trap.offset));
  setAttribute(e, "buffer_bytes", numberOrNone(hasBuffer, trap.bufferBytes));
  setAttribute(e, "view_offset", numberOrNone(trap.ofView, trap.viewOffset));
  setAttribute(e, "view_bytes", numberOrNone(trap.ofView, trap.viewBytes));
  setAttribute(e, "access_bytes", numberOrNone(trap.accessBytes > 0, trap.accessBytes));
  if (trap.kind == TrapKind::Deadlock) setAttribute(e, "waiting", waitingPrograms(trap));
  PyErr_SetObject(type.get(), e);
}

} // namespace tiletwin::python
