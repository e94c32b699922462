// sim/isa/Compare.cpp -- setp, set and testp.
// Source:    PTX ISA, 9.7.6 (comparison and selection), 9.7.7 (half precision), 9.7.3.1 (testp).
// Not here:  the comparisons themselves (CompareLanes.cpp), vset (Video.cpp).
#include "sim/isa/CompareLanes.h"
#include "sim/isa/Float.h"

namespace tiletwin::sim {
namespace {

using ptx::Operand;
using ptx::Type;

/// What a comparison's outcome is combined with predicate c by.
enum class Combine : uint8_t { None, And, Or, Xor };

LaneMask combined(Combine combine, LaneMask outcome, LaneMask c) {
  switch (combine) {
  case Combine::And: return outcome & c;
  case Combine::Or: return outcome | c;
  case Combine::Xor: return outcome ^ c;
  default: return outcome;
  }
}

struct Compared {
  ComparePair compare;
  Combine combine = Combine::None;
  uint32_t whenTrue = 0; ///< set: what is written, a half of it for packed sources
};

/// c of a comparison that has one.
LaneMask third(const Inst& in, Warp& warp) { return in.c ? warp.predicate(in.c) : 0; }

/// d, and e where there is a second destination: of packed sources d is for the low halves and e for the high ones, of others e
/// gets the negated outcome; each is combined with c.
Step runSetp(const Inst& in, Warp& warp, LaneMask active) {
  const Compared& op = *static_cast<const Compared*>(in.data);
  const LaneMask first = op.compare.low(warp, in.a, in.b), c = third(in, warp);
  const LaneMask second = op.compare.high ? op.compare.high(warp, in.a, in.b) : ~first;
  if (in.d) assign(warp.predicate(in.d), active, combined(op.combine, first, c));
  if (in.e) assign(warp.predicate(in.e), active, combined(op.combine, second, c));
  return Step::Next;
}

template <class D> Step runSet(const Inst& in, Warp& warp, LaneMask active) {
  const Compared& op = *static_cast<const Compared*>(in.data);
  const LaneMask r = combined(op.combine, op.compare.low(warp, in.a, in.b), third(in, warp));
  const D yes = D(op.whenTrue);
  perLane(warp.lanes<D>(in.d), active, [=](int i) { return r >> i & 1 ? yes : D(0); });
  return Step::Next;
}

Step runSetHalves(const Inst& in, Warp& warp, LaneMask active) {
  const Compared& op = *static_cast<const Compared*>(in.data);
  const LaneMask c = third(in, warp), low = combined(op.combine, op.compare.low(warp, in.a, in.b), c),
                 high = combined(op.combine, op.compare.high(warp, in.a, in.b), c);
  const uint32_t yes = op.whenTrue;
  perLane(warp.lanes<uint32_t>(in.d), active,
          [=](int i) { return (low >> i & 1 ? yes : 0u) | (high >> i & 1 ? yes << 16 : 0u); });
  return Step::Next;
}

/// The operator, what it is combined by, .ftz, for set the type of d, and the sources' type, with the loops for them. Null: there
/// are none, and fail() was called.
Compared* takeComparison(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out, Type* d, Type& type) {
  auto* op = decoder.make<Compared>();
  const std::string_view name = words.takeOneOf({"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ",
                                                 "neu", "ltu", "leu", "gtu", "geu", "num", "nan"});
  const auto comparison = comparisonNamed(name);
  if (!comparison) {
    decoder.failMissing(".eq .ne .lt .le .gt .ge and so on");
    return nullptr;
  }
  op->combine = words.takeNamed<Combine>({{"and", Combine::And}, {"or", Combine::Or}, {"xor", Combine::Xor}})
                    .value_or(Combine::None);
  const bool flush = words.take("ftz");
  if (d) *d = words.takeType();
  type = words.takeType();
  op->compare = chooseComparison(*comparison, type, flush);
  out.data = op;
  out.kind = classOf(type);
  const bool needsUnsigned = name == "lo" || name == "ls" || name == "hi" || name == "hs";
  const bool isUnsigned = type == Type::U16 || type == Type::U32 || type == Type::U64;
  if (op->compare.low && (!needsUnsigned || isUnsigned)) return op;
  std::string message = std::string(in.text) + ": no comparison ." + std::string(name);
  message += flush ? ".ftz" : "";
  message += type == Type::None ? " without a type" : " of ." + std::string(ptx::nameOf(type));
  decoder.fail(std::move(message));
  return nullptr;
}

/// a, b and, if the outcome is combined, c.
bool decodeSources(Decoder& decoder, const ptx::Instruction& in, Type type, Combine combine, Inst& out) {
  if (!decoder.operands(in, combine == Combine::None ? 3 : 4)) return false;
  const Type register_ = isPacked(type) ? Type::B32 : type;
  return decoder.source(in.operands[1], register_, out.a) && decoder.source(in.operands[2], register_, out.b) &&
         (combine == Combine::None || decoder.predicate(in.operands[3], out.c));
}

/// setp.cmp(.bool)(.ftz).type p(|q), a, b(, c)
bool decodeSetp(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  Type type;
  const Compared* op = takeComparison(decoder, in, words, out, nullptr, type);
  if (!op || !decodeSources(decoder, in, type, op->combine, out)) return false;
  out.run = runSetp;
  const Operand& d = in.operands[0];
  if (d.kind != Operand::Kind::Pair) return decoder.destination(d, Type::Pred, out.d);
  return decoder.destination(d.parts[0], Type::Pred, out.d, false, true) &&
         decoder.destination(d.parts[1], Type::Pred, out.e, false, true);
}

/// What set writes for true; 0 if there is no such destination for the source.
uint32_t trueOf(Type d, Type a) {
  const bool half = a == Type::F16 || a == Type::BF16;
  switch (d) {
  case Type::U32:
  case Type::S32: return isPacked(a) ? 0xFFFF : ~0u;
  case Type::U16:
  case Type::S16: return half ? 0xFFFF : 0;
  case Type::F32: return classOf(a) == InstClass::Half ? 0 : 0x3F800000;
  case Type::F16: return a == Type::BF16 || isPacked(a) ? 0 : 0x3C00;
  case Type::BF16: return isPacked(a) ? 0 : 0x3F80;
  case Type::F16x2: return a == d ? 0x3C00 : 0;
  case Type::BF16x2: return a == d ? 0x3F80 : 0;
  default: return 0;
  }
}

/// set.cmp(.bool)(.ftz).dtype.stype d, a, b(, c)
bool decodeSet(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  Type d, type;
  Compared* op = takeComparison(decoder, in, words, out, &d, type);
  if (!op) return false;
  op->whenTrue = trueOf(d, type);
  if (op->whenTrue == 0) return decoder.refuse("has no such destination for its source");
  out.run = op->compare.high ? runSetHalves : ptx::bytesOf(d) == 2 ? runSet<uint16_t> : runSet<uint32_t>;
  return decodeSources(decoder, in, type, op->combine, out) &&
         decoder.destination(in.operands[0], isPacked(d) ? Type::B32 : d, out.d);
}

/// One of testp's questions: is a float's magnitude, as an integer, from `low` to `high`, or zero?
struct FloatTest {
  uint64_t low, high;
  bool orZero = false;
};

template <class T> Step runTestp(const Inst& in, Warp& warp, LaneMask active) {
  const FloatTest test = *static_cast<const FloatTest*>(in.data);
  const T low = T(test.low), span = T(test.high - test.low);
  const T* a = warp.lanes<T>(in.a);
  perLanePredicate(warp.predicate(in.d), active, [=](int i) {
    const T magnitude = a[i] & T(~T(0) >> 1);
    return T(magnitude - low) <= span || (test.orZero && magnitude == 0);
  });
  return Step::Next;
}

bool decodeTestp(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  const std::string_view test = words.takeOneOf({"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  if (test.empty()) return decoder.failMissing(".finite .infinite .number .notanumber .normal .subnormal");
  const Type type = words.takeType();
  if (type != Type::F32 && type != Type::F64) return decoder.failType(".f32 .f64");
  const bool isWide = type == Type::F64;
  const uint64_t infinity = isWide ? kInfinity64 : kInfinity32, largest = isWide ? ~kSign64 : ~kSign32;
  const uint64_t leastNormal = infinity & (~infinity + 1); // the exponent's lowest bit
  out.data = decoder.make<FloatTest>(test == "finite"       ? FloatTest{0, infinity - 1}
                                     : test == "infinite"   ? FloatTest{infinity, infinity}
                                     : test == "number"     ? FloatTest{0, infinity}
                                     : test == "notanumber" ? FloatTest{infinity + 1, largest}
                                     : test == "normal"     ? FloatTest{leastNormal, infinity - 1, true}
                                                            : FloatTest{1, leastNormal - 1});
  out.run = isWide ? runTestp<uint64_t> : runTestp<uint32_t>;
  out.kind = classOf(type);
  return decoder.form(in, out, Type::Pred, {type});
}

constexpr OpcodeRow kRows[] = {
    {"set", decodeSet},
    {"setp", decodeSetp},
    {"testp", decodeTestp},
};

} // namespace

constinit OpcodeTable kCompareOpcodes = kRows;

} // namespace tiletwin::sim
