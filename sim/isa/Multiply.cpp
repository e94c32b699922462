// sim/isa/Multiply.cpp -- products of integers: mul, mad (.lo .hi .wide), mul24, mad24, dp4a, dp2a.
// Source:    PTX ISA, 9.7.1.3 to 9.7.1.6, 9.7.1.23, 9.7.1.24.
// Not here:  mad.cc and madc (Carry.cpp), products of floats (Float.cpp).
#include "sim/isa/Forms.h"
#include "sim/isa/Integer.h"
#include <algorithm>

namespace tiletwin::sim {
namespace {

using ptx::Type;

template <class T> struct Twice;
template <> struct Twice<uint16_t> {
  using type = uint32_t;
};
template <> struct Twice<int16_t> {
  using type = int32_t;
};
template <> struct Twice<uint32_t> {
  using type = uint64_t;
};
template <> struct Twice<int32_t> {
  using type = int64_t;
};
template <> struct Twice<uint64_t> {
  using type = unsigned __int128;
};
template <> struct Twice<int64_t> {
  using type = __int128;
};
template <class T> using TwiceOf = typename Twice<T>::type;

/// The low half of a product; T is unsigned. In 32 bits at least: 16 bits would become int, and overflow.
struct Low {
  template <class T> static T apply(T a, T b) {
    using W = std::conditional_t<sizeof(T) < 4, uint32_t, T>;
    return T(W(a) * W(b));
  }
};
struct High {
  template <class T> static T apply(T a, T b) { return T(TwiceOf<T>(a) * TwiceOf<T>(b) >> (8 * sizeof(T))); }
};
struct Wide {
  template <class T> static TwiceOf<T> apply(T a, T b) { return TwiceOf<T>(TwiceOf<T>(a) * TwiceOf<T>(b)); }
};
/// Bits 0 to 31 and 16 to 47 of the product of the operands' low 24 bits.
template <class T> int64_t low24(T a) {
  return std::is_signed_v<T> ? int64_t(int32_t(uint32_t(a) << 8) >> 8) : int64_t(uint32_t(a) & 0xFFFFFF);
}
struct Low24 {
  template <class T> static T apply(T a, T b) { return T(low24(a) * low24(b)); }
};
struct High24 {
  template <class T> static T apply(T a, T b) { return T(low24(a) * low24(b) >> 16); }
};

/// Product + c, wrapping.
template <class Product> struct Plus {
  template <class T, class C> static C apply(T a, T b, C c) {
    using U = std::make_unsigned_t<C>;
    return C(U(U(Product::apply(a, b)) + U(c)));
  }
};
template <class Product> struct PlusSaturating {
  static int32_t apply(int32_t a, int32_t b, int32_t c) {
    return int32_t(std::clamp<int64_t>(int64_t(Product::apply(a, b)) + c, INT32_MIN, INT32_MAX));
  }
};

Type doubled(Type type) {
  switch (type) {
  case Type::U16: return Type::U32;
  case Type::S16: return Type::S32;
  case Type::U32: return Type::U64;
  case Type::S32: return Type::S64;
  default: return Type::None;
  }
}

bool decodeMul(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  const std::string_view mode = words.takeOneOf({"lo", "hi", "wide"});
  if (mode.empty()) return failMissing(decoder, in, ".lo .hi .wide for integers");
  const Type type = words.takeType();
  if (mode == "wide") {
    if (doubled(type) == Type::None) return failType(decoder, in, ".u16 .s16 .u32 .s32 with .wide");
    out.run = forInteger(type, [](auto t) -> Execute {
      using T = decltype(t);
      if constexpr (sizeof(T) == 8)
        return nullptr;
      else
        return runBinary<Wide, TwiceOf<T>, T, T>;
    });
    return decodeBinary(decoder, in, doubled(type), type, type, out);
  }
  if (!isInteger(type)) return failType(decoder, in, ".u16 .u32 .u64 .s16 .s32 .s64");
  out.run =
      mode == "lo"
          ? forWidth(type, [](auto t) -> Execute { return runBinary<Low, decltype(t), decltype(t), decltype(t)>; })
          : forInteger(type, [](auto t) -> Execute { return runBinary<High, decltype(t), decltype(t), decltype(t)>; });
  return decodeBinary(decoder, in, type, type, type, out);
}

bool decodeMad(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  if (words.take("cc")) return decodeMadCarry(decoder, in, words, out);
  const std::string_view mode = words.takeOneOf({"lo", "hi", "wide"});
  if (mode.empty()) return failMissing(decoder, in, ".lo .hi .wide for integers");
  const bool saturates = words.take("sat");
  const Type type = words.takeType();
  if (saturates) {
    if (mode != "hi" || type != Type::S32) return failType(decoder, in, ".hi.s32 where it saturates");
    out.run = runTernary<PlusSaturating<High>, int32_t, int32_t, int32_t, int32_t>;
    return decodeTernary(decoder, in, type, type, type, type, out);
  }
  if (mode == "wide") {
    const Type wide = doubled(type);
    if (wide == Type::None) return failType(decoder, in, ".u16 .s16 .u32 .s32 with .wide");
    out.run = forInteger(type, [](auto t) -> Execute {
      using T = decltype(t);
      if constexpr (sizeof(T) == 8)
        return nullptr;
      else
        return runTernary<Plus<Wide>, TwiceOf<T>, T, T, TwiceOf<T>>;
    });
    return decodeTernary(decoder, in, wide, type, type, wide, out);
  }
  if (!isInteger(type)) return failType(decoder, in, ".u16 .u32 .u64 .s16 .s32 .s64");
  out.run = mode == "lo" ? forWidth(type,
                                    [](auto t) -> Execute {
                                      using T = decltype(t);
                                      return runTernary<Plus<Low>, T, T, T, T>;
                                    })
                         : forInteger(type, [](auto t) -> Execute {
                             using T = decltype(t);
                             return runTernary<Plus<High>, T, T, T, T>;
                           });
  return decodeTernary(decoder, in, type, type, type, type, out);
}

bool decodeMul24(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  const std::string_view mode = words.takeOneOf({"lo", "hi"});
  if (mode.empty()) return failMissing(decoder, in, ".lo .hi");
  const Type type = words.takeType();
  if (type != Type::U32 && type != Type::S32) return failType(decoder, in, ".u32 .s32");
  const bool high = mode == "hi";
  if (type == Type::S32)
    out.run = high ? runBinary<High24, int32_t, int32_t, int32_t> : runBinary<Low24, int32_t, int32_t, int32_t>;
  else
    out.run = high ? runBinary<High24, uint32_t, uint32_t, uint32_t> : runBinary<Low24, uint32_t, uint32_t, uint32_t>;
  return decodeBinary(decoder, in, type, type, type, out);
}

template <class T> Execute mad24(bool high) {
  return high ? runTernary<Plus<High24>, T, T, T, T> : runTernary<Plus<Low24>, T, T, T, T>;
}

bool decodeMad24(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  const std::string_view mode = words.takeOneOf({"lo", "hi"});
  if (mode.empty()) return failMissing(decoder, in, ".lo .hi");
  const bool saturates = words.take("sat"), high = mode == "hi";
  const Type type = words.takeType();
  if (saturates && (!high || type != Type::S32)) return failType(decoder, in, ".hi.s32 where it saturates");
  if (type != Type::U32 && type != Type::S32) return failType(decoder, in, ".u32 .s32");
  out.run = saturates           ? runTernary<PlusSaturating<High24>, int32_t, int32_t, int32_t, int32_t>
            : type == Type::S32 ? mad24<int32_t>(high)
                                : mad24<uint32_t>(high);
  return decodeTernary(decoder, in, type, type, type, type, out);
}

/// c + the sum of four products of bytes; A and B say whether the bytes of a and of b have a sign.
template <class A, class B> struct Dot4 {
  static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
    for (int i = 0; i < 32; i += 8) c += uint32_t(int32_t(A(a >> i)) * int32_t(B(b >> i)));
    return c;
  }
};
/// c + two products of halves of a with bytes of b: its low two bytes, or its high two.
template <class A, class B, int kFirst> struct Dot2 {
  using Half = std::conditional_t<std::is_signed_v<A>, int16_t, uint16_t>;
  static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
    for (int i = 0; i < 2; ++i) c += uint32_t(int32_t(Half(a >> (16 * i))) * int32_t(B(b >> (8 * (kFirst + i)))));
    return c;
  }
};
template <class A, class B> using Dot2Low = Dot2<A, B, 0>;
template <class A, class B> using Dot2High = Dot2<A, B, 2>;

