// frontend/Structure.cpp -- taking values apart and putting them together; mangled names.
// Invariant: putTogether(takeApart(v)) is v with its tensors replaced; classes of named tuples and aggregates are kept.
#include "frontend/Structure.h"
#include "frontend/Raise.h"
#include "frontend/Semantic.h"
#include <functional>

namespace tiletwin::frontend {
namespace {

/// `_fields` of a NamedTuple's instance; null without an error for other tuples.
PyRef namedTupleFields(PyObject* tuple) {
  if (Py_TYPE(tuple) == &PyTuple_Type) return {};
  PyRef names = attributeIfAny(typeOf(tuple), "_fields");
  return names && PyTuple_Check(names.get()) ? names : PyRef();
}

/// Names of the fields that the language sees of an object of a class of its own (aggregate, tensor descriptor):
/// the class lists them in `__tiletwin_fields__`. Null without an error: not such an object.
PyRef fieldsOf(PyObject* object) {
  static PyObject* const name = interned("__tiletwin_fields__");
  return attributeIfAny(typeOf(object), name);
}

std::string classText(PyObject* cls) {
  std::string module = moduleNameOf(cls);
  return (module.empty() ? "" : module + ".") + textOf(attributeIfAny(cls, "__qualname__").get());
}

/// "a, b", of what `text` gives of each item.
template <class Text> std::string joined(const std::vector<Structure>& items, const char* between, const Text& text) {
  std::string all;
  for (const Structure& item : items) all += (&item == items.data() ? "" : between) + text(item);
  return all;
}

} // namespace

bool Structure::hasTensor() const {
  if (kind == Kind::Tensor) return true;
  for (const Structure& item : items)
    if (item.hasTensor()) return true;
  return false;
}

bool Structure::operator==(const Structure& other) const {
  if (kind != other.kind || items.size() != other.items.size()) return false;
  if (kind == Kind::Tensor) return type == other.type;
  if (kind == Kind::Constant) return sameConstant(object.get(), other.object.get());
  return object.get() == other.object.get() && items == other.items;
}

std::string Structure::mangled() const {
  switch (kind) {
  case Kind::Tensor: return type.mangled();
  case Kind::Constant: return "c" + textOf(unwrap(object.get()));
  case Kind::Tuple: return "T" + joined(items, "_", std::mem_fn(&Structure::mangled)) + "T";
  case Kind::Object: return classText(object.get()) + "<" + joined(items, ", ", std::mem_fn(&Structure::mangled)) + ">";
  }
  return {};
}

std::string Structure::describe() const {
  switch (kind) {
  case Kind::Tensor: return type.str();
  case Kind::Constant: return "the compile-time value " + reprOf(unwrap(object.get()));
  case Kind::Tuple:
  case Kind::Object:
    return (kind == Kind::Object ? classText(object.get()) + "(" : "a tuple (") +
           joined(items, ", ", std::mem_fn(&Structure::describe)) + ")";
  }
  return {};
}

bool takeApart(PyObject* value, Structure& structure, llvm::SmallVectorImpl<Value>* leaves) {
  if (isTensor(value)) {
    structure.kind = Structure::Kind::Tensor;
    structure.type = tensorValue(value).type;
    if (leaves) leaves->push_back(tensorValue(value));
    return true;
  }
  if (PyTuple_Check(value)) {
    structure.kind = Structure::Kind::Tuple;
    if (PyRef names = namedTupleFields(value)) {
      structure.object = PyRef::borrow(typeOf(value));
      for (PyObject* name : itemsOf(names)) structure.names.push_back(PyRef::borrow(name));
    }
    for (PyObject* item : itemsOf(value))
      if (!takeApart(item, structure.items.emplace_back(), leaves)) return false;
    return true;
  }
  if (!isConstexpr(value))
    if (PyRef fields = fieldsOf(value)) {
      structure.kind = Structure::Kind::Object;
      structure.object = PyRef::borrow(typeOf(value));
      PyRef list = PyRef::steal(PySequence_Tuple(fields.get()));
      if (!list) return false;
      for (PyObject* name : itemsOf(list)) {
        PyRef field = attribute(value, name);
        if (!field) return false;
        structure.names.push_back(PyRef::borrow(name));
        PyRef wrapped = wrapConstant(field.get());
        if (!wrapped || !takeApart(wrapped.get(), structure.items.emplace_back(), leaves)) return false;
      }
      return true;
    }
  structure.kind = Structure::Kind::Constant;
  structure.object = PyRef::borrow(value);
  return true;
}

PyRef putTogether(const Structure& structure, llvm::ArrayRef<Value>& leaves) {
  switch (structure.kind) {
  case Structure::Kind::Tensor: {
    PyRef tensor = makeTensor(leaves.front());
    leaves = leaves.drop_front();
    return tensor;
  }
  case Structure::Kind::Constant: return structure.object;
  case Structure::Kind::Tuple:
  case Structure::Kind::Object: {
    llvm::SmallVector<PyRef> values;
    for (const Structure& item : structure.items) {
      values.push_back(putTogether(item, leaves));
      if (!values.back()) return {};
    }
    if (structure.kind == Structure::Kind::Tuple && !structure.object) return makeTuple(values);
    PyRef items = pyTupleFrom(values), make = structure.object;
    if (structure.kind == Structure::Kind::Object) make = attribute(make, "__tiletwin_rebuild__");
    return PyRef::steal(items && make ? PyObject_Call(make.get(), items.get(), nullptr) : nullptr);
  }
  }
  return {};
}

void leafTypes(const Structure& structure, llvm::SmallVectorImpl<Type>& types) {
  if (structure.kind == Structure::Kind::Tensor) types.push_back(structure.type);
  for (const Structure& item : structure.items) leafTypes(item, types);
}

void leafNames(const Structure& structure, const std::string& prefix, llvm::SmallVectorImpl<std::string>& names) {
  if (structure.kind == Structure::Kind::Tensor) names.push_back(prefix);
  for (size_t i = 0; i < structure.items.size(); ++i)
    leafNames(structure.items[i],
              prefix + "." + (structure.names.empty() ? std::to_string(i) : textOf(structure.names[i].get())), names);
}

bool sameConstant(PyObject* a, PyObject* b) {
  a = unwrap(a);
  b = unwrap(b);
  if (a == b) return true;
  if (Py_TYPE(a) != Py_TYPE(b)) return false;
  if (PyFloat_Check(a)) // nan is nan, and 0.0 is not -0.0
    return reprOf(a) == reprOf(b);
  int equal = PyObject_RichCompareBool(a, b, Py_EQ);
  if (equal < 0) PyErr_Clear();
  return equal == 1;
}

PyRef wrapConstant(PyObject* object) {
  if (isTensor(object) || isConstexpr(object)) return PyRef::borrow(object);
  if (object == Py_None || PyLong_Check(object) || PyFloat_Check(object) || PyUnicode_Check(object))
    // Members of enumerations are compared by identity and stay themselves.
    if (object == Py_None || Py_TYPE(object) == &PyLong_Type || Py_TYPE(object) == &PyBool_Type ||
        Py_TYPE(object) == &PyFloat_Type || Py_TYPE(object) == &PyUnicode_Type)
      return makeConstexpr(object);
  if (Py_TYPE(object) == &PyTuple_Type || PyList_Check(object)) {
    llvm::SmallVector<PyRef> items;
    for (PyObject* item : itemsOf(object)) {
      items.push_back(wrapConstant(item));
      if (!items.back()) return {};
    }
    return makeTuple(items);
  }
  return PyRef::borrow(object);
}

PyRef parameterValue(PyObject* value) {
  PyRef wrapped = wrapConstant(value);
  if (!wrapped || isTensor(wrapped.get()) || isConstexpr(wrapped.get()) || PyTuple_Check(wrapped.get()) ||
      fieldsOf(wrapped.get()))
    return wrapped;
  return makeConstexpr(wrapped.get());
}

PyRef unwrapDeep(PyObject* object) {
  object = unwrap(object);
  if (!PyTuple_Check(object) || namedTupleFields(object)) return PyRef::borrow(object);
  return pyTupleFrom(itemsOf(object), unwrapDeep);
}

PyRef materialise(Builder& builder, PyObject* value) {
  if (isTensor(value)) return PyRef::borrow(value);
  if (isConstexpr(value)) {
    PyObject* plain = constexprValue(value);
    if (PyLong_Check(plain) || PyFloat_Check(plain)) {
      if (Py_TYPE(plain) != &PyLong_Type && Py_TYPE(plain) != &PyBool_Type && Py_TYPE(plain) != &PyFloat_Type)
        return PyRef::borrow(value); // members of enumerations
      Value tensor = toTensor(builder, value);
      return tensor ? makeTensor(tensor) : PyRef();
    }
    if (PyTuple_Check(plain)) {
      PyRef tuple = wrapConstant(plain);
      return tuple ? materialise(builder, tuple.get()) : PyRef();
    }
    return PyRef::borrow(value);
  }
  if (!PyTuple_Check(value)) return PyRef::borrow(value);
  llvm::SmallVector<PyRef> items;
  bool changed = false;
  for (PyObject* item : itemsOf(value)) {
    PyRef wrapped = wrapConstant(item);
    items.push_back(wrapped ? materialise(builder, wrapped.get()) : PyRef());
    if (!items.back()) return {};
    changed |= items.back().get() != item;
  }
  if (!changed) return PyRef::borrow(value);
  const bool named = Py_TYPE(value) != &PyTuple_Type && PyObject_HasAttrString(typeOf(value), "_fields");
  if (!named) return makeTuple(items);
  PyRef made = pyTupleFrom(items);
  return PyRef::steal(made ? PyObject_Call(typeOf(value), made.get(), nullptr) : nullptr);
}

bool containsTensor(PyObject* object) {
  if (isTensor(object)) return true;
  if (PyTuple_Check(object)) {
    for (PyObject* item : itemsOf(object))
      if (containsTensor(item)) return true;
    return false;
  }
  if (isConstexpr(object) || Py_TYPE(object) == &PyUnicode_Type || Py_TYPE(object) == &PyLong_Type) return false;
  Structure structure;
  if (!takeApart(object, structure, nullptr)) {
    PyErr_Clear();
    return false;
  }
  return structure.hasTensor();
}

bool raiseCarried(const std::string& name, const Structure& was, const Structure& now, const std::string& where) {
  const bool isScalar = now.kind == Structure::Kind::Tensor && now.type.shape.empty();
  return raiseType("Loop-carried variable " + name + " has initial type " + was.describe() + " but is re-assigned to " +
                   now.describe() + " in loop" + where +
                   ": a variable that a loop carries must keep its type. Give it that type before the loop (" +
                   (isScalar ? "for example tl.full((), 0, dtype)" : "for example tl.zeros(shape, dtype)") +
                   "), or convert it in the body with .to(...)");
}

bool raiseCarriedConstant(const std::string& name, const std::string& where) {
  return raiseType("`" + name +
                   "` is a compile-time value (tl.constexpr) before the loop, and the loop's body assigns it" + where +
                   ": a loop carries run-time values only. Start from a run-time value (n = 0 makes an int32), or "
                   "unroll with tl.static_range");
}

} // namespace tiletwin::frontend
