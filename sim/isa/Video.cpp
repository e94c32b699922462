// sim/isa/Video.cpp -- video instructions on whole registers: scalars of 32 bits, pairs of 16 bits, quads of 8 bits.
// Not here:  parts of operands (r1.b0, r2.h1, masks of the destination) and negated operands: they are errors when decoded.
// Source:    PTX ISA, 9.7.18. GPUs since sm_50 do these with several other instructions; compilers emit vabsdiff4 only.
// Idea:      sources become 64-bit integers by their own type, so no step overflows; the result's type says what is clamped.
#include "sim/isa/Video.h"
#include "sim/isa/CompareLanes.h"
#include "sim/isa/Forms.h"
#include <algorithm>

namespace tiletwin::sim {
namespace {

using ptx::Type;

enum class VideoOp : uint8_t { Add, Sub, AbsDiff, Min, Max, Average, ShiftLeft, ShiftRight, Set, Mad };
enum class Second : uint8_t { None, Add, Min, Max };

struct Video {
  VideoOp op = VideoOp::Add;
  Comparison comparison = Comparison::Eq; ///< Set
  Second second = Second::None;
  bool aSigned = false, bSigned = false, dSigned = false;
  bool saturates = false, wraps = false; ///< wraps: amounts of shifts
  bool plusOne = false;                  ///< Mad
  int scale = 0;                         ///< Mad: shifted right by
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

bool compare(Comparison comparison, int64_t a, int64_t b) {
  switch (comparison) {
  case Comparison::Eq: return a == b;
  case Comparison::Ne: return a != b;
  case Comparison::Lt: return a < b;
  case Comparison::Le: return a <= b;
  case Comparison::Gt: return a > b;
  default: return a >= b;
  }
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
  case VideoOp::Set: return compare(v.comparison, a, b);
  case VideoOp::Mad: break; // runMad
  }
  return 0;
}

/// The secondary operation of scalars; c has the result's sign.
uint32_t combine(const Video& v, int64_t value, uint32_t c) {
  const int64_t x = part(uint32_t(value), 0, 32, v.dSigned), y = part(c, 0, 32, v.dSigned);
  switch (v.second) {
  case Second::Add: return uint32_t(x + y);
  case Second::Min: return uint32_t(std::min(x, y));
  case Second::Max: return uint32_t(std::max(x, y));
  default: return uint32_t(value);
  }
}

Step runScalar(const Inst& in, Warp& warp, LaneMask active) {
  const Video& v = *static_cast<const Video*>(in.data);
  const uint32_t *a = warp.lanes<uint32_t>(in.a), *b = warp.lanes<uint32_t>(in.b),
                 *c = in.c ? warp.lanes<uint32_t>(in.c) : a;
  uint32_t* d = warp.lanes<uint32_t>(in.d);
  eachLane(active, [&](int i) {
    int64_t value = apply(v, part(a[i], 0, 32, v.aSigned), part(b[i], 0, 32, v.bSigned));
    if (v.saturates) value = clampTo(value, 32, v.dSigned);
    d[i] = combine(v, value, c[i]);
  });
  return Step::Next;
}

/// Parts of kBits: the results side by side, or their sum and c.
template <int kBits> Step runParts(const Inst& in, Warp& warp, LaneMask active) {
  const Video& v = *static_cast<const Video*>(in.data);
  const uint32_t *a = warp.lanes<uint32_t>(in.a), *b = warp.lanes<uint32_t>(in.b), *c = warp.lanes<uint32_t>(in.c);
  uint32_t* d = warp.lanes<uint32_t>(in.d);
  eachLane(active, [&](int i) {
    uint32_t parts = 0, sum = c[i];
    for (int from = 0; from < 32; from += kBits) {
      int64_t value = apply(v, part(a[i], from, kBits, v.aSigned), part(b[i], from, kBits, v.bSigned));
      if (v.saturates) value = clampTo(value, kBits, v.dSigned);
      parts |= uint32_t(part(uint32_t(value), 0, kBits, false)) << from;
      sum += uint32_t(value);
    }
    d[i] = v.second == Second::Add ? sum : parts;
  });
  return Step::Next;
}

/// (a * b + c (+ 1)) >> scale; the sum is signed if a or b is.
Step runMad(const Inst& in, Warp& warp, LaneMask active) {
  const Video& v = *static_cast<const Video*>(in.data);
  const uint32_t *a = warp.lanes<uint32_t>(in.a), *b = warp.lanes<uint32_t>(in.b), *c = warp.lanes<uint32_t>(in.c);
  uint32_t* d = warp.lanes<uint32_t>(in.d);
  const bool isSigned = v.aSigned || v.bSigned;
  eachLane(active, [&](int i) {
    __int128 sum = __int128(part(a[i], 0, 32, v.aSigned)) * part(b[i], 0, 32, v.bSigned);
    sum = (sum + part(c[i], 0, 32, isSigned) + v.plusOne) >> v.scale;
    const __int128 least = isSigned ? INT32_MIN : 0, most = isSigned ? __int128(INT32_MAX) : __int128(UINT32_MAX);
    d[i] = uint32_t(v.saturates ? std::clamp(sum, least, most) : sum);
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

/// .u32 or .s32, the next of the types.
bool takeSign(Decoder& decoder, const ptx::Instruction& in, Words& words, bool& isSigned) {
  const Type type = words.takeType();
  isSigned = type == Type::S32;
  return type == Type::U32 || type == Type::S32 || failType(decoder, in, ".u32 .s32");
}

/// What follows the types of all but vmad; `parts` of them: 1, 2 or 4.
bool takeModes(Decoder& decoder, const ptx::Instruction& in, Words& words, int parts, Video& v) {
  const bool isShift = v.op == VideoOp::ShiftLeft || v.op == VideoOp::ShiftRight;
  if (v.op == VideoOp::Set) {
    const auto comparison = comparisonNamed(words.takeOneOf({"eq", "ne", "lt", "le", "gt", "ge"}));
    if (!comparison) return failMissing(decoder, in, ".eq .ne .lt .le .gt .ge");
    v.comparison = *comparison;
  } else {
    v.saturates = words.take("sat");
  }
  if (isShift) {
    if (v.bSigned) return failType(decoder, in, ".u32 for the amount");
    const std::string_view mode = words.takeOneOf({"clamp", "wrap"});
    if (mode.empty()) return failMissing(decoder, in, ".clamp .wrap");
    v.wraps = mode == "wrap";
  }
  const std::string_view second = parts > 1 ? words.takeOneOf({"add"}) : words.takeOneOf({"add", "min", "max"});
  v.second = second == "add"   ? Second::Add
             : second == "min" ? Second::Min
             : second == "max" ? Second::Max
                               : Second::None;
  if (parts > 1 && v.saturates && v.second == Second::Add)
    return decoder.fail(std::string(in.text) + ": a sum of its parts does not saturate");
  return true;
}

bool decodeMad(Decoder& decoder, const ptx::Instruction& in, Words& words, Video& v, Inst& out) {
  v.plusOne = words.take("po");
  v.saturates = words.take("sat");
  const std::string_view scale = words.takeOneOf({"shr7", "shr15"});
  v.scale = scale == "shr7" ? 7 : scale == "shr15" ? 15 : 0;
  out.run = runMad;
  return decodeTernary(decoder, in, Type::B32, Type::B32, Type::B32, Type::B32, out);
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
  if (!takeModes(decoder, in, words, parts, *v)) return false;
  out.run = parts == 1 ? runScalar : parts == 2 ? runParts<16> : runParts<8>;
  if (parts > 1 || v->second != Second::None)
    return decodeTernary(decoder, in, Type::B32, Type::B32, Type::B32, Type::B32, out);
  return decodeBinary(decoder, in, Type::B32, Type::B32, Type::B32, out);
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

constinit const std::span<const OpcodeRow> kVideoOpcodes = kRows;

} // namespace tiletwin::sim
