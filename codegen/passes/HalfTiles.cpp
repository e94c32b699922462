// codegen/passes/HalfTiles.cpp -- see HalfTiles.h.
#include "codegen/passes/HalfTiles.h"
#include "codegen/passes/Divide.h"
#include "codegen/passes/LayoutChoice.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"
#include <numeric>

using namespace mlir;

namespace tiletwin::codegen {
namespace {

bool isTile(Value value) { return isa<RankedTensorType>(value.getType()); }

SmallVector<Half> ofAllTiles(Operation* op, Half along) {
  return llvm::map_to_vector(op->getOperands(), [&](Value operand) { return isTile(operand) ? along : kWhole; });
}

/// The dimension that counts slowest, of those with more than one element.
Half slowest(RankedTensorType tile) {
  return Half(llvm::find_if(tile.getShape(), [](int64_t extent) { return extent > 1; }) - tile.getShape().begin());
}

using Halves = std::optional<SmallVector<Half>>;

Halves ofDot(tt::DotOp dot, Half along) {
  if (dot.getD().getType().getRank() != 2) return std::nullopt;
  if (isByTwoCtas(dot)) return along == 0 ? Halves({0, 1, 0}) : std::nullopt;
  return along == 0 ? Halves({0, kWhole, 0}) : Halves({kWhole, 1, 1});
}

Value numberTimes(OpBuilder& builder, Location where, Value number, int64_t factor) {
  return arith::MulIOp::create(builder, where, number,
                               arith::ConstantOp::create(builder, where, builder.getI32IntegerAttr(int32_t(factor))));
}

Operation* halfOfRange(OpBuilder& builder, tt::MakeRangeOp range, Value rank) {
  RankedTensorType type = halfOf(range.getType(), 0);
  const auto extent = int32_t(type.getDimSize(0)), start = int32_t(range.getStart());
  Location where = range.getLoc();
  Value first = tt::MakeRangeOp::create(builder, where, type, start, start + extent);
  Value begin = tt::SplatOp::create(builder, where, type, numberTimes(builder, where, rank, extent));
  return arith::AddIOp::create(builder, where, first, begin);
}

/// What tl.multiple_of and its like promise of a tile, of its half: the second one may begin within what is contiguous.
void halveHints(Operation* op, Half along, int64_t extent) {
  SmallVector<int32_t> contiguous;
  if (auto promised = op->getAttrOfType<DenseIntElementsAttr>("tt.contiguity"))
    llvm::append_range(contiguous, promised.getValues<int32_t>());
  const bool isCut = size_t(along) >= contiguous.size() || contiguous[size_t(along)] > extent;
  for (StringRef name : {"tt.contiguity", "tt.constancy", "tt.divisibility"}) {
    auto promised = op->getAttrOfType<DenseIntElementsAttr>(name);
    if (!promised) continue;
    SmallVector<int32_t> numbers(promised.getValues<int32_t>());
    if (size_t(along) < numbers.size() && (isCut || name != "tt.divisibility"))
      numbers[size_t(along)] = int32_t(std::gcd(int64_t(numbers[size_t(along)]), extent));
    op->setAttr(name, DenseIntElementsAttr::get(promised.getType(), ArrayRef<int32_t>(numbers)));
  }
}

} // namespace

RankedTensorType halfOf(mlir::Type tile, Half along) {
  auto type = cast<RankedTensorType>(tile);
  SmallVector<int64_t> shape(type.getShape());
  shape[size_t(along)] /= 2;
  return RankedTensorType::get(shape, type.getElementType(), type.getEncoding());
}

tt::TensorDescType halfOf(tt::TensorDescType blocks, Half along) {
  SmallVector<int64_t> shape(blocks.getShape());
  shape[size_t(along)] /= 2;
  return tt::TensorDescType::get(shape, blocks.getElementType());
}

bool canBeHalved(mlir::Type tile, Half along) {
  auto type = dyn_cast<RankedTensorType>(tile);
  return type && along < type.getRank() && type.getDimSize(unsigned(along)) % 2 == 0;
}

std::optional<SmallVector<Half>> operandHalves(Operation* op, Half along) {
  if (along == kWhole) {
    if (isByTwoCtas(op)) return std::nullopt;
    return SmallVector<Half>(op->getNumOperands(), kWhole);
  }
  if (!llvm::all_of(op->getResultTypes(), [&](mlir::Type type) { return canBeHalved(type, along); }))
    return std::nullopt;
  if (LayoutChoice::isElementwise(op)) return ofAllTiles(op, along);
  return llvm::TypeSwitch<Operation*, Halves>(op)
      .Case([](tt::MakeRangeOp) { return SmallVector<Half>(); })
      .Case([](arith::ConstantOp constant) {
        return isa<SplatElementsAttr>(constant.getValue()) ? Halves(SmallVector<Half>()) : std::nullopt;
      })
      .Case([](tt::SplatOp) { return Halves({kWhole}); })
      .Case([&](tt::BroadcastOp broadcast) {
        return Halves({broadcast.getSrc().getType().getDimSize(unsigned(along)) == 1 ? kWhole : along});
      })
      .Case([&](tt::ExpandDimsOp expand) { return Halves({along < Half(expand.getAxis()) ? along : along - 1}); })
      .Case([&](tt::TransOp trans) { return Halves({trans.getOrder()[size_t(along)]}); })
      .Case<tt::LoadOp>([&](auto load) { return Halves(ofAllTiles(load, along)); })
      .Case([&](tt::DescriptorLoadOp load) {
        const bool isWholeBlock = load.getType().getShape() == load.getDesc().getType().getShape();
        return isWholeBlock ? Halves(SmallVector<Half>(load->getNumOperands(), kWhole)) : std::nullopt;
      })
      .Case([&](tt::DotOp dot) { return ofDot(dot, along); })
      .Case([&](tt::ReduceOp reduce) {
        return Halves(ofAllTiles(reduce, along < Half(reduce.getAxis()) ? along : along + 1));
      })
      .Case([&](tt::ScanOp scan) {
        return along == Half(scan.getAxis()) ? std::nullopt : Halves(ofAllTiles(scan, along));
      })
      .Case([&](tt::ReshapeOp reshape) -> Halves {
        // The first half of one tile's elements is that of the other one's.
        auto from = cast<RankedTensorType>(reshape.getSrc().getType());
        if (reshape.getAllowReorder() || along != slowest(reshape.getType())) return std::nullopt;
        return Halves({slowest(from)});
      })
      .Case<tt::JoinOp>(
          [&](auto join) { return along + 1 < join.getType().getRank() ? Halves({along, along}) : std::nullopt; })
      .Case<tt::SplitOp>([&](auto) { return Halves({along}); })
      .Case(
          [&](tt::GatherOp gather) { return along == Half(gather.getAxis()) ? std::nullopt : Halves({along, along}); })
      .Default([](Operation*) { return std::nullopt; });
}

Operation* makeHalf(OpBuilder& builder, Operation* op, Half along, ValueRange operands, Value rank) {
  if (auto range = dyn_cast<tt::MakeRangeOp>(op)) return halfOfRange(builder, range, rank);
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    RankedTensorType type = halfOf(constant.getType(), along);
    return arith::ConstantOp::create(builder, op->getLoc(),
                                     cast<SplatElementsAttr>(constant.getValue()).resizeSplat(type));
  }
  Operation* made = builder.clone(*op);
  made->setOperands(operands);
  for (Value result : made->getResults()) result.setType(halfOf(result.getType(), along));
  halveHints(made, along, cast<RankedTensorType>(made->getResult(0).getType()).getDimSize(unsigned(along)));
  auto load = dyn_cast<tt::DescriptorLoadOp>(made);
  if (!load) return made;
  builder.setInsertionPoint(made);
  OpOperand& index = load.getIndicesMutable()[unsigned(along)];
  index.set(indexOfHalf(builder, op->getLoc(), index.get(), load.getType().getDimSize(unsigned(along)), rank));
  builder.setInsertionPointAfter(made);
  return made;
}

