// diff/bounds/Flow.cpp -- which values may differ, where pointers point, and shadows through loops and branches.
// Not here:  single operations (*Ops.cpp), arithmetic on shadows (Builder.cpp).
// Idea:      two fixed points at once: inexact values make what is stored inexact, which makes loads inexact. Then one walk,
//            definitions first, gives each value that needs one its shadow; loops and branches carry shadows beside values.
#include "diff/bounds/Builder.h"
#include "ir/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/RegionGraphTraits.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/PostOrderIterator.h"

using namespace mlir;

namespace tiletwin::diff {

/// Operations whose regions compute single elements: their rules follow them as a whole.
static bool isWhole(Operation* op) { return isa<tt::ReduceOp, tt::ScanOp, tt::MapElementwiseOp>(op); }

static bool isControl(Operation* op) {
  return isa<scf::ForOp, scf::WhileOp, scf::IfOp, scf::ExecuteRegionOp, BranchOpInterface>(op);
}

Builder::Builder(tt::FuncOp function, const Latitude& latitude, BoundsKernel& out)
    : function_(function), latitude_(latitude), out_(out), ops_(function.getContext()), location_(function.getLoc()) {}

void Builder::run() {
  function_->walk<WalkOrder::PreOrder>([&](Operation* op) {
    kernelOps_.insert(op);
    if (isa<tt::StoreOp, tt::AtomicRMWOp, tt::AtomicCASOp, tt::AtomicStoreOp, tt::DescriptorStoreOp,
            tt::DescriptorReduceOp, tt::DescriptorScatterOp>(op)) {
      auto sum = dyn_cast<tt::AtomicRMWOp>(op);
      hasSums_ |= sum && sum.getAtomicRmwOp() == tt::RmwKind::FAdd;
      stores_[op] = int(out_.stores.size());
      out_.stores.push_back(op->getLoc());
    }
    return isWhole(op) ? WalkResult::skip() : WalkResult::advance();
  });
  addArguments();
  analyse();
  shadowRegion(function_.getBody());
  for (const auto& name : withoutRule_) out_.withoutRule.push_back(name.getKey().str());
  llvm::sort(out_.withoutRule);
}

// ---- arguments ----

void Builder::addArguments() {
  Block& entry = function_.getBody().front();
  const unsigned count = entry.getNumArguments();
  const size_t wild = count;
  Location where = function_.getLoc();
  ops_.setInsertionPointToStart(&entry);
  auto append = [&](Type type) {
    (void)function_.insertArgument(function_.getNumArguments(), type, {}, where);
    return entry.getArguments().back();
  };
  Type f32 = ops_.getF32Type();
  SmallVector<std::pair<unsigned, Value>> memories;
  for (unsigned i = 0; i < count; ++i)
    if (isAddress(entry.getArgument(i).getType())) {
      out_.shadowed.push_back(i);
      memories.emplace_back(i, append(tt::PointerType::get(f32)));
    }
  planeDistance_ = append(ops_.getI64Type());
  reasons_ = append(tt::PointerType::get(ops_.getI32Type()));
  written_.resize(unsigned(wild + 1));
  for (auto [i, memory] : memories) {
    Value argument = entry.getArgument(i), shadow = memory;
    if (auto descriptor = dyn_cast<tt::TensorDescType>(argument.getType())) {
      const unsigned rank = unsigned(descriptor.getShape().size());
      auto extents = entry.getArguments().slice(i + 1, rank), strides = entry.getArguments().slice(i + 1 + rank, rank);
      shadow = tt::MakeTensorDescriptorOp::create(ops_, where, shadowType(argument.getType()), memory,
                                                  ValueRange(extents), ValueRange(strides));
    }
    shadows_[argument] = shadow;
    roots_[argument] = llvm::BitVector(unsigned(wild + 1));
    roots_[argument].set(i);
  }
}

// ---- which values may differ ----

bool Builder::hasInexactOperand(Operation* op) const {
  return llvm::any_of(op->getOperands(), [&](Value operand) { return isInexact(operand); });
}

bool Builder::mayReadInexact(Value pointer) const {
  auto roots = roots_.find(pointer);
  return roots == roots_.end() || roots->second.test(roots->second.size() - 1) ? written_.any()
                                                                               : written_.anyCommon(roots->second);
}

bool Builder::needsShadow(Value value) const {
  if (!isAddress(value.getType())) return isInexact(value);
  auto roots = roots_.find(value);
  return roots != roots_.end() && !roots->second.test(roots->second.size() - 1);
}

/// What an address points into is not known behind it, or its offsets count other elements.
static bool losesPlace(Operation* op) {
  if (isa<tt::IntToPtrOp, tt::LoadOp>(op)) return true;
  if (!isa<tt::BitcastOp, arith::BitcastOp>(op)) return false;
  auto bytes = [](Type type) -> unsigned {
    auto pointer = dyn_cast<tt::PointerType>(tt::elementTypeOf(type));
    Type pointee = pointer ? pointer.getPointeeType() : Type();
    return pointee && pointee.isIntOrFloat() ? (pointee.getIntOrFloatBitWidth() + 7) / 8 : 8;
  };
  return bytes(op->getOperand(0).getType()) != bytes(op->getResult(0).getType());
}

/// True if something new is known of `to`.
bool Builder::flow(Value from, Value to) {
  bool changed = isInexact(from) && inexact_.insert(to).second;
  if (!isAddress(to.getType())) return changed;
  llvm::BitVector incoming(written_.size());
  if (auto known = roots_.find(from); known != roots_.end()) incoming = known->second;
  llvm::BitVector& roots = roots_.try_emplace(to, written_.size()).first->second;
  const llvm::BitVector before = roots;
  roots |= incoming;
  return changed || roots != before;
}

bool Builder::flowThrough(Operation* op) {
  bool changed = false;
  auto all = [&](ValueRange from, ValueRange to) {
    for (auto [a, b] : llvm::zip(from, to)) changed |= flow(a, b);
  };
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    all(loop.getInitArgs(), loop.getRegionIterArgs());
    all(loop.getInitArgs(), loop.getResults());
    all(loop.getYieldedValues(), loop.getRegionIterArgs());
    all(loop.getYieldedValues(), loop.getResults());
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    all(loop.getInits(), loop.getBeforeArguments());
    all(loop.getConditionOp().getArgs(), loop.getAfterArguments());
    all(loop.getConditionOp().getArgs(), loop.getResults());
    all(loop.getYieldOp().getOperands(), loop.getBeforeArguments());
  } else if (isa<scf::IfOp, scf::ExecuteRegionOp>(op)) {
    for (Region& region : op->getRegions())
      for (Block& block : region)
        if (auto yield = dyn_cast<scf::YieldOp>(block.getTerminator())) all(yield.getOperands(), op->getResults());
  } else if (auto branch = dyn_cast<BranchOpInterface>(op)) {
    for (unsigned i = 0; i < op->getNumSuccessors(); ++i)
      all(branch.getSuccessorOperands(i).getForwardedOperands(), op->getSuccessor(i)->getArguments());
  } else {
    const Rule* rule = ruleFor(op);
    const bool reached = hasInexactOperand(op);
    const bool begins = rule && rule->begins && rule->begins(*this, op);
    for (OpResult result : op->getResults()) {
      if (isAddress(result.getType())) {
        llvm::BitVector roots(written_.size());
        for (Value operand : op->getOperands())
          if (auto known = roots_.find(operand); known != roots_.end()) roots |= known->second;
        if (roots.none() || losesPlace(op)) roots.set(roots.size() - 1);
        llvm::BitVector& known = roots_.try_emplace(result, written_.size()).first->second;
        const llvm::BitVector before = known;
        known |= roots;
        changed |= known != before;
      } else if ((begins || (reached && (!rule || rule->shadow))) && inexact_.insert(result).second) {
        changed = true;
      }
    }
    // What is stored makes what is loaded inexact. Atomic sums of floats are, whatever is added.
    if (stores_.contains(op) &&
        (reached || begins || (isa<tt::AtomicRMWOp>(op) && isFloat(op->getResult(0).getType())))) {
      const llvm::BitVector before = written_;
      if (auto roots = roots_.find(op->getOperand(0)); roots != roots_.end())
        written_ |= roots->second;
      else
        written_.set();
      changed |= written_ != before;
    }
  }
  return changed;
}

