// ir/CheckPaths.cpp -- how bad lanes pass through single operations, and where they do harm, for all checks alike.
// Not here:  control flow (CheckShadows.cpp), where lanes go bad (CheckUndefined, CheckOverflow, CheckNan .cpp).
#include "ir/CheckShadows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tiletwin::tt {

// ---- through operations ----

/// The same movement of elements, on the operands' shadows; null: none has one.
static Value moved(Shadows& s, Operation* op, OpResult result) {
  if (llvm::none_of(op->getOperands(), [&](Value operand) { return s.of(operand); })) return {};
  auto shadowOf = [&](Value operand) { return s.of(operand) ? s.of(operand) : s.zero(operand.getType()); };
  SmallVector<Value> operands = llvm::map_to_vector(op->getOperands(), shadowOf);
  SmallVector<Type> types = llvm::map_to_vector(op->getResultTypes(), [&](Type type) { return s.typeFor(type); });
  return s.cloneFor(op, operands, types)->getResult(result.getResultNumber());
}

/// Every lane is bad if any lane of any operand is: for operations that mix lanes in their own way.
static Value anyLane(Shadows& s, Operation* op, OpResult result) {
  Value all;
  for (Value operand : op->getOperands())
    if (Value shadow = s.of(operand)) {
      while (auto type = dyn_cast<RankedTensorType>(shadow.getType()))
        shadow = s.reduce<arith::MaxUIOp>(shadow, int(type.getRank()) - 1);
      all = s.combine(all, shadow);
    }
  if (!all || !isa<RankedTensorType>(result.getType())) return all;
  return SplatOp::create(s, s.typeFor(result.getType()), all);
}

static Value throughSelect(Shadows& s, arith::SelectOp op) {
  Value condition = op.getCondition(), chosen;
  if (condition.getType().isInteger(1) && isa<RankedTensorType>(op.getType()))
    condition = SplatOp::create(s, i1TypeLike(op.getType()), condition);
  chosen = s.choose(condition, s.of(op.getTrueValue()), s.of(op.getFalseValue()), op.getType());
  Value deciding = s.of(op.getCondition());
  if (deciding && deciding.getType() != s.typeFor(op.getType()))
    deciding = SplatOp::create(s, s.typeFor(op.getType()), deciding);
  return s.combine(chosen, deciding);
}

/// Where the other operand decides alone: 0 & x, 0 * x, -1 | x.
static Value throughAbsorbing(Shadows& s, Operation* op, int64_t absorbing) {
  Value x = op->getOperand(0), y = op->getOperand(1);
  auto unlessAbsorbed = [&](Value shadow, Value other, Value othersShadow) -> Value {
    if (!shadow) return {};
    APInt known;
    if (matchPattern(other, m_ConstantInt(&known)) && !known.isZero() && !known.isAllOnes()) return shadow;
    auto is = [&](Value value, int64_t number) {
      return s.compare(arith::CmpIPredicate::eq, value, s.integer(value.getType(), number));
    };
    Value decided = is(other, absorbing);
    if (othersShadow) decided = s.both(decided, is(othersShadow, 0));
    return s.choose(decided, {}, shadow, shadow.getType());
  };
  return s.combine(unlessAbsorbed(s.of(x), y, s.of(y)), unlessAbsorbed(s.of(y), x, s.of(x)));
}

static Value throughDot(Shadows& s, DotOp op) {
  const int rank = int(cast<RankedTensorType>(op.getType()).getRank());
  Value result = s.of(op.getC());
  if (Value a = s.of(op.getA()))
    result = s.combine(result, s.stretch(s.reduce<arith::MaxUIOp>(a, rank - 1), rank - 1, op.getType()));
  if (Value b = s.of(op.getB()))
    result = s.combine(result, s.stretch(s.reduce<arith::MaxUIOp>(b, rank - 2), rank - 2, op.getType()));
  return result;
}

