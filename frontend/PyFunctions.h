// frontend/PyFunctions.h -- C++ functions and classes as Python sees them.
// Here:      function<"name", f>("doc") for a module, method<"name", f>("doc") and property<"name", f>("doc") for a type;
//            the types whose objects own a C++ value; the definition of a module.
// Idea:      the parameters of `f` say how arguments are read (Argument below), its result how it is given back. So
//            int add(int a, std::optional<int> b) is add(a[, b]), and refuses other arguments with TypeError.
//              results:  toPython (PyValues.h) makes an object of them, a null PyRef being an exception. A bool says
//                        whether it worked: Python gets None, or the exception that is set. So it does of void. An
//                        empty std::optional is an exception, too.
//              `self`:   the first parameter of methods and properties is the object's value (State&), or the object
//                        (PyObject*).
// Not here:  functions with keywords, which take Python's own arguments (withKeywords).
#pragma once
#include "frontend/PyValues.h"
#include <algorithm>
#include <cstring>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>

namespace tiletwin {

/// A text as an argument of a template.
template <size_t n> struct Text {
  char text[n];
  consteval Text(const char (&given)[n]) { std::copy_n(given, n, text); }
};

/// Objects of a type that `check` knows, as parameters.
template <int (*check)(PyObject*)> struct Checked {
  PyObject* object;
  PyObject* get() const { return object; }
};
inline int isTuple(PyObject* object) { return PyTuple_Check(object); }
inline int isList(PyObject* object) { return PyList_Check(object); }
inline int isDict(PyObject* object) { return PyDict_Check(object); }
using TupleArgument = Checked<isTuple>;
using ListArgument = Checked<isList>;
using DictArgument = Checked<isDict>;

inline bool refuseArgument(PyObject* object, const char* wanted) {
  PyErr_Format(PyExc_TypeError, "%s is wanted, not %R", wanted, object);
  return false;
}

/// How an argument is read as a T: read() gives false with an exception set, and keeps what `value` refers to.
template <class T> struct Argument;
template <> struct Argument<PyObject*> {
  PyObject* value = nullptr;
  bool read(PyObject* object) { return (value = object); }
};
template <int (*check)(PyObject*)> struct Argument<Checked<check>> {
  Checked<check> value{};
  bool read(PyObject* object) {
    value.object = object;
    return check(object) || refuseArgument(object, check == isTuple  ? "a tuple"
                                                   : check == isList ? "a list"
                                                                     : "a dict");
  }
};
/// Unsigned numbers of 32 and 64 bits take the low bits of any integer, as addresses and streams are written.
template <std::integral T> struct Argument<T> {
  T value{};
  bool read(PyObject* object) {
    if constexpr (std::unsigned_integral<T> && sizeof(T) >= 4) {
      value = T(PyLong_AsUnsignedLongLongMask(object));
      return !(value == T(-1) && PyErr_Occurred());
    } else {
      const long long number = PyLong_AsLongLong(object);
      if (number == -1 && PyErr_Occurred()) return false;
      value = T(number);
      if (value == number) return true;
      PyErr_Format(PyExc_OverflowError, "%R does not fit %zu bits", object, 8 * sizeof(T));
      return false;
    }
  }
};
template <> struct Argument<bool> {
  bool value = false;
  bool read(PyObject* object) {
    const int truth = PyObject_IsTrue(object);
    value = truth > 0;
    return truth >= 0;
  }
};
template <> struct Argument<std::string_view> {
  std::string_view value;
  bool read(PyObject* object) {
    if (!PyUnicode_Check(object)) return refuseArgument(object, "a str");
    Py_ssize_t size = 0;
    const char* text = PyUnicode_AsUTF8AndSize(object, &size);
    if (text) value = {text, size_t(size)};
    return text;
  }
};
template <> struct Argument<std::string> {
  std::string value;
  bool read(PyObject* object) {
    Argument<std::string_view> view;
    const bool done = view.read(object);
    value = view.value;
    return done;
  }
};
template <> struct Argument<const char*> {
  const char* value = "";
  bool read(PyObject* object) {
    Argument<std::string_view> view;
    if (!view.read(object)) return false;
    value = view.value.data();
    return std::strlen(value) == view.value.size() || refuseArgument(object, "a str without null characters");
  }
};
template <> struct Argument<std::span<const std::byte>> {
  std::span<const std::byte> value;
  HeldBytes held;
  bool read(PyObject* object) {
    const bool done = held.take(object);
    value = held.bytes();
    return done;
  }
};
/// A tuple or list of n.
template <class T, size_t n> struct Argument<std::array<T, n>> {
  std::array<T, n> value{};
  bool read(PyObject* object) {
    if (!(PyTuple_Check(object) || PyList_Check(object)) || itemsOf(object).size() != n) {
      PyErr_Format(PyExc_TypeError, "a tuple of %zu numbers is wanted, not %R", n, object);
      return false;
    }
    for (size_t i = 0; i < n; ++i) {
      Argument<T> item;
      if (!item.read(itemsOf(object)[i])) return false;
      value[i] = item.value;
    }
    return true;
  }
};
/// Empty for None, and for an argument that is not given.
template <class T> struct Argument<std::optional<T>> {
  std::optional<T> value;
  Argument<T> given;
  bool read(PyObject* object) {
    if (object == Py_None) return true;
    if (!given.read(object)) return false;
    value = given.value;
    return true;
  }
};

namespace wrapping {

template <class T> constexpr bool isOptional = false;
template <class T> constexpr bool isOptional<std::optional<T>> = true;

/// Reads the arguments of one call. Parameters may be left out from the first optional one on.
template <class... T> struct Arguments {
  std::tuple<Argument<std::remove_cvref_t<T>>...> each;
  bool read(const char* function, PyObject* const* given, Py_ssize_t count) {
    constexpr size_t most = sizeof...(T);
    constexpr size_t least = most - (size_t(isOptional<std::remove_cvref_t<T>>) + ... + 0);
    if (size_t(count) < least || size_t(count) > most) {
      PyErr_Format(PyExc_TypeError, "%s() takes %zu%s arguments, not %zd", function, least,
                   least < most ? " or more" : "", count);
      return false;
    }
    return [&]<size_t... i>(std::index_sequence<i...>) {
      return ((i >= size_t(count) || std::get<i>(each).read(given[i])) && ...);
    }(std::index_sequence_for<T...>());
  }
};

template <class R, class Work> PyObject* resultOf(const Work& work) {
  if constexpr (std::is_void_v<R>) {
    work();
    return PyErr_Occurred() ? nullptr : none().release();
  } else if constexpr (std::same_as<R, bool>) {
    return work() ? none().release() : nullptr;
  } else if constexpr (isOptional<R>) {
    R result = work();
    return result ? toPython(*std::move(result)).release() : nullptr;
  } else {
    return toPython(work()).release();
  }
}

} // namespace wrapping

/// Objects of a Python type that own a State. The type is made once, by add().
template <class State> struct Object {
  PyObject_HEAD State state;

  inline static PyTypeObject* type = nullptr;
  static State& of(PyObject* self) { return reinterpret_cast<Object*>(self)->state; }
  static bool is(PyObject* object) { return object && PyObject_TypeCheck(object, type); }

  /// A new object of the type; null with an exception set.
  template <class... T> static PyRef make(T&&... state) {
    return construct(PyType_GenericAlloc(type, 0), std::forward<T>(state)...);
  }
  /// A new object of the type or of a class derived from it, for tp_new.
  template <class... T> static PyRef makeOf(PyTypeObject* own, T&&... state) {
    auto* allocate = reinterpret_cast<allocfunc>(PyType_GetSlot(own, Py_tp_alloc));
    return construct(allocate(own, 0), std::forward<T>(state)...);
  }
  template <class... T> static PyRef construct(PyObject* allocated, T&&... state) {
    if (allocated) new (&of(allocated)) State{std::forward<T>(state)...};
    return PyRef::steal(allocated);
  }

  static void deallocate(PyObject* self) {
    PyTypeObject* own = Py_TYPE(self);
    if (PyType_GetFlags(own) & Py_TPFLAGS_HAVE_GC) PyObject_GC_UnTrack(self);
    of(self).~State();
    reinterpret_cast<freefunc>(PyType_GetSlot(own, Py_tp_free))(self);
    PyRef::steal(reinterpret_cast<PyObject*>(own)); // an object of a heap type owns its type
  }
};

namespace wrapping {

/// What a method's or getter's first parameter is of `self`.
template <class T> decltype(auto) selfAs(PyObject* self) {
  if constexpr (std::same_as<T, PyObject*>)
    return self;
  else
    return Object<std::remove_cvref_t<T>>::of(self);
}

template <Text name, auto f, class R, class... T>
PyObject* callFunction(R (*)(T...), PyObject* const* given, Py_ssize_t count) {
  Arguments<T...> arguments;
  if (!arguments.read(name.text, given, count)) return nullptr;
  return resultOf<R>([&] { return std::apply([](auto&... each) { return f(each.value...); }, arguments.each); });
}
template <Text name, auto f, class R, class Self, class... T>
PyObject* callMethod(R (*)(Self, T...), PyObject* self, PyObject* const* given, Py_ssize_t count) {
  Arguments<T...> arguments;
  if (!arguments.read(name.text, given, count)) return nullptr;
  return resultOf<R>(
      [&] { return std::apply([&](auto&... each) { return f(selfAs<Self>(self), each.value...); }, arguments.each); });
}
template <auto f, class R, class Self> PyObject* callProperty(R (*)(Self), PyObject* self) {
  return resultOf<R>([&] { return f(selfAs<Self>(self)); });
}

} // namespace wrapping

/// A function of any of METH_...'s forms as PyMethodDef stores it.
template <class F> PyCFunction anyFunction(F* function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}
inline PyMethodDef withKeywords(const char* name, PyCFunctionWithKeywords function, const char* doc = nullptr) {
  return {name, anyFunction(function), METH_VARARGS | METH_KEYWORDS, doc};
}
template <Text name, auto f> PyMethodDef function(const char* doc) {
  constexpr auto called = [](PyObject*, PyObject* const* given, Py_ssize_t count) {
    return wrapping::callFunction<name, f>(f, given, count);
  };
  return {name.text, anyFunction(+called), METH_FASTCALL, doc};
}
template <Text name, auto f> PyMethodDef method(const char* doc) {
  constexpr auto called = [](PyObject* self, PyObject* const* given, Py_ssize_t count) {
    return wrapping::callMethod<name, f>(f, self, given, count);
  };
  return {name.text, anyFunction(+called), METH_FASTCALL, doc};
}
template <Text name, auto f> PyGetSetDef property(const char* doc) {
  return {name.text, [](PyObject* self, void*) { return wrapping::callProperty<f>(f, self); }, nullptr, doc, nullptr};
}

/// Adds functions to a module. False with an exception set.
bool addFunctions(PyObject* module, std::vector<PyMethodDef> functions);

template <class F> PyType_Slot slot(int id, F* function) { return {id, reinterpret_cast<void*>(function)}; }

/// What a type has besides its objects' State.
struct TypeParts {
  const char* name; ///< with its module: "tiletwin._C.tensor"
  const char* doc;
  std::vector<PyMethodDef> methods{};
  std::vector<PyGetSetDef> properties{};
  std::vector<PyType_Slot> slots{};
  unsigned flags = Py_TPFLAGS_DISALLOW_INSTANTIATION; ///< besides the default ones
};
/// Makes a type, or takes `known`, and adds it to the module, if there is one. Null with an exception set.
PyTypeObject* addTypeOf(PyObject* module, PyTypeObject* known, size_t bytes, destructor deallocate, TypeParts parts);
/// Makes the type of Object<State> and adds it to the module, unless that is null. False with an exception set.
template <class State> bool addType(PyObject* module, TypeParts parts) {
  using Made = Object<State>;
  return (Made::type = addTypeOf(module, Made::type, sizeof(Made), Made::deallocate, std::move(parts)));
}

/// What PyInit_... returns: a module whose contents `execute` adds. It gives false with an exception set.
template <bool (*execute)(PyObject*)> PyObject* defineModule(const char* name, const char* doc) {
  constexpr auto run = [](PyObject* module) { return execute(module) ? 0 : -1; };
  static PyModuleDef_Slot slots[] = {{Py_mod_exec, reinterpret_cast<void*>(+run)}, {0, nullptr}};
  static PyModuleDef definition = {PyModuleDef_HEAD_INIT, name, doc, 0, nullptr, slots, nullptr, nullptr, nullptr};
  return PyModuleDef_Init(&definition);
}

} // namespace tiletwin
