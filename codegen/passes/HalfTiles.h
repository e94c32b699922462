// codegen/passes/HalfTiles.h -- tiles of which a CTA has half, along one dimension.
// Here:      which operations give half of their result from halves of their operands, and the operations that do.
// Not here:  which halves a kernel needs (Divide.h).
#pragma once
#include "ir/TT.h"
#include "mlir/IR/Builders.h"
#include <optional>

namespace tiletwin::codegen {

/// A dimension, of which this CTA has its half; or all of a tile or scalar.
using Half = int;
constexpr Half kWhole = -1;

/// The type of half of a tile.
mlir::RankedTensorType halfOf(mlir::Type tile, Half along);
/// The type of a descriptor of blocks that are halves.
tt::TensorDescType halfOf(tt::TensorDescType blocks, Half along);

/// Whether a half is possible: the extent is even.
bool canBeHalved(mlir::Type tile, Half along);

/// What an operation without effects needs of each operand for that half of its results; none: there is no such way.
std::optional<llvm::SmallVector<Half>> operandHalves(mlir::Operation* op, Half along);

/// That half of an operation's results, in an operation like it. operands: what operandHalves says. rank: the CTA's number, an i32.
mlir::Operation* makeHalf(mlir::OpBuilder& builder, mlir::Operation* op, Half along, mlir::ValueRange operands,
                          mlir::Value rank);

/// The half of a whole tile: both halves, of which the CTA's is chosen.
mlir::Value takeHalf(mlir::OpBuilder& builder, mlir::Value tile, Half along, mlir::Value rank);

/// An index that begins a block, as that of the CTA's half of the block.
mlir::Value indexOfHalf(mlir::OpBuilder& builder, mlir::Location where, mlir::Value index, int64_t extent,
                        mlir::Value rank);

} // namespace tiletwin::codegen
