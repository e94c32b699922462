// sim/isa/Float.cpp -- add sub mul fma mad div rcp sqrt abs neg min max copysign: the words, the types, and f32 itself.
// Not here:  f64 (Double.cpp), f16 and bf16 (Half.cpp), .approx and .full (Approx.cpp), integers (Integer.cpp).
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
template <class Operation, bool kMaySaturate, int kSources> Execute chooseShape(const FloatWords& w) {
  if (w.sat && !kMaySaturate) return nullptr;
  return forFlag(w.ftz, [&](auto ftz) -> Execute {
    constexpr bool kFtz = decltype(ftz)::value;
    if constexpr (kMaySaturate)
      if (w.sat) return runAlike<single::Shaped<Operation, kFtz, true>, float, kSources>;
    return runAlike<single::Shaped<Operation, kFtz>, float, kSources>;
  });
}

template <template <Round> class Operation, bool kMaySaturate, int kSources>
Execute chooseRounded(const FloatWords& w) {
  if (!hasOnlyRounding(w)) return nullptr;
  return forRound(
      w.round, [&](auto round) { return chooseShape<Operation<decltype(round)::value>, kMaySaturate, kSources>(w); });
}

template <bool Maximum> Execute chooseExtremum(const FloatWords& w) {
  if (w.isRounded || w.relu || w.oob) return nullptr;
  return forFlag(w.nan, [&](auto nan) {
    return forFlag(w.xorsign, [&](auto sign) {
      return chooseShape<single::Extremum<Maximum, decltype(nan)::value, decltype(sign)::value>, false, 2>(w);
    });
  });
}

template <class Operation> Execute chooseSign(const FloatWords& w) {
  return w.isRounded || !hasOnlyRounding(w) ? nullptr : chooseShape<Operation, false, 1>(w);
}

Execute chooseFma(const FloatWords& w) {
  if (!w.negates()) return chooseRounded<single::Fma, true, 3>(w);
  return forNegations(w, [&](auto product, auto addend) {
    constexpr auto kFma = single::Fma<Round::NearestEven>::apply;
    return chooseShape<NegatedFma<kFma, decltype(product)::value, decltype(addend)::value>, true, 3>(w);
  });
}

/// Two f32 in 64 bits.
template <class Shape> struct SinglePair {
  template <class... A> static uint64_t apply(A... a) {
    const uint32_t low = bitsOf(Shape::apply(floatOf(uint32_t(a))...)),
                   high = bitsOf(Shape::apply(floatOf(uint32_t(a >> 32))...));
    return uint64_t(high) << 32 | low;
  }
};

template <template <Round> class Operation, int kSources> Execute choosePair(const FloatWords& w) {
  return forRound(w.round, [&](auto round) {
    return forFlag(w.ftz, [](auto ftz) {
      using Shape = single::Shaped<Operation<decltype(round)::value>, decltype(ftz)::value>;
      return runAlike<SinglePair<Shape>, uint64_t, kSources>;
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

/// div, rcp and sqrt: .approx and .full are sequences of their own.
template <Op operation, Decode approximate>
bool decodeMaybeApproximate(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  for (const std::string_view word : in.modifiers)
    if (word == "approx" || word == "full") return approximate(decoder, in, words, out);
  return decode<operation>(decoder, in, words, out);
}

/// The magnitude of b with the sign of a, for the bits of f32 and f64.
struct CopySign {
  template <class T> static T apply(T a, T b) {
    constexpr T sign = T(1) << (8 * sizeof(T) - 1);
    return (a & sign) | (b & ~sign);
  }
};

bool decodeCopySign(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  using Floats = TypeSet<Type::F32, Type::F64>;
  if (!decodeAlike<Floats, CopySign, 2>(decoder, in, words, out)) return false;
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
    {"max", decode<Op::Max>, Domain::Float},
    {"min", decode<Op::Min>, Domain::Float},
    {"mul", decode<Op::Mul>, Domain::Float},
    {"neg", decode<Op::Neg>, Domain::Float},
    {"rcp", decodeMaybeApproximate<Op::Rcp, decodeApproximateRcp>},
    {"sqrt", decodeMaybeApproximate<Op::Sqrt, decodeApproximateSqrt>},
    {"sub", decode<Op::Sub>, Domain::Float},
};

} // namespace

Execute chooseSingle(FloatOperation operation, const FloatWords& words) {
  switch (operation) {
  case Op::Add: return chooseRounded<single::Add, true, 2>(words);
  case Op::Sub: return chooseRounded<single::Sub, true, 2>(words);
  case Op::Mul: return chooseRounded<single::Mul, true, 2>(words);
  case Op::Fma: return chooseFma(words);
  case Op::Div:
    return words.ftz ? chooseRounded<single::FlushedDiv, false, 2>(words) : chooseRounded<single::Div, false, 2>(words);
  case Op::Rcp:
    return words.ftz ? chooseRounded<single::FlushedRcp, false, 1>(words) : chooseRounded<single::Rcp, false, 1>(words);
  case Op::Sqrt: return chooseRounded<single::Sqrt, false, 1>(words);
  case Op::Neg: return chooseSign<single::Neg>(words);
  case Op::Abs: return chooseSign<single::Abs>(words);
  case Op::Min: return chooseExtremum<false>(words);
  case Op::Max: return chooseExtremum<true>(words);
  }
  return nullptr;
}

Execute chooseSinglePair(FloatOperation operation, const FloatWords& words) {
  if (!hasOnlyRounding(words) || words.sat) return nullptr;
  switch (operation) {
  case Op::Add: return choosePair<single::Add, 2>(words);
  case Op::Sub: return choosePair<single::Sub, 2>(words);
  case Op::Mul: return choosePair<single::Mul, 2>(words);
  case Op::Fma: return choosePair<single::Fma, 3>(words);
  default: return nullptr;
  }
}

constinit OpcodeTable kFloatOpcodes = kRows;

} // namespace tiletwin::sim
