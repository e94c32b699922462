// ir/Passes.cpp -- contexts for tt modules, and the passes from "source" to "ttir".
#include "ir/Passes.h"
#include "ir/Inline.h"
#include "ir/PassSteps.h"
#include "ir/TT.h"
#include "ir/TW.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/Transforms/InlinerInterfaceImpl.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace tiletwin::tt {

void registerDialects(DialectRegistry& registry) {
  registry.insert<TTDialect, ttg::TTGDialect, tw::TWDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect,
                  cf::ControlFlowDialect, ub::UBDialect, LLVM::LLVMDialect>();
  LLVM::registerInlinerInterface(registry);
}

void prepareContext(MLIRContext& context) {
  context.disableMultithreading();
  DialectRegistry registry;
  registerDialects(registry);
  context.appendDialectRegistry(registry);
  // The LLVM dialect is large: it is loaded when the text or loadDialectOf asks for it.
  context.loadDialect<TTDialect, ttg::TTGDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect,
                      cf::ControlFlowDialect, ub::UBDialect>();
}

bool loadDialectOf(MLIRContext& context, StringRef operationName) {
  return context.getOrLoadDialect(operationName.split('.').first) != nullptr;
}

const FrozenRewritePatternSet& TTDialect::canonicalizationPatterns() {
  if (!canonicalizationPatterns_) {
    RewritePatternSet patterns(getContext());
    for (StringRef name : {"tt", "arith", "scf", "cf", "ub", "math"})
      if (Dialect* dialect = getContext()->getLoadedDialect(name)) dialect->getCanonicalizationPatterns(patterns);
    for (RegisteredOperationName op : getContext()->getRegisteredOperations())
      if (!op.getStringRef().starts_with("llvm.")) op.getCanonicalizationPatterns(patterns, getContext());
    canonicalizationPatterns_ = std::make_shared<const FrozenRewritePatternSet>(std::move(patterns));
  }
  return *canonicalizationPatterns_;
}

// Functions that no call names any more.
void eraseDeadFunctions(ModuleOp module) {
  for (bool changed = true; changed;) {
    changed = false;
    llvm::DenseSet<StringAttr> called;
    module.walk([&](CallOp call) { called.insert(call.getCalleeAttr().getAttr()); });
    for (FuncOp function : llvm::make_early_inc_range(module.getOps<FuncOp>())) {
      if (!function.isPrivate() || called.contains(function.getSymNameAttr())) continue;
      function.erase();
      changed = true;
    }
  }
}

// Blocks that nothing branches to; the greedy driver then never sees them.
void eraseUnreachable(ModuleOp module) {
  IRRewriter rewriter(module.getContext());
  for (FuncOp function : module.getOps<FuncOp>()) (void)eraseUnreachableBlocks(rewriter, function->getRegions());
}

void canonicalize(FuncOp function) {
  const FrozenRewritePatternSet& patterns =
      function.getContext()->getOrLoadDialect<TTDialect>()->canonicalizationPatterns();
  GreedyRewriteConfig config;
  config.setUseTopDownTraversal(true);
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Normal);
  (void)applyPatternsGreedily(function, patterns, config);
}

void removeCommonSubexpressions(FuncOp function) {
  IRRewriter rewriter(function.getContext());
  DominanceInfo dominance(function);
  eliminateCommonSubExpressions(rewriter, dominance, function);
}

namespace {

LogicalResult toTtir(ModuleOp module, bool inlineEverything) {
  eraseUnreachable(module);
  if (failed(inlineCalls(module, inlineEverything))) return failure();
  eraseDeadFunctions(module);
  dropUnneededVariables(module);
  for (FuncOp function : module.getOps<FuncOp>()) canonicalize(function);
  for (FuncOp function : module.getOps<FuncOp>()) removeCommonSubexpressions(function);
  return success();
}

struct TtirPass : PassWrapper<TtirPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TtirPass)
  explicit TtirPass(bool inlineEverything) : inlineEverything_(inlineEverything) {}
  StringRef getArgument() const final { return "tt-make-ttir"; }
  StringRef getDescription() const final {
    return "inline, canonicalise, remove common subexpressions, dead functions and unreachable blocks";
  }
  void getDependentDialects(DialectRegistry& registry) const final { registerDialects(registry); }
  void runOnOperation() final {
    if (failed(toTtir(getOperation(), inlineEverything_))) signalPassFailure();
  }
  bool inlineEverything_;
};

} // namespace

LogicalResult makeTtir(ModuleOp module, bool inlineEverything) {
  if (failed(toTtir(module, inlineEverything))) return failure();
  return verify(module);
}

void simplify(ModuleOp module) {
  for (FuncOp function : module.getOps<FuncOp>()) canonicalize(function);
  for (FuncOp function : module.getOps<FuncOp>()) removeCommonSubexpressions(function);
}

void addTtirPasses(OpPassManager& pm, bool inlineEverything) {
  pm.addPass(std::make_unique<TtirPass>(inlineEverything));
}

} // namespace tiletwin::tt
