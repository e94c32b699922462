// codegen/passes/TileLoop.cpp -- see TileLoop.h.
#include "codegen/passes/TileLoop.h"
#include "codegen/passes/AffineLoads.h"
#include "codegen/passes/Producer.h"
#include "codegen/passes/WrittenMemory.h"
#include "ir/Contiguity.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tiletwin::codegen {
namespace {

constexpr llvm::StringLiteral kTileLoop = "twg.tile_loop";
constexpr size_t kMostProducts = 2; ///< of a loop some of which are made new in each round
constexpr int kFewestWarps = 8; ///< two groups of four, one of which multiplies while the other one does something else

/// Whether a kernel can be a loop over its programs, and what is gained.
class Programs {
public:
  Programs(tt::FuncOp kernel, const Target& target, const Options& options)
      : kernel_(kernel), target_(target), options_(options) {}

  bool areWorthALoop();
  void makeLoop();

private:
  bool findCopies();
  bool areIndependent();
  bool fillsMultiprocessor(scf::ForOp loop) const;
  bool isSameInAll(Value number);
  bool loadsWell(scf::IfOp branch);

  tt::FuncOp kernel_;
  const Target& target_;
  const Options& options_;
  tt::ContiguityAnalysis contiguity_;
  SmallVector<scf::IfOp> branches_; ///< with copies or loads
};

/// The loop with copies of a branch that has both.
scf::ForOp copyingLoopOf(scf::IfOp branch) { return *branch.thenBlock()->getOps<scf::ForOp>().begin(); }

bool Programs::findCopies() {
  for (auto branch : kernel_.getBody().front().getOps<scf::IfOp>())
    if (isEitherWay(branch)) branches_.push_back(branch);
  return !branches_.empty();
}

/// Whether programs may run in any order, and the next one's copies pass this one's stores.
bool Programs::areIndependent() {
  Block& body = kernel_.getBody().front();
  auto refuse = [&](Operation* op) {
    if (op == kernel_) return WalkResult::advance();
    if (isa<tt::StoreOp, tt::DescriptorStoreOp, tt::AtomicRMWOp>(op) && op->use_empty()) {
      Operation* here = body.findAncestorOpInBlock(*op);
      return branches_.back()->isBeforeInBlock(here) ? WalkResult::advance() : WalkResult::interrupt();
    }
    if (isa<tt::LoadOp>(op)) return mayTellOfOthers(op) ? WalkResult::interrupt() : WalkResult::advance();
    const bool isFree = isMemoryEffectFree(op) || isa<tt::DescriptorLoadOp, scf::ForOp, scf::IfOp, tt::ReturnOp>(op);
    // Assembly may ask for the CTA's number, and a descriptor that a program makes has memory by that number.
    const bool asksForCta = isa<tt::ElementwiseInlineAsmOp, tt::MakeTensorDescriptorOp>(op);
    return isFree && !asksForCta ? WalkResult::advance() : WalkResult::interrupt();
  };
  return !kernel_.walk(refuse).wasInterrupted();
}

/// Whether a number is the same in all programs of a launch.
bool Programs::isSameInAll(Value number) {
  llvm::SetVector<Value> parts;
  parts.insert(number);
  for (size_t i = 0; i < parts.size(); ++i) {
    if (auto argument = dyn_cast<BlockArgument>(parts[i])) {
      if (!isa<tt::FuncOp>(argument.getOwner()->getParentOp())) return false;
      continue;
    }
    Operation* op = parts[i].getDefiningOp();
    if (op->getNumRegions() || isa<tt::GetProgramIdOp>(op) || !isMemoryEffectFree(op)) return false;
    parts.insert(op->operand_begin(), op->operand_end());
  }
  return true;
}

/// Whether a program whose blocks are loaded takes about as long as one whose blocks are copied: by accesses of 16 bytes.
bool Programs::loadsWell(scf::IfOp branch) {
  constexpr int64_t kWidest = 16;
  auto isNarrow = [&](tt::LoadOp load) {
    auto tile = dyn_cast<RankedTensorType>(load.getType());
    if (!tile) return WalkResult::advance();
    const int64_t bytes = std::max(1u, tile.getElementTypeBitWidth() / 8);
    const auto& along = contiguity_.of(load.getPtr()).dimensions;
    const auto* fastest =
        llvm::max_element(along, [](const auto& a, const auto& b) { return a.contiguous < b.contiguous; });
    int64_t least = std::min(fastest->contiguous * bytes, fastest->divisor);
    if (load.getMask())
      least =
          std::min(least, contiguity_.of(load.getMask()).dimensions[size_t(fastest - along.begin())].constant * bytes);
    return least < kWidest ? WalkResult::interrupt() : WalkResult::advance();
  };
  return !branch.getElseRegion().walk(isNarrow).wasInterrupted();
}

/// Whether registers for what the loop carries, and for the products that it makes new, of two CTAs are more than there are.
/// With more such loops, or more products, a loop around them takes the registers that keep products in flight.
bool Programs::fillsMultiprocessor(scf::ForOp loop) const {
  const int64_t threads = int64_t(options_.numWarps) * target_.warpSize;
  int64_t bits = 0;
  auto add = [&](Value sum) {
    if (auto tile = dyn_cast<RankedTensorType>(sum.getType()); tile && tile.getElementType().isIntOrFloat())
      bits += tile.getNumElements() * tile.getElementTypeBitWidth();
  };
  llvm::for_each(loop.getRegionIterArgs(), add);
  auto isCarried = [&](tt::DotOp dot) { return llvm::is_contained(dot->getUsers(), loop.getBody()->getTerminator()); };
  SmallVector<tt::DotOp> dots(loop.getBody()->getOps<tt::DotOp>());
  if (dots.size() <= kMostProducts && branches_.size() == 1)
    for (tt::DotOp dot : dots)
      if (!isCarried(dot)) add(dot.getResult());
  return 2 * threads * (bits / 32 / threads + kRegistersBesideTiles) > kRegisters;
}

bool Programs::areWorthALoop() {
  if (options_.numWarps < kFewestWarps || !kernel_.getBody().hasOneBlock() || !findCopies()) return false;
  auto isLarge = [&](scf::IfOp branch) { return fillsMultiprocessor(copyingLoopOf(branch)); };
  auto isEven = [&](scf::IfOp branch) {
    scf::ForOp loop = copyingLoopOf(branch);
    return isSameInAll(loop.getLowerBound()) && isSameInAll(loop.getUpperBound()) && isSameInAll(loop.getStep());
  };
  return llvm::any_of(branches_, isLarge) && llvm::all_of(branches_, isEven) && areIndependent() &&
         llvm::all_of(branches_, [&](scf::IfOp branch) { return loadsWell(branch); });
}

void Programs::makeLoop() {
  Location where = kernel_.getLoc();
  Block& body = kernel_.getBody().front();
  OpBuilder builder(kernel_.getContext());
  builder.setInsertionPointToStart(&body);
  std::array<Value, 3> sizes;
  for (Value& size : sizes) size = addProgramsArgument(kernel_);
  auto make = [&]<class Op>(std::type_identity<Op>, Value a, Value b) -> Value {
    return Op::create(builder, where, a, b);
  };
  auto times = [&](Value a, Value b) { return make(std::type_identity<arith::MulIOp>(), a, b); };
  auto by = [&](Value a, Value b) { return make(std::type_identity<arith::DivUIOp>(), a, b); };
  auto rest = [&](Value a, Value b) { return make(std::type_identity<arith::RemUIOp>(), a, b); };
  Value first = tt::GetProgramIdOp::create(builder, where, tt::ProgramDim::X);
  Value step = tt::GetNumProgramsOp::create(builder, where, tt::ProgramDim::X);
  Value all = times(times(sizes[0], sizes[1]), sizes[2]);
  auto loop = scf::ForOp::create(builder, where, first, all, step);
  markTileLoop(loop);
  Operation* end = loop.getBody()->getTerminator();
  for (Operation* op = loop->getNextNode(); !op->hasTrait<OpTrait::IsTerminator>();) {
    Operation* next = op->getNextNode();
    if (isa<arith::ConstantOp>(op))
      op->moveBefore(loop);
    else
      op->moveBefore(end);
    op = next;
  }
  builder.setInsertionPointToStart(loop.getBody());
  Value tile = loop.getInductionVar(), row = by(tile, sizes[0]);
  const std::array<Value, 3> numbers{rest(tile, sizes[0]), rest(row, sizes[1]), by(row, sizes[1])};
  loop.walk([&](Operation* op) {
    Value instead;
    if (auto number = dyn_cast<tt::GetProgramIdOp>(op)) instead = numbers[size_t(number.getAxis())];
    if (auto size = dyn_cast<tt::GetNumProgramsOp>(op)) instead = sizes[size_t(size.getAxis())];
    if (!instead) return;
    op->replaceAllUsesWith(ValueRange(instead));
    op->erase();
  });
}

} // namespace

void makeTileLoop(tt::FuncOp kernel, const Target& target, const Options& options) {
  if (!options.tileLoops || !options.producers || !target.features().warpRoles) return;
  if (Programs programs(kernel, target, options); programs.areWorthALoop()) programs.makeLoop();
}

bool isTileLoop(scf::ForOp loop) { return loop->hasAttr(kTileLoop); }

void markTileLoop(scf::ForOp loop) { loop->setAttr(kTileLoop, UnitAttr::get(loop.getContext())); }

bool hasTileLoop(tt::FuncOp kernel) { return llvm::any_of(kernel.getBody().front().getOps<scf::ForOp>(), isTileLoop); }

} // namespace tiletwin::codegen
