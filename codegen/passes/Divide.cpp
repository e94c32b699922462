// codegen/passes/Divide.cpp -- see Divide.h.
#include "codegen/passes/Divide.h"
#include "codegen/dialect/TWG.h"
#include "codegen/passes/DotLayouts.h"
#include "codegen/passes/NeededHalves.h"
#include "codegen/passes/Pairs.h"
#include "codegen/passes/Steps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tiletwin::codegen {
namespace {

constexpr llvm::StringLiteral kDivided = "twg.divided", kByTwoCtas = "twg.by_two_ctas";

/// The kernel of one CTA of two.
class Halves {
public:
  Halves(tt::FuncOp kernel, const NeededHalves& needed)
      : kernel_(kernel), needed_(needed), builder_(kernel.getContext()) {}
  void makeKernel();

private:
  Value get(Value value, Half half);
  void set(Value value, Half half, Value made) { made_[{value, half}] = made; }
  void makeArguments();
  void makeBlock(ArrayRef<Operation*> ops);
  void makeBlock(Block& block);
  void make(Operation* op);
  void makeLoop(scf::ForOp loop);
  void makeWhile(scf::WhileOp loop);
  void makeBranch(scf::IfOp branch);
  void makeResults(Operation* op);
  void makeNote(twg::NoteOp note);
  void run(Operation* op);
  Operation* makeWhole(Operation* op);

  /// Calls visit(value's number, form) for each form in which values are needed, in order.
  void forEachForm(ValueRange values, llvm::function_ref<void(unsigned, Half)> visit) {
    for (auto [number, value] : llvm::enumerate(values))
      for (Half half : needed_.of(value)) visit(unsigned(number), half);
  }

