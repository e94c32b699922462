// codegen/passes/DotPrecision.h -- dots that no instruction computes as they stand, said as dots that one does.
#pragma once
#include "codegen/Codegen.h"
#include "ir/TT.h"

namespace tiletwin::codegen {

/// Before layouts are chosen: f32 dots of precision tf32x3, bf16x3 and bf16x6 become dots of their parts (DotPrecision.cpp),
/// tt.dot_scaled a dot of operands that are scaled before (DotScaled.cpp). Dots of tf32 on a target without it are `ieee`;
/// on others those of tiles that were both widened from f16, or both from bf16, become dots of the narrow tiles.
/// Fails with a diagnostic at a dot of a format that no target has.
mlir::LogicalResult rewriteDots(tt::FuncOp kernel, const Target& target);

/// The second part of it: one scaled dot.
mlir::LogicalResult rewriteScaledDot(tt::DotScaledOp dot);

} // namespace tiletwin::codegen
