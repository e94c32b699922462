// codegen/passes/PipelineTma.cpp -- see PipelineTma.h.
// Idea: each stage has a buffer for every block and one barrier in shared memory that expects all of its bytes. With S stages
//       iteration i waits for stage i mod S; then all threads wait for each other, behind which nobody reads the stage of
//       the iteration before, and the copies of iteration i + S - 1 begin there. Products in flight are waited for first
//       (DotsInFlight.h).
// Invariant: a copy that is not begun, because the loop ends before, expects nothing: the phases of a stage's barrier are
//       those of the iterations that use it. None is on its way when the loop has ended.
#include "codegen/passes/PipelineTma.h"
#include "codegen/dialect/TWG.h"
#include "codegen/passes/DotsInFlight.h"
#include "codegen/passes/LoopSlice.h"
#include "codegen/passes/TensorCopies.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace tiletwin::codegen {
namespace {

constexpr int kMostStages = 32; ///< phases of their barriers are bits of a word

/// Buffers follow each other, and the order in shared memory repeats every eight rows of the widest swizzle.
bool fillsWholePatterns(twg::LocalAllocOp memory) {
  SharedLayout layout = twg::sharedLayoutOf(memory.getResult().getType());
  return layout.bytes() % std::max(layout.alignment(), 128u) == 0;
}

/// True if the loop writes global memory, or waits for others that do: copies begun earlier could miss it.
bool writesGlobalMemory(scf::ForOp loop) {
  return loop
      .walk([](Operation* op) {
        return mayExposeWrites(op) || isa<twg::TensorStoreOp, ttg::BarrierOp>(op) ? WalkResult::interrupt()
                                                                                  : WalkResult::advance();
      })
      .wasInterrupted();
}

/// The blocks of one loop.
class TensorCopiesAhead {
public:
  explicit TensorCopiesAhead(scf::ForOp loop);

  bool any() const { return !copies_.empty(); }
  bool has(twg::LocalAllocOp memory) const {
    return llvm::any_of(copies_, [&](const Copy& copy) { return copy.memory == memory; });
  }
  /// What the places of the blocks are computed from.
  SmallVector<Value> indices() const;
  /// Buffers at the builder, and barriers where the kernel begins: memory is made a barrier once.
  void allocate(OpBuilder& builder, int stages);
  /// Begins an iteration's copies into the buffers of stage `index`. `mapping` has the iteration's values.
  void begin(OpBuilder& builder, const IRMapping& mapping, Value index, Value enabled);
  void wait(OpBuilder& builder, Value index);
  /// Whoever reads a block reads its buffer of stage `index`; the copies in the loop's body go.
  void replace(OpBuilder& builder, Value index);

private:
  struct Copy {
    twg::TensorLoadOp load;
    twg::LocalAllocOp memory;
    Value buffers;
  };
  /// A barrier of all threads, and what is copied behind it until one wait.
  struct Group {
    twg::ProxyBarrierOp before;
    twg::BarrierExpectOp expect;
    twg::BarrierWaitOp wait;
    SmallVector<Copy, 2> copies;
  };
  bool canBeAhead(const Group& group);
  Value bufferOf(OpBuilder& builder, const Copy& copy, Value index);
  Value barrierOf(OpBuilder& builder, Value index);

