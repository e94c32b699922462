// frontend/Structure.h -- what a value of the language consists of: the tensors in it, and the compile-time rest.
// Here:      taking values apart for calls, loops and branches and putting them together again; constants and
//            their names.
// Not here:  the objects themselves (Objects.h).
#pragma once
#include "frontend/Objects.h"
#include <string>
#include <vector>

namespace tiletwin::frontend {

/// The form of a value of the language: where its tensors are, and everything about it that is known while compiling.
/// Two values of one structure differ in their tensors only, so one can replace the other in a loop or a branch.
struct Structure {
  enum class Kind : uint8_t { Tensor, Constant, Tuple, Object };
  Kind kind = Kind::Constant;
  Type type; ///< Tensor
  /// Constant: the value itself (a constexpr or a plain object); otherwise its class, null for a plain tuple.
  PyRef object;
  std::vector<Structure> items; ///< Tuple, Object: elements, fields
  std::vector<PyRef> names;     ///< Tuple with names, Object: field names

  bool hasTensor() const;
  bool operator==(const Structure& other) const;
  /// As in names of functions: "i32", "fp32S16S", "Ti32_i32T", "c7".
  std::string mangled() const;
  /// For messages: "int32", "<[16], fp32>", "the compile-time value 7", "a tuple of (int32, int32)".
  std::string describe() const;
};

/// Takes a value apart; its tensors are appended to `leaves`, if given. False with an error set.
bool takeApart(PyObject* value, Structure& structure, llvm::SmallVectorImpl<Value>* leaves);
/// The reverse: consumes as many of `leaves` as the structure has. Null with an error set.
PyRef putTogether(const Structure& structure, llvm::ArrayRef<Value>& leaves);
/// The same of leaves that it takes all.
inline PyRef putAllTogether(const Structure& structure, llvm::ArrayRef<Value> leaves) {
  return putTogether(structure, leaves);
}
/// The types of a structure's tensors, and names for them: "t.0", "self.total".
void leafTypes(const Structure& structure, llvm::SmallVectorImpl<Type>& types);
void leafNames(const Structure& structure, const std::string& prefix, llvm::SmallVectorImpl<std::string>& names);
/// Sets the TypeError of a variable whose value is no longer what it was before the loop that carries it (rule 52).
/// `where`: " (line 7)", of the assignment; may be empty.
bool raiseCarried(const std::string& name, const Structure& was, const Structure& now, const std::string& where);
/// The same for one that was a compile-time value.
bool raiseCarriedConstant(const std::string& name, const std::string& where);
/// Same kind of Python object and the same value: 1, True and 1.0 are three constants.
bool sameConstant(PyObject* a, PyObject* b);

/// Numbers, strings, None become constexpr; tuples and lists are treated element by element; all else stays as it is.
PyRef wrapConstant(PyObject* object);
inline PyRef wrapConstant(const PyRef& object) { return object ? wrapConstant(object.get()) : PyRef(); }
/// What a parameter holds of a value: types, functions and other plain objects become constexprs, so that they have
/// `.value` in the callee.
PyRef parameterValue(PyObject* value);
/// A constexpr's value, through tuples.
PyRef unwrapDeep(PyObject* object);
/// What plain assignment makes of a value (rule 11): compile-time numbers become tensors, through tuples.
PyRef materialise(Builder& builder, PyObject* value);
bool containsTensor(PyObject* object);

} // namespace tiletwin::frontend
