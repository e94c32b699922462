// ir/Notes.h -- uses of a value that count, where notes for a debugger stand beside them.
// Idea:      a note says which variable holds a value. No pass may decide otherwise because somebody wants to look at it.
#pragma once
#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/STLExtras.h"

namespace tiletwin::tt {

/// An operation that looks at its operand, and at which nobody looks (twg.note).
template <class ConcreteOp> struct Note : mlir::OpTrait::TraitBase<ConcreteOp, Note> {};

inline bool isNote(mlir::Operation* op) { return op->hasTrait<Note>(); }
/// The uses but those of notes.
inline auto usesOf(mlir::Value value) {
  return llvm::make_filter_range(value.getUses(), [](mlir::OpOperand& use) { return !isNote(use.getOwner()); });
}
/// The operations that use it, but notes.
inline auto usersOf(mlir::Value value) {
  return llvm::make_filter_range(value.getUsers(), [](mlir::Operation* user) { return !isNote(user); });
}
inline bool hasOneUse(mlir::Value value) { return llvm::hasSingleElement(usesOf(value)); }
inline bool isUnused(mlir::Value value) { return usesOf(value).empty(); }

} // namespace tiletwin::tt
