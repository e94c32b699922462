// interp/plan/Forms.cpp -- see Forms.h: types and shapes, making forms, and forms as text for `tiletwin ir --stage plan`.
// Not here:  proofs of ranges (RangeChecks.cpp), elements of what is symbolic (Elements.cpp).
#include "interp/plan/Forms.h"
#include "ir/TT.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"

namespace tiletwin::interp {

DType Forms::dtypeOf(mlir::Type t) const {
  if (auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(t)) t = tensor.getElementType();
  if (auto i = llvm::dyn_cast<mlir::IntegerType>(t)) switch (i.getWidth()) {
    case 1: return DType::I1;
    case 8: return DType::I8;
    case 16: return DType::I16;
    case 32: return DType::I32;
    default: return DType::I64;
    }
  if (t.isIndex()) return DType::I64;
  if (t.isF16()) return DType::F16;
  if (t.isBF16()) return DType::BF16;
  if (t.isF32()) return DType::F32;
  if (t.isF64()) return DType::F64;
  if (llvm::isa<mlir::Float8E5M2Type>(t)) return DType::F8E5M2;
  if (llvm::isa<mlir::Float8E4M3FNType>(t)) return DType::F8E4M3FN;
  if (llvm::isa<mlir::Float8E4M3B11FNUZType>(t)) return DType::F8E4M3B11FNUZ;
  if (llvm::isa<mlir::Float8E5M2FNUZType>(t)) return DType::F8E5M2FNUZ;
  if (llvm::isa<mlir::Float8E4M3FNUZType>(t)) return DType::F8E4M3FNUZ;
  return DType::Ptr;
}

Shape Forms::shapeOf(mlir::Type t) {
  auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(t);
  return tensor ? Shape(tensor.getShape()) : Shape();
}

Rep Forms::scalarRep(DType type, Uniform u, int root) const {
  Rep r;
  r.kind = Rep::Scalar;
  r.type = type;
  r.base = u;
  r.root = root;
  return r;
}
Rep Forms::splatRep(DType type, llvm::ArrayRef<int64_t> shape, Uniform u, int root) const {
  Rep r = scalarRep(type, u, root);
  r.kind = Rep::Affine;
  r.shape = Shape(shape);
  r.strides.assign(shape.size(), Uniform::of(0));
  return r;
}
Rep Forms::formOfType(mlir::Type t) const {
  auto descriptor = llvm::dyn_cast<tt::TensorDescType>(t);
  if (!descriptor) return scalarRep(dtypeOf(t), Uniform::of(0));
  Rep r = scalarRep(dtypeOf(descriptor.getBlockType()), Uniform::of(0));
  r.kind = Rep::Descriptor;
  r.shape = Shape(descriptor.getShape());
  r.strides.assign(r.shape.size(), Uniform::of(0));
  r.hi = r.strides;
  r.lo.assign(2, Uniform::of(0));
  return r;
}
TileRef Forms::denseRef(Reg reg, DType type, llvm::ArrayRef<int64_t> shape) const {
  TileRef ref;
  ref.base = reg;
  ref.strides.resize(shape.size());
  int64_t stride = int64_t(sizeOf(type));
  for (size_t d = shape.size(); d-- > 0;) {
    ref.strides[d].value = stride;
    stride *= shape[d];
  }
  return ref;
}
Rep Forms::tileRep(DType type, llvm::ArrayRef<int64_t> shape, Reg reg) const {
  Rep r;
  r.kind = Rep::Tile;
  r.type = type;
  r.shape = Shape(shape);
  r.tile = denseRef(reg, type, shape);
  return r;
}

bool Forms::isDense(const TileRef& ref, DType type, llvm::ArrayRef<int64_t> shape) {
  if (ref.view || ref.offset) return false;
  int64_t stride = int64_t(sizeOf(type));
  for (size_t d = shape.size(); d-- > 0;) {
    if (shape[d] != 1 && (ref.strides[d].cell >= 0 || ref.strides[d].value != stride)) return false;
    stride *= shape[d];
  }
  return true;
}

// ---- as text ----

/// What a value costs: bytes for each program that holds it.
static std::string bytesOf(const Rep& r) { return std::to_string(uint64_t(elementsOf(r.shape)) * sizeOf(r.type)); }

/// A constant: integers as numbers, others by their bits.
static std::string constantOf(int64_t value, DType type) {
  if (isInteger(type) || !value) return std::to_string(value);
  return "0x" + llvm::utohexstr(uint64_t(value), /*LowerCase=*/true);
}

static std::string sumOf(DType type, const Uniform& base, llvm::ArrayRef<Uniform> strides) {
  std::string text = base.constant ? constantOf(base.value, type) : "base";
  for (size_t d = 0; d < strides.size(); ++d) {
    const Uniform& s = strides[d];
    if (s.is(0)) continue;
    text += " + " + (s.constant ? std::to_string(s.value) : std::string("stride")) + " * i" + std::to_string(d);
  }
  return text;
}

static std::string boxOf(const Rep& r) {
  std::string text;
  for (size_t d = 0; d < r.lo.size(); ++d) {
    auto bound = [](const Uniform& u) { return u.constant ? std::to_string(u.value) : std::string("n"); };
    text += (d ? ", " : "") + bound(r.lo[d]) + " <= i" + std::to_string(d) + " < " + bound(r.hi[d]);
  }
  return text;
}

static std::string formOf(const Rep& r) {
  switch (r.kind) {
  case Rep::None: return "none";
  case Rep::Scalar: return "scalar" + (r.base.constant ? ": " + constantOf(r.base.value, r.type) : std::string());
  case Rep::Affine: return (r.isSplat() ? "splat: " : "affine: ") + sumOf(r.type, r.base, r.strides);
  case Rep::Box: return "box mask: " + boxOf(r);
  case Rep::Rows: return "rows: table along dimension " + std::to_string(r.tableDim);
  case Rep::Descriptor: return "descriptor";
  case Rep::Tile:
    if (r.tile.view) return "memory view";
    return r.tile.base == kNoReg ? "strip" : "dense: " + bytesOf(r) + " bytes"; // nothing outside its group reads it
  }
  return "none";
}

std::string Forms::formsText(mlir::Operation* func) {
  std::string text = "forms:\n";
  auto line = [&](mlir::Value v, llvm::StringRef by) {
    if (!has(v)) return;
    const SourceLocation& where = placeAt(v.getLoc());
    text += "  " + std::to_string(where.line) + ":" + std::to_string(where.column) + "  " + by.str();
    text += (where.variable.empty() ? "" : " (" + where.variable + ")") + "  " + formOf(rep(v)) + "\n";
  };
  func->walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation* op) {
    for (mlir::Value result : op->getResults()) line(result, op->getName().getStringRef());
    for (mlir::Region& region : op->getRegions())
      for (mlir::Block& block : region)
        for (mlir::BlockArgument argument : block.getArguments()) line(argument, "argument");
  });
  return text;
}

} // namespace tiletwin::interp
