// sim/isa/Float.cpp -- add sub mul fma mad div rcp sqrt abs neg min max copysign: the words, the types, and f32 itself.
// Not here:  f64 (Double.cpp), f16 and bf16 (Half.cpp), f32 with these (FloatMixed.cpp), .approx and .full (Approx.cpp), integers (Integer.cpp).
// Source:    PTX ISA, 9.7.3 and 9.7.4.
#include "sim/isa/Float.h"
#include "sim/isa/Contract.h"
#include "sim/isa/Forms.h"
#include "sim/numerics/Single.h"

namespace tiletwin::sim {

using ptx::Type;

bool takeFloatWords(Decoder& decoder, const ptx::Instruction& in, Words& words, FloatWords& taken) {
  const std::optional<Round> round = takeRound(words);
  taken.isRounded = round.has_value();
  taken.round = round.value_or(Round::NearestEven);
  taken.ftz = words.take("ftz");
  taken.sat = words.take("sat");
  taken.relu = words.take("relu");
  taken.oob = words.take("oob");
  taken.nan = words.take("NaN");
  taken.xorsign = words.take("xorsign");
  taken.negatesProduct = words.take(kNegatedProduct);
  taken.negatesAddend = words.take(kNegatedAddend);
  return !taken.xorsign || words.take("abs") || decoder.failMissing(".abs after .xorsign");
}

namespace {

using Op = FloatOperation;

bool hasOnlyRounding(const FloatWords& w) { return !w.relu && !w.oob && !w.nan && !w.xorsign; }

/// .ftz and, where the operation has it, .sat around an f32 operation.
template <auto kOp, bool kMaySaturate, int kSources> Execute chooseShape(const FloatWords& w) {
  if (w.sat && !kMaySaturate) return nullptr;
  return forFlag(w.ftz, [&](auto ftz) -> Execute {
    constexpr bool kFtz = decltype(ftz)::value;
    if constexpr (kMaySaturate)
      if (w.sat) return runAlike<single::kShaped<kOp, kFtz, true>, float, kSources>;
    return runAlike<single::kShaped<kOp, kFtz>, float, kSources>;
  });
}

template <auto kOp, bool kMaySaturate, int kSources> Execute chooseRounded(const FloatWords& w) {
  if (!hasOnlyRounding(w)) return nullptr;
  return forRound(w.round,
                  [&](auto round) { return chooseShape<kBound<kOp, decltype(round){}>, kMaySaturate, kSources>(w); });
}

template <bool Maximum> Execute chooseExtremum(const FloatWords& w) {
  if (w.isRounded || w.relu || w.oob) return nullptr;
  return forFlag(w.nan, [&](auto nan) {
    return forFlag(w.xorsign, [&](auto sign) {
      return chooseShape<single::kExtremum<Maximum, decltype(nan)::value, decltype(sign)::value>, false, 2>(w);
    });
  });
}

/// The extremum of three, each with its magnitude alone if `abs`.
template <auto kExtremum, bool kAbsolute>
inline constexpr auto kOfThree = [](float a, float b, float c) -> float {
  if constexpr (kAbsolute) a = single::kAbs(a), b = single::kAbs(b), c = single::kAbs(c);
  return kExtremum(kExtremum(a, b), c);
};

template <bool Maximum>
bool decodeExtremumOfThree(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  FloatWords taken;
  if (!takeFloatWords(decoder, in, words, taken)) return false;
  const bool isAbsolute = words.take("abs");
  if (decoder.target() < 100) return decoder.refuse("of three operands needs a target of sm_100 or above");
  if (words.takeType() != Type::F32 || taken.xorsign || taken.isRounded || taken.relu || taken.oob || taken.sat)
    return decoder.refuse("of three operands is for .f32, with .ftz, .NaN and .abs");
  out.run = forFlag(taken.nan, [&](auto nan) {
    return forFlag(isAbsolute, [&](auto abs) {
      constexpr auto kOne = single::kExtremum<Maximum, decltype(nan)::value, false>;
      return chooseShape<kOfThree<kOne, decltype(abs)::value>, false, 3>(taken);
    });
  });
  out.kind = InstClass::Float;
  return decoder.alike(in, out, Type::F32, 3);
}

template <auto kOp> Execute chooseSign(const FloatWords& w) {
  return w.isRounded || !hasOnlyRounding(w) ? nullptr : chooseShape<kOp, false, 1>(w);
}

Execute chooseFma(const FloatWords& w) {
  if (!w.negates()) return chooseRounded<single::kFma, true, 3>(w);
  return forNegations(w, [&](auto product, auto addend) {
    constexpr auto kFma = kBound<single::kFma, kNearest>;
    return chooseShape<kNegatedFma<kFma, decltype(product)::value, decltype(addend)::value>, true, 3>(w);
  });
}

/// Two f32 in 64 bits.
template <auto kShape>
constexpr auto kSinglePair = []<class... A>(A... a) -> uint64_t {
  const uint32_t low = bitsOf(kShape(floatOf(uint32_t(a))...)), high = bitsOf(kShape(floatOf(uint32_t(a >> 32))...));
  return uint64_t(high) << 32 | low;
};

template <auto kOp, int kSources> Execute choosePair(const FloatWords& w) {
  return forRound(w.round, [&](auto round) {
    return forFlag(w.ftz, [](auto ftz) {
      constexpr auto kShape = single::kShaped<kBound<kOp, decltype(round){}>, decltype(ftz)::value>;
      return runAlike<kSinglePair<kShape>, uint64_t, kSources>;
    });
  });
}

int operandCount(Op operation) {
  switch (operation) {
  case Op::Fma: return 3;
  case Op::Rcp:
  case Op::Sqrt:
  case Op::Neg:
  case Op::Abs: return 1;
  default: return 2;
  }
}

bool needsRounding(Op operation) {
  return operation == Op::Fma || operation == Op::Div || operation == Op::Rcp || operation == Op::Sqrt;
}

template <Op operation> bool decode(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  FloatWords taken;
  if (!takeFloatWords(decoder, in, words, taken)) return false;
  const Type type = words.takeType();
  if (needsRounding(operation) && !taken.isRounded) return decoder.failMissing(".rn .rz .rm .rp");
  if (type == Type::F32 && !words.rest().empty()) return decodeMixed(decoder, in, words, operation, taken, out);
  switch (type) {
  case Type::F32: out.run = chooseSingle(operation, taken); break;
  case Type::F32x2:
    if (decoder.target() < 100) return decoder.refuse(".f32x2 needs a target of sm_100 or above");
    out.run = chooseSinglePair(operation, taken);
    break;
  case Type::F64: out.run = chooseDouble(operation, taken); break;
  case Type::F16:
  case Type::F16x2:
  case Type::BF16:
  case Type::BF16x2: out.run = chooseHalf(operation, taken, type); break;
  default: return decoder.failType(".f32 .f64 .f16 .f16x2 .bf16 .bf16x2");
  }
  if (!out.run) return decoder.refuse("modifiers that this type does not have");
  out.kind = classOf(type);
  return decoder.alike(in, out, type, operandCount(operation));
}

template <bool Maximum> bool decodeExtremum(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  return in.operands.size() == 4 ? decodeExtremumOfThree<Maximum>(decoder, in, words, out)
                                 : decode<Maximum ? Op::Max : Op::Min>(decoder, in, words, out);
}

/// div, rcp and sqrt: .approx and .full are sequences of their own.
template <Op operation, Decode approximate>
bool decodeMaybeApproximate(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  for (const std::string_view word : in.modifiers)
    if (word == "approx" || word == "full") return approximate(decoder, in, words, out);
  return decode<operation>(decoder, in, words, out);
}

/// The magnitude of b with the sign of a, for the bits of f32 and f64.
constexpr auto kCopySign = []<class T>(T a, T b) -> T {
  constexpr T sign = T(1) << (8 * sizeof(T) - 1);
  return (a & sign) | (b & ~sign);
};

bool decodeCopySign(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  using Floats = TypeSet<Type::F32, Type::F64>;
  if (!decodeAlike<Floats, kCopySign, 2>(decoder, in, words, out)) return false;
  out.kind = classOf(ptx::typeNamed(in.modifiers.front()));
  return true;
}

constexpr OpcodeRow kRows[] = {
    {"abs", decode<Op::Abs>, Domain::Float},
    {"add", decode<Op::Add>, Domain::Float},
    {"copysign", decodeCopySign},
    {"div", decodeMaybeApproximate<Op::Div, decodeApproximateDiv>, Domain::Float},
    {"fma", decode<Op::Fma>},
    {"mad", decode<Op::Fma>, Domain::Float},
    {"max", decodeExtremum<true>, Domain::Float},
    {"min", decodeExtremum<false>, Domain::Float},
    {"mul", decode<Op::Mul>, Domain::Float},
    {"neg", decode<Op::Neg>, Domain::Float},
    {"rcp", decodeMaybeApproximate<Op::Rcp, decodeApproximateRcp>},
    {"sqrt", decodeMaybeApproximate<Op::Sqrt, decodeApproximateSqrt>},
    {"sub", decode<Op::Sub>, Domain::Float},
};

} // namespace

Execute chooseSingle(FloatOperation operation, const FloatWords& words) {
  switch (operation) {
  case Op::Add: return chooseRounded<single::kAdd, true, 2>(words);
  case Op::Sub: return chooseRounded<single::kSub, true, 2>(words);
  case Op::Mul: return chooseRounded<single::kMul, true, 2>(words);
  case Op::Fma: return chooseFma(words);
  case Op::Div:
    return words.ftz ? chooseRounded<single::kFlushedDiv, false, 2>(words)
                     : chooseRounded<single::kDiv, false, 2>(words);
  case Op::Rcp:
    return words.ftz ? chooseRounded<single::kFlushedRcp, false, 1>(words)
                     : chooseRounded<single::kRcp, false, 1>(words);
  case Op::Sqrt: return chooseRounded<single::kSqrt, false, 1>(words);
  case Op::Neg: return chooseSign<single::kNeg>(words);
  case Op::Abs: return chooseSign<single::kAbs>(words);
  case Op::Min: return chooseExtremum<false>(words);
  case Op::Max: return chooseExtremum<true>(words);
  }
  return nullptr;
}

Execute chooseSinglePair(FloatOperation operation, const FloatWords& words) {
  if (!hasOnlyRounding(words) || words.sat) return nullptr;
  switch (operation) {
  case Op::Add: return choosePair<single::kAdd, 2>(words);
  case Op::Sub: return choosePair<single::kSub, 2>(words);
  case Op::Mul: return choosePair<single::kMul, 2>(words);
  case Op::Fma: return choosePair<single::kFma, 3>(words);
  default: return nullptr;
  }
}

constinit OpcodeTable kFloatOpcodes = kRows;

} // namespace tiletwin::sim
