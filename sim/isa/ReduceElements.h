// sim/isa/ReduceElements.h -- reductions of whole arrays into memory: what cp.reduce.async.bulk does with the elements.
// Not here:  one element's operation (AtomicUpdates.h).
#pragma once
#include "sim/isa/Decode.h"
#include "sim/isa/TensorMapLayout.h"
#include <cstddef>
#include <optional>
#include <string_view>

namespace tiletwin::sim {

/// Reduces `count` elements at `from` into those at `to`, each in one indivisible step.
using ReduceElements = void (*)(std::byte* to, const std::byte* from, size_t count);

enum class ReduceOp : uint8_t { Add, Min, Max, Inc, Dec, And, Or, Xor };
std::optional<ReduceOp> takeReduceOp(Words& words);
std::string_view nameOf(ReduceOp op);

/// Null where the operation does not exist for the type.
ReduceElements reducer(ReduceOp op, ptx::Type type);
/// The same for elements of a tensor map; bits of either sign are bits to and, or and xor.
ReduceElements reducer(ReduceOp op, TensorElement element);

} // namespace tiletwin::sim
