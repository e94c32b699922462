// python/src/EagerLooks.cpp -- see EagerLooks.h.
#include "EagerLooks.h"
#include "Arrays.h"
#include "Elements.h"
#include "Interned.h"
#include "frontend/Frontend.h"
#include "frontend/PackageObject.h"
#include "frontend/Raise.h"
#include "runtime/FloatFormats.h"
#include <bit>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace tiletwin::python {

using frontend::Scalar;
using frontend::Type;
using frontend::Value;

namespace {

/// The f32 value of an 8-bit float. fp8e4b15 is fp16's layout with one exponent bit less; it has no infinity and no
/// NaN.
float smallFloatValue(const Type& type, uint8_t code) {
  if (type.scalar == Scalar::F8E4B15) return f16ToF32(uint16_t((code & 0x7F) << 7 | (code & 0x80) << 8));
  return f8ToF32(storageOf(type), code);
}

PyObject* numberOf(const Type& type, const std::byte* at) {
  const DType storage = storageOf(type);
  uint64_t bits = 0;
  std::memcpy(&bits, at, sizeOf(storage));
  switch (storage) {
  case DType::I1: return PyBool_FromLong(long(bits & 1));
  case DType::F16: return PyFloat_FromDouble(f16ToF32(uint16_t(bits)));
  case DType::BF16: return PyFloat_FromDouble(bf16ToF32(uint16_t(bits)));
  case DType::F32: return PyFloat_FromDouble(std::bit_cast<float>(uint32_t(bits)));
  case DType::F64: return PyFloat_FromDouble(std::bit_cast<double>(bits));
  default: break;
  }
  if (type.isFp8()) return PyFloat_FromDouble(smallFloatValue(type, uint8_t(bits)));
  if (!type.isSigned()) return PyLong_FromUnsignedLongLong(bits);
  int unused = 64 - 8 * int(sizeOf(storage));
  return PyLong_FromLongLong(int64_t(bits << unused) >> unused);
}

PyObject* itemOf(const Value& value) {
  if (value.type.isBlock() && value.type.numel() != 1) {
    PyErr_Format(PyExc_ValueError,
                 "a block of %lld elements is not one number; use x.numpy() for all of them, or x[i] for one",
                 (long long)value.type.numel());
    return nullptr;
  }
  return numberOf(value.type, evaluated(value).data);
}

PyRef shapeTuple(const Type& type) {
  PyRef shape = PyRef::steal(PyTuple_New(Py_ssize_t(type.shape.size())));
  for (size_t i = 0; shape && i < type.shape.size(); ++i)
    PyTuple_SetItem(shape.get(), Py_ssize_t(i), PyLong_FromLongLong(type.shape[i]));
  return shape;
}

/// helper(bytes, type name, shape) of eager/; with `named`, the row of known_memory() that a pointer was made for
/// follows, negative where there is none.
PyObject* callHelper(const char* function, const Value& value, bool named) {
  PyRef helper = packageObject(function);
  const EagerValue& tile = evaluated(value);
  PyRef shape = shapeTuple(value.type);
  if (!helper || !shape) return nullptr;
  std::string type = value.type.element().str();
  return PyObject_CallFunction(helper.get(), named ? "y#sOi" : "y#sO", reinterpret_cast<const char*>(tile.data),
                               Py_ssize_t(tile.bytes), type.c_str(), shape.get(),
                               value.type.pointer ? int(bufferOf(value, eagerContext())) : -1);
}
PyObject* reprOf(const Value& value) { return callHelper("repr_of", value, true); }
PyObject* numpyOf(const Value& value) { return callHelper("numpy_of", value, false); }
PyObject* htmlOf(const Value& value) { return callHelper("html_of", value, true); }

/// The elements that a NumPy-like index picks, as a tensor of the same dtype; eager/looks.py says which.
PyObject* partOf(const Value& value, PyObject* index) {
  PyRef helper = packageObject("picked"), shape = shapeTuple(value.type);
  PyRef picked =
      PyRef::steal(helper && shape ? PyObject_CallFunctionObjArgs(helper.get(), shape.get(), index, nullptr) : nullptr);
  const char* numbers = nullptr;
  Py_ssize_t bytes = 0;
  PyObject* extents = nullptr;
  if (!picked || !PyArg_ParseTuple(picked.get(), "y#O!", &numbers, &bytes, &PyTuple_Type, &extents)) return nullptr;
  Value part;
  part.type = value.type.element();
  for (Py_ssize_t i = 0; i < PyTuple_Size(extents); ++i)
    part.type.shape.push_back(PyLong_AsLongLong(PyTuple_GetItem(extents, i)));
  const EagerValue& from = evaluated(value);
  auto made = std::make_shared<EagerValue>(bytesOf(part.type));
  made->origin = from.origin;
  const size_t size = sizeOf(storageOf(part.type));
  for (Py_ssize_t i = 0; i < bytes / 8; ++i) {
    int64_t at;
    std::memcpy(&at, numbers + 8 * i, 8);
    std::memcpy(made->data + size * size_t(i), from.data + size * size_t(at), size);
  }
  part.eager = std::move(made);
  return frontend::makeTensor(std::move(part)).release();
}

/// small_float_table(type name): the f32 values of the 256 patterns of an 8-bit float format, as bytes.
PyObject* smallFloatTable(PyObject*, PyObject* name) {
  Type type;
  if (!frontend::parseTypeString(std::string(utf8(name)), type) || !type.isFp8()) {
    PyErr_Format(PyExc_ValueError, "%R is no 8-bit float type", name);
    return nullptr;
  }
  float values[256];
  for (int code = 0; code < 256; ++code) values[code] = smallFloatValue(type, uint8_t(code));
  return PyBytes_FromStringAndSize(reinterpret_cast<const char*>(values), sizeof values);
}

PyRef memoryRow(const Buffer& buffer, uint64_t origin) {
  return PyRef::steal(Py_BuildValue("sKKKKK", buffer.name.c_str(), (unsigned long long)buffer.begin,
                                    (unsigned long long)buffer.end, (unsigned long long)buffer.viewBegin,
                                    (unsigned long long)buffer.viewEnd, (unsigned long long)origin));
}

/// known_memory(addresses): what the values of pointers are named after: (name, begin, end, begin and end of the view,
/// origin) of the launch's arguments, and of the registered memory at, or nearest to, one of these addresses.
PyObject* knownMemory(PyObject*, PyObject* addresses) {
  PyRef list = PyRef::steal(PyList_New(0));
  if (const EagerContext* context = eagerContext())
    for (size_t i = 0; list && i < context->buffers.size(); ++i) {
      const Buffer& buffer = context->buffers[i];
      PyRef row = memoryRow(buffer, i < context->origins.size() ? context->origins[i] : buffer.viewBegin);
      if (!row || PyList_Append(list.get(), row.get()) < 0) return nullptr;
    }
  for (Py_ssize_t i = 0; list && i < PySequence_Size(addresses); ++i) {
    PyRef item = PyRef::steal(PySequence_GetItem(addresses, i));
    uint64_t address = item ? PyLong_AsUnsignedLongLong(item.get()) : 0;
    if (PyErr_Occurred()) return nullptr;
    auto found = BufferRegistry::instance().find(uintptr_t(address));
    if (!found) found = BufferRegistry::instance().nearest(uintptr_t(address));
    if (found) {
      PyRef row = memoryRow(*found, found->viewBegin);
      if (!row || PyList_Append(list.get(), row.get()) < 0) return nullptr;
    }
  }
  return list.release();
}

/// eager_pointer(array): a pointer to its first element, as a kernel sees an argument.
PyObject* eagerPointer(PyObject*, PyObject* object) {
  Array array;
  if (!readArray(object, factsOf(object), array)) return nullptr;
  Type type;
  const std::string text = std::string("*") + element(array.element).typeName;
  if (array.onDevice || !frontend::parseTypeString(text, type)) {
    PyErr_Format(PyExc_ValueError, "a %s in host memory is needed for a pointer that can be used here",
                 typeName(object).c_str());
    return nullptr;
  }
  return frontend::makeTensor(eagerScalar(type, array.data)).release();
}

/// Programs of tiletwin.program() that this thread is in, innermost last: each with the one before.
std::vector<std::pair<std::unique_ptr<EagerContext>, EagerContext*>>& programsByHand() {
  static thread_local auto* stack = new std::vector<std::pair<std::unique_ptr<EagerContext>, EagerContext*>>;
  return *stack;
}

/// eager_enter_program(x, y, z, grid x, grid y, grid z): operations belong to that program, with the memory of the
/// launch that is being looked at.
PyObject* enterProgram(PyObject*, PyObject* args) {
  auto made = std::make_unique<EagerContext>();
  made->options = eagerBuilder().options();
  if (const EagerContext* around = eagerContext()) {
    made->launch = around->launch;
    made->kernel = around->kernel;
    made->buffers = around->buffers;
    made->origins = around->origins;
  } else {
    made->kernel = "eager";
  }
  auto& [x, y, z] = made->program;
  auto& [gridX, gridY, gridZ] = made->grid;
  if (!PyArg_ParseTuple(args, "iiiiii:eager_enter_program", &x, &y, &z, &gridX, &gridY, &gridZ)) return nullptr;
  EagerContext* entered = made.get();
  programsByHand().emplace_back(std::move(made), setEagerContext(entered));
  return PyRef::borrow(Py_None).release();
}

PyObject* leaveProgram(PyObject*, PyObject*) {
  if (programsByHand().empty()) {
    PyErr_SetString(PyExc_RuntimeError, "no program was entered");
    return nullptr;
  }
  setEagerContext(programsByHand().back().second);
  programsByHand().pop_back();
  return PyRef::borrow(Py_None).release();
}

/// eager_program(): ((x, y, z), grid) of the program that operations belong to, or None.
PyObject* programNow(PyObject*, PyObject*) {
  const EagerContext* context = eagerContext();
  if (!context) return PyRef::borrow(Py_None).release();
  const auto& [x, y, z] = context->program;
  const auto& [gridX, gridY, gridZ] = context->grid;
  return Py_BuildValue("(iii)(iii)", x, y, z, gridX, gridY, gridZ);
}

} // namespace

