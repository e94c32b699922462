// codegen/emit/AtomicPoll.cpp -- tt.atomic_poll: the first thread looks again and again, all others wait for it.
// Not here:  loops that users write around atomic accesses (AtomicOps.cpp).
#include "codegen/emit/Atomics.h"
#include "codegen/emit/Owners.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace mlir;

namespace tiletwin::codegen {

using llvm::Value;

namespace {

Value* nanoseconds(Emitter& e) {
  return e.inlinePtx("mov.u64 $0, %globaltimer;", "=l,~{memory}", {e.ir().getInt64Ty()}, {}, true).front();
}

} // namespace

template <> LogicalResult emit(Emitter& e, tt::AtomicPollOp poll) {
  llvm::IRBuilder<>& b = e.ir();
  Value *address = e.scalar(poll.getPtr()), *expected = e.scalar(poll.getExpected());
  AtomicInstruction look{"", address, nullptr, {}};
  look.bits = expected->getType()->getIntegerBitWidth();
  look.opcode =
      "ld" + semanticWord(poll.getSem()) + scopeWord(poll.getScope()) + ".global.b" + std::to_string(look.bits);
  llvm::BasicBlock *before = b.GetInsertBlock(), *loop = e.newBlock("poll"), *after = e.newBlock("poll.end");
  Value* start = poll.getTimeout() ? nanoseconds(e) : nullptr;
  b.CreateCondBr(ownerOf(e, poll.getPtr()), loop, after);
  b.SetInsertPoint(loop);
  Value* isThere = b.CreateICmpEQ(look.emit(e).front(), expected);
  Value* isDone = isThere;
  if (start) {
    Value* passed = b.CreateSub(nanoseconds(e), start);
    isDone = b.CreateOr(isThere, b.CreateICmpUGE(passed, e.scalar(poll.getTimeout())));
  }
  b.CreateCondBr(isDone, after, loop);
  b.SetInsertPoint(after);
  llvm::PHINode* result = b.CreatePHI(b.getInt1Ty(), 2);
  result->addIncoming(b.getFalse(), before);
  result->addIncoming(isThere, loop);
  // Without a timeout the answer is known, but the others wait all the same, at the barrier behind.
  if (start) {
    e.define(poll.getResult(), shareOwned(e, poll.getPtr(), {result}));
    return success();
  }
  e.define(poll.getResult(), b.getTrue());
  return success();
}

} // namespace tiletwin::codegen
