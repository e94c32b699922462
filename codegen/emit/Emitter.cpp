// codegen/emit/Emitter.cpp -- types, values, threads, shared memory, and the walk over a kernel.
#include "codegen/emit/Emitter.h"
#include "codegen/emit/Descriptor.h"
#include "codegen/emit/LineTable.h"
#include "codegen/emit/TargetCode.h"
#include "codegen/passes/Divide.h"
#include "codegen/passes/Pairs.h"
#include "codegen/passes/Producer.h"
#include "codegen/passes/Scratch.h"
#include "codegen/passes/SharedMemory.h"
#include "codegen/passes/TensorMaps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tiletwin::codegen {

using llvm::Type;

using llvm::Value;

constexpr unsigned kGlobal = 1, kShared = 3; // address spaces of both families
constexpr unsigned kTensorMapBytes = 128, kTensorMapAlignment = 64;

Emitter::Emitter(llvm::Module& module, const Target& target, const Options& options, LineTable* lines)
    : module_(module), target_(target), features_(target.features()), code_(targetCodeOf(target)), options_(options),
      lines_(lines), builder_(module.getContext()) {}

unsigned Emitter::laneBits() const { return llvm::Log2_32(uint32_t(target_.warpSize)); }
unsigned Emitter::warpBits() const { return llvm::Log2_32(uint32_t(options_.numWarps)); }

ArrayRef<Value*> Emitter::values(mlir::Value value) const {
  auto found = values_.find(value);
  assert(found != values_.end() && "a value is used before it was emitted");
  return found->second;
}
void Emitter::define(mlir::Value value, Values values) {
  assert(registersOf(value.getType()) % values.size() == 0); // several elements share a word between fence and wait
  values_[value] = std::move(values);
}
unsigned Emitter::registersOf(mlir::Type type) {
  if (auto descriptor = dyn_cast<tt::TensorDescType>(type)) return Descriptor::parts(descriptor.getShape().size());
  return isa<RankedTensorType>(type) ? twg::layoutOf(type).registers() : 1;
}

SmallVector<Type*, 8> Emitter::registerTypesOf(mlir::Type type) {
  if (auto descriptor = dyn_cast<tt::TensorDescType>(type))
    return Descriptor::partTypes(builder_, descriptor.getShape().size());
  return SmallVector<Type*, 8>(registersOf(type), typeOf(tt::elementTypeOf(type)));
}

SmallVector<uint32_t, 8> Emitter::firstEqualRegisters(ArrayRef<mlir::Value> tiles) {
  const LinearLayout layout = twg::layoutOf(tiles.front());
  uint32_t differs = 0; // bits of an element's index that decide
  for (mlir::Value tile : tiles)
    for (auto [d, along] : llvm::enumerate(contiguity_.of(tile).dimensions))
      differs |= layout.dimensionMask(d) & ~(uint32_t(along.constant - 1) << layout.dimensionShift(d));
  SmallVector<uint32_t, 8> first(layout.registers());
  llvm::SmallDenseMap<uint32_t, uint32_t> found;
  for (uint32_t r = 0; r < first.size(); ++r)
    first[r] = found.try_emplace(layout.elementOf(Part::Register, r) & differs, r).first->second;
  return first;
}

Type* Emitter::typeOf(mlir::Type element) {
  llvm::LLVMContext& context = module_.getContext();
  if (isa<tt::PointerType>(element)) return llvm::PointerType::get(context, kGlobal);
  if (element.isF16()) return Type::getHalfTy(context);
  if (element.isBF16()) return Type::getBFloatTy(context);
  if (element.isF32()) return Type::getFloatTy(context);
  if (element.isF64()) return Type::getDoubleTy(context);
  if (element.isIndex()) return Type::getInt32Ty(context);
  return Type::getIntNTy(context, element.getIntOrFloatBitWidth());
}
Type* Emitter::memoryTypeOf(mlir::Type element) {
  if (isa<tt::TensorDescType>(element)) return builder_.getInt64Ty(); // as an argument
  return element.isInteger(1) ? Type::getInt8Ty(module_.getContext()) : typeOf(element);
}
unsigned Emitter::memoryBytesOf(mlir::Type element) { return bytesInMemory(element); }

Value* Emitter::thread() { return thread_; }
Value* Emitter::lane() { return lane_; }
Value* Emitter::warp() { return warp_; }

Value* Emitter::both(Value* one, Value* other) {
  if (!one || !other) return one ? one : other;
  return builder_.CreateAnd(one, other);
}

