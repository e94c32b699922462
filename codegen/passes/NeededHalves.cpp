// codegen/passes/NeededHalves.cpp -- see NeededHalves.h.
#include "codegen/passes/NeededHalves.h"
#include "codegen/passes/Divide.h"
#include "codegen/passes/WrittenMemory.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tiletwin::codegen {
namespace {

using Refused = std::optional<Refusal>;

bool isTile(Value value) { return isa<RankedTensorType>(value.getType()); }

/// Calls visit for each operation that is not part of another one: not those of a reduction's region, for example.
void walkKernel(tt::FuncOp kernel, llvm::function_ref<WalkResult(Operation*)> visit) {
  kernel.walk<WalkOrder::PreOrder>([&](Operation* op) {
    if (op == kernel) return WalkResult::advance();
    if (visit(op).wasInterrupted()) return WalkResult::interrupt();
    return isa<scf::ForOp, scf::IfOp, scf::WhileOp>(op) ? WalkResult::advance() : WalkResult::skip();
  });
}

/// Whether assembly in it may ask which CTA or multiprocessor it runs in: it names a register of its own.
bool namesRegisters(Operation* op) {
  if (isa<scf::ForOp, scf::IfOp, scf::WhileOp>(op)) return false;
  auto find = [](tt::ElementwiseInlineAsmOp assembly) {
    return assembly.getAsmString().contains('%') ? WalkResult::interrupt() : WalkResult::advance();
  };
  return op->walk(find).wasInterrupted();
}

bool isRelease(Operation* op) {
  auto atomic = dyn_cast<tt::AtomicRMWOp>(op);
  return atomic && llvm::is_contained({tt::MemSemantic::Release, tt::MemSemantic::AcqRel}, atomic.getSem());
}

} // namespace

ArrayRef<Half> NeededHalves::of(Value value) const {
  auto found = needed_.find(value);
  return found == needed_.end() ? ArrayRef<Half>() : ArrayRef<Half>(found->second);
}

Half NeededHalves::halfOfBlocks(Value descriptor) const {
  auto found = descriptors_.find(descriptor);
  return found == descriptors_.end() ? kWhole : found->second;
}

Half NeededHalves::rowsOf(Value value) const {
  auto found = rows_.find(value);
  return found == rows_.end() ? kWhole : found->second;
}

bool NeededHalves::setRows(Value value, Half along) {
  return along != kWhole && isTile(value) && rows_.try_emplace(value, along).second;
}

/// Where the rows of an operation's results are, if an operand has some.
Half NeededHalves::rowsOf(Operation* op) const {
  if (isByTwoCtas(op)) return 0;
  auto tile = op->getNumResults() ? dyn_cast<RankedTensorType>(op->getResult(0).getType()) : RankedTensorType();
  for (Half along = 0; tile && along < tile.getRank(); ++along) {
    const auto halves = operandHalves(op, along);
    for (unsigned i = 0; halves && i < halves->size(); ++i)
      if ((*halves)[i] != kWhole && (*halves)[i] == rowsOf(op->getOperand(i))) return along;
  }
  return kWhole;
}

bool NeededHalves::spreadRows(Operation* op) {
  bool isNew = false;
  auto join = [&](ValueRange from, ValueRange to) {
    for (auto [one, other] : llvm::zip(from, to)) isNew |= setRows(other, rowsOf(one));
  };
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    join(loop.getInitArgs(), loop.getRegionIterArgs());
    join(loop.getYieldedValues(), loop.getRegionIterArgs());
    join(loop.getRegionIterArgs(), loop.getResults());
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    if (op->getNumResults()) join(branch.thenYield().getOperands(), op->getResults());
    if (op->getNumResults()) join(branch.elseYield().getOperands(), op->getResults());
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    join(loop.getInits(), loop.getBeforeArguments());
    join(loop.getYieldedValues(), loop.getBeforeArguments());
    join(loop.getConditionOp().getArgs(), loop.getAfterArguments());
    join(loop.getConditionOp().getArgs(), loop.getResults());
  } else {
    const Half along = rowsOf(op);
    for (Value result : op->getResults()) isNew |= setRows(result, along);
  }
  return isNew;
}

void NeededHalves::findRows() {
  for (bool isNew = true; isNew;) {
    isNew = false;
    walkKernel(kernel_, [&](Operation* op) { return isNew |= spreadRows(op), WalkResult::advance(); });
  }
}

