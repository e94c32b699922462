// codegen/passes/Ring.cpp -- see Ring.h.
#include "codegen/passes/Ring.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tiletwin::codegen {

int stagesOf(scf::ForOp loop, const Options& options) {
  auto given = loop->getAttrOfType<IntegerAttr>("tt.num_stages");
  return given ? int(given.getInt()) : options.numStages;
}

int deepened(int stages, int most, ArrayRef<twg::LocalAllocOp> ofIteration, const Target& target,
             const Options& options) {
  constexpr int64_t kForScratch = 8 * 1024;
  if (stages >= most || ofIteration.empty() || !options.isAlone || !options.deepRings) return stages;
  int64_t ofSlot = 0, others = kForScratch;
  for (twg::LocalAllocOp memory : ofIteration) ofSlot += twg::sharedLayoutOf(memory.getResult().getType()).bytes();
  twg::LocalAllocOp first = ofIteration.front();
  first->getParentOfType<tt::FuncOp>().walk([&](twg::LocalAllocOp memory) {
    if (!llvm::is_contained(ofIteration, memory)) others += twg::sharedLayoutOf(memory.getResult().getType()).bytes();
  });
  const int64_t room = int64_t(target.features().sharedKilobytesMost) * 1024 - others;
  return std::clamp(int(std::max<int64_t>(room, 0) / ofSlot), stages, most);
}

void Slots::allocate(OpBuilder& builder, int count) {
  SmallVector<int64_t> shape{count};
  llvm::append_range(shape, type_.getShape());
  twg::SharedAttr layout = type_.getLayout();
  layout =
      twg::SharedAttr::get(builder.getContext(), layout.getContiguous() + 1, layout.getSwizzle(), layout.getPiece());
  auto all = twg::MemDescType::get(builder.getContext(), shape, type_.getElementType(), layout);
  all_ = twg::LocalAllocOp::create(builder, memory_.getLoc(), all, Value(), IntegerAttr());
}

Value Slots::at(OpBuilder& builder, Value number) const {
  return twg::MemDescIndexOp::create(builder, all_.getLoc(), type_, all_, number);
}

Value Slots::replaceMemory(OpBuilder& builder, Value number) {
  builder.setInsertionPoint(memory_);
  Value slot = at(builder, number);
  memory_.getResult().replaceAllUsesWith(slot);
  return slot;
}

/// The number of the next iteration.
static Value next(OpBuilder& builder, Location where, const LoopSlice& slice, const Turn& turn) {
  mlir::Type number = builder.getI32Type();
  Value one = arith::AddIOp::create(builder, where, turn.now, slice.constant(builder, number, 1));
  Value end = slice.constant(builder, number, turn.slots);
  Value isOver = arith::CmpIOp::create(builder, where, arith::CmpIPredicate::eq, one, end);
  return arith::SelectOp::create(builder, where, isOver, slice.constant(builder, number, 0), one);
}

scf::ForOp Ring::rewriteLoop(RewriterBase& rewriter, ArrayRef<Turn*> others) {
  const int ahead = slots_ - 1;
  mlir::Type number = rewriter.getI32Type();
  Turn read{slots_, 0, {}}, filled{slots_, ahead, {}};
  SmallVector<Turn*> turns(others);
  turns.append({&read, &filled});
  // Carried besides: the slice's values `ahead` iterations on, and the turns.
  SmallVector<Value> inits = slice_.computeFirst(rewriter, ahead, [&](int i, const IRMapping& values, Value enabled) {
    fill(rewriter, values, slice_.constant(rewriter, number, i), enabled);
  });
  const size_t ofSlice = inits.size();
  for (Turn* turn : turns) inits.push_back(slice_.constant(rewriter, number, turn->first));
  return slice_.carryOn(rewriter, inits, [&](OpBuilder& builder, Location, ArrayRef<BlockArgument> added) {
    SmallVector<Value> ofNext(added.take_front(ofSlice));
    for (auto [turn, argument] : llvm::zip_equal(turns, added.drop_front(ofSlice))) turn->now = argument;
    awaitFilled(builder, read.now);
    Value iteration = loop_.getInductionVar(), enabled = slice_.isWithin(builder, iteration, ahead);
    IRMapping values;
    SmallVector<Value> yielded =
        slice_.compute(builder, slice_.iterationAfter(builder, iteration, ahead), enabled, ofNext, values);
    fill(builder, values, filled.now, enabled);
    passOn(builder, read.now);
    builder.setInsertionPoint(loop_.getBody()->getTerminator());
    for (Turn* turn : turns) yielded.push_back(next(builder, loop_.getLoc(), slice_, *turn));
    return yielded;
  });
}

} // namespace tiletwin::codegen
