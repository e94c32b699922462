// frontend/BlockPointerBuiltins.cpp -- block pointers: making and moving them, and the pointers and masks they stand for.
// Real Triton dropped them in 3.x; kernels written for it before still use them, and they are defined by what it did.
// Here:      tl.make_block_ptr, tl.advance, the lowering of a block pointer to a block of pointers and a mask.
// Not here:  the Python object (BlockPointerObject.cpp); the access itself (MemoryBuiltins.cpp), which is an ordinary one.
// Invariant: offsets are 64 bits wide. A mask compares the block's own indices, constants, with uniform bounds, so that
// it is recognised as a box.
#include "frontend/Builtins.h"
#include "frontend/Emit.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tiletwin::frontend {
namespace {

Type int64Type() { return scalarType(Scalar::I64); }

bool integers(Builder& b, PyObject* arg, const std::string& what, llvm::SmallVectorImpl<Value>& out) {
  llvm::SmallVector<PyRef> list;
  oneOrItems(arg, list);
  for (const PyRef& item : list) {
    out.push_back(scalarInteger(b, item.get(), what, int64Type()));
    if (!out.back()) return false;
  }
  return true;
}

// make_block_ptr(base, shape, strides, offsets, block_shape, order)
PyRef buildMake(Builder& b, llvm::ArrayRef<PyObject*> args) {
  const std::string name = "tl.make_block_ptr";
  PyObject* basePlain = unwrap(args[0]);
  if (!isTensor(basePlain) || !tensorValue(basePlain).type.isPointer() || tensorValue(basePlain).type.isBlock())
    return raiseType(name + ": base must be one pointer, got " + given(basePlain));
  BlockPointer p;
  p.base = tensorValue(basePlain);
  if (p.base.type.pointee().isBool()) { // a bool is a byte in memory
    Type bytes = p.base.type;
    bytes.scalar = Scalar::I8;
    if (!(p.base = b.create1("tt.bitcast", p.base, bytes))) return {};
  }
  if (!integers(b, args[1], name + ": shape", p.shape) || !integers(b, args[2], name + ": strides", p.strides) ||
      !integers(b, args[3], name + ": offsets", p.offsets) ||
      !constantShape(args[4], name + ": block_shape", p.block) || !constantInts(args[5], name + ": order", p.order))
    return {};
  size_t rank = p.block.size();
  if (rank == 0) return raiseValue(name + ": block_shape must have at least one dimension");
  if (p.shape.size() != rank || p.strides.size() != rank || p.offsets.size() != rank || p.order.size() != rank)
    return raiseValue(name + ": shape, strides, offsets, block_shape and order must have one length, got " +
                      llvm::Twine(p.shape.size()) + ", " + llvm::Twine(p.strides.size()) + ", " +
                      llvm::Twine(p.offsets.size()) + ", " + llvm::Twine(rank) + " and " + llvm::Twine(p.order.size()));
  llvm::SmallVector<int64_t> sorted(p.order.begin(), p.order.end());
  llvm::sort(sorted);
  for (size_t d = 0; d < rank; ++d)
    if (sorted[d] != int64_t(d))
      return raiseValue(name + ": order must name each dimension from 0 to " + llvm::Twine(rank - 1) + " once, got " +
                        shapeText(p.order));
  return makeBlockPointer(std::move(p));
}

// advance(base, offsets)
PyRef buildAdvance(Builder& b, llvm::ArrayRef<PyObject*> args) {
  PyObject* plain = unwrap(args[0]);
  if (!isBlockPointer(plain))
    return raiseType("tl.advance: base must be a block pointer from tl.make_block_ptr, got " + given(plain) +
                     "; other pointers are advanced by adding to them");
  BlockPointer p = blockPointerValue(plain);
  llvm::SmallVector<PyRef> steps;
  oneOrItems(args[1], steps);
  if (steps.size() != p.offsets.size())
    return raiseValue("tl.advance: the block pointer has " + llvm::Twine(p.offsets.size()) + " dimensions, got " +
                      llvm::Twine(steps.size()) + " offsets");
  for (size_t d = 0; d < steps.size(); ++d) {
    PyObject* step = unwrap(steps[d].get());
    if (PyLong_Check(step) && PyLong_AsLongLong(step) == 0) continue;
    PyErr_Clear();
    Value by = scalarInteger(b, step, "tl.advance: offsets", int64Type());
    if (!by || !(p.offsets[d] = b.create1("arith.addi", {p.offsets[d], by}, int64Type()))) return {};
  }
  return makeBlockPointer(std::move(p));
}

/// A block over dimension d, as one of the whole block's shape.
Value spread(Builder& b, Value x, size_t d, llvm::ArrayRef<int64_t> shape) {
  for (size_t axis = 0; x && axis < shape.size(); ++axis)
    if (axis != d) x = expandDims(b, x, int64_t(axis));
  return x ? broadcastTo(b, x, shape) : x;
}

constexpr BuiltinRow kRows[] = {
    {"advance", buildAdvance},
    {"make_block_ptr", buildMake},
};

} // namespace