int addEagerLooks(PyObject* module, frontend::Builder* (*defaultBuilder)()) {
  static PyMethodDef functions[] = {
      {"small_float_table", smallFloatTable, METH_O, "small_float_table(type_name) -> bytes of 256 float32"},
      {"known_memory", knownMemory, METH_O, "known_memory(addresses) -> rows of memory that pointers are named after"},
      {"eager_pointer", eagerPointer, METH_O, "eager_pointer(array): a pointer to its first element."},
      {"eager_enter_program", enterProgram, METH_VARARGS, "eager_enter_program(x, y, z, grid x, grid y, grid z)"},
      {"eager_leave_program", leaveProgram, METH_NOARGS, "Ends what eager_enter_program() began."},
      {"eager_program", programNow, METH_NOARGS, "((x, y, z), grid) of the program at hand, or None."},
      {nullptr, nullptr, 0, nullptr},
  };
  if (PyModule_AddFunctions(module, functions) < 0) return -1;
  frontend::EagerHooks hooks;
  hooks.defaultBuilder = defaultBuilder;
  hooks.item = itemOf;
  hooks.repr = reprOf;
  hooks.numpy = numpyOf;
  hooks.part = partOf;
  hooks.html = htmlOf;
  frontend::setEagerHooks(hooks);
  return 0;
}

} // namespace tiletwin::python
