// sim/isa/Bits.cpp -- counting, finding, extracting, inserting and permuting bits and bytes.
// Source:    PTX ISA, 9.7.1.14 to 9.7.1.22 (popc to szext), 9.7.9.7 (prmt).
// Not here:  logic and shifts (Logic.cpp).
#include "sim/isa/Bits.h"
#include "sim/isa/Forms.h"
#include <algorithm>
#include <bit>

namespace tiletwin::sim {
namespace {

using ptx::Type;

struct CountOnes {
  template <class T> static uint32_t apply(T a) { return uint32_t(std::popcount(a)); }
};
struct LeadingZeros {
  template <class T> static uint32_t apply(T a) { return uint32_t(std::countl_zero(a)); }
};
struct Reverse {
  static uint32_t apply(uint32_t a) { return __builtin_bitreverse32(a); }
  static uint64_t apply(uint64_t a) { return __builtin_bitreverse64(a); }
};

/// The highest bit that is not the sign, or all ones; with kShift how far it must be shifted to the top.
template <bool kShift> struct FindHighest {
  template <class T> static uint32_t apply(T a) {
    using U = std::make_unsigned_t<T>;
    const U bits = std::is_signed_v<T> && a < T(0) ? U(~U(a)) : U(a);
    if (bits == 0) return ~0u;
    const auto zeros = uint32_t(std::countl_zero(bits));
    return kShift ? zeros : uint32_t(8 * sizeof(T) - 1) - zeros;
  }
};

/// The offset-th set bit of mask from bit `base` on, upwards or (offset < 0) downwards, or all ones. A base outside of the mask,
/// which the ISA leaves open, finds nothing.
struct FindNthSet {
  static uint32_t apply(uint32_t mask, uint32_t base, int32_t offset) {
    if (base > 31) return ~0u;
    if (offset == INT32_MIN) return 0; // as the GPU's sequence of instructions has it
    if (offset == 0) return mask >> base & 1 ? base : ~0u;
    int64_t left = offset > 0 ? int64_t(offset) : -int64_t(offset);
    for (int at = int(base), step = offset > 0 ? 1 : -1; at >= 0 && at < 32; at += step)
      if (mask >> at & 1 && --left == 0) return uint32_t(at);
    return ~0u;
  }
};

/// A position or length of a field: a byte to the instructions on 32 bits. Those on 64 are several on the GPU, which read all of
/// the number, whatever the ISA says of its byte.
template <class T> int fieldNumber(uint32_t n) {
  return sizeof(T) == 4 ? int(n & 0xFF) : int(std::min(n, uint32_t(0xFF)));
}

/// Bits pos to pos + len - 1 of a, at the bottom. Shifted to the top and back: a signed type fills with the highest bit taken,
/// which is a's own where the field reaches beyond it.
struct ExtractField {
  template <class T> static T apply(T a, uint32_t b, uint32_t c) {
    using U = std::make_unsigned_t<T>;
    constexpr int kBits = 8 * sizeof(T);
    const int pos = fieldNumber<T>(b), len = fieldNumber<T>(c);
    if (len == 0) return 0;
    const int up = std::max(kBits - pos - len, 0), down = up + pos;
    if constexpr (!std::is_signed_v<T>)
      if (down >= kBits) return 0;
    return T(T(U(a) << up) >> std::min(down, kBits - 1));
  }
};

/// b, with the low len bits of a from bit pos on.
struct InsertField {
  template <class T> static T apply(T a, T b, uint32_t c, uint32_t d) {
    constexpr uint32_t kBits = 8 * sizeof(T);
    const uint32_t pos = uint32_t(fieldNumber<T>(c)), len = uint32_t(fieldNumber<T>(d));
    if (pos >= kBits) return b;
    const T ones = len >= kBits ? T(~T(0)) : T((T(1) << (len & (kBits - 1))) - 1), mask = T(ones << pos);
    return T((b & ~mask) | (T(a << pos) & mask));
  }
};

template <class T> Step runInsert(const Inst& in, Warp& warp, LaneMask active) {
  const T *a = warp.lanes<T>(in.a), *b = warp.lanes<T>(in.b);
  const uint32_t *c = warp.lanes<uint32_t>(in.c), *e = warp.lanes<uint32_t>(in.e);
  perLane(warp.lanes<T>(in.d), active, [=](int i) { return InsertField::apply(a[i], b[i], c[i], e[i]); });
  return Step::Next;
}

/// b ones from bit a on.
template <bool kClamp> struct BitMask {
  static uint32_t apply(uint32_t a, uint32_t b) {
    if (kClamp && a >= 32) return 0;
    const uint32_t from = a & 31, width = b & 31, end = from + width;
    const uint32_t below = ~0u << from;
    if (kClamp && b >= 32) return below;
    return end >= 32 ? below : below & ~(~0u << end);
  }
};

/// a's low b bits, extended to 32 with zeros or with the highest of them.
template <bool kClamp, bool kSigned> struct Extend {
  static uint32_t apply(uint32_t a, uint32_t b) {
    if (kClamp && b >= 32) return a;
    const uint32_t width = b & 31;
    if (width == 0) return 0;
    const uint32_t up = 32 - width;
    return kSigned ? uint32_t(int32_t(a << up) >> up) : a << up >> up;
  }
};

/// Byte j of prmt's result is byte `index` of b:a, where bit 3 of the index asks for its sign instead (the default mode).
struct PermuteAny {
  static uint32_t index(uint32_t c, uint32_t j) { return c >> (4 * j) & 15; }
};
struct Forward4 {
  static uint32_t index(uint32_t c, uint32_t j) { return (c & 3) + j; }
};
struct Backward4 {
  static uint32_t index(uint32_t c, uint32_t j) { return ((c & 3) - j) & 7; }
};
struct Replicate8 {
  static uint32_t index(uint32_t c, uint32_t) { return c & 3; }
};
struct ClampLeft {
  static uint32_t index(uint32_t c, uint32_t j) { return std::max(c & 3, j); }
};
struct ClampRight {
  static uint32_t index(uint32_t c, uint32_t j) { return std::min(c & 3, j); }
};
struct Replicate16 {
  static uint32_t index(uint32_t c, uint32_t j) { return (c & 1) * 2 + (j & 1); }
};
template <class Mode> struct Permute {
  static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
    const uint64_t bytes = uint64_t(b) << 32 | a;
    uint32_t r = 0;
    for (uint32_t j = 0; j < 4; ++j) {
      const uint32_t index = Mode::index(c, j);
      const auto byte = uint32_t(bytes >> (8 * (index & 7)) & 0xFF);
      r |= (index & 8 ? (byte & 0x80 ? 0xFFu : 0u) : byte) << (8 * j);
    }
    return r;
  }
};

/// popc and clz: .b32 and .b64 to 32 bits.
template <class Op> bool decodeCount(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  const Type type = words.takeType();
  if (type != Type::B32 && type != Type::B64) return failType(decoder, in, ".b32 .b64");
  out.run = type == Type::B32 ? runUnary<Op, uint32_t, uint32_t> : runUnary<Op, uint32_t, uint64_t>;
  return decodeUnary(decoder, in, Type::B32, type, out);
}

bool decodeBrev(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  const Type type = words.takeType();
  if (type != Type::B32 && type != Type::B64) return failType(decoder, in, ".b32 .b64");
  out.run = type == Type::B32 ? runUnary<Reverse, uint32_t, uint32_t> : runUnary<Reverse, uint64_t, uint64_t>;
  return decodeUnary(decoder, in, type, type, out);
}

/// pick(T()) for .u32 .u64 .s32 .s64.
template <class Pick> Execute forWord(Type type, Pick&& pick) {
  return forInteger(type, [&](auto t) -> Execute {
    if constexpr (sizeof t == 2)
      return nullptr;
    else
      return pick(t);
  });
}
constexpr std::string_view kWords = ".u32 .u64 .s32 .s64";

bool decodeBfind(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  const bool shift = words.take("shiftamt");
  const Type type = words.takeType();
  out.run = forWord(type, [&](auto t) -> Execute {
    using T = decltype(t);
    return shift ? runUnary<FindHighest<true>, uint32_t, T> : runUnary<FindHighest<false>, uint32_t, T>;
  });
  if (!out.run) return failType(decoder, in, kWords);
  return decodeUnary(decoder, in, Type::U32, type, out);
}

bool decodeFns(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  if (words.takeType() != Type::B32) return failType(decoder, in, ".b32");
  out.run = runTernary<FindNthSet, uint32_t, uint32_t, uint32_t, int32_t>;
  return decodeTernary(decoder, in, Type::B32, Type::B32, Type::B32, Type::S32, out);
}

bool decodeBfe(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  const Type type = words.takeType();
  out.run = forWord(type, [](auto t) -> Execute {
    using T = decltype(t);
    return runTernary<ExtractField, T, T, uint32_t, uint32_t>;
  });
  if (!out.run) return failType(decoder, in, kWords);
  return decodeTernary(decoder, in, type, type, Type::U32, Type::U32, out);
}

bool decodeBfi(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  const Type type = words.takeType();
  if (type != Type::B32 && type != Type::B64) return failType(decoder, in, ".b32 .b64");
  out.run = type == Type::B32 ? runInsert<uint32_t> : runInsert<uint64_t>;
  return decoder.operands(in, 5) && decoder.destination(in.operands[0], type, out.d) &&
         decoder.source(in.operands[1], type, out.a) && decoder.source(in.operands[2], type, out.b) &&
         decoder.source(in.operands[3], Type::U32, out.c) && decoder.source(in.operands[4], Type::U32, out.e);
}

bool decodeBmsk(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  const std::string_view mode = words.takeOneOf({"clamp", "wrap"});
  if (mode.empty()) return failMissing(decoder, in, ".clamp .wrap");
  if (words.takeType() != Type::B32) return failType(decoder, in, ".b32");
  out.run = mode == "clamp" ? runBinary<BitMask<true>, uint32_t, uint32_t, uint32_t>
                            : runBinary<BitMask<false>, uint32_t, uint32_t, uint32_t>;
  return decodeBinary(decoder, in, Type::B32, Type::U32, Type::U32, out);
}

template <bool kClamp> Execute extension(bool isSigned) {
  return isSigned ? runBinary<Extend<kClamp, true>, uint32_t, uint32_t, uint32_t>
                  : runBinary<Extend<kClamp, false>, uint32_t, uint32_t, uint32_t>;
}

bool decodeSzext(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  const std::string_view mode = words.takeOneOf({"clamp", "wrap"});
  if (mode.empty()) return failMissing(decoder, in, ".clamp .wrap");
  const Type type = words.takeType();
  if (type != Type::U32 && type != Type::S32) return failType(decoder, in, ".u32 .s32");
  out.run = mode == "clamp" ? extension<true>(isSigned(type)) : extension<false>(isSigned(type));
  return decodeBinary(decoder, in, type, type, Type::U32, out);
}

bool decodePrmt(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  using U = uint32_t;
  const std::string_view mode = words.takeOneOf({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"});
  if (words.takeType() != Type::B32) return failType(decoder, in, ".b32");
  out.run = mode == "f4e"   ? runTernary<Permute<Forward4>, U, U, U, U>
            : mode == "b4e" ? runTernary<Permute<Backward4>, U, U, U, U>
            : mode == "rc8" ? runTernary<Permute<Replicate8>, U, U, U, U>
            : mode == "ecl" ? runTernary<Permute<ClampLeft>, U, U, U, U>
            : mode == "ecr" ? runTernary<Permute<ClampRight>, U, U, U, U>
            : mode.empty()  ? runTernary<Permute<PermuteAny>, U, U, U, U>
                            : runTernary<Permute<Replicate16>, U, U, U, U>;
  return decodeTernary(decoder, in, Type::B32, Type::B32, Type::B32, Type::B32, out);
}

constexpr OpcodeRow kRows[] = {
    {"bfe", decodeBfe},     {"bfi", decodeBfi},
    {"bfind", decodeBfind}, {"bmsk", decodeBmsk},
    {"brev", decodeBrev},   {"clz", decodeCount<LeadingZeros>},
    {"fns", decodeFns},     {"popc", decodeCount<CountOnes>},
    {"prmt", decodePrmt},   {"szext", decodeSzext},
};

} // namespace

constinit const std::span<const OpcodeRow> kBitsOpcodes = kRows;

} // namespace tiletwin::sim
