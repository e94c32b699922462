// interp/plan/WaitLoops.cpp -- loops in which a program may wait for another one.
// Here:      which loops those are, what their back edges watch.
// Not here:  what happens at run time (run/ExecuteWait.cpp).
// Idea:      a loop ends by its condition. If that depends on nothing the loop reads from memory, no other program can end
//            it, and its back edge stays the plain one.
#include "interp/plan/Builder.h"
#include "interp/run/WaitInstructions.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace tiletwin::interp {

using mlir::Operation;
using mlir::Value;

const char* atomicName(Operation* op); // AtomicOps.cpp

namespace {

bool isAtomic(Operation* op) { return op->getName().getStringRef().starts_with("tt.atomic_"); }
bool isVolatile(Operation* op) {
  auto flag = op->getAttrOfType<mlir::BoolAttr>("isVolatile");
  return flag && flag.getValue();
}
bool readsMemory(Operation* op) {
  llvm::StringRef name = op->getName().getStringRef();
  return name == "tt.load" || name == "tt.descriptor_load" || name == "tt.descriptor_gather" || name == "tt.call" || isAtomic(op);
}
bool isLoop(Operation* op) {
  llvm::StringRef name = op->getName().getStringRef();
  return name == "scf.while" || name == "scf.for";
}

/// The better place to name of two accesses a loop may wait on; either may be null.
Operation* clearer(Operation* a, Operation* b) {
  auto rank = [](Operation* op) { return !op ? 3 : isAtomic(op) ? 0 : isVolatile(op) ? 1 : 2; };
  return rank(b) < rank(a) ? b : a;
}

/// Follows what the condition of an scf.while depends on, backwards and round the loop.
class ConditionSlice {
public:
  explicit ConditionSlice(Operation* loop) : loop_(loop) {
    condition_ = loop->getRegion(0).front().getTerminator();
    follow(condition_->getOperand(0));
    while (!work_.empty()) {
      Value v = work_.pop_back_val();
      if (Operation* op = v.getDefiningOp())
        visit(op);
      else
        visitArgument(llvm::cast<mlir::BlockArgument>(v));
    }
  }
  Operation* access() const { return access_; }

private:
  void follow(Value v) {
    bool inside = loop_->isAncestor(v.getParentBlock()->getParentOp());
    if (inside && seen_.insert(v.getAsOpaquePointer()).second)
      work_.push_back(v);
  }
  void visit(Operation* op) { // with all that is inside it
    op->walk([&](Operation* inner) {
      if (readsMemory(inner))
        access_ = clearer(access_, inner);
      for (Value operand : inner->getOperands())
        follow(operand);
    });
  }
  void visitArgument(mlir::BlockArgument argument) {
    if (argument.getOwner() == &loop_->getRegion(0).front())
      follow(loop_->getRegion(1).front().getTerminator()->getOperand(argument.getArgNumber()));
    else if (argument.getOwner() == &loop_->getRegion(1).front())
      follow(condition_->getOperand(argument.getArgNumber() + 1));
  }

  Operation *loop_, *condition_, *access_ = nullptr;
  llvm::SmallVector<Value, 16> work_;
  llvm::SmallPtrSet<void*, 16> seen_;
};

/// Every read of memory in the loop is one address, and no loop in it waits by itself.
bool readsOneByOne(Operation* loop) {
  bool fine = true;
  loop->walk([&](Operation* op) {
    if (op == loop)
      return;
    bool isTile = op->getNumOperands() && llvm::isa<mlir::RankedTensorType>(op->getOperand(0).getType());
    if (isLoop(op) || (readsMemory(op) && (isTile || !(isAtomic(op) || op->getName().getStringRef() == "tt.load"))))
      fine = false;
  });
  return fine;
}

} // namespace

Operation* whileWaitsOn(Operation* loop) { return ConditionSlice(loop).access(); }

Operation* blocksWaitOn(Operation* function) {
  Operation* access = nullptr;
  function->walk([&](Operation* op) {
    if (readsMemory(op))
      access = clearer(access, op);
  });
  return access;
}

WaitLoop PlanBuilder::enterWaitLoop(Operation* loop, Operation* access, llvm::ArrayRef<Reg> cells, bool carriesTiles) {
  WaitLoop wait;
  if (!access)
    return wait;
  plan_->mayWait = true;
  wait.access = access;
  wait.cells.assign(cells.begin(), cells.end());
  wait.exact = !carriesTiles;
  wait.watchable = isLoop(loop) && readsOneByOne(loop);
  wait.state = newReg(kWaitRoundsBytes + 8 * cells.size());
  BuildInstruction& in = emit(execWaitEnter, "WaitEnter");
  bindWait(in, wait, true);
  ++waitDepth_;
  return wait;
}

void PlanBuilder::bindWait(BuildInstruction& in, const WaitLoop& wait, bool isEnter) {
  WaitOp& data = newData<WaitOp>(in);
  data.cells.resize(wait.cells.size());
  for (size_t i = 0; i < wait.cells.size(); ++i)
    read(in, data.cells[i], wait.cells[i]);
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
  if (wait.access)
    bindWait(in, wait, false);
}

void PlanBuilder::leaveWaitLoop(const WaitLoop& wait) {
  if (wait.access)
    --waitDepth_;
}

} // namespace tiletwin::interp
