// interp/plan/ProbeAccess.h -- probes behind accesses to memory, for the checks bounds, uninitialized, races, barriers and order.
// Here:      one function for each way in which an access is planned. They emit nothing if no such check is wanted.
// Not here:  what a probe does (program/ProbeAccess.h, check/MemoryCheck.h).
// Idea:      probes are made where an access is planned, not as operations of the IR, because only there the very block is
//            known that is accessed: its box, its table of rows, the addresses that were materialised.
// Invariant: called right after the access was emitted; stores of blocks leave their group before.
#pragma once
#include "interp/plan/Builder.h"

namespace tiletwin::interp {

/// Whether accesses get probes.
bool probesAccesses(const PlanBuilder& plan);

/// A load or store of affine addresses, or of rows picked by number, inside `box` if there is one.
void probeBlock(PlanBuilder& plan, const Rep& pointer, const Rep* box, DType type, const char* operation, bool writes);
/// A gather or scatter: dense tiles of addresses and, unless kNoReg, of mask.
void probeAddresses(PlanBuilder& plan, Reg address, Reg mask, int root, DType type, llvm::ArrayRef<int64_t> shape,
                    const char* operation, bool writes);
/// A scalar access: cells.
void probeScalar(PlanBuilder& plan, Reg address, Reg mask, int root, DType type, const char* operation, bool writes);
/// Rows of a tensor descriptor. `access` belongs to the access; it reads `rows` and these uniforms.
void probeDescriptorRows(PlanBuilder& plan, const DescriptorRowsOp& access, DType type, llvm::ArrayRef<Reg> reads);
/// tt.descriptor_reduce.
void probeReduce(PlanBuilder& plan, const Rep& pointer, const Rep& box, DType type, bool isFloatAdd);

/// An atomic operation: cells if `shape` is empty, else dense tiles. `old` is what memory held, as the operation's result is
/// kept; for a poll what it returned.
struct AtomicProbe {
  mlir::Operation* op = nullptr;
  const char* operation = "";
  Reg address = kNoReg, mask = kNoReg, old = kNoReg, compare = kNoReg;
  bool compareIsCell = false, writes = false, isFloatAdd = false;
  bool isUsed = false; ///< something depends on the result
  int root = -1;
  DType type = DType::I32;
  llvm::ArrayRef<int64_t> shape;
};
void probeAtomic(PlanBuilder& plan, const AtomicProbe& atomic);

} // namespace tiletwin::interp
