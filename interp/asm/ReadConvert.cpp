// interp/asm/ReadConvert.cpp -- cvt: between integers and floats of all widths with PTX's roundings, and packed
// formats. Here:      which steps a conversion takes, and the modifiers PTX demands.   Not here:  the arithmetic
// (LanesFloat.cpp and the tile module's casts).
#include "interp/asm/Compiler.h"
#include "interp/asm/Lanes.h"

namespace tiletwin::interp {
namespace {

struct Scalar {
  const char* name;
  DType type;
  AsmInt integer; ///< Count: a float
  bool isSigned;
};
constexpr Scalar kScalars[] = {
    {"u8", DType::I8, AsmInt::U8, false},      {"u16", DType::I16, AsmInt::U16, false},
    {"u32", DType::I32, AsmInt::U32, false},   {"u64", DType::I64, AsmInt::U64, false},
    {"s8", DType::I8, AsmInt::S8, true},       {"s16", DType::I16, AsmInt::S16, true},
    {"s32", DType::I32, AsmInt::S32, true},    {"s64", DType::I64, AsmInt::S64, true},
    {"f16", DType::F16, AsmInt::Count, false}, {"bf16", DType::BF16, AsmInt::Count, false},
    {"f32", DType::F32, AsmInt::Count, false}, {"f64", DType::F64, AsmInt::Count, false},
};
const Scalar* findScalar(const std::string& name) {
  for (const Scalar& row : kScalars)
    if (name == row.name) return &row;
  return nullptr;
}

constexpr struct {
  const char* name;
  DType type;
  int perLane;
} kPacked[] = {
    {"f16x2", DType::F16, 2},
    {"bf16x2", DType::BF16, 2},
    {"e4m3x2", DType::F8E4M3FN, 2},
    {"e5m2x2", DType::F8E5M2, 2},
};
DType packedType(const std::string& name) {
  for (const auto& row : kPacked)
    if (name == row.name) return row.type;
  return DType::F32;
}

} // namespace

/// Two f32 (the first goes to the upper half), or a register of one pair to a register of another.
bool AsmCompiler::convertPacked(const AsmStatement& s, const AsmRow&) {
  const std::string &toName = s.words[s.words.size() - 2], &fromName = s.words.back();
  const DType to = packedType(toName), from = packedType(fromName);
  const bool isF8 = sizeOf(to) == 1;
  if (!has(s, "rn") && !has(s, "rz")) return fail("`" + s.opcode + "` needs a rounding: .rn");
  if (has(s, "rz") && (isF8 || sizeOf(from) == 1)) return fail("`" + s.opcode + "`: only .rn is defined here");
  if (isF8 && !has(s, "satfinite")) return fail("`" + s.opcode + "` needs .satfinite");
  const TwCastKind kind = has(s, "rz") ? TwCastKind::TruncateToward0 : TwCastKind::SignedInt;
  const TwStripFn cast = tiles_.cast(from, to, kind);
  AsmRegister* reg = nullptr;
  uint32_t a, b;
  if (from != DType::F32) {
    if (!argumentCount(s, 2) || !source(s.arguments[1], int(sizeOf(from)) * 2, true, a) ||
        !target(s.arguments[0], int(sizeOf(to)) * 2, reg))
      return false;
    uint32_t result = step(cast, {a}, 2);
    if (has(s, "relu"))
      result = step(tiles_.elementwise(TwElementwise::MaximumF, to), {result, constant(int(sizeOf(to)) * 2, 0)}, 2);
    store(*reg, result);
    return true;
  }
  if (!argumentCount(s, 3) || !source(s.arguments[1], 4, true, a) || !source(s.arguments[2], 4, true, b) ||
      !target(s.arguments[0], int(sizeOf(to)) * 2, reg))
    return false;
  const TwStripFn max = tiles_.elementwise(TwElementwise::MaximumF, DType::F32);
  const TwStripFn min = tiles_.elementwise(TwElementwise::MinimumF, DType::F32);
  if (has(s, "relu")) {
    a = step(max, {a, constant(4, 0)});
    b = step(max, {b, constant(4, 0)});
  }
  if (!isF8 && has(s, "satfinite")) { // the cast itself saturates where it makes 8 bits
    const uint32_t greatest = to == DType::F16 ? 0x477FE000u : 0x7F7F0000u, least = greatest | 0x80000000u;
    a = step(min, {step(max, {a, constant(4, least)}), constant(4, greatest)});
    b = step(min, {step(max, {b, constant(4, least)}), constant(4, greatest)});
  }
  const uint32_t high = step(cast, {a}), low = step(cast, {b});
  store(*reg, step(laneJoin(int(sizeOf(to)), 2), {low, high}));
  return true;
}

bool AsmCompiler::convert(const AsmStatement& s, const AsmRow&) {
  const std::string &toName = s.words[s.words.size() - 2], &fromName = s.words.back();
  AsmRegister* reg = nullptr;
  uint32_t x;
  if (!argumentCount(s, 2)) return false;
  const AsmArgument &into = s.arguments[0], &of = s.arguments[1];
  if (toName == "tf32" && fromName == "f32") {
    if (!has(s, "rna") && !has(s, "rn") && !has(s, "rz"))
      return fail("`" + s.opcode + "` needs a rounding: .rna or .rn");
    if (!source(of, 4, true, x) || !target(into, 4, reg)) return false;
    if (has(s, "relu")) x = step(tiles_.elementwise(TwElementwise::MaximumF, DType::F32), {x, constant(4, 0)});
    store(*reg, step(laneTf32(has(s, "rna") ? AsmTf32::Away : has(s, "rn") ? AsmTf32::Even : AsmTf32::Zero), {x}));
    return true;
  }
  const Scalar *to = findScalar(toName), *from = findScalar(fromName);
  if (!to || !from || has(s, "satfinite")) return fail("`" + s.opcode + "` is not a conversion that runs on the CPU");
  const bool toFloat = to->integer == AsmInt::Count, fromFloat = from->integer == AsmInt::Count;
  const bool towardInteger = has(s, "rni") || has(s, "rzi") || has(s, "rmi") || has(s, "rpi");
  const bool rounds = has(s, "rn") || has(s, "rz") || has(s, "rm") || has(s, "rp");
  const AsmRound direction = has(s, "rni")   ? AsmRound::Nearest
                             : has(s, "rmi") ? AsmRound::Down
                             : has(s, "rpi") ? AsmRound::Up
                                             : AsmRound::Zero;
  const int fromBytes = int(sizeOf(from->type)), toBytes = int(sizeOf(to->type));
  if (!sourceLow(of, fromBytes, fromFloat, x)) return false;
  if (fromFloat && has(s, "ftz")) x = flushed(x, from->type, 1);

  if (!fromFloat && !toFloat) {
    x = step(laneIntToInt(from->integer, to->integer, has(s, "sat")), {x});
    return storeExtended(into, toBytes, to->isSigned, x);
  }
  if (!fromFloat) {
    if (!rounds) return fail("`" + s.opcode + "` needs a rounding: .rn, .rz, .rm or .rp");
    if (to->type == DType::F32 || to->type == DType::F64) {
      x = step(laneIntToFloat(from->integer, to->type == DType::F64), {x}, 1, roundingOf(s));
    } else {
      if (!has(s, "rn") && !has(s, "rz")) return fail("`" + s.opcode + "`: only .rn and .rz run on the CPU");
      x = step(laneIntToOddF64(from->integer), {x});
      x = step(tiles_.cast(DType::F64, to->type, has(s, "rz") ? TwCastKind::TruncateToward0 : TwCastKind::SignedInt),
               {x});
    }
    if (has(s, "sat")) x = finished(x, to->type, 1, s);
    return target(into, toBytes, reg) && (store(*reg, x), true);
  }
  const bool fromNarrow = fromBytes == 2;
  if (!toFloat) {
    if (!towardInteger) return fail("`" + s.opcode + "` needs a rounding to an integer: .rni, .rzi, .rmi or .rpi");
    if (fromNarrow) x = step(tiles_.cast(from->type, DType::F32, TwCastKind::SignedInt), {x});
    x = step(laneFloatToInt(from->type == DType::F64, to->integer, direction), {x});
    return storeExtended(into, toBytes, to->isSigned, x);
  }
  if (from->type == to->type) {
    if (towardInteger) {
      if (fromNarrow) x = step(tiles_.cast(from->type, DType::F32, TwCastKind::SignedInt), {x});
      x = step(laneRound(from->type == DType::F64, direction), {x});
      if (fromNarrow) x = step(tiles_.cast(DType::F32, from->type, TwCastKind::SignedInt), {x});
    } else {
      x = step(laneCopy(fromBytes), {x});
    }
  } else {
    const bool narrows = toBytes < fromBytes || toBytes == 2;
    if (narrows && !rounds) return fail("`" + s.opcode + "` needs a rounding: .rn, .rz, .rm or .rp");
    if (toBytes == 2 && roundingOf(s) != 0 && !has(s, "rz"))
      return fail("`" + s.opcode + "`: only .rn and .rz run on the CPU");
    const bool truncates = narrows && has(s, "rz");
    x = step(tiles_.cast(from->type, to->type, truncates ? TwCastKind::TruncateToward0 : TwCastKind::SignedInt), {x}, 1,
             narrows && !truncates ? roundingOf(s) : 0);
  }
  x = finished(x, to->type, 1, s);
  return target(into, toBytes, reg) && (store(*reg, x), true);
}

} // namespace tiletwin::interp