Value Shadows::passedOn(Operation* op, OpResult result) {
  if (auto select = dyn_cast<arith::SelectOp>(op)) return throughSelect(*this, select);
  if (isa<arith::AndIOp, arith::MulIOp>(op)) return throughAbsorbing(*this, op, 0);
  if (isa<arith::OrIOp>(op)) return throughAbsorbing(*this, op, elementTypeOf(result.getType()).isInteger(1) ? 1 : -1);
  if (isa<SplatOp, UnsplatOp, ExpandDimsOp, BroadcastOp, ReshapeOp, TransOp, JoinOp, CatOp, SplitOp>(op))
    return moved(*this, op, result);
  if (auto gather = dyn_cast<GatherOp>(op)) {
    Value data = of(gather.getSrc());
    if (data) data = cloneFor(op, {data, gather.getIndices()}, typeFor(result.getType()))->getResult(0);
    return combine(data, of(gather.getIndices()));
  }
  if (auto dot = dyn_cast<DotOp>(op)) return throughDot(*this, dot);
  if (isa<ReduceOp, ScanOp>(op)) {
    Value joined = ofAll(op);
    if (auto like = dyn_cast<ScanOp>(op)) return joined ? scan<arith::MaxUIOp>(joined, like) : joined;
    return joined ? reduce<arith::MaxUIOp>(joined, int(cast<ReduceOp>(op).getAxis())) : joined;
  }
  if (isa<DotScaledOp, HistogramOp>(op)) return anyLane(*this, op, result);
  if (isa<MemoryAccess, MakeTensorDescriptorOp>(op))
    return {}; // their addresses were looked at; what memory holds is good
  return ofOperands(op);
}

// ---- harm ----

Value maskOf(Operation* op) {
  auto access = dyn_cast<MemoryAccess>(op);
  return access ? access.getMask() : Value();
}

/// The extents of a descriptor, i32 each; empty if they are not known.
static SmallVector<Value> extentsOf(Value descriptor) {
  if (auto made = descriptor.getDefiningOp<MakeTensorDescriptorOp>()) return SmallVector<Value>(made.getShape());
  auto argument = dyn_cast<BlockArgument>(descriptor);
  if (!argument || !isa<FuncOp>(argument.getOwner()->getParentOp()) || !argument.getOwner()->isEntryBlock()) return {};
  const size_t rank = cast<TensorDescType>(descriptor.getType()).getShape().size();
  SmallVector<Value> extents;
  for (size_t d = 0; d < rank; ++d) { // the arguments behind it
    const unsigned number = argument.getArgNumber() + 1 + unsigned(d);
    if (number >= argument.getOwner()->getNumArguments()) return {};
    extents.push_back(argument.getOwner()->getArgument(number));
    if (!extents.back().getType().isInteger(32)) return {};
  }
  return extents;
}

/// The lanes of a block inside of its tensor, i1 of the block's shape; null: the descriptor's extents are not known here.
static Value insideDescriptor(TileBuilder& b, Value descriptor, RankedTensorType block, ValueRange indices) {
  SmallVector<Value> extents = extentsOf(descriptor);
  if (extents.size() != indices.size() || block.getRank() > int64_t(extents.size())) return {};
  const size_t left = extents.size() - size_t(block.getRank()); // leading extents of 1 that the block does not show
  Value inside;
  for (size_t d = 0; d < extents.size(); ++d) {
    const int dim = d < left ? 0 : int(d - left);
    const int64_t size = d < left ? 1 : block.getDimSize(dim);
    auto line = RankedTensorType::get({size}, b.getI32Type());
    Value zero = b.integer(line, 0), at = size == 1 ? zero : Value(MakeRangeOp::create(b, line, 0u, uint32_t(size)));
    at = arith::AddIOp::create(b, at, SplatOp::create(b, line, indices[d]));
    Value extent = SplatOp::create(b, line, extents[d]);
    Value holds =
        b.both(b.compare(arith::CmpIPredicate::sge, at, zero), b.compare(arith::CmpIPredicate::slt, at, extent));
    inside = b.both(inside, b.laidAlong(holds, dim, block));
  }
  return inside;
}

namespace {
/// What an access does with an operand.
enum class Role : uint8_t { Address, Mask, Value };
} // namespace

