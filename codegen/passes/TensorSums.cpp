// codegen/passes/TensorSums.cpp -- see TensorSums.h.
#include "codegen/passes/TensorSums.h"
#include "codegen/layout/TensorMemory.h"
#include "codegen/passes/Divide.h"
#include "codegen/passes/DotOperands.h"
#include "codegen/passes/Notes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tiletwin::codegen {

constexpr uint32_t kLeastColumns = 32; ///< that an allocation has

/// One barrier for all products: each is waited for where it is begun.
void TensorProducts::open() {
  OpBuilder builder(kernel_.getContext());
  builder.setInsertionPointToStart(&kernel_.getBody().front());
  auto layout = twg::SharedAttr::get(builder.getContext(), 1, 0);
  auto type = twg::MemDescType::get(builder.getContext(), {1, 1}, builder.getI64Type(), layout);
  barrier_ = twg::LocalAllocOp::create(builder, kernel_.getLoc(), type, Value(), IntegerAttr());
  twg::BarrierInitOp::create(builder, kernel_.getLoc(), barrier_);
  all_ = twg::TmemOpenOp::create(builder, kernel_.getLoc(), builder.getI32Type(), kLeastColumns);
  kernel_.walk([&](tt::ReturnOp end) {
    builder.setInsertionPoint(end);
    twg::TmemCloseOp::create(builder, end.getLoc(), all_);
  });
}

Value TensorProducts::multiply(tt::DotOp dot, const DotPlan& plan) {
  if (!all_) open();
  OpBuilder builder(dot);
  Location where = dot.getLoc();
  Value a = matrixCopy(dot.getA(), 1, plan.isTensor), b = matrixCopy(dot.getB(), 0, plan.isTensor), c = dot.getC();
  auto tile = cast<RankedTensorType>(c.getType());
  auto type = twg::TmemType::get(builder.getContext(), tile.getShape(), tile.getElementType());
  Value sums = twg::TmemAllocOp::create(builder, where, type, all_, IntegerAttr());
  const bool isNew = matchPattern(c, m_PosZeroFloat());
  if (!isNew) twg::TmemStoreOp::create(builder, where, c, sums);
  auto product = twg::TmemDotOp::create(builder, where, a, b, sums, barrier_, isNew, isByTwoCtas(dot));
  product->setAttr("instruction", builder.getStringAttr(plan.instruction()));
  product->setAttr("order", builder.getDenseI32ArrayAttr(plan.order));
  twg::BarrierWaitOp::create(builder, where, barrier_, Value());
  return twg::TmemLoadOp::create(builder, where, tile, sums);
}

twg::BarrierWaitOp waitFor(twg::TmemDotOp dot) {
  Operation* next = dot->getNextNode();
  while (next && next->getNumRegions() == 0 && isMemoryEffectFree(next)) next = next->getNextNode();
  auto wait = dyn_cast_if_present<twg::BarrierWaitOp>(next);
  return wait && wait.getBarrier() == dot.getBarrier() ? wait : twg::BarrierWaitOp();
}

uint32_t columnsOf(Value tile) { return TensorMemoryLayout(cast<twg::TmemType>(tile.getType()).getShape()).columns(); }

uint32_t firstColumnOf(Value tile) { return uint32_t(tile.getDefiningOp<twg::TmemAllocOp>().getColumn().value_or(0)); }

namespace {

/// Numbers of operations, both inclusive.
struct Span {
  unsigned begin, end;
  bool meets(Span other) const { return begin <= other.end && other.begin <= end; }
};

/// Which columns the tiles in tensor memory have. Larger ones are placed first, each at the lowest place that is free for as
/// long as it lives: all users of a tile stand in its block, or in loops and branches there.
class Columns {
public:
  explicit Columns(tt::FuncOp kernel) {
    unsigned next = 0;
    kernel.walk<WalkOrder::PreOrder>([&](Operation* op) { numbers_[op] = next++; });
    kernel.walk([&](twg::TmemAllocOp op) {
      tiles_.push_back({op, spanOf(op), columnsOf(op.getResult()), uint32_t(op.getColumn().value_or(0))});
    });
  }

