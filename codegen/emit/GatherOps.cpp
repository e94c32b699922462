// codegen/emit/GatherOps.cpp -- tt.gather: elements picked by index along a dimension, by shuffles where a warp holds all that
// its indices can name, else through shared memory.
// Idea: where an element lies is linear in its index, and the index is the sum (XOR) of what the register, the lane and the
//       warp of the result say about the other dimensions, and of the picked number.
// Invariant: a number outside of the dimension is cut to its lowest bits, so nothing outside of the tile is read.
#include "codegen/emit/Emitters.h"
#include "codegen/emit/Memory.h"
#include "codegen/layout/Span.h"

using namespace mlir;

namespace tiletwin::codegen {

using llvm::Value;

namespace {

/// XOR of the columns whose bits are set in a number. Neighbouring bits that move together move at once.
Value* linearOf(Emitter& e, Value* number, ArrayRef<uint32_t> columns) {
  llvm::IRBuilder<>& b = e.ir();
  Value* result = e.int32(0);
  for (unsigned bit = 0; bit < columns.size();) {
    unsigned count = 1;
    if (llvm::has_single_bit(columns[bit]))
      while (bit + count < columns.size() && columns[bit + count] == columns[bit] << count) ++count;
    Value* field = b.CreateAnd(b.CreateLShr(number, bit), e.int32((1 << count) - 1));
    if (columns[bit]) result = b.CreateXor(result, b.CreateMul(field, e.int32(columns[bit])));
    bit += count;
  }
  return result;
}

class Gather {
public:
  Gather(Emitter& e, tt::GatherOp op)
      : e_(e), op_(op), axis_(unsigned(op.getAxis())), from_(twg::layoutOf(op.getSrc())),
        to_(twg::layoutOf(op.getResult())) {}
  void run();

private:
  /// The index in the source of an element of the result, the axis at 0.
  uint32_t inSource(uint32_t element) const {
    SmallVector<int64_t, 5> at = to_.coordinates(element);
    at[axis_] = 0;
    return from_.flatIndex(at);
  }
  LinearLayout::Bases inSource(Part part) const {
    LinearLayout::Bases bases;
    for (uint32_t basis : to_.bases(part)) bases.push_back(inSource(basis));
    return bases;
  }
  Value* picked(uint32_t r);
  bool planShuffles();
  Values byShuffles();
  Values byShared();

