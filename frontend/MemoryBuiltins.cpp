// frontend/MemoryBuiltins.cpp -- load, store and prefetch (rules 19, 25 to 30).
// Not here:  atomics (AtomicBuiltins.cpp), descriptors (DescriptorBuiltins.cpp), what a block pointer stands for
// (BlockPointerBuiltins.cpp).
// Invariant: an int1 is one byte in memory: it is read as i8 and compared with 0, and stored as i8 0 or 1.
#include "frontend/Builtins.h"
#include "frontend/Emit.h"
#include "ir/TT.h"
#include <cmath>

namespace tiletwin::frontend {
namespace {

constexpr llvm::StringLiteral kLoadModifiers[] = {"", ".ca", ".cg", ".cs", ".cv"};
constexpr llvm::StringLiteral kStoreModifiers[] = {"", ".wb", ".cg", ".cs", ".wt"};

/// Appends cachePolicy unless both are the defaults.
bool cachePolicy(Builder& b, llvm::StringRef function, bool isLoad, PyObject* cacheArg, PyObject* evictionArg,
                 llvm::SmallVectorImpl<mlir::NamedAttribute>& attributes) {
  std::string cache, eviction;
  if (!constantString(cacheArg, "tl." + function + ": cache_modifier", cache) ||
      !constantString(evictionArg, "tl." + function + ": eviction_policy", eviction))
    return false;
  if (!llvm::is_contained(isLoad ? kLoadModifiers : kStoreModifiers, llvm::StringRef(cache)))
    return raiseValue("tl." + function + ": unknown cache_modifier '" + cache + "'; it takes " +
                      (isLoad ? "'', '.ca', '.cg', '.cs' or '.cv'" : "'', '.wb', '.cg', '.cs' or '.wt'"));
  const auto policy = tt::symbolizeEvictionPolicy(eviction.empty() ? "evict_normal" : eviction);
  if (!policy)
    return raiseValue("tl." + function + ": unknown eviction_policy '" + eviction +
                      "'; it takes '', 'evict_first' or 'evict_last'");
  const auto modifier = tt::symbolizeCacheModifier(cache.empty() ? "none" : llvm::StringRef(cache).drop_front());
  if (*modifier != tt::CacheModifier::None || *policy != tt::EvictionPolicy::Normal)
    attributes.push_back(named("cachePolicy", tt::CachePolicyAttr::get(b.context(), *modifier, *policy)));
  return true;
}

/// A pointer argument; int1 pointees become int8, remembered in `wasBool`.
Value pointerArgument(const Builder& b, PyObject* arg, llvm::StringRef function) {
  PyObject* plain = unwrap(arg);
  if (!isTensor(plain))
    return raiseType("tl." + function + ": pointer must be a pointer or a block of pointers, got " + typeName(plain));
  if (!tensorValue(plain).type.isPointer())
    return raiseValue(
        "tl." + function + ": Unsupported ptr type " + tensorValue(plain).type.str() +
        ": a pointer or a block of pointers is needed; add it to a pointer argument, as in x_ptr + offsets");
  return checkSupported(b, tensorValue(plain).type) ? tensorValue(plain) : Value();
}
Value bytePointer(Builder& b, Value pointer) {
  if (pointer.type.scalar != Scalar::I1 || pointer.type.pointerDepth != 1) return pointer;
  Type bytes = pointer.type;
  bytes.scalar = Scalar::I8;
  return b.create1("tt.bitcast", pointer, bytes);
}

/// mask (int1) or another companion of the pointer, stretched to the pointer's shape.
bool companion(Builder& b, llvm::StringRef function, llvm::StringRef what, const Value& pointer, Value& x) {
  if (!pointer.type.isBlock() && x.type.isBlock())
    return raiseValue("tl." + function + ": " + llvm::Twine(char(what[0] - 'a' + 'A')) + what.drop_front() +
                      " argument cannot be block type if pointer argument is not a block: it is " + x.type.str() +
                      "; make the pointer a block of that shape");
  Value p = pointer;
  Type before = p.type;
  if (x.type.shape == p.type.shape) return true;
  if (x.type.shape.size() > p.type.shape.size())
    return raiseValue("tl." + function + ": " + what + " of shape " + shapeText(x.type.shape) +
                      " has more dimensions than the pointer, " + shapeText(before.shape));
  while (x.type.isBlock() && x.type.shape.size() < p.type.shape.size())
    if (!(x = expandDims(b, x, 0))) return false;
  x = broadcastTo(b, x, p.type.shape);
  return bool(x);
}
bool maskArgument(Builder& b, llvm::StringRef function, PyObject* arg, Value& mask) {
  mask = tensorArgument(b, arg, "tl." + function + ": mask");
  if (!mask) return false;
  if (!mask.type.isBool())
    return raiseValue("tl." + function + ": Mask must have boolean scalar type, got " + mask.type.str() +
                      "; compare, as in mask != 0");
  return true;
}

/// An ordinary access in place of one through a block pointer: its pointers and the mask of its boundary checks.
bool lowerBlockPointer(Builder& b, llvm::StringRef function, PyObject* pointer, PyObject* boundary, PyRef& pointers,
                       PyRef& mask) {
  const BlockPointer& block = blockPointerValue(pointer);
  llvm::SmallVector<bool> checked;
  Value addresses, inside;
  if (!boundaryDimensions(boundary, function, block.block.size(), checked) ||
      !pointersOfBlock(b, block, checked, addresses, inside))
    return false;
  pointers = makeTensor(addresses);
  mask = inside ? makeTensor(inside) : PyRef::borrow(Py_None);
  return pointers && mask;
}
/// boundary_check and padding_option without a block pointer.
bool refuseBlockOptions(llvm::StringRef function, PyObject* boundary, PyObject* padding) {
  PyObject* dimensions = unwrap(boundary);
  bool given = dimensions != Py_None && (!PySequence_Check(dimensions) || PySequence_Size(dimensions) != 0);
  std::string text;
  if (!given && padding && !constantString(padding, "tl." + function + ": padding_option", text)) return false;
  if (!given && text.empty()) return true;
  return raiseValue("tl." + function + ": boundary_check" + (padding ? " and padding_option are" : " is") +
                    " for block pointers (tl.make_block_ptr) only; with pointers, give a mask");
}

PyRef buildLoad(Builder& b, llvm::ArrayRef<PyObject*> args);
PyRef loadBlock(Builder& b, llvm::ArrayRef<PyObject*> args) {
  if (!isNone(args[1]) || !isNone(args[2]))
    return raiseValue("tl.load: a block pointer takes boundary_check and padding_option, not mask and other");
  std::string padding;
  PyRef pointers, mask, other = PyRef::borrow(Py_None);
  PyObject* plain = unwrap(args[0]);
  if (!constantString(args[7], "tl.load: padding_option", padding) ||
      !lowerBlockPointer(b, "load", plain, args[6], pointers, mask))
    return {};
  Type element = blockPointerValue(plain).base.type.pointee();
  if (padding != "" && padding != "zero" && padding != "nan")
    return raiseValue("tl.load: padding_option must be '', 'zero' or 'nan', got '" + padding + "'");
  if (padding == "nan" && !element.isFloat())
    return raiseValue("tl.load: padding_option 'nan' needs a float type, got " + element.str());
  if (mask.get() != Py_None && padding != "") {
    double fill = padding == "nan" ? NAN : 0.0;
    other = PyRef::steal(element.isFloat() ? PyFloat_FromDouble(fill) : PyLong_FromLong(0));
  }
  PyObject* none = Py_None;
  return buildLoad(b, {pointers.get(), mask.get(), other.get(), args[3], args[4], args[5], none, none});
}

// load(pointer, mask, other, *, cache_modifier, eviction_policy, volatile, boundary_check, padding_option)
PyRef buildLoad(Builder& b, llvm::ArrayRef<PyObject*> args) {
  if (isBlockPointer(unwrap(args[0]))) return loadBlock(b, args);
  if (!refuseBlockOptions("load", args[6], args[7])) return {};
  Value pointer = pointerArgument(b, args[0], "load");
  if (!pointer) return {};
  Type element = pointer.type.pointee();
  llvm::SmallVector<Value> operands;
  Value mask, other;
  if (isNone(args[1]) && !isNone(args[2]))
    return raiseValue("tl.load: `other` cannot be provided without `mask`: it is what masked elements become");
  if (!isNone(args[1])) {
    if (!maskArgument(b, "load", args[1], mask)) return {};
    // The pointer may be stretched by the mask's shape (rule 27).
    if (pointer.type.isBlock() && mask.type.isBlock()) {
      if (!broadcastTogether(b, pointer, mask)) return {};
    }
  }
  if (!isNone(args[2])) {
    other = tensorArgument(b, args[2], "tl.load: other");
    if (!other) return {};
    if (pointer.type.isBlock() && other.type.isBlock() && !broadcastTogether(b, pointer, other)) return {};
  }
  if (mask && !companion(b, "load", "mask", pointer, mask)) return {};
  if (other && !companion(b, "load", "other", pointer, other)) return {};
  bool isBool = element.isBool();
  pointer = bytePointer(b, pointer);
  if (!pointer) return {};
  Type stored = pointer.type.pointee();
  operands.push_back(pointer);
  if (mask) operands.push_back(mask);
  if (other) {
    other = cast(b, other, stored);
    if (!other) return {};
    operands.push_back(other);
  }
  llvm::SmallVector<mlir::NamedAttribute> attributes;
  bool isVolatile = false;
  if (!cachePolicy(b, "load", true, args[3], args[4], attributes) ||
      !constantBool(args[5], "tl.load: volatile", isVolatile))
    return {};
  if (isVolatile) attributes.push_back(boolean(b, "isVolatile", true));
  attributes.push_back(segments(b, {1, mask ? 1 : 0, other ? 1 : 0}));
  Value loaded = b.create1("tt.load", operands, stored.withShape(pointer.type.shape), attributes);
  return result(loaded && isBool ? cast(b, loaded, scalarType(Scalar::I1)) : loaded);
}

PyRef buildStore(Builder& b, llvm::ArrayRef<PyObject*> args);
PyRef storeBlock(Builder& b, llvm::ArrayRef<PyObject*> args) {
  if (!isNone(args[2])) return raiseValue("tl.store: a block pointer takes boundary_check, not a mask");
  PyObject* plain = unwrap(args[0]);
  const BlockPointer& block = blockPointerValue(plain);
  if (PyObject* value = unwrap(args[1]); isTensor(value)) {
    const Type& type = tensorValue(value).type;
    Type wanted = block.base.type.pointee().withShape(block.block);
    if (type.isBlock() && type.shape != wanted.shape)
      return raiseValue("tl.store: the block pointer's block has the shape " + shapeText(block.block) +
                        " and the value the shape " + shapeText(type.shape));
    if (type.element() != wanted.element())
      return raiseValue("tl.store: the block pointer's elements are " + wanted.element().str() + " and the value's " +
                        type.element().str() + "; convert it with .to()");
  }
  PyRef pointers, mask;
  if (!lowerBlockPointer(b, "store", plain, args[5], pointers, mask)) return {};
  return buildStore(b, {pointers.get(), args[1], mask.get(), args[3], args[4], Py_None});
}

// store(pointer, value, mask, *, cache_modifier, eviction_policy, boundary_check)
PyRef buildStore(Builder& b, llvm::ArrayRef<PyObject*> args) {
  if (isBlockPointer(unwrap(args[0]))) return storeBlock(b, args);
  if (!refuseBlockOptions("store", args[5], nullptr)) return {};
  Value pointer = pointerArgument(b, args[0], "store");
  if (!pointer) return {};
  if (pointer.type.constPointer)
    return raiseValue("tl.store: Cannot store to a constant pointer (" + pointer.type.str() + ")");
  Value value = tensorArgument(b, args[1], "tl.store: value"), mask;
  if (!value) return {};
  if (!isNone(args[2]) && !maskArgument(b, "store", args[2], mask)) return {};
  if (pointer.type.isBlock()) {
    for (Value* x : {&value, mask ? &mask : &value})
      if (x->type.isBlock() && x->type.shape.size() == pointer.type.shape.size())
        for (auto [have, want] : llvm::zip(x->type.shape, pointer.type.shape))
          if (want == 1 && have != 1)
            return raiseValue("tl.store: the pointer's shape " + shapeText(pointer.type.shape) + " is smaller than " +
                              shapeText(x->type.shape) +
                              ", the shape of what is stored; the pointer must have the final shape");
  }
  if (!companion(b, "store", "value", pointer, value) || (mask && !companion(b, "store", "mask", pointer, mask)))
    return {};
  bool isBool = pointer.type.pointee().isBool();
  pointer = bytePointer(b, pointer);
  if (!pointer) return {};
  if (isBool && !(value = cast(b, value, scalarType(Scalar::I1)))) return {};
  value = cast(b, value, pointer.type.pointee());
  if (!value) return {};
  llvm::SmallVector<Value> operands{pointer, value};
  if (mask) operands.push_back(mask);
  llvm::SmallVector<mlir::NamedAttribute> attributes;
  if (!cachePolicy(b, "store", false, args[3], args[4], attributes)) return {};
  return resultNone(emit(b, "tt.store", operands, attributes));
}

PyRef buildPrefetch(Builder& b, llvm::ArrayRef<PyObject*> args) {
  Value pointer = pointerArgument(b, args[0], "prefetch"), mask;
  if (!pointer || (!isNone(args[1]) && !maskArgument(b, "prefetch", args[1], mask)) ||
      (mask && !companion(b, "prefetch", "mask", pointer, mask)))
    return {};
  llvm::SmallVector<Value> operands{pointer};
  if (mask) operands.push_back(mask);
  return resultNone(emit(b, "tt.prefetch", operands));
}

constexpr BuiltinRow kRows[] = {
    {"load", buildLoad},
    {"prefetch", buildPrefetch},
    {"store", buildStore},
};

} // namespace

llvm::ArrayRef<BuiltinRow> memoryBuiltins() { return kRows; }

} // namespace tiletwin::frontend
