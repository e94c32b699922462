// codegen/passes/Steps.h -- the way from ttir to ttgir as a list of named steps, for the compiler and for developer tools.
// Here:      the order of the passes, and the verifier between them. Not here: what each does (its own file).
#pragma once
#include "codegen/Codegen.h"
#include "codegen/passes/AccessLayout.h"
#include "ir/TT.h"
#include "mlir/IR/BuiltinOps.h"

namespace tiletwin::codegen {

/// One step. `run` fails with a diagnostic at what cannot be compiled for the target.
struct Step {
  llvm::StringLiteral name, summary; ///< the name is that of the pass in tiletwin-opt
  mlir::LogicalResult (*run)(mlir::ModuleOp, const Target&, const Options&);
};

/// All of them, in order.
llvm::ArrayRef<Step> ttgirSteps();

/// Runs steps on a module that has a kernel. With options.verify the module is verified after each; the error says
/// after which step it was not valid.
mlir::LogicalResult runSteps(llvm::ArrayRef<Step> steps, mlir::ModuleOp module, const Target& target,
                             const Options& options);

/// The threads of a CTA.
ThreadBits threadsOf(const Target& target, const Options& options);

/// The kernel of a module: its first public function; null if there is none.
tt::FuncOp kernelOf(mlir::ModuleOp module);

} // namespace tiletwin::codegen
