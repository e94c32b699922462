// codegen/passes/LoadsOfOperands.cpp -- see LoadsOfOperands.h.
#include "codegen/passes/LoadsOfOperands.h"
#include "codegen/passes/AccessLayout.h"
#include "codegen/passes/AffineLoads.h"
#include "codegen/passes/DotLayouts.h"
#include "codegen/passes/HeldOperands.h"
#include "codegen/passes/LayoutChoice.h"
#include "codegen/passes/LoopSlice.h"
#include "codegen/passes/Notes.h"
#include "codegen/passes/Pipeline.h"
#include "codegen/passes/Ring.h"
#include "codegen/passes/Scratch.h"
#include "codegen/passes/SharedMemory.h"
#include "codegen/passes/Steps.h"
#include "codegen/passes/WrittenMemory.h"
#include "ir/Tiles.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tiletwin::codegen {
namespace {

/// Bytes of shared memory that alignment may take: what fits without such copies fits with them.
constexpr uint32_t kForAlignment = 2048;
constexpr uint32_t kMostCtas = 32; ///< of a multiprocessor
constexpr int kLeastStages = 3;    ///< with two, a copy is only one iteration ahead

class LoadsOfOperands {
public:
  LoadsOfOperands(scf::ForOp loop, const Target& target, const Options& options)
      : loop_(loop), target_(target), isAlone_(options.isAlone), threads_(threadsOf(target, options)),
        stages_(stagesOf(loop, options)) {}
  /// False if there is none, or no room.
  bool find();
  void rewrite();

private:
  bool isCopyOfLoad(twg::LocalAllocOp memory) const;
  twg::MemDescType memoryFor(tt::LoadOp load) const;
  void readFrom(tt::LoadOp load, Value memory) const;
  bool isOtherWay(Operation* op) const;
  uint32_t bytesWith(int stages) const;