llvm::ArrayRef<BuiltinRow> blockPointerBuiltins() { return kRows; }

bool boundaryDimensions(PyObject* arg, llvm::StringRef function, size_t rank, llvm::SmallVectorImpl<bool>& out) {
  out.assign(rank, false);
  std::string what = ("tl." + function + ": boundary_check").str();
  llvm::SmallVector<int64_t> dimensions;
  if (isNone(arg)) return true;
  if (!constantInts(arg, what, dimensions)) return false;
  for (int64_t d : dimensions) {
    if (d < 0 || d >= int64_t(rank))
      return raiseValue(what + " names dimension " + llvm::Twine(d) + " of a block of " + llvm::Twine(rank));
    if (out[size_t(d)]) return raiseValue(what + " names dimension " + llvm::Twine(d) + " twice");
    out[size_t(d)] = true;
  }
  return true;
}

bool pointersOfBlock(Builder& b, const BlockPointer& p, llvm::ArrayRef<bool> checked, Value& pointers, Value& mask) {
  using Predicate = mlir::arith::CmpIPredicate;
  const Type wide = int64Type();
  Value start = p.base, distance;
  mask = Value();
  for (size_t d = 0; d < p.block.size(); ++d) {
    start = addPointer(b, start, b.create1("arith.muli", {p.offsets[d], p.strides[d]}, wide));
    if (!start) return false;
    Value index = b.create1("tt.make_range", {}, scalarType(Scalar::I32).withShape({p.block[d]}),
                            {integer(b, "start", 0), integer(b, "end", p.block[d])});
    index = cast(b, index, wide);
    Value stride = splat(b, p.strides[d], index.type.shape);
    Value term = spread(b, b.create1("arith.muli", {index, stride}, index.type), d, p.block);
    distance = distance ? b.create1("arith.addi", {distance, term}, term.type) : term;
    if (!distance) return false;
    if (!checked[d]) continue;
    // Index i of the block is inside if -offset <= i < extent - offset.
    Value low = b.create1("arith.subi", {integerConstant(b, wide, 0), p.offsets[d]}, wide);
    Value high = b.create1("arith.subi", {p.shape[d], p.offsets[d]}, wide);
    Value above = compareInts(b, Predicate::sge, index, splat(b, low, index.type.shape));
    Value below = compareInts(b, Predicate::slt, index, splat(b, high, index.type.shape));
    Value inside = spread(b, b.create1("arith.andi", {above, below}, above.type), d, p.block);
    mask = mask ? b.create1("arith.andi", {mask, inside}, inside.type) : inside;
    if (!mask) return false;
  }
  Value block = splat(b, start, p.block);
  return block && (pointers = addPointer(b, block, distance));
}

} // namespace tiletwin::frontend
