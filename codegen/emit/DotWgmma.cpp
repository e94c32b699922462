// codegen/emit/DotWgmma.cpp -- twg.warpgroup_dot: four warps multiply matrices that lie in shared memory.
// Idea: a descriptor names a matrix by its first byte, the distance of 8 rows, and how rows are swizzled; a step along K, M
//       or N adds to the first byte. All instructions of a dot, and the wait for them, are one piece of inline PTX, so that
//       nothing touches the accumulators meanwhile. In flight the wait is a piece of its own: what it waits for goes in and
//       comes out in the same registers, so uses stand behind it.
#include "codegen/emit/DotOps.h"
#include "codegen/emit/Memory.h"
#include "codegen/passes/DotLayouts.h"

using namespace mlir;

namespace tiletwin::codegen {

using llvm::Value;

namespace {

constexpr uint32_t kGroupRows = 64; ///< rows that a warpgroup's instruction multiplies
constexpr unsigned kGroupWarpBits = 2;

/// A matrix in shared memory: outer (M or N) by K.
struct Matrix {
  uint32_t row = 0, rows = 0, elementBytes = 0; ///< bytes of a row, rows of a column of rows
  bool isKMajor = true;

  Matrix(twg::MemDescType type, unsigned kDimension) {
    unsigned contiguous = type.getLayout().getContiguous();
    row = type.getLayout().getSwizzle();
    rows = uint32_t(type.getShape()[1 - contiguous]);
    elementBytes = twg::sharedLayoutOf(type).elementBytes();
    isKMajor = contiguous == kDimension;
  }
  /// Bytes from the first element to element (outer, k), which begins a fragment.
  uint32_t offsetOf(uint32_t outer, uint32_t k) const {
    uint32_t along = (isKMajor ? k : outer) * elementBytes, across = isKMajor ? outer : k;
    return along / row * rows * row + across * row + along % row;
  }
  /// The descriptor but for the first byte.
  uint64_t fields() const {
    uint64_t mode = row == 128 ? 1 : row == 64 ? 2 : 3;
    uint64_t leading = isKMajor ? 16 : uint64_t(rows) * row, stride = 8 * uint64_t(row);
    return mode << 62 | stride >> 4 << 32 | leading >> 4 << 16;
  }
};

class WgmmaDot {
public:
  WgmmaDot(Emitter& e, twg::WarpgroupDotOp dot) : e_(e), dot_(dot) {}
  LogicalResult emit();

private:
  LogicalResult plan();
  void describe();
  Value* descriptor(mlir::Value memory, const Matrix& matrix, bool isA);
  void addInstruction(uint32_t m, uint32_t n, uint32_t step);
  std::string input(Value* value, StringRef constraint) {
    inputs_.push_back(value);
    inputConstraints_ += "," + constraint.str();
    return "$" + std::to_string(accumulators_ + inputs_.size() - 1);
  }

