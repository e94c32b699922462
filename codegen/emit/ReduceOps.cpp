// codegen/emit/ReduceOps.cpp -- tt.reduce: halves combined bit by bit of the axis' index, in registers, lanes, then warps.
// Here:      the order that layout/ReductionOrder.h states. Not here: scans, histograms.
// Idea: a reduction of 2^n elements is n steps; step i combines elements whose axis index differs in bit order[i]. The
//       lower index is the left operand, where the region tells its operands apart. What warps leave in shared memory
//       all of them read, and the lanes of each combine it, so nothing goes back there.
#include "codegen/emit/Memory.h"
#include "codegen/emit/TargetCode.h"
#include "codegen/layout/ReductionOrder.h"
#include "codegen/passes/ThreadReductions.h"

using namespace mlir;

namespace tiletwin::codegen {

using llvm::Value;

namespace {

constexpr unsigned kWidest = 16; ///< bytes of an access
/// log2 of the warps' parts that one lane reads and combines by itself before lanes combine the rest: two combinations of
/// one instruction take less time than a shuffle.
constexpr unsigned kPartsOfLane = 2;

/// State of one reduction: for each register that is left, one value for each operand of tt.reduce.
struct Reduction {
  Emitter& e;
  tt::ReduceOp op;
  LinearLayout layout;
  uint32_t axisMask;
  SmallVector<Values> registers;    // by register number without the bits that were combined
  Operation* commutative = nullptr; // what the region does, if the order of its two operands is free

  FailureOr<Values> combine(ArrayRef<Value*> left, ArrayRef<Value*> right) {
    Values both(left);
    llvm::append_range(both, right);
    return e.emitRegion(op.getCombineOp(), both);
  }
  bool onAxis(uint32_t basis) const { return basis & axisMask; }

  /// True if the region may be computed of operands that do not belong together, in lanes whose results nobody reads.
  bool isPure() {
    Region& region = op.getCombineOp();
    return region.hasOneBlock() && llvm::all_of(region.front(), [](Operation& one) {
             return one.getNumRegions() == 0 && (one.hasTrait<OpTrait::IsTerminator>() || isMemoryEffectFree(&one));
           });
  }

