// python/src/Classify.cpp -- Binding.h: what bound arguments are, as leaves, buffers and the launch's key.
#include "Binding.h"
#include "Elements.h"
#include "Interned.h"
#include "TorchGuard.h"

namespace tiletwin::python {
namespace {

/// The value an argument stands for: constexpr objects are opened.
PyRef opened(PyObject* object) {
  if (factsOf(object).kind != ObjectKind::Constexpr) return PyRef::borrow(object);
  return attribute(object, names::value());
}

template <class T> void append(std::string& key, T value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

bool fail(PyObject* exception, const std::string& kernel, const std::string& parameter, const std::string& text) {
  PyErr_Format(exception, "%s(): argument '%s': %s", kernel.c_str(), parameter.c_str(), text.c_str());
  return false;
}

/// Puts kernel and parameter in front of the message of a TypeError raised while an argument was read.
bool failWithCause(const std::string& kernel, const std::string& parameter) {
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) return false;
  return fail(PyExc_TypeError, kernel, parameter, textOf(takeError().get()));
}

/// Visits an argument's leaves for key and run-time values, or for the front end's dictionaries.
class Classifier {
public:
  Classifier(const std::string& kernel, PyObject* constants, Call& call)
      : kernel_(kernel), constants_(constants), call_(call) {}
  bool argument(const Parameter& parameter, PyObject* value) {
    parameter_ = &parameter;
    suffix_.clear();
    if (parameter.isConstexpr) return constant(value, 'C');
    return leafOrTuple(value);
  }
  bool constant(PyObject* value, char tag);
  /// False with ValueError set: where torch.cuda is emulated, tensors known to be of both sides are in one launch.
  bool isOneSided() const;

private:
  std::string name() const { return parameter_->nameText + suffix_; }
  bool leafOrTuple(PyObject* value);
  bool tuple(PyObject* value);
  bool integer(PyObject* value, bool isBool);
  bool real(PyObject* value);
  bool array(PyObject* value, const TypeFacts& facts);
  bool descriptor(PyObject* value);
  void noteSide(PyObject* tensor);