  Emitter& e_;
  tt::GatherOp op_;
  unsigned axis_;
  LinearLayout from_, to_;
  // Of a plan by shuffles: source registers and lanes of elements, as columns: what the bits of the picked number, the lane
  // and the warp say.
  struct Columns {
    Vectors lane, place;
  };
  Columns ofPicked_, ofLane_, ofWarp_;
  LinearLayout::Bases registerLanes_, registerPlaces_; // what the result's register bits say
  Span candidates_;                                    // of the registers that may hold an element
};

/// The number along the axis, cut to its bits.
Value* Gather::picked(uint32_t r) {
  Value* index = e_.values(op_.getIndices())[r];
  Value* narrow = e_.ir().CreateZExtOrTrunc(index, e_.ir().getInt32Ty());
  return e_.ir().CreateAnd(narrow, e_.int32((int64_t(1) << from_.dimensionBits(axis_)) - 1));
}

bool Gather::planShuffles() {
  Span held;
  SmallVector<std::pair<Part, unsigned>, 16> bits;
  for (Part part : {Part::Register, Part::Lane})
    for (auto [bit, basis] : llvm::enumerate(from_.bases(part)))
      if (held.add(basis)) bits.push_back({part, unsigned(bit)});
  bool inside = true;
  auto add = [&](uint32_t element, Vectors& lanes, Vectors& places) {
    std::optional<uint32_t> coordinates = held.coordinates(element);
    inside &= coordinates.has_value();
    uint32_t lane = 0, place = 0;
    for (auto [i, bit] : llvm::enumerate(bits))
      if (coordinates.value_or(0) >> i & 1) (bit.first == Part::Lane ? lane : place) |= 1u << bit.second;
    lanes.push_back(lane), places.push_back(place);
  };
  for (unsigned bit = 0; bit < from_.dimensionBits(axis_); ++bit)
    add(1u << (from_.dimensionShift(axis_) + bit), ofPicked_.lane, ofPicked_.place);
  for (uint32_t basis : inSource(Part::Lane)) add(basis, ofLane_.lane, ofLane_.place);
  for (auto [basis, mine] : llvm::zip_equal(inSource(Part::Warp), from_.bases(Part::Warp)))
    add(basis ^ mine, ofWarp_.lane, ofWarp_.place);
  Vectors lanes, places;
  for (uint32_t basis : inSource(Part::Register)) add(basis, lanes, places);
  registerLanes_.assign(lanes.begin(), lanes.end());
  registerPlaces_.assign(places.begin(), places.end());
  if (!inside || from_.bases(Part::Block) != inSource(Part::Block)) return false;
  for (const Columns* columns : {&ofPicked_, &ofLane_, &ofWarp_}) candidates_.addAll(columns->place);
  // One shuffle for each register that may hold the element; against a store of each and a load, and two barriers.
  unsigned shuffles = to_.registers() << candidates_.dimension();
  return shuffles <= 30 + from_.registers() + to_.registers();
}

Values Gather::byShuffles() {
  llvm::IRBuilder<>& b = e_.ir();
  ArrayRef<Value*> source = e_.values(op_.getSrc());
  auto ofThread = [&](Vectors Columns::* part) {
    return b.CreateXor(linearOf(e_, e_.lane(), ofLane_.*part), linearOf(e_, e_.warp(), ofWarp_.*part));
  };
  Value *laneOfThread = ofThread(&Columns::lane), *placeOfThread = ofThread(&Columns::place);
  Values results;
  for (uint32_t r = 0; r < to_.registers(); ++r) {
    uint32_t lanePart = 0, placePart = 0;
    for (unsigned bit = 0; bit < to_.bits(Part::Register); ++bit)
      if (r >> bit & 1) lanePart ^= registerLanes_[bit], placePart ^= registerPlaces_[bit];
    Value* number = picked(r);
    Value* lane = b.CreateXor(b.CreateXor(laneOfThread, linearOf(e_, number, ofPicked_.lane)), e_.int32(lanePart));
    Value* place = b.CreateXor(b.CreateXor(placeOfThread, linearOf(e_, number, ofPicked_.place)), e_.int32(placePart));
    Value* result = nullptr;
    for (uint32_t i = 0; i < 1u << candidates_.dimension(); ++i) {
      uint32_t candidate = candidates_.sum(i) ^ placePart;
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
  Value* shared = b.CreatePtrToInt(e_.scratch(bytes << from_.elementBits()), b.getInt32Ty());
  auto addressOf = [&](Value* index) { return b.CreateAdd(shared, b.CreateMul(index, e_.int32(bytes))); };
  e_.barrier(); // readers of what was there before are done
  Value *owner = e_.isOwner(from_), *own = e_.elementOfThread(from_);
  for (uint32_t r = 0; r < from_.registers(); ++r) {
    if (r & from_.freeMask(Part::Register)) continue;
    Value* index = b.CreateXor(own, e_.int32(from_.elementOf(Part::Register, r)));
    storeWords(e_, ".shared", addressOf(index), owner, packWords(e_, source[r]), bytes);
  }
  e_.barrier();
  Value* rest =
      b.CreateXor(linearOf(e_, e_.lane(), inSource(Part::Lane)), linearOf(e_, e_.warp(), inSource(Part::Warp)));
  Values results;
  for (uint32_t r = 0; r < to_.registers(); ++r) {
    Value* along = b.CreateShl(picked(r), from_.dimensionShift(axis_));
    Value* index = b.CreateXor(b.CreateXor(rest, along), e_.int32(inSource(to_.elementOf(Part::Register, r))));
    Values words = loadWords(e_, ".shared", addressOf(index), nullptr, {}, bytes);
    results.push_back(unpackWords(e_, words, e_.typeOf(element), 1).front());
  }
  return results;
}

void Gather::run() { e_.define(op_.getResult(), planShuffles() ? byShuffles() : byShared()); }

} // namespace

LogicalResult emitGather(Emitter& e, tt::GatherOp gather) {
  if (!(twg::layoutOf(gather.getIndices()) == twg::layoutOf(gather.getResult())))
    return gather->emitOpError("needs the indices in the result's layout");
  Gather(e, gather).run();
  return success();
}

} // namespace tiletwin::codegen
