// codegen/emit/GatherOps.cpp -- tt.gather: elements picked by index along a dimension, by shuffles where a warp holds all that
// its indices can name, else through shared memory.
// Here:      the code. Not here: which of the two, and where elements lie (layout/GatherPlan.h).
// Invariant: a number outside of the dimension is cut to its lowest bits, so nothing outside of the tile is read.
#include "codegen/emit/Memory.h"
#include "codegen/layout/GatherPlan.h"

using namespace mlir;

namespace tiletwin::codegen {

using llvm::Value;

namespace {

class Gather {
public:
  Gather(Emitter& e, tt::GatherOp op)
      : e_(e), op_(op), plan_(twg::layoutOf(op.getSrc()), twg::layoutOf(op.getResult()), unsigned(op.getAxis())) {}
  void run();

private:
  Value* picked(uint32_t r);
  Values byShuffles();
  Values byShared();

  Emitter& e_;
  tt::GatherOp op_;
  const GatherPlan plan_;
  const LinearLayout &from_ = plan_.from, &to_ = plan_.to;
};

/// The number along the axis, cut to its bits.
Value* Gather::picked(uint32_t r) {
  Value* index = e_.values(op_.getIndices())[r];
  Value* narrow = e_.ir().CreateZExtOrTrunc(index, e_.ir().getInt32Ty());
  return e_.ir().CreateAnd(narrow, e_.int32((int64_t(1) << from_.dimensionBits(plan_.axis)) - 1));
}

Values Gather::byShuffles() {
  llvm::IRBuilder<>& b = e_.ir();
  ArrayRef<Value*> source = e_.values(op_.getSrc());
  auto ofThread = [&](Vectors GatherPlan::Columns::* part) {
    return b.CreateXor(e_.linearOf(e_.lane(), plan_.ofLane.*part), e_.linearOf(e_.warp(), plan_.ofWarp.*part));
  };
  Value *laneOfThread = ofThread(&GatherPlan::Columns::lane), *placeOfThread = ofThread(&GatherPlan::Columns::place);
  Values results;
  for (uint32_t r = 0; r < to_.registers(); ++r) {
    uint32_t lanePart = 0, placePart = 0;
    for (unsigned bit = 0; bit < to_.bits(Part::Register); ++bit)
      if (r >> bit & 1) lanePart ^= plan_.registerLanes[bit], placePart ^= plan_.registerPlaces[bit];
    Value* number = picked(r);
    Value* lane = b.CreateXor(b.CreateXor(laneOfThread, e_.linearOf(number, plan_.ofPicked.lane)), e_.int32(lanePart));
    Value* place =
        b.CreateXor(b.CreateXor(placeOfThread, e_.linearOf(number, plan_.ofPicked.place)), e_.int32(placePart));
    Value* result = nullptr;
    for (uint32_t i = 0; i < 1u << plan_.candidates.dimension(); ++i) {
      uint32_t candidate = plan_.candidates.sum(i) ^ placePart;
      Value* moved = e_.shuffle("idx", source[candidate], lane);
      result = result ? b.CreateSelect(b.CreateICmpEQ(place, e_.int32(candidate)), moved, result) : moved;
    }
    results.push_back(result);
  }
  return results;
}

Values Gather::byShared() {
  llvm::IRBuilder<>& b = e_.ir();
  mlir::Type element = tt::elementTypeOf(op_.getSrc().getType());
  unsigned bytes = Emitter::memoryBytesOf(element);
  ArrayRef<Value*> source = e_.values(op_.getSrc());
  Value* shared = e_.scratch();
  auto addressOf = [&](Value* index) { return b.CreateAdd(shared, b.CreateMul(index, e_.int32(bytes))); };
  Value *owner = e_.isOwner(from_), *own = e_.elementOfThread(from_);
  for (uint32_t r = 0; r < from_.registers(); ++r) {
    if (r & from_.freeMask(Part::Register)) continue;
    Value* index = b.CreateXor(own, e_.int32(from_.elementOf(Part::Register, r)));
    storeWords(e_, ".shared", addressOf(index), owner, packWords(e_, source[r]), bytes);
  }
  e_.barrierInside();
  Value* rest = b.CreateXor(e_.linearOf(e_.lane(), plan_.inSource(Part::Lane)),
                            e_.linearOf(e_.warp(), plan_.inSource(Part::Warp)));
  Values results;
  for (uint32_t r = 0; r < to_.registers(); ++r) {
    Value* along = b.CreateShl(picked(r), from_.dimensionShift(plan_.axis));
    Value* index = b.CreateXor(b.CreateXor(rest, along), e_.int32(plan_.inSource(to_.elementOf(Part::Register, r))));
    Values words = loadWords(e_, ".shared", addressOf(index), nullptr, {}, bytes);
    results.push_back(unpackWords(e_, words, e_.typeOf(element), 1).front());
  }
  return results;
}

void Gather::run() { e_.define(op_.getResult(), plan_.isByShuffles ? byShuffles() : byShared()); }

} // namespace

template <> LogicalResult emit(Emitter& e, tt::GatherOp gather) {
  if (!(twg::layoutOf(gather.getIndices()) == twg::layoutOf(gather.getResult())))
    return gather->emitOpError("needs the indices in the result's layout");
  Gather(e, gather).run();
  return success();
}

} // namespace tiletwin::codegen
