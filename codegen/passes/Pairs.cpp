// codegen/passes/Pairs.cpp -- see Pairs.h.
#include "codegen/passes/Pairs.h"
#include "codegen/passes/AffineLoads.h"
#include "codegen/passes/CopyGroups.h"
#include "codegen/passes/Producer.h"
#include "codegen/passes/TileLoop.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tiletwin::codegen {
namespace {

constexpr llvm::StringLiteral kPairs = "twg.pairs";
constexpr llvm::StringLiteral kTogether = "twg.together"; ///< a branch that both programs of a pair take, or none

/// What a program's neighbour computes where this one computes a value, in the loop over programs.
class Neighbour {
public:
  explicit Neighbour(scf::ForOp programs) : programs_(programs) {}

  /// Whether a value comes from the program's number by nothing but arithmetic on numbers.
  bool canCompute(Value value) {
    if (!isInLoop(value) || value == programs_.getInductionVar()) return true;
    if (auto known = canCompute_.find(value); known != canCompute_.end()) return known->second;
    Operation* op = value.getDefiningOp();
    auto isNumber = [](mlir::Type type) { return type.isIntOrIndexOrFloat(); };
    const bool can = op && op->getNumRegions() == 0 && isMemoryEffectFree(op) && !isa<tt::ElementwiseInlineAsmOp>(op) &&
                     llvm::all_of(op->getResultTypes(), isNumber) &&
                     llvm::all_of(op->getOperands(),
                                  [&](Value operand) { return isNumber(operand.getType()) && canCompute(operand); });
    return canCompute_[value] = can;
  }

  /// The neighbour's value. The same one, if it does not come from the program's number.
  Value valueOf(OpBuilder& builder, Value value) {
    if (!isInLoop(value)) return value;
    if (Value known = values_.lookup(value)) return known;
    if (value == programs_.getInductionVar()) {
      find(builder);
      return number_;
    }
    Value found = value;
    Operation* op = value.getDefiningOp();
    IRMapping mapping;
    bool isOther = false;
    for (Value operand : op->getOperands()) {
      mapping.map(operand, valueOf(builder, operand));
      isOther |= mapping.lookup(operand) != operand;
    }
    if (isOther) found = builder.clone(*op, mapping)->getResult(cast<OpResult>(value).getResultNumber());
    return values_[value] = found;
  }

  /// Whether there is one: the last program of an odd number of them has none.
  Value exists(OpBuilder& builder) {
    find(builder);
    return exists_;
  }

  static Value constant(OpBuilder& builder, mlir::Type type, int64_t number) {
    return arith::ConstantOp::create(builder, builder.getUnknownLoc(), builder.getIntegerAttr(type, number));
  }

private:
  bool isInLoop(Value value) { return programs_->isAncestor(value.getParentRegion()->getParentOp()); }

  /// A program without a neighbour takes itself for it, so that nothing is computed from a number beyond the last.
  void find(OpBuilder& builder) {
    if (number_) return;
    Value own = programs_.getInductionVar();
    Location where = programs_.getLoc();
    Value other = arith::XOrIOp::create(builder, where, own, constant(builder, own.getType(), 1));
    exists_ = arith::CmpIOp::create(builder, where, arith::CmpIPredicate::slt, other, programs_.getUpperBound());
    number_ = arith::SelectOp::create(builder, where, exists_, other, own);
  }

  scf::ForOp programs_;
  Value number_, exists_;
  llvm::DenseMap<Value, bool> canCompute_;
  llvm::DenseMap<Value, Value> values_;
};

/// A loop of the producer, in the loop over programs.
class SharedCopies {
public:
  SharedCopies(scf::ForOp programs, scf::ForOp loop) : neighbour_(programs), programs_(programs), loop_(loop) {}
  bool rewrite();

private:
  bool isOfBoth();
  bool addSources(Value value, llvm::SetVector<Value>& sources);
  Value isSame(OpBuilder& builder, twg::TensorLoadOp load);
  bool shareGroup(twg::BarrierExpectOp expect, ArrayRef<twg::TensorLoadOp> loads);

