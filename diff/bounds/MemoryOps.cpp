// diff/bounds/MemoryOps.cpp -- bounds through memory: shadow pointers, loads and stores of shadow memory.
// Not here:  atomics (AtomicOps.cpp).
// Idea:      behind every pointer argument lies shadow memory, one f32 an element; what is done to a pointer is done to its
//            shadow, so both are always at the same element.
#include "diff/bounds/Builder.h"

using namespace mlir;

namespace tiletwin::diff {
namespace {

Value load(Builder& b, Value pointer, Value mask, Value other) {
  return tt::LoadOp::create(b, tt::pointeeTypeLike(pointer.getType()), pointer, mask, mask ? other : Value(), {},
                            false);
}
void store(Builder& b, Value pointer, Value value, Value mask) {
  tt::StoreOp::create(b, pointer, value, mask, tt::CachePolicyAttr());
}

Value addPointer(Builder& b, tt::AddPtrOp add, OpResult result) {
  Value pointer = b.of(add.getPtr());
  return pointer ? b.cloneFor(add, {pointer, add.getOffset()}, Builder::shadowType(result.getType()))->getResult(0)
                 : Value();
}

/// As a shadow of the value's type.
Value asShadow(Builder& b, Value amount, Type type) {
  return amount && isBool(type) ? b.compare(Predicate::UNE, amount, b.zero(type)) : amount;
}

bool readsInexact(const Builder& b, Operation* op) {
  if (isAddress(op->getResult(0).getType())) return false;
  auto load = dyn_cast<tt::LoadOp>(op);
  return b.mayReadInexact(op->getOperand(0)) ||
         (load && b.latitude().undefinedDiffers && load.getMask() && !load.getOther());
}

/// What shadow memory says, and the unknown order of the atomic sums that made the number: n ulp (|v| + 2 sum of |terms|).
Value remembered(Builder& b, Value pointer, Value mask, Value value, Value other) {
  Value bound = load(b, pointer, mask, mask ? b.orZero(other, value.getType()) : Value());
  if (!b.hasSums() || !isFloat(value.getType())) return bound;
  Value nothing = mask ? b.zero(value.getType()) : Value();
  Value terms = load(b, b.plane(pointer, 1), mask, nothing), count = load(b, b.plane(pointer, 2), mask, nothing);
  Value unit = b.rounding(value), size = b.magnitude(value);
  // rounding() is proportional to the size, but for subnormal numbers.
  Value share = b.div(b.mul(terms, 2), b.max(size, b.constant(value.getType(), 0x1p-120)));
  return b.add(bound, b.mul(count, b.mul(unit, b.add(share, b.constant(value.getType(), 1)))));
}

Value loaded(Builder& b, Operation* op, OpResult result) {
  if (isAddress(result.getType())) return {};
  Value pointer = op->getOperand(0), mask, other;
  if (auto load = dyn_cast<tt::LoadOp>(op)) mask = load.getMask(), other = load.getOther();
  if (auto load = dyn_cast<tt::AtomicLoadOp>(op)) mask = load.getMask();
  Type type = result.getType();
  Value bound, ofOther = other ? b.amount(other) : Value(), shadow = b.of(pointer);
  if (b.mayReadInexact(pointer)) {
    if (!shadow) {
      b.noteAlways(Reason::Address);
      bound = b.infinity(type);
    } else {
      bound = remembered(b, shadow, mask, result, ofOther);
    }
  } else if (ofOther) {
    bound = b.select(mask, b.zero(type), ofOther);
  }
  if (b.latitude().undefinedDiffers && mask && !other) {
    b.noteAlways(Reason::Undefined);
    bound = b.select(mask, b.orZero(bound, type), b.infinity(type));
  }
  Value astray = b.astray(pointer);
  if (astray) bound = b.unknownWhere(b.both(astray, mask), Reason::Address, bound, type);
  if (Value doubt = mask ? b.of(mask) : Value()) bound = b.unknownWhere(doubt, Reason::Address, bound, type);
  return asShadow(b, bound, type);
}

/// The other side may store elsewhere what this one stores through a pointer that may differ.
Value storedAstray(Builder& b, Value pointer, Value mask, Value bound, Type type) {
  Value astray = b.astray(pointer);
  if (!astray) return bound;
  if (mask) astray = b.both(astray, mask);
  b.noteOpen(astray, b.rootsOf(pointer));
  return b.unknownWhere(astray, Reason::Address, bound, type);
}

Value stored(Builder& b, Operation* op, OpResult) {
  Value pointer = op->getOperand(0), value = op->getOperand(1), mask, shadow = b.of(pointer);
  if (auto store = dyn_cast<tt::StoreOp>(op)) mask = store.getMask();
  if (auto store = dyn_cast<tt::AtomicStoreOp>(op)) mask = store.getMask();
  if (!shadow) {
    Value lost = b.inDoubt(pointer.getType());
    if (b.isInexact(value)) lost = b.always(), b.note(lost, Reason::Address);
    b.noteEverything(lost);
    b.noteEverything(b.astray(pointer));
    if (mask) b.noteEverything(b.of(mask));
    return {};
  }
  Value bound = b.amount(value), doubt = mask ? b.of(mask) : Value();
  bound = storedAstray(b, pointer, mask, bound, value.getType());
  bound = b.infiniteWhere(b.inDoubt(value.getType()), bound, value.getType());
  if (doubt) {
    // Where the other side may have stored and this one has not, memory may hold anything.
    bound = b.unknownWhere(doubt, Reason::Address, bound, value.getType());
    mask = b.either(mask, doubt);
  }
  if (b.mayReadInexact(pointer)) {
    store(b, shadow, b.orZero(bound, value.getType()), mask);
    if (b.hasSums())
      for (unsigned plane : {1u, 2u}) store(b, b.plane(shadow, plane), b.zero(value.getType()), mask);
  }
  Type i32 = b.getI32Type();
  Value writer = b.writer(op);
  if (isa<RankedTensorType>(pointer.getType())) writer = b.splat(writer, pointer.getType());
  store(b, b.plane(shadow, 3, i32), writer, mask);
  return {};
}

// ---- descriptors ----

Value described(Builder& b, tt::MakeTensorDescriptorOp make, OpResult result) {
  Value base = b.of(make.getBase());
  if (!base) return {};
  for (ValueRange sizes : {ValueRange(make.getShape()), ValueRange(make.getStrides())})
    for (Value size : sizes) {
      b.note(b.mayDiffer(size), Reason::Address);
      b.noteEverything(b.mayDiffer(size));
    }
  return b.describe(result, base, make.getShape(), make.getStrides());
}

/// Where the block lies may differ: a scalar; null: nowhere.
Value elsewhere(Builder& b, ValueRange indices) {
  Value any;
  for (Value index : indices) any = b.either(any, b.anyLane(b.mayDiffer(index)));
  b.note(any, Reason::Address);
  return any;
}

/// Blocks: the same access through the shadow's descriptor.
Value blockLoaded(Builder& b, Operation* op, OpResult result) {
  Value shadow = b.of(op->getOperand(0)), bound;
  Type type = result.getType();
  Value astray = b.spread(elsewhere(b, op->getOperands().drop_front()), type);
  if (b.mayReadInexact(op->getOperand(0))) {
    if (!shadow) {
      b.noteAlways(Reason::Address);
      return b.infinity(type);
    }
    SmallVector<Value> operands(op->getOperands());
    operands[0] = shadow;
    bound = b.cloneFor(op, operands, Builder::shadowType(type))->getResult(0);
  }
  return isBool(type) ? b.either(bound, astray) : b.infiniteWhere(astray, bound, type);
}
/// Who wrote a block.
void blockWritten(Builder& b, Operation* op) {
  Value writers = b.writersOf(op->getOperand(0));
  if (!writers) return;
  SmallVector<Value> operands(op->getOperands());
  Value number = arith::BitcastOp::create(b, b.getF32Type(), b.writer(op));
  operands[0] = writers;
  operands.back() = b.splat(number, operands.back().getType());
  b.cloneFor(op, operands, {});
}

Value blockStored(Builder& b, Operation* op, OpResult) {
  SmallVector<Value> operands(op->getOperands());
  Value source = operands.back(), shadow = b.of(operands[0]), doubt = b.inDoubt(b.getI1Type());
  Value astray = elsewhere(b, ValueRange(operands).drop_front().drop_back());
  b.noteOpen(astray, b.rootsOf(operands[0]));
  if (!shadow) {
    if (b.isInexact(source)) b.noteAlways(Reason::Address), b.noteEverything(b.always());
    b.noteEverything(doubt);
    return {};
  }
  blockWritten(b, op);
  if (!b.mayReadInexact(operands[0])) return {};
  Type type = source.getType();
  operands[0] = shadow;
  operands.back() = b.orZero(b.infiniteWhere(b.spread(b.either(doubt, astray), type), b.amount(source), type), type);
  b.cloneFor(op, operands, {});
  return {};
}

/// Sums and the like of what several programs bring: nothing is known of the block.
Value blockReduced(Builder& b, tt::DescriptorReduceOp reduce, OpResult) {
  b.without(reduce);
  b.noteAlways(Reason::NoRule);
  b.noteOpen(elsewhere(b, reduce.getIndices()), b.rootsOf(reduce.getDesc()));
  Value shadow = b.of(reduce.getDesc());
  if (!shadow) {
    b.noteEverything(b.always());
    return {};
  }
  Value unknown = b.infinity(reduce.getSrc().getType());
  tt::DescriptorStoreOp::create(b, shadow, reduce.getIndices(), unknown);
  return {};
}

/// Whole numbers come out the same in whatever order they are combined.
bool reducesFloats(const Builder&, tt::DescriptorReduceOp op) { return isFloat(op.getSrc().getType()); }

bool readsInexactBlock(const Builder& b, Operation* op) { return b.mayReadInexact(op->getOperand(0)); }

} // namespace

BOUNDS_RULE(tt::AddPtrOp, addPointer)
BOUNDS_RULE(tt::AtomicLoadOp, loaded, readsInexact)
BOUNDS_RULE(tt::AtomicStoreOp, stored)
BOUNDS_RULE(tt::DescriptorGatherOp, blockLoaded, readsInexactBlock)
BOUNDS_RULE(tt::DescriptorLoadOp, blockLoaded, readsInexactBlock)
BOUNDS_RULE(tt::DescriptorReduceOp, blockReduced, reducesFloats)
BOUNDS_RULE(tt::DescriptorScatterOp, blockStored)
BOUNDS_RULE(tt::DescriptorStoreOp, blockStored)
BOUNDS_RULE(tt::LoadOp, loaded, readsInexact)
BOUNDS_RULE(tt::MakeTensorDescriptorOp, described)
BOUNDS_RULE(tt::StoreOp, stored)

} // namespace tiletwin::diff
