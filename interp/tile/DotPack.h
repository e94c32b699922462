// interp/tile/DotPack.h -- reads operands of a dot into packed blocks (PackFn of Dot.h): any type, any strides.
// Three ways: rows that are contiguous are copied; columns that are contiguous are transposed in registers; the rest
// goes one by one.
#pragma once
#include "interp/tile/Dot.h"

namespace tiletwin::tile {

/// A source of To (float or double) lanes: load<L>(p) and the bytes of an element.
template <DType T, class To, bool Tf32 = false> struct OperandSource {
  using Element = typename Storage<T>::Element;
  template <int L> static TILETWIN_INLINE Vec<To, L> load(const Element* p) {
    if constexpr (std::is_same_v<typename Storage<T>::Compute, To>) {
      auto v = Storage<T>::template load<L>(p);
      if constexpr (Tf32) {
        using U = Vec<uint32_t, L>;
        const auto bits = (U)v;
        v = (Vec<float, L>)((bits & 0xFFFFE000u) | ((U)(v != v) & 0x00400000u)); // a NaN stays one
      }
      return v;
    } else {
      return __builtin_convertvector(Storage<T>::template load<L>(p), Vec<To, L>);
    }
  }
  static TILETWIN_INLINE To one(const Element* p) {
    alignas(32) Element pad[8] = {*p};
    return load<8>(pad)[0];
  }
};

template <class S, class To>
void pack(int64_t P, int64_t Q, void* dst, int64_t dstStride, const void* src, int64_t srcP, int64_t srcQ) {
  using E = typename S::Element;
  using Packet = PacketOf<To>;
  constexpr int L = kVectorBytes / int(sizeof(To));
  constexpr int kWide = 2 * L < 8 ? 8 : 2 * L; // lanes of a copy
  auto* out = static_cast<To*>(dst);
  const auto* in = static_cast<const E*>(src);
  if (srcQ == 1 || Q == 1) {
    if (Q == kWide) {
      for (int64_t p = 0; p < P; ++p) storeAs(out + p * dstStride, S::template load<kWide>(in + p * srcP));
      return;
    }
    for (int64_t p = 0; p < P; ++p) {
      const E* row = in + p * srcP;
      To* to = out + p * dstStride;
      int64_t q = 0;
      for (; q + kWide <= Q; q += kWide) storeAs(to + q, S::template load<kWide>(row + q));
      if (q < Q) {
        alignas(64) E pad[kWide] = {};
        std::memcpy(pad, row + q, size_t(Q - q) * sizeof(E));
        const auto v = S::template load<kWide>(pad);
        std::memcpy(to + q, &v, size_t(Q - q) * sizeof(To));
      }
    }
    return;
  }
  int64_t fullP = 0, fullQ = 0;
  if (srcP == 1) {                      // L runs of L elements along p, transposed
    constexpr int kRun = L < 8 ? 8 : L; // elements read at a time: narrow types convert eight or more
    fullP = P / kRun * kRun, fullQ = Q / L * L;
    for (int64_t q = 0; q < fullQ; q += L) {
      for (int64_t p = 0; p < fullP; p += kRun) {
        Packets<Packet, kRun / L> runs[L];
        for (int j = 0; j < L; ++j)
          runs[j] = std::bit_cast<Packets<Packet, kRun / L>>(S::template load<kRun>(in + p + (q + j) * srcQ));
        for (int part = 0; part < kRun / L; ++part) {
          Eigen::internal::PacketBlock<Packet, L> block;
          for (int j = 0; j < L; ++j) block.packet[j] = runs[j].part[part];
          Eigen::internal::ptranspose(block);
          for (int j = 0; j < L; ++j) storeAs(out + (p + part * L + j) * dstStride + q, block.packet[j]);
        }
      }
    }
  }
  for (int64_t p = 0; p < P; ++p)
    for (int64_t q = p < fullP ? fullQ : 0; q < Q; ++q) out[p * dstStride + q] = S::one(in + p * srcP + q * srcQ);
}

} // namespace tiletwin::tile