Value* Emitter::isFirst(uint32_t laneMask, uint32_t warpMask) {
  auto isZero = [&](Value* number, uint32_t mask) -> Value* {
    return mask ? builder_.CreateICmpEQ(builder_.CreateAnd(number, int32(mask)), int32(0)) : nullptr;
  };
  Value* isFirstLane = isZero(lane_, laneMask);
  return both(isFirstLane, isZero(warp_, warpMask));
}

Value* Emitter::linearOf(Value* number, ArrayRef<uint32_t> columns, Value* sum) {
  if (!sum) sum = int32(0);
  // Runs of bits that move together are one shift: (number >> from & mask) << to.
  for (unsigned bit = 0, count = 0; bit < columns.size(); bit += count) {
    count = 1;
    if (columns[bit] == 0) continue;
    if (llvm::isPowerOf2_32(columns[bit]))
      while (bit + count < columns.size() && columns[bit + count] == columns[bit] << count) ++count;
    Value* field = builder_.CreateAnd(builder_.CreateLShr(number, bit), int32((1 << count) - 1));
    sum = builder_.CreateXor(sum, builder_.CreateMul(field, int32(columns[bit])));
  }
  return sum;
}

Value* Emitter::elementOfThread(const LinearLayout& layout) {
  return linearOf(warp_, layout.bases(Part::Warp), linearOf(lane_, layout.bases(Part::Lane)));
}

Value* Emitter::warpBitsAt(ArrayRef<unsigned> bits) {
  Value* all = int32(0);
  for (auto [place, bit] : llvm::enumerate(bits)) {
    Value* one = builder_.CreateAnd(builder_.CreateLShr(warp_, bit), int32(1));
    all = builder_.CreateOr(all, builder_.CreateShl(one, place));
  }
  return all;
}

Value* Emitter::scratch() {
  assert(scratch_ && "the operation declares no shared memory");
  Value* address = builder_.CreateConstInBoundsGEP1_32(builder_.getInt8Ty(), sharedMemory(), scratch_.getOffset());
  return builder_.CreatePtrToInt(address, builder_.getInt32Ty());
}

void Emitter::barrierBeforeWrites() {
  if (scratch_.getBarriers() > 1) barrierInside();
}

void Emitter::barrierInside() {
  ++barriersInside_;
  code_.barrier(*this);
}

Value* Emitter::sharedBase() { return builder_.CreatePtrToInt(sharedMemory(), builder_.getInt32Ty()); }

llvm::GlobalVariable* Emitter::sharedMemory() {
  if (!shared_) {
    Type* bytesType = llvm::ArrayType::get(builder_.getInt8Ty(), 0);
    shared_ = new llvm::GlobalVariable(module_, bytesType, false, llvm::GlobalValue::ExternalLinkage, nullptr,
                                       "tiletwin_shared", nullptr, llvm::GlobalValue::NotThreadLocal, kShared);
    shared_->setAlignment(llvm::Align(1024));
  }
  return shared_;
}

/// True for PTX that the threads of a warp must run together: shuffles, votes, matrices, barriers.
static bool isCollective(StringRef text) {
  return llvm::any_of(ArrayRef<StringRef>{".sync", ".aligned", "bar.", "barrier.", "activemask"},
                      [&](StringRef word) { return text.contains(word); });
}

Values Emitter::inlinePtx(StringRef text, StringRef constraints, ArrayRef<Type*> outputs, ArrayRef<Value*> inputs,
                          bool sideEffects) {
  SmallVector<Type*> inputTypes;
  for (Value* input : inputs) inputTypes.push_back(input->getType());
  Type* result = outputs.empty()       ? builder_.getVoidTy()
                 : outputs.size() == 1 ? outputs.front()
                                       : llvm::StructType::get(module_.getContext(), outputs);
  auto* code = llvm::InlineAsm::get(llvm::FunctionType::get(result, inputTypes, false), text, constraints, sideEffects);
  llvm::CallInst* call = builder_.CreateCall(code, inputs);
  if (isCollective(text)) call->setConvergent(); // LLVM does not move it to where only some threads come by
  Values results;
  if (outputs.size() == 1) results.push_back(call);
  if (outputs.size() > 1)
    for (unsigned i = 0; i < outputs.size(); ++i) results.push_back(builder_.CreateExtractValue(call, i));
  return results;
}

Value* Emitter::intrinsic(llvm::Intrinsic::ID id, ArrayRef<Type*> types, ArrayRef<Value*> arguments) {
  return builder_.CreateIntrinsic(id, types, arguments);
}

