// codegen/passes/AffineLoads.cpp -- see AffineLoads.h.
#include "codegen/passes/AffineLoads.h"
#include "codegen/passes/AffineBlock.h"
#include "codegen/passes/AffineConditions.h"
#include "codegen/passes/DotLayouts.h"
#include "codegen/passes/LoopEnds.h"
#include "codegen/passes/Ring.h"
#include "codegen/passes/ScaledMaxima.h"
#include "codegen/passes/Steps.h"
#include "codegen/passes/TensorCopies.h"
#include "codegen/passes/TensorMaps.h"
#include "codegen/passes/WrittenMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tiletwin::codegen {
namespace {

constexpr llvm::StringLiteral kRecipe = "twg.recipe", kEitherWay = "twg.copies_or_loads";

/// The products that a tile is multiplied in, as it is or transposed; empty if it is used otherwise too.
SmallVector<tt::DotOp> dotsOf(Value tile, Block* block) {
  SmallVector<tt::DotOp> dots;
  for (OpOperand& use : tt::usesOf(tile)) {
    Operation* user = use.getOwner();
    if (user->getBlock() != block) return {};
    if (auto dot = dyn_cast<tt::DotOp>(user); dot && use.getOperandNumber() < 2) {
      dots.push_back(dot);
      continue;
    }
    auto trans = dyn_cast<tt::TransOp>(user);
    if (!trans || trans.getOrder() != ArrayRef<int32_t>{1, 0}) return {};
    for (OpOperand& turned : tt::usesOf(trans.getResult())) {
      auto dot = dyn_cast<tt::DotOp>(turned.getOwner());
      if (!dot || turned.getOperandNumber() > 1 || dot->getBlock() != block) return {};
      dots.push_back(dot);
    }
  }
  return dots;
}

/// True if other programs, other threads behind a barrier of the source, or what the compiler does not understand may write
/// what a kernel reads while it runs.
bool mayWaitForOthers(tt::FuncOp kernel) {
  auto find = [](Operation* op) {
    const bool waits =
        mayTellOfOthers(op) ||
        isa<ttg::BarrierOp, tt::DescriptorReduceOp, tt::DescriptorScatterOp, tt::ElementwiseInlineAsmOp>(op);
    return waits ? WalkResult::interrupt() : WalkResult::advance();
  };
  return kernel.walk(find).wasInterrupted();
}

/// Buffers of several iterations follow each other at multiples of 128 bytes (CopyGroups.cpp).
bool fillsSlots(RankedTensorType line) {
  constexpr int64_t kSlotBits = int64_t(128) * 8;
  return line.getNumElements() * line.getElementTypeBitWidth() % kSlotBits == 0;
}

/// The arguments that are added to a kernel.
class AddedArguments {
public:
  explicit AddedArguments(tt::FuncOp kernel) : kernel_(kernel) {}

