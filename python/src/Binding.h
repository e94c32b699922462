// python/src/Binding.h -- a call's Python arguments become a launch key, run-time argument bits and buffers.
// Here:      parameters of a kernel, binding of positional and keyword arguments, classification (rules 63 to 66), keys.
// Not here:  memory of arrays (Arrays.h), compilation and the launch itself (LauncherState.h, LaunchRoutes.h).
// Invariant: two calls with equal keys have the same signature, constants, attributes and options.
#pragma once
#include "Arrays.h"
#include "runtime/Buffer.h"
#include "runtime/DType.h"
#include <string>
#include <vector>

namespace tiletwin::python {

struct Parameter {
  PyRef name;
  std::string nameText;
  PyRef defaultValue;        ///< null: required
  PyRef annotatedType;       ///< str that overrides the inferred type; null: none
  int annotatedElement = -1; ///< its row of Elements.h; -1 for pointers and no annotation
  bool isConstexpr = false;
  bool isConst = false; ///< tl.const: "*kfp32"
  bool keywordOnly = false;
  bool variadic = false;  ///< *args: takes a tuple of what is left of the positional arguments
  bool specialize = true; ///< false: do_not_specialize
  bool specializeAlignment = true;
};

/// A leaf of the arguments (tuples flattened) as the launch sees it.
struct Leaf {
  enum class Kind : uint8_t { Constant, Integer, Real, Array, Descriptor } kind = Kind::Constant;
  bool divisible = false;
  bool tooWide = false;      ///< an integer over 2^63: bits are unsigned
  bool padsWithNan = false;  ///< Descriptor: elements outside read as NaN
  bool roundsToTf32 = false; ///< Descriptor: loads round to 10 bits of mantissa
  int element = -1;          ///< type of the value, or of the array's elements
  uint64_t bits = 0;         ///< integer value or address
  double number = 0;         ///< Real
  int buffer = -1;           ///< index into Call::buffers
};

/// What a tensor descriptor's base address, a multiple of 16, has in its low bits when a kernel gets it (interp/Interp.h,
/// codegen/emit/Descriptor.h); 0 for anything else.
inline uint64_t descriptorFacts(const Leaf& leaf) {
  return uint64_t(leaf.padsWithNan) | uint64_t(leaf.roundsToTf32) << 1;
}

/// One call of a kernel, bound. Lives on the stack of a launch.
struct Call {
  std::vector<PyObject*> values; ///< one per parameter, borrowed from the caller's arguments and defaults
  std::vector<Leaf> leaves;      ///< run-time leaves only, in order
  std::vector<Buffer> buffers;
  std::vector<PyRef> owners;                            ///< keeps memory alive during the launch
  std::vector<std::pair<PyObject*, PyObject*>> options; ///< keywords that are no parameters, borrowed
  std::string key;
  bool onDevice = false; ///< an array is not in host memory
};

/// Reads the list of tuples (name, has_default, default, annotated type or None, is_constexpr, is_const, keyword_only,
/// variadic, specialize, specialize_alignment). False with an exception set.
bool readParameters(PyObject* list, std::vector<Parameter>& out);

/// Binds arguments to parameters; what is left over goes to Call::options. False with TypeError set.
bool bindArguments(const std::string& kernel, const std::vector<Parameter>& parameters, PyObject* const* args,
                   Py_ssize_t count, PyObject* keywordNames, Call& call);

/// Fills leaves, buffers and key. False with an exception set that names the parameter.
bool classify(const std::string& kernel, const std::vector<Parameter>& parameters, PyObject* constants, Call& call);

/// Whether an argument is an integer 1 that becomes a compile-time value, so that it has no leaf. -1 with an exception set.
int isCompiledAsOne(const Parameter& parameter, PyObject* value);

/// What became of the items of `value`, in its class if that is a NamedTuple's: the kernel can use its field names.
PyRef likeItsClass(PyObject* value, PyRef items);

/// The dictionaries the front end takes (frontend/Frontend.h: Request), for a classified call.
struct Specialization {
  PyRef signature, constexprs, attributes, options;
};
bool specialize(const std::vector<Parameter>& parameters, const Call& call, Specialization& out);

/// Whether a call has as many arguments as a compiled kernel takes. False with TypeError set.
bool takesArguments(const std::string& kernel, size_t taken, const Call& call);

/// Bit pattern of a leaf as an argument of storage type `type`. False with an exception set (OverflowError, TypeError).
bool argumentBits(const Leaf& leaf, DType type, uint64_t& out);

} // namespace tiletwin::python
