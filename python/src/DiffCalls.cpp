// python/src/DiffCalls.cpp -- diff/ for Python: comparing two buffers, making the kernel that computes bounds.
// Not here:  launches, recordings, reports (python/tiletwin/diff).
#include "Context.h"
#include "Gil.h"
#include "Parts.h"
#include "StorageTypes.h"
#include "diff/Bounds.h"
#include "diff/Compare.h"
#include "diff/Taps.h"
#include "frontend/PyFunctions.h"
#include "ir/CheckShadows.h"
#include "ir/Passes.h"
#include "llvm/ADT/Sequence.h"

namespace tiletwin::python {
namespace {

bool hasSize(const HeldBytes& buffer, size_t bytes, const char* what) {
  if (buffer.size() == bytes) return true;
  PyErr_Format(PyExc_ValueError, "%s has %zu bytes, and %zu are needed", what, buffer.size(), bytes);
  return false;
}

PyRef compareBuffers(PyObject* a, PyObject* b, PyObject* typeName, bool isUnsigned, std::optional<PyObject*> bounds,
                     std::optional<PyObject*> verdicts) {
  const std::optional<DType> type = storageTypeNamed(typeName);
  HeldBytes first, second, limits, out;
  if (!type || !first.take(a) || !second.take(b)) return {};
  const size_t size = sizeOf(*type), count = first.size() / size;
  if (!hasSize(second, first.size(), "the second buffer") || !hasSize(first, count * size, "the first buffer") ||
      (bounds && (!limits.take(*bounds) || !hasSize(limits, count * 4, "the buffer of bounds"))) ||
      (verdicts && (!out.take(*verdicts, PyBUF_WRITABLE) || !hasSize(out, count, "the buffer of verdicts"))))
    return {};
  diff::Compared arrays;
  arrays.a = first.data();
  arrays.b = second.data();
  arrays.bounds = limits ? static_cast<const float*>(limits.data()) : nullptr;
  arrays.type = *type;
  arrays.isUnsigned = isUnsigned;
  arrays.count = int64_t(count);
  diff::Comparison found;
  {
    const GilReleased released;
    found = diff::compare(arrays, out ? static_cast<uint8_t*>(out.data()) : nullptr);
  }
  return pyDict("elements", found.elements, "same", found.same, "zero_signs", found.zeroSigns, "within", found.within,
                "different", found.different, "not_comparable", found.notComparable, "first", found.first,
                "first_not_comparable", found.firstNotComparable, "worst_ulp", found.worstUlp, "worst", found.worst);
}

/// A module from text. Null with an exception set.
mlir::OwningOpRef<mlir::ModuleOp> moduleOf(std::string_view text, const char* file) {
  DiagnosticCapture capture(sharedContext());
  mlir::OwningOpRef<mlir::ModuleOp> module = tt::parseTtir(text, file, sharedContext());
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
  return sourceOf(location, file, line, column) ? pyTuple(file, line, column) : none();
}

/// Truth values, in the order of diff::Latitude.
using Freedom = std::array<bool, 5>;
diff::Latitude latitudeOf(const Freedom& given) {
  auto [contracts, approximates, tf32Differs, fp8Sums, undefinedDiffers] = given;
  return {.contracts = contracts,
          .approximates = approximates,
          .tf32Differs = tf32Differs,
          .fp8Sums = fp8Sums,
          .undefinedDiffers = undefinedDiffers};
}

PyRef makeBounds(std::string_view text, const char* file, const char* entry, Freedom freedom) {
  mlir::OwningOpRef<mlir::ModuleOp> module = moduleOf(text, file);
  if (!module) return {};
  DiagnosticCapture capture(sharedContext());
  mlir::FailureOr<diff::BoundsKernel> made = diff::addBounds(*module, entry, latitudeOf(freedom));
  if (mlir::failed(made)) {
    capture.raise(std::string("deriving bounds of kernel '") + entry + "'");
    return {};
  }
  return pyTuple(tt::printTtir(*module, true), pyList(made->shadowed), pyList(made->stores, placeOf),
                 pyList(made->withoutRule), pyList(made->read));
}

/// The name of the variable that a location was given, outermost first; empty: none.
std::string variableOf(mlir::Location location) {
  if (auto named = mlir::dyn_cast<mlir::NameLoc>(location)) return named.getName().str();
  if (auto call = mlir::dyn_cast<mlir::CallSiteLoc>(location)) return variableOf(call.getCallee());
  return {};
}

/// (place, variable, operation, element type, shape)
PyRef tapRow(const diff::Tap& tap) {
  std::string typeText;
  llvm::raw_string_ostream(typeText) << tt::elementTypeOf(tap.type);
  return pyTuple(placeOf(tap.where), variableOf(outsideOfLibrary(tap.where)), std::string(tap.operation), typeText,
                 pyList(tt::shapeOf(tap.type)));
}

PyRef makeTaps(std::string_view text, const char* file, const char* entry, std::array<int32_t, 3> program,
               std::optional<Freedom> freedom) {
  mlir::OwningOpRef<mlir::ModuleOp> module = moduleOf(text, file);
  if (!module) return {};
  DiagnosticCapture capture(sharedContext());
  const diff::Latitude latitude = latitudeOf(freedom.value_or(Freedom{}));
  mlir::FailureOr<diff::TappedKernel> made = diff::makeTapped(*module, entry, program, freedom ? &latitude : nullptr);
  if (mlir::failed(made)) {
    capture.raise(std::string("tapping the values of kernel '") + entry + "'");
    return {};
  }
  return pyTuple(tt::printTtir(*module, true), pyList(made->taps, tapRow), pyList(made->bounds.shadowed));
}

/// The texts of diff::Reason, in order.
PyRef reasons() {
  return pyList(llvm::seq(int(diff::Reason::Count)), [](int reason) { return diff::textOf(diff::Reason(reason)); });
}

} // namespace

bool addDiffCalls(PyObject* module) {
  return addFunctions(
      module,
      {function<"diff_compare", compareBuffers>(
           "diff_compare(a, b, element_type, is_unsigned, bounds, verdicts) -> dict; bounds: f32 or None; verdicts: a "
           "writable byte an element, or None."),
       function<"diff_bounds", makeBounds>(
           "diff_bounds(ttir, file, entry, latitude) -> (ttir, shadowed arguments, places of stores, operations "
           "without a rule, those of the shadowed arguments that are read through)"),
       function<"diff_taps", makeTaps>(
           "diff_taps(ttir, file, entry, program, latitude or None) -> (ttir, rows of taps, shadowed arguments)"),
       function<"diff_reasons", reasons>("Why a bound may be infinite.")});
}

} // namespace tiletwin::python
