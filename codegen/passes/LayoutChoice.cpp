// codegen/passes/LayoutChoice.cpp -- see LayoutChoice.h.
#include "codegen/passes/LayoutChoice.h"
#include "codegen/dialect/TWG.h"
#include "codegen/layout/ScanOrder.h"
#include "codegen/passes/AtomicLayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tiletwin::codegen {
namespace {

constexpr int kLoaded = 1, kMultiplied = 2; ///< weights: what an access decided, what a dot decided

SmallVector<int32_t, 5> inverse(ArrayRef<int32_t> order) {
  SmallVector<int32_t, 5> result(order.size());
  for (auto [i, d] : llvm::enumerate(order)) result[d] = int32_t(i);
  return result;
}

/// Neighbouring elements that an operation takes together.
unsigned packOf(Operation* op) {
  if (auto text = dyn_cast<tt::ElementwiseInlineAsmOp>(op)) return text.getPackedElement();
  if (auto map = dyn_cast<tt::MapElementwiseOp>(op)) return map.getPack();
  return 1;
}

} // namespace

LayoutChoice::LayoutChoice(tt::FuncOp function, ThreadBits threads, const Target& target,
                           llvm::DenseSet<Operation*> spread)
    : access_(function, threads), spread_(std::move(spread)), threads_(threads), target_(target),
      hasScans_(function.walk([](tt::ScanOp) { return WalkResult::interrupt(); }).wasInterrupted()) {}

/// True for pointers that a loop moves on. They have one layout, and other loads may be made through them.
static bool areCarried(Value pointers) {
  while (Operation* op = pointers.getDefiningOp()) {
    if (!isa<tt::AddPtrOp, tt::BroadcastOp, tt::ExpandDimsOp>(op)) return false;
    pointers = op->getOperand(0);
  }
  return isa<RankedTensorType>(pointers.getType());
}

llvm::DenseSet<Operation*> LayoutChoice::loadsOfTransposed(tt::FuncOp function, ThreadBits threads,
                                                           const Target& target) {
  std::optional<LayoutChoice> choice; // few kernels need one
  llvm::DenseSet<Operation*> loads;
  function.walk([&](tt::DotOp dot) {
    constexpr unsigned kBitsOfBothForms = 16;
    if (tt::elementTypeOf(dot.getA().getType()).getIntOrFloatBitWidth() == kBitsOfBothForms) return;
    if (!choice) choice.emplace(function, threads, target);
    const DotPlan& plan = choice->dotPlan(dot);
    if (!plan.isWarpgroup) return;
    for (unsigned index : {0u, 1u}) {
      const bool isFirst = index == (plan.form.isTransposed ? 1u : 0u);
      Value tile = dot->getOperand(index);
      std::optional<LinearLayout> layout = choice->of(tile);
      if (!layout || (isFirst && plan.inRegisters) || contiguousDimension(*layout) == 1 - index) continue;
      while (Operation* op = tile.getDefiningOp()) {
        if (auto load = dyn_cast<tt::LoadOp>(op); load && !areCarried(load.getPtr())) loads.insert(op);
        const bool isOfOne = op->getNumOperands() == 1 && (isElementwise(op) || isa<tt::TransOp>(op));
        if (!isOfOne) break;
        tile = op->getOperand(0);
      }
    }
  });
  return loads;
}

const DotPlan& LayoutChoice::dotPlan(tt::DotOp dot) {
  if (auto found = dots_.find(dot); found != dots_.end()) return *found->second;
  // Planning asks for other products' plans, so the table may grow meanwhile.
  auto plan = std::make_unique<DotPlan>(planDot(dot, target_, threads_, [this](Value tile) { return of(tile); }));
  return *(dots_[dot] = std::move(plan));
}

