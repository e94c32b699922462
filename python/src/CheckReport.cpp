// python/src/CheckReport.cpp -- see CheckReport.h.
#include "CheckReport.h"
#include "Interned.h"
#include "frontend/PackageObject.h"
#include "runtime/Environment.h"

namespace tiletwin::python {
namespace {

PyRef textOrNone(const std::string& text) {
  return text.empty() ? PyRef::borrow(Py_None) : PyRef::steal(PyUnicode_FromString(text.c_str()));
}
PyRef programOrNone(const std::array<int32_t, 3>& id) {
  return id[0] < 0 ? PyRef::borrow(Py_None) : PyRef::steal(Py_BuildValue("(iii)", id[0], id[1], id[2]));
}

/// (file, line, column, variable, operation)
PyRef placeTuple(const SourceLocation& where, const std::string& operation) {
  PyRef file = textOrNone(where.file), variable = textOrNone(where.variable), name = textOrNone(operation);
  return PyRef::steal(Py_BuildValue("(OiiOO)", file.get(), where.line, where.column, variable.get(), name.get()));
}

PyRef numbers(const std::vector<int64_t>& list) {
  PyRef tuple = PyRef::steal(PyTuple_New(Py_ssize_t(list.size())));
  for (size_t i = 0; tuple && i < list.size(); ++i)
    PyTuple_SetItem(tuple.get(), Py_ssize_t(i), PyLong_FromLongLong(list[i]));
  return tuple;
}

/// The arguments of tiletwin.checks.Finding.from_parts; the check of a notice is empty.
PyRef parts(const Finding& f) {
  PyRef second = PyRef::borrow(Py_None);
  if (f.second) {
    PyRef place = placeTuple(*f.second, f.secondOperation), text = textOrNone(f.secondText),
          program = f.secondProgram ? programOrNone(*f.secondProgram) : PyRef::borrow(Py_None);
    second = PyRef::steal(place ? PyTuple_Pack(3, place.get(), text.get(), program.get()) : nullptr);
  }
  PyRef more = PyRef::steal(PyList_New(0));
  for (const Finding::Place& other : f.more) {
    PyRef at = placeTuple(other.where, other.operation), text = textOrNone(other.text),
          item = PyRef::steal(at ? PyTuple_Pack(2, at.get(), text.get()) : nullptr);
    if (!more || !item || PyList_Append(more.get(), item.get()) < 0) return {};
  }
  PyRef place = placeTuple(f.where, f.operation), program = programOrNone(f.program), shape = numbers(f.shape),
        elements = numbers(f.elements);
  if (!second || !place || !more || !program || !shape || !elements) return {};
  return PyRef::steal(Py_BuildValue("(sOssOLOOLOOO)", f.isNotice ? "" : nameOf(f.check), place.get(),
                                    (f.message + f.detail).c_str(), f.advice.c_str(), program.get(),
                                    (long long)f.programs, shape.get(), elements.get(), (long long)f.elementCount,
                                    second.get(), f.ofThreads ? Py_True : Py_False, more.get()));
}

/// parse_checks(text) -> (words, raise, device)
PyObject* parseChecksOf(PyObject*, PyObject* text) {
  try {
    CheckSet set = parseChecks(utf8(text));
    PyRef words = PyRef::steal(PyList_New(0));
    for (unsigned i = 0; words && i < unsigned(Check::Count); ++i)
      if (set.has(Check(i))) {
        PyRef word = PyRef::steal(PyUnicode_FromString(nameOf(Check(i))));
        if (!word || PyList_Append(words.get(), word.get()) < 0) return nullptr;
      }
    return words
               ? Py_BuildValue("(NOs)", PyList_AsTuple(words.get()), set.raise ? Py_True : Py_False, set.device.c_str())
               : nullptr;
  } catch (const environment::Error& error) {
    PyErr_SetString(PyExc_ValueError, error.what());
    return nullptr;
  }
}

PyMethodDef kFunctions[] = {
    {"parse_checks", parseChecksOf, METH_O,
     "parse_checks(text): (words, raise, device) of a value of TILETWIN_CHECK; ValueError for a bad word."},
    {nullptr, nullptr, 0, nullptr},
};

} // namespace

bool readChecks(CheckSet& checks) {
  try {
    checks = wantedChecks();
    return true;
  } catch (const environment::Error& error) {
    PyErr_SetString(PyExc_ValueError, error.what());
    return false;
  }
}

bool reportFindings(const std::string& kernel, std::vector<Finding>&& findings, bool raises) {
  if (findings.empty()) return true;
  PyRef report = packageObject("report_findings"), list = PyRef::steal(PyList_New(0));
  for (const Finding& finding : findings) {
    PyRef item = parts(finding);
    if (!list || !item || PyList_Append(list.get(), item.get()) < 0) return false;
  }
  return report && PyRef::steal(PyObject_CallFunction(report.get(), "sOO", kernel.c_str(), list.get(),
                                                      raises ? Py_True : Py_False));
}

bool noticeUncheckedInGdb(const std::string& kernel) {
  PyRef notice = packageObject("notice_unchecked_in_gdb");
  return bool(PyRef::steal(notice ? PyObject_CallFunction(notice.get(), "s", kernel.c_str()) : nullptr));
}

int addCheckReport(PyObject* module) { return PyModule_AddFunctions(module, kFunctions); }

} // namespace tiletwin::python