Value* Emitter::shuffle(StringRef mode, Value* value, Value* operand) {
  Type* type = value->getType();
  if (type->isPointerTy()) {
    Value* moved = shuffle(mode, builder_.CreatePtrToInt(value, builder_.getInt64Ty()), operand);
    return builder_.CreateIntToPtr(moved, type);
  }
  unsigned bits = type->getPrimitiveSizeInBits();
  Value* whole = builder_.CreateBitCast(value, builder_.getIntNTy(bits));
  if (bits > 32) {
    Value* low = shuffle(mode, builder_.CreateTrunc(whole, builder_.getInt32Ty()), operand);
    Value* high = shuffle(mode, builder_.CreateTrunc(builder_.CreateLShr(whole, 32), builder_.getInt32Ty()), operand);
    Value* both = builder_.CreateOr(builder_.CreateZExt(low, builder_.getInt64Ty()),
                                    builder_.CreateShl(builder_.CreateZExt(high, builder_.getInt64Ty()), 32));
    return builder_.CreateBitCast(both, type);
  }
  Value* moved = code_.shuffle(*this, mode, builder_.CreateZExt(whole, builder_.getInt32Ty()), operand);
  return builder_.CreateBitCast(builder_.CreateTrunc(moved, builder_.getIntNTy(bits)), type);
}

void Emitter::emitPrologue(tt::FuncOp function) {
  builder_.SetInsertPoint(llvm::BasicBlock::Create(module_.getContext(), "entry", function_));
  thread_ = code_.thread(*this);
  lane_ = builder_.CreateAnd(thread_, int32(target_.warpSize - 1), "lane");
  warp_ = builder_.CreateLShr(thread_, laneBits(), "warp");
  for (auto [argument, parameter] :
       llvm::zip_first(function.getArguments(), llvm::make_pointer_range(function_->args()))) {
    Value* value = parameter;
    if (isa<tt::TensorDescType>(argument.getType())) continue;
    if (argument.getType().isInteger(1)) value = builder_.CreateTrunc(value, builder_.getInt1Ty());
    define(argument, value);
  }
  for (BlockArgument argument : function.getArguments())
    if (isa<tt::TensorDescType>(argument.getType()) && !tensorMapOf(argument))
      Descriptor::ofArgument(*this, argument, function_->getArg(argument.getArgNumber())).define(*this, argument);
}

/// A tensor map lies among the kernel's parameters, where copies read it: nobody may make a copy of it.
static void passByValue(llvm::Argument& map) {
  llvm::LLVMContext& context = map.getContext();
  Type* bytes = llvm::ArrayType::get(Type::getInt8Ty(context), kTensorMapBytes);
  map.addAttr(llvm::Attribute::getWithByValType(context, bytes));
  map.addAttr(llvm::Attribute::getWithAlignment(context, llvm::Align(kTensorMapAlignment)));
  map.addAttr(llvm::Attribute::get(context, "nvvm.grid_constant"));
}

LogicalResult Emitter::emitKernel(tt::FuncOp function) {
  for (mlir::BlockArgument argument : function.getArguments())
    if (!isa<tt::PointerType, tt::TensorDescType>(argument.getType()) && !argument.getType().isIntOrFloat())
      return mlir::emitError(argument.getLoc())
             << "an argument of type " << argument.getType() << " is not compiled for " << target_.arch << " yet";
  SmallVector<Type*> parameters;
  for (BlockArgument argument : function.getArguments())
    parameters.push_back(tensorMapOf(argument) ? builder_.getPtrTy() : memoryTypeOf(argument.getType()));
  auto* type = llvm::FunctionType::get(builder_.getVoidTy(), parameters, false);
  function_ = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, function.getName(), module_);
  threads_ = unsigned(warpsOf(function, options_) * target_.warpSize);
  registersAtStart_ = codegen::registersAtStart(function, options_);
  isDivided_ = codegen::isDivided(function);
  isInPairs_ = isDivided_ || runsInPairs(function);
  code_.declareKernel(*this, *function_);
  for (auto [i, argument] : llvm::enumerate(function_->args()))
    if (auto divisor = function.getArgAttrOfType<IntegerAttr>(i, "tt.divisibility");
        divisor && argument.getType()->isPointerTy())
      argument.addAttr(llvm::Attribute::getWithAlignment(module_.getContext(), llvm::Align(divisor.getInt())));
  for (BlockArgument argument : function.getArguments())
    if (tensorMapOf(argument)) passByValue(*function_->getArg(argument.getArgNumber()));
  if (lines_) lines_->begin(function_, function.getLoc());
  for (mlir::BlockArgument argument : function.getArguments())
    if (failed(Descriptor::verifyArgument(argument))) return failure();
  emitPrologue(function);
  if (failed(emitBlocks(function.getBody(), [&](Operation* op) { return emitOperation(op); }))) return failure();
  if (shared_) code_.sizeShared(*shared_, sharedBytesOf(function));
  return success();
}

