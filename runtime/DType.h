// runtime/DType.h -- element types as they are stored in memory and in tiles.
// Here:      the closed list of storage types, their sizes and names.
// Not here:  signedness (an operation's affair, as in the IR) and conversions (FloatFormats.h).
#pragma once
#include <cstddef>
#include <cstdint>

namespace tiletwin {

/// Storage type of one element. Integers are signless. I1 occupies one byte holding 0 or 1.
/// Ptr is a 64-bit host address.
enum class DType : uint8_t {
  I1,
  I8,
  I16,
  I32,
  I64,
  F8E5M2,
  F8E4M3FN,
  F8E4M3B11FNUZ,
  F8E5M2FNUZ,
  F8E4M3FNUZ,
  F16,
  BF16,
  F32,
  F64,
  Ptr,
};
inline constexpr int kNumDTypes = int(DType::Ptr) + 1;

/// Bytes of one element in memory.
constexpr size_t sizeOf(DType t) {
  switch (t) {
  case DType::I1:
  case DType::I8:
  case DType::F8E5M2:
  case DType::F8E4M3FN:
  case DType::F8E4M3B11FNUZ:
  case DType::F8E5M2FNUZ:
  case DType::F8E4M3FNUZ: return 1;
  case DType::I16:
  case DType::F16:
  case DType::BF16: return 2;
  case DType::I32:
  case DType::F32: return 4;
  case DType::I64:
  case DType::F64:
  case DType::Ptr: return 8;
  }
  return 0;
}
constexpr bool isFloat(DType t) { return t >= DType::F8E5M2 && t <= DType::F64; }
constexpr bool isInteger(DType t) { return t <= DType::I64; }

/// Name as in the IR: "i1", "f16", "bf16", "f8E4M3FN", "ptr".
const char* nameOf(DType t);

} // namespace tiletwin
