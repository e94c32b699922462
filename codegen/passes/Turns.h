// codegen/passes/Turns.h -- two groups of warps that take turns at the tensor cores.
//
// Here:      which loops gain by turns, where turns begin and end, the order that they have.
// Not here:  who copies the loop's blocks (Producer.h), the named barriers (emit/TurnOps.cpp).
//
// Idea: a loop whose products feed other work, a softmax for one, leaves the tensor cores alone meanwhile. Two groups of warps
//       begin such a loop together, and stay together, since both want the tensor cores at the same time. With turns one group
//       does its other work while the other one's products run. A turn has the products behind the waits for products and, in
//       the next iteration, those in front of them; it is passed on when they have begun, because tensor cores take them in
//       order.
// Invariant: each group waits as often as the other one passes its turn on, and when the loop has ended no turn is left over.
//            Nothing that all warps wait for stands in a turn.
#pragma once
#include "codegen/Codegen.h"
#include "codegen/passes/AccessLayout.h"
#include "ir/TT.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tiletwin::codegen {

/// True for a loop with laid-out tiles in which turns are worth a producer's warps: by an estimate of the cycles that a group's
/// products and its other work take. Nothing in it lets all warps wait for each other but the copies of blocks.
bool gainsByTurns(mlir::scf::ForOp loop, const Target& target, const Options& options);

/// Puts turns into the kernel's loops that gain by them. Waits for products and barriers have their places.
void takeTurns(tt::FuncOp kernel, const Target& target, const Options& options);

/// Fails with a diagnostic at the first operation that is out of turn.
mlir::LogicalResult verifyTurns(tt::FuncOp kernel);

} // namespace tiletwin::codegen
