// codegen/passes/DotLayouts.h -- which instruction multiplies a dot, and the layouts that it wants.
// Here:      the choice for one tt.dot. Not here: the layouts' shapes (layout/TensorCores.h), other precisions of f32 and
//            scaled operands, which are gone by then (DotPrecision.h).
#pragma once
#include "codegen/Codegen.h"
#include "codegen/layout/TensorCores.h"
#include "codegen/passes/AccessLayout.h"

namespace tiletwin::codegen {

/// How a dot is computed.
struct DotPlan {
  const MmaShape* shape = nullptr; ///< null: fused multiply-adds of each thread
  KOrder order;                    ///< of the elements along K
  mlir::Type widened;              ///< what f8 operands become first; null: they stay
  DotLayouts layouts;

  /// "mma.m16n8k16" or "fma": the dot's attribute `instruction`.
  std::string instruction() const;
};

DotPlan planDot(tt::DotOp dot, const Target& target, ThreadBits threads);

/// The format in which tensor cores read elements of this type; none if they do not.
std::optional<Multiplied> multipliedFormat(mlir::Type element);

} // namespace tiletwin::codegen
