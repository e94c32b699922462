// interp/tile/ElementwiseF8.cpp -- every float operation on the f8 formats: widened to f32 a chunk at a time, computed
// by the f32 strip, rounded back once.
#include "interp/tile/Strip.h"
#include "interp/tile/Tables.h"
#include "interp/tile/TypeLists.h"

namespace tiletwin::tile {
namespace {

inline constexpr int64_t kChunk = 512;

constexpr bool isComparison(TwElementwise op) { return op >= TwElementwise::CmpEQ && op <= TwElementwise::CmpFUNO; }
constexpr bool isFloatOp(TwElementwise op) {
  using E = TwElementwise;
  return op <= E::MinimumF || op == E::NegF || op == E::AbsF || (op >= E::Exp && op <= E::ClampFPropagateNan) ||
         (op >= E::CmpFOEQ && op <= E::CmpFUNO);
}
/// Results are an operand or its negative: nothing is rounded, and an infinity does not saturate.
constexpr bool isChoice(TwElementwise op) {
  using E = TwElementwise;
  return (op >= E::MaxNumF && op <= E::MinimumF) || op == E::NegF || op == E::AbsF || op == E::ClampF ||
         op == E::ClampFPropagateNan;
}
constexpr int operands(TwElementwise op) {
  using E = TwElementwise;
  if (op >= E::NegF && op <= E::Ceil) return 1;
  return op >= E::Fma && op <= E::ClampFPropagateNan ? 3 : 2;
}

template <DType T, TwElementwise Op> void widened(int64_t n, void* dst, const void* const* src, uint32_t splat) {
  constexpr int kIn = operands(Op);
  static constinit std::atomic<TwStripFn> slot{nullptr};
  const TwStripFn compute = lookedUpOnce(slot, [] { return findElementwiseFloat(Op, DType::F32); });
  constexpr TwStripFn widen = strip<SameValue, kLanes<float, 2>, Storage<DType::F32>, Storage<T>>;
  using Result = std::conditional_t<isChoice(Op), ChoiceStorage<T>, Storage<T>>;
  constexpr TwStripFn narrow = strip<SameValue, kLanes<float, 2>, Result, Storage<DType::F32>>;
  alignas(64) float wide[kIn][kChunk];
  const void* inputs[kIn];
  for (int i = 0; i < kIn; ++i) {
    inputs[i] = wide[i];
    if (splat >> i & 1) widen(1, wide[i], &src[i], 0);
  }
  for (int64_t start = 0; start < n; start += kChunk) {
    const int64_t count = n - start < kChunk ? n - start : kChunk;
    for (int i = 0; i < kIn; ++i) {
      const void* from = static_cast<const uint8_t*>(src[i]) + start;
      if (!(splat >> i & 1)) widen(count, wide[i], &from, 0);
    }
    uint8_t* out = static_cast<uint8_t*>(dst) + start;
    if constexpr (isComparison(Op)) {
      compute(count, out, inputs, splat);
    } else {
      alignas(64) float result[kChunk];
      compute(count, result, inputs, splat);
      const void* from = result;
      narrow(count, out, &from, 0);
    }
  }
}

using Index = std::make_index_sequence<size_t(TwElementwise::Count)>;
template <DType T, size_t I> constexpr TwStripFn entry() {
  constexpr auto kOp = TwElementwise(I);
  if constexpr (isFloatOp(kOp)) return widened<T, kOp>;
  return nullptr;
}
template <DType T, size_t... I> TwStripFn find(TwElementwise op, std::index_sequence<I...>) {
  static constexpr TwStripFn kTable[] = {entry<T, I>()...};
  return kTable[size_t(op)];
}

} // namespace

TwStripFn findElementwiseF8(TwElementwise op, DType type) {
  return forType(Float8s(), type, [&]<DType T>() { return find<T>(op, Index{}); });
}

} // namespace tiletwin::tile
