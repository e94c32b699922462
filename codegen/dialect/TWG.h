// codegen/dialect/TWG.h -- the dialect twg: the layout attribute, operations on laid-out tiles.
// Here:      the generated classes, and how to ask a tile's type for its layout.
// Not here:  the map itself (layout/LinearLayout.h), who chooses it (passes/).
#pragma once
#include "codegen/layout/LinearLayout.h"
#include "codegen/layout/SharedLayout.h"
#include "ir/Notes.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tiletwin::twg {
/// The resource of notes for a debugger. No other operation reads or writes it.
struct Notes : mlir::SideEffects::Resource::Base<Notes> {
  llvm::StringRef getName() final { return "notes"; }
};
} // namespace tiletwin::twg

#include "codegen/dialect/TWGDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "codegen/dialect/TWGAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "codegen/dialect/TWGTypes.h.inc"
#define GET_OP_CLASSES
#include "codegen/dialect/TWGOps.h.inc"

namespace tiletwin::twg {

/// The layout of a tile, which must have one.
codegen::LinearLayout layoutOf(mlir::Type tile);
inline codegen::LinearLayout layoutOf(mlir::Value tile) { return layoutOf(tile.getType()); }
/// True for a tile whose type carries a layout.
bool hasLayout(mlir::Type type);
/// Where the elements of a tile in shared memory lie.
codegen::SharedLayout sharedLayoutOf(MemDescType type);
/// The allocation that a memory descriptor is a part of.
LocalAllocOp allocationOf(mlir::Value memory);
/// The operations that use memory, through slots and views of it.
mlir::SmallVector<mlir::Operation*> usersOf(mlir::Value memory);
/// True for memory that tensor copies read or write.
bool isCopiedByTensorUnit(mlir::Value memory);
/// True for memory that holds barriers, which count what tensor copies have brought.
bool isBarrier(LocalAllocOp memory);
/// The tile type with this layout. Scalars stay as they are.
mlir::Type withLayout(mlir::Type type, const codegen::LinearLayout& layout);

} // namespace tiletwin::twg
