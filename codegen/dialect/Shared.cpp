// codegen/dialect/Shared.cpp -- the text of tiles in shared and in tensor memory, how a layout in shared memory follows from its type.
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

Type TmemType::parse(AsmParser& parser) {
  SmallVector<int64_t> shape;
  Type element;
  SMLoc where = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/false) || parser.parseType(element) ||
      parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(where); }, parser.getContext(), shape, element);
}

void TmemType::print(AsmPrinter& printer) const {
  printer << '<';
  for (int64_t extent : getShape()) printer << extent << 'x';
  printer << getElementType() << '>';
}

codegen::SharedLayout sharedLayoutOf(MemDescType type) {
  unsigned bytes = (type.getElementType().getIntOrFloatBitWidth() + 7) / 8;
  return {type.getShape(), bytes, type.getLayout().getContiguous(), type.getLayout().getSwizzle(),
          type.getLayout().getPiece()};
}

LocalAllocOp allocationOf(Value memory) {
  while (Operation* op = memory.getDefiningOp()) {
    if (!isa<MemDescIndexOp, MemDescViewOp>(op)) break;
    memory = op->getOperand(0);
  }
  return memory.getDefiningOp<LocalAllocOp>();
}

SmallVector<Operation*> usersOf(Value memory) {
  SmallVector<Operation*> users;
  for (Operation* user : memory.getUsers())
    if (isa<MemDescIndexOp, MemDescViewOp>(user))
      llvm::append_range(users, usersOf(user->getResult(0)));
    else
      users.push_back(user);
  return users;
}

bool isCopiedByTensorUnit(Value memory) {
  return llvm::any_of(memory.getUsers(), [&](Operation* user) {
    if (isa<MemDescIndexOp, MemDescViewOp>(user)) return isCopiedByTensorUnit(user->getResult(0));
    auto load = dyn_cast<TensorLoadOp>(user);
    return load ? load.getDst() == memory : isa<TensorStoreOp>(user);
  });
}

bool isBarrier(LocalAllocOp memory) {
  return llvm::any_of(memory->getUsers(), [](Operation* user) { return isa<BarrierInitOp>(user); });
}

LogicalResult MemDescViewOp::verify() {
  auto bytes = [](MemDescType type) { return sharedLayoutOf(type).bytes(); };
  MemDescType from = getSrc().getType(), to = getResult().getType();
  if (from.getElementType() == to.getElementType() && bytes(from) == bytes(to)) return success();
  return emitOpError() << "needs as many elements of the same type, got " << from << " and " << to; // C1
}

} // namespace tiletwin::twg
