// frontend/DescriptorObject.cpp -- the Python type tensor_descriptor: a run-time descriptor and its shape and strides.
// Here:      the object, its attributes, and how the walker takes it apart and rebuilds it.
// Not here:  making, loading and storing (DescriptorBuiltins.cpp); methods, set on the type from Python.
#include "frontend/ObjectSupport.h"
#include "frontend/PackageObject.h"

namespace tiletwin::frontend {
namespace {

struct Descriptor {
  Value value;
  PyRef shape, strides;
};
const Descriptor& stateOf(PyObject* self) { return Object<Descriptor>::of(self); }

PyRef shape(const Descriptor& self) { return self.shape; }
PyRef strides(const Descriptor& self) { return self.strides; }
PyRef blockShape(const Descriptor& self) { return makeShape(self.value.type.shape); }
PyRef dtype(const Descriptor& self) { return typeToPython(self.value.type.element()); }
PyRef blockType(const Descriptor& self) { return typeToPython(self.value.type); }
PyRef handle(const Descriptor& self) { return makeTensor(self.value); }
PyRef type(const Descriptor& self) {
  PyRef typeOf = packageObject("type_of");
  PyRef cls = typeOf ? packageObject("tensor_descriptor_type") : PyRef();
  PyRef block = cls ? blockType(self) : PyRef();
  PyRef shapeType = block ? call(typeOf, self.shape) : PyRef();
  return shapeType ? call(cls, block, shapeType, call(typeOf, self.strides)) : PyRef();
}
PyObject* reprSlot(PyObject* self) { return toPython(stateOf(self).value.type.str()).release(); }

PyObject* rebuild(PyObject*, PyObject* args) {
  PyObject *handle = nullptr, *shape = nullptr, *strides = nullptr;
  if (!PyArg_ParseTuple(args, "OOO", &handle, &shape, &strides)) return nullptr;
  if (!isTensor(handle) || !tensorValue(handle).type.isDescriptor())
    return raiseType("a tensor descriptor is rebuilt from its handle, got " + typeName(handle));
  return makeDescriptor(tensorValue(handle), shape, strides).release();
}

} // namespace

bool addDescriptorObject(PyObject* module) {
  return addType<Descriptor>(
             module, {.name = "tiletwin._C.tensor_descriptor",
                      .doc = "A tensor descriptor: memory with shape and strides, read and written a block at a time.",
                      .methods = {{"__tiletwin_rebuild__", rebuild, METH_VARARGS | METH_STATIC,
                                   "A descriptor of (handle, shape, strides)."}},
                      .properties = {property<"shape", shape>(
                                         "Tuple of int32 tensors: the extent of the memory in each dimension."),
                                     property<"strides", strides>("Tuple of int64 tensors, in elements."),
                                     property<"block_shape", blockShape>("Tuple of constexpr: the shape of one block."),
                                     property<"dtype", dtype>("The element type."),
                                     property<"block_type", blockType>("The type of one block."),
                                     property<"type", type>("The descriptor's type."),
                                     property<"handle", handle>("The descriptor without shape and strides.")},
                      .slots = {slot(Py_tp_getattro, boundAttribute), slot(Py_tp_repr, reprSlot)},
                      .flags = Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION}) &&
         addFields(Object<Descriptor>::type, {"handle", "shape", "strides"});
}

bool isDescriptor(PyObject* object) { return Object<Descriptor>::is(object); }
PyRef makeDescriptor(Value descriptor, PyObject* shape, PyObject* strides) {
  return Object<Descriptor>::make(std::move(descriptor), PyRef::borrow(shape), PyRef::borrow(strides));
}
const Value& descriptorValue(PyObject* object) { return stateOf(object).value; }

} // namespace tiletwin::frontend
