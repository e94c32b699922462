// frontend/Builtins.cpp -- lookup over all families, and how implementations read arguments and give results.
#include "frontend/Builtins.h"
#include <algorithm>

namespace tiletwin::frontend {
namespace {

std::vector<BuiltinRow> mergeTables() {
  std::vector<BuiltinRow> all;
  for (llvm::ArrayRef<BuiltinRow> family :
       {programBuiltins(), memoryBuiltins(), shapeBuiltins(), elementwiseBuiltins(), mathBuiltins(), reduceBuiltins(),
        dotBuiltins(), atomicBuiltins(), descriptorBuiltins(), blockPointerBuiltins(), debugBuiltins(),
        foreignBuiltins()})
    all.insert(all.end(), family.begin(), family.end());
  std::sort(all.begin(), all.end(), [](const BuiltinRow& x, const BuiltinRow& y) { return x.name < y.name; });
  return all;
}
const std::vector<BuiltinRow>& table() {
  static const std::vector<BuiltinRow> rows = mergeTables();
  return rows;
}

} // namespace

const BuiltinRow* findBuiltin(llvm::StringRef name) {
  auto at = std::lower_bound(table().begin(), table().end(), name,
                             [](const BuiltinRow& row, llvm::StringRef n) { return row.name < n; });
  return at != table().end() && at->name == name ? &*at : nullptr;
}

llvm::SmallVector<llvm::StringRef> builtinNames() {
  llvm::SmallVector<llvm::StringRef> names;
  for (const BuiltinRow& row : table()) names.push_back(row.name);
  return names;
}

bool isNone(PyObject* arg) { return unwrap(arg) == Py_None; }

bool constantInt(PyObject* arg, const llvm::Twine& what, int64_t& out) {
  PyObject* plain = unwrap(arg);
  if (isTensor(plain))
    return raiseValue(what +
                      " must be a compile-time int (a literal, a tl.constexpr, or arithmetic on those), got a run-time "
                      "tensor of type " +
                      tensorValue(plain).type.str() +
                      ". Annotate the parameter or the assignment: `n: tl.constexpr = ...`");
  if (!PyIndex_Check(plain)) return raiseType(what + " must be a compile-time int, got " + typeName(plain));
  PyRef index = PyRef::steal(PyNumber_Index(plain));
  if (!index) return false;
  int overflow = 0;
  out = PyLong_AsLongLongAndOverflow(index.get(), &overflow);
  if (overflow) return raiseValue(what + " must fit 64 bits");
  return !(out == -1 && PyErr_Occurred());
}

bool constantBool(PyObject* arg, const llvm::Twine& what, bool& out) {
  PyObject* plain = unwrap(arg);
  if (isTensor(plain))
    return raiseValue(what + " must be a compile-time bool, got a run-time tensor of type " +
                      tensorValue(plain).type.str());
  int yes = PyObject_IsTrue(plain);
  out = yes == 1;
  return yes >= 0;
}

bool constantString(PyObject* arg, const llvm::Twine& what, std::string& out) {
  PyObject* plain = unwrap(arg);
  out.clear();
  if (plain == Py_None) return true;
  const char* text = PyUnicode_Check(plain) ? PyUnicode_AsUTF8AndSize(plain, nullptr) : nullptr;
  if (!text)
    return PyErr_Occurred() ? false : bool(raiseType(what + " must be a compile-time string, got " + typeName(plain)));
  out = text;
  return true;
}

bool sequenceItems(PyObject* arg, const llvm::Twine& what, llvm::SmallVectorImpl<PyRef>& out) {
  PyObject* plain = unwrap(arg);
  if (!PyTuple_Check(plain) && !PyList_Check(plain))
    return raiseType(what + " must be a tuple or list, got " + typeName(plain));
  for (PyObject* item : itemsOf(plain)) out.push_back(PyRef::borrow(item));
  return true;
}

bool oneOrItems(PyObject* arg, llvm::SmallVectorImpl<PyRef>& out) {
  PyObject* plain = unwrap(arg);
  if (PyTuple_Check(plain) || PyList_Check(plain)) return sequenceItems(plain, "", out);
  out.push_back(PyRef::borrow(plain));
  return false;
}

bool tensorsOfOneShape(Builder& b, llvm::ArrayRef<PyRef> items, llvm::StringRef function,
                       llvm::SmallVectorImpl<Value>& out) {
  for (const PyRef& item : items) {
    out.push_back(tensorArgument(b, item.get(), "tl." + function + ": argument"));
    if (!out.back()) return false;
  }
  for (size_t i = 1; i < out.size(); ++i)
    if (!broadcastTogether(b, out[0], out[i])) return false;
  for (Value& value : out)
    if (!(value = broadcastTo(b, value, out[0].type.shape))) return false;
  return true;
}

bool constantInts(PyObject* arg, const llvm::Twine& what, llvm::SmallVectorImpl<int64_t>& out) {
  std::string name = what.str();
  llvm::SmallVector<PyRef> items;
  if (oneOrItems(arg, items) && items.size() == 1) // varargs holding one list: x.reshape((4, 8))
    if (PyObject* inner = unwrap(items[0].get()); PyTuple_Check(inner) || PyList_Check(inner))
      return constantInts(inner, name, out);
  for (const PyRef& item : items) {
    int64_t number = 0;
    if (!constantInt(item.get(), name, number)) return false;
    out.push_back(number);
  }
  return true;
}

bool constantShape(PyObject* arg, const llvm::Twine& what, llvm::SmallVectorImpl<int64_t>& out) {
  std::string name = what.str();
  return constantInts(arg, name, out) && checkShape(out, name);
}

Value tensorArgument(Builder& b, PyObject* arg, const llvm::Twine& what) {
  PyObject* plain = unwrap(arg);
  if (isTensor(plain) || isNumber(plain)) return toTensor(b, plain);
  return raiseType(what + " must be a tensor or a number, got " + typeName(plain));
}

Value scalarInteger(Builder& b, PyObject* arg, const llvm::Twine& what, const Type& type) {
  std::string name = what.str();
  PyObject* plain = unwrap(arg);
  if (isNumber(plain)) {
    int64_t ignored = 0;
    return constantInt(plain, name, ignored) ? numberAs(b, plain, type) : Value();
  }
  Value x = tensorArgument(b, plain, name);
  if (!x) return x;
  if (!x.type.isInt() || x.type.isBlock()) return raiseValue(name + " must be an integer scalar, got " + x.type.str());
  return cast(b, x, type);
}

std::string given(PyObject* arg) {
  PyObject* plain = unwrap(arg);
  return isTensor(plain) ? tensorValue(plain).type.str() : typeName(plain);
}

Value blockArgument(PyObject* arg, const llvm::Twine& what) {
  PyObject* plain = unwrap(arg);
  if (!isTensor(plain)) return raiseType(what + " must be a block, got " + typeName(plain));
  if (!tensorValue(plain).type.isBlock())
    return raiseValue(what + " must be a block, got a scalar of type " + tensorValue(plain).type.str());
  return tensorValue(plain);
}

PyRef result(Value value) { return value ? makeTensor(std::move(value)) : PyRef(); }
PyRef result(llvm::ArrayRef<Value> values) {
  llvm::SmallVector<PyRef> items;
  for (const Value& value : values) items.push_back(result(value));
  return makeTuple(items);
}
PyRef resultNone(bool ok) { return ok ? PyRef::borrow(Py_None) : PyRef(); }

} // namespace tiletwin::frontend