  scf::ForOp loop_;
  SmallVector<Group, 2> groups_;
  SmallVector<Copy> copies_;
  Value barriers_;
};

TensorCopiesAhead::TensorCopiesAhead(scf::ForOp loop) : loop_(loop) {
  if (writesGlobalMemory(loop)) return;
  Group group;
  for (Operation& op : *loop.getBody()) {
    if (auto before = dyn_cast<twg::ProxyBarrierOp>(op)) group = Group{before, {}, {}, {}};
    if (auto expect = dyn_cast<twg::BarrierExpectOp>(op)) group.expect = expect;
    if (auto load = dyn_cast<twg::TensorLoadOp>(op))
      group.copies.push_back({load, load.getDst().getDefiningOp<twg::LocalAllocOp>(), {}});
    if (auto wait = dyn_cast<twg::BarrierWaitOp>(op)) {
      group.wait = wait;
      if (canBeAhead(group)) groups_.push_back(group);
    }
  }
  for (const Group& one : groups_) llvm::append_range(copies_, one.copies);
}

bool TensorCopiesAhead::canBeAhead(const Group& group) {
  if (!group.before || !group.expect || group.copies.empty()) return false;
  return llvm::all_of(group.copies, [&](const Copy& copy) {
    twg::LocalAllocOp memory = copy.memory;
    return memory && memory->getBlock() == loop_.getBody() && fillsWholePatterns(memory);
  });
}

SmallVector<Value> TensorCopiesAhead::indices() const {
  SmallVector<Value> all;
  for (Copy copy : copies_) llvm::append_range(all, copy.load.getIndices());
  return all;
}

void TensorCopiesAhead::allocate(OpBuilder& builder, int stages) {
  OpBuilder atStart(builder.getContext());
  auto kernel = loop_->getParentOfType<tt::FuncOp>();
  atStart.setInsertionPointToStart(&kernel.getBody().front());
  auto layout = twg::SharedAttr::get(builder.getContext(), 2, 0);
  auto type = twg::MemDescType::get(builder.getContext(), {int64_t(stages), 1, 1}, builder.getI64Type(), layout);
  barriers_ = twg::LocalAllocOp::create(atStart, loop_.getLoc(), type, Value(), IntegerAttr());
  twg::BarrierInitOp::create(atStart, loop_.getLoc(), barriers_);
  for (Copy& copy : copies_) {
    twg::MemDescType one = copy.memory.getResult().getType();
    SmallVector<int64_t> shape{stages};
    llvm::append_range(shape, one.getShape());
    auto order =
        twg::SharedAttr::get(builder.getContext(), one.getLayout().getContiguous() + 1, one.getLayout().getSwizzle());
    auto all = twg::MemDescType::get(builder.getContext(), shape, one.getElementType(), order);
    copy.buffers = twg::LocalAllocOp::create(builder, copy.load.getLoc(), all, Value(), IntegerAttr());
  }
  bool isGlobal = llvm::any_of(groups_, [](Group& group) { return group.before.getGlobal(); });
  twg::ProxyBarrierOp::create(builder, loop_.getLoc(), isGlobal);
}

Value TensorCopiesAhead::bufferOf(OpBuilder& builder, const Copy& copy, Value index) {
  twg::LocalAllocOp memory = copy.memory;
  return twg::MemDescIndexOp::create(builder, memory.getLoc(), memory.getResult().getType(), copy.buffers, index);
}

Value TensorCopiesAhead::barrierOf(OpBuilder& builder, Value index) {
  auto layout = twg::SharedAttr::get(builder.getContext(), 1, 0);
  auto type = twg::MemDescType::get(builder.getContext(), {1, 1}, builder.getI64Type(), layout);
  return twg::MemDescIndexOp::create(builder, loop_.getLoc(), type, barriers_, index);
}

void TensorCopiesAhead::begin(OpBuilder& builder, const IRMapping& mapping, Value index, Value enabled) {
  uint32_t bytes = 0;
  for (Copy& copy : copies_) bytes += twg::sharedLayoutOf(copy.memory.getResult().getType()).bytes();
  Value barrier = barrierOf(builder, index);
  twg::BarrierExpectOp::create(builder, loop_.getLoc(), barrier, bytes, enabled);
  for (Copy& copy : copies_) {
    SmallVector<Value> at;
    for (Value place : copy.load.getIndices()) at.push_back(mapping.lookupOrDefault(place));
    twg::TensorLoadOp::create(builder, copy.load.getLoc(), copy.load.getDesc(), at, bufferOf(builder, copy, index),
                              barrier, enabled);
  }
}

void TensorCopiesAhead::wait(OpBuilder& builder, Value index) {
  twg::BarrierWaitOp::create(builder, loop_.getLoc(), barrierOf(builder, index));
}

void TensorCopiesAhead::replace(OpBuilder& builder, Value index) {
  for (Copy& copy : copies_) {
    builder.setInsertionPoint(copy.memory);
    copy.memory.getResult().replaceUsesWithIf(bufferOf(builder, copy, index),
                                              [&](OpOperand& use) { return use.getOwner() != copy.load; });
  }
  for (Group& group : groups_) {
    for (Copy& copy : group.copies) copy.load.erase(), copy.memory.erase();
    group.wait.erase(), group.expect.erase(), group.before.erase();
  }
}

/// barrier: the one behind which nobody reads the stage of the iteration before, if products in flight have one.
void pipeline(scf::ForOp loop, TensorCopiesAhead& blocks, const LoopSlice& slice, int stages, Operation* barrier) {
  IRRewriter rewriter(loop);
  Location where = loop.getLoc();
  int ahead = stages - 1;
  mlir::Type number = rewriter.getI32Type();
  blocks.allocate(rewriter, stages);
  // Carried besides: the slice's values `ahead` iterations on, the stage that is read and the one that is written.
  SmallVector<Value> inits = slice.computeFirst(rewriter, ahead, [&](int i, const IRMapping& mapping, Value enabled) {
    blocks.begin(rewriter, mapping, slice.constant(rewriter, number, i), enabled);
  });
  inits.push_back(slice.constant(rewriter, number, 0));
  inits.push_back(slice.constant(rewriter, number, ahead));
  auto extend = [&](OpBuilder& builder, Location, ArrayRef<BlockArgument> added) {
    Value read = added[added.size() - 2], written = added[added.size() - 1], iteration = loop.getInductionVar();
    builder.setInsertionPointToStart(loop.getBody());
    blocks.wait(builder, read);
    if (barrier)
      builder.setInsertionPointAfter(barrier);
    else
      ttg::BarrierOp::create(builder, where, ttg::BarrierScope::Local);
    IRMapping mapping;
    Value enabled = slice.isWithin(builder, iteration, ahead);
    SmallVector<Value> carried(added.drop_back(2));
    SmallVector<Value> yielded =
        slice.compute(builder, slice.iterationAfter(builder, iteration, ahead), carried, mapping);
    blocks.begin(builder, mapping, written, enabled);
    blocks.replace(builder, read);
    builder.setInsertionPoint(loop.getBody()->getTerminator());
    yielded.push_back(slice.inTurn(builder, read, stages));
    yielded.push_back(slice.inTurn(builder, written, stages));
    return yielded;
  };
  slice.carryOn(rewriter, inits, extend);
}

} // namespace

