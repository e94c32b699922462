// codegen/passes/Layouts.cpp -- writes the chosen layouts into types; conversions and copies of free values where needed.
// Idea: one walk in program order. An operation whose results have a layout asks for its operands in the layouts that it
//       needs; a free operand is cloned for that layout, another one converted, right behind its definition and once a
//       layout. What stays free and unused is erased at the end.
#include "codegen/passes/Layouts.h"
#include "codegen/dialect/TWG.h"
#include "codegen/layout/ReductionOrder.h"
#include "codegen/layout/ScanOrder.h"
#include "codegen/passes/AtomicLayout.h"
#include "codegen/passes/Divide.h"
#include "codegen/passes/DotOperands.h"
#include "codegen/passes/LayoutChoice.h"
#include "codegen/passes/LoadsOfOperands.h"
#include "codegen/passes/Notes.h"
#include "codegen/passes/SinkConversions.h"
#include "codegen/passes/TensorMaps.h"
#include "codegen/passes/TensorSums.h"
#include "codegen/passes/WrittenMemory.h"
#include "ir/Tiles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tiletwin::codegen {
namespace {

class LayoutAssigner {
public:
  LayoutAssigner(tt::FuncOp kernel, ThreadBits threads, const Target& target)
      : kernel_(kernel), threads_(1 << (threads.lane + threads.warp)), target_(target),
        choice_(kernel, threads, target, LayoutChoice::loadsOfTransposed(kernel, threads, target)),
        tensorProducts_(kernel) {}
  LogicalResult run();

private:
  void decide();
  LogicalResult assign(Operation* op);
  LogicalResult assignBlock(Block& block);
  void assignStore(Operation* store);
  void assignReduce(tt::ReduceOp reduce);
  void decideBlock(Operation* op);
  void assignBlockAccess(Operation* op);
  LogicalResult assignDot(tt::DotOp dot);
  void assignWarpgroupDot(tt::DotOp dot, const DotPlan& plan);
  void assignTensorDot(tt::DotOp dot, const DotPlan& plan);
  void setMatrices(tt::DotOp dot);
  void settleNotes();
  void eraseFree();

  /// narrowed: a conversion may move what the tile was widened from.
  Value inLayout(Value tile, const LinearLayout& layout, bool narrowed = true);
  Value cloneFree(OpResult result, const LinearLayout& layout);
  bool isLoadedAgain(Operation* op) const;
  Operation* smallLoadOf(Value tile) const;
  Value loadedAgain(Value tile, const LinearLayout& layout);
  void keepGiven(tt::LoadOp load);
  void dropIfUnused(Operation* op) {
    if (!llvm::is_contained(replaced_, op)) replaced_.push_back(op);
  }
  /// Conversions of a dot's matrices become memory that it reads (DotOperands.h): they stand right before it.
  void setOperand(OpOperand& operand, const LinearLayout& layout) {
    const bool isSum = operand.getOperandNumber() == 2;
    operand.set(inLayout(operand.get(), layout, isSum || !isa<tt::DotOp>(operand.getOwner())));
  }
  /// Those of all blocks; operations of a block may use what another one defines.
  void setArguments(Region& region) {
    for (Block& block : region)
      for (Value argument : block.getArguments())
        if (std::optional<LinearLayout> layout = decided(argument)) setLayout(argument, *layout);
  }
  void setLayout(Value tile, const LinearLayout& layout) { tile.setType(twg::withLayout(tile.getType(), layout)); }
  std::optional<LinearLayout> decided(Value tile) const {
    auto found = decided_.find(tile);
    return found == decided_.end() ? std::nullopt : std::optional(found->second);
  }
  static bool isTile(Value value) { return isa<RankedTensorType>(value.getType()); }

