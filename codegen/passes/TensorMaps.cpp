// codegen/passes/TensorMaps.cpp -- see TensorMaps.h.
#include "codegen/passes/TensorMaps.h"
#include "ir/Contiguity.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/raw_ostream.h"
#include <numeric>

using namespace mlir;

namespace tiletwin::codegen {
namespace {

constexpr int64_t kAlignment = 16;           // bytes, of a block's beginning and of its rows
constexpr int64_t kLongestBox = 256;         // elements along a dimension
constexpr int64_t kLargestBlock = 64 * 1024; // bytes: two of them and what else a kernel needs are in shared memory
constexpr int64_t kMostCopies = 32;          // of a block: more are slower than plain accesses

/// The indices of a whole block that an operation copies; none for other operations.
std::optional<ValueRange> blockIndices(Operation* op) {
  return llvm::TypeSwitch<Operation*, std::optional<ValueRange>>(op)
      .Case<tt::DescriptorLoadOp, tt::DescriptorStoreOp, tt::DescriptorReduceOp>(
          [](auto access) { return access.getIndices(); })
      .Default([](Operation*) { return std::nullopt; });
}

int64_t bytesOf(mlir::Type element) { return element.getIntOrFloatBitWidth() / 8; }

int64_t rowsOf(ArrayRef<int64_t> block) {
  return std::accumulate(block.begin(), block.end() - 1, int64_t(1), std::multiplies<>());
}

class Chooser {
public:
  explicit Chooser(tt::FuncOp kernel) : kernel_(kernel) {}
  twg::TensorMapAttr choose(BlockArgument argument);

private:
  bool isCopied(OpOperand& use, mlir::Type element);
  bool isReduced(tt::DescriptorReduceOp reduce, mlir::Type element);

