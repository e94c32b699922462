// codegen/passes/WrittenMemory.h -- whether a kernel writes what it reads, and who then reads it.
#pragma once
#include "ir/TT.h"

namespace tiletwin::codegen {

/// False if no operation of the kernel writes through pointers that come from where `pointer` comes from: the same
/// argument. Different arguments are taken for different memory.
bool mayBeWritten(mlir::Value pointer);

/// True if an operation in the loop writes through pointers that come from the same argument. Pointers of which that is not known,
/// those from memory for one, are taken for others.
bool isWrittenIn(mlir::Operation* loop, mlir::Value pointer);

/// True for stores and atomic operations that change memory.
bool writesMemory(mlir::Operation* op);
/// False if two such operations write through different arguments.
bool mayWriteTheSame(mlir::Operation* one, mlir::Operation* other);

/// True if one thread reads for all that hold an element, because the memory may change between two threads' reads: by
/// other programs (volatile), or by this one, whose stores the same thread makes.
bool ownerReads(tt::LoadOp load);

/// True if a program can learn from `op` what other programs have done, so that what it reads behind `op` may be theirs:
/// volatile loads, and atomic accesses, but for those whose result nobody reads (sums of a product that is split along K).
bool mayTellOfOthers(mlir::Operation* op);

} // namespace tiletwin::codegen