bool LayoutChoice::isElementwise(Operation* op) {
  if (isa<arith::ConstantOp>(op) || op->getNumResults() == 0 || !isa<RankedTensorType>(op->getResult(0).getType()))
    return false;
  if (isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) || op->getName().getDialectNamespace() == "tw")
    return true;
  return op->hasTrait<OpTrait::Elementwise>() ||
         isa<tt::AddPtrOp, tt::PtrToIntOp, tt::IntToPtrOp, tt::ElementwiseInlineAsmOp, tt::MapElementwiseOp,
             twg::RoundToTf32Op>(op);
}

LinearLayout LayoutChoice::ofOperand(Operation* op, unsigned index, const LinearLayout& layout) {
  ArrayRef<int64_t> shape = tt::shapeOf(op->getOperand(index).getType());
  if (isa<tt::BroadcastOp>(op)) return layout.beforeBroadcast(shape).withoutRepeatedRegisters();
  if (isa<tt::ExpandDimsOp, tt::ReshapeOp>(op)) return layout.reshaped(shape);
  if (auto trans = dyn_cast<tt::TransOp>(op)) return layout.transposed(inverse(trans.getOrder()));
  return layout;
}

std::optional<LinearLayout> LayoutChoice::of(Value tile) {
  if (Wished wished = wish(tile)) return wished->layout;
  return std::nullopt;
}

LayoutChoice::Wish LayoutChoice::packed(Wished wished, ArrayRef<int64_t> shape, unsigned pack) {
  // Good if the lowest bits of the register's number are those of the element's.
  auto isPacked = [&](const LinearLayout::Bases& registers) {
    for (unsigned bit = 0; 1u << bit < pack; ++bit)
      if (bit >= registers.size() || registers[bit] != 1u << bit) return false;
    return true;
  };
  if (wished && isPacked(wished->layout.bases(Part::Register))) return *wished;
  SmallVector<int32_t, 5> order(shape.size());
  for (auto [i, d] : llvm::enumerate(order)) d = int32_t(shape.size() - 1 - i);
  LinearLayout layout = LinearLayout::coalesced(shape, pack, order, threads_.lane, threads_.warp);
  return Wish{layout, wished ? wished->weight : 0};
}

LayoutChoice::Wish LayoutChoice::orUsual(Wished wished, ArrayRef<int64_t> shape) {
  return wished ? *wished : Wish{access_.usual(shape), 0};
}

LayoutChoice::Wished LayoutChoice::wish(Value value) {
  if (!isa<RankedTensorType>(value.getType())) return std::nullopt;
  if (auto found = known_.find(value); found != known_.end()) return found->second;
  if (free_.contains(value)) return std::nullopt;
  unsigned depth = asked_.size();
  if (auto [first, isNew] = asked_.try_emplace(value, depth); !isNew) {
    outermostCut_ = std::min(outermostCut_, first->second);
    wasCut_ = true;
    return std::nullopt;
  }
  unsigned cutBefore = std::exchange(outermostCut_, kNoCut);
  auto result = dyn_cast<OpResult>(value);
  Wished wished = result ? wishOf(result) : wishOf(cast<BlockArgument>(value));
  asked_.erase(value);
  if (wished)
    known_.try_emplace(value, *wished);
  else if (outermostCut_ >= depth) // asked from elsewhere the answer would be the same
    free_.insert(value);
  outermostCut_ = std::min(cutBefore, outermostCut_ >= depth ? kNoCut : outermostCut_);
  if (depth == 0 && std::exchange(wasCut_, false)) conversions_.clear(); // what was cut counted as nothing
  return wished;
}

LayoutChoice::Wished LayoutChoice::heaviest(ValueRange operands) {
  Wished best;
  for (Value operand : operands)
    if (Wished wished = wish(operand); wished && (!best || wished->weight > best->weight)) best = wished;
  return best;
}

