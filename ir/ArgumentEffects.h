// ir/ArgumentEffects.h -- which parameters of a kernel lead to memory that it reads or writes.
// Here:      where addresses come from.
// Not here:  which elements are accessed; accesses while a kernel runs (interp/check).
// Invariant: a parameter that the kernel may write through is said to be written. Where an address may come from anywhere
//            else than a parameter, or leaves what can be followed, there is no answer.
#pragma once
#include "ir/TT.h"
#include <optional>

namespace tiletwin::tt {

struct ArgumentEffect {
  bool reads = false, writes = false;
};

/// One for each parameter of `kernel`, a function of TTIR whose module holds all that it calls. Empty: nobody can tell.
std::optional<llvm::SmallVector<ArgumentEffect>> argumentEffects(FuncOp kernel);

} // namespace tiletwin::tt
