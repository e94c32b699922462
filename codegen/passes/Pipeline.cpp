// codegen/passes/Pipeline.cpp -- see Pipeline.h.
// Idea: with S stages iteration i begins the copies of iteration i + S - 1 into buffer (i + S - 1) mod S and then reads
//       buffer i mod S. What the loads' addresses and masks are computed from (the *slice*) is computed a second time,
//       that much ahead, with loop-carried values of its own. One barrier an iteration is enough: it stands behind the
//       wait for this iteration's copies, and the buffer that is written next was read before it.
// Invariant: copies beyond the last iteration are not begun; none is on its way when the loop has ended.
#include "codegen/passes/Pipeline.h"
#include "codegen/dialect/TWG.h"
#include "codegen/passes/DotLayouts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tiletwin::codegen {
namespace {

constexpr int kAsyncCopies = 80; ///< the least capability

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
  Pipeline(scf::ForOp loop, int stages) : loop_(loop), stages_(stages) {}

  /// Finds the loads; false if there is none.
  bool find();
  void rewrite();

private:
  struct Copy {
    tt::LoadOp load;
    twg::LocalAllocOp allocation;
    Value buffers;
  };

  bool addSlice(tt::LoadOp load);
  Value constant(OpBuilder& builder, mlir::Type type, int64_t number);
  Value isWithin(OpBuilder& builder, Value from, int64_t ahead);
  void allocate(OpBuilder& builder);
  void copyAhead(OpBuilder& builder, IRMapping& mapping, Value buffer, Value enabled);
  Value bufferOf(OpBuilder& builder, const Copy& copy, Value index);
  SmallVector<Value> carriedOn(const IRMapping& mapping);
  Value following(OpBuilder& builder, Value index);

  scf::ForOp loop_;
  int stages_;
  bool isFenced_ = false; ///< warpgroup dots read the copies
  SmallVector<Copy> copies_;
  llvm::SetVector<Operation*> slice_;
  llvm::SetVector<unsigned> carried_; ///< numbers of the loop-carried values that the slice reads
};

/// Adds what the load's addresses and mask are computed from in the loop; false if that cannot be computed ahead.
bool Pipeline::addSlice(tt::LoadOp load) {
  llvm::SetVector<Operation*> slice;
  llvm::SetVector<unsigned> carried;
  SmallVector<Value> wanted{load.getPtr()};
  if (load.getMask()) wanted.push_back(load.getMask());
  while (!wanted.empty()) {
    Value value = wanted.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getOwner() != loop_.getBody() || argument == loop_.getInductionVar()) continue;
      unsigned number = argument.getArgNumber() - 1;
      if (carried.insert(number)) wanted.push_back(loop_.getYieldedValues()[number]);
      continue;
    }
    Operation* op = value.getDefiningOp();
    if (op->getBlock() != loop_.getBody()) continue;
    bool isCheap = op->getNumRegions() == 0 && isMemoryEffectFree(op) && !isa<tt::DotOp, twg::ConvertLayoutOp>(op);
    if (!isCheap) return false;
    if (slice.insert(op)) wanted.append(op->operand_begin(), op->operand_end());
  }
  slice_.insert(slice.begin(), slice.end());
  carried_.insert(carried.begin(), carried.end());
  return true;
}

bool Pipeline::find() {
  for (auto allocation : loop_.getBody()->getOps<twg::LocalAllocOp>()) {
    auto load = allocation.getSrc() ? allocation.getSrc().getDefiningOp<tt::LoadOp>() : tt::LoadOp();
    bool isRead = llvm::all_of(allocation->getUsers(),
                               [](Operation* user) { return isa<twg::LocalLoadOp, twg::WarpgroupDotOp>(user); });
    if (load && isRead && canBeCopied(load, allocation) && addSlice(load)) {
      copies_.push_back({load, allocation, {}});
      isFenced_ |= llvm::any_of(allocation->getUsers(), [](Operation* user) { return isa<twg::WarpgroupDotOp>(user); });
    }
  }
  return !copies_.empty();
}

Value Pipeline::constant(OpBuilder& builder, mlir::Type type, int64_t number) {
  return arith::ConstantOp::create(builder, loop_.getLoc(), builder.getIntegerAttr(type, number));
}

/// Whether the iteration `ahead` of the one whose induction variable is `from`, which lies in the loop, does too. The
/// distance to the end is exact as an unsigned number.
Value Pipeline::isWithin(OpBuilder& builder, Value from, int64_t ahead) {
  Location where = loop_.getLoc();
  Value left = arith::SubIOp::create(builder, where, loop_.getUpperBound(), from);
  Value distance = arith::MulIOp::create(builder, where, loop_.getStep(), constant(builder, from.getType(), ahead));
  return arith::CmpIOp::create(builder, where, arith::CmpIPredicate::ugt, left, distance);
}

void Pipeline::allocate(OpBuilder& builder) {
  for (Copy& copy : copies_) {
    twg::MemDescType one = copy.allocation.getResult().getType();
    SmallVector<int64_t> shape{stages_};
    llvm::append_range(shape, one.getShape());
    auto layout =
        twg::SharedAttr::get(builder.getContext(), one.getLayout().getContiguous() + 1, one.getLayout().getSwizzle());
    auto all = twg::MemDescType::get(builder.getContext(), shape, one.getElementType(), layout);
    copy.buffers = twg::LocalAllocOp::create(builder, copy.load.getLoc(), all, Value(), IntegerAttr());
  }
}

Value Pipeline::bufferOf(OpBuilder& builder, const Copy& copy, Value index) {
  twg::LocalAllocOp allocation = copy.allocation;
  return twg::MemDescIndexOp::create(builder, allocation.getLoc(), allocation.getResult().getType(), copy.buffers,
                                     index);
}

