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
  bool isWarpgroup = false; ///< wgmma: its matrices stay in shared memory, the first one unless `inRegisters`
  bool isTensor = false;    ///< tcgen05: its matrices stay in shared memory, its sums in tensor memory
  bool inRegisters = false;
  bool isReadFromMemory = false; ///< what is in registers: it is put into shared memory as it lies, and read from there
  WgmmaForm form;

  /// "mma.m16n8k16", "wgmma", "tcgen05" or "fma": the dot's attribute `instruction`.
  std::string instruction() const;
};

/// layoutOf: the layout that a tile has before the dot, if one is known.
DotPlan planDot(tt::DotOp dot, const Target& target, ThreadBits threads,
                llvm::function_ref<std::optional<LinearLayout>(mlir::Value)> layoutOf);

/// Whether tcgen05 has an instruction for a dot's types and threads, and tensor memory room for sums of that shape.
bool mayBeInTensorMemory(tt::DotOp dot, llvm::ArrayRef<int64_t> sums, const Target& target, ThreadBits threads);

/// The dimension along which a thread's first registers, or else its neighbours, lie.
std::optional<unsigned> contiguousDimension(const LinearLayout& layout);

/// The dimension that is contiguous in shared memory for wgmma or, `isTensor`, tcgen05: the one that is so in the layout for
/// elements of 16 bits, of tcgen05 of 8 bits too; K for others, which have no transposed form.
unsigned matrixDimension(mlir::Value operand, unsigned kDimension, const LinearLayout& layout, bool isTensor);

/// The format in which tensor cores read elements of this type; none if they do not.
std::optional<Multiplied> multipliedFormat(mlir::Type element);

} // namespace tiletwin::codegen