void NeededHalves::need(Value value, Half half, Operation* asker) {
  SmallVector<Half, 2>& known = needed_[value];
  if (llvm::is_contained(known, half)) return;
  known.insert(half == kWhole ? known.begin() : known.end(), half);
  wanted_.push_back({value, half, asker});
}

Refused NeededHalves::setBlocks(Value descriptor, Half along, Operation* asker) {
  if (auto known = descriptors_.find(descriptor); known != descriptors_.end())
    return known->second == along ? std::nullopt
                                  : Refused({asker, "its descriptor is needed for blocks and for halves of blocks"});
  auto argument = dyn_cast<BlockArgument>(descriptor);
  const bool isPlain = argument ? isa<tt::FuncOp>(argument.getOwner()->getParentOp())
                                : bool(descriptor.getDefiningOp<tt::MakeTensorDescriptorOp>());
  if (along != kWhole && !isPlain) return Refusal{asker, "its descriptor is chosen from others"};
  descriptors_[descriptor] = along;
  need(descriptor, kWhole, asker);
  return std::nullopt;
}

/// The operation runs in both CTAs by halves, or else as a whole in the first one.
Refused NeededHalves::run(Operation* op, Half along, Value descriptor) {
  const bool isHalved = along != kWhole;
  runners_[op] = {isHalved ? Runner::Who::Halves : Runner::Who::First, along};
  for (Value operand : op->getOperands())
    if (operand != descriptor) need(operand, isTile(operand) ? along : kWhole, op);
  return descriptor ? setBlocks(descriptor, along, op) : std::nullopt;
}

/// What an operation with effects needs.
Refused NeededHalves::addRoot(Operation* op) {
  auto needWhole = [&](ValueRange values) {
    for (Value value : values) need(value, kWhole, op);
    return Refused();
  };
  auto rowsOfAny = [&] {
    for (Value operand : op->getOperands())
      if (const Half along = rowsOf(operand); along != kWhole) return along;
    return kWhole;
  };
  if (tt::isNote(op)) return std::nullopt;
  if (namesRegisters(op)) return Refusal{op, "its assembly names a register, which may differ between the two CTAs"};
  return llvm::TypeSwitch<Operation*, Refused>(op)
      .Case([&](scf::ForOp loop) { return needWhole({loop.getLowerBound(), loop.getUpperBound(), loop.getStep()}); })
      .Case([&](scf::IfOp branch) { return needWhole(branch.getCondition()); })
      .Case([&](scf::WhileOp loop) { return needWhole(loop.getConditionOp().getCondition()); })
      .Case([&](tt::LoadOp load) -> Refused {
        if (load.getIsVolatile()) return Refusal{op, "a volatile load may give the two CTAs different values"};
        if (mayBeWritten(load.getPtr())) return Refusal{op, "it reads memory that the kernel writes, too"};
        return std::nullopt;
      })
      .Case([&](tt::DescriptorLoadOp load) -> Refused {
        if (mayBeWritten(load.getDesc())) return Refusal{op, "it reads memory that the kernel writes, too"};
        return std::nullopt;
      })
      .Case<tt::StoreOp, tt::AtomicRMWOp>([&](auto write) -> Refused {
        if (!op->use_empty()) return Refusal{op, "the two CTAs would get different results of an atomic operation"};
        return run(op, rowsOfAny());
      })
      .Case<tt::DescriptorStoreOp, tt::DescriptorReduceOp>([&](auto write) -> Refused {
        const Half along = rowsOf(write.getSrc());
        const bool isWholeBlock = write.getSrc().getType().getShape() == write.getDesc().getType().getShape();
        if (along != kWhole && !isWholeBlock) return Refusal{op, "its block has more dimensions than the tile"};
        return run(op, along, write.getDesc());
      })
      .Case<tt::AssertOp>([&](auto) { return run(op, rowsOfAny()); })
      .Case([&](tt::PrintOp) -> Refused {
        if (rowsOfAny() != kWhole) return Refusal{op, "it prints rows of a product, of which a CTA has half"};
        return run(op, kWhole);
      })
      .Case<LLVM::AssumeOp, tt::GridDependencyWaitOp, tt::GridDependencyLaunchDependentsOp>(
          [&](auto) { return needWhole(op->getOperands()); })
      .Default([&](Operation*) -> Refused {
        if (op->hasTrait<OpTrait::IsTerminator>() || isMemoryEffectFree(op)) return std::nullopt;
        return Refusal{op, op->getName().getStringRef().str() + " is not divided"};
      });
}