void Builder::analyse() {
  for (bool changed = true; changed;) {
    changed = false;
    function_->walk<WalkOrder::PreOrder>([&](Operation* op) {
      if (kernelOps_.contains(op)) changed |= flowThrough(op);
      return isWhole(op) ? WalkResult::skip() : WalkResult::advance();
    });
  }
}

// ---- control flow ----

SmallVector<unsigned> Builder::needed(ValueRange values) const {
  SmallVector<unsigned> which;
  for (auto [i, value] : llvm::enumerate(values))
    if (needsShadow(value)) which.push_back(unsigned(i));
  return which;
}

/// The shadow of a value that has none, where others have.
Value Builder::noShadow(Type type) {
  if (isBool(type)) {
    TypedAttr no = ops_.getBoolAttr(false);
    Type shape = shadowType(type);
    if (auto tile = dyn_cast<RankedTensorType>(shape)) no = DenseElementsAttr::get(tile, false);
    return arith::ConstantOp::create(ops_, location_, no);
  }
  return zero(type);
}

SmallVector<Value> Builder::shadowsOf(ValueRange values, ArrayRef<unsigned> which) {
  SmallVector<Value> result;
  for (unsigned i : which) {
    Value shadow = of(values[i]);
    result.push_back(shadow ? shadow : noShadow(values[i].getType()));
  }
  return result;
}