  tt::FuncOp kernel_;
  const NeededHalves& needed_;
  OpBuilder builder_;
  Value rank_, isFirst_;
  llvm::DenseMap<std::pair<Value, Half>, Value> made_;
};

mlir::Type typeOf(Value value, Half half) {
  return half == kWhole ? value.getType() : mlir::Type(halfOf(value.getType(), half));
}

Value Halves::get(Value value, Half half) {
  if (auto argument = dyn_cast<BlockArgument>(value); argument && argument.getOwner()->isEntryBlock())
    if (argument.getOwner()->getParentOp() == kernel_) return value;
  return made_.at({value, half});
}

/// Regions of a clone use what was made of the values around them.
void useMade(Operation* made, llvm::function_ref<Value(Value)> get) {
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(made->getRegions(), captured);
  for (Value value : captured)
    for (Region& region : made->getRegions()) replaceAllUsesInRegionWith(value, get(value), region);
}

Operation* Halves::makeWhole(Operation* op) {
  Operation* made = builder_.clone(*op);
  for (OpOperand& operand : made->getOpOperands()) operand.set(get(operand.get(), kWhole));
  useMade(made, [&](Value value) { return get(value, kWhole); });
  return made;
}

/// All forms of an operation's results that are needed, the whole first: others may be taken of it.
void Halves::makeResults(Operation* op) {
  llvm::SmallSetVector<Half, 2> forms;
  forEachForm(op->getResults(), [&](unsigned, Half half) {
    if (half == kWhole) forms.insert(half);
  });
  forEachForm(op->getResults(), [&](unsigned, Half half) { forms.insert(half); });
  for (Half half : forms) {
    const std::optional<SmallVector<Half>> halves = operandHalves(op, half);
    if (!halves) {
      for (Value result : op->getResults())
        if (needed_.isNeeded(result, half)) set(result, half, takeHalf(builder_, get(result, kWhole), half, rank_));
      continue;
    }
    Operation* made = nullptr;
    if (half == kWhole) {
      made = makeWhole(op);
      if (isa<tt::MakeTensorDescriptorOp>(op))
        if (const Half along = needed_.halfOfBlocks(op->getResult(0)); along != kWhole)
          made->getResult(0).setType(halfOf(cast<tt::TensorDescType>(op->getResult(0).getType()), along));
    } else {
      SmallVector<Value> operands;
      for (auto [operand, of] : llvm::zip(op->getOperands(), *halves)) operands.push_back(get(operand, of));
      made = makeHalf(builder_, op, half, operands, rank_);
      useMade(made, [&](Value value) { return get(value, kWhole); });
    }
    for (auto [result, one] : llvm::zip_equal(op->getResults(), made->getResults())) set(result, half, one);
  }
}

void Halves::makeLoop(scf::ForOp loop) {
  SmallVector<Value> inits;
  ValueRange carried = loop.getRegionIterArgs();
  forEachForm(carried, [&](unsigned i, Half half) { inits.push_back(get(loop.getInitArgs()[i], half)); });
  auto made = scf::ForOp::create(
      builder_, loop.getLoc(), get(loop.getLowerBound(), kWhole), get(loop.getUpperBound(), kWhole),
      get(loop.getStep(), kWhole), inits, [](OpBuilder&, Location, Value, ValueRange) {}, loop.getUnsignedCmp());
  made->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  set(loop.getInductionVar(), kWhole, made.getInductionVar());
  unsigned next = 0;
  forEachForm(carried, [&](unsigned i, Half half) {
    set(carried[i], half, made.getRegionIterArg(next));
    set(loop.getResult(i), half, made.getResult(next++));
  });
  OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPointToStart(made.getBody());
  makeBlock(*loop.getBody());
  SmallVector<Value> yielded;
  forEachForm(carried, [&](unsigned i, Half half) { yielded.push_back(get(loop.getYieldedValues()[i], half)); });
  scf::YieldOp::create(builder_, loop.getLoc(), yielded);
}

void Halves::makeWhile(scf::WhileOp loop) {
  SmallVector<Value> inits;
  SmallVector<mlir::Type> types;
  ValueRange before = loop.getBeforeArguments(), after = loop.getAfterArguments();
  forEachForm(before, [&](unsigned i, Half half) { inits.push_back(get(loop.getInits()[i], half)); });
  forEachForm(after, [&](unsigned i, Half half) { types.push_back(typeOf(after[i], half)); });
  auto made = scf::WhileOp::create(builder_, loop.getLoc(), types, inits);
  made->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  OpBuilder::InsertionGuard guard(builder_);
  Block* first = builder_.createBlock(&made.getBefore());
  forEachForm(before, [&](unsigned i, Half half) {
    set(before[i], half, first->addArgument(typeOf(before[i], half), before[i].getLoc()));
  });
  makeBlock(*loop.getBeforeBody());
  SmallVector<Value> given;
  scf::ConditionOp condition = loop.getConditionOp();
  forEachForm(after, [&](unsigned i, Half half) { given.push_back(get(condition.getArgs()[i], half)); });
  scf::ConditionOp::create(builder_, condition.getLoc(), get(condition.getCondition(), kWhole), given);
  Block* second = builder_.createBlock(&made.getAfter());
  unsigned next = 0;
  forEachForm(after, [&](unsigned i, Half half) {
    set(after[i], half, second->addArgument(typeOf(after[i], half), after[i].getLoc()));
    set(loop.getResult(i), half, made.getResult(next++));
  });
  makeBlock(*loop.getAfterBody());
  SmallVector<Value> yielded;
  forEachForm(before, [&](unsigned i, Half half) { yielded.push_back(get(loop.getYieldedValues()[i], half)); });
  scf::YieldOp::create(builder_, loop.getLoc(), yielded);
}

void Halves::makeBranch(scf::IfOp branch) {
  SmallVector<mlir::Type> types;
  ValueRange results = branch.getResults();
  forEachForm(results, [&](unsigned i, Half half) { types.push_back(typeOf(results[i], half)); });
  const bool hasElse = !branch.getElseRegion().empty();
  auto made = scf::IfOp::create(builder_, branch.getLoc(), types, get(branch.getCondition(), kWhole),
                                /*addThenBlock=*/true, /*addElseBlock=*/hasElse);
  made->setDiscardableAttrs(branch->getDiscardableAttrDictionary());
  OpBuilder::InsertionGuard guard(builder_);
  auto fill = [&](Block* from, Block* to) {
    to->clear();
    builder_.setInsertionPointToStart(to);
    makeBlock(*from);
    SmallVector<Value> yielded;
    auto yield = cast<scf::YieldOp>(from->getTerminator());
    forEachForm(results, [&](unsigned i, Half half) { yielded.push_back(get(yield.getOperand(i), half)); });
    scf::YieldOp::create(builder_, yield.getLoc(), yielded);
  };
  fill(branch.thenBlock(), made.thenBlock());
  if (hasElse) fill(branch.elseBlock(), made.elseBlock());
  unsigned next = 0;
  forEachForm(results, [&](unsigned i, Half half) { set(results[i], half, made.getResult(next++)); });
}

/// A debugger is shown what the CTA has as a whole.
void Halves::makeNote(twg::NoteOp note) {
  auto made = cast<twg::NoteOp>(builder_.clone(*note));
  if (!note.getValue()) return;
  if (needed_.isNeeded(note.getValue(), kWhole))
    made.getValueMutable().assign(get(note.getValue(), kWhole));
  else
    made.getValueMutable().clear();
}

void Halves::run(Operation* op) {
  const Runner runner = needed_.runnerOf(op);
  OpBuilder::InsertionGuard guard(builder_);
  if (runner.meets) twg::PairMeetOp::create(builder_, op->getLoc());
  if (runner.who == Runner::Who::First) {
    auto branch = scf::IfOp::create(builder_, op->getLoc(), isFirst_, /*withElseRegion=*/false);
    builder_.setInsertionPointToStart(branch.thenBlock());
  }
  if (runner.who != Runner::Who::Halves) {
    makeWhole(op);
    return;
  }
  Operation* made = builder_.clone(*op);
  for (OpOperand& operand : made->getOpOperands())
    operand.set(get(operand.get(), isa<RankedTensorType>(operand.get().getType()) ? runner.along : kWhole));
  for (Value result : made->getResults()) result.setType(halfOf(result.getType(), runner.along)); // nobody reads it
  auto move = [&](auto write) {
    builder_.setInsertionPoint(made);
    OpOperand& index = write.getIndicesMutable()[unsigned(runner.along)];
    const int64_t extent = write.getSrc().getType().getDimSize(unsigned(runner.along));
    index.set(indexOfHalf(builder_, op->getLoc(), index.get(), extent, rank_));
  };
  if (auto store = dyn_cast<tt::DescriptorStoreOp>(made)) move(store);
  if (auto reduce = dyn_cast<tt::DescriptorReduceOp>(made)) move(reduce);
}

void Halves::make(Operation* op) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) return makeLoop(loop);
  if (auto loop = dyn_cast<scf::WhileOp>(op)) return makeWhile(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op)) return makeBranch(branch);
  if (auto note = dyn_cast<twg::NoteOp>(op)) return makeNote(note);
  if (isMemoryEffectFree(op) || isa<tt::LoadOp, tt::DescriptorLoadOp>(op)) return makeResults(op);
  run(op);
}

