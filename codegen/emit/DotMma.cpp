// codegen/emit/DotMma.cpp -- dots as mma.sync: every warp multiplies its part of the tile, fragment by fragment.
// Idea: the fragments' registers are looked up by the element that the first lane holds; layouts are those that
//       layout/TensorCores.h gives for the attributes `instruction` and `order`. Along K the fragments follow each other,
//       each adding to what the one before left.
#include "codegen/emit/DotOps.h"
#include "codegen/emit/Memory.h"
#include "codegen/passes/DotLayouts.h"

using namespace mlir;

namespace tiletwin::codegen {

using llvm::Value;

StringRef ptxTypeOf(mlir::Type element) {
  switch (*multipliedFormat(element)) {
  case Multiplied::F16: return "f16";
  case Multiplied::BF16: return "bf16";
  case Multiplied::TF32: return "tf32";
  case Multiplied::S8: return "s8";
  case Multiplied::E4M3: return "e4m3";
  case Multiplied::E5M2: return "e5m2";
  case Multiplied::F64: return "f64";
  }
  llvm_unreachable("no such format");
}

namespace {

/// One dot while it is emitted. Elements are named by coordinates of the first thread, registers found from them.
class MmaDot {
public:
  MmaDot(Emitter& e, tt::DotOp dot, const MmaShape& shape, KOrder order)
      : e_(e), dot_(dot), shape_(shape), order_(std::move(order)) {}
  LogicalResult emit();

private:
  using At = SmallVector<int64_t, 5>;
  /// The words of a fragment of operand a (b) at a row (column) and a step along K.
  Values fragment(bool isA, At at, uint32_t step);
  /// The numbers of the result's registers of the fragment whose first element is `at`.
  SmallVector<uint32_t, 4> resultRegisters(At at) const;
  int64_t kOf(uint32_t position) const;
  std::string text();
  void multiply(ArrayRef<uint32_t> registers, Values a, Values b, Values& sums);

