// codegen/passes/HeldOperands.h -- operands of dots that a loop would hold in registers longer than it needs them.
//
// Here:      of products by `mma`: fragments that come from shared memory in front of a loop, and how many registers the
//            loop's tiles need at most.
// Not here:  operands of products without tensor cores (DotOperands.h), matrices of warpgroups, which stay in memory anyway.
//
// Idea: what an assembler cannot hold it spills to the thread's memory, word by word. A fragment that does not change is in
//       shared memory already: ldmatrix reads four of its words at once where a product needs them.
// Invariant: memory that is read again is written by nothing but its allocation.
#pragma once
#include "codegen/Codegen.h"
#include "ir/TT.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tiletwin::codegen {

/// Of loops that need more registers than a thread has, each fragment is read right in front of the first product that wants
/// it. Where that is not enough, fragments that stay the same are read in front of each product, those with most words
/// first, if shared memory has room for all tiles of the kernel at once, beside as many other CTAs as registers have.
void readOperandsLate(tt::FuncOp kernel, const Target& target, const Options& options);

/// Words of 32 bits that a thread needs for tiles where a loop's body needs most of them: what it carries, what stays the same
/// and is used in it, and what it computes. isInPieces: of fragments that are read right in front of their products an
/// assembler holds a part at a time.
unsigned mostWordsOfTiles(mlir::scf::ForOp loop, bool isInPieces);

/// Registers that a thread has if all of the CTA's threads use as many: Options::maxRegisters at most.
int registersOfThread(const Target& target, const Options& options);

/// CTAs of so many threads that run beside each other for which registers are enough, by what the loop's tiles need; at least 1.
uint32_t ctasByRegisters(mlir::scf::ForOp loop, unsigned threads);

} // namespace tiletwin::codegen
