// codegen/passes/VerifyLayouts.cpp -- see VerifyLayouts.h.
#include "codegen/passes/VerifyLayouts.h"
#include "codegen/dialect/TWG.h"
#include "codegen/passes/AtomicLayout.h"
#include "codegen/passes/LayoutChoice.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tiletwin::codegen {
namespace {

bool isTile(Value value) { return isa<RankedTensorType>(value.getType()); }

/// True for operations whose tiles all lie in one layout.
bool hasOneLayout(Operation* op) {
  return LayoutChoice::isElementwise(op) || atomicPointers(op) ||
         isa<tt::LoadOp, tt::StoreOp, twg::AsyncCopyOp, tt::ScanOp>(op);
}

/// The layout that the operands in front give the operation's results; none if the operation has a rule of its own, or
/// none.
std::optional<LinearLayout> resultLayout(Operation* op) {
  auto first = [&] { return twg::layoutOf(op->getOperand(0)); };
  return llvm::TypeSwitch<Operation*, std::optional<LinearLayout>>(op)
      .Case([&](tt::ReduceOp reduce) {
        return first().withoutDimension(unsigned(reduce.getAxis())).withoutRepeatedRegisters();
      })
      .Case([&](tt::JoinOp) { return first().joined(); })
      .Case([&](tt::CatOp) { return first().concatenated(); })
      .Case([&](tt::SplitOp) { return first().split(); })
      .Case([&](tt::GatherOp gather) { return twg::layoutOf(gather.getIndices()); })
      .Default([](Operation*) { return std::nullopt; });
}

class LayoutVerifier {
public:
  explicit LayoutVerifier(ThreadBits threads) : threads_(threads) {}

  LogicalResult verify(Operation* op) {
    for (Value operand : op->getOperands())
      if (failed(verifyTile(op, operand))) return failure();
    for (Value result : op->getResults())
      if (failed(verifyTile(op, result))) return failure();
    for (Region& region : op->getRegions())
      for (Block& block : region)
        for (Value argument : block.getArguments())
          if (failed(verifyTile(op, argument))) return failure();
    if (failed(verifyVector(op))) return failure();
    if (hasOneLayout(op)) return verifyOneLayout(op);
    return verifyResults(op);
  }

private:
  LogicalResult verifyTile(Operation* op, Value tile) {
    if (!isTile(tile) || good_.contains(tile.getType())) return success();
    if (!twg::hasLayout(tile.getType()))
      return op->emitOpError() << "has a tile without a layout, of type " << tile.getType()
                               << "; layouts are chosen on the way from ttir to ttgir";
    LinearLayout layout = twg::layoutOf(tile);
    if (layout.bits(Part::Lane) != threads_.lane || layout.bits(Part::Warp) != threads_.warp)
      return op->emitOpError() << "has a layout for " << (1u << layout.bits(Part::Warp)) << " warps of "
                               << (1u << layout.bits(Part::Lane)) << " threads; the kernel has "
                               << (1u << threads_.warp) << " of " << (1u << threads_.lane);
    good_.insert(tile.getType());
    return success();
  }

  LogicalResult verifyVector(Operation* op) {
    auto vector = op->getAttrOfType<IntegerAttr>("twg.vector");
    if (!vector) return success();
    for (Value value :
         llvm::concat<Value>(SmallVector<Value>(op->getOperands()), SmallVector<Value>(op->getResults()))) {
      if (!isTile(value) || tt::shapeOf(value.getType()).size() < 1) continue;
      int64_t elements = vector.getInt(), registers = twg::layoutOf(value).registers();
      bool isRowList =
          isa<tt::DescriptorGatherOp, tt::DescriptorScatterOp>(op) && tt::shapeOf(value.getType()).size() == 1;
      if (isRowList) continue;
      if (elements < 1 || !llvm::isPowerOf2_64(uint64_t(elements)) || elements > registers)
        return op->emitOpError() << "has vectors of " << elements << " elements (twg.vector); a thread holds "
                                 << registers << ", and they are powers of two";
    }
    return success();
  }

  LogicalResult verifyOneLayout(Operation* op) {
    Attribute one;
    for (Value value :
         llvm::concat<Value>(SmallVector<Value>(op->getOperands()), SmallVector<Value>(op->getResults()))) {
      if (!isTile(value)) continue;
      Attribute layout = cast<RankedTensorType>(value.getType()).getEncoding();
      if (!one) one = layout;
      if (one != layout) return op->emitOpError("needs one layout for all its tiles; twg.convert_layout changes it");
    }
    return success();
  }

  LogicalResult verifyResults(Operation* op) {
    if (auto histogram = dyn_cast<tt::HistogramOp>(op))
      if (histogram.getMask() && !(twg::layoutOf(histogram.getMask()) == twg::layoutOf(histogram.getSrc())))
        return op->emitOpError("needs its mask in the layout of its source");
    if (isa<tt::ReduceOp, tt::JoinOp, tt::CatOp>(op))
      for (Value operand : op->getOperands())
        if (operand.getType() != op->getOperand(0).getType() &&
            !(twg::layoutOf(operand) == twg::layoutOf(op->getOperand(0))))
          return op->emitOpError("needs all its operands in one layout");
    std::optional<LinearLayout> wanted = resultLayout(op);
    if (!wanted) return success();
    for (Value result : op->getResults())
      if (isTile(result) && !(twg::layoutOf(result) == *wanted))
        return op->emitOpError("has a result layout that does not follow from its operand's");
    return success();
  }

  ThreadBits threads_;
  llvm::DenseSet<mlir::Type> good_;
};

} // namespace

LogicalResult verifyLayouts(tt::FuncOp kernel, ThreadBits threads) {
  LayoutVerifier verifier(threads);
  WalkResult walked = kernel.walk<WalkOrder::PreOrder>(
      [&](Operation* op) { return failed(verifier.verify(op)) ? WalkResult::interrupt() : WalkResult::advance(); });
  return failure(walked.wasInterrupted());
}

} // namespace tiletwin::codegen
