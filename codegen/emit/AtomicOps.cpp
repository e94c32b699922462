// codegen/emit/AtomicOps.cpp -- atomic accesses to global memory.
// Here:      which instructions; who of several holders acts, and how all get the result; what orders other accesses.
// Not here:  how many elements one instruction may take (passes leave it in twg.vector), waiting (AtomicPoll.cpp).
// Idea:      the program, not the thread, is what other programs see. So a release waits for the whole CTA before the
//            access, and an acquire holds the whole CTA back after it. Where a thread makes several accesses, fences
//            around all of them order, and the accesses themselves are relaxed.
// Invariant: every element is accessed once, by the owner, and not at all where its mask is 0.
#include "codegen/emit/Atomics.h"
#include "codegen/emit/Memory.h"
#include "codegen/emit/Owners.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace tiletwin::codegen {

using llvm::Type;
using llvm::Value;

Values AtomicInstruction::emit(Emitter& e) const {
  Type* type = e.ir().getIntNTy(bits);
  const char* constraint = bits == 16 ? "h" : bits == 64 ? "l" : "r";
  const unsigned outputs = returns ? count : 0;
  SmallVector<Value*> inputs{address};
  std::string constraints, text;
  for (unsigned i = 0; i < outputs; ++i) constraints += std::string("=") + constraint + ",";
  constraints += "l";
  auto list = [&](unsigned first) {
    std::string all;
    for (unsigned i = 0; i < count; ++i) all += (i ? ", $" : "$") + std::to_string(first + i);
    return count > 1 ? "{" + all + "}" : all;
  };
  std::string arguments = "[$" + std::to_string(outputs) + "]";
  for (size_t i = 0; i < operands.size(); i += count) {
    arguments += ", " + list(outputs + inputs.size());
    for (Value* operand : ArrayRef<Value*>(operands).slice(i, count)) {
      constraints += std::string(",") + constraint;
      inputs.push_back(operand);
    }
  }
  if (predicate) {
    text = "@$" + std::to_string(outputs + inputs.size()) + " ";
    constraints += ",b";
    inputs.push_back(predicate);
    for (unsigned i = 0; i < outputs; ++i) { // 0 where it is not made
      constraints += "," + std::to_string(i);
      inputs.push_back(llvm::Constant::getNullValue(type));
    }
  }
  text += opcode + " " + (outputs ? list(0) + ", " : "") + arguments + ";";
  return e.inlinePtx(text, constraints + ",~{memory}", SmallVector<Type*>(outputs, type), inputs, true);
}

Value* asBits(Emitter& e, Value* value) {
  if (value->getType()->isPointerTy()) return e.ir().CreatePtrToInt(value, e.ir().getInt64Ty());
  return e.ir().CreateBitCast(value, e.ir().getIntNTy(value->getType()->getPrimitiveSizeInBits()));
}
Value* fromBits(Emitter& e, Value* bits, Type* type) {
  if (type->isPointerTy()) return e.ir().CreateIntToPtr(bits, type);
  return e.ir().CreateBitCast(e.ir().CreateTrunc(bits, e.ir().getIntNTy(type->getPrimitiveSizeInBits())), type);
}

