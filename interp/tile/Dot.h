// interp/tile/Dot.h -- d = a . b + c by packing and a register-blocked kernel.
// Idea:      blocks of at most 256 rows, 256 columns and 1 KB of k are packed into the scratch area, converted to the
//            compute type. a keeps rows (fixed stride kRowBytes, so that one base register reaches all rows of a
//            kernel), b becomes panels of kColumns columns. Per panel, the micro kernel holds kRows x kColumns sums in
//            registers and makes one broadcast per row and step of k.
// Here:      kernels and the blocked driver.
// Not here:  reading operand types (DotPack.h), the table of type combinations (Dot*.cpp).
// Invariant: every sum runs over k in increasing order in one accumulator; blocks and remainders do not change it.
#pragma once
#include "interp/tile/Vectors.h"
#include <utility>

namespace tiletwin::tile {

inline constexpr int64_t kPackedBytes = 1024;           ///< of k in one packed row
inline constexpr int64_t kRowBytes = kPackedBytes + 64; ///< 17 cache lines: rows of a kernel fall into different sets
inline constexpr int64_t kHeldBytes = kTwHeldDepth * 4; ///< of k in one row of products that wait for more
inline constexpr int64_t kBlockRows = 256, kBlockColumns = 256; ///< of d in one block
inline constexpr int kKernelRows = kVectorBytes == 64 ? 12 : 6;
inline constexpr int kKernelPackets = 2;

/// Reads operands: dst[p * dstStride + q] = src[p * srcP + q * srcQ] for p < P, q < Q, converted; strides in elements.
typedef void (*PackFn)(int64_t P, int64_t Q, void* dst, int64_t dstStride, const void* src, int64_t srcP, int64_t srcQ);

/// Kernels: Packed is an element of a packed operand and holds kDepth steps of k; Sum is the type of c and d.
template <class T> struct FloatKernel {
  using Packed = T;
  using Sum = T;
  using Packet = PacketOf<T>;
  static constexpr int kDepth = 1;
  static TILETWIN_INLINE Packet multiplyAdd(Packet a, Packet b, Packet c) { return fusedMultiplyAdd(a, b, c); }
};
using KernelF32 = FloatKernel<float>;
using KernelF64 = FloatKernel<double>;
/// Pairs of 16-bit integers (widened bytes): two products and their sum in one instruction.
struct KernelI8 {
  using Packed = int32_t;
  using Sum = int32_t;
  using Packet = Vec<int32_t, kVectorBytes / 4>;
  static constexpr int kDepth = 2;
  static TILETWIN_INLINE Packet multiplyAdd(Packet a, Packet b, Packet c) {
#ifdef __AVX512BW__
    return (Packet)_mm512_madd_epi16((__m512i)a, (__m512i)b) + c;
#else
    return (Packet)_mm256_madd_epi16((__m256i)a, (__m256i)b) + c;
#endif
  }
};

template <class K> inline constexpr int kPacketLanes = kVectorBytes / int(sizeof(typename K::Packed));
template <class K> inline constexpr int kColumns = kKernelPackets * kPacketLanes<K>;
template <class K> inline constexpr int64_t kRowStride = kRowBytes / int64_t(sizeof(typename K::Packed));
/// Steps of k in a block, and the distance of panels of b for `packed` packed steps.
template <class K>
inline constexpr int64_t kBlockDepth = kPackedBytes / int64_t(sizeof(typename K::Packed)) * K::kDepth;
template <class K> constexpr int64_t panelStride(int64_t packed) {
  return packed * kColumns<K> + 64 / int64_t(sizeof(typename K::Packed));
}

/// R rows times N packets of columns. c null: zero.
template <class K, int R, int N>
void microKernel(int64_t packed, const typename K::Packed* a, const typename K::Packed* b, const typename K::Sum* c,
                 int64_t cRow, typename K::Sum* d, int64_t dRow) {
  using P = typename K::Packet;
  constexpr int L = kPacketLanes<K>;
  P sum[R][N];
#pragma clang loop unroll(full)
  for (int r = 0; r < R; ++r)
#pragma clang loop unroll(full)
    for (int j = 0; j < N; ++j) sum[r][j] = c ? loadAs<P>(c + r * cRow + j * L) : P{};
#pragma clang loop unroll_count(4)
  for (int64_t p = 0; p < packed; ++p, b += kColumns<K>, ++a) {
    P column[N];
#pragma clang loop unroll(full)
    for (int j = 0; j < N; ++j) column[j] = loadAs<P>(b + j * L);
#pragma clang loop unroll(full)
    for (int r = 0; r < R; ++r) {
      const P row = broadcast<typename K::Packed, L>(a[r * kRowStride<K>]);
#pragma clang loop unroll(full)
      for (int j = 0; j < N; ++j) sum[r][j] = K::multiplyAdd(row, column[j], sum[r][j]);
    }
  }
#pragma clang loop unroll(full)
  for (int r = 0; r < R; ++r)
#pragma clang loop unroll(full)
    for (int j = 0; j < N; ++j) storeAs(d + r * dRow + j * L, sum[r][j]);
}

template <class K>
using MicroFn = void (*)(int64_t, const typename K::Packed*, const typename K::Packed*, const typename K::Sum*, int64_t,
                         typename K::Sum*, int64_t);
template <class K, size_t... R>
constexpr std::array<std::array<MicroFn<K>, 2>, sizeof...(R)> microKernels(std::index_sequence<R...>) {
  return {{{microKernel<K, int(R) + 1, 1>, microKernel<K, int(R) + 1, 2>}...}};
}

/// Rows for the next kernel when `left` remain: as many as fit, but the last two share, as kernels of few rows wait for
/// their sums.
constexpr int64_t nextRows(int64_t left) {
  if (left <= kKernelRows) return left;
  const int64_t least = kKernelRows * 2 / 3;
  return left - kKernelRows >= least ? kKernelRows : left - least;
}

/// Whether this processor gains by asking for lines ahead. AMD's do. On Intel's a line on its way to the second-level cache takes a
/// buffer that lines for the first level need: the products of this dot would wait (docs/decisions.md).
inline bool gainsByAsking() {
  __builtin_cpu_init(); // asks the processor once
  return __builtin_cpu_is("amd") != 0;
}

/// Lines that the next dot is expected to read, asked for a few at a time while this one computes: rows of a wide matrix are
/// pages apart, which hardware prefetching does not follow. They go to the second-level cache, as the first is full.
class Ahead {
public:
  /// [p][q] elements of so many bytes; strides in elements. One of the dimensions has to run on in memory.
  Ahead(const void* first, int64_t p, int64_t q, int64_t srcP, int64_t srcQ, int64_t bytes) {
    if (srcP == 1) std::swap(p, q), std::swap(srcP, srcQ);
    constexpr int64_t kMost = 64 << 10; // more would push each other out
    if (!first || !gainsByAsking() || srcQ != 1 || p * q * bytes > kMost) return;
    const uintptr_t offset = uintptr_t(first) % 64;
    row_ = uintptr_t(first) - offset;
    rows_ = p;
    rowBytes_ = q * bytes + int64_t(offset);
    stride_ = srcP * bytes;
  }
  int64_t lines() const { return rows_ * ((rowBytes_ + 63) / 64); }
  /// Returns how many of the lines were left to be asked for by somebody else.
  TILETWIN_INLINE int64_t fetch(int64_t lines) {
    for (; lines > 0 && rows_ > 0; --lines) {
      _mm_prefetch(reinterpret_cast<const char*>(row_ + at_), _MM_HINT_T1);
      if ((at_ += 64) < uintptr_t(rowBytes_)) continue;
      at_ = 0;
      row_ += uintptr_t(stride_);
      --rows_;
    }
    return lines;
  }

private:
  uintptr_t row_ = 0, at_ = 0; // addresses that may be anywhere
  int64_t rows_ = 0, rowBytes_ = 0, stride_ = 0;
};

/// One block: packed operands, b in panels so far from each other, m x n of d.
template <class K>
void dotBlock(int64_t m, int64_t n, int64_t packed, const typename K::Packed* a, const typename K::Packed* b,
              int64_t panel, const typename K::Sum* c, int64_t cRow, typename K::Sum* d, int64_t dRow, Ahead& nextA,
              Ahead& nextB) {
  static constexpr auto kKernels = microKernels<K>(std::make_index_sequence<kKernelRows>{});
  using Sum = typename K::Sum;
  constexpr int NR = kColumns<K>, L = kPacketLanes<K>;
  const int64_t calls = ((n + NR - 1) / NR) * ((m + kKernelRows - 1) / kKernelRows);
  const int64_t ahead = (nextA.lines() + nextB.lines() + calls - 1) / calls;
  for (int64_t j = 0; j < n; j += NR, b += panel) {
    const int64_t columns = n - j < NR ? n - j : NR;
    const int packets = columns > L ? 2 : 1;
    for (int64_t i = 0; i < m;) {
      const int64_t rows = nextRows(m - i);
      nextB.fetch(nextA.fetch(ahead));
      const auto kernel = kKernels[size_t(rows - 1)][size_t(packets - 1)];
      const auto* rowsOfA = a + i * kRowStride<K>;
      const Sum* from = c ? c + i * cRow + j : nullptr;
      Sum* to = d + i * dRow + j;
      if (columns == packets * L) {
        kernel(packed, rowsOfA, b, from, cRow, to, dRow);
      } else { // through a full tile
        alignas(64) Sum tile[kKernelRows * NR];
        if (from)
          for (int64_t r = 0; r < rows; ++r) std::memcpy(tile + r * NR, from + r * cRow, size_t(columns) * sizeof(Sum));
        kernel(packed, rowsOfA, b, from ? tile : nullptr, NR, tile, NR);
        for (int64_t r = 0; r < rows; ++r) std::memcpy(to + r * dRow, tile + r * NR, size_t(columns) * sizeof(Sum));
      }
      i += rows;
    }
  }
}

/// The operand types of a dot: how to pack them and their bytes. packA takes rows of a; packB panels of b, of at most
/// kColumns columns.
struct Operands {
  PackFn packA, packB;
  int64_t aBytes, bBytes;
};

/// Scratch of dotBlocked for blocks of at most `rows` x `columns`.
constexpr int64_t packedScratch(int64_t rows, int64_t columns) { return (rows + (columns + 31) / 32 * 32) * kRowBytes; }

TILETWIN_INLINE const void* atElement(const void* p, int64_t offset, int64_t bytes) {
  return static_cast<const uint8_t*>(p) + offset * bytes;
}

/// `depth` steps of k and n columns of b from element `first` on, into panels so far from each other.
template <class K>
void packPanels(const TwDot& t, const Operands& operands, int64_t first, int64_t depth, int64_t n,
                typename K::Packed* panels, int64_t stride) {
  constexpr int NR = kColumns<K>;
  for (int64_t q = 0; q < n; q += NR, panels += stride) {
    const int64_t columns = n - q < NR ? n - q : NR, packed = (depth + K::kDepth - 1) / K::kDepth;
    if (columns < NR) std::memset(panels, 0, size_t(packed * NR) * sizeof(*panels));
    operands.packB(depth, columns, panels, NR, atElement(t.b, first + q * t.bCol, operands.bBytes), t.bRow, t.bCol);
  }
}

/// The lines that the next dots are expected to read: of so many steps of k, if they go on behind those of this one.
inline Ahead aheadOfA(const TwDot& t, const Operands& operands, int64_t depth) {
  const bool goesOn = t.aNext == atElement(t.a, t.k * t.aCol, operands.aBytes);
  return Ahead(t.aNext, t.m, goesOn ? depth : t.k, t.aRow, t.aCol, operands.aBytes);
}
inline Ahead aheadOfB(const TwDot& t, const Operands& operands, int64_t depth) {
  const bool goesOn = t.bNext == atElement(t.b, t.k * t.bRow, operands.bBytes);
  return Ahead(t.bNext, goesOn ? depth : t.k, t.n, t.bRow, t.bCol, operands.bBytes);
}

/// A dot whose products may wait. False: they are too many, and nothing was done.
template <class K> bool dotHeld(const TwDot& t, const Operands& operands) {
  using Packed = typename K::Packed;
  using Sum = typename K::Sum;
  constexpr int64_t most = kHeldBytes / int64_t(sizeof(Packed)), panel = panelStride<K>(most);
  const int64_t packed = (t.k + K::kDepth - 1) / K::kDepth;
  if (t.m > kBlockRows || t.n > kBlockColumns || packed > most / 2) return false;
  auto* packedA = static_cast<Packed*>(t.scratch);
  Packed* packedB = t.bPacked ? static_cast<Packed*>(t.bPacked) : packedA + t.m * kRowStride<K>;
  int64_t held = t.state->held;
  if (t.k > 0) {
    if (!t.bIsThere) packPanels<K>(t, operands, 0, t.k, t.n, packedB + held * kColumns<K>, panel);
    operands.packA(t.m, t.k, packedA + held, kRowStride<K>, t.a, t.aRow, t.aCol);
    held += packed;
    t.state->held = int32_t(held);
    if (held + packed <= most) return true;
  }
  t.state->held = 0;
  if (held == 0) return true;
  Ahead nextA = aheadOfA(t, operands, held * K::kDepth), nextB = aheadOfB(t, operands, held * K::kDepth);
  auto* d = static_cast<Sum*>(t.d);
  dotBlock<K>(t.m, t.n, held, packedA, packedB, panel, d, t.dRow, d, t.dRow, nextA, nextB);
  return true;
}

/// The whole dot, where c and d have the kernel's Sum type.
template <class K> void dotBlocked(const TwDot& t, const Operands& operands) {
  using Packed = typename K::Packed;
  using Sum = typename K::Sum;
  if (t.holds && dotHeld<K>(t, operands)) return;
  auto* packedA = static_cast<Packed*>(t.scratch);
  const int64_t blockRows = t.m < kBlockRows ? t.m : kBlockRows;
  Packed* packedB = t.bPacked ? static_cast<Packed*>(t.bPacked) : packedA + blockRows * kRowStride<K>;
  // With the first block: few dots have more.
  Ahead nextA = aheadOfA(t, operands, t.k), nextB = aheadOfB(t, operands, t.k);
  const bool one = t.m <= kBlockRows && t.n <= kBlockColumns && t.k <= kBlockDepth<K>;
  const bool hasA = one && t.keepsA && t.state->hasA, hasB = t.bIsThere || (one && t.keepsB && t.state->hasB);
  if (t.state) {
    t.state->hasA = one && t.keepsA;
    t.state->hasB = one && t.keepsB;
  }
  for (int64_t j = 0; j < t.n; j += kBlockColumns) {
    const int64_t n = t.n - j < kBlockColumns ? t.n - j : kBlockColumns;
    for (int64_t k0 = 0; k0 < t.k; k0 += kBlockDepth<K>) {
      const int64_t depth = t.k - k0 < kBlockDepth<K> ? t.k - k0 : kBlockDepth<K>;
      const int64_t packed = (depth + K::kDepth - 1) / K::kDepth;
      const int64_t panel = panelStride<K>(packed);
      if (!hasB) packPanels<K>(t, operands, k0 * t.bRow + j * t.bCol, depth, n, packedB, panel);
      for (int64_t i = 0; i < t.m; i += kBlockRows) {
        const int64_t m = t.m - i < kBlockRows ? t.m - i : kBlockRows;
        if (!hasA)
          operands.packA(m, depth, packedA, kRowStride<K>, atElement(t.a, i * t.aRow + k0 * t.aCol, operands.aBytes),
                         t.aRow, t.aCol);
        Sum* d = static_cast<Sum*>(t.d) + i * t.dRow + j;
        const bool first = k0 == 0;
        const Sum* c = !first ? d : t.c ? static_cast<const Sum*>(t.c) + i * t.cRow + j : nullptr;
        dotBlock<K>(m, n, packed, packedA, packedB, panel, c, first ? t.cRow : t.dRow, d, t.dRow, nextA, nextB);
      }
    }
  }
}

/// The dot where c and d have another type: block by block through a tile of sums, converted in and, rounded once, out.
template <class K>
void dotThroughTile(const TwDot& t, const Operands& operands, TwStripFn toSum, TwStripFn fromSum, int64_t accBytes) {
  using Sum = typename K::Sum;
  constexpr int64_t kRows = sizeof(Sum) == 8 ? kBlockRows / 2 : kBlockRows;
  if (t.k == 0) return; // the end of a sum whose products did not wait
  auto* tile = static_cast<Sum*>(t.scratch);
  for (int64_t i = 0; i < t.m; i += kRows) {
    for (int64_t j = 0; j < t.n; j += kBlockColumns) {
      TwDot block = t;
      block.holds = block.bIsThere = false;
      block.bPacked = nullptr;
      if (t.m > kRows || t.n > kBlockColumns) block.keepsA = block.keepsB = false;
      block.m = t.m - i < kRows ? t.m - i : kRows;
      block.n = t.n - j < kBlockColumns ? t.n - j : kBlockColumns;
      block.a = static_cast<const uint8_t*>(t.a) + i * t.aRow * operands.aBytes;
      block.b = static_cast<const uint8_t*>(t.b) + j * t.bCol * operands.bBytes;
      const int64_t row = (block.n + 31) / 32 * 32;
      block.d = tile;
      block.dRow = block.cRow = row;
      block.c = t.c ? tile : nullptr;
      block.scratch = tile + block.m * row;
      if (t.c) {
        for (int64_t r = 0; r < block.m; ++r) {
          const void* from = static_cast<const uint8_t*>(t.c) + ((i + r) * t.cRow + j) * accBytes;
          toSum(block.n, tile + r * row, &from, 0);
        }
      }
      dotBlocked<K>(block, operands);
      for (int64_t r = 0; r < block.m; ++r) {
        const void* from = tile + r * row;
        fromSum(block.n, static_cast<uint8_t*>(t.d) + ((i + r) * t.dRow + j) * accBytes, &from, 0);
      }
    }
  }
}

} // namespace tiletwin::tile
