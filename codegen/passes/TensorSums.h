// codegen/passes/TensorSums.h -- sums of products in tensor memory: where they come from, how long they stay, which columns.
//
// Here:      what becomes of a dot that tcgen05 multiplies, sums that loops leave where they are.
// Not here:  which dots these are (DotLayouts.h), the cells of a tile (layout/TensorMemory.h), the instructions
//            (emit/DotTcgen05.cpp).
//
// Idea: each product has tensor memory of its own at first, with a store of its sum in front of it and a load behind it. Then
//       what is loaded and only stored again stays: from one product to the next, and, of a sum that a loop carries from its
//       product to its product, for all of the loop. A sum that other operations read or change goes on as registers.
// Invariant: the CTA's columns suffice: sums stay only as long as all that are there at one time have room.
#pragma once
#include "codegen/dialect/TWG.h"
#include "codegen/passes/DotLayouts.h"
#include "ir/TT.h"

namespace tiletwin::codegen {

class TensorProducts {
public:
  explicit TensorProducts(tt::FuncOp kernel) : kernel_(kernel) {}
  /// In front of a dot: its result, in registers and in the layout of its sum. Its operands have layouts.
  mlir::Value multiply(tt::DotOp dot, const DotPlan& plan);

private:
  void open();

  tt::FuncOp kernel_;
  mlir::Value all_, barrier_; ///< null: no product so far
};

/// The wait that stands right behind a product; null: it is not waited for there.
twg::BarrierWaitOp waitFor(twg::TmemDotOp dot);
/// The columns of a tile in tensor memory, the first one behind that of all. The tile has its column.
uint32_t firstColumnOf(mlir::Value tile);
uint32_t columnsOf(mlir::Value tile);
/// Fails with a diagnostic at the first tile in tensor memory that has no columns of its own, and where memory is not given back.
mlir::LogicalResult verifyTensorMemory(twg::TmemOpenOp open);

/// Leaves sums in tensor memory and gives them columns; tensor memory is given back where the kernel ends. Nothing for kernels
/// without such products.
void placeTensorSums(tt::FuncOp kernel);

} // namespace tiletwin::codegen
