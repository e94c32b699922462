// sim/isa/Float.h -- arithmetic on floats of every type: the tables of opcodes, and what the files of the family share.
//
// Here:      Operation, the words of float instructions, and one choosing function a type.
// Not here:  approximations (Approx.h), cvt (Convert.h), comparisons (Compare.h), what an operation computes (sim/numerics).
#pragma once
#include "sim/isa/Decode.h"
#include "sim/numerics/Rounding.h"

namespace tiletwin::sim {

extern const std::span<const OpcodeRow> kFloatOpcodes; // Float.cpp

enum class FloatOperation : uint8_t { Add, Sub, Mul, Fma, Div, Rcp, Sqrt, Neg, Abs, Min, Max };

/// The words that float instructions have in common.
struct FloatWords {
  Round round = Round::NearestEven;
  bool isRounded = false; ///< a rounding was written
  bool ftz = false, sat = false, relu = false, oob = false, nan = false, xorsign = false;
  bool negatesProduct = false, negatesAddend = false; ///< of an fma that Contract.cpp has made
  bool negates() const { return negatesProduct || negatesAddend; }
};
/// Takes them: .rn .rz .rm .rp .ftz .sat .relu .oob .NaN .xorsign.abs. False: .xorsign without .abs.
bool takeFloatWords(Decoder& decoder, const ptx::Instruction& in, Words& words, FloatWords& taken);

/// What runs an operation of these words; null: the type does not have it so.
Execute chooseSingle(FloatOperation operation, const FloatWords& words);
Execute chooseSinglePair(FloatOperation operation, const FloatWords& words);
Execute chooseDouble(FloatOperation operation, const FloatWords& words);
Execute chooseHalf(FloatOperation operation, const FloatWords& words, ptx::Type type);

/// pick(std::bool_constant) for a flag that is known while decoding.
template <class Pick> Execute forFlag(bool flag, Pick&& pick) {
  return flag ? pick(std::true_type()) : pick(std::false_type());
}

/// pick(product, addend): flags of what an fma to nearest negates.
template <class Pick> Execute forNegations(const FloatWords& words, Pick&& pick) {
  return forFlag(words.negatesProduct, [&](auto product) -> Execute {
    return forFlag(words.negatesAddend, [&](auto addend) -> Execute { return pick(product, addend); });
  });
}

template <Round R> using RoundConstant = std::integral_constant<Round, R>;
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
