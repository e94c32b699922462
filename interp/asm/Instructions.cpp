// interp/asm/Instructions.cpp -- every form of an instruction that inline assembly may use, one row each.
// Not here:  what the rows do (Read*.cpp, Lanes*.cpp, interp/tile).
// Approximate instructions (ex2.approx) are computed accurately; instructions that only order threads do nothing, as a
// program's operations run one after the other.
#include "interp/asm/Compiler.h"

namespace tiletwin::interp {
namespace {

using E = TwElementwise;
using T = DType;
using C = AsmCompiler;

constexpr AsmRow tile(const char* op, const char* types, const char* optional, const char* shape, E e, T type,
                      int perLane = 1) {
  return {op, types, optional, shape, e, type, uint8_t(perLane), nullptr, nullptr};
}
constexpr AsmRow lane(const char* op, const char* types, const char* shape, const char* lanes,
                      const char* optional = "", T type = T::I32) {
  return {op, types, optional, shape, E::Count, type, 1, lanes, nullptr};
}
constexpr AsmRow own(const char* op, const char* types, const char* optional,
                     bool (C::*special)(const AsmStatement&, const AsmRow&), T type = T::I32, int perLane = 1,
                     const char* lanes = nullptr, E e = E::Count) {
  return {op, types, optional, "", e, type, uint8_t(perLane), lanes, special};
}

constexpr const char* kArithmetic32 = "rn rz rm rp ftz sat";
constexpr const char* kArithmetic32x2 = "rn rz rm rp ftz";
constexpr const char* kArithmetic64 = "rn rz rm rp";
constexpr const char* kArithmetic16 = "rn ftz sat";
constexpr const char* kVideo = "u32 s32 sat add";

constexpr AsmRow kRows[] = {
    // integers
    tile("add", "u16|s16", "", "222", E::AddI, T::I16),
    tile("add", "u32|s32", "", "444", E::AddI, T::I32),
    tile("add", "u64|s64", "", "888", E::AddI, T::I64),
    tile("add", "u16x2|s16x2", "", "444", E::AddI, T::I16, 2),
    lane("add.sat", "s32", "444", "addsat"),
    tile("sub", "u16|s16", "", "222", E::SubI, T::I16),
    tile("sub", "u32|s32", "", "444", E::SubI, T::I32),
    tile("sub", "u64|s64", "", "888", E::SubI, T::I64),
    lane("sub.sat", "s32", "444", "subsat"),
    tile("mul.lo", "u16|s16", "", "222", E::MulI, T::I16),
    tile("mul.lo", "u32|s32", "", "444", E::MulI, T::I32),
    tile("mul.lo", "u64|s64", "", "888", E::MulI, T::I64),
    lane("mul.hi", "u16", "222", "mulhi_u16"),
    lane("mul.hi", "s16", "222", "mulhi_s16"),
    lane("mul.hi", "u32", "444", "mulhi_u32"),
    lane("mul.hi", "s32", "444", "mulhi_s32"),
    lane("mul.hi", "u64", "888", "mulhi_u64"),
    lane("mul.hi", "s64", "888", "mulhi_s64"),
    lane("mul.wide", "u16", "422", "mulwide_u16"),
    lane("mul.wide", "s16", "422", "mulwide_s16"),
    lane("mul.wide", "u32", "844", "mulwide_u32"),
    lane("mul.wide", "s32", "844", "mulwide_s32"),
    lane("mul24.lo", "u32", "444", "mul24_u32"),
    lane("mul24.lo", "s32", "444", "mul24_s32"),
    lane("mul24.hi", "u32", "444", "mul24hi_u32"),
    lane("mul24.hi", "s32", "444", "mul24hi_s32"),
    lane("mad.lo", "u16|s16", "2222", "mad16"),
    lane("mad.lo", "u32|s32", "4444", "mad32"),
    lane("mad.lo", "u64|s64", "8888", "mad64"),
    lane("mad.hi", "u32", "4444", "madhi_u32"),
    lane("mad.hi", "s32", "4444", "madhi_s32"),
    lane("mad.hi", "u64", "8888", "madhi_u64"),
    lane("mad.hi", "s64", "8888", "madhi_s64"),
    lane("mad.wide", "u16", "4224", "madwide_u16"),
    lane("mad.wide", "s16", "4224", "madwide_s16"),
    lane("mad.wide", "u32", "8448", "madwide_u32"),
    lane("mad.wide", "s32", "8448", "madwide_s32"),
    lane("mad24.lo", "u32", "4444", "mad24_u32"),
    lane("mad24.lo", "s32", "4444", "mad24_s32"),
    tile("div", "u16", "", "222", E::DivUI, T::I16),
    tile("div", "s16", "", "222", E::DivSI, T::I16),
    tile("div", "u32", "", "444", E::DivUI, T::I32),
    tile("div", "s32", "", "444", E::DivSI, T::I32),
    tile("div", "u64", "", "888", E::DivUI, T::I64),
    tile("div", "s64", "", "888", E::DivSI, T::I64),
    lane("rem", "u16", "222", "rem_u16"),
    lane("rem", "s16", "222", "rem_s16"),
    lane("rem", "u32", "444", "rem_u32"),
    lane("rem", "s32", "444", "rem_s32"),
    lane("rem", "u64", "888", "rem_u64"),
    lane("rem", "s64", "888", "rem_s64"),
    tile("abs", "s16", "", "22", E::AbsI, T::I16),
    tile("abs", "s32", "", "44", E::AbsI, T::I32),
    tile("abs", "s64", "", "88", E::AbsI, T::I64),
    lane("neg", "s16", "22", "neg16"),
    lane("neg", "s32", "44", "neg32"),
    lane("neg", "s64", "88", "neg64"),
    tile("min", "u16", "", "222", E::MinUI, T::I16),
    tile("min", "s16", "", "222", E::MinSI, T::I16),
    tile("min", "u32", "", "444", E::MinUI, T::I32),
    tile("min", "s32", "relu", "444", E::MinSI, T::I32),
    tile("min", "u64", "", "888", E::MinUI, T::I64),
    tile("min", "s64", "", "888", E::MinSI, T::I64),
    tile("min", "u16x2", "", "444", E::MinUI, T::I16, 2),
    tile("min", "s16x2", "relu", "444", E::MinSI, T::I16, 2),
    tile("max", "u16", "", "222", E::MaxUI, T::I16),
    tile("max", "s16", "", "222", E::MaxSI, T::I16),
    tile("max", "u32", "", "444", E::MaxUI, T::I32),
    tile("max", "s32", "relu", "444", E::MaxSI, T::I32),
    tile("max", "u64", "", "888", E::MaxUI, T::I64),
    tile("max", "s64", "", "888", E::MaxSI, T::I64),
    tile("max", "u16x2", "", "444", E::MaxUI, T::I16, 2),
    tile("max", "s16x2", "relu", "444", E::MaxSI, T::I16, 2),
    lane("sad", "u16", "2222", "sad_u16"),
    lane("sad", "s16", "2222", "sad_s16"),
    lane("sad", "u32", "4444", "sad_u32"),
    lane("sad", "s32", "4444", "sad_s32"),
    lane("sad", "u64", "8888", "sad_u64"),
    lane("sad", "s64", "8888", "sad_s64"),
    lane("dp4a", "u32.u32", "4444", "dp4a_uu"),
    lane("dp4a", "u32.s32", "4444", "dp4a_us"),
    lane("dp4a", "s32.u32", "4444", "dp4a_su"),
    lane("dp4a", "s32.s32", "4444", "dp4a_ss"),
    lane("dp2a.lo", "u32.u32", "4444", "dp2alo_uu"),
    lane("dp2a.hi", "u32.u32", "4444", "dp2ahi_uu"),
    lane("dp2a.lo", "s32.s32", "4444", "dp2alo_ss"),
    lane("dp2a.hi", "s32.s32", "4444", "dp2ahi_ss"),
    lane("dp2a.lo", "u32.s32", "4444", "dp2alo_us"),
    lane("dp2a.hi", "u32.s32", "4444", "dp2ahi_us"),
    lane("dp2a.lo", "s32.u32", "4444", "dp2alo_su"),
    lane("dp2a.hi", "s32.u32", "4444", "dp2ahi_su"),
    own("vadd", "", kVideo, &C::video),
    own("vadd2", "", kVideo, &C::video, T::I32, 2),
    own("vadd4", "", kVideo, &C::video, T::I32, 4),
    own("vsub", "", kVideo, &C::video),
    own("vsub2", "", kVideo, &C::video, T::I32, 2),
    own("vsub4", "", kVideo, &C::video, T::I32, 4),
    own("vabsdiff", "", kVideo, &C::video),
    own("vabsdiff2", "", kVideo, &C::video, T::I32, 2),
    own("vabsdiff4", "", kVideo, &C::video, T::I32, 4),
    own("vavrg2", "", kVideo, &C::video, T::I32, 2),
    own("vavrg4", "", kVideo, &C::video, T::I32, 4),
    own("vmin", "", kVideo, &C::video),
    own("vmin2", "", kVideo, &C::video, T::I32, 2),
    own("vmin4", "", kVideo, &C::video, T::I32, 4),
    own("vmax", "", kVideo, &C::video),
    own("vmax2", "", kVideo, &C::video, T::I32, 2),
    own("vmax4", "", kVideo, &C::video, T::I32, 4),
    // bits
    tile("and", "b16", "", "222", E::AndI, T::I16),
    tile("and", "b32", "", "444", E::AndI, T::I32),
    tile("and", "b64", "", "888", E::AndI, T::I64),
    tile("and", "pred", "", "ppp", E::AndI, T::I1),
    tile("or", "b16", "", "222", E::OrI, T::I16),
    tile("or", "b32", "", "444", E::OrI, T::I32),
    tile("or", "b64", "", "888", E::OrI, T::I64),
    tile("or", "pred", "", "ppp", E::OrI, T::I1),
    tile("xor", "b16", "", "222", E::XorI, T::I16),
    tile("xor", "b32", "", "444", E::XorI, T::I32),
    tile("xor", "b64", "", "888", E::XorI, T::I64),
    tile("xor", "pred", "", "ppp", E::XorI, T::I1),
    lane("not", "pred", "pp", "not1"),
    lane("not", "b16", "22", "not16"),
    lane("not", "b32", "44", "not32"),
    lane("not", "b64", "88", "not64"),
    lane("cnot", "b16", "22", "cnot16"),
    lane("cnot", "b32", "44", "cnot32"),
    lane("cnot", "b64", "88", "cnot64"),
    lane("shl", "b16", "224", "shl16"),
    lane("shl", "b32", "444", "shl32"),
    lane("shl", "b64", "884", "shl64"),
    lane("shr", "u16|b16", "224", "shr_u16"),
    lane("shr", "u32|b32", "444", "shr_u32"),
    lane("shr", "u64|b64", "884", "shr_u64"),
    lane("shr", "s16", "224", "shr_s16"),
    lane("shr", "s32", "444", "shr_s32"),
    lane("shr", "s64", "884", "shr_s64"),
    lane("shf.l.wrap", "b32", "4444", "shf_l_wrap"),
    lane("shf.r.wrap", "b32", "4444", "shf_r_wrap"),
    lane("shf.l.clamp", "b32", "4444", "shf_l_clamp"),
    lane("shf.r.clamp", "b32", "4444", "shf_r_clamp"),
    lane("popc", "b32", "44", "popc32"),
    lane("popc", "b64", "48", "popc64"),
    lane("clz", "b32", "44", "clz32"),
    lane("clz", "b64", "48", "clz64"),
    lane("brev", "b32", "44", "brev32"),
    lane("brev", "b64", "88", "brev64"),
    lane("bfind", "u32", "44", "bfind_u32"),
    lane("bfind", "s32", "44", "bfind_s32"),
    lane("bfind", "u64", "48", "bfind_u64"),
    lane("bfind", "s64", "48", "bfind_s64"),
    lane("bfind.shiftamt", "u32", "44", "bfindshift_u32"),
    lane("bfind.shiftamt", "s32", "44", "bfindshift_s32"),
    lane("bfe", "u32", "4444", "bfe_u32"),
    lane("bfe", "s32", "4444", "bfe_s32"),
    lane("bfe", "u64", "8844", "bfe_u64"),
    lane("bfe", "s64", "8844", "bfe_s64"),
    lane("bfi", "b32", "44444", "bfi32"),
    lane("bfi", "b64", "88844", "bfi64"),
    lane("lop3", "b32", "44444", "lop3"),
    lane("prmt", "b32", "4444", "prmt"),
    lane("prmt", "b32.f4e", "4444", "prmt_f4e"),
    lane("prmt", "b32.b4e", "4444", "prmt_b4e"),
    lane("prmt", "b32.rc8", "4444", "prmt_rc8"),
    lane("prmt", "b32.ecl", "4444", "prmt_ecl"),
    lane("prmt", "b32.ecr", "4444", "prmt_ecr"),
    lane("prmt", "b32.rc16", "4444", "prmt_rc16"),
    lane("bmsk.clamp", "b32", "444", "bmsk_clamp"),
    lane("bmsk.wrap", "b32", "444", "bmsk_wrap"),
    lane("szext.clamp", "u32", "444", "szext_clamp_u32"),
    lane("szext.clamp", "s32", "444", "szext_clamp_s32"),
    lane("szext.wrap", "u32", "444", "szext_wrap_u32"),
    lane("szext.wrap", "s32", "444", "szext_wrap_s32"),
    // f32 and f64
    tile("add", "f32", kArithmetic32, "444", E::AddF, T::F32),
    tile("add", "f64", kArithmetic64, "888", E::AddF, T::F64),
    tile("sub", "f32", kArithmetic32, "444", E::SubF, T::F32),
    tile("sub", "f64", kArithmetic64, "888", E::SubF, T::F64),
    tile("mul", "f32", kArithmetic32, "444", E::MulF, T::F32),
    tile("mul", "f64", kArithmetic64, "888", E::MulF, T::F64),
    tile("fma", "f32", kArithmetic32, "4444", E::Fma, T::F32),
    tile("fma", "f64", kArithmetic64, "8888", E::Fma, T::F64),
    tile("add", "f32x2", kArithmetic32x2, "888", E::AddF, T::F32, 2),
    tile("sub", "f32x2", kArithmetic32x2, "888", E::SubF, T::F32, 2),
    tile("mul", "f32x2", kArithmetic32x2, "888", E::MulF, T::F32, 2),
    tile("fma", "f32x2", kArithmetic32x2, "8888", E::Fma, T::F32, 2),
    tile("mad", "f32", kArithmetic32, "4444", E::Fma, T::F32),
    tile("mad", "f64", kArithmetic64, "8888", E::Fma, T::F64),
    lane("div", "rm.ftz.f32|rp.ftz.f32", "444", "div_ftz"),
    tile("div", "f32", "approx full rn rz rm rp ftz", "444", E::DivF, T::F32),
    tile("div", "f64", kArithmetic64, "888", E::DivF, T::F64),
    tile("abs", "f32", "ftz", "44", E::AbsF, T::F32),
    tile("abs", "f64", "", "88", E::AbsF, T::F64),
    tile("neg", "f32", "ftz", "44", E::NegF, T::F32),
    tile("neg", "f64", "", "88", E::NegF, T::F64),
    tile("min", "f32", "ftz", "444", E::MinNumF, T::F32),
    tile("min", "f64", "", "888", E::MinNumF, T::F64),
    tile("max", "f32", "ftz", "444", E::MaxNumF, T::F32),
    tile("max", "f64", "", "888", E::MaxNumF, T::F64),
    tile("min.NaN", "f32", "ftz", "444", E::MinimumF, T::F32),
    tile("max.NaN", "f32", "ftz", "444", E::MaximumF, T::F32),
    own("min.xorsign.abs", "f32|f16|f16x2|bf16|bf16x2", "ftz NaN", &C::byMagnitude),
    own("max.xorsign.abs", "f32|f16|f16x2|bf16|bf16x2", "ftz NaN", &C::byMagnitude),
    tile("sqrt", "f32", "approx rn rz rm rp ftz", "44", E::Sqrt, T::F32),
    tile("sqrt", "f64", kArithmetic64, "88", E::Sqrt, T::F64),
    tile("rsqrt.approx", "f32", "ftz", "44", E::Rsqrt, T::F32),
    tile("rsqrt.approx", "f64", "ftz", "88", E::Rsqrt, T::F64),
    tile("sin.approx", "f32", "ftz", "44", E::Sin, T::F32),
    tile("cos.approx", "f32", "ftz", "44", E::Cos, T::F32),
    tile("lg2.approx", "f32", "ftz", "44", E::Log2, T::F32),
    tile("ex2.approx", "f32", "ftz", "44", E::Exp2, T::F32),
    own("tanh.approx", "f32", "", &C::throughF32, T::F32),
    lane("rcp", "rm.ftz.f32|rp.ftz.f32", "44", "rcp_ftz"),
    own("rcp", "f32", "approx rn rz rm rp ftz", &C::reciprocal, T::F32),
    own("rcp", "f64", kArithmetic64, &C::reciprocal, T::F64),
    lane("rcp.approx.ftz", "f64", "88", "rcp64h", "", T::I64),
    lane("copysign", "f32", "444", "copysign32"),
    lane("copysign", "f64", "888", "copysign64"),
    lane("testp.finite", "f32", "p4", "finite_f32"),
    lane("testp.finite", "f64", "p8", "finite_f64"),
    lane("testp.infinite", "f32", "p4", "infinite_f32"),
    lane("testp.infinite", "f64", "p8", "infinite_f64"),
    lane("testp.number", "f32", "p4", "number_f32"),
    lane("testp.number", "f64", "p8", "number_f64"),
    lane("testp.notanumber", "f32", "p4", "notanumber_f32"),
    lane("testp.notanumber", "f64", "p8", "notanumber_f64"),
    lane("testp.normal", "f32", "p4", "normal_f32"),
    lane("testp.normal", "f64", "p8", "normal_f64"),
    lane("testp.subnormal", "f32", "p4", "subnormal_f32"),
    lane("testp.subnormal", "f64", "p8", "subnormal_f64"),
    // f16, bf16 and pairs of them
    tile("add", "f16", kArithmetic16, "222", E::AddF, T::F16),
    tile("add", "f16x2", kArithmetic16, "444", E::AddF, T::F16, 2),
    tile("add", "bf16", "rn", "222", E::AddF, T::BF16),
    tile("add", "bf16x2", "rn", "444", E::AddF, T::BF16, 2),
    tile("sub", "f16", kArithmetic16, "222", E::SubF, T::F16),
    tile("sub", "f16x2", kArithmetic16, "444", E::SubF, T::F16, 2),
    tile("sub", "bf16", "rn", "222", E::SubF, T::BF16),
    tile("sub", "bf16x2", "rn", "444", E::SubF, T::BF16, 2),
    tile("mul", "f16", kArithmetic16, "222", E::MulF, T::F16),
    tile("mul", "f16x2", kArithmetic16, "444", E::MulF, T::F16, 2),
    tile("mul", "bf16", "rn", "222", E::MulF, T::BF16),
    tile("mul", "bf16x2", "rn", "444", E::MulF, T::BF16, 2),
    tile("fma.rn", "f16", "ftz sat relu", "2222", E::Fma, T::F16),
    tile("fma.rn", "f16x2", "ftz sat relu", "4444", E::Fma, T::F16, 2),
    tile("fma.rn", "bf16", "relu", "2222", E::Fma, T::BF16),
    tile("fma.rn", "bf16x2", "relu", "4444", E::Fma, T::BF16, 2),
    tile("abs", "f16", "ftz", "22", E::AbsF, T::F16),
    tile("abs", "f16x2", "ftz", "44", E::AbsF, T::F16, 2),
    tile("abs", "bf16", "", "22", E::AbsF, T::BF16),
    tile("abs", "bf16x2", "", "44", E::AbsF, T::BF16, 2),
    tile("neg", "f16", "ftz", "22", E::NegF, T::F16),
    tile("neg", "f16x2", "ftz", "44", E::NegF, T::F16, 2),
    tile("neg", "bf16", "", "22", E::NegF, T::BF16),
    tile("neg", "bf16x2", "", "44", E::NegF, T::BF16, 2),
    tile("min", "f16", "ftz", "222", E::MinNumF, T::F16),
    tile("min", "f16x2", "ftz", "444", E::MinNumF, T::F16, 2),
    tile("min", "bf16", "", "222", E::MinNumF, T::BF16),
    tile("min", "bf16x2", "", "444", E::MinNumF, T::BF16, 2),
    tile("max", "f16", "ftz", "222", E::MaxNumF, T::F16),
    tile("max", "f16x2", "ftz", "444", E::MaxNumF, T::F16, 2),
    tile("max", "bf16", "", "222", E::MaxNumF, T::BF16),
    tile("max", "bf16x2", "", "444", E::MaxNumF, T::BF16, 2),
    tile("min.NaN", "f16", "ftz", "222", E::MinimumF, T::F16),
    tile("min.NaN", "f16x2", "ftz", "444", E::MinimumF, T::F16, 2),
    tile("min.NaN", "bf16", "", "222", E::MinimumF, T::BF16),
    tile("min.NaN", "bf16x2", "", "444", E::MinimumF, T::BF16, 2),
    tile("max.NaN", "f16", "ftz", "222", E::MaximumF, T::F16),
    tile("max.NaN", "f16x2", "ftz", "444", E::MaximumF, T::F16, 2),
    tile("max.NaN", "bf16", "", "222", E::MaximumF, T::BF16),
    tile("max.NaN", "bf16x2", "", "444", E::MaximumF, T::BF16, 2),
    tile("ex2.approx", "f16", "", "22", E::Exp2, T::F16),
    tile("ex2.approx", "f16x2", "", "44", E::Exp2, T::F16, 2),
    tile("ex2.approx.ftz", "bf16", "", "22", E::Exp2, T::BF16),
    tile("ex2.approx.ftz", "bf16x2", "", "44", E::Exp2, T::BF16, 2),
    own("tanh.approx", "f16", "", &C::throughF32, T::F16),
    own("tanh.approx", "f16x2", "", &C::throughF32, T::F16, 2),
    own("tanh.approx", "bf16", "", &C::throughF32, T::BF16),
    own("tanh.approx", "bf16x2", "", &C::throughF32, T::BF16, 2),
    // choice and comparison
    lane("selp", "b16|u16|s16", "222p", "selp16"),
    lane("selp", "b32|u32|s32|f32", "444p", "selp32"),
    lane("selp", "b64|u64|s64|f64", "888p", "selp64"),
    lane("slct", "b32.s32|u32.s32|s32.s32|f32.s32", "4444", "slct32_s32"),
    lane("slct", "b64.s32|u64.s32|s64.s32|f64.s32", "8884", "slct64_s32"),
    lane("slct", "b32.f32|u32.f32|s32.f32|f32.f32", "4444", "slct32_f32"),
    own("setp", "u16|u32|u64|s16|s32|s64|b16|b32|b64|f16|f16x2|bf16|bf16x2|f32|f64",
        "eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan and or xor ftz", &C::compare),
    own("set", "*", "eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan and or xor ftz", &C::compareInto),
    // movement and conversion
    own("mov", "b8|b16|b32|b64|u16|u32|u64|s16|s32|s64|f16|bf16|f32|f64|f16x2|pred", "", &C::move),
    own("cvt",
        "f16x2.f32|bf16x2.f32|e4m3x2.f32|e5m2x2.f32|e4m3x2.f16x2|e5m2x2.f16x2|e4m3x2.bf16x2|e5m2x2.bf16x2|f16x2.e4m3x2|"
        "f16x2.e5m2x2|bf16x2.e4m3x2|bf16x2.e5m2x2",
        "rn rz relu satfinite", &C::convertPacked),
    own("cvt",
        "e2m1x2.f32|e2m1x2.f16x2|e2m1x2.bf16x2|e2m3x2.f32|e2m3x2.f16x2|e2m3x2.bf16x2|e3m2x2.f32|e3m2x2.f16x2|e3m2x2."
        "bf16x2|"
        "ue8m0x2.f32|ue8m0x2.bf16x2",
        "rn rz rp relu satfinite", &C::convertToNarrow),
    own("cvt", "f16x2.e2m1x2|f16x2.e2m3x2|f16x2.e3m2x2|bf16x2.e2m1x2|bf16x2.e2m3x2|bf16x2.e3m2x2|bf16x2.ue8m0x2",
        "rn relu", &C::convertFromNarrow),
    lane("cvt.pack.sat", "s8.s32.b32", "4444", "pack_s8_s32"),
    lane("cvt.pack.sat", "u8.s32.b32", "4444", "pack_u8_s32"),
    lane("cvt.pack.sat", "s16.s32", "444", "pack_s16_s32"),
    lane("cvt.pack.sat", "u16.s32", "444", "pack_u16_s32"),
    own("cvt", "*", "rn rz rm rp rna rni rzi rmi rpi ftz sat relu satfinite", &C::convert),
    // order between threads and hints
    own("bar.sync", "", "aligned cta", &C::nothing),
    own("barrier.sync", "", "aligned cta", &C::nothing),
    own("bar.warp.sync", "", "", &C::nothing),
    own("barrier.cluster", "", "arrive wait release acquire relaxed aligned", &C::nothing),
    own("membar", "gl|sys|cta", "", &C::nothing),
    own("fence", "gpu|sys|cta|cluster", "acq_rel sc acquire release", &C::nothing),
    own("fence.proxy", "",
        "async alias global shared::cta shared::cluster tensormap::generic acquire release cta cluster gpu sys",
        &C::nothing),
    own("fence.mbarrier_init", "", "release cluster", &C::nothing),
    own("nanosleep", "u32", "", &C::nothing),
    own("griddepcontrol", "", "wait launch_dependents", &C::nothing),
    own("prefetch", "", "global local L1 L2 L2::evict_last L2::evict_normal", &C::nothing),
    own("prefetchu", "", "L1", &C::nothing),
};

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(at), text.size());
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

bool isOneOf(const std::vector<std::string>& list, const std::string& word) {
  for (const std::string& item : list)
    if (item == word) return true;
  return false;
}

bool matches(const AsmRow& row, const std::vector<std::string>& words) {
  const std::vector<std::string> required = split(row.op, '.'), optional = split(row.optional, ' ');
  if (words.empty() || words[0] != required[0]) return false;
  std::vector<std::string> alternatives = split(row.types, '|');
  if (alternatives.empty()) alternatives.emplace_back();
  for (const std::string& alternative : alternatives) {
    const std::vector<std::string> types =
        alternative == "*" ? std::vector<std::string>(words.end() - (words.size() > 2 ? 2 : 0), words.end())
                           : split(alternative, '.');
    if (words.size() < types.size() + 1 || !std::equal(types.rbegin(), types.rend(), words.rbegin())) continue;
    size_t have = 1;
    bool fits = true;
    for (size_t i = 1; fits && i < words.size() - types.size(); ++i) {
      if (have < required.size() && words[i] == required[have])
        ++have;
      else
        fits = isOneOf(optional, words[i]);
    }
    if (fits && have == required.size()) return true;
  }
  return false;
}

} // namespace

const AsmRow* findAsmRow(const std::vector<std::string>& words, bool& known) {
  known = false;
  for (const AsmRow& row : kRows) {
    if (matches(row, words)) return &row;
    known = known || words[0] == split(row.op, '.')[0];
  }
  return nullptr;
}

bool asmKnows(std::string_view word) {
  for (const AsmRow& row : kRows)
    if (split(row.op, '.')[0] == word) return true;
  return false;
}

} // namespace tiletwin::interp
