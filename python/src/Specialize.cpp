// python/src/Specialize.cpp -- the front end's dictionaries for a classified call (only made when a key is new).
#include "Binding.h"
#include "Elements.h"
#include "Interned.h"

namespace tiletwin::python {
namespace {

/// Walks arguments in the order in which Classify.cpp took them, taking leaves along.
class Describer {
public:
  Describer(const Call& call, Specialization& out) : call_(call), out_(out) {}

  /// Signature entry of an argument: a type string or a tuple of them. Null with an error set.
  PyRef argument(const Parameter& parameter, PyObject* value, PyObject* path) {
    parameter_ = &parameter;
    if (parameter.isConstexpr) return constant(value, path);
    return describe(value, path);
  }

private:
  PyRef describe(PyObject* value, PyObject* path);
  PyRef constant(PyObject* value, PyObject* path);

  const Call& call_;
  Specialization& out_;
  const Parameter* parameter_ = nullptr;
  size_t next_ = 0;
};

PyRef Describer::constant(PyObject* value, PyObject* path) {
  if (PyDict_SetItem(out_.constexprs.get(), path, value) < 0) return {};
  return toPython("constexpr");
}

PyRef Describer::describe(PyObject* value, PyObject* path) {
  const TypeFacts& facts = factsOf(value);
  if (facts.kind == ObjectKind::None || facts.kind == ObjectKind::JitFunction) return constant(value, path);
  if (facts.kind == ObjectKind::Constexpr) {
    PyRef inside = attribute(value, names::value());
    return inside ? constant(inside.get(), path) : PyRef();
  }
  if (facts.kind == ObjectKind::Tuple) {
    std::vector<PyRef> types;
    for (PyObject* item : itemsOf(value)) {
      PyRef inner = PyRef::steal(PySequence_Concat(path, pyTuple(types.size()).get()));
      types.push_back(inner ? describe(item, inner.get()) : PyRef());
      if (!types.back()) return {};
    }
    return likeItsClass(value, pyTupleFrom(types));
  }
  const int one = isCompiledAsOne(*parameter_, value);
  if (one < 0) return {};
  if (one) return constant(toPython(1).get(), path);
  const Leaf& leaf = call_.leaves[next_++];
  if (leaf.divisible) {
    PyRef attribute = PyRef::steal(Py_BuildValue("[[si]]", "tt.divisibility", 16));
    if (!attribute || PyDict_SetItem(out_.attributes.get(), path, attribute.get()) < 0) return {};
  }
  std::string type = element(leaf.element).typeName;
  if (leaf.kind == Leaf::Kind::Array) {
    if (parameter_->annotatedType) return parameter_->annotatedType;
    return toPython((parameter_->isConst ? "*k" : "*") + type);
  }
  if (leaf.kind == Leaf::Kind::Descriptor) {
    PyRef block = attribute(value, names::blockShape());
    PyRef list = PyRef::steal(block ? PySequence_List(block.get()) : nullptr);
    if (!list) return {};
    next_ += 2 * size_t(PyList_Size(list.get()));
    return toPython("tensordesc<" + type + textOf(list.get()) + ">");
  }
  return toPython(type);
}

} // namespace

PyRef likeItsClass(PyObject* value, PyRef items) {
  if (!items || PyList_Check(value) || Py_TYPE(value) == &PyTuple_Type) return items;
  PyRef make = attributeIfAny(typeOf(value), "_make");
  return make ? call(make, items) : items;
}

bool specialize(const std::vector<Parameter>& parameters, const Call& call, Specialization& out) {
  out = {pyDict(), pyDict(), pyDict(), pyDict()};
  if (!out.signature || !out.constexprs || !out.attributes || !out.options) return false;
  Describer describer(call, out);
  for (size_t i = 0; i < parameters.size(); ++i) {
    PyRef path = pyTuple(i);
    PyRef type = path ? describer.argument(parameters[i], call.values[i], path.get()) : PyRef();
    if (!type || PyDict_SetItem(out.signature.get(), parameters[i].name.get(), type.get()) < 0) return false;
  }
  for (auto [name, value] : call.options)
    if (PyDict_SetItem(out.options.get(), name, value) < 0) return false;
  return true;
}

} // namespace tiletwin::python
