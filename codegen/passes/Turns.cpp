// codegen/passes/Turns.cpp -- see Turns.h.
#include "codegen/passes/Turns.h"
#include "codegen/dialect/TWG.h"
#include "codegen/passes/Barriers.h"
#include "codegen/passes/Scratch.h"
#include "ir/Registry.h"
#include "ir/TW.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tiletwin::codegen {
namespace {

constexpr int kWarps = 8; ///< two groups of four, which are what products are for

// Of a multiprocessor of sm_90, whose four parts have one warp of each group.
constexpr int64_t kProductBits = 2048 * 16; ///< a cycle: 2,048 products of 16 bits, half as many of 32
constexpr int64_t kIssue = 1;               ///< cycles of a part for a warp's f32 operation
constexpr int64_t kHalfRate = 2;            ///< maxima, comparisons, selections, integers, conversions
constexpr int64_t kSpecial = 8;             ///< exponentials, roots, divisions: 4 lanes a cycle
/// Cycles without which turns are not worth their barriers: two a turn, each of which costs about as much as a trip through
/// shared memory. Measured: with 256 cycles a loop is slower, with 384 faster.
constexpr int64_t kLeastCycles = 320;

/// True for an operation at which all warps of the program wait for each other.
bool isForAllWarps(Operation* op) {
  twg::ScratchAttr scratch = scratchOf(op);
  return isBarrier(op) || (scratch && scratch.getBarriers());
}

/// What lets all warps wait for each other once barriers have their places. Blocks that are copied to shared memory are not
/// among it: a producer sees to them.
bool willBeForAllWarps(Operation* op, const Target& target, ThreadBits threads) {
  auto allocation = dyn_cast<twg::LocalAllocOp>(op);
  return isa<ttg::BarrierOp, twg::AsyncCopyOp, twg::LocalStoreOp>(op) || (allocation && allocation.getSrc()) ||
         op->hasTrait<tt::Atomic>() || scratchNeededBy(op, target, threads);
}

int64_t registersOf(Value tile) { return isa<RankedTensorType>(tile.getType()) ? twg::layoutOf(tile).registers() : 0; }

/// Of a group, if the other one does nothing.
int64_t cyclesOf(twg::WarpgroupDotOp dot) {
  ArrayRef<int64_t> sums = cast<RankedTensorType>(dot.getD().getType()).getShape();
  auto memory = cast<twg::MemDescType>(dot.second().get().getType());
  const int64_t depth = memory.getShape()[dot.getTransposed() ? 1 : 0];
  return sums[0] * sums[1] * depth * memory.getElementType().getIntOrFloatBitWidth() / kProductBits / 2;
}

/// Of a warp's tiles, on its part of the multiprocessor.
int64_t cyclesOf(Operation* op) {
  if (isa<tt::ReduceOp>(op)) return registersOf(op->getOperand(0)) * kHalfRate;
  if (op->getNumResults() != 1) return 0;
  const int64_t registers = registersOf(op->getResult(0));
  if (isa_and_nonnull<tw::TWDialect>(op->getDialect())) return registers * kSpecial;
  if (!isElementwise(op) || isa<arith::ConstantOp, arith::NegFOp>(op)) return 0; // signs are operands' modifiers
  const bool isFull = isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, math::FmaOp>(op);
  return registers * (isFull ? kIssue : kHalfRate);
}

/// What a turn of a loop begins and ends with.
struct Turn {
  twg::WarpgroupDotOp first; ///< the first product behind the wait
  twg::WarpgroupDotOp last;  ///< the last one in front of it
};

std::optional<Turn> turnOf(scf::ForOp loop) {
  Turn turn;
  bool hasWaited = false;
  for (Operation& op : *loop.getBody()) {
    if (op.walk([](Operation* inner) { return WalkResult(failure(isForAllWarps(inner))); }).wasInterrupted())
      return std::nullopt;
    if (isa<twg::WarpgroupWaitOp>(op)) {
      if (turn.first) return std::nullopt; // the turn would be kept while the group does other work
      hasWaited = true;
    }
    if (auto dot = dyn_cast<twg::WarpgroupDotOp>(op)) {
      if (!dot.getInFlight()) return std::nullopt;
      if (!hasWaited) turn.last = dot;
      if (hasWaited && !turn.first) turn.first = dot;
    }
  }
  return turn.first && turn.last ? std::optional(turn) : std::nullopt;
}

void takeTurns(scf::ForOp loop, Turn turn) {
  OpBuilder builder(loop);
  Location where = loop.getLoc();
  twg::TurnPassOp::create(builder, where, builder.getI32IntegerAttr(1));
  twg::TurnWaitOp::create(builder, where);
  builder.setInsertionPointAfter(turn.last);
  twg::TurnPassOp::create(builder, where, IntegerAttr());
  builder.setInsertionPoint(turn.first);
  twg::TurnWaitOp::create(builder, where);
  builder.setInsertionPointAfter(loop);
  twg::TurnPassOp::create(builder, where, builder.getI32IntegerAttr(0));
}

/// The order of turns, as each group runs through it.
class TurnOrder {
public:
  LogicalResult visit(Region& region) {
    for (Block& block : region) {
      const State before = state_;
      for (Operation& op : block)
        if (failed(visit(&op))) return failure();
      if (state_ == before) continue;
      return block.getTerminator()->emitOpError("ends with a turn that was not there at its beginning, or without one");
    }
    return success();
  }

private:
  /// None; group 0 is offered one, group 1 is not; a group has it, or has passed it on.
  enum class State : uint8_t { None, Offered, Held, Passed };

