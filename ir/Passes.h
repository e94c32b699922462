// ir/Passes.h -- the tt module's way from front end to backends.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/Pass.h"
#include <memory>

namespace mlir {
class OpPassManager;
}

namespace tiletwin::tt {

/// Registers tt, ttg, tw and the upstream dialects a tt module may use (arith, math, scf, cf, ub, and llvm for
/// llvm.intr.assume and loop annotations), with the inliner extensions they need.
void registerDialects(mlir::DialectRegistry& registry);
/// Switches the context's threading off and loads them, all but tw and llvm (see loadDialectOf).
void prepareContext(mlir::MLIRContext& context);
/// Where a program cannot have written memory or printed before a breakpoint_if, it starts again there, and nobody looks
/// at the values of its variables: tt.probe_call loses them.
void dropUnneededVariables(mlir::ModuleOp module);

/// Loads the dialect of an operation that is about to be created by name ("llvm.intr.assume"): prepareContext leaves
/// the large LLVM dialect out. False if no such dialect is registered.
bool loadDialectOf(mlir::MLIRContext& context, llvm::StringRef operationName);

/// Inlines private functions (noinline ones stay unless `everything`), canonicalises, removes common subexpressions,
/// dead symbols and unreachable blocks: "source" becomes "ttir". Fails with a diagnostic if the result does not verify.
mlir::LogicalResult makeTtir(mlir::ModuleOp module, bool inlineEverything = false);
/// The same for a module with notes for a native debugger (NativeDebugOps.td): functions with notes keep their calls, and
/// nothing of theirs is moved or shared; the language's own functions and combine functions are inlined as always.
mlir::LogicalResult makeDebugTtir(mlir::ModuleOp module);
void addDebugTtirPass(mlir::OpPassManager& pm);
void addTtirPasses(mlir::OpPassManager& pm, bool inlineEverything = false);

/// Canonicalises and removes common subexpressions, and nothing else.
void simplify(mlir::ModuleOp module);

/// Parses TTIR text. Null on failure with diagnostics on the context.
mlir::OwningOpRef<mlir::ModuleOp> parseTtir(llvm::StringRef text, llvm::StringRef fileName, mlir::MLIRContext& context);
/// Prints with locations (as `.ttir` files have them) or without.
std::string printTtir(mlir::ModuleOp module, bool locations = true);

} // namespace tiletwin::tt
