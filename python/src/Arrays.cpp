// python/src/Arrays.cpp -- see Arrays.h. One function per way an object can show its memory.
#include "Arrays.h"
#include "DeviceMemory.h"
#include "Dlpack.h"
#include "Elements.h"
#include "Interned.h"
#include <sys/uio.h>
#include <unistd.h>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tiletwin::python {
namespace {

bool typeHas(PyTypeObject* type, PyObject* name) {
  return bool(attributeIfAny(reinterpret_cast<PyObject*>(type), name));
}

/// True if a class of that module and name is among the bases.
bool derivesFrom(PyTypeObject* type, std::string_view module, std::string_view name) {
  PyRef mro = attributeIfAny(reinterpret_cast<PyObject*>(type), "__mro__");
  for (PyObject* base : itemsOf(mro))
    if (stringOf(attributeIfAny(base, "__name__").get()) == name && moduleNameOf(base).starts_with(module)) return true;
  return false;
}

TypeFacts inspectType(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  TypeFacts facts;
  auto is = [&](ObjectKind kind) {
    facts.kind = kind;
    return facts;
  };
  if (object == Py_None) return is(ObjectKind::None);
  if (PyBool_Check(object)) return is(ObjectKind::Bool);
  if (PyLong_Check(object)) return is(ObjectKind::Int);
  if (derivesFrom(type, "numpy", "generic")) return is(ObjectKind::NumPyScalar);
  if (PyFloat_Check(object)) return is(ObjectKind::Float);
  if (PyUnicode_Check(object)) return is(ObjectKind::String);
  if (PyTuple_Check(object) || PyList_Check(object)) return is(ObjectKind::Tuple);
  if (derivesFrom(type, "tiletwin", "constexpr")) return is(ObjectKind::Constexpr);
  if (derivesFrom(type, "tiletwin", "JITCallable") || derivesFrom(type, "tiletwin", "builtin"))
    return is(ObjectKind::JitFunction);
  if (derivesFrom(type, "tiletwin", "TensorDescriptor")) return is(ObjectKind::Descriptor);
  if (derivesFrom(type, "tiletwin", "TensorWrapper")) return is(ObjectKind::Reinterpreted);
  if (derivesFrom(type, "tiletwin", "dtype")) return is(ObjectKind::Other);
  facts.hasStorage = typeHas(type, names::untypedStorage());
  if (PyRef capsule = attribute(reinterpret_cast<PyObject*>(type), names::dlpackExchange())) {
    auto* table = static_cast<const dlpack::ExchangeTable*>(PyCapsule_GetPointer(capsule.get(), "dlpack_exchange_api"));
    if (table && table->version.major == 1 && table->tensorFromPython) {
      facts.exchange = table;
      return is(ObjectKind::ExchangeTable);
    }
  }
  PyErr_Clear();
  if (facts.hasStorage) return is(ObjectKind::Torch);
  if (derivesFrom(type, "numpy", "ndarray")) return is(ObjectKind::NumPyArray);
  if (typeHas(type, names::dataPtr())) return is(ObjectKind::DataPointer);
  auto has = [&](PyObject* name) { return PyObject_HasAttr(object, name) == 1; };
  if (has(names::dataPtr()) && has(names::dtype())) return is(ObjectKind::DataPointer);
  if (has(names::cudaArrayInterface())) return is(ObjectKind::CudaArrayInterface);
  if (has(names::arrayInterface())) return is(ObjectKind::ArrayInterface);
  if (has(names::dlpack())) return is(ObjectKind::DlpackMethod);
  if (PyObject_CheckBuffer(object) && !PyBytes_Check(object)) return is(ObjectKind::Buffer);
  if (PyIndex_Check(object)) return is(ObjectKind::IndexLike);
  return facts;
}

bool viewShapesAreKept = false;

/// Sets the view's extents from shape and byte strides; `strides` null: row-major.
void setView(Array& out, int ndim, const int64_t* shape, const int64_t* strides, int64_t strideUnit) {
  int64_t itemBytes = element(out.element).bytes, low = 0, high = 0, numel = 1;
  for (int i = ndim - 1; i >= 0; --i) {
    if (shape[i] > 0) {
      int64_t reach = (shape[i] - 1) * (strides ? strides[i] * strideUnit : numel * itemBytes);
      (reach < 0 ? low : high) += reach;
    }
    numel *= shape[i];
  }
  out.viewBegin = out.data + low;
  out.viewEnd = numel == 0 ? out.viewBegin : out.data + high + itemBytes;
  if (numel == 0) out.viewBegin = out.viewEnd = out.data;
  if (!viewShapesAreKept) return;
  std::vector<int64_t> steps(static_cast<size_t>(ndim));
  int64_t dense = itemBytes;
  for (size_t i = size_t(ndim); i-- > 0; dense *= shape[i]) steps[i] = strides ? strides[i] * strideUnit : dense;
  out.view = std::make_shared<const ViewShape>(out.data, std::span(shape, size_t(ndim)), steps, itemBytes);
}

void storageIsView(Array& out) {
  out.begin = out.viewBegin;
  out.end = out.viewEnd;
}

bool unsupportedElement(PyObject* object, const std::string& what) {
  PyErr_Format(
      PyExc_TypeError,
      "a %s with elements of type %s cannot be passed to a kernel; the language has bool, (u)int8 to "
      "(u)int64, float8 (e5m2, e4m3fn, e4m3b11fnuz, e4m3fnuz, e5m2fnuz), float16, bfloat16, float32 and float64",
      qualifiedTypeName(object).c_str(), what.c_str());
  return false;
}

bool addressFrom(PyObject* object, PyObject* method, uintptr_t& out) {
  PyRef number = callMethod(object, method);
  if (number && !PyLong_Check(number.get())) number = PyRef::steal(PyNumber_Index(number.get()));
  if (!number) return false;
  out = PyLong_AsSize_t(number.get());
  return out != uintptr_t(-1) || !PyErr_Occurred();
}

bool setTorchStorage(PyObject* object, Array& out) {
  PyRef storage = callMethod(object, names::untypedStorage());
  uintptr_t bytes = 0;
  if (!storage || !addressFrom(storage.get(), names::nbytes(), bytes)) return false;
  if (bytes == out.viewEnd - out.viewBegin) // the view is all of it: no need to ask where it begins
    out.begin = out.viewBegin;
  else if (!addressFrom(storage.get(), names::dataPtr(), out.begin))
    return false;
  out.end = out.begin + bytes;
  return true;
}

bool fromDlpackTensor(PyObject* object, const dlpack::Tensor& tensor, Array& out) {
  out.onDevice = tensor.device.type != dlpack::kCpu && tensor.device.type != dlpack::kCudaHost;
  out.element = elementByDlpack(tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes);
  if (out.element < 0)
    return unsupportedElement(object, "DLPack (code " + std::to_string(tensor.dtype.code) + ", " +
                                          std::to_string(tensor.dtype.bits) + " bits, " +
                                          std::to_string(tensor.dtype.lanes) + " lanes)");
  out.data = reinterpret_cast<uintptr_t>(tensor.data) + tensor.byteOffset;
  setView(out, tensor.ndim, tensor.shape, tensor.strides, element(out.element).bytes);
  return true;
}

bool readTorchSlow(PyObject* object, Array& out) {
  PyRef dtype = attribute(object, names::dtype());
  if (!dtype || (out.element = elementOfDtype(dtype.get())) < 0) return false;
  if (!addressFrom(object, names::dataPtr(), out.data)) return false;
  if (PyRef onCpu = attribute(object, names::isCpu())) {
    out.onDevice = PyObject_IsTrue(onCpu.get()) == 0;
  } else { // no tensor, but a library's view of one
    PyErr_Clear();
    out.onDevice = out.data && isDeviceMemory(out.data).value_or(false);
  }
  PyRef shape = attribute(object, names::shape()), strides = callMethod(object, names::stride());
  if (!shape || !strides) return false;
  std::vector<int64_t> sizes, steps;
  if (!integersOf(shape, sizes) || !integersOf(strides, steps)) return false;
  setView(out, int(sizes.size()), sizes.data(), steps.data(), element(out.element).bytes);
  return setTorchStorage(object, out);
}

bool readExchange(PyObject* object, const TypeFacts& facts, Array& out) {
  dlpack::Tensor tensor{};
  auto* table = static_cast<const dlpack::ExchangeTable*>(facts.exchange);
  if (table->tensorFromPython(object, &tensor) != 0) {
    if (!facts.hasStorage) return false;
    PyErr_Clear(); // conjugate views, element types DLPack has no code for
    return readTorchSlow(object, out);
  }
  if (!fromDlpackTensor(object, tensor, out)) return false;
  if (facts.hasStorage && !out.onDevice) return setTorchStorage(object, out);
  storageIsView(out);
  return true;
}

/// Storage of a NumPy view: the extents of the array at the end of the chain of bases.
bool setNumPyStorage(PyObject* object, Array& out) {
  storageIsView(out);
  PyRef base = attribute(object, names::base());
  PyRef last;
  while (base && base.get() != Py_None) {
    last = base;
    if (factsOf(base.get()).kind != ObjectKind::NumPyArray) break;
    base = attribute(base.get(), names::base());
  }
  if (!base) return false;
  if (!last || !PyObject_CheckBuffer(last.get())) return true;
  Py_buffer view;
  if (PyObject_GetBuffer(last.get(), &view, PyBUF_STRIDES) != 0) {
    PyErr_Clear();
    return true;
  }
  Array storage;
  storage.element = elementByName("uint8");
  storage.data = reinterpret_cast<uintptr_t>(view.buf);
  if (view.strides) {
    std::vector<int64_t> shape(view.shape, view.shape + view.ndim);
    std::vector<int64_t> strides(view.strides, view.strides + view.ndim);
    setView(storage, view.ndim, shape.data(), strides.data(), 1);
    storage.viewEnd += view.len ? view.itemsize - 1 : 0;
  } else { // of ctypes: they have none, whatever one asks for
    storage.viewBegin = storage.data;
    storage.viewEnd = storage.data + uintptr_t(view.len);
  }
  PyBuffer_Release(&view);
  if (storage.viewBegin <= out.begin && out.end <= storage.viewEnd) { // as_strided views may lie outside
    out.begin = storage.viewBegin;
    out.end = storage.viewEnd;
  }
  return true;
}

bool readInterface(PyObject* object, PyObject* name, Array& out);

bool readBuffer(PyObject* object, bool numpy, Array& out) {
  Py_buffer view;
  if (PyObject_GetBuffer(object, &view, PyBUF_STRIDES | PyBUF_FORMAT) != 0) {
    if (!numpy) return false;
    PyErr_Clear(); // element types without a buffer format (ml_dtypes)
    return readInterface(object, names::arrayInterface(), out);
  }
  out.element = elementByFormat(view.format, view.itemsize);
  if (out.element < 0) {
    std::string format = view.format ? view.format : "B";
    PyBuffer_Release(&view);
    if (numpy) return readInterface(object, names::arrayInterface(), out);
    return unsupportedElement(object, "'" + format + "'");
  }
  out.data = reinterpret_cast<uintptr_t>(view.buf);
  out.readOnly = view.readonly;
  static_assert(sizeof(Py_ssize_t) == sizeof(int64_t));
  setView(out, view.ndim, reinterpret_cast<const int64_t*>(view.shape), reinterpret_cast<const int64_t*>(view.strides),
          1);
  PyBuffer_Release(&view);
  if (numpy) return setNumPyStorage(object, out);
  storageIsView(out);
  return true;
}

/// True if one byte at `address` can be read by this process.
bool isHostMemory(uintptr_t address) {
  char byte;
  iovec local{&byte, 1}, remote{reinterpret_cast<void*>(address), 1};
  return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == 1;
}

bool readInterface(PyObject* object, PyObject* name, Array& out) {
  PyRef dict = attribute(object, name);
  if (!dict && PyErr_ExceptionMatches(PyExc_AttributeError)) { // objects of one type may differ in which one they have
    PyErr_Clear();
    name = name == names::arrayInterface() ? names::cudaArrayInterface() : names::arrayInterface();
    dict = attribute(object, name);
  }
  if (!dict) return false;
  auto get = [&](const char* key) { return PyRef::steal(PyMapping_GetItemString(dict.get(), key)); };
  PyRef data = get("data"), shape = get("shape"), typestr = get("typestr");
  if (!data || !shape || !typestr) return false;
  PyRef strides = get("strides");
  PyErr_Clear();
  if (!PyTuple_Check(data.get()) || PyTuple_Size(data.get()) != 2 || !PyTuple_Check(shape.get())) {
    PyErr_Format(PyExc_TypeError, "%s of a %s needs 'data' as (address, read_only) and 'shape' as a tuple",
                 stringOf(name).c_str(), qualifiedTypeName(object).c_str());
    return false;
  }
  out.data = uintptr_t(PyLong_AsUnsignedLongLong(PyTuple_GetItem(data.get(), 0)));
  out.readOnly = PyObject_IsTrue(PyTuple_GetItem(data.get(), 1)) == 1;
  std::string type = stringOf(typestr.get());
  // "<f4": byte order, kind, bytes. Element types NumPy has no letter for are named by dtype.name only.
  constexpr std::string_view kKinds = "iuf   b"; // at their DLPack codes
  if (type.size() == 3 && type[0] != '>' && type[1] != ' ')
    out.element = elementByDlpack(int(kKinds.find(type[1])), 8 * (type[2] - '0'), 1);
  if (out.element < 0) {
    PyRef dtypeName = attributeIfAny(attributeIfAny(object, names::dtype()).get(), "name");
    if (dtypeName && type[0] != '>') out.element = elementByName(utf8(dtypeName.get()));
    if (out.element < 0)
      return unsupportedElement(object, dtypeName ? stringOf(dtypeName.get()) + " (" + type + ")" : type);
  }
  std::vector<int64_t> sizes, steps;
  if (!integersOf(shape, sizes) || (strides && PyTuple_Check(strides.get()) && !integersOf(strides, steps)))
    return false;
  setView(out, int(sizes.size()), sizes.data(), steps.empty() ? nullptr : steps.data(), 1);
  storageIsView(out);
  if (name == names::cudaArrayInterface() && out.viewEnd > out.viewBegin) {
    const std::optional<bool> isDevices = isDeviceMemory(out.viewBegin);
    out.onDevice = isDevices ? *isDevices : !isHostMemory(out.viewBegin);
  }
  if (factsOf(object).kind == ObjectKind::NumPyArray) return setNumPyStorage(object, out);
  return true;
}

bool readDlpackMethod(PyObject* object, Array& out) {
  out.owner = callMethod(object, names::dlpack());
  if (!out.owner) return false;
  const dlpack::Tensor* tensor = nullptr;
  if (PyCapsule_IsValid(out.owner.get(), "dltensor_versioned")) {
    auto* managed =
        static_cast<dlpack::ManagedTensorVersioned*>(PyCapsule_GetPointer(out.owner.get(), "dltensor_versioned"));
    tensor = &managed->tensor;
    out.readOnly = managed->flags & dlpack::kReadOnlyFlag;
  } else if (PyCapsule_IsValid(out.owner.get(), "dltensor")) {
    tensor = static_cast<const dlpack::Tensor*>(
        PyCapsule_GetPointer(out.owner.get(), "dltensor")); // first member of DLManagedTensor
  } else {
    PyErr_Format(PyExc_TypeError, "__dlpack__() of a %s returned no DLPack capsule", qualifiedTypeName(object).c_str());
    return false;
  }
  if (!fromDlpackTensor(object, *tensor, out)) return false;
  storageIsView(out);
  return true;
}

bool readDataPointer(PyObject* object, Array& out) {
  PyRef dtype = attribute(object, names::dtype());
  if (!dtype || (out.element = elementOfDtype(dtype.get())) < 0 || !addressFrom(object, names::dataPtr(), out.data))
    return false;
  out.onDevice = out.data && isDeviceMemory(out.data).value_or(false); // such objects do not say where their memory is
  uintptr_t bytes = 0;
  PyRef nbytes = attributeIfAny(object, names::nbytes());
  if (nbytes && PyLong_Check(nbytes.get())) {
    bytes = PyLong_AsSize_t(nbytes.get());
  } else {
    uintptr_t count = 0;
    if (PyObject_HasAttr(object, names::numel()) != 1 || !addressFrom(object, names::numel(), count)) {
      PyErr_Clear();
      out.extentsKnown = false;
      return true;
    }
    bytes = count * element(out.element).bytes;
  }
  if (PyErr_Occurred()) return false;
  out.viewBegin = out.data;
  out.viewEnd = out.data + bytes;
  storageIsView(out);
  return true;
}

bool readReinterpreted(PyObject* object, Array& out) {
  PyRef base = attribute(object, names::base()), dtype = attribute(object, names::dtype());
  if (!base || !dtype || !readArray(base.get(), factsOf(base.get()), out)) return false;
  out.element = elementOfDtype(dtype.get());
  return out.element >= 0;
}

} // namespace

