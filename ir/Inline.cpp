// ir/Inline.cpp -- inlining of private functions, callees first.
// Here:      which calls are inlined and in what order, and the diagnostics for what cannot be. A callee of several
//            blocks cannot be inlined into a structured region, whose one block would have to be split: such a call
//            stays, and where everything must be inlined it goes into an scf.execute_region of its own.
// Not here:  how a return becomes a value or a branch (Dialect.cpp, the dialect's inliner interface).
// Invariant: functions are visited after everything they call, so that an inlined body holds no call left to inline.
#include "ir/Inline.h"
#include "ir/TT.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/Inliner.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;

namespace tiletwin::tt {
namespace {

class Inliner {
public:
  Inliner(ModuleOp module, bool everything, llvm::function_ref<bool(CallOp, FuncOp)> wanted)
      : module_(module), everything_(everything), wanted_(wanted), interface_(module.getContext()) {
    for (FuncOp function : module.getOps<FuncOp>()) byName_[function.getSymNameAttr()] = function;
  }

  LogicalResult run() {
    for (FuncOp function : llvm::make_early_inc_range(module_.getOps<FuncOp>()))
      if (failed(visit(function))) return failure();
    return success();
  }

private:
  enum class State : uint8_t { Unseen, Open, Done };

  LogicalResult visit(FuncOp function) {
    State& state = state_[function];
    if (state == State::Done) return success();
    if (state == State::Open)
      return function.emitError() << "recursion: " << function.getSymName()
                                  << " calls itself, directly or through others";
    state = State::Open;
    SmallVector<CallOp> calls;
    function.walk([&](CallOp call) { calls.push_back(call); });
    for (CallOp call : calls) {
      FuncOp callee = byName_.lookup(call.getCalleeAttr().getAttr());
      if (!callee) return call.emitOpError() << "calls " << call.getCalleeAttr() << ", which is not in this module";
      if (failed(visit(callee))) return failure();
      if (callee.isExternal() || (callee.isNoinline() && !everything_) || (wanted_ && !wanted_(call, callee))) continue;
      if (failed(inlineOne(call, callee))) return failure();
    }
    state_[function] = State::Done; // `state` may have moved
    return success();
  }

  LogicalResult inlineOne(CallOp call, FuncOp callee) {
    if (!callee.getBody().hasOneBlock() && !isa<FuncOp, scf::ExecuteRegionOp>(call->getParentOp())) {
      if (!everything_) return success();
      call = moveIntoRegion(call);
    }
    if (failed(inlineCall(interface_, config_.getCloneCallback(), call, callee, &callee.getBody(),
                          /*shouldCloneInlinedRegion=*/true)))
      return call.emitOpError() << "could not inline " << callee.getSymName();
    call.erase();
    return success();
  }

  // %r = scf.execute_region { %inner = tt.call ...; scf.yield %inner }
  CallOp moveIntoRegion(CallOp call) {
    OpBuilder builder(call);
    auto region = scf::ExecuteRegionOp::create(builder, call.getLoc(), call->getResultTypes());
    builder.createBlock(&region.getRegion());
    auto inner = cast<CallOp>(builder.clone(*call.getOperation()));
    scf::YieldOp::create(builder, call.getLoc(), inner->getResults());
    call->replaceAllUsesWith(region->getResults());
    call.erase();
    return inner;
  }

  ModuleOp module_;
  bool everything_;
  llvm::function_ref<bool(CallOp, FuncOp)> wanted_; ///< null: every call
  InlinerInterface interface_;
  InlinerConfig config_;
  llvm::DenseMap<StringAttr, FuncOp> byName_;
  llvm::DenseMap<Operation*, State> state_;
};

} // namespace

LogicalResult inlineCalls(ModuleOp module, bool everything) { return Inliner(module, everything, {}).run(); }
LogicalResult inlineSomeCalls(ModuleOp module, llvm::function_ref<bool(CallOp, FuncOp)> wanted) {
  return Inliner(module, /*everything=*/true, wanted).run();
}

} // namespace tiletwin::tt
