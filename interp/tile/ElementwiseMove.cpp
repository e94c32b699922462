// interp/tile/ElementwiseMove.cpp -- Copy and Select: operations that look only at the size of an element.
#include "interp/tile/Strip.h"
#include "interp/tile/Tables.h"

namespace tiletwin::tile {
namespace {

template <DType T> void copy(int64_t n, void* dst, const void* const* src, uint32_t splat) {
  using S = Storage<T>;
  if (!(splat & 1)) {
    if (dst != src[0]) std::memcpy(dst, src[0], size_t(n) * sizeof(typename S::Element));
    return;
  }
  strip<SameValue, kLanes<typename S::Element, 4>, S, S>(n, dst, src, splat);
}

struct Select {
  template <class C, class V> static TILETWIN_INLINE V apply(C condition, V a, V b) {
    const auto mask = __builtin_convertvector((SignedOf<C>)(C{} - condition), SignedOf<V>);
    return mask != 0 ? a : b;
  }
};
template <DType T>
constexpr TwStripFn select =
    strip<Select, kLanes<typename Storage<T>::Element, sizeof(typename Storage<T>::Element) == 1 ? 2 : 4>, Storage<T>,
          Storage<DType::I1>, Storage<T>, Storage<T>>;

struct MoveRow {
  size_t bytes;
  TwStripFn copy, select;
};
constexpr MoveRow kRows[] = {
    {1, copy<DType::I8>, select<DType::I8>},
    {2, copy<DType::I16>, select<DType::I16>},
    {4, copy<DType::I32>, select<DType::I32>},
    {8, copy<DType::I64>, select<DType::I64>},
};

} // namespace

TwStripFn findMove(TwElementwise op, DType type) {
  for (const MoveRow& row : kRows)
    if (row.bytes == sizeOf(type))
      return op == TwElementwise::Copy ? row.copy : op == TwElementwise::Select ? row.select : nullptr;
  return nullptr;
}

} // namespace tiletwin::tile