/// The slice once more, and the copies of its iteration as one group. `mapping` has the iteration's arguments.
void Pipeline::copyAhead(OpBuilder& builder, IRMapping& mapping, Value index, Value enabled) {
  for (Operation& op : *loop_.getBody())
    if (slice_.contains(&op)) builder.clone(op, mapping);
  for (Copy& copy : copies_) {
    Value mask = copy.load.getMask() ? mapping.lookupOrDefault(copy.load.getMask()) : Value();
    auto made = twg::AsyncCopyOp::create(builder, copy.load.getLoc(), mapping.lookupOrDefault(copy.load.getPtr()),
                                         bufferOf(builder, copy, index), mask, enabled);
    if (Attribute vector = copy.load->getAttr("twg.vector")) made->setAttr("twg.vector", vector);
  }
  twg::AsyncCommitOp::create(builder, loop_.getLoc());
}

SmallVector<Value> Pipeline::carriedOn(const IRMapping& mapping) {
  SmallVector<Value> values;
  for (unsigned number : carried_) values.push_back(mapping.lookupOrDefault(loop_.getYieldedValues()[number]));
  return values;
}

Value Pipeline::following(OpBuilder& builder, Value index) {
  Location where = loop_.getLoc();
  Value next = arith::AddIOp::create(builder, where, index, constant(builder, builder.getI32Type(), 1));
  Value count = constant(builder, builder.getI32Type(), stages_);
  Value isLast = arith::CmpIOp::create(builder, where, arith::CmpIPredicate::eq, next, count);
  return arith::SelectOp::create(builder, where, isLast, constant(builder, builder.getI32Type(), 0), next);
}

void Pipeline::rewrite() {
  IRRewriter rewriter(loop_);
  Location where = loop_.getLoc();
  int ahead = stages_ - 1;
  mlir::Type type = loop_.getInductionVar().getType();
  allocate(rewriter);
  SmallVector<Value> state;
  for (unsigned number : carried_) state.push_back(loop_.getInitArgs()[number]);
  auto less = loop_.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
  Value any = arith::CmpIOp::create(rewriter, where, less, loop_.getLowerBound(), loop_.getUpperBound());
  for (int i = 0; i < ahead; ++i) {
    IRMapping mapping;
    Value distance = arith::MulIOp::create(rewriter, where, loop_.getStep(), constant(rewriter, type, i));
    mapping.map(loop_.getInductionVar(), arith::AddIOp::create(rewriter, where, loop_.getLowerBound(), distance));
    for (auto [k, number] : llvm::enumerate(carried_)) mapping.map(loop_.getRegionIterArgs()[number], state[k]);
    Value enabled = i ? isWithin(rewriter, loop_.getLowerBound(), i) : any;
    if (i) enabled = arith::AndIOp::create(rewriter, where, enabled, any);
    copyAhead(rewriter, mapping, constant(rewriter, rewriter.getI32Type(), i), enabled);
    state = carriedOn(mapping);
  }
  // Carried besides: the slice's values `ahead` iterations on, the buffer that is read and the one that is written.
  SmallVector<Value> inits(state);
  inits.push_back(constant(rewriter, rewriter.getI32Type(), 0));
  inits.push_back(constant(rewriter, rewriter.getI32Type(), ahead));
  auto attributes = llvm::to_vector(loop_->getDiscardableAttrs());
  auto extend = [&](OpBuilder& builder, Location, ArrayRef<BlockArgument> added) {
    Value read = added[added.size() - 2], written = added[added.size() - 1];
    builder.setInsertionPointToStart(loop_.getBody());
    twg::AsyncWaitOp::create(builder, where, uint32_t(ahead - 1), isFenced_);
    IRMapping mapping;
    Value iteration = loop_.getInductionVar();
    Value distance = arith::MulIOp::create(builder, where, loop_.getStep(), constant(builder, type, ahead));
    Value enabled = isWithin(builder, iteration, ahead);
    mapping.map(iteration, arith::AddIOp::create(builder, where, iteration, distance));
    for (auto [k, number] : llvm::enumerate(carried_)) mapping.map(loop_.getRegionIterArgs()[number], added[k]);
    copyAhead(builder, mapping, written, enabled);
    SmallVector<Value> yielded = carriedOn(mapping);
    for (Copy& copy : copies_) {
      builder.setInsertionPoint(copy.allocation);
      copy.allocation.getResult().replaceAllUsesWith(bufferOf(builder, copy, read));
    }
    builder.setInsertionPoint(loop_.getBody()->getTerminator());
    yielded.push_back(following(builder, read));
    yielded.push_back(following(builder, written));
    return yielded;
  };
  auto replaced = loop_.replaceWithAdditionalYields(rewriter, inits, false, extend);
  auto made = cast<scf::ForOp>(replaced->getOperation());
  for (NamedAttribute attribute : attributes) made->setDiscardableAttr(attribute.getName(), attribute.getValue());
  for (Copy& copy : copies_) copy.allocation.erase(), copy.load.erase();
  rewriter.setInsertionPointAfter(made);
  twg::AsyncWaitOp::create(rewriter, where, 0u, false);
}

} // namespace

void pipelineLoops(tt::FuncOp kernel, const Target& target, const Options& options) {
  if (target.capability < kAsyncCopies) return;
  SmallVector<scf::ForOp> loops;
  kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); });
  for (scf::ForOp loop : loops) {
    auto given = loop->getAttrOfType<IntegerAttr>("tt.num_stages");
    int stages = given ? int(given.getInt()) : options.numStages;
    if (stages < 2) continue;
    if (Pipeline pipeline(loop, stages); pipeline.find()) pipeline.rewrite();
  }
}

} // namespace tiletwin::codegen
