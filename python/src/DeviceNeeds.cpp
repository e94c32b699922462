// python/src/DeviceNeeds.cpp -- see DeviceNeeds.h.
#include "DeviceNeeds.h"
#include "interp/plan/Builder.h"
#include "ir/SharedMemory.h"
#include "ir/TT.h"
#include <set>
#include <utility>

namespace tiletwin::python {
namespace {

PyRef placeOf(mlir::Operation* op) {
  SourceLocation where = interp::placeForUser(op->getLoc());
  PyRef variable =
      where.variable.empty() ? PyRef::borrow(Py_None) : PyRef::steal(PyUnicode_FromString(where.variable.c_str()));
  return PyRef::steal(Py_BuildValue("(siiO)", where.file.c_str(), where.line, where.column, variable.get()));
}

/// The first operation with a value of each narrow type: in dots, made by casts, elsewhere. Null with an exception set.
PyRef elementTypes(tt::FuncOp function) {
  PyRef list = PyRef::steal(PyList_New(0));
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
      PyRef place = placeOf(op);
      PyRef item = PyRef::steal(
          place ? Py_BuildValue("(ssOs)", name.c_str(), role, place.get(), op->getName().getStringRef().str().c_str())
                : nullptr);
      failed = !item || PyList_Append(list.get(), item.get()) < 0;
    };
    for (mlir::Type type : op->getResultTypes()) note(type);
    if (isDot)
      for (mlir::Type type : op->getOperandTypes()) note(type);
  });
  return failed ? PyRef() : std::move(list);
}

} // namespace

PyObject* deviceNeeds(mlir::ModuleOp module, const std::string& entry, PyObject* args) {
  tt::SharedMemoryQuery query;
  if (!PyArg_ParseTuple(args, "iii:device_needs", &query.capability, &query.numWarps, &query.numStages)) return nullptr;
  auto function = module.lookupSymbol<tt::FuncOp>(entry);
  if (!function) {
    PyErr_SetString(PyExc_ValueError, "the module has no kernel");
    return nullptr;
  }
  PyRef shared = PyRef::borrow(Py_None);
  if (auto need = tt::leastSharedMemory(function, query)) {
    PyRef place = placeOf(need->dot);
    shared = PyRef::steal(place ? Py_BuildValue("(LOs)", (long long)need->bytes, place.get(), need->parts.c_str())
                                : nullptr);
  }
  PyRef types = shared ? elementTypes(function) : PyRef();
  return types ? PyTuple_Pack(2, shared.get(), types.get()) : nullptr;
}

} // namespace tiletwin::python
