// interp/plan/WaitLoops.cpp -- loops in which a program may wait for another one.
// Here:      which loops those are, what their back edges watch.
// Not here:  what happens at run time (run/ExecuteWait.cpp).
// Idea:      a loop ends by its condition. If that depends on nothing the loop reads from memory, no other program can end
//            it, and its back edge stays the plain one. Of the values that rounds hand on, the back edge compares those that
//            matter to the condition or to an operation with effects: a count of attempts that is only looked at
//            afterwards does not keep the loop from being one that waits.
#include "interp/plan/Builder.h"
#include "interp/program/WaitInstructions.h"
#include "ir/TT.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace tiletwin::interp {

using mlir::Operation;
using mlir::Value;

namespace {

bool isAtomic(Operation* op) { return op->hasTrait<tt::Atomic>(); }
bool isVolatile(Operation* op) {
  auto load = llvm::dyn_cast<tt::LoadOp>(op);
  return load && load.getIsVolatile();
}
bool readsMemory(Operation* op) {
  auto access = llvm::dyn_cast<tt::MemoryAccess>(op);
  return llvm::isa<tt::CallOp>(op) || (access && access.reads());
}
/// Inline assembly may read a clock, and so may a function of a library.
bool mayReadClock(Operation* op) {
  return llvm::isa<tt::ElementwiseInlineAsmOp, tt::ExternElementwiseOp>(op) && !mlir::isMemoryEffectFree(op);
}
bool isLoop(Operation* op) { return llvm::isa<scf::WhileOp, scf::ForOp>(op); }

/// The better place to name of two accesses a loop may wait on; either may be null.
Operation* clearer(Operation* a, Operation* b) {
  auto rank = [](Operation* op) { return !op ? 3 : isAtomic(op) ? 0 : isVolatile(op) ? 1 : 2; };
  return rank(b) < rank(a) ? b : a;
}

/// Follows what the condition of an scf.while depends on, backwards and round the loop; then what its effects depend on.
class ConditionSlice {
public:
  explicit ConditionSlice(Operation* loop) : loop_(loop) {
    condition_ = loop->getRegion(0).front().getTerminator();
    follow(condition_->getOperand(0));
    followAll();
    cause_.access = access_;
    for (mlir::Region& region : loop->getRegions())
      for (Operation& op : region.front().without_terminator())
        if (hasEffect(&op)) visit(&op);
    followAll();
    for (Value argument : loop->getRegion(0).getArguments())
      cause_.matters.push_back(seen_.contains(argument.getAsOpaquePointer()));
  }
  WaitCause cause() const { return cause_; }

private:
  /// Itself or something in it; terminators only hand values on.
  static bool hasEffect(Operation* op) {
    return op
        ->walk([](Operation* inner) {
          bool plain =
              inner->getNumRegions() || inner->hasTrait<mlir::OpTrait::IsTerminator>() || isMemoryEffectFree(inner);
          return plain ? mlir::WalkResult::advance() : mlir::WalkResult::interrupt();
        })
        .wasInterrupted();
  }
  void followAll() {
    while (!work_.empty()) {
      Value v = work_.pop_back_val();
      if (Operation* op = v.getDefiningOp())
        visit(op);
      else
        visitArgument(llvm::cast<mlir::BlockArgument>(v));
    }
  }
  void follow(Value v) {
    bool inside = loop_->isAncestor(v.getParentBlock()->getParentOp());
    if (inside && seen_.insert(v.getAsOpaquePointer()).second) work_.push_back(v);
  }
  void visit(Operation* op) { // with all that is inside it
    op->walk([&](Operation* inner) {
      if (readsMemory(inner)) access_ = clearer(access_, inner);
      cause_.readsClock |= mayReadClock(inner);
      for (Value operand : inner->getOperands()) follow(operand);
    });
  }
  void visitArgument(mlir::BlockArgument argument) {
    if (argument.getOwner() == &loop_->getRegion(0).front())
      follow(loop_->getRegion(1).front().getTerminator()->getOperand(argument.getArgNumber()));
    else if (argument.getOwner() == &loop_->getRegion(1).front())
      follow(condition_->getOperand(argument.getArgNumber() + 1));
  }