  tt::FuncOp kernel_;
  const int64_t threads_; ///< of a program
  const Target& target_;
  LayoutChoice choice_;
  TensorProducts tensorProducts_;
  // All choices and vectors are made before the first type changes: the analyses look at the function as it was.
  llvm::DenseMap<Value, LinearLayout> decided_;
  llvm::DenseMap<Operation*, LinearLayout> stores_;
  llvm::DenseMap<std::pair<Value, Attribute>, Value> made_;
  llvm::DenseMap<Operation*, SmallVector<Value>> given_; ///< of loads: their operands, without layouts
  SmallVector<Operation*> free_, replaced_;              ///< in program order, as far as one uses the other
};

void LayoutAssigner::decide() {
  auto decideOne = [&](Value value) {
    if (std::optional<LinearLayout> layout = choice_.of(value)) decided_.try_emplace(value, *layout);
  };
  Builder builder(kernel_.getContext());
  auto setVector = [&](Operation* op, Value pointers, Value mask, const LinearLayout& layout, unsigned atMost = 16) {
    if (unsigned vector = std::min(choice_.access().vector(pointers, mask, layout), atMost); vector > 1)
      op->setAttr("twg.vector", builder.getI32IntegerAttr(int32_t(vector)));
  };
  // Outer blocks first: what a loop carries through the loops in it has what the innermost one makes of it.
  kernel_.walk<WalkOrder::PreOrder>([&](Block* block) {
    for (Value argument : block->getArguments()) decideOne(argument);
    for (Operation& op : *block) {
      for (Value result : op.getResults()) decideOne(result);
      if (auto load = dyn_cast<tt::LoadOp>(op); load && isTile(load.getPtr()))
        setVector(load, load.getPtr(), load.getMask(), decided_.find(load.getResult())->second);
      if (auto store = dyn_cast<tt::StoreOp>(op); store && isTile(store.getPtr())) {
        LinearLayout layout = choice_.ofStore(store);
        setVector(store, store.getPtr(), store.getMask(), layout);
        stores_.try_emplace(store, layout);
      }
      decideBlock(&op);
      if (Value pointers = atomicPointers(&op)) {
        LinearLayout layout = choice_.ofAtomic(&op);
        setVector(&op, pointers, atomicMask(&op), layout, atomicElements(&op, target_));
        if (isa<tt::AtomicStoreOp>(op)) stores_.try_emplace(&op, layout);
      }
    }
  });
}

/// The tile that an operation reads or writes through a tensor descriptor, and the first column; null for others.
std::pair<Value, Value> blockAndColumn(Operation* op) {
  if (auto load = dyn_cast<tt::DescriptorLoadOp>(op)) return {load.getResult(), load.getIndices().back()};
  if (auto store = dyn_cast<tt::DescriptorStoreOp>(op)) return {store.getSrc(), store.getIndices().back()};
  if (auto reduce = dyn_cast<tt::DescriptorReduceOp>(op)) return {reduce.getSrc(), reduce.getIndices().back()};
  if (auto gather = dyn_cast<tt::DescriptorGatherOp>(op)) return {gather.getResult(), gather.getYOffset()};
  if (auto scatter = dyn_cast<tt::DescriptorScatterOp>(op)) return {scatter.getSrc(), scatter.getYOffset()};
  return {};
}

void LayoutAssigner::decideBlock(Operation* op) {
  auto [block, column] = blockAndColumn(op);
  if (!block) return;
  bool isLoad = block.getDefiningOp() == op;
  bool isCopied = bool(tensorMapOf(op->getOperand(0)));
  auto ofSource = [&] { return choice_.of(block).value_or(choice_.usual(tt::shapeOf(block.getType()))); };
  LinearLayout layout = isLoad ? *decided(block) : isCopied ? ofSource() : choice_.ofBlockStore(block);
  if (!isLoad) stores_.try_emplace(op, layout);
  if (isCopied || isa<tt::DescriptorReduceOp>(op)) return; // one copy, or one element at a time
  Builder builder(kernel_.getContext());
  unsigned vector = choice_.access().blockVector(column, cast<RankedTensorType>(block.getType()), layout);
  if (vector == 1) return;
  op->setAttr("twg.vector", builder.getI32IntegerAttr(int32_t(vector)));
  // Extents that are multiples of the vector cut none.
  auto make = op->getOperand(0).getDefiningOp<tt::MakeTensorDescriptorOp>();
  if (make && choice_.access().isMultiple(make.getShape().back(), vector))
    op->setAttr("twg.whole", builder.getUnitAttr());
}

void LayoutAssigner::assignBlockAccess(Operation* op) {
  auto [block, column] = blockAndColumn(op);
  bool isLoad = block.getDefiningOp() == op;
  LinearLayout layout = isLoad ? *decided(block) : stores_.find(op)->second;
  for (OpOperand& operand : op->getOpOperands()) {
    if (!isTile(operand.get())) continue;
    bool isRows = operand.get() != block;
    setOperand(operand, isRows ? layout.withoutDimension(1).withoutRepeatedRegisters() : layout);
  }
  if (isLoad) setLayout(block, layout);
}

/// The operation that made a tile of one with narrower elements; null: another one made it.
Operation* wideningOf(Value tile) {
  Operation* op = tile.getDefiningOp();
  if (!op || !isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp, tt::FpToFpOp>(op)) return nullptr;
  auto bits = [](Value value) { return tt::elementTypeOf(value.getType()).getIntOrFloatBitWidth(); };
  return bits(op->getOperand(0)) < bits(tile) && twg::hasLayout(op->getOperand(0).getType()) ? op : nullptr;
}

/// True for a load of few elements that costs as little in another layout: from the cache, or from a copy's memory.
bool LayoutAssigner::isLoadedAgain(Operation* op) const {
  auto block = dyn_cast<tt::DescriptorLoadOp>(op);
  const bool isCopied = block && tensorMapOf(block.getDesc());
  return given_.contains(op) || (isCopied && llvm::product_of(tt::shapeOf(block.getType())) < threads_);
}

constexpr unsigned kReadAgain = 16; ///< elements that a thread may read of such a load

/// The load of few elements that the tile comes from, by operations on it and on numbers; null: another way.
Operation* LayoutAssigner::smallLoadOf(Value tile) const {
  Operation* op = tile.getDefiningOp();
  while (op && !isLoadedAgain(op)) {
    const bool isSimple = LayoutChoice::isElementwise(op) && isMemoryEffectFree(op) && op->getNumRegions() == 0 &&
                          !isa<tt::ElementwiseInlineAsmOp>(op);
    if (!isSimple && !isa<tt::ExpandDimsOp>(op)) return {};
    auto others = llvm::make_filter_range(op->getOperands(),
                                          [](Value value) { return isTile(value) && !tt::isOneNumber(value); });
    if (!llvm::hasSingleElement(others)) return {};
    op = (*others.begin()).getDefiningOp();
  }
  return op;
}

/// The tile made once more, in that layout, from a second load. Threads that hold the same element read it from the cache,
/// which takes less time than to go through shared memory with a barrier.
Value LayoutAssigner::loadedAgain(Value tile, const LinearLayout& layout) {
  Operation* op = tile.getDefiningOp();
  OpBuilder builder(kernel_.getContext());
  builder.setInsertionPointAfter(op);
  Operation* again = builder.clone(*op);
  for (Value result : again->getResults()) setLayout(result, layout);
  if (auto load = dyn_cast<tt::LoadOp>(op)) {
    const SmallVector<Value> given = given_.lookup(op);
    for (auto [operand, value] : llvm::zip_equal(again->getOpOperands(), given)) operand.set(inLayout(value, layout));
    again->removeAttr("twg.vector");
    const unsigned vector = choice_.access().vector(given[0], load.getMask() ? given[1] : Value(), layout);
    if (vector > 1) again->setAttr("twg.vector", builder.getI32IntegerAttr(int32_t(vector)));
  } else {
    for (OpOperand& operand : again->getOpOperands())
      if (isTile(operand.get()))
        operand.set(inLayout(operand.get(), LayoutChoice::ofOperand(op, operand.getOperandNumber(), layout)));
  }
  dropIfUnused(op);
  return again->getResult(cast<OpResult>(tile).getResultNumber());
}

/// Keeps what a load of few elements is given, if it can be given in any layout.
void LayoutAssigner::keepGiven(tt::LoadOp load) {
  const bool isFree =
      llvm::none_of(load->getOperands(), [](Value operand) { return twg::hasLayout(operand.getType()); });
  const int64_t elements = llvm::product_of(tt::shapeOf(load.getType()));
  auto loop = dyn_cast<scf::ForOp>(load->getParentOp());
  const bool isAhead = elements >= threads_ && loop && behindProducts(loop).contains(load); // made one iteration ahead
  const bool isSmall = elements <= 2 * threads_ && !isAhead;
  if (isFree && isSmall && !ownerReads(load)) given_[load] = llvm::to_vector(load->getOperands());
}

Value LayoutAssigner::inLayout(Value tile, const LinearLayout& layout, bool narrowed) {
  if (!isTile(tile)) return tile;
  auto attribute = twg::LinearAttr::get(kernel_.getContext(), layout);
  if (twg::hasLayout(tile.getType()) && cast<RankedTensorType>(tile.getType()).getEncoding() == attribute) return tile;
  if (twg::hasLayout(tile.getType()) && !tt::isOneNumber(tile)) {
    if (Value known = made_.lookup({tile, attribute})) return known;
    OpBuilder builder(kernel_.getContext());
    if (Operation* widening = narrowed ? wideningOf(tile) : nullptr) { // fewer bytes are moved
      Value narrow = inLayout(widening->getOperand(0), layout);
      builder.setInsertionPointAfter(widening);
      Operation* again = builder.clone(*widening);
      again->setOperand(0, narrow);
      setLayout(again->getResult(0), layout);
      dropIfUnused(widening);
      return made_[{tile, attribute}] = again->getResult(0);
    }
    const bool mayLoad = narrowed && layout.registers() <= kReadAgain && !tile.getDefiningOp<tt::DescriptorLoadOp>();
    if (Value again = mayLoad && smallLoadOf(tile) ? loadedAgain(tile, layout) : Value())
      return made_[{tile, attribute}] = again;
    builder.setInsertionPointAfterValue(tile);
    Value converted =
        twg::ConvertLayoutOp::create(builder, tile.getLoc(), twg::withLayout(tile.getType(), layout), tile);
    made_[{tile, attribute}] = converted;
    return converted;
  }
  if (Value known = made_.lookup({tile, attribute})) return known;
  Value clone = cloneFree(cast<OpResult>(tile), layout);
  made_[{tile, attribute}] = clone;
  return clone;
}

Value LayoutAssigner::cloneFree(OpResult result, const LinearLayout& layout) {
  Operation* op = result.getOwner();
  SmallVector<Value> operands;
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    operands.push_back(inLayout(operand, LayoutChoice::ofOperand(op, i, layout)));
  OpBuilder builder(kernel_.getContext());
  builder.setInsertionPointAfter(op);
  Operation* clone = builder.clone(*op);
  clone->setOperands(operands);
  for (Value value : clone->getResults()) setLayout(value, layout);
  if (auto constant = dyn_cast<arith::ConstantOp>(clone)) {
    auto type = cast<RankedTensorType>(constant.getType());
    auto dense = cast<DenseElementsAttr>(constant.getValue());
    constant.setValueAttr(dense.isSplat() ? DenseElementsAttr::get(type, dense.getSplatValue<Attribute>())
                                          : dense.reshape(type));
  }
  return clone->getResult(result.getResultNumber());
}

void LayoutAssigner::assignStore(Operation* store) {
  const LinearLayout& layout = stores_.find(store)->second;
  for (OpOperand& operand : store->getOpOperands()) setOperand(operand, layout);
}

void LayoutAssigner::assignReduce(tt::ReduceOp reduce) {
  std::optional<LinearLayout> source;
  for (Value operand : reduce.getSrcs())
    if (!source && twg::hasLayout(operand.getType())) source = twg::layoutOf(operand);
  if (std::optional<LinearLayout> result = decided(reduce.getResult().front()); result && source) {
    // Operands of several layouts: the one that the result was chosen from.
    for (Value operand : reduce.getSrcs())
      if (twg::hasLayout(operand.getType()) &&
          twg::layoutOf(operand).withoutDimension(unsigned(reduce.getAxis())).withoutRepeatedRegisters() == *result)
        source = twg::layoutOf(operand);
  }
  if (!source) source = choice_.usual(tt::shapeOf(reduce.getSrcs().front().getType()));
  for (OpOperand& operand : reduce->getOpOperands()) setOperand(operand, *source);
  LinearLayout result = source->withoutDimension(unsigned(reduce.getAxis())).withoutRepeatedRegisters();
  for (Value value : reduce.getResult()) setLayout(value, result);
  if (auto order = ReductionOrder::of(*source, unsigned(reduce.getAxis())))
    reduce->setAttr("order", DenseI32ArrayAttr::get(kernel_.getContext(), order->bits));
}

/// Matrices go to shared memory in the layout that they have, or in vectors along their rows.
void LayoutAssigner::setMatrices(tt::DotOp dot) {
  for (OpOperand& operand : dot->getOpOperands().take_front(2))
    if (auto tile = cast<RankedTensorType>(operand.get().getType()); !twg::hasLayout(tile))
      setOperand(operand, decided(operand.get()).value_or(choice_.inVectors(tile)));
}

/// What the instruction wants in registers and in another order comes from shared memory.
void LayoutAssigner::assignWarpgroupDot(tt::DotOp dot, const DotPlan& plan) {
  Location where = dot.getLoc();
  setMatrices(dot);
  if (plan.inRegisters && !plan.isReadFromMemory) setOperand(dot->getOpOperand(0), plan.layouts.a);
  setOperand(dot->getOpOperand(2), plan.layouts.d);
  OpBuilder builder(dot);
  auto first = [&](Value tile, unsigned kDimension, const LinearLayout& layout) -> Value {
    if (!plan.inRegisters) return matrixCopy(tile, kDimension, plan.isTensor);
    if (!plan.isReadFromMemory) return tile;
    return twg::LocalLoadOp::create(builder, where, twg::withLayout(tile.getType(), layout),
                                    sharedCopy(tile, 1 - kDimension));
  };
  const bool isTransposed = plan.form.isTransposed;
  Value a = isTransposed ? matrixCopy(dot.getA(), 1, plan.isTensor) : first(dot.getA(), 1, plan.layouts.a);
  Value b = isTransposed ? first(dot.getB(), 0, plan.layouts.b) : matrixCopy(dot.getB(), 0, plan.isTensor);
  auto rows = plan.form.rows.empty() ? DenseI32ArrayAttr() : builder.getDenseI32ArrayAttr(plan.form.rows);
  auto made = twg::WarpgroupDotOp::create(builder, where, dot.getC().getType(), a, b, dot.getC(), isTransposed,
                                          /*inFlight=*/false, rows);
  made->setAttr("instruction", builder.getStringAttr(plan.instruction()));
  made->setAttr("order", builder.getDenseI32ArrayAttr(plan.order));
  dot.getD().replaceAllUsesWith(made.getD());
  dot.erase();
}

void LayoutAssigner::assignTensorDot(tt::DotOp dot, const DotPlan& plan) {
  setMatrices(dot);
  setOperand(dot->getOpOperand(2), plan.layouts.d);
  dot.getD().replaceAllUsesWith(tensorProducts_.multiply(dot, plan));
  dot.erase();
}

LogicalResult LayoutAssigner::assignDot(tt::DotOp dot) {
  const DotPlan& plan = choice_.dotPlan(dot);
  OpBuilder builder(dot);
  if (plan.isWarpgroup) return assignWarpgroupDot(dot, plan), success();
  if (plan.isTensor) return assignTensorDot(dot, plan), success();
  if (isByTwoCtas(dot)) return dot.emitOpError("has operands that two CTAs cannot multiply together");
  for (auto [index, layout] : {std::pair(0u, &plan.layouts.a), std::pair(1u, &plan.layouts.b)}) {
    OpOperand& operand = dot->getOpOperand(index);
    setOperand(operand, *layout);
    if (!plan.widened) continue;
    auto type = cast<RankedTensorType>(operand.get().getType());
    operand.set(tt::FpToFpOp::create(builder, dot.getLoc(), type.clone(plan.widened), operand.get(), {}));
  }
  setOperand(dot->getOpOperand(2), plan.layouts.d), setLayout(dot.getD(), plan.layouts.d);
  dot->removeAttr("twg.narrowest");
  dot->setAttr("instruction", builder.getStringAttr(plan.instruction()));
  dot->setAttr("order", builder.getDenseI32ArrayAttr(plan.order));
  return success();
}

LogicalResult LayoutAssigner::assign(Operation* op) {
  if (tt::isNote(op)) return success();
  if (isa<tt::StoreOp, tt::AtomicStoreOp>(op))
    return isTile(op->getOperand(0)) ? (assignStore(op), success()) : success();
  if (auto reduce = dyn_cast<tt::ReduceOp>(op)) return assignReduce(reduce), success();
  if (blockAndColumn(op).first) return assignBlockAccess(op), success();
  if (auto dot = dyn_cast<tt::DotOp>(op)) return assignDot(dot);
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (auto [i, argument] : llvm::enumerate(loop.getRegionIterArgs()))
      if (std::optional<LinearLayout> layout = decided(argument)) {
        setOperand(loop.getInitArgsMutable()[i], *layout);
        setLayout(argument, *layout), setLayout(loop.getResult(i), *layout);
      }
    if (failed(assignBlock(*loop.getBody()))) return failure();
    for (auto [operand, argument] :
         llvm::zip_equal(loop.getBody()->getTerminator()->getOpOperands(), loop.getRegionIterArgs()))
      if (std::optional<LinearLayout> layout = decided(argument)) setOperand(operand, *layout);
    return success();
  }
  if (isa<scf::IfOp, scf::ExecuteRegionOp>(op)) {
    for (Region& region : op->getRegions()) {
      setArguments(region);
      for (Block& block : region) {
        if (failed(assignBlock(block))) return failure();
        Operation* last = block.getTerminator();
        if (isa<BranchOpInterface>(last)) {
          if (failed(assign(last))) return failure();
          continue;
        }
        for (auto [operand, result] : llvm::zip_equal(last->getOpOperands(), op->getResults()))
          if (std::optional<LinearLayout> layout = decided(result)) setOperand(operand, *layout);
      }
    }
    for (Value result : op->getResults())
      if (std::optional<LinearLayout> layout = decided(result)) setLayout(result, *layout);
    return success();
  }
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    for (auto [i, argument] : llvm::enumerate(loop.getBeforeArguments()))
      if (std::optional<LinearLayout> layout = decided(argument)) {
        setOperand(loop.getInitsMutable()[i], *layout);
        setLayout(argument, *layout);
      }
    if (failed(assignBlock(*loop.getBeforeBody()))) return failure();
    for (auto [i, argument] : llvm::enumerate(loop.getAfterArguments()))
      if (std::optional<LinearLayout> layout = decided(loop.getResult(i))) {
        setOperand(loop.getConditionOp().getArgsMutable()[i], *layout);
        setLayout(argument, *layout), setLayout(loop.getResult(i), *layout);
      }
    if (failed(assignBlock(*loop.getAfterBody()))) return failure();
    for (auto [operand, argument] : llvm::zip_equal(loop.getYieldOp()->getOpOperands(), loop.getBeforeArguments()))
      if (std::optional<LinearLayout> layout = decided(argument)) setOperand(operand, *layout);
    return success();
  }
  if (auto branch = dyn_cast<BranchOpInterface>(op)) {
    for (unsigned i = 0; i < op->getNumSuccessors(); ++i) {
      MutableOperandRange operands = branch.getSuccessorOperands(i).getMutableForwardedOperands();
      for (auto [operand, argument] : llvm::zip_equal(operands, op->getSuccessor(i)->getArguments()))
        if (std::optional<LinearLayout> layout = decided(argument)) setOperand(operand, *layout);
    }
    return success();
  }
  if (op->getNumResults() == 0 || !isTile(op->getResult(0))) {
    // What takes tiles and gives none (unsplat, prints): any layout will do. A mask lies as the pointers do.
    for (OpOperand& operand : op->getOpOperands())
      if (isTile(operand.get()) && !twg::hasLayout(operand.get().getType()))
        setOperand(operand, choice_.usual(tt::shapeOf(operand.get().getType())));
    auto prefetch = dyn_cast<tt::PrefetchOp>(op);
    if (prefetch && prefetch.getMask() && isTile(prefetch.getPtr()))
      setOperand(prefetch.getMaskMutable()[0], twg::layoutOf(prefetch.getPtr()));
    return success();
  }
  std::optional<LinearLayout> layout = decided(op->getResult(0));
  if (!layout) return free_.push_back(op), success();
  if (isa<tt::JoinOp>(op)) {
    for (OpOperand& operand : op->getOpOperands()) setOperand(operand, *layout->split());
  } else if (isa<tt::SplitOp>(op)) {
    setOperand(op->getOpOperand(0), layout->joined());
  } else if (isa<tt::CatOp>(op)) {
    for (OpOperand& operand : op->getOpOperands()) setOperand(operand, layout->firstHalf());
  } else if (isa<tt::GatherOp, tt::HistogramOp>(op)) {
    // The source stays where it is; the indices lie like the result, the mask like the source.
    OpOperand& source = op->getOpOperand(0);
    if (!twg::hasLayout(source.get().getType())) setOperand(source, choice_.usual(tt::shapeOf(source.get().getType())));
    LinearLayout second = isa<tt::GatherOp>(op) ? *layout : twg::layoutOf(source.get());
    if (op->getNumOperands() > 1) setOperand(op->getOpOperand(1), second);
  } else {
    if (auto load = dyn_cast<tt::LoadOp>(op)) keepGiven(load);
    for (OpOperand& operand : op->getOpOperands())
      if (isTile(operand.get())) setOperand(operand, LayoutChoice::ofOperand(op, operand.getOperandNumber(), *layout));
  }
  for (Value result : op->getResults()) setLayout(result, *layout);
  if (auto scan = dyn_cast<tt::ScanOp>(op))
    if (auto order = ScanOrder::of(*layout, unsigned(scan.getAxis())))
      scan->setAttr("order", DenseI32ArrayAttr::get(kernel_.getContext(), order->counts()));
  return success();
}

