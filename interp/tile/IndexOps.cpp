// interp/tile/IndexOps.cpp -- operations that use one tile's elements as positions in another: tt.gather and tt.histogram.
// Not here:  gathers from memory (MemoryOps.cpp).
// Invariant: nothing outside the source is read: all indices are looked at before the first is used.
#include "interp/tile/Strip.h"
#include "interp/tile/Tables.h"
#include <algorithm>
#include <limits>

namespace tiletwin::tile {
namespace {

/// The first element of index that is not below `length` (unsigned), or -1.
template <class I> int64_t firstOutside(int64_t n, const I* index, uint64_t length) {
  if (length > std::numeric_limits<I>::max()) return -1;
  constexpr int L = kVectorBytes / int(sizeof(I));
  int64_t i = 0;
  for (; i + 4 * L <= n; i += 4 * L) {
    Vec<I, L> most = loadAs<Vec<I, L>>(index + i);
#pragma clang loop unroll(full)
    for (int j = 1; j < 4; ++j) most = __builtin_elementwise_max(most, loadAs<Vec<I, L>>(index + i + j * L));
    if (anyLane(most >= I(length))) break;
  }
  for (; i < n; ++i)
    if (index[i] >= I(length)) return i;
  return -1;
}

/// index is [outer][count][inner], src [outer][length][inner], dst as index.
template <class T, class I>
int64_t gatherAxis(int64_t outer, int64_t length, int64_t count, int64_t inner, void* dst, const void* src,
                   const void* index) {
  const auto* at = static_cast<const I*>(index);
  const auto* from = static_cast<const T*>(src);
  auto* to = static_cast<T*>(dst);
  if (const int64_t bad = firstOutside(outer * count * inner, at, uint64_t(length)); bad >= 0) return bad;
  for (int64_t o = 0; o < outer; ++o, from += length * inner) {
    if (inner == 1) {
      int64_t j = 0;
      for (; j + 4 <= count; j += 4, at += 4, to += 4) {
        const T a = from[at[0]], b = from[at[1]], c = from[at[2]], d = from[at[3]];
        to[0] = a, to[1] = b, to[2] = c, to[3] = d;
      }
      for (; j < count; ++j) *to++ = from[*at++];
    } else {
      for (int64_t j = 0; j < count; ++j, at += inner, to += inner)
        for (int64_t i = 0; i < inner; ++i) to[i] = from[int64_t(at[i]) * inner + i];
    }
  }
  return -1;
}

struct GatherRow {
  int64_t elementBytes;
  TwTileGatherFn byIndexBytes[4]; // 1, 2, 4, 8
};
template <class T>
constexpr GatherRow kGather = {
    sizeof(T), {gatherAxis<T, uint8_t>, gatherAxis<T, uint16_t>, gatherAxis<T, uint32_t>, gatherAxis<T, uint64_t>}};
constexpr GatherRow kGathers[] = {kGather<uint8_t>, kGather<uint16_t>, kGather<uint32_t>, kGather<uint64_t>};

/// Four tables of counts where they are small: a run of equal elements would wait for itself.
template <class T, bool Masked> void countAll(int64_t n, int64_t bins, int32_t* dst, const T* x, const uint8_t* mask) {
  constexpr int64_t kSmall = 1024;
  const auto one = [&](int32_t* counts, int64_t i) __attribute__((always_inline)) {
    const uint64_t bin = uint64_t(int64_t(x[i]));
    if (bin < uint64_t(bins)) counts[bin] += Masked ? mask[i] : 1;
  };
  if (bins > kSmall || n < 4 * bins) {
    std::fill(dst, dst + bins, 0);
    for (int64_t i = 0; i < n; ++i) one(dst, i);
    return;
  }
  int32_t counts[4][kSmall];
  for (auto& table : counts) std::fill(table, table + bins, 0);
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) one(counts[0], i), one(counts[1], i + 1), one(counts[2], i + 2), one(counts[3], i + 3);
  for (; i < n; ++i) one(counts[0], i);
  for (int64_t b = 0; b < bins; ++b) dst[b] = counts[0][b] + counts[1][b] + counts[2][b] + counts[3][b];
}

} // namespace

TwTileGatherFn findTileGather(int64_t elementBytes, int64_t indexBytes) {
  for (const GatherRow& row : kGathers)
    if (row.elementBytes == elementBytes)
      for (int log = 0; log < 4; ++log)
        if (indexBytes == int64_t(1) << log) return row.byIndexBytes[log];
  return nullptr;
}

void histogram(int64_t n, int64_t bins, int32_t* dst, const void* src, const uint8_t* mask, int64_t bytes) {
  if (bytes == 4) {
    const auto* x = static_cast<const int32_t*>(src);
    mask ? countAll<int32_t, true>(n, bins, dst, x, mask) : countAll<int32_t, false>(n, bins, dst, x, mask);
  } else {
    const auto* x = static_cast<const int64_t*>(src);
    mask ? countAll<int64_t, true>(n, bins, dst, x, mask) : countAll<int64_t, false>(n, bins, dst, x, mask);
  }
}

} // namespace tiletwin::tile
