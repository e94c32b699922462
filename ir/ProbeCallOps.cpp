// ir/ProbeCallOps.cpp -- verifier of tt.probe_call; calls whose condition never holds go away, and values that no
// breakpoint will show.
#include "ir/Passes.h"
#include "ir/TT.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace tiletwin::tt {

LogicalResult ProbeCallOp::verify() {
  if (getCallee() != "print_if" && getCallee() != "breakpoint_if")
    return emitOpError() << "calls print_if or breakpoint_if, got '" << getCallee() << "'"; // C1
  if (getArgs().empty() || !getElementTypeOrSelf(getCondition().getType()).isInteger(1))
    return emitOpError() << "needs a condition of i1 as its first operand"; // C2
  if (getIsSigned().size() != getValues().size())
    return emitOpError() << "needs " << getValues().size() << " entries in isSigned, got "
                         << getIsSigned().size(); // C3
  return success();
}

static LogicalResult eraseProbeThatNeverFires(ProbeCallOp op, PatternRewriter& rewriter) {
  if (!matchPattern(op.getCondition(), m_Zero())) return failure();
  rewriter.eraseOp(op);
  return success();
}

void ProbeCallOp::getCanonicalizationPatterns(RewritePatternSet& patterns, MLIRContext*) {
  patterns.add(eraseProbeThatNeverFires);
}

// ---- variables of breakpoints

/// True if a program that has done it cannot simply start again: it wrote memory, or printed.
static bool leavesTraces(Operation* op) {
  if (isa<AssertOp>(op)) return false;
  if (auto probe = dyn_cast<ProbeCallOp>(op)) return !probe.isBreak();
  if (auto effects = dyn_cast<MemoryEffectOpInterface>(op)) {
    SmallVector<MemoryEffects::EffectInstance> found;
    effects.getEffects(found);
    return llvm::any_of(found, [](const MemoryEffects::EffectInstance& effect) {
      return isa<MemoryEffects::Write>(effect.getEffect()) && effect.getResource() == GlobalMemory::get();
    });
  }
  return isa<CallOp>(op);
}

static bool leavesTraces(Region& region) {
  return region.walk([](Operation* op) { return leavesTraces(op) ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

/// `traces`: whether there may be some before the region; afterwards, behind it.
static void dropValues(Region& region, bool& traces) {
  traces |= region.getBlocks().size() > 1 && leavesTraces(region); // the order of blocks says nothing
  for (Block& block : region)
    for (Operation& op : block) {
      if (auto probe = dyn_cast<ProbeCallOp>(op); probe && probe.isBreak() && !traces) {
        probe->setOperands(probe.getCondition());
        probe.setIsSigned({});
      }
      const bool isLoop = isa<scf::ForOp, scf::WhileOp>(op);
      for (Region& inner : op.getRegions()) traces |= isLoop && leavesTraces(inner);
      bool after = traces || leavesTraces(&op);
      for (Region& inner : op.getRegions()) {
        bool arm = traces;
        dropValues(inner, arm);
        after |= arm;
      }
      traces = after;
    }
}

void dropUnneededVariables(ModuleOp module) {
  for (FuncOp function : module.getOps<FuncOp>()) {
    bool traces = !function.isPublic(); // its callers may have left some
    dropValues(function.getBody(), traces);
  }
}

} // namespace tiletwin::tt
