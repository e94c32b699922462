// ir/CheckPaths.cpp -- how bad lanes pass through single operations, and where they do harm, for all checks alike.
// Not here:  control flow (CheckShadows.cpp), where lanes go bad (CheckUndefined, CheckOverflow, CheckNan .cpp).
#include "ir/CheckShadows.h"
#include "ir/Combining.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tiletwin::tt {

// ---- through operations ----

/// The same movement of elements, on shadows: a clone of `op` with other operands, of i8. Null operands become zeros.
static Operation* moveShadows(Shadows& s, Operation* op, ArrayRef<Value> operands) {
  OperationState state(s.location(), op->getName().getStringRef());
  for (auto [given, operand] : llvm::zip(operands, op->getOperands()))
    state.operands.push_back(given ? given : s.zero(operand.getType()));
  state.addAttributes(op->getAttrs());
  for (Type type : op->getResultTypes()) state.types.push_back(s.typeFor(type));
  return s.builder().create(state);
}

/// Every lane is bad if any lane of any operand is: for operations that mix lanes in their own way.
static Value anyLane(Shadows& s, Operation* op, OpResult result) {
  Value all;
  for (Value operand : op->getOperands())
    if (Value shadow = s.of(operand)) {
      while (auto type = dyn_cast<RankedTensorType>(shadow.getType()))
        shadow = s.reduce(shadow, int(type.getRank()) - 1, Shadows::Combine::Max);
      all = s.combine(all, shadow);
    }
  if (!all || !isa<RankedTensorType>(result.getType())) return all;
  return SplatOp::create(s.builder(), s.location(), s.typeFor(result.getType()), all);
}

static Value throughSelect(Shadows& s, arith::SelectOp op) {
  Value condition = op.getCondition(), chosen;
  if (condition.getType().isInteger(1) && isa<RankedTensorType>(op.getType()))
    condition = SplatOp::create(s.builder(), s.location(), i1TypeLike(op.getType()), condition);
  chosen = s.choose(condition, s.of(op.getTrueValue()), s.of(op.getFalseValue()), op.getType());
  Value deciding = s.of(op.getCondition());
  if (deciding && deciding.getType() != s.typeFor(op.getType()))
    deciding = SplatOp::create(s.builder(), s.location(), s.typeFor(op.getType()), deciding);
  return s.combine(chosen, deciding);
}

/// Where the other operand decides alone: 0 & x, 0 * x, -1 | x.
static Value throughAbsorbing(Shadows& s, Operation* op, int64_t absorbing) {
  Value x = op->getOperand(0), y = op->getOperand(1);
  auto unlessAbsorbed = [&](Value shadow, Value other, Value othersShadow) -> Value {
    if (!shadow) return {};
    APInt known;
    if (matchPattern(other, m_ConstantInt(&known)) && !known.isZero() && !known.isAllOnes()) return shadow;
    Value limit = s.constant(other.getType(), absorbing);
    Value decided = arith::CmpIOp::create(s.builder(), s.location(), arith::CmpIPredicate::eq, other, limit);
    if (othersShadow) {
      Value good = arith::CmpIOp::create(s.builder(), s.location(), arith::CmpIPredicate::eq, othersShadow,
                                         s.constant(othersShadow.getType(), 0));
      decided = arith::AndIOp::create(s.builder(), s.location(), decided, good);
    }
    return s.choose(decided, {}, shadow, shadow.getType());
  };
  return s.combine(unlessAbsorbed(s.of(x), y, s.of(y)), unlessAbsorbed(s.of(y), x, s.of(x)));
}

static Value throughDot(Shadows& s, DotOp op) {
  const int rank = int(cast<RankedTensorType>(op.getType()).getRank());
  Value result = s.of(op.getC());
  if (Value a = s.of(op.getA()))
    result = s.combine(result, s.stretch(s.reduce(a, rank - 1, Shadows::Combine::Max), rank - 1, op.getType()));
  if (Value b = s.of(op.getB()))
    result = s.combine(result, s.stretch(s.reduce(b, rank - 2, Shadows::Combine::Max), rank - 2, op.getType()));
  return result;
}

