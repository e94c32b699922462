// codegen/emit/Descriptor.cpp -- see Descriptor.h.
#include "codegen/emit/Descriptor.h"
#include "codegen/passes/AffineLoads.h"
#include "codegen/passes/TensorMaps.h"

using namespace mlir;

namespace tiletwin::codegen {

using llvm::Value;

SmallVector<llvm::Type*, 8> Descriptor::partTypes(llvm::IRBuilder<>& b, unsigned rank) {
  SmallVector<llvm::Type*, 8> types{b.getPtrTy(1)};
  types.append(rank, b.getInt32Ty());
  types.append(rank, b.getInt64Ty());
  types.push_back(b.getInt32Ty());
  return types;
}

Descriptor Descriptor::of(Emitter& e, mlir::Value descriptor) {
  ArrayRef<Value*> all = e.values(descriptor);
  unsigned rank = (all.size() - 2) / 2;
  return {all.front(), Values(all.slice(1, rank)), Values(all.slice(1 + rank, rank)), all.back()};
}

void Descriptor::define(Emitter& e, mlir::Value descriptor) const {
  Values all{base};
  llvm::append_range(all, extents);
  llvm::append_range(all, strides);
  all.push_back(notes);
  e.define(descriptor, std::move(all));
}

/// What a text may say of an argument that is a tensor map: boxes that fill the block, rows that the hardware copies, copies
/// as its only users.
static LogicalResult verifyMap(BlockArgument argument, tt::TensorDescType type, twg::TensorMapAttr map) {
  auto refuse = [&] {
    return emitError(argument.getLoc()) << "the tensor map of argument " << argument.getArgNumber();
  };
  ArrayRef<int64_t> block = type.getShape(), box = map.getBox();
  constexpr int64_t kLongestBox = 256;
  bool isGood = box.size() == block.size();
  for (size_t d = 0; isGood && d < box.size(); ++d)
    isGood = box[d] >= 1 && box[d] <= std::min(block[d], kLongestBox) && block[d] % box[d] == 0;
  if (!isGood) return refuse() << " has a box whose extents do not divide those of the block, or are above 256";
  unsigned swizzle = map.getSwizzle(), row = unsigned(box.back()) * (type.getElementType().getIntOrFloatBitWidth() / 8);
  constexpr unsigned kRowUnit = 16; ///< bytes
  if (row % kRowUnit)
    return refuse() << " has a box with rows of " << row << " bytes, which are no multiple of " << kRowUnit;
  if (!llvm::is_contained({0u, 32u, 64u, 128u}, swizzle) || (swizzle && row > swizzle))
    return refuse() << " has a swizzle of " << swizzle << " bytes, with rows of " << row;
  for (Operation* user : argument.getUsers())
    if (!isa<twg::TensorLoadOp, twg::TensorStoreOp>(user))
      return refuse() << " cannot be used by " << user->getName() << ", which takes no map";
  return success();
}

LogicalResult Descriptor::verifyArgument(BlockArgument argument) {
  auto type = dyn_cast<tt::TensorDescType>(argument.getType());
  if (!type) return success();
  auto arguments = argument.getOwner()->getArguments();
  size_t rank = type.getShape().size(), first = argument.getArgNumber() + 1;
  const bool isMadeOfOthers = !recipeOf(argument).empty();
  for (size_t i = 0; i < 2 * rank && !isMadeOfOthers; ++i)
    if (first + i >= arguments.size() || !arguments[first + i].getType().isInteger(i < rank ? 32 : 64))
      return emitError(argument.getLoc())
             << "the descriptor that is argument " << argument.getArgNumber() << " must be followed by its " << rank
             << " extents (i32) and " << rank << " strides (i64)";
  twg::TensorMapAttr map = tensorMapOf(argument);
  return map ? verifyMap(argument, type, map) : success();
}

Descriptor Descriptor::ofArgument(Emitter& e, BlockArgument argument, Value* word) {
  llvm::IRBuilder<>& b = e.ir();
  auto arguments = argument.getOwner()->getArguments();
  size_t rank = cast<tt::TensorDescType>(argument.getType()).getShape().size(), first = argument.getArgNumber() + 1;
  Descriptor result;
  result.base = b.CreateIntToPtr(b.CreateAnd(word, ~uint64_t(kNotes)), b.getPtrTy(1));
  for (size_t d = 0; d < rank; ++d) {
    result.extents.push_back(e.scalar(arguments[first + d]));
    result.strides.push_back(d + 1 < rank ? e.scalar(arguments[first + rank + d]) : b.getInt64(1));
  }
  result.notes = b.CreateTrunc(b.CreateAnd(word, uint64_t(kNotes)), b.getInt32Ty());
  return result;
}

} // namespace tiletwin::codegen
