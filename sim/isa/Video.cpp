// sim/isa/Video.cpp -- video instructions: scalars of 8, 16 or 32 bits, pairs of 16 bits, quads of 8 bits.
// Source:    PTX ISA, 9.7.18. GPUs since sm_50 do these with several other instructions; compilers emit vabsdiff4 only.
// Idea:      sources become 64-bit integers by their own type, so no step overflows; the result's type says what is clamped.
//            Where ptxas 13 for sm_90 makes something else of them than the ISA says, results are as an H200 gives them.
#include "sim/isa/CompareLanes.h"
#include "sim/isa/Forms.h"
#include <algorithm>
#include <array>

namespace tiletwin::sim {
namespace {

using ptx::Operand;
using ptx::Type;

enum class VideoOp : uint8_t { Add, Sub, AbsDiff, Min, Max, Average, ShiftLeft, ShiftRight, Set, Mad };
enum class Second : uint8_t { None, Add, Min, Max };

/// Bits of a register.
struct Range {
  uint8_t from = 0, bits = 32;
};

struct Video {
  VideoOp op = VideoOp::Add;
  Comparison comparison = Comparison::Eq; ///< Set
  Second second = Second::None;
  bool aSigned = false, bSigned = false, dSigned = false;
  bool saturates = false, wraps = false;         ///< wraps: amounts of shifts
  bool plusOne = false;                          ///< Mad
  int scale = 0;                                 ///< Mad: shifted right by
  bool negatesProduct = false, negatesC = false; ///< Mad
  Range a, b, d;                                 ///< scalars: what is read, and what is written into a copy of c
  std::array<uint8_t, 4> aParts{}, bParts{};     ///< vectors: for each part of the result which part of b:a is read
  uint8_t mask = 0;                              ///< vectors: parts that are computed; others are c's
};

/// `bits` bits of a register from `from` on, as a number.
int64_t part(uint32_t value, int from, int bits, bool isSigned) {
  const uint64_t top = uint64_t(value) << (64 - bits - from);
  return isSigned ? int64_t(top) >> (64 - bits) : int64_t(top >> (64 - bits));
}

int64_t clampTo(int64_t value, int bits, bool isSigned) {
  const int64_t span = int64_t(1) << (isSigned ? bits - 1 : bits);
  return std::clamp(value, isSigned ? -span : 0, span - 1);
}

/// .sat of a scalar, as an H200 gives it: whole unsigned results are clamped at 0 only; parts are compared as unsigned unless
/// both sources are signed, so that a negative value becomes the largest one.
int64_t saturate(const Video& v, int64_t value) {
  if (v.d.bits == 32) return v.dSigned ? clampTo(value, 32, true) : std::max<int64_t>(value, 0);
  if (v.aSigned && v.bSigned) return clampTo(value, v.d.bits, v.dSigned);
  const int64_t most = (int64_t(1) << (v.d.bits - v.dSigned)) - 1;
  return value < 0 ? most : std::min(value, most);
}

int64_t apply(const Video& v, int64_t a, int64_t b) {
  const int64_t amount = v.wraps ? b & 31 : std::min<int64_t>(b, 32);
  switch (v.op) {
  case VideoOp::Add: return a + b;
  case VideoOp::Sub: return a - b;
  case VideoOp::AbsDiff: return a < b ? b - a : a - b;
  case VideoOp::Min: return std::min(a, b);
  case VideoOp::Max: return std::max(a, b);
  case VideoOp::Average: return (a + b + (a + b >= 0)) >> 1;
  case VideoOp::ShiftLeft: return int64_t(uint64_t(a) << amount);
  case VideoOp::ShiftRight: return a >> amount;
  case VideoOp::Set: return holds(v.comparison, a, b);
  case VideoOp::Mad: break; // runMad
  }
  return 0;
}

/// Is an unsigned result the greater one, whatever its 32 bits are? So an H200 has it behind .sat: for sums and differences if
/// both have their highest bit, for absolute differences from 2^32 on.
bool outranks(const Video& v, int64_t value, uint32_t c) {
  if (!v.saturates || v.dSigned) return false;
  if (v.op == VideoOp::AbsDiff) return value >> 32 != 0;
  return (v.op == VideoOp::Add || v.op == VideoOp::Sub) && value & c & 0x80000000;
}

/// The secondary operation of scalars; c has the result's sign.
uint32_t combine(const Video& v, int64_t value, uint32_t c) {
  const int64_t x = part(uint32_t(value), 0, 32, v.dSigned), y = part(c, 0, 32, v.dSigned);
  const bool isGreater = x > y || outranks(v, value, c);
  switch (v.second) {
  case Second::Add: return uint32_t(x + y);
  case Second::Min: return uint32_t(isGreater ? y : x);
  case Second::Max: return uint32_t(isGreater ? x : y);
  default: return uint32_t(value);
  }
}

/// What a part of the destination gets: the low bits of the value, but for .h1, which gets the upper half of it.
uint32_t partOf(const Range& range, uint32_t value) {
  return range.bits == 16 && range.from == 16 ? value >> 16 : value;
}

Step runScalar(const Inst& in, Warp& warp, LaneMask active) {
  const Video& v = *static_cast<const Video*>(in.data);
  const uint32_t *a = warp.lanes<uint32_t>(in.a), *b = warp.lanes<uint32_t>(in.b),
                 *c = in.c ? warp.lanes<uint32_t>(in.c) : a;
  uint32_t* d = warp.lanes<uint32_t>(in.d);
  const uint32_t written = uint32_t(((uint64_t(1) << v.d.bits) - 1) << v.d.from);
  eachLane(active, [&](int i) {
    int64_t value = apply(v, part(a[i], v.a.from, v.a.bits, v.aSigned), part(b[i], v.b.from, v.b.bits, v.bSigned));
    if (v.saturates) value = saturate(v, value);
    const uint32_t result = combine(v, value, c[i]);
    d[i] = v.d.bits == 32 ? result : (c[i] & ~written) | (partOf(v.d, result) << v.d.from & written);
  });
  return Step::Next;
}

/// Parts of kBits: the results side by side, or their sum and c.
template <int kBits> Step runParts(const Inst& in, Warp& warp, LaneMask active) {
  const Video& v = *static_cast<const Video*>(in.data);
  const uint32_t *a = warp.lanes<uint32_t>(in.a), *b = warp.lanes<uint32_t>(in.b), *c = warp.lanes<uint32_t>(in.c);
  uint32_t* d = warp.lanes<uint32_t>(in.d);
  eachLane(active, [&](int i) {
    const auto chosen = [&](int index, bool isSigned) {
      constexpr int kParts = 32 / kBits;
      return part(index < kParts ? a[i] : b[i], index % kParts * kBits, kBits, isSigned);
    };
    uint32_t parts = 0, sum = c[i];
    for (int k = 0, from = 0; from < 32; ++k, from += kBits) {
      if (!(v.mask >> k & 1)) {
        parts |= uint32_t(part(c[i], from, kBits, false)) << from;
        continue;
      }
      int64_t value = apply(v, chosen(v.aParts[size_t(k)], v.aSigned), chosen(v.bParts[size_t(k)], v.bSigned));
      if (v.saturates) value = clampTo(value, kBits, v.dSigned);
      parts |= uint32_t(part(uint32_t(value), 0, kBits, false)) << from;
      sum += uint32_t(value);
    }
    d[i] = v.second == Second::Add ? sum : parts;
  });
  return Step::Next;
}

/// (+-(a * b) +- c (+ 1)) >> scale. Whole registers are signed there, whatever their types say: those say only what .sat means,
/// unsigned sums being shifted without their sign then.
Step runMad(const Inst& in, Warp& warp, LaneMask active) {
  const Video& v = *static_cast<const Video*>(in.data);
  const uint32_t *a = warp.lanes<uint32_t>(in.a), *b = warp.lanes<uint32_t>(in.b), *c = warp.lanes<uint32_t>(in.c);
  uint32_t* d = warp.lanes<uint32_t>(in.d);
  const bool isSigned = v.aSigned || v.bSigned || v.negatesProduct || v.negatesC;
  const auto factor = [](uint32_t value, Range range, bool asSigned) {
    return part(value, range.from, range.bits, asSigned || range.bits == 32);
  };
  eachLane(active, [&](int i) {
    const int64_t product = factor(a[i], v.a, v.aSigned) * factor(b[i], v.b, v.bSigned), addend = int32_t(c[i]);
    const int64_t sum = (v.negatesProduct ? -product : product) + (v.negatesC ? -addend : addend) + v.plusOne;
    const bool dropsSign = !isSigned && v.saturates && v.scale;
    const int64_t scaled = dropsSign ? int64_t(uint64_t(sum) >> v.scale) : sum >> v.scale;
    d[i] = uint32_t(v.saturates ? clampTo(scaled, 32, isSigned) : scaled);
  });
  return Step::Next;
}

struct VideoName {
  std::string_view opcode;
  VideoOp op;
};
constexpr VideoName kNames[] = {
    {"vabsdiff", VideoOp::AbsDiff}, {"vadd", VideoOp::Add}, {"vavrg", VideoOp::Average}, {"vmad", VideoOp::Mad},
    {"vmax", VideoOp::Max},         {"vmin", VideoOp::Min}, {"vset", VideoOp::Set},      {"vshl", VideoOp::ShiftLeft},
    {"vshr", VideoOp::ShiftRight},  {"vsub", VideoOp::Sub},
};

/// The register of an operand that may name parts of it.
const Operand& registerOf(const Operand& operand) {
  return operand.kind == Operand::Kind::Part ? operand.parts[0] : operand;
}
/// "b0", "h10", ... or an empty word.
std::string_view partsOf(const Operand& operand) {
  return operand.kind == Operand::Kind::Part ? operand.name : std::string_view();
}
bool isNegated(const Operand& operand) { return operand.kind == Operand::Kind::Part && operand.negated; }

/// .b0 to .b3, .h0 and .h1 of a scalar.
bool takeRange(Decoder& decoder, const Operand& operand, Range& range) {
  const std::string_view word = partsOf(operand);
  if (word.empty()) return true;
  const int bits = word[0] == 'b' ? 8 : 16, index = word.size() == 2 ? word[1] - '0' : 99;
  if (index < 0 || index >= 32 / bits) return decoder.fail(operand, "wants .b0 to .b3, .h0 or .h1");
  range = {uint8_t(index * bits), uint8_t(bits)};
  return true;
}

/// A digit for each part of the result, the highest one first: which part of b:a it is made of.
bool takeSelection(Decoder& decoder, const Operand& operand, int parts, int first, std::array<uint8_t, 4>& selection) {
  for (int k = 0; k < parts; ++k) selection[size_t(k)] = uint8_t(first + k);
  const std::string_view word = partsOf(operand);
  if (word.empty()) return true;
  bool good = word.size() == size_t(parts) + 1 && word[0] == (parts == 2 ? 'h' : 'b');
  for (int k = 0; good && k < parts; ++k) {
    const int index = word[size_t(parts - k)] - '0';
    good = index >= 0 && index < 2 * parts;
    selection[size_t(k)] = uint8_t(index);
  }
  return good || decoder.fail(operand, parts == 2 ? "wants .hxy with x and y from 0 to 3"
                                                  : "wants .bxyzw with digits from 0 to 7");
}

/// The parts of the result that are computed: digits that fall.
bool takeMask(Decoder& decoder, const Operand& operand, int parts, uint8_t& mask) {
  mask = uint8_t((1 << parts) - 1);
  const std::string_view word = partsOf(operand);
  if (word.empty()) return true;
  mask = 0;
  bool good = word.size() > 1 && word[0] == (parts == 2 ? 'h' : 'b');
  for (size_t i = 1, last = size_t(parts); good && i < word.size(); ++i) {
    const size_t index = size_t(word[i] - '0');
    good = index < last;
    last = index;
    mask |= uint8_t(1u << (index & 3));
  }
  return good || decoder.fail(operand, "wants a mask such as ." + std::string(parts == 2 ? "h10" : "b3210"));
}

/// d, a, b and, in most forms, c as registers.
bool decodeRegisters(Decoder& decoder, const ptx::Instruction& in, size_t count, Inst& out) {
  return decoder.operands(in, count) && decoder.destination(registerOf(in.operands[0]), Type::B32, out.d) &&
         decoder.source(registerOf(in.operands[1]), Type::B32, out.a) &&
         decoder.source(registerOf(in.operands[2]), Type::B32, out.b) &&
         (count == 3 || decoder.source(registerOf(in.operands[3]), Type::B32, out.c));
}

/// What only some operands of some instructions may have: a negation in vmad without .po, no parts of c.
bool checkOperands(Decoder& decoder, const ptx::Instruction& in, bool mayNegate) {
  for (size_t i = 0; i < in.operands.size(); ++i) {
    if (isNegated(in.operands[i]) && (!mayNegate || i == 0))
      return decoder.fail(in.operands[i], "cannot be negated here");
    if (i == 3 && !partsOf(in.operands[i]).empty()) return decoder.fail(in.operands[i], "wants a whole register");
  }
  return true;
}

/// .u32 or .s32, the next of the types.
bool takeSign(Decoder& decoder, const ptx::Instruction& in, Words& words, bool& isSigned) {
  const Type type = words.takeType();
  isSigned = type == Type::S32;
  return type == Type::U32 || type == Type::S32 || decoder.failType(".u32 .s32");
}

/// What follows the types of all but vmad; `parts` of them: 1, 2 or 4.
bool takeModes(Decoder& decoder, const ptx::Instruction& in, Words& words, int parts, Video& v) {
  const bool isShift = v.op == VideoOp::ShiftLeft || v.op == VideoOp::ShiftRight;
  if (v.op == VideoOp::Set) {
    const auto comparison = comparisonNamed(words.takeOneOf({"eq", "ne", "lt", "le", "gt", "ge"}));
    if (!comparison) return decoder.failMissing(".eq .ne .lt .le .gt .ge");
    v.comparison = *comparison;
  } else {
    v.saturates = words.take("sat");
  }
  if (isShift) {
    if (v.bSigned) return decoder.failType(".u32 for the amount");
    const std::string_view mode = words.takeOneOf({"clamp", "wrap"});
    if (mode.empty()) return decoder.failMissing(".clamp .wrap");
    v.wraps = mode == "wrap";
  }
  const std::string_view second = parts > 1 ? words.takeOneOf({"add"}) : words.takeOneOf({"add", "min", "max"});
  v.second = second == "add"   ? Second::Add
             : second == "min" ? Second::Min
             : second == "max" ? Second::Max
                               : Second::None;
  if (parts > 1 && v.saturates && v.second == Second::Add)
    return decoder.refuse("a sum of its parts does not saturate");
  return true;
}

bool decodeMad(Decoder& decoder, const ptx::Instruction& in, Words& words, Video& v, Inst& out) {
  v.plusOne = words.take("po");
  v.saturates = words.take("sat");
  const std::string_view scale = words.takeOneOf({"shr7", "shr15"});
  v.scale = scale == "shr7" ? 7 : scale == "shr15" ? 15 : 0;
  out.run = runMad;
  if (!decodeRegisters(decoder, in, 4, out) || !checkOperands(decoder, in, !v.plusOne)) return false;
  v.negatesProduct = isNegated(in.operands[1]) != isNegated(in.operands[2]);
  v.negatesC = isNegated(in.operands[3]);
  if (v.negatesProduct && v.negatesC) return decoder.fail(in.operands[3], "negates either the product or this");
  if (!partsOf(in.operands[0]).empty()) return decoder.fail(in.operands[0], "wants a whole register");
  return takeRange(decoder, in.operands[1], v.a) && takeRange(decoder, in.operands[2], v.b);
}

bool decodeScalar(Decoder& decoder, const ptx::Instruction& in, Video& v, Inst& out) {
  const bool merges = !in.operands.empty() && !partsOf(in.operands[0]).empty();
  if (merges && v.second != Second::None)
    return decoder.fail(in.operands[0], "wants a whole register where there is a second operation");
  out.run = runScalar;
  return decodeRegisters(decoder, in, merges || v.second != Second::None ? 4 : 3, out) &&
         checkOperands(decoder, in, false) && takeRange(decoder, in.operands[0], v.d) &&
         takeRange(decoder, in.operands[1], v.a) && takeRange(decoder, in.operands[2], v.b);
}

bool decodeVector(Decoder& decoder, const ptx::Instruction& in, int parts, Video& v, Inst& out) {
  out.run = parts == 2 ? runParts<16> : runParts<8>;
  return decodeRegisters(decoder, in, 4, out) && checkOperands(decoder, in, false) &&
         takeMask(decoder, in.operands[0], parts, v.mask) &&
         takeSelection(decoder, in.operands[1], parts, 0, v.aParts) &&
         takeSelection(decoder, in.operands[2], parts, parts, v.bParts);
}

bool decodeVideo(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  auto* v = decoder.make<Video>();
  const char last = in.opcode.back();
  const int parts = last == '2' || last == '4' ? last - '0' : 1;
  const std::string_view name = in.opcode.substr(0, in.opcode.size() - (parts > 1));
  v->op = std::ranges::find(kNames, name, &VideoName::opcode)->op;
  out.data = v;
  const bool hasResultType = v->op != VideoOp::Set;
  if ((hasResultType && !takeSign(decoder, in, words, v->dSigned)) || !takeSign(decoder, in, words, v->aSigned) ||
      !takeSign(decoder, in, words, v->bSigned))
    return false;
  if (v->op == VideoOp::Mad) return decodeMad(decoder, in, words, *v, out);
  return takeModes(decoder, in, words, parts, *v) &&
         (parts == 1 ? decodeScalar(decoder, in, *v, out) : decodeVector(decoder, in, parts, *v, out));
}

constexpr OpcodeRow kRows[] = {
    {"vabsdiff", decodeVideo}, {"vabsdiff2", decodeVideo}, {"vabsdiff4", decodeVideo}, {"vadd", decodeVideo},
    {"vadd2", decodeVideo},    {"vadd4", decodeVideo},     {"vavrg2", decodeVideo},    {"vavrg4", decodeVideo},
    {"vmad", decodeVideo},     {"vmax", decodeVideo},      {"vmax2", decodeVideo},     {"vmax4", decodeVideo},
    {"vmin", decodeVideo},     {"vmin2", decodeVideo},     {"vmin4", decodeVideo},     {"vset", decodeVideo},
    {"vset2", decodeVideo},    {"vset4", decodeVideo},     {"vshl", decodeVideo},      {"vshr", decodeVideo},
    {"vsub", decodeVideo},     {"vsub2", decodeVideo},     {"vsub4", decodeVideo},
};

} // namespace

constinit OpcodeTable kVideoOpcodes = kRows;

} // namespace tiletwin::sim