void Builder::addBlockArguments(Block& block, ArrayRef<unsigned> which) {
  for (unsigned i : which) {
    Value argument = block.getArgument(i);
    shadows_[argument] = block.addArgument(shadowType(argument.getType()), argument.getLoc());
  }
}

void Builder::replaceResults(Operation* from, Operation* to, ArrayRef<unsigned> which) {
  to->setDiscardableAttrs(from->getDiscardableAttrDictionary());
  const unsigned count = from->getNumResults();
  for (unsigned i = 0; i < count; ++i) {
    Value old = from->getResult(i), now = to->getResult(i);
    if (isInexact(old)) inexact_.insert(now);
    if (auto at = roots_.find(old); at != roots_.end()) {
      llvm::BitVector roots = at->second;
      roots_[now] = roots;
    }
    old.replaceAllUsesWith(now);
  }
  for (auto [k, i] : llvm::enumerate(which)) shadows_[to->getResult(i)] = to->getResult(count + unsigned(k));
  kernelOps_.erase(from);
  from->erase();
}

static void appendOperands(Operation* terminator, ValueRange values) {
  terminator->insertOperands(terminator->getNumOperands(), values);
}

void Builder::shadowFor(Operation* op) {
  auto loop = cast<scf::ForOp>(op);
  SmallVector<unsigned> which = needed(loop.getRegionIterArgs());
  if (which.empty()) return shadowRegion(loop.getRegion());
  SmallVector<Value> inits(loop.getInitArgs());
  inits.append(shadowsOf(loop.getInitArgs(), which));
  auto made = scf::ForOp::create(ops_, op->getLoc(), loop.getLowerBound(), loop.getUpperBound(), loop.getStep(), inits,
                                 nullptr, loop.getUnsignedCmp());
  made.getRegion().takeBody(loop.getRegion());
  Block& body = *made.getBody();
  for (unsigned i : which) {
    Value argument = body.getArgument(i + 1); // behind the induction variable
    shadows_[argument] = body.addArgument(shadowType(argument.getType()), argument.getLoc());
  }
  shadowRegion(made.getRegion());
  Operation* yield = body.getTerminator();
  ops_.setInsertionPoint(yield);
  appendOperands(yield, shadowsOf(yield->getOperands(), which));
  replaceResults(op, made, which);
}

