// interp/plan/Builder.h -- one function on its way to a plan: its operations, one after the other.
//
// Here:      PlanBuilder: the walk over a function, loops and branches, what it knows of the IR; the table of operations.
// Not here:  single operations: they live in ElementwiseOps, ShapeOps, MemoryOps, ReduceOps, DotOps, ControlFlow, DebugOps (.cpp).
// Idea:      four classes, each of which knows those before it and keeps its state to itself: Registers (where values live),
//            Emitter (instructions), Forms (in which form a plan has a value), Groups (elementwise operations that wait, and
//            elements of values). The builder is the last of them: a function that plans an operation can ask each.
#pragma once
#include "interp/plan/Groups.h"
#include "interp/plan/Networks.h"
#include "interp/plan/WaitCause.h"
#include "ir/Registry.h"
#include "mlir/IR/Block.h"

namespace tiletwin::interp {

namespace arith = mlir::arith;
namespace math = mlir::math;
namespace scf = mlir::scf;

/// What a dot of a loop has beside its operands (LoopDots.cpp).
struct LoopDot {
  Reg state = kNoReg, scratch = kNoReg; ///< they live as long as the loop
  Reg sum = kNoReg;                     ///< where the loop carries the sum, if products may wait
  bool keepsA = false, keepsB = false;
  Reg band = kNoReg, packed = kNoReg; ///< where b goes if other programs may read the same
  int64_t batches = 0, batchBytes = 0;
  bool usesBand = false;
};

/// A loop that may wait for other programs; `access` is null for all others.
struct WaitLoop {
  mlir::Operation* access = nullptr;      ///< what it waits on
  llvm::SmallVector<Reg, 8> cells, tiles; ///< what rounds hand on
  Reg state = kNoReg;
  bool exact = true, watchable = true; ///< WaitOp's
};

class PlanBuilder : public Groups {
public:
  PlanBuilder(mlir::Operation* func, const PlanOptions& options) : Groups(options, func->getLoc()), func_(func) {}
  /// Null on failure, with diagnostics emitted.
  std::unique_ptr<Plan> build();

  // ---- operations; each returns failure after emitting a diagnostic (Blocks.cpp) ----
  mlir::LogicalResult planOp(mlir::Operation* op);
  mlir::LogicalResult planBlock(mlir::Block& block); ///< all but the terminator
  /// A region of blocks that branch to each other; `leaveRegion` plans the terminators that leave it.
  mlir::LogicalResult planBlocks(mlir::Region& region,
                                 llvm::function_ref<mlir::LogicalResult(mlir::Operation*)> leaveRegion);
  mlir::LogicalResult unsupported(mlir::Operation* op, llvm::StringRef why = {});
  /// Builds a body (region of tt.reduce or tt.scan); null with a diagnostic if it holds more than elementwise operations.
  BodyOp* planBody(mlir::Operation* op, mlir::Region& region);
  /// The operation that is being planned; of one with regions only until those are planned.
  mlir::Operation* planned() const { return planned_; }

  // ---- loops and branches ----
  /// `loop`: null, or the operation whose body the scope is the code of.
  void pushScope(mlir::Operation* loop = nullptr) { Emitter::pushScope(loop, loop && mayWrite(loop)); }
  /// How far the forms of what a loop or branch hands over are known to be given up, by operation: an operation planned
  /// once more begins with it.
  std::vector<uint8_t>& carriedForms(mlir::Operation* op) { return carriedForms_[op]; }

  // ---- dots of loops (LoopDots.cpp) ----
  /// Before a loop whose carried tiles are in these registers (kNoReg: it is none).
  void beginLoopDots(scf::ForOp loop, llvm::ArrayRef<Reg> carried);
  /// Behind the loop.
  void endLoopDots(scf::ForOp loop);
  void readBand(BuildInstruction& in, DotOp& data, const LoopDot& made);
  /// Null: the dot stands by itself.
  LoopDot* loopDot(mlir::Operation* dot);

  // ---- loops that may wait (WaitLoops.cpp) ----
  /// Before a loop whose rounds hand on `cells` (they hold the initial values) and `tiles`, of what matters.
  WaitLoop enterWaitLoop(mlir::Operation* loop, const WaitCause& cause, llvm::ArrayRef<Reg> cells,
                         llvm::ArrayRef<Reg> tiles);
  void emitBackEdge(int label, const WaitLoop& wait);
  void leaveWaitLoop(const WaitLoop& wait);
  bool inWaitLoop() const { return !waitAccesses_.empty(); }

  // ---- who writes memory, and who reads it (MemoryOps.cpp) ----
  bool mayWrite(mlir::Operation* op);
  /// True if `v`, an integer or i1 tile, may become the offset or the mask of an access without leaving its symbolic form.
  bool feedsAccess(mlir::Value v);
  /// True if `v` may be read by something that runs after memory has been written.
  bool readAcrossWrite(mlir::Operation* load, mlir::Value v);

private:
  mlir::LogicalResult planFunction();
  mlir::LogicalResult planReturn(mlir::Operation* op);
  mlir::LogicalResult planBodyBlock(mlir::Operation* op, mlir::Block& block);
  /// Plans an operation that is part of a sorting network or a reversal (Networks.h); false: it is not.
  bool planNetwork(mlir::Operation* op);
  bool diesIn(mlir::Value source, mlir::Operation* op, mlir::Operation* first);
  /// What an argument that is a tensor descriptor stands for, from its own cell and those of the arguments behind it.
  mlir::LogicalResult planDescriptorArgument(mlir::BlockArgument argument);
  void bindWait(BuildInstruction& in, const WaitLoop& wait, bool isEnter);
  /// After an access that a loop waits on: lets a deadlock's message name its memory.
  void noteWaitAccess(mlir::Operation* access);
  void beginDebug();
  void finishDebug();

  mlir::Operation* func_;
  mlir::Operation* planned_ = nullptr;
  Networks networks_;
  std::map<mlir::Operation*, std::vector<uint8_t>> carriedForms_;
  llvm::DenseMap<mlir::Operation*, LoopDot> loopDots_;
  llvm::DenseMap<mlir::Operation*, bool> mayWrite_;
  llvm::SmallVector<mlir::Operation*, 2> waitAccesses_; ///< what the loops around the current operation wait on
};

/// Plans one operation: the specialization for its class stands in the file of its family. Where one function serves a whole
/// family, the table says so (PlanTable.cpp).
template <class Op> mlir::LogicalResult plan(PlanBuilder& plan, Op op);

using PlanFn = mlir::LogicalResult (*)(PlanBuilder& plan, mlir::Operation* op);
/// Null if the interpreter cannot run the operation.
const PlanFn* findPlanFn(mlir::Operation* op);

/// The value's elements lie densely in the register; a scalar's one is taken out (ShapeOps.cpp).
void bindElements(PlanBuilder& plan, mlir::Value v, Reg reg);
/// The function that multiplies; null: there is none for these types (DotOps.cpp).
TwDotFn dotFnOf(PlanBuilder& plan, tt::DotOp op);
Reg newDotScratch(PlanBuilder& plan, int64_t m, int64_t n, int64_t k);
/// An atomic access as users know it, for traps (AtomicOps.cpp).
const char* atomicName(mlir::Operation* op);

/// Operations whose results are their operands' elements, in other places or under another name.
using Renamings =
    OpList<tt::BitcastOp, tt::BroadcastOp, tt::ExpandDimsOp, tt::ReshapeOp, tt::SplitOp, tt::TransOp, arith::BitcastOp>;

} // namespace tiletwin::interp