  /// The tile lives through an operation around it, too.
  void extend(twg::TmemAllocOp op, Operation* through) {
    Span& span = find(op).span;
    span = {std::min(span.begin, numbers_.lookup(through)), std::max(span.end, lastNumberIn(through))};
  }
  /// The second one is the first one.
  void join(twg::TmemAllocOp first, twg::TmemAllocOp second) {
    find(first).span.end = find(second).span.end;
    llvm::erase_if(tiles_, [&](const Tile& tile) { return tile.op == second; });
  }
  /// Gives each tile its place; returns the end of all of them.
  uint32_t place() {
    llvm::stable_sort(tiles_, [](const Tile& a, const Tile& b) { return a.columns > b.columns; });
    uint32_t end = 0;
    for (size_t i = 0; i < tiles_.size(); ++i) {
      Tile& tile = tiles_[i];
      auto isTaken = [&](const Tile& other) { return isBothAt(tile, other); };
      for (tile.first = 0; llvm::any_of(ArrayRef<Tile>(tiles_).take_front(i), isTaken);) tile.first += tile.columns;
      end = std::max(end, tile.first + tile.columns);
    }
    return end;
  }
  bool fit() { return place() <= TensorMemoryLayout::kColumns; }
  void assign() {
    for (Tile& tile : tiles_) tile.op.setColumn(tile.first);
  }
  /// A tile that has not its own place among so many columns; null: there is none.
  twg::TmemAllocOp findMisplaced(uint32_t columns) const {
    for (const Tile& tile : tiles_) {
      twg::TmemAllocOp op = tile.op;
      if (!op.getColumn() || tile.first + tile.columns > columns) return op;
      for (const Tile& other : tiles_)
        if (other.op != op && isBothAt(tile, other)) return op;
    }
    return {};
  }

private:
  struct Tile {
    twg::TmemAllocOp op;
    Span span;
    uint32_t columns, first;
  };
  static bool isBothAt(const Tile& one, const Tile& other) {
    return one.span.meets(other.span) && one.first < other.first + other.columns &&
           other.first < one.first + one.columns;
  }
  Tile& find(twg::TmemAllocOp op) {
    return *llvm::find_if(tiles_, [&](const Tile& tile) { return tile.op == op; });
  }
  Span spanOf(twg::TmemAllocOp op) const {
    Span span{numbers_.lookup(op), numbers_.lookup(op)};
    for (Operation* user : op->getUsers()) {
      Operation* here = op->getBlock()->findAncestorOpInBlock(*user);
      span.end = std::max(span.end, here ? lastNumberIn(here) : unsigned(numbers_.size()));
    }
    return span;
  }
  unsigned lastNumberIn(Operation* outer) const {
    unsigned last = 0;
    outer->walk([&](Operation* op) { last = std::max(last, numbers_.lookup(op)); });
    return last;
  }

