// codegen/passes/Pairs.h -- two CTAs that run neighbouring programs at one time, and read once what both of them copy.
//
// Here:      which kernels run in pairs, what both programs of a pair decide together, which blocks both have.
// Not here:  the loop over programs (TileLoop.h), who copies (Producer.h), the instructions (emit/PairOps.cpp).
//
// Idea: in a loop over programs CTA c runs programs c, c + n, c + 2n, ..., so CTAs 2i and 2i + 1, a cluster, run neighbours at one
//       time. Programs beside each other often read the same rows or columns: one of the two matrices of a product. A producer
//       knows where its neighbour's blocks lie, since it can compute from the neighbour's number what it computes from its
//       own. Where both are the same block, one of the two producers copies each box of it, to both CTAs (multicast): the
//       boxes of a block, and the slots of a ring, take turns.
// When:  the launch asks for it (num_ctas), or the loop's products are used at once, as those of attention. There two CTAs that read
//       each block once gain 2 to 5 % (H200). A product with sums in registers gains nothing: power limits it.
// Protocol: a slot's number is the same in both CTAs, since both copy in the same rounds. A producer that has found its slot
//       free, and has said what its barrier expects, tells the other one, and waits until it is told. From then on either may
//       copy to both. It arrives at its own barrier before that, too: no phase ends before it has come to the wait for it, however
//       far ahead the other one is. A CTA's own barrier says what has arrived, whoever copied it. Nothing comes to a CTA that it does
//       not wait for, so either may end first.
// Invariant: both programs of a pair decide alike: whether blocks are copied at all, and which are the same. A program without a
//       neighbour copies for itself. Each result has the same bits as without pairs.
#pragma once
#include "codegen/Codegen.h"
#include "ir/TT.h"

namespace tiletwin::codegen {

constexpr int kCtasOfPair = 2;

/// Behind makeTileLoop. Nothing without Options::pairs, and for kernels without such a loop. The kernel is then launched with an
/// even number of CTAs.
void pairPrograms(tt::FuncOp kernel, const Options& options);

/// Behind makeProducer. A kernel that has no block which two programs may share is no longer one of pairs. Warns of a num_ctas that
/// changes nothing.
void shareCopies(tt::FuncOp kernel, const Options& options);

/// A branch that is made again remains one that both programs of a pair take, or none.
void copyPairMarks(mlir::Operation* from, mlir::Operation* to);

/// Whether a kernel runs in clusters of two CTAs.
bool runsInPairs(tt::FuncOp kernel);

} // namespace tiletwin::codegen
