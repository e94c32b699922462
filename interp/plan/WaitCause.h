// interp/plan/WaitCause.h -- whether a loop may wait for other programs, and for what (WaitLoops.cpp).
#pragma once
#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"

namespace tiletwin::interp {

/// Why a loop may wait.
struct WaitCause {
  mlir::Operation* access = nullptr; ///< the access to memory that its end depends on; null: none
  /// Per value that rounds hand on: false if neither the end nor an access to memory depends on it (it counts attempts).
  /// Empty: all matter.
  llvm::SmallVector<bool, 8> matters;
  bool readsClock = false; ///< inline assembly may see something else each time
};
WaitCause whileWaitsOn(mlir::Operation* loop);
/// The same for loops made of blocks: any access of the function.
WaitCause blocksWaitOn(mlir::Operation* function);

} // namespace tiletwin::interp
