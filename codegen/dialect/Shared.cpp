// codegen/dialect/Shared.cpp -- the text of tiles in shared memory, and how their layout follows from their type.
#include "codegen/dialect/TWG.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#define GET_TYPEDEF_CLASSES
#include "codegen/dialect/TWGTypes.cpp.inc"

namespace tiletwin::twg {

void TWGDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "codegen/dialect/TWGTypes.cpp.inc"
      >();
}

Type MemDescType::parse(AsmParser& parser) {
  SmallVector<int64_t> shape;
  Type element;
  SharedAttr layout;
  SMLoc where = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/false) || parser.parseType(element) ||
      parser.parseComma() || parser.parseAttribute(layout) || parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(where); }, parser.getContext(), shape, element, layout);
}

void MemDescType::print(AsmPrinter& printer) const {
  printer << '<';
  for (int64_t extent : getShape()) printer << extent << 'x';
  printer << getElementType() << ", " << getLayout() << '>';
}

codegen::SharedLayout sharedLayoutOf(MemDescType type) {
  unsigned bytes = (type.getElementType().getIntOrFloatBitWidth() + 7) / 8;
  return {type.getShape(), bytes, type.getLayout().getContiguous(), type.getLayout().getSwizzle()};
}

LocalAllocOp allocationOf(Value memory) {
  while (auto index = memory.getDefiningOp<MemDescIndexOp>()) memory = index.getSrc();
  return memory.getDefiningOp<LocalAllocOp>();
}

} // namespace tiletwin::twg
