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

class PromiseChecks : TileBuilder {
public:
  explicit PromiseChecks(FuncOp function)
      : TileBuilder(function.getLoc(), function.getContext()), function_(function) {}

  void run() {
    SmallVector<Operation*> found;
    function_->walk([&](Operation* op) {
      if (isa<PromiseOp, LLVM::AssumeOp>(op)) found.push_back(op);
    });
    if (!function_.getBody().empty()) checkArguments();
    for (Operation* op : found) {
      setInsertionPoint(op);
      setLoc(op->getLoc());
      if (auto promise = dyn_cast<PromiseOp>(op)) {
        checkPromise(promise);
        op->erase();
      } else {
        probe(invert(op->getOperand(0)), "tt.assume", "is told something that does not hold",
              "the compiler builds on it: correct the condition or leave it out");
      }
    }
  }

private:
  void probe(Value bad, StringRef operation, const Twine& message, StringRef advice) {
    if (!bad) return;
    ProbeLanesOp::create(*this, bad, "promises", operation, message.str(), advice, ArrayAttr(), false);
  }

  /// Addresses as integers; other values as they are.
  Value numbersOf(Value value) {
    Type type = value.getType();
    if (!isa<PointerType>(elementTypeOf(type))) return value;
    return PtrToIntOp::create(*this, withShapeOf(type, getI64Type()), value);
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
    const int64_t size = type.getDimSize(dim);
    auto line = RankedTensorType::get({size}, getI32Type());
    return laidAlong(MakeRangeOp::create(*this, line, 0u, uint32_t(size)), dim, type);
  }
  /// Each element's left neighbour along a dimension; the first one's is itself.
  Value neighbours(Value value, Value position, int dim) {
    Value zero = integer(position.getType(), 0), one = integer(position.getType(), 1);
    Value left = arith::MaxSIOp::create(*this, arith::SubIOp::create(*this, position, one), zero);
    return GatherOp::create(*this, value.getType(), value, left, uint32_t(dim));
  }
  Value isNoMultiple(Value value, int64_t of) {
    if (of == 0) return {};
    Value rest = arith::RemSIOp::create(*this, value, integer(value.getType(), of));
    return compare(arith::CmpIPredicate::ne, rest, integer(value.getType(), 0));
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
      Value isFirst = compare(arith::CmpIPredicate::eq, position, integer(position.getType(), 0));
      if (promise.getKind() == "multiple_of") {
        // An element that goes on from its left neighbour begins no run.
        Value begins = either(invert(goesOn(value, left, stepOf(promise.getSrc()))), isFirst);
        probe(both(begins, isNoMultiple(value, of)), operation,
              "gets values of which a run" + Twine(along) + " begins at no multiple of " + Twine(of), kAdvice);
        continue;
      }
      const bool contiguous = promise.getKind() == "max_contiguous";
      Value inside = isNoMultiple(position, of);
      Value breaks = invert(goesOn(value, left, contiguous ? stepOf(promise.getSrc()) : 0));
      probe(both(inside, breaks), operation,
            "gets values that are not " + Twine(contiguous ? "contiguous" : "equal") + " in groups of " + Twine(of) +
                Twine(along),
            kAdvice);
    }
  }
  Value goesOn(Value value, Value left, int64_t step) {
    Value next = step ? Value(arith::AddIOp::create(*this, left, integer(left.getType(), step))) : left;
    return compare(arith::CmpIPredicate::eq, value, next);
  }

  /// tt.divisibility of arguments: what the launch says of them, or whoever wrote the IR.
  void checkArguments() {
    setInsertionPointToStart(&function_.getBody().front());
    for (auto [i, argument] : llvm::enumerate(function_.getBody().front().getArguments())) {
      auto of = function_.getArgAttrOfType<IntegerAttr>(unsigned(i), "tt.divisibility");
      if (!of || of.getInt() <= 1 || !isa<IntegerType, PointerType>(argument.getType())) continue;
      setLoc(argument.getLoc());
      probe(isNoMultiple(numbersOf(argument), of.getInt()), "argument",
            "was compiled for a multiple of " + Twine(of.getInt()) + " and is none",
            "launch the kernel through its grid, kernel[grid](...), which compiles it for the arguments at hand");
    }
  }

  static constexpr StringLiteral kAdvice = "the compiler builds on it: correct the promise or leave it out";
  FuncOp function_;
};

} // namespace

void checkPromises(FuncOp function) { PromiseChecks(function).run(); }

} // namespace tiletwin::tt