  /// Of a loop that is rewritten: a map for each block, and the flag.
  SmallVector<BlockArgument> mapsOf(ArrayRef<AffineBlock> blocks);
  void addFlag();
  void require(const std::set<Sum>& positive);
  /// What the flag stands for until all maps are there.
  Value flag(OpBuilder& builder);

private:
  tt::FuncOp kernel_;
  std::map<std::string, unsigned> maps_; ///< by recipe and type, the argument's number
  std::set<std::string> positive_;
  SmallVector<arith::ConstantOp> uses_;
};

SmallVector<BlockArgument> AddedArguments::mapsOf(ArrayRef<AffineBlock> blocks) {
  SmallVector<BlockArgument> maps;
  Builder builder(kernel_.getContext());
  for (const AffineBlock& block : blocks) {
    std::string recipe = block.recipe(), key = recipe;
    llvm::raw_string_ostream(key) << block.descriptor();
    auto [found, isNew] = maps_.try_emplace(key, kernel_.getNumArguments());
    if (isNew) {
      NamedAttribute map(kTensorMapAttribute, tensorMapOfBlock(block.descriptor()));
      NamedAttribute made(kRecipe, builder.getStringAttr(recipe));
      (void)kernel_.insertArgument(kernel_.getNumArguments(), block.descriptor(),
                                   builder.getDictionaryAttr({map, made}), kernel_.getLoc());
    }
    maps.push_back(kernel_.getArgument(found->second));
  }
  return maps;
}

void AddedArguments::require(const std::set<Sum>& positive) {
  for (const Sum& sum : positive) positive_.insert(recipeText(sum));
}

Value AddedArguments::flag(OpBuilder& builder) {
  uses_.push_back(arith::ConstantOp::create(builder, kernel_.getLoc(), builder.getI32IntegerAttr(0)));
  return uses_.back();
}

void AddedArguments::addFlag() {
  if (uses_.empty()) return;
  Builder builder(kernel_.getContext());
  NamedAttribute made(kRecipe, builder.getStringAttr(positive_.empty() ? "1" : llvm::join(positive_, "/")));
  const unsigned last = kernel_.getNumArguments();
  (void)kernel_.insertArgument(last, builder.getI32Type(), builder.getDictionaryAttr({made}), kernel_.getLoc());
  for (arith::ConstantOp use : uses_) {
    use.replaceAllUsesWith(kernel_.getArgument(last));
    use.erase();
  }
}

/// One loop.
class AffineLoop {
public:
  AffineLoop(scf::ForOp loop, tt::ContiguityAnalysis& contiguity)
      : loop_(loop), contiguity_(contiguity), forms_(loop), conditions_(loop, forms_) {}

  /// Whether its products read tiles that all are blocks, and are such as read shared memory.
  bool find(const Target& target, const Options& options);
  scf::IfOp rewrite(AddedArguments& added);

private:
  bool isMultiplied(tt::DotOp dot, const Target& target, ThreadBits threads);
  void findLines();
  std::optional<LinearLayout> layoutOf(Value tile, ThreadBits threads);
  void findNeeded();
  scf::ForOp cloneWithCopies(OpBuilder& builder, ArrayRef<BlockArgument> maps);
  Value copied(OpBuilder& builder, size_t number, BlockArgument map, Value distance);
  Value indexOf(OpBuilder& builder, const Sum& sum);

