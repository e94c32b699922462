// interp/tile/Joined.cpp -- two operations in one strip function, so that what is between them is not written and read again.
// Here:      exponentials of differences, as in every softmax; sums, differences and products that read or write f16 and bf16;
//            two of them one after the other. They are found by the functions of their parts.
// Not here:  when a pair may be joined (plan/FlushGroup.cpp).
// Invariant: a joined function gives the bits that its parts give one after the other: each part rounds.
#include "interp/tile/ElementwiseFloat.h"
#include "interp/tile/Tables.h"

namespace tiletwin::tile {
namespace {

template <class Outer, class Inner> struct Joined {
  template <class... V> static TILETWIN_INLINE auto apply(V... v) { return Outer::apply(Inner::apply(v...)); }
};

using F32 = FloatStrips<DType::F32>;
template <class Outer> TwStripFn ofDifference() {
  return strip<Joined<Outer, OnPackets<SubF>>, F32::kLight, F32::S, F32::S, F32::S>;
}

// ---- operands and results of 16 bits ----

/// One of the operations with two operands, computed in f32, and the types it reads and writes.
struct MixedRow {
  DType out, sources[2];
  TwStripFn fn;
};
template <class Op, DType Out, DType A, DType B>
inline constexpr MixedRow kMixed{Out, {A, B}, strip<OnPackets<Op>, F32::kLight, Storage<Out>, Storage<A>, Storage<B>>};

template <class Op, DType N>
inline constexpr MixedRow kMixedRows[] = {
    kMixed<Op, DType::F32, DType::F32, DType::F32>,
    kMixed<Op, DType::F32, N, DType::F32>,
    kMixed<Op, DType::F32, DType::F32, N>,
    kMixed<Op, DType::F32, N, N>,
    kMixed<Op, N, DType::F32, DType::F32>,
    kMixed<Op, N, N, DType::F32>,
    kMixed<Op, N, DType::F32, N>,
};

/// `fn` with another type of its result (`source` < 0) or of an operand, f32 so far.
template <class Op, DType N> TwStripFn retyped(TwStripFn fn, int source) {
  for (const MixedRow& row : kMixedRows<Op, N>) {
    if (row.fn != fn) continue;
    MixedRow wanted = row;
    DType& type = source < 0 ? wanted.out : wanted.sources[source];
    if (type != DType::F32) return nullptr;
    type = N;
    for (const MixedRow& other : kMixedRows<Op, N>)
      if (other.out == wanted.out && other.sources[0] == wanted.sources[0] && other.sources[1] == wanted.sources[1])
        return other.fn;
  }
  return nullptr;
}
template <DType N> TwStripFn retypedAny(TwStripFn fn, int source) {
  if (TwStripFn to = retyped<AddF, N>(fn, source)) return to;
  if (TwStripFn to = retyped<SubF, N>(fn, source)) return to;
  return retyped<MulF, N>(fn, source);
}
template <DType N> TwStripFn withCast(TwStripFn inner, TwStripFn outer, int operand) {
  if (operand < 2 && inner == findCastFloatToFloat(N, DType::F32, TwCastKind::SignedInt))
    return retypedAny<N>(outer, operand);
  if (operand == 0 && outer == findCastFloatToFloat(DType::F32, N, TwCastKind::SignedInt))
    return retypedAny<N>(inner, -1);
  return nullptr;
}

// ---- two operations of f32 with three operands in all ----

/// Operand 0 or 1 of Outer is Inner's result; Inner's operands take its place.
template <class Outer, class Inner, int Operand> struct Nested {
  template <class V> static TILETWIN_INLINE V apply(V a, V b, V c) {
    if constexpr (Operand == 0)
      return OnPackets<Outer>::apply(OnPackets<Inner>::apply(a, b), c);
    else
      return OnPackets<Outer>::apply(a, OnPackets<Inner>::apply(b, c));
  }
};
template <class Outer, class Inner> TwStripFn nested(int operand) {
  if (operand == 0) return strip<Nested<Outer, Inner, 0>, F32::kHeavy, F32::S, F32::S, F32::S, F32::S>;
  return strip<Nested<Outer, Inner, 1>, F32::kHeavy, F32::S, F32::S, F32::S, F32::S>;
}
template <class Outer> TwStripFn nestedIn(TwStripFn inner, int operand) {
  if (inner == F32::light2<AddF>) return nested<Outer, AddF>(operand);
  if (inner == F32::light2<SubF>) return nested<Outer, SubF>(operand);
  return inner == F32::light2<MulF> ? nested<Outer, MulF>(operand) : nullptr;
}

/// A product in f32 of which one factor may be narrow, that Outer joins with a narrow number: weights and biases of norms.
struct ProductRow {
  TwStripFn inner, fn, narrow; ///< the product, both, and both with a narrow result
};
template <class Outer, DType N, DType A, DType B>
inline constexpr ProductRow kProduct{
    kMixed<MulF, DType::F32, A, B>.fn,
    strip<Nested<Outer, MulF, 0>, F32::kHeavy, F32::S, Storage<A>, Storage<B>, Storage<N>>,
    strip<Nested<Outer, MulF, 0>, F32::kHeavy, Storage<N>, Storage<A>, Storage<B>, Storage<N>>};
template <class Outer, DType N>
inline constexpr ProductRow kProductRows[] = {
    kProduct<Outer, N, DType::F32, DType::F32>,
    kProduct<Outer, N, N, DType::F32>,
    kProduct<Outer, N, DType::F32, N>,
};
template <class Outer, DType N> TwStripFn ofProduct(TwStripFn inner, TwStripFn outer) {
  if (outer == kMixed<Outer, DType::F32, DType::F32, N>.fn)
    for (const ProductRow& row : kProductRows<Outer, N>)
      if (row.inner == inner) return row.fn;
  if (outer == findCastFloatToFloat(DType::F32, N, TwCastKind::SignedInt))
    for (const ProductRow& row : kProductRows<Outer, N>)
      if (row.fn == inner) return row.narrow;
  return nullptr;
}
/// A difference whose first number is narrow, times another: what norms begin with.
template <DType N> TwStripFn ofDifferenceTimes(TwStripFn inner, TwStripFn outer) {
  if (outer != F32::light2<MulF> || inner != kMixed<SubF, DType::F32, N, DType::F32>.fn) return nullptr;
  return strip<Nested<MulF, SubF, 0>, F32::kHeavy, F32::S, Storage<N>, F32::S, F32::S>;
}
template <DType N> TwStripFn ofProductAny(TwStripFn inner, TwStripFn outer) {
  if (TwStripFn fn = ofProduct<AddF, N>(inner, outer)) return fn;
  return ofProduct<MulF, N>(inner, outer);
}

} // namespace

TwStripFn findJoined(TwStripFn inner, TwStripFn outer, int operand) {
  if (TwStripFn fn = withCast<DType::F16>(inner, outer, operand)) return fn;
  if (TwStripFn fn = withCast<DType::BF16>(inner, outer, operand)) return fn;
  if (operand == 0) {
    if (TwStripFn fn = ofProductAny<DType::F16>(inner, outer)) return fn;
    if (TwStripFn fn = ofProductAny<DType::BF16>(inner, outer)) return fn;
    if (TwStripFn fn = ofDifferenceTimes<DType::F16>(inner, outer)) return fn;
    if (TwStripFn fn = ofDifferenceTimes<DType::BF16>(inner, outer)) return fn;
  }
  if (operand < 2) {
    if (outer == F32::light2<AddF>) return nestedIn<AddF>(inner, operand);
    if (outer == F32::light2<SubF>) return nestedIn<SubF>(inner, operand);
    if (outer == F32::light2<MulF>) return nestedIn<MulF>(inner, operand);
  }
  if (inner != findElementwiseFloat(TwElementwise::SubF, DType::F32)) return nullptr;
  if (outer == findElementwiseFloat(TwElementwise::Exp, DType::F32)) return ofDifference<Exp>();
  if (outer == findElementwiseFloat(TwElementwise::Exp2, DType::F32)) return ofDifference<OnPackets<Exp2>>();
  return nullptr;
}

} // namespace tiletwin::tile
