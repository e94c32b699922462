// frontend/ShapeBuiltins.cpp -- functions that rearrange elements: broadcast, reshape, permute, join, split, cat, gather.
// Not here:  the operations they share with operators and indexing (Broadcast.cpp).
#include "frontend/Builtins.h"
#include "frontend/Emit.h"
#include "llvm/ADT/StringExtras.h"

namespace tiletwin::frontend {
namespace {

Value anyTensor(PyObject* arg, const llvm::Twine& what) {
  PyObject* plain = unwrap(arg);
  if (!isTensor(plain)) return raiseType(what + " must be a tensor, got " + typeName(plain));
  return tensorValue(plain);
}

/// -rank .. rank-1 to 0 .. rank-1.
bool axisArgument(PyObject* arg, const llvm::Twine& what, int64_t rank, int64_t& axis) {
  std::string name = what.str();
  if (!constantInt(arg, name, axis)) return false;
  if (axis < -rank || axis >= rank)
    return raiseValue(name + " must be in -" + llvm::Twine(rank) + " .. " + llvm::Twine(rank - 1) + ", got " +
                      llvm::Twine(axis));
  axis += axis < 0 ? rank : 0;
  return true;
}

PyRef buildBroadcast(Builder& b, llvm::ArrayRef<PyObject*> args) {
  Value x = tensorArgument(b, args[0], "tl.broadcast: input"),
        y = x ? tensorArgument(b, args[1], "tl.broadcast: other") : Value();
  return y && broadcastTogether(b, x, y) ? result({x, y}) : PyRef();
}

PyRef buildBroadcastTo(Builder& b, llvm::ArrayRef<PyObject*> args) {
  llvm::SmallVector<int64_t> shape;
  Value x = tensorArgument(b, args[0], "tl.broadcast_to: input");
  return x && constantShape(args[1], "tl.broadcast_to: shape", shape) ? result(broadcastTo(b, x, shape)) : PyRef();
}

PyRef reshapeAs(Builder& b, llvm::StringRef function, PyObject* input, PyObject* shapeArg, bool reorder) {
  llvm::SmallVector<int64_t> shape;
  Value x = tensorArgument(b, input, "tl." + function + ": input");
  return x && constantShape(shapeArg, "tl." + function + ": shape", shape) ? result(reshape(b, x, shape, reorder))
                                                                           : PyRef();
}
PyRef buildReshape(Builder& b, llvm::ArrayRef<PyObject*> args) {
  bool reorder = false;
  return constantBool(args[2], "tl.reshape: can_reorder", reorder) ? reshapeAs(b, "reshape", args[0], args[1], reorder)
                                                                   : PyRef();
}
PyRef buildView(Builder& b, llvm::ArrayRef<PyObject*> args) { return reshapeAs(b, "view", args[0], args[1], true); }

PyRef permuteAs(Builder& b, llvm::StringRef function, PyObject* input, PyObject* dims) {
  Value x = anyTensor(input, "tl." + function + ": input");
  llvm::SmallVector<int64_t> order;
  if (!x || !constantInts(dims, "tl." + function + ": dims", order)) return {};
  int64_t rank = x.type.shape.size();
  if (order.empty()) {
    if (function != "trans" || rank < 2)
      return raiseValue(
          "tl." + function + " of a tensor of shape " + shapeText(x.type.shape) +
          " needs the new order of its dimensions" +
          (function == "trans" ? "; without one it swaps the last two of a block of 2 or more dimensions" : ""));
    for (int64_t i = 0; i < rank; ++i) order.push_back(i);
    std::swap(order[rank - 1], order[rank - 2]);
  }
  llvm::SmallVector<int32_t> narrow;
  for (int64_t d : order) narrow.push_back(int32_t(d < 0 ? d + rank : d));
  return result(permute(b, x, narrow));
}
PyRef buildPermute(Builder& b, llvm::ArrayRef<PyObject*> args) { return permuteAs(b, "permute", args[0], args[1]); }
PyRef buildTrans(Builder& b, llvm::ArrayRef<PyObject*> args) { return permuteAs(b, "trans", args[0], args[1]); }

PyRef buildExpandDims(Builder& b, llvm::ArrayRef<PyObject*> args) {
  Value x = tensorArgument(b, args[0], "tl.expand_dims: input");
  llvm::SmallVector<int64_t> axes;
  if (!x || !constantInts(args[1], "tl.expand_dims: axis", axes)) return {};
  int64_t rank = x.type.shape.size() + axes.size();
  for (int64_t& axis : axes) {
    if (axis < -rank || axis >= rank)
      return raiseValue("tl.expand_dims: invalid axis " + llvm::Twine(axis) + ": it must be in -" + llvm::Twine(rank) +
                        " .. " + llvm::Twine(rank - 1) + " for a result of " + llvm::Twine(rank) + " dimensions");
    axis += axis < 0 ? rank : 0;
  }
  llvm::SmallVector<std::string> texts;
  for (int64_t axis : axes) texts.push_back(std::to_string(axis));
  llvm::sort(axes);
  for (size_t i = 1; i < axes.size(); ++i)
    if (axes[i] == axes[i - 1])
      return raiseValue("tl.expand_dims: duplicate axes, normalized axes = [" + llvm::join(texts, ", ") + "]");
  for (int64_t axis : axes)
    if (!(x = expandDims(b, x, axis))) return {};
  return result(x);
}

Value joinValues(Builder& b, Value x, Value y) {
  if (!broadcastTogether(b, x, y)) return raised();
  if (x.type.element() != y.type.element())
    return raiseType("tl.join needs two tensors of one element type, got " + x.type.element().str() + " and " +
                     y.type.element().str());
  bool scalars = !x.type.isBlock();
  if (scalars) {
    x = splat(b, x, int64_t(1));
    y = x ? splat(b, y, int64_t(1)) : Value();
    if (!y) return y;
  }
  llvm::SmallVector<int64_t> shape(x.type.shape.begin(), x.type.shape.end());
  shape.push_back(2);
  if (!checkShape(shape, "tl.join: the result")) return raised();
  Value joined = b.create1("tt.join", {x, y}, x.type.withShape(shape));
  return joined && scalars ? reshape(b, joined, int64_t(2)) : joined;
}
PyRef buildJoin(Builder& b, llvm::ArrayRef<PyObject*> args) {
  Value x = tensorArgument(b, args[0], "tl.join: a"), y = x ? tensorArgument(b, args[1], "tl.join: b") : Value();
  return y ? result(joinValues(b, x, y)) : PyRef();
}

PyRef buildSplit(Builder& b, llvm::ArrayRef<PyObject*> args) {
  Value x = blockArgument(args[0], "tl.split: a");
  if (!x) return {};
  if (x.type.shape.back() != 2)
    return raiseValue("tl.split: the last dimension must be 2, got a block of shape " + shapeText(x.type.shape));
  bool scalars = x.type.shape.size() == 1;
  if (scalars && !(x = expandDims(b, x, 0))) return {};
  Type half = x.type.withShape(llvm::ArrayRef<int64_t>(x.type.shape).drop_back());
  llvm::SmallVector<Value> halves;
  if (!b.create("tt.split", x, {half, half}, {}, halves) || halves.size() != 2) return {};
  if (scalars)
    for (Value& v : halves)
      if (!(v = b.create1("tt.unsplat", v, v.type.element()))) return {};
  return result(halves);
}

// cat(input, other, can_reorder, dim)
PyRef buildCat(Builder& b, llvm::ArrayRef<PyObject*> args) {
  bool reorder = false;
  int64_t dim = 0;
  Value x = blockArgument(args[0], "tl.cat: input"), y = x ? blockArgument(args[1], "tl.cat: other") : Value();
  if (!y || !constantBool(args[2], "tl.cat: can_reorder", reorder)) return {};
  if (x.type != y.type)
    return raiseValue("tl.cat needs two blocks of one shape and element type, got " + x.type.str() + " and " +
                      y.type.str());
  int64_t rank = x.type.shape.size();
  if (!axisArgument(args[3], "tl.cat: dim", rank, dim)) return {};
  llvm::SmallVector<int64_t> shape(x.type.shape.begin(), x.type.shape.end());
  shape[dim] *= 2;
  if (!checkShape(shape, "tl.cat: the result")) return {};
  if (reorder) {
    if (rank != 1)
      return raiseValue("tl.cat: can_reorder=True works on 1-D blocks, got shape " + shapeText(x.type.shape));
    return result(b.create1("tt.cat", {x, y}, x.type.withShape(shape)));
  }
  // Join adds a last dimension of 2; moved in front of `dim` it makes the two blocks follow each other there.
  Value joined = joinValues(b, x, y);
  llvm::SmallVector<int32_t> order;
  for (int64_t i = 0; i < rank; ++i) {
    if (i == dim) order.push_back(int32_t(rank));
    order.push_back(int32_t(i));
  }
  Value moved = joined ? permute(b, joined, order) : joined;
  return result(moved ? reshape(b, moved, shape) : moved);
}

// gather(src, index, axis)
PyRef buildGather(Builder& b, llvm::ArrayRef<PyObject*> args) {
  Value src = blockArgument(args[0], "tl.gather: src"),
        index = src ? blockArgument(args[1], "tl.gather: index") : Value();
  if (!index) return {};
  int64_t axis = 0, rank = src.type.shape.size();
  if (!index.type.isInt() || index.type.isBool())
    return raiseType("tl.gather: index must hold integers, got " + index.type.str());
  if (int64_t(index.type.shape.size()) != rank)
    return raiseValue("tl.gather: src and index must have the same number of dimensions, got shapes " +
                      shapeText(src.type.shape) + " and " + shapeText(index.type.shape));
  if (!axisArgument(args[2], "tl.gather: axis", rank, axis)) return {};
  for (int64_t i = 0; i < rank; ++i)
    if (i != axis && src.type.shape[i] != index.type.shape[i])
      return raiseValue("tl.gather: src of shape " + shapeText(src.type.shape) + " and index of shape " +
                        shapeText(index.type.shape) + " must agree in all dimensions but axis " + llvm::Twine(axis));
  return result(b.create1("tt.gather", {src, index}, src.type.withShape(index.type.shape), integer(b, "axis", axis)));
}

PyRef buildItem(Builder& b, llvm::ArrayRef<PyObject*> args) {
  Value x = anyTensor(args[0], "tl.item: input");
  if (!x) return {};
  if (x.type.numel() != 1)
    return raiseValue("item() takes a block of one element, got shape " + shapeText(x.type.shape));
  return result(x.type.isBlock() ? b.create1("tt.unsplat", x, x.type.element()) : x);
}
PyRef buildUnsplat(Builder& b, llvm::ArrayRef<PyObject*> args) { return buildItem(b, args); }

constexpr BuiltinRow kRows[] = {
    {"_unsplat", buildUnsplat},
    {"broadcast", buildBroadcast},
    {"broadcast_to", buildBroadcastTo},
    {"cat", buildCat},
    {"expand_dims", buildExpandDims},
    {"gather", buildGather},
    {"item", buildItem},
    {"join", buildJoin},
    {"permute", buildPermute},
    {"reshape", buildReshape},
    {"split", buildSplit},
    {"trans", buildTrans},
    {"view", buildView},
};

} // namespace

llvm::ArrayRef<BuiltinRow> shapeBuiltins() { return kRows; }

} // namespace tiletwin::frontend
