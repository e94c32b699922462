// python/cuda/KernelObject.cpp -- see KernelObject.h.
#include "KernelObject.h"
#include "PreparedLaunch.h"
#include "RaiseError.h"
#include "runtime/cuda/Stream.h"

namespace tiletwin::python {
namespace {

struct KernelObject {
  PyObject ob_base;
  std::shared_ptr<const cuda::Kernel>* kernel;
};
struct ModuleObject {
  PyObject ob_base;
  std::shared_ptr<const cuda::Module>* module;
};
PyObject *kernelType = nullptr, *moduleType = nullptr;

const std::shared_ptr<const cuda::Module>& moduleOf(PyObject* self) {
  return *reinterpret_cast<ModuleObject*>(self)->module;
}

const std::shared_ptr<const cuda::Kernel>& kernelOf(PyObject* self) {
  return *reinterpret_cast<KernelObject*>(self)->kernel;
}

void release(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  PyRef::steal(reinterpret_cast<PyObject*>(type)); // an object of a heap type owns its type
}
void deallocateKernel(PyObject* self) {
  delete reinterpret_cast<KernelObject*>(self)->kernel;
  release(self);
}
void deallocateModule(PyObject* self) {
  delete reinterpret_cast<ModuleObject*>(self)->module;
  release(self);
}

/// kernel(entry) -> Kernel
PyObject* kernel(PyObject* self, PyObject* args) {
  const char* entry;
  if (!PyArg_ParseTuple(args, "s:kernel", &entry)) return nullptr;
  std::shared_ptr<const cuda::Kernel> found;
  if (!withoutGil([&] { found = cuda::Kernel::find(moduleOf(self), entry); })) return nullptr;
  PyObject* object = PyType_GenericAlloc(reinterpret_cast<PyTypeObject*>(kernelType), 0);
  if (object)
    reinterpret_cast<KernelObject*>(object)->kernel = new std::shared_ptr<const cuda::Kernel>(std::move(found));
  return object;
}

PyObject* entries(PyObject* self, PyObject*) {
  std::vector<std::string> names;
  if (!withoutGil([&] { names = moduleOf(self)->entries(); })) return nullptr;
  PyRef list = PyRef::steal(PyList_New(0));
  for (const std::string& name : names) {
    PyRef word = PyRef::steal(PyUnicode_FromString(name.c_str()));
    if (!list || !word || PyList_Append(list.get(), word.get()) < 0) return nullptr;
  }
  return list.release();
}

/// variable(name) -> (address, bytes) of a .global variable.
PyObject* variable(PyObject* self, PyObject* args) {
  const char* name;
  if (!PyArg_ParseTuple(args, "s:variable", &name)) return nullptr;
  std::pair<cuda::DevicePointer, size_t> place{};
  if (!withoutGil([&] { place = moduleOf(self)->variable(name); })) return nullptr;
  return Py_BuildValue("(Kn)", place.first, Py_ssize_t(place.second));
}

PyObject* log(PyObject* self, void*) {
  const std::string& text = moduleOf(self)->log();
  return PyUnicode_DecodeUTF8(text.data(), Py_ssize_t(text.size()), "replace");
}

/// launch(grid, block, cluster, shared, stream, parameters[, cooperative, programmatic]): `parameters` is one block of bytes.
PyObject* launch(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  if (count != 6 && count != 8) {
    PyErr_SetString(PyExc_TypeError, "launch(grid, block, cluster, shared, stream, parameters[, cooperative, "
                                     "programmatic])");
    return nullptr;
  }
  cuda::LaunchShape shape;
  uint64_t shared = 0, stream = 0;
  char* bytes = nullptr;
  Py_ssize_t size = 0;
  if (!readSizes("grid", args[0], shape.grid) || !readSizes("block", args[1], shape.block) ||
      !readSizes("cluster", args[2], shape.cluster) || !readNumber("shared", args[3], shared) ||
      !readNumber("stream", args[4], stream) || PyBytes_AsStringAndSize(args[5], &bytes, &size) < 0)
    return nullptr;
  if (count == 8) {
    shape.cooperative = PyObject_IsTrue(args[6]) == 1;
    shape.programmatic = PyObject_IsTrue(args[7]) == 1;
  }
  shape.sharedBytes = uint32_t(std::min<uint64_t>(shared, UINT32_MAX));
  shape.stream = cuda::streamOf(stream);
  const std::span<const std::byte> parameters(reinterpret_cast<const std::byte*>(bytes), size_t(size));
  if (!withoutGil([&] { kernelOf(self)->launchBlock(shape, parameters); })) return nullptr;
  return PyRef::borrow(Py_None).release();
}

/// prepare(signature, block, cluster, shared, cooperative, programmatic) -> Prepared
PyObject* prepare(PyObject* self, PyObject* args) {
  PyObject *signature, *block, *cluster;
  unsigned long long shared;
  int cooperative, programmatic;
  if (!PyArg_ParseTuple(args, "O!OOKpp:prepare", &PyTuple_Type, &signature, &block, &cluster, &shared, &cooperative,
                        &programmatic))
    return nullptr;
  cuda::LaunchShape shape;
  if (!readSizes("block", block, shape.block) || !readSizes("cluster", cluster, shape.cluster)) return nullptr;
  shape.sharedBytes = uint32_t(std::min<unsigned long long>(shared, UINT32_MAX));
  shape.cooperative = cooperative != 0;
  shape.programmatic = programmatic != 0;
  return makePrepared(kernelOf(self), shape, signature);
}

PyObject* residentBlocks(PyObject* self, PyObject* args) {
  unsigned threads, shared;
  if (!PyArg_ParseTuple(args, "II:resident_blocks", &threads, &shared)) return nullptr;
  int blocks = 0;
  if (!withoutGil([&] { blocks = kernelOf(self)->residentBlocks(threads, shared); })) return nullptr;
  return PyLong_FromLong(blocks);
}

PyObject* name(PyObject* self, void*) { return PyUnicode_FromString(kernelOf(self)->name().c_str()); }
PyObject* device(PyObject* self, void*) { return PyLong_FromLong(kernelOf(self)->device().ordinal()); }
PyObject* attributes(PyObject* self, void*) {
  const cuda::KernelAttributes& a = kernelOf(self)->attributes();
  return Py_BuildValue("{s:i,s:i,s:i,s:i,s:i,s:i,s:i}", "registers", a.registers, "local_bytes", a.localBytes,
                       "shared_bytes", a.sharedBytes, "const_bytes", a.constBytes, "max_threads", a.maxThreads,
                       "capability", a.capability, "max_dynamic_shared", a.maxDynamicShared);
}

/// [(offset, bytes)], or None where nobody tells.
PyObject* parameters(PyObject* self, void*) {
  const cuda::Kernel& kernel = *kernelOf(self);
  if (!kernel.knowsParameters()) return PyRef::borrow(Py_None).release();
  PyRef list = PyRef::steal(PyList_New(0));
  for (const cuda::ParameterPlace& place : kernel.parameters()) {
    PyRef row = PyRef::steal(Py_BuildValue("(II)", place.offset, place.bytes));
    if (!list || !row || PyList_Append(list.get(), row.get()) < 0) return nullptr;
  }
  return list.release();
}

PyMethodDef kMethods[] = {
    {"launch", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(launch)), METH_FASTCALL,
     "launch(grid, block, cluster, shared, stream, parameters[, cooperative, programmatic])"},
    {"prepare", prepare, METH_VARARGS,
     "prepare(signature, block, cluster, shared, cooperative, programmatic) -> Prepared"},
    {"resident_blocks", residentBlocks, METH_VARARGS, "resident_blocks(threads, shared): of a multiprocessor."},
    {nullptr, nullptr, 0, nullptr},
};
PyGetSetDef kMembers[] = {
    {"name", name, nullptr, "Of the entry.", nullptr},
    {"device", device, nullptr, "Number of its GPU.", nullptr},
    {"attributes", attributes, nullptr, "What the compiler made of it, a dict.", nullptr},
    {"parameters", parameters, nullptr, "(offset, bytes) of each parameter; None: unknown.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};
PyType_Slot kSlots[] = {
    {Py_tp_dealloc, reinterpret_cast<void*>(deallocateKernel)},
    {Py_tp_methods, kMethods},
    {Py_tp_getset, kMembers},
    {Py_tp_doc, const_cast<char*>("An entry of a module, loaded on a GPU.")},
    {0, nullptr},
};
PyType_Spec kSpec = {"tiletwin._cuda.Kernel", sizeof(KernelObject), 0,
                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, kSlots};

PyMethodDef kModuleMethods[] = {
    {"kernel", kernel, METH_VARARGS, "kernel(entry) -> Kernel"},
    {"entries", entries, METH_NOARGS, "Names of the module's entries."},
    {"variable", variable, METH_VARARGS, "variable(name) -> (address, bytes) of a .global variable."},
    {nullptr, nullptr, 0, nullptr},
};
PyGetSetDef kModuleMembers[] = {
    {"log", log, nullptr, "What the driver's compiler said.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};
PyType_Slot kModuleSlots[] = {
    {Py_tp_dealloc, reinterpret_cast<void*>(deallocateModule)},
    {Py_tp_methods, kModuleMethods},
    {Py_tp_getset, kModuleMembers},
    {Py_tp_doc, const_cast<char*>("PTX or a cubin, loaded on a GPU.")},
    {0, nullptr},
};
PyType_Spec kModuleSpec = {"tiletwin._cuda.Module", sizeof(ModuleObject), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, kModuleSlots};

} // namespace

int addKernel(PyObject* module) {
  if (!kernelType) kernelType = PyType_FromSpec(&kSpec);
  if (!moduleType) moduleType = PyType_FromSpec(&kModuleSpec);
  if (!kernelType || !moduleType || PyModule_AddObjectRef(module, "Kernel", kernelType) < 0) return -1;
  return PyModule_AddObjectRef(module, "Module", moduleType);
}

PyObject* makeModule(std::shared_ptr<const cuda::Module> module) {
  PyObject* object = PyType_GenericAlloc(reinterpret_cast<PyTypeObject*>(moduleType), 0);
  if (object)
    reinterpret_cast<ModuleObject*>(object)->module = new std::shared_ptr<const cuda::Module>(std::move(module));
  return object;
}

bool readNumber(const char* what, PyObject* object, uint64_t& number) {
  number = PyLong_AsUnsignedLongLong(object);
  if (number != uint64_t(-1) || !PyErr_Occurred()) return true;
  PyErr_Format(PyExc_ValueError, "%s has to be a whole number from 0 to 2^64 - 1, not %R", what, object);
  return false;
}

bool readSizes(const char* what, PyObject* tuple, std::array<uint32_t, 3>& sizes) {
  if (!PyTuple_Check(tuple) || PyTuple_Size(tuple) != 3) {
    PyErr_Format(PyExc_TypeError, "%s has to be a tuple of three numbers, not %R", what, tuple);
    return false;
  }
  for (Py_ssize_t i = 0; i < 3; ++i) {
    uint64_t number = 0;
    if (!readNumber(what, PyTuple_GetItem(tuple, i), number)) return false;
    if (number > UINT32_MAX) {
      PyErr_Format(PyExc_ValueError, "%s has to have numbers below 2^32, not %R", what, tuple);
      return false;
    }
    sizes[size_t(i)] = uint32_t(number);
  }
  return true;
}

} // namespace tiletwin::python