  tt::FuncOp kernel_;
  tt::ContiguityAnalysis contiguity_;
};

/// Whether copies can reduce so. Floats are only added: the language has no other reduction of theirs.
bool Chooser::isReduced(tt::DescriptorReduceOp reduce, mlir::Type element) {
  using Kind = tt::DescriptorReduceKind;
  Kind kind = reduce.getKind();
  if (isa<FloatType>(element)) return kind == Kind::Add && bytesOf(element) > 1;
  if (kind == Kind::Inc || kind == Kind::Dec) return bytesOf(element) == 4;
  return bytesOf(element) >= 4;
}

bool Chooser::isCopied(OpOperand& use, mlir::Type element) {
  std::optional<ValueRange> indices = blockIndices(use.getOwner());
  if (!indices || use.getOperandNumber() != 0) return false;
  if (auto reduce = dyn_cast<tt::DescriptorReduceOp>(use.getOwner()); reduce && !isReduced(reduce, element))
    return false;
  // An H200 ends a kernel with an illegal instruction where a block that is stored or reduced begins below zero.
  if (!isa<tt::DescriptorLoadOp>(use.getOwner()) &&
      !llvm::all_of(*indices, [&](Value index) { return contiguity_.of(index).notNegative; }))
    return false;
  const tt::Contiguity& first = contiguity_.of(indices->back());
  int64_t divisor = kAlignment / std::min(bytesOf(element), kAlignment);
  return first.value ? *first.value % divisor == 0 : first.dimensions.front().divisor % divisor == 0;
}

/// The map's element type in the words of tiletwin.sim.tensor_map. Copies change nothing, so types that maps have not are
/// integers of their size. isOrdered: min and max look at the sign.
StringRef elementName(mlir::Type element, bool isOrdered) {
  if (element.isF16()) return "float16";
  if (element.isBF16()) return "bfloat16";
  if (element.isF32()) return "float32";
  if (element.isF64()) return "float64";
  bool isSigned = isOrdered && !element.isUnsignedInteger();
  switch (bytesOf(element)) {
  case 1: return "uint8";
  case 2: return "uint16";
  case 4: return isSigned ? "int32" : "uint32";
  default: return isSigned ? "int64" : "uint64";
  }
}

twg::TensorMapAttr Chooser::choose(BlockArgument argument) {
  auto type = cast<tt::TensorDescType>(argument.getType());
  mlir::Type element = type.getElementType();
  if (argument.use_empty()) return {};
  for (OpOperand& use : argument.getUses())
    if (!isCopied(use, element)) return {};
  bool isOrdered = llvm::any_of(argument.getUsers(), [](Operation* user) {
    auto reduce = dyn_cast<tt::DescriptorReduceOp>(user);
    return reduce &&
           (reduce.getKind() == tt::DescriptorReduceKind::Min || reduce.getKind() == tt::DescriptorReduceKind::Max);
  });
  return tensorMapOfBlock(type, isOrdered);
}

} // namespace

twg::TensorMapAttr tensorMapOfBlock(tt::TensorDescType type, bool isOrdered) {
  mlir::Type element = type.getElementType();
  ArrayRef<int64_t> block = type.getShape();
  int64_t row = block.back() * bytesOf(element), rows = rowsOf(block);
  if (element.isInteger(1) || row % kAlignment || rows * row > kLargestBlock) return {};
  std::array<int64_t, 2> matrix{rows, block.back()};
  unsigned swizzle = rows > 1 ? SharedLayout::widestSwizzle(matrix, unsigned(bytesOf(element)), 1) : 0;
  SmallVector<int64_t, 5> box(block);
  if (swizzle) box.back() = std::min(box.back(), int64_t(swizzle) / bytesOf(element));
  // Rows of a copy lie one behind the other: outside of a dimension that is cut there is one of each.
  bool isCut = false;
  for (int64_t& extent : llvm::reverse(box)) {
    bool isRow = &extent == &box.back();
    if (isCut && !isRow) extent = 1;
    if (extent <= kLongestBox) continue;
    extent = kLongestBox;
    isCut |= !isRow;
  }
  int64_t copies = 1;
  for (auto [whole, part] : llvm::zip_equal(block, box)) copies *= whole / part;
  if (copies > kMostCopies) return {};
  auto name = StringAttr::get(type.getContext(), elementName(element, isOrdered));
  return twg::TensorMapAttr::get(type.getContext(), name, box, swizzle);
}

void chooseTensorMaps(tt::FuncOp kernel, const Target& target) {
  if (!target.features().tensorCopies) return;
  Chooser chooser(kernel);
  for (BlockArgument argument : kernel.getArguments())
    if (isa<tt::TensorDescType>(argument.getType()) && !tensorMapOf(argument))
      if (twg::TensorMapAttr map = chooser.choose(argument))
        kernel.setArgAttr(argument.getArgNumber(), kTensorMapAttribute, map);
}

twg::TensorMapAttr tensorMapOf(tt::FuncOp kernel, unsigned argument) {
  return kernel.getArgAttrOfType<twg::TensorMapAttr>(argument, kTensorMapAttribute);
}

twg::TensorMapAttr tensorMapOf(Value descriptor) {
  auto argument = dyn_cast<BlockArgument>(descriptor);
  auto kernel = argument ? dyn_cast<tt::FuncOp>(argument.getOwner()->getParentOp()) : tt::FuncOp();
  if (!kernel || !argument.getOwner()->isEntryBlock()) return {};
  return tensorMapOf(kernel, argument.getArgNumber());
}

twg::MemDescType tensorMemory(tt::TensorDescType descriptor, twg::TensorMapAttr map) {
  std::array<int64_t, 2> matrix{rowsOf(descriptor.getShape()), descriptor.getShape().back()};
  auto layout = twg::SharedAttr::get(descriptor.getContext(), 1, map.getSwizzle());
  return twg::MemDescType::get(descriptor.getContext(), matrix, descriptor.getBlockType().getElementType(), layout);
}

std::string describeTensorMap(twg::TensorMapAttr map, StringRef recipe) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "tensormap<" << map.getElement().getValue() << ", ";
  llvm::interleave(map.getBox(), out, "x");
  out << ", " << map.getSwizzle() << (recipe.empty() ? "" : "; ") << recipe << '>';
  return text;
}

} // namespace tiletwin::codegen
