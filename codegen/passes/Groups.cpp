// codegen/passes/Groups.cpp -- see Groups.h.
#include "codegen/passes/Groups.h"
#include "codegen/passes/DotsInFlight.h"
#include "codegen/passes/StoreWaits.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tiletwin::codegen {

void makeGroups(tt::FuncOp kernel) {
  groupStores(kernel);
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
