// sim/isa/Approx.cpp -- ex2 lg2 sin cos tanh rsqrt, and div, rcp and sqrt with .approx or .full, for f32, f16, bf16 and f64.
// Not here:  the special function unit itself (numerics/Special.h).
// Source:    PTX ISA, 9.7.3 and 9.7.4, and the instructions that ptxas 13 makes for sm_90: the unit takes and gives no subnormal
//            numbers, so that instructions without .ftz scale before and after it.
#include "sim/isa/Float.h"
#include "sim/numerics/Double.h"
#include "sim/numerics/Special.h"

namespace tiletwin::sim {
namespace {

using ptx::Type;

bool isSubnormal(float x) { return std::fabs(x) < 0x1p-126f; }

template <bool Ftz> struct Ex2 {
  static float apply(float x) {
    if (Ftz || !(x < -126)) return special::ex2(x);
    const float half = special::ex2(x * 0.5f);
    return half * half;
  }
};
template <bool Ftz> struct Lg2 {
  static float apply(float x) {
    if (Ftz || !isSubnormal(x)) return special::lg2(x);
    return canonical(special::lg2(x * 0x1p24f) - 24);
  }
};
template <bool Ftz> struct Rsqrt {
  static float apply(float x) {
    if (Ftz || !isSubnormal(x)) return special::rsqrt(x);
    return canonical(special::rsqrt(x * 0x1p24f) * 0x1p12f);
  }
};
template <bool Ftz> struct Sqrt {
  static float apply(float x) {
    if (Ftz || !isSubnormal(x)) return special::sqrt(x);
    return canonical(special::sqrt(x * 0x1p24f) * 0x1p-12f);
  }
};
template <bool Ftz> struct Rcp {
  static float apply(float x) {
    if constexpr (Ftz) return special::rcp(x);
    const float scale = std::fabs(x) > 0x1p126f ? 0.25f : isSubnormal(x) ? 0x1p24f : 1.0f;
    return canonical(scale * special::rcp(x * scale));
  }
};
/// .approx: the product with the reciprocal; divisors above 2^126 have none.
template <bool Ftz> struct DivApprox {
  static float apply(float a, float b) {
    if constexpr (Ftz) return canonical(flushed(flushed(a) * special::rcp(b)));
    const float scale = isSubnormal(b) ? 0x1p24f : 1.0f;
    return canonical(special::rcp(b * scale) * (a * scale));
  }
};
/// .full: both operands are scaled so that the divisor's reciprocal is a normal number.
template <bool Ftz> struct DivFull {
  static float apply(float a, float b) {
    const float x = Ftz ? flushed(a) : a, y = Ftz ? flushed(b) : b;
    const float scale = std::fabs(y) > 0x1p126f ? 0.25f : !Ftz && isSubnormal(y) ? 0x1p24f : 1.0f;
    const float sx = x * scale, product = special::rcp(y * scale) * (Ftz ? flushed(sx) : sx);
    return canonical(Ftz ? flushed(product) : product);
  }
};

/// Turns: the angle times 1 / 2 pi, toward zero.
inline float turns(float x) { return single::Mul<Round::TowardZero>::apply(x, floatOf(0x3E22F983)); }
struct Sin {
  static float apply(float x) { return special::sin(turns(x)); }
};
struct Cos {
  static float apply(float x) { return special::cos(turns(x)); }
};
struct Tanh {
  static float apply(float x) { return special::tanh(x); }
};

/// An f32 function on f16 or bf16, truncated.
template <class F, class Op, bool Ftz> struct Narrowed {
  static uint16_t apply(uint16_t x) {
    const uint16_t r = F::truncate(Op::apply(F::wide(Ftz ? F::flush(x) : x)));
    return Ftz ? F::flush(r) : r;
  }
};

struct Rcp64 {
  static double apply(double x) { return special::rcp64(x); }
};
struct Rsqrt64Ftz {
  static double apply(double x) { return special::rsqrt64(x); }
};
/// Without .ftz: a step of Newton's method in f64 behind the unit; subnormal numbers are scaled.
struct Rsqrt64 {
  static double refined(double x) {
    const double r = special::rsqrt64(x), error = __builtin_fma(x, -(r * r), 1.0);
    return __builtin_fma(__builtin_fma(error, 0.375, 0.5), r * error, r);
  }
  static double apply(double x) {
    if (x != x) return binary64::quiet(x);
    if (x == 0) return doubleOf((bitsOf(x) & kSign64) | kInfinity64);
    if (x < 0) return doubleOf(kNan64);
    if (x == doubleOf(kInfinity64)) return 0;
    return x < 0x1p-1022 ? refined(x * 0x1p54) * 0x1p27 : refined(x);
  }
};

template <template <bool> class Op> Execute chooseUnary(bool ftz) {
  return forFlag(ftz, [](auto f) -> Execute { return runAlike<Op<decltype(f)::value>, float, 1>; });
}

template <class F, class Op, bool Ftz> Execute chooseNarrow(bool isPacked) {
  return isPacked ? (runAlike<half::Packed<Narrowed<F, Op, Ftz>>, uint32_t, 1>)
                  : runAlike<Narrowed<F, Op, Ftz>, uint16_t, 1>;
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
    if (type == Type::F32) return chooseUnary<Ex2>(ftz);
    if (isHalf(type) && !ftz) return chooseNarrow<half::F16, Ex2<false>, false>(type == Type::F16x2);
    if (isBrain(type) && ftz) return chooseNarrow<half::BF16, Ex2<true>, true>(type == Type::BF16x2);
    return nullptr;
  });
}

