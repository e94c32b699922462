// frontend/Raise.h -- setting a Python exception and leaving: `return raiseType("...")` fits every function whose empty
// result means "a Python error is set" (Value, PyRef, bool, std::optional).
#pragma once
#include "frontend/Builder.h"
#include "frontend/PyValues.h"
#include "llvm/ADT/Twine.h"
#include <optional>

namespace tiletwin::frontend {

struct Raised {
  operator Value() const { return {}; }
  operator PyRef() const { return {}; }
  operator bool() const { return false; }
  operator PyObject*() const { return nullptr; }
  template <class T> operator std::optional<T>() const { return std::nullopt; }
};

Raised raise(PyObject* exceptionType, const llvm::Twine& message);
Raised raiseType(const llvm::Twine& message);
Raised raiseValue(const llvm::Twine& message);
Raised raiseNotImplemented(const llvm::Twine& message);
/// For callees that already set the error.
inline Raised raised() { return {}; }
/// `type(object).__name__`, for messages.
std::string typeName(PyObject* object);
/// What a value is, for messages: "a tuple", "None", "the text 'fp32'", "torch.float32", "an int".
std::string described(PyObject* object);
/// "; did you mean arange, range?" of the names (an iterable of str) that are close to `name`; empty if there are none.
/// May be called while an exception is set.
std::string didYouMean(PyObject* name, PyObject* names);
/// "16x8", or "()" for a scalar, for messages.
std::string shapeText(llvm::ArrayRef<int64_t> shape);

} // namespace tiletwin::frontend
