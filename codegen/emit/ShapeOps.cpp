// codegen/emit/ShapeOps.cpp -- constants, ranges, and operations that only rename elements: no instruction is emitted
// for most of them, because layouts follow what they do (layout/LinearLayout.h).
#include "codegen/emit/Emitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tiletwin::codegen {

using llvm::Value;

namespace {

Value* constantOf(Emitter& e, Attribute number) {
  if (auto integer = dyn_cast<IntegerAttr>(number))
    return llvm::ConstantInt::get(e.typeOf(integer.getType()), integer.getValue());
  APFloat value = cast<FloatAttr>(number).getValue();
  llvm::Type* type = e.typeOf(cast<FloatAttr>(number).getType());
  if (type->isIntegerTy()) return llvm::ConstantInt::get(type, value.bitcastToAPInt());
  return llvm::ConstantFP::get(type, value);
}

/// Coordinate (of the only dimension) or flat index of the element in each register.
Values elementsOf(Emitter& e, const LinearLayout& layout) {
  Value* own = e.elementOfThread(layout);
  Values elements;
  for (uint32_t r = 0; r < layout.registers(); ++r) {
    uint32_t part = layout.elementOf(Part::Register, r);
    elements.push_back(part ? e.ir().CreateXor(own, e.int32(part)) : own);
  }
  return elements;
}

/// Different elements: a table in global memory. Each thread reads its own elements there.
Values constantTable(Emitter& e, mlir::Value result, DenseElementsAttr elements) {
  constexpr unsigned kGlobal = 1;
  llvm::IRBuilder<>& b = e.ir();
  mlir::Type element = elements.getElementType();
  llvm::Type* type = e.memoryTypeOf(element);
  SmallVector<llvm::Constant*> numbers;
  for (Attribute number : elements.getValues<Attribute>()) {
    auto* value = cast<llvm::Constant>(constantOf(e, number));
    numbers.push_back(element.isInteger(1) ? llvm::ConstantInt::get(type, !value->isNullValue()) : value);
  }
  auto* table = llvm::ConstantArray::get(llvm::ArrayType::get(type, numbers.size()), numbers);
  auto* memory = new llvm::GlobalVariable(e.module(), table->getType(), true, llvm::GlobalValue::InternalLinkage, table,
                                          "constant_tile", nullptr, llvm::GlobalValue::NotThreadLocal, kGlobal);
  Values values;
  for (Value* index : elementsOf(e, twg::layoutOf(result))) {
    Value* number = b.CreateLoad(type, b.CreateGEP(type, memory, index));
    values.push_back(element.isInteger(1) ? b.CreateICmpNE(number, llvm::ConstantInt::get(type, 0)) : number);
  }
  return values;
}

LogicalResult emitSameRegisters(Emitter& e, Operation* op, const LinearLayout& layout) {
  if (!(layout == twg::layoutOf(op->getResult(0))))
    return op->emitOpError("has a result layout that is not its operand's");
  e.define(op->getResult(0), Values(e.values(op->getOperand(0))));
  return success();
}
LogicalResult emitReshape(Emitter& e, Operation* op) {
  return emitSameRegisters(e, op, twg::layoutOf(op->getOperand(0)).reshaped(tt::shapeOf(op->getResult(0).getType())));
}

} // namespace

template <> LogicalResult emit(Emitter& e, arith::ConstantOp constant) {
  auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
  if (!dense) return e.define(constant.getResult(), constantOf(e, constant.getValue())), success();
  unsigned count = Emitter::registersOf(constant.getType());
  if (!dense.isSplat()) return e.define(constant.getResult(), constantTable(e, constant.getResult(), dense)), success();
  e.define(constant.getResult(), Values(count, constantOf(e, dense.getSplatValue<Attribute>())));
  return success();
}

template <> LogicalResult emit(Emitter& e, ub::PoisonOp op) {
  mlir::Type type = op->getResult(0).getType();
  // Some number, and the same wherever it is read: LLVM's poison would spread.
  Value* zero = llvm::Constant::getNullValue(e.typeOf(tt::elementTypeOf(type)));
  e.define(op->getResult(0), Values(Emitter::registersOf(type), zero));
  return success();
}

template <> LogicalResult emit(Emitter& e, tt::MakeRangeOp range) {
  Values elements = elementsOf(e, twg::layoutOf(range.getResult()));
  for (Value*& element : elements)
    if (range.getStart()) element = e.ir().CreateAdd(element, e.int32(int32_t(range.getStart())));
  e.define(range.getResult(), std::move(elements));
  return success();
}

template <> LogicalResult emit(Emitter& e, tt::SplatOp op) {
  e.define(op->getResult(0), Values(Emitter::registersOf(op->getResult(0).getType()), e.scalar(op->getOperand(0))));
  return success();
}

template <> LogicalResult emit(Emitter& e, tt::UnsplatOp op) {
  e.define(op->getResult(0), e.values(op->getOperand(0)).front());
  return success();
}

template <> LogicalResult emit(Emitter& e, tt::ExpandDimsOp op) { return emitReshape(e, op); }
template <> LogicalResult emit(Emitter& e, tt::ReshapeOp op) { return emitReshape(e, op); }
template <> LogicalResult emit(Emitter& e, tt::TransOp op) {
  return emitSameRegisters(e, op, twg::layoutOf(op.getSrc()).transposed(op.getOrder()));
}

template <> LogicalResult emit(Emitter& e, tt::BroadcastOp op) {
  LinearLayout from = twg::layoutOf(op->getOperand(0)), to = twg::layoutOf(op->getResult(0));
  LinearLayout wanted = to.beforeBroadcast(from.shape());
  if (!(wanted.withoutRepeatedRegisters() == from))
    return op->emitOpError("has a result layout that is not its operand's");
  ArrayRef<Value*> source = e.values(op->getOperand(0));
  // Registers that differ in broadcast dimensions only share a value.
  Values results;
  for (uint32_t r = 0; r < to.registers(); ++r) results.push_back(source[wanted.distinctRegister(r)]);
  e.define(op->getResult(0), std::move(results));
  return success();
}

template <> LogicalResult emit(Emitter& e, tt::JoinOp op) {
  ArrayRef<Value*> left = e.values(op->getOperand(0)), right = e.values(op->getOperand(1));
  Values results;
  for (auto [a, b] : llvm::zip_equal(left, right)) results.push_back(a), results.push_back(b);
  e.define(op->getResult(0), std::move(results));
  return success();
}

template <> LogicalResult emit(Emitter& e, tt::SplitOp op) {
  LinearLayout from = twg::layoutOf(op->getOperand(0));
  ArrayRef<Value*> source = e.values(op->getOperand(0));
  const LinearLayout::Bases& registers = from.bases(Part::Register);
  auto found = llvm::find(registers, 1u);
  if (found == registers.end()) return op->emitOpError("needs its last dimension in registers");
  uint32_t bit = uint32_t(1) << (found - registers.begin());
  Values halves[2];
  for (uint32_t r = 0; r < from.registers(); ++r) halves[r & bit ? 1 : 0].push_back(source[r]);
  for (unsigned i = 0; i < 2; ++i) e.define(op->getResult(i), std::move(halves[i]));
  return success();
}

template <> LogicalResult emit(Emitter& e, tt::CatOp op) {
  // The new half of dimension 0 is the highest register bit.
  Values results(e.values(op->getOperand(0)));
  llvm::append_range(results, e.values(op->getOperand(1)));
  e.define(op->getResult(0), std::move(results));
  return success();
}

} // namespace tiletwin::codegen
