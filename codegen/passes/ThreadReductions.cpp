// codegen/passes/ThreadReductions.cpp -- see ThreadReductions.h.
// Idea:      the bits of the axis' index are in registers, or in lanes and warps. A reshape tells runs of these apart, a
//            transpose collects those in registers as a last dimension, which is reduced; the others stay, as one
//            dimension in the place of the axis. All of that only renames elements.
// Invariant: the loop's tile begins with the operation's neutral element, and what the loop began with is combined last.
#include "codegen/passes/ThreadReductions.h"
#include "codegen/dialect/TWG.h"
#include "codegen/layout/ReductionOrder.h"
#include "codegen/passes/Notes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tiletwin::codegen {

Operation* commutativeOperation(tt::ReduceOp reduce) {
  Block& block = reduce.getCombineOp().front();
  if (reduce.getSrcs().size() != 1 || !llvm::hasNItems(block, 2)) return nullptr;
  Operation* first = &block.front();
  if (first->getNumOperands() != 2 || block.getTerminator()->getOperand(0).getDefiningOp() != first) return nullptr;
  auto isArgument = [&](unsigned i) { return llvm::is_contained(first->getOperands(), block.getArgument(i)); };
  // Floats too: sums and products do not depend on the order of two operands, nor do minima of zeros and NaN.
  bool commutes = isa<arith::AddIOp, arith::MulIOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp, arith::MaxSIOp,
                      arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp, arith::AddFOp, arith::MulFOp, arith::MaximumFOp,
                      arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp>(first);
  return commutes && isArgument(0) && isArgument(1) ? first : nullptr;
}

namespace {

/// A reduction whose result is combined into what a loop carries, and used for nothing else.
struct Running {
  tt::ReduceOp reduce;
  Operation* update;
  scf::ForOp loop;
  unsigned carried; ///< number among the loop's carried values
  TypedAttr neutral;
};

/// Sums and products of floats depend on the order. A program says which order it wants between rounds of a loop, so only
/// those are changed that Triton changes, too: what a load gives, along the innermost axis, from a constant on.
bool mayReorder(tt::ReduceOp reduce, Operation* combine, Value first) {
  if (!isa<arith::AddFOp, arith::MulFOp>(combine)) return true;
  Value tile = reduce.getSrcs().front();
  const size_t rank = tt::shapeOf(tile.getType()).size();
  while (auto convert = tile.getDefiningOp<twg::ConvertLayoutOp>()) tile = convert->getOperand(0);
  return rank > 1 && size_t(reduce.getAxis()) == rank - 1 && tile.getDefiningOp<tt::LoadOp>() &&
         first.getDefiningOp<arith::ConstantOp>();
}

std::optional<Running> runningOf(tt::ReduceOp reduce) {
  auto loop = dyn_cast<scf::ForOp>(reduce->getParentOp());
  Operation* combine = commutativeOperation(reduce);
  if (!loop || !combine || !tt::hasOneUse(reduce.getResult()[0])) return std::nullopt;
  Operation* update = *tt::usersOf(reduce.getResult()[0]).begin();
  if (update->getName() != combine->getName() || update->getBlock() != loop.getBody() ||
      !tt::hasOneUse(update->getResult(0)))
    return std::nullopt;
  Value other = update->getOperand(update->getOperand(0) == reduce->getResult(0) ? 1 : 0);
  auto argument = dyn_cast<BlockArgument>(other);
  if (!argument || argument.getOwner() != loop.getBody() || argument.getArgNumber() == 0 || !tt::hasOneUse(argument))
    return std::nullopt;
  const unsigned carried = argument.getArgNumber() - 1;
  if (!mayReorder(reduce, combine, loop.getInitArgs()[carried])) return std::nullopt;
  OpOperand& use = *tt::usesOf(update->getResult(0)).begin();
  if (use.getOwner() != loop.getBody()->getTerminator() || use.getOperandNumber() != carried) return std::nullopt;
  std::optional<TypedAttr> neutral = arith::getNeutralElement(combine);
  if (!neutral) return std::nullopt;
  if (isa<arith::AddFOp>(combine)) { // that of sums leaves zeros of either sign
    auto type = cast<FloatType>(combine->getResult(0).getType());
    neutral = FloatAttr::get(type, llvm::APFloat::getZero(type.getFloatSemantics(), /*Negative=*/true));
  }
  return Running{reduce, update, loop, carried, *neutral};
}

/// The axis of a tile as runs of index bits, from the highest down: what they are in, and how many bits.
struct Run {
  bool inRegisters;
  unsigned bits;
};

SmallVector<Run> runsOf(const LinearLayout& layout, unsigned axis) {
  uint32_t registers = 0;
  for (uint32_t basis : layout.bases(Part::Register)) registers |= basis;
  const unsigned shift = layout.dimensionShift(axis);
  SmallVector<Run> runs;
  for (unsigned bit = layout.dimensionBits(axis); bit-- > 0;) {
    const bool inRegisters = registers >> (shift + bit) & 1;
    if (runs.empty() || runs.back().inRegisters != inRegisters) runs.push_back({inRegisters, 0});
    ++runs.back().bits;
  }
  return runs;
}

/// The tile with the axis' bits in registers as a new last dimension (none if there are none), and the others where the
/// axis is.
class Split {
public:
  Split(OpBuilder& builder, Value tile, unsigned axis) : builder_(builder), tile_(tile), where_(tile.getLoc()) {
    const LinearLayout layout = twg::layoutOf(tile);
    SmallVector<int64_t, 8> apart, whole;
    SmallVector<int32_t, 8> order, last;
    for (unsigned d = 0; d < layout.rank(); ++d) {
      if (d != axis) {
        order.push_back(int32_t(apart.size()));
        apart.push_back(layout.shape()[d]);
        whole.push_back(layout.shape()[d]);
        continue;
      }
      for (const Run& run : runsOf(layout, axis)) {
        (run.inRegisters ? last : order).push_back(int32_t(apart.size()));
        (run.inRegisters ? inThread_ : betweenThreads_) <<= run.bits;
        apart.push_back(int64_t(1) << run.bits);
      }
      whole.push_back(betweenThreads_);
    }
    if (inThread_ > 1) whole.push_back(inThread_);
    llvm::append_range(order, last);
    reshape(apart);
    if (!llvm::is_sorted(order)) transpose(order);
    reshape(whole);
  }
  Value tile() const { return tile_; }
  int64_t inThread() const { return inThread_; }

private:
  RankedTensorType typeOf(const LinearLayout& layout) {
    auto type = cast<RankedTensorType>(tile_.getType());
    return RankedTensorType::get(layout.shape(), type.getElementType(),
                                 twg::LinearAttr::get(builder_.getContext(), layout));
  }
  void reshape(ArrayRef<int64_t> shape) {
    if (shape != tt::shapeOf(tile_.getType()))
      tile_ = tt::ReshapeOp::create(builder_, where_, typeOf(twg::layoutOf(tile_).reshaped(shape)), tile_);
  }
  void transpose(ArrayRef<int32_t> order) {
    tile_ = tt::TransOp::create(builder_, where_, typeOf(twg::layoutOf(tile_).transposed(order)), tile_, order);
  }