LayoutChoice::Wish LayoutChoice::asStored(Operation* op, Wish wished) {
  SmallVector<Wish, 2> others;
  for (Value operand : op->getOperands())
    if (Wished other = wish(operand); other && other->weight == wished.weight && other->layout != wished.layout)
      others.push_back(*other);
  if (others.empty()) return wished;
  // Stores that elementwise operations alone lead to.
  llvm::SetVector<Value> around;
  around.insert(op->getResult(0));
  for (unsigned i = 0; i < around.size() && i < 64; ++i)
    for (OpOperand& use : around[i].getUses()) {
      Operation* user = use.getOwner();
      if (isElementwise(user)) around.insert(user->getResult(0));
      auto store = dyn_cast<tt::StoreOp>(user);
      if (!store || use.get() != store.getValue()) continue;
      const LinearLayout stored = access_.ofStore(store.getPtr());
      if (stored == wished.layout) return wished;
      for (const Wish& other : others)
        if (stored == other.layout) return other;
    }
  return wished;
}

/// False for numbers, ranges, what is broadcast and what is computed from these: they are made in any layout.
static bool hasOwnLayout(Value tile) {
  llvm::SmallSetVector<Value, 8> around;
  around.insert(tile);
  for (unsigned i = 0; i < around.size(); ++i) {
    Operation* op = around[i].getDefiningOp();
    if (!isa<RankedTensorType>(around[i].getType()) ||
        isa_and_nonnull<arith::ConstantOp, tt::SplatOp, tt::MakeRangeOp, tt::BroadcastOp>(op))
      continue;
    const bool isComputed =
        op && isMemoryEffectFree(op) && (LayoutChoice::isElementwise(op) || isa<tt::ExpandDimsOp>(op));
    if (!isComputed) return true;
    around.insert(op->operand_begin(), op->operand_end());
  }
  return false;
}

/// The axis of a scan of what is loaded, where no other tile that is computed with it has a layout of its own.
static std::optional<unsigned> scannedAxis(tt::LoadOp load) {
  llvm::SetVector<Value> around;
  around.insert(load.getResult());
  auto isOther = [&](Value operand) { return !around.contains(operand) && hasOwnLayout(operand); };
  for (unsigned i = 0; i < around.size(); ++i)
    for (Operation* user : around[i].getUsers()) {
      if (auto scan = dyn_cast<tt::ScanOp>(user); scan && llvm::none_of(scan.getSrcs(), isOther))
        return unsigned(scan.getAxis());
      if (LayoutChoice::isElementwise(user) && llvm::none_of(user->getOperands(), isOther))
        around.insert(user->getResult(0));
    }
  return std::nullopt;
}

/// True for elements of at most 16 bits of a product's matrix, changed by nothing but operations of one operand. Larger ones are
/// copied or read by words, where lanes along rows meet in fewer banks.
static bool isNarrowMatrix(tt::LoadOp load) {
  constexpr unsigned kWidest = 16; // bits
  mlir::Type element = tt::elementTypeOf(load.getType());
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() > kWidest) return false;
  Value tile = load.getResult();
  while (tile.hasOneUse()) {
    Operation* user = *tile.user_begin();
    if (auto dot = dyn_cast<tt::DotOp>(user)) return tile != dot.getC();
    if (user->getNumOperands() != 1 || !(LayoutChoice::isElementwise(user) || isa<tt::TransOp>(user))) return false;
    tile = user->getResult(0);
  }
  return false;
}

LinearLayout LayoutChoice::ofLoad(tt::LoadOp load) {
  if (spread_.contains(load)) return access_.spread(load.getPtr());
  if (access_.isScattered(load.getPtr()) && isNarrowMatrix(load)) return access_.ofElements(load.getPtr());
  LinearLayout coalesced = access_.of(load.getPtr());
  const std::optional<unsigned> axis = hasScans_ ? scannedAxis(load) : std::nullopt;
  std::optional<LinearLayout> inRuns = axis ? withOneRun(coalesced, *axis) : std::nullopt;
  const bool isAsGood = inRuns &&
                        access_.sectors(load.getPtr(), *inRuns) <= access_.sectors(load.getPtr(), coalesced) &&
                        access_.vector(load.getPtr(), load.getMask(), *inRuns) >=
                            access_.vector(load.getPtr(), load.getMask(), coalesced);
  return isAsGood ? *inRuns : coalesced;
}