  scf::ForOp loop_;
  tt::ContiguityAnalysis& contiguity_;
  AffineForms forms_;
  AffineConditions conditions_;
  SmallVector<tt::LoadOp> loads_;
  std::vector<AffineBlock> blocks_;            ///< of the loads: first those of products' operands, then lines
  size_t operands_ = 0;                        ///< how many of them are operands
  SmallVector<SmallVector<Value, 3>> indices_; ///< of the blocks, in front of the loop, without the iteration's part
  llvm::SetVector<Operation*> needed_;         ///< operations of the body without those that pointers are made by
  llvm::SetVector<unsigned> carried_;          ///< the same of what the loop carries
};

std::optional<LinearLayout> AffineLoop::layoutOf(Value tile, ThreadBits threads) {
  unsigned contiguous = 1;
  Value source = tile;
  auto trans = tile.getDefiningOp<tt::TransOp>();
  if (trans) source = trans.getSrc();
  if (auto load = source.getDefiningOp<tt::LoadOp>()) {
    if (auto found = llvm::find(loads_, load); found != loads_.end())
      contiguous = blocks_[size_t(found - loads_.begin())].contiguous();
    else if (const auto& known = contiguity_.of(load.getPtr()).dimensions; known.size() == 2)
      contiguous = known[0].contiguous > known[1].contiguous ? 0 : 1;
  }
  if (trans) contiguous = 1 - contiguous;
  auto type = cast<RankedTensorType>(tile.getType());
  const int64_t wide = 16 / std::max(1u, type.getElementTypeBitWidth() / 8);
  std::array<int32_t, 2> order{int32_t(contiguous), int32_t(1 - contiguous)};
  return LinearLayout::coalesced(type.getShape(), wide, order, threads.lane, threads.warp);
}

bool AffineLoop::isMultiplied(tt::DotOp dot, const Target& target, ThreadBits threads) {
  return planDot(dot, target, threads, [&](Value tile) { return layoutOf(tile, threads); }).isWarpgroup;
}

bool AffineLoop::find(const Target& target, const Options& options) {
  auto isLoop = [](Operation* op) { return WalkResult(failure(isa<scf::ForOp, scf::WhileOp>(op))); };
  if (stagesOf(loop_, options) < 2 || loop_.getBody()->walk(isLoop).wasInterrupted()) return false;
  llvm::SetVector<tt::DotOp> dots;
  for (auto load : loop_.getBody()->getOps<tt::LoadOp>()) {
    SmallVector<tt::DotOp> readers = dotsOf(load.getResult(), loop_.getBody());
    if (readers.empty()) continue;
    if (mayBeWritten(load.getPtr())) return false;
    std::optional<AffineBlock> block = AffineBlock::of(load, forms_, contiguity_);
    if (!block) return false;
    loads_.push_back(load);
    blocks_.push_back(*block);
    dots.insert(readers.begin(), readers.end());
  }
  if (loads_.empty()) return false;
  operands_ = loads_.size();
  findLines();
  const ThreadBits threads = threadsOf(target, options);
  return llvm::all_of(dots, [&](tt::DotOp dot) { return isMultiplied(dot, target, threads); }) && conditions_.find();
}

/// Lines of elements beside the operands: factors of rows or columns, for example. As loads, or as copies by threads, they
/// would let all threads wait for each other in each iteration, which the operands' copies do not need.
void AffineLoop::findLines() {
  for (auto load : loop_.getBody()->getOps<tt::LoadOp>()) {
    auto line = dyn_cast<RankedTensorType>(load.getType());
    if (!line || line.getRank() != 1 || mayBeWritten(load.getPtr())) continue;
    AffineForms before = forms_; // without the conditions of a line that is no block
    std::optional<AffineBlock> block = AffineBlock::of(load, forms_, contiguity_);
    if (block && forms_.areConditionsKnown() && fillsSlots(line)) {
      loads_.push_back(load);
      blocks_.push_back(*block);
    } else {
      forms_ = std::move(before);
    }
  }
}

/// What is needed from an iteration to the next one, if the loads need no pointers and no masks.
void AffineLoop::findNeeded() {
  Block* body = loop_.getBody();
  SmallVector<Value> wanted;
  auto need = [&](Operation* op) {
    if (!op || !needed_.insert(op)) return;
    if (auto load = dyn_cast<tt::LoadOp>(op); load && llvm::is_contained(loads_, load)) return;
    llvm::append_range(wanted, op->getOperands());
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(op->getRegions(), captured);
    llvm::append_range(wanted, captured);
  };
  auto carry = [&](unsigned number) {
    if (carried_.insert(number)) wanted.push_back(loop_.getYieldedValues()[number]);
  };
  for (OpResult result : loop_.getResults())
    if (!result.use_empty()) carry(result.getResultNumber());
  for (Operation& op : body->without_terminator())
    if (!isMemoryEffectFree(&op) && !isa<tt::LoadOp>(op)) need(&op);
  while (!wanted.empty()) {
    Value value = wanted.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getOwner() == body && argument != loop_.getInductionVar()) carry(argument.getArgNumber() - 1);
    } else {
      need(body->findAncestorOpInBlock(*value.getDefiningOp()));
    }
  }
}

/// The part of an index that stays the same in the loop.
Value AffineLoop::indexOf(OpBuilder& builder, const Sum& sum) {
  Location where = loop_.getLoc();
  Block* kernel = &loop_->getParentOfType<tt::FuncOp>().getBody().front();
  auto constant = [&](int64_t number) {
    return arith::ConstantOp::create(builder, where, builder.getI32IntegerAttr(int32_t(number))).getResult();
  };
  Value index;
  for (const auto& [factors, number] : sum) {
    if (factors.along >= 0) continue;
    Value term = constant(number);
    if (factors.scalar >= 0 || !factors.arguments.empty()) {
      Value scalar = factors.scalar >= 0 ? forms_.scalar(factors.scalar) : kernel->getArgument(factors.arguments[0]);
      if (scalar.getType().isInteger(64))
        scalar = arith::TruncIOp::create(builder, where, builder.getI32Type(), scalar);
      term = number == 1 ? scalar : builder.createOrFold<arith::MulIOp>(where, scalar, term);
    }
    index = index ? builder.createOrFold<arith::AddIOp>(where, index, term) : term;
  }
  return index ? index : constant(0);
}

