// codegen/passes/TensorCopies.h -- blocks of tensors with a tensor map go through shared memory, copied by the hardware (TMA).
#pragma once
#include "ir/TT.h"

namespace tiletwin::codegen {

/// Whether memory that copies load later may be others' or plain stores' work: the operation writes global memory otherwise
/// than by a copy, or may wait for other programs that do, as atomics and volatile loads can.
bool mayExposeWrites(mlir::Operation* op);

/// Replaces loads, stores and reductions through descriptors that are tensor maps (TensorMaps.h) by copies to and from
/// shared memory. Dots read loaded blocks where they arrive, if they lie as the dot wants them; others are loaded into
/// registers in front of their first use.
void makeTensorCopies(tt::FuncOp kernel);

} // namespace tiletwin::codegen