int64_t LayoutChoice::conversionsFor(Value value) {
  ArrayRef<int64_t> shape = tt::shapeOf(value.getType());
  const int64_t size = llvm::product_of(shape);
  if (wish(value)) return size;
  Operation* op = value.getDefiningOp();
  if (!op) return 0; // a cycle was cut there
  if (auto found = conversions_.find(value); found != conversions_.end()) return found->second;
  int64_t sum = 0;
  SmallPtrSet<Value, 4> seen;
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType()) && seen.insert(operand).second)
      sum = std::min(sum + conversionsFor(operand), size);
  return conversions_[value] = sum;
}

LayoutChoice::Wished LayoutChoice::ofRepeated(Value value) {
  // Of what a reduction made, the reduction's operand: its threads hold all elements of a line, or can.
  Operation* op = value.getDefiningOp();
  ArrayRef<int64_t> shape = tt::shapeOf(value.getType());
  if (auto broadcast = dyn_cast_or_null<tt::BroadcastOp>(op)) {
    Value source = broadcast.getSrc();
    while (auto expand = source.getDefiningOp<tt::ExpandDimsOp>()) source = expand.getSrc();
    auto reduce = source.getDefiningOp<tt::ReduceOp>();
    if (!reduce || tt::shapeOf(reduce.getSrcs().front().getType()) != shape) return std::nullopt;
    return heaviest(reduce.getSrcs());
  }
  if (!op || wish(value)) return std::nullopt;
  Wished best;
  SmallPtrSet<Value, 4> seen;
  for (Value operand : op->getOperands()) {
    const bool repeats = isa<RankedTensorType>(operand.getType()) && conversionsFor(operand) > 0;
    if (!repeats || !seen.insert(operand).second) continue;
    Wished wished = ofRepeated(operand);
    if (!wished || (best && best->weight >= wished->weight)) continue;
    if (isa<tt::ReshapeOp, tt::ExpandDimsOp>(op)) wished->layout = wished->layout.reshaped(shape);
    if (auto trans = dyn_cast<tt::TransOp>(op)) wished->layout = wished->layout.transposed(trans.getOrder());
    best = wished;
  }
  return best;
}

