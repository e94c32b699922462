// diff/bounds/AtomicOps.cpp -- atomics: sums in any order, and what they return, which depends on the order.
// Idea:      for a sum of floats shadow memory also holds the sum of |terms| and their number; whoever reads the element makes
//            of them the bound n * ulp * sum of |terms| (MemoryOps.cpp; after the launch python/tiletwin/diff/bounds.py).
#include "diff/bounds/Builder.h"
#include <limits>

using namespace mlir;

namespace tiletwin::diff {
namespace {

void addTo(Builder& b, tt::AtomicRMWOp op, Value pointer, Value value) {
  SmallVector<Value> operands{pointer, value};
  if (op.getMask()) operands.push_back(op.getMask());
  OperationState state(b.location(), tt::AtomicRMWOp::getOperationName());
  state.addOperands(operands);
  state.addAttributes(op->getAttrs());
  state.attributes.set(op.getAtomicRmwOpAttrName(), tt::RmwKindAttr::get(b.ops().getContext(), tt::RmwKind::FAdd));
  state.addTypes(value.getType());
  b.ops().create(state);
}

bool isUsed(const Builder&, Operation* op) { return !op->use_empty(); }

/// What an atomic returns depends on who came before.
Value returned(Builder& b, Operation* op, OpResult result) {
  if (op->use_empty()) return {};
  b.noteAlways(Reason::AtomicOrder);
  if (isBool(result.getType())) return b.invert(arith::XOrIOp::create(b.ops(), b.location(), result, result));
  return b.constant(result.getType(), std::numeric_limits<double>::infinity());
}

Value readModifyWrite(Builder& b, Operation* op, OpResult result) {
  auto atomic = cast<tt::AtomicRMWOp>(op);
  Value value = atomic.getVal(), shadow = b.of(atomic.getPtr());
  Type type = value.getType();
  Value mask = atomic.getMask(), perhaps = mask ? b.of(mask) : Value(), doubt = b.inDoubt(type);
  b.note(perhaps, Reason::Address);
  b.forget(atomic.getPtr(), type, b.either(perhaps, mask && doubt ? b.both(doubt, mask) : doubt));
  const bool sums = atomic.getAtomicRmwOp() == tt::RmwKind::FAdd;
  if (!shadow) {
    if (sums || b.isInexact(value)) b.noteAlways(Reason::Address), b.noteEverything(b.always());
  } else if (sums) {
    if (Value e = b.of(value)) addTo(b, atomic, shadow, e);
    // GPUs add f32 in global memory without subnormal numbers: what is there, what is added, what comes of it.
    if (b.latitude().approximates && tt::elementTypeOf(type).isF32())
      addTo(b, atomic, shadow, b.constant(type, 0x1p-124));
    addTo(b, atomic, b.plane(shadow, 1), b.magnitude(value));
    addTo(b, atomic, b.plane(shadow, 2), b.constant(type, 1));
  } else if (Value e = b.amount(value)) {
    // Of integers only sums have a rule: what each term may be off adds up.
    if (atomic.getAtomicRmwOp() != tt::RmwKind::Add) e = b.unknownWhere(b.mayDiffer(value), Reason::NoRule, {}, type);
    addTo(b, atomic, shadow, e);
  }
  return returned(b, op, result);
}

Value compareAndSwap(Builder& b, Operation* op, OpResult result) {
  auto swap = cast<tt::AtomicCASOp>(op);
  b.forget(swap.getPtr(), swap.getVal().getType(), b.inDoubt(swap.getVal().getType()));
  return returned(b, op, result);
}

constexpr Rule kRules[] = {
    {"tt.atomic_cas", isUsed, compareAndSwap},
    {"tt.atomic_poll", isUsed, returned},
    {"tt.atomic_rmw", isUsed, readModifyWrite},
};

} // namespace

ArrayRef<Rule> atomicRules() { return kRules; }

} // namespace tiletwin::diff
