// frontend/ReduceBuiltins.cpp -- reduce, associative_scan, map_elementwise, histogram (rules 39, 42, 43).
// Here:      operations with a region, filled by calling a jit function on scalars.
// Not here:  sum, max, argmax, sort, ...: written in the language (python/tiletwin/language/standard.py).
#include "frontend/Builtins.h"
#include "frontend/EagerSupport.h"
#include "frontend/Emit.h"

namespace tiletwin::frontend {
namespace {

/// The blocks of `input` (one tensor or a tuple), all of one shape.
bool blockOperands(PyObject* arg, llvm::StringRef function, llvm::SmallVectorImpl<Value>& blocks, bool& isTuple) {
  llvm::SmallVector<PyRef> items;
  isTuple = oneOrItems(arg, items);
  if (items.empty()) return raiseValue("tl." + function + ": input is an empty tuple");
  for (const PyRef& item : items) {
    Value block = blockArgument(item.get(), "tl." + function + ": input");
    if (!block) return false;
    blocks.push_back(block);
  }
  for (const Value& block : blocks)
    if (block.type.shape != blocks[0].type.shape)
      return raiseValue("tl." + function + ": the blocks of a tuple must have one shape, got " +
                        shapeText(blocks[0].type.shape) + " and " + shapeText(block.type.shape));
  return true;
}

bool reduceAxis(PyObject* arg, llvm::StringRef function, int64_t rank, int64_t& axis) {
  if (!constantInt(arg, "tl." + function + ": axis", axis)) return false;
  if (axis < -rank || axis >= rank)
    return raiseValue("tl." + function + ": invalid axis " + llvm::Twine(axis) + ": it must be in -" +
                      llvm::Twine(rank) + " .. " + llvm::Twine(rank - 1) + " for a block of " + llvm::Twine(rank) +
                      " dimensions");
  axis += axis < 0 ? rank : 0;
  return true;
}

/// A region that calls `function` on its arguments and yields as many values of the types `wanted`.
struct CallRegion {
  PyObject* function;
  llvm::SmallVector<Type> wanted;
  llvm::StringRef name;
  bool operator()(Builder& inside, llvm::ArrayRef<Value> arguments, llvm::SmallVectorImpl<Value>& yielded) const {
    if (!callJit(inside, unwrap(function), arguments, yielded)) return false;
    if (yielded.size() != wanted.size())
      return raiseValue("tl." + name + ": the function must return " + llvm::Twine(wanted.size()) + " values, got " +
                        llvm::Twine(yielded.size()));
    for (auto [value, type] : llvm::zip(yielded, wanted))
      if (value.type != type)
        return raiseValue("tl." + name + ": the function must return the types it was given, " + type.str() +
                          ", but returns " + value.type.str() + "; cast inside the function");
    return true;
  }
};

/// The attributes of an operation whose region calls `function`. In eager mode one more names a function of the language.
llvm::SmallVector<mlir::NamedAttribute> regionAttributes(Builder& b, PyObject* function,
                                                         llvm::ArrayRef<mlir::NamedAttribute> attributes) {
  llvm::SmallVector<mlir::NamedAttribute> all(attributes);
  if (!b.isEager()) return all;
  if (llvm::StringRef(moduleNameOf(unwrap(function))).starts_with("tiletwin.language"))
    all.push_back(integer(b, kRegionIdentity, int64_t(reinterpret_cast<uintptr_t>(unwrap(function))), 64));
  return all;
}

/// The operation whose region combines two elements of each block; results are blocks of `shape`.
bool combine(Builder& b, llvm::StringRef name, const std::string& operation, PyObject* function,
             llvm::ArrayRef<Value> blocks, llvm::ArrayRef<int64_t> shape,
             llvm::ArrayRef<mlir::NamedAttribute> attributes, llvm::SmallVectorImpl<Value>& results) {
  CallRegion body{function, {}, name};
  llvm::SmallVector<Type> types;
  for (const Value& block : blocks) {
    body.wanted.push_back(block.type.element());
    types.push_back(block.type.withShape(shape));
  }
  const std::string terminator = operation + ".return";
  RegionSpec region;
  region.arguments.append(body.wanted);
  region.arguments.append(body.wanted);
  region.terminator = terminator;
  region.body = body;
  return b.create(operation, blocks, types, regionAttributes(b, function, attributes), results, &region) &&
         results.size() == blocks.size();
}

PyRef oneOrTuple(llvm::ArrayRef<Value> values, bool isTuple) { return isTuple ? result(values) : result(values[0]); }

// reduce(input, axis, combine_fn, keep_dims)
PyRef buildReduce(Builder& b, llvm::ArrayRef<PyObject*> args) {
  llvm::SmallVector<Value> blocks;
  bool isTuple = false, keepDims = false;
  if (!blockOperands(args[0], "reduce", blocks, isTuple) || !constantBool(args[3], "tl.reduce: keep_dims", keepDims))
    return {};
  llvm::SmallVector<int64_t> shape(blocks[0].type.shape.begin(), blocks[0].type.shape.end());
  size_t rank = shape.size();
  int64_t axis = 0;
  bool all = isNone(args[1]);
  if (all) {
    for (Value& block : blocks)
      if (!(block = reshape(b, block, block.type.numel(), true))) return {};
    shape.clear();
  } else {
    if (!reduceAxis(args[1], "reduce", rank, axis)) return {};
    shape.erase(shape.begin() + axis);
  }
  llvm::SmallVector<Value> results;
  if (!combine(b, "reduce", "tt.reduce", args[2], blocks, shape, integer(b, "axis", axis), results)) return {};
  if (keepDims)
    for (Value& value : results)
      for (size_t i = 0, n = all ? rank : 1; i < n; ++i)
        if (!(value = expandDims(b, value, all ? 0 : axis))) return {};
  return oneOrTuple(results, isTuple);
}

// associative_scan(input, axis, combine_fn, reverse)
PyRef buildScan(Builder& b, llvm::ArrayRef<PyObject*> args) {
  llvm::SmallVector<Value> blocks;
  bool isTuple = false, reverse = false;
  int64_t axis = 0;
  if (!blockOperands(args[0], "associative_scan", blocks, isTuple) ||
      !reduceAxis(args[1], "associative_scan", blocks[0].type.shape.size(), axis) ||
      !constantBool(args[3], "tl.associative_scan: reverse", reverse))
    return {};
  llvm::SmallVector<Value> results;
  if (!combine(b, "associative_scan", "tt.scan", args[2], blocks, blocks[0].type.shape,
               {integer(b, "axis", axis), boolean(b, "reverse", reverse)}, results))
    return {};
  return oneOrTuple(results, isTuple);
}

// map_elementwise(scalar_fn, *args, pack): only the call inside the region tells the results' types.
PyRef buildMapElementwise(Builder& b, llvm::ArrayRef<PyObject*> args) {
  llvm::SmallVector<PyRef> items;
  int64_t pack = 1;
  if (!sequenceItems(args[1], "tl.map_elementwise: arguments", items) ||
      !constantInt(args[2], "tl.map_elementwise: pack", pack))
    return {};
  if (items.empty() || pack < 1)
    return raiseValue(items.empty() ? "tl.map_elementwise needs at least one tensor"
                                    : "tl.map_elementwise: pack must be at least 1");
  llvm::SmallVector<Value> blocks;
  if (!tensorsOfOneShape(b, items, "map_elementwise", blocks)) return {};
  if (!blocks[0].type.isBlock()) return raiseValue("tl.map_elementwise needs at least one block among its arguments");
  RegionSpec region;
  for (const Value& block : blocks) region.arguments.append(pack, block.type.element());
  region.terminator = "tt.map_elementwise.return";
  llvm::SmallVector<Type> resultTypes;
  auto body = [&](Builder& inside, llvm::ArrayRef<Value> arguments, llvm::SmallVectorImpl<Value>& yielded) {
    if (!callJit(inside, unwrap(args[0]), arguments, yielded)) return false;
    if (yielded.empty() || yielded.size() % pack != 0)
      return bool(raiseValue("tl.map_elementwise: the function returns " + llvm::Twine(yielded.size()) +
                             " values; with pack=" + llvm::Twine(pack) + " it must return a multiple of that"));
    for (const Value& value : yielded)
      if (value.type.isBlock())
        return bool(raiseValue("tl.map_elementwise: the function must return scalars, got " + value.type.str()));
    resultTypes.clear();
    for (size_t i = 0; i < yielded.size(); i += pack)
      resultTypes.push_back(yielded[i].type.withShape(blocks[0].type.shape));
    return true;
  };
  region.body = body;
  region.resultTypes = &resultTypes;
  llvm::SmallVector<Value> results;
  if (!b.create("tt.map_elementwise", blocks, {}, integer(b, "pack", pack), results, &region) || results.empty())
    return {};
  // A single result comes bare unless the function works on packs and returns a tuple of them.
  return oneOrTuple(results, results.size() > 1 || pack > 1);
}

// histogram(input, num_bins, mask)
PyRef buildHistogram(Builder& b, llvm::ArrayRef<PyObject*> args) {
  int64_t bins = 0;
  Value x = blockArgument(args[0], "tl.histogram: input");
  if (!x || !constantInt(args[1], "tl.histogram: num_bins", bins)) return {};
  if (x.type.shape.size() != 1)
    return raiseValue("tl.histogram takes a 1-D block, got shape " + shapeText(x.type.shape));
  if (!x.type.isInt() || x.type.bits() != 32)
    return raiseValue("tl.histogram takes 32-bit integers, got " + x.type.str() + "; cast first, as in x.to(tl.int32)");
  if (!checkShape(bins, "tl.histogram: num_bins")) return {};
  llvm::SmallVector<Value> operands{x};
  if (!isNone(args[2])) {
    Value mask = tensorArgument(b, args[2], "tl.histogram: mask");
    if (mask && !mask.type.isBool())
      return raiseValue("tl.histogram: mask must be of type int1, got " + mask.type.str());
    if (!mask || !(mask = broadcastTo(b, mask, x.type.shape))) return {};
    operands.push_back(mask);
  }
  return result(b.create1("tt.histogram", operands, scalarType(Scalar::I32).withShape(bins)));
}

constexpr BuiltinRow kRows[] = {
    {"associative_scan", buildScan},
    {"histogram", buildHistogram},
    {"map_elementwise", buildMapElementwise},
    {"reduce", buildReduce},
};

} // namespace

llvm::ArrayRef<BuiltinRow> reduceBuiltins() { return kRows; }

} // namespace tiletwin::frontend