void Halves::makeBlock(ArrayRef<Operation*> ops) {
  for (Operation* op : ops) make(op);
}

void Halves::makeBlock(Block& block) {
  makeBlock(llvm::map_to_vector(block.without_terminator(), [](Operation& op) { return &op; }));
}

/// Descriptors that the launch makes have smaller blocks, where they are needed by halves.
void Halves::makeArguments() {
  Block& body = kernel_.getBody().front();
  for (auto [descriptor, along] : needed_.descriptors())
    if (isa<BlockArgument>(descriptor) && along != kWhole)
      descriptor.setType(halfOf(cast<tt::TensorDescType>(descriptor.getType()), along));
  auto type = kernel_.getFunctionType();
  kernel_.setFunctionType(FunctionType::get(kernel_.getContext(), body.getArgumentTypes(), type.getResults()));
}

void Halves::makeKernel() {
  Block& body = kernel_.getBody().front();
  SmallVector<Operation*> old = llvm::map_to_vector(body.without_terminator(), [](Operation& op) { return &op; });
  builder_.setInsertionPoint(body.getTerminator());
  rank_ = twg::CtaRankOp::create(builder_, kernel_.getLoc(), builder_.getI32Type());
  Value zero = arith::ConstantOp::create(builder_, kernel_.getLoc(), builder_.getI32IntegerAttr(0));
  isFirst_ = arith::CmpIOp::create(builder_, kernel_.getLoc(), arith::CmpIPredicate::eq, rank_, zero);
  makeBlock(old);
  for (Operation* op : llvm::reverse(old)) op->erase();
  makeArguments();
}