  OpBuilder& builder_;
  Value tile_;
  Location where_;
  int64_t inThread_ = 1, betweenThreads_ = 1;
};

/// The reduction of another tile, along its dimension `axis`.
Value reduceLike(OpBuilder& builder, tt::ReduceOp like, Value tile, unsigned axis) {
  auto reduce = cast<tt::ReduceOp>(builder.clone(*like));
  LinearLayout layout = twg::layoutOf(tile), result = layout.withoutDimension(axis).withoutRepeatedRegisters();
  reduce->setOperand(0, tile);
  reduce.setAxis(axis);
  Type element = tt::elementTypeOf(tile.getType());
  if (layout.rank() > 1)
    reduce->getResult(0).setType(
        RankedTensorType::get(result.shape(), element, twg::LinearAttr::get(builder.getContext(), result)));
  if (auto order = ReductionOrder::of(layout, axis))
    reduce->setAttr("order", DenseI32ArrayAttr::get(builder.getContext(), order->bits));
  return reduce->getResult(0);
}

void split(Running running) {
  auto [reduce, update, loop, carried, neutral] = running;
  const auto axis = unsigned(reduce.getAxis());
  const LinearLayout layout = twg::layoutOf(reduce.getSrcs().front());
  if (!ReductionOrder::of(layout, axis)) return;
  if (llvm::all_of(runsOf(layout, axis), [](const Run& run) { return run.inRegisters; })) return;

  OpBuilder inside(reduce);
  Split parts(inside, reduce.getSrcs().front(), axis);
  Value mine = parts.inThread() > 1 ? reduceLike(inside, reduce, parts.tile(), layout.rank()) : parts.tile();
  auto type = cast<RankedTensorType>(mine.getType());

  OpOperand& init = loop.getInitArgsMutable()[carried];
  const Value first = init.get();
  OpBuilder before(loop);
  init.set(arith::ConstantOp::create(before, loop.getLoc(), DenseElementsAttr::get(type, Attribute(neutral))));
  BlockArgument argument = loop.getRegionIterArg(carried);
  OpResult result = loop->getResult(carried);
  argument.setType(type), result.setType(type);

  OpBuilder behind(loop->getContext());
  behind.setInsertionPointAfter(loop);
  Value rest = reduceLike(behind, reduce, result, axis);
  Operation* total = behind.clone(*update);
  total->replaceUsesOfWith(argument, first);
  total->replaceUsesOfWith(reduce->getResult(0), rest);
  result.replaceUsesWithIf(total->getResult(0), [&](OpOperand& use) { return use.getOwner() != rest.getDefiningOp(); });

  update->replaceUsesOfWith(reduce->getResult(0), mine);
  update->getResult(0).setType(type);
  for (Value sum : reduce->getResults()) moveNotes(sum, {});
  reduce.erase();
}

} // namespace

void reduceInThreads(tt::FuncOp kernel) {
  SmallVector<Running> all;
  kernel.walk([&](tt::ReduceOp reduce) {
    if (std::optional<Running> running = runningOf(reduce)) all.push_back(*running);
  });
  for (const Running& running : all) split(running);
}

} // namespace tiletwin::codegen
