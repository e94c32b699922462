// codegen/emit/DotWgmma.cpp -- twg.warpgroup_dot: four warps multiply matrices that lie in shared memory.
// Idea: a descriptor names a matrix by its first byte, the distance of 8 rows, and how rows are swizzled; a step along K, M
//       or N adds to the first byte. All instructions of a dot are one piece of inline PTX. Its sums go through the fence in
//       front of it and the wait behind it, into and out of each piece in the same registers, so nothing else touches them
//       meanwhile; what else it reads in registers goes into the fence. Between fence and wait a value is a register of the
//       instructions: a float, or a word of packed elements.
#include "codegen/emit/DotOps.h"
#include "codegen/emit/Memory.h"
#include "codegen/emit/SharedMatrix.h"
#include "codegen/passes/DotLayouts.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tiletwin::codegen {

using llvm::Value;

namespace {

constexpr uint32_t kGroupRows = 64; ///< rows that a warpgroup's instruction multiplies
constexpr unsigned kGroupWarpBits = 2;

class WgmmaDot {
public:
  WgmmaDot(Emitter& e, twg::WarpgroupDotOp dot) : e_(e), dot_(dot) {}
  LogicalResult emit();

private:
  LogicalResult plan();
  void describe();
  Value* descriptor(mlir::Value memory, const SharedMatrix& matrix, bool isFirst);
  void addInstruction(uint32_t m, uint32_t n, uint32_t step);
  std::string input(Value* value, StringRef constraint) {
    inputs_.push_back(value);
    inputConstraints_ += "," + constraint.str();
    return "$" + std::to_string(accumulators_ + inputs_.size() - 1);
  }

