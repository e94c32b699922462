// python/cuda/MemoryObjects.cpp -- see MemoryObjects.h.
#include "MemoryObjects.h"
#include "KernelObject.h"
#include "RaiseError.h"
#include "runtime/cuda/Memory.h"
#include "runtime/cuda/Stream.h"
#include <memory>

namespace tiletwin::python {
namespace {

/// A Python object that owns one C++ object.
template <class T> struct Owner {
  PyObject ob_base;
  T* owned;
  static T& of(PyObject* self) { return *reinterpret_cast<Owner*>(self)->owned; }
  static void deallocate(PyObject* self) {
    PyTypeObject* type = Py_TYPE(self);
    std::unique_ptr<T> owned(reinterpret_cast<Owner*>(self)->owned);
    if (owned) withoutGil([&] { owned.reset(); }); // freeing may wait for the GPU
    reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
    PyRef::steal(reinterpret_cast<PyObject*>(type)); // an object of a heap type owns its type
  }
  static PyObject* make(PyObject* type, std::unique_ptr<T> owned) {
    PyObject* object = PyType_GenericAlloc(reinterpret_cast<PyTypeObject*>(type), 0);
    if (object) reinterpret_cast<Owner*>(object)->owned = owned.release();
    return object;
  }
};
using MemoryOwner = Owner<cuda::DeviceMemory>;
using EventOwner = Owner<cuda::Event>;
PyObject *memoryType = nullptr, *eventType = nullptr;

/// The bytes of an object that shows its memory, while it lives.
class HostBytes {
public:
  HostBytes(PyObject* object, int flags) : valid_(PyObject_GetBuffer(object, &view_, flags) == 0) {}
  ~HostBytes() {
    if (valid_) PyBuffer_Release(&view_);
  }
  HostBytes(const HostBytes&) = delete;
  HostBytes& operator=(const HostBytes&) = delete;
  explicit operator bool() const { return valid_; }
  void* data() const { return view_.buf; }
  size_t bytes() const { return size_t(view_.len); }

private:
  Py_buffer view_{};
  bool valid_;
};

PyObject* address(PyObject* self, void*) { return PyLong_FromUnsignedLongLong(MemoryOwner::of(self).address()); }
PyObject* bytes(PyObject* self, void*) { return PyLong_FromSize_t(MemoryOwner::of(self).bytes()); }
PyObject* device(PyObject* self, void*) { return PyLong_FromLong(MemoryOwner::of(self).device().ordinal()); }

PyObject* none() { return PyRef::borrow(Py_None).release(); }

PyObject* recordEvent(PyObject* self, PyObject* stream) {
  uint64_t number = 0;
  if (!readNumber("stream", stream, number)) return nullptr;
  return withoutGil([&] { EventOwner::of(self).record(cuda::streamOf(number)); }) ? none() : nullptr;
}

PyObject* synchronizeEvent(PyObject* self, PyObject*) {
  return withoutGil([&] { EventOwner::of(self).synchronize(); }) ? none() : nullptr;
}

PyObject* sinceEvent(PyObject* self, PyObject* start) {
  if (reinterpret_cast<PyObject*>(Py_TYPE(start)) != eventType) {
    PyErr_Format(PyExc_TypeError, "since() wants an Event, not %R", start);
    return nullptr;
  }
  float milliseconds = 0;
  if (!withoutGil([&] { milliseconds = EventOwner::of(self).since(EventOwner::of(start)); })) return nullptr;
  return PyFloat_FromDouble(milliseconds);
}

PyGetSetDef kMemoryMembers[] = {
    {"address", address, nullptr, "Of the first byte.", nullptr},
    {"bytes", bytes, nullptr, "How many.", nullptr},
    {"device", device, nullptr, "Number of the GPU.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};
PyType_Slot kMemorySlots[] = {
    {Py_tp_dealloc, reinterpret_cast<void*>(MemoryOwner::deallocate)},
    {Py_tp_getset, kMemoryMembers},
    {Py_tp_doc, const_cast<char*>("Memory on a GPU, freed with the object.")},
    {0, nullptr},
};
PyType_Spec kMemorySpec = {"tiletwin._cuda.Memory", sizeof(MemoryOwner), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, kMemorySlots};

PyMethodDef kEventMethods[] = {
    {"record", recordEvent, METH_O, "record(stream)"},
    {"synchronize", synchronizeEvent, METH_NOARGS, "Waits for it."},
    {"since", sinceEvent, METH_O, "since(start): milliseconds between two events; waits for both."},
    {nullptr, nullptr, 0, nullptr},
};
PyType_Slot kEventSlots[] = {
    {Py_tp_dealloc, reinterpret_cast<void*>(EventOwner::deallocate)},
    {Py_tp_methods, kEventMethods},
    {Py_tp_doc, const_cast<char*>("A point in the order of a stream, with its time.")},
    {0, nullptr},
};
PyType_Spec kEventSpec = {"tiletwin._cuda.Event", sizeof(EventOwner), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, kEventSlots};

} // namespace

int addMemoryObjects(PyObject* module) {
  if (!memoryType) memoryType = PyType_FromSpec(&kMemorySpec);
  if (!eventType) eventType = PyType_FromSpec(&kEventSpec);
  if (!memoryType || !eventType || PyModule_AddObjectRef(module, "Memory", memoryType) < 0) return -1;
  return PyModule_AddObjectRef(module, "Event", eventType);
}

PyObject* allocate(PyObject*, PyObject* args) {
  unsigned long long size;
  int ordinal;
  if (!PyArg_ParseTuple(args, "Ki:allocate", &size, &ordinal)) return nullptr;
  std::unique_ptr<cuda::DeviceMemory> memory;
  if (!withoutGil([&] { memory = std::make_unique<cuda::DeviceMemory>(cuda::Device::get(ordinal), size_t(size)); }))
    return nullptr;
  return MemoryOwner::make(memoryType, std::move(memory));
}

PyObject* makeEvent(PyObject*, PyObject* args) {
  int ordinal;
  if (!PyArg_ParseTuple(args, "i:event", &ordinal)) return nullptr;
  std::unique_ptr<cuda::Event> event;
  if (!withoutGil([&] { event = std::make_unique<cuda::Event>(cuda::Device::get(ordinal)); })) return nullptr;
  return EventOwner::make(eventType, std::move(event));
}

PyObject* copyIn(PyObject*, PyObject* args) {
  int ordinal;
  unsigned long long to, stream;
  PyObject* from;
  if (!PyArg_ParseTuple(args, "iKOK:copy_in", &ordinal, &to, &from, &stream)) return nullptr;
  HostBytes host(from, PyBUF_SIMPLE);
  if (!host) return nullptr;
  return withoutGil([&] {
    cuda::copyToDevice(cuda::Device::get(ordinal), to, host.data(), host.bytes(), cuda::streamOf(stream));
  })
             ? none()
             : nullptr;
}

PyObject* copyOut(PyObject*, PyObject* args) {
  int ordinal;
  unsigned long long from, stream;
  PyObject* to;
  if (!PyArg_ParseTuple(args, "iOKK:copy_out", &ordinal, &to, &from, &stream)) return nullptr;
  HostBytes host(to, PyBUF_WRITABLE);
  if (!host) return nullptr;
  return withoutGil([&] {
    cuda::copyToHost(cuda::Device::get(ordinal), host.data(), from, host.bytes(), cuda::streamOf(stream));
  })
             ? none()
             : nullptr;
}

PyObject* pointer(PyObject*, PyObject* args) {
  int ordinal;
  unsigned long long number;
  if (!PyArg_ParseTuple(args, "iK:pointer", &ordinal, &number)) return nullptr;
  cuda::PointerFacts facts;
  if (!withoutGil([&] { facts = cuda::pointerFacts(cuda::Device::get(ordinal), number); })) return nullptr;
  constexpr const char* kWords[] = {"unknown", "host", "device", "managed"};
  return Py_BuildValue("(siKn)", kWords[size_t(facts.kind)], facts.device, facts.begin, Py_ssize_t(facts.bytes));
}

} // namespace tiletwin::python
