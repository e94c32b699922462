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

using AnyInteger = TypeSet<Type::U8, Type::U16, Type::U32, Type::U64, Type::S8, Type::S16, Type::S32, Type::S64>;

template <class D, class S, bool Sat>
constexpr auto kIntegerToInteger = [](Lane<S> lane) -> Lane<D> {
  const S x = S(lane);
  if constexpr (Sat) {
    if (std::cmp_less(x, std::numeric_limits<D>::min())) return std::numeric_limits<D>::min();
    if (std::cmp_greater(x, std::numeric_limits<D>::max())) return std::numeric_limits<D>::max();
  }
  return D(x);
};

template <class D, class Source, Round R>
constexpr auto kFloatToInteger = [](typename Source::Lane x) -> Lane<D> {
  if constexpr (std::is_same_v<Source, FromF64>)
    if (isNan(x)) return kIntegerOfNan64<D>;
  return toInteger<D, R>(Source::wide(x));
};

constexpr auto kIntegerToF64 = []<class S, Round R>(S, RoundConstant<R>, Lane<S> x) -> double {
  if constexpr (R == Round::NearestEven || sizeof(S) < 8) return double(S(x));
  return doubleOf(fromInteger<R>(kFormatF64, S(x)));
};
constexpr auto kIntegerToF32 = []<class S, Round R>(S, RoundConstant<R>, Lane<S> x) -> float {
  if constexpr (R == Round::NearestEven || sizeof(S) < 4) return float(S(x));
  return floatOf(uint32_t(fromInteger<R>(kFormatF32, S(x))));
};
template <class Half, const Format& kFormat>
constexpr auto kIntegerToHalf = []<class S, Round R>(S, RoundConstant<R>, Lane<S> x) -> uint16_t {
  if constexpr (R == Round::NearestEven && sizeof(S) < 4) return Half::narrow(float(S(x)));
  return uint16_t(fromInteger<R>(kFormat, S(x)));
};

template <auto kOp, class D> Execute chooseFromInteger(Type a, Round round) {
  return AnyInteger::choose(a, [&]<class S>(S) {
    return forRound(round, [](auto r) { return runLanes<kBound<kOp, S{}, decltype(r){}>, D, Lane<S>>; });
  });
}

Execute chooseToInteger(Type d, Type a, const ConvertWords& w) {
  return AnyInteger::choose(d, [&]<class D>(D) {
    return forSource(a, w.ftz, [&]<class S>(S) {
      return forRound(w.mode(), [](auto r) {
        return runLanes<kFloatToInteger<D, S, decltype(r)::value>, Lane<D>, typename S::Lane>;
      });
    });
  });
}

Execute chooseIntegers(Type d, Type a, bool sat) {
  return AnyInteger::choose(d, [&]<class D>(D) {
    return AnyInteger::choose(a, [&]<class S>(S) -> Execute {
      if (!sat) return runLanes<kIntegerToInteger<D, S, false>, Lane<D>, Lane<S>>;
      constexpr bool holdsAll = std::cmp_less_equal(std::numeric_limits<D>::min(), std::numeric_limits<S>::min()) &&
                                std::cmp_greater_equal(std::numeric_limits<D>::max(), std::numeric_limits<S>::max());
      if constexpr (holdsAll)
        return nullptr; // nothing to saturate: the ISA has no such form
      else
        return runLanes<kIntegerToInteger<D, S, true>, Lane<D>, Lane<S>>;
    });
  });
}

} // namespace

Execute chooseInteger(Type d, Type a, const ConvertWords& w) {
  if (w.hasExtras()) return nullptr;
  if (isIntegerType(d) && isIntegerType(a)) return w.ftz || !w.round.empty() ? nullptr : chooseIntegers(d, a, w.sat);
  if (isIntegerType(d)) return w.isIntegral() ? chooseToInteger(d, a, w) : nullptr;
  if (!w.isDirected()) return nullptr;
  switch (w.ftz && d != Type::F32 ? Type::None : d) {
  case Type::F64: return chooseFromInteger<kIntegerToF64, double>(a, w.mode());
  case Type::F32: return chooseFromInteger<kIntegerToF32, float>(a, w.mode());
  case Type::F16: return chooseFromInteger<kIntegerToHalf<half::F16, kFormatF16>, uint16_t>(a, w.mode());
  case Type::BF16: return chooseFromInteger<kIntegerToHalf<half::BF16, kFormatBF16>, uint16_t>(a, w.mode());
  default: return nullptr;
  }
}

namespace {

/// cvt.pack: a and b, each clamped to `Bits` bits, a above b; above them the low bits of c.
template <int Bits, bool IsSigned>
constexpr auto kPack = [](int32_t a, int32_t b, auto... c) -> uint32_t {
  const auto clamp = [](int32_t x) {
    constexpr int32_t least = IsSigned ? -(1 << (Bits - 1)) : 0;
    constexpr int32_t most = (1 << (IsSigned ? Bits - 1 : Bits)) - 1;
    return uint32_t(std::clamp(x, least, most)) & ((1u << Bits) - 1);
  };
  return ((c << (2 * Bits)) | ... | (clamp(a) << Bits | clamp(b)));
};

template <int Bits> Execute choosePack(bool isSigned) {
  return forFlag(isSigned, [](auto s) -> Execute {
    constexpr auto kOp = kPack<Bits, decltype(s)::value>;
    if constexpr (Bits == 16)
      return runLanes<kOp, uint32_t, int32_t, int32_t>;
    else
      return runLanes<kOp, uint32_t, int32_t, int32_t, uint32_t>;
  });
}

} // namespace

bool decodePack(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  if (!words.take("sat")) return decoder.failMissing(".sat");
  const std::string_view type = words.takeOneOf({"u16", "s16", "u8", "s8", "u4", "s4", "u2", "s2"});
  if (type.empty()) return decoder.failType(".u16 .s16 .u8 .s8 .u4 .s4 .u2 .s2");
  if (!words.take("s32")) return decoder.failMissing(".s32");
  const bool isSigned = type[0] == 's';
  out.run = type == "u16" || type == "s16" ? choosePack<16>(isSigned)
            : type.substr(1) == "8"        ? choosePack<8>(isSigned)
            : type.substr(1) == "4"        ? choosePack<4>(isSigned)
                                           : choosePack<2>(isSigned);
  if (type.substr(1) == "16") return decoder.form(in, out, Type::B32, {Type::S32, Type::S32});
  if (!words.take("b32")) return decoder.failMissing(".b32");
  return decoder.form(in, out, Type::B32, {Type::S32, Type::S32, Type::B32});
}

} // namespace tiletwin::sim
