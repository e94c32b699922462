// codegen/passes/Producer.h -- copies of blocks that warps of their own begin, while those of the program multiply.
//
// Here:      which loops give their copies away, the rings between both sides, and how many registers each side has.
// Not here:  what the producer computes (ProducerSlice.h), rings that the program's own warps fill (PipelineTma.h).
//
// Idea: each group of blocks that a loop waits for gets a ring of slots with two barriers a slot. `full` ends a phase when
//       the blocks have arrived; `empty` ends one when every warp of the program is done with them. A producer runs the
//       kernel's loops and branches around these copies once more: it waits until a slot is empty, and fills it. The
//       program waits until it is full, reads it, and arrives at `empty` where the reader is known to be done, which is one
//       iteration later for products in flight. Loops around a loop carry the number of its slot on, so that the producer
//       is ahead across them, too.
// Invariant: both sides use the slots in one order, each as often as the other; sums keep their order.
#pragma once
#include "codegen/Codegen.h"
#include "codegen/dialect/TWG.h"
#include "ir/TT.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tiletwin::codegen {

constexpr int kRegisters = 64 * 1024;     ///< of a multiprocessor
constexpr int kRegistersBesideTiles = 32; ///< that a thread needs for addresses, loops and what follows them

/// Makes a twg.producer for the loops that ask for one (tl.range(warp_specialize=True)), for those whose two groups of
/// warps then need not multiply at the same time (Turns.h), and for those that alone fill a multiprocessor, round by round. Warns at a loop that asks in vain.
void makeProducer(tt::FuncOp kernel, const Target& target, const Options& options);

/// The kernel's twg.producer; null if it has none.
twg::ProducerOp producerOf(tt::FuncOp kernel);
/// Warps of a CTA: the program's, then the producer's.
int warpsOf(tt::FuncOp kernel, const Options& options);

/// True if registers for the tiles of two CTAs, whose threads run this loop, are more than there are.
bool fillsMultiprocessor(mlir::scf::ForOp loop, int threads);

/// True if a loop's tiles, with all of its products in flight, fit into the registers that a thread has beside a producer.
bool leavesRegisters(mlir::scf::ForOp loop);

/// Divides the registers between both sides, once the kernel's shared memory is known, which says how many CTAs run
/// beside each other.
void divideRegisters(tt::FuncOp kernel, const Target& target, const Options& options);
/// Registers of a thread when the kernel begins, from which both sides take theirs; 0: the kernel does not divide them.
int registersAtStart(tt::FuncOp kernel, const Options& options);

} // namespace tiletwin::codegen
