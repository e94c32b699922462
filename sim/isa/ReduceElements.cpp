#include "sim/isa/ReduceElements.h"
#include "sim/isa/AtomicUpdates.h"
#include <array>

namespace tiletwin::sim {

namespace {

using ptx::Type;

constexpr std::array<std::string_view, 8> kNames{"add", "min", "max", "inc", "dec", "and", "or", "xor"};

/// In the order of TensorElement; None: there are no reductions.
constexpr std::array<Type, kTensorElements> kTypes{Type::None, Type::None, Type::U32, Type::S32,  Type::U64,
                                                   Type::S64,  Type::F16,  Type::F32, Type::None, Type::F64,
                                                   Type::BF16, Type::None, Type::None};

} // namespace

std::optional<ReduceOp> takeReduceOp(Words& words) {
  for (size_t i = 0; i < kNames.size(); ++i)
    if (words.take(kNames[i])) return ReduceOp(i);
  return std::nullopt;
}

std::string_view nameOf(ReduceOp op) { return kNames[size_t(op)]; }

ReduceElements reducer(ReduceOp op, TensorElement element) {
  if (element == TensorElement::F32Ftz) return op == ReduceOp::Add ? reduceAll<kAtomicAddF32, uint32_t, true> : nullptr;
  const Type type = kTypes[size_t(element)];
  if (type == Type::None || (op >= ReduceOp::And && type >= Type::F16)) return nullptr;
  if (op >= ReduceOp::And) return reducer(op, ptx::bytesOf(type) == 4 ? Type::B32 : Type::B64);
  if (op == ReduceOp::Add && type == Type::S64) return reducer(op, Type::U64);
  return reducer(op, type);
}

} // namespace tiletwin::sim
