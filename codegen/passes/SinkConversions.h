// codegen/passes/SinkConversions.h -- conversions of layouts where they are used, and where they are made once.
#pragma once
#include "ir/TT.h"

namespace tiletwin::codegen {

/// Conversions stand behind definitions, so that all users can have them. What only a branch uses belongs into it.
void sinkConversions(tt::FuncOp kernel);

/// Small tiles that a loop converts from what does not change in it are converted in front of it: a conversion between warps
/// lets all threads wait twice. Loops of tl.range(disable_licm=True) stay as they are.
void hoistConversions(tt::FuncOp kernel);

} // namespace tiletwin::codegen