  Emitter& e_;
  twg::WarpgroupDotOp dot_;
  const MmaShape* shape_ = nullptr;
  DotLayouts layouts_;                ///< of the instruction: a its first matrix, b its second
  std::optional<SharedMatrix> first_; ///< none: it is in registers
  SharedMatrix second_;
  Value *firstDescriptor_ = nullptr, *secondDescriptor_ = nullptr;
  uint32_t columns_ = 0; ///< N of one instruction
  uint32_t kExtent_ = 0;
  bool isPaired_ = false; ///< two f16 sums in a register (packed by the fence)
  std::string type_;      ///< ".f32.f16.f16"
  std::string text_, inputConstraints_;
  size_t accumulators_ = 0;
  Values inputs_;
};

/// The descriptor but for the first byte.
uint64_t fieldsOf(const SharedMatrix& matrix) {
  const uint64_t mode = matrix.row == 128 ? 1 : matrix.row == 64 ? 2 : 3;
  return mode << 62 | uint64_t(matrix.stride() >> 4) << 32 | uint64_t(matrix.leading() >> 4) << 16;
}

/// A descriptor of what this warpgroup multiplies first.
Value* WgmmaDot::descriptor(mlir::Value memory, const SharedMatrix& matrix, bool isFirst) {
  Value* address = e_.scalar(memory);
  const LinearLayout& d = layouts_.d;
  unsigned dimension = isFirst ? 0 : 1;
  for (unsigned bit = kGroupWarpBits; bit < d.bits(Part::Warp); ++bit) {
    uint32_t outer = uint32_t(d.coordinates(d.bases(Part::Warp)[bit])[dimension]);
    if (outer == 0) continue;
    Value* one = e_.ir().CreateAnd(e_.ir().CreateLShr(e_.warp(), bit), e_.int32(1));
    address = e_.ir().CreateAdd(address, e_.ir().CreateMul(one, e_.int32(matrix.offsetOf(outer, 0))));
  }
  Value* start = e_.ir().CreateAnd(e_.ir().CreateLShr(address, 4), e_.int32(0x3FFF));
  return e_.ir().CreateOr(e_.ir().CreateZExt(start, e_.ir().getInt64Ty()), e_.ir().getInt64(fieldsOf(matrix)));
}

void WgmmaDot::addInstruction(uint32_t m, uint32_t n, uint32_t step) {
  const LinearLayout& d = layouts_.d;
  RegisterMap registers(d);
  std::string sums;
  for (uint32_t column = n; column < n + columns_; column += 8)
    for (uint32_t row : {m, m + 8})
      for (uint32_t i = 0; i < (isPaired_ ? 1 : 2); ++i) {
        uint32_t number = registers.at(d.flatIndex({row, column + i}));
        sums += (sums.empty() ? "$" : ",$") + std::to_string(isPaired_ ? number / 2 : number);
      }
  uint32_t k = step << shape_->kBits;
  std::string a;
  if (first_) {
    a = input(e_.ir().CreateAdd(firstDescriptor_, e_.ir().getInt64(first_->offsetOf(m, k) >> 4)), "l");
  } else {
    RegisterMap elements(layouts_.a);
    ArrayRef<Value*> words = e_.values(dot_.first().get());
    unsigned packed = shape_->packedBits;
    for (uint32_t half : {0u, 1u})
      for (uint32_t row : {m, m + 8}) {
        uint32_t first = elements.at(layouts_.a.flatIndex({row, k | half << (packed + 2)}));
        a += (a.empty() ? "{" : ",") + input(words[first >> packed], "r");
      }
    a += "}";
  }
  std::string b = input(e_.ir().CreateAdd(secondDescriptor_, e_.ir().getInt64(second_.offsetOf(n, k) >> 4)), "l");
  std::string tail = ", p";
  if (shape_->format != Multiplied::S8) tail += ", 1, 1";
  if (shape_->format == Multiplied::F16 || shape_->format == Multiplied::BF16) {
    if (first_) tail += first_->isKMajor ? ", 0" : ", 1";
    tail += second_.isKMajor ? ", 0" : ", 1";
  }
  text_ += "wgmma.mma_async.sync.aligned.m64n" + std::to_string(columns_) + "k" + std::to_string(1u << shape_->kBits) +
           type_ + " {" + sums + "}, " + a + ", " + b + tail + "; ";
}

/// Shapes, types and layouts.
LogicalResult WgmmaDot::plan() {
  auto elementOf = [](mlir::Type type) {
    auto memory = dyn_cast<twg::MemDescType>(type);
    return memory ? memory.getElementType() : tt::elementTypeOf(type);
  };
  auto memory = cast<twg::MemDescType>(dot_.second().get().getType());
  mlir::Type element = elementOf(dot_.first().get().getType()), other = memory.getElementType();
  std::optional<Multiplied> format = multipliedFormat(element);
  shape_ = format ? wgmmaShape(*format) : nullptr;
  if (!shape_) return dot_.emitOpError("has no instruction for its operands");
  kExtent_ = uint32_t(memory.getShape()[dot_.getTransposed() ? 1 : 0]);
  const WgmmaForm form{dot_.getTransposed(), SmallVector<int32_t, 8>(dot_.getRows().value_or(ArrayRef<int32_t>()))};
  const LinearLayout own = twg::layoutOf(dot_.getD());
  layouts_ = wgmmaInstruction(*shape_, form, own.shape(), kExtent_, own.bits(Part::Warp));
  const LinearLayout& d = layouts_.d;
  if (!(wgmmaLayouts(*shape_, form, own.shape(), kExtent_, own.bits(Part::Warp)).d == own))
    return dot_.emitOpError("has a result whose layout is not that of its instruction");
  columns_ = 8; // that a warp holds
  for (uint32_t basis : d.bases(Part::Register))
    if (d.coordinates(basis)[1] >= 8) columns_ *= 2;
  columns_ = std::min(columns_, 256u);
  mlir::Type sum = tt::elementTypeOf(dot_.getD().getType());
  isPaired_ = sum.isF16();
  std::string sumType = sum.isInteger() ? "s32" : isPaired_ ? "f16" : "f32";
  type_ = "." + sumType + "." + ptxTypeOf(element).str() + "." + ptxTypeOf(other).str();
  return success();
}

/// The matrices in shared memory.
void WgmmaDot::describe() {
  mlir::Value first = dot_.first().get(), second = dot_.second().get();
  second_ = SharedMatrix(cast<twg::MemDescType>(second.getType()), dot_.getTransposed() ? 1 : 0);
  if (auto memory = dyn_cast<twg::MemDescType>(first.getType())) {
    first_.emplace(memory, dot_.getTransposed() ? 0 : 1);
    firstDescriptor_ = descriptor(first, *first_, true);
  }
  secondDescriptor_ = descriptor(second, second_, false);
}

/// Elements in registers of the instructions: f32 stay floats in sums, others are packed into words. And back.
Values packed(Emitter& e, mlir::Value tile, bool isSum) {
  ArrayRef<Value*> elements = e.values(tile);
  llvm::Type* type = elements.front()->getType();
  if (isSum && type->isFloatTy()) return Values(elements);
  Values words;
  for (const unsigned count = 32 / type->getPrimitiveSizeInBits(); !elements.empty();
       elements = elements.drop_front(count))
    words.push_back(packWords(e, elements.take_front(count)).front());
  return words;
}
Values unpacked(Emitter& e, ArrayRef<Value*> words, mlir::Type tile) {
  const unsigned count = Emitter::registersOf(tile) / words.size();
  if (count == 1) return Values(words);
  Values elements;
  for (Value* word : words)
    llvm::append_range(elements, unpackWords(e, {word}, e.typeOf(tt::elementTypeOf(tile)), count));
  return elements;
}

LogicalResult WgmmaDot::emit() {
  if (failed(plan())) return failure();
  describe();
  ArrayRef<Value*> sums = e_.values(dot_.getC());
  accumulators_ = sums.size();
  text_ = "{ .reg .pred p; setp.eq.u32 p, 0, 0; ";
  const LinearLayout& d = layouts_.d;
  for (uint32_t r = 0; r < d.registers(); ++r) {
    SmallVector<int64_t, 5> at = d.coordinates(d.elementOf(Part::Register, r));
    if (at[0] % kGroupRows || at[1] % columns_) continue;
    for (uint32_t step = 0; step < kExtent_ >> shape_->kBits; ++step)
      addInstruction(uint32_t(at[0]), uint32_t(at[1]), step);
  }
  e_.define(dot_.getD(), throughPtx(e_, text_ + "}", inputConstraints_, inputs_, sums));
  return success();
}

} // namespace

