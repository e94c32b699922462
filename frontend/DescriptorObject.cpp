// frontend/DescriptorObject.cpp -- the Python type tensor_descriptor: a run-time descriptor and its shape and strides.
// Here:      the object, its attributes, and how the walker takes it apart and rebuilds it.
// Not here:  making, loading and storing (DescriptorBuiltins.cpp); methods, set on the type from Python.
#include "frontend/ObjectSupport.h"
#include "frontend/Objects.h"
#include "frontend/PackageObject.h"

namespace tiletwin::frontend {
namespace {

struct DescriptorState {
  Value value;
  PyRef shape, strides;
};
struct DescriptorObject {
  PyObject_HEAD DescriptorState state;
};

PyTypeObject* descriptorType = nullptr;
DescriptorState& stateOf(PyObject* self) { return reinterpret_cast<DescriptorObject*>(self)->state; }

PyObject* getShape(PyObject* self, void*) { return PyRef(stateOf(self).shape).release(); }
PyObject* getStrides(PyObject* self, void*) { return PyRef(stateOf(self).strides).release(); }
PyObject* getBlockShape(PyObject* self, void*) { return makeShape(stateOf(self).value.type.shape).release(); }
PyObject* getDtype(PyObject* self, void*) { return typeToPython(stateOf(self).value.type.element()).release(); }
PyObject* getBlockType(PyObject* self, void*) { return typeToPython(stateOf(self).value.type).release(); }
PyObject* getHandle(PyObject* self, void*) { return makeTensor(stateOf(self).value).release(); }
PyObject* getType(PyObject* self, void*) {
  PyRef typeOf = packageObject("type_of");
  PyRef cls = typeOf ? packageObject("tensor_descriptor_type") : PyRef();
  PyRef block = cls ? PyRef::steal(getBlockType(self, nullptr)) : PyRef();
  PyRef shape =
      block ? PyRef::steal(PyObject_CallFunctionObjArgs(typeOf.get(), stateOf(self).shape.get(), nullptr)) : PyRef();
  PyRef strides =
      shape ? PyRef::steal(PyObject_CallFunctionObjArgs(typeOf.get(), stateOf(self).strides.get(), nullptr)) : PyRef();
  return strides ? PyObject_CallFunctionObjArgs(cls.get(), block.get(), shape.get(), strides.get(), nullptr) : nullptr;
}
PyObject* reprSlot(PyObject* self) { return PyUnicode_FromString(stateOf(self).value.type.str().c_str()); }
PyObject* getattrSlot(PyObject* self, PyObject* name) {
  PyObject* found = PyObject_GenericGetAttr(self, name);
  return found ? bindMethod(self, found, name) : nullptr;
}

PyObject* rebuild(PyObject*, PyObject* args) {
  PyObject *handle = nullptr, *shape = nullptr, *strides = nullptr;
  if (!PyArg_ParseTuple(args, "OOO", &handle, &shape, &strides)) return nullptr;
  if (!isTensor(handle) || !tensorValue(handle).type.isDescriptor())
    return raiseType("a tensor descriptor is rebuilt from its handle, got " + typeName(handle));
  return makeDescriptor(tensorValue(handle), shape, strides).release();
}

PyGetSetDef kGetSet[] = {
    {"shape", getShape, nullptr, "Tuple of int32 tensors: the extent of the memory in each dimension.", nullptr},
    {"strides", getStrides, nullptr, "Tuple of int64 tensors, in elements.", nullptr},
    {"block_shape", getBlockShape, nullptr, "Tuple of constexpr: the shape of one block.", nullptr},
    {"dtype", getDtype, nullptr, "The element type.", nullptr},
    {"block_type", getBlockType, nullptr, "The type of one block.", nullptr},
    {"type", getType, nullptr, "The descriptor's type.", nullptr},
    {"handle", getHandle, nullptr, "The descriptor without shape and strides.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};
PyMethodDef kMethods[] = {
    {"__tiletwin_rebuild__", rebuild, METH_VARARGS | METH_STATIC, "A descriptor of (handle, shape, strides)."},
    {nullptr, nullptr, 0, nullptr},
};
PyType_Slot kSlots[] = {
    slot(Py_tp_dealloc, deallocateObject<DescriptorObject>),
    slot(Py_tp_getattro, getattrSlot),
    slot(Py_tp_repr, reprSlot),
    {Py_tp_getset, kGetSet},
    {Py_tp_methods, kMethods},
    {Py_tp_doc,
     const_cast<char*>("A tensor descriptor: memory with shape and strides, read and written a block at a time.")},
    {0, nullptr},
};
PyType_Spec kSpec = {"tiletwin._C.tensor_descriptor", sizeof(DescriptorObject), 0,
                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION, kSlots};

} // namespace

bool addDescriptorObject(PyObject* module) {
  descriptorType = addType(module, kSpec, "tensor_descriptor");
  PyRef fields = descriptorType ? PyRef::steal(Py_BuildValue("(sss)", "handle", "shape", "strides")) : PyRef();
  return fields &&
         PyObject_SetAttrString(reinterpret_cast<PyObject*>(descriptorType), "__tiletwin_fields__", fields.get()) == 0;
}

bool isDescriptor(PyObject* object) { return object && PyObject_TypeCheck(object, descriptorType); }
PyRef makeDescriptor(Value descriptor, PyObject* shape, PyObject* strides) {
  return PyRef::steal(allocateObject<DescriptorObject>(descriptorType, std::move(descriptor), PyRef::borrow(shape),
                                                       PyRef::borrow(strides)));
}
const Value& descriptorValue(PyObject* object) { return stateOf(object).value; }
PyObject* descriptorShape(PyObject* object) { return stateOf(object).shape.get(); }
PyObject* descriptorStrides(PyObject* object) { return stateOf(object).strides.get(); }

} // namespace tiletwin::frontend