  Neighbour neighbour_;
  scf::ForOp programs_, loop_;
};

/// What comes from outside of the loop into a value of its body; false if the body does more than arithmetic for it.
bool SharedCopies::addSources(Value value, llvm::SetVector<Value>& sources) {
  if (!loop_->isAncestor(value.getParentRegion()->getParentOp())) {
    sources.insert(value);
    return value.getType().isIntOrIndex() && neighbour_.canCompute(value);
  }
  llvm::SetVector<Value> inside;
  inside.insert(value);
  for (size_t i = 0; i < inside.size(); ++i) {
    SmallVector<Value> from;
    if (auto argument = dyn_cast<BlockArgument>(inside[i])) {
      if (argument.getOwner() != loop_.getBody()) return false;
      if (argument == loop_.getInductionVar())
        from = {loop_.getLowerBound(), loop_.getStep()};
      else
        from = {loop_.getTiedLoopInit(argument)->get(), loop_.getTiedLoopYieldedValue(argument)->get()};
    } else {
      Operation* op = inside[i].getDefiningOp();
      if (op->getNumRegions() || !isMemoryEffectFree(op)) return false;
      from = op->getOperands();
    }
    for (Value one : from) {
      if (loop_->isAncestor(one.getParentRegion()->getParentOp()))
        inside.insert(one);
      else if (sources.insert(one); !one.getType().isIntOrIndex() || !neighbour_.canCompute(one))
        return false;
    }
  }
  return true;
}

/// Whether the neighbour copies the same block in each iteration; null if that cannot be known.
Value SharedCopies::isSame(OpBuilder& builder, twg::TensorLoadOp load) {
  llvm::SetVector<Value> sources;
  for (Value index : load.getIndices())
    if (!addSources(index, sources)) return {};
  Value same = neighbour_.exists(builder);
  for (Value own : sources) {
    Value other = neighbour_.valueOf(builder, own);
    if (other == own) continue;
    Value equal = arith::CmpIOp::create(builder, load.getLoc(), arith::CmpIPredicate::eq, own, other);
    same = arith::AndIOp::create(builder, load.getLoc(), same, equal);
  }
  return same;
}

/// Before copies to both begin, each producer tells the other one that its slot is free. In rounds without such copies nobody
/// waits.
bool SharedCopies::shareGroup(twg::BarrierExpectOp expect, ArrayRef<twg::TensorLoadOp> loads) {
  OpBuilder builder(loop_);
  Location where = expect.getLoc();
  SmallVector<std::pair<twg::TensorLoadOp, Value>> shared;
  Value any;
  for (twg::TensorLoadOp load : loads) {
    Value same = isSame(builder, load);
    if (!same) continue;
    shared.push_back({load, same});
    any = any ? arith::OrIOp::create(builder, where, any, same).getResult() : same;
  }
  if (!any) return false;
  auto kernel = loop_->getParentOfType<tt::FuncOp>();
  auto slot = expect.getBarrier().getDefiningOp<twg::MemDescIndexOp>();
  OpBuilder atStart = OpBuilder::atBlockBegin(&kernel.getBody().front());
  Value ready = twg::LocalAllocOp::create(atStart, where, slot.getSrc().getType(), Value(), IntegerAttr());
  atStart.setInsertionPoint(producerOf(kernel));
  twg::BarrierInitOp::create(atStart, where, ready, uint32_t(kCtasOfPair));

  builder.setInsertionPointAfter(expect);
  auto branch = scf::IfOp::create(builder, where, any, /*withElseRegion=*/false);
  OpBuilder inside = branch.getThenBodyBuilder();
  Value own = barrierAt(inside, where, ready, slot.getIndex());
  twg::PairArriveOp::create(inside, where, own);
  twg::BarrierWaitOp::create(inside, where, own, Value());
  // Which of the two begins changes with the slot: a program's number is even in the first CTA, and odd in the second one.
  Value turn = arith::AddIOp::create(builder, where, programs_.getInductionVar(), slot.getIndex());
  turn = arith::AndIOp::create(builder, where, turn, Neighbour::constant(builder, turn.getType(), 1));
  Value alone = Neighbour::constant(builder, turn.getType(), -1);
  for (auto [load, same] : shared)
    load.getTurnMutable().assign(arith::SelectOp::create(builder, where, same, turn, alone));
  return true;
}

/// Whether both programs of a pair run the loop, and as often.
bool SharedCopies::isOfBoth() {
  auto branch = dyn_cast<scf::IfOp>(loop_->getParentOp());
  if (!branch || !branch->hasAttr(kTogether) || branch->getParentOp() != programs_) return false;
  OpBuilder builder(loop_);
  return llvm::all_of(ValueRange{loop_.getLowerBound(), loop_.getUpperBound(), loop_.getStep()}, [&](Value number) {
    return neighbour_.canCompute(number) && neighbour_.valueOf(builder, number) == number;
  });
}

bool SharedCopies::rewrite() {
  if (!isOfBoth()) return false;
  SmallVector<std::pair<twg::BarrierExpectOp, SmallVector<twg::TensorLoadOp>>> groups;
  for (Operation& op : *loop_.getBody()) {
    if (auto expect = dyn_cast<twg::BarrierExpectOp>(op)) groups.push_back({expect, {}});
    if (auto load = dyn_cast<twg::TensorLoadOp>(op); load && !groups.empty()) groups.back().second.push_back(load);
  }
  bool any = false;
  for (auto& [expect, loads] : groups) any |= shareGroup(expect, loads);
  return any;
}

/// Whether a loop has a product whose sum does not go on into the next iteration: another one, or other work, uses it at once.
bool makesProductsNew(scf::ForOp loop) {
  return llvm::any_of(loop.getBody()->getOps<tt::DotOp>(), [&](tt::DotOp dot) {
    return !llvm::is_contained(dot->getUsers(), loop.getBody()->getTerminator());
  });
}

scf::ForOp programsOf(Block& block) {
  for (auto loop : block.getOps<scf::ForOp>())
    if (isTileLoop(loop)) return loop;
  return {};
}

} // namespace

