// frontend/Broadcast.cpp -- shapes: splat, broadcasting, indexing with None, reshape, permute (rule 59).
// Not here: element types (Promotion.cpp, Casts.cpp); the functions users call (ShapeBuiltins.cpp).
#include "frontend/Emit.h"
#include "frontend/Raise.h"
#include "frontend/Semantic.h"

namespace tiletwin::frontend {

bool checkShape(llvm::ArrayRef<int64_t> shape, const llvm::Twine& what) {
  constexpr int64_t kMaxElements = 1 << 20;
  int64_t n = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] <= 0 || (shape[i] & (shape[i] - 1)))
      return raiseValue(what + ": Shape element " + llvm::Twine(i) + " must be a power of 2, got " +
                        llvm::Twine(shape[i]) + " in " + shapeText(shape));
    n *= std::min(shape[i], kMaxElements + 1);
    if (n > kMaxElements)
      return raiseValue(what + ": shape " + shapeText(shape) + " has more than the " + llvm::Twine(kMaxElements) +
                        " elements a block may have");
  }
  return true;
}

Value splat(Builder& b, Value x, llvm::ArrayRef<int64_t> shape) {
  if (shape.empty() || !x) return x;
  Type type = x.type.withShape(shape);
  // A constant becomes a constant block, as readers of the IR expect.
  if (mlir::Operation* op = x.ir ? x.ir.getDefiningOp() : nullptr;
      op && op->getName().getStringRef() == "arith.constant") {
    auto blockType = llvm::cast<mlir::RankedTensorType>(type.toMlir(b.context()));
    if (auto value = op->getAttr("value"))
      return b.create1("arith.constant", {}, type, named("value", mlir::SplatElementsAttr::get(blockType, value)));
  }
  return b.create1("tt.splat", x, type);
}

Value expandDims(Builder& b, Value x, int64_t axis) {
  if (!x) return x;
  llvm::SmallVector<int64_t> shape(x.type.shape.begin(), x.type.shape.end());
  shape.insert(shape.begin() + axis, 1);
  if (!x.type.isBlock()) return splat(b, x, shape);
  return b.create1("tt.expand_dims", x, x.type.withShape(shape), integer(b, "axis", axis));
}

Value broadcastTo(Builder& b, Value x, llvm::ArrayRef<int64_t> shape) {
  llvm::ArrayRef<int64_t> from = x.type.shape;
  if (from == shape || !x) return x;
  if (!x.type.isBlock()) return splat(b, x, shape);
  if (from.size() != shape.size())
    return raiseValue("a block of shape " + shapeText(from) + " cannot be broadcast to " + shapeText(shape) +
                      ": the number of dimensions differs; add dimensions with x[None, :] first");
  for (size_t i = 0; i < shape.size(); ++i)
    if (from[i] != shape[i] && from[i] != 1)
      return raiseValue("a block of shape " + shapeText(from) + " cannot be broadcast to " + shapeText(shape) +
                        ": dimension " + llvm::Twine(i) + " is " + llvm::Twine(from[i]) +
                        ", and only dimensions of size 1 stretch");
  return b.create1("tt.broadcast", x, x.type.withShape(shape));
}

bool broadcastTogether(Builder& b, Value& x, Value& y) {
  if (x.type.shape == y.type.shape) return true;
  if (!x.type.isBlock() || !y.type.isBlock()) {
    Value& scalar = x.type.isBlock() ? y : x;
    scalar = splat(b, scalar, x.type.isBlock() ? x.type.shape : y.type.shape);
    return bool(scalar);
  }
  Type xType = x.type, yType = y.type;
  while (x.type.shape.size() != y.type.shape.size()) {
    Value& lower = x.type.shape.size() < y.type.shape.size() ? x : y;
    lower = expandDims(b, lower, 0);
    if (!lower) return false;
  }
  llvm::SmallVector<int64_t> shape;
  for (size_t i = 0; i < x.type.shape.size(); ++i) {
    int64_t left = x.type.shape[i], right = y.type.shape[i];
    if (left != right && left != 1 && right != 1)
      return raiseValue("blocks of shape " + shapeText(xType.shape) + " and " + shapeText(yType.shape) +
                        " cannot be broadcast together: dimension " + llvm::Twine(i) + " is " + llvm::Twine(left) +
                        " in one and " + llvm::Twine(right) + " in the other");
    shape.push_back(std::max(left, right));
  }
  x = broadcastTo(b, x, shape);
  y = x ? broadcastTo(b, y, shape) : Value();
  return bool(y);
}