template <template <class, class> class Dot> Execute dotOf(bool aSigned, bool bSigned) {
  using U = uint32_t;
  if (aSigned)
    return bSigned ? runTernary<Dot<int8_t, int8_t>, U, U, U, U> : runTernary<Dot<int8_t, uint8_t>, U, U, U, U>;
  return bSigned ? runTernary<Dot<uint8_t, int8_t>, U, U, U, U> : runTernary<Dot<uint8_t, uint8_t>, U, U, U, U>;
}

/// dp4a.atype.btype, dp2a.mode.atype.btype.
bool decodeDot(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  const bool two = in.opcode == "dp2a";
  const std::string_view mode = two ? words.takeOneOf({"lo", "hi"}) : std::string_view("all");
  if (mode.empty()) return failMissing(decoder, in, ".lo .hi");
  const Type a = words.takeType(), b = words.takeType();
  if ((a != Type::U32 && a != Type::S32) || (b != Type::U32 && b != Type::S32))
    return failType(decoder, in, ".u32 .s32 for a and one for b");
  out.run = !two           ? dotOf<Dot4>(isSigned(a), isSigned(b))
            : mode == "lo" ? dotOf<Dot2Low>(isSigned(a), isSigned(b))
                           : dotOf<Dot2High>(isSigned(a), isSigned(b));
  const Type sum = isSigned(a) || isSigned(b) ? Type::S32 : Type::U32;
  return decodeTernary(decoder, in, sum, Type::B32, Type::B32, sum, out);
}

constexpr OpcodeRow kRows[] = {
    {"dp2a", decodeDot},
    {"dp4a", decodeDot},
    {"mad", decodeMad, Domain::Integer},
    {"mad24", decodeMad24},
    {"mul", decodeMul, Domain::Integer},
    {"mul24", decodeMul24},
};

} // namespace

constinit const std::span<const OpcodeRow> kMultiplyOpcodes = kRows;

} // namespace tiletwin::sim
