// frontend/BlockPointerObject.cpp -- the Python type block_pointer: what tl.make_block_ptr returns.
// Here:      the object, its attributes, and how the walker takes it apart and rebuilds it.
// Not here:  making, advancing, loading, storing (BlockPointerBuiltins.cpp).
// Invariant: its tensors are one pointer and 64-bit scalars, so that one block pointer of the same base type and block
// shape can replace another in loops and branches.
#include "frontend/ObjectSupport.h"
#include "frontend/Objects.h"
#include "frontend/PackageObject.h"

namespace tiletwin::frontend {
namespace {

struct BlockPointerObject {
  PyObject_HEAD BlockPointer state;
};

PyTypeObject* blockPointerType = nullptr;
BlockPointer& stateOf(PyObject* self) { return reinterpret_cast<BlockPointerObject*>(self)->state; }

PyRef tupleOf(llvm::ArrayRef<Value> values) {
  llvm::SmallVector<PyRef> items;
  for (const Value& value : values) items.push_back(makeTensor(value));
  return makeTuple(items);
}

PyObject* getBase(PyObject* self, void*) { return makeTensor(stateOf(self).base).release(); }
PyObject* getExtents(PyObject* self, void*) { return tupleOf(stateOf(self).shape).release(); }
PyObject* getStrides(PyObject* self, void*) { return tupleOf(stateOf(self).strides).release(); }
PyObject* getOffsets(PyObject* self, void*) { return tupleOf(stateOf(self).offsets).release(); }
PyObject* getBlockShape(PyObject* self, void*) { return makeShape(stateOf(self).block).release(); }
PyObject* getOrder(PyObject* self, void*) { return makeShape(stateOf(self).order).release(); }
/// pointer_type(block_type(element, block shape)), so that `p.dtype.element_ty` names the block.
PyObject* getType(PyObject* self, void*) {
  const BlockPointer& p = stateOf(self);
  PyRef pointer = packageObject("pointer_type");
  PyRef block = pointer ? typeToPython(p.base.type.pointee().withShape(p.block)) : PyRef();
  return block ? PyObject_CallFunctionObjArgs(pointer.get(), block.get(), nullptr) : nullptr;
}
PyObject* reprSlot(PyObject* self) {
  const BlockPointer& p = stateOf(self);
  return PyUnicode_FromString(("block_pointer<" + p.base.type.pointee().withShape(p.block).str() + ">").c_str());
}
PyObject* getattrSlot(PyObject* self, PyObject* name) {
  PyObject* found = PyObject_GenericGetAttr(self, name);
  return found ? bindMethod(self, found, name) : nullptr;
}

bool tensorsOf(PyObject* tuple, llvm::SmallVectorImpl<Value>& out) {
  for (Py_ssize_t i = 0; PyTuple_Check(tuple) && i < PyTuple_Size(tuple); ++i) {
    PyObject* item = PyTuple_GetItem(tuple, i);
    if (!isTensor(item)) return raiseType("a block pointer consists of tensors, got " + typeName(item));
    out.push_back(tensorValue(item));
  }
  return true;
}
bool numbersOf(PyObject* tuple, llvm::SmallVectorImpl<int64_t>& out) {
  for (Py_ssize_t i = 0; PyTuple_Check(tuple) && i < PyTuple_Size(tuple); ++i)
    out.push_back(PyLong_AsLongLong(unwrap(PyTuple_GetItem(tuple, i))));
  return !PyErr_Occurred();
}

PyObject* rebuild(PyObject*, PyObject* args) {
  PyObject *base, *shape, *strides, *offsets, *block, *order;
  if (!PyArg_ParseTuple(args, "OOOOOO", &base, &shape, &strides, &offsets, &block, &order)) return nullptr;
  BlockPointer p;
  if (!isTensor(base)) return raiseType("a block pointer is rebuilt from its base, got " + typeName(base));
  p.base = tensorValue(base);
  if (!tensorsOf(shape, p.shape) || !tensorsOf(strides, p.strides) || !tensorsOf(offsets, p.offsets) ||
      !numbersOf(block, p.block) || !numbersOf(order, p.order))
    return nullptr;
  return makeBlockPointer(std::move(p)).release();
}

PyGetSetDef kGetSet[] = {
    {"base", getBase, nullptr, "The pointer to the tensor's first element.", nullptr},
    {"extents", getExtents, nullptr, "Tuple of int64 tensors: the extent of the tensor in each dimension.", nullptr},
    {"strides", getStrides, nullptr, "Tuple of int64 tensors, in elements.", nullptr},
    {"offsets", getOffsets, nullptr, "Tuple of int64 tensors: where the block begins.", nullptr},
    {"block_shape", getBlockShape, nullptr, "Tuple of constexpr: the shape of the block.", nullptr},
    {"order", getOrder, nullptr, "Tuple of constexpr: dimensions, the fastest first.", nullptr},
    {"dtype", getType, nullptr, "A pointer type whose element_ty is the block's type.", nullptr},
    {"type", getType, nullptr, "The same as dtype.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};
PyMethodDef kMethods[] = {
    {"__tiletwin_rebuild__", rebuild, METH_VARARGS | METH_STATIC,
     "A block pointer of (base, extents, strides, offsets, block_shape, order)."},
    {nullptr, nullptr, 0, nullptr},
};
PyType_Slot kSlots[] = {
    slot(Py_tp_dealloc, deallocateObject<BlockPointerObject>),
    slot(Py_tp_getattro, getattrSlot),
    slot(Py_tp_repr, reprSlot),
    {Py_tp_getset, kGetSet},
    {Py_tp_methods, kMethods},
    {Py_tp_doc, const_cast<char*>("A block of a strided tensor in memory: tl.make_block_ptr makes one, tl.advance "
                                  "moves it, tl.load and tl.store take it.")},
    {0, nullptr},
};
PyType_Spec kSpec = {"tiletwin._C.block_pointer", sizeof(BlockPointerObject), 0,
                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, kSlots};

} // namespace

bool addBlockPointerObject(PyObject* module) {
  blockPointerType = addType(module, kSpec, "block_pointer");
  PyRef fields =
      blockPointerType
          ? PyRef::steal(Py_BuildValue("(ssssss)", "base", "extents", "strides", "offsets", "block_shape", "order"))
          : PyRef();
  return fields && PyObject_SetAttrString(reinterpret_cast<PyObject*>(blockPointerType), "__tiletwin_fields__",
                                          fields.get()) == 0;
}

bool isBlockPointer(PyObject* object) { return object && PyObject_TypeCheck(object, blockPointerType); }
PyRef makeBlockPointer(BlockPointer pointer) {
  return PyRef::steal(allocateObject<BlockPointerObject>(blockPointerType, std::move(pointer)));
}
const BlockPointer& blockPointerValue(PyObject* object) { return stateOf(object); }

} // namespace tiletwin::frontend
