// diff/bounds/AtomicOps.cpp -- atomics: sums in any order, and what they return, which depends on the order.
// Idea:      for a sum of floats shadow memory also holds the sum of |terms| and their number; whoever reads the element makes
//            of them the bound n * ulp * sum of |terms| (MemoryOps.cpp; after the launch python/tiletwin/diff/bounds.py).
//            Sums, minima and the like come out the same in any order, exchanges and swaps do not. In kernels that have some,
//            each atomic leaves its number in the plane of writers, and so finds whether another one came before.
#include "diff/bounds/Builder.h"

using namespace mlir;

namespace tiletwin::diff {
namespace {

/// Adds to shadow memory in the way in which `op` accesses memory; returns what was there.
Value addTo(Builder& b, Operation* op, Value mask, Value pointer, Value value) {
  return tt::AtomicRMWOp::create(b, value.getType(), tt::RmwKind::FAdd,
                                 op->getAttrOfType<tt::MemSemanticAttr>("sem").getValue(),
                                 op->getAttrOfType<tt::MemScopeAttr>("scope").getValue(), pointer, value, mask);
}

bool isUsed(const Builder&, Operation* op) { return !op->use_empty(); }

/// What an atomic returns depends on who came before.
Value returned(Builder& b, Operation* op, OpResult result) {
  if (op->use_empty()) return {};
  b.noteAlways(Reason::AtomicOrder);
  return b.anything(result.getType());
}

/// Where the element was written last, by a number of writer().
Value isFrom(Builder& b, Value writer, Operation* store) {
  auto number = [&](int64_t value) { return b.spread(b.integer(value), writer.getType()); };
  Value index = arith::SubIOp::create(b, writer, number(1));
  index = arith::RemUIOp::create(b, index, number(b.storeCount()));
  return b.both(b.compare(arith::CmpIPredicate::ne, writer, number(0)),
                b.compare(arith::CmpIPredicate::eq, index, number(b.storeNumber(store))));
}

/// Forgets elements that an atomic has changed before in this launch, if it matters which of the two came last. Lanes of one
/// program are not told apart: what one of them exchanges twice is forgotten, too.
void forgetOrder(Builder& b, Operation* op, Value mask, Value shadow, Type like) {
  if (llvm::none_of(b.atomics(), isSwap)) return;
  if (!shadow) {
    if (isSwap(op)) b.noteAlways(Reason::AtomicOrder), b.noteEverything(b.always());
    return;
  }
  Value number = b.spread(b.writer(op), like), clash;
  Value before = tt::AtomicRMWOp::create(b, number.getType(), tt::RmwKind::Exch, tt::MemSemantic::Relaxed,
                                         tt::MemScope::Gpu, b.plane(shadow, 3, b.getI32Type()), number, mask);
  for (Operation* other : b.atomics())
    if (isSwap(op) || isSwap(other)) clash = b.either(clash, isFrom(b, before, other));
  if (mask) clash = b.both(clash, mask);
  b.note(clash, Reason::AtomicOrder);
  b.forget(op->getOperand(0), like, clash);
}

Value readModifyWrite(Builder& b, tt::AtomicRMWOp atomic, OpResult result) {
  Value value = atomic.getVal(), shadow = b.of(atomic.getPtr());
  Type type = value.getType();
  Value mask = atomic.getMask(), perhaps = mask ? b.of(mask) : Value(), doubt = b.inDoubt(type);
  b.note(perhaps, Reason::Address);
  b.forget(atomic.getPtr(), type, b.either(perhaps, mask && doubt ? b.both(doubt, mask) : doubt));
  forgetOrder(b, atomic, mask, shadow, type);
  const bool sums = atomic.getAtomicRmwOp() == tt::RmwKind::FAdd;
  if (!shadow) {
    if (sums || b.isInexact(value)) b.noteAlways(Reason::Address), b.noteEverything(b.always());
  } else if (sums) {
    if (Value e = b.of(value)) addTo(b, atomic, mask, shadow, e);
    // GPUs add f32 in global memory without subnormal numbers: what is there, what is added, what comes of it.
    if (b.latitude().approximates && tt::elementTypeOf(type).isF32())
      addTo(b, atomic, mask, shadow, b.constant(type, 0x1p-124));
    addTo(b, atomic, mask, b.plane(shadow, 1), b.magnitude(value));
    addTo(b, atomic, mask, b.plane(shadow, 2), b.constant(type, 1));
  } else if (Value e = b.amount(value)) {
    // Of integers sums have a rule: what each term may be off adds up. What is exchanged keeps its bound.
    if (atomic.getAtomicRmwOp() != tt::RmwKind::Add && !isSwap(atomic))
      e = b.unknownWhere(b.mayDiffer(value), Reason::NoRule, {}, type);
    addTo(b, atomic, mask, shadow, e);
  }
  return returned(b, atomic, result);
}

/// Where what is compared may differ, one side may have swapped and the other not.
Value compareAndSwap(Builder& b, tt::AtomicCASOp swap, OpResult result) {
  Type type = swap.getVal().getType();
  Value shadow = b.of(swap.getPtr());
  b.forget(swap.getPtr(), type, b.inDoubt(type));
  forgetOrder(b, swap, {}, shadow, type);
  if (shadow) {
    Value before = addTo(b, swap, {}, shadow, b.orZero(b.amount(swap.getVal()), type));
    Value open = b.compare(Predicate::UNE, before, b.zero(type)), compared = b.mayDiffer(swap.getCmp());
    b.note(b.either(b.both(open, b.isFinite(before)), compared), Reason::NoRule); // what is infinite was noted before
    b.forget(swap.getPtr(), type, b.either(open, compared));
  }
  return returned(b, swap, result);
}

} // namespace

bool isSwap(Operation* op) {
  auto atomic = dyn_cast<tt::AtomicRMWOp>(op);
  return isa<tt::AtomicCASOp>(op) || (atomic && atomic.getAtomicRmwOp() == tt::RmwKind::Exch);
}

BOUNDS_RULE(tt::AtomicCASOp, compareAndSwap, isUsed)
BOUNDS_RULE(tt::AtomicPollOp, returned, isUsed)
BOUNDS_RULE(tt::AtomicRMWOp, readModifyWrite, isUsed)

} // namespace tiletwin::diff
