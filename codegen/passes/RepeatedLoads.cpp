// codegen/passes/RepeatedLoads.cpp -- see RepeatedLoads.h.
#include "codegen/passes/RepeatedLoads.h"
#include "ir/Contiguity.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SetVector.h"
#include <map>

using namespace mlir;

namespace tiletwin::codegen {
namespace {

using Steps = SmallVector<int64_t, 4>; ///< along each dimension: one of how many elements is kept

bool keepsAll(ArrayRef<int64_t> steps) {
  return llvm::all_of(steps, [](int64_t step) { return step == 1; });
}

RankedTensorType thinType(mlir::Type type, ArrayRef<int64_t> steps) {
  auto tile = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(tile.getShape());
  for (auto [extent, step] : llvm::zip_equal(shape, steps)) extent /= step;
  return RankedTensorType::get(shape, tile.getElementType());
}

/// Of an operand of an operation that moves no element, only dimensions.
Steps stepsOfSource(Operation* op, ArrayRef<int64_t> steps) {
  Steps source(steps);
  if (auto expand = dyn_cast<tt::ExpandDimsOp>(op)) source.erase(source.begin() + expand.getAxis());
  if (auto trans = dyn_cast<tt::TransOp>(op))
    for (auto [d, from] : llvm::enumerate(trans.getOrder())) source[size_t(from)] = steps[d];
  if (auto broadcast = dyn_cast<tt::BroadcastOp>(op))
    for (auto [step, extent] : llvm::zip_equal(source, broadcast.getSrc().getType().getShape()))
      if (extent == 1) step = 1;
  return source;
}

/// Tiles with some of the elements of a loop's tiles.
class ThinTiles {
public:
  explicit ThinTiles(scf::ForOp loop) : loop_(loop) {}

  /// Whether such a tile can be computed without the whole one. Remembers what the loop has to carry for it.
  bool canMake(Value tile, const Steps& steps) {
    if (keepsAll(steps)) return true;
    if (auto argument = dyn_cast<BlockArgument>(tile)) {
      if (argument.getOwner() != loop_.getBody()) return false;
      const unsigned number = argument.getArgNumber() - loop_.getNumInductionVars();
      if (!carried_.insert({number, steps}).second) return true; // as it was found, or while it is looked for
      return canMake(loop_.getInitArgs()[number], steps) && canMake(loop_.getYieldedValues()[number], steps);
    }
    Operation* op = tile.getDefiningOp();
    if (isa<tt::SplatOp, tt::MakeRangeOp>(op)) return true;
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) return isa<SplatElementsAttr>(constant.getValue());
    const bool movesDimensions = isa<tt::ExpandDimsOp, tt::TransOp, tt::BroadcastOp>(op);
    const bool isElementwise = OpTrait::hasElementwiseMappableTraits(op) || isa<tt::AddPtrOp, tt::BitcastOp>(op);
    if (!(movesDimensions || isElementwise) || !isPure(op) || op->getNumResults() != 1) return false;
    return llvm::all_of(op->getOperands(), [&](Value operand) {
      return !isa<RankedTensorType>(operand.getType()) || canMake(operand, stepsOfSource(op, steps));
    });
  }

  /// Gives the loop what it has to carry. Then it is another operation.
  scf::ForOp carry(IRRewriter& rewriter) {
    if (carried_.empty()) return loop_;
    SmallVector<Value> inits;
    for (auto& [number, steps] : carried_) inits.push_back(make(rewriter, loop_.getInitArgs()[number], steps));
    const SmallVector<Value> before(loop_.getRegionIterArgs());
    auto extend = [&](OpBuilder&, Location, ArrayRef<BlockArgument> added) {
      for (auto [one, argument] : llvm::zip_equal(carried_, added)) made_[{before[one.first], one.second}] = argument;
      SmallVector<Value> yielded;
      for (auto& [number, steps] : carried_) yielded.push_back(make(rewriter, loop_.getYieldedValues()[number], steps));
      return yielded;
    };
    const auto attributes = loop_->getAttrDictionary();
    auto replaced = loop_.replaceWithAdditionalYields(rewriter, inits, false, extend);
    // NOLINTNEXTLINE(bugprone-unchecked-optional-access): scf.for always can
    loop_ = cast<scf::ForOp>(replaced->getOperation());
    for (NamedAttribute attribute : attributes) loop_->setAttr(attribute.getName(), attribute.getValue());
    for (auto [old, now] : llvm::zip(before, loop_.getRegionIterArgs()))
      for (auto& [number, steps] : carried_)
        if (auto at = made_.find({old, steps}); at != made_.end()) made_[{now, steps}] = at->second;
    return loop_;
  }

  Value make(IRRewriter& rewriter, Value tile, const Steps& steps) {
    if (keepsAll(steps)) return tile;
    if (auto at = made_.find({tile, steps}); at != made_.end()) return at->second;
    Operation* op = tile.getDefiningOp();
    IRMapping mapping;
    for (Value operand : op->getOperands())
      if (isa<RankedTensorType>(operand.getType()))
        mapping.map(operand, make(rewriter, operand, stepsOfSource(op, steps)));
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointAfter(op);
    RankedTensorType type = thinType(tile.getType(), steps);
    return made_[{tile, steps}] =
               isa<tt::MakeRangeOp>(op) ? range(rewriter, op, type, steps.front()) : clone(rewriter, op, type, mapping);
  }

private:
  using Key = std::pair<Value, Steps>;
  struct Before {
    bool operator()(const Key& a, const Key& b) const {
      const void *x = a.first.getAsOpaquePointer(), *y = b.first.getAsOpaquePointer();
      return x == y ? a.second < b.second : std::less<>()(x, y);
    }
  };

