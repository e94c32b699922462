// codegen/passes/DotOperands.cpp -- see DotOperands.h.
#include "codegen/passes/DotOperands.h"
#include "codegen/dialect/TWG.h"
#include "codegen/passes/DotLayouts.h"
#include "codegen/passes/Pipeline.h"
#include "codegen/passes/Ring.h"
#include "codegen/passes/SharedMemory.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tiletwin::codegen {
namespace {

bool staysInThreads(const LinearLayout& from, const LinearLayout& to) {
  return from.bases(Part::Lane) == to.bases(Part::Lane) && from.bases(Part::Warp) == to.bases(Part::Warp);
}

/// Words of a thread's operands from which on a product without tensor cores reads them from memory where it needs them:
/// half of the registers that a thread can have, since sums, addresses and what else is alive want theirs.
constexpr unsigned kManyWords = 128;

/// The type in shared memory through which a conversion goes; null: not this way. readApart: only if lanes that read meet in
/// no bank.
twg::MemDescType memoryFor(twg::ConvertLayoutOp convert, bool readApart) {
  auto type = cast<RankedTensorType>(convert.getSrc().getType());
  LinearLayout from = twg::layoutOf(type), to = twg::layoutOf(convert.getResult());
  mlir::Type element = type.getElementType();
  if (type.getRank() < 2 || !element.isIntOrFloat() || element.isInteger(1) || staysInThreads(from, to)) return {};
  unsigned bytes = element.getIntOrFloatBitWidth() / 8;
  std::optional<unsigned> contiguous = contiguousDimension(from);
  if (!contiguous || *contiguous + 2 < type.getRank() || type.getDimSize(*contiguous) * bytes < 16) return {};
  unsigned swizzle = SharedLayout::widestSwizzle(type.getShape(), bytes, *contiguous), piece = SharedLayout::kPiece;
  if (readApart && !MatrixLoad::of(SharedLayout(type.getShape(), bytes, *contiguous, swizzle).inMemory(to), bytes)) {
    piece *= 2; // no ldmatrix transposes words of 32 bits, but the lanes can read them without conflicts
    SharedLayout layout(type.getShape(), bytes, *contiguous, swizzle, piece);
    if (!readsWordsApart(layout.inMemory(to), bytes)) return {};
  }
  auto attribute = twg::SharedAttr::get(convert.getContext(), *contiguous, swizzle, piece);
  return twg::MemDescType::get(convert.getContext(), type.getShape(), element, attribute);
}

twg::ConvertLayoutOp conversionOf(Value operand) {
  if (auto widened = operand.getDefiningOp<tt::FpToFpOp>()) operand = widened.getSrc();
  return operand.getDefiningOp<twg::ConvertLayoutOp>();
}

/// The tile's copy in shared memory that this pass has made, which stands right behind the tile.
Value copyOf(Value tile, twg::MemDescType type) {
  for (Operation* user : tile.getUsers())
    if (auto known = dyn_cast<twg::LocalAllocOp>(user); known && known.getResult().getType() == type)
      if (tile.getDefiningOp() && known->getPrevNode() == tile.getDefiningOp()) return known.getResult();
  return {};
}

bool isWithoutTensorCores(tt::DotOp dot) {
  auto instruction = dot->getAttrOfType<StringAttr>("instruction");
  return instruction && instruction.getValue() == "fma";
}

/// The operand's conversion, if it is one of a load beside the product, for such products alone; and the memory to which
/// the load can be copied.
std::pair<twg::ConvertLayoutOp, twg::MemDescType> loadedOperand(tt::DotOp dot, Value operand) {
  auto convert = operand.getDefiningOp<twg::ConvertLayoutOp>();
  auto load = convert ? convert.getSrc().getDefiningOp<tt::LoadOp>() : tt::LoadOp();
  if (!load || !tt::hasOneUse(load.getResult()) || convert->getBlock() != dot->getBlock()) return {};
  const bool isForProducts = llvm::all_of(tt::usersOf(convert.getResult()), [&](Operation* user) {
    auto other = dyn_cast<tt::DotOp>(user);
    return other && other->getBlock() == dot->getBlock() && isWithoutTensorCores(other);
  });
  if (!isForProducts) return {};
  if (load->getBlock() != dot->getBlock()) return {};
  twg::MemDescType type = memoryFor(convert, /*readApart=*/false);
  return type && canBeCopied(load, type) ? std::pair(convert, type)
                                         : std::pair<twg::ConvertLayoutOp, twg::MemDescType>();
}

/// Bytes that a loop's pipeline makes of memory that each iteration allocates.
uint32_t bytesOfStages(twg::MemDescType type, scf::ForOp loop, const Options& options) {
  return twg::sharedLayoutOf(type).bytes() * uint32_t(loop ? std::max(stagesOf(loop, options), 1) : 1);
}

/// In front of each of its readers it is read again: registers do not hold it from the first to the last.
void putInMemory(twg::ConvertLayoutOp convert, twg::MemDescType type) {
  OpBuilder builder(convert);
  Value memory = twg::LocalAllocOp::create(builder, convert.getLoc(), type, convert.getSrc(), IntegerAttr());
  for (OpOperand& use : llvm::make_early_inc_range(convert->getUses())) {
    builder.setInsertionPoint(use.getOwner());
    use.set(twg::LocalLoadOp::create(builder, convert.getLoc(), convert.getResult().getType(), memory));
  }
  convert.erase();
}

bool hasManyWords(tt::DotOp dot) {
  if (!isWithoutTensorCores(dot)) return false;
  unsigned words = 0;
  for (Value operand : {dot.getA(), dot.getB()}) {
    unsigned bits = cast<RankedTensorType>(operand.getType()).getElementType().getIntOrFloatBitWidth();
    words += twg::layoutOf(operand).registers() * bits / 32;
  }
  return words > kManyWords;
}

/// Of a product that needs more registers than there may be if all its operands are read ahead: they stay in memory until
/// then. room: bytes that are left for them.
void keepInMemory(tt::DotOp dot, uint32_t& room) {
  for (Value operand : {dot.getA(), dot.getB()}) {
    twg::ConvertLayoutOp convert = conversionOf(operand);
    if (!convert || !tt::hasOneUse(convert.getResult()) || convert->getBlock() != dot->getBlock()) continue;
    Operation* user = *tt::usersOf(convert.getResult()).begin();
    if (user != dot && !tt::hasOneUse(user->getResult(0))) continue;
    twg::MemDescType type = memoryFor(convert, /*readApart=*/false);
    if (!type) continue;
    Value memory = copyOf(convert.getSrc(), type);
    uint32_t needed = memory ? 0 : twg::sharedLayoutOf(type).bytes();
    if (needed > room) continue;
    room -= needed;
    OpBuilder builder(convert);
    if (!memory) {
      builder.setInsertionPointAfterValue(convert.getSrc());
      memory = twg::LocalAllocOp::create(builder, convert.getLoc(), type, convert.getSrc(), IntegerAttr());
    }
    if (user != dot) user->moveBefore(dot);
    builder.setInsertionPoint(user);
    Value loaded = twg::LocalLoadOp::create(builder, convert.getLoc(), convert.getResult().getType(), memory);
    convert.getResult().replaceAllUsesWith(loaded);
    convert.erase();
  }
}

} // namespace

