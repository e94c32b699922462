// interp/asm/ReadNarrow.cpp -- conversions to and from pairs of numbers below 8 bits, extrema by magnitude, and video
// instructions.
// Not here:  the arithmetic (LanesNarrow.cpp, LanesVideo.cpp), conversions of wider types (ReadConvert.cpp).
#include "interp/asm/Compiler.h"
#include "interp/asm/Lanes.h"
#include "interp/asm/Video.h"

namespace tiletwin::interp {

using E = TwElementwise;

bool AsmCompiler::pairOfF32(const AsmStatement& s, uint32_t& high, uint32_t& low) {
  const std::string& from = s.words.back();
  if (from == "f32") return sources(s, 3, 4, true, {&high, &low});
  uint32_t pair;
  if (!sources(s, 2, 4, true, {&pair})) return false;
  const TwStripFn widen = tiles_.cast(findAsmType(from)->type, DType::F32, TwCastKind::SignedInt);
  low = step(widen, {step(laneTake(2, 2, 0), {pair})});
  high = step(widen, {step(laneTake(2, 2, 1), {pair})});
  return true;
}

/// cvt.rn.satfinite[.relu].e2m1x2.f32 d, a, b; cvt.rz|rp[.satfinite].ue8m0x2.f32 d, a, b
bool AsmCompiler::convertToNarrow(const AsmStatement& s, const AsmForm&) {
  std::string format = s.words[s.words.size() - 2];
  const int bytes = format == "e2m1x2" ? 1 : 2;
  if (format == "ue8m0x2") {
    if (has(s, "rz") == has(s, "rp") || has(s, "rn") || has(s, "relu"))
      return fail("`" + s.opcode + "` needs a rounding: .rz or .rp");
    format += has(s, "rz") ? ".rz" : ".rp";
    format += has(s, "satfinite") ? ".satfinite" : "";
  } else if (!has(s, "rn") || !has(s, "satfinite") || has(s, "rz") || has(s, "rp")) {
    return fail("`" + s.opcode + "` needs .rn.satfinite");
  }
  uint32_t high, low;
  if (!pairOfF32(s, high, low)) return false;
  if (has(s, "relu")) {
    const TwStripFn max = tiles_.elementwise(E::MaximumF, DType::F32);
    high = step(max, {high, constant(4, 0)});
    low = step(max, {low, constant(4, 0)});
  }
  return put(s, bytes, step(laneNarrowPack(format), {high, low}));
}

/// cvt.rn[.relu].f16x2.e2m1x2 d, a: exact.
bool AsmCompiler::convertFromNarrow(const AsmStatement& s, const AsmForm&) {
  const std::string& format = s.words.back();
  const DType to = findAsmType(s.words[s.words.size() - 2])->type;
  if (!has(s, "rn")) return fail("`" + s.opcode + "` needs a rounding: .rn");
  uint32_t pair;
  if (!sources(s, 2, format == "e2m1x2" ? 1 : 2, false, {&pair})) return false;
  const TwStripFn narrow = tiles_.cast(DType::F32, to, TwCastKind::SignedInt);
  uint32_t halves[2];
  for (int high = 0; high < 2; ++high) {
    halves[high] = step(laneNarrowUnpack(format, high), {pair});
    if (has(s, "relu"))
      halves[high] = step(tiles_.elementwise(E::MaximumF, DType::F32), {halves[high], constant(4, 0)});
    halves[high] = step(narrow, {halves[high]});
  }
  return put(s, 4, step(laneJoin(2, 2), {halves[0], halves[1]}));
}

/// min|max[.ftz][.NaN].xorsign.abs.type d, a, b: the extremum of |a| and |b|, its sign that of a * b.
bool AsmCompiler::byMagnitude(const AsmStatement& s, const AsmForm& form) {
  const DType type = form.type->type, bits = type == DType::F32 ? DType::I32 : DType::I16;
  const int perLane = form.type->perLane, bytes = form.type->bytes();
  uint32_t a, b;
  if (!sources(s, 3, bytes, true, {&a, &b})) return false;
  if (has(s, "ftz")) a = flushed(a, type, perLane), b = flushed(b, type, perLane);
  const bool isMin = s.words[0] == "min";
  const E op = has(s, "NaN") ? (isMin ? E::MinimumF : E::MaximumF) : (isMin ? E::MinNumF : E::MaxNumF);
  const auto bitwise = [&](E e, uint32_t x, uint32_t y) { return step(tiles_.elementwise(e, bits), {x, y}, perLane); };
  const auto size = [&](uint32_t x) { return step(tiles_.elementwise(E::AbsF, type), {x}, perLane); };
  const uint32_t sign = constant(bytes, perLane == 2 ? 0x80008000u : type == DType::F32 ? 0x80000000u : 0x8000u);
  const uint32_t differs = bitwise(E::AndI, bitwise(E::XorI, a, b), sign);
  const uint32_t smaller = step(tiles_.elementwise(op, type), {size(a), size(b)}, perLane);
  return put(s, bytes, bitwise(E::XorI, smaller, differs));
}

/// vop[2|4].dtype.atype.btype[.sat][.op2] d, a, b[, c]; those on parts always name c, and use it with .add only.
bool AsmCompiler::video(const AsmStatement& s, const AsmForm&) {
  std::string name = s.words[0];
  VideoControl how;
  if (name.back() == '2' || name.back() == '4') {
    how.parts = name.back() - '0';
    name.pop_back();
  }
  if (s.words.size() < 4 || s.words[3].size() != 3 || s.words[2].size() != 3 || s.words[1].size() != 3 ||
      s.words[1][1] != '3' || s.words[2][1] != '3' || s.words[3][1] != '3')
    return fail("`" + s.opcode + "` needs the types of the result and of both operands, such as .u32.u32.u32");
  how.resultSigned = s.words[1] == "s32";
  how.aSigned = s.words[2] == "s32";
  how.bSigned = s.words[3] == "s32";
  how.saturates = has(s, "sat");
  how.adds = has(s, "add");
  if (how.saturates && (how.adds || (how.parts == 1 && !how.resultSigned)))
    return fail("`" + s.opcode + "`: .sat is computed for signed results and for parts of registers, without .add");
  const bool hasThird = how.parts > 1 || how.adds;
  uint32_t a, b, c = constant(4, 0);
  if (!sources(s, hasThird ? 4 : 3, 4, false, {&a, &b}) || (hasThird && !source(s.arguments[3], 4, false, c)))
    return false;
  return put(s, 4, step(laneVideo(name), {a, b, c, constant(4, how.word())}));
}

} // namespace tiletwin::interp
