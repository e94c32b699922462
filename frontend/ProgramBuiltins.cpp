// frontend/ProgramBuiltins.cpp -- program ids, new blocks, conversions: program_id, arange, full, cast, to_tensor.
#include "frontend/Builtins.h"
#include "frontend/Emit.h"
#include "frontend/PyFunctions.h"

namespace tiletwin::frontend {
namespace {

template <Text op, Text name> PyRef gridQuestion(Builder& b, llvm::ArrayRef<PyObject*> args) {
  const llvm::StringRef function = name.text;
  int64_t axis = 0;
  if (!constantInt(args[0], "tl." + function + ": axis", axis)) return {};
  if (axis < 0 || axis > 2) return raiseValue(function + " axis must be 0, 1, or 2 but got " + llvm::Twine(axis));
  return result(b.create1(op.text, {}, scalarType(Scalar::I32), integer(b, "axis", axis)));
}

PyRef buildArange(Builder& b, llvm::ArrayRef<PyObject*> args) {
  int64_t start = 0, end = 0;
  if (!constantInt(args[0], "tl.arange: start", start) || !constantInt(args[1], "tl.arange: end", end)) return {};
  if (start < INT32_MIN || end > INT32_MAX || start > INT32_MAX || end < INT32_MIN)
    return raiseValue("tl.arange: start and end must fit int32, got " + llvm::Twine(start) + " and " +
                      llvm::Twine(end));
  if (end <= start)
    return raiseValue("tl.arange: end must be greater than start, got arange(" + llvm::Twine(start) + ", " +
                      llvm::Twine(end) + ")");
  if ((end - start) & (end - start - 1))
    return raiseValue("arange's range must be a power of 2, got " + llvm::Twine(end - start) +
                      "; round it up with triton.next_power_of_2 and mask what is too much");
  int64_t length = end - start;
  if (!checkShape(length, "tl.arange")) return {};
  return result(b.create1("tt.make_range", {}, scalarType(Scalar::I32).withShape(length),
                          {integer(b, "end", end), integer(b, "start", start)}));
}

// full(shape, value, dtype)
PyRef buildFull(Builder& b, llvm::ArrayRef<PyObject*> args) {
  llvm::SmallVector<int64_t> shape;
  Type type;
  if (!constantShape(args[0], "tl.full: shape", shape)) return {};
  if (isTensor(args[1])) {
    Value value = tensorValue(args[1]);
    if (value.type.isBlock())
      return raiseValue("tl.full: value must be a scalar, got a block of type " + value.type.str());
    if (!isNone(args[2]) && (!typeFromPython(args[2], type) || !(value = cast(b, value, type)))) return {};
    return result(splat(b, value, shape));
  }
  if (isNone(args[2])) return raiseValue("tl.full: dtype must be given when value is a number");
  if (!typeFromPython(args[2], type)) return {};
  return result(numberAs(b, args[1], type.withShape(shape)));
}

// cast(input, dtype, fp_downcast_rounding, bitcast)
PyRef buildCast(Builder& b, llvm::ArrayRef<PyObject*> args) {
  Type type;
  std::string rounding;
  bool keepBits = false;
  Value x = tensorArgument(b, args[0], "tl.cast: input");
  if (!x || !typeFromPython(args[1], type) || !constantString(args[2], "tl.cast: fp_downcast_rounding", rounding) ||
      !constantBool(args[3], "tl.cast: bitcast", keepBits))
    return {};
  if (keepBits) return result(bitcast(b, x, type));
  return result(cast(b, x, type, isNone(args[2]) ? std::nullopt : std::optional<llvm::StringRef>(rounding)));
}

PyRef buildToTensor(Builder& b, llvm::ArrayRef<PyObject*> args) {
  PyObject* x = unwrap(args[0]);
  if (isTensor(x) || isNumber(x)) return result(toTensor(b, x));
  return raiseType("tl.to_tensor takes a tensor or a number, got " + typeName(x));
}

constexpr BuiltinRow kRows[] = {
    {"arange", buildArange},
    {"cast", buildCast},
    {"full", buildFull},
    {"num_programs", gridQuestion<"tt.get_num_programs", "num_programs">},
    {"program_id", gridQuestion<"tt.get_program_id", "program_id">},
    {"to_tensor", buildToTensor},
};

} // namespace

llvm::ArrayRef<BuiltinRow> programBuiltins() { return kRows; }

} // namespace tiletwin::frontend
