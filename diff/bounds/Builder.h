// diff/bounds/Builder.h -- what the rules are written with: shadows of values, and arithmetic on them.
//
// Here:      Builder, one function's shadows while they are made; the table of rules.
// Not here:  which values have shadows (Flow.cpp), control flow (Control.cpp, Decisions.cpp); the rules (*Ops.cpp).
// Invariant: a null shadow stands for "both sides have the same bits".
// Shadows by type of the value: float, integer of n bits: f32, the largest difference modulo 2^n; i1: i1, true where the sides may differ;
// pointer: a pointer to f32 with the same offset into shadow memory; descriptor: a descriptor of f32.
#pragma once
#include "diff/Bounds.h"
#include "ir/CarryValues.h"
#include "ir/TT.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSet.h"

namespace tiletwin::diff {

using mlir::Operation;
using mlir::OpResult;
using mlir::Type;
using mlir::Value;
using Predicate = mlir::arith::CmpFPredicate;

bool isFloat(Type type);
bool isBool(Type type);
bool isAddress(Type type);        ///< a pointer, a tile of them, or a descriptor
bool isControl(Operation* op);    ///< a loop, a branch, or a region of several blocks
bool isScalarCode(Operation* op); ///< tt.map_elementwise whose region only computes: it is followed like a branch

class Builder;

/// What is known of an operation. A rule without `shadow` passes nothing on: its results never differ.
struct Rule {
  /// The shadow of a result, or null. For operations without results: does what it has to (stores).
  Value (*shadow)(Builder&, Operation*, OpResult) = nullptr;
  /// Results may differ although no operand does (rounding, order); null: never.
  bool (*begins)(const Builder&, Operation*) = nullptr;
};
/// The rule of an operation, defined by BOUNDS_RULE in the file of its family. Rules.cpp asks for that of every operation.
template <class Op> Rule ruleOf();
/// From functions that take the operation's class, or any operation.
template <class Op, auto shadow, auto begins = nullptr> constexpr Rule makeRule() {
  Rule rule;
  rule.shadow = [](Builder& b, Operation* op, OpResult result) { return shadow(b, llvm::cast<Op>(op), result); };
  if constexpr (!std::is_null_pointer_v<decltype(begins)>)
    rule.begins = [](const Builder& b, Operation* op) { return begins(b, llvm::cast<Op>(op)); };
  return rule;
}
#define BOUNDS_RULE(Op, ...)                                                                                           \
  template <> Rule ruleOf<Op>() { return makeRule<Op, __VA_ARGS__>(); }
/// Of operations that move elements: the shadows move with them (ShapeOps.cpp).
Value moved(Builder& b, Operation* op, OpResult result);
/// The rule for an operation; null: none.
const Rule* ruleFor(Operation* op);

/// An atomic that puts a number in the place of another one: of two of them it matters which comes last.
bool isSwap(Operation* op);

/// What a sum rounds where one side folds it into the product of matrices that it adds (ir/DotSums.h); null: none does.
Value accumulatedInDot(Builder& b, Operation* sum, OpResult result);

/// The unit of the last place of 1 in a type.
double unitOfOne(Type type);

/// How far the results of a monotone operation are apart at the ends of its operands' intervals: steps between them count; null:
/// the operands are exact.
Value atEnds(Builder& b, Operation* op, OpResult result);

/// How far a smooth function's results are apart at the ends of the operands' intervals, and `own`, what the function itself
/// may be off, where the result is finite. Where it is not, but is at one of the ends, nothing is known: a pole is near.
Value smooth(Builder& b, Operation* op, OpResult result, Value own);

/// Units of the last place that two implementations of a function may be apart: libraries on the host are within 4, a
/// GPU's within 2, ours within 1.5.
inline constexpr double kFunctionUnits = 6;

/// What a function of libdevice may itself be off, and where nothing is known of it, i1; null: nowhere.
struct LibraryError {
  Value bound, unknown;
};
LibraryError errorOfLibrary(Builder& b, Operation* op, OpResult result);

/// Approximate division: of divisors beyond 2^126 the result may be 0, or NaN if the dividend is infinite.
Value quotientBy(Builder& b, Operation* op, OpResult result, double units);
Value hugeDivisorOfInfinity(Builder& b, Operation* op);

/// |x| ey + |y| ex + ex ey: what a product is off because its operands are.
Value ofProduct(Builder& b, Value x, Value y);

/// Lanes of integers in which two right runs may hold numbers at different ends of the range of a signed or an unsigned
/// number, because a sum passed it; null: none.
Value apartByRange(Builder& b, Value x, bool isUnsigned);

class Builder : public tt::ShadowWalk {
public:
  Builder(tt::FuncOp function, const Latitude& latitude, BoundsKernel& out);
  void run();

