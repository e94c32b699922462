// sim/isa/Float.h -- arithmetic on floats of every type: what the files of the family share.
//
// Here:      FloatOperation, the words of float instructions, one choosing function a type, decode functions of approximations.
// Not here:  cvt (Convert.h), comparisons (Compare.cpp), what an operation computes (sim/numerics).
#pragma once
#include "sim/isa/Forms.h"
#include "sim/numerics/Rounding.h"

namespace tiletwin::sim {

enum class FloatOperation : uint8_t { Add, Sub, Mul, Fma, Div, Rcp, Sqrt, Neg, Abs, Min, Max };

/// The words that float instructions have in common.
struct FloatWords {
  Round round = Round::NearestEven;
  bool isRounded = false; ///< a rounding was written
  bool ftz = false, sat = false, relu = false, oob = false, nan = false, xorsign = false;
  bool negatesProduct = false, negatesAddend = false; ///< of an fma that Contract.cpp has made
  bool negates() const { return negatesProduct || negatesAddend; }
};
/// The rounding that is written; nothing: none is.
inline std::optional<Round> takeRound(Words& words) {
  return words.takeNamed<Round>(
      {{"rn", Round::NearestEven}, {"rz", Round::TowardZero}, {"rm", Round::Down}, {"rp", Round::Up}});
}
/// Takes them: .rn .rz .rm .rp .ftz .sat .relu .oob .NaN .xorsign.abs. False: .xorsign without .abs.
bool takeFloatWords(Decoder& decoder, const ptx::Instruction& in, Words& words, FloatWords& taken);

/// What runs an operation of these words; null: the type does not have it so.
Execute chooseSingle(FloatOperation operation, const FloatWords& words);
Execute chooseSinglePair(FloatOperation operation, const FloatWords& words);
Execute chooseDouble(FloatOperation operation, const FloatWords& words);
Execute chooseHalf(FloatOperation operation, const FloatWords& words, ptx::Type type);

/// FloatMixed.cpp: f32 with narrower operands, whose type follows.
bool decodeMixed(Decoder& decoder, const ptx::Instruction& in, Words& words, FloatOperation operation,
                 const FloatWords& taken, Inst& out);

/// Approx.cpp: div, rcp and sqrt with .approx or .full; without these words they are exact.
bool decodeApproximateDiv(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out);
bool decodeApproximateRcp(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out);
bool decodeApproximateSqrt(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out);

/// The class of an instruction on a type.
inline InstClass classOf(ptx::Type type) {
  switch (type) {
  case ptx::Type::F16:
  case ptx::Type::F16x2:
  case ptx::Type::BF16:
  case ptx::Type::BF16x2: return InstClass::Half;
  case ptx::Type::F32:
  case ptx::Type::F32x2: return InstClass::Float;
  case ptx::Type::F64: return InstClass::Double;
  default: return InstClass::Integer;
  }
}

/// An fma to nearest of T's values, with a negated product or addend; kFma computes it.
template <auto kFma, bool kProduct, bool kAddend>
inline constexpr auto kNegatedFma =
    []<class T>(T a, T b, T c) -> T { return kFma(kProduct ? -a : a, b, kAddend ? -c : c); };

/// pick(product, addend): flags of what an fma to nearest negates.
template <class Pick> Execute forNegations(const FloatWords& words, Pick&& pick) {
  return forFlag(words.negatesProduct, [&](auto product) -> Execute {
    return forFlag(words.negatesAddend, [&](auto addend) -> Execute { return pick(product, addend); });
  });
}

/// pick(RoundConstant) for .rn, .rz, .rm or .rp.
template <class Pick> Execute forRound(Round round, Pick&& pick) {
  switch (round) {
  case Round::TowardZero: return pick(RoundConstant<Round::TowardZero>());
  case Round::Down: return pick(RoundConstant<Round::Down>());
  case Round::Up: return pick(RoundConstant<Round::Up>());
  default: return pick(RoundConstant<Round::NearestEven>());
  }
}

} // namespace tiletwin::sim