  mutable scf::ForOp loop_;
  const Target& target_;
  bool isAlone_;
  ThreadBits threads_;
  int stages_;
  SmallVector<std::pair<tt::LoadOp, twg::MemDescType>> loads_;
};

/// A loaded operand's copies in shared memory.
SmallVector<twg::LocalAllocOp, 2> copiesOf(tt::LoadOp load) {
  SmallVector<twg::LocalAllocOp, 2> copies;
  for (Operation* user : load->getUsers())
    if (auto copy = dyn_cast<twg::LocalAllocOp>(user)) copies.push_back(copy);
  return copies;
}

/// True for what the pipeline will copy ahead as it is.
bool LoadsOfOperands::isCopyOfLoad(twg::LocalAllocOp memory) const {
  auto block = memory.getSrc() ? memory.getSrc().getDefiningOp<tt::DescriptorLoadOp>() : tt::DescriptorLoadOp();
  if (block) return block->getBlock() == loop_.getBody();
  auto load = memory.getSrc() ? memory.getSrc().getDefiningOp<tt::LoadOp>() : tt::LoadOp();
  return load && load->getBlock() == loop_.getBody() && tt::hasOneUse(load.getResult()) &&
         canBeCopied(load, memory.getResult().getType());
}

/// Memory ordered as a tile's threads load it; null if it has no rows of 16 bytes.
twg::MemDescType memoryOfThreads(RankedTensorType type) {
  std::optional<unsigned> contiguous = contiguousDimension(twg::layoutOf(type));
  if (!contiguous || *contiguous + 2 < type.getRank()) return {};
  const unsigned bytes = type.getElementTypeBitWidth() / 8;
  if (type.getDimSize(*contiguous) * bytes < 16) return {};
  const unsigned swizzle = type.getRank() < 2 ? 0 : SharedLayout::widestSwizzle(type.getShape(), bytes, *contiguous);
  auto layout = twg::SharedAttr::get(type.getContext(), *contiguous, swizzle);
  return twg::MemDescType::get(type.getContext(), type.getShape(), type.getElementType(), layout);
}

/// The memory to which the load can be copied: the one that a product reads its operand from, or one that is ordered as its
/// threads load; null if it cannot.
twg::MemDescType LoadsOfOperands::memoryFor(tt::LoadOp load) const {
  auto type = dyn_cast<RankedTensorType>(load.getType());
  if (!type || !type.getElementType().isIntOrFloat() || type.getElementType().isInteger(1)) return {};
  if (mayBeWritten(load.getPtr())) return {};
  SmallVector<twg::LocalAllocOp, 2> copies = copiesOf(load);
  auto memory = copies.empty() ? memoryOfThreads(type) : twg::MemDescType(copies.front().getResult().getType());
  if (llvm::any_of(copies, [&](twg::LocalAllocOp copy) { return copy.getResult().getType() != memory; })) return {};
  SmallVector<Value> addresses{load.getPtr()};
  if (load.getMask()) addresses.push_back(load.getMask());
  const bool canBe = memory && canBeCopied(load, memory) && LoopSlice(loop_).add(addresses);
  return canBe ? memory : twg::MemDescType();
}

/// True for what a program does instead of the loop: the same with loads, or with copies (AffineLoads.h).
bool LoadsOfOperands::isOtherWay(Operation* op) const {
  for (auto branch = op->getParentOfType<scf::IfOp>(); branch; branch = branch->getParentOfType<scf::IfOp>())
    if (isEitherWay(branch) && branch->isAncestor(loop_) &&
        branch.getThenRegion().isAncestor(op->getParentRegion()) !=
            branch.getThenRegion().isAncestor(loop_->getParentRegion()))
      return true;
  return false;
}

/// Shared memory of the kernel, at most, if what the loop copies has that many slots.
uint32_t LoadsOfOperands::bytesWith(int stages) const {
  uint32_t bytes = 0, scratch = 0;
  for (auto [load, type] : loads_) bytes += twg::sharedLayoutOf(type).bytes() * uint32_t(stages);
  loop_->getParentOfType<tt::FuncOp>().walk([&](Operation* op) {
    if (std::optional<Scratch> needed = scratchNeededBy(op, target_, threads_))
      scratch = std::max(scratch, needed->bytes);
    auto memory = dyn_cast<twg::LocalAllocOp>(op);
    const bool isCounted = memory && llvm::any_of(loads_, [&](auto one) { return memory.getSrc() == one.first; });
    if (!memory || isCounted || isOtherWay(memory)) return;
    int slots = isCopyOfLoad(memory) ? stages : 1;
    // Products in flight may read one of what the program stores while the other is written.
    if (llvm::any_of(twg::usersOf(memory.getResult()), llvm::IsaPred<twg::WarpgroupDotOp>)) slots = std::max(slots, 2);
    bytes += twg::sharedLayoutOf(memory.getResult().getType()).bytes() * uint32_t(slots);
  });
  return bytes + scratch;
}

/// True if a product stands in front of all that uses the load: then the wait for copies stays where it is, in front of the
/// first product.
bool isUsedBehindProduct(tt::LoadOp load) {
  auto products = load->getBlock()->getOps<twg::WarpgroupDotOp>();
  return !products.empty() && llvm::all_of(tt::usersOf(load.getResult()), [&](Operation* user) {
    return (*products.begin())->isBeforeInBlock(load->getBlock()->findAncestorOpInBlock(*user));
  });
}

/// True for what is repeated or unpacked before a product reads it: to copy it costs little beside what it saves the loop from
/// waiting for.
bool isMuchSmaller(tt::LoadOp load) {
  constexpr int64_t kTimes = 4;
  auto bits = [](mlir::Type type) {
    return cast<ShapedType>(type).getNumElements() * cast<ShapedType>(type).getElementTypeBitWidth();
  };
  return llvm::all_of(load->getBlock()->getOps<twg::WarpgroupDotOp>(), [&](twg::WarpgroupDotOp dot) {
    auto matrix = cast<twg::MemDescType>(dot.getB().getType());
    const int64_t bitsOfMatrix = llvm::product_of(matrix.getShape()) * matrix.getElementType().getIntOrFloatBitWidth();
    return kTimes * bits(load.getType()) <= bitsOfMatrix;
  });
}

/// True if the loop's first product has to be done before the iteration goes on, because something reads its result: then
/// nothing is in flight while loads in front of it are waited for.
bool isFirstProductRead(scf::ForOp loop) {
  auto products = loop.getBody()->getOps<twg::WarpgroupDotOp>();
  return llvm::any_of(tt::usersOf((*products.begin()).getResult()), [&](Operation* user) {
    return !isa<twg::WarpgroupDotOp>(user) && user != loop.getBody()->getTerminator();
  });
}

/// Copies of what is used behind a product, or is small, are made wherever shared memory has as many CTAs with them, or one that is
/// alone. Of all others either every one is copied or none: while threads wait for some copies they do not begin loads of their
/// own. Where one stage less leaves room for as many CTAs the loop has it, also of what it copies anyway, if that is the greater
/// part.
bool LoadsOfOperands::find() {
  llvm::SetVector<Operation*> behind = behindProducts(loop_);
  const uint32_t most = 2 * halfOfSharedMemory(target_), before = std::max(bytesWith(stages_), 1u);
  if (before > most) return false; // stages are not cut for what the program itself asks for
  const bool ofWarpgroups = !loop_.getBody()->getOps<twg::WarpgroupDotOp>().empty();
  const bool goesOn = ofWarpgroups && !isFirstProductRead(loop_);
  auto isCrowded = [&](uint32_t ctas, uint32_t ofSystem) {
    if (isAlone_) ctas = 1;
    auto ctasWith = [&](uint32_t bytes) { return std::min(ctas, (most + ofSystem) / (bytes + ofSystem)); };
    return ofWarpgroups && ctasWith(bytesWith(stages_)) < ctasWith(before);
  };
  SmallVector<std::pair<tt::LoadOp, twg::MemDescType>> others;
  bool canCopyAll = true;
  for (auto load : loop_.getBody()->getOps<tt::LoadOp>()) {
    const bool isCopiedAsItIs = !copiesOf(load).empty() && tt::hasOneUse(load.getResult());
    if (!behind.contains(load) || isCopiedAsItIs) continue;
    twg::MemDescType memory = memoryFor(load);
    canCopyAll &= memory != nullptr;
    if (!memory) continue;
    const bool isInTheWay = goesOn && !isUsedBehindProduct(load) && !isMuchSmaller(load);
    loads_.emplace_back(load, memory);
    if (isInTheWay || isCrowded(kMostCtas, /*ofSystem=*/0)) others.push_back(loads_.pop_back_val());
  }
  if (const size_t few = loads_.size(); canCopyAll && !others.empty()) {
    const uint32_t ofStage = bytesWith(stages_) - bytesWith(stages_ - 1);
    uint32_t added = 0;
    for (auto [load, type] : others) added += twg::sharedLayoutOf(type).bytes();
    llvm::append_range(loads_, others);
    auto isTooMuch = [&] {
      return isCrowded(ctasByRegisters(loop_, 1u << (threads_.lane + threads_.warp)), kSharedOfSystem);
    };
    const int asked = stages_;
    const bool canDoWithLess = !isAlone_ && stages_ > kLeastStages && added <= ofStage && bytesWith(stages_) <= most;
    if (canDoWithLess && isTooMuch()) --stages_;
    if (isTooMuch()) loads_.truncate(few), stages_ = asked;
  }
  while (stages_ >= 2 && bytesWith(stages_) + kForAlignment > most) --stages_;
  return !loads_.empty() && stages_ >= 2;
}

/// All that used the load reads the memory, what wants another layout in that layout.
void LoadsOfOperands::readFrom(tt::LoadOp load, Value memory) const {
  OpBuilder builder(load->getContext());
  for (Operation* user : llvm::make_early_inc_range(load->getUsers())) {
    auto convert = dyn_cast<twg::ConvertLayoutOp>(user);
    if (!convert) continue;
    builder.setInsertionPoint(convert);
    convert.replaceAllUsesWith(
        Value(twg::LocalLoadOp::create(builder, convert.getLoc(), convert.getResult().getType(), memory)));
    convert.erase();
  }
  if (tt::hasOneUse(load.getResult())) return;
  builder.setInsertionPointAfterValue(memory);
  auto read = twg::LocalLoadOp::create(builder, load.getLoc(), load.getType(), memory);
  load.getResult().replaceAllUsesExcept(read, memory.getDefiningOp());
  // Behind loads that stay in registers: it waits for copies, and they are on their way meanwhile.
  if (Operation* first = tt::firstUser(read)) {
    moveNotes(read.getResult(), {});
    read->moveBefore(first);
  }
}

void LoadsOfOperands::rewrite() {
  loop_->setAttr("tt.num_stages", IntegerAttr::get(IntegerType::get(loop_.getContext(), 32), stages_));
  for (auto [load, type] : loads_) {
    SmallVector<twg::LocalAllocOp, 2> copies = copiesOf(load);
    OpBuilder builder(load->getContext());
    builder.setInsertionPointAfter(load);
    auto memory = copies.empty()
                      ? twg::LocalAllocOp::create(builder, load.getLoc(), type, load.getResult(), IntegerAttr())
                      : copies.front();
    memory->moveAfter(load);
    for (twg::LocalAllocOp copy : llvm::drop_begin(copies, copies.empty() ? 0 : 1)) {
      copy.replaceAllUsesWith(memory.getResult());
      copy.erase();
    }
    readFrom(load, memory);
  }
}

/// Of a conversion all that it converts, up to a read of shared memory, if a thread needs few numbers of it; else none. What
/// takes several neighbours at once wants its own layout.
SmallVector<Operation*> readBehind(twg::ConvertLayoutOp convert) {
  constexpr unsigned kFewRegisters = 16;
  constexpr size_t kFewSteps = 4; ///< that are computed again
  if (twg::layoutOf(convert.getResult()).registers() > kFewRegisters) return {};
  SmallVector<Operation*> found;
  for (Operation* op = convert.getSrc().getDefiningOp(); op && found.size() <= kFewSteps;) {
    if (op->getBlock() != convert->getBlock()) return {};
    found.push_back(op);
    if (isa<twg::LocalLoadOp>(op)) return found;
    const bool isOfOne = op->getNumOperands() == 1 && op->getNumResults() == 1 && LayoutChoice::isElementwise(op) &&
                         isMemoryEffectFree(op) && !isa<tt::ElementwiseInlineAsmOp, tt::MapElementwiseOp>(op);
    if (!isOfOne && !isa<tt::ExpandDimsOp, tt::ReshapeOp>(op)) return {};
    op = op->getOperand(0).getDefiningOp();
  }
  return {};
}

/// Few numbers are read once more, in the layout that is wanted: a conversion between warps takes two barriers.
void readAgain(twg::ConvertLayoutOp convert, ArrayRef<Operation*> behind) {
  LinearLayout layout = twg::layoutOf(convert.getResult());
  SmallVector<mlir::Type> types;
  for (Operation* op : behind) {
    types.push_back(twg::withLayout(op->getResult(0).getType(), layout));
    if (isa<tt::ExpandDimsOp, tt::ReshapeOp>(op))
      layout = layout.reshaped(cast<RankedTensorType>(op->getOperand(0).getType()).getShape());
  }
  OpBuilder builder(behind.back());
  IRMapping values;
  for (auto [op, type] : llvm::reverse(llvm::zip_equal(behind, types)))
    builder.clone(*op, values)->getResult(0).setType(type);
  convert.replaceAllUsesWith(values.lookup(convert.getSrc()));
  convert.erase();
  for (Operation* op : behind) {
    Value old = op->getResult(0);
    if (tt::usersOf(old).empty()) moveNotes(old, values.lookup(old));
    if (isOpTriviallyDead(op)) op->erase();
  }
}

} // namespace