  LogicalResult visit(Operation* op) {
    if (auto pass = dyn_cast<twg::TurnPassOp>(op)) return visit(pass);
    if (auto wait = dyn_cast<twg::TurnWaitOp>(op)) {
      if (state_ != State::Offered && state_ != State::Passed)
        return wait.emitOpError("waits for a turn that nobody passes on");
      state_ = State::Held;
    }
    if (isa<twg::WarpgroupDotOp>(op) && state_ == State::Passed)
      return op->emitOpError("begins while the other group of warps has its turn");
    if (isForAllWarps(op) && state_ == State::Held)
      return op->emitOpError("lets all warps wait for each other, and those that wait for their turn never come");
    for (Region& region : op->getRegions())
      if (failed(visit(region))) return failure();
    return success();
  }

  LogicalResult visit(twg::TurnPassOp pass) {
    if (pass.getBy() == 1 && state_ == State::None)
      state_ = State::Offered;
    else if (pass.getBy() == 0 && state_ == State::Held)
      state_ = State::None;
    else if (!pass.getBy() && state_ == State::Held)
      state_ = State::Passed;
    else
      return pass.emitOpError("passes on a turn that its group does not have");
    return success();
  }

  State state_ = State::None;
};

} // namespace

bool gainsByTurns(scf::ForOp loop, const Target& target, const Options& options) {
  if (options.numWarps != kWarps || !target.features().wgmma) return false;
  const ThreadBits threads{llvm::Log2_32(uint32_t(target.warpSize)), llvm::Log2_32(kWarps)};
  int64_t products = 0, other = 0, dots = 0;
  WalkResult walked = loop.getBody()->walk([&](Operation* op) {
    if (willBeForAllWarps(op, target, threads)) return WalkResult::interrupt();
    if (auto dot = dyn_cast<twg::WarpgroupDotOp>(op))
      products += cyclesOf(dot), ++dots;
    else
      other += cyclesOf(op);
    return WalkResult::advance();
  });
  return !walked.wasInterrupted() && dots > 1 && std::min(products, other) >= kLeastCycles;
}

void takeTurns(tt::FuncOp kernel, const Target& target, const Options& options) {
  kernel.walk([&](scf::ForOp loop) {
    std::optional<Turn> turn = turnOf(loop);
    if (turn && gainsByTurns(loop, target, options)) takeTurns(loop, *turn);
  });
}

LogicalResult verifyTurns(tt::FuncOp kernel) { return TurnOrder().visit(kernel.getBody()); }

} // namespace tiletwin::codegen
