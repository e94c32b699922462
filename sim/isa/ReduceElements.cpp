#include "sim/isa/ReduceElements.h"
#include "sim/isa/AtomicUpdates.h"
#include <array>

namespace tiletwin::sim {

namespace {

using ptx::Type;

template <class Op, class T, bool kFlush = false> void reduceAll(std::byte* to, const std::byte* from, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, from + i * sizeof value, sizeof value);
    Op::apply(to + i * sizeof value, value, T(), kFlush);
  }
}

struct Row {
  ReduceOp op;
  Type type;
  ReduceElements run;
};

template <class Format, class Op> constexpr ReduceElements kHalves = reduceAll<AtomicHalf<Format, Op>, uint16_t>;

constexpr Row kRows[] = {
    {ReduceOp::Add, Type::U32, reduceAll<AtomicAdd, uint32_t>},
    {ReduceOp::Add, Type::S32, reduceAll<AtomicAdd, uint32_t>},
    {ReduceOp::Add, Type::U64, reduceAll<AtomicAdd, uint64_t>},
    {ReduceOp::Add, Type::F16, kHalves<HalfF16, HalfSum>},
    {ReduceOp::Add, Type::BF16, kHalves<HalfBF16, HalfSum>},
    {ReduceOp::Add, Type::F32, reduceAll<AtomicAddF32, uint32_t>},
    {ReduceOp::Add, Type::F64, reduceAll<AtomicAddF64, uint64_t>},
    {ReduceOp::Min, Type::U32, reduceAll<AtomicMin, uint32_t>},
    {ReduceOp::Min, Type::S32, reduceAll<AtomicMin, int32_t>},
    {ReduceOp::Min, Type::U64, reduceAll<AtomicMin, uint64_t>},
    {ReduceOp::Min, Type::S64, reduceAll<AtomicMin, int64_t>},
    {ReduceOp::Min, Type::F16, kHalves<HalfF16, HalfMin>},
    {ReduceOp::Min, Type::BF16, kHalves<HalfBF16, HalfMin>},
    {ReduceOp::Max, Type::U32, reduceAll<AtomicMax, uint32_t>},
    {ReduceOp::Max, Type::S32, reduceAll<AtomicMax, int32_t>},
    {ReduceOp::Max, Type::U64, reduceAll<AtomicMax, uint64_t>},
    {ReduceOp::Max, Type::S64, reduceAll<AtomicMax, int64_t>},
    {ReduceOp::Max, Type::F16, kHalves<HalfF16, HalfMax>},
    {ReduceOp::Max, Type::BF16, kHalves<HalfBF16, HalfMax>},
    {ReduceOp::Inc, Type::U32, reduceAll<AtomicIncrement, uint32_t>},
    {ReduceOp::Dec, Type::U32, reduceAll<AtomicDecrement, uint32_t>},
    {ReduceOp::And, Type::B32, reduceAll<AtomicAnd, uint32_t>},
    {ReduceOp::And, Type::B64, reduceAll<AtomicAnd, uint64_t>},
    {ReduceOp::Or, Type::B32, reduceAll<AtomicOr, uint32_t>},
    {ReduceOp::Or, Type::B64, reduceAll<AtomicOr, uint64_t>},
    {ReduceOp::Xor, Type::B32, reduceAll<AtomicXor, uint32_t>},
    {ReduceOp::Xor, Type::B64, reduceAll<AtomicXor, uint64_t>},
};

constexpr std::array<std::string_view, 8> kNames{"add", "min", "max", "inc", "dec", "and", "or", "xor"};

Type typeOf(TensorElement element) {
  switch (element) {
  case TensorElement::U32: return Type::U32;
  case TensorElement::S32: return Type::S32;
  case TensorElement::U64: return Type::U64;
  case TensorElement::S64: return Type::S64;
  case TensorElement::F16: return Type::F16;
  case TensorElement::BF16: return Type::BF16;
  case TensorElement::F64: return Type::F64;
  case TensorElement::F32: return Type::F32;
  default: return Type::None;
  }
}

Type bitsOf(Type type) {
  switch (type) {
  case Type::U32:
  case Type::S32: return Type::B32;
  case Type::U64:
  case Type::S64: return Type::B64;
  default: return Type::None;
  }
}

} // namespace

std::optional<ReduceOp> reduceOpNamed(std::string_view word) {
  for (size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == word) return ReduceOp(i);
  return std::nullopt;
}

std::string_view nameOf(ReduceOp op) { return kNames[size_t(op)]; }

ReduceElements reducer(ReduceOp op, Type type) {
  for (const Row& row : kRows)
    if (row.op == op && row.type == type) return row.run;
  return nullptr;
}

ReduceElements reducer(ReduceOp op, TensorElement element) {
  if (element == TensorElement::F32Ftz) return op == ReduceOp::Add ? reduceAll<AtomicAddF32, uint32_t, true> : nullptr;
  const Type type = typeOf(element);
  if (op == ReduceOp::And || op == ReduceOp::Or || op == ReduceOp::Xor) return reducer(op, bitsOf(type));
  if (op == ReduceOp::Add && type == Type::S64) return reducer(op, Type::U64);
  return reducer(op, type);
}

} // namespace tiletwin::sim
