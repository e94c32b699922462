// ir/TileBuilder.h -- arithmetic on scalars and tiles, as passes write it that add operations.
// Here:      TileBuilder, a builder that keeps its location; constants, conditions, shapes, and tt.reduce and tt.scan whose
//            regions are one operation.
// Not here:  what regions of kernels do (interp/plan/ReduceOps.cpp, codegen/emit/ReduceOps.cpp).
#pragma once
#include "ir/TT.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace tiletwin::tt {

class TileBuilder : public mlir::ImplicitLocOpBuilder {
public:
  using Type = mlir::Type;
  using Value = mlir::Value;
  using ImplicitLocOpBuilder::ImplicitLocOpBuilder;

  /// A number in every element of a type like `like`, a scalar's or a tile's.
  Value constant(mlir::TypedAttr number, Type like);
  Value integer(Type type, const llvm::APInt& value);
  Value integer(Type type, int64_t value); ///< its low bits
  Value floating(Type type, double value);
  Value floating(Type type, const llvm::APFloat& value);

  // Conditions are i1.
  Value compare(mlir::arith::CmpIPredicate predicate, Value a, Value b);
  Value compare(mlir::arith::CmpFPredicate predicate, Value a, Value b);
  Value both(Value a, Value b);   ///< null: true
  Value either(Value a, Value b); ///< null: false
  Value invert(Value condition);

  /// A tile without dimension `axis` stretched along it to the shape of `like`; null stays null.
  Value stretch(Value tile, int axis, Type like);
  /// A tile of rank 1 laid along dimension `dim` of the shape of `like`, and stretched to it.
  Value laidAlong(Value line, int dim, mlir::RankedTensorType like);
  /// `op` once more, without its regions, on other operands and with results of other types.
  mlir::Operation* cloneFor(mlir::Operation* op, mlir::ValueRange operands, mlir::TypeRange results);

  /// The tile's elements combined along an axis by the operation `Op`.
  template <class Op> Value reduce(Value tile, int axis) { return reduceBy(tile, axis, by<Op>); }
  /// Prefixes along the axis of another scan, in its direction.
  template <class Op> Value scan(Value tile, ScanOp like) { return scanBy(tile, like, by<Op>); }

private:
  using Combine = Value (*)(TileBuilder&, Value, Value);
  template <class Op> static Value by(TileBuilder& b, Value x, Value y) { return Op::create(b, x, y); }
  Value reduceBy(Value tile, int axis, Combine combine);
  Value scanBy(Value tile, ScanOp like, Combine combine);
  template <class End> void fill(mlir::Region& region, Type element, Combine combine);
};

} // namespace tiletwin::tt
