// tests/sim/TensorValues.h -- types of matrix elements for tests of tensor-core instructions: bits, values, random codes, and the
// sums that an H200 makes of them.
#pragma once
#include "runtime/FloatFormats.h"
#include "tests/sim/TensorReference.h"
#include <algorithm>
#include <random>
#include <string>

namespace tiletwin::sim {

struct ElementType {
  std::string name;
  int bits;
  bool isFloat() const { return name[0] == 'f' || name[0] == 'b' ? name != "b1" : name[0] == 't' || name[0] == 'e'; }
};
inline ElementType elementType(const std::string& name) {
  const int bits = name == "f64"                                                      ? 64
                   : name == "f32" || name == "tf32" || name == "s32"                 ? 32
                   : name == "f16" || name == "bf16"                                  ? 16
                   : name == "e4m3" || name == "e5m2" || name == "s8" || name == "u8" ? 8
                   : name == "s4" || name == "u4"                                     ? 4
                                                                                      : 1;
  return {name, bits};
}

inline double elementValue(const ElementType& type, uint64_t code) {
  if (type.name == "f64") return std::bit_cast<double>(code);
  if (type.name == "f32") return std::bit_cast<float>(uint32_t(code));
  if (type.name == "tf32") return std::bit_cast<float>(uint32_t(code) & 0xFFFFE000u);
  if (type.name == "f16") return decodeSmallFloat(kF16, uint32_t(code));
  if (type.name == "bf16") return decodeSmallFloat(kBF16, uint32_t(code));
  if (type.name == "e4m3") return decodeSmallFloat(kF8E4M3FN, uint32_t(code));
  if (type.name == "e5m2") return decodeSmallFloat(kF8E5M2, uint32_t(code));
  if (type.name[0] == 's') {
    const uint64_t sign = uint64_t(1) << (type.bits - 1);
    return double(int64_t((code ^ sign) - sign));
  }
  return double(code);
}

/// Codes of moderate size, some zeros and, seldom, infinities and NaNs.
inline uint64_t elementCode(const ElementType& type, std::mt19937_64& random) {
  const uint64_t mask = type.bits == 64 ? ~uint64_t(0) : (uint64_t(1) << type.bits) - 1;
  if (!type.isFloat()) return random() & mask;
  for (;;) {
    const uint64_t code = random() % 16 ? random() & mask : 0;
    const double value = std::fabs(elementValue(type, code));
    if (value == 0 || (value > 0x1p-9 && value < 64)) return code;
    if (!(value < HUGE_VAL) && random() % 512 == 0) return code;
  }
}

inline ReferenceRule ruleOf(const ElementType& a, const ElementType& b, bool halfResult, bool narrow) {
  const auto least = [](const ElementType& t) {
    return t.name == "e4m3" ? -6 : t.name == "f16" || t.name == "e5m2" ? -14 : -126;
  };
  return {narrow ? 13 : 25, halfResult ? 10 : narrow ? 13 : 23, least(a), least(b)};
}

} // namespace tiletwin::sim
