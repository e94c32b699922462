// sim/isa/Approx.cpp -- ex2 lg2 sin cos tanh rsqrt, and div, rcp and sqrt with .approx or .full, for f32, f16, bf16 and f64.
// Not here:  the special function unit itself (numerics/Special.h).
// Source:    PTX ISA, 9.7.3 and 9.7.4, and the instructions that ptxas 13 makes for sm_90: the unit takes and gives no subnormal
//            numbers, so that instructions without .ftz scale before and after it.
#include "sim/isa/Contract.h"
#include "sim/isa/Float.h"
#include "sim/numerics/Double.h"
#include "sim/numerics/Special.h"

namespace tiletwin::sim {
namespace {

using ptx::Type;

bool isSubnormal(float x) { return std::fabs(x) < 0x1p-126f; }

constexpr auto kEx2 = []<bool Ftz>(std::bool_constant<Ftz>, float x) -> float {
  if (Ftz || !(x < -126)) return special::ex2(x);
  const float half = special::ex2(x * 0.5f);
  return half * half;
};
constexpr auto kLg2 = []<bool Ftz>(std::bool_constant<Ftz>, float x) -> float {
  if (Ftz || !isSubnormal(x)) return special::lg2(x);
  return canonical(special::lg2(x * 0x1p24f) - 24);
};
constexpr auto kRsqrt = []<bool Ftz>(std::bool_constant<Ftz>, float x) -> float {
  if (Ftz || !isSubnormal(x)) return special::rsqrt(x);
  return canonical(special::rsqrt(x * 0x1p24f) * 0x1p12f);
};
constexpr auto kSqrt = []<bool Ftz>(std::bool_constant<Ftz>, float x) -> float {
  if (Ftz || !isSubnormal(x)) return special::sqrt(x);
  return canonical(special::sqrt(x * 0x1p24f) * 0x1p-12f);
};
constexpr auto kRcp = []<bool Ftz>(std::bool_constant<Ftz>, float x) -> float {
  if constexpr (Ftz) return special::rcp(x);
  const float scale = std::fabs(x) > 0x1p126f ? 0.25f : isSubnormal(x) ? 0x1p24f : 1.0f;
  return canonical(scale * special::rcp(x * scale));
};
/// .approx: the product with the reciprocal; divisors above 2^126 have none.
constexpr auto kDivApprox = []<bool Ftz>(std::bool_constant<Ftz>, float a, float b) -> float {
  if constexpr (Ftz) return canonical(flushed(flushed(a) * special::rcp(b)));
  const float scale = isSubnormal(b) ? 0x1p24f : 1.0f;
  return canonical(special::rcp(b * scale) * (a * scale));
};
/// .full: both operands are scaled so that the divisor's reciprocal is a normal number.
constexpr auto kDivFull = []<bool Ftz>(std::bool_constant<Ftz>, float a, float b) -> float {
  const float x = Ftz ? flushed(a) : a, y = Ftz ? flushed(b) : b;
  const float scale = std::fabs(y) > 0x1p126f ? 0.25f : !Ftz && isSubnormal(y) ? 0x1p24f : 1.0f;
  const float sx = x * scale, product = special::rcp(y * scale) * (Ftz ? flushed(sx) : sx);
  return canonical(Ftz ? flushed(product) : product);
};

/// The quotient's last product and a sum are one fma (Contract.h): what a quotient multiplies, and what with.
template <bool Full, bool Ftz> std::pair<float, float> factors(float a, float b) {
  const float x = Ftz ? flushed(a) : a, y = Ftz ? flushed(b) : b;
  float scale = 1;
  if (Full && std::fabs(y) > 0x1p126f)
    scale = 0.25f;
  else if (!Ftz && isSubnormal(y))
    scale = 0x1p24f;
  const float scaled = x * scale;
  return {special::rcp(y * scale), Ftz ? flushed(scaled) : scaled};
}
template <bool Full, bool Ftz, bool Sat, bool Product, bool Addend>
constexpr auto kDivSum = [](float a, float b, float c) -> float {
  const auto [inverse, dividend] = factors<Full, Ftz>(a, b);
  const float addend = Ftz ? flushed(c) : c;
  const float sum = std::fma(inverse, Product ? -dividend : dividend, Addend ? -addend : addend);
  const float rounded = Ftz ? flushed(sum) : sum;
  return canonical(Sat ? saturated(rounded) : rounded);
};

/// Turns: the angle times 1 / 2 pi, toward zero.
inline float turns(float x) { return single::kMul(RoundConstant<Round::TowardZero>(), x, floatOf(0x3E22F983)); }
constexpr auto kSin = [](auto, float x) -> float { return special::sin(turns(x)); };
constexpr auto kCos = [](auto, float x) -> float { return special::cos(turns(x)); };

/// An f32 function on f16 or bf16, truncated.
template <class F, auto kOp, bool Ftz>
constexpr auto kNarrowed = [](uint16_t x) -> uint16_t {
  const uint16_t r = F::truncate(kOp(F::wide(Ftz ? F::flush(x) : x)));
  return Ftz ? F::flush(r) : r;
};

/// Without .ftz: a step of Newton's method in f64 behind the unit; subnormal numbers are scaled.
double refinedRsqrt(double x) {
  const double r = special::rsqrt64(x), error = __builtin_fma(x, -(r * r), 1.0);
  return __builtin_fma(__builtin_fma(error, 0.375, 0.5), r * error, r);
}
double exactRsqrt(double x) {
  if (x != x) return binary64::quiet(x);
  if (x == 0) return doubleOf((bitsOf(x) & kSign64) | kInfinity64);
  if (x < 0) return doubleOf(kNan64);
  if (x == doubleOf(kInfinity64)) return 0;
  return x < 0x1p-1022 ? refinedRsqrt(x * 0x1p54) * 0x1p27 : refinedRsqrt(x);
}

template <auto kOp> Execute chooseUnary(bool ftz) {
  return forFlag(ftz, [](auto f) -> Execute { return runAlike<kBound<kOp, decltype(f){}>, float, 1>; });
}

template <class F, auto kOp, bool Ftz> Execute chooseNarrow(bool isPacked) {
  return isPacked ? (runAlike<half::kPacked<kNarrowed<F, kOp, Ftz>>, uint32_t, 1>)
                  : runAlike<kNarrowed<F, kOp, Ftz>, uint16_t, 1>;
}

bool isHalf(Type t) { return t == Type::F16 || t == Type::F16x2; }
bool isBrain(Type t) { return t == Type::BF16 || t == Type::BF16x2; }

/// The words .approx and .ftz, a type, two operands. `choose` gives what runs, or null.
template <class Choose>
bool decodeUnaryApprox(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out, Choose&& choose) {
  if (!words.take("approx")) return decoder.failMissing(".approx");
  const bool ftz = words.take("ftz");
  const Type type = words.takeType();
  out.run = choose(type, ftz);
  if (!out.run) return decoder.refuse("no such form: modifiers or a type that it does not have");
  special::prepare();
  out.kind = InstClass::Special;
  return decoder.alike(in, out, type, 1);
}

bool decodeEx2(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  return decodeUnaryApprox(decoder, in, words, out, [](Type type, bool ftz) -> Execute {
    if (type == Type::F32) return chooseUnary<kEx2>(ftz);
    if (isHalf(type) && !ftz)
      return chooseNarrow<half::F16, kBound<kEx2, std::false_type{}>, false>(type == Type::F16x2);
    if (isBrain(type) && ftz)
      return chooseNarrow<half::BF16, kBound<kEx2, std::true_type{}>, true>(type == Type::BF16x2);
    return nullptr;
  });
}

bool decodeTanh(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  return decodeUnaryApprox(decoder, in, words, out, [](Type type, bool ftz) -> Execute {
    if (ftz) return nullptr;
    if (type == Type::F32) return runAlike<special::tanh, float, 1>;
    if (isHalf(type)) return chooseNarrow<half::F16, special::tanh, false>(type == Type::F16x2);
    if (isBrain(type)) return chooseNarrow<half::BF16, special::tanh, false>(type == Type::BF16x2);
    return nullptr;
  });
}

template <auto kOp> bool decodeSingle(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  return decodeUnaryApprox(decoder, in, words, out, [](Type type, bool ftz) -> Execute {
    return type == Type::F32 ? chooseUnary<kOp>(ftz) : nullptr;
  });
}

bool decodeRsqrt(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  return decodeUnaryApprox(decoder, in, words, out, [](Type type, bool ftz) -> Execute {
    if (type == Type::F64)
      return ftz ? Execute(runAlike<special::rsqrt64, double, 1>) : runAlike<exactRsqrt, double, 1>;
    return type == Type::F32 ? chooseUnary<kRsqrt>(ftz) : nullptr;
  });
}

constexpr OpcodeRow kRows[] = {
    {"cos", decodeSingle<kCos>}, {"ex2", decodeEx2},          {"lg2", decodeSingle<kLg2>},
    {"rsqrt", decodeRsqrt},      {"sin", decodeSingle<kSin>}, {"tanh", decodeTanh},
};

} // namespace

bool decodeApproximateRcp(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  return decodeUnaryApprox(decoder, in, words, out, [](Type type, bool ftz) -> Execute {
    if (type == Type::F64) return ftz ? Execute(runAlike<special::rcp64, double, 1>) : nullptr;
    return type == Type::F32 ? chooseUnary<kRcp>(ftz) : nullptr;
  });
}

bool decodeApproximateSqrt(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  return decodeSingle<kSqrt>(decoder, in, words, out);
}

bool decodeApproximateDiv(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  const bool full = words.take("full");
  if (!full && !words.take("approx")) return decoder.failMissing(".approx .full");
  const bool ftz = words.take("ftz");
  const Type type = words.takeType();
  if (type != Type::F32) return decoder.failType(".f32 where it is approximate");
  FloatWords signs;
  signs.negatesProduct = words.take(kNegatedProduct);
  signs.negatesAddend = words.take(kNegatedAddend);
  special::prepare();
  out.kind = InstClass::Special;
  if (words.take(kQuotientSum)) {
    const auto choose = [&](auto f, auto isFull, auto sat) -> Execute {
      return forNegations(signs, [&](auto product, auto addend) -> Execute {
        return runAlike<kDivSum<decltype(isFull)::value, decltype(f)::value, decltype(sat)::value,
                                decltype(product)::value, decltype(addend)::value>,
                        float, 3>;
      });
    };
    const bool saturates = words.take("sat");
    out.run = forFlag(ftz, [&](auto f) -> Execute {
      return forFlag(full, [&](auto isFull) -> Execute {
        return forFlag(saturates, [&](auto sat) -> Execute { return choose(f, isFull, sat); });
      });
    });
    return decoder.alike(in, out, type, 3);
  }
  out.run = forFlag(ftz, [&](auto f) -> Execute {
    return full ? Execute(runAlike<kBound<kDivFull, decltype(f){}>, float, 2>)
                : runAlike<kBound<kDivApprox, decltype(f){}>, float, 2>;
  });
  return decoder.alike(in, out, type, 2);
}

constinit OpcodeTable kApproxOpcodes = kRows;

} // namespace tiletwin::sim
