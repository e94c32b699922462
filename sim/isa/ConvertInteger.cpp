// sim/isa/ConvertInteger.cpp -- cvt from or to integers, and cvt.pack.
// Source:    PTX ISA, 9.7.9 (cvt, cvt.pack). 8-bit values take 16 bits a lane, extended as their type says.
#include "sim/isa/Convert.h"
#include <algorithm>
#include <utility>

namespace tiletwin::sim {
namespace {

using ptx::Type;

/// The lanes of an integer type.
template <class T>
using Lane = std::conditional_t<sizeof(T) == 1, std::conditional_t<std::is_signed_v<T>, int16_t, uint16_t>, T>;

template <class Pick> Execute forAnyInteger(Type type, Pick&& pick) {
  switch (type) {
  case Type::U8: return pick(uint8_t());
  case Type::S8: return pick(int8_t());
  default: return forInteger(type, pick);
  }
}

template <class D, class S, bool Sat> struct IntegerToInteger {
  static Lane<D> apply(Lane<S> lane) {
    const S x = S(lane);
    if constexpr (Sat) {
      if (std::cmp_less(x, std::numeric_limits<D>::min())) return std::numeric_limits<D>::min();
      if (std::cmp_greater(x, std::numeric_limits<D>::max())) return std::numeric_limits<D>::max();
    }
    return D(x);
  }
};

template <class D, class Source, Round R> struct FloatToInteger {
  static Lane<D> apply(typename Source::Lane x) {
    if constexpr (std::is_same_v<Source, FromF64>)
      if (isNan(x)) return kIntegerOfNan64<D>;
    return toInteger<D, R>(Source::wide(x));
  }
};

template <class S, Round R> struct IntegerToF64 {
  static double apply(Lane<S> x) {
    if constexpr (R == Round::NearestEven || sizeof(S) < 8) return double(S(x));
    return doubleOf(fromInteger<R>(kFormatF64, S(x)));
  }
};
template <class S, Round R> struct IntegerToF32 {
  static float apply(Lane<S> x) {
    if constexpr (R == Round::NearestEven || sizeof(S) < 4) return float(S(x));
    return floatOf(uint32_t(fromInteger<R>(kFormatF32, S(x))));
  }
};
template <class S, Round R> struct IntegerToF16 {
  static uint16_t apply(Lane<S> x) {
    if constexpr (R == Round::NearestEven && sizeof(S) < 4) return half::F16::narrow(float(S(x)));
    return uint16_t(fromInteger<R>(kFormatF16, S(x)));
  }
};
template <class S, Round R> struct IntegerToBF16 {
  static uint16_t apply(Lane<S> x) {
    if constexpr (R == Round::NearestEven && sizeof(S) < 4) return half::BF16::narrow(float(S(x)));
    return uint16_t(fromInteger<R>(kFormatBF16, S(x)));
  }
};

template <template <class, Round> class Op, class D> Execute chooseFromInteger(Type a, Round round) {
  return forAnyInteger(a, [&](auto s) -> Execute {
    using S = decltype(s);
    return forRound(round, [](auto r) -> Execute { return runUnary<Op<S, decltype(r)::value>, D, Lane<S>>; });
  });
}

Execute chooseToInteger(Type d, Type a, const ConvertWords& w) {
  return forAnyInteger(d, [&](auto t) -> Execute {
    using D = decltype(t);
    return forSource(a, w.ftz, [&](auto source) -> Execute {
      using S = decltype(source);
      return forRound(w.mode(), [](auto r) -> Execute {
        return runUnary<FloatToInteger<D, S, decltype(r)::value>, Lane<D>, typename S::Lane>;
      });
    });
  });
}

Execute chooseIntegers(Type d, Type a, bool sat) {
  return forAnyInteger(d, [&](auto t) -> Execute {
    return forAnyInteger(a, [&](auto s) -> Execute {
      using D = decltype(t);
      using S = decltype(s);
      if (!sat) return runUnary<IntegerToInteger<D, S, false>, Lane<D>, Lane<S>>;
      constexpr bool holdsAll = std::cmp_less_equal(std::numeric_limits<D>::min(), std::numeric_limits<S>::min()) &&
                                std::cmp_greater_equal(std::numeric_limits<D>::max(), std::numeric_limits<S>::max());
      if constexpr (holdsAll)
        return nullptr; // nothing to saturate: the ISA has no such form
      else
        return runUnary<IntegerToInteger<D, S, true>, Lane<D>, Lane<S>>;
    });
  });
}

} // namespace

Execute chooseInteger(Type d, Type a, const ConvertWords& w) {
  const auto isByte = [](Type t) { return t == Type::U8 || t == Type::S8; };
  if (w.hasExtras() || (d == Type::BF16 && isByte(a)) || (a == Type::BF16 && isByte(d))) return nullptr;
  if (isIntegerType(d) && isIntegerType(a)) return w.ftz || !w.round.empty() ? nullptr : chooseIntegers(d, a, w.sat);
  if (isIntegerType(d)) return w.isIntegral() ? chooseToInteger(d, a, w) : nullptr;
  if (!w.isDirected()) return nullptr;
  switch (w.ftz && d != Type::F32 ? Type::None : d) {
  case Type::F64: return chooseFromInteger<IntegerToF64, double>(a, w.mode());
  case Type::F32: return chooseFromInteger<IntegerToF32, float>(a, w.mode());
  case Type::F16: return chooseFromInteger<IntegerToF16, uint16_t>(a, w.mode());
  case Type::BF16: return chooseFromInteger<IntegerToBF16, uint16_t>(a, w.mode());
  default: return nullptr;
  }
}

namespace {

/// cvt.pack: a and b, each clamped to `Bits` bits, a above b; above them the low bits of c.
template <int Bits, bool IsSigned> struct Pack {
  static uint32_t clamp(int32_t x) {
    constexpr int32_t least = IsSigned ? -(1 << (Bits - 1)) : 0;
    constexpr int32_t most = (1 << (IsSigned ? Bits - 1 : Bits)) - 1;
    return uint32_t(std::clamp(x, least, most)) & ((1u << Bits) - 1);
  }
  static uint32_t apply(int32_t a, int32_t b) { return clamp(a) << Bits | clamp(b); }
  static uint32_t apply(int32_t a, int32_t b, uint32_t c) { return c << (2 * Bits) | apply(a, b); }
};

template <int Bits> Execute choosePack(bool isSigned) {
  return forFlag(isSigned, [](auto s) -> Execute {
    using Op = Pack<Bits, decltype(s)::value>;
    if constexpr (Bits == 16)
      return runBinary<Op, uint32_t, int32_t, int32_t>;
    else
      return runTernary<Op, uint32_t, int32_t, int32_t, uint32_t>;
  });
}

} // namespace

bool decodePack(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  if (!words.take("sat")) return failMissing(decoder, in, ".sat");
  const std::string_view type = words.takeOneOf({"u16", "s16", "u8", "s8", "u4", "s4", "u2", "s2"});
  if (type.empty()) return failType(decoder, in, ".u16 .s16 .u8 .s8 .u4 .s4 .u2 .s2");
  if (!words.take("s32")) return failMissing(decoder, in, ".s32");
  const bool isSigned = type[0] == 's';
  out.run = type == "u16" || type == "s16" ? choosePack<16>(isSigned)
            : type.substr(1) == "8"        ? choosePack<8>(isSigned)
            : type.substr(1) == "4"        ? choosePack<4>(isSigned)
                                           : choosePack<2>(isSigned);
  if (type.substr(1) == "16") return decodeBinary(decoder, in, Type::B32, Type::S32, Type::S32, out);
  if (!words.take("b32")) return failMissing(decoder, in, ".b32");
  return decodeTernary(decoder, in, Type::B32, Type::S32, Type::S32, Type::B32, out);
}

} // namespace tiletwin::sim
