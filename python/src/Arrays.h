// python/src/Arrays.h -- memory behind Python arrays: address, element type, extents, read-only or not.
// Here:      torch tensors, NumPy arrays, buffers, DLPack, __array_interface__, __cuda_array_interface__,
//            data_ptr()/dtype.
// Not here:  what a parameter makes of it (Binding.h), device copies (launch/device_copy.py).
// Invariant: an Array's addresses are valid while its `owner` and the Python object live.
#pragma once
#include "frontend/PyRef.h"
#include "runtime/ViewShape.h"
#include <cstdint>
#include <memory>
#include <vector>

namespace tiletwin::python {

/// How objects of one Python type give their memory or value; decided once per type.
enum class ObjectKind : uint8_t {
  None,
  Bool,
  Int,
  Float,
  String,
  Tuple,
  Constexpr,
  JitFunction,
  Descriptor, // not arrays
  NumPyScalar,
  IndexLike,
  ExchangeTable,
  Torch,
  NumPyArray,
  Buffer,
  Reinterpreted,
  DataPointer,
  ArrayInterface,
  CudaArrayInterface,
  DlpackMethod, // arrays
  Other,
};
constexpr bool isArray(ObjectKind k) { return k >= ObjectKind::ExchangeTable && k <= ObjectKind::DlpackMethod; }

struct TypeFacts {
  ObjectKind kind = ObjectKind::Other;
  bool hasStorage = false;        ///< has untyped_storage() (torch)
  const void* exchange = nullptr; ///< DLPack's table of C functions
};
/// Facts about the type of `object`. Never fails: unknown types are Other.
const TypeFacts& factsOf(PyObject* object);

struct Array {
  int element = -1;             ///< row of Elements.h
  uintptr_t data = 0;           ///< address of element (0, ..., 0)
  uintptr_t begin = 0, end = 0; ///< storage; begin == end == 0 with extentsKnown false: nothing is known
  uintptr_t viewBegin = 0, viewEnd = 0;
  std::shared_ptr<const ViewShape> view; ///< only while keepViewShapes(true) holds, and if shape and strides are known
  bool readOnly = false;
  bool extentsKnown = true;
  bool onDevice = false; ///< memory is not the host's: data must not be touched
  PyRef owner;           ///< keeps memory alive where the object itself might not
};

/// Fills `out`. False with an exception set: TypeError for element types the language does not have, what the object
/// raised, else.
bool readArray(PyObject* object, const TypeFacts& facts, Array& out);

/// Whether readArray notes which bytes belong to elements; a check wants to know. Under the GIL.
void keepViewShapes(bool keep);

/// Reads a tuple, or another sequence, of ints; appends nothing for a null object. False with an exception set.
bool integersOf(const PyRef& sequence, std::vector<int64_t>& out);

/// Row of Elements.h of a dtype object (torch, NumPy, the language), or -1 with TypeError set.
int elementOfDtype(PyObject* dtype);

} // namespace tiletwin::python
