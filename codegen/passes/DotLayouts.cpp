// codegen/passes/DotLayouts.cpp -- see DotLayouts.h.
#include "codegen/passes/DotLayouts.h"
#include "codegen/layout/SharedLayout.h"
#include "codegen/layout/TensorMemory.h"
#include "codegen/passes/Divide.h"
#include "codegen/passes/LayoutChoice.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tiletwin::codegen {

std::string DotPlan::instruction() const {
  if (isWarpgroup) return "wgmma";
  if (isTensor) return "tcgen05";
  return shape ? "mma." + shape->name.str() : "fma";
}

std::optional<Multiplied> multipliedFormat(mlir::Type element) {
  if (element.isF16()) return Multiplied::F16;
  if (element.isBF16()) return Multiplied::BF16;
  if (element.isF32()) return Multiplied::TF32;
  if (element.isF64()) return Multiplied::F64;
  if (element.isInteger(8)) return Multiplied::S8;
  if (isa<Float8E4M3FNType>(element)) return Multiplied::E4M3;
  if (isa<Float8E5M2Type>(element)) return Multiplied::E5M2;
  return std::nullopt;
}

std::optional<unsigned> contiguousDimension(const LinearLayout& layout) {
  for (Part part : {Part::Register, Part::Lane}) {
    if (layout.bases(part).empty()) continue;
    for (unsigned d = std::max(layout.rank(), 2u) - 2; d < layout.rank(); ++d)
      if (layout.bases(part).front() == 1u << layout.dimensionShift(d) && layout.dimensionBits(d) > 0) return d;
  }
  return std::nullopt;
}

unsigned matrixDimension(Value operand, unsigned kDimension, const LinearLayout& layout, bool isTensor) {
  const unsigned bits = tt::elementTypeOf(operand.getType()).getIntOrFloatBitWidth();
  const bool isFree = bits == 16 || (isTensor && bits == 8);
  return isFree ? contiguousDimension(layout).value_or(kDimension) : kDimension;
}

namespace {

constexpr int64_t kWgmmaRows = 64; ///< that four warps multiply

bool isF8(mlir::Type element) { return isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8; }

/// Whether tensor cores sum such products in a result of this type.
bool sumsIn(Multiplied format, mlir::Type result) {
  switch (format) {
  case Multiplied::F16: return result.isF32() || result.isF16();
  case Multiplied::S8: return result.isInteger(32);
  case Multiplied::F64: return result.isF64();
  default: return result.isF32();
  }
}

/// The format that tensor cores multiply operands of these types in, of f8 that of the first one; none: they do not.
std::optional<Multiplied> formatFor(tt::DotOp dot, mlir::Type a, mlir::Type b) {
  std::optional<Multiplied> format = multipliedFormat(a);
  if (!format || !multipliedFormat(b) || (a != b && !(isF8(a) && isF8(b)))) return std::nullopt;
  if (*format == Multiplied::TF32 && dot.getInputPrecision() != tt::InputPrecision::TF32) return std::nullopt;
  return sumsIn(*format, tt::elementTypeOf(dot.getD().getType())) ? format : std::nullopt;
}

/// The shape of mma.sync for operands of these types; null: none.
const MmaShape* shapeFor(tt::DotOp dot, mlir::Type a, mlir::Type b, const Target& target, int64_t k) {
  std::optional<Multiplied> format = formatFor(dot, a, b);
  return format ? findMmaShape(*format, target.features(), k) : nullptr;
}

bool isDot(Operation* op) { return isa<tt::DotOp, tt::DotScaledOp>(op); }

/// True if elementwise operations alone lead from a dot to the tile.
bool comesFromDot(Value tile) {
  llvm::SetVector<Value> around;
  around.insert(tile);
  for (unsigned i = 0; i < around.size() && i < 64; ++i) {
    Operation* maker = around[i].getDefiningOp();
    if (!maker) continue;
    if (isDot(maker)) return true;
    if (LayoutChoice::isElementwise(maker)) around.insert(maker->operand_begin(), maker->operand_end());
  }
  return false;
}

/// True if an operand of one of two dots comes from the other: what lies between (a softmax) wants whole rows in a warp.
bool isChained(tt::DotOp dot) {
  llvm::SetVector<Value> around;
  around.insert(dot.getD());
  for (unsigned i = 0; i < around.size() && i < 64; ++i)
    for (OpOperand& use : around[i].getUses()) {
      Operation* user = use.getOwner();
      if (isDot(user) && use.getOperandNumber() < 2) return true;
      if (LayoutChoice::isElementwise(user)) around.insert(user->getResult(0));
    }
  return comesFromDot(dot.getA());
}

} // namespace

