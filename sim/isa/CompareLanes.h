// sim/isa/CompareLanes.h -- comparisons over 32 lanes, as one word with a bit a lane.
// Here:      Comparison, holds, comparisonNamed, chooseComparison.
// Not here:  what setp and set make of the word (Compare.cpp).
// Source:    PTX ISA, 5.3 and 9.3.1 (comparison operators), 9.7.6, 9.7.7.
// Invariant: a comparison with NaN is false, unless it is an unordered one (equ, ...) or asks for NaN.
#pragma once
#include "sim/machine/Warp.h"
#include "sim/ptx/Ptx.h"
#include <optional>
#include <string_view>

namespace tiletwin::sim {

/// In the order of the types that have them: bits the first two, integers the first six, floats all.
enum class Comparison : uint8_t { Eq, Ne, Lt, Le, Gt, Ge, Equ, Neu, Ltu, Leu, Gtu, Geu, Num, Nan };

template <class T> bool holds(Comparison is, T a, T b) {
  switch (is) {
  case Comparison::Eq: return a == b;
  case Comparison::Ne: return a < b || a > b;
  case Comparison::Lt: return a < b;
  case Comparison::Le: return a <= b;
  case Comparison::Gt: return a > b;
  case Comparison::Ge: return a >= b;
  case Comparison::Equ: return !(a < b || a > b);
  case Comparison::Neu: return !(a == b);
  case Comparison::Ltu: return !(a >= b);
  case Comparison::Leu: return !(a > b);
  case Comparison::Gtu: return !(a <= b);
  case Comparison::Geu: return !(a < b);
  case Comparison::Num: return a == a && b == b;
  case Comparison::Nan: return a != a || b != b;
  }
}

/// "lt", "ltu", "lo", ... None for another word.
std::optional<Comparison> comparisonNamed(std::string_view word);

using CompareLanes = LaneMask (*)(Warp& warp, Slot a, Slot b);
/// Two comparisons for packed types: of the low halves and of the high ones. Else `high` is null.
struct ComparePair {
  CompareLanes low = nullptr, high = nullptr;
};

/// The loops for a comparison of values of a type; null if there is no such comparison. `flush`: subnormals count as zero.
ComparePair chooseComparison(Comparison comparison, ptx::Type type, bool flush);

} // namespace tiletwin::sim
