// frontend/Builtins.h -- the table of language functions that are implemented in C++, by family.
// Here:      the row, the lookup, how an implementation reads its arguments, calls of jit functions.
// Not here:  signatures and docstrings (python/tiletwin/language/), binding of arguments (BuiltinObject.cpp).
// Invariant: an implementation gets one PyObject* per parameter of the Python signature, in order; *args is one tuple.
#pragma once
#include "frontend/Objects.h"
#include "frontend/Raise.h"
#include "frontend/Semantic.h"

namespace tiletwin::frontend {

/// Returns a tensor, a constexpr, a tuple of tensors or None; null with a Python error set.
using BuiltinFunction = PyRef (*)(Builder& b, llvm::ArrayRef<PyObject*> args);
struct BuiltinRow {
  llvm::StringLiteral name; ///< the Python function's __name__
  BuiltinFunction build;
};
/// Null if there is none.
const BuiltinRow* findBuiltin(llvm::StringRef name);
llvm::SmallVector<llvm::StringRef> builtinNames();

// The families; each table is sorted by name.
llvm::ArrayRef<BuiltinRow> programBuiltins();
llvm::ArrayRef<BuiltinRow> memoryBuiltins();
llvm::ArrayRef<BuiltinRow> shapeBuiltins();
llvm::ArrayRef<BuiltinRow> elementwiseBuiltins();
llvm::ArrayRef<BuiltinRow> mathBuiltins();
llvm::ArrayRef<BuiltinRow> reduceBuiltins();
llvm::ArrayRef<BuiltinRow> dotBuiltins();
llvm::ArrayRef<BuiltinRow> atomicBuiltins();
llvm::ArrayRef<BuiltinRow> descriptorBuiltins();
llvm::ArrayRef<BuiltinRow> blockPointerBuiltins();
llvm::ArrayRef<BuiltinRow> debugBuiltins();
llvm::ArrayRef<BuiltinRow> foreignBuiltins();

/// Calls a jit function while a region is being filled: emits the call into `inside` and appends its results.
/// False with a Python error set (Frontend.cpp).
bool callJit(Builder& inside, PyObject* jitFunction, llvm::ArrayRef<Value> args, llvm::SmallVectorImpl<Value>& results);

// Reading arguments. `what` is for messages: "tl.arange: start".
bool isNone(PyObject* arg); ///< None or constexpr(None)
bool constantInt(PyObject* arg, const llvm::Twine& what, int64_t& out);
bool constantBool(PyObject* arg, const llvm::Twine& what, bool& out);
bool constantString(PyObject* arg, const llvm::Twine& what, std::string& out); ///< None gives ""
/// Ints in a tuple, list or constexpr of one, or one int. The only item of a tuple may be such a list: varargs.
bool constantInts(PyObject* arg, const llvm::Twine& what, llvm::SmallVectorImpl<int64_t>& out);
bool constantShape(PyObject* arg, const llvm::Twine& what, llvm::SmallVectorImpl<int64_t>& out); ///< checks rule 59
/// The items of a tuple or list, or of a constexpr of one.
bool sequenceItems(PyObject* arg, const llvm::Twine& what, llvm::SmallVectorImpl<PyRef>& out);
/// The same of a tuple or list, and true; any other argument is the only item, and false.
bool oneOrItems(PyObject* arg, llvm::SmallVectorImpl<PyRef>& out);
/// Tensors of one shape from tensors and numbers.
bool tensorsOfOneShape(Builder& b, llvm::ArrayRef<PyRef> items, llvm::StringRef function,
                       llvm::SmallVectorImpl<Value>& out);
/// A tensor argument as it is; compile-time numbers become tensors.
Value tensorArgument(Builder& b, PyObject* arg, const llvm::Twine& what);
/// A scalar integer in `type`; compile-time ints become one.
Value scalarInteger(Builder& b, PyObject* arg, const llvm::Twine& what, const Type& type);
/// What a value is, for messages: a tensor's type, or the class of another object.
std::string given(PyObject* arg);
/// A block is wanted: an error for scalars and numbers.
Value blockArgument(PyObject* arg, const llvm::Twine& what);

// Block pointers (BlockPointerBuiltins.cpp), for the functions that take them.
/// `boundary_check` of a block of that rank: one flag a dimension.
bool boundaryDimensions(PyObject* arg, llvm::StringRef function, size_t rank, llvm::SmallVectorImpl<bool>& out);
/// The block of pointers, and the mask of what is inside the tensor in the checked dimensions; no mask if none is.
bool pointersOfBlock(Builder& b, const BlockPointer& pointer, llvm::ArrayRef<bool> checked, Value& pointers,
                     Value& mask);

// Giving results.
PyRef result(Value value);
PyRef result(llvm::ArrayRef<Value> values); ///< a tuple
PyRef resultNone(bool ok);

} // namespace tiletwin::frontend