namespace {

/// True if an operand can lie in shared memory as wgmma and tcgen05 want it: in swizzled rows, at least eight. What has no
/// layout yet gets one that counts along the rows.
bool liesInMatrix(Value operand, unsigned kDimension, const std::optional<LinearLayout>& layout, bool isTensor) {
  unsigned contiguous = layout ? matrixDimension(operand, kDimension, *layout, isTensor) : 1;
  unsigned bytes = tt::elementTypeOf(operand.getType()).getIntOrFloatBitWidth() / 8;
  ArrayRef<int64_t> shape = tt::shapeOf(operand.getType());
  return SharedLayout::widestSwizzle(shape, bytes, contiguous) != 0 && shape[1 - contiguous] >= 8;
}

/// Registers of a thread that a loop's sums may take with first matrices in registers beside them: the rest is for what becomes
/// of the sums, and for addresses. Of 16 warps each thread has 128, CTAs of four warps share a multiprocessor's registers,
/// and one of eight warps with that many sums has them alone. A loop around the loop keeps numbers of its own.
constexpr int64_t kMostRegistersOfDots = 112, kMostRegistersOfDotsAlone = 160, kMostRegistersOfDotsInRounds = 144;
constexpr unsigned kThreadBitsAlone = 8;

/// True for a first matrix that a loop does not change, and that has room in registers: there it is read from memory once.
/// Otherwise each product reads it again, which for 64 columns is as much as it reads of the other matrix, and all that shared
/// memory can give in that time.
bool staysInRegisters(tt::DotOp dot, ThreadBits threads) {
  auto loop = dyn_cast<LoopLikeOpInterface>(dot->getParentOp());
  auto a = cast<RankedTensorType>(dot.getA().getType());
  constexpr unsigned kBits = 16;
  if (!loop || a.getElementTypeBitWidth() != kBits || !loop.isDefinedOutsideOfLoop(dot.getA())) return false;
  int64_t bits = 0;
  llvm::SmallDenseSet<Value> matrices;
  for (auto other : dot->getBlock()->getOps<tt::DotOp>()) {
    auto sum = cast<RankedTensorType>(other.getD().getType());
    bits += sum.getNumElements() * sum.getElementTypeBitWidth();
    if (loop.isDefinedOutsideOfLoop(other.getA()) && matrices.insert(other.getA()).second)
      bits += a.getNumElements() * kBits;
  }
  constexpr unsigned kWordBits = 5;
  const unsigned threadBits = threads.lane + threads.warp;
  const int64_t alone =
      loop->getParentOfType<LoopLikeOpInterface>() ? kMostRegistersOfDotsInRounds : kMostRegistersOfDotsAlone;
  const int64_t most = threadBits == kThreadBitsAlone ? alone : kMostRegistersOfDots;
  return bits >> (threadBits + kWordBits) <= most;
}

/// wgmma has no form for matrices of 8 and 32 bits that are contiguous along their rows or columns. The first one can be
/// in registers instead, and either operand can be the first one.
void planFirstMatrix(DotPlan& plan, ArrayRef<int64_t> shape, unsigned bits, const std::optional<LinearLayout>& ofA,
                     const std::optional<LinearLayout>& ofB) {
  if (bits == 16 || !ofA || !ofB) return;
  const bool isA = contiguousDimension(*ofA) == 0u, isB = contiguousDimension(*ofB) == 1u;
  if (isA == isB || (isB && shape[1] < kWgmmaRows)) return;
  plan.inRegisters = plan.isReadFromMemory = true;
  plan.form.isTransposed = isB;
}

/// wgmma for this dot, if the target has it and the operands lie as it wants them.
bool planWarpgroup(DotPlan& plan, tt::DotOp dot, const Target& target, ThreadBits threads,
                   llvm::function_ref<std::optional<LinearLayout>(Value)> layoutOf) {
  mlir::Type a = tt::elementTypeOf(dot.getA().getType()), b = tt::elementTypeOf(dot.getB().getType());
  ArrayRef<int64_t> shape = tt::shapeOf(dot.getD().getType());
  int64_t k = tt::shapeOf(dot.getA().getType()).back();
  std::optional<Multiplied> format = formatFor(dot, a, b);
  if (!target.features().wgmma || threads.warp < 2 || shape.size() != 2) return false;
  if (!format || !wgmmaShape(*format)) return false;
  // Sums in the narrower accumulator of f8 are used only where all of K may be.
  if (isF8(a) && int64_t(dot.getMaxNumImpreciseAcc()) < k) return false;
  if (k < int64_t(1) << wgmmaShape(*format)->kBits) return false;
  const std::optional<LinearLayout> ofA = layoutOf(dot.getA()), ofB = layoutOf(dot.getB());
  plan.inRegisters = comesFromDot(dot.getA()) || staysInRegisters(dot, threads);
  if (!plan.inRegisters) planFirstMatrix(plan, shape, a.getIntOrFloatBitWidth(), ofA, ofB);
  if (shape[plan.form.isTransposed] < kWgmmaRows || shape[!plan.form.isTransposed] < 8) return false;
  const bool isAInRegisters = plan.inRegisters && !plan.form.isTransposed;
  const bool isBInRegisters = plan.inRegisters && plan.form.isTransposed;
  if (!isAInRegisters && !liesInMatrix(dot.getA(), 1, ofA, false)) return false;
  if (!isBInRegisters && !liesInMatrix(dot.getB(), 0, ofB, false)) return false;
  plan.isWarpgroup = true;
  plan.shape = wgmmaShape(*format);
  plan.order = ascendingOrder(k);
  if (plan.isReadFromMemory)
    plan.form.rows =
        rowsReadFromMemory(*plan.shape, shape[plan.form.isTransposed], a.getIntOrFloatBitWidth() / 8, threads.warp);
  plan.layouts = wgmmaLayouts(*plan.shape, plan.form, shape, k, threads.warp);
  return true;
}

/// tcgen05 for this dot, if the target has it, tensor memory has room and the operands lie as it wants them. All such products of
/// a kernel are by one CTA, or all by two.
bool planTensor(DotPlan& plan, tt::DotOp dot, const Target& target, ThreadBits threads,
                llvm::function_ref<std::optional<LinearLayout>(Value)> layoutOf) {
  auto d = cast<RankedTensorType>(dot.getD().getType());
  if (!mayBeInTensorMemory(dot, d.getShape(), target, threads)) return false;
  if (isByTwoCtas(dot) != isDivided(dot->getParentOfType<tt::FuncOp>())) return false;
  if (!liesInMatrix(dot.getA(), 1, layoutOf(dot.getA()), true)) return false;
  if (!liesInMatrix(dot.getB(), 0, layoutOf(dot.getB()), true)) return false;
  plan.isTensor = true;
  plan.order = ascendingOrder(tt::shapeOf(dot.getA().getType()).back());
  plan.layouts.d = TensorMemoryLayout(d.getShape()).registers(threads.warp);
  return true;
}

} // namespace

