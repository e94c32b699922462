// python/src/Elements.h -- element types of arrays as Python libraries name them, and as the language names them.
// Here:      one table row per element type; look-up by name, DLPack code and buffer format.
// Not here:  values and memory (Arrays.h).
#pragma once
#include "runtime/DType.h"
#include <cstdint>
#include <string_view>

namespace tiletwin::python {

/// An element type of an argument's array.
struct Element {
  const char* typeName; ///< in signatures: "fp32", "u1"
  DType storage;
  uint8_t dlpackCode;       ///< DLDataTypeCode
  uint8_t dlpackBits;       ///< as DLPack counts: 4 for packed fp4
  uint8_t bytes;            ///< bytes of one element in memory
  std::string_view names;   ///< space-separated names: NumPy, torch, the language
  std::string_view formats; ///< struct-module letters of the buffer protocol
};

/// Rows of the table; an index into it is a small number that serves in launch keys.
int elementCount();
const Element& element(int index);
/// By name ("float32", "torch.float32", "fp32", "int1"): index or -1.
int elementByName(std::string_view name);
/// By DLPack type: index or -1.
int elementByDlpack(int code, int bits, int lanes);
/// By buffer format ("f", "<f4" is not one) and item size: index or -1. A null format is unsigned bytes.
int elementByFormat(const char* format, int64_t itemBytes);

} // namespace tiletwin::python
