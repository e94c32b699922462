// frontend/Frontend.cpp -- buildModule: walk, verify, and report what the verifier says as an error at the user's line.
#include "frontend/Frontend.h"
#include "frontend/Builtins.h"
#include "frontend/Raise.h"
#include "frontend/Walker.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"

namespace tiletwin::frontend {
namespace {

/// The line of the user's file, for the message.
PyRef sourceLine(const FunctionTable& functions, const SourcePlace& place) {
  for (const auto& [function, info] : functions.infos) {
    if (!info || info->file != place.file || !PyList_Check(info->sourceLines.get())) continue;
    Py_ssize_t index = place.line - info->firstLine;
    if (index >= 0 && index < PyList_Size(info->sourceLines.get()))
      return PyRef::borrow(PyList_GetItem(info->sourceLines.get(), index));
  }
  return {};
}

} // namespace

bool callJit(Builder& inside, PyObject* jitFunction, llvm::ArrayRef<Value> args,
             llvm::SmallVectorImpl<Value>& results) {
  if (!PyObject_HasAttrString(jitFunction, "arg_names")) {
    PyErr_Clear();
    return raiseType("a function decorated with @triton.jit is needed here, got " + typeName(jitFunction));
  }
  if (inside.isEager()) return raise(PyExc_SystemError, "tiletwin: a region must be filled through a ModuleBuilder");
  Arguments arguments;
  for (const Value& value : args) arguments.push_back(makeTensor(value));
  PyRef result = Walker::callJit(static_cast<ModuleBuilder&>(inside), jitFunction, arguments, {});
  if (!result) return false;
  // Compile-time results (a combine function that returns a constant) become tensors.
  auto add = [&](PyObject* value) {
    Value tensor = toTensor(inside, value);
    if (tensor) results.push_back(tensor);
    return bool(tensor);
  };
  if (!PyTuple_Check(result.get())) return add(result.get());
  for (PyObject* item : itemsOf(result))
    if (!add(item)) return false;
  return true;
}

mlir::OwningOpRef<mlir::ModuleOp> buildModule(mlir::MLIRContext& context, const Request& request) {
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  ModuleBuilder builder(*module, request.options);
  Builder::Scope scope(&builder);
  std::shared_ptr<FunctionInfo> info = Walker::readFunction(builder, request.function);
  if (!info) return {};
  (*module)->setLoc(info->location);
  Walker walker(builder, info);
  if (!walker.emitKernel(request.signature, request.constexprs, request.attributes, request.name)) {
    SourcePlace place;
    placeOf(info->location, place);
    place.functionLine = info->firstLine;
    place.sourceLine = sourceLine(builder.functions(), place);
    locateError(place);
    return {};
  }
  // What the rules let through and the operations do not.
  std::string message;
  SourcePlace place;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic& diagnostic) {
    if (!message.empty() || diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error) return;
    message = diagnostic.str();
    placeOf(diagnostic.getLocation(), place);
  });
  if (mlir::succeeded(mlir::verify(*module))) {
    if (request.probes) *request.probes = std::move(builder.probes());
    return module;
  }
  if (!place.line) placeOf(info->location, place);
  place.functionLine = info->firstLine;
  place.sourceLine = sourceLine(builder.functions(), place);
  raiseAt(place, message);
  return {};
}

} // namespace tiletwin::frontend
