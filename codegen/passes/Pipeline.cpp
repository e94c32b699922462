// codegen/passes/Pipeline.cpp -- see Pipeline.h.
// Idea: with S stages iteration i begins the copies of iteration i + S - 1 into buffer (i + S - 1) mod S and then reads
//       buffer i mod S. What the loads' addresses and masks are computed from (LoopSlice.h) is computed a second time,
//       that much ahead, with loop-carried values of its own. One barrier an iteration is enough: it stands behind the
//       wait for this iteration's copies, and the buffer that is written next was read before it. Products in flight may
//       still read that buffer: then the copies begin behind the wait for those (DotsInFlight.h), and a barrier of its own;
//       what the program itself stores for such products goes to two buffers in turn.
// Invariant: copies beyond the last iteration are not begun; none is on its way when the loop has ended.
#include "codegen/passes/Pipeline.h"
#include "codegen/dialect/TWG.h"
#include "codegen/passes/DotLayouts.h"
#include "codegen/passes/DotsInFlight.h"
#include "codegen/passes/LoopSlice.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace tiletwin::codegen {
namespace {

/// Of what the program stores: products of the iteration before read one while the other is written.
constexpr int kStoreBuffers = 2;

bool isZero(Value value) { return matchPattern(value, m_Zero()) || matchPattern(value, m_AnyZeroFloat()); }

/// True if the load can be a copy: what memory holds where the mask is false is zero or nobody's.
bool canBeCopied(tt::LoadOp load, twg::LocalAllocOp allocation) {
  if (!load->hasOneUse() || load.getIsVolatile() || load->getBlock() != allocation->getBlock()) return false;
  if (load.getOther() && !isZero(load.getOther())) return false;
  unsigned contiguous = allocation.getResult().getType().getLayout().getContiguous();
  if (contiguousDimension(twg::layoutOf(load.getResult())) != contiguous) return false;
  auto vector = load->getAttrOfType<IntegerAttr>("twg.vector");
  int64_t elements = vector ? vector.getInt() : 1;
  int64_t bytes = elements * twg::sharedLayoutOf(allocation.getResult().getType()).elementBytes();
  return bytes == 4 || bytes == 8 || bytes == 16;
}

class Pipeline {
public:
  Pipeline(scf::ForOp loop, int stages) : loop_(loop), slice_(loop), stages_(stages) {}

  /// Finds the loads; false if there is none.
  bool find();
  /// True for memory of the loop's body that gets several buffers.
  bool canBuffer(twg::LocalAllocOp allocation);
  /// barrier: the one behind which the buffer of the iteration before may be written; null: the loop has none of its own.
  void rewrite(Operation* barrier);

private:
  struct Buffered {
    twg::LocalAllocOp allocation;
    tt::LoadOp load; ///< null: the program stores the tile
    Value buffers;
  };

  bool addSlice(tt::LoadOp load);
  void findStores();
  void allocate(OpBuilder& builder, Buffered& one, int buffers);
  void beginCopies(OpBuilder& builder, const IRMapping& mapping, Value index, Value enabled);
  void waitForCopies(OpBuilder& builder, Operation* barrier);
  Value bufferOf(OpBuilder& builder, const Buffered& one, Value index);

