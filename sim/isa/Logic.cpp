// sim/isa/Logic.cpp -- and, or, xor, not, cnot, lop3 of words and of predicates; shl, shr, shf.
// Source:    PTX ISA, 9.7.8. Amounts of shl and shr are 32 bits in every width, and larger ones shift everything out.
// Idea:      a predicate is one word with a bit a lane, so its logic is one operation for all lanes.
#include "sim/isa/Forms.h"
#include <algorithm>

namespace tiletwin::sim {
namespace {

using ptx::Type;

/// C's logical not.
constexpr auto kLogicalNot = []<class T>(T a) -> T { return a == 0 ? T(1) : T(0); };
constexpr auto kShiftLeft = []<class T>(T a, uint32_t n) -> T { return n < 8 * sizeof(T) ? T(a << n) : T(0); };
constexpr auto kShiftRight = []<class T>(T a, uint32_t n) -> T {
  constexpr uint32_t kBits = 8 * sizeof(T);
  if constexpr (std::is_signed_v<T>) return T(a >> std::min(n, kBits - 1));
  return n < kBits ? T(a >> n) : T(0);
};
/// The high word of b:a shifted left, the low word of it shifted right.
template <bool kClamp>
constexpr auto kFunnelLeft = [](uint32_t a, uint32_t b, uint32_t n) -> uint32_t {
  return uint32_t((uint64_t(b) << 32 | a) << (kClamp ? std::min(n, 32u) : n & 31) >> 32);
};
template <bool kClamp>
constexpr auto kFunnelRight = [](uint32_t a, uint32_t b, uint32_t n) -> uint32_t {
  return uint32_t((uint64_t(b) << 32 | a) >> (kClamp ? std::min(n, 32u) : n & 31));
};

/// and, or, xor, not: of words, or of predicates.
template <auto kOp, int kSources>
bool decodeLogic(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  const Type type = words.takeType();
  out.run = type == Type::Pred ? runPredicates<kOp, kSources>
                               : BitTypes::choose(type, []<class T>(T) { return runAlike<kOp, T, kSources>; });
  return out.run ? decoder.alike(in, out, type, kSources) : decoder.failType(".pred " + BitTypes::names());
}

/// What lop3 needs beside its three sources.
struct Lop3 {
  uint32_t table[8]; ///< entry 4a + 2b + c of the truth table, as a word of zeros or ones
  Slot second;       ///< predicate that the result's being nonzero is combined with; none: no predicate is written
  bool isAnd = false;
};

/// c ? one : zero, bit by bit.
inline uint32_t choose(uint32_t c, uint32_t one, uint32_t zero) { return (c & one) | (~c & zero); }

Step runLop3(const Inst& in, Warp& warp, LaneMask active) {
  const Lop3& op = *static_cast<const Lop3*>(in.data);
  const uint32_t *a = warp.lanes<uint32_t>(in.a), *b = warp.lanes<uint32_t>(in.b), *c = warp.lanes<uint32_t>(in.c);
  const uint32_t t0 = op.table[0], t1 = op.table[1], t2 = op.table[2], t3 = op.table[3], t4 = op.table[4],
                 t5 = op.table[5], t6 = op.table[6], t7 = op.table[7];
  const auto value = [=](int i) {
    const uint32_t x = c[i], low = choose(b[i], choose(x, t3, t2), choose(x, t1, t0)),
                   high = choose(b[i], choose(x, t7, t6), choose(x, t5, t4));
    return choose(a[i], high, low);
  };
  if (!op.second) {
    perLane(warp.lanes<uint32_t>(in.d), active, value);
    return Step::Next;
  }
  LaneMask some = 0;
  perLanePredicate(some, kAllLanes, [=](int i) { return value(i) != 0; });
  if (in.d) perLane(warp.lanes<uint32_t>(in.d), active, value);
  const LaneMask second = warp.predicate(op.second), r = op.isAnd ? some & second : some | second;
  assign(warp.predicate(in.e), active, r);
  return Step::Next;
}

/// lop3.b32 d, a, b, c, table; or lop3.and.b32 d|p, a, b, c, table, q with .or as well, where d may be a sink.
bool decodeLop3(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  const std::string_view combine = words.takeOneOf({"and", "or"});
  if (words.takeType() != Type::B32) return decoder.failType(".b32");
  const bool withPredicate = !combine.empty();
  if (!decoder.operands(in, withPredicate ? 6 : 5)) return false;
  int64_t table = 0;
  if (!decoder.source(in.operands[1], Type::B32, out.a) || !decoder.source(in.operands[2], Type::B32, out.b) ||
      !decoder.source(in.operands[3], Type::B32, out.c) || !decoder.constant(in.operands[4], table))
    return false;
  if (table < 0 || table > 255) return decoder.fail(in.operands[4], "wants a truth table from 0 to 255");
  auto* op = decoder.make<Lop3>();
  for (int i = 0; i < 8; ++i) op->table[i] = table >> i & 1 ? ~0u : 0;
  op->isAnd = combine == "and";
  out.run = runLop3;
  out.data = op;
  const ptx::Operand& d = in.operands[0];
  if (!withPredicate) return decoder.destination(d, Type::B32, out.d);
  if (d.kind != ptx::Operand::Kind::Pair || d.parts.size() != 2)
    return decoder.fail(d, "wants a register and a predicate, d|p");
  return decoder.destination(d.parts[0], Type::B32, out.d, false, true) &&
         decoder.destination(d.parts[1], Type::Pred, out.e) && decoder.predicate(in.operands[5], op->second);
}

/// shl and shr.
template <class Set, auto kOp> bool decodeShift(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  const Type type = words.takeType();
  out.run = Set::choose(type, []<class T>(T) { return runLanes<kOp, T, T, uint32_t>; });
  return out.run ? decoder.form(in, out, type, {type, Type::U32}) : decoder.failType(Set::names());
}

bool decodeShf(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  const std::string_view direction = words.takeOneOf({"l", "r"}), mode = words.takeOneOf({"clamp", "wrap"});
  if (direction.empty()) return decoder.failMissing(".l .r");
  if (mode.empty()) return decoder.failMissing(".clamp .wrap");
  if (words.takeType() != Type::B32) return decoder.failType(".b32");
  out.run = forFlag(mode == "clamp", [&](auto clamp) {
    constexpr bool kClamp = decltype(clamp)::value;
    return direction == "l" ? runAlike<kFunnelLeft<kClamp>, uint32_t, 3> : runAlike<kFunnelRight<kClamp>, uint32_t, 3>;
  });
  return decoder.form(in, out, Type::B32, {Type::B32, Type::B32, Type::U32});
}

using Shiftable =
    TypeSet<Type::B16, Type::B32, Type::B64, Type::U16, Type::U32, Type::U64, Type::S16, Type::S32, Type::S64>;

constexpr OpcodeRow kRows[] = {
    {"and", decodeLogic<kAnd, 2>},
    {"cnot", decodeAlike<BitTypes, kLogicalNot, 1>},
    {"lop3", decodeLop3},
    {"not", decodeLogic<kNot, 1>},
    {"or", decodeLogic<kOr, 2>},
    {"shf", decodeShf},
    {"shl", decodeShift<BitTypes, kShiftLeft>},
    {"shr", decodeShift<Shiftable, kShiftRight>},
    {"xor", decodeLogic<kXor, 2>},
};

} // namespace

constinit OpcodeTable kLogicOpcodes = kRows;

} // namespace tiletwin::sim
