// codegen/passes/Groups.cpp -- see Groups.h.
#include "codegen/passes/Groups.h"
#include "codegen/passes/DotsInFlight.h"
#include "codegen/passes/StoreWaits.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tiletwin::codegen {
namespace {

/// Puts what a thread begins at once side by side, so that it is one branch: copies follow the barrier that expects them.
void gatherCopies(twg::BarrierExpectOp expect) {
  SmallVector<Operation*, 4> together{expect};
  for (Operation* op = expect->getNextNode(); op; op = op->getNextNode()) {
    auto load = dyn_cast<twg::TensorLoadOp>(op);
    if (load && load.getEnabled() == expect.getEnabled())
      together.push_back(load);
    else if (!isMemoryEffectFree(op) || op->getNumRegions())
      break;
  }
  for (Operation* op : ArrayRef<Operation*>(together).drop_back()) op->moveBefore(together.back());
}

} // namespace

void makeGroups(tt::FuncOp kernel) {
  groupStores(kernel);
  kernel.walk(gatherCopies);
  OpBuilder builder(kernel.getContext());
  kernel.walk([&](twg::WarpgroupDotOp dot) {
    builder.setInsertionPoint(dot);
    SmallVector<Value, 2> registers{dot.getC()};
    OpOperand& first = dot.first();
    if (isa<RankedTensorType>(first.get().getType())) registers.push_back(first.get());
    auto fence = twg::WarpgroupFenceOp::create(builder, dot.getLoc(), ValueRange(registers).getTypes(), registers);
    dot.getCMutable().assign(fence.getResult(0));
    if (registers.size() > 1) first.set(fence.getResult(1));
    builder.setInsertionPointAfter(dot);
    twg::WarpgroupCommitOp::create(builder, dot.getLoc());
    if (!dot.getInFlight()) waitForSums(builder, dot.getLoc(), 0, dot.getD());
  });
}

} // namespace tiletwin::codegen
