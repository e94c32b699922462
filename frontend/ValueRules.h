// frontend/ValueRules.h -- what both modes do alike with any value of the language, compile-time or run-time.
// Here:      identity, membership, binding of methods, calls of types, the language's functions by name.
// Not here:  operators and conversions of tensors (Semantic.h); how a mode gets at the operands.
#pragma once
#include "frontend/Semantic.h"

namespace tiletwin::frontend {

/// `x is y`; a constexpr is its value.
bool isSame(PyObject* x, PyObject* y);
/// `item in container` of compile-time values: 1, 0, or -1 with an error set.
int contains(PyObject* container, PyObject* item);
/// `method` with its first argument, for `f = x.method; f(y)`.
PyRef bindMethod(PyObject* method, PyObject* owner);
/// `.type` of a tuple: a tl.tuple_type.
PyRef typeOfTuple(PyObject* tuple);
/// `dtype(value)`: a cast, as in tl.float32(x).
PyRef callDtype(Builder& builder, PyObject* dtype, llvm::ArrayRef<PyRef> arguments);
/// A function of tiletwin.language.core, for what Python's own min, max and print mean in kernels.
PyRef languageFunction(const char* name);

} // namespace tiletwin::frontend