  static Value range(IRRewriter& rewriter, Operation* op, RankedTensorType type, int64_t step) {
    auto whole = cast<tt::MakeRangeOp>(op);
    auto number = [&](int64_t value) -> Value {
      auto all = DenseElementsAttr::get(type, rewriter.getI32IntegerAttr(int32_t(value)));
      return arith::ConstantOp::create(rewriter, op->getLoc(), all);
    };
    Value count = tt::MakeRangeOp::create(rewriter, op->getLoc(), type, 0, uint32_t(type.getDimSize(0)));
    Value product = arith::MulIOp::create(rewriter, op->getLoc(), count, number(step));
    return arith::AddIOp::create(rewriter, op->getLoc(), product, number(int32_t(whole.getStart())));
  }

  /// What the source promised of neighbours (tt.contiguity and its like) is left out: neighbours are others.
  static Value clone(IRRewriter& rewriter, Operation* op, RankedTensorType type, IRMapping& mapping) {
    Operation* thin = rewriter.clone(*op, mapping);
    for (const char* promise : {"tt.divisibility", "tt.contiguity", "tt.constancy"}) thin->removeAttr(promise);
    if (auto constant = dyn_cast<arith::ConstantOp>(thin))
      constant.setValueAttr(cast<DenseElementsAttr>(constant.getValue()).resizeSplat(type));
    thin->getResult(0).setType(type);
    return thin->getResult(0);
  }

  scf::ForOp loop_;
  std::set<std::pair<unsigned, Steps>> carried_; ///< numbers of loop-carried values
  std::map<Key, Value, Before> made_;
};

/// Loads of the body from which its products' operands are computed.
llvm::SetVector<Operation*> loadsOfOperands(scf::ForOp loop) {
  llvm::SetVector<Operation*> found, seen;
  SmallVector<Value> wanted;
  for (auto dot : loop.getBody()->getOps<tt::DotOp>()) llvm::append_range(wanted, ValueRange{dot.getA(), dot.getB()});
  while (!wanted.empty()) {
    Operation* op = wanted.pop_back_val().getDefiningOp();
    if (!op || op->getBlock() != loop.getBody() || !seen.insert(op)) continue;
    if (isa<tt::LoadOp>(op))
      found.insert(op);
    else
      llvm::append_range(wanted, op->getOperands());
  }
  return found;
}

/// How often each element of the load is repeated along each dimension.
Steps repetitions(tt::LoadOp load, tt::ContiguityAnalysis& contiguity) {
  auto type = cast<RankedTensorType>(load.getType());
  Steps steps(type.getRank(), 1);
  for (int64_t d = 0; d < type.getRank(); ++d) {
    steps[d] = type.getDimSize(d);
    for (Value given : {load.getPtr(), load.getMask(), load.getOther()})
      if (given) steps[d] = std::min(steps[d], contiguity.of(given).dimensions[d].constant);
  }
  return steps;
}

/// The tile in which every element stands as often as it did.
Value repeat(IRRewriter& rewriter, Value thin, ArrayRef<int64_t> steps) {
  const Location at = thin.getLoc();
  for (auto [d, step] : llvm::enumerate(steps)) {
    if (step == 1) continue;
    auto type = cast<RankedTensorType>(thin.getType());
    SmallVector<int64_t> one(type.getShape()), apart(type.getShape()), whole(type.getShape());
    one.insert(one.begin() + d + 1, 1);
    apart.insert(apart.begin() + d + 1, step);
    whole[d] *= step;
    thin = tt::ExpandDimsOp::create(rewriter, at, RankedTensorType::get(one, type.getElementType()), thin, d + 1);
    thin = tt::BroadcastOp::create(rewriter, at, RankedTensorType::get(apart, type.getElementType()), thin);
    thin = tt::ReshapeOp::create(rewriter, at, RankedTensorType::get(whole, type.getElementType()), thin, false, false);
  }
  return thin;
}

void rewrite(scf::ForOp loop) {
  tt::ContiguityAnalysis contiguity;
  ThinTiles tiles(loop);
  SmallVector<std::pair<tt::LoadOp, Steps>> loads;
  for (Operation* op : loadsOfOperands(loop)) {
    auto load = cast<tt::LoadOp>(op);
    if (!isa<RankedTensorType>(load.getType()) || load.getIsVolatile()) continue;
    const Steps steps = repetitions(load, contiguity);
    ThinTiles trial(loop);
    auto canMake = [&](ThinTiles& of) {
      return llvm::all_of(load->getOperands(), [&](Value given) { return of.canMake(given, steps); });
    };
    if (!keepsAll(steps) && canMake(trial) && canMake(tiles)) loads.push_back({load, steps});
  }
  if (loads.empty()) return;
  IRRewriter rewriter(loop);
  tiles.carry(rewriter);
  for (auto& [load, steps] : loads) {
    IRMapping mapping;
    for (Value given : load->getOperands()) mapping.map(given, tiles.make(rewriter, given, steps));
    rewriter.setInsertionPoint(load);
    auto thin = cast<tt::LoadOp>(rewriter.clone(*load, mapping));
    thin.getResult().setType(thinType(load.getType(), steps));
    rewriter.replaceOp(load, repeat(rewriter, thin, steps));
  }
}

} // namespace

void loadRepeatedOnce(tt::FuncOp kernel) {
  SmallVector<scf::ForOp> loops;
  kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); });
  for (scf::ForOp loop : loops) rewrite(loop);
}

} // namespace tiletwin::codegen
