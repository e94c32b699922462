// interp/asm/LanesNarrow.cpp -- pairs of numbers below 8 bits (e2m1, e2m3, e3m2) and of powers of two (ue8m0), to and
// from pairs of f32: what microscaled formats are made of.
// Here:      packing: two e2m1 share a byte, the others take one each; the second operand is the low one.
// Not here:  pairs of f16, bf16, e4m3 and e5m2, which are the tile module's casts.
#include "interp/asm/Lanes.h"
#include "runtime/FloatFormats.h"
#include <bit>
#include <cmath>

namespace tiletwin::interp {
namespace {

// No infinities, no NaNs: too large numbers become the largest, NaN the largest positive one.
constexpr SmallFloat kE2M1{4, 1, 1, 0x7, 0, 0x7, true, false};
constexpr SmallFloat kE2M3{6, 3, 1, 0x1F, 0, 0x1F, true, false};
constexpr SmallFloat kE3M2{6, 2, 3, 0x1F, 0, 0x1F, true, false};

template <SmallFloat F> uint32_t encode(float x) { return x != x ? F.maxFinite : encodeSmallFloat(F, x); }
template <SmallFloat F> float decode(uint32_t code) { return decodeSmallFloat(F, code & ((1u << F.bits) - 1)); }

/// The exponent of |x| rounded down or up, as 0 (2^-127) to 254; NaN is 255, and so is infinity unless it saturates.
template <bool Up, bool Saturate> uint32_t encodePower(float x) {
  const uint32_t size = std::bit_cast<uint32_t>(x) & 0x7FFFFFFFu, fraction = size & 0x7FFFFFu;
  uint32_t exponent = size >> 23;
  if (size > 0x7F800000u) return 255;
  if (exponent == 255) return Saturate ? 254 : 255;
  if (!Up) return exponent; // subnormals below 2^-127 too become 2^-127
  exponent += exponent == 0 ? fraction > 0x400000u : fraction != 0;
  return Saturate && exponent > 254 ? 254 : exponent;
}
/// 2^(code - 127) as f32; 255 is NaN.
float decodePower(uint32_t code) {
  return std::bit_cast<float>(code == 255 ? 0x7FC00000u : code ? code << 23 : 0x00400000u);
}

template <auto Encode> uint16_t packBytes(float high, float low) { return uint16_t(Encode(high) << 8 | Encode(low)); }
uint8_t packNibbles(float high, float low) { return uint8_t(encode<kE2M1>(high) << 4 | encode<kE2M1>(low)); }

struct Row {
  std::string_view name;
  TwStripFn fn;
};
constexpr Row kPack[] = {
    {"e2m1x2", kLanes<packNibbles>},
    {"e2m3x2", kLanes<packBytes<encode<kE2M3>>>},
    {"e3m2x2", kLanes<packBytes<encode<kE3M2>>>},
    {"ue8m0x2.rz", kLanes<packBytes<encodePower<false, false>>>},
    {"ue8m0x2.rz.satfinite", kLanes<packBytes<encodePower<false, true>>>},
    {"ue8m0x2.rp", kLanes<packBytes<encodePower<true, false>>>},
    {"ue8m0x2.rp.satfinite", kLanes<packBytes<encodePower<true, true>>>},
};
constexpr Row kUnpackLow[] = {
    {"e2m1x2", kLanes<[](uint8_t pair) { return decode<kE2M1>(pair); }>},
    {"e2m3x2", kLanes<[](uint16_t pair) { return decode<kE2M3>(pair); }>},
    {"e3m2x2", kLanes<[](uint16_t pair) { return decode<kE3M2>(pair); }>},
    {"ue8m0x2", kLanes<[](uint16_t pair) { return decodePower(pair & 0xFF); }>},
};
constexpr Row kUnpackHigh[] = {
    {"e2m1x2", kLanes<[](uint8_t pair) { return decode<kE2M1>(pair >> 4); }>},
    {"e2m3x2", kLanes<[](uint16_t pair) { return decode<kE2M3>(pair >> 8); }>},
    {"e3m2x2", kLanes<[](uint16_t pair) { return decode<kE3M2>(pair >> 8); }>},
    {"ue8m0x2", kLanes<[](uint16_t pair) { return decodePower(pair >> 8); }>},
};
template <size_t N> TwStripFn find(const Row (&rows)[N], std::string_view name) {
  for (const Row& row : rows)
    if (row.name == name) return row.fn;
  return nullptr;
}

} // namespace

TwStripFn laneNarrowPack(std::string_view format) { return find(kPack, format); }
TwStripFn laneNarrowUnpack(std::string_view format, bool high) {
  return high ? find(kUnpackHigh, format) : find(kUnpackLow, format);
}

} // namespace tiletwin::interp
