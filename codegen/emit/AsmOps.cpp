// codegen/emit/AsmOps.cpp -- tt.elementwise_inline_asm: a user's PTX, once for each group of neighbouring elements.
// Here:      elements packed into the registers that the constraints name, and back.
// Not here:  the layout, in which a group's elements follow each other in a thread's registers (passes/LayoutChoice.cpp).
// Idea:      registers are bits. Elements narrower than 32 bits share registers, the first in the low bits; what the register
//            has beyond them is 0, and is not looked at in results.
// Invariant: a text with effects runs in every thread, as it stands; its results are then those of one thread for all that
//            hold the element.
#include "codegen/emit/Owners.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tiletwin::codegen {

using llvm::Type;
using llvm::Value;

namespace {

/// Registers that hold the elements of one operand or result of a group.
struct Port {
  Type* element = nullptr;
  unsigned elementBits = 0, perRegister = 1, registers = 1;
};

/// A register's type by the letter of its constraint; null for letters that PTX does not have.
Type* typeOfLetter(llvm::IRBuilder<>& b, StringRef letter, unsigned neededBits) {
  if (letter == "r") return b.getInt32Ty();
  if (letter == "h" || letter == "c") return b.getInt16Ty();
  if (letter == "l") return b.getInt64Ty();
  if (letter == "f") return b.getFloatTy();
  if (letter == "d") return b.getDoubleTy();
  if (letter == "b") return b.getInt1Ty();
  if (letter == "n" || letter == "i") return b.getIntNTy(std::max(neededBits, 16u));
  return nullptr;
}

class InlineAsm {
public:
  InlineAsm(Emitter& e, tt::ElementwiseInlineAsmOp op) : e_(e), op_(op), pack_(op.getPackedElement()) {}
  LogicalResult run();

private:
  Port portOf(mlir::Value value) const;
  LogicalResult readConstraints();
  LogicalResult readPort(mlir::Value value, bool isResult, size_t& next);
  LogicalResult checkPlaceholders();
  Value* registerOf(const Port& port, ArrayRef<Value*> elements, Type* type);
  void elementsOf(const Port& port, Value* bits, Values& elements);
  LogicalResult runGroup(unsigned first, MutableArrayRef<Values> results);