Value sharedCopy(Value tile, unsigned contiguous) {
  auto type = cast<RankedTensorType>(tile.getType());
  OpBuilder builder(type.getContext());
  builder.setInsertionPointAfterValue(tile);
  for (Operation* user : tile.getUsers()) {
    auto known = dyn_cast<twg::LocalAllocOp>(user);
    if (!known || known->getBlock() != builder.getInsertionBlock()) continue;
    if (known.getResult().getType().getLayout().getContiguous() != contiguous) continue;
    if (Operation* first = &*builder.getInsertionPoint(); known != first) known->moveBefore(first);
    return known.getResult();
  }
  unsigned bytes = type.getElementTypeBitWidth() / 8;
  auto layout = twg::SharedAttr::get(type.getContext(), contiguous,
                                     SharedLayout::widestSwizzle(type.getShape(), bytes, contiguous));
  auto memory = twg::MemDescType::get(type.getContext(), type.getShape(), type.getElementType(), layout);
  return twg::LocalAllocOp::create(builder, tile.getLoc(), memory, tile, IntegerAttr());
}

Value matrixCopy(Value tile, unsigned kDimension, bool isTensor) {
  return sharedCopy(tile, matrixDimension(tile, kDimension, twg::layoutOf(tile), isTensor));
}

void shareDotOperands(tt::FuncOp kernel) {
  SmallVector<twg::ConvertLayoutOp> conversions;
  kernel.walk([&](tt::DotOp dot) {
    for (Value operand : {dot.getA(), dot.getB()})
      if (twg::ConvertLayoutOp convert = conversionOf(operand); convert && !llvm::is_contained(conversions, convert))
        conversions.push_back(convert);
  });
  llvm::SmallDenseMap<Value, unsigned> uses;
  for (twg::ConvertLayoutOp convert : conversions) ++uses[convert.getSrc()];
  for (twg::ConvertLayoutOp convert : conversions) {
    twg::MemDescType type = memoryFor(convert, /*readApart=*/true);
    if (!type) continue;
    Value tile = convert.getSrc(), memory = copyOf(tile, type);
    OpBuilder builder(convert);
    if (!memory) {
      if (uses[tile] > 1) builder.setInsertionPointAfterValue(tile); // one for all of them
      memory = twg::LocalAllocOp::create(builder, convert.getLoc(), type, tile, IntegerAttr());
    }
    builder.setInsertionPoint(convert);
    Value loaded = twg::LocalLoadOp::create(builder, convert.getLoc(), convert.getResult().getType(), memory);
    convert.getResult().replaceAllUsesWith(loaded);
    convert.erase();
  }
}

