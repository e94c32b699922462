// sim/isa/Bits.cpp -- counting, finding, extracting, inserting and permuting bits and bytes.
// Source:    PTX ISA, 9.7.1.14 to 9.7.1.22 (popc to szext), 9.7.9.7 (prmt).
// Not here:  logic and shifts (Logic.cpp).
#include "sim/isa/Forms.h"
#include <algorithm>
#include <bit>

namespace tiletwin::sim {
namespace {

using ptx::Type;

constexpr auto kCountOnes = []<class T>(T a) -> uint32_t { return uint32_t(std::popcount(a)); };
constexpr auto kLeadingZeros = []<class T>(T a) -> uint32_t { return uint32_t(std::countl_zero(a)); };
constexpr auto kReverse = []<class T>(T a) -> T {
  return sizeof a == 4 ? __builtin_bitreverse32(uint32_t(a)) : __builtin_bitreverse64(a);
};

/// The highest bit that is not the sign, or all ones; with kShift how far it must be shifted to the top.
template <bool kShift>
constexpr auto kFindHighest = []<class T>(T a) -> uint32_t {
  using U = std::make_unsigned_t<T>;
  const U bits = std::is_signed_v<T> && a < T(0) ? U(~U(a)) : U(a);
  if (bits == 0) return ~0u;
  const auto zeros = uint32_t(std::countl_zero(bits));
  return kShift ? zeros : uint32_t(8 * sizeof(T) - 1) - zeros;
};

/// The offset-th set bit of mask from bit `base` on, upwards or (offset < 0) downwards, or all ones. A base outside of the mask,
/// which the ISA leaves open, finds nothing.
constexpr auto kFindNthSet = [](uint32_t mask, uint32_t base, int32_t offset) -> uint32_t {
  if (base > 31) return ~0u;
  if (offset == INT32_MIN) return 0; // as the GPU's sequence of instructions has it
  if (offset == 0) return mask >> base & 1 ? base : ~0u;
  int64_t left = offset > 0 ? int64_t(offset) : -int64_t(offset);
  for (int at = int(base), step = offset > 0 ? 1 : -1; at >= 0 && at < 32; at += step)
    if (mask >> at & 1 && --left == 0) return uint32_t(at);
  return ~0u;
};

/// A position or length of a field: a byte to the instructions on 32 bits. Those on 64 are several on the GPU, which read all of
/// the number, whatever the ISA says of its byte.
template <class T> int fieldNumber(uint32_t n) {
  return sizeof(T) == 4 ? int(n & 0xFF) : int(std::min(n, uint32_t(0xFF)));
}

/// Bits pos to pos + len - 1 of a, at the bottom. Shifted to the top and back: a signed type fills with the highest bit taken,
/// which is a's own where the field reaches beyond it.
constexpr auto kExtractField = []<class T>(T a, uint32_t b, uint32_t c) -> T {
  using U = std::make_unsigned_t<T>;
  constexpr int kBits = 8 * sizeof(T);
  const int pos = fieldNumber<T>(b), len = fieldNumber<T>(c);
  if (len == 0) return 0;
  const int up = std::max(kBits - pos - len, 0), down = up + pos;
  if constexpr (!std::is_signed_v<T>)
    if (down >= kBits) return 0;
  return T(T(U(a) << up) >> std::min(down, kBits - 1));
};

/// b, with the low len bits of a from bit pos on.
constexpr auto kInsertField = []<class T>(T a, T b, uint32_t c, uint32_t d) -> T {
  constexpr uint32_t kBits = 8 * sizeof(T);
  const uint32_t pos = uint32_t(fieldNumber<T>(c)), len = uint32_t(fieldNumber<T>(d));
  if (pos >= kBits) return b;
  const T ones = len >= kBits ? T(~T(0)) : T((T(1) << (len & (kBits - 1))) - 1), mask = T(ones << pos);
  return T((b & ~mask) | (T(a << pos) & mask));
};

/// b ones from bit a on.
template <bool kClamp>
constexpr auto kBitMask = [](uint32_t a, uint32_t b) -> uint32_t {
  if (kClamp && a >= 32) return 0;
  const uint32_t from = a & 31, width = b & 31, end = from + width;
  const uint32_t below = ~0u << from;
  if (kClamp && b >= 32) return below;
  return end >= 32 ? below : below & ~(~0u << end);
};

/// a's low b bits, extended to 32 with zeros or with the highest of them.
template <bool kClamp, bool kSigned>
constexpr auto kExtend = [](uint32_t a, uint32_t b) -> uint32_t {
  if (kClamp && b >= 32) return a;
  const uint32_t width = b & 31;
  if (width == 0) return 0;
  const uint32_t up = 32 - width;
  return kSigned ? uint32_t(int32_t(a << up) >> up) : a << up >> up;
};

/// Byte j of prmt's result is byte kIndex(c, j) of b:a, where bit 3 of the index asks for its sign instead (the default mode).
template <auto kIndex>
constexpr auto kPermute = [](uint32_t a, uint32_t b, uint32_t c) -> uint32_t {
  const uint64_t bytes = uint64_t(b) << 32 | a;
  uint32_t r = 0;
  for (uint32_t j = 0; j < 4; ++j) {
    const uint32_t index = kIndex(c, j);
    const auto byte = uint32_t(bytes >> (8 * (index & 7)) & 0xFF);
    r |= (index & 8 ? (byte & 0x80 ? 0xFFu : 0u) : byte) << (8 * j);
  }
  return r;
};
template <auto kIndex> constexpr Execute runPermute = runAlike<kPermute<kIndex>, uint32_t, 3>;

/// popc and clz: .b32 and .b64 to 32 bits.
template <auto kOp> bool decodeCount(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  const Type type = words.takeType();
  out.run = BitWords::choose(type, []<class T>(T) { return runLanes<kOp, uint32_t, T>; });
  return out.run ? decoder.form(in, out, Type::B32, {type}) : decoder.failType(BitWords::names());
}

bool decodeBfind(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  const bool shift = words.take("shiftamt");
  const Type type = words.takeType();
  out.run = IntegerWords::choose(type, [&]<class T>(T) {
    return shift ? runLanes<kFindHighest<true>, uint32_t, T> : runLanes<kFindHighest<false>, uint32_t, T>;
  });
  return out.run ? decoder.form(in, out, Type::U32, {type}) : decoder.failType(IntegerWords::names());
}

bool decodeFns(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  if (words.takeType() != Type::B32) return decoder.failType(".b32");
  out.run = runLanes<kFindNthSet, uint32_t, uint32_t, uint32_t, int32_t>;
  return decoder.form(in, out, Type::B32, {Type::B32, Type::B32, Type::S32});
}

bool decodeBfe(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  const Type type = words.takeType();
  out.run = IntegerWords::choose(type, []<class T>(T) { return runLanes<kExtractField, T, T, uint32_t, uint32_t>; });
  return out.run ? decoder.form(in, out, type, {type, Type::U32, Type::U32}) : decoder.failType(IntegerWords::names());
}

bool decodeBfi(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  const Type type = words.takeType();
  out.run = BitWords::choose(type, []<class T>(T) { return runLanes<kInsertField, T, T, T, uint32_t, uint32_t>; });
  if (!out.run) return decoder.failType(BitWords::names());
  return decoder.form(in, out, type, {type, type, Type::U32, Type::U32});
}

bool takeClamp(Decoder& decoder, Words& words, bool& clamps) {
  const std::string_view mode = words.takeOneOf({"clamp", "wrap"});
  clamps = mode == "clamp";
  return !mode.empty() || decoder.failMissing(".clamp .wrap");
}

bool decodeBmsk(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  bool clamps = false;
  if (!takeClamp(decoder, words, clamps)) return false;
  if (words.takeType() != Type::B32) return decoder.failType(".b32");
  out.run = clamps ? runAlike<kBitMask<true>, uint32_t, 2> : runAlike<kBitMask<false>, uint32_t, 2>;
  return decoder.form(in, out, Type::B32, {Type::U32, Type::U32});
}

bool decodeSzext(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  bool clamps = false;
  if (!takeClamp(decoder, words, clamps)) return false;
  const Type type = words.takeType();
  if (!Words32::has(type)) return decoder.failType(Words32::names());
  out.run = forFlag(clamps, [&](auto c) {
    return forFlag(isSigned(type),
                   [](auto s) { return runAlike<kExtend<decltype(c)::value, decltype(s)::value>, uint32_t, 2>; });
  });
  return decoder.form(in, out, type, {type, Type::U32});
}

bool decodePrmt(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  const std::optional<Execute> mode =
      words.takeNamed<Execute>({{"f4e", runPermute<[](uint32_t c, uint32_t j) { return (c & 3) + j; }>},
                                {"b4e", runPermute<[](uint32_t c, uint32_t j) { return ((c & 3) - j) & 7; }>},
                                {"rc8", runPermute<[](uint32_t c, uint32_t) { return c & 3; }>},
                                {"ecl", runPermute<[](uint32_t c, uint32_t j) { return std::max(c & 3, j); }>},
                                {"ecr", runPermute<[](uint32_t c, uint32_t j) { return std::min(c & 3, j); }>},
                                {"rc16", runPermute<[](uint32_t c, uint32_t j) { return (c & 1) * 2 + (j & 1); }>}});
  if (words.takeType() != Type::B32) return decoder.failType(".b32");
  out.run = mode.value_or(runPermute<[](uint32_t c, uint32_t j) { return c >> (4 * j) & 15; }>);
  return decoder.alike(in, out, Type::B32, 3);
}

constexpr OpcodeRow kRows[] = {
    {"bfe", decodeBfe},
    {"bfi", decodeBfi},
    {"bfind", decodeBfind},
    {"bmsk", decodeBmsk},
    {"brev", decodeAlike<BitWords, kReverse, 1>},
    {"clz", decodeCount<kLeadingZeros>},
    {"fns", decodeFns},
    {"popc", decodeCount<kCountOnes>},
    {"prmt", decodePrmt},
    {"szext", decodeSzext},
};

} // namespace

constinit OpcodeTable kBitsOpcodes = kRows;

} // namespace tiletwin::sim