  Emitter& e_;
  tt::ElementwiseInlineAsmOp op_;
  unsigned pack_;
  SmallVector<std::string> letters_; ///< constraints, without clobbers
  SmallVector<Port> inputs_, outputs_;
  SmallVector<Type*> inputTypes_, outputTypes_;
};

Port InlineAsm::portOf(mlir::Value value) const {
  mlir::Type element = tt::elementTypeOf(value.getType());
  Port port;
  port.element = e_.typeOf(element);
  port.elementBits = port.element->isPointerTy() ? 64 : std::max<unsigned>(port.element->getPrimitiveSizeInBits(), 1);
  const unsigned bits = std::max(port.elementBits, 8u);
  port.perRegister = bits < 32 ? std::min(32 / bits, pack_) : 1;
  port.registers = pack_ / port.perRegister;
  return port;
}

LogicalResult InlineAsm::readPort(mlir::Value value, bool isResult, size_t& next) {
  const Port port = portOf(value);
  const char* what = isResult ? "result" : "operand";
  if (port.elementBits == 1 && pack_ > 1) return op_.emitOpError() << "cannot pack elements of type i1";
  const unsigned needed = port.elementBits == 1 ? 1 : port.elementBits * port.perRegister;
  for (unsigned r = 0; r < port.registers; ++r, ++next) {
    if (next >= letters_.size())
      return op_.emitOpError() << "has constraints for " << letters_.size() << " registers, but the " << what
                               << " of type " << value.getType() << " with a pack of " << pack_ << " needs more";
    StringRef letter = letters_[next];
    if (letter.starts_with("=") != isResult)
      return op_.emitOpError() << "has constraint \"" << letter << "\" where that of "
                               << (isResult ? "a result (\"=r\")" : "an operand (\"r\")") << " is due";
    letter = letter.ltrim("=&");
    unsigned tied = 0;
    Type* type = nullptr;
    if (!isResult && !letter.getAsInteger(10, tied)) {
      if (tied < outputTypes_.size()) type = outputTypes_[tied];
    } else {
      type = typeOfLetter(e_.ir(), letter, needed);
    }
    if (!type)
      return op_.emitOpError() << "has constraint \"" << letters_[next]
                               << "\", which is not one of r, h, l, f, d, b, n";
    if (type->getPrimitiveSizeInBits() < needed)
      return op_.emitOpError() << "has constraint \"" << letters_[next] << "\", which holds "
                               << unsigned(type->getPrimitiveSizeInBits()) << " bits; the " << what << " needs "
                               << needed;
    (isResult ? outputTypes_ : inputTypes_).push_back(type);
  }
  (isResult ? outputs_ : inputs_).push_back(port);
  return success();
}

LogicalResult InlineAsm::readConstraints() {
  SmallVector<StringRef> parts;
  op_.getConstraints().split(parts, ',', -1, false);
  for (StringRef part : parts)
    if (part = part.trim(); !part.starts_with("~")) letters_.push_back(part.str());
  size_t next = 0;
  for (mlir::Value result : op_.getResults())
    if (failed(readPort(result, true, next))) return failure();
  for (mlir::Value operand : op_.getArgs())
    if (failed(readPort(operand, false, next))) return failure();
  if (next != letters_.size())
    return op_.emitOpError() << "has constraints for " << letters_.size() << " registers, but needs " << next;
  return success();
}

/// LLVM ends the process at a $N that stands for nothing.
LogicalResult InlineAsm::checkPlaceholders() {
  StringRef text = op_.getAsmString();
  for (size_t at = text.find('$'); at != StringRef::npos; at = text.find('$', at)) {
    StringRef rest = text.drop_front(++at);
    if (rest.consume_front("$")) {
      ++at;
      continue;
    }
    rest.consume_front("{");
    unsigned number = 0;
    if (rest.consumeInteger(10, number) || number >= letters_.size())
      return op_.emitOpError() << "names an operand `$" << rest.take_while(llvm::isAlnum) << "` (" << number
                               << ") in its text; there are " << letters_.size() << ", from $0";
  }
  return success();
}

Value* InlineAsm::registerOf(const Port& port, ArrayRef<Value*> elements, Type* type) {
  llvm::IRBuilder<>& b = e_.ir();
  if (type->isIntegerTy(1)) return elements.front();
  Type* whole = b.getIntNTy(type->getPrimitiveSizeInBits());
  Value* bits = llvm::ConstantInt::get(whole, 0);
  for (auto [i, element] : llvm::enumerate(elements)) {
    Value* one = port.element->isPointerTy() ? b.CreatePtrToInt(element, b.getInt64Ty())
                                             : b.CreateBitCast(element, b.getIntNTy(port.elementBits));
    bits = b.CreateOr(bits, b.CreateShl(b.CreateZExt(one, whole), i * port.elementBits));
  }
  return b.CreateBitCast(bits, type);
}

void InlineAsm::elementsOf(const Port& port, Value* bits, Values& elements) {
  llvm::IRBuilder<>& b = e_.ir();
  bits = b.CreateBitCast(bits, b.getIntNTy(bits->getType()->getPrimitiveSizeInBits()));
  for (unsigned i = 0; i < port.perRegister; ++i) {
    Value* one = b.CreateTrunc(b.CreateLShr(bits, i * port.elementBits), b.getIntNTy(port.elementBits));
    elements.push_back(port.element->isPointerTy() ? b.CreateIntToPtr(one, port.element)
                                                   : b.CreateBitCast(one, port.element));
  }
}

LogicalResult InlineAsm::runGroup(unsigned first, MutableArrayRef<Values> results) {
  SmallVector<Value*> inputs;
  for (auto [operand, port] : llvm::zip_equal(op_.getArgs(), inputs_)) {
    // A tile of fewer elements than a group has is filled up with zeros.
    Values group;
    for (unsigned i = 0; i < pack_; ++i) {
      ArrayRef<Value*> all = e_.values(operand);
      group.push_back(first + i < all.size() ? all[first + i] : llvm::Constant::getNullValue(port.element));
    }
    for (unsigned r = 0; r < port.registers; ++r)
      inputs.push_back(registerOf(port, ArrayRef<Value*>(group).slice(r * port.perRegister, port.perRegister),
                                  inputTypes_[inputs.size()]));
  }
  std::string constraints = llvm::join(letters_, ",");
  for (auto [input, letter] : llvm::zip_equal(inputs, ArrayRef<std::string>(letters_).drop_front(outputTypes_.size())))
    if ((letter == "n" || letter == "i") && !isa<llvm::ConstantInt>(input))
      return op_.emitOpError() << "has constraint \"" << letter << "\" for an operand that is not a constant";
  if (!op_.getPure()) constraints += ",~{memory}";
  Values words = e_.inlinePtx(op_.getAsmString(), constraints, outputTypes_, inputs, !op_.getPure());
  size_t next = 0;
  for (auto [port, result] : llvm::zip_equal(outputs_, results)) {
    Values group;
    for (unsigned r = 0; r < port.registers; ++r) elementsOf(port, words[next++], group);
    result.append(group.begin(), group.end());
  }
  return success();
}

LogicalResult InlineAsm::run() {
  if (!llvm::isPowerOf2_32(pack_)) return op_.emitOpError() << "has a pack of " << pack_ << ", not a power of two";
  if (failed(readConstraints()) || failed(checkPlaceholders())) return failure();
  SmallVector<Values> results(op_->getNumResults());
  const unsigned count = Emitter::registersOf(op_->getResult(0).getType());
  for (unsigned first = 0; first < count; first += pack_)
    if (failed(runGroup(first, results))) return failure();
  for (auto [value, elements] : llvm::zip_equal(op_.getResults(), results)) {
    elements.truncate(count);
    if (!op_.getPure() && !value.use_empty() && !op_->getParentOfType<tt::MapElementwiseOp>())
      elements = shareOwned(e_, value, std::move(elements));
    e_.define(value, std::move(elements));
  }
  return success();
}

} // namespace

template <> LogicalResult emit(Emitter& e, tt::ElementwiseInlineAsmOp op) { return InlineAsm(e, op).run(); }

} // namespace tiletwin::codegen