/// The tile that a load gave, from a block of the tensor.
Value AffineLoop::copied(OpBuilder& builder, size_t number, BlockArgument map, Value distance) {
  const AffineBlock& block = blocks_[number];
  Location where = loads_[number].getLoc();
  SmallVector<Value> at;
  for (auto [dimension, first] : llvm::zip_equal(block.dimensions(), indices_[number])) {
    Value index = first;
    auto part = dimension.index.find({.arguments = {}, .scalar = -1, .along = Factors::kIteration});
    if (part != dimension.index.end()) {
      // As a multiple of the distance, if it is one.
      const int64_t step = forms_.step(), whole = part->second % step ? 1 : step;
      auto constant = [&](int64_t value) {
        return arith::ConstantOp::create(builder, where, builder.getI32IntegerAttr(int32_t(value))).getResult();
      };
      Value moved = distance;
      if (whole != step) moved = builder.createOrFold<arith::DivUIOp>(where, moved, constant(step));
      moved = builder.createOrFold<arith::MulIOp>(where, moved, constant(part->second / whole));
      index = builder.createOrFold<arith::AddIOp>(where, index, moved);
    }
    at.push_back(index);
  }
  auto tile = cast<RankedTensorType>(loads_[number].getType());
  SmallVector<int64_t> shape(tile.getShape());
  if (block.contiguous() + 1 < shape.size()) std::swap(shape[0], shape[1]);
  auto rows = RankedTensorType::get(shape, tile.getElementType());
  Value loaded = tt::DescriptorLoadOp::create(builder, where, rows, map, at, nullptr);
  if (block.contiguous() + 1 == shape.size()) return loaded;
  return tt::TransOp::create(builder, where, tile, loaded, ArrayRef<int32_t>{1, 0});
}

scf::ForOp AffineLoop::cloneWithCopies(OpBuilder& builder, ArrayRef<BlockArgument> maps) {
  SmallVector<Value> inits;
  for (unsigned number : carried_) inits.push_back(loop_.getInitArgs()[number]);
  Location where = loop_.getLoc();
  auto made = scf::ForOp::create(builder, where, loop_.getLowerBound(), loop_.getUpperBound(), loop_.getStep(), inits,
                                 [](OpBuilder&, Location, Value, ValueRange) {});
  made->setDiscardableAttrs(loop_->getDiscardableAttrDictionary());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(made.getBody());
  IRMapping mapping;
  mapping.map(loop_.getInductionVar(), made.getInductionVar());
  for (auto [number, argument] : llvm::zip_equal(carried_, made.getRegionIterArgs()))
    mapping.map(loop_.getRegionIterArgs()[number], argument);
  Value distance = distanceIn(builder, made);
  auto copy = [&](size_t one) { mapping.map(loads_[one].getResult(), copied(builder, one, maps[one], distance)); };
  size_t lines = operands_; // the next one to be copied
  for (Operation& op : loop_.getBody()->without_terminator()) {
    if (!needed_.contains(&op)) continue;
    if (auto found = llvm::find(loads_, dyn_cast<tt::LoadOp>(op)); found != loads_.end()) {
      const size_t number = size_t(found - loads_.begin());
      if (number < operands_) copy(number);
      // Lines are there when the first operand is: one wait serves all.
      for (; lines < loads_.size(); ++lines)
        if (needed_.contains(loads_[lines])) copy(lines);
    } else {
      builder.clone(op, mapping);
    }
  }
  SmallVector<Value> yielded;
  for (unsigned number : carried_) yielded.push_back(mapping.lookupOrDefault(loop_.getYieldedValues()[number]));
  scf::YieldOp::create(builder, where, yielded);
  return made;
}

/// Moves what only a region uses into it: the other way does not compute pointers.
void sinkInto(Region& region, Operation* branch) {
  Block& block = region.front();
  for (Operation* op = branch->getPrevNode(); op;) {
    Operation* before = op->getPrevNode();
    const bool isOnlyThere = !op->use_empty() && llvm::all_of(op->getUsers(), [&](Operation* user) {
      return region.isAncestor(user->getParentRegion());
    });
    if (isOnlyThere && isMemoryEffectFree(op) && op->getNumRegions() == 0) op->moveBefore(&block, block.begin());
    op = before;
  }
}

