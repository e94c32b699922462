// interp/tile/Joined.cpp -- pairs of f32 operations in one strip function: exponentials of differences, as in every softmax.
// Here:      the pairs, found by the functions of their parts.     Not here:  when a pair may be joined (plan/FlushGroup.cpp).
// Invariant: a joined function gives the bits that its parts give one after the other.
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

} // namespace

TwStripFn findJoined(TwStripFn inner, TwStripFn outer) {
  if (inner != findElementwiseFloat(TwElementwise::SubF, DType::F32)) return nullptr;
  if (outer == findElementwiseFloat(TwElementwise::Exp, DType::F32)) return ofDifference<Exp>();
  if (outer == findElementwiseFloat(TwElementwise::Exp2, DType::F32)) return ofDifference<OnPackets<Exp2>>();
  return nullptr;
}

} // namespace tiletwin::tile
