// frontend/DescriptorBuiltins.cpp -- tensor descriptors: making, loading, storing, gathering, memory reductions.
// Here:      rules 32 and 33.
// Not here:  the Python object (DescriptorObject.cpp).
#include "frontend/Builtins.h"
#include "frontend/Emit.h"
#include "ir/TT.h"

namespace tiletwin::frontend {
namespace {

constexpr int64_t kGranule = 16; ///< bytes that strides and the last block dimension are counted in

// make_tensor_descriptor(base, shape, strides, block_shape, padding_option)
PyRef buildMake(Builder& b, llvm::ArrayRef<PyObject*> args) {
  constexpr llvm::StringLiteral kName = "tl.make_tensor_descriptor";
  PyObject* basePlain = unwrap(args[0]);
  if (!isTensor(basePlain) || !tensorValue(basePlain).type.isPointer() || tensorValue(basePlain).type.isBlock())
    return raiseType(kName + ": base must be one pointer, got " + given(basePlain));
  Value base = tensorValue(basePlain);
  Type element = base.type.pointee();
  llvm::SmallVector<PyRef> shape, strides;
  llvm::SmallVector<int64_t> block;
  std::string padding;
  if (!sequenceItems(args[1], kName + ": shape", shape) || !sequenceItems(args[2], kName + ": strides", strides) ||
      !constantShape(args[3], kName + ": block_shape", block) ||
      !constantString(args[4], kName + ": padding_option", padding))
    return {};
  size_t rank = shape.size();
  if (rank < 1 || rank > 5) return raiseValue(kName + ": a descriptor has 1 to 5 dimensions, got " + llvm::Twine(rank));
  if (strides.size() != rank || block.size() != rank)
    return raiseValue(kName + ": shape, strides and block_shape must have one length, got " + llvm::Twine(rank) + ", " +
                      llvm::Twine(strides.size()) + " and " + llvm::Twine(block.size()));
  int64_t bytes = std::max(1, element.bits() / 8);
  if (block.back() * bytes < kGranule)
    return raiseValue(kName + ": Descriptor block shape must have at least 16 bytes in the last dimension, got " +
                      llvm::Twine(block.back()) + " * " + llvm::Twine(bytes) + " = " +
                      llvm::Twine(block.back() * bytes));
  PyObject* last = unwrap(strides.back().get());
  int64_t lastStride = 0;
  if (isTensor(last))
    return raiseValue(kName + ": the last stride must be the compile-time int 1, got a run-time tensor");
  if (!constantInt(last, kName + ": the last stride", lastStride)) return {};
  if (lastStride != 1) return raiseValue(kName + ": the last stride must be 1, got " + llvm::Twine(lastStride));
  for (size_t i = 0; i + 1 < rank; ++i) {
    PyObject* stride = unwrap(strides[i].get());
    int64_t known = 0;
    if (isNumber(stride) && !constantInt(stride, kName + ": stride", known)) return {};
    if (known * bytes % kGranule != 0)
      return raiseValue(kName + ": stride " + llvm::Twine(i) + " must be a multiple of 16 bytes, got " +
                        llvm::Twine(known) + " elements of " + llvm::Twine(bytes) + " bytes");
  }
  if (padding != "zero" && padding != "nan")
    return raiseValue(kName + ": padding_option must be 'zero' or 'nan', got '" + padding + "'");
  if (padding == "nan" && !element.isFloat())
    return raiseValue(kName + ": padding_option 'nan' needs a float type, got " + element.str());
  llvm::SmallVector<Value> operands{base};
  llvm::SmallVector<PyRef> shapeTensors, strideTensors;
  for (const PyRef& item : shape) {
    operands.push_back(scalarInteger(b, item.get(), kName + ": shape", scalarType(Scalar::I32)));
    shapeTensors.push_back(result(operands.back()));
    if (!shapeTensors.back()) return {};
  }
  for (const PyRef& item : strides) {
    operands.push_back(scalarInteger(b, item.get(), kName + ": strides", scalarType(Scalar::I64)));
    strideTensors.push_back(result(operands.back()));
    if (!strideTensors.back()) return {};
  }
  Type type = element.withShape(block);
  type.descriptor = true;
  llvm::SmallVector<mlir::NamedAttribute> attributes{segments(b, {1, int32_t(rank), int32_t(rank)})};
  if (padding == "nan") attributes.push_back(integer(b, "padding", int64_t(tt::Padding::NaN)));
  Value made = b.create1("tt.make_tensor_descriptor", operands, type, attributes);
  PyRef shapeTuple = made ? makeTuple(shapeTensors) : PyRef(),
        strideTuple = shapeTuple ? makeTuple(strideTensors) : PyRef();
  return strideTuple ? makeDescriptor(made, shapeTuple.get(), strideTuple.get()) : PyRef();
}

Value descriptorArgument(PyObject* arg, llvm::StringRef function) {
  PyObject* plain = unwrap(arg);
  if (isDescriptor(plain)) return descriptorValue(plain);
  if (isTensor(plain) && tensorValue(plain).type.isDescriptor()) return tensorValue(plain);
  return raiseType("tl." + function + ": desc must be a tensor descriptor, got " + given(plain));
}

/// 32-bit offsets; wider ones are an error, so that nothing is cut off unseen.
Value offset(Builder& b, PyObject* arg, llvm::StringRef function) {
  PyObject* plain = unwrap(arg);
  if (isTensor(plain) && tensorValue(plain).type.isInt() && tensorValue(plain).type.bits() > 32)
    return raiseValue("tl." + function + ": offsets are 32-bit integers, got " + tensorValue(plain).type.str() +
                      "; add .to(tl.int32)");
  return scalarInteger(b, plain, "tl." + function + ": offset", scalarType(Scalar::I32));
}
bool offsets(Builder& b, llvm::StringRef function, const Value& descriptor, PyObject* arg,
             llvm::SmallVectorImpl<Value>& operands) {
  llvm::SmallVector<PyRef> items;
  if (!sequenceItems(arg, "tl." + function + ": offsets", items)) return false;
  if (items.size() != descriptor.type.shape.size())
    return raiseValue("tl." + function + ": the descriptor has " + llvm::Twine(descriptor.type.shape.size()) +
                      " dimensions, got " + llvm::Twine(items.size()) + " offsets");
  for (const PyRef& item : items) {
    operands.push_back(offset(b, item.get(), function));
    if (!operands.back()) return false;
  }
  return true;
}
Type blockOf(const Value& descriptor) { return descriptor.type.element().withShape(descriptor.type.shape); }

Value blockToWrite(Builder& b, llvm::StringRef function, const Value& descriptor, PyObject* arg,
                   llvm::ArrayRef<int64_t> shape) {
  Value value = tensorArgument(b, arg, "tl." + function + ": value");
  if (value && llvm::ArrayRef<int64_t>(value.type.shape) != shape)
    return raiseValue("tl." + function + ": value must have the shape " + shapeText(shape) + ", got " +
                      shapeText(value.type.shape));
  return value ? cast(b, value, descriptor.type.element()) : value;
}

// load_tensor_descriptor(desc, offsets)
PyRef buildLoad(Builder& b, llvm::ArrayRef<PyObject*> args) {
  Value descriptor = descriptorArgument(args[0], "load_tensor_descriptor");
  llvm::SmallVector<Value> operands{descriptor};
  if (!descriptor || !offsets(b, "load_tensor_descriptor", descriptor, args[1], operands)) return {};
  return result(b.create1("tt.descriptor_load", operands, blockOf(descriptor)));
}

// store_tensor_descriptor(desc, offsets, value)
PyRef buildStore(Builder& b, llvm::ArrayRef<PyObject*> args) {
  Value descriptor = descriptorArgument(args[0], "store_tensor_descriptor");
  llvm::SmallVector<Value> operands{descriptor};
  if (!descriptor || !offsets(b, "store_tensor_descriptor", descriptor, args[1], operands)) return {};
  operands.push_back(blockToWrite(b, "store_tensor_descriptor", descriptor, args[2], descriptor.type.shape));
  return operands.back() ? resultNone(emit(b, "tt.descriptor_store", operands)) : PyRef();
}

struct ReduceRow {
  llvm::StringLiteral function;
  tt::DescriptorReduceKind kind;
  bool floats;
};
constexpr ReduceRow kReductions[] = {
    {"descriptor_atomic_add", tt::DescriptorReduceKind::Add, true},
    {"descriptor_atomic_and", tt::DescriptorReduceKind::And, false},
    {"descriptor_atomic_max", tt::DescriptorReduceKind::Max, true},
    {"descriptor_atomic_min", tt::DescriptorReduceKind::Min, true},
    {"descriptor_atomic_or", tt::DescriptorReduceKind::Or, false},
    {"descriptor_atomic_xor", tt::DescriptorReduceKind::Xor, false},
};
template <size_t index> PyRef buildReduce(Builder& b, llvm::ArrayRef<PyObject*> args) {
  const ReduceRow& row = kReductions[index];
  Value descriptor = descriptorArgument(args[0], row.function);
  if (!descriptor) return {};
  Type element = descriptor.type.element();
  bool wideInt = element.isInt() && element.bits() >= 32,
       half = element.scalar == Scalar::F16 || element.scalar == Scalar::BF16;
  bool allowed =
      wideInt || (row.floats && (half || (element.scalar == Scalar::F32 && row.kind == tt::DescriptorReduceKind::Add)));
  if (!allowed)
    return raiseValue(
        "tl." + row.function + " takes 32- and 64-bit integers" +
        (row.floats ? row.kind == tt::DescriptorReduceKind::Add ? ", fp16, bf16 and fp32" : ", fp16 and bf16" : "") +
        ", got " + element.str());
  llvm::SmallVector<Value> operands{descriptor};
  if (!offsets(b, row.function, descriptor, args[1], operands)) return {};
  operands.push_back(blockToWrite(b, row.function, descriptor, args[2], descriptor.type.shape));
  return operands.back() ? resultNone(emit(b, "tt.descriptor_reduce", operands, integer(b, "kind", int64_t(row.kind))))
                         : PyRef();
}

/// Checks the parts that gather and scatter share; the shape of the rows together.
bool rowsArgument(llvm::StringRef function, const Value& descriptor, PyObject* arg, Value& rows,
                  llvm::SmallVectorImpl<int64_t>& shape) {
  llvm::ArrayRef<int64_t> block = descriptor.type.shape;
  if (block.size() != 2 || block[0] != 1)
    return raiseValue("tl." + function + ": the descriptor's block shape must be (1, N), got " + shapeText(block));
  rows = blockArgument(arg, "tl." + function + ": x_offsets");
  if (!rows) return false;
  if (rows.type.shape.size() != 1 || !rows.type.isInt() || (rows.type.bits() != 16 && rows.type.bits() != 32))
    return raiseValue("tl." + function + ": x_offsets must be a 1-D block of int16 or int32, got " + rows.type.str());
  if (rows.type.shape[0] < 8)
    return raiseValue("tl." + function + ": x_offsets must name at least 8 rows, got " +
                      llvm::Twine(rows.type.shape[0]));
  shape.assign({rows.type.shape[0], block[1]});
  return true;
}

// descriptor_gather(desc, x_offsets, y_offset)
PyRef buildGather(Builder& b, llvm::ArrayRef<PyObject*> args) {
  Value descriptor = descriptorArgument(args[0], "descriptor_gather"), rows;
  llvm::SmallVector<int64_t> shape;
  if (!descriptor || !rowsArgument("descriptor_gather", descriptor, args[1], rows, shape)) return {};
  Value column = offset(b, args[2], "descriptor_gather");
  return column ? result(b.create1("tt.descriptor_gather", {descriptor, rows, column},
                                   descriptor.type.element().withShape(shape)))
                : PyRef();
}

// descriptor_scatter(desc, value, x_offsets, y_offset)
PyRef buildScatter(Builder& b, llvm::ArrayRef<PyObject*> args) {
  Value descriptor = descriptorArgument(args[0], "descriptor_scatter"), rows;
  llvm::SmallVector<int64_t> shape;
  if (!descriptor || !rowsArgument("descriptor_scatter", descriptor, args[2], rows, shape)) return {};
  Value value = blockToWrite(b, "descriptor_scatter", descriptor, args[1], shape);
  Value column = value ? offset(b, args[3], "descriptor_scatter") : Value();
  return column ? resultNone(emit(b, "tt.descriptor_scatter", {descriptor, rows, column, value})) : PyRef();
}

constexpr BuiltinRow kRows[] = {
    {"descriptor_atomic_add", buildReduce<0>}, {"descriptor_atomic_and", buildReduce<1>},
    {"descriptor_atomic_max", buildReduce<2>}, {"descriptor_atomic_min", buildReduce<3>},
    {"descriptor_atomic_or", buildReduce<4>},  {"descriptor_atomic_xor", buildReduce<5>},
    {"descriptor_gather", buildGather},        {"descriptor_scatter", buildScatter},
    {"load_tensor_descriptor", buildLoad},     {"make_tensor_descriptor", buildMake},
    {"store_tensor_descriptor", buildStore},
};

} // namespace

llvm::ArrayRef<BuiltinRow> descriptorBuiltins() { return kRows; }

} // namespace tiletwin::frontend
