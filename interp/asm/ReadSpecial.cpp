// interp/asm/ReadSpecial.cpp -- instructions that are more than one row: moves and vectors of registers, comparisons,
// reciprocals, functions computed in f32, orderings that need nothing.
#include "interp/asm/Compiler.h"
#include "interp/asm/Lanes.h"

namespace tiletwin::interp {

/// mov, also between a register and a vector of its parts.
bool AsmCompiler::move(const AsmStatement& s, const AsmForm& form) {
  if (!argumentCount(s, 2)) return false;
  const AsmArgument &to = s.arguments[0], &from = s.arguments[1];
  if (form.type->kind == AsmType::Predicate) {
    uint32_t slot;
    return predicate(from, slot) && put(s, 0, step(laneCopy(1), {slot}));
  }
  const int bytes = form.type->bytes();
  if (to.kind == AsmArgument::Vector && from.kind == AsmArgument::Vector)
    return fail("mov takes a vector on one side only");
  const AsmArgument& vector = to.kind == AsmArgument::Vector ? to : from;
  const int parts = vector.kind == AsmArgument::Vector ? int(vector.parts.size()) : 1, part = bytes / parts;
  if ((parts != 1 && parts != 2 && parts != 4) || part < 1)
    return fail("a vector of " + std::to_string(parts) + " registers does not fill " + std::to_string(bytes * 8) +
                " bits");
  uint32_t slots[4] = {};
  if (to.kind == AsmArgument::Vector) {
    if (!source(from, bytes, false, slots[0])) return false;
    for (int i = 0; i < parts; ++i) {
      const AsmArgument& a = to.parts[size_t(i)];
      if (a.kind == AsmArgument::Sink) continue;
      AsmRegister* reg = nullptr;
      if (!target(a, part, reg)) return false;
      store(*reg, step(laneTake(part, parts, i), {slots[0]}));
    }
    return true;
  }
  if (from.kind == AsmArgument::Vector) {
    for (int i = 0; i < parts; ++i)
      if (!source(from.parts[size_t(i)], part, false, slots[i])) return false;
    return put(s, bytes, step(laneJoin(part, parts), {slots[0], slots[1], slots[2], slots[3]}));
  }
  const bool isFloat = form.type->kind == AsmType::Float && form.type->type != DType::BF16;
  return source(from, bytes, isFloat, slots[0]) && put(s, bytes, step(laneCopy(bytes), {slots[0]}));
}

namespace {

struct Comparison {
  const char* name;
  TwElementwise asSigned, asUnsigned, asFloat;
};
using E = TwElementwise;
constexpr Comparison kComparisons[] = {
    {"eq", E::CmpEQ, E::CmpEQ, E::CmpFOEQ},   {"ne", E::CmpNE, E::CmpNE, E::CmpFONE},
    {"lt", E::CmpSLT, E::CmpULT, E::CmpFOLT}, {"le", E::CmpSLE, E::CmpULE, E::CmpFOLE},
    {"gt", E::CmpSGT, E::CmpUGT, E::CmpFOGT}, {"ge", E::CmpSGE, E::CmpUGE, E::CmpFOGE},
    {"lo", E::Count, E::CmpULT, E::Count},    {"ls", E::Count, E::CmpULE, E::Count},
    {"hi", E::Count, E::CmpUGT, E::Count},    {"hs", E::Count, E::CmpUGE, E::Count},
    {"equ", E::Count, E::Count, E::CmpFUEQ},  {"neu", E::Count, E::Count, E::CmpFUNE},
    {"ltu", E::Count, E::Count, E::CmpFULT},  {"leu", E::Count, E::Count, E::CmpFULE},
    {"gtu", E::Count, E::Count, E::CmpFUGT},  {"geu", E::Count, E::Count, E::CmpFUGE},
    {"num", E::Count, E::Count, E::CmpFORD},  {"nan", E::Count, E::Count, E::CmpFUNO},
};
E combineOf(const AsmStatement& s) {
  for (const std::string& word : s.words) {
    const E e = word == "and" ? E::AndI : word == "or" ? E::OrI : word == "xor" ? E::XorI : E::Count;
    if (e != E::Count) return e;
  }
  return E::Count;
}

/// Null: there is no such comparison of such values.
TwStripFn comparisonOf(const TwTileOps& tiles, const AsmStatement& s, const AsmType* type) {
  const bool isFloat = type && type->kind == AsmType::Float;
  if (!type || sizeOf(type->type) < 2 || (type->perLane == 2 && (!isFloat || type->type == DType::F32))) return nullptr;
  for (const Comparison& row : kComparisons)
    if (s.words.size() > 1 && s.words[1] == row.name) {
      const E op = isFloat ? row.asFloat : type->kind == AsmType::Signed ? row.asSigned : row.asUnsigned;
      if (op == E::Count || (type->kind == AsmType::Bits && op != E::CmpEQ && op != E::CmpNE)) return nullptr;
      return tiles.elementwise(op, type->type);
    }
  return nullptr;
}

} // namespace

/// setp.cmp[.bool][.ftz].type p[|q], a, b[, [!]c]; of pairs, p is the lower half's and q the upper's.
bool AsmCompiler::compare(const AsmStatement& s, const AsmForm& form) {
  const TwStripFn fn = comparisonOf(tiles_, s, form.type);
  if (!fn) return fail("`" + s.opcode + "` is not a comparison of such values");
  const E combine = combineOf(s);
  const DType type = form.type->type;
  const int perLane = form.type->perLane;
  uint32_t a, b, c = 0;
  if (!sources(s, combine == E::Count ? 3 : 4, form.type->bytes(), isFloat(type), {&a, &b})) return false;
  if (has(s, "ftz")) a = flushed(a, type, perLane), b = flushed(b, type, perLane);
  if (combine != E::Count && !predicate(s.arguments[3], c)) return false;
  AsmRegister *p = nullptr, *q = nullptr;
  if (s.arguments[0].kind != AsmArgument::Sink && !target(s.arguments[0], 0, p)) return false;
  if (!s.second.empty() && s.second[0].kind != AsmArgument::Sink && !target(s.second[0], 0, q)) return false;
  uint32_t holds = step(fn, {a, b}, perLane), other = 0;
  if (perLane == 2) {
    const uint32_t both = holds;
    holds = step(laneTake(1, 2, 0), {both});
    other = q ? step(laneTake(1, 2, 1), {both}) : 0;
  } else if (q) {
    other = step(laneNot(), {holds});
  }
  const TwStripFn join = combine == E::Count ? laneCopy(1) : tiles_.elementwise(combine, DType::I1);
  const uint32_t first = step(join, {holds, c}), second = q ? step(join, {other, c}) : 0;
  if (p) store(*p, first);
  if (q) store(*q, second);
  return true;
}

/// set.cmp[.bool][.ftz].dtype.stype d, a, b[, [!]c]; of pairs, each half by itself.
bool AsmCompiler::compareInto(const AsmStatement& s, const AsmForm& form) {
  const TwStripFn fn = comparisonOf(tiles_, s, form.type);
  const int perLane = form.type ? form.type->perLane : 1;
  std::string name = s.words[s.words.size() - 2];
  if (perLane == 2) // of f16x2: f16x2, or u32 and s32 as two halves
    name = name == "u32" || name == "s32" ? "u16" : name.ends_with("x2") ? name.substr(0, name.size() - 2) : "";
  const AsmType* result = findAsmType(name);
  const TwStripFn truth =
      result && result->perLane == 1 && result->kind >= AsmType::Unsigned ? laneTruth(*result) : nullptr;
  if (!fn || !truth) return fail("`" + s.opcode + "` is not a comparison of such values");
  const E combine = combineOf(s);
  const DType type = form.type->type;
  uint32_t a, b, c = 0;
  if (!sources(s, combine == E::Count ? 3 : 4, form.type->bytes(), isFloat(type), {&a, &b})) return false;
  if (has(s, "ftz")) a = flushed(a, type, perLane), b = flushed(b, type, perLane);
  uint32_t holds = step(fn, {a, b}, perLane);
  if (combine != E::Count) {
    if (perLane == 2) return fail("`" + s.opcode + "`: pairs are not combined with a predicate here");
    if (!predicate(s.arguments[3], c)) return false;
    holds = step(tiles_.elementwise(combine, DType::I1), {holds, c});
  }
  return put(s, result->bytes() * perLane, step(truth, {holds}, perLane));
}

bool AsmCompiler::reciprocal(const AsmStatement& s, const AsmForm& form) {
  const DType type = form.type->type;
  const int bytes = form.type->bytes();
  uint32_t a;
  if (!sources(s, 2, bytes, true, {&a})) return false;
  if (has(s, "ftz")) a = flushed(a, type, 1);
  const uint32_t one = constant(bytes, bytes == 8 ? 0x3FF0000000000000ull : 0x3F800000ull);
  const uint32_t result = step(tiles_.elementwise(E::DivF, type), {one, a}, 1, roundingOf(s));
  return put(s, bytes, finished(result, type, 1, s));
}

/// tanh: widened, computed, rounded.
bool AsmCompiler::throughF32(const AsmStatement& s, const AsmForm& form) {
  const DType type = form.type->type;
  const int perLane = form.type->perLane, bytes = form.type->bytes();
  uint32_t x;
  if (!sources(s, 2, bytes, true, {&x})) return false;
  if (type != DType::F32) x = step(tiles_.cast(type, DType::F32, TwCastKind::SignedInt), {x}, perLane);
  x = step(tiles_.library("tanhf")->fn, {x}, perLane);
  if (type != DType::F32) x = step(tiles_.cast(DType::F32, type, TwCastKind::SignedInt), {x}, perLane);
  return put(s, bytes, x);
}

bool AsmCompiler::nothing(const AsmStatement&, const AsmForm&) { return true; }

} // namespace tiletwin::interp
