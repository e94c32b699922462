// codegen/passes/LoadsOfOperands.h -- loads from which a loop computes operands of products, through shared memory.
//
// Here:      which loads, and of how many iterations shared memory has room.
// Not here:  operands that are loaded as they are and used for nothing else (DotOperands.h), the copies (Pipeline.h).
//
// Idea: packed weights are loaded, unpacked and scaled before a product reads them, and all of it waits for memory. In
//       shared memory they can be there some iterations ahead, as operands are. Each thread reads what it would have loaded, and
//       what wants another layout reads that.
//       Products of warpgroups have so much to do that more CTAs beside each other hide the loads, too: where memory for
//       copies would leave room for fewer of them, the loop has one stage less, or such loads stay, unless there are no
//       registers for more CTAs anyway. What is used in front of all products would wait for the copies earlier than they
//       do. So all such loads of a loop are copied or none, unless the loop waits for its first product anyway, because it
//       reads what that gives, or a load is much smaller than the operand, as words of packed weights are. Smaller
//       products are faster with the copies.
#pragma once
#include "codegen/Codegen.h"
#include "ir/TT.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

namespace tiletwin::codegen {

/// The operations of a loop's body from which tensor cores' operands are computed, up to loads. Before layouts are chosen of all
/// products.
llvm::SetVector<mlir::Operation*> behindProducts(mlir::scf::ForOp loop);

/// In every loop of at least 2 stages with products of tensor cores. A loop for whose stages there is no room gets fewer. Of
/// the whole kernel, conversions of few numbers that come from shared memory are reads in the layout that is wanted.
void shareLoadsOfOperands(tt::FuncOp kernel, const Target& target, const Options& options);

} // namespace tiletwin::codegen
