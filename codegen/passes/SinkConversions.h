// codegen/passes/SinkConversions.h -- conversions of layouts where they are used.
#pragma once
#include "ir/TT.h"

namespace tiletwin::codegen {

/// Conversions stand behind definitions, so that all users can have them. What only a branch uses belongs into it.
void sinkConversions(tt::FuncOp kernel);

} // namespace tiletwin::codegen