LogicalResult Emitter::branchToProducer(llvm::function_ref<LogicalResult()> emit, twg::ProducerOp producer) {
  // One number for the whole warp, so that the assembler sees that warps stay together.
  warp_ = shuffle("idx", warp_, int32(0));
  llvm::BasicBlock *copies = newBlock("producer"), *program = newBlock("program");
  builder_.CreateCondBr(builder_.CreateICmpUGE(warp_, int32(options_.numWarps)), copies, program);
  auto setRegisters = [&](llvm::Intrinsic::ID id, size_t side) {
    if (producer.getRegisters()) intrinsic(id, {}, {int32((*producer.getRegisters())[side])});
  };
  builder_.SetInsertPoint(copies);
  setRegisters(llvm::Intrinsic::nvvm_setmaxnreg_dec_sync_aligned_u32, 0);
  Value* elected = intrinsic(llvm::Intrinsic::nvvm_elect_sync, {}, {int32(-1)});
  Value* isFirstWarp = builder_.CreateICmpEQ(warp_, int32(options_.numWarps));
  llvm::BasicBlock *one = newBlock("producer.thread"), *end = newBlock("producer.end");
  builder_.CreateCondBr(builder_.CreateAnd(isFirstWarp, builder_.CreateExtractValue(elected, 1)), one, end);
  builder_.SetInsertPoint(one);
  runBy_ = RunBy::Producer;
  if (failed(emit())) return failure();
  builder_.CreateBr(end);
  builder_.SetInsertPoint(end);
  builder_.CreateRetVoid();
  builder_.SetInsertPoint(program);
  runBy_ = RunBy::Program;
  setRegisters(llvm::Intrinsic::nvvm_setmaxnreg_inc_sync_aligned_u32, 1);
  return success();
}

LogicalResult Emitter::emitOperation(Operation* op) {
  if (lines_) builder_.SetCurrentDebugLocation(lines_->locationOf(op->getLoc(), module_.getContext()));
  twg::ScratchAttr outerScratch = std::exchange(scratch_, scratchOf(op));
  unsigned outerBarriers = std::exchange(barriersInside_, 0);
  LogicalResult emitted = emitAny(*this, op);
  if (succeeded(emitted) && barriersInside_ != (scratch_ ? scratch_.getBarriers() : 0))
    emitted = op->emitOpError() << "was emitted with " << barriersInside_
                                << " barriers that twg.scratch does not declare";
  scratch_ = outerScratch;
  barriersInside_ = outerBarriers;
  return emitted;
}

LogicalResult Emitter::emitBody(Block& block) {
  for (Operation& op : block.without_terminator())
    if (failed(emitOperation(&op))) return failure();
  return success();
}

FailureOr<Values> Emitter::emitRegion(Region& region, ArrayRef<Value*> arguments) {
  Block& block = region.front();
  for (auto [argument, value] : llvm::zip_equal(block.getArguments(), arguments)) define(argument, value);
  Values results;
  if (region.hasOneBlock()) {
    if (failed(emitBody(block))) return failure();
    for (mlir::Value result : block.getTerminator()->getOperands()) results.push_back(scalar(result));
    return results;
  }
  llvm::BasicBlock* after = newBlock("region.end");
  auto leave = [&](Operation* op) {
    for (auto [i, value] : llvm::enumerate(op->getOperands())) {
      if (i == results.size()) results.push_back(llvm::PHINode::Create(scalar(value)->getType(), 2, "", after));
      cast<llvm::PHINode>(results[i])->addIncoming(scalar(value), builder_.GetInsertBlock());
    }
    builder_.CreateBr(after);
    return success();
  };
  if (failed(emitBlocks(region, leave))) return failure();
  builder_.SetInsertPoint(after);
  return results;
}

llvm::BasicBlock* Emitter::newBlock(const llvm::Twine& name) {
  return llvm::BasicBlock::Create(module_.getContext(), name, function_);
}

LogicalResult notCompiled(Operation* op, const Emitter& emitter, const llvm::Twine& what) {
  return op->emitOpError() << what.str() << (what.isTriviallyEmpty() ? "" : " ") << "is not compiled for "
                           << emitter.target().arch << " yet";
}

} // namespace tiletwin::codegen
