// ir/Numerics.cpp -- the steps of the numerics pass, and the check behind it.
#include "ir/Numerics.h"
#include "ir/Contraction.h"
#include "ir/DotSums.h"
#include "ir/NumericsRewrites.h"
#include "ir/Passes.h"
#include "ir/TW.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace tiletwin::tt {
namespace {

/// Calls `step` on each operation there is before the first call; a step may replace the one that it is given.
template <class Step> void forEach(ModuleOp module, Step step) {
  SmallVector<Operation*> operations;
  module.walk([&](Operation* op) { operations.push_back(op); });
  for (Operation* op : operations) step(op);
}

void clearFastMath(Operation* op) {
  auto fast = dyn_cast<arith::ArithFastMathInterface>(op);
  if (!fast || !fast.getFastMathFlagsAttr()) return;
  op->setAttr(fast.getFastMathAttrName(), arith::FastMathFlagsAttr::get(op->getContext(), arith::FastMathFlags::none));
}

struct NumericsPass : PassWrapper<NumericsPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(NumericsPass)
  NumericsPass() = default;
  NumericsPass(const NumericsPass& other) : PassWrapper(other) {}
  StringRef getArgument() const final { return "tt-numerics"; }
  StringRef getDescription() const final { return "say in operations of one definition what an NVIDIA GPU computes"; }
  void getDependentDialects(DialectRegistry& registry) const final { registerDialects(registry); }
  void runOnOperation() final {
    NumericsTarget target;
    target.capability = capability;
    target.enableFpFusion = fpFusion;
    target.flushDenormals = flushDenormals;
    LogicalResult done =
        onlyVerify ? verifyNumericsExplicit(getOperation(), target) : makeNumericsExplicit(getOperation(), target);
    if (failed(done)) signalPassFailure();
  }
  Option<int> capability{*this, "capability", llvm::cl::desc("75, 80, 90, ...: of sm_XX"), llvm::cl::init(90)};
  Option<bool> fpFusion{*this, "fp-fusion", llvm::cl::desc("fuse products with sums"), llvm::cl::init(true)};
  Option<bool> flushDenormals{*this, "flush-denormals", llvm::cl::desc("in exp2, sqrt and rsqrt"),
                              llvm::cl::init(true)};
  Option<bool> onlyVerify{*this, "only-verify", llvm::cl::desc("rewrite nothing"), llvm::cl::init(false)};
};

} // namespace

LogicalResult makeNumericsExplicit(ModuleOp module, const NumericsTarget& target) {
  module.getContext()->getOrLoadDialect<tw::TWDialect>();
  forEach(module, clearFastMath);
  forEach(module, [&](Operation* op) { rewriteFunction(op, target); });
  foldDotSums(module);
  if (target.enableFpFusion) contractProducts(module);
  forEach(module, [&](Operation* op) { widenArithmetic(op, target); });
  return success(succeeded(verify(module)) && succeeded(verifyNumericsExplicit(module, target)));
}

LogicalResult verifyNumericsExplicit(ModuleOp module, const NumericsTarget& target) {
  bool isExplicit = true;
  module.walk([&](Operation* op) {
    const char* choice = choiceOf(op, target);
    if (!choice) return;
    isExplicit = false;
    const std::string gpu = target.family == GpuFamily::Amd ? "AMD GPUs" : "sm_" + std::to_string(target.capability);
    op->emitError() << "numerics for " << gpu << ": `" << op->getName() << "` " << choice;
  });
  return success(isExplicit);
}

std::unique_ptr<Pass> makeNumericsPass() { return std::make_unique<NumericsPass>(); }

} // namespace tiletwin::tt
