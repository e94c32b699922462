// codegen/emit/HistogramOps.cpp -- tt.histogram: counters in shared memory, one atomic addition for each element.
// Not here:  atomics of global memory (AtomicOps.cpp).
#include "codegen/emit/Memory.h"

using namespace mlir;

namespace tiletwin::codegen {

using llvm::Value;

namespace {

constexpr unsigned kCounterBytes = 4;

/// All counters become 0: thread i clears i, i + threads, ...
void clearCounters(Emitter& e, Value* shared, uint32_t bins) {
  llvm::IRBuilder<>& b = e.ir();
  uint32_t threads = uint32_t(e.options().numWarps * e.target().warpSize);
  for (uint32_t first = 0; first < bins; first += threads) {
    Value* bin = b.CreateAdd(e.thread(), e.int32(first));
    Value* inside = first + threads <= bins ? nullptr : b.CreateICmpULT(bin, e.int32(bins));
    Value* address = b.CreateAdd(shared, b.CreateMul(bin, e.int32(kCounterBytes)));
    storeWords(e, ".shared", address, inside, b.getInt32(0), kCounterBytes);
  }
}

} // namespace

template <> LogicalResult emit(Emitter& e, tt::HistogramOp histogram) {
  llvm::IRBuilder<>& b = e.ir();
  LinearLayout from = twg::layoutOf(histogram.getSrc()), to = twg::layoutOf(histogram.getResult());
  uint32_t bins = 1u << to.elementBits();
  Value* shared = e.scratch();
  clearCounters(e, shared, bins);
  e.barrierInside();
  Value* owner = e.isOwner(from);
  ArrayRef<Value*> source = e.values(histogram.getSrc());
  for (uint32_t r = 0; r < from.registers(); ++r) {
    if (r & from.freeMask(Part::Register)) continue;
    // Compared as an unsigned number of all its bits: what is negative or too large is not counted.
    llvm::Type* type = source[r]->getType();
    unsigned bits = type->getIntegerBitWidth();
    Value* wide = bits < 32 ? b.CreateSExt(source[r], b.getInt32Ty()) : source[r];
    if (bits == 1) wide = b.CreateZExt(source[r], b.getInt32Ty());
    Value* counted = b.CreateICmpULT(wide, llvm::ConstantInt::get(wide->getType(), bins));
    if (histogram.getMask()) counted = b.CreateAnd(counted, e.values(histogram.getMask())[r]);
    counted = e.both(counted, owner);
    Value* address = b.CreateAdd(shared, b.CreateMul(b.CreateTrunc(wide, b.getInt32Ty()), e.int32(kCounterBytes)));
    e.inlinePtx("@$1 red.shared.add.u32 [$0], 1;", "r,b,~{memory}", {}, {address, counted}, true);
  }
  e.barrierInside();
  Value* own = e.elementOfThread(to);
  llvm::Type* result = e.typeOf(tt::elementTypeOf(histogram.getResult().getType()));
  Values counts;
  for (uint32_t r = 0; r < to.registers(); ++r) {
    Value* bin = b.CreateXor(own, e.int32(to.elementOf(Part::Register, r)));
    Value* address = b.CreateAdd(shared, b.CreateMul(bin, e.int32(kCounterBytes)));
    Value* count = loadWords(e, ".shared", address, nullptr, {}, kCounterBytes).front();
    counts.push_back(b.CreateZExtOrTrunc(count, result));
  }
  e.define(histogram.getResult(), std::move(counts));
  return success();
}

} // namespace tiletwin::codegen
