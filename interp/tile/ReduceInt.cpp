// interp/tile/ReduceInt.cpp -- sums, products, extrema and bitwise reductions of integers along an axis, in wrap-around
// arithmetic. I1 lanes hold 0 or 1; signed extrema read 1 as -1; results are reduced to their last bit.
#include "interp/tile/Combines.h"
#include "interp/tile/Reduce.h"
#include "interp/tile/Tables.h"
#include "interp/tile/TypeLists.h"

namespace tiletwin::tile {

TwReduceFn findReduceInt(TwReduce op, DType type) {
  return forType(Ints(), type, [&]<DType T>() {
    using C = typename Storage<T>::Compute;
    return findIntCombine<TwReduceFn, Reducer, T, kLanes<C, (sizeof(C) == 1 ? 1 : 2)>>(op);
  });
}

} // namespace tiletwin::tile
