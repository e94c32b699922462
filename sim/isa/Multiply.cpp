// sim/isa/Multiply.cpp -- products of integers: mul, mad (.lo .hi .wide), mul24, mad24, dp4a, dp2a.
// Source:    PTX ISA, 9.7.1.3 to 9.7.1.6, 9.7.1.23, 9.7.1.24.
// Not here:  mad.cc and madc (Carry.cpp), products of floats (Float.cpp).
#include "sim/isa/Forms.h"
#include <algorithm>

namespace tiletwin::sim {
namespace {

using ptx::Type;

template <class T, class Signed, class Unsigned>
using BySign = std::conditional_t<std::is_signed_v<T>, Signed, Unsigned>;
/// The type of a whole product.
template <class T>
using TwiceOf = std::conditional_t<
    sizeof(T) == 2, BySign<T, int32_t, uint32_t>,
    std::conditional_t<sizeof(T) == 4, BySign<T, int64_t, uint64_t>, BySign<T, __int128, unsigned __int128>>>;

/// The low half of a product; T is unsigned. In 32 bits at least: 16 bits would become int, and overflow.
constexpr auto kLow = []<class T>(T a, T b) -> T {
  using W = std::conditional_t<sizeof(T) < 4, uint32_t, T>;
  return T(W(a) * W(b));
};
constexpr auto kHigh = []<class T>(T a, T b) -> T { return T(TwiceOf<T>(a) * TwiceOf<T>(b) >> (8 * sizeof(T))); };
constexpr auto kWide = []<class T>(T a, T b) -> TwiceOf<T> { return TwiceOf<T>(TwiceOf<T>(a) * TwiceOf<T>(b)); };
/// Bits 0 to 31 and 16 to 47 of the product of the operands' low 24 bits.
template <class T> int64_t low24(T a) {
  return std::is_signed_v<T> ? int64_t(int32_t(uint32_t(a) << 8) >> 8) : int64_t(uint32_t(a) & 0xFFFFFF);
}
constexpr auto kLow24 = []<class T>(T a, T b) -> T { return T(low24(a) * low24(b)); };
constexpr auto kHigh24 = []<class T>(T a, T b) -> T { return T(low24(a) * low24(b) >> 16); };

/// Product + c, wrapping.
template <auto kProduct>
constexpr auto kPlus = []<class T, class C>(T a, T b, C c) -> C {
  using U = std::make_unsigned_t<C>;
  return C(U(U(kProduct(a, b)) + U(c)));
};
template <auto kProduct>
constexpr auto kPlusSaturating = [](int32_t a, int32_t b, int32_t c) -> int32_t {
  return int32_t(std::clamp<int64_t>(int64_t(kProduct(a, b)) + c, INT32_MIN, INT32_MAX));
};

using Narrow = TypeSet<Type::U16, Type::S16, Type::U32, Type::S32>;
Type doubled(Type type) {
  switch (type) {
  case Type::U16: return Type::U32;
  case Type::S16: return Type::S32;
  case Type::U32: return Type::U64;
  default: return Type::S64;
  }
}

/// mul, and mad where there is a sum: .lo, .hi and .wide.
template <bool kHasSum> bool decodeProduct(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  const std::string_view mode = words.takeOneOf({"lo", "hi", "wide"});
  if (mode.empty()) return decoder.failMissing(".lo .hi .wide for integers");
  const bool saturates = kHasSum && words.take("sat");
  const Type type = words.takeType();
  if (saturates) {
    if (mode != "hi" || type != Type::S32) return decoder.failType(".hi.s32 where it saturates");
    out.run = runAlike<kPlusSaturating<kHigh>, int32_t, 3>;
    return decoder.alike(in, out, type, 3);
  }
  if (mode == "wide") {
    out.run = Narrow::choose(type, []<class T>(T) -> Execute {
      using W = TwiceOf<T>;
      return kHasSum ? Execute(runLanes<kPlus<kWide>, W, T, T, W>) : runLanes<kWide, W, T, T>;
    });
    if (!out.run) return decoder.failType(Narrow::names() + " with .wide");
    const Type wide = doubled(type);
    return kHasSum ? decoder.form(in, out, wide, {type, type, wide}) : decoder.form(in, out, wide, {type, type});
  }
  if (mode == "lo")
    out.run = Integers::chooseWidth(
        type, []<class T>(T) { return kHasSum ? runAlike<kPlus<kLow>, T, 3> : runAlike<kLow, T, 2>; });
  else
    out.run = Integers::choose(
        type, []<class T>(T) { return kHasSum ? runAlike<kPlus<kHigh>, T, 3> : runAlike<kHigh, T, 2>; });
  return out.run ? decoder.alike(in, out, type, kHasSum ? 3 : 2) : decoder.failType(Integers::names());
}

/// mul24 and mad24.
template <bool kHasSum> bool decodeProduct24(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  const std::string_view mode = words.takeOneOf({"lo", "hi"});
  if (mode.empty()) return decoder.failMissing(".lo .hi");
  const bool saturates = kHasSum && words.take("sat"), high = mode == "hi";
  const Type type = words.takeType();
  if (saturates && (!high || type != Type::S32)) return decoder.failType(".hi.s32 where it saturates");
  out.run = Words32::choose(type, [&]<class T>(T) {
    if constexpr (kHasSum) return high ? runAlike<kPlus<kHigh24>, T, 3> : runAlike<kPlus<kLow24>, T, 3>;
    return high ? runAlike<kHigh24, T, 2> : runAlike<kLow24, T, 2>;
  });
  if (!out.run) return decoder.failType(Words32::names());
  if (saturates) out.run = runAlike<kPlusSaturating<kHigh24>, int32_t, 3>;
  return decoder.alike(in, out, type, kHasSum ? 3 : 2);
}

/// c + the sum of four products of bytes; A and B say whether the bytes of a and of b have a sign.
constexpr auto kDot4 = []<class A, class B>(A, B, uint32_t a, uint32_t b, uint32_t c) -> uint32_t {
  for (int i = 0; i < 32; i += 8) c += uint32_t(int32_t(A(a >> i)) * int32_t(B(b >> i)));
  return c;
};
/// c + two products of halves of a with bytes of b: its low two bytes, or its high two.
template <int kFirst>
constexpr auto kDot2 = []<class A, class B>(A, B, uint32_t a, uint32_t b, uint32_t c) -> uint32_t {
  using Half = std::conditional_t<std::is_signed_v<A>, int16_t, uint16_t>;
  for (int i = 0; i < 2; ++i) c += uint32_t(int32_t(Half(a >> (16 * i))) * int32_t(B(b >> (8 * (kFirst + i)))));
  return c;
};

template <auto kDot> Execute dotOf(Type a, Type b) {
  return forFlag(isSigned(a), [&](auto aSigned) {
    return forFlag(isSigned(b), [](auto bSigned) {
      using A = std::conditional_t<decltype(aSigned)::value, int8_t, uint8_t>;
      using B = std::conditional_t<decltype(bSigned)::value, int8_t, uint8_t>;
      return runAlike<kBound<kDot, A{}, B{}>, uint32_t, 3>;
    });
  });
}

/// dp4a.atype.btype, dp2a.mode.atype.btype.
bool decodeDot(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  const bool two = in.opcode == "dp2a";
  const std::string_view mode = two ? words.takeOneOf({"lo", "hi"}) : std::string_view("all");
  if (mode.empty()) return decoder.failMissing(".lo .hi");
  const Type a = words.takeType(), b = words.takeType();
  if (!Words32::has(a) || !Words32::has(b)) return decoder.failType(".u32 .s32 for a and one for b");
  out.run = !two ? dotOf<kDot4>(a, b) : mode == "lo" ? dotOf<kDot2<0>>(a, b) : dotOf<kDot2<2>>(a, b);
  const Type sum = isSigned(a) || isSigned(b) ? Type::S32 : Type::U32;
  return decoder.form(in, out, sum, {Type::B32, Type::B32, sum});
}

constexpr OpcodeRow kRows[] = {
    {"dp2a", decodeDot},
    {"dp4a", decodeDot},
    {"mad", decodeProduct<true>, Domain::Integer},
    {"mad24", decodeProduct24<true>},
    {"mul", decodeProduct<false>, Domain::Integer},
    {"mul24", decodeProduct24<false>},
};

} // namespace

constinit OpcodeTable kMultiplyOpcodes = kRows;

} // namespace tiletwin::sim
