// ir/DebugPasses.cpp -- makeDebugTtir: what is left to do to a module that a native debugger will look at.
// Here:      which calls are inlined, where notes have no use.
// Not here:  the steps themselves (Passes.cpp, Inline.cpp).
// Invariant: within a function with notes no operation moves over a tt.debug_line or a tt.debug_bind.
#include "ir/Inline.h"
#include "ir/PassSteps.h"
#include "ir/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace tiletwin::tt {
namespace {

bool hasNotes(FuncOp function) {
  return function.walk([](DebugLineOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

/// Whether an operation stands in the body of a reduction, a scan or a map, where no debugger can stop.
bool isInBody(Operation* op) {
  for (Operation* parent = op->getParentOp(); !isa<FuncOp>(parent); parent = parent->getParentOp())
    if (parent->getName().getDialectNamespace() != "scf") return true;
  return false;
}

void eraseNotesInBodies(ModuleOp module) {
  SmallVector<Operation*> notes;
  module.walk([&](Operation* op) {
    if (isa<DebugLineOp, DebugBindOp, DebugConstantOp>(op) && isInBody(op)) notes.push_back(op);
  });
  for (Operation* note : notes) {
    if (auto bind = dyn_cast<DebugBindOp>(note)) bind.getResult().replaceAllUsesWith(bind.getValue());
    note->erase();
  }
}

} // namespace

static LogicalResult toDebugTtir(ModuleOp module) {
  eraseUnreachable(module);
  llvm::DenseMap<Operation*, bool> noted;
  for (FuncOp function : module.getOps<FuncOp>()) noted[function] = hasNotes(function);
  // The language's own functions, as in the normal plan.
  if (failed(inlineSomeCalls(module, [&](CallOp call, FuncOp) { return !noted[call->getParentOfType<FuncOp>()]; })))
    return failure();
  for (FuncOp function : module.getOps<FuncOp>()) {
    if (noted[function]) continue;
    canonicalize(function);
    removeCommonSubexpressions(function);
  }
  // A combine function may call others: until no call is left in a body.
  for (bool again = true; again;) {
    again = false;
    auto wanted = [&](CallOp call, FuncOp callee) { return !noted[callee] || isInBody(call); };
    if (failed(inlineSomeCalls(module, wanted))) return failure();
    module.walk([&](CallOp call) { again |= isInBody(call); });
  }
  eraseNotesInBodies(module);
  eraseDeadFunctions(module);
  for (FuncOp function : module.getOps<FuncOp>()) canonicalize(function);
  return success();
}

LogicalResult makeDebugTtir(ModuleOp module) {
  if (failed(toDebugTtir(module))) return failure();
  return verify(module);
}

namespace {
struct DebugTtirPass : PassWrapper<DebugTtirPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DebugTtirPass)
  StringRef getArgument() const final { return "tt-make-debug-ttir"; }
  StringRef getDescription() const final { return "what a plan for a native debugger is made from"; }
  void getDependentDialects(DialectRegistry& registry) const final { registerDialects(registry); }
  void runOnOperation() final {
    if (failed(toDebugTtir(getOperation()))) signalPassFailure();
  }
};
} // namespace

void addDebugTtirPass(OpPassManager& pm) { pm.addPass(std::make_unique<DebugTtirPass>()); }

} // namespace tiletwin::tt
