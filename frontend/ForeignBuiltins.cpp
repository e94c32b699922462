// frontend/ForeignBuiltins.cpp -- code that is not the language's own: inline PTX, device libraries, special registers.
#include "frontend/Builtins.h"
#include "frontend/Emit.h"
#include "frontend/PyFunctions.h"

namespace tiletwin::frontend {
namespace {

/// Tensors of one shape from a sequence of tensors and numbers.
bool commonShape(Builder& b, PyObject* sequence, llvm::StringRef function, llvm::SmallVectorImpl<Value>& values) {
  llvm::SmallVector<PyRef> items;
  return sequenceItems(sequence, "tl." + function + ": args", items) && tensorsOfOneShape(b, items, function, values);
}

bool emitAssembly(Builder& b, llvm::StringRef text, llvm::StringRef constraints, bool pure, int64_t pack,
                  llvm::ArrayRef<Value> operands, llvm::ArrayRef<Type> types, llvm::SmallVectorImpl<Value>& results) {
  return b.create("tt.elementwise_inline_asm", operands, types,
                  {string(b, "asm_string", text), string(b, "constraints", constraints), boolean(b, "pure", pure),
                   integer(b, "packed_element", pack)},
                  results);
}

// inline_asm_elementwise(asm, constraints, args, dtype, is_pure, pack)
PyRef buildInlineAsm(Builder& b, llvm::ArrayRef<PyObject*> args) {
  constexpr llvm::StringLiteral kName = "inline_asm_elementwise";
  std::string text, constraints;
  llvm::SmallVector<Value> operands, results;
  bool pure = false;
  int64_t pack = 1;
  if (!constantString(args[0], "tl." + kName + ": asm", text) ||
      !constantString(args[1], "tl." + kName + ": constraints", constraints) ||
      !commonShape(b, args[2], kName, operands) || !constantBool(args[4], "tl." + kName + ": is_pure", pure) ||
      !constantInt(args[5], "tl." + kName + ": pack", pack))
    return {};
  llvm::SmallVector<PyRef> items;
  const bool several = oneOrItems(args[3], items);
  llvm::SmallVector<Type> types;
  for (const PyRef& item : items) {
    Type type;
    if (!typeFromPython(item.get(), type)) return {};
    types.push_back(operands.empty() ? type : type.withShape(operands[0].type.shape));
  }
  if (types.empty()) return raiseValue("tl." + kName + ": dtype must name at least one result");
  if (!emitAssembly(b, text, constraints, pure, pack, operands, types, results) || results.size() != types.size())
    return {};
  return several ? result(results) : result(results[0]);
}

/// The keys of a table of forms, for messages: "(fp32) or (fp64)".
std::string formsOf(PyObject* table) {
  std::string text;
  PyObject *key = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; PyDict_Check(table) && PyDict_Next(table, &at, &key, &value);) {
    std::string form;
    for (PyObject* dtype : itemsOf(PyTuple_Check(key) ? key : nullptr)) {
      Type type;
      form += (form.empty() ? "" : ", ") + (typeFromPython(dtype, type) ? type.str() : "?");
      PyErr_Clear();
    }
    text += (text.empty() ? "(" : " or (") + form + ")";
  }
  return text;
}

/// The row of the dictionary for these argument types: (symbol, result dtype). Null without an error if there is none.
PyRef findSymbol(PyObject* table, llvm::ArrayRef<Value> values) {
  PyRef key = pyTupleFrom(values, [](const Value& value) { return typeToPython(value.type.element()); });
  return key ? PyRef::borrow(PyDict_GetItemWithError(table, key.get())) : PyRef();
}

// extern_elementwise(lib_name, lib_path, args, arg_type_symbol_dict, is_pure)
PyRef buildExtern(Builder& b, llvm::ArrayRef<PyObject*> args) {
  constexpr llvm::StringLiteral kName = "extern_elementwise";
  std::string library, path, symbol;
  llvm::SmallVector<Value> operands;
  bool pure = false;
  if (!constantString(args[0], "tl." + kName + ": lib_name", library) ||
      !constantString(args[1], "tl." + kName + ": lib_path", path) || !commonShape(b, args[2], kName, operands) ||
      !constantBool(args[4], "tl." + kName + ": is_pure", pure))
    return {};
  PyObject* table = unwrap(args[3]);
  if (!PyDict_Check(table) || operands.empty())
    return raiseType("tl." + kName + " takes at least one argument and a dict {(dtype, ...): (symbol, dtype)}, got " +
                     typeName(table));
  PyRef row = findSymbol(table, operands);
  if (!row && !PyErr_Occurred() && operands.size() > 1) { // arguments of mixed types: once more in their common type
    Type common = operands[0].type.element();
    bool numbers = true;
    for (const Value& value : operands) numbers = numbers && (value.type.isInt() || value.type.isFloat());
    llvm::SmallVector<Value> promoted(operands.begin(), operands.end());
    for (const Value& value : operands) numbers = numbers && promote(common, value.type, false, common);
    PyErr_Clear();
    for (Value& value : promoted) value.type = numbers ? common.withShape(value.type.shape) : value.type;
    row = numbers ? findSymbol(table, promoted) : PyRef();
    if (row)
      for (Value& value : operands)
        if (!(value = cast(b, value, common))) return {};
  }
  if (!row) {
    if (PyErr_Occurred()) return {};
    std::string given;
    for (const Value& value : operands) given += (given.empty() ? "" : ", ") + value.type.element().str();
    return raise(PyExc_KeyError, "no form of this function takes (" + given + "), only " + formsOf(table) +
                                     "; cast the arguments first, as in x.to(tl.float32)");
  }
  PyRef name = PyRef::steal(PySequence_GetItem(row.get(), 0)),
        dtype = name ? PyRef::steal(PySequence_GetItem(row.get(), 1)) : PyRef();
  Type type;
  if (!dtype || !constantString(name.get(), "tl." + kName + ": symbol", symbol) || !typeFromPython(dtype.get(), type))
    return {};
  return result(b.create1("tt.extern_elementwise", operands, type.withShape(operands[0].type.shape),
                          {string(b, "libname", library), string(b, "libpath", path), string(b, "symbol", symbol),
                           boolean(b, "pure", pure)}));
}

template <Text text, Text constraint, bool pure, Scalar scalar>
PyRef specialRegister(Builder& b, llvm::ArrayRef<PyObject*>) {
  llvm::SmallVector<Value> results;
  return emitAssembly(b, text.text, constraint.text, pure, 1, {}, scalarType(scalar), results) && !results.empty()
             ? result(results[0])
             : PyRef();
}

PyRef constexprInt(int64_t value) { return makeConstexpr(toPython(value).get()); }
PyRef buildNumWarps(Builder& b, llvm::ArrayRef<PyObject*>) { return constexprInt(b.options().numWarps); }
PyRef buildNumThreads(Builder& b, llvm::ArrayRef<PyObject*>) { return constexprInt(32 * b.options().numWarps); }

/// An operation without operands and results.
template <Text op> PyRef buildPlain(Builder& b, llvm::ArrayRef<PyObject*>) { return resultNone(emit(b, op.text, {})); }

// convert_custom_float8_*(arg, dst_ty, fp_downcast_rounding): what a cast to or from fp8e4b15 does anyway.
PyRef buildConvertFloat8(Builder& b, llvm::ArrayRef<PyObject*> args) {
  Type type;
  Value x = tensorArgument(b, args[0], "convert_custom_float8: arg");
  return x && typeFromPython(args[1], type) ? result(cast(b, x, type)) : PyRef();
}

constexpr BuiltinRow kRows[] = {
    {"convert_custom_float8_sm70", buildConvertFloat8},
    {"convert_custom_float8_sm80", buildConvertFloat8},
    {"extern_elementwise", buildExtern},
    {"gdc_launch_dependents", buildPlain<"tt.grid_dependency_launch_dependents">},
    {"gdc_wait", buildPlain<"tt.grid_dependency_wait">},
    {"globaltimer", specialRegister<"mov.u64 $0, %globaltimer;", "=l", false, Scalar::I64>},
    {"inline_asm_elementwise", buildInlineAsm},
    {"num_threads", buildNumThreads},
    {"num_warps", buildNumWarps},
    {"smid", specialRegister<"mov.u32 $0, %smid;", "=r", true, Scalar::I32>},
};

} // namespace

llvm::ArrayRef<BuiltinRow> foreignBuiltins() { return kRows; }

} // namespace tiletwin::frontend
