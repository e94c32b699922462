// interp/tile/DotF8.cpp -- dots of f8 operands, any two formats.
#include "interp/tile/DotFloat.h"
#include "interp/tile/TypeLists.h"

namespace tiletwin::tile {

TwDotFn findDotF8(DType a, DType b, DType acc, bool ieee) {
  return forType(Float8s(), a, [&]<DType A>() {
    return forType(Float8s(), b, [&]<DType B>() { return findNarrowDot<A, B>(acc, ieee); });
  });
}

} // namespace tiletwin::tile
