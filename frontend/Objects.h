// frontend/Objects.h -- the Python objects of the language that are made in C++: tensor, constexpr, builtin.
// All three are heap types over the limited API; python/tiletwin/language/ re-exports them and adds methods by setattr.
#pragma once
#include "frontend/Builder.h"
#include "frontend/PyRef.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace tiletwin::frontend {

/// Creates the types and adds `tensor`, `constexpr`, `builtin` (and what eager mode needs) to `module`. -1 with an error set on failure.
int addObjects(PyObject* module);

// tensor: a run-time value. Number slots, comparison slots and [] go through the semantic layer with Builder::current().
// Attributes made in C++: dtype, type, shape (tuple of constexpr), numel, T, handle.
bool isTensor(PyObject* object);
PyRef makeTensor(Value value);
const Value& tensorValue(PyObject* tensor);

// constexpr: a compile-time value. `.value`, all Python operators (result is a constexpr), hash, bool, index.
bool isConstexpr(PyObject* object);
PyRef makeConstexpr(PyObject* value);      ///< never nests: constexpr(constexpr(3)) is constexpr(3)
PyObject* constexprValue(PyObject* object); ///< borrowed
/// The value inside a constexpr, or the object itself. Borrowed.
PyObject* unwrap(PyObject* object);

// builtin: a function of the language. `builtin(pyfunc)` takes name, signature and docstring from a Python function whose
// body is empty, and its implementation from the semantic layer's table (Builtins.h) by "module.name" -- or, where the
// function is marked `python=True`, calls the Python body itself (for compile-time helpers such as tl.static_print).
// Calling it binds arguments to the signature and calls the implementation with Builder::current().
bool isBuiltin(PyObject* object);
/// Calls a builtin with bound arguments, as both modes do. `kwargs` may be null.
PyRef callBuiltin(PyObject* builtin, PyObject* args, PyObject* kwargs, Builder& builder);

// dtype objects live in Python (language/types.py); these two convert. Errors: TypeError.
bool typeFromPython(PyObject* dtype, Type& out);
PyRef typeToPython(const Type& type);      ///< new reference; cached for scalars and pointers to scalars

} // namespace tiletwin::frontend
