// python/src/DeviceNeeds.cpp -- see DeviceNeeds.h.
#include "DeviceNeeds.h"
#include "frontend/PyValues.h"
#include "interp/plan/UserPlace.h"
#include "ir/TT.h"
#include <set>
#include <utility>

namespace tiletwin::python {
namespace {

PyRef placeOf(mlir::Operation* op) {
  SourceLocation where = interp::placeForUser(op->getLoc());
  return pyTuple(where.file, where.line, where.column, textOrNone(where.variable));
}

/// The first operation with a value of each narrow type: in dots, made by casts, elsewhere. Null with an exception set.
PyRef elementTypes(tt::FuncOp function) {
  PyRef list = pyList(std::array<int, 0>{});
  std::set<std::pair<std::string, std::string>> seen;
  bool failed = !list;
  function.walk([&](mlir::Operation* op) {
    if (failed || mlir::isa<tt::FuncOp>(op)) return;
    bool isDot = mlir::isa<tt::DotOp, tt::DotScaledOp>(op);
    const char* role = isDot ? "dot" : mlir::isa<tt::FpToFpOp>(op) ? "cast" : "value";
    auto note = [&](mlir::Type type) {
      mlir::Type element = tt::elementTypeOf(tt::pointeeTypeLike(type));
      if (failed || !(mlir::isa<mlir::FloatType>(element) || (isDot && element.isInteger(8)))) return;
      std::string name;
      llvm::raw_string_ostream(name) << element;
      if (!seen.insert({name, role}).second) return;
      PyRef item = pyTuple(name, role, placeOf(op), op->getName().getStringRef().str());
      failed = !item || PyList_Append(list.get(), item.get()) < 0;
    };
    for (mlir::Type type : op->getResultTypes()) note(type);
    if (isDot)
      for (mlir::Type type : op->getOperandTypes()) note(type);
  });
  return failed ? PyRef() : std::move(list);
}

} // namespace

PyRef deviceNeeds(mlir::ModuleOp module, const std::string& entry, const tt::SharedMemoryQuery& query) {
  auto function = module.lookupSymbol<tt::FuncOp>(entry);
  if (!function) {
    PyErr_SetString(PyExc_ValueError, "the module has no kernel");
    return {};
  }
  auto need = tt::leastSharedMemory(function, query);
  return pyTuple(need ? pyTuple(need->bytes, placeOf(need->dot), need->parts) : none(), elementTypes(function));
}

} // namespace tiletwin::python