namespace {

/// Everything about an atomic operation on a scalar or tile but what one access does.
class AtomicAccess {
public:
  /// perAccess: elements that one instruction takes.
  AtomicAccess(Emitter& e, Operation* op, mlir::Value pointers, mlir::Value mask, tt::MemSemantic semantic,
               tt::MemScope scope, unsigned perAccess)
      : e_(e), op_(op), pointers_(pointers), mask_(mask), semantic_(semantic), scope_(scope), perAccess_(perAccess) {
    repeated_ = repeatedRegisters(pointers);
    for (uint32_t r = 0; r < e.values(pointers).size(); r += perAccess) accesses_ += !(r & repeated_);
  }
  /// What stands behind ld and st: ".acq_rel.gpu.global".
  std::string words() const { return semanticWord(onInstruction()) + scopeWord(scope_) + ".global"; }
  /// What stands behind atom and red. These words may come in any order; tools look for them in the order of Triton's code,
  /// which is not the same for both.
  std::string rmwWords() const { return ".global" + scopeWord(scope_) + semanticWord(onInstruction()); }
  std::string casWords() const { return ".global" + semanticWord(onInstruction()) + scopeWord(scope_); }
  /// True if the result of the operation is read.
  bool isUsed() const { return op_->getNumResults() && !op_->getResult(0).use_empty(); }
  /// True if no result comes back: nobody reads it, and nothing that it would tell is acquired.
  bool isReduction() const {
    return !isUsed() && (onInstruction() == tt::MemSemantic::Relaxed || onInstruction() == tt::MemSemantic::Release);
  }
  /// Emits access(register, predicate) for each group of registers and defines the operation's result from what these
  /// give: one value for each register (none, if the result is not used).
  template <class Access> LogicalResult run(Access access);

private:
  tt::MemSemantic onInstruction() const { return accesses_ > 1 ? tt::MemSemantic::Relaxed : semantic_; }
  bool releases() const { return semantic_ == tt::MemSemantic::Release || semantic_ == tt::MemSemantic::AcqRel; }
  bool acquires() const { return semantic_ == tt::MemSemantic::Acquire || semantic_ == tt::MemSemantic::AcqRel; }
  void fence() {
    if (accesses_ > 1) e_.inlinePtx("fence.acq_rel" + scopeWord(scope_) + ";", "~{memory}", {}, {}, true);
  }

