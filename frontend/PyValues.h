// frontend/PyValues.h -- C++ values as Python objects, Python objects as C++ values, and calls with them.
// Here:      toPython and the containers made of it, texts, items, attributes, calls, exceptions put aside.
// Not here:  functions and types that Python sees (PyFunctions.h), values of the language (Objects.h).
// Rule:      a null PyRef means that a Python exception is set. A function that is given one gives one, so a chain of
//            steps needs a single look, at its end.
#pragma once
#include "frontend/PyRef.h"
#include <array>
#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace tiletwin {

inline PyRef none() { return PyRef::borrow(Py_None); }
inline PyObject* typeOf(PyObject* object) { return reinterpret_cast<PyObject*>(Py_TYPE(object)); }

// C++ to Python. Each gives null with an exception set on failure.
inline PyRef toPython(PyRef object) { return object; }
inline PyRef toPython(PyObject* object) { return PyRef::borrow(object); }
inline PyRef toPython(double number) { return PyRef::steal(PyFloat_FromDouble(number)); }
inline PyRef toPython(std::string_view text) {
  return PyRef::steal(PyUnicode_FromStringAndSize(text.data(), Py_ssize_t(text.size())));
}
template <std::integral T> PyRef toPython(T number) {
  if constexpr (std::same_as<T, bool>)
    return PyRef::steal(PyBool_FromLong(number));
  else if constexpr (std::signed_integral<T>)
    return PyRef::steal(PyLong_FromLongLong(number));
  else
    return PyRef::steal(PyLong_FromUnsignedLongLong(number));
}
/// Text from elsewhere: what is no UTF-8 becomes U+FFFD.
inline PyRef repairedText(std::string_view text) {
  return PyRef::steal(PyUnicode_DecodeUTF8(text.data(), Py_ssize_t(text.size()), "replace"));
}
inline PyRef pyBytes(const void* data, size_t size) {
  return PyRef::steal(PyBytes_FromStringAndSize(static_cast<const char*>(data), Py_ssize_t(size)));
}
/// None for an empty text.
inline PyRef textOrNone(std::string_view text) { return text.empty() ? none() : toPython(text); }

struct AsItIs {
  template <class T> const T& operator()(const T& value) const { return value; }
};
/// Python's tuple and list of a range, each item as `make` gives it.
template <class Range, class Make = AsItIs> PyRef pyTupleFrom(const Range& range, const Make& make = {}) {
  PyRef tuple = PyRef::steal(PyTuple_New(Py_ssize_t(std::size(range))));
  Py_ssize_t next = 0;
  for (const auto& value : range) {
    PyRef item = tuple ? toPython(make(value)) : PyRef();
    if (!item || PyTuple_SetItem(tuple.get(), next++, item.release()) < 0) return {};
  }
  return tuple;
}
template <class Range, class Make = AsItIs> PyRef pyList(const Range& range, const Make& make = {}) {
  PyRef list = PyRef::steal(PyList_New(0));
  for (const auto& value : range) {
    PyRef item = list ? toPython(make(value)) : PyRef();
    if (!item || PyList_Append(list.get(), item.get()) < 0) return {};
  }
  return list;
}
template <class T, size_t n> PyRef toPython(const std::array<T, n>& numbers) { return pyTupleFrom(numbers); }

/// (a, b, c)
template <class... T> PyRef pyTuple(T&&... items) {
  const std::array<PyRef, sizeof...(T)> made{toPython(std::forward<T>(items))...};
  return pyTupleFrom(made);
}

inline bool putItems(const PyRef& dict) { return bool(dict); }
template <class T, class... Rest> bool putItems(const PyRef& dict, const char* key, T&& value, Rest&&... rest) {
  PyRef item = dict ? toPython(std::forward<T>(value)) : PyRef();
  return item && PyDict_SetItemString(dict.get(), key, item.get()) == 0 && putItems(dict, std::forward<Rest>(rest)...);
}
/// {"key": value, ...}
template <class... T> PyRef pyDict(T&&... keysAndValues) {
  PyRef dict = PyRef::steal(PyDict_New());
  return putItems(dict, std::forward<T>(keysAndValues)...) ? dict : PyRef();
}

// Texts.
/// UTF-8 of a str, which ends with a 0; empty if it is none (no error is left set).
std::string_view utf8(PyObject* string);
inline std::string stringOf(PyObject* string) { return std::string(utf8(string)); }
/// str(object) and repr(object), or "?" on failure.
std::string textOf(PyObject* object);
std::string reprOf(PyObject* object);
/// "module.qualname" of an object's type, without "builtins.".
std::string qualifiedTypeName(PyObject* object);
/// `object.__module__`; empty if it has none.
std::string moduleNameOf(PyObject* object);
/// An interned string that lives as long as the process.
inline PyObject* interned(const char* text) { return PyUnicode_InternFromString(text); }

