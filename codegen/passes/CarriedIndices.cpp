// codegen/passes/CarriedIndices.cpp -- see CarriedIndices.h.
#include "codegen/passes/CarriedIndices.h"
#include "codegen/passes/LoadsOfOperands.h"
#include "ir/Tiles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace tiletwin::codegen {
namespace {

/// Pointers of more elements take so many registers that a tile beside its distance costs too much.
constexpr int64_t kFewPointers = 256;

/// What a loop does to a carried tile of indices or pointers.
struct Move {
  unsigned number; ///< of the carried value
  Value step;      ///< a tile of one number
  bool isBack;     ///< subtracted
};

/// True for pointers to lines that the loop puts beside tiles, which want each in a layout of its own. Not if operands of
/// products are made of them: such loads are copied.
bool areLinesBesideTiles(Value pointers, scf::ForOp loop) {
  const llvm::SetVector<Operation*> behind = behindProducts(loop);
  llvm::SetVector<Operation*> reached(pointers.user_begin(), pointers.user_end());
  bool areBesideTiles = false;
  for (size_t i = 0; i < reached.size(); ++i) {
    if (behind.contains(reached[i])) return false;
    if (isa<tt::ExpandDimsOp, tt::BroadcastOp>(reached[i]))
      areBesideTiles = true;
    else if (reached[i]->getNumResults() == 1 && isa<RankedTensorType>(reached[i]->getResult(0).getType()))
      reached.insert(reached[i]->user_begin(), reached[i]->user_end());
  }
  return areBesideTiles;
}

std::optional<Move> moveOf(scf::ForOp loop, unsigned number) {
  Value tile = loop.getRegionIterArg(number);
  auto type = dyn_cast<RankedTensorType>(tile.getType());
  Operation* op = loop.getYieldedValues()[number].getDefiningOp();
  if (!type || !op) return std::nullopt;
  if (auto add = dyn_cast<tt::AddPtrOp>(op)) {
    const bool isMoved = add.getPtr() == tile && tt::isOneNumber(add.getOffset());
    return isMoved && type.getNumElements() <= kFewPointers && areLinesBesideTiles(tile, loop)
               ? std::optional(Move{number, add.getOffset(), false})
               : std::nullopt;
  }
  if (!type.getElementType().isSignlessInteger() || !isa<arith::AddIOp, arith::SubIOp>(op)) return std::nullopt;
  const bool isBack = isa<arith::SubIOp>(op);
  for (unsigned index : {0u, 1u})
    if (op->getOperand(index) == tile && tt::isOneNumber(op->getOperand(1 - index)) && (index == 0 || !isBack))
      return Move{number, op->getOperand(1 - index), isBack};
  return std::nullopt;
}

Value numberOf(OpBuilder& builder, Value tile) {
  if (auto splat = tile.getDefiningOp<tt::SplatOp>()) return splat.getSrc();
  DenseElementsAttr constant;
  (void)matchPattern(tile, m_Constant(&constant));
  return arith::ConstantOp::create(builder, tile.getLoc(), cast<TypedAttr>(constant.getSplatValue<Attribute>()));
}

Value movedBy(OpBuilder& builder, Value tile, Value distance) {
  auto type = cast<RankedTensorType>(tile.getType());
  Value splat = tt::SplatOp::create(builder, tile.getLoc(), type.clone(distance.getType()), distance);
  if (isa<tt::PointerType>(type.getElementType()))
    return tt::AddPtrOp::create(builder, tile.getLoc(), tile.getType(), tile, splat);
  return arith::AddIOp::create(builder, tile.getLoc(), tile, splat);
}

/// The distance behind an iteration.
Value moved(OpBuilder& builder, const Move& move, Value distance) {
  Value step = numberOf(builder, move.step);
  if (step.getType() != distance.getType()) // of pointers: what is added to them is signed
    step = arith::ExtSIOp::create(builder, step.getLoc(), distance.getType(), step);
  if (move.isBack) return arith::SubIOp::create(builder, step.getLoc(), distance, step);
  return arith::AddIOp::create(builder, step.getLoc(), distance, step);
}

void carryDistances(scf::ForOp loop) {
  SmallVector<Move> moves;
  for (unsigned number = 0; number < loop.getNumRegionIterArgs(); ++number)
    if (std::optional<Move> move = moveOf(loop, number)) moves.push_back(*move);
  if (moves.empty()) return;
  IRRewriter rewriter(loop);
  SmallVector<Value> first(loop.getInitArgs()), inits(first);
  for (const Move& move : moves) {
    mlir::Type element = tt::elementTypeOf(first[move.number].getType());
    if (isa<tt::PointerType>(element)) element = rewriter.getI64Type();
    inits[move.number] = arith::ConstantOp::create(rewriter, loop.getLoc(), rewriter.getIntegerAttr(element, 0));
  }
  auto made = scf::ForOp::create(
      rewriter, loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(), loop.getStep(), inits,
      [](OpBuilder&, Location, Value, ValueRange) {}, loop.getUnsignedCmp());
  made->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  SmallVector<Value> arguments(made.getBody()->getArguments()), results(made.getResults());
  Operation* yield = loop.getBody()->getTerminator();
  for (const Move& move : moves) {
    Value distance = made.getRegionIterArg(move.number);
    rewriter.setInsertionPointToStart(made.getBody());
    arguments[move.number + 1] = movedBy(rewriter, first[move.number], distance);
    rewriter.setInsertionPointAfter(made);
    results[move.number] = movedBy(rewriter, first[move.number], made.getResult(move.number));
    rewriter.setInsertionPoint(yield);
    yield->setOperand(move.number, moved(rewriter, move, distance));
  }
  rewriter.mergeBlocks(loop.getBody(), made.getBody(), arguments);
  rewriter.replaceOp(loop, results);
}

} // namespace

void carryDistances(tt::FuncOp kernel) {
  SmallVector<scf::ForOp> loops;
  kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); }); // inner ones first
  for (scf::ForOp loop : loops) carryDistances(loop);
}

} // namespace tiletwin::codegen