  Emitter& e_;
  tt::DotOp dot_;
  const MmaShape& shape_;
  KOrder order_;
  DotLayouts layouts_;
  std::optional<RegisterMap> a_, b_, d_;
};

int64_t MmaDot::kOf(uint32_t position) const {
  int64_t k = 0;
  for (auto [bit, to] : llvm::enumerate(order_)) k |= int64_t(position >> bit & 1) << to;
  return k;
}

Values MmaDot::fragment(bool isA, At at, uint32_t step) {
  const LinearLayout& layout = isA ? layouts_.a : layouts_.b;
  unsigned rank = layout.rank(), outer = isA ? rank - 2 : rank - 1, inner = isA ? rank - 1 : rank - 2;
  ArrayRef<Value*> values = e_.values(isA ? dot_.getA() : dot_.getB());
  bool is16Rows = isA && shape_.mBits == 4;
  unsigned packed = shape_.packedBits, halves = shape_.kBits - packed - 2;
  Values words;
  for (uint32_t half = 0; half < 1u << halves; ++half)
    for (uint32_t rows = 0; rows < (is16Rows ? 2u : 1u); ++rows) {
      Values elements;
      for (uint32_t i = 0; i < 1u << packed; ++i) {
        At element = at;
        element[outer] = (at[outer] | rows << 3) & (layout.shape()[outer] - 1);
        element[inner] = kOf(step << shape_.kBits | half << (packed + 2) | i);
        elements.push_back(values[(isA ? a_ : b_)->at(layout.flatIndex(element))]);
      }
      if (shape_.format == Multiplied::F64)
        words.push_back(elements.front());
      else
        words.push_back(packWords(e_, elements).front());
    }
  return words;
}

SmallVector<uint32_t, 4> MmaDot::resultRegisters(At at) const {
  const LinearLayout& d = layouts_.d;
  unsigned m = d.rank() - 2, n = d.rank() - 1;
  SmallVector<uint32_t, 4> registers;
  for (uint32_t rows = 0; rows < 1u << (shape_.mBits - 3); ++rows)
    for (uint32_t column = 0; column < 2; ++column) {
      At element = at;
      element[m] = (at[m] | rows << 3) & (d.shape()[m] - 1);
      element[n] = (at[n] | column) & (d.shape()[n] - 1);
      registers.push_back(d_->at(d.flatIndex(element)));
    }
  return registers;
}

std::string MmaDot::text() {
  mlir::Type result = tt::elementTypeOf(dot_.getD().getType());
  std::string sum = result.isInteger() ? "s32" : "f" + std::to_string(result.getIntOrFloatBitWidth());
  std::string a = ptxTypeOf(tt::elementTypeOf(dot_.getA().getType())).str();
  std::string b = ptxTypeOf(tt::elementTypeOf(dot_.getB().getType())).str();
  // Integer sums stop at the ends of their range, as Triton asks of this instruction.
  const std::string stops = result.isInteger() ? "satfinite." : "";
  return "mma.sync.aligned." + shape_.name.str() + ".row.col." + stops + sum + "." + a + "." + b + "." + sum;
}

void MmaDot::multiply(ArrayRef<uint32_t> registers, Values a, Values b, Values& sums) {
  // Sums of f16 go in pairs.
  llvm::Type* type = sums.front()->getType();
  bool isPaired = type->isHalfTy();
  Values accumulator;
  for (unsigned i = 0; i < registers.size(); i += isPaired ? 2 : 1)
    accumulator.push_back(isPaired ? packWords(e_, {sums[registers[i]], sums[registers[i + 1]]}).front()
                                   : sums[registers[i]]);
  bool isF64 = type->isDoubleTy();
  std::string kind = isF64 ? "d" : type->isFloatTy() ? "f" : "r", constraints, lists[3];
  unsigned number = 0;
  auto addTo = [&](std::string& list, size_t count) {
    list = "{";
    for (size_t i = 0; i < count; ++i) list += (i ? ",$" : "$") + std::to_string(number++);
    list += "}";
  };
  for (size_t i = 0; i < accumulator.size(); ++i) constraints += (i ? ",=" : "=") + kind;
  for (size_t i = 0; i < a.size() + b.size(); ++i) constraints += isF64 ? ",d" : ",r";
  for (size_t i = 0; i < accumulator.size(); ++i) constraints += "," + std::to_string(i);
  addTo(lists[0], accumulator.size()), addTo(lists[1], a.size()), addTo(lists[2], b.size());
  std::string whole = text() + " " + lists[0] + ", " + lists[1] + ", " + lists[2] + ", " + lists[0] + ";";
  SmallVector<llvm::Type*> outputs(accumulator.size(), accumulator.front()->getType());
  Values inputs = std::move(a);
  llvm::append_range(inputs, b);
  llvm::append_range(inputs, accumulator);
  Values results = e_.inlinePtx(whole, constraints, outputs, inputs, false);
  for (auto [i, result] : llvm::enumerate(results)) {
    if (!isPaired) {
      sums[registers[i]] = result;
      continue;
    }
    Values two = unpackWords(e_, {result}, type, 2);
    sums[registers[2 * i]] = two[0], sums[registers[2 * i + 1]] = two[1];
  }
}

LogicalResult MmaDot::emit() {
  LinearLayout d = twg::layoutOf(dot_.getD());
  layouts_ = mmaLayouts(shape_, order_, d.shape(), d.bases(Part::Warp));
  if (!(layouts_.a == twg::layoutOf(dot_.getA())) || !(layouts_.b == twg::layoutOf(dot_.getB())) || !(layouts_.d == d))
    return dot_.emitOpError("has layouts that are not those of its instruction");
  a_.emplace(layouts_.a), b_.emplace(layouts_.b), d_.emplace(layouts_.d);
  unsigned m = d.rank() - 2, n = d.rank() - 1;
  SmallVector<At> fragments; // the first element of each
  for (uint32_t r = 0; r < d.registers(); ++r) {
    At at = d.coordinates(d.elementOf(Part::Register, r));
    if (at[m] % (1 << shape_.mBits) == 0 && at[n] % (1 << MmaShape::kNBits) == 0) fragments.push_back(at);
  }
  Values sums(e_.values(dot_.getC()));
  for (uint32_t step = 0; step < 1u << (order_.size() - shape_.kBits); ++step)
    for (const At& at : fragments)
      multiply(resultRegisters(at), fragment(true, at, step), fragment(false, at, step), sums);
  e_.define(dot_.getD(), std::move(sums));
  return success();
}

} // namespace

LogicalResult emitMma(Emitter& e, tt::DotOp dot) {
  std::optional<Multiplied> format = multipliedFormat(tt::elementTypeOf(dot.getA().getType()));
  StringRef name = dot->getAttrOfType<StringAttr>("instruction").getValue().drop_front(4);
  const MmaShape* shape = format ? mmaShapeOf(name, *format) : nullptr;
  auto order = dot->getAttrOfType<DenseI32ArrayAttr>("order");
  if (!shape || !order) return dot.emitOpError() << "has no instruction " << name << " for its operands, or no `order`";
  return MmaDot(e, dot, *shape, KOrder(order.asArrayRef())).emit();
}

} // namespace tiletwin::codegen