void shareTransposed(tt::FuncOp kernel) {
  SmallVector<twg::LocalAllocOp> allocations;
  kernel.walk([&](twg::LocalAllocOp one) {
    auto trans = one.getSrc() ? one.getSrc().getDefiningOp<tt::TransOp>() : tt::TransOp();
    if (trans && trans.getOrder() == ArrayRef<int32_t>{1, 0}) allocations.push_back(one);
  });
  for (twg::LocalAllocOp one : allocations) {
    auto trans = one.getSrc().getDefiningOp<tt::TransOp>();
    twg::MemDescType type = one.getResult().getType();
    Value memory = sharedCopy(trans.getSrc(), 1 - type.getLayout().getContiguous());
    twg::SharedAttr given = cast<twg::MemDescType>(memory.getType()).getLayout(), wanted = type.getLayout();
    if (given.getSwizzle() != wanted.getSwizzle() || given.getPiece() != wanted.getPiece()) continue;
    for (OpOperand& use : llvm::make_early_inc_range(one->getUses())) {
      OpBuilder builder(use.getOwner());
      use.set(twg::MemDescViewOp::create(builder, one.getLoc(), type, memory));
    }
    one.erase();
    if (trans.use_empty()) trans.erase();
  }
}

void shareLoadedOperands(tt::FuncOp kernel, const Target& target, const Options& options) {
  if (!target.features().asyncCopies) return;
  uint32_t room = halfOfSharedMemory(target);
  kernel.walk([&](twg::LocalAllocOp other) {
    auto loop = dyn_cast<scf::ForOp>(other->getParentOp());
    room -= std::min(room, bytesOfStages(other.getResult().getType(), loop, options));
  });
  kernel.walk([&](tt::DotOp dot) {
    auto loop = dyn_cast<scf::ForOp>(dot->getParentOp());
    if (!loop || stagesOf(loop, options) < 2 || !isWithoutTensorCores(dot)) return;
    uint32_t needed = 0;
    SmallVector<std::pair<twg::ConvertLayoutOp, twg::MemDescType>, 2> loaded;
    for (Value operand : {dot.getA(), dot.getB()})
      if (auto one = loadedOperand(dot, operand); one.first && !llvm::is_contained(loaded, one)) {
        loaded.push_back(one);
        needed += bytesOfStages(one.second, loop, options);
      }
    if (needed > room) return;
    room -= needed;
    for (auto [convert, type] : loaded) putInMemory(convert, type);
  });
}

void keepLargeOperands(tt::FuncOp kernel, const Target& target) {
  uint32_t room = halfOfSharedMemory(target);
  kernel.walk([&](twg::LocalAllocOp other) {
    room -= std::min(room, twg::sharedLayoutOf(other.getResult().getType()).bytes());
  });
  kernel.walk([&](tt::DotOp dot) {
    if (hasManyWords(dot)) keepInMemory(dot, room);
  });
}

} // namespace tiletwin::codegen
