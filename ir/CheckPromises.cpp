// ir/CheckPromises.cpp -- what a kernel promises its compiler, looked at: multiple_of, max_contiguous, max_constancy, assume,
// and the divisibility of arguments.
// Not here:  where promises come from (frontend/DebugBuiltins.cpp; Specialize.cpp for arguments).
// Rule:      multiple_of speaks of where runs begin: an element that is its left neighbour's successor is not looked at, which is
//            how the compiler reads it (and why tl.multiple_of(pid * 128 + tl.arange(0, 128), 128) is true). Pointers are in bytes.
#include "ir/CheckShadows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace tiletwin::tt {
namespace {

class PromiseChecks {
public:
  explicit PromiseChecks(FuncOp function)
      : function_(function), builder_(function.getContext()), location_(function.getLoc()) {}

  void run() {
    SmallVector<Operation*> found;
    function_->walk([&](Operation* op) {
      if (isa<PromiseOp, LLVM::AssumeOp>(op)) found.push_back(op);
    });
    if (!function_.getBody().empty()) checkArguments();
    for (Operation* op : found) {
      builder_.setInsertionPoint(op);
      location_ = op->getLoc();
      if (auto promise = dyn_cast<PromiseOp>(op)) {
        checkPromise(promise);
        op->erase();
      } else {
        probe(negated(op->getOperand(0)), "tt.assume", "is told something that does not hold",
              "the compiler builds on it: correct the condition or leave it out");
      }
    }
  }

private:
  void probe(Value bad, StringRef operation, const Twine& message, StringRef advice) {
    if (!bad) return;
    ProbeLanesOp::create(builder_, location_, bad, "promises", operation, message.str(), advice, ArrayAttr(), false);
  }

  Value constant(Type type, int64_t value) {
    TypedAttr attribute = IntegerAttr::get(elementTypeOf(type), value);
    if (auto tile = dyn_cast<RankedTensorType>(type)) attribute = DenseElementsAttr::get(tile, attribute);
    return arith::ConstantOp::create(builder_, location_, attribute);
  }
  Value negated(Value condition) {
    return arith::XOrIOp::create(builder_, location_, condition, constant(condition.getType(), 1));
  }
  Value compare(arith::CmpIPredicate predicate, Value a, Value b) {
    return arith::CmpIOp::create(builder_, location_, predicate, a, b);
  }
  Value both(Value a, Value b) { return a && b ? Value(arith::AndIOp::create(builder_, location_, a, b)) : a ? a : b; }

  /// Addresses as integers; other values as they are.
  Value numbersOf(Value value) {
    Type type = value.getType();
    if (!isa<PointerType>(elementTypeOf(type))) return value;
    return PtrToIntOp::create(builder_, location_, withShapeOf(type, builder_.getI64Type()), value);
  }
  /// From one element to its successor.
  static int64_t stepOf(Value value) {
    auto pointer = dyn_cast<PointerType>(elementTypeOf(value.getType()));
    if (!pointer) return 1;
    Type pointee = pointer.getPointeeType();
    return isa<PointerType>(pointee) ? 8 : std::max(1u, pointee.getIntOrFloatBitWidth() / 8);
  }

  /// Positions along a dimension, i32 of the tile's shape.
  Value positions(RankedTensorType type, int dim) {
    auto i32 = builder_.getI32Type();
    const int64_t size = type.getDimSize(dim);
    Value range = MakeRangeOp::create(builder_, location_, RankedTensorType::get({size}, i32), 0u, uint32_t(size));
    SmallVector<int64_t> shape(size_t(type.getRank()), 1);
    shape[size_t(dim)] = size;
    if (type.getRank() > 1) range = ReshapeOp::create(builder_, location_, RankedTensorType::get(shape, i32), range);
    auto whole = RankedTensorType::get(type.getShape(), i32);
    return range.getType() == whole ? range : Value(BroadcastOp::create(builder_, location_, whole, range));
  }
  /// Each element's left neighbour along a dimension; the first one's is itself.
  Value neighbours(Value value, Value position, int dim) {
    Value zero = constant(position.getType(), 0), one = constant(position.getType(), 1);
    Value left =
        arith::MaxSIOp::create(builder_, location_, arith::SubIOp::create(builder_, location_, position, one), zero);
    OperationState state(location_, GatherOp::getOperationName());
    state.addOperands({value, left});
    state.addAttribute("axis", builder_.getI32IntegerAttr(dim));
    state.addTypes(value.getType());
    return builder_.create(state)->getResult(0);
  }
  Value isNoMultiple(Value value, int64_t of) {
    if (of == 0) return {};
    Value divisor = constant(value.getType(), of);
    Value rest = arith::RemSIOp::create(builder_, location_, value, divisor);
    return compare(arith::CmpIPredicate::ne, rest, constant(value.getType(), 0));
  }

