// interp/plan/PlanModule.cpp -- planModule(): from a verified module to a Program.
#include "interp/plan/Builder.h"
#include "interp/plan/MapOps.h"
#include "interp/run/TileModule.h"
#include "ir/Passes.h"
#include "ir/TT.h"
#include "mlir/IR/BuiltinOps.h"

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
  if (calls) {
    inlined = module.clone();
    if (failed(tt::makeTtir(*inlined, /*inlineEverything=*/true))) return nullptr;
    module = *inlined;
    func = find();
  }
  if (hasLiftableMaps(func)) {
    if (!inlined) inlined = module.clone();
    module = *inlined;
    func = find();
    liftMaps(func);
  }
  PlanBuilder builder(func, options);
  std::unique_ptr<Plan> plan = builder.build();
  if (!plan) return nullptr;
  if (builder.wantsFallback()) {
    PlanOptions materialised = options;
    materialised.symbolic = false;
    plan->fallback = PlanBuilder(func, materialised).build();
    if (!plan->fallback) return nullptr;
  }
  return std::make_shared<Program>(std::unique_ptr<const Plan>(std::move(plan)));
}

} // namespace tiletwin::interp
