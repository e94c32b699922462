// python/src/Elements.cpp -- the table behind Elements.h.
#include "Elements.h"
#include <iterator>

namespace tiletwin::python {
namespace {

// Two rows may share a type name (float8_e8m0fnu is handed to kernels as u8); the first row of a name is its canonical
// one.
constexpr Element kElements[] = {
    {"u1", DType::I1, 6, 8, 1, "bool bool_ u1 int1 i1", "?"},
    {"i8", DType::I8, 0, 8, 1, "int8 i8", "b"},
    {"i16", DType::I16, 0, 16, 2, "int16 i16 short", "h"},
    {"i32", DType::I32, 0, 32, 4, "int32 i32 int", "il"},
    {"i64", DType::I64, 0, 64, 8, "int64 i64 long", "lqn"},
    {"u8", DType::I8, 1, 8, 1, "uint8 u8", "Bc"},
    {"u16", DType::I16, 1, 16, 2, "uint16 u16", "H"},
    {"u32", DType::I32, 1, 32, 4, "uint32 u32", "IL"},
    {"u64", DType::I64, 1, 64, 8, "uint64 u64", "LQN"},
    {"fp16", DType::F16, 2, 16, 2, "float16 fp16 f16 half", "e"},
    {"bf16", DType::BF16, 4, 16, 2, "bfloat16 bf16", ""},
    {"fp32", DType::F32, 2, 32, 4, "float32 fp32 f32 float", "f"},
    {"fp64", DType::F64, 2, 64, 8, "float64 fp64 f64 double", "d"},
    {"fp8e5", DType::F8E5M2, 12, 8, 1, "float8_e5m2 fp8e5 float8e5", ""},
    {"fp8e4nv", DType::F8E4M3FN, 10, 8, 1, "float8_e4m3fn fp8e4nv float8e4nv fp8e4", ""},
    {"fp8e4b15", DType::F8E4M3B11FNUZ, 9, 8, 1, "float8_e4m3b11fnuz fp8e4b15 float8e4b15", ""},
    {"fp8e4b8", DType::F8E4M3FNUZ, 11, 8, 1, "float8_e4m3fnuz fp8e4b8 float8e4b8", ""},
    {"fp8e5b16", DType::F8E5M2FNUZ, 13, 8, 1, "float8_e5m2fnuz fp8e5b16 float8e5b16", ""},
    {"u8", DType::I8, 14, 8, 1, "float8_e8m0fnu", ""},
    {"u8", DType::I8, 17, 4, 1, "float4_e2m1fn_x2", ""},
};

bool hasWord(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    size_t space = words.find(' ');
    if (words.substr(0, space) == word) return true;
    if (space == std::string_view::npos) return false;
    words.remove_prefix(space + 1);
  }
  return false;
}

} // namespace

int elementCount() { return int(std::size(kElements)); }
const Element& element(int index) { return kElements[index]; }

int elementByName(std::string_view name) {
  if (size_t dot = name.rfind('.'); dot != std::string_view::npos) name.remove_prefix(dot + 1);
  for (int i = 0; i < elementCount(); ++i)
    if (hasWord(kElements[i].names, name)) return i;
  return -1;
}

int elementByDlpack(int code, int bits, int lanes) {
  for (int i = 0; i < elementCount(); ++i)
    if (kElements[i].dlpackCode == code && kElements[i].dlpackBits == bits && (lanes == 1 || bits == 4)) return i;
  return -1;
}

int elementByFormat(const char* format, int64_t itemBytes) {
  std::string_view text = format ? format : "B";
  if (!text.empty() && (text[0] == '@' || text[0] == '=' || text[0] == '<')) text.remove_prefix(1);
  if (text.size() != 1) return -1;
  for (int i = 0; i < elementCount(); ++i)
    if (kElements[i].bytes == itemBytes && kElements[i].formats.find(text[0]) != std::string_view::npos) return i;
  return -1;
}

} // namespace tiletwin::python
