// codegen/passes/DotOperands.cpp -- see DotOperands.h.
#include "codegen/passes/DotOperands.h"
#include "codegen/dialect/TWG.h"
#include "codegen/passes/DotLayouts.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tiletwin::codegen {
namespace {

bool staysInThreads(const LinearLayout& from, const LinearLayout& to) {
  return from.bases(Part::Lane) == to.bases(Part::Lane) && from.bases(Part::Warp) == to.bases(Part::Warp);
}

/// The type in shared memory through which a conversion goes; null: not this way.
twg::MemDescType memoryFor(twg::ConvertLayoutOp convert) {
  auto type = cast<RankedTensorType>(convert.getSrc().getType());
  LinearLayout from = twg::layoutOf(type), to = twg::layoutOf(convert.getResult());
  mlir::Type element = type.getElementType();
  if (type.getRank() < 2 || !element.isIntOrFloat() || element.isInteger(1) || staysInThreads(from, to)) return {};
  unsigned bytes = element.getIntOrFloatBitWidth() / 8;
  std::optional<unsigned> contiguous = contiguousDimension(from);
  if (!contiguous || type.getDimSize(*contiguous) * bytes < 16) return {};
  unsigned swizzle = SharedLayout::widestSwizzle(type.getShape(), bytes, *contiguous);
  SharedLayout layout(type.getShape(), bytes, *contiguous, swizzle);
  if (!MatrixLoad::of(layout.inMemory(to), bytes)) return {};
  auto attribute = twg::SharedAttr::get(convert.getContext(), *contiguous, swizzle);
  return twg::MemDescType::get(convert.getContext(), type.getShape(), element, attribute);
}

} // namespace

Value sharedCopy(Value tile, unsigned contiguous) {
  auto type = cast<RankedTensorType>(tile.getType());
  for (Operation* user : tile.getUsers())
    if (auto known = dyn_cast<twg::LocalAllocOp>(user))
      if (known.getResult().getType().getLayout().getContiguous() == contiguous) return known.getResult();
  unsigned bytes = type.getElementTypeBitWidth() / 8;
  auto layout = twg::SharedAttr::get(type.getContext(), contiguous,
                                     SharedLayout::widestSwizzle(type.getShape(), bytes, contiguous));
  OpBuilder builder(type.getContext());
  builder.setInsertionPointAfterValue(tile);
  auto memory = twg::MemDescType::get(type.getContext(), type.getShape(), type.getElementType(), layout);
  return twg::LocalAllocOp::create(builder, tile.getLoc(), memory, tile, IntegerAttr());
}

void shareDotOperands(tt::FuncOp kernel) {
  SmallVector<twg::ConvertLayoutOp> conversions;
  kernel.walk([&](tt::DotOp dot) {
    for (Value operand : {dot.getA(), dot.getB()}) {
      if (auto widened = operand.getDefiningOp<tt::FpToFpOp>()) operand = widened.getSrc();
      if (auto convert = operand.getDefiningOp<twg::ConvertLayoutOp>())
        if (!llvm::is_contained(conversions, convert)) conversions.push_back(convert);
    }
  });
  for (twg::ConvertLayoutOp convert : conversions) {
    twg::MemDescType type = memoryFor(convert);
    if (!type) continue;
    OpBuilder builder(convert);
    Value memory = twg::LocalAllocOp::create(builder, convert.getLoc(), type, convert.getSrc(), IntegerAttr());
    Value loaded = twg::LocalLoadOp::create(builder, convert.getLoc(), convert.getResult().getType(), memory);
    convert.getResult().replaceAllUsesWith(loaded);
    convert.erase();
  }
}

} // namespace tiletwin::codegen