  LogicalResult reduceRegisters();
  bool reduceWholeWarps();
  LogicalResult combineLanes(ArrayRef<unsigned> bits, bool byAll);
  LogicalResult reduceLanes(bool byAll);
  LogicalResult reduceWarps(const LinearLayout& result, ArrayRef<unsigned> bits);
};

LogicalResult Reduction::reduceRegisters() {
  // From the highest bit down, so that lower bits keep their places.
  const LinearLayout::Bases& bases = layout.bases(Part::Register);
  for (unsigned bit = bases.size(); bit-- > 0;) {
    if (bases[bit] && !onAxis(bases[bit])) continue;
    SmallVector<Values> left;
    for (uint32_t r = 0; r < registers.size(); ++r) {
      if (r >> bit & 1) continue;
      if (bases[bit] == 0) { // the same element twice
        left.push_back(registers[r]);
        continue;
      }
      FailureOr<Values> both = combine(registers[r], registers[r | 1u << bit]);
      if (failed(both)) return failure();
      left.push_back(*both);
    }
    registers = std::move(left);
  }
  return success();
}

/// One instruction for all lanes, where there is one; false if nothing was done. Narrow integers are extended: the low
/// bits of the result are the narrow one's.
bool Reduction::reduceWholeWarps() {
  const LinearLayout::Bases& lanes = layout.bases(Part::Lane);
  auto type = commutative ? dyn_cast<IntegerType>(commutative->getResult(0).getType()) : IntegerType();
  if (!type || type.getWidth() > 32) return false;
  if (!llvm::all_of(lanes, [&](uint32_t basis) { return onAxis(basis); })) return false;
  const bool isSigned = isa<arith::MaxSIOp, arith::MinSIOp>(commutative);
  for (Values& mine : registers) {
    llvm::Type* narrow = mine.front()->getType();
    Value* wide = e.ir().CreateIntCast(mine.front(), e.ir().getInt32Ty(), isSigned);
    Value* all = e.code().reduceWarp(e, commutative, wide);
    if (!all) return false;
    mine = Values{e.ir().CreateTrunc(all, narrow)};
  }
  return true;
}

/// Combines what lanes hold whose numbers differ in `bits`, in this order. `byAll`: all of them need the result, else
/// the one whose bits are 0.
LogicalResult Reduction::combineLanes(ArrayRef<unsigned> bits, bool byAll) {
  // Where the region tells its operands apart, the lower lane's order is the right one. Either each lane selects, or the
  // others compute what nobody reads, and get the first lane's result: one shuffle for two selects a step.
  const bool isFirstLanes = !commutative && isPure() && (!byAll || bits.size() > 1);
  uint32_t mask = 0;
  for (unsigned bit : bits) {
    mask |= 1u << bit;
    Value* isRight = nullptr;
    if (!commutative && !isFirstLanes)
      isRight = e.ir().CreateICmpNE(e.ir().CreateAnd(e.lane(), e.int32(1 << bit)), e.int32(0));
    for (Values& mine : registers) {
      Values left, right;
      for (Value* value : mine) {
        Value* other = e.shuffle("bfly", value, e.int32(1 << bit));
        left.push_back(isRight ? e.ir().CreateSelect(isRight, other, value) : value);
        right.push_back(isRight ? e.ir().CreateSelect(isRight, value, other) : other);
      }
      FailureOr<Values> both = combine(left, right);
      if (failed(both)) return failure();
      mine = *both;
    }
  }
  if (!isFirstLanes || !byAll) return success();
  Value* first = e.ir().CreateAnd(e.lane(), e.int32(e.target().warpSize - 1 - int64_t(mask)));
  for (Values& mine : registers)
    for (Value*& value : mine) value = e.shuffle("idx", value, first);
  return success();
}

LogicalResult Reduction::reduceLanes(bool byAll) {
  if (reduceWholeWarps()) return success();
  SmallVector<unsigned> bits;
  for (auto [bit, basis] : llvm::enumerate(layout.bases(Part::Lane)))
    if (onAxis(basis)) bits.push_back(unsigned(bit));
  return combineLanes(bits, byAll);
}

LogicalResult Reduction::reduceWarps(const LinearLayout& result, ArrayRef<unsigned> bits) {
  const uint32_t parts = 1u << bits.size();
  Value* part = e.warpBitsAt(bits); // which of the parts this warp holds
  uint32_t bytes = 0;
  SmallVector<uint32_t> offsets;
  for (mlir::Type type : op.getResultTypes()) {
    unsigned size = Emitter::memoryBytesOf(tt::elementTypeOf(type));
    offsets.push_back(bytes);
    bytes += llvm::alignTo((size * parts) << result.elementBits(), 16);
  }
  Value* shared = e.scratch();
  // Among the lanes that hold one result now, the first writes; so does the first of the warps that hold the same part.
  Value* owner = e.isFirst(result.freeMask(Part::Lane), layout.freeMask(Part::Warp));
  Value* own = e.elementOfThread(result);
  auto addressOf = [&](uint32_t r, unsigned operand, Value* whichPart, unsigned size) {
    Value* element = e.ir().CreateXor(own, e.int32(result.elementOf(Part::Register, r)));
    Value* slot = e.ir().CreateAdd(e.ir().CreateMul(element, e.int32(parts)), whichPart);
    return e.ir().CreateAdd(e.ir().CreateMul(slot, e.int32(size)), e.ir().CreateAdd(shared, e.int32(offsets[operand])));
  };
  e.barrierBeforeWrites();
  for (auto [r, mine] : llvm::enumerate(registers))
    for (auto [operand, value] : llvm::enumerate(mine)) {
      unsigned size = Emitter::memoryBytesOf(tt::elementTypeOf(op.getResultTypes()[operand]));
      storeWords(e, ".shared", addressOf(r, operand, part, size), owner, packWords(e, value), size);
    }
  e.barrierInside();
  // Lanes that hold one result share the work: each reads a few parts, the lowest bits of their numbers, and the lanes
  // combine the rest.
  SmallVector<unsigned> lanes;
  const unsigned alone = commutative || bits.size() <= kPartsOfLane ? kPartsOfLane : 1;
  for (unsigned bit = 0; bit < e.laneBits() && alone + lanes.size() < bits.size(); ++bit)
    if (result.freeMask(Part::Lane) >> bit & 1) lanes.push_back(bit);
  const unsigned ofLane = unsigned(bits.size() - lanes.size()); // log2 of the parts that a lane reads
  Value* first = e.int32(0);
  for (auto [place, bit] : llvm::enumerate(lanes)) {
    Value* one = e.ir().CreateAnd(e.ir().CreateLShr(e.lane(), bit), e.int32(1));
    first = e.ir().CreateOr(first, e.ir().CreateShl(one, unsigned(place) + ofLane));
  }
  for (auto [r, mine] : llvm::enumerate(registers)) {
    SmallVector<Values> all(1u << ofLane);
    for (auto [operand, type] : llvm::enumerate(op.getResultTypes())) {
      mlir::Type element = tt::elementTypeOf(type);
      const unsigned size = Emitter::memoryBytesOf(element), vector = std::min<unsigned>(all.size(), kWidest / size);
      for (uint32_t p = 0; p < all.size(); p += vector) {
        Value* address = addressOf(uint32_t(r), unsigned(operand), e.ir().CreateAdd(first, e.int32(p)), size);
        Values words = loadWords(e, ".shared", address, nullptr, {}, {size, vector});
        for (auto [i, value] : llvm::enumerate(unpackWords(e, words, e.typeOf(element), vector)))
          all[p + i].push_back(value);
      }
    }
    for (uint32_t step = 1; step < all.size(); step *= 2)
      for (uint32_t p = 0; p < all.size(); p += 2 * step) {
        FailureOr<Values> both = combine(all[p], all[p + step]);
        if (failed(both)) return failure();
        all[p] = *both;
      }
    mine = all[0];
  }
  return combineLanes(lanes, /*byAll=*/true);
}

} // namespace

template <> LogicalResult emit(Emitter& e, tt::ReduceOp reduce) {
  LinearLayout layout = twg::layoutOf(reduce.getSrcs().front());
  unsigned axis = unsigned(reduce.getAxis());
  Reduction state{e, reduce, layout, layout.dimensionMask(axis), {}, commutativeOperation(reduce)};
  if (!ReductionOrder::of(layout, axis))
    return reduce->emitOpError("needs a layout that does not mix dimensions in one bit");
  for (uint32_t r = 0; r < layout.registers(); ++r) {
    Values one;
    for (mlir::Value source : reduce.getSrcs()) one.push_back(e.values(source)[r]);
    state.registers.push_back(std::move(one));
  }
  LinearLayout result = layout.withoutDimension(axis).withoutRepeatedRegisters();
  SmallVector<unsigned> warps; // bits of the warp's number that lie on the axis
  for (auto [bit, basis] : llvm::enumerate(layout.bases(Part::Warp)))
    if (state.onAxis(basis)) warps.push_back(unsigned(bit));
  if (failed(state.reduceRegisters()) || failed(state.reduceLanes(/*byAll=*/warps.empty()))) return failure();
  if (!warps.empty() && failed(state.reduceWarps(result, warps))) return failure();
  for (auto [k, value] : llvm::enumerate(reduce.getResult())) {
    Values all;
    for (const Values& one : state.registers) all.push_back(one[k]);
    e.define(value, std::move(all));
  }
  return success();
}

} // namespace tiletwin::codegen
