// codegen/passes/Notes.h -- notes of what variables hold, from the front end's (ir/NativeDebugOps.td) to emission.
// Here:      twg.note in their place, and where it looks when a pass replaces a value.
// Not here:  what becomes of them (emit/NoteOps.cpp, ptx/Variables.h), uses without them (ir/Notes.h).
// Invariant: a kernel with notes is compiled as one without: what cannot be shown is lost, and nothing is kept for it.
#pragma once
#include "codegen/dialect/TWG.h"
#include "ir/TT.h"
#include "mlir/IR/BuiltinOps.h"

namespace tiletwin::codegen {

/// The front end's notes: what reads a note's result reads the value, and bodies of reductions have none.
void takeNotes(mlir::ModuleOp module);
/// The module's text of which assignments each line of the source may find.
inline constexpr llvm::StringLiteral kReaching = "twg.reaching";
/// On the note of a loop's variable, which no two rounds have in common.
inline constexpr llvm::StringLiteral kRound = "twg.round";
/// The places of the calls that were inlined, the innermost first: "12:4 40:9".
std::string callersOf(mlir::Location location);
/// The notes of `from` look at `to`, which is the same tile, from its place on; null: nobody keeps it.
void moveNotes(mlir::Value from, mlir::Value to);

/// The notes of tiles without a layout, and those that stay alone at what other operations replace, look at a copy of the
/// tile in a layout that others want, and at nothing if nobody does.
void moveNotesToCopies(tt::FuncOp kernel, const llvm::DenseMap<mlir::Value, mlir::Value>& copies,
                       llvm::ArrayRef<mlir::Operation*> replaced);
/// Notes of sums in flight look at what comes out of the wait for them.
void moveNotesBehindWaits(tt::FuncOp kernel);
/// The tile that is read as a whole from a copy of it in shared memory; null: none is.
mlir::Value readFrom(twg::LocalAllocOp memory);

} // namespace tiletwin::codegen