Refused NeededHalves::findRoots() {
  Refused refused;
  walkKernel(kernel_, [&](Operation* op) { return WalkResult(failure((refused = addRoot(op)).has_value())); });
  return refused ? refused : orderWrites();
}

/// In one CTA, writes to the same memory by the same threads have an order, and a release stands behind all that is written. The two
/// CTAs meet for that. Copies by the tensor unit may still be on their way then.
Refused NeededHalves::orderWrites() {
  SmallVector<Operation*> writes;
  walkKernel(kernel_, [&](Operation* op) {
    if (writesMemory(op)) writes.push_back(op);
    return WalkResult::advance();
  });
  for (Operation* write : writes)
    for (Operation* other : writes) {
      if (other == write || (!isRelease(write) && !mayWriteTheSame(write, other))) continue;
      if (isa<tt::DescriptorStoreOp, tt::DescriptorReduceOp>(write) ||
          isa<tt::DescriptorStoreOp, tt::DescriptorReduceOp>(other))
        return Refusal{write,
                       "another operation writes its memory, or comes before it, and one of them by a descriptor"};
      runners_[write].meets = true;
    }
  return std::nullopt;
}

Refused NeededHalves::addSources(OpResult result, Half half) {
  Operation* op = result.getOwner();
  const unsigned number = result.getResultNumber();
  if (auto loop = dyn_cast<scf::ForOp>(op)) return need(loop.getRegionIterArg(number), half, op), std::nullopt;
  if (auto loop = dyn_cast<scf::WhileOp>(op)) return need(loop.getAfterArguments()[number], half, op), std::nullopt;
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    need(branch.thenYield().getOperand(number), half, op);
    return need(branch.elseYield().getOperand(number), half, op), std::nullopt;
  }
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  for (Value value : captured) need(value, kWhole, op);
  const std::optional<SmallVector<Half>> halves = operandHalves(op, half);
  if (!halves) return need(result, kWhole, op), std::nullopt;
  auto load = dyn_cast<tt::DescriptorLoadOp>(op);
  for (auto [operand, of] : llvm::zip_equal(op->getOperands(), *halves))
    if (!load || operand != load.getDesc()) need(operand, of, op);
  return load ? setBlocks(load.getDesc(), half, op) : std::nullopt;
}

/// What a value in this form is made of.
Refused NeededHalves::addSources(Value value, Half half) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument) return addSources(cast<OpResult>(value), half);
  Operation* around = argument.getOwner()->getParentOp();
  if (auto loop = dyn_cast<scf::ForOp>(around)) {
    if (argument == loop.getInductionVar()) return std::nullopt;
    need(loop.getTiedLoopInit(argument)->get(), half, around);
    need(loop.getTiedLoopYieldedValue(argument)->get(), half, around);
  } else if (auto loop = dyn_cast<scf::WhileOp>(around)) {
    const unsigned number = argument.getArgNumber();
    if (argument.getOwner() == loop.getAfterBody()) {
      need(loop.getConditionOp().getArgs()[number], half, around);
    } else {
      need(loop.getInits()[number], half, around);
      need(loop.getYieldedValues()[number], half, around);
    }
  }
  return std::nullopt;
}

Refused NeededHalves::add(Value value, Half half, Operation* asker) {
  Operation* op = value.getDefiningOp();
  if (half == kWhole && op && isByTwoCtas(op)) return Refusal{asker, "it needs all rows of a product"};
  if (half != kWhole && !canBeHalved(value.getType(), half)) return Refusal{asker, "a tile cannot be halved"};
  return addSources(value, half);
}

Refused NeededHalves::find() {
  if (!kernel_.getBody().hasOneBlock()) return Refusal{kernel_, "the kernel returns at several places"};
  findRows();
  Refused refused = findRoots();
  while (!refused && !wanted_.empty()) {
    const Wanted wanted = wanted_.pop_back_val();
    refused = add(wanted.value, wanted.half, wanted.asker);
  }
  return refused;
}

} // namespace tiletwin::codegen