static StringRef messageOf(Role role, bool atOrigin) {
  switch (role) {
  case Role::Address: return atOrigin ? "has an address that depends on it" : "accesses an undefined address";
  case Role::Mask: return atOrigin ? "has a mask that depends on it" : "has an undefined mask";
  default: return atOrigin ? "writes it to memory" : "writes an undefined value to memory";
  }
}

void lookAtAccess(Shadows& s, Operation* op, bool atOrigin, StringRef advice, bool onlyValues) {
  Value mask = maskOf(op);
  auto look = [&](Value operand, Role role) {
    if (!operand || (onlyValues && role != Role::Value)) return;
    Value shadow = s.of(operand);
    if (!shadow) return;
    // Behind a store, so that it may stay in one group with what it stores; addresses first, as it may trap.
    if (role == Role::Value && isa<StoreOp>(op)) s.setInsertionPointAfter(op);
    s.probe(op, operand, shadow, role == Role::Mask ? Value() : mask, messageOf(role, atOrigin), advice, atOrigin);
  };
  auto lookAtBlock = [&](Value source, ValueRange indices) {
    for (Value index : indices) look(index, Role::Address);
    Value shadow = s.of(source);
    if (!shadow) return;
    Value inside = insideDescriptor(s, op->getOperand(0), cast<RankedTensorType>(source.getType()), indices);
    if (inside) s.probe(op, source, shadow, inside, messageOf(Role::Value, atOrigin), advice, atOrigin);
  };
  auto access = dyn_cast<MemoryAccess>(op);
  if (access && !isa<TensorDescType>(access.getAddress().getType())) {
    look(mask, Role::Mask);
    look(access.getAddress(), Role::Address);
    if (auto store = dyn_cast<StoreOp>(op)) look(store.getValue(), Role::Value);
    if (auto store = dyn_cast<AtomicStoreOp>(op)) look(store.getValue(), Role::Value);
    if (auto atomic = dyn_cast<AtomicRMWOp>(op)) look(atomic.getVal(), Role::Value);
    if (auto poll = dyn_cast<AtomicPollOp>(op)) look(poll.getExpected(), Role::Value);
    if (auto swap = dyn_cast<AtomicCASOp>(op))
      for (Value operand : {swap.getCmp(), swap.getVal()}) look(operand, Role::Value);
  } else if (auto load = dyn_cast<DescriptorLoadOp>(op)) {
    for (Value index : load.getIndices()) look(index, Role::Address);
  } else if (auto store = dyn_cast<DescriptorStoreOp>(op)) {
    lookAtBlock(store.getSrc(), store.getIndices());
  } else if (auto reduction = dyn_cast<DescriptorReduceOp>(op)) {
    lookAtBlock(reduction.getSrc(), reduction.getIndices());
  } else if (auto gather = dyn_cast<DescriptorGatherOp>(op)) {
    look(gather.getXOffsets(), Role::Address);
    look(gather.getYOffset(), Role::Address);
  } else if (auto scatter = dyn_cast<DescriptorScatterOp>(op)) {
    look(scatter.getXOffsets(), Role::Address);
    look(scatter.getYOffset(), Role::Address);
  }
}

void lookAtControl(Shadows& s, Operation* op, bool atOrigin, StringRef advice) {
  auto look = [&](Value operand, StringRef here, StringRef there) {
    if (Value shadow = operand ? s.of(operand) : Value())
      s.probe(op, operand, shadow, {}, atOrigin ? there : here, advice, atOrigin);
  };
  const StringRef branch = "branches on an undefined condition", itDecides = "branches on it";
  if (auto conditional = dyn_cast<scf::IfOp>(op))
    look(conditional.getCondition(), branch, itDecides);
  else if (auto conditional = dyn_cast<cf::CondBranchOp>(op))
    look(conditional.getCondition(), branch, itDecides);
  else if (auto condition = dyn_cast<scf::ConditionOp>(op))
    look(condition.getCondition(), "goes on or ends by an undefined condition", "goes on or ends by it");
  else if (auto loop = dyn_cast<scf::ForOp>(op))
    for (Value bound : {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
      look(bound, "runs over an undefined range", "runs over a range that depends on it");
}

} // namespace tiletwin::tt