LayoutChoice::Wished LayoutChoice::wishOf(OpResult result) {
  Operation* op = result.getOwner();
  ArrayRef<int64_t> shape = tt::shapeOf(result.getType());
  if (packOf(op) > 1) return packed(heaviest(op->getOperands()), shape, packOf(op));
  if (isElementwise(op) && !isMemoryEffectFree(op)) return orUsual(heaviest(op->getOperands()), shape); // never twice
  if (isElementwise(op)) {
    if (Wished wished = heaviest(op->getOperands())) return asStored(op, *wished);
    if (isCut() || conversionsFor(result) < llvm::product_of(shape)) return std::nullopt;
    return orUsual(ofRepeated(result), shape);
  }
  auto through = [&](auto change) -> Wished {
    Wished source = wish(op->getOperand(0));
    if (source) source->layout = change(source->layout);
    return source;
  };
  return llvm::TypeSwitch<Operation*, Wished>(op)
      .Case([&](tt::LoadOp load) {
        // What is gathered costs the same in any layout, so addresses that were loaded or computed stay where they are.
        if (access_.isScattered(load.getPtr())) {
          Wished pointers = wish(load.getPtr());
          if (pointers || isCut()) return pointers;
        }
        return Wished(Wish{ofLoad(load), kLoaded});
      })
      .Case<tt::AtomicRMWOp, tt::AtomicCASOp, tt::AtomicLoadOp>([&](auto) { return Wish{ofAtomic(op), kLoaded}; })
      .Case([&](tt::DotOp dot) { return Wish{dotPlan(dot).layouts.d, kMultiplied}; })
      .Case<tt::ExpandDimsOp, tt::ReshapeOp>(
          [&](auto) { return through([&](const LinearLayout& layout) { return layout.reshaped(shape); }); })
      .Case([&](tt::TransOp trans) {
        return through([&](const LinearLayout& layout) { return layout.transposed(trans.getOrder()); });
      })
      .Case<tt::BroadcastOp, tt::SplatOp, tt::MakeRangeOp, arith::ConstantOp>([](auto) { return Wished(); })
      .Case([&](tt::ReduceOp reduce) {
        const Wished decided = heaviest(reduce.getSrcs());
        if (!decided && isCut()) return Wished();
        Wish source = orUsual(decided, tt::shapeOf(reduce.getSrcs().front().getType()));
        source.layout = source.layout.withoutDimension(unsigned(reduce.getAxis())).withoutRepeatedRegisters();
        return Wished(source);
      })
      .Case([&](tt::ScanOp scan) {
        const Wished decided = heaviest(scan.getSrcs());
        if (!decided && isCut()) return Wished();
        Wish source = orUsual(decided, shape);
        // Bits along the axis in the order in which a scan goes; every usual layout has them so.
        if (!ScanOrder::of(source.layout, unsigned(scan.getAxis()))) source.layout = access_.usual(shape);
        return Wished(source);
      })
      .Case<tt::DescriptorLoadOp, tt::DescriptorGatherOp>(
          [&](auto) { return Wish{access_.ofBlock(cast<RankedTensorType>(result.getType())), kLoaded}; })
      .Case([&](tt::GatherOp gather) { return orUsual(wish(gather.getIndices()), shape); })
      .Case([&](tt::JoinOp join) {
        Wish half = orUsual(heaviest(join->getOperands()), shape.drop_back());
        half.layout = half.layout.joined();
        return half;
      })
      .Case([&](tt::SplitOp split) {
        Wished source = wish(split.getSrc());
        if (source)
          if (std::optional<LinearLayout> half = source->layout.split()) return Wish{*half, source->weight};
        return Wish{access_.usual(shape), 0};
      })
      .Case([&](tt::CatOp cat) {
        Wish half = orUsual(heaviest(cat->getOperands()), tt::shapeOf(cat.getLhs().getType()));
        half.layout = half.layout.concatenated();
        return half;
      })
      .Case([&](scf::ForOp loop) { return wish(loop.getRegionIterArgs()[result.getResultNumber()]); })
      .Case([&](scf::IfOp branch) {
        unsigned i = result.getResultNumber();
        if (Wished yielded = heaviest({branch.thenYield().getOperand(i), branch.elseYield().getOperand(i)}))
          return yielded;
        return Wished(orUsual(neededFor(result, 8), shape));
      })
      .Case([&](scf::WhileOp loop) {
        return Wished(orUsual(wish(loop.getConditionOp().getArgs()[result.getResultNumber()]), shape));
      })
      .Case([&](scf::ExecuteRegionOp region) {
        SmallVector<Value> yielded;
        for (scf::YieldOp yield : region.getRegion().getOps<scf::YieldOp>())
          yielded.push_back(yield.getOperand(result.getResultNumber()));
        return Wished(orUsual(heaviest(yielded), shape));
      })
      .Default([&](Operation*) { return Wished(Wish{access_.usual(shape), 0}); });
}

