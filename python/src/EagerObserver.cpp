// python/src/EagerObserver.cpp -- see EagerObserver.h.
#include "EagerObserver.h"
#include "Context.h"
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

const EagerValue& tileOf(const frontend::Value& value) { return *static_cast<const EagerValue*>(value.eager.get()); }

PyRef tupleOf(llvm::ArrayRef<frontend::Value> values);

/// (block shape, base, extents and strides).
PyRef descriptorParts(const frontend::Value& value) {
  PyRef shape = PyRef::steal(PyTuple_New(Py_ssize_t(value.type.shape.size())));
  for (size_t i = 0; shape && i < value.type.shape.size(); ++i)
    PyTuple_SetItem(shape.get(), Py_ssize_t(i), PyLong_FromLongLong(value.type.shape[i]));
  const EagerValue& tile = tileOf(value);
  PyRef makers = tupleOf({tile.makers.data(), tile.makers.size()});
  if (!shape || !makers) return {};
  return PyRef::steal(PyTuple_Pack(2, shape.get(), makers.get()));
}

PyRef tupleOf(llvm::ArrayRef<frontend::Value> values) {
  PyRef tuple = PyRef::steal(PyTuple_New(Py_ssize_t(values.size())));
  for (size_t i = 0; tuple && i < values.size(); ++i) {
    PyRef item = values[i].type.isDescriptor() ? descriptorParts(values[i]) : frontend::makeTensor(values[i]);
    if (!item) return {};
    PyTuple_SetItem(tuple.get(), Py_ssize_t(i), item.release());
  }
  return tuple;
}

/// raw_value(tensor): (element type, shape, bytes), bit for bit; None for a value that has no bytes.
PyObject* rawValue(PyObject*, PyObject* object) {
  if (!frontend::isTensor(object)) {
    PyErr_SetString(PyExc_TypeError, "raw_value() takes a tensor of eager mode");
    return nullptr;
  }
  const frontend::Value& value = frontend::tensorValue(object);
  if (!value.eager || value.type.isDescriptor() || !tileOf(value).makers.empty())
    return PyRef::borrow(Py_None).release();
  const EagerValue& tile = tileOf(value);
  PyRef shape = PyRef::steal(PyTuple_New(Py_ssize_t(value.type.shape.size())));
  for (size_t i = 0; shape && i < value.type.shape.size(); ++i)
    PyTuple_SetItem(shape.get(), Py_ssize_t(i), PyLong_FromLongLong(value.type.shape[i]));
  if (!shape) return nullptr;
  return Py_BuildValue("sOy#", value.type.element().str().c_str(), shape.get(),
                       reinterpret_cast<const char*>(tile.data), Py_ssize_t(tile.bytes));
}

/// pointer_origin(tensor): the name of the argument that its pointers were made for; None if they come from none, or if
/// it is no pointer.
PyObject* pointerOrigin(PyObject*, PyObject* object) {
  const EagerContext* context = eagerContext();
  if (!context || !frontend::isTensor(object)) return PyRef::borrow(Py_None).release();
  const frontend::Value& value = frontend::tensorValue(object);
  const int32_t buffer = value.eager && value.type.pointer ? bufferOf(value, context) : interp::kNoArgument;
  if (buffer < 0) return PyRef::borrow(Py_None).release();
  return PyUnicode_FromString(context->buffers[size_t(buffer)].name.c_str());
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
  PyRef given = tupleOf(operands);
  PyRef made =
      results ? tupleOf(llvm::ArrayRef<frontend::Value>(results->data(), results->size())) : PyRef::borrow(Py_None);
  if (!given || !made) return false;
  return bool(PyRef::steal(
      PyObject_CallFunction(observer, "sOsO", operation.str().c_str(), given.get(), text.c_str(), made.get())));
}

int addEagerObserver(PyObject* module) {
  static PyMethodDef functions[] = {
      {"raw_value", rawValue, METH_O,
       "raw_value(tensor) -> (element type, shape, bytes) of an evaluated value, or None"},
      {"pointer_origin", pointerOrigin, METH_O, "pointer_origin(tensor) -> the argument it was made for, or None"},
      {nullptr, nullptr, 0, nullptr},
  };
  return PyModule_AddFunctions(module, functions);
}

} // namespace tiletwin::python