LogicalResult LayoutAssigner::assignBlock(Block& block) {
  for (Operation& op : llvm::make_early_inc_range(block.without_terminator()))
    if (!isa<twg::ConvertLayoutOp, twg::LocalAllocOp>(op) && failed(assign(&op))) return failure();
  return success();
}

void LayoutAssigner::settleNotes() {
  llvm::DenseMap<Value, Value> copies; // of several the first one
  for (auto [key, copy] : made_)
    if (Value& known = copies[key.first]; !known || copy.getDefiningOp()->isBeforeInBlock(known.getDefiningOp()))
      known = copy;
  moveNotesToCopies(kernel_, copies, replaced_);
}

void LayoutAssigner::eraseFree() {
  for (const SmallVector<Operation*>& ops : {free_, replaced_}) // free ones use what was replaced
    for (Operation* op : llvm::reverse(ops))
      if (op->use_empty()) op->erase();
}

LogicalResult LayoutAssigner::run() {
  decide();
  setArguments(kernel_.getBody());
  for (Block& block : kernel_.getBody())
    if (failed(assignBlock(block)) || failed(assign(block.getTerminator()))) return failure();
  settleNotes();
  eraseFree();
  sinkConversions(kernel_);
  return success();
}

} // namespace

LogicalResult assignLayouts(tt::FuncOp kernel, ThreadBits threads, const Target& target) {
  return LayoutAssigner(kernel, threads, target).run();
}

} // namespace tiletwin::codegen
