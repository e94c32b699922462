// sim/isa/Atomic.cpp -- atom and red: scalars, packed halves, vectors, 128 bits; in global, shared and generic addresses.
// Here:      modifiers and operands, the loop over lanes.
// Not here:  the operations (AtomicUpdates.h), red.async (StoreAsync.cpp), bulk reductions (Bulk.cpp), memory and its checks
//            (Memory.h).
// Source:    PTX ISA, 9.7.13 (atom, red). Lanes that meet at one address go in the order of their numbers, which the ISA leaves
//            open. Sums of .f32 flush subnormals in global memory and keep them in shared memory, as GPUs do.
#include "sim/isa/AtomicUpdates.h"
#include "sim/isa/ReduceElements.h"
#include "sim/isa/Scope.h"
#include "sim/isa/StoreAsync.h"
#include "sim/machine/Memory.h"
#include <array>

namespace tiletwin::sim {
namespace {

using ptx::Operand;
using ptx::Type;

constexpr size_t kMostElements = 8;

struct AtomicAccess {
  Access access;
  bool isWide = true;
  uint32_t elements = 1;
  std::array<Slot, kMostElements> d, b; ///< d: none where nothing is wanted back
  Slot c;                               ///< cas
};

/// Floats in global memory are flushed; a generic address may be in either.
bool isGlobal(const Access& access, uint64_t address) {
  return access.space == Space::Global || (access.space == Space::None && (address & kWindowMask) != kSharedWindow);
}

template <auto kOp, class T> Step runAtomic(const Inst& in, Warp& warp, LaneMask active) {
  const AtomicAccess& op = *static_cast<const AtomicAccess*>(in.data);
  alignas(kLaneAlignment) uint64_t addresses[kLanes];
  alignas(kLaneAlignment) std::byte* host[kLanes];
  laneAddresses(warp, in.a, op.isWide, in.immediate, addresses);
  if (!resolve(op.access, warp, active, addresses, host)) return Step::Trap;
  eachLane(active, [&](int i) {
    const bool flush = isGlobal(op.access, addresses[i]);
    const T c = op.c ? warp.lanes<T>(op.c)[i] : T();
    T old[kMostElements];
    for (size_t e = 0; e < op.elements; ++e) old[e] = kOp(host[i] + e * sizeof(T), warp.lanes<T>(op.b[e])[i], c, flush);
    for (size_t e = 0; e < op.elements; ++e)
      if (op.d[e]) warp.lanes<T>(op.d[e])[i] = old[e];
  });
  return Step::Next;
}

/// What one operation takes.
struct AtomicRow {
  std::string_view operation;
  Type type;
  Execute run;
  ReduceElements reduce;     ///< the same on arrays
  bool needsNoFlush = false; ///< .noftz must be written
  uint32_t vectors = 0;      ///< the widths it has beside scalars, as bits 2, 4 and 8
  bool isVectorOnly = false;
};

template <Type kType, auto kOp>
constexpr AtomicRow row(std::string_view operation, bool needsNoFlush = false, uint32_t vectors = 0,
                        bool isVectorOnly = false) {
  using T = LaneValue<kType>;
  return {operation, kType, runAtomic<kOp, T>, reduceAll<kOp, T>, needsNoFlush, vectors, isVectorOnly};
}

constexpr AtomicRow kAtomicRows[] = {
    row<Type::B32, kAtomic<kAnd>>("and"),
    row<Type::B64, kAtomic<kAnd>>("and"),
    row<Type::B32, kAtomic<kOr>>("or"),
    row<Type::B64, kAtomic<kOr>>("or"),
    row<Type::B32, kAtomic<kXor>>("xor"),
    row<Type::B64, kAtomic<kXor>>("xor"),
    row<Type::B32, kAtomicExchange>("exch"),
    row<Type::B64, kAtomicExchange>("exch"),
    row<Type::B128, kAtomicExchange>("exch"),
    row<Type::B16, kAtomicCompareAndSwap>("cas"),
    row<Type::B32, kAtomicCompareAndSwap>("cas"),
    row<Type::B64, kAtomicCompareAndSwap>("cas"),
    row<Type::B128, kAtomicCompareAndSwap>("cas"),
    row<Type::U32, kAtomic<kIncrement>>("inc"),
    row<Type::U32, kAtomic<kDecrement>>("dec"),
    row<Type::U32, kAtomic<kMin>>("min"),
    row<Type::S32, kAtomic<kMin>>("min"),
    row<Type::U64, kAtomic<kMin>>("min"),
    row<Type::S64, kAtomic<kMin>>("min"),
    row<Type::U32, kAtomic<kMax>>("max"),
    row<Type::S32, kAtomic<kMax>>("max"),
    row<Type::U64, kAtomic<kMax>>("max"),
    row<Type::S64, kAtomic<kMax>>("max"),
    row<Type::U32, kAtomic<kAdd>>("add"),
    row<Type::S32, kAtomic<kAdd>>("add"),
    row<Type::U64, kAtomic<kAdd>>("add"),
    row<Type::F32, kAtomicAddF32>("add", false, 2 | 4),
    row<Type::F64, kAtomicAddF64>("add"),
    row<Type::F16, kAtomicHalf<half::F16, half::kAdd>>("add", true, 2 | 4 | 8),
    row<Type::BF16, kAtomicHalf<half::BF16, half::kAdd>>("add", true, 2 | 4 | 8),
    row<Type::F16x2, kAtomicHalves<half::F16, half::kAdd>>("add", true, 2 | 4),
    row<Type::BF16x2, kAtomicHalves<half::BF16, half::kAdd>>("add", true, 2 | 4),
    row<Type::F16, kAtomicHalf<half::F16, kHalfMin>>("min", true, 2 | 4 | 8, true),
    row<Type::BF16, kAtomicHalf<half::BF16, kHalfMin>>("min", true, 2 | 4 | 8, true),
    row<Type::F16x2, kAtomicHalves<half::F16, kHalfMin>>("min", true, 2 | 4, true),
    row<Type::BF16x2, kAtomicHalves<half::BF16, kHalfMin>>("min", true, 2 | 4, true),
    row<Type::F16, kAtomicHalf<half::F16, kHalfMax>>("max", true, 2 | 4 | 8, true),
    row<Type::BF16, kAtomicHalf<half::BF16, kHalfMax>>("max", true, 2 | 4 | 8, true),
    row<Type::F16x2, kAtomicHalves<half::F16, kHalfMax>>("max", true, 2 | 4, true),
    row<Type::BF16x2, kAtomicHalves<half::BF16, kHalfMax>>("max", true, 2 | 4, true),
};

const AtomicRow* findRow(std::string_view operation, Type type) {
  for (const AtomicRow& row : kAtomicRows)
    if (row.operation == operation && row.type == type) return &row;
  return nullptr;
}

/// .sem, .scope and the state space; a reduction, which returns nothing, acquires nothing.
void takeOrdering(Words& words, bool isReduction, Access& access) {
  const auto semantics =
      isReduction ? words.takeNamed<Semantics>({{"relaxed", Semantics::Relaxed}, {"release", Semantics::Release}})
                  : words.takeNamed<Semantics>({{"relaxed", Semantics::Relaxed},
                                                {"acquire", Semantics::Acquire},
                                                {"release", Semantics::Release},
                                                {"acq_rel", Semantics::AcquireRelease}});
  access.semantics = semantics.value_or(Semantics::Relaxed);
  if (!takeScope(words, access.scope)) access.scope = Scope::Gpu;
  if (words.take("global"))
    access.space = Space::Global;
  else if (!words.takeOneOf({"shared", "shared::cta", "shared::cluster"}).empty())
    access.space = Space::Shared;
  access.kind = AccessKind::Atomic;
}

/// One register, or as many as `elements` in braces.
template <class Each> bool eachElement(Decoder& decoder, const Operand& operand, uint32_t elements, Each&& each) {
  if (elements == 1) return each(operand, 0);
  if (operand.kind != Operand::Kind::Vector || operand.parts.size() != elements)
    return decoder.fail(operand, "wants a vector of " + std::to_string(elements) + " registers");
  for (size_t i = 0; i < elements; ++i)
    if (!each(operand.parts[i], i)) return false;
  return true;
}

bool decodeAddress(Decoder& decoder, const Operand& operand, AtomicAccess& op, Inst& out) {
  Decoder::Address address;
  if (!decoder.address(operand, address)) return false;
  const bool isGenericToo = address.space == Space::Global && op.access.space == Space::None;
  if (address.space != Space::None && address.space != op.access.space && !isGenericToo)
    return decoder.fail(operand, "the variable is not in the space that the instruction names");
  out.a = address.base;
  out.immediate = address.offset;
  op.isWide = address.bytes == 8;
  return true;
}

/// d, [a], b(, c)(, policy) for atom; [a], b(, policy) for red. `first` is [a]'s place.
bool decodeOperands(Decoder& decoder, const ptx::Instruction& in, const AtomicRow& row, bool hasPolicy,
                    AtomicAccess& op, Inst& out) {
  const bool returns = in.opcode == "atom", swaps = row.operation == "cas";
  const size_t first = returns ? 1 : 0, policy = first + 2 + swaps;
  if (!decoder.operands(in, policy + hasPolicy) || !decodeAddress(decoder, in.operands[first], op, out)) return false;
  const Type type = isPacked(row.type) ? Type::B32 : row.type;
  Slot unused;
  if (hasPolicy && !decoder.source(in.operands[policy], Type::B64, unused)) return false;
  if (swaps && !decoder.source(in.operands[first + 2], type, op.c)) return false;
  if (!eachElement(decoder, in.operands[first + 1], op.elements,
                   [&](const Operand& o, size_t i) { return decoder.source(o, type, op.b[i]); }))
    return false;
  return !returns || eachElement(decoder, in.operands[0], op.elements, [&](const Operand& o, size_t i) {
    return decoder.destination(o, type, op.d[i], false, true);
  });
}

bool decodeAtomic(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  if (in.opcode == "red" && words.take("async")) return decodeReduceAsync(decoder, in, words, out);
  auto* op = decoder.make<AtomicAccess>();
  const bool isReduction = in.opcode == "red";
  takeOrdering(words, isReduction, op->access);
  const std::string_view operation =
      words.takeOneOf({"and", "or", "xor", "exch", "cas", "inc", "dec", "min", "max", "add"});
  if (operation.empty()) return decoder.failMissing(".and .or .xor .exch .cas .add .inc .dec .min .max");
  const bool noFlush = words.take("noftz"), hasPolicy = words.take("L2::cache_hint");
  const std::string_view vector = words.takeOneOf({"v2", "v4", "v8"});
  const Type type = words.takeType();
  const AtomicRow* row = findRow(operation, type);
  if (!row || (isReduction && (operation == "cas" || operation == "exch")))
    return decoder.refuse("no ." + std::string(operation) +
                          (type == Type::None ? " without a type" : " of ." + std::string(ptx::nameOf(type))));
  if (row->needsNoFlush != noFlush)
    return decoder.fail(std::string(in.text) + (noFlush ? ": has no .noftz" : ": wants .noftz"));
  op->elements = vector.empty() ? 1 : uint32_t(vector[1] - '0');
  if (op->elements == 1 ? row->isVectorOnly : !(row->vectors & op->elements))
    return decoder.fail(std::string(in.text) + (op->elements == 1 ? ": wants a vector" : ": no such vector"));
  if (op->elements > 1 && op->access.space == Space::Shared) return decoder.refuse("vectors are in global memory");
  op->access.bytes = op->access.alignment = op->elements * uint32_t(ptx::bytesOf(type));
  out.run = row->run;
  out.data = op;
  out.kind = InstClass::Atomic;
  return decodeOperands(decoder, in, *row, hasPolicy, *op, out);
}

constexpr OpcodeRow kRows[] = {
    {"atom", decodeAtomic},
    {"red", decodeAtomic},
};

} // namespace

constinit OpcodeTable kAtomicOpcodes = kRows;

ReduceElements reducer(ReduceOp op, Type type) {
  const AtomicRow* row = isPacked(type) ? nullptr : findRow(nameOf(op), type);
  return row ? row->reduce : nullptr;
}

} // namespace tiletwin::sim