scf::IfOp AffineLoop::rewrite(AddedArguments& added) {
  findNeeded();
  OpBuilder builder(loop_);
  Location where = loop_.getLoc();
  SmallVector<BlockArgument> maps = added.mapsOf(blocks_);
  added.require(conditions_.positive());
  for (const AffineBlock& block : blocks_) {
    SmallVector<Value, 3>& first = indices_.emplace_back();
    for (const AffineBlock::Dimension& dimension : block.dimensions())
      first.push_back(indexOf(builder, dimension.index));
  }
  Value allowed = arith::CmpIOp::create(builder, where, arith::CmpIPredicate::ne, added.flag(builder),
                                        arith::ConstantOp::create(builder, where, builder.getI32IntegerAttr(0)));
  Value holds = conditions_.emit(builder, allowed);
  SmallVector<unsigned> used;
  SmallVector<mlir::Type> types;
  for (OpResult result : loop_.getResults())
    if (!result.use_empty()) used.push_back(result.getResultNumber()), types.push_back(result.getType());
  auto branch = scf::IfOp::create(builder, where, types, holds, /*addThenBlock=*/true, /*addElseBlock=*/true);
  branch->setAttr(kEitherWay, builder.getUnitAttr());
  builder.setInsertionPointToStart(branch.thenBlock());
  scf::ForOp made = cloneWithCopies(builder, maps);
  scaleMaximaLast(made, branch);
  SmallVector<Value> copied, loaded;
  for (unsigned number : used) {
    copied.push_back(made.getResult(unsigned(llvm::find(carried_, number) - carried_.begin())));
    loaded.push_back(loop_.getResult(number));
  }
  scf::YieldOp::create(builder, where, copied);
  for (auto [result, number] : llvm::zip_equal(branch.getResults(), used))
    loop_.getResult(number).replaceAllUsesWith(result);
  loop_->moveBefore(branch.elseBlock(), branch.elseBlock()->begin());
  builder.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(builder, where, loaded);
  sinkInto(branch.getElseRegion(), branch);
  return branch;
}

} // namespace

llvm::StringRef recipeOf(BlockArgument argument) {
  auto kernel = dyn_cast<tt::FuncOp>(argument.getOwner()->getParentOp());
  if (!kernel || !argument.getOwner()->isEntryBlock()) return {};
  auto recipe = kernel.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kRecipe);
  return recipe ? recipe.getValue() : llvm::StringRef();
}

bool isMadeByLauncher(Value descriptor) {
  auto argument = dyn_cast<BlockArgument>(descriptor);
  return argument && !recipeOf(argument).empty();
}

bool isEitherWay(scf::IfOp branch) { return branch->hasAttr(kEitherWay); }

BlockArgument addProgramsArgument(tt::FuncOp kernel) {
  Builder builder(kernel.getContext());
  const unsigned last = kernel.getNumArguments();
  NamedAttribute made(kRecipe, builder.getStringAttr(kProgramsRecipe));
  (void)kernel.insertArgument(last, builder.getI32Type(), builder.getDictionaryAttr({made}), kernel.getLoc());
  return kernel.getArgument(last);
}

void makeAffineLoads(tt::FuncOp kernel, const Target& target, const Options& options) {
  if (!options.copiedLoads || !target.features().tensorCopies || mayWaitForOthers(kernel)) return;
  replaceLoopEnds(kernel);
  SmallVector<scf::ForOp> loops;
  kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); });
  AddedArguments added(kernel);
  SmallVector<scf::IfOp> branches;
  for (scf::ForOp loop : loops) {
    tt::ContiguityAnalysis contiguity;
    AffineLoop affine(loop, contiguity);
    if (affine.find(target, options)) branches.push_back(affine.rewrite(added));
  }
  if (!options.decideApart) decideAtOnce(branches);
  added.addFlag();
}

} // namespace tiletwin::codegen
