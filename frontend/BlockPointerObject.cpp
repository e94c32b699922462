// frontend/BlockPointerObject.cpp -- the Python type block_pointer: what tl.make_block_ptr returns.
// Here:      the object, its attributes, and how the walker takes it apart and rebuilds it.
// Not here:  making, advancing, loading, storing (BlockPointerBuiltins.cpp).
// Invariant: its tensors are one pointer and 64-bit scalars, so that one block pointer of the same base type and block
// shape can replace another in loops and branches.
#include "frontend/ObjectSupport.h"
#include "frontend/PackageObject.h"

namespace tiletwin::frontend {
namespace {

PyRef tensors(llvm::ArrayRef<Value> values) {
  llvm::SmallVector<PyRef> items;
  for (const Value& value : values) items.push_back(makeTensor(value));
  return makeTuple(items);
}

Type blockType(const BlockPointer& p) { return p.base.type.pointee().withShape(p.block); }
PyRef base(const BlockPointer& p) { return makeTensor(p.base); }
PyRef extents(const BlockPointer& p) { return tensors(p.shape); }
PyRef strides(const BlockPointer& p) { return tensors(p.strides); }
PyRef offsets(const BlockPointer& p) { return tensors(p.offsets); }
PyRef blockShape(const BlockPointer& p) { return makeShape(p.block); }
PyRef order(const BlockPointer& p) { return makeShape(p.order); }
/// pointer_type(block_type(element, block shape)), so that `p.dtype.element_ty` names the block.
PyRef type(const BlockPointer& p) {
  PyRef pointer = packageObject("pointer_type");
  return pointer ? call(pointer, typeToPython(blockType(p))) : PyRef();
}
PyObject* reprSlot(PyObject* self) {
  return toPython("block_pointer<" + blockType(Object<BlockPointer>::of(self)).str() + ">").release();
}

bool tensorsOf(PyObject* tuple, llvm::SmallVectorImpl<Value>& out) {
  for (PyObject* item : itemsOf(tuple)) {
    if (!isTensor(item)) return raiseType("a block pointer consists of tensors, got " + typeName(item));
    out.push_back(tensorValue(item));
  }
  return true;
}
bool numbersOf(PyObject* tuple, llvm::SmallVectorImpl<int64_t>& out) {
  for (PyObject* item : itemsOf(tuple)) out.push_back(PyLong_AsLongLong(unwrap(item)));
  return !PyErr_Occurred();
}

PyObject* rebuild(PyObject*, PyObject* args) {
  PyObject *base, *shape, *strides, *offsets, *block, *order;
  if (!PyArg_ParseTuple(args, "OO!O!O!O!O!", &base, &PyTuple_Type, &shape, &PyTuple_Type, &strides, &PyTuple_Type,
                        &offsets, &PyTuple_Type, &block, &PyTuple_Type, &order))
    return nullptr;
  BlockPointer p;
  if (!isTensor(base)) return raiseType("a block pointer is rebuilt from its base, got " + typeName(base));
  p.base = tensorValue(base);
  if (!tensorsOf(shape, p.shape) || !tensorsOf(strides, p.strides) || !tensorsOf(offsets, p.offsets) ||
      !numbersOf(block, p.block) || !numbersOf(order, p.order))
    return nullptr;
  return makeBlockPointer(std::move(p)).release();
}

} // namespace

bool addBlockPointerObject(PyObject* module) {
  return addType<BlockPointer>(
             module, {.name = "tiletwin._C.block_pointer",
                      .doc = "A block of a strided tensor in memory: tl.make_block_ptr makes one, tl.advance moves it, "
                             "tl.load and "
                             "tl.store take it.",
                      .methods = {{"__tiletwin_rebuild__", rebuild, METH_VARARGS | METH_STATIC,
                                   "A block pointer of (base, extents, strides, offsets, block_shape, order)."}},
                      .properties = {property<"base", base>("The pointer to the tensor's first element."),
                                     property<"extents", extents>(
                                         "Tuple of int64 tensors: the extent of the tensor in each dimension."),
                                     property<"strides", strides>("Tuple of int64 tensors, in elements."),
                                     property<"offsets", offsets>("Tuple of int64 tensors: where the block begins."),
                                     property<"block_shape", blockShape>("Tuple of constexpr: the shape of the block."),
                                     property<"order", order>("Tuple of constexpr: dimensions, the fastest first."),
                                     property<"dtype", type>("A pointer type whose element_ty is the block's type."),
                                     property<"type", type>("The same as dtype.")},
                      .slots = {slot(Py_tp_getattro, boundAttribute), slot(Py_tp_repr, reprSlot)}}) &&
         addFields(Object<BlockPointer>::type, {"base", "extents", "strides", "offsets", "block_shape", "order"});
}

bool isBlockPointer(PyObject* object) { return Object<BlockPointer>::is(object); }
PyRef makeBlockPointer(BlockPointer pointer) { return Object<BlockPointer>::make(std::move(pointer)); }
const BlockPointer& blockPointerValue(PyObject* object) { return Object<BlockPointer>::of(object); }

} // namespace tiletwin::frontend