  Emitter& e_;
  twg::WarpgroupDotOp dot_;
  const MmaShape* shape_ = nullptr;
  DotLayouts layouts_;
  std::optional<Matrix> a_, b_;
  Value *aDescriptor_ = nullptr, *bDescriptor_ = nullptr;
  uint32_t columns_ = 0; ///< N of one instruction
  uint32_t kExtent_ = 0;
  bool isPaired_ = false; ///< two f16 sums in a register
  std::string type_;      ///< ".f32.f16.f16"
  std::string text_, inputConstraints_;
  size_t accumulators_ = 0;
  Values inputs_;
};

/// A descriptor of what this warpgroup multiplies first.
Value* WgmmaDot::descriptor(mlir::Value memory, const Matrix& matrix, bool isA) {
  Value* address = e_.scalar(memory);
  const LinearLayout& d = layouts_.d;
  unsigned dimension = isA ? 0 : 1;
  for (unsigned bit = kGroupWarpBits; bit < d.bits(Part::Warp); ++bit) {
    uint32_t outer = uint32_t(d.coordinates(d.bases(Part::Warp)[bit])[dimension]);
    if (outer == 0) continue;
    Value* one = e_.ir().CreateAnd(e_.ir().CreateLShr(e_.warp(), bit), e_.int32(1));
    address = e_.ir().CreateAdd(address, e_.ir().CreateMul(one, e_.int32(matrix.offsetOf(outer, 0))));
  }
  Value* start = e_.ir().CreateAnd(e_.ir().CreateLShr(address, 4), e_.int32(0x3FFF));
  return e_.ir().CreateOr(e_.ir().CreateZExt(start, e_.ir().getInt64Ty()), e_.ir().getInt64(matrix.fields()));
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
  if (a_) {
    a = input(e_.ir().CreateAdd(aDescriptor_, e_.ir().getInt64(a_->offsetOf(m, k) >> 4)), "l");
  } else {
    RegisterMap words(layouts_.a);
    unsigned packed = shape_->packedBits;
    for (uint32_t half : {0u, 1u})
      for (uint32_t row : {m, m + 8}) {
        Values elements;
        for (uint32_t i = 0; i < 1u << packed; ++i) {
          uint32_t at = layouts_.a.flatIndex({row, k | half << (packed + 2) | i});
          elements.push_back(e_.values(dot_.getA())[words.at(at)]);
        }
        a += (a.empty() ? "{" : ",") + input(packWords(e_, elements).front(), "r");
      }
    a += "}";
  }
  std::string b = input(e_.ir().CreateAdd(bDescriptor_, e_.ir().getInt64(b_->offsetOf(n, k) >> 4)), "l");
  std::string tail = ", p";
  if (shape_->format != Multiplied::S8) tail += ", 1, 1";
  if (shape_->format == Multiplied::F16 || shape_->format == Multiplied::BF16) {
    if (a_) tail += a_->isKMajor ? ", 0" : ", 1";
    tail += b_->isKMajor ? ", 0" : ", 1";
  }
  text_ += "wgmma.mma_async.sync.aligned.m64n" + std::to_string(columns_) + "k" + std::to_string(1u << shape_->kBits) +
           type_ + " {" + sums + "}, " + a + ", " + b + tail + "; ";
}

/// Shapes, types and layouts.
LogicalResult WgmmaDot::plan() {
  mlir::Type element = tt::elementTypeOf(dot_.getA().getType()), other = dot_.getB().getType().getElementType();
  if (auto memory = dyn_cast<twg::MemDescType>(dot_.getA().getType())) element = memory.getElementType();
  std::optional<Multiplied> format = multipliedFormat(element);
  shape_ = format ? wgmmaShape(*format) : nullptr;
  if (!shape_) return dot_.emitOpError("has no instruction for its operands");
  kExtent_ = uint32_t(dot_.getB().getType().getShape()[0]);
  LinearLayout d = twg::layoutOf(dot_.getD());
  layouts_ = mmaLayouts(*shape_, ascendingOrder(kExtent_), d.shape(), d.bases(Part::Warp));
  if (!(layouts_.d == d)) return dot_.emitOpError("has a result whose layout is not that of its instruction");
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
  b_.emplace(dot_.getB().getType(), 0);
  if (auto memory = dyn_cast<twg::MemDescType>(dot_.getA().getType())) {
    a_.emplace(memory, 1);
    aDescriptor_ = descriptor(dot_.getA(), *a_, true);
  }
  bDescriptor_ = descriptor(dot_.getB(), *b_, false);
}

/// Sums as the registers of an instruction, and back.
Values pairSums(Emitter& e, ArrayRef<Value*> sums) {
  Values pairs;
  for (size_t i = 0; i < sums.size(); i += 2) pairs.push_back(packWords(e, {sums[i], sums[i + 1]}).front());
  return pairs;
}
Values unpairSums(Emitter& e, ArrayRef<Value*> pairs, llvm::Type* type) {
  Values sums;
  for (Value* pair : pairs) llvm::append_range(sums, unpackWords(e, {pair}, type, 2));
  return sums;
}

/// A piece of inline PTX through which sums go: constraints for them as outputs and, in the same registers, as inputs.
Values throughPtx(Emitter& e, StringRef text, StringRef inputConstraints, Values inputs, ArrayRef<Value*> sums) {
  std::string constraints;
  SmallVector<llvm::Type*> outputs;
  for (Value* sum : sums) {
    constraints += outputs.empty() ? "=" : ",=";
    constraints += sum->getType()->isFloatTy() ? "f" : "r";
    outputs.push_back(sum->getType());
  }
  constraints += inputConstraints;
  for (size_t i = 0; i < sums.size(); ++i) constraints += "," + std::to_string(i);
  llvm::append_range(inputs, sums);
  return e.inlinePtx(text, constraints + ",~{memory}", outputs, inputs, true);
}

LogicalResult WgmmaDot::emit() {
  if (failed(plan())) return failure();
  describe();
  Values sums(e_.values(dot_.getC()));
  llvm::Type* type = sums.front()->getType();
  if (isPaired_) sums = pairSums(e_, sums);
  accumulators_ = sums.size();
  text_ = "{ .reg .pred p; setp.eq.u32 p, 0, 0; wgmma.fence.sync.aligned; ";
  const LinearLayout& d = layouts_.d;
  for (uint32_t r = 0; r < d.registers(); ++r) {
    SmallVector<int64_t, 5> at = d.coordinates(d.elementOf(Part::Register, r));
    if (at[0] % kGroupRows || at[1] % columns_) continue;
    for (uint32_t step = 0; step < kExtent_ >> shape_->kBits; ++step)
      addInstruction(uint32_t(at[0]), uint32_t(at[1]), step);
  }
  text_ += "wgmma.commit_group.sync.aligned; ";
  if (!dot_.getInFlight()) text_ += "wgmma.wait_group.sync.aligned 0; ";
  Values results = throughPtx(e_, text_ + "}", inputConstraints_, inputs_, sums);
  e_.define(dot_.getD(), isPaired_ ? unpairSums(e_, results, type) : std::move(results));
  return success();
}

} // namespace

template <> LogicalResult emit(Emitter& e, twg::WarpgroupDotOp op) { return WgmmaDot(e, op).emit(); }

template <> LogicalResult emit(Emitter& e, twg::WarpgroupWaitOp wait) {
  Values sums;
  for (mlir::Value sum : wait.getSums()) llvm::append_range(sums, e.values(sum));
  Values waited =
      throughPtx(e, "wgmma.wait_group.sync.aligned " + std::to_string(wait.getPending()) + ";", "", {}, sums);
  ArrayRef<Value*> left = waited;
  for (auto [sum, result] : llvm::zip_equal(wait.getSums(), wait.getResults())) {
    size_t count = e.values(sum).size();
    e.define(result, Values(left.take_front(count)));
    left = left.drop_front(count);
  }
  return success();
}

} // namespace tiletwin::codegen
