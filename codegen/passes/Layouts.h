// codegen/passes/Layouts.h -- gives every tile of a kernel its layout: "ttir" with numerics becomes "ttgir".
#pragma once
#include "codegen/Codegen.h"
#include "codegen/passes/AccessLayout.h"
#include "mlir/IR/BuiltinOps.h"

namespace tiletwin::codegen {

/// Chooses layouts (LayoutChoice.h), writes them into the tiles' types, and adds twg.convert_layout where a user needs
/// another one. Accesses get the attribute twg.vector, reductions `order`, dots
/// `instruction` and `order` (of the elements along K). Fails with a diagnostic where an operation
/// cannot be laid out.
mlir::LogicalResult assignLayouts(tt::FuncOp kernel, ThreadBits threads, const Target& target);

} // namespace tiletwin::codegen