void Builder::shadowWhile(Operation* op) {
  auto loop = cast<scf::WhileOp>(op);
  SmallVector<unsigned> before = needed(loop.getBeforeArguments()), after = needed(loop.getAfterArguments());
  SmallVector<Value> inits(loop.getInits());
  inits.append(shadowsOf(loop.getInits(), before));
  SmallVector<Type> types(op->getResultTypes());
  for (unsigned i : after) types.push_back(shadowType(loop.getResult(i).getType()));
  auto made = scf::WhileOp::create(ops_, op->getLoc(), types, inits);
  made.getBefore().takeBody(loop.getBefore());
  made.getAfter().takeBody(loop.getAfter());
  addBlockArguments(made.getBefore().front(), before);
  addBlockArguments(made.getAfter().front(), after);
  shadowRegion(made.getBefore());
  scf::ConditionOp condition = made.getConditionOp();
  ops_.setInsertionPoint(condition);
  note(of(condition.getCondition()), Reason::Branch);
  appendOperands(condition, shadowsOf(condition.getArgs(), after));
  shadowRegion(made.getAfter());
  Operation* yield = made.getYieldOp();
  ops_.setInsertionPoint(yield);
  appendOperands(yield, shadowsOf(yield->getOperands(), before));
  replaceResults(op, made, after);
}

void Builder::shadowIf(Operation* op) {
  auto branch = cast<scf::IfOp>(op);
  SmallVector<unsigned> which = needed(branch.getResults());
  if (which.empty()) {
    for (Region& region : op->getRegions()) shadowRegion(region);
    return;
  }
  SmallVector<Type> types(op->getResultTypes());
  for (unsigned i : which) types.push_back(shadowType(branch.getResult(i).getType()));
  auto made = scf::IfOp::create(ops_, op->getLoc(), types, branch.getCondition(), /*withElseRegion=*/true);
  for (unsigned r = 0; r < 2; ++r) {
    Region& region = made->getRegion(r);
    region.takeBody(op->getRegion(r));
    shadowRegion(region);
    Operation* yield = region.front().getTerminator();
    ops_.setInsertionPoint(yield);
    appendOperands(yield, shadowsOf(yield->getOperands(), which));
  }
  replaceResults(op, made, which);
}

void Builder::shadowExecuteRegion(Operation* op) {
  SmallVector<unsigned> which = needed(op->getResults());
  if (which.empty()) return shadowRegion(op->getRegion(0));
  SmallVector<Type> types(op->getResultTypes());
  for (unsigned i : which) types.push_back(shadowType(op->getResult(i).getType()));
  auto made = scf::ExecuteRegionOp::create(ops_, op->getLoc(), types);
  made.getRegion().takeBody(op->getRegion(0));
  shadowRegion(made.getRegion());
  for (Block& block : made.getRegion())
    if (auto yield = dyn_cast<scf::YieldOp>(block.getTerminator())) {
      ops_.setInsertionPoint(yield);
      appendOperands(yield, shadowsOf(yield->getOperands(), which));
    }
  replaceResults(op, made, which);
}

void Builder::shadowBranch(Operation* op) {
  auto branch = cast<BranchOpInterface>(op);
  for (unsigned i = 0; i < op->getNumSuccessors(); ++i) {
    SmallVector<unsigned> which;
    for (auto [k, argument] : llvm::enumerate(op->getSuccessor(i)->getArguments()))
      if (needsShadow(argument)) which.push_back(unsigned(k));
    SuccessorOperands operands = branch.getSuccessorOperands(i);
    SmallVector<Value> values(operands.getForwardedOperands());
    operands.append(shadowsOf(values, which));
  }
}

