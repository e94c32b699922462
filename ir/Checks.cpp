// ir/Checks.cpp -- see Checks.h.
#include "ir/Checks.h"
#include "ir/CheckShadows.h"
#include "ir/Passes.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Transforms/CSE.h"

using namespace mlir;

namespace tiletwin::tt {

bool isInLibrary(Location location) {
  if (auto at = dyn_cast<FileLineColLoc>(location)) return at.getFilename().getValue().contains("/tiletwin/language/");
  if (auto named = dyn_cast<NameLoc>(location)) return isInLibrary(named.getChildLoc());
  if (auto call = dyn_cast<CallSiteLoc>(location)) return isInLibrary(call.getCallee());
  if (auto fused = dyn_cast<FusedLoc>(location))
    return llvm::any_of(fused.getLocations(), [](Location part) { return isInLibrary(part); });
  return false;
}

LogicalResult addChecks(ModuleOp module, const CheckOptions& options) {
  for (FuncOp function : module.getOps<FuncOp>()) {
    Shadows::Operations kernelOps; // each check looks at these only, whatever the others have added
    function->walk([&](Operation* op) {
      if (op != function.getOperation()) kernelOps.insert(op);
    });
    auto follow = [&](std::unique_ptr<ShadowCheck> check) { Shadows(function, *check, kernelOps).run(); };
    if (options.undefined) follow(makeUndefinedCheck());
    if (options.overflow) follow(makeOverflowCheck());
    if (options.nan) follow(makeNanCheck(options.overflow));
    if (options.promises) checkPromises(function);
  }
  simplify(module);
  return verify(module);
}

namespace {
struct CheckPass : PassWrapper<CheckPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CheckPass)
  CheckPass() = default;
  CheckPass(const CheckPass& other) : PassWrapper(other) {}
  explicit CheckPass(const CheckOptions& options) {
    if (options.undefined) checks.addValue("undefined");
    if (options.nan) checks.addValue("nan");
    if (options.overflow) checks.addValue("overflow");
    if (options.promises) checks.addValue("promises");
  }
  StringRef getArgument() const final { return "tt-add-checks"; }
  StringRef getDescription() const final { return "add the probes of checks"; }
  void getDependentDialects(DialectRegistry& registry) const final { registerDialects(registry); }
  void runOnOperation() final {
    CheckOptions options;
    for (const std::string& word : checks) {
      options.undefined |= word == "undefined";
      options.nan |= word == "nan";
      options.overflow |= word == "overflow";
      options.promises |= word == "promises";
    }
    if (failed(addChecks(getOperation(), options))) signalPassFailure();
  }
  ListOption<std::string> checks{*this, "checks", llvm::cl::desc("words of TILETWIN_CHECK")};
};
} // namespace

std::unique_ptr<Pass> makeCheckPass(const CheckOptions& options) { return std::make_unique<CheckPass>(options); }

} // namespace tiletwin::tt
