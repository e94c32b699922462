// python/src/EagerObserver.cpp -- see EagerObserver.h.
#include "EagerObserver.h"
#include "Context.h"
#include "Parts.h"
#include "frontend/PyFunctions.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <array>
#include <string_view>

namespace tiletwin::python {

namespace {

constexpr std::array<std::string_view, 12> kMemoryOperations = {
    "tt.atomic_cas",
    "tt.atomic_load",
    "tt.atomic_poll",
    "tt.atomic_rmw",
    "tt.atomic_store",
    "tt.descriptor_gather",
    "tt.descriptor_load",
    "tt.descriptor_reduce",
    "tt.descriptor_scatter",
    "tt.descriptor_store",
    "tt.load",
    "tt.store",
};

/// A tensor; of a descriptor (block shape, (base, extents and strides)).
PyRef operandOf(const frontend::Value& value) {
  if (!value.type.isDescriptor()) return frontend::makeTensor(value);
  return pyTuple(pyTupleFrom(value.type.shape), pyTupleFrom(evaluated(value).makers, operandOf));
}

/// (element type, shape, bytes), bit for bit; None for a value that has no bytes.
PyRef rawValue(PyObject* object) {
  if (!frontend::isTensor(object)) {
    PyErr_SetString(PyExc_TypeError, "raw_value() takes a tensor of eager mode");
    return {};
  }
  const frontend::Value& value = frontend::tensorValue(object);
  if (!value.eager || value.type.isDescriptor() || !evaluated(value).makers.empty()) return none();
  const EagerValue& tile = evaluated(value);
  return pyTuple(value.type.element().str(), pyTupleFrom(value.type.shape), pyBytes(tile.data, tile.bytes));
}

/// The name of the argument that a tensor's pointers were made for; None if there is none, or it holds no pointers.
PyRef pointerOrigin(PyObject* object) {
  const EagerContext* context = eagerContext();
  if (!context || !frontend::isTensor(object)) return none();
  const frontend::Value& value = frontend::tensorValue(object);
  const int32_t buffer = value.eager && value.type.pointer ? bufferOf(value, context) : interp::kNoArgument;
  return buffer < 0 ? none() : toPython(context->buffers[size_t(buffer)].name);
}

} // namespace

bool touchesMemory(llvm::StringRef operation) {
  return std::find(kMemoryOperations.begin(), kMemoryOperations.end(), std::string_view(operation)) !=
         kMemoryOperations.end();
}

bool tellObserver(PyObject* observer, llvm::StringRef operation, llvm::ArrayRef<frontend::Value> operands,
                  mlir::DictionaryAttr attributes, const llvm::SmallVectorImpl<frontend::Value>* results) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << mlir::Attribute(attributes);
  PyRef made = results ? pyTupleFrom(*results, operandOf) : none();
  return bool(call(observer, operation.str(), pyTupleFrom(operands, operandOf), text, made));
}

bool addEagerObserver(PyObject* module) {
  return addFunctions(module, {function<"raw_value", rawValue>(
                                   "raw_value(tensor) -> (element type, shape, bytes) of an evaluated value, or None"),
                               function<"pointer_origin", pointerOrigin>(
                                   "pointer_origin(tensor) -> the argument it was made for, or None")});
}

} // namespace tiletwin::python