Value reshape(Builder& b, Value x, llvm::ArrayRef<int64_t> shape, bool allowReorder) {
  int64_t n = 1;
  for (int64_t d : shape) n *= d;
  if (n != x.type.numel())
    return raiseValue("reshape() cannot change total number of elements in tensor: it has " +
                      llvm::Twine(x.type.numel()) + " in shape " + shapeText(x.type.shape) + ", and " +
                      shapeText(shape) + " has " + llvm::Twine(n));
  if (x.type.shape == shape && !allowReorder) return x;
  if (!x.type.isBlock()) return splat(b, x, shape);
  if (shape.empty()) return b.create1("tt.unsplat", x, x.type.element());
  llvm::SmallVector<mlir::NamedAttribute, 1> attributes;
  if (allowReorder) attributes.push_back(unit(b, "allow_reorder"));
  return b.create1("tt.reshape", x, x.type.withShape(shape), attributes);
}

Value permute(Builder& b, Value x, llvm::ArrayRef<int32_t> order) {
  size_t rank = x.type.shape.size();
  llvm::SmallVector<bool> seen(rank, false);
  llvm::SmallVector<int64_t> shape;
  bool valid = order.size() == rank;
  for (int32_t axis : order) {
    valid = valid && axis >= 0 && size_t(axis) < rank && !seen[axis];
    if (!valid) break;
    seen[axis] = true;
    shape.push_back(x.type.shape[axis]);
  }
  if (!valid) {
    llvm::SmallVector<int64_t> wide(order.begin(), order.end());
    return raiseValue("permute of a block of shape " + shapeText(x.type.shape) + " needs each of its dimensions 0 to " +
                      llvm::Twine(int64_t(rank) - 1) + " once, got " + shapeText(wide));
  }
  return b.create1("tt.trans", x, x.type.withShape(shape), integers(b, "order", order));
}

namespace {

bool isFullSlice(PyObject* item) {
  bool builtin = PySlice_Check(item);
  for (const char* part : {"start", "stop", "step"}) {
    PyRef value = attributeIfAny(item, part);
    if (!value || unwrap(value.get()) != Py_None || (!builtin && isTensor(item))) return false;
  }
  return true;
}

/// "3", "1:4", "a tensor", for messages.
std::string indexText(PyObject* item) {
  if (isTensor(item)) return "a tensor";
  std::string text;
  if (PySlice_Check(item)) {
    for (const char* part : {"start", "stop", "step"}) {
      PyRef value = attribute(item, part);
      bool isStep = part[2] == 'e';
      if (value && value.get() != Py_None) text += (isStep ? ":" : "") + indexText(unwrap(value.get()));
      if (part[2] == 'a') text += ":";
    }
    return text;
  }
  return reprOf(item);
}

} // namespace

static llvm::SmallVector<PyRef> indexItems(PyObject* index) {
  PyObject* plain = unwrap(index);
  llvm::SmallVector<PyRef> items;
  if (!PyTuple_Check(plain)) return {PyRef::borrow(plain)};
  for (PyObject* item : itemsOf(plain)) items.push_back(PyRef::borrow(unwrap(item)));
  return items;
}

/// The index of `pid[0]`.
static bool isOwnIndex(const Type& type, llvm::ArrayRef<PyRef> items) {
  return !type.isBlock() && items.size() == 1 && PyLong_Check(items[0].get()) && PyLong_AsLong(items[0].get()) == 0;
}

bool isLanguageIndex(const Type& type, PyObject* index) {
  llvm::SmallVector<PyRef> items = indexItems(index);
  return isOwnIndex(type, items) || llvm::all_of(items, [](const PyRef& item) {
           return item.get() == Py_None || (!isTensor(item.get()) && isFullSlice(item.get()));
         });
}

Value subscript(Builder& b, Value x, PyObject* index) {
  llvm::SmallVector<PyRef> items = indexItems(index);
  if (b.isEager() && isOwnIndex(x.type, items)) return x;
  const size_t rank = x.type.shape.size();
  const bool ofScalar = rank == 0;
  for (auto [axis, item] : llvm::enumerate(items)) {
    if (item.get() == Py_None) {
      if (!(x = expandDims(b, x, ofScalar ? x.type.shape.size() : axis))) return x;
    } else if (!isTensor(item.get()) && isFullSlice(item.get())) {
      // A scalar has no dimension that ':' could stand for; up to 3.6 Triton passed over it, and kernels write it.
      if (axis >= x.type.shape.size() && !ofScalar)
        return raiseValue("too many indices for tensor of rank " + llvm::Twine(rank) + ": ':' at place " +
                          llvm::Twine(axis) + " has no dimension left");
    } else {
      if (x.type.isPointer())
        return raiseValue("unsupported tensor index: " + indexText(item.get()) +
                          "; pointers are not indexed: add the index and read or write memory there, tl.load(pointer + "
                          "index)");
      return raiseValue(
          "unsupported tensor index: " + indexText(item.get()) +
          "; None and ':' are what it may hold, use tl.gather, tl.where with tl.sum, or load the element from memory");
    }
  }
  return x;
}

} // namespace tiletwin::frontend
