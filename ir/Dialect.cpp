// ir/Dialect.cpp -- registration of tt and ttg, enums, and the traits every operation carries (rules T1-T3).
#include "ir/TT.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

#include "ir/TTDialect.cpp.inc"
#include "ir/TTEnums.cpp.inc"
#include "ir/TTGDialect.cpp.inc"
#include "ir/TTGEnums.cpp.inc"

namespace tiletwin::tt {
namespace {

/// How calls and returns of tt become plain values and branches.
struct TTInlinerInterface final : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation* call, Operation* callable, bool wouldBeCloned) const final { return true; }
  bool isLegalToInline(Region* dest, Region* src, bool wouldBeCloned, IRMapping&) const final { return true; }
  bool isLegalToInline(Operation* op, Region* dest, bool wouldBeCloned, IRMapping&) const final { return true; }

  void handleTerminator(Operation* op, Block* newDest) const final {
    auto returnOp = dyn_cast<ReturnOp>(op);
    if (!returnOp) return;
    OpBuilder builder(op);
    cf::BranchOp::create(builder, op->getLoc(), newDest, returnOp.getOperands());
    op->erase();
  }
  void handleTerminator(Operation* op, ValueRange valuesToReplace) const final {
    for (auto [old, value] : llvm::zip_equal(valuesToReplace, cast<ReturnOp>(op).getOperands()))
      old.replaceAllUsesWith(value);
  }
};

struct TTGInlinerInterface final : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation* op, Region* dest, bool wouldBeCloned, IRMapping&) const final { return true; }
};

} // namespace

void TTDialect::initialize() {
  registerTypes();
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "ir/TTOps.cpp.inc"
      >();
  addInterfaces<TTInlinerInterface>();
}

Operation* TTDialect::materializeConstant(OpBuilder& builder, Attribute value, Type type, Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

// One tile type against T1-T3; empty if it obeys them.
static std::string tileFault(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  if (!tile) return {};
  if (tile.getRank() == 0) return "a tile of rank 0"; // T1
  // The product saturates, so that absurd extents cannot overflow.
  int64_t elements = 1;
  for (int64_t extent : tile.getShape()) {
    if (extent <= 0 || !llvm::isPowerOf2_64(uint64_t(extent)))
      return "extent " + (ShapedType::isDynamic(extent) ? std::string("?") : std::to_string(extent)) + " of tile " +
             shapeText(type) + ", which is not a power of two"; // T2
    elements = std::min(elements, kMaxTileElements * 2) * std::min(extent, kMaxTileElements * 2);
  }
  if (elements > kMaxTileElements)
    return "tile " + shapeText(type) + ", which has more than " + std::to_string(kMaxTileElements) + " elements"; // T3
  return {};
}

LogicalResult verifyTileShapes(Operation* op) {
  for (Type type : op->getOperandTypes())
    if (std::string fault = tileFault(type); !fault.empty()) return op->emitOpError() << "takes " << fault;
  for (Type type : op->getResultTypes())
    if (std::string fault = tileFault(type); !fault.empty()) return op->emitOpError() << "gives " << fault;
  return success();
}

LogicalResult verifySameShape(Operation* op) {
  Type first;
  for (TypeRange types : {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
    for (Type type : types) {
      if (!first) first = type;
      if (isa<RankedTensorType>(type) != isa<RankedTensorType>(first) || shapeOf(type) != shapeOf(first))
        return op->emitOpError() << "needs one shape for all operands and results, got " << shapeText(first) << " and "
                                 << shapeText(type);
    }
  return success();
}

Type withShapeOf(Type like, Type element) {
  if (auto tile = dyn_cast<RankedTensorType>(like))
    return RankedTensorType::get(tile.getShape(), element, tile.getEncoding());
  return element;
}
Type i1TypeLike(Type type) { return withShapeOf(type, IntegerType::get(type.getContext(), 1)); }
Type elementTypeOf(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile ? tile.getElementType() : type;
}
Type pointeeTypeLike(Type type) {
  auto pointer = dyn_cast<PointerType>(elementTypeOf(type));
  return pointer ? withShapeOf(type, pointer.getPointeeType()) : type;
}
ArrayRef<int64_t> shapeOf(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile ? tile.getShape() : ArrayRef<int64_t>();
}
std::string shapeText(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  if (!tile) return "scalar";
  std::string text;
  for (int64_t extent : tile.getShape()) {
    if (!text.empty()) text += 'x';
    text += ShapedType::isDynamic(extent) ? "?" : std::to_string(extent);
  }
  return text;
}

} // namespace tiletwin::tt

void tiletwin::ttg::TTGDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "ir/TTGOps.cpp.inc"
      >();
  addInterfaces<tt::TTGInlinerInterface>();
}