LayoutChoice::Wished LayoutChoice::wishOf(BlockArgument argument) {
  ArrayRef<int64_t> shape = tt::shapeOf(argument.getType());
  Block* block = argument.getOwner();
  Operation* parent = block->getParentOp();
  unsigned number = argument.getArgNumber();
  // What an iteration gives comes first: what enters a loop is converted once, what its body adds each time.
  SmallVector<Value> incoming;
  if (auto loop = dyn_cast<scf::ForOp>(parent)) {
    if (Wished given = wish(loop.getYieldedValues()[number - 1])) return given;
    incoming = {loop.getInitArgs()[number - 1]};
  } else if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
    if (block == loop.getAfterBody())
      incoming = {loop.getConditionOp().getArgs()[number]};
    else if (Wished given = wish(loop.getYieldOp().getOperand(number)))
      return given;
    else
      incoming = {loop.getInits()[number]};
  } else {
    for (Block* before : block->getPredecessors()) {
      auto branch = cast<BranchOpInterface>(before->getTerminator());
      for (unsigned i = 0; i < branch->getNumSuccessors(); ++i)
        if (branch->getSuccessor(i) == block) incoming.push_back(branch.getSuccessorOperands(i)[number]);
    }
  }
  if (Wished wished = heaviest(incoming)) return wished;
  // What is being asked for further out decides: an accumulator that loops around this one carry, too.
  if (isCut()) return neededFor(argument, 8);
  // Nothing decides what it holds, so what it is used for does: pointers that a loop moves on, for example.
  return orUsual(neededFor(argument, 8), shape);
}

LayoutChoice::Wished LayoutChoice::neededFor(Value value, unsigned depth) {
  if (depth == 0) return std::nullopt;
  for (OpOperand& use : value.getUses()) {
    Operation* user = use.getOwner();
    if (auto load = dyn_cast<tt::LoadOp>(user); load && access_.isScattered(load.getPtr())) continue; // needs none
    if (auto load = dyn_cast<tt::LoadOp>(user)) return Wish{access_.of(load.getPtr()), kLoaded};
    if (auto store = dyn_cast<tt::StoreOp>(user)) return Wish{access_.ofStore(store.getPtr()), kLoaded};
    if (Value pointers = atomicPointers(user))
      return Wish{access_.of(pointers, atomicElements(user, target_)), kLoaded};
    if (!isElementwise(user) && !isa<tt::BroadcastOp, tt::ExpandDimsOp, tt::ReshapeOp, tt::TransOp>(user)) continue;
    Wished wished = wish(user->getResult(0));
    if (!wished) wished = neededFor(user->getResult(0), depth - 1);
    if (!wished) continue;
    return Wish{ofOperand(user, use.getOperandNumber(), wished->layout), wished->weight};
  }
  return std::nullopt;
}

LinearLayout LayoutChoice::ofAtomic(Operation* op) {
  LinearLayout coalesced = access_.of(atomicPointers(op), atomicElements(op, target_));
  auto sum = dyn_cast<tt::AtomicRMWOp>(op); // whose result nobody reads is a store that adds
  const bool isTile = sum && tt::shapeOf(sum.getPtr().getType()).size() > 1;
  if (!isTile || !sum->use_empty() || access_.isScattered(sum.getPtr())) return coalesced;
  return ofWrite(sum.getPtr(), sum.getMask(), sum.getVal(), coalesced);
}

LinearLayout LayoutChoice::ofBlockStore(Value block) {
  auto type = cast<RankedTensorType>(block.getType());
  LinearLayout coalesced = access_.ofBlock(type);
  Wished value = wish(block);
  bool good = value && access_.blockSectors(type, value->layout) <= access_.blockSectors(type, coalesced);
  return good ? value->layout : coalesced;
}

LinearLayout LayoutChoice::ofStore(tt::StoreOp store) {
  return ofWrite(store.getPtr(), store.getMask(), store.getValue(), access_.ofStore(store.getPtr()));
}

LinearLayout LayoutChoice::ofWrite(Value pointers, Value mask, Value written, const LinearLayout& coalesced) {
  Wished value = wish(written);
  if (!value) return coalesced;
  LinearLayout longer = access_.lengthened(pointers, mask, value->layout);
  if (access_.sectors(pointers, longer) > access_.sectors(pointers, coalesced)) return coalesced;
  auto vectorIn = [&](const LinearLayout& layout) { return access_.vector(pointers, mask, layout); };
  // A product whose lanes have nothing to exchange, a transposed one for example: shared memory puts neighbours together.
  return value->weight == kMultiplied && vectorIn(longer) < vectorIn(coalesced) ? coalesced : longer;
}

} // namespace tiletwin::codegen
