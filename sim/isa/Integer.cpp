// sim/isa/Integer.cpp -- add, sub, min, max, sad, div, rem, abs, neg for integers, packed pairs of 16 bits included.
// Not here:  products (Multiply.cpp), carries (Carry.cpp), the same opcodes for floats (Float.cpp).
// Source:    PTX ISA, 9.7.1. Arithmetic wraps around. Where the ISA leaves a result open: see Divide below.
#include "sim/isa/Forms.h"
#include <algorithm>
#include <limits>

namespace tiletwin::sim {
namespace {

using ptx::Type;

constexpr auto kSub = []<class T>(T a, T b) -> T { return T(a - b); }; // unsigned
/// .sat: the exact result, clamped.
template <auto kOp>
constexpr auto kSaturating = [](int32_t a, int32_t b) -> int32_t {
  return int32_t(std::clamp<int64_t>(kOp(int64_t(a), int64_t(b)), INT32_MIN, INT32_MAX));
};
/// .relu: what is negative becomes 0.
template <auto kOp> constexpr auto kRelu = []<class T>(T a, T b) -> T { return std::max<T>(kOp(a, b), T(0)); };

/// An operation on the two halves of 32 bits.
template <auto kOp, class Half>
constexpr auto kPairs = [](uint32_t a, uint32_t b) -> uint32_t {
  const auto low = uint16_t(kOp(Half(a), Half(b))), high = uint16_t(kOp(Half(a >> 16), Half(b >> 16)));
  return uint32_t(high) << 16 | low;
};
template <auto kOp, class Half> constexpr Execute runPairs = runAlike<kPairs<kOp, Half>, uint32_t, 2>;

/// c + |a - b|
constexpr auto kSumOfDifference = []<class T>(T a, T b, T c) -> T {
  using U = std::make_unsigned_t<T>;
  return T(U(U(c) + (a < b ? U(U(b) - U(a)) : U(U(a) - U(b)))));
};
constexpr auto kAbsolute = []<class T>(T a) -> T {
  return a < 0 ? T(0 - std::make_unsigned_t<T>(a)) : a;
}; // the minimum stays
constexpr auto kNegate = []<class T>(T a) -> T { return T(0 - std::make_unsigned_t<T>(a)); };

/// The ISA leaves division by zero open. GPUs give all ones for the quotient and for the remainder, in every width: their
/// sequences end in a selection that the zero divisor makes. The minimum divided by -1 wraps around.
constexpr auto kDivide = []<class T>(T a, T b) -> T {
  if (b == 0) return T(-1);
  if constexpr (std::is_signed_v<T>)
    if (b == T(-1)) return kNegate(a);
  return T(a / b);
};
constexpr auto kRemainder = []<class T>(T a, T b) -> T {
  if (b == 0) return T(-1);
  if constexpr (std::is_signed_v<T>)
    if (b == T(-1)) return 0;
  return T(a % b);
};

bool failPairs(Decoder& decoder) { return decoder.failType(Integers::names() + " .u16x2 .s16x2"); }

/// add and sub: wrapping, .sat.s32, or of pairs.
template <auto kOp> bool decodeSum(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  if (!words.takeOneOf({"u16x2", "s16x2"}).empty()) {
    out.run = runPairs<kOp, uint16_t>;
    return decoder.alike(in, out, Type::B32, 2);
  }
  const bool saturates = words.take("sat");
  const Type type = words.takeType();
  if (saturates) {
    if (type != Type::S32) return decoder.failType(".s32 where it saturates");
    out.run = runAlike<kSaturating<kOp>, int32_t, 2>;
  } else {
    out.run = Integers::chooseWidth(type, []<class T>(T) { return runAlike<kOp, T, 2>; });
    if (!out.run) return failPairs(decoder);
  }
  return decoder.alike(in, out, type, 2);
}

/// min and max: .relu has .s32 and .s16x2 only.
template <auto kOp> bool decodeExtremum(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  const bool relu = words.take("relu");
  if (const std::string_view pairs = words.takeOneOf({"u16x2", "s16x2"}); !pairs.empty()) {
    if (relu && pairs != "s16x2") return decoder.failType(".s16x2 or .s32 with .relu");
    out.run = relu               ? runPairs<kRelu<kOp>, int16_t>
              : pairs == "u16x2" ? runPairs<kOp, uint16_t>
                                 : runPairs<kOp, int16_t>;
    return decoder.alike(in, out, Type::B32, 2);
  }
  const Type type = words.takeType();
  if (relu && type != Type::S32) return decoder.failType(".s16x2 or .s32 with .relu");
  out.run =
      relu ? runAlike<kRelu<kOp>, int32_t, 2> : Integers::choose(type, []<class T>(T) { return runAlike<kOp, T, 2>; });
  return out.run ? decoder.alike(in, out, type, 2) : failPairs(decoder);
}

constexpr OpcodeRow kRows[] = {
    {"abs", decodeAlike<SignedIntegers, kAbsolute, 1>, Domain::Integer},
    {"add", decodeSum<kAdd>, Domain::Integer},
    {"div", decodeAlike<Integers, kDivide, 2>, Domain::Integer},
    {"max", decodeExtremum<kMax>, Domain::Integer},
    {"min", decodeExtremum<kMin>, Domain::Integer},
    {"neg", decodeAlike<SignedIntegers, kNegate, 1>, Domain::Integer},
    {"rem", decodeAlike<Integers, kRemainder, 2>, Domain::Integer},
    {"sad", decodeAlike<Integers, kSumOfDifference, 3>, Domain::Integer},
    {"sub", decodeSum<kSub>, Domain::Integer},
};

} // namespace

constinit OpcodeTable kIntegerOpcodes = kRows;

} // namespace tiletwin::sim
