// codegen/emit/ReduceOps.cpp -- tt.reduce: halves combined bit by bit of the axis' index, in registers, lanes, then warps.
// Here:      the order that layout/ReductionOrder.h states. Not here: scans, histograms.
// Idea: a reduction of 2^n elements is n steps; step i combines elements whose axis index differs in bit order[i]. The
//       lower index is the left operand, where the region tells its operands apart.
#include "codegen/emit/Memory.h"
#include "codegen/emit/TargetCode.h"
#include "codegen/layout/ReductionOrder.h"
#include "codegen/passes/ThreadReductions.h"

using namespace mlir;

namespace tiletwin::codegen {

using llvm::Value;

namespace {

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

  LogicalResult reduceRegisters();
  bool reduceWholeWarps();
  LogicalResult reduceLanes();
  LogicalResult reduceWarps(const LinearLayout& result);
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

/// One instruction for all lanes, where there is one; false if nothing was done.
bool Reduction::reduceWholeWarps() {
  const LinearLayout::Bases& lanes = layout.bases(Part::Lane);
  if (!commutative || !commutative->getResult(0).getType().isInteger(32)) return false;
  if (!llvm::all_of(lanes, [&](uint32_t basis) { return onAxis(basis); })) return false;
  for (Values& mine : registers) {
    Value* all = e.code().reduceWarp(e, commutative, mine.front());
    if (!all) return false;
    mine = Values{all};
  }
  return true;
}

LogicalResult Reduction::reduceLanes() {
  if (reduceWholeWarps()) return success();
  for (auto [bit, basis] : llvm::enumerate(layout.bases(Part::Lane))) {
    if (!onAxis(basis)) continue;
    Value* isRight = e.ir().CreateICmpNE(e.ir().CreateAnd(e.lane(), e.int32(1 << bit)), e.int32(0));
    for (Values& mine : registers) {
      Values left, right;
      for (Value* value : mine) {
        Value* other = e.shuffle("bfly", value, e.int32(1 << bit));
        left.push_back(commutative ? value : e.ir().CreateSelect(isRight, other, value));
        right.push_back(commutative ? other : e.ir().CreateSelect(isRight, value, other));
      }
      FailureOr<Values> both = combine(left, right);
      if (failed(both)) return failure();
      mine = *both;
    }
  }
  return success();
}

LogicalResult Reduction::reduceWarps(const LinearLayout& result) {
  SmallVector<unsigned> bits; // of the warp's number that lie on the axis
  for (auto [bit, basis] : llvm::enumerate(layout.bases(Part::Warp)))
    if (onAxis(basis)) bits.push_back(bit);
  if (bits.empty()) return success();
  uint32_t parts = 1u << bits.size();
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
  e.barrierInside(); // readers of what was there before are done
  for (auto [r, mine] : llvm::enumerate(registers))
    for (auto [operand, value] : llvm::enumerate(mine)) {
      unsigned size = Emitter::memoryBytesOf(tt::elementTypeOf(op.getResultTypes()[operand]));
      storeWords(e, ".shared", addressOf(r, operand, part, size), owner, packWords(e, value), size);
    }
  e.barrierInside();
  for (auto [r, mine] : llvm::enumerate(registers)) {
    SmallVector<Values> all(parts);
    for (uint32_t p = 0; p < parts; ++p)
      for (auto [operand, type] : llvm::enumerate(op.getResultTypes())) {
        mlir::Type element = tt::elementTypeOf(type);
        unsigned size = Emitter::memoryBytesOf(element);
        Values words = loadWords(e, ".shared", addressOf(r, operand, e.int32(p), size), nullptr, {}, size);
        all[p].push_back(unpackWords(e, words, e.typeOf(element), 1).front());
      }
    for (uint32_t step = 1; step < parts; step *= 2)
      for (uint32_t p = 0; p < parts; p += 2 * step) {
        FailureOr<Values> both = combine(all[p], all[p + step]);
        if (failed(both)) return failure();
        all[p] = *both;
      }
    mine = all[0];
  }
  return success();
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
  if (failed(state.reduceRegisters()) || failed(state.reduceLanes()) || failed(state.reduceWarps(result)))
    return failure();
  for (auto [k, value] : llvm::enumerate(reduce.getResult())) {
    Values all;
    for (const Values& one : state.registers) all.push_back(one[k]);
    e.define(value, std::move(all));
  }
  return success();
}

} // namespace tiletwin::codegen
