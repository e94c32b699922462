// interp/asm/ReadSpecial.cpp -- instructions that are more than one row: moves and vectors of registers, comparisons,
// reciprocals, functions computed in f32, orderings that need nothing.
#include "interp/asm/Compiler.h"
#include "interp/asm/Lanes.h"
#include <cstdlib>

namespace tiletwin::interp {

/// mov, also between a register and a vector of its parts.
bool AsmCompiler::move(const AsmStatement& s, const AsmRow&) {
  if (!argumentCount(s, 2)) return false;
  const std::string& type = s.words.back();
  const AsmArgument &to = s.arguments[0], &from = s.arguments[1];
  if (type == "pred") {
    uint32_t slot;
    AsmRegister* reg = nullptr;
    if (!predicate(from, slot) || !target(to, 0, reg)) return false;
    store(*reg, step(laneCopy(1), {slot}));
    return true;
  }
  const int bytes = type == "f16x2" ? 4 : std::atoi(type.c_str() + type.find_first_of("0123456789")) / 8;
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
      slots[i + 1 < 4 ? i + 1 : 3] = step(laneTake(part, parts, i), {slots[0]});
      store(*reg, slots[i + 1 < 4 ? i + 1 : 3]);
    }
    return true;
  }
  AsmRegister* reg = nullptr;
  if (from.kind == AsmArgument::Vector) {
    for (int i = 0; i < parts; ++i)
      if (!source(from.parts[size_t(i)], part, false, slots[i])) return false;
    if (!target(to, bytes, reg)) return false;
    store(*reg, step(laneJoin(part, parts), {slots[0], slots[1], slots[2], slots[3]}));
    return true;
  }
  const bool isFloat = type[0] == 'f';
  if (!source(from, bytes, isFloat, slots[0]) || !target(to, bytes, reg)) return false;
  store(*reg, step(laneCopy(bytes), {slots[0]}));
  return true;
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
constexpr struct {
  const char* name;
  DType type;
  char kind;
} kTypes[] = {
    {"u16", DType::I16, 'u'}, {"u32", DType::I32, 'u'},   {"u64", DType::I64, 'u'},     {"s16", DType::I16, 's'},
    {"s32", DType::I32, 's'}, {"s64", DType::I64, 's'},   {"b16", DType::I16, 'b'},     {"b32", DType::I32, 'b'},
    {"b64", DType::I64, 'b'}, {"f16", DType::F16, 'f'},   {"bf16", DType::BF16, 'f'},   {"f32", DType::F32, 'f'},
    {"f64", DType::F64, 'f'}, {"f16x2", DType::F16, 'f'}, {"bf16x2", DType::BF16, 'f'},
};

} // namespace

static E combineOf(const AsmStatement& s) {
  for (const std::string& word : s.words) {
    const E e = word == "and" ? E::AndI : word == "or" ? E::OrI : word == "xor" ? E::XorI : E::Count;
    if (e != E::Count) return e;
  }
  return E::Count;
}

static TwStripFn comparisonOf(const TwTileOps& tiles, const AsmStatement& s, DType& type) {
  char kind = 0;
  for (const auto& row : kTypes)
    if (s.words.back() == row.name) type = row.type, kind = row.kind;
  for (const Comparison& row : kComparisons)
    if (s.words.size() > 1 && s.words[1] == row.name) {
      const E op = kind == 'f' ? row.asFloat : kind == 's' ? row.asSigned : row.asUnsigned;
      if (op == E::Count || (kind == 'b' && op != E::CmpEQ && op != E::CmpNE)) return nullptr;
      return tiles.elementwise(op, type);
    }
  return nullptr;
}

/// setp.cmp[.bool][.ftz].type p[|q], a, b[, [!]c]; of pairs, p is the lower half's and q the upper's.
bool AsmCompiler::compare(const AsmStatement& s, const AsmRow&) {
  DType type = DType::I32;
  const TwStripFn fn = comparisonOf(tiles_, s, type);
  if (!fn) return fail("`" + s.opcode + "` is not a comparison of such values");
  const E combine = combineOf(s);
  if (!argumentCount(s, combine == E::Count ? 3 : 4)) return false;
  uint32_t a, b, c = 0;
  const int perLane = s.words.back().ends_with("x2") ? 2 : 1, bytes = int(sizeOf(type)) * perLane;
  if (!source(s.arguments[1], bytes, isFloat(type), a) || !source(s.arguments[2], bytes, isFloat(type), b))
    return false;
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
    other = step(laneBits("not1"), {holds});
  }
  const TwStripFn join = combine == E::Count ? laneCopy(1) : tiles_.elementwise(combine, DType::I1);
  const uint32_t first = step(join, {holds, c}), second = q ? step(join, {other, c}) : 0;
  if (p) store(*p, first);
  if (q) store(*q, second);
  return true;
}

