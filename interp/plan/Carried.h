// interp/plan/Carried.h -- values that loops carry and that branches and blocks hand on.
// Here:      in which form each is handed on, the way in, the back edge, the way out.
// Not here:  the loops and branches themselves (ControlFlow.cpp, Blocks.cpp).
// Idea:      a region is planned under the assumption that symbolic values stay symbolic (a pointer advanced by a uniform
//            amount is one cell). If its yields break that, everything emitted is undone and the value is carried as a tile.
// Invariant: a carried value's register is written only before the loop and at its back edge.
#pragma once
#include "interp/plan/Builder.h"

namespace tiletwin::interp {

/// One value carried by a loop, or handed on by a branch or to a block.
struct Carried {
  /// How much of the symbolic form is given up, one step after the other.
  enum Form : uint8_t {
    BaseVaries, ///< scalars; affine tiles and descriptors whose base alone changes
    AllVary,    ///< strides and extents have cells too
    Dense,      ///< a tile in the arena
    FormMask = 3,
    Rootless = 4, ///< pointers of different arguments meet here
  };
  bool symbolic = true;
  Reg reg = kNoReg;                ///< the dense tile
  llvm::SmallVector<Reg, 4> cells; ///< symbolic: per part of the form, kNoReg where it is the same everywhere
  Rep rep;                         ///< what the region's argument is
};

/// The uniform parts of a symbolic form.
llvm::SmallVector<Uniform*, 8> partsOf(Rep& r);
/// Registers for values that start as `init`. `level` is the level of the region that sees them.
Carried carry(PlanBuilder& plan, mlir::Value init, uint8_t form, int level);
/// Registers for a value that is yet to be handed over: of its form only the type is known, and which argument pointers
/// come from if all of `sources`, what is handed over or the value itself, come from one.
Carried carryUnknown(PlanBuilder& plan, mlir::Type type, llvm::ArrayRef<mlir::Value> sources);
/// Plans the way into a loop that may wait, if there is a cause.
WaitLoop enterWait(PlanBuilder& plan, mlir::Operation* loop, const WaitCause& cause, llvm::ArrayRef<Carried> carried);
/// Writes initial values. No source may be one of the destinations.
void enter(PlanBuilder& plan, llvm::ArrayRef<Carried> carried, mlir::ValueRange inits);
/// Checks that `next` has the form that `c` assumes; gives up a step of it in `form` if not. False: plan again.
bool matches(PlanBuilder& plan, Carried& c, mlir::Value next, uint8_t& form);
bool matches(PlanBuilder& plan, llvm::MutableArrayRef<Carried> carried, mlir::ValueRange next,
             llvm::MutableArrayRef<uint8_t> forms);
/// The back edge's copies: carried[i] takes next[i], all at once.
void advance(PlanBuilder& plan, llvm::ArrayRef<Carried> carried, mlir::ValueRange next, uint64_t bodyStart);
/// What the operation's results are after the loop.
void leave(PlanBuilder& plan, llvm::ArrayRef<Carried> carried, mlir::ValueRange results);
/// What may be handed over as a result of a region's operation.
using HandedOver = llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::OpResult result)>;
/// The region's blocks follow each other in place of the operation; each way out writes the results (ControlFlow.cpp).
mlir::LogicalResult planInPlace(PlanBuilder& plan, mlir::Operation* op, mlir::Region& region,
                                const HandedOver& handedOver);
/// The forms that an operation's values begin with: what is known from the last time it was planned.
std::vector<uint8_t>& formsOf(PlanBuilder& plan, mlir::Operation* op, size_t count);

} // namespace tiletwin::interp
