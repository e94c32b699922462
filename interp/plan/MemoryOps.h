// interp/plan/MemoryOps.h -- what other families need from MemoryOps.cpp.
#pragma once
#include "interp/plan/Builder.h"

namespace tiletwin::interp {

/// What masked-off lanes of a load hold: a cell or a dense tile; kNoReg: zero.
struct BoxLoadOther {
  Reg reg = kNoReg;
  bool isTile = false;
};
/// Where a block lies: `pointer`'s addresses, inside `box` if there is one.
void readBlock(PlanBuilder& plan, BuildInstruction& in, Access& access, const Rep& pointer, const Rep* box);
/// Emits the load of affine addresses, inside `box` if there is one, and gives `op`'s result its form. Sinks have been
/// flushed. `operation`: a literal, for traps. Invariant: `pointer` and `box` have the result's shape.
void boxLoad(PlanBuilder& plan, mlir::Operation* op, const Rep& pointer, const Rep* box, const BoxLoadOther& other,
             const char* operation);
/// Lets `stream` of an open group be stored to affine addresses, inside `box` if there is one.
void storeBlock(PlanBuilder& plan, int group, int stream, const Rep& pointer, const Rep* box, DType type,
                const char* operation);

} // namespace tiletwin::interp
