// tests/tile/TileTest.h -- what all tile tests use: the loaded table, guarded buffers, elements as bits and as doubles,
// edge values.
#pragma once
#include "interp/tile/Load.h"
#include "runtime/FloatFormats.h"
#include <bit>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace tiletwin::test {

inline const TwTileOps& ops() {
  static const TwTileOps* table = [] {
    std::string error;
    const TwTileOps* t = loadTileOps(TILETWIN_TILE_DIR, &error);
    if (!t) throw std::runtime_error(error);
    return t;
  }();
  return *table;
}

/// Bytes with a guard on either side; check() tells whether the guards are whole. The data is deliberately misaligned
/// by `offset` elements.
class Guarded {
public:
  explicit Guarded(size_t bytes, size_t offset = 0)
      : bytes_(bytes), start_(kGuard + offset), data_(bytes + 2 * kGuard + offset, kFill) {}
  uint8_t* data() { return data_.data() + start_; }
  bool whole() const {
    for (size_t i = 0; i < data_.size(); ++i)
      if ((i < start_ || i >= start_ + bytes_) && data_[i] != kFill) return false;
    return true;
  }

private:
  static constexpr size_t kGuard = 128;
  static constexpr uint8_t kFill = 0xA5;
  size_t bytes_, start_;
  std::vector<uint8_t> data_;
};

inline uint64_t readBits(const void* p, size_t i, size_t bytes) {
  uint64_t v = 0;
  std::memcpy(&v, static_cast<const uint8_t*>(p) + i * bytes, bytes);
  return v;
}
inline void writeBits(void* p, size_t i, size_t bytes, uint64_t v) {
  std::memcpy(static_cast<uint8_t*>(p) + i * bytes, &v, bytes);
}

/// The value of an element of a float type, exactly.
inline double decode(DType t, uint64_t bits) {
  if (t == DType::F64) return std::bit_cast<double>(bits);
  if (t == DType::F32) return double(std::bit_cast<float>(uint32_t(bits)));
  return double(decodeSmallFloat(smallFloat(t), uint32_t(bits)));
}
/// A value rounded once to a float type.
inline uint64_t encode(DType t, double v, Rounding r = Rounding::NearestEven) {
  if (t == DType::F64) return std::bit_cast<uint64_t>(v);
  if (t == DType::F32) return std::bit_cast<uint32_t>(float(v));
  return encodeSmallFloat(smallFloat(t), f64ToF32Odd(v), r);
}
inline bool sameFloat(DType t, uint64_t a, uint64_t b) {
  return a == b || (std::isnan(decode(t, a)) && std::isnan(decode(t, b)));
}

inline constexpr DType kFloats[] = {DType::F8E5M2,     DType::F8E4M3FN,   DType::F8E4M3B11FNUZ,
                                    DType::F8E5M2FNUZ, DType::F8E4M3FNUZ, DType::F16,
                                    DType::BF16,       DType::F32,        DType::F64};
inline constexpr DType kInts[] = {DType::I1, DType::I8, DType::I16, DType::I32, DType::I64};
inline const char* kindOf(DType t) {
  static const char* names[] = {"i1",         "i8",         "i16", "i32",  "i64", "f8E5M2", "f8E4M3FN", "f8E4M3B11FNUZ",
                                "f8E5M2FNUZ", "f8E4M3FNUZ", "f16", "bf16", "f32", "f64",    "ptr"};
  return names[int(t)];
}

/// Bit patterns worth testing: all of an 8-bit type; zeros, subnormals, infinities, NaNs, extremes, halves and random
/// ones of others.
inline std::vector<uint64_t> edges(DType t) {
  std::vector<uint64_t> out;
  const size_t bits = sizeOf(t) * 8;
  if (t == DType::I1) return {0, 1};
  if (bits == 8) {
    for (uint64_t i = 0; i < 256; ++i) out.push_back(i);
    return out;
  }
  std::mt19937_64 random(7);
  const uint64_t all = bits == 64 ? ~0ull : (1ull << bits) - 1, sign = 1ull << (bits - 1);
  if (isFloat(t)) {
    for (double v : {0.0, 1.0, 0.5, 1.5, 2.0, 3.0, 2.5, 0.1, 10.0, 7.0, 100.25, 1e-3, 65504.0, 1e4, double(INFINITY),
                     double(NAN), 3.14159265358979})
      for (double s : {1.0, -1.0}) out.push_back(encode(t, s * v));
    const uint64_t infinity = encode(t, INFINITY);
    for (uint64_t b : {uint64_t(1), uint64_t(2), uint64_t(3), infinity - 1, infinity - 2, infinity >> 1})
      out.push_back(b), out.push_back(b | sign);
    const int mantissa = t == DType::F64 ? 52 : t == DType::F32 ? 23 : smallFloat(t).mantissaBits;
    for (uint64_t b : {uint64_t(1) << mantissa, (uint64_t(1) << mantissa) - 1, (uint64_t(1) << mantissa) + 1})
      out.push_back(b), out.push_back(b | sign);
  } else {
    for (uint64_t b : {uint64_t(0), uint64_t(1), uint64_t(2), uint64_t(3), uint64_t(7), uint64_t(10), uint64_t(127),
                       uint64_t(128), uint64_t(255), all, all - 1, all - 6, sign, sign - 1, sign + 1, all / 3})
      out.push_back(b & all);
  }
  for (int i = 0; i < 24; ++i) out.push_back(random() & all);
  return out;
}

/// Runs a strip function over n elements made by operand(i, k) (element i of operand k), also in pieces and with
/// splats, and calls check(i, operands of element i, result). `types` are the operands' types.
template <class Check>
void runStrip(TwStripFn fn, DType result, const std::vector<DType>& types,
              const std::vector<std::vector<uint64_t>>& operands, Check check) {
  const size_t n = operands[0].size(), count = types.size(), bytes = sizeOf(result);
  std::vector<std::vector<uint8_t>> data(count);
  for (size_t k = 0; k < count; ++k) {
    data[k].resize(n * sizeOf(types[k]));
    for (size_t i = 0; i < n; ++i) writeBits(data[k].data(), i, sizeOf(types[k]), operands[k][i]);
  }
  const auto verify = [&](size_t start, size_t length, uint32_t splat) {
    Guarded out(length * bytes, start % 3 * bytes);
    const void* src[3] = {};
    for (size_t k = 0; k < count; ++k) src[k] = data[k].data() + start * sizeOf(types[k]);
    fn(int64_t(length), out.data(), src, splat);
    if (!out.whole()) BOOST_ERROR("wrote outside " << length << " elements");
    uint64_t in[3] = {};
    for (size_t i = 0; i < length; ++i) {
      for (size_t k = 0; k < count; ++k) in[k] = operands[k][start + (splat >> k & 1 ? 0 : i)];
      check(in, readBits(out.data(), i, bytes));
    }
  };
  verify(0, n, 0);
  for (size_t length = 1; length <= 70 && length <= n; ++length)
    for (uint32_t splat = 0; splat < (1u << count); ++splat) verify((length * 13) % (n - length + 1), length, splat);
}

/// All pairs of two lists, as the operands of a binary strip.
inline std::vector<std::vector<uint64_t>> pairs(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b) {
  std::vector<std::vector<uint64_t>> out(2);
  for (uint64_t x : a)
    for (uint64_t y : b) out[0].push_back(x), out[1].push_back(y);
  return out;
}

} // namespace tiletwin::test