  Emitter& e_;
  Operation* op_;
  mlir::Value pointers_, mask_;
  tt::MemSemantic semantic_;
  tt::MemScope scope_;
  unsigned perAccess_, accesses_ = 0;
  uint32_t repeated_;
};

template <class Access> LogicalResult AtomicAccess::run(Access access) {
  if (op_->getParentOfType<tt::MapElementwiseOp>() || op_->getParentOfType<tt::ReduceOp>() ||
      op_->getParentOfType<tt::ScanOp>())
    return notCompiled(op_, e_, "inside an operation on elements");
  Value* owner = ownerOf(e_, pointers_);
  const unsigned count = e_.values(pointers_).size();
  if (releases()) fence();
  Values results(isUsed() ? count : 0);
  for (uint32_t r = 0; r < count; r += perAccess_) {
    if (r & repeated_) continue;
    Value* predicate = e_.both(mask_ ? e_.values(mask_)[r] : nullptr, owner);
    Values got = access(r, predicate);
    if (isUsed()) std::copy(got.begin(), got.end(), results.begin() + r);
  }
  if (acquires()) fence();
  if (isUsed()) {
    for (uint32_t r = 0; r < count; ++r)
      if (!results[r]) results[r] = results[r & ~repeated_];
    if (owner) results = shareOwned(e_, pointers_, std::move(results));
    e_.define(op_->getResult(0), std::move(results));
  } else if (op_->getNumResults()) { // nobody reads it
    Type* type = e_.typeOf(tt::elementTypeOf(op_->getResult(0).getType()));
    e_.define(op_->getResult(0), Values(count, llvm::Constant::getNullValue(type)));
  }
  return success();
}

/// "add.f32", "add.noftz.f16x2", "exch.b32", "max.s32".
std::string operationWord(tt::RmwKind kind, mlir::Type element, unsigned perAccess) {
  const unsigned bits = element.getIntOrFloatBitWidth();
  using Kind = tt::RmwKind;
  if (kind != Kind::FAdd) {
    StringRef name = stringifyRmwKind(kind);
    name.consume_front("u"); // umax, umin
    char letter = 'b';
    if (kind == Kind::Add || kind == Kind::UMax || kind == Kind::UMin) letter = 'u';
    if (kind == Kind::Max || kind == Kind::Min) letter = 's';
    return (name + "." + llvm::Twine(letter) + llvm::Twine(bits)).str();
  }
  const unsigned words = std::max(perAccess * bits / 32, 1u);
  const std::string vector = bits < 64 && words > 1 ? ".v" + std::to_string(words) : "";
  const std::string type = element.isBF16() ? "bf16" : "f" + std::to_string(bits);
  return "add" + std::string(bits == 16 ? ".noftz" : "") + vector + "." + type +
         (bits * perAccess >= 32 && bits == 16 ? "x2" : "");
}

/// Sums of f32, or of f16 and bf16 in pairs, by one instruction; single ones too.
Values addWords(Emitter& e, const AtomicInstruction& plan, ArrayRef<Value*> numbers) {
  Type* element = numbers.front()->getType();
  AtomicInstruction instruction = plan;
  if (numbers.size() == 1) {
    instruction.bits = element->getPrimitiveSizeInBits();
    instruction.operands = {asBits(e, numbers.front())};
  } else {
    instruction.operands = packWords(e, numbers);
    instruction.count = instruction.operands.size();
  }
  Values old = instruction.emit(e);
  if (old.empty()) return old;
  return numbers.size() == 1 ? Values{fromBits(e, old.front(), element)} : unpackWords(e, old, element, numbers.size());
}

/// 16 bits that no instruction combines: tried again until nobody has come between. `next` makes the new value.
template <class Next>
Value* exchangeUntilSame(Emitter& e, const std::string& words, Value* address, Value* predicate, Type* type,
                         Next next) {
  llvm::IRBuilder<>& b = e.ir();
  llvm::BasicBlock *before = b.GetInsertBlock(), *begin = e.newBlock("atomic"), *loop = e.newBlock("atomic.try"),
                   *after = e.newBlock("atomic.end");
  if (predicate)
    b.CreateCondBr(predicate, begin, after);
  else
    b.CreateBr(begin);
  b.SetInsertPoint(begin);
  std::string scope = words.substr(words.find('.', 1)); // of the access, without its semantic
  Value* first =
      e.inlinePtx("ld.relaxed" + scope + ".b16 $0, [$1];", "=h,l,~{memory}", {b.getInt16Ty()}, {address}, true).front();
  b.CreateBr(loop);
  b.SetInsertPoint(loop);
  llvm::PHINode* old = b.CreatePHI(b.getInt16Ty(), 2);
  old->addIncoming(first, begin);
  AtomicInstruction swap{"atom" + words + ".cas.b16", address, nullptr, {old, asBits(e, next(fromBits(e, old, type)))}};
  swap.bits = 16;
  Value* seen = swap.emit(e).front();
  old->addIncoming(seen, loop);
  b.CreateCondBr(b.CreateICmpEQ(seen, old), after, loop);
  b.SetInsertPoint(after);
  if (!predicate) return fromBits(e, old, type);
  llvm::PHINode* result = b.CreatePHI(b.getInt16Ty(), 2);
  result->addIncoming(old, loop);
  result->addIncoming(b.getInt16(0), before);
  return fromBits(e, result, type);
}

/// Of 16 bits, by comparing and swapping: what has no instruction of its own.
bool needsLoop(const Emitter& e, tt::RmwKind kind, mlir::Type element) {
  if (element.getIntOrFloatBitWidth() != 16) return false;
  return kind == tt::RmwKind::Exch || (element.isBF16() && !e.features().bf16Atomics);
}

} // namespace

bool hasAtomicSum(const Emitter& e, mlir::Type element) { return !needsLoop(e, tt::RmwKind::FAdd, element); }

Value* addUntilSame(Emitter& e, const std::string& words, Value* address, Value* predicate, Value* number) {
  return exchangeUntilSame(e, words, address, predicate, number->getType(), [&](Value* old) {
    Type* f32 = e.ir().getFloatTy();
    Value* sum = e.ir().CreateFAdd(e.ir().CreateFPExt(old, f32), e.ir().CreateFPExt(number, f32));
    return e.ir().CreateFPTrunc(sum, old->getType());
  });
}