bool mayBeInTensorMemory(tt::DotOp dot, ArrayRef<int64_t> sums, const Target& target, ThreadBits threads) {
  auto a = cast<RankedTensorType>(dot.getA().getType()), d = cast<RankedTensorType>(dot.getD().getType());
  constexpr int64_t kBitsOfStep = 256; // along K, that an instruction multiplies
  const int64_t threadCount = int64_t(1) << (threads.lane + threads.warp);
  if (!target.features().tcgen05 || threads.warp < 2 || !d.getElementType().isF32()) return false;
  if (!formatFor(dot, a.getElementType(), tt::elementTypeOf(dot.getB().getType()))) return false;
  if (!TensorMemoryLayout::fits(sums) || ShapedType::getNumElements(sums) < threadCount) return false;
  return a.getShape().back() * a.getElementTypeBitWidth() >= kBitsOfStep;
}

DotPlan planDot(tt::DotOp dot, const Target& target, ThreadBits threads,
                llvm::function_ref<std::optional<LinearLayout>(Value)> layoutOf) {
  mlir::Type a = tt::elementTypeOf(dot.getA().getType()), b = tt::elementTypeOf(dot.getB().getType());
  ArrayRef<int64_t> shape = tt::shapeOf(dot.getD().getType());
  int64_t k = tt::shapeOf(dot.getA().getType()).back();
  DotPlan plan;
  if (planWarpgroup(plan, dot, target, threads, layoutOf) || planTensor(plan, dot, target, threads, layoutOf))
    return plan;
  plan.shape = shapeFor(dot, a, b, target, k);
  unsigned narrowest = unsigned(std::min(a.getIntOrFloatBitWidth(), b.getIntOrFloatBitWidth()));
  if (!plan.shape && isF8(a) && isF8(b)) {
    plan.widened = Float16Type::get(dot.getContext());
    plan.shape = shapeFor(dot, plan.widened, plan.widened, target, k);
  }
  if (auto from = dot->getAttrOfType<IntegerAttr>("twg.narrowest")) narrowest = unsigned(from.getInt());
  if (!plan.shape) {
    plan.order = ascendingOrder(k);
    plan.layouts = fmaLayouts(fmaResult(shape, threads.lane, threads.warp), k);
    return plan;
  }
  plan.order = interleavedOrder(*plan.shape, k, std::max(32 / narrowest, 1u));
  plan.layouts =
      mmaLayouts(*plan.shape, plan.order, shape, warpsOfDot(*plan.shape, shape, threads.warp, isChained(dot)));
  return plan;
}

} // namespace tiletwin::codegen