  llvm::DenseMap<Operation*, unsigned> numbers_;
  SmallVector<Tile> tiles_;
};

/// The store of a tile that is loaded for nothing else, behind all other uses of the memory that it is loaded from, all in one
/// block; null: there is none.
twg::TmemLoadOp reloadedBy(twg::TmemStoreOp store) {
  auto load = store.getSrc().getDefiningOp<twg::TmemLoadOp>();
  auto from = load ? load.getSrc().getDefiningOp<twg::TmemAllocOp>() : twg::TmemAllocOp();
  auto to = store.getDst().getDefiningOp<twg::TmemAllocOp>();
  if (!from || from == to || load->getBlock() != store->getBlock() || from->getBlock() != to->getBlock()) return {};
  if (to->getBlock() != store->getBlock() || !tt::hasOneUse(load.getResult())) return {};
  const bool isLast = llvm::all_of(from->getUsers(), [&](Operation* user) {
    Operation* here = load->getBlock()->findAncestorOpInBlock(*user);
    return here && (here == load || here->isBeforeInBlock(load));
  });
  return isLast ? load : twg::TmemLoadOp();
}

/// What a product leaves is what the next one adds to.
void joinTiles(tt::FuncOp kernel) {
  SmallVector<twg::TmemStoreOp> stores;
  kernel.walk([&](twg::TmemStoreOp store) { stores.push_back(store); });
  for (twg::TmemStoreOp store : stores) {
    twg::TmemLoadOp load = reloadedBy(store);
    if (!load) continue;
    auto from = load.getSrc().getDefiningOp<twg::TmemAllocOp>(), to = store.getDst().getDefiningOp<twg::TmemAllocOp>();
    if (from.getResult().getType() != to.getResult().getType()) continue;
    Columns columns(kernel);
    columns.join(from, to);
    if (!columns.fit()) continue;
    to.getResult().replaceAllUsesWith(from.getResult());
    moveNotes(load.getResult(), {});
    store.erase(), load.erase(), to.erase();
  }
}

/// A sum that a loop carries, and that products alone change.
struct CarriedSum {
  unsigned number;
  twg::TmemStoreOp store;
  twg::TmemLoadOp load;
  twg::TmemAllocOp memory() { return load.getSrc().getDefiningOp<twg::TmemAllocOp>(); }
};

std::optional<CarriedSum> carriedSum(scf::ForOp loop, unsigned number) {
  Value carried = loop.getRegionIterArg(number), yielded = loop.getYieldedValues()[number];
  CarriedSum sum{number, {}, yielded.getDefiningOp<twg::TmemLoadOp>()};
  if (!sum.load || !tt::hasOneUse(carried) || !tt::hasOneUse(yielded)) return std::nullopt;
  sum.store = dyn_cast<twg::TmemStoreOp>(*tt::usersOf(carried).begin());
  if (!sum.store || sum.store.getDst() != sum.load.getSrc() || !sum.memory()) return std::nullopt;
  auto isHere = [&](Operation* op) { return op->getBlock() == loop.getBody(); };
  if (!isHere(sum.store) || !isHere(sum.load) || !isHere(sum.memory())) return std::nullopt;
  // The memory holds the sum from the beginning of an iteration to its end.
  for (Operation* user : sum.memory()->getUsers()) {
    if (user == sum.store || user == sum.load) continue;
    Operation* here = loop.getBody()->findAncestorOpInBlock(*user);
    if (isa<twg::TmemLoadOp>(user) || !sum.store->isBeforeInBlock(here) || !here->isBeforeInBlock(sum.load))
      return std::nullopt;
  }
  return sum;
}

/// A loop in the loop's place that does not carry some of the values; nobody uses them.
void dropCarried(scf::ForOp loop, const llvm::BitVector& dropped) {
  IRRewriter rewriter(loop);
  SmallVector<Value> inits;
  for (auto [number, init] : llvm::enumerate(loop.getInitArgs()))
    if (!dropped[number]) inits.push_back(init);
  auto made = scf::ForOp::create(
      rewriter, loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(), loop.getStep(), inits,
      [](OpBuilder&, Location, Value, ValueRange) {}, loop.getUnsignedCmp());
  made->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  SmallVector<Value> arguments{made.getInductionVar()}, results;
  unsigned next = 0;
  for (auto [number, init] : llvm::enumerate(loop.getInitArgs())) {
    arguments.push_back(dropped[number] ? init : Value(made.getRegionIterArg(next)));
    results.push_back(dropped[number] ? init : Value(made.getResult(next)));
    next += !dropped[number];
  }
  loop.getBody()->getTerminator()->eraseOperands(dropped);
  rewriter.mergeBlocks(loop.getBody(), made.getBody(), arguments);
  rewriter.replaceOp(loop, results);
}

/// Sums that the loop carries stay in tensor memory: they are stored in front of it and loaded behind it.
void keepInLoop(scf::ForOp loop) {
  llvm::BitVector kept(loop.getNumRegionIterArgs());
  for (unsigned number = 0; number < loop.getNumRegionIterArgs(); ++number) {
    std::optional<CarriedSum> sum = carriedSum(loop, number);
    if (!sum) continue;
    twg::TmemAllocOp memory = sum->memory();
    Columns columns(loop->getParentOfType<tt::FuncOp>());
    columns.extend(memory, loop);
    if (!columns.fit()) continue;
    kept.set(number);
    Value carried = loop.getRegionIterArg(number), init = loop.getInitArgs()[number], result = loop.getResult(number);
    moveNotes(carried, {}), moveNotes(sum->load.getResult(), {});
    memory->moveBefore(loop), sum->store->moveBefore(loop);
    sum->store.getSrcMutable().assign(init);
    loop.getBody()->getTerminator()->setOperand(number, init); // until it is dropped
    sum->load->moveAfter(loop);
    moveNotes(result, sum->load.getResult());
    result.replaceAllUsesWith(sum->load.getResult());
  }
  if (kept.any()) dropCarried(loop, kept);
}

} // namespace

LogicalResult verifyTensorMemory(twg::TmemOpenOp open) {
  auto kernel = open->getParentOfType<tt::FuncOp>();
  if (twg::TmemAllocOp tile = Columns(kernel).findMisplaced(uint32_t(open.getColumns())))
    return tile.emitOpError("needs a column of tensor memory from which on no other tile lives and all of it has room");
  WalkResult walked = kernel.walk([](tt::ReturnOp end) {
    return isa_and_nonnull<twg::TmemCloseOp>(end->getPrevNode())
               ? WalkResult::advance()
               : WalkResult(
                     end.emitOpError("ends the kernel with tensor memory that no twg.tmem_close in front gives back"));
  });
  return failure(walked.wasInterrupted());
}

void placeTensorSums(tt::FuncOp kernel) {
  twg::TmemOpenOp open;
  kernel.walk([&](twg::TmemOpenOp op) { open = op; });
  if (!open) return;
  joinTiles(kernel);
  SmallVector<scf::ForOp> loops;
  kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); }); // inner ones first
  for (scf::ForOp loop : loops) keepInLoop(loop);
  joinTiles(kernel);
  Columns columns(kernel);
  open.setColumns(uint32_t(llvm::PowerOf2Ceil(std::max(columns.place(), kLeastColumns))));
  columns.assign();
}

} // namespace tiletwin::codegen