bool decodeTanh(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  return decodeUnaryApprox(decoder, in, words, out, [](Type type, bool ftz) -> Execute {
    if (ftz) return nullptr;
    if (type == Type::F32) return runAlike<Tanh, float, 1>;
    if (isHalf(type)) return chooseNarrow<half::F16, Tanh, false>(type == Type::F16x2);
    if (isBrain(type)) return chooseNarrow<half::BF16, Tanh, false>(type == Type::BF16x2);
    return nullptr;
  });
}

template <template <bool> class Op>
bool decodeSingle(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  return decodeUnaryApprox(decoder, in, words, out, [](Type type, bool ftz) -> Execute {
    return type == Type::F32 ? chooseUnary<Op>(ftz) : nullptr;
  });
}

template <class Op> bool decodeAngle(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  return decodeUnaryApprox(decoder, in, words, out, [](Type type, bool) -> Execute {
    return type == Type::F32 ? Execute(runAlike<Op, float, 1>) : nullptr;
  });
}

bool decodeRsqrt(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  return decodeUnaryApprox(decoder, in, words, out, [](Type type, bool ftz) -> Execute {
    if (type == Type::F64) return ftz ? Execute(runAlike<Rsqrt64Ftz, double, 1>) : runAlike<Rsqrt64, double, 1>;
    return type == Type::F32 ? chooseUnary<Rsqrt>(ftz) : nullptr;
  });
}

constexpr OpcodeRow kRows[] = {
    {"cos", decodeAngle<Cos>}, {"ex2", decodeEx2},        {"lg2", decodeSingle<Lg2>},
    {"rsqrt", decodeRsqrt},    {"sin", decodeAngle<Sin>}, {"tanh", decodeTanh},
};

} // namespace

bool decodeApproximateRcp(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  return decodeUnaryApprox(decoder, in, words, out, [](Type type, bool ftz) -> Execute {
    if (type == Type::F64) return ftz ? Execute(runAlike<Rcp64, double, 1>) : nullptr;
    return type == Type::F32 ? chooseUnary<Rcp>(ftz) : nullptr;
  });
}

bool decodeApproximateSqrt(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  return decodeSingle<Sqrt>(decoder, in, words, out);
}

bool decodeApproximateDiv(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  const bool full = words.take("full");
  if (!full && !words.take("approx")) return decoder.failMissing(".approx .full");
  const bool ftz = words.take("ftz");
  const Type type = words.takeType();
  if (type != Type::F32) return decoder.failType(".f32 where it is approximate");
  out.run = forFlag(ftz, [&](auto f) -> Execute {
    constexpr bool kFtz = decltype(f)::value;
    return full ? Execute(runAlike<DivFull<kFtz>, float, 2>) : runAlike<DivApprox<kFtz>, float, 2>;
  });
  special::prepare();
  out.kind = InstClass::Special;
  return decoder.alike(in, out, type, 2);
}

constinit OpcodeTable kApproxOpcodes = kRows;

} // namespace tiletwin::sim
