// interp/plan/Values.cpp -- representations of values, and the ways from one to another.
// Here:      types and shapes, Rep constructors, materialising symbolic values, copies.
// Not here:  groups' inside (Groups.cpp), single operations.
// Invariant: a Rep's registers are defined before the current instruction; a pending Rep belongs to an open group.
#include "interp/plan/Builder.h"
#include "ir/TT.h"
#include "mlir/IR/BuiltinTypes.h"

namespace tiletwin::interp {

DType PlanBuilder::dtypeOf(mlir::Type t) const {
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

Shape PlanBuilder::shapeOf(mlir::Type t) {
  auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(t);
  return tensor ? Shape(tensor.getShape()) : Shape();
}

Rep& PlanBuilder::rep(mlir::Value v) { return reps_[v]; }
void PlanBuilder::set(mlir::Value v, Rep r) { reps_[v] = std::move(r); }

Rep PlanBuilder::scalarRep(DType type, Uniform u, int root) const {
  Rep r;
  r.kind = Rep::Scalar;
  r.type = type;
  r.base = u;
  r.root = root;
  return r;
}
Rep PlanBuilder::splatRep(DType type, llvm::ArrayRef<int64_t> shape, Uniform u, int root) const {
  Rep r = scalarRep(type, u, root);
  r.kind = Rep::Affine;
  r.shape = Shape(shape);
  r.strides.assign(shape.size(), Uniform::of(0));
  return r;
}
Rep PlanBuilder::formOfType(mlir::Type t) const {
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
TileRef PlanBuilder::denseRef(Reg reg, DType type, llvm::ArrayRef<int64_t> shape) const {
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
Rep PlanBuilder::tileRep(DType type, llvm::ArrayRef<int64_t> shape, Reg reg) const {
  Rep r;
  r.kind = Rep::Tile;
  r.type = type;
  r.shape = Shape(shape);
  r.tile = denseRef(reg, type, shape);
  return r;
}

bool PlanBuilder::isDense(const TileRef& ref, DType type, llvm::ArrayRef<int64_t> shape) {
  if (ref.view || ref.offset) return false;
  int64_t stride = int64_t(sizeOf(type));
  for (size_t d = shape.size(); d-- > 0;) {
    if (shape[d] != 1 && (ref.strides[d].cell >= 0 || ref.strides[d].value != stride)) return false;
    stride *= shape[d];
  }
  return true;
}

Uniform PlanBuilder::uniformOf(mlir::Value v) { return rep(v).base; }

TileRef PlanBuilder::tileOf(mlir::Value v) {
  if (rep(v).pending()) flush(rep(v).group);
  Rep& r = rep(v);
  if (r.kind == Rep::Tile) return r.tile;
  if (r.isSplat() || r.kind == Rep::Scalar) {
    TileRef ref;
    ref.base = cell(r.base);
    ref.strides.resize(r.shape.size());
    return ref;
  }
  Reg tile = copyOf(v);
  Rep& again = rep(v);
  return denseRef(tile, again.type, again.shape);
}

Reg PlanBuilder::denseOf(mlir::Value v) {
  if (rep(v).pending()) flush(rep(v).group);
  Rep& r = rep(v);
  if (r.kind == Rep::Tile && isDense(r.tile, r.type, r.shape)) return r.tile.base;
  return copyOf(v);
}

Reg PlanBuilder::copyOf(mlir::Value v) {
  Rep& r = rep(v);
  Reg dst = newTile(r.type, r.shape);
  writeTo(v, dst);
  return dst;
}

} // namespace tiletwin::interp
