// interp/asm/ReadConvert.cpp -- cvt: between integers and floats of all widths with PTX's roundings, and packed
// formats.
// Here:      which steps a conversion takes, and the modifiers PTX demands.
// Not here:  the arithmetic (LanesFloat.cpp and the tile module's casts).
#include "interp/asm/Compiler.h"
#include "interp/asm/Lanes.h"

namespace tiletwin::interp {
namespace {

/// An integer or a float by itself; null: another type.
const AsmType* findScalar(const std::string& name) {
  const AsmType* type = findAsmType(name);
  return type && type->perLane == 1 && type->kind >= AsmType::Unsigned ? type : nullptr;
}

} // namespace

/// Two f32 (the first goes to the upper half), or a register of one pair to a register of another.
bool AsmCompiler::convertPacked(const AsmStatement& s, const AsmForm&) {
  const std::string &toName = s.words[s.words.size() - 2], &fromName = s.words.back();
  const DType to = findAsmType(toName)->type, from = findAsmType(fromName)->type;
  const bool isF8 = sizeOf(to) == 1;
  if (!has(s, "rn") && !has(s, "rz")) return fail("`" + s.opcode + "` needs a rounding: .rn");
  if (has(s, "rz") && (isF8 || sizeOf(from) == 1)) return fail("`" + s.opcode + "`: only .rn is defined here");
  if (isF8 && !has(s, "satfinite")) return fail("`" + s.opcode + "` needs .satfinite");
  const TwCastKind kind = has(s, "rz") ? TwCastKind::TruncateToward0 : TwCastKind::SignedInt;
  const TwStripFn cast = tiles_.cast(from, to, kind);
  const int bytes = int(sizeOf(to)) * 2;
  uint32_t a, b;
  if (from != DType::F32) {
    if (!sources(s, 2, int(sizeOf(from)) * 2, true, {&a})) return false;
    uint32_t result = step(cast, {a}, 2);
    if (has(s, "relu")) result = step(tiles_.elementwise(TwElementwise::MaximumF, to), {result, constant(bytes, 0)}, 2);
    return put(s, bytes, result);
  }
  if (!sources(s, 3, 4, true, {&a, &b})) return false;
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
  return put(s, bytes, step(laneJoin(int(sizeOf(to)), 2), {low, high}));
}

bool AsmCompiler::convert(const AsmStatement& s, const AsmForm&) {
  const std::string &toName = s.words[s.words.size() - 2], &fromName = s.words.back();
  uint32_t x;
  if (!argumentCount(s, 2)) return false;
  const AsmArgument &into = s.arguments[0], &of = s.arguments[1];
  if (toName == "tf32" && fromName == "f32") {
    if (!has(s, "rna") && !has(s, "rn") && !has(s, "rz"))
      return fail("`" + s.opcode + "` needs a rounding: .rna or .rn");
    if (!source(of, 4, true, x)) return false;
    if (has(s, "relu")) x = step(tiles_.elementwise(TwElementwise::MaximumF, DType::F32), {x, constant(4, 0)});
    return put(s, 4, step(laneTf32(has(s, "rna") ? AsmTf32::Away : has(s, "rn") ? AsmTf32::Even : AsmTf32::Zero), {x}));
  }
  const AsmType *to = findScalar(toName), *from = findScalar(fromName);
  if (!to || !from || has(s, "satfinite")) return fail("`" + s.opcode + "` is not a conversion that runs on the CPU");
  const bool toFloat = to->kind == AsmType::Float, fromFloat = from->kind == AsmType::Float;
  const bool toSigned = to->kind == AsmType::Signed, fromSigned = from->kind == AsmType::Signed;
  const bool towardInteger = has(s, "rni") || has(s, "rzi") || has(s, "rmi") || has(s, "rpi");
  const bool rounds = has(s, "rn") || has(s, "rz") || has(s, "rm") || has(s, "rp");
  const AsmRound direction = has(s, "rni")   ? AsmRound::Nearest
                             : has(s, "rmi") ? AsmRound::Down
                             : has(s, "rpi") ? AsmRound::Up
                                             : AsmRound::Zero;
  const int fromBytes = from->bytes(), toBytes = to->bytes();
  if (!sourceLow(of, fromBytes, fromFloat, x)) return false;
  if (fromFloat && has(s, "ftz")) x = flushed(x, from->type, 1);

  if (!fromFloat && !toFloat) {
    x = step(laneIntToInt(asmInt(fromBytes, fromSigned), asmInt(toBytes, toSigned), has(s, "sat")), {x});
    return storeExtended(into, toBytes, toSigned, x);
  }
  if (!fromFloat) {
    if (!rounds) return fail("`" + s.opcode + "` needs a rounding: .rn, .rz, .rm or .rp");
    if (to->type == DType::F32 || to->type == DType::F64) {
      x = step(laneIntToFloat(asmInt(fromBytes, fromSigned), to->type == DType::F64), {x}, 1, roundingOf(s));
    } else {
      if (!has(s, "rn") && !has(s, "rz")) return fail("`" + s.opcode + "`: only .rn and .rz run on the CPU");
      x = step(laneIntToOddF64(asmInt(fromBytes, fromSigned)), {x});
      x = step(tiles_.cast(DType::F64, to->type, has(s, "rz") ? TwCastKind::TruncateToward0 : TwCastKind::SignedInt),
               {x});
    }
    if (has(s, "sat")) x = finished(x, to->type, 1, s);
    return put(s, toBytes, x);
  }
  const bool fromNarrow = fromBytes == 2;
  if (!toFloat) {
    if (!towardInteger) return fail("`" + s.opcode + "` needs a rounding to an integer: .rni, .rzi, .rmi or .rpi");
    if (fromNarrow) x = step(tiles_.cast(from->type, DType::F32, TwCastKind::SignedInt), {x});
    x = step(laneFloatToInt(from->type == DType::F64, asmInt(toBytes, toSigned), direction), {x});
    return storeExtended(into, toBytes, toSigned, x);
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
  return put(s, toBytes, x);
}

} // namespace tiletwin::interp
