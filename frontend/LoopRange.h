// frontend/LoopRange.h -- the range of a `for`: its arguments, and the bounds that a loop runs over (rule 53).
// Here:      what both modes read of range(...), tl.range(...) and tl.static_range(...).
// Not here:  the loop itself (WalkerLoops.cpp, EagerLoops.cpp).
#pragma once
#include "frontend/Semantic.h"

namespace tiletwin::frontend {

/// The arguments of tl.range by name; those not given are null.
struct RangeArguments {
  PyRef start, end, step, numStages, unroll, noMultiBuffer, flatten, specialize, noLicm;
};

/// Reads the arguments of a call of `function`: Python's range, tl.range or tl.static_range. False with an error set.
bool readRange(PyObject* function, llvm::ArrayRef<PyRef> arguments,
               llvm::ArrayRef<std::pair<PyObject*, PyRef>> keywords, RangeArguments& out);

/// What a run-time loop runs over. A negative compile-time step makes it run backwards: start and end then are
/// exchanged, step is positive, and the variable is the mirror image of the counter.
struct LoopBounds {
  Value values[3]; ///< start, end, step, all of `type`
  Type type;       ///< of the loop's variable
  bool backwards = false;
};
/// False with an error set: a bound that is no integer, a step of 0.
bool loopBounds(Builder& builder, const RangeArguments& range, LoopBounds& out);

/// The compile-time start, end, step of a tl.static_range. False with an error set.
bool staticBounds(const RangeArguments& range, long (&bounds)[3]);

} // namespace tiletwin::frontend
