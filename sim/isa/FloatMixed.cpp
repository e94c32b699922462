// sim/isa/FloatMixed.cpp -- add, sub and fma of f32 with operands of f16 or bf16, which are widened (exactly) first.
// Source:    PTX ISA, "Mixed Precision Floating-Point Instructions".
#include "sim/isa/Float.h"
#include "sim/numerics/Half.h"

namespace tiletwin::sim {
namespace {

using Op = FloatOperation;
using ptx::Type;

/// kOp of two or three numbers, of which the last one is a float and the others are halves of a format.
template <class F, auto kOp>
inline constexpr auto kOfHalf = [](uint16_t a, float b) -> float { return kOp(F::wide(a), b); };
template <class F, auto kOp>
inline constexpr auto kOfHalves =
    [](uint16_t a, uint16_t b, float c) -> float { return kOp(F::wide(a), F::wide(b), c); };

template <class F> Execute choose(Op operation, const FloatWords& words) {
  return forRound(words.round, [&](auto round) {
    return forFlag(words.sat, [&](auto sat) -> Execute {
      constexpr bool kSat = decltype(sat)::value;
      constexpr auto kRound = decltype(round){};
      if (operation == Op::Fma)
        return runLanes<kOfHalves<F, single::kShaped<kBound<single::kFma, kRound>, false, kSat>>, float, uint16_t,
                        uint16_t, float>;
      if (operation == Op::Add)
        return runLanes<kOfHalf<F, single::kShaped<kBound<single::kAdd, kRound>, false, kSat>>, float, uint16_t, float>;
      return runLanes<kOfHalf<F, single::kShaped<kBound<single::kSub, kRound>, false, kSat>>, float, uint16_t, float>;
    });
  });
}

} // namespace

bool decodeMixed(Decoder& decoder, const ptx::Instruction& in, Words& words, FloatOperation operation,
                 const FloatWords& taken, Inst& out) {
  if (decoder.target() < 100) return decoder.refuse("of f32 and narrower operands needs a target of sm_100 or above");
  const Type type = words.takeType();
  const bool isHalf = type == Type::F16 || type == Type::BF16;
  const bool isPlain = !taken.ftz && !taken.relu && !taken.oob && !taken.nan && !taken.xorsign && !taken.negates();
  if (!isHalf || !isPlain || (operation != Op::Add && operation != Op::Sub && operation != Op::Fma))
    return decoder.refuse("of f32 and narrower operands is add, sub or fma with f16 or bf16, rounded and perhaps .sat");
  out.run = type == Type::F16 ? choose<half::F16>(operation, taken) : choose<half::BF16>(operation, taken);
  out.kind = InstClass::Float;
  return operation == Op::Fma ? decoder.form(in, out, Type::F32, {type, type, Type::F32})
                              : decoder.form(in, out, Type::F32, {type, Type::F32});
}

} // namespace tiletwin::sim
