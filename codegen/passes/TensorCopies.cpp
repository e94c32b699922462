// codegen/passes/TensorCopies.cpp -- see TensorCopies.h.
// Idea: a load is an allocation, a barrier of all threads, the number of bytes that will come, the copies, and a wait. The
//       memory takes the place of the tile: an allocation for a dot that holds the tile (or the tile transposed) is the
//       memory itself, a conversion is a load in the other layout. Loads that follow each other closely share barrier and wait.
// Invariant: memory that a copy writes or reads is not used otherwise at that time: copies are waited for where they begin.
#include "codegen/passes/TensorCopies.h"
#include "codegen/passes/AffineLoads.h"
#include "codegen/passes/LoopSlice.h"
#include "codegen/passes/TensorMaps.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;

namespace tiletwin::codegen {
namespace {

/// A copied block, from its allocation to the wait for it.
struct LoadedBlock {
  twg::LocalAllocOp memory;
  twg::ProxyBarrierOp before;
  twg::BarrierExpectOp expect;
  twg::TensorLoadOp load;
  twg::BarrierWaitOp wait;
};

/// The operation in `block` that a value is first needed for; null if one of its users lies elsewhere.
Operation* firstUser(Value value, Block* block) {
  Operation* first = nullptr;
  for (Operation* user : value.getUsers()) {
    Operation* here = block->findAncestorOpInBlock(*user);
    if (!here) return nullptr;
    if (!first || here->isBeforeInBlock(first)) first = here;
  }
  return first;
}

/// Moves a load from shared memory to where it is first needed, so that copies that follow are not held up.
void sink(Value loaded) {
  Operation* load = loaded.getDefiningOp();
  if (Operation* user = firstUser(loaded, load->getBlock())) load->moveBefore(user);
}

class TensorCopies {
public:
  explicit TensorCopies(tt::FuncOp kernel) : kernel_(kernel), builder_(kernel.getContext()) {}
  void run();

private:
  bool mayBeWrittenBefore(Operation* copy);
  void makeBarrier();
  twg::LocalAllocOp memoryFor(Operation* op, Value descriptor, Value tile = {});
  Value asMatrix(Value tile, twg::MemDescType type);
  LoadedBlock begin(tt::DescriptorLoadOp load);
  void useMemory(Value tile, Value memory);
  void takeTransposed(tt::TransOp trans, Value memory);
  void takeAsMatrix(tt::ReshapeOp reshape, Value memory);
  Value inRegisters(Value memory, RankedTensorType type, Operation* before);
  void store(Operation* op, Value descriptor, ValueRange indices, Value tile, StringAttr reduce);
  void merge(MutableArrayRef<LoadedBlock> blocks);

