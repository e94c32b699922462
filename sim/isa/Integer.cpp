// sim/isa/Integer.cpp -- add, sub, min, max, sad, div, rem, abs, neg for integers, packed pairs of 16 bits included.
// Not here:  products (Multiply.cpp), carries (Carry.cpp), the same opcodes for floats (Float.cpp).
// Source:    PTX ISA, 9.7.1. Arithmetic wraps around. Where the ISA leaves a result open: see Divide below.
#include "sim/isa/Integer.h"
#include "sim/isa/Forms.h"
#include <algorithm>
#include <limits>

namespace tiletwin::sim {
namespace {

using ptx::Type;
constexpr std::string_view kIntegers = ".u16 .u32 .u64 .s16 .s32 .s64",
                           kIntegersOrPairs = ".u16 .u32 .u64 .s16 .s32 .s64 .u16x2 .s16x2",
                           kSignedOnes = ".s16 .s32 .s64";

struct Add {
  template <class T> static T apply(T a, T b) { return T(a + b); } // unsigned
};
struct Sub {
  template <class T> static T apply(T a, T b) { return T(a - b); } // unsigned
};
struct SaturatingAdd {
  static int32_t apply(int32_t a, int32_t b) {
    return int32_t(std::clamp<int64_t>(int64_t(a) + b, INT32_MIN, INT32_MAX));
  }
};
struct SaturatingSub {
  static int32_t apply(int32_t a, int32_t b) {
    return int32_t(std::clamp<int64_t>(int64_t(a) - b, INT32_MIN, INT32_MAX));
  }
};
struct Min {
  template <class T> static T apply(T a, T b) { return a < b ? a : b; }
};
struct Max {
  template <class T> static T apply(T a, T b) { return a > b ? a : b; }
};
/// .relu: what is negative becomes 0.
template <class Op> struct Relu {
  template <class T> static T apply(T a, T b) { return std::max<T>(Op::apply(a, b), T(0)); }
};

/// An operation on the two halves of 32 bits.
template <class Op, class Half> struct Pairs {
  static uint32_t apply(uint32_t a, uint32_t b) {
    const auto low = uint16_t(Op::apply(Half(a), Half(b))), high = uint16_t(Op::apply(Half(a >> 16), Half(b >> 16)));
    return uint32_t(high) << 16 | low;
  }
};

/// c + |a - b|
struct SumOfDifference {
  template <class T> static T apply(T a, T b, T c) {
    using U = std::make_unsigned_t<T>;
    return T(U(U(c) + (a < b ? U(U(b) - U(a)) : U(U(a) - U(b)))));
  }
};
struct Absolute {
  template <class T> static T apply(T a) { return a < 0 ? T(0 - std::make_unsigned_t<T>(a)) : a; } // the minimum stays
};
struct Negate {
  template <class T> static T apply(T a) { return T(0 - a); } // unsigned
};

/// The ISA leaves division by zero open. GPUs give all ones for the quotient and for the remainder, in every width: their
/// sequences end in a selection that the zero divisor makes. The minimum divided by -1 wraps around.
struct Divide {
  template <class T> static T apply(T a, T b) {
    if (b == 0) return T(-1);
    if constexpr (std::is_signed_v<T>)
      if (b == T(-1)) return T(0 - std::make_unsigned_t<T>(a));
    return T(a / b);
  }
};
struct Remainder {
  template <class T> static T apply(T a, T b) {
    if (b == 0) return T(-1);
    if constexpr (std::is_signed_v<T>)
      if (b == T(-1)) return 0;
    return T(a % b);
  }
};

/// add and sub: wrapping, .sat.s32, or of pairs.
template <class Op, class Saturating>
bool decodeSum(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  if (!words.takeOneOf({"u16x2", "s16x2"}).empty()) {
    out.run = runBinary<Pairs<Op, uint16_t>, uint32_t, uint32_t, uint32_t>;
    return decodeBinary(decoder, in, Type::B32, Type::B32, Type::B32, out);
  }
  const bool saturates = words.take("sat");
  const Type type = words.takeType();
  if (saturates) {
    if (type != Type::S32) return failType(decoder, in, ".s32 where it saturates");
    out.run = runBinary<Saturating, int32_t, int32_t, int32_t>;
  } else {
    out.run = !isInteger(type) ? nullptr : forWidth(type, [](auto t) -> Execute {
      return runBinary<Op, decltype(t), decltype(t), decltype(t)>;
    });
    if (!out.run) return failType(decoder, in, kIntegersOrPairs);
  }
  return decodeBinary(decoder, in, type, type, type, out);
}

bool decodeAdd(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  if (words.take("cc")) return decodeAddCarry(decoder, in, words, out);
  return decodeSum<Add, SaturatingAdd>(decoder, in, words, out);
}

bool decodeSub(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  if (words.take("cc")) return decodeSubCarry(decoder, in, words, out);
  return decodeSum<Sub, SaturatingSub>(decoder, in, words, out);
}

/// min and max: .relu has .s32 and .s16x2 only.
template <class Op> bool decodeExtremum(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  const bool relu = words.take("relu");
  if (const std::string_view pairs = words.takeOneOf({"u16x2", "s16x2"}); !pairs.empty()) {
    if (relu && pairs != "s16x2") return failType(decoder, in, ".s16x2 or .s32 with .relu");
    out.run = relu               ? runBinary<Pairs<Relu<Op>, int16_t>, uint32_t, uint32_t, uint32_t>
              : pairs == "u16x2" ? runBinary<Pairs<Op, uint16_t>, uint32_t, uint32_t, uint32_t>
                                 : runBinary<Pairs<Op, int16_t>, uint32_t, uint32_t, uint32_t>;
    return decodeBinary(decoder, in, Type::B32, Type::B32, Type::B32, out);
  }
  const Type type = words.takeType();
  if (relu) {
    if (type != Type::S32) return failType(decoder, in, ".s16x2 or .s32 with .relu");
    out.run = runBinary<Relu<Op>, int32_t, int32_t, int32_t>;
  } else {
    out.run = forInteger(type, [](auto t) -> Execute { return runBinary<Op, decltype(t), decltype(t), decltype(t)>; });
    if (!out.run) return failType(decoder, in, kIntegersOrPairs);
  }
  return decodeBinary(decoder, in, type, type, type, out);
}

template <class Op> bool decodeQuotient(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  const Type type = words.takeType();
  out.run = forInteger(type, [](auto t) -> Execute { return runBinary<Op, decltype(t), decltype(t), decltype(t)>; });
  if (!out.run) return failType(decoder, in, kIntegers);
  return decodeBinary(decoder, in, type, type, type, out);
}

bool decodeSad(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  const Type type = words.takeType();
  out.run = forInteger(type, [](auto t) -> Execute {
    using T = decltype(t);
    return runTernary<SumOfDifference, T, T, T, T>;
  });
  if (!out.run) return failType(decoder, in, kIntegers);
  return decodeTernary(decoder, in, type, type, type, type, out);
}

bool decodeAbs(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  const Type type = words.takeType();
  out.run = forSigned(type, [](auto t) -> Execute { return runUnary<Absolute, decltype(t), decltype(t)>; });
  if (!out.run) return failType(decoder, in, kSignedOnes);
  return decodeUnary(decoder, in, type, type, out);
}

bool decodeNeg(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  const Type type = words.takeType();
  out.run = forSigned(type, [](auto t) -> Execute {
    using U = std::make_unsigned_t<decltype(t)>;
    return runUnary<Negate, U, U>;
  });
  if (!out.run) return failType(decoder, in, kSignedOnes);
  return decodeUnary(decoder, in, type, type, out);
}

constexpr OpcodeRow kRows[] = {
    {"abs", decodeAbs, Domain::Integer},
    {"add", decodeAdd, Domain::Integer},
    {"div", decodeQuotient<Divide>, Domain::Integer},
    {"max", decodeExtremum<Max>, Domain::Integer},
    {"min", decodeExtremum<Min>, Domain::Integer},
    {"neg", decodeNeg, Domain::Integer},
    {"rem", decodeQuotient<Remainder>, Domain::Integer},
    {"sad", decodeSad, Domain::Integer},
    {"sub", decodeSub, Domain::Integer},
};

} // namespace

constinit const std::span<const OpcodeRow> kIntegerOpcodes = kRows;

} // namespace tiletwin::sim
