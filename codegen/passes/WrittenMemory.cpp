// codegen/passes/WrittenMemory.cpp -- see WrittenMemory.h.
#include "codegen/passes/WrittenMemory.h"
#include "codegen/dialect/TWG.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tiletwin::codegen {
namespace {

/// The argument that pointers are made from; null if that is not known, or if there are several.
Value rootOf(Value pointer) {
  llvm::SetVector<Value> reaching;
  reaching.insert(pointer);
  Value root;
  for (size_t i = 0; i < reaching.size(); ++i) {
    if (auto argument = dyn_cast<BlockArgument>(reaching[i])) {
      Operation* parent = argument.getOwner()->getParentOp();
      if (isa<tt::FuncOp>(parent) && argument.getOwner()->isEntryBlock()) {
        if (root && root != argument) return {};
        root = argument;
        continue;
      }
      auto loop = dyn_cast<scf::ForOp>(parent); // moved on in a loop, or exchanged with another one
      if (!loop || argument.getArgNumber() == 0) return {};
      reaching.insert(loop.getTiedLoopInit(argument)->get());
      reaching.insert(loop.getTiedLoopYieldedValue(argument)->get());
      continue;
    }
    Operation* op = reaching[i].getDefiningOp();
    const bool passes = isa<tt::AddPtrOp, tt::SplatOp, tt::BroadcastOp, tt::ExpandDimsOp, tt::ReshapeOp, tt::TransOp,
                            tt::BitcastOp, tt::UnsplatOp, tt::MakeTensorDescriptorOp, twg::ConvertLayoutOp>(op);
    if (!passes) return {};
    reaching.insert(op->getOperand(0));
  }
  return root;
}

/// What an operation writes through; null if it writes nothing.
Value writtenThrough(Operation* op) {
  return llvm::TypeSwitch<Operation*, Value>(op)
      .Case<tt::StoreOp, tt::AtomicStoreOp, tt::AtomicRMWOp, tt::AtomicCASOp>([](auto write) { return write.getPtr(); })
      .Case<tt::DescriptorStoreOp, tt::DescriptorReduceOp, tt::DescriptorScatterOp>(
          [](auto write) { return write.getDesc(); })
      .Case([](twg::TensorStoreOp store) { return store.getDesc(); })
      .Default([](Operation*) { return Value(); });
}

} // namespace

bool mayBeWritten(Value pointer) {
  const Value root = rootOf(pointer);
  WalkResult walked = pointer.getParentRegion()->getParentOfType<tt::FuncOp>().walk([&](Operation* op) {
    const Value through = writtenThrough(op);
    if (!through) return WalkResult::advance();
    const Value written = rootOf(through);
    return !root || !written || root == written ? WalkResult::interrupt() : WalkResult::advance();
  });
  return walked.wasInterrupted();
}

bool ownerReads(tt::LoadOp load) {
  if (load->getParentOfType<tt::MapElementwiseOp>()) return false;
  return load.getIsVolatile() || mayBeWritten(load.getPtr());
}

} // namespace tiletwin::codegen
