// frontend/Structure.cpp -- taking values apart and putting them together; mangled names.
// Invariant: putTogether(takeApart(v)) is v with its tensors replaced; classes of named tuples and aggregates are kept.
#include "frontend/Structure.h"
#include "frontend/Raise.h"
#include "frontend/Semantic.h"

namespace tiletwin::frontend {
namespace {

std::string textOf(PyObject* object) {
  PyRef text = PyRef::steal(PyObject_Str(object));
  const char* utf8 = text ? PyUnicode_AsUTF8AndSize(text.get(), nullptr) : nullptr;
  if (!utf8) {
    PyErr_Clear();
    return "?";
  }
  return utf8;
}

std::string reprOf(PyObject* object) {
  PyRef text = PyRef::steal(PyObject_Repr(object));
  const char* utf8 = text ? PyUnicode_AsUTF8AndSize(text.get(), nullptr) : nullptr;
  if (!utf8) {
    PyErr_Clear();
    return "?";
  }
  return utf8;
}

PyObject* classOf(PyObject* object) { return reinterpret_cast<PyObject*>(Py_TYPE(object)); }

/// `_fields` of a NamedTuple's instance; null without an error for other tuples.
PyRef namedTupleFields(PyObject* tuple) {
  if (Py_TYPE(tuple) == &PyTuple_Type) return {};
  PyRef names = PyRef::steal(PyObject_GetAttrString(classOf(tuple), "_fields"));
  if (!names) PyErr_Clear();
  return names && PyTuple_Check(names.get()) ? names : PyRef();
}

/// Names of the fields that the language sees of an object of a class of its own (aggregate, tensor descriptor):
/// the class lists them in `__tiletwin_fields__`. Null without an error: not such an object.
PyRef fieldsOf(PyObject* object) {
  static PyObject* const name = PyUnicode_InternFromString("__tiletwin_fields__");
  PyRef fields = PyRef::steal(PyObject_GetAttr(classOf(object), name));
  if (!fields) PyErr_Clear();
  return fields;
}

std::string classText(PyObject* cls) {
  PyRef module = PyRef::steal(PyObject_GetAttrString(cls, "__module__"));
  PyRef name = PyRef::steal(PyObject_GetAttrString(cls, "__qualname__"));
  PyErr_Clear();
  return (module ? textOf(module.get()) + "." : std::string()) + (name ? textOf(name.get()) : std::string("?"));
}

bool takeItemsApart(PyObject* tuple, Structure& structure, llvm::SmallVectorImpl<Value>* leaves) {
  Py_ssize_t size = PyTuple_Size(tuple);
  structure.items.resize(size);
  for (Py_ssize_t i = 0; i < size; ++i)
    if (!takeApart(PyTuple_GetItem(tuple, i), structure.items[i], leaves)) return false;
  return true;
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
  case Kind::Tuple: {
    std::string text = "T";
    for (size_t i = 0; i < items.size(); ++i) text += (i ? "_" : "") + items[i].mangled();
    return text + "T";
  }
  case Kind::Object: {
    std::string text = classText(object.get()) + "<";
    for (size_t i = 0; i < items.size(); ++i) text += (i ? ", " : "") + items[i].mangled();
    return text + ">";
  }
  }
  return {};
}

std::string Structure::describe() const {
  switch (kind) {
  case Kind::Tensor: return type.str();
  case Kind::Constant: return "the compile-time value " + reprOf(unwrap(object.get()));
  case Kind::Tuple:
  case Kind::Object: {
    std::string text = kind == Kind::Object ? classText(object.get()) + "(" : "a tuple (";
    for (size_t i = 0; i < items.size(); ++i) text += (i ? ", " : "") + items[i].describe();
    return text + ")";
  }
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
      structure.object = PyRef::borrow(classOf(value));
      for (Py_ssize_t i = 0; i < PyTuple_Size(names.get()); ++i)
        structure.names.push_back(PyRef::borrow(PyTuple_GetItem(names.get(), i)));
    }
    return takeItemsApart(value, structure, leaves);
  }
  if (!isConstexpr(value))
    if (PyRef fields = fieldsOf(value)) {
      structure.kind = Structure::Kind::Object;
      structure.object = PyRef::borrow(classOf(value));
      PyRef list = PyRef::steal(PySequence_Tuple(fields.get()));
      if (!list) return false;
      for (Py_ssize_t i = 0; i < PyTuple_Size(list.get()); ++i) {
        PyObject* name = PyTuple_GetItem(list.get(), i);
        PyRef field = PyRef::steal(PyObject_GetAttr(value, name));
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
    PyRef items = PyRef::steal(PyTuple_New(values.size()));
    for (size_t i = 0; items && i < values.size(); ++i)
      if (PyTuple_SetItem(items.get(), i, values[i].release()) < 0) return {};
    if (!items) return {};
    if (structure.kind == Structure::Kind::Tuple)
      return PyRef::steal(PyObject_Call(structure.object.get(), items.get(), nullptr));
    PyRef make = PyRef::steal(PyObject_GetAttrString(structure.object.get(), "__tiletwin_rebuild__"));
    if (!make) return {};
    return PyRef::steal(PyObject_Call(make.get(), items.get(), nullptr));
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
  bool isList = PyList_Check(object);
  if (Py_TYPE(object) == &PyTuple_Type || isList) {
    Py_ssize_t size = isList ? PyList_Size(object) : PyTuple_Size(object);
    llvm::SmallVector<PyRef> items;
    for (Py_ssize_t i = 0; i < size; ++i) {
      items.push_back(wrapConstant(isList ? PyList_GetItem(object, i) : PyTuple_GetItem(object, i)));
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
  Py_ssize_t size = PyTuple_Size(object);
  PyRef tuple = PyRef::steal(PyTuple_New(size));
  if (!tuple) return {};
  for (Py_ssize_t i = 0; i < size; ++i) {
    PyRef item = unwrapDeep(PyTuple_GetItem(object, i));
    if (!item || PyTuple_SetItem(tuple.get(), i, item.release()) < 0) return {};
  }
  return tuple;
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
  Py_ssize_t size = PyTuple_Size(value);
  llvm::SmallVector<PyRef> items;
  bool changed = false;
  for (Py_ssize_t i = 0; i < size; ++i) {
    PyRef wrapped = wrapConstant(PyTuple_GetItem(value, i));
    items.push_back(wrapped ? materialise(builder, wrapped.get()) : PyRef());
    if (!items.back()) return {};
    changed |= items.back().get() != PyTuple_GetItem(value, i);
  }
  if (!changed) return PyRef::borrow(value);
  PyRef made = PyRef::steal(PyTuple_New(size));
  bool named = Py_TYPE(value) != &PyTuple_Type && PyObject_HasAttrString(classOf(value), "_fields");
  if (!named) return makeTuple(items);
  for (Py_ssize_t i = 0; made && i < size; ++i)
    if (PyTuple_SetItem(made.get(), i, items[i].release()) < 0) return {};
  return made ? PyRef::steal(PyObject_Call(classOf(value), made.get(), nullptr)) : PyRef();
}

bool containsTensor(PyObject* object) {
  if (isTensor(object)) return true;
  if (PyTuple_Check(object)) {
    for (Py_ssize_t i = 0; i < PyTuple_Size(object); ++i)
      if (containsTensor(PyTuple_GetItem(object, i))) return true;
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
