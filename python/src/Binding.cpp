// python/src/Binding.cpp -- Binding.h: parameters, which argument each of them gets, leaves as bits of arguments.
#include "Binding.h"
#include "Elements.h"
#include "Interned.h"
#include "runtime/FloatFormats.h"
#include <bit>

namespace tiletwin::python {
namespace {

std::string quotedNames(const std::vector<std::string>& list) {
  std::string out;
  for (size_t i = 0; i < list.size(); ++i)
    out += (i == 0 ? "'" : i + 1 == list.size() ? " and '" : ", '") + list[i] + "'";
  return out;
}

} // namespace

bool readParameters(PyObject* list, std::vector<Parameter>& out) {
  PyRef rows = PyRef::steal(PySequence_Tuple(list));
  if (!rows) return false;
  for (PyObject* row : itemsOf(rows)) {
    if (!PyTuple_Check(row) || PyTuple_Size(row) != 10) {
      PyErr_SetString(PyExc_TypeError, "a parameter is described by a tuple of ten");
      return false;
    }
    auto item = [&](int n) { return PyTuple_GetItem(row, n); };
    auto flag = [&](int n) { return PyObject_IsTrue(item(n)) == 1; };
    Parameter p;
    p.nameText = stringOf(item(0));
    p.name = PyRef::steal(PyUnicode_InternFromString(p.nameText.c_str()));
    if (flag(1)) p.defaultValue = PyRef::borrow(item(2));
    if (item(3) != Py_None) {
      p.annotatedType = PyRef::borrow(item(3));
      if (std::string_view type = utf8(item(3)); type.empty() || type[0] != '*')
        p.annotatedElement = elementByName(type);
    }
    p.isConstexpr = flag(4);
    p.isConst = flag(5);
    p.keywordOnly = flag(6);
    p.variadic = flag(7);
    p.specialize = flag(8);
    p.specializeAlignment = flag(9);
    out.push_back(std::move(p));
  }
  return !PyErr_Occurred();
}

bool bindArguments(const std::string& kernel, const std::vector<Parameter>& parameters, PyObject* const* args,
                   Py_ssize_t count, PyObject* keywordNames, Call& call) {
  size_t positional = 0;
  for (const Parameter& p : parameters) positional += !p.keywordOnly && !p.variadic;
  bool hasVariadic = positional < parameters.size() && parameters[positional].variadic; // it follows the others
  Py_ssize_t named = std::min<Py_ssize_t>(count, Py_ssize_t(positional));
  if (count > named && !hasVariadic) {
    PyErr_Format(PyExc_TypeError, "%s() takes %zu positional arguments but %zd were given", kernel.c_str(), positional,
                 count);
    return false;
  }
  call.values.assign(parameters.size(), nullptr);
  for (Py_ssize_t i = 0; i < named; ++i) call.values[i] = args[i];
  if (hasVariadic) {
    PyRef rest = pyTupleFrom(std::span(args + named, args + count));
    if (!rest) return false;
    call.values[positional] = rest.get();
    call.owners.push_back(std::move(rest));
  }
  Py_ssize_t keywords = keywordNames ? PyTuple_Size(keywordNames) : 0;
  for (Py_ssize_t k = 0; k < keywords; ++k) {
    PyObject* name = PyTuple_GetItem(keywordNames, k);
    size_t i = 0;
    while (i < parameters.size() && parameters[i].name.get() != name) ++i;
    if (i == parameters.size()) { // names that are not interned
      std::string_view wanted = utf8(name);
      for (i = 0; i < parameters.size() && parameters[i].nameText != wanted;) ++i;
    }
    if (i == parameters.size()) {
      call.options.emplace_back(name, args[count + k]);
    } else if (call.values[i]) {
      PyErr_Format(PyExc_TypeError, "%s() got multiple values for argument '%s'", kernel.c_str(),
                   parameters[i].nameText.c_str());
      return false;
    } else {
      call.values[i] = args[count + k];
    }
  }
  std::vector<std::string> missing;
  for (size_t i = 0; i < parameters.size(); ++i)
    if (!call.values[i] && !(call.values[i] = parameters[i].defaultValue.get()))
      missing.push_back(parameters[i].nameText);
  if (!missing.empty()) {
    std::string given;
    for (const auto& [name, value] : call.options) given += (given.empty() ? "" : ", ") + stringOf(name);
    PyErr_Format(PyExc_TypeError, "%s() missing %zu required argument%s: %s%s%s", kernel.c_str(), missing.size(),
                 missing.size() == 1 ? "" : "s", quotedNames(missing).c_str(),
                 given.empty() ? "" : "; these keywords are none of its parameters: ", given.c_str());
    return false;
  }
  return true;
}

bool takesArguments(const std::string& kernel, size_t taken, const Call& call) {
  if (taken == call.leaves.size()) return true;
  PyErr_Format(PyExc_TypeError, "%s: the compiled kernel takes %zu arguments and the launch has %zu", kernel.c_str(),
               taken, call.leaves.size());
  return false;
}

bool argumentBits(const Leaf& leaf, DType type, uint64_t& out) {
  if (leaf.kind == Leaf::Kind::Array || leaf.kind == Leaf::Kind::Descriptor) {
    out = leaf.bits;
    return true;
  }
  if (leaf.kind == Leaf::Kind::Integer) {
    if (type == DType::I64 || type == DType::Ptr) {
      out = leaf.bits;
      return true;
    }
    if (!isInteger(type)) {
      PyErr_SetString(PyExc_TypeError, "an integer was given for an argument of a float type");
      return false;
    }
    int bits = type == DType::I1 ? 1 : int(sizeOf(type)) * 8;
    const Element& own = element(leaf.element);
    // A parameter of a module has no signedness: where the value's own type is another one, both ranges are fine.
    bool isUnsigned = own.typeName[0] == 'u' || own.storage != type, isSigned = own.typeName[0] != 'u';
    int64_t value = int64_t(leaf.bits);
    int64_t low = isSigned ? -(int64_t(1) << (bits - 1)) : 0, high = (int64_t(1) << (isUnsigned ? bits : bits - 1)) - 1;
    if (leaf.tooWide || value < low || value > high) {
      const char* name = own.storage == type ? own.typeName : nameOf(type);
      PyErr_Format(PyExc_OverflowError, "the integer %lld does not fit the parameter's type %s", (long long)value,
                   name);
      return false;
    }
    out = leaf.bits;
    return true;
  }
  switch (type) {
  case DType::F64: out = std::bit_cast<uint64_t>(leaf.number); return true;
  case DType::F32: out = std::bit_cast<uint32_t>(float(leaf.number)); return true;
  case DType::F16: out = f32ToF16(f64ToF32Odd(leaf.number)); return true;
  case DType::BF16: out = f32ToBF16(f64ToF32Odd(leaf.number)); return true;
  default: PyErr_Format(PyExc_TypeError, "a Python float cannot be an argument of type %s", nameOf(type)); return false;
  }
}

} // namespace tiletwin::python