/// Whether both CTAs may multiply this product together: 128 rows or more for each, and columns for one instruction.
bool mayBeTogether(tt::DotOp dot, const Target& target, ThreadBits threads) {
  constexpr int64_t kFewestRows = 256, kFewestColumns = 32, kMostColumns = 256;
  auto d = cast<RankedTensorType>(dot.getD().getType());
  if (d.getRank() != 2 || d.getDimSize(0) < kFewestRows) return false;
  if (d.getDimSize(1) < kFewestColumns || d.getDimSize(1) > kMostColumns) return false;
  return mayBeInTensorMemory(dot, halfOf(d, 0).getShape(), target, threads);
}

InFlightDiagnostic warn(Operation* where, const Options& options) {
  return where->emitWarning() << "num_ctas=" << options.numCtas << " changes nothing here: ";
}

} // namespace

void dividePrograms(tt::FuncOp kernel, const Target& target, const Options& options) {
  if (options.numCtas <= 1 || !target.features().tcgen05) return;
  SmallVector<tt::DotOp> dots;
  kernel.walk([&](tt::DotOp dot) {
    if (mayBeTogether(dot, target, threadsOf(target, options))) dots.push_back(dot);
  });
  if (dots.empty()) {
    warn(kernel, options)
        << "two CTAs run a program together that multiplies tiles of at least 256 rows and of 32 to 256 "
           "columns, with sums in float32, by four warps or more. Make the blocks larger, or leave it out";
    return;
  }
  if (!options.copiedLoads) {
    kernel.emitWarning()
        << "num_ctas=" << options.numCtas
        << " changes nothing in this code: two CTAs run a program together where kernel[grid] launches it, without "
           "launch_pdl, a text that replaces its own, and TILETWIN_COPIED_LOADS=0";
    return;
  }
  if (options.undivided) {
    warn(dots.front(), options) << options.undivided;
    return;
  }
  for (tt::DotOp dot : dots) dot->setAttr(kByTwoCtas, UnitAttr::get(kernel.getContext()));
  NeededHalves needed(kernel);
  if (std::optional<Refusal> refusal = needed.find()) {
    for (tt::DotOp dot : dots) dot->removeAttr(kByTwoCtas);
    warn(refusal->where, options) << "two CTAs cannot run the program together, since " << refusal->why
                                  << ". Leave it out";
    return;
  }
  Halves(kernel, needed).makeKernel();
  kernel->setAttr(kDivided, UnitAttr::get(kernel.getContext()));
  if (options.numCtas > kCtasOfPair)
    kernel.emitWarning() << "num_ctas=" << options.numCtas
                         << " is taken for num_ctas=2: two CTAs run a program together";
}

bool isDivided(tt::FuncOp kernel) { return kernel->hasAttr(kDivided); }

bool isByTwoCtas(Operation* dot) { return dot->hasAttr(kByTwoCtas); }

} // namespace tiletwin::codegen
