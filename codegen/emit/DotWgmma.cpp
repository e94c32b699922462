// codegen/emit/DotWgmma.cpp -- twg.warpgroup_dot: four warps multiply matrices that lie in shared memory.
// Idea: a descriptor names a matrix by its first byte, the distance of 8 rows, and how rows are swizzled; a step along K, M
//       or N adds to the first byte. All instructions of a dot and the wait for them are one piece of inline PTX, so that
//       nothing touches the accumulators while they are on their way.
#include "codegen/emit/DotOps.h"
#include "codegen/emit/Emitters.h"
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
  Value* descriptor(mlir::Value memory, const Matrix& matrix, bool isA);
  std::string suffix(bool aInRegisters) const;
  void addInstruction(uint32_t m, uint32_t n, uint32_t step);
  std::string input(Value* value, StringRef constraint) {
    inputs_.push_back(value);
    inputConstraints_ += "," + constraint.str();
    return "$" + std::to_string(accumulators_ + inputs_.size() - 1);
  }

  Emitter& e_;
  twg::WarpgroupDotOp dot_;
  const MmaShape* shape_ = nullptr;
  KOrder order_;
  DotLayouts layouts_;
  std::optional<Matrix> a_, b_;
  Value *aDescriptor_ = nullptr, *bDescriptor_ = nullptr;
  uint32_t columns_ = 0; ///< N of one instruction
  std::string type_;     ///< ".f32.f16.f16"
  std::string text_, inputConstraints_;
  unsigned accumulators_ = 0;
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
      for (uint32_t i : {0u, 1u})
        sums += (sums.empty() ? "$" : ",$") + std::to_string(registers.at(d.flatIndex({row, column + i})));
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

LogicalResult WgmmaDot::emit() {
  mlir::Type element = tt::elementTypeOf(dot_.getA().getType()), other = dot_.getB().getType().getElementType();
  if (auto memory = dyn_cast<twg::MemDescType>(dot_.getA().getType())) element = memory.getElementType();
  std::optional<Multiplied> format = multipliedFormat(element);
  shape_ = format ? wgmmaShape(*format) : nullptr;
  if (!shape_) return dot_.emitOpError("has no instruction for its operands");
  layouts_.d = twg::layoutOf(dot_.getD());
  unsigned n = 1;
  uint32_t kExtent = uint32_t(dot_.getB().getType().getShape()[0]);
  order_ = ascendingOrder(kExtent);
  LinearLayout d = layouts_.d;
  layouts_ = mmaLayouts(*shape_, order_, d.shape(), d.bases(Part::Warp));
  if (!(layouts_.d == d)) return dot_.emitOpError("has a result whose layout is not that of its instruction");
  b_.emplace(dot_.getB().getType(), 0);
  if (auto memory = dyn_cast<twg::MemDescType>(dot_.getA().getType())) {
    a_.emplace(memory, 1);
    readForDot(e_, dot_.getA());
    aDescriptor_ = descriptor(dot_.getA(), *a_, true);
  }
  readForDot(e_, dot_.getB());
  bDescriptor_ = descriptor(dot_.getB(), *b_, false);
  uint32_t columns = 8; // that a warp holds
  for (uint32_t basis : d.bases(Part::Register))
    if (d.coordinates(basis)[n] >= 8) columns *= 2;
  columns_ = std::min(columns, 256u);
  bool isInteger = tt::elementTypeOf(dot_.getD().getType()).isInteger();
  type_ = (isInteger ? ".s32." : ".f32.") + ptxTypeOf(element).str() + "." + ptxTypeOf(other).str();

  Values sums(e_.values(dot_.getC()));
  accumulators_ = unsigned(sums.size());
  std::string constraints;
  for (unsigned i = 0; i < accumulators_; ++i) constraints += std::string(i ? "," : "") + (isInteger ? "=r" : "=f");
  text_ = "{ .reg .pred p; setp.eq.u32 p, 0, 0; wgmma.fence.sync.aligned; ";
  for (uint32_t r = 0; r < d.registers(); ++r) {
    SmallVector<int64_t, 5> at = d.coordinates(d.elementOf(Part::Register, r));
    if (at[0] % kGroupRows || at[1] % columns_) continue;
    for (uint32_t step = 0; step < kExtent >> shape_->kBits; ++step)
      addInstruction(uint32_t(at[0]), uint32_t(at[1]), step);
  }
  text_ += "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; }";
  constraints += inputConstraints_;
  for (unsigned i = 0; i < accumulators_; ++i) constraints += "," + std::to_string(i);
  llvm::append_range(inputs_, sums);
  SmallVector<llvm::Type*> outputs(accumulators_, sums.front()->getType());
  e_.define(dot_.getD(), e_.inlinePtx(text_, constraints + ",~{memory}", outputs, inputs_, true));
  return success();
}

} // namespace

LogicalResult emitWarpgroupDot(Emitter& e, Operation* op) { return WgmmaDot(e, cast<twg::WarpgroupDotOp>(op)).emit(); }

} // namespace tiletwin::codegen