void pairPrograms(tt::FuncOp kernel, const Options& options) {
  scf::ForOp programs = programsOf(kernel.getBody().front());
  if (!options.pairs || !programs) return;
  Neighbour neighbour(programs);
  SmallVector<scf::IfOp> branches;
  bool isWorthIt = options.numCtas > 1;
  for (auto branch : programs.getBody()->getOps<scf::IfOp>()) {
    if (!isEitherWay(branch)) continue;
    branches.push_back(branch);
    isWorthIt |= llvm::any_of(branch.thenBlock()->getOps<scf::ForOp>(), makesProductsNew);
  }
  auto canDecide = [&](scf::IfOp branch) { return neighbour.canCompute(branch.getCondition()); };
  if (!isWorthIt || !llvm::all_of(branches, canDecide)) return;
  kernel->setAttr(kPairs, UnitAttr::get(kernel.getContext()));
  for (scf::IfOp branch : branches) {
    branch->setAttr(kTogether, UnitAttr::get(kernel.getContext()));
    OpBuilder builder(branch);
    Value own = branch.getCondition(), other = neighbour.valueOf(builder, own);
    if (other != own) branch.getConditionMutable().assign(arith::AndIOp::create(builder, branch.getLoc(), own, other));
  }
}

void shareCopies(tt::FuncOp kernel, const Options& options) {
  bool any = false;
  twg::ProducerOp producer = producerOf(kernel);
  scf::ForOp programs = runsInPairs(kernel) && producer ? programsOf(producer.getBody().front()) : scf::ForOp();
  if (programs) {
    SmallVector<scf::ForOp> loops;
    programs.walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops) any |= loop != programs && SharedCopies(programs, loop).rewrite();
  }
  if (!any) kernel->removeAttr(kPairs);
  if (options.numCtas <= 1 || (any && options.numCtas == kCtasOfPair)) return;
  auto warning = kernel.emitWarning() << "num_ctas=" << options.numCtas;
  if (any)
    warning << " is taken for num_ctas=2: a cluster has two CTAs, which run neighbouring programs and read blocks of "
               "both once";
  else if (!options.copiedLoads)
    warning << " changes nothing in this code: clusters are for loops over programs, which only launches by "
               "kernel[grid] have";
  else if (options.isAlone)
    warning << " changes nothing for so few programs: each has a multiprocessor of its own";
  else
    warning << " changes nothing here: clusters are for loops over programs whose blocks are copied through tensor "
               "maps, on an H100 or H200, where neighbouring programs may read the same ones. Leave it out";
}

void copyPairMarks(Operation* from, Operation* to) {
  if (auto mark = from->getAttr(kTogether)) to->setAttr(kTogether, mark);
}

bool runsInPairs(tt::FuncOp kernel) { return kernel->hasAttr(kPairs); }

} // namespace tiletwin::codegen
