// frontend/Objects.h -- the Python objects of the language that are made in C++: tensor, constexpr, builtin.
// All three are heap types over the limited API; python/tiletwin/language/ re-exports them and adds methods by setattr.
#pragma once
#include "frontend/Builder.h"
#include "frontend/PyValues.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace tiletwin::frontend {

/// Creates the types and adds `tensor`, `constexpr`, `builtin` (and what eager mode needs) to `module`. False
/// with an error set on failure.
bool addObjects(PyObject* module);

// tensor: a run-time value. Number slots, comparison slots and [] go through the semantic layer with
// Builder::current(). Attributes made in C++: dtype, type, shape (tuple of constexpr), numel, T, handle.
bool isTensor(PyObject* object);
PyRef makeTensor(Value value);
const Value& tensorValue(PyObject* tensor);

// constexpr: a compile-time value. `.value`, all Python operators (result is a constexpr), hash, bool, index.
bool isConstexpr(PyObject* object);
PyRef makeConstexpr(PyObject* value);       ///< never nests: constexpr(constexpr(3)) is constexpr(3)
PyObject* constexprValue(PyObject* object); ///< borrowed
/// The value inside a constexpr, or the object itself. Borrowed.
PyObject* unwrap(PyObject* object);

// builtin: a function of the language. `builtin(pyfunc)` takes name, signature and docstring from a Python function
// whose body is empty, and its implementation from the semantic layer's table (Builtins.h) by "module.name" -- or,
// where the function is marked `python=True`, calls the Python body itself (for compile-time helpers such as
// tl.static_print). Calling it binds arguments to the signature and calls the implementation with Builder::current().
bool isBuiltin(PyObject* object);
/// Calls a builtin with bound arguments, as both modes do. `kwargs` may be null.
PyRef callBuiltin(PyObject* builtin, PyObject* args, PyObject* kwargs, Builder& builder);

// tensor_descriptor: a run-time descriptor with the tensors that describe its memory. Attributes made in C++: shape,
// strides (tuples of tensors), block_shape, dtype, block_type, type, handle. `__tiletwin_fields__` names its parts.
bool isDescriptor(PyObject* object);
/// `shape` and `strides` are tuples of tensors, one per dimension (i32 and i64).
PyRef makeDescriptor(Value descriptor, PyObject* shape, PyObject* strides);
const Value& descriptorValue(PyObject* object);

/// A block of a strided tensor: base plus offsets, and how far the tensor goes. Scalars of 64 bits; strides in elements.
struct BlockPointer {
  Value base;
  llvm::SmallVector<Value, 4> shape, strides, offsets;
  llvm::SmallVector<int64_t, 4> block, order;
};
bool isBlockPointer(PyObject* object);
PyRef makeBlockPointer(BlockPointer pointer);
const BlockPointer& blockPointerValue(PyObject* object);

/// What eager mode adds to tensors: numbers and text of an evaluated value. Compiled mode never calls these.
struct EagerHooks {
  Builder* (*defaultBuilder)() = nullptr; ///< the builder outside kernels (a REPL)
  /// A scalar as a Python bool, int or float; an error for blocks of more than one element.
  PyObject* (*item)(const Value&) = nullptr;
  PyObject* (*repr)(const Value&) = nullptr;                  ///< text of repr(tensor)
  PyObject* (*numpy)(const Value&) = nullptr;                 ///< an ndarray copy
  PyObject* (*part)(const Value&, PyObject* index) = nullptr; ///< the elements that NumPy's x[index] picks, as a tensor
  PyObject* (*html)(const Value&) = nullptr;                  ///< what notebooks show
};
void setEagerHooks(const EagerHooks& hooks);
const EagerHooks& eagerHooks();

// dtype objects live in Python (dtypes.py); these two convert. Errors: TypeError.
bool typeFromPython(PyObject* dtype, Type& out);
PyRef typeToPython(const Type& type); ///< new reference; cached for scalars and pointers to scalars
/// A tuple as the language has it: the class given to register_types(tuple_type=...), else Python's own.
PyRef makeTuple(llvm::ArrayRef<PyRef> items);
PyRef makeShape(llvm::ArrayRef<int64_t> shape); ///< a tuple of constexpr

} // namespace tiletwin::frontend
