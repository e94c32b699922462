// frontend/Frontend.h -- compiled mode: a Python function's ast becomes a verified tt module. Needs the GIL.
//
// Read next: Walker.h (statements and expressions), Semantic.h (the rules), Builtins.h (the table of language
// functions).
#pragma once
#include "frontend/Probes.h"
#include "frontend/PyRef.h"
#include "frontend/Semantic.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tiletwin::frontend {

/// What to compile. `function` is a tiletwin.kernels.jit.JITFunction; the walker reads these attributes of it:
///   ast          ast.FunctionDef with line and column numbers of the file     file        str, path of the source file
///   globals      dict: module globals, closure cells and builtins on top     arg_names   list of str
///   constexprs   list of parameter indices annotated tl.constexpr              defaults    dict name -> default value
///   annotations  dict name -> type annotation object or str                   noinline    bool
///   mangled_name str, "module.qualname"                                       source_lines list of str, first_line int
/// `signature`: dict name -> type string ("i32", "*fp32", "constexpr", or a (nested) tuple of them), in parameter
/// order. `constexprs`: dict keyed by path: ("BLOCK",) or (2, 0) index tuples, or names -> value. `attributes`: dict
/// keyed by path of parameter indices -> list of [name, value], e.g. [["tt.divisibility", 16]].
struct Request {
  PyObject* function;
  PyObject* signature;
  PyObject* constexprs;
  PyObject* attributes;
  SemanticOptions options;
  std::string name;                           ///< of the kernel; empty: that of the function
  std::vector<ProbeRecipe>* probes = nullptr; ///< if not null: receives the module's, by site
};

/// The module as the front end emits it ("source": before any pass). Null with a Python exception set: CompilationError
/// (python/tiletwin/errors.py) carrying file, line, column, the source line with a caret and the cause chain.
mlir::OwningOpRef<mlir::ModuleOp> buildModule(mlir::MLIRContext& context, const Request& request);

} // namespace tiletwin::frontend