  Operation *loop_, *condition_, *access_ = nullptr;
  WaitCause cause_;
  llvm::SmallVector<Value, 16> work_;
  llvm::SmallPtrSet<void*, 16> seen_;
};

/// Every read of memory in the loop is one address, and no loop in it waits by itself.
bool readsOneByOne(Operation* loop) {
  bool fine = true;
  loop->walk([&](Operation* op) {
    if (op == loop) return;
    bool isTile = op->getNumOperands() && llvm::isa<mlir::RankedTensorType>(op->getOperand(0).getType());
    if (isLoop(op) || (readsMemory(op) && (isTile || !(isAtomic(op) || llvm::isa<tt::LoadOp>(op))))) fine = false;
  });
  return fine;
}

} // namespace

WaitCause whileWaitsOn(Operation* loop) { return ConditionSlice(loop).cause(); }

WaitCause blocksWaitOn(Operation* function) {
  WaitCause cause;
  function->walk([&](Operation* op) {
    if (readsMemory(op)) cause.access = clearer(cause.access, op);
    cause.readsClock |= mayReadClock(op);
  });
  return cause;
}

WaitLoop PlanBuilder::enterWaitLoop(Operation* loop, const WaitCause& cause, llvm::ArrayRef<Reg> cells,
                                    llvm::ArrayRef<Reg> tiles) {
  WaitLoop wait;
  if (!cause.access) return wait;
  plan().mayWait = true;
  wait.access = cause.access;
  wait.cells.assign(cells.begin(), cells.end());
  wait.tiles.assign(tiles.begin(), tiles.end());
  wait.exact = !cause.readsClock;
  wait.watchable = isLoop(loop) && readsOneByOne(loop);
  wait.state = newReg(kWaitRoundsBytes + 8 * cells.size());
  BuildInstruction& in = emit(execWaitEnter, "WaitEnter");
  bindWait(in, wait, true);
  waitAccesses_.push_back(wait.access);
  return wait;
}

void PlanBuilder::bindWait(BuildInstruction& in, const WaitLoop& wait, bool isEnter) {
  WaitOp& data = newData<WaitOp>(in);
  data.cells.resize(wait.cells.size());
  for (size_t i = 0; i < wait.cells.size(); ++i) read(in, data.cells[i], wait.cells[i]);
  data.tiles.resize(isEnter ? 0 : wait.tiles.size());
  for (size_t i = 0; i < data.tiles.size(); ++i) {
    read(in, data.tiles[i].at, wait.tiles[i]);
    data.tiles[i].bytes = info(root(wait.tiles[i])).bytes;
  }
  if (isEnter)
    write(in, data.state, wait.state);
  else
    read(in, data.state, wait.state);
  data.exact = wait.exact;
  data.watchable = wait.watchable;
  data.where = placeOf(wait.access);
  data.operation = isAtomic(wait.access) ? atomicName(wait.access) : "tt.load";
}

void PlanBuilder::emitBackEdge(int label, const WaitLoop& wait) {
  BuildInstruction& in = emitJump(wait.access ? execWaitEdge : execBackEdge, label, wait.access ? "WaitNext" : "Next");
  if (wait.access) bindWait(in, wait, false);
}

void PlanBuilder::leaveWaitLoop(const WaitLoop& wait) {
  if (wait.access) waitAccesses_.pop_back();
}

void PlanBuilder::noteWaitAccess(Operation* access) {
  if (!llvm::isa<tt::LoadOp>(access) && !isAtomic(access)) return;
  const Rep& pointer = rep(access->getOperand(0));
  if (pointer.kind != Rep::Scalar && pointer.kind != Rep::Affine) return;
  const int argument = pointer.root;
  const bool isTile = pointer.kind == Rep::Affine;
  auto pointee = llvm::cast<tt::PointerType>(tt::elementTypeOf(access->getOperand(0).getType())).getPointeeType();
  BuildInstruction& in = emit(execWaitNote, "WaitNote");
  read(in, in.in.r[0], cell(pointer.base));
  in.in.r[1] = uint32_t(sizeOf(dtypeOf(pointee)));
  in.in.r[2] = isTile;
  in.in.imm = argument;
}

} // namespace tiletwin::interp