  void checkPromise(PromiseOp promise) {
    const std::string operation = ("tt." + promise.getKind()).str();
    Type type = promise.getSrc().getType();
    if (!isa<IntegerType, PointerType>(elementTypeOf(type))) return;
    Value value = numbersOf(promise.getSrc());
    auto tile = dyn_cast<RankedTensorType>(value.getType());
    if (!tile) {
      const int64_t of = promise.getValues()[0];
      if (promise.getKind() == "multiple_of")
        probe(isNoMultiple(value, of), operation, "gets a value that is no multiple of " + Twine(of), kAdvice);
      return; // a scalar is as contiguous and as constant as can be
    }
    for (int dim = 0; dim < tile.getRank(); ++dim) {
      const int64_t of = promise.getValues()[size_t(dim)];
      if (of <= 1) continue;
      const std::string along = tile.getRank() > 1 ? " along dimension " + std::to_string(dim) : "";
      Value position = positions(tile, dim), left = neighbours(value, position, dim);
      Value isFirst = compare(arith::CmpIPredicate::eq, position, constant(position.getType(), 0));
      if (promise.getKind() == "multiple_of") {
        // An element that goes on from its left neighbour begins no run.
        Value begins = negated(goesOn(value, left, stepOf(promise.getSrc())));
        begins = arith::OrIOp::create(builder_, location_, begins, isFirst);
        probe(both(begins, isNoMultiple(value, of)), operation,
              "gets values of which a run" + Twine(along) + " begins at no multiple of " + Twine(of), kAdvice);
        continue;
      }
      const bool contiguous = promise.getKind() == "max_contiguous";
      Value inside = compare(arith::CmpIPredicate::ne, rest(position, of), constant(position.getType(), 0));
      Value breaks = negated(goesOn(value, left, contiguous ? stepOf(promise.getSrc()) : 0));
      probe(both(inside, breaks), operation,
            "gets values that are not " + Twine(contiguous ? "contiguous" : "equal") + " in groups of " + Twine(of) +
                Twine(along),
            kAdvice);
    }
  }
  Value goesOn(Value value, Value left, int64_t step) {
    Value next = step ? Value(arith::AddIOp::create(builder_, location_, left, constant(left.getType(), step))) : left;
    return compare(arith::CmpIPredicate::eq, value, next);
  }
  Value rest(Value position, int64_t of) {
    return arith::RemSIOp::create(builder_, location_, position, constant(position.getType(), of));
  }

  /// tt.divisibility of arguments: what the launch says of them, or whoever wrote the IR.
  void checkArguments() {
    builder_.setInsertionPointToStart(&function_.getBody().front());
    for (auto [i, argument] : llvm::enumerate(function_.getBody().front().getArguments())) {
      auto of = function_.getArgAttrOfType<IntegerAttr>(unsigned(i), "tt.divisibility");
      if (!of || of.getInt() <= 1 || !isa<IntegerType, PointerType>(argument.getType())) continue;
      location_ = argument.getLoc();
      probe(isNoMultiple(numbersOf(argument), of.getInt()), "argument",
            "was compiled for a multiple of " + Twine(of.getInt()) + " and is none",
            "launch the kernel through its grid, kernel[grid](...), which compiles it for the arguments at hand");
    }
  }

  static constexpr StringLiteral kAdvice = "the compiler builds on it: correct the promise or leave it out";
  FuncOp function_;
  OpBuilder builder_;
  Location location_;
};

} // namespace

void checkPromises(FuncOp function) { PromiseChecks(function).run(); }

} // namespace tiletwin::tt