template <> LogicalResult emit(Emitter& e, tt::AtomicRMWOp rmw) {
  const tt::RmwKind kind = rmw.getAtomicRmwOp();
  mlir::Type element = tt::elementTypeOf(rmw.getVal().getType());
  const unsigned perAccess = vectorOf(rmw);
  AtomicAccess access(e, rmw, rmw.getPtr(), rmw.getMask(), rmw.getSem(), rmw.getScope(), perAccess);
  const bool isReduction = access.isReduction();
  return access.run([&](uint32_t r, Value* predicate) -> Values {
    ArrayRef<Value*> numbers = e.values(rmw.getVal()).slice(r, perAccess);
    Value* address = e.values(rmw.getPtr())[r];
    if (needsLoop(e, kind, element)) {
      if (kind == tt::RmwKind::FAdd) return {addUntilSame(e, access.words(), address, predicate, numbers[0])};
      return {exchangeUntilSame(e, access.words(), address, predicate, numbers[0]->getType(),
                                [&](Value*) { return numbers[0]; })};
    }
    // ptxas makes a reduction of an atom whose result nobody reads; a vector would cost registers all the same.
    const bool isVector = perAccess > 1 && perAccess * element.getIntOrFloatBitWidth() > 32;
    const bool isReduced = isReduction && isVector;
    AtomicInstruction plan{(isReduced ? "red" : "atom") + access.rmwWords() + "." +
                               operationWord(kind, element, perAccess),
                           address,
                           predicate,
                           {}};
    plan.returns = !isReduced;
    return addWords(e, plan, numbers);
  });
}

template <> LogicalResult emit(Emitter& e, tt::AtomicCASOp cas) {
  AtomicAccess access(e, cas, cas.getPtr(), {}, cas.getSem(), cas.getScope(), 1);
  return access.run([&](uint32_t r, Value* predicate) -> Values {
    Value *compare = e.values(cas.getCmp())[r], *value = e.values(cas.getVal())[r];
    AtomicInstruction swap{"", e.values(cas.getPtr()) [r], predicate, { asBits(e, compare), asBits(e, value) }};
    swap.bits = swap.operands[0]->getType()->getIntegerBitWidth();
    swap.opcode = "atom" + access.casWords() + ".cas.b" + std::to_string(swap.bits);
    return {fromBits(e, swap.emit(e).front(), value->getType())};
  });
}

template <> LogicalResult emit(Emitter& e, tt::AtomicLoadOp load) {
  mlir::Type element = tt::elementTypeOf(load.getResult().getType());
  const unsigned bits = 8 * Emitter::memoryBytesOf(element);
  AtomicAccess access(e, load, load.getPtr(), load.getMask(), load.getSem(), load.getScope(), 1);
  return access.run([&](uint32_t r, Value* predicate) -> Values {
    AtomicInstruction read{
        "ld" + access.words() + ".b" + std::to_string(bits), e.values(load.getPtr()) [r], predicate, {}};
    read.bits = std::max(bits, 16u);
    return {fromBits(e, read.emit(e).front(), e.typeOf(element))};
  });
}

template <> LogicalResult emit(Emitter& e, tt::AtomicStoreOp store) {
  const unsigned bits = 8 * Emitter::memoryBytesOf(tt::elementTypeOf(store.getValue().getType()));
  AtomicAccess access(e, store, store.getPtr(), store.getMask(), store.getSem(), store.getScope(), 1);
  return access.run([&](uint32_t r, Value* predicate) -> Values {
    AtomicInstruction write{
        "st" + access.words() + ".b" + std::to_string(bits), e.values(store.getPtr()) [r], predicate, {}};
    write.bits = std::max(bits, 16u);
    write.operands = {e.ir().CreateZExt(asBits(e, e.values(store.getValue())[r]), e.ir().getIntNTy(write.bits))};
    write.returns = false;
    write.emit(e);
    return {};
  });
}

} // namespace tiletwin::codegen