namespace {

/// What set writes where a comparison holds: all ones of an integer, 1.0 of a float.
constexpr struct {
  const char* name;
  int bytes;
  const char* lanes;
} kSetResults[] = {
    {"u32", 4, "set32"}, {"s32", 4, "set32"},   {"f32", 4, "set_f32"},   {"u16", 2, "set16"},
    {"s16", 2, "set16"}, {"f16", 2, "set_f16"}, {"bf16", 2, "set_bf16"},
};

} // namespace

/// set.cmp[.bool][.ftz].dtype.stype d, a, b[, [!]c]; of pairs, each half by itself.
bool AsmCompiler::compareInto(const AsmStatement& s, const AsmRow&) {
  DType type = DType::I32;
  const TwStripFn fn = comparisonOf(tiles_, s, type);
  const bool isPair = s.words.back().ends_with("x2");
  std::string result = s.words[s.words.size() - 2];
  if (isPair) // of f16x2: f16x2, or u32 and s32 as two halves
    result = result == "u32" || result == "s32" ? "u16"
             : result.ends_with("x2")           ? result.substr(0, result.size() - 2)
                                                : "";
  const char* lanes = nullptr;
  int bytes = 0;
  for (const auto& row : kSetResults)
    if (result == row.name) lanes = row.lanes, bytes = row.bytes;
  if (!fn || !lanes) return fail("`" + s.opcode + "` is not a comparison of such values");
  const E combine = combineOf(s);
  const int perLane = isPair ? 2 : 1, sourceBytes = int(sizeOf(type)) * perLane;
  uint32_t a, b, c = 0;
  AsmRegister* reg = nullptr;
  if (!argumentCount(s, combine == E::Count ? 3 : 4) || !source(s.arguments[1], sourceBytes, isFloat(type), a) ||
      !source(s.arguments[2], sourceBytes, isFloat(type), b) || !target(s.arguments[0], bytes * perLane, reg))
    return false;
  if (has(s, "ftz")) a = flushed(a, type, perLane), b = flushed(b, type, perLane);
  uint32_t holds = step(fn, {a, b}, perLane);
  if (combine != E::Count) {
    if (isPair) return fail("`" + s.opcode + "`: pairs are not combined with a predicate here");
    if (!predicate(s.arguments[3], c)) return false;
    holds = step(tiles_.elementwise(combine, DType::I1), {holds, c});
  }
  store(*reg, step(laneBits(lanes), {holds}, perLane));
  return true;
}

bool AsmCompiler::reciprocal(const AsmStatement& s, const AsmRow& row) {
  const int bytes = int(sizeOf(row.type));
  uint32_t a;
  AsmRegister* reg = nullptr;
  if (!argumentCount(s, 2) || !source(s.arguments[1], bytes, true, a) || !target(s.arguments[0], bytes, reg))
    return false;
  if (has(s, "ftz")) a = flushed(a, row.type, 1);
  const uint32_t one = constant(bytes, bytes == 8 ? 0x3FF0000000000000ull : 0x3F800000ull);
  const uint32_t result = step(tiles_.elementwise(E::DivF, row.type), {one, a}, 1, roundingOf(s));
  store(*reg, finished(result, row.type, 1, s));
  return true;
}

/// tanh: widened, computed, rounded.
bool AsmCompiler::throughF32(const AsmStatement& s, const AsmRow& row) {
  const int bytes = int(sizeOf(row.type)) * row.perLane;
  uint32_t a;
  AsmRegister* reg = nullptr;
  if (!argumentCount(s, 2) || !source(s.arguments[1], bytes, true, a) || !target(s.arguments[0], bytes, reg))
    return false;
  const TwStripFn fn = tiles_.library("tanhf")->fn;
  if (row.type == DType::F32) {
    store(*reg, step(fn, {a}));
    return true;
  }
  const uint32_t wide = step(tiles_.cast(row.type, DType::F32, TwCastKind::SignedInt), {a}, row.perLane);
  const uint32_t result = step(fn, {wide}, row.perLane);
  store(*reg, step(tiles_.cast(DType::F32, row.type, TwCastKind::SignedInt), {result}, row.perLane));
  return true;
}

bool AsmCompiler::nothing(const AsmStatement&, const AsmRow&) { return true; }

} // namespace tiletwin::interp