  const std::string& kernel_;
  PyObject* constants_;
  Call& call_;
  const Parameter* parameter_ = nullptr;
  std::string onCuda_, onHost_; ///< names of the first arguments that are tensors of either side
  std::string suffix_;          ///< "[1]" inside tuples
};

bool Classifier::constant(PyObject* value, char tag) {
  std::string& key = call_.key;
  key.push_back(tag);
  if (value == Py_None) {
    key.push_back('n');
    return true;
  }
  if (PyBool_Check(value)) {
    key.push_back(value == Py_True ? 'T' : 'F');
    return true;
  }
  const TypeFacts& facts = factsOf(value);
  if (facts.kind == ObjectKind::Int && Py_TYPE(value) == &PyLong_Type) {
    int overflow = 0;
    long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (!overflow) {
      key.push_back('i');
      append(key, number);
      return true;
    }
  } else if (facts.kind == ObjectKind::Float) {
    key.push_back('f');
    append(key, PyFloat_AsDouble(value));
    return true;
  } else if (facts.kind == ObjectKind::Constexpr) {
    PyRef inside = opened(value);
    return inside && constant(inside.get(), 'c');
  } else if (facts.kind == ObjectKind::Tuple) {
    key.push_back('(');
    append(key, reinterpret_cast<uintptr_t>(Py_TYPE(value)));
    append(key, int32_t(itemsOf(value).size()));
    for (PyObject* item : itemsOf(value))
      if (!constant(item, 'c')) return false;
    return true;
  } else if (isArray(facts.kind)) {
    return fail(PyExc_TypeError, kernel_, name(),
                "is tl.constexpr, so it takes a compile-time value, not an array (" + qualifiedTypeName(value) + ")");
  }
  // Anything else is numbered by (type, value); the table keeps it alive.
  PyRef pair = pyTuple(typeOf(value), value);
  if (!pair) return false;
  PyObject* number = PyDict_GetItemWithError(constants_, pair.get());
  PyRef fresh;
  if (!number) {
    if (PyErr_Occurred()) {
      if (!PyErr_ExceptionMatches(PyExc_TypeError)) return false;
      PyErr_Clear();
      return fail(PyExc_TypeError, kernel_, name(),
                  "a compile-time value must be hashable, and a " + qualifiedTypeName(value) + " is not");
    }
    fresh = toPython(PyDict_Size(constants_));
    if (!fresh || PyDict_SetItem(constants_, pair.get(), fresh.get()) < 0) return false;
    number = fresh.get();
  }
  key.push_back('o');
  append(key, PyLong_AsLongLong(number));
  return true;
}

bool Classifier::leafOrTuple(PyObject* value) {
  const TypeFacts& facts = factsOf(value);
  switch (facts.kind) {
  case ObjectKind::None: return constant(value, 'c');
  case ObjectKind::Bool: return integer(value, true);
  case ObjectKind::Int: return integer(value, false);
  case ObjectKind::Float: return real(value);
  case ObjectKind::Tuple: return tuple(value);
  case ObjectKind::Constexpr:
  case ObjectKind::JitFunction: return constant(value, 'c');
  case ObjectKind::Descriptor: return descriptor(value);
  case ObjectKind::NumPyScalar: {
    PyRef item = callMethod(value, names::item());
    if (!item) return false;
    ObjectKind kind = factsOf(item.get()).kind;
    if (kind == ObjectKind::Bool || kind == ObjectKind::Int) return integer(item.get(), kind == ObjectKind::Bool);
    if (PyFloat_Check(item.get()) || PyFloat_Check(value)) return real(item.get());
    break;
  }
  case ObjectKind::IndexLike: {
    PyRef index = PyRef::steal(PyNumber_Index(value));
    return index && integer(index.get(), false);
  }
  case ObjectKind::String:
  case ObjectKind::Other: break;
  default: return array(value, facts);
  }
  return fail(
      PyExc_TypeError, kernel_, name(),
      "a " + qualifiedTypeName(value) +
          " cannot be passed at run time; kernels take tensors and arrays, int, float, bool, None and tuples of "
          "these. A compile-time value needs a parameter annotated tl.constexpr");
}

bool Classifier::tuple(PyObject* value) {
  const itemsOf items(value);
  call_.key.push_back('(');
  append(call_.key, PyList_Check(value) ? uintptr_t(0) : reinterpret_cast<uintptr_t>(Py_TYPE(value)));
  append(call_.key, int32_t(items.size()));
  std::string outer = suffix_;
  for (size_t i = 0; i < items.size(); ++i) {
    suffix_ = outer + "[" + std::to_string(i) + "]";
    if (!leafOrTuple(items[i])) return false;
  }
  suffix_ = outer;
  return true;
}

bool Classifier::integer(PyObject* value, bool isBool) {
  static const int kBool = elementByName("u1"), kInt32 = elementByName("i32"), kInt64 = elementByName("i64"),
                   kUint64 = elementByName("u64");
  const Parameter& p = *parameter_;
  if (p.annotatedElement >= 0 && isFloat(element(p.annotatedElement).storage)) return real(value);
  Leaf leaf;
  leaf.kind = Leaf::Kind::Integer;
  if (isBool) {
    leaf.bits = value == Py_True;
    leaf.element = kBool;
  } else {
    int overflow = 0;
    long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    leaf.bits = uint64_t(number);
    leaf.element = number == int32_t(number) ? kInt32 : kInt64;
    if (overflow) {
      leaf.bits = overflow > 0 ? PyLong_AsUnsignedLongLong(value) : 0;
      if (overflow < 0 || PyErr_Occurred()) {
        PyErr_Clear();
        return fail(PyExc_OverflowError, kernel_, name(), "the integer " + textOf(value) + " does not fit 64 bits");
      }
      leaf.element = kUint64;
      leaf.tooWide = true;
    }
    if (p.specialize && p.annotatedElement < 0 && leaf.bits == 1) {
      call_.key.append("c1");
      return true;
    }
    bool isBoolAnnotated = p.annotatedElement == kBool;
    leaf.divisible = p.specialize && p.specializeAlignment && !isBoolAnnotated && leaf.bits % 16 == 0;
  }
  if (p.annotatedElement >= 0) leaf.element = p.annotatedElement;
  call_.key.push_back(leaf.divisible ? 'J' : 'I');
  call_.key.push_back(char(leaf.element));
  call_.leaves.push_back(leaf);
  return true;
}

bool Classifier::real(PyObject* value) {
  static const int kFloat = elementByName("fp32");
  const Parameter& p = *parameter_;
  if (p.annotatedElement >= 0 && !isFloat(element(p.annotatedElement).storage))
    return fail(PyExc_TypeError, kernel_, name(),
                "is annotated " + std::string(utf8(p.annotatedType.get())) + " and got the float " + textOf(value));
  Leaf leaf;
  leaf.kind = Leaf::Kind::Real;
  leaf.number = PyFloat_AsDouble(value);
  if (leaf.number == -1.0 && PyErr_Occurred()) return false;
  leaf.element = p.annotatedElement >= 0 ? p.annotatedElement : kFloat;
  call_.key.push_back('R');
  call_.key.push_back(char(leaf.element));
  call_.leaves.push_back(leaf);
  return true;
}

bool Classifier::array(PyObject* value, const TypeFacts& facts) {
  const Parameter& p = *parameter_;
  if (p.annotatedElement >= 0)
    return fail(PyExc_TypeError, kernel_, name(),
                "is annotated " + std::string(utf8(p.annotatedType.get())) + " and got an array (" +
                    qualifiedTypeName(value) + ")");
  Array array;
  if (!readArray(value, facts, array)) return failWithCause(kernel_, name());
  if (facts.hasStorage && array.data != 0 && TorchGuard::isEmulating()) noteSide(value); // a null pointer is on no side
  Leaf leaf;
  leaf.kind = Leaf::Kind::Array;
  leaf.element = array.element;
  leaf.bits = array.data;
  leaf.divisible = p.specialize && p.specializeAlignment && array.data % 16 == 0;
  if (array.onDevice) {
    call_.onDevice = true;
  } else if (array.extentsKnown) {
    leaf.buffer = int(call_.buffers.size());
    Buffer& buffer = call_.buffers.emplace_back();
    buffer.name = suffix_.empty() ? parameter_->nameText : name();
    buffer.begin = array.begin;
    buffer.end = array.end;
    buffer.viewBegin = array.viewBegin;
    buffer.viewEnd = array.viewEnd;
    buffer.readOnly = array.readOnly;
    buffer.view = std::move(array.view);
  }
  if (array.owner) call_.owners.push_back(std::move(array.owner));
  call_.key.push_back(leaf.divisible ? 'Q' : 'P');
  call_.key.push_back(char(leaf.element));
  call_.leaves.push_back(leaf);
  return true;
}

// A tensor without a mark may be on either side: C++ code of torch made it, or passed it on.
void Classifier::noteSide(PyObject* tensor) {
  static PyObject* const place =
      interned("_tiletwin_device"); // torch_cuda/marks.py: a device's number, or -1 for the host
  static PyObject* const pinned = interned("_tiletwin_pinned"); // memory of the host that a GPU reaches
  PyRef facts = PyRef::steal(PyObject_GenericGetDict(tensor, nullptr));
  if (!facts || !PyDict_Check(facts.get())) return PyErr_Clear();
  PyObject* mark = PyDict_GetItem(facts.get(), place);
  if (!mark || !PyLong_Check(mark)) return;
  if (PyLong_AsLong(mark) >= 0) {
    if (onCuda_.empty()) onCuda_ = name();
  } else if (onHost_.empty() && !PyDict_GetItem(facts.get(), pinned)) {
    onHost_ = name();
  }
}

bool Classifier::isOneSided() const {
  if (onCuda_.empty() || onHost_.empty()) return true;
  return fail(
      PyExc_ValueError, kernel_, onHost_,
      "Pointer argument cannot be accessed from Triton (cpu tensor?): it is on the CPU and '" + onCuda_ +
          "' on the emulated \"cuda\", where a GPU would not reach it; move one of them with .cuda() or .cpu()");
}

// A descriptor is its base address, then its shape (i32 each) and strides (i64 each), as in the entry's arguments.
bool Classifier::descriptor(PyObject* value) {
  static const int kInt32 = elementByName("i32"), kInt64 = elementByName("i64");
  std::vector<int64_t> shape, strides, block;
  PyRef base = attribute(value, names::base()), padding = attribute(value, names::padding());
  if (!base || !padding || !integersOf(attribute(value, names::shape()), shape) ||
      !integersOf(attribute(value, names::strides()), strides) ||
      !integersOf(attribute(value, names::blockShape()), block))
    return false;
  const TypeFacts& facts = factsOf(base.get());
  if (!isArray(facts.kind))
    return fail(PyExc_TypeError, kernel_, name(),
                "the base of a TensorDescriptor must be an array, not a " + qualifiedTypeName(base.get()));
  auto refuse = [&](const std::string& text) {
    return fail(PyExc_ValueError, kernel_, name(), "the TensorDescriptor's " + text);
  };
  const size_t rank = block.size();
  if (rank < 1 || rank > 5 || shape.size() != rank || strides.size() != rank)
    return refuse("shape, strides and block_shape must have one length, from 1 to 5; they have " +
                  std::to_string(shape.size()) + ", " + std::to_string(strides.size()) + " and " +
                  std::to_string(rank));
  std::string key = std::move(call_.key);
  call_.key.clear();
  if (!array(base.get(), facts)) return false;
  Leaf& leaf = call_.leaves.back();
  leaf.kind = Leaf::Kind::Descriptor;
  leaf.divisible = false;
  // What can change after the object was made is checked here again: the interpreter relies on it.
  const int64_t bytes = element(leaf.element).bytes;
  if (leaf.bits % 16)
    return refuse("base must lie at a multiple of 16 bytes; its address is " + std::to_string(leaf.bits % 16) +
                  " past one");
  if (strides.back() != 1) return refuse("last stride must be 1, not " + std::to_string(strides.back()));
  if (block.back() * bytes < 16)
    return refuse("Descriptor block shape must have at least 16 bytes in the last dimension, not " +
                  std::to_string(block.back()) + " elements of " + std::to_string(bytes) +
                  (bytes == 1 ? " byte" : " bytes"));
  for (size_t d = 0; d < rank; ++d) {
    if (d + 1 < rank && strides[d] * bytes % 16)
      return refuse("stride " + std::to_string(d) + " must be a multiple of 16 bytes, not " +
                    std::to_string(strides[d]) + " elements of " + std::to_string(bytes) +
                    (bytes == 1 ? " byte" : " bytes"));
    if (block[d] < 1 || (block[d] & (block[d] - 1)))
      return refuse("block_shape must hold powers of two, not " + std::to_string(block[d]));
  }
  leaf.padsWithNan = utf8(padding.get()) == "nan";
  if (leaf.padsWithNan && !isFloat(element(leaf.element).storage))
    return refuse("padding 'nan' needs elements of a float type, not " + std::string(element(leaf.element).typeName));
  PyRef rounds = attribute(value, "round_f32_to_tf32");
  if (!rounds) return false;
  leaf.roundsToTf32 = PyObject_IsTrue(rounds.get()) == 1;
  if (leaf.roundsToTf32 && element(leaf.element).storage != DType::F32)
    return refuse("round_f32_to_tf32 needs elements of fp32, not " + std::string(element(leaf.element).typeName));
  call_.key = std::move(key);
  call_.key.push_back('D');
  call_.key.push_back(char(leaf.element));
  call_.key.push_back(char(block.size()));
  for (int64_t size : block) append(call_.key, int32_t(size));
  auto number = [&](int64_t n, int element) {
    Leaf extra;
    extra.kind = Leaf::Kind::Integer;
    extra.bits = uint64_t(n);
    extra.element = element;
    call_.leaves.push_back(extra);
  };
  for (int64_t size : shape) number(size, kInt32);
  for (int64_t stride : strides) number(stride, kInt64);
  return true;
}
} // namespace

bool classify(const std::string& kernel, const std::vector<Parameter>& parameters, PyObject* constants, Call& call) {
  call.key.reserve(128);
  call.leaves.reserve(parameters.size());
  call.buffers.reserve(parameters.size());
  Classifier classifier(kernel, constants, call);
  TorchGuard guard;
  for (size_t i = 0; i < parameters.size(); ++i)
    if (!classifier.argument(parameters[i], call.values[i])) return false;
  if (!classifier.isOneSided()) return false;
  for (auto [name, value] : call.options) {
    std::string_view text = utf8(name);
    call.key.push_back('O');
    append(call.key, int32_t(text.size()));
    call.key.append(text);
    Parameter option;
    option.nameText = std::string(text);
    option.isConstexpr = true;
    if (!classifier.argument(option, value)) return false;
  }
  return true;
}

int isCompiledAsOne(const Parameter& parameter, PyObject* value) {
  const ObjectKind kind = factsOf(value).kind;
  const bool isScalar = kind == ObjectKind::NumPyScalar;
  if (!isScalar && kind != ObjectKind::Int && kind != ObjectKind::IndexLike) return 0;
  if (!parameter.specialize || parameter.annotatedElement >= 0) return 0;
  PyRef number = isScalar ? callMethod(value, names::item()) : PyRef::steal(PyNumber_Index(value));
  if (!number) return -1;
  if (!PyLong_Check(number.get()) || PyBool_Check(number.get())) return 0;
  int overflow = 0;
  return PyLong_AsLongLongAndOverflow(number.get(), &overflow) == 1;
}

} // namespace tiletwin::python