Value Shadows::passedOn(Operation* op, OpResult result) {
  if (auto select = dyn_cast<arith::SelectOp>(op)) return throughSelect(*this, select);
  if (isa<arith::AndIOp, arith::MulIOp>(op)) return throughAbsorbing(*this, op, 0);
  if (isa<arith::OrIOp>(op)) return throughAbsorbing(*this, op, elementTypeOf(result.getType()).isInteger(1) ? 1 : -1);
  if (isa<SplatOp, UnsplatOp, ExpandDimsOp, BroadcastOp, ReshapeOp, TransOp, JoinOp, CatOp, SplitOp>(op)) {
    SmallVector<Value> shadows;
    bool any = false;
    for (Value operand : op->getOperands()) any |= bool(shadows.emplace_back(of(operand)));
    return any ? moveShadows(*this, op, shadows)->getResult(result.getResultNumber()) : Value();
  }
  if (auto gather = dyn_cast<GatherOp>(op)) {
    Value data = of(gather.getSrc());
    if (data) {
      OperationState state(location_, op->getName().getStringRef());
      state.addOperands({data, gather.getIndices()});
      state.addAttributes(op->getAttrs());
      state.addTypes(typeFor(result.getType()));
      data = builder_.create(state)->getResult(0);
    }
    return combine(data, of(gather.getIndices()));
  }
  if (auto dot = dyn_cast<DotOp>(op)) return throughDot(*this, dot);
  if (auto reduction = dyn_cast<ReduceOp>(op)) {
    Value joined;
    for (Value operand : op->getOperands()) joined = combine(joined, of(operand));
    return joined ? reduce(joined, int(reduction.getAxis()), Combine::Max) : Value();
  }
  if (auto scan = dyn_cast<ScanOp>(op)) {
    Value joined;
    for (Value operand : op->getOperands()) joined = combine(joined, of(operand));
    return joined ? scanTile(builder_, location_, joined, scan, combineBy<arith::MaxUIOp>) : Value();
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

Value insideDescriptor(OpBuilder& builder, Operation* access, bool& known) {
  known = false;
  Value source;
  OperandRange indices = access->getOperands();
  if (auto store = dyn_cast<DescriptorStoreOp>(access)) {
    source = store.getSrc();
    indices = store.getIndices();
  } else if (auto reduction = dyn_cast<DescriptorReduceOp>(access)) {
    source = reduction.getSrc();
    indices = reduction.getIndices();
  } else {
    return {};
  }
  SmallVector<Value> extents = extentsOf(access->getOperand(0));
  auto type = cast<RankedTensorType>(source.getType());
  if (extents.size() != indices.size() || type.getRank() > int64_t(extents.size())) return {};
  Location loc = access->getLoc();
  const size_t left = extents.size() - size_t(type.getRank()); // leading extents of 1 that the block does not show
  auto i32 = builder.getI32Type();
  Value inside;
  for (size_t d = 0; d < extents.size(); ++d) {
    Value holds;
    const int64_t size = d < left ? 1 : type.getDimSize(int64_t(d - left));
    auto line = RankedTensorType::get({size}, i32);
    Value range = size == 1
                      ? Value(SplatOp::create(builder, loc, line,
                                              arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0))))
                      : Value(MakeRangeOp::create(builder, loc, line, 0u, uint32_t(size)));
    Value at = arith::AddIOp::create(builder, loc, range, SplatOp::create(builder, loc, line, indices[d]));
    Value zero =
        SplatOp::create(builder, loc, line, arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0)));
    Value extent = SplatOp::create(builder, loc, line, extents[d]);
    holds =
        arith::AndIOp::create(builder, loc, arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, at, zero),
                              arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, at, extent));
    // [size] as [1, .., size, .., 1], stretched to the block.
    SmallVector<int64_t> shape(size_t(type.getRank()), 1);
    if (d >= left) shape[d - left] = size;
    auto i1 = builder.getI1Type();
    if (shape.size() != 1) holds = ReshapeOp::create(builder, loc, RankedTensorType::get(shape, i1), holds);
    auto whole = RankedTensorType::get(type.getShape(), i1);
    if (holds.getType() != whole) holds = BroadcastOp::create(builder, loc, whole, holds);
    inside = inside ? Value(arith::AndIOp::create(builder, loc, inside, holds)) : holds;
  }
  known = true;
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
    if (role == Role::Value && isa<StoreOp>(op)) s.builder().setInsertionPointAfter(op);
    s.probe(op, operand, shadow, role == Role::Mask ? Value() : mask, messageOf(role, atOrigin), advice, atOrigin);
  };
  auto lookAtBlock = [&](Value source, ValueRange indices) {
    for (Value index : indices) look(index, Role::Address);
    Value shadow = s.of(source);
    if (!shadow) return;
    bool known = false;
    Value inside = insideDescriptor(s.builder(), op, known);
    if (known) s.probe(op, source, shadow, inside, messageOf(Role::Value, atOrigin), advice, atOrigin);
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
