// codegen/passes/WrittenMemory.cpp -- see WrittenMemory.h.
#include "codegen/passes/WrittenMemory.h"
#include "codegen/dialect/TWG.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tiletwin::codegen {
namespace {

/// What a value that a block is given may be; false if that is not known. A loop's own number is none of them.
bool addIncoming(BlockArgument argument, llvm::SetVector<Value>& reaching) {
  Block* block = argument.getOwner();
  if (auto loop = dyn_cast<scf::ForOp>(block->getParentOp())) { // moved on in it, or exchanged with another one
    if (argument.getArgNumber() == 0) return false;
    reaching.insert(loop.getTiedLoopInit(argument)->get());
    reaching.insert(loop.getTiedLoopYieldedValue(argument)->get());
    return true;
  }
  if (block->isEntryBlock()) return false;
  for (Block* before : block->getPredecessors()) { // behind a return, for one
    auto branch = dyn_cast<BranchOpInterface>(before->getTerminator());
    if (!branch) return false;
    for (unsigned i = 0; i < branch->getNumSuccessors(); ++i) {
      if (branch->getSuccessor(i) != block) continue;
      Value given = branch.getSuccessorOperands(i)[argument.getArgNumber()];
      if (!given) return false;
      reaching.insert(given);
    }
  }
  return true;
}

/// The same of an operation's result.
bool addSources(OpResult result, llvm::SetVector<Value>& reaching) {
  const unsigned number = result.getResultNumber();
  return llvm::TypeSwitch<Operation*, bool>(result.getOwner())
      .Case<tt::AddPtrOp, tt::SplatOp, tt::BroadcastOp, tt::ExpandDimsOp, tt::ReshapeOp, tt::TransOp, tt::BitcastOp,
            tt::UnsplatOp, tt::MakeTensorDescriptorOp, twg::ConvertLayoutOp>(
          [&](auto op) { return reaching.insert(op->getOperand(0)), true; })
      .Case([&](arith::SelectOp select) {
        return reaching.insert(select.getTrueValue()), reaching.insert(select.getFalseValue()), true;
      })
      .Case([&](scf::IfOp branch) {
        reaching.insert(branch.thenYield().getOperand(number));
        return reaching.insert(branch.elseYield().getOperand(number)), true;
      })
      .Case([&](scf::ForOp loop) {
        reaching.insert(loop.getInitArgs()[number]);
        return reaching.insert(loop.getYieldedValues()[number]), true;
      })
      .Default([](Operation*) { return false; });
}

/// The argument that pointers are made from; null if that is not known, or if there are several.
Value rootOf(Value pointer) {
  llvm::SetVector<Value> reaching;
  reaching.insert(pointer);
  Value root;
  for (size_t i = 0; i < reaching.size(); ++i) {
    auto argument = dyn_cast<BlockArgument>(reaching[i]);
    const bool isGiven =
        argument && isa<tt::FuncOp>(argument.getOwner()->getParentOp()) && argument.getOwner()->isEntryBlock();
    if (isGiven) {
      if (root && root != argument) return {};
      root = argument;
    } else if (!(argument ? addIncoming(argument, reaching) : addSources(cast<OpResult>(reaching[i]), reaching))) {
      return {};
    }
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

bool isWrittenIn(Operation* loop, Value pointer) {
  const Value root = rootOf(pointer);
  auto writesTheSame = [&](Operation* op) {
    const Value through = writtenThrough(op);
    return WalkResult(failure(through && rootOf(through) == root));
  };
  return root && loop->walk(writesTheSame).wasInterrupted();
}

bool writesMemory(Operation* op) { return bool(writtenThrough(op)); }

bool mayWriteTheSame(Operation* one, Operation* other) {
  const Value first = rootOf(writtenThrough(one)), second = rootOf(writtenThrough(other));
  return !first || !second || first == second;
}

bool ownerReads(tt::LoadOp load) {
  if (load->getParentOfType<tt::MapElementwiseOp>()) return false;
  return load.getIsVolatile() || mayBeWritten(load.getPtr());
}

bool mayTellOfOthers(Operation* op) {
  if (auto load = dyn_cast<tt::LoadOp>(op)) return load.getIsVolatile();
  const bool isSilent = isa<tt::AtomicRMWOp, tt::AtomicCASOp, tt::AtomicStoreOp>(op) && op->use_empty();
  return op->hasTrait<tt::Atomic>() && !isSilent;
}

} // namespace tiletwin::codegen
