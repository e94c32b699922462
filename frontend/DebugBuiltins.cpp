// frontend/DebugBuiltins.cpp -- printing, assertions, barriers, and facts told to the compiler (rule 58).
#include "frontend/Builtins.h"
#include "frontend/Emit.h"
#include "frontend/PyFunctions.h"

namespace tiletwin::frontend {
namespace {

// device_print(prefix, *args, hex)
PyRef buildDevicePrint(Builder& b, llvm::ArrayRef<PyObject*> args) {
  std::string prefix;
  bool hex = false;
  llvm::SmallVector<PyRef> items;
  if (isTensor(unwrap(args[0])))
    return raiseType("tl.device_print: the first argument is a compile-time string, got a tensor of type " +
                     tensorValue(unwrap(args[0])).type.str());
  if (!constantString(args[0], "tl.device_print: prefix", prefix) ||
      !sequenceItems(args[1], "tl.device_print: arguments", items) ||
      !constantBool(args[2], "tl.device_print: hex", hex))
    return {};
  for (char c : prefix)
    if (c < 32 || c > 126) return raiseValue("tl.device_print: prefix must be printable ASCII");
  llvm::SmallVector<Value> values;
  llvm::SmallVector<int32_t> isSigned;
  for (const PyRef& item : items) {
    Value value = tensorArgument(b, item.get(), "tl.device_print: argument");
    if (!value) return {};
    isSigned.push_back(value.type.isSigned());
    values.push_back(value);
  }
  // " text: " before values, " text" alone.
  std::string text = (llvm::StringRef(prefix).starts_with(" ") || prefix.empty() ? "" : " ") + prefix;
  if (!values.empty()) {
    text = llvm::StringRef(text).rtrim().str();
    text += llvm::StringRef(text).ends_with(":") ? " " : ": ";
  }
  return resultNone(emit(b, "tt.print", values,
                         {string(b, "prefix", text), boolean(b, "hex", hex), integers(b, "isSigned", isSigned)}));
}

// device_assert(cond, msg, mask)
PyRef buildDeviceAssert(Builder& b, llvm::ArrayRef<PyObject*> args) {
  std::string message;
  if (!constantString(args[1], "tl.device_assert: msg", message)) return {};
  if (!b.options().debug) return resultNone(true);
  Value condition = tensorArgument(b, args[0], "tl.device_assert: cond");
  if (!condition || !(condition = cast(b, condition, scalarType(Scalar::I1)))) return {};
  if (!isNone(args[2])) { // holds wherever the mask is 0
    Value mask = cast(b, tensorArgument(b, args[2], "tl.device_assert: mask"), scalarType(Scalar::I1));
    if (!mask) return {};
    Value ones = splat(b, integerConstant(b, mask.type, 1), mask.type.shape);
    Value unmasked = b.create1("arith.xori", {mask, ones}, mask.type);
    if (!unmasked || !broadcastTogether(b, condition, unmasked)) return {};
    condition = b.create1("arith.ori", {condition, unmasked}, condition.type);
    if (!condition) return {};
  }
  return resultNone(emit(b, "tt.assert", condition, string(b, "message", message)));
}

PyRef buildDebugBarrier(Builder& b, llvm::ArrayRef<PyObject*>) {
  return resultNone(emit(b, "ttg.barrier", {}, integer(b, "addrSpace", 31))); // ttg.barrier all
}

PyRef buildAssume(Builder& b, llvm::ArrayRef<PyObject*> args) {
  Value condition = tensorArgument(b, args[0], "tl.assume: cond");
  if (!condition) return {};
  if (!condition.type.isBool() || condition.type.isBlock())
    return raiseValue("tl.assume takes a scalar condition (int1), got " + condition.type.str());
  return resultNone(emit(b, "llvm.intr.assume", condition, integers(b, "op_bundle_sizes", {})));
}

/// multiple_of, max_contiguous, max_constancy: attributes on the operation that made the value.
template <Text name, Text attribute> PyRef hint(Builder& b, llvm::ArrayRef<PyObject*> args) {
  const llvm::StringRef function = name.text;
  PyObject* plain = unwrap(args[0]);
  llvm::SmallVector<int64_t> values;
  if (!constantInts(args[1], "tl." + function + ": values", values)) return {};
  if (!isTensor(plain)) // a compile-time number needs no promise
    return makeConstexpr(plain);
  const Value& x = tensorValue(plain);
  size_t rank = std::max<size_t>(1, x.type.shape.size());
  if (values.size() != rank)
    return raiseValue("tl." + function + ": values must name one int for each of the " + llvm::Twine(rank) +
                      " dimensions, got " + llvm::Twine(values.size()));
  if (b.options().checked && !b.isEager()) {
    mlir::NamedAttribute facts[] = {string(b, "kind", function),
                                    named("values", mlir::DenseI64ArrayAttr::get(b.context(), values))};
    if (!emit(b, "tt.promise", x, facts)) return {};
  }
  if (x.ir && !b.isEager())
    if (mlir::Operation* op = x.ir.getDefiningOp()) {
      llvm::SmallVector<int32_t> narrow(values.begin(), values.end());
      auto type = mlir::RankedTensorType::get(int64_t(narrow.size()), mlir::IntegerType::get(b.context(), 32));
      op->setDiscardableAttr(attribute.text, mlir::DenseIntElementsAttr::get(type, llvm::ArrayRef<int32_t>(narrow)));
    }
  return PyRef::borrow(plain);
}

PyRef buildExpectZero(Builder&, llvm::ArrayRef<PyObject*> args) {
  if (!isTensor(unwrap(args[0]))) return raiseType("tl.expect_zero takes a tensor, got " + typeName(unwrap(args[0])));
  return PyRef::borrow(unwrap(args[0]));
}

constexpr BuiltinRow kRows[] = {
    {"assume", buildAssume},
    {"debug_barrier", buildDebugBarrier},
    {"device_assert", buildDeviceAssert},
    {"device_print", buildDevicePrint},
    {"expect_zero", buildExpectZero},
    {"max_constancy", hint<"max_constancy", "tt.constancy">},
    {"max_contiguous", hint<"max_contiguous", "tt.contiguity">},
    {"multiple_of", hint<"multiple_of", "tt.divisibility">},
};

} // namespace

llvm::ArrayRef<BuiltinRow> debugBuiltins() { return kRows; }

} // namespace tiletwin::frontend
