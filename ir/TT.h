// ir/TT.h -- the one public header of ir/: operations, types and attributes of the dialects tt and ttg.
// Here:      the generated classes, and what asks a type of a scalar or tile for its parts.
// Not here:  passes, parsing and printing (Passes.h).
#pragma once
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <memory>

namespace mlir {
class FrozenRewritePatternSet;
}

namespace tiletwin::tt {

/// Elements a tile may have at most (rule T3).
inline constexpr int64_t kMaxTileElements = 1048576;

/// The resource that memory effects name: all global memory, one for all pointers.
struct GlobalMemory : mlir::SideEffects::Resource::Base<GlobalMemory> {
  llvm::StringRef getName() final { return "global memory"; }
};
/// The resource of probes: findings. No other operation reads or writes it.
struct Findings : mlir::SideEffects::Resource::Base<Findings> {
  llvm::StringRef getName() final { return "findings"; }
};

mlir::LogicalResult verifyTileShapes(mlir::Operation* op);
mlir::LogicalResult verifySameShape(mlir::Operation* op);

/// Rules T1-T3 of the dialect, for all operands and results.
template <class ConcreteOp> struct TileShapes : mlir::OpTrait::TraitBase<ConcreteOp, TileShapes> {
  static mlir::LogicalResult verifyTrait(mlir::Operation* op) { return verifyTileShapes(op); }
};
/// All operands and results are scalars, or tiles of one shape.
template <class ConcreteOp> struct SameShape : mlir::OpTrait::TraitBase<ConcreteOp, SameShape> {
  static mlir::LogicalResult verifyTrait(mlir::Operation* op) { return verifySameShape(op); }
};
/// An access to memory in one step.
template <class ConcreteOp> struct Atomic : mlir::OpTrait::TraitBase<ConcreteOp, Atomic> {};

/// `element` as a scalar, or as a tile of `like`'s shape if that is a tile.
mlir::Type withShapeOf(mlir::Type like, mlir::Type element);
/// i1 of the shape of a scalar or tile: the type of its mask.
mlir::Type i1TypeLike(mlir::Type type);
/// What a pointer or tile of pointers points to, in its shape. `type` itself if it is neither.
mlir::Type pointeeTypeLike(mlir::Type type);
/// The element type of a tile, else the type itself.
mlir::Type elementTypeOf(mlir::Type type);
/// The shape of a tile; empty for a scalar.
llvm::ArrayRef<int64_t> shapeOf(mlir::Type type);
/// "16x32" for a tile, "scalar" for anything else.
std::string shapeText(mlir::Type type);

} // namespace tiletwin::tt

#include "ir/TTDialect.h.inc"
#include "ir/TTEnums.h.inc"
#include "ir/TTGDialect.h.inc"
#include "ir/TTGEnums.h.inc"
#include "ir/TTInterfaces.h.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/TTAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "ir/TTTypes.h.inc"
#define GET_OP_CLASSES
#include "ir/TTOps.h.inc"
#define GET_OP_CLASSES
#include "ir/TTGOps.h.inc"