  const Latitude& latitude() const { return latitude_; }
  bool isInexact(Value value) const { return inexact_.contains(value); }
  /// True of integers that were computed modulo 2^n of what may differ.
  bool mayWrap(Value value) const { return wrapping_.contains(value); }
  /// True if some value stored through pointers that `pointer` may stand for is inexact.
  bool mayReadInexact(Value pointer) const;
  bool hasInexactOperand(Operation* op) const;
  /// True if the kernel has atomic sums of floats.
  bool hasSums() const { return hasSums_; }
  /// The lanes of an address that may differ, i1; null: none.
  Value astray(Value address) const { return astray_.lookup(address); }
  /// Where this program may be at a place at which the other side's is not, in the shape of `like`; null: nowhere.
  Value inDoubt(Type like) { return spread(doubt_, like); }
  /// The arguments that an address may point into; the last bit: anything.
  llvm::BitVector rootsOf(Value address) const;

  // ---- building, at the current place; null operands stand for 0 ----
  static Type shadowType(Type like);
  using TileBuilder::integer;
  Value integer(int64_t value, unsigned bits = 32) { return integer(getIntegerType(bits), value); } ///< a scalar
  Value truth(Type like, bool value) { return integer(tt::i1TypeLike(like), value); }
  Value constant(Type like, double value); ///< f32 of the shape of `like`
  Value zero(Type like) { return constant(like, 0); }
  Value infinity(Type like);
  Value noShadow(Type type) override; ///< the shadow of what is exact
  Value orZero(Value shadow, Type like) { return shadow ? shadow : zero(like); }
  Value add(Value a, Value b);
  Value sub(Value a, Value b);
  Value mul(Value a, Value b);
  Value mul(Value a, double b);
  Value div(Value a, Value b);
  Value max(Value a, Value b); ///< a NaN stays one
  Value abs(Value a);
  Value select(Value condition, Value a, Value b);
  /// A number as f32 of its shape: floats rounded, integers converted as signed or as unsigned ones.
  Value number(Value value, bool isUnsigned = false);
  Value magnitude(Value value) { return abs(number(value)); }
  /// The shadow of an i1 or a number as a number: an i1 that may differ counts 1. Null stays null.
  Value amount(Value value);
  /// The lanes of a value that may differ at all, i1; null: none.
  Value mayDiffer(Value value);
  Value anyLane(Value lanes); ///< i1, a scalar: true where some lane is; null stays null
  /// One unit of the last place of results like `result`: what two right roundings of nearly the same number may differ by.
  Value rounding(Value result, double units = 1);
  /// What an operation that both sides round correctly adds to `passedOn`, what its operands may be off: nothing in lanes where
  /// they cannot be off at all, else one rounding.
  Value rounded(Value result, Value passedOn);
  Value isFinite(Value number); ///< i1: it is neither infinite nor NaN
  /// i1: the other side may have another zero in its place, or a zero for a number: functions with a pole at 0 may then be
  /// infinite on one side only, or of the other sign; null: nowhere.
  Value mayBeZero(Value number);
  /// `bound` where `result` is finite; else 0, unless an operand's shadow is not finite itself.
  Value unlessInfinite(Value result, Value bound, mlir::ValueRange operandShadows);
  /// Infinite where `condition` holds (null: nowhere), `otherwise` elsewhere; notes the reason.
  Value unknownWhere(Value condition, Reason reason, Value otherwise, Type like);
  Value infiniteWhere(Value condition, Value otherwise, Type like); ///< the same without the note
  /// The shadow of a result that is exact but for `lanes`, i1 (null: everywhere exact); notes the reason.
  Value exactBut(Value lanes, Reason reason, Type type) {
    return isBool(type) ? lanes : unknownWhere(lanes, reason, {}, type);
  }
  /// The shadow of a value that nothing is known about.
  Value anything(Type type) { return isBool(type) ? truth(type, true) : infinity(type); }
  /// Notes why something is not known: where `condition` holds (null: nowhere).
  void note(Value condition, Reason reason) { noteAt(condition, int(reason)); }
  void noteAlways(Reason reason) { note(always(), reason); }
  /// Notes that nothing of the launch is known any more.
  void noteEverything(Value condition) { noteAt(condition, BoundsKernel::kEverything); }
  /// Notes that the other side may have written what this one has not, behind these arguments.
  void noteOpen(Value condition, const llvm::BitVector& arguments);
  /// Takes what is known of elements of memory away, where `condition` holds.
  void forget(Value address, Type like, Value condition);
  Value always() { return truth(getI1Type(), true); }
  Value splat(Value scalar, Type like);
  Value spread(Value scalar, Type like); ///< in the shape of `like`, which may be a scalar; null stays null
  /// The pointer to the same element in another plane of shadow memory.
  Value plane(Value pointer, unsigned number, Type element = {});
  int storeNumber(Operation* store);
  int64_t storeCount() const { return int64_t(stores_.size()); }
  llvm::ArrayRef<Operation*> atomics() const { return atomics_; } ///< those that change memory
  /// Makes the shadow of a descriptor whose base has the shadow `base`, and the descriptor of who wrote its elements.
  Value describe(Value descriptor, Value base, mlir::ValueRange extents, mlir::ValueRange strides);
  /// A descriptor of f32, whose bits are numbers as writer() gives them; null: it is not known.
  Value writersOf(Value descriptor) const { return writers_.lookup(descriptor); }
  /// (linear program id) * stores + number of the store + 1, an i32.
  Value writer(Operation* store);
  /// The shadow of an operation without a rule. Nothing is known about it unless all operands are exact.
  Value withoutRule(Operation* op, OpResult result);
  void without(Operation* op) { withoutRule_.insert(op->getName().getStringRef()); }

private:
  // Which values may differ, and what pointers point into: a fixed point over the function (Flow.cpp).
  void addArguments();
  void addReads();
  void analyse();
  bool flowThrough(Operation* op);
  bool flow(Value from, Value to);
  bool needsShadow(Value value) const override;
  // Decisions that may differ (Decisions.cpp).
  bool flowOfDecision(Operation* op);
  bool isOpen(Operation* op) const;
  bool isInOpen(Operation* op) const;
  llvm::BitVector writtenIn(mlir::Region& region) const;
  Value decide(Operation* op);
  void doubtResults(Operation* made, unsigned count, Value doubt);
  void followAddresses(Operation* op);
  void noteAt(Value condition, int slot);
  // Shadows (Control.cpp).
  Type shadowTypeOf(Type type) const override { return shadowType(type); }
  void shadowOp(Operation* op) override;
  void widened(Operation* op, Operation* wider) override;
  Value shadowBy(Operation* op, OpResult result);
  void shadowControl(Operation* op);
  Operation* shadowWhile(Operation* op, Value& doubt);
  void shadowMap(Operation* op);