Value takeHalf(OpBuilder& builder, Value tile, Half along, Value rank) {
  Location where = tile.getLoc();
  auto type = cast<RankedTensorType>(tile.getType());
  // ... x n x ... as ... x 2 x n/2 x ..., and the two halves behind everything.
  SmallVector<int64_t> shape(type.getShape());
  shape[size_t(along)] /= 2;
  SmallVector<int64_t> inTwo(shape);
  inTwo.insert(inTwo.begin() + along, 2);
  SmallVector<int32_t> order;
  for (int32_t i = 0; i <= int32_t(type.getRank()); ++i)
    if (i != along) order.push_back(i);
  order.push_back(along);
  SmallVector<int64_t> turned(shape);
  turned.push_back(2);
  mlir::Type element = type.getElementType(), half = RankedTensorType::get(shape, element);
  Value both = tt::ReshapeOp::create(builder, where, RankedTensorType::get(inTwo, element), tile);
  both = tt::TransOp::create(builder, where, RankedTensorType::get(turned, element), both, order);
  auto halves = tt::SplitOp::create(builder, where, half, half, both);
  Value zero = arith::ConstantOp::create(builder, where, builder.getI32IntegerAttr(0));
  Value isFirst = arith::CmpIOp::create(builder, where, arith::CmpIPredicate::eq, rank, zero);
  return arith::SelectOp::create(builder, where, isFirst, halves->getResult(0), halves->getResult(1));
}

Value indexOfHalf(OpBuilder& builder, Location where, Value index, int64_t extent, Value rank) {
  return arith::AddIOp::create(builder, where, index, numberTimes(builder, where, rank, extent));
}

} // namespace tiletwin::codegen
