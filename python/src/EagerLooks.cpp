// python/src/EagerLooks.cpp -- what people see of evaluated values: numbers, NumPy arrays, parts, text, HTML.
// Here:      the hooks that frontend's tensors call, and the memory that pointers are named after.
// Not here:  how text and HTML look (python/tiletwin/eager/), operations (EagerBuilder.h).
// Invariant: looking at a value never changes it, and needs no launch.
#include "Arrays.h"
#include "EagerBuilder.h"
#include "Elements.h"
#include "Parts.h"
#include "frontend/Frontend.h"
#include "frontend/PackageObject.h"
#include "frontend/PyFunctions.h"
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

/// helper(bytes, type name, shape) of eager/; with `named`, the row of known_memory() that a pointer was made for
/// follows, negative where there is none.
PyObject* callHelper(const char* function, const Value& value, bool named) {
  PyRef helper = packageObject(function);
  const EagerValue& tile = evaluated(value);
  PyRef bytes = pyBytes(tile.data, tile.bytes), shape = pyTupleFrom(value.type.shape);
  const std::string type = value.type.element().str();
  if (!named) return call(helper, bytes, type, shape).release();
  const int row = value.type.pointer ? int(bufferOf(value, eagerContext())) : -1;
  return call(helper, bytes, type, shape, row).release();
}
PyObject* reprOf(const Value& value) { return callHelper("repr_of", value, true); }
PyObject* numpyOf(const Value& value) { return callHelper("numpy_of", value, false); }
PyObject* htmlOf(const Value& value) { return callHelper("html_of", value, true); }

/// The elements that a NumPy-like index picks, as a tensor of the same dtype; eager/looks.py says which.
PyObject* partOf(const Value& value, PyObject* index) {
  PyRef picked = call(packageObject("picked"), pyTupleFrom(value.type.shape), index);
  const char* numbers = nullptr;
  Py_ssize_t bytes = 0;
  PyObject* extents = nullptr;
  if (!picked || !PyArg_ParseTuple(picked.get(), "y#O!", &numbers, &bytes, &PyTuple_Type, &extents)) return nullptr;
  Value part;
  part.type = value.type.element();
  for (PyObject* extent : itemsOf(extents)) part.type.shape.push_back(PyLong_AsLongLong(extent));
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

/// The f32 values of the 256 patterns of an 8-bit float format, as bytes.
PyRef smallFloatTable(PyObject* name) {
  Type type;
  if (!frontend::parseTypeString(stringOf(name), type) || !type.isFp8()) {
    PyErr_Format(PyExc_ValueError, "%R is no 8-bit float type", name);
    return {};
  }
  float values[256];
  for (int code = 0; code < 256; ++code) values[code] = smallFloatValue(type, uint8_t(code));
  return pyBytes(values, sizeof values);
}

bool addMemory(const PyRef& list, const Buffer& buffer, uint64_t origin) {
  PyRef row = list ? pyTuple(buffer.name, buffer.begin, buffer.end, buffer.viewBegin, buffer.viewEnd, origin) : PyRef();
  return row && PyList_Append(list.get(), row.get()) == 0;
}

/// What the values of pointers are named after: (name, begin, end, begin and end of the view, origin) of the launch's
/// arguments, and of the registered memory at, or nearest to, one of these addresses.
PyRef knownMemory(PyObject* addresses) {
  PyRef list = pyList(std::array<int, 0>{}), asked = PyRef::steal(PySequence_Tuple(addresses));
  if (const EagerContext* context = eagerContext())
    for (size_t i = 0; i < context->buffers.size(); ++i) {
      const Buffer& buffer = context->buffers[i];
      if (!addMemory(list, buffer, i < context->origins.size() ? context->origins[i] : buffer.viewBegin)) return {};
    }
  for (PyObject* item : itemsOf(asked)) {
    const uint64_t address = PyLong_AsUnsignedLongLong(item);
    if (PyErr_Occurred()) return {};
    auto found = BufferRegistry::instance().find(uintptr_t(address));
    if (!found) found = BufferRegistry::instance().nearest(uintptr_t(address));
    if (found && !addMemory(list, *found, found->viewBegin)) return {};
  }
  return asked ? list : PyRef();
}

/// A pointer to an array's first element, as a kernel sees an argument.
PyRef eagerPointer(PyObject* object) {
  Array array;
  if (!readArray(object, factsOf(object), array)) return {};
  Type type;
  const std::string text = std::string("*") + element(array.element).typeName;
  if (!array.onDevice && frontend::parseTypeString(text, type))
    return frontend::makeTensor(eagerScalar(type, array.data));
  PyErr_Format(PyExc_ValueError, "a %s in host memory is needed for a pointer that can be used here",
               qualifiedTypeName(object).c_str());
  return {};
}

/// Programs of tiletwin.program() that this thread is in, innermost last: each with the one before.
std::vector<std::pair<std::unique_ptr<EagerContext>, EagerContext*>>& programsByHand() {
  static thread_local auto* stack = new std::vector<std::pair<std::unique_ptr<EagerContext>, EagerContext*>>;
  return *stack;
}

/// Operations belong to that program, with the memory of the launch that is being looked at.
void enterProgram(int x, int y, int z, int gridX, int gridY, int gridZ) {
  auto made = std::make_unique<EagerContext>();
  made->kernel = "eager";
  if (const EagerContext* around = eagerContext()) static_cast<EagerLaunch&>(*made) = *around;
  made->options = eagerBuilder().options();
  made->program = {x, y, z};
  made->grid = {gridX, gridY, gridZ};
  EagerContext* entered = made.get();
  programsByHand().emplace_back(std::move(made), setEagerContext(entered));
}

bool leaveProgram() {
  if (programsByHand().empty()) {
    PyErr_SetString(PyExc_RuntimeError, "no program was entered");
    return false;
  }
  setEagerContext(programsByHand().back().second);
  programsByHand().pop_back();
  return true;
}

/// ((x, y, z), grid) of the program that operations belong to, or None.
PyRef programNow() {
  const EagerContext* context = eagerContext();
  return context ? pyTuple(context->program, context->grid) : none();
}

} // namespace

bool addEagerLooks(PyObject* module) {
  frontend::EagerHooks hooks;
  hooks.defaultBuilder = [] { return &eagerBuilder(); };
  hooks.item = itemOf;
  hooks.repr = reprOf;
  hooks.numpy = numpyOf;
  hooks.part = partOf;
  hooks.html = htmlOf;
  frontend::setEagerHooks(hooks);
  return addFunctions(
      module,
      {function<"small_float_table", smallFloatTable>("small_float_table(type_name) -> bytes of 256 float32"),
       function<"known_memory", knownMemory>("known_memory(addresses) -> rows of memory that pointers are named after"),
       function<"eager_pointer", eagerPointer>("eager_pointer(array): a pointer to its first element."),
       function<"eager_enter_program", enterProgram>("eager_enter_program(x, y, z, grid x, grid y, grid z)"),
       function<"eager_leave_program", leaveProgram>("Ends what eager_enter_program() began."),
       function<"eager_program", programNow>("((x, y, z), grid) of the program at hand, or None.")});
}

} // namespace tiletwin::python
