// interp/plan/PlanModule.cpp -- planModule(): from a verified module to a Program.
#include "interp/plan/Builder.h"
#include "interp/plan/Regions.h"
#include "interp/program/TileModule.h"
#include "ir/Checks.h"
#include "ir/Passes.h"
#include "ir/TT.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/Checks.h"

namespace tiletwin::interp {

std::shared_ptr<const Program> planModule(mlir::ModuleOp module, std::string_view entry, const PlanOptions& options) {
  if (std::string error; !findTileOps(&error)) {
    module.emitError() << "interpreter: " << error;
    return nullptr;
  }
  auto find = [&] { return module.lookupSymbol<tt::FuncOp>(llvm::StringRef(entry.data(), entry.size())); };
  tt::FuncOp func = find();
  if (!func) {
    module.emitError() << "interpreter: the module has no function " << llvm::StringRef(entry.data(), entry.size());
    return nullptr;
  }
  // Functions that the front end asked to keep are inlined too: a plan has no calls.
  mlir::OwningOpRef<mlir::ModuleOp> inlined;
  bool calls = false;
  func->walk([&](tt::CallOp) { calls = true; });
  if (calls && !options.debug) {
    inlined = module.clone();
    if (failed(tt::makeTtir(*inlined, /*inlineEverything=*/true))) return nullptr;
    module = *inlined;
    func = find();
  }
  if (options.checks && !options.debug) {
    CheckSet wanted;
    wanted.bits = options.checks;
    tt::CheckOptions checks;
    checks.undefined = wanted.has(Check::Undefined);
    checks.nan = wanted.has(Check::Nan);
    checks.overflow = wanted.has(Check::Overflow);
    checks.promises = wanted.has(Check::Promises);
    if (!inlined) inlined = module.clone();
    module = *inlined;
    if (checks && failed(tt::addChecks(module, checks))) return nullptr;
    func = find();
  }
  // In debug mode functions keep their calls.
  auto planned = [&](tt::FuncOp each) { return each == func || options.debug; };
  if (llvm::any_of(module.getOps<tt::FuncOp>(), [&](tt::FuncOp each) {
        return planned(each) && (hasLiftableMaps(each) || hasBranchingRegions(each));
      })) {
    if (!inlined) inlined = module.clone();
    module = *inlined;
    func = find();
    for (tt::FuncOp each : module.getOps<tt::FuncOp>()) {
      if (!planned(each)) continue;
      liftMaps(each);
      straightenRegions(each);
    }
  }
  PlanOptions chosen = options;
  chosen.symbolic &= !options.debug;
  PlanBuilder builder(func, chosen);
  std::unique_ptr<Plan> plan = builder.build();
  if (!plan) return nullptr;
  if (builder.wantsFallback() && !options.debug) {
    PlanOptions materialised = options;
    materialised.symbolic = false;
    plan->fallback = PlanBuilder(func, materialised).build();
    if (!plan->fallback) return nullptr;
  }
  return std::make_shared<Program>(std::unique_ptr<const Plan>(std::move(plan)));
}

} // namespace tiletwin::interp