/// What decides which way the program goes.
void Builder::noteControl(Operation* op) {
  if (isa<scf::IfOp, cf::CondBranchOp>(op)) note(of(op->getOperand(0)), Reason::Branch);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    for (Value bound : {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
      note(mayDiffer(bound), Reason::Branch);
}

void Builder::shadowRegion(Region& region) {
  if (region.empty()) return;
  mlir::OpBuilder::InsertionGuard guard(ops_);
  for (Block& block : llvm::drop_begin(region.getBlocks())) addBlockArguments(block, needed(block.getArguments()));
  SmallVector<Block*> order;
  for (Block* block : llvm::ReversePostOrderTraversal<Region*>(&region)) order.push_back(block);
  for (Block* block : order)
    for (Operation& op : llvm::make_early_inc_range(*block)) shadowOp(&op);
}

void Builder::shadowOp(Operation* op) {
  if (!kernelOps_.contains(op)) return;
  ops_.setInsertionPoint(op);
  location_ = op->getLoc();
  if (isControl(op)) {
    noteControl(op);
    if (isa<scf::ForOp>(op)) return shadowFor(op);
    if (isa<scf::WhileOp>(op)) return shadowWhile(op);
    if (isa<scf::IfOp>(op)) return shadowIf(op);
    if (isa<scf::ExecuteRegionOp>(op)) return shadowExecuteRegion(op);
    return shadowBranch(op);
  }
  const Rule* rule = ruleFor(op);
  if (!op->hasTrait<OpTrait::IsTerminator>()) ops_.setInsertionPointAfter(op);
  if (op->getNumResults() == 0) {
    if (rule && rule->shadow) rule->shadow(*this, op, {});
    return;
  }
  // Atomics write memory, whether or not somebody looks at what they return.
  for (OpResult result : op->getResults()) {
    if (!needsShadow(result) && !stores_.contains(op)) continue;
    if (Value shadow = shadowBy(op, result); shadow && needsShadow(result)) shadows_[result] = shadow;
  }
}

Value Builder::shadowBy(Operation* op, OpResult result) {
  const Rule* rule = ruleFor(op);
  if (rule) return rule->shadow ? rule->shadow(*this, op, result) : Value();
  if (!hasInexactOperand(op) || isAddress(result.getType())) return {};
  without(op);
  Value some; // any lane of any operand
  for (Value operand : op->getOperands()) {
    Value lanes = mayDiffer(operand);
    while (lanes && isa<RankedTensorType>(lanes.getType()))
      lanes = reduce(lanes, int(cast<RankedTensorType>(lanes.getType()).getRank()) - 1, "arith.ori");
    if (lanes) some = either(some, lanes);
  }
  if (!some) return {};
  if (isa<RankedTensorType>(result.getType())) some = splat(some, result.getType());
  note(some, Reason::NoRule);
  return isBool(result.getType()) ? some : unknownWhere(some, Reason::NoRule, {}, result.getType());
}

// ---- the pass ----

FailureOr<BoundsKernel> addBounds(ModuleOp module, StringRef entry, const Latitude& latitude) {
  auto function = dyn_cast_or_null<tt::FuncOp>(SymbolTable::lookupSymbolIn(module, entry));
  if (!function || function.getBody().empty()) {
    module.emitError() << "there is no function " << entry << " to compute bounds of";
    return failure();
  }
  WalkResult calls = function->walk([](tt::CallOp) { return WalkResult::interrupt(); });
  if (calls.wasInterrupted()) {
    function.emitError() << "bounds need the calls of " << entry << " inlined";
    return failure();
  }
  BoundsKernel out;
  Builder(function, latitude, out).run();
  if (failed(verify(module))) return failure();
  tt::simplify(module);
  return out;
}

} // namespace tiletwin::diff