/// Removes the barrier for copies that are waited for at once, if none is left.
static void eraseUnusedBarriers(tt::FuncOp kernel) {
  SmallVector<twg::BarrierInitOp> unused;
  kernel.walk([&](twg::BarrierInitOp init) {
    if (init.getBarriers().hasOneUse()) unused.push_back(init);
  });
  for (twg::BarrierInitOp init : unused) {
    Operation* memory = init.getBarriers().getDefiningOp();
    init.erase();
    memory->erase();
  }
}

void pipelineTensorCopies(tt::FuncOp kernel, const Options& options) {
  SmallVector<scf::ForOp> loops;
  kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); });
  for (scf::ForOp loop : loops) {
    auto given = loop->getAttrOfType<IntegerAttr>("tt.num_stages");
    int stages = std::min(given ? int(given.getInt()) : options.numStages, kMostStages);
    if (stages < 2) continue;
    TensorCopiesAhead blocks(loop);
    LoopSlice slice(loop);
    if (!blocks.any() || !slice.add(blocks.indices())) continue;
    DotsInFlight dots(loop, [&](twg::LocalAllocOp memory) { return blocks.has(memory); });
    Operation* barrier = dots.any() && dots.areBuffered() ? dots.rewrite() : nullptr;
    pipeline(loop, blocks, slice, stages, barrier);
  }
  eraseUnusedBarriers(kernel);
}

} // namespace tiletwin::codegen