  tt::FuncOp function_;
  Latitude latitude_;
  BoundsKernel& out_;
  llvm::DenseSet<Operation*> kernelOps_;
  llvm::DenseSet<Value> inexact_;
  llvm::DenseSet<Value> wrapping_;               ///< see mayWrap()
  llvm::DenseSet<Value> ordered_;                ///< depend on what an atomic returned: on the order of programs
  llvm::DenseMap<Value, llvm::BitVector> roots_; ///< of an address: the arguments it may point into
  llvm::BitVector written_;                      ///< arguments that inexact values are stored into
  llvm::DenseMap<Operation*, int> stores_;
  llvm::SmallVector<Operation*> atomics_;
  llvm::StringSet<> withoutRule_;
  llvm::DenseMap<Value, Value> astray_, writers_;
  Value doubt_;                 ///< see inDoubt(), a scalar
  bool isInScalarCode_ = false; ///< there nothing is noted: it may not store
  bool hasSums_ = false;
  Value planeDistance_, reasons_;
};

// ---- short names that rows of elementwise operations share ----

inline Value x(Operation* op) { return op->getOperand(0); }
inline Value y(Operation* op) { return op->getOperand(1); }
inline bool always(const Builder&, Operation*) { return true; }
inline bool ifApproximate(const Builder& b, Operation*) { return b.latitude().approximates; }

} // namespace tiletwin::diff