llvm::SetVector<Operation*> behindProducts(scf::ForOp loop) {
  llvm::SetVector<Operation*> found;
  SmallVector<Value> wanted;
  for (Operation& op : *loop.getBody()) {
    auto instruction = op.getAttrOfType<StringAttr>("instruction");
    const bool isWithoutTensorCores = instruction && instruction.getValue() == "fma";
    if (!isWithoutTensorCores && isa<tt::DotOp, twg::WarpgroupDotOp, twg::TmemDotOp>(op))
      wanted.append({op.getOperand(0), op.getOperand(1)});
  }
  while (!wanted.empty()) {
    Operation* op = wanted.pop_back_val().getDefiningOp();
    if (!op || op->getBlock() != loop.getBody() || !found.insert(op)) continue;
    if (!isa<tt::LoadOp>(op)) llvm::append_range(wanted, op->getOperands()); // not what addresses are computed from
  }
  return found;
}

void shareLoadsOfOperands(tt::FuncOp kernel, const Target& target, const Options& options) {
  if (!target.features().asyncCopies) return;
  SmallVector<scf::ForOp> loops;
  kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); });
  for (scf::ForOp loop : loops)
    if (LoadsOfOperands loads(loop, target, options); stagesOf(loop, options) >= 2 && loads.find()) loads.rewrite();
  kernel.walk([&](twg::ConvertLayoutOp convert) {
    if (SmallVector<Operation*> behind = readBehind(convert); !behind.empty()) readAgain(convert, behind);
  });
}

} // namespace tiletwin::codegen
