// interp/tile/ScaledOperand.cpp -- operands of scaled dots: numbers of 4, 8 or 16 bits times their group's scale, as bf16,
// f16 (what a GPU without native scaled products multiplies) or f64.
// Here:      reading packed e2m1, scales, any strides.   Not here:  the product itself (Dot*.cpp).
// Invariant: a product of number and scale is exact in f32 (or f64) before it is rounded, once, to the result type.
#include "interp/tile/Strip.h"
#include "interp/tile/Tables.h"
#include "interp/tile/TypeLists.h"

namespace tiletwin::tile {
namespace {

constexpr int L = 16;            // lanes of a step
constexpr int64_t kChunk = 256;  // numbers of a row that are converted together; a multiple of every group
constexpr int64_t kMaxBytes = 2; // of a stored element

/// Values of all codes of a kind of scale, as the result type holds them. f32 holds each exactly.
template <DType To, TwScaleKind Kind> constexpr std::array<float, 256> scaleValues() {
  constexpr uint32_t kNan = 0x7FC00000u, kInfinity = 0x7F800000u;
  std::array<float, 256> out{};
  for (uint32_t code = 0; code < 256; ++code) {
    if (Kind == TwScaleKind::E4M3) {
      out[code] = f8ToF32(DType::F8E4M3FN, uint8_t(code));
      continue;
    }
    uint32_t bits = code ? code << 23 : 0x00400000u; // 2^-127 is subnormal
    if (bits == kInfinity && (Kind == TwScaleKind::E8M0 || To == DType::F64)) bits = kNan;
    const float value = std::bit_cast<float>(bits);
    out[code] = To == DType::F16 ? f16ToF32(f32ToF16(value)) : value;
  }
  return out;
}
template <DType To> const float* scaleTable(TwScaleKind kind) {
  static constexpr auto kE8M0 = scaleValues<To, TwScaleKind::E8M0>(), kFast = scaleValues<To, TwScaleKind::E8M0Fast>(),
                        kE4M3 = scaleValues<To, TwScaleKind::E4M3>();
  return kind == TwScaleKind::E4M3 ? kE4M3.data() : kind == TwScaleKind::E8M0Fast ? kFast.data() : kE8M0.data();
}

/// The low four bits of each byte as e2m1: shifted into f32's fields, a code is its value divided by 2^126.
TILETWIN_INLINE Vec<float, L> decodeE2M1(Vec<uint8_t, L> bytes) {
  const auto code = __builtin_convertvector(bytes, Vec<uint32_t, L>);
  const auto magnitude = (Vec<float, L>)((code & 7u) << 22) * 0x1p126f;
  return (Vec<float, L>)((Vec<uint32_t, L>)magnitude | (code & 8u) << 28);
}

// Sources: kBytes of a stored element, kPacked numbers in it along the row, load(row, q): numbers q .. q + L - 1.
template <DType T> struct Plain {
  static constexpr int kBytes = int(sizeOf(T)), kPacked = 1;
  static TILETWIN_INLINE Vec<float, L> load(const uint8_t* row, int64_t q) {
    return Storage<T>::template load<L>(row + q * kBytes);
  }
};
struct NibblePairs {
  static constexpr int kBytes = 1, kPacked = 2;
  static TILETWIN_INLINE Vec<float, L> load(const uint8_t* row, int64_t q) {
    const auto pairs = loadAs<Vec<uint8_t, L / 2>>(row + q / 2);
    const auto words = __builtin_convertvector(pairs, Vec<uint16_t, L / 2>);
    return decodeE2M1((Vec<uint8_t, L>)(words | words << 4));
  }
};
template <int Shift> struct Nibbles {
  static constexpr int kBytes = 1, kPacked = 1;
  static TILETWIN_INLINE Vec<float, L> load(const uint8_t* row, int64_t q) {
    return decodeE2M1(loadAs<Vec<uint8_t, L>>(row + q) >> uint8_t(Shift));
  }
};

template <DType To> using ResultOf = typename Storage<To>::Element;

/// n numbers of one row; `factors` may be read up to the next multiple of L.
template <class Source, DType From, DType To, bool Scaled>
void convertRow(int64_t n, ResultOf<To>* dst, const uint8_t* row, const float* factors) {
  const auto one = [&](const uint8_t* from, int64_t q) __attribute__((always_inline)) {
    auto v = Source::load(from, q);
    if constexpr (To == DType::F64) {
      auto wide = __builtin_convertvector(v, Vec<double, L>);
      if constexpr (Scaled) wide *= __builtin_convertvector(loadAs<Vec<float, L>>(factors), Vec<double, L>);
      return wide;
    } else {
      if constexpr (From == DType::BF16 && To == DType::F16) v = Storage<To>::template round<L>(v);
      if constexpr (Scaled) v *= loadAs<Vec<float, L>>(factors);
      return Storage<To>::template narrow<L>(v);
    }
  };
  int64_t q = 0;
  for (; q + L <= n; q += L, factors += L) storeAs(dst + q, one(row, q));
  if (q < n) {
    constexpr int64_t kStep = L * Source::kBytes / Source::kPacked;
    alignas(64) uint8_t pad[kStep] = {};
    std::memcpy(pad, row + q / Source::kPacked * Source::kBytes,
                size_t((n - q + Source::kPacked - 1) / Source::kPacked * Source::kBytes));
    const auto v = one(pad, 0);
    std::memcpy(dst + q, &v, size_t(n - q) * sizeof(ResultOf<To>));
  }
}

/// Rows of dst are outer or k. A stored row gives one of them, or two if numbers are packed across rows.
template <DType From, DType To, bool Scaled, class Low, class High = void> void convert(const TwScaledOperand& o) {
  constexpr int kRows = std::is_void_v<High> ? 1 : 2;
  const int64_t P = o.kInner ? o.outer : o.k, Q = o.kInner ? o.k : o.outer;
  const int64_t rowStride = o.kInner ? o.xOuter : o.xK, stride = o.kInner ? o.xK : o.xOuter;
  [[maybe_unused]] const float* table = Scaled ? scaleTable<To>(o.kind) : nullptr;
  alignas(64) uint8_t gathered[kChunk * kMaxBytes];
  alignas(64) float factors[kChunk + L] = {};
  auto* dst = static_cast<ResultOf<To>*>(o.dst);
  const auto* x = static_cast<const uint8_t*>(o.x);
  const auto code = [&](int64_t outer, int64_t group) {
    return static_cast<const uint8_t*>(o.scale)[outer * o.scaleOuter + group * o.scaleGroup];
  };
  for (int64_t q0 = 0; q0 < Q; q0 += kChunk) {
    const int64_t n = Q - q0 < kChunk ? Q - q0 : kChunk, stored = (n + Low::kPacked - 1) / Low::kPacked;
    for (int64_t p = 0; p < P; p += kRows) {
      const uint8_t* row = x + p / kRows * rowStride + q0 / Low::kPacked * stride;
      if (stride != Low::kBytes) {
        for (int64_t i = 0; i < stored; ++i) std::memcpy(gathered + i * Low::kBytes, row + i * stride, Low::kBytes);
        row = gathered;
      }
      for (int r = 0; r < kRows; ++r) {
        if constexpr (Scaled) {
          if (o.kInner) {
            for (int64_t q = 0; q < n; q += o.group) {
              const float factor = table[code(p + r, (q0 + q) / o.group)];
              for (int64_t i = q; i < q + o.group && i < n; ++i) factors[i] = factor;
            }
          } else if ((p + r) % o.group == 0) {
            for (int64_t q = 0; q < n; ++q) factors[q] = table[code(q0 + q, (p + r) / o.group)];
          }
        }
        ResultOf<To>* to = dst + (p + r) * Q + q0;
        if constexpr (kRows == 2) {
          if (r == 1)
            convertRow<High, From, To, Scaled>(n, to, row, factors);
          else
            convertRow<Low, From, To, Scaled>(n, to, row, factors);
        } else {
          convertRow<Low, From, To, Scaled>(n, to, row, factors);
        }
      }
    }
  }
}

template <DType From, DType To> void plainOperand(const TwScaledOperand* o) {
  if (o->kind == TwScaleKind::None)
    convert<From, To, false, Plain<From>>(*o);
  else
    convert<From, To, true, Plain<From>>(*o);
}
template <DType To, bool Scaled> void packedOperand(const TwScaledOperand& o) {
  if (o.outerPacked != o.kInner) // along a row
    convert<DType::I8, To, Scaled, NibblePairs>(o);
  else
    convert<DType::I8, To, Scaled, Nibbles<0>, Nibbles<4>>(o);
}
template <DType To> void e2m1Operand(const TwScaledOperand* o) {
  if (o->kind == TwScaleKind::None)
    packedOperand<To, false>(*o);
  else
    packedOperand<To, true>(*o);
}

template <DType To> TwScaledOperandFn find(TwScaledFormat format) {
  switch (format) {
  case TwScaledFormat::E2M1: return e2m1Operand<To>;
  case TwScaledFormat::E4M3: return plainOperand<DType::F8E4M3FN, To>;
  case TwScaledFormat::E5M2: return plainOperand<DType::F8E5M2, To>;
  case TwScaledFormat::BF16: return plainOperand<DType::BF16, To>;
  case TwScaledFormat::F16: return plainOperand<DType::F16, To>;
  case TwScaledFormat::Count: break;
  }
  return nullptr;
}

} // namespace

TwScaledOperandFn findScaledOperand(TwScaledFormat format, DType result) {
  using Results = TypeList<DType::BF16, DType::F16, DType::F64>;
  return forType(Results(), result, [&]<DType To>() { return find<To>(format); });
}

} // namespace tiletwin::tile