  tt::FuncOp kernel_;
  OpBuilder builder_;
  Value barrier_;
};

/// Whether plain stores in front of a copy, or other programs that this one may have waited for there, can write what it copies.
bool TensorCopies::mayBeWrittenBefore(Operation* copy) {
  copy = outermostLoop(copy); // another round comes before, too
  bool isFound = false;
  kernel_.walk<WalkOrder::PreOrder>([&](Operation* op) {
    Operation* here = copy->getBlock()->findAncestorOpInBlock(*op);
    const bool isBehind = here && copy->isBeforeInBlock(here);
    if (isBehind || (op == copy && !isa<LoopLikeOpInterface>(op))) return WalkResult::interrupt();
    // What copies have written copies see: each is done before the next one begins.
    const bool isCopied = isa<tt::DescriptorStoreOp, tt::DescriptorReduceOp>(op) && tensorMapOf(op->getOperand(0));
    isFound = mayExposeWrites(op) && !isCopied;
    return isFound ? WalkResult::interrupt() : WalkResult::advance();
  });
  return isFound;
}

/// One barrier for all loads that are waited for at once, made before anything else.
void TensorCopies::makeBarrier() {
  builder_.setInsertionPointToStart(&kernel_.getBody().front());
  auto layout = twg::SharedAttr::get(builder_.getContext(), 1, 0);
  auto type = twg::MemDescType::get(builder_.getContext(), {1, 1}, builder_.getI64Type(), layout);
  barrier_ = twg::LocalAllocOp::create(builder_, kernel_.getLoc(), type, Value(), IntegerAttr());
  twg::BarrierInitOp::create(builder_, kernel_.getLoc(), barrier_);
}

twg::LocalAllocOp TensorCopies::memoryFor(Operation* op, Value descriptor, Value tile) {
  twg::MemDescType type = tensorMemory(cast<tt::TensorDescType>(descriptor.getType()), tensorMapOf(descriptor));
  if (tile) tile = asMatrix(tile, type);
  return twg::LocalAllocOp::create(builder_, op->getLoc(), type, tile, IntegerAttr());
}

/// The tile as rows by columns: its elements keep their order, and so their registers.
Value TensorCopies::asMatrix(Value tile, twg::MemDescType type) {
  if (tt::shapeOf(tile.getType()) == type.getShape()) return tile;
  LinearLayout layout = twg::layoutOf(tile).reshaped(type.getShape());
  auto matrix = RankedTensorType::get(type.getShape(), type.getElementType());
  return tt::ReshapeOp::create(builder_, tile.getLoc(), twg::withLayout(matrix, layout), tile);
}

LoadedBlock TensorCopies::begin(tt::DescriptorLoadOp load) {
  builder_.setInsertionPoint(load);
  Location where = load.getLoc();
  LoadedBlock block;
  block.memory = memoryFor(load, load.getDesc());
  uint32_t bytes = twg::sharedLayoutOf(block.memory.getResult().getType()).bytes();
  const bool isWritten = !isMadeByLauncher(load.getDesc()) && mayBeWrittenBefore(load);
  block.before = twg::ProxyBarrierOp::create(builder_, where, isWritten);
  block.expect = twg::BarrierExpectOp::create(builder_, where, barrier_, bytes, Value());
  block.load = twg::TensorLoadOp::create(builder_, where, load.getDesc(), load.getIndices(), block.memory.getResult(),
                                         barrier_, Value(), Value());
  block.wait = twg::BarrierWaitOp::create(builder_, where, barrier_, Value());
  return block;
}

Value TensorCopies::inRegisters(Value memory, RankedTensorType type, Operation* before) {
  builder_.setInsertionPoint(before);
  ArrayRef<int64_t> shape = cast<twg::MemDescType>(memory.getType()).getShape();
  if (type.getShape() == shape) return twg::LocalLoadOp::create(builder_, memory.getLoc(), type, memory);
  auto matrix = RankedTensorType::get(shape, type.getElementType());
  LinearLayout layout = twg::layoutOf(type).reshaped(shape);
  Value loaded = twg::LocalLoadOp::create(builder_, memory.getLoc(), twg::withLayout(matrix, layout), memory);
  return tt::ReshapeOp::create(builder_, memory.getLoc(), type, loaded);
}

void TensorCopies::takeTransposed(tt::TransOp trans, Value memory) {
  auto type = cast<twg::MemDescType>(memory.getType());
  if (trans.getOrder() != ArrayRef<int32_t>{1, 0} || tt::shapeOf(trans.getSrc().getType()) != type.getShape()) return;
  auto layout =
      twg::SharedAttr::get(builder_.getContext(), 1 - type.getLayout().getContiguous(), type.getLayout().getSwizzle());
  std::array<int64_t, 2> shape{type.getShape()[1], type.getShape()[0]};
  auto turned = twg::MemDescType::get(builder_.getContext(), shape, type.getElementType(), layout);
  builder_.setInsertionPoint(trans);
  Value view = twg::MemDescViewOp::create(builder_, trans.getLoc(), turned, memory);
  useMemory(trans.getResult(), view);
  if (trans.use_empty()) trans.erase();
  if (view.use_empty()) view.getDefiningOp()->erase();
}

/// Memory holds a tile of more dimensions as rows by columns. A reshape to just that is in the memory already.
void TensorCopies::takeAsMatrix(tt::ReshapeOp reshape, Value memory) {
  if (tt::shapeOf(reshape.getType()) != cast<twg::MemDescType>(memory.getType()).getShape()) return;
  useMemory(reshape.getResult(), memory);
  if (reshape.use_empty()) reshape.erase();
}

/// `memory` holds the tile. Users that can read it there do so.
void TensorCopies::useMemory(Value tile, Value memory) {
  for (Operation* user : llvm::make_early_inc_range(llvm::to_vector(tile.getUsers()))) {
    if (auto copy = dyn_cast<twg::LocalAllocOp>(user); copy && copy.getResult().getType() == memory.getType()) {
      SmallVector<Operation*> readers(copy.getResult().getUsers());
      copy.getResult().replaceAllUsesWith(memory);
      copy.erase();
      for (Operation* reader : readers)
        if (isa<twg::LocalLoadOp>(reader)) sink(reader->getResult(0));
    } else if (auto convert = dyn_cast<twg::ConvertLayoutOp>(user)) {
      auto type = cast<RankedTensorType>(convert.getResult().getType());
      Operation* first = firstUser(convert.getResult(), convert->getBlock());
      convert.getResult().replaceAllUsesWith(inRegisters(memory, type, first ? first : convert));
      convert.erase();
    } else if (auto trans = dyn_cast<tt::TransOp>(user)) {
      takeTransposed(trans, memory);
    } else if (auto reshape = dyn_cast<tt::ReshapeOp>(user)) {
      takeAsMatrix(reshape, memory);
    }
  }
}

void TensorCopies::store(Operation* op, Value descriptor, ValueRange indices, Value tile, StringAttr reduce) {
  builder_.setInsertionPoint(op);
  twg::LocalAllocOp memory = memoryFor(op, descriptor, tile);
  twg::ProxyBarrierOp::create(builder_, op->getLoc(), mayBeWrittenBefore(op));
  twg::TensorStoreOp::create(builder_, op->getLoc(), builder_.getI1Type(), descriptor, indices, memory.getResult(),
                             reduce);
  op->erase();
}

/// True if nothing between two operations of a block touches memory or moves elements between threads.
bool onlyScalarsBetween(Operation* from, Operation* to) {
  for (Operation* op = from->getNextNode(); op != to; op = op->getNextNode()) {
    if (!op || op->getNumRegions() || (!isMemoryEffectFree(op) && !isa<twg::LocalAllocOp>(op))) return false;
    if (auto allocation = dyn_cast<twg::LocalAllocOp>(op); allocation && allocation.getSrc()) return false;
    auto isTile = [](mlir::Type type) { return isa<RankedTensorType>(type); };
    bool hasTile = llvm::any_of(op->getResultTypes(), isTile) || llvm::any_of(op->getOperandTypes(), isTile);
    if (hasTile && !op->hasTrait<OpTrait::ConstantLike>()) return false;
  }
  return true;
}

/// A load that follows another one with nothing but scalars in between begins behind its barrier, and is waited for with it.
void TensorCopies::merge(MutableArrayRef<LoadedBlock> blocks) {
  for (size_t i = 1; i < blocks.size(); ++i) {
    LoadedBlock &first = blocks[i - 1], &second = blocks[i];
    if (first.wait->getBlock() != second.wait->getBlock() || !onlyScalarsBetween(first.wait, second.before)) continue;
    // The barrier expects the bytes of both before the first copy begins: the second expectation moves there with the
    // sum.
    second.expect.setBytes(first.expect.getBytes() + second.expect.getBytes());
    second.expect->moveBefore(first.expect);
    first.expect->erase();
    first.before.setGlobal(first.before.getGlobal() || second.before.getGlobal());
    second.before->erase();
    first.wait->erase();
    second.before = first.before;
  }
}

void TensorCopies::run() {
  SmallVector<tt::DescriptorLoadOp> loads;
  SmallVector<Operation*> others;
  kernel_.walk([&](Operation* op) {
    auto load = dyn_cast<tt::DescriptorLoadOp>(op);
    if (load && tensorMapOf(load.getDesc())) loads.push_back(load);
    if (isa<tt::DescriptorStoreOp, tt::DescriptorReduceOp>(op) && tensorMapOf(op->getOperand(0))) others.push_back(op);
  });
  if (!loads.empty()) makeBarrier();
  SmallVector<LoadedBlock> blocks;
  for (tt::DescriptorLoadOp load : loads) {
    LoadedBlock& block = blocks.emplace_back(begin(load));
    useMemory(load.getResult(), block.memory.getResult());
    if (!load.use_empty()) {
      auto type = cast<RankedTensorType>(load.getResult().getType());
      Operation* user = firstUser(load.getResult(), load->getBlock());
      load.getResult().replaceAllUsesWith(inRegisters(block.memory.getResult(), type, user ? user : load));
    }
    load.erase();
  }
  merge(blocks);
  for (Operation* op : others) {
    if (auto stored = dyn_cast<tt::DescriptorStoreOp>(op)) {
      store(op, stored.getDesc(), stored.getIndices(), stored.getSrc(), {});
      continue;
    }
    auto reduce = cast<tt::DescriptorReduceOp>(op);
    store(op, reduce.getDesc(), reduce.getIndices(), reduce.getSrc(),
          builder_.getStringAttr(stringifyDescriptorReduceKind(reduce.getKind())));
  }
}

} // namespace

bool mayExposeWrites(Operation* op) {
  if (auto load = dyn_cast<tt::LoadOp>(op)) return load.getIsVolatile();
  return op->hasTrait<tt::Atomic>() || isa<tt::StoreOp, tt::DescriptorStoreOp, tt::DescriptorReduceOp,
                                           tt::DescriptorScatterOp, tt::ElementwiseInlineAsmOp>(op);
}

void makeTensorCopies(tt::FuncOp kernel) { TensorCopies(kernel).run(); }

} // namespace tiletwin::codegen