const TypeFacts& factsOf(PyObject* object) {
  // Types are kept alive, so an address never comes to mean another type. Never destroyed: Python is gone when static
  // objects go.
  struct Known {
    PyTypeObject* type;
    TypeFacts facts;
  };
  static auto& known = *new std::unordered_map<PyTypeObject*, std::pair<PyRef, TypeFacts>>;
  static Known recent[8] = {};
  PyTypeObject* type = Py_TYPE(object);
  Known& slot = recent[(reinterpret_cast<uintptr_t>(type) >> 5) & 7];
  if (slot.type == type) return slot.facts;
  auto found = known.find(type);
  if (found == known.end()) {
    TypeFacts facts = inspectType(object);
    found = known.try_emplace(type, PyRef::borrow(reinterpret_cast<PyObject*>(type)), facts).first;
  }
  slot = {type, found->second.second};
  return found->second.second;
}

bool readArray(PyObject* object, const TypeFacts& facts, Array& out) {
  switch (facts.kind) {
  case ObjectKind::ExchangeTable: return readExchange(object, facts, out);
  case ObjectKind::Torch: return readTorchSlow(object, out);
  case ObjectKind::NumPyArray: return readBuffer(object, true, out);
  case ObjectKind::Buffer: return readBuffer(object, false, out);
  case ObjectKind::Reinterpreted: return readReinterpreted(object, out);
  case ObjectKind::DataPointer: return readDataPointer(object, out);
  case ObjectKind::ArrayInterface: return readInterface(object, names::arrayInterface(), out);
  case ObjectKind::CudaArrayInterface: return readInterface(object, names::cudaArrayInterface(), out);
  case ObjectKind::DlpackMethod: return readDlpackMethod(object, out);
  default: break;
  }
  PyErr_Format(PyExc_TypeError, "a %s is not an array", qualifiedTypeName(object).c_str());
  return false;
}

void keepViewShapes(bool keep) { viewShapesAreKept = keep; }

bool integersOf(const PyRef& sequence, std::vector<int64_t>& out) {
  PyRef items = PyRef::steal(sequence ? PySequence_Tuple(sequence.get()) : nullptr);
  for (PyObject* item : itemsOf(items)) out.push_back(PyLong_AsLongLong(item));
  return items && !PyErr_Occurred();
}

int elementOfDtype(PyObject* dtype) {
  // Singletons, most of them; kept alive, so an address means one dtype. Never destroyed, as types are, but bounded: some
  // arrays make a dtype whenever they are asked for it.
  constexpr size_t kMostKnown = 64;
  static auto& known = *new std::unordered_map<PyObject*, std::pair<PyRef, int>>;
  auto found = known.find(dtype);
  if (found != known.end()) return found->second.second;
  int index = elementByName(textOf(dtype));
  if (index < 0) {
    unsupportedElement(dtype, textOf(dtype));
    return -1;
  }
  if (known.size() >= kMostKnown) auto forgotten = std::exchange(known, {}); // a dtype's end may call this function
  known.try_emplace(dtype, PyRef::borrow(dtype), index);
  return index;
}

} // namespace tiletwin::python
