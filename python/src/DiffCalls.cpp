// python/src/DiffCalls.cpp -- diff/ for Python: comparing two buffers, making the kernel that computes bounds.
// Not here:  launches, recordings, reports (python/tiletwin/diff).
#include "DiffCalls.h"
#include "Context.h"
#include "diff/Bounds.h"
#include "diff/Compare.h"
#include "diff/Taps.h"
#include "ir/CheckShadows.h"
#include "ir/Passes.h"
#include <optional>

namespace tiletwin::python {
namespace {

/// A contiguous buffer for a scope.
struct HeldBuffer {
  Py_buffer view{};
  bool held = false;
  bool take(PyObject* object, bool writable = false) {
    held = PyObject_GetBuffer(object, &view, writable ? PyBUF_WRITABLE : PyBUF_SIMPLE) == 0;
    return held;
  }
  ~HeldBuffer() {
    if (held) PyBuffer_Release(&view);
  }
};

std::optional<DType> typeNamed(std::string_view name) {
  for (int i = 0; i < kNumDTypes; ++i)
    if (name == nameOf(DType(i))) return DType(i);
  PyErr_Format(PyExc_ValueError, "%s is no element type of the IR", std::string(name).c_str());
  return {};
}

bool hasSize(const HeldBuffer& buffer, int64_t bytes, const char* what) {
  if (buffer.view.len == bytes) return true;
  PyErr_Format(PyExc_ValueError, "%s has %zd bytes, and %lld are needed", what, buffer.view.len, (long long)bytes);
  return false;
}

PyObject* compareBuffers(PyObject*, PyObject* args) {
  PyObject *a, *b, *bounds, *verdicts;
  const char* typeText;
  int isUnsigned;
  if (!PyArg_ParseTuple(args, "OOspOO:diff_compare", &a, &b, &typeText, &isUnsigned, &bounds, &verdicts))
    return nullptr;
  const std::optional<DType> type = typeNamed(typeText);
  HeldBuffer first, second, limits, out;
  if (!type || !first.take(a) || !second.take(b)) return nullptr;
  const int64_t size = int64_t(sizeOf(*type)), count = first.view.len / size;
  if (!hasSize(second, first.view.len, "the second buffer") || !hasSize(first, count * size, "the first buffer"))
    return nullptr;
  if (bounds != Py_None && (!limits.take(bounds) || !hasSize(limits, count * 4, "the buffer of bounds")))
    return nullptr;
  if (verdicts != Py_None && (!out.take(verdicts, true) || !hasSize(out, count, "the buffer of verdicts")))
    return nullptr;
  diff::Compared arrays;
  arrays.a = first.view.buf;
  arrays.b = second.view.buf;
  arrays.bounds = limits.held ? static_cast<const float*>(limits.view.buf) : nullptr;
  arrays.type = *type;
  arrays.isUnsigned = isUnsigned;
  arrays.count = count;
  diff::Comparison found;
  Py_BEGIN_ALLOW_THREADS;
  found = diff::compare(arrays, out.held ? static_cast<uint8_t*>(out.view.buf) : nullptr);
  Py_END_ALLOW_THREADS;
  return Py_BuildValue("{s:L,s:L,s:L,s:L,s:L,s:L,s:L,s:L,s:K,s:L}", "elements", (long long)found.elements, "same",
                       (long long)found.same, "zero_signs", (long long)found.zeroSigns, "within",
                       (long long)found.within, "different", (long long)found.different, "not_comparable",
                       (long long)found.notComparable, "first", (long long)found.first, "first_not_comparable",
                       (long long)found.firstNotComparable, "worst_ulp", (unsigned long long)found.worstUlp, "worst",
                       (long long)found.worst);
}

/// A module from text. Null with an exception set.
mlir::OwningOpRef<mlir::ModuleOp> moduleOf(const char* text, Py_ssize_t size, const char* file) {
  DiagnosticCapture capture(sharedContext());
  mlir::OwningOpRef<mlir::ModuleOp> module = tt::parseTtir(llvm::StringRef(text, size_t(size)), file, sharedContext());
  if (!module) capture.raise(std::string("reading ") + file);
  return module;
}

/// The place in the user's text that a location inside of the language's library was called from.
mlir::Location outsideOfLibrary(mlir::Location location) {
  auto call = mlir::dyn_cast<mlir::CallSiteLoc>(location);
  if (auto named = mlir::dyn_cast<mlir::NameLoc>(location); named && !call)
    call = mlir::dyn_cast<mlir::CallSiteLoc>(named.getChildLoc());
  return call && tt::isInLibrary(call.getCallee()) ? outsideOfLibrary(call.getCaller()) : location;
}

/// (file, line, column), or None.
PyRef placeOf(mlir::Location location) {
  location = outsideOfLibrary(location);
  std::string file;
  int line = 0, column = 0;
  if (!sourceOf(location, file, line, column)) return PyRef::borrow(Py_None);
  return PyRef::steal(Py_BuildValue("(sii)", file.c_str(), line, column));
}

/// A tuple of five truth values, in the order of diff::Latitude. False with an exception set.
bool readLatitude(PyObject* tuple, diff::Latitude& out) {
  int given[5];
  if (!PyArg_ParseTuple(tuple, "ppppp", &given[0], &given[1], &given[2], &given[3], &given[4])) return false;
  bool* const fields[] = {&out.contracts, &out.approximates, &out.tf32Differs, &out.fp8Sums, &out.undefinedDiffers};
  for (int i = 0; i < 5; ++i) *fields[i] = given[i] != 0;
  return true;
}

bool append(const PyRef& list, PyRef item) { return item && PyList_Append(list.get(), item.get()) == 0; }

PyRef numbersOf(llvm::ArrayRef<unsigned> values) {
  PyRef list = PyRef::steal(PyList_New(0));
  for (unsigned value : values)
    if (!list || !append(list, PyRef::steal(PyLong_FromUnsignedLong(value)))) return {};
  return list;
}

PyObject* makeBounds(PyObject*, PyObject* args) {
  const char *text, *file, *entry;
  Py_ssize_t size;
  PyObject* freedom;
  diff::Latitude latitude;
  if (!PyArg_ParseTuple(args, "s#ssO!:diff_bounds", &text, &size, &file, &entry, &PyTuple_Type, &freedom) ||
      !readLatitude(freedom, latitude))
    return nullptr;
  mlir::OwningOpRef<mlir::ModuleOp> module = moduleOf(text, size, file);
  if (!module) return nullptr;
  DiagnosticCapture capture(sharedContext());
  mlir::FailureOr<diff::BoundsKernel> made = diff::addBounds(*module, entry, latitude);
  if (mlir::failed(made)) {
    capture.raise(std::string("deriving bounds of kernel '") + entry + "'");
    return nullptr;
  }
  PyRef shadowed = numbersOf(made->shadowed), read = numbersOf(made->read), stores = PyRef::steal(PyList_New(0)),
        without = PyRef::steal(PyList_New(0));
  if (!shadowed || !read || !stores || !without) return nullptr;
  for (mlir::Location place : made->stores)
    if (!append(stores, placeOf(place))) return nullptr;
  for (const std::string& name : made->withoutRule)
    if (!append(without, PyRef::steal(PyUnicode_FromString(name.c_str())))) return nullptr;
  const std::string out = tt::printTtir(*module, true);
  return Py_BuildValue("(s#OOOO)", out.data(), Py_ssize_t(out.size()), shadowed.get(), stores.get(), without.get(),
                       read.get());
}

/// The name of the variable that a location was given, outermost first; empty: none.
std::string variableOf(mlir::Location location) {
  if (auto named = mlir::dyn_cast<mlir::NameLoc>(location)) return named.getName().str();
  if (auto call = mlir::dyn_cast<mlir::CallSiteLoc>(location)) return variableOf(call.getCallee());
  return {};
}

/// (place, variable, operation, element type, shape)
PyRef tapRow(const diff::Tap& tap, llvm::StringRef operation) {
  mlir::Type element = tt::elementTypeOf(tap.type);
  std::string typeText;
  llvm::raw_string_ostream(typeText) << element;
  PyRef place = placeOf(tap.where), shape = PyRef::steal(PyList_New(0));
  if (!place || !shape) return {};
  for (int64_t extent : tt::shapeOf(tap.type))
    if (!append(shape, PyRef::steal(PyLong_FromLongLong(extent)))) return {};
  return PyRef::steal(Py_BuildValue("(OsssO)", place.get(), variableOf(outsideOfLibrary(tap.where)).c_str(),
                                    operation.str().c_str(), typeText.c_str(), shape.get()));
}

PyObject* makeTaps(PyObject*, PyObject* args) {
  const char *text, *file, *entry;
  Py_ssize_t size;
  std::array<int32_t, 3> program;
  PyObject* freedom;
  if (!PyArg_ParseTuple(args, "s#ss(iii)O:diff_taps", &text, &size, &file, &entry, &program[0], &program[1],
                        &program[2], &freedom))
    return nullptr;
  diff::Latitude latitude;
  if (freedom != Py_None && !readLatitude(freedom, latitude)) return nullptr;
  mlir::OwningOpRef<mlir::ModuleOp> module = moduleOf(text, size, file);
  if (!module) return nullptr;
  DiagnosticCapture capture(sharedContext());
  mlir::FailureOr<diff::TappedKernel> made =
      diff::makeTapped(*module, entry, program, freedom == Py_None ? nullptr : &latitude);
  if (mlir::failed(made)) {
    capture.raise(std::string("tapping the values of kernel '") + entry + "'");
    return nullptr;
  }
  PyRef rows = PyRef::steal(PyList_New(0)), shadowed = numbersOf(made->bounds.shadowed);
  if (!rows || !shadowed) return nullptr;
  for (const diff::Tap& tap : made->taps)
    if (!append(rows, tapRow(tap, tap.operation))) return nullptr;
  const std::string out = tt::printTtir(*module, true);
  return Py_BuildValue("(s#OO)", out.data(), Py_ssize_t(out.size()), rows.get(), shadowed.get());
}

/// The texts of diff::Reason, in order.
PyObject* reasons(PyObject*, PyObject*) {
  PyRef list = PyRef::steal(PyList_New(0));
  for (int i = 0; list && i < int(diff::Reason::Count); ++i) {
    PyRef text = PyRef::steal(PyUnicode_FromString(diff::textOf(diff::Reason(i))));
    if (!text || PyList_Append(list.get(), text.get()) < 0) return nullptr;
  }
  return list.release();
}

PyMethodDef kFunctions[] = {
    {"diff_compare", compareBuffers, METH_VARARGS,
     "diff_compare(a, b, element_type, is_unsigned, bounds, verdicts) -> dict; bounds: f32 or None; verdicts: a "
     "writable byte an element, or None."},
    {"diff_bounds", makeBounds, METH_VARARGS,
     "diff_bounds(ttir, file, entry, latitude) -> (ttir, shadowed arguments, places of stores, operations without a "
     "rule, those of the shadowed arguments that are read through)"},
    {"diff_taps", makeTaps, METH_VARARGS,
     "diff_taps(ttir, file, entry, program, latitude or None) -> (ttir, rows of taps, shadowed arguments)"},
    {"diff_reasons", reasons, METH_NOARGS, "Why a bound may be infinite."},
    {nullptr, nullptr, 0, nullptr},
};

} // namespace

int addDiffCalls(PyObject* module) { return PyModule_AddFunctions(module, kFunctions); }

} // namespace tiletwin::python