// Attributes, imports and calls.
inline PyRef attribute(PyObject* object, PyObject* name) {
  return PyRef::steal(object ? PyObject_GetAttr(object, name) : nullptr);
}
inline PyRef attribute(PyObject* object, const char* name) {
  return PyRef::steal(object ? PyObject_GetAttrString(object, name) : nullptr);
}
inline PyRef attribute(const PyRef& object, const char* name) { return attribute(object.get(), name); }
/// Null without an exception if there is none.
template <class Key> PyRef attributeIfAny(PyObject* object, Key name) {
  PyRef found = attribute(object, name);
  if (!found) PyErr_Clear();
  return found;
}
inline PyRef imported(const char* module, const char* name) {
  return attribute(PyRef::steal(PyImport_ImportModule(module)), name);
}
/// Calls `work` with the arguments as Python has them; null, with the exception that is set, if one of them is null.
template <class Work, class... T> PyRef withArguments(const Work& work, T&&... arguments) {
  const std::array<PyRef, sizeof...(T)> made{toPython(std::forward<T>(arguments))...};
  for (const PyRef& argument : made)
    if (!argument) return {};
  return PyRef::steal(std::apply([&](const auto&... each) { return work(each.get()...); }, made));
}
/// function(arguments...), object.method(arguments...); null for a null function or object, too.
template <class... T> PyRef call(PyObject* function, T&&... arguments) {
  if (!function) return {};
  auto work = [&](auto... given) { return PyObject_CallFunctionObjArgs(function, given..., nullptr); };
  return withArguments(work, std::forward<T>(arguments)...);
}
template <class... T> PyRef call(const PyRef& function, T&&... arguments) {
  return call(function.get(), std::forward<T>(arguments)...);
}
template <class... T> PyRef callMethod(PyObject* object, PyObject* method, T&&... arguments) {
  if (!object) return {};
  auto work = [&](auto... given) { return PyObject_CallMethodObjArgs(object, method, given..., nullptr); };
  return withArguments(work, std::forward<T>(arguments)...);
}
template <class... T> PyRef callMethod(PyObject* object, const char* method, T&&... arguments) {
  return callMethod(object, PyRef::steal(interned(method)).get(), std::forward<T>(arguments)...);
}

// Items.
/// The items of a tuple or a list, borrowed: for (PyObject* item : itemsOf(list)). Nothing of a null object.
class itemsOf {
public:
  explicit itemsOf(PyObject* object) : object_(object), isList_(object && PyList_Check(object)) {}
  explicit itemsOf(const PyRef& object) : itemsOf(object.get()) {}
  size_t size() const { return object_ ? size_t(isList_ ? PyList_Size(object_) : PyTuple_Size(object_)) : 0; }
  PyObject* operator[](size_t i) const {
    return isList_ ? PyList_GetItem(object_, Py_ssize_t(i)) : PyTuple_GetItem(object_, Py_ssize_t(i));
  }
  struct Place {
    const itemsOf& items;
    size_t at;
    PyObject* operator*() const { return items[at]; }
    void operator++() { ++at; }
    bool operator!=(std::nullptr_t) const { return at < items.size(); }
  };
  Place begin() const { return {*this, 0}; }
  std::nullptr_t end() const { return nullptr; }

private:
  PyObject* object_;
  bool isList_;
};

/// The bytes of an object that shows its memory, while this lives.
class HeldBytes {
public:
  HeldBytes() = default;
  HeldBytes(const HeldBytes&) = delete;
  HeldBytes& operator=(const HeldBytes&) = delete;
  ~HeldBytes() {
    if (held_) PyBuffer_Release(&view_);
  }
  /// False with an exception set.
  bool take(PyObject* object, int flags = PyBUF_SIMPLE) {
    return held_ = PyObject_GetBuffer(object, &view_, flags) == 0;
  }
  explicit operator bool() const { return held_; }
  const Py_buffer& view() const { return view_; }
  void* data() const { return view_.buf; }
  size_t size() const { return size_t(view_.len); }
  std::span<const std::byte> bytes() const { return {static_cast<const std::byte*>(view_.buf), size()}; }

private:
  Py_buffer view_{};
  bool held_ = false;
};

// Exceptions.
/// The exception that is set, normalised and taken, with its traceback; null: none is set.
PyRef takeError();
/// Sets an exception that was taken.
void putError(const PyRef& error);
/// Keeps an exception that is set out of the way for a scope; one that is set at its end is dropped.
class ErrorKept {
public:
  ErrorKept() { PyErr_Fetch(&type_, &value_, &traceback_); }
  ~ErrorKept() { PyErr_Restore(type_, value_, traceback_); }
  ErrorKept(const ErrorKept&) = delete;
  ErrorKept& operator=(const ErrorKept&) = delete;

private:
  PyObject *type_ = nullptr, *value_ = nullptr, *traceback_ = nullptr;
};

} // namespace tiletwin
