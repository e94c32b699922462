// codegen/passes/VerifyLayouts.h -- what the layouts of a kernel must be before code is emitted from them.
// Here:      rules between the layouts of an operation's operands and results. Not here: that a layout is one at all
//            (dialect/Dialect.cpp), what an instruction wants of its operands (emit/).
#pragma once
#include "codegen/passes/AccessLayout.h"
#include "ir/TT.h"

namespace tiletwin::codegen {

/// Every tile has a layout for this many threads, and operations that work register by register have operands and results
/// in one. Layout choice sees to it; ttgir that a user wrote may not. Fails with a diagnostic at the first operation.
mlir::LogicalResult verifyLayouts(tt::FuncOp kernel, ThreadBits threads);

} // namespace tiletwin::codegen