  scf::ForOp loop_;
  LoopSlice slice_; ///< what the loads' addresses and masks are computed from
  int stages_;
  bool isFenced_ = false; ///< warpgroup dots read the copies
  SmallVector<Buffered> copies_, stores_;
};

/// Adds what the load's addresses and mask are computed from; false if that cannot be computed ahead.
bool Pipeline::addSlice(tt::LoadOp load) {
  SmallVector<Value> wanted{load.getPtr()};
  if (load.getMask()) wanted.push_back(load.getMask());
  return slice_.add(wanted);
}

bool Pipeline::find() {
  for (auto allocation : loop_.getBody()->getOps<twg::LocalAllocOp>()) {
    auto load = allocation.getSrc() ? allocation.getSrc().getDefiningOp<tt::LoadOp>() : tt::LoadOp();
    bool isRead = llvm::all_of(allocation->getUsers(),
                               [](Operation* user) { return isa<twg::LocalLoadOp, twg::WarpgroupDotOp>(user); });
    if (load && isRead && canBeCopied(load, allocation) && addSlice(load)) {
      copies_.push_back({allocation, load, {}});
      isFenced_ |= llvm::any_of(allocation->getUsers(), [](Operation* user) { return isa<twg::WarpgroupDotOp>(user); });
    }
  }
  return !copies_.empty();
}

bool Pipeline::canBuffer(twg::LocalAllocOp allocation) {
  if (llvm::any_of(copies_, [&](const Buffered& copy) { return copy.allocation == allocation; })) return true;
  return allocation.getSrc() && llvm::all_of(allocation->getUsers(), [&](Operation* user) {
           return isa<twg::WarpgroupDotOp>(user) && user->getBlock() == loop_.getBody();
         });
}

/// Tiles that the program stores for products in flight.
void Pipeline::findStores() {
  for (auto allocation : loop_.getBody()->getOps<twg::LocalAllocOp>()) {
    bool isCopy = llvm::any_of(copies_, [&](const Buffered& copy) { return copy.allocation == allocation; });
    bool isReadInFlight = llvm::any_of(allocation->getUsers(), [](Operation* user) {
      auto dot = dyn_cast<twg::WarpgroupDotOp>(user);
      return dot && dot.getInFlight();
    });
    if (!isCopy && isReadInFlight && canBuffer(allocation)) stores_.push_back({allocation, {}, {}});
  }
}

void Pipeline::allocate(OpBuilder& builder, Buffered& one, int buffers) {
  twg::MemDescType type = one.allocation.getResult().getType();
  SmallVector<int64_t> shape{buffers};
  llvm::append_range(shape, type.getShape());
  twg::SharedAttr layout = type.getLayout();
  layout = twg::SharedAttr::get(builder.getContext(), layout.getContiguous() + 1, layout.getSwizzle());
  auto all = twg::MemDescType::get(builder.getContext(), shape, type.getElementType(), layout);
  one.buffers = twg::LocalAllocOp::create(builder, one.allocation.getLoc(), all, Value(), IntegerAttr());
}

Value Pipeline::bufferOf(OpBuilder& builder, const Buffered& one, Value index) {
  twg::LocalAllocOp allocation = one.allocation;
  return twg::MemDescIndexOp::create(builder, allocation.getLoc(), allocation.getResult().getType(), one.buffers,
                                     index);
}

/// The copies of an iteration as one group. `mapping` has its values of the slice.
void Pipeline::beginCopies(OpBuilder& builder, const IRMapping& mapping, Value index, Value enabled) {
  for (Buffered& copy : copies_) {
    Value mask = copy.load.getMask() ? mapping.lookupOrDefault(copy.load.getMask()) : Value();
    auto made = twg::AsyncCopyOp::create(builder, copy.load.getLoc(), mapping.lookupOrDefault(copy.load.getPtr()),
                                         bufferOf(builder, copy, index), mask, enabled);
    if (Attribute vector = copy.load->getAttr("twg.vector")) made->setAttr("twg.vector", vector);
  }
  twg::AsyncCommitOp::create(builder, loop_.getLoc());
}

/// Waits for this iteration's copies, puts barriers between stores and products, and sets the builder to where further
/// copies begin: behind the barrier, and behind products in flight, so that these do not wait for the copies' instructions.
void Pipeline::waitForCopies(OpBuilder& builder, Operation* barrier) {
  builder.setInsertionPointToStart(loop_.getBody());
  Operation* wait = twg::AsyncWaitOp::create(builder, loop_.getLoc(), uint32_t(stages_ - 2), isFenced_);
  builder.setInsertionPointAfter(wait);
  if (!barrier) return;
  Operation* reader = firstReader(copies_.front().allocation);
  for (Buffered& copy : copies_)
    if (Operation* other = firstReader(copy.allocation); other->isBeforeInBlock(reader)) reader = other;
  if (barrier->isBeforeInBlock(reader)) { // one barrier for both
    wait->moveAfter(barrier);
    barrier->erase();
    barrier = wait;
  } else {
    wait->moveBefore(reader);
  }
  for (Buffered& store : stores_) {
    Operation* dot = firstReader(store.allocation);
    if (store.allocation->isBeforeInBlock(wait) && wait->isBeforeInBlock(dot)) continue;
    builder.setInsertionPoint(dot);
    ttg::BarrierOp::create(builder, loop_.getLoc(), ttg::BarrierScope::Local);
  }
  for (auto dot : loop_.getBody()->getOps<twg::WarpgroupDotOp>())
    if (dot.getInFlight() && barrier->isBeforeInBlock(dot)) barrier = dot;
  builder.setInsertionPointAfter(barrier);
}

void Pipeline::rewrite(Operation* barrier) {
  IRRewriter rewriter(loop_);
  Location where = loop_.getLoc();
  int ahead = stages_ - 1;
  bool hasDotsInFlight = barrier != nullptr;
  mlir::Type number = rewriter.getI32Type();
  findStores();
  for (Buffered& copy : copies_) allocate(rewriter, copy, stages_);
  for (Buffered& store : stores_) allocate(rewriter, store, kStoreBuffers);
  auto beginFirst = [&](int i, const IRMapping& mapping, Value enabled) {
    beginCopies(rewriter, mapping, slice_.constant(rewriter, number, i), enabled);
  };
  // Carried besides: the slice's values `ahead` iterations on, the buffer that is stored to, the one that is read and the
  // one that is written.
  SmallVector<Value> inits = slice_.computeFirst(rewriter, ahead, beginFirst);
  const size_t ofSlice = inits.size();
  if (!stores_.empty()) inits.push_back(slice_.constant(rewriter, number, 0));
  inits.push_back(slice_.constant(rewriter, number, 0));
  inits.push_back(slice_.constant(rewriter, number, ahead));
  auto extend = [&](OpBuilder& builder, Location, ArrayRef<BlockArgument> added) {
    Value read = added[added.size() - 2], written = added[added.size() - 1], iteration = loop_.getInductionVar();
    waitForCopies(builder, barrier);
    IRMapping mapping;
    Value enabled = slice_.isWithin(builder, iteration, ahead);
    SmallVector<Value> carried(added.take_front(ofSlice));
    SmallVector<Value> yielded =
        slice_.compute(builder, slice_.iterationAfter(builder, iteration, ahead), carried, mapping);
    beginCopies(builder, mapping, written, enabled);
    for (Buffered& copy : copies_) {
      builder.setInsertionPoint(copy.allocation);
      copy.allocation.getResult().replaceAllUsesWith(bufferOf(builder, copy, read));
    }
    for (Buffered& store : stores_) {
      builder.setInsertionPoint(store.allocation);
      Value buffer = bufferOf(builder, store, added[added.size() - 3]);
      twg::LocalStoreOp::create(builder, store.allocation.getLoc(), store.allocation.getSrc(), buffer);
      store.allocation.getResult().replaceAllUsesWith(buffer);
    }
    builder.setInsertionPoint(loop_.getBody()->getTerminator());
    if (!stores_.empty()) yielded.push_back(slice_.inTurn(builder, added[added.size() - 3], kStoreBuffers));
    yielded.push_back(slice_.inTurn(builder, read, stages_));
    yielded.push_back(slice_.inTurn(builder, written, stages_));
    return yielded;
  };
  scf::ForOp made = slice_.carryOn(rewriter, inits, extend);
  for (Buffered& copy : copies_) copy.allocation.erase(), copy.load.erase();
  for (Buffered& store : stores_) store.allocation.erase();
  // Behind the wait for products in flight: no warp may read the buffers when the barrier lets others write there.
  rewriter.setInsertionPointAfter(hasDotsInFlight ? made->getNextNode() : made);
  twg::AsyncWaitOp::create(rewriter, where, 0u, false);
}

} // namespace

void pipelineLoops(tt::FuncOp kernel, const Target& target, const Options& options) {
  if (!target.features().asyncCopies) return;
  SmallVector<scf::ForOp> loops;
  kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); });
  for (scf::ForOp loop : loops) {
    auto given = loop->getAttrOfType<IntegerAttr>("tt.num_stages");
    int stages = given ? int(given.getInt()) : options.numStages;
    if (stages < 2) continue;
    Pipeline pipeline(loop, stages);
    bool hasCopies = pipeline.find();
    DotsInFlight dots(loop, [&](twg::LocalAllocOp one) { return hasCopies && pipeline.canBuffer(one); });
    Operation* barrier = dots.any() ? dots.rewrite() : nullptr;
    if (hasCopies) pipeline.rewrite(barrier);
  }
}

} // namespace tiletwin::codegen
