// codegen/emit/DebugOps.cpp -- tt.print by the driver's vprintf, tt.assert by its __assertfail, hints about the launch.
// Here:      the texts that a GPU prints; which threads call.
// Idea:      each element is printed by one call of its owner, as one line, because the driver keeps calls whole and orders
//            them as it likes. A thread looks at all its conditions before it calls __assertfail once.
#include "codegen/emit/Narrow.h"
#include "codegen/emit/Owners.h"
#include "codegen/emit/TargetCode.h"
#include "ir/SourcePosition.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace mlir;

namespace tiletwin::codegen {

using llvm::Type;
using llvm::Value;

namespace {

/// A text in global memory, ended by a zero, as a generic pointer.
Value* textPointer(Emitter& e, StringRef text, const char* name) {
  constexpr unsigned kGlobal = 1;
  llvm::IRBuilder<>& b = e.ir();
  auto* bytes = llvm::ConstantDataArray::getString(e.module().getContext(), text.split('\0').first);
  auto* global = new llvm::GlobalVariable(e.module(), bytes->getType(), true, llvm::GlobalValue::InternalLinkage, bytes,
                                          name, nullptr, llvm::GlobalValue::NotThreadLocal, kGlobal);
  return b.CreateAddrSpaceCast(global, b.getPtrTy());
}

/// Runs `act` in the threads for which `condition` holds (null: all).
template <class Act> void where(Emitter& e, Value* condition, Act act) {
  if (!condition) return act();
  llvm::BasicBlock *then = e.newBlock("where"), *after = e.newBlock("where.end");
  e.ir().CreateCondBr(condition, then, after);
  e.ir().SetInsertPoint(then);
  act();
  e.ir().CreateBr(after);
  e.ir().SetInsertPoint(after);
}

/// printf(format, arguments): these lie in the thread's own memory, each at a multiple of its size.
void callPrintf(Emitter& e, StringRef format, ArrayRef<Value*> arguments) {
  llvm::IRBuilder<>& b = e.ir();
  SmallVector<Type*> types;
  for (Value* argument : arguments) types.push_back(argument->getType());
  auto* packed = llvm::StructType::get(e.module().getContext(), types);
  llvm::Function* function = b.GetInsertBlock()->getParent();
  llvm::IRBuilder<> entry(&function->getEntryBlock(), function->getEntryBlock().begin());
  Value* buffer = entry.CreateAlloca(packed);
  for (auto [i, argument] : llvm::enumerate(arguments))
    b.CreateStore(argument, b.CreateStructGEP(packed, buffer, unsigned(i)));
  auto* type = llvm::FunctionType::get(b.getInt32Ty(), {b.getPtrTy(), b.getPtrTy()}, false);
  b.CreateCall(e.module().getOrInsertFunction("vprintf", type), {textPointer(e, format, "print_format"), buffer});
}

/// One element as an argument of printf, and how it is written.
struct Printed {
  std::string conversion;
  Value* argument;
};

/// Integers in full, floats with six decimals. Hexadecimal numbers are the element's bits; C extends a signed integer
/// below 32 bits to an int first.
Printed printedOf(Emitter& e, Value* value, mlir::Type type, bool isSigned, bool hex) {
  llvm::IRBuilder<>& b = e.ir();
  if (isa<tt::PointerType>(type)) return {hex ? "0x%016llx" : "0x%llx", b.CreatePtrToInt(value, b.getInt64Ty())};
  const unsigned bits = type.getIntOrFloatBitWidth();
  isSigned &= bits > 1;
  const std::string length = bits > 32 ? "ll" : "";
  Type* passed = bits > 32 ? b.getInt64Ty() : b.getInt32Ty();
  if (isa<FloatType>(type) && !hex) {
    if (isF8(type)) value = widenF8(e, type, value, b.getFloatTy()).front();
    return {"%f", b.CreateFPCast(value, b.getDoubleTy())};
  }
  Value* whole = b.CreateBitCast(value, b.getIntNTy(bits));
  isSigned &= isa<IntegerType>(type);
  whole = isSigned ? b.CreateSExt(whole, passed) : b.CreateZExt(whole, passed);
  if (hex) return {"0x%0" + std::to_string(bits == 1 ? 1 : bits / 4) + length + "x", whole};
  return {"%" + length + (isSigned ? "d" : "u"), whole};
}

/// "(%1u, %2u)" and its arguments: each index as wide as the largest of its dimension.
std::string indexFormat(Emitter& e, const LinearLayout& layout, Value* element, SmallVectorImpl<Value*>& arguments) {
  std::string text = "(";
  for (unsigned d = 0; d < layout.rank(); ++d) {
    const int64_t extent = layout.shape()[d];
    text += (d ? ", %" : "%") + std::to_string(std::to_string(extent - 1).size()) + "u";
    Value* index = e.ir().CreateLShr(element, layout.dimensionShift(d));
    arguments.push_back(e.ir().CreateAnd(index, e.int32(extent - 1)));
  }
  return text + ")";
}

/// Percent signs of a text stand for themselves.
std::string escaped(StringRef text) {
  std::string result;
  for (char c : text.split('\0').first) result += c == '%' ? std::string("%%") : std::string(1, c);
  return result;
}

void printOperand(Emitter& e, tt::PrintOp print, unsigned number, ArrayRef<Value*> program, const std::string& tail) {
  mlir::Value operand = print.getArgs()[number];
  const bool isTile = twg::hasLayout(operand.getType());
  LinearLayout layout = isTile ? twg::layoutOf(operand) : LinearLayout();
  Value* own = isTile ? e.elementOfThread(layout) : nullptr;
  const bool isSigned = number < print.getIsSigned().size() && print.getIsSigned()[number];
  where(e, ownerOf(e, operand), [&] {
    for (auto [r, value] : llvm::enumerate(e.values(operand))) {
      if (r & repeatedRegisters(operand)) continue;
      SmallVector<Value*> arguments(program);
      std::string text = "pid (%u, %u, %u) idx ";
      if (isTile)
        text += indexFormat(e, layout, e.ir().CreateXor(own, e.int32(layout.elementOf(Part::Register, r))), arguments);
      else
        text += "()";
      Printed printed = printedOf(e, value, tt::elementTypeOf(operand.getType()), isSigned, print.getHex());
      arguments.push_back(printed.argument);
      callPrintf(e, text + tail + printed.conversion + "\n", arguments);
    }
  });
}

} // namespace

template <> LogicalResult emit(Emitter& e, tt::PrintOp print) {
  using namespace llvm::Intrinsic;
  const std::array<Value*, 3> program{e.code().programId(e, 0), e.code().programId(e, 1), e.code().programId(e, 2)};
  const std::string prefix = escaped(print.getPrefix());
  const unsigned count = print.getArgs().size();
  if (count == 0)
    where(e, e.ir().CreateICmpEQ(e.thread(), e.int32(0)),
          [&] { callPrintf(e, "pid (%u, %u, %u)" + prefix + "\n", program); });
  for (unsigned k = 0; k < count; ++k)
    printOperand(e, print, k, program, prefix + (count > 1 ? "(operand " + std::to_string(k) + ") " : ""));
  return success();
}

template <> LogicalResult emit(Emitter& e, tt::AssertOp assertion) {
  llvm::IRBuilder<>& b = e.ir();
  Value* holds = nullptr;
  for (Value* one : e.values(assertion.getCondition())) holds = holds ? b.CreateAnd(holds, one) : one;
  FileLineColLoc position = tt::positionOf(assertion->getLoc());
  where(e, b.CreateNot(holds), [&] {
    Type* text = b.getPtrTy();
    auto* type = llvm::FunctionType::get(b.getVoidTy(), {text, text, b.getInt32Ty(), text, b.getInt64Ty()}, false);
    b.CreateCall(e.module().getOrInsertFunction("__assertfail", type),
                 {textPointer(e, assertion.getMessage(), "assert_message"),
                  textPointer(e, position ? position.getFilename().getValue() : "unknown", "assert_file"),
                  e.int32(position ? position.getLine() : 0),
                  textPointer(e, assertion->getParentOfType<tt::FuncOp>().getName(), "assert_function"),
                  b.getInt64(1)});
  });
  return success();
}

template <> LogicalResult emit(Emitter& e, LLVM::AssumeOp op) {
  e.ir().CreateAssumption(e.scalar(op->getOperand(0)));
  return success();
}

// Without dependent launches none begins before the one in front of it has ended.
template <> LogicalResult emit(Emitter& e, tt::GridDependencyWaitOp) {
  if (e.features().dependentLaunches) e.inlinePtx("griddepcontrol.wait;", "~{memory}", {}, {}, true);
  return success();
}
template <> LogicalResult emit(Emitter& e, tt::GridDependencyLaunchDependentsOp) {
  if (e.features().dependentLaunches) e.inlinePtx("griddepcontrol.launch_dependents;", "~{memory}", {}, {}, true);
  return success();
}

} // namespace tiletwin::codegen
