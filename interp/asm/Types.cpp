// interp/asm/Types.cpp -- the table of types.
#include "interp/asm/Types.h"

namespace tiletwin::interp {
namespace {

constexpr AsmType kTypes[] = {
    {"pred", AsmType::Predicate, DType::I1},
    {"b8", AsmType::Bits, DType::I8},
    {"b16", AsmType::Bits, DType::I16},
    {"b32", AsmType::Bits, DType::I32},
    {"b64", AsmType::Bits, DType::I64},
    {"u8", AsmType::Unsigned, DType::I8},
    {"u16", AsmType::Unsigned, DType::I16},
    {"u32", AsmType::Unsigned, DType::I32},
    {"u64", AsmType::Unsigned, DType::I64},
    {"s8", AsmType::Signed, DType::I8},
    {"s16", AsmType::Signed, DType::I16},
    {"s32", AsmType::Signed, DType::I32},
    {"s64", AsmType::Signed, DType::I64},
    {"f16", AsmType::Float, DType::F16},
    {"bf16", AsmType::Float, DType::BF16},
    {"f32", AsmType::Float, DType::F32},
    {"f64", AsmType::Float, DType::F64},
    {"f16x2", AsmType::Float, DType::F16, 2},
    {"bf16x2", AsmType::Float, DType::BF16, 2},
    {"u16x2", AsmType::Unsigned, DType::I16, 2, false},
    {"s16x2", AsmType::Signed, DType::I16, 2, false},
    {"f32x2", AsmType::Float, DType::F32, 2, false},
    {"e4m3x2", AsmType::Float, DType::F8E4M3FN, 2, false},
    {"e5m2x2", AsmType::Float, DType::F8E5M2, 2, false},
};

} // namespace

const AsmType* findAsmType(std::string_view name) {
  for (const AsmType& type : kTypes)
    if (name == type.name) return &type;
  return nullptr;
}

} // namespace tiletwin::interp