template <> LogicalResult emit(Emitter& e, twg::WarpgroupDotOp op) { return WgmmaDot(e, op).emit(); }

template <> LogicalResult emit(Emitter& e, twg::WarpgroupFenceOp fence) {
  Values a; // stays as it is: only sums are written again
  if (fence.getTiles().size() > 1) {
    a = packed(e, fence.getTiles()[1], /*isSum=*/false);
    e.define(fence.getResult(1), a);
  }
  std::string constraints;
  for (size_t i = 0; i < a.size(); ++i) constraints += ",r";
  Values sum = packed(e, fence.getTiles()[0], /*isSum=*/true);
  e.define(fence.getResult(0), throughPtx(e, "wgmma.fence.sync.aligned;", constraints, a, sum));
  return success();
}

template <> LogicalResult emit(Emitter& e, twg::WarpgroupCommitOp) {
  e.inlinePtx("wgmma.commit_group.sync.aligned;", "~{memory}", {}, {}, true);
  return success();
}

/// True for sums that begin or end in a branch (a loop there goes on with them, or the branch gives them away), and for those
/// that go on in straight code. The other way, or what stands between, may have products of its own. If these find a sum's
/// registers fixed from its first product to its last, ptxas keeps no product in flight. In loops the copies cost more.
static bool goesOnElsewhere(mlir::Value sum) {
  return llvm::any_of(sum.getUsers(), [](Operation* user) {
    if (isa<twg::WarpgroupFenceOp>(user)) return !user->getParentOfType<LoopLikeOpInterface>();
    auto branch = dyn_cast<scf::IfOp>(user->getParentOp());
    return branch && isa<scf::YieldOp, scf::ForOp>(user) && !branch->getParentOfType<LoopLikeOpInterface>();
  });
}

/// True for a sum that a loop carries on in another place than the one it came from, as where two of them change places: LLVM
/// would copy it in front of the wait.
static bool changesPlace(mlir::Value sum, mlir::Value waited) {
  while (Operation* op = sum.getDefiningOp()) {
    if (auto dot = dyn_cast<twg::WarpgroupDotOp>(op))
      sum = dot.getC();
    else if (isa<twg::WarpgroupFenceOp, twg::WarpgroupWaitOp>(op)) // each result is an operand
      sum = op->getOperand(cast<OpResult>(sum).getResultNumber());
    else
      return false;
  }
  auto carried = cast<BlockArgument>(sum);
  auto loop = dyn_cast<scf::ForOp>(carried.getOwner()->getParentOp());
  return loop && llvm::any_of(waited.getUses(), [&](OpOperand& use) {
           return use.getOwner() == loop.getBody()->getTerminator() &&
                  use.getOperandNumber() + 1 != carried.getArgNumber();
         });
}

/// The same words in other registers. LLVM looks through its own copies, but not through PTX.
static Values inOtherRegisters(Emitter& e, ArrayRef<Value*> words) {
  std::string text, outputs, inputs;
  SmallVector<llvm::Type*> types;
  for (auto [i, word] : llvm::enumerate(words)) {
    text += "mov.b32 $" + std::to_string(i) + ", $" + std::to_string(words.size() + i) + "; ";
    const char* letter = word->getType()->isFloatTy() ? "f" : "r";
    outputs += std::string("=&") + letter + ",";
    inputs += std::string(i ? "," : "") + letter;
    types.push_back(word->getType());
  }
  return e.inlinePtx(text, outputs + inputs, types, words, false);
}

template <> LogicalResult emit(Emitter& e, twg::WarpgroupWaitOp wait) {
  Values sums;
  for (mlir::Value sum : wait.getSums()) llvm::append_range(sums, e.values(sum));
  Values waited =
      throughPtx(e, "wgmma.wait_group.sync.aligned " + std::to_string(wait.getPending()) + ";", "", {}, sums);
  ArrayRef<Value*> left = waited;
  for (auto [sum, result] : llvm::zip_equal(wait.getSums(), wait.getResults())) {
    size_t count = e.values(sum).size();
    Values words(left.take_front(count));
    if (!wait.getPending() && (goesOnElsewhere(result) || changesPlace(sum, result)))
      words = inOtherRegisters(e, words);
    e.define(result, unpacked(e, words, result.getType()));
    left = left.drop_front(count);
  }
  return success();
}

} // namespace tiletwin::codegen
