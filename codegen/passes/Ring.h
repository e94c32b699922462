// codegen/passes/Ring.h -- buffers in shared memory that a loop begins to fill some iterations before it reads them.
// Idea: with S slots iteration i reads slot i mod S, and begins to fill slot (i + S - 1) mod S for iteration i + S - 1. What
//       the addresses are computed from is computed that much ahead (LoopSlice.h).
// Here:      memory for slots, which slot an iteration reads and which it fills, and where in the loop it does both.
// Not here:  how a slot is filled, and how that is waited for (Pipeline.cpp, PipelineTma.cpp).
// Invariant: a slot is filled for an iteration that the loop has, never for one beyond the last.
#pragma once
#include "codegen/Codegen.h"
#include "codegen/dialect/TWG.h"
#include "codegen/passes/LoopSlice.h"

namespace tiletwin::codegen {

/// How many slots the loop asks for, else the options (num_stages).
int stagesOf(mlir::scf::ForOp loop, const Options& options);

/// Slots for what an iteration allocates, of a loop with so many stages: as many. In a CTA that has a multiprocessor of its
/// own (Options::isAlone) there are more, up to `most`, if shared memory has room: steps of a short loop are then all on their way
/// at one time, where each would wait for memory.
int deepened(int stages, int most, mlir::ArrayRef<twg::LocalAllocOp> ofIteration, const Target& target,
             const Options& options);

/// Memory that a loop's body allocates in each iteration, and the slots that take its place.
class Slots {
public:
  explicit Slots(twg::LocalAllocOp memory)
      : memory_(memory), type_(memory ? memory.getResult().getType() : twg::MemDescType()) {}

  twg::LocalAllocOp memory() const { return memory_; }
  twg::MemDescType type() const { return type_; } ///< of one
  void allocate(mlir::OpBuilder& builder, int count);
  /// Takes the slots of memory of the same type.
  void share(const Slots& other) { all_ = other.all_; }
  mlir::Value at(mlir::OpBuilder& builder, mlir::Value number) const;
  /// Gives everybody who uses the memory the slot, which it returns. The builder then stands at the memory's place.
  mlir::Value replaceMemory(mlir::OpBuilder& builder, mlir::Value number);

private:
  twg::LocalAllocOp memory_;
  twg::MemDescType type_;
  mlir::Value all_; ///< the first dimension counts slots
};

/// The number of a slot, an i32 that the loop carries. It goes up by one an iteration, and begins again behind the last.
struct Turn {
  int slots, first;
  mlir::Value now; ///< in the iteration
};

class Ring {
protected:
  Ring(mlir::scf::ForOp loop, int slots) : loop_(loop), slice_(loop), slots_(slots) {}
  ~Ring() = default;

  /// Fills the first slots in front of the loop, and puts one that goes on so in its place. others: the loop carries these
  /// turns too.
  mlir::scf::ForOp rewriteLoop(mlir::RewriterBase& rewriter, mlir::ArrayRef<Turn*> others = {});

  /// Begins to fill a slot for an iteration, whose values of the slice are in `values`, if the loop has that iteration.
  virtual void fill(mlir::OpBuilder& builder, const mlir::IRMapping& values, mlir::Value slot, mlir::Value enabled) = 0;
  /// Waits in the loop's body until the slot is filled. Leaves the builder where nobody reads the slot of the iteration
  /// before any more, which is filled next.
  virtual void awaitFilled(mlir::OpBuilder& builder, mlir::Value slot) = 0;
  /// Gives the slot to the operations of the loop's body that read it.
  virtual void passOn(mlir::OpBuilder& builder, mlir::Value slot) = 0;

  mlir::scf::ForOp loop_;
  LoopSlice slice_; ///< what fillings are computed from
  int slots_;
};

} // namespace tiletwin::codegen
