// frontend/Type.cpp -- names, widths and MLIR counterparts of the language's types.
// Here:      Type's members, parsing of signature strings.
// Not here:  promotion (Promotion.cpp), Python dtype objects (TypeObjects.cpp).
#include "frontend/Type.h"
#include "ir/TT.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

namespace tiletwin::frontend {
namespace {

struct ScalarRow {
  Scalar scalar;
  llvm::StringLiteral name;      ///< as the language prints it
  llvm::StringLiteral signature; ///< as signatures and mangled names spell it
  int bits;
};

constexpr ScalarRow kScalars[] = {
    {Scalar::Void, "void", "void", 0},
    {Scalar::I1, "int1", "u1", 1},
    {Scalar::I8, "int8", "i8", 8},
    {Scalar::I16, "int16", "i16", 16},
    {Scalar::I32, "int32", "i32", 32},
    {Scalar::I64, "int64", "i64", 64},
    {Scalar::U8, "uint8", "u8", 8},
    {Scalar::U16, "uint16", "u16", 16},
    {Scalar::U32, "uint32", "u32", 32},
    {Scalar::U64, "uint64", "u64", 64},
    {Scalar::F8E5, "fp8e5", "fp8e5", 8},
    {Scalar::F8E4NV, "fp8e4nv", "fp8e4nv", 8},
    {Scalar::F8E4B15, "fp8e4b15", "fp8e4b15", 8},
    {Scalar::F8E4B8, "fp8e4b8", "fp8e4b8", 8},
    {Scalar::F8E5B16, "fp8e5b16", "fp8e5b16", 8},
    {Scalar::F16, "fp16", "fp16", 16},
    {Scalar::BF16, "bf16", "bf16", 16},
    {Scalar::F32, "fp32", "fp32", 32},
    {Scalar::F64, "fp64", "fp64", 64},
};

const ScalarRow& row(Scalar s) { return kScalars[size_t(s)]; }

mlir::Type scalarToMlir(Scalar s, mlir::MLIRContext* ctx) {
  switch (s) {
  case Scalar::Void: return mlir::NoneType::get(ctx);
  case Scalar::F8E5: return mlir::Float8E5M2Type::get(ctx);
  case Scalar::F8E4NV: return mlir::Float8E4M3FNType::get(ctx);
  case Scalar::F8E4B15: return mlir::IntegerType::get(ctx, 8); // no MLIR float has its bias; its bits travel as i8
  case Scalar::F8E4B8: return mlir::Float8E4M3FNUZType::get(ctx);
  case Scalar::F8E5B16: return mlir::Float8E5M2FNUZType::get(ctx);
  case Scalar::F16: return mlir::Float16Type::get(ctx);
  case Scalar::BF16: return mlir::BFloat16Type::get(ctx);
  case Scalar::F32: return mlir::Float32Type::get(ctx);
  case Scalar::F64: return mlir::Float64Type::get(ctx);
  default: return mlir::IntegerType::get(ctx, row(s).bits);
  }
}

} // namespace

int Type::bits() const { return pointer ? 64 : row(scalar).bits; }

int64_t Type::numel() const {
  int64_t n = 1;
  for (int64_t d : shape) n *= d;
  return n;
}

Type Type::withShape(llvm::ArrayRef<int64_t> s) const {
  Type t = *this;
  t.shape.assign(s.begin(), s.end());
  return t;
}

Type Type::element() const {
  Type t = *this;
  t.shape.clear();
  t.descriptor = false;
  return t;
}

Type Type::pointee() const {
  Type t = element();
  if (t.pointerDepth > 1) {
    t.pointerDepth -= 1;
  } else {
    t.pointer = false;
    t.pointerDepth = 1;
  }
  t.constPointer = false;
  return t;
}

std::string Type::str() const {
  std::string text = row(scalar).name.str();
  if (pointer)
    for (int i = 0; i < pointerDepth; ++i)
      text = (constPointer && i + 1 == pointerDepth ? "const_pointer<" : "pointer<") + text + ">";
  std::string dims;
  for (auto [i, d] : llvm::enumerate(shape)) dims += (i ? ", " : "") + std::to_string(d);
  if (descriptor) return "tensordesc<" + text + "[" + dims + "]>";
  return shape.empty() ? text : "<[" + dims + "], " + text + ">";
}

std::string Type::mangled() const {
  std::string text = row(scalar).signature.str();
  if (pointer) text = std::string(pointerDepth, 'P') + text;
  std::string dims;
  for (auto [i, d] : llvm::enumerate(shape)) dims += (i ? "_" : "") + std::to_string(d);
  if (descriptor) return "TD" + text + "S" + dims + "S";
  return shape.empty() ? text : text + "S" + dims + "S";
}

mlir::Type Type::toMlir(mlir::MLIRContext* ctx) const {
  mlir::Type element = scalarToMlir(scalar, ctx);
  if (descriptor) {
    // Only descriptors keep an integer's signedness in the IR: a memory reduction needs it.
    if (isa<mlir::IntegerType>(element) && row(scalar).bits > 1)
      element = mlir::IntegerType::get(ctx, row(scalar).bits,
                                       scalar >= Scalar::U8 ? mlir::IntegerType::Unsigned : mlir::IntegerType::Signed);
    return tt::TensorDescType::get(shape, element);
  }
  if (pointer)
    for (int i = 0; i < pointerDepth; ++i)
      element = tt::PointerType::get(
          ctx, element, constPointer && i + 1 == pointerDepth ? tt::AddressSpace::Constant : tt::AddressSpace::Global);
  return shape.empty() ? element : mlir::Type(mlir::RankedTensorType::get(shape, element));
}

Type scalarType(Scalar s) {
  Type t;
  t.scalar = s;
  return t;
}

Type pointerTo(Type pointee, bool isConst) {
  Type t = pointee.element();
  t.pointerDepth = t.pointer ? t.pointerDepth + 1 : 1;
  t.pointer = true;
  t.constPointer = isConst;
  return t;
}

bool parseTypeString(llvm::StringRef text, Type& out) {
  if (text.consume_front("*")) {
    bool isConst = text.consume_front("k");
    Type pointee;
    if (!parseTypeString(text, pointee) || pointee.isDescriptor()) return false;
    out = pointerTo(pointee, isConst);
    return true;
  }
  if (text.consume_front("tensordesc<") && text.consume_back(">")) { // tensordesc<fp32[8, 16]>
    auto [name, dims] = text.split('[');
    Type element;
    if (!dims.consume_back("]") || !parseTypeString(name, element) || element.isPointer()) return false;
    for (llvm::StringRef d : llvm::split(dims, ',')) {
      int64_t n = 0;
      if (d.trim().getAsInteger(10, n)) return false;
      element.shape.push_back(n);
    }
    element.descriptor = true;
    out = element;
    return true;
  }
  if (text == "i1") text = "u1";
  for (const ScalarRow& r : kScalars)
    if (r.scalar != Scalar::Void && (r.signature == text || r.name == text)) {
      out = scalarType(r.scalar);
      return true;
    }
  return false;
}

bool scalarFromName(llvm::StringRef name, Scalar& out) {
  for (const ScalarRow& r : kScalars)
    if (r.name == name) {
      out = r.scalar;
      return true;
    }
  return false;
}

llvm::StringRef scalarName(Scalar s) { return row(s).name; }

} // namespace tiletwin::frontend
