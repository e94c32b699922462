// interp/plan/ShapeOps.cpp -- constants, ranges and everything that moves or renames elements without computing.
// Here:      symbolic and strided results where no element has to move; copies otherwise.
// Not here:  elementwise arithmetic, memory.
// Invariant: a strided result shares its source's registers, so it lives no longer than they do.
#include "interp/plan/Builder.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include <cstring>

namespace tiletwin::interp {

using mlir::LogicalResult;
using mlir::Operation;
using mlir::success;
using mlir::Value;

static int64_t bitsOf(const llvm::APInt& value, DType type) {
  return type == DType::I1 || isFloat(type) ? int64_t(value.getZExtValue()) : value.getSExtValue();
}

template <> LogicalResult plan(PlanBuilder& plan, arith::ConstantOp op) {
  Value result = op->getResult(0);
  DType type = plan.dtypeOf(result.getType());
  Shape shape = PlanBuilder::shapeOf(result.getType());
  mlir::Attribute value = op.getValue();
  auto bits = [&](mlir::Attribute a) {
    if (auto f = llvm::dyn_cast<mlir::FloatAttr>(a)) return bitsOf(f.getValue().bitcastToAPInt(), type);
    return bitsOf(llvm::cast<mlir::IntegerAttr>(a).getValue(), type);
  };
  auto dense = llvm::dyn_cast<mlir::DenseElementsAttr>(value);
  if (!dense) {
    if (!llvm::isa<mlir::FloatAttr, mlir::IntegerAttr>(value)) return plan.unsupported(op, "with this kind of value");
    return plan.bind(result, plan.scalarRep(type, Uniform::of(bits(value))));
  }
  if (dense.isSplat())
    return plan.bind(result, plan.splatRep(type, shape, Uniform::of(bits(dense.getSplatValue<mlir::Attribute>()))));
  std::vector<std::byte> bytes(size_t(elementsOf(shape)) * sizeOf(type));
  size_t at = 0;
  for (mlir::Attribute a : dense.getValues<mlir::Attribute>()) {
    int64_t element = bits(a);
    std::memcpy(bytes.data() + at, &element, sizeOf(type));
    at += sizeOf(type);
  }
  return plan.bindTile(result, plan.constantTile(std::move(bytes)));
}

template <> LogicalResult plan(PlanBuilder& plan, mlir::ub::PoisonOp op) {
  Value result = op->getResult(0);
  DType type = plan.dtypeOf(result.getType());
  Shape shape = PlanBuilder::shapeOf(result.getType());
  return plan.bind(result,
                   shape.empty() ? plan.formOfType(result.getType()) : plan.splatRep(type, shape, Uniform::of(0)));
}

template <> LogicalResult plan(PlanBuilder& plan, tt::MakeRangeOp op) {
  Value result = op->getResult(0);
  Rep r = plan.splatRep(DType::I32, PlanBuilder::shapeOf(result.getType()), Uniform::of(int32_t(op.getStart())));
  r.strides[0] = Uniform::of(1);
  return plan.bind(result, r);
}

template <> LogicalResult plan(PlanBuilder& plan, tt::SplatOp op) {
  Value result = op->getResult(0);
  Rep source = plan.rep(op->getOperand(0));
  return plan.bind(result,
                   plan.splatRep(source.type, PlanBuilder::shapeOf(result.getType()), source.base, source.root));
}

/// The first element of a tile register as a canonical scalar.
static Uniform firstElement(PlanBuilder& plan, Reg tile, DType type) {
  Reg dst = plan.newReg(8);
  BuildInstruction& in = plan.emit(execScalarStrip, "element");
  ScalarStripOp& data = plan.newData<ScalarStripOp>(in);
  data.fn = plan.tiles().elementwise(TwElementwise::Copy, PlanBuilder::bitsOf(type));
  data.sources = 1;
  data.type = type;
  plan.read(in, data.src[0], tile);
  plan.write(in, data.dst, dst);
  return Uniform::in(dst);
}

void bindElements(PlanBuilder& plan, Value v, Reg reg) {
  const DType type = plan.dtypeOf(v.getType());
  const Shape shape = PlanBuilder::shapeOf(v.getType());
  plan.set(v, shape.empty() ? plan.scalarRep(type, firstElement(plan, reg, type)) : plan.tileRep(type, shape, reg));
}

template <> LogicalResult plan(PlanBuilder& plan, tt::UnsplatOp op) {
  Value source = op->getOperand(0);
  DType type = plan.rep(source).type;
  int root = plan.rep(source).root;
  if (plan.rep(source).kind == Rep::Affine)
    return plan.bind(op->getResult(0), plan.scalarRep(type, plan.rep(source).base, root));
  Reg tile = plan.denseOf(source);
  return plan.bind(op->getResult(0), plan.scalarRep(type, firstElement(plan, tile, type), root));
}

/// The source's representation, with pending values flushed: what the renaming operations below start from.
static Rep settled(PlanBuilder& plan, Value v) {
  if (plan.rep(v).pending()) plan.flush(plan.rep(v).group);
  plan.materialiseRows(v);
  return plan.rep(v);
}

template <> LogicalResult plan(PlanBuilder& plan, tt::ExpandDimsOp op) {
  Rep r = settled(plan, op->getOperand(0));
  int64_t axis = int32_t(op.getAxis());
  if (axis < 0) axis += int64_t(r.shape.size()) + 1;
  r.shape.insert(r.shape.begin() + axis, 1);
  if (r.kind == Rep::Affine)
    r.strides.insert(r.strides.begin() + axis, Uniform::of(0));
  else if (r.kind == Rep::Box) {
    r.lo.insert(r.lo.begin() + axis, Uniform::of(0));
    r.hi.insert(r.hi.begin() + axis, Uniform::of(1));
  } else
    r.tile.strides.insert(r.tile.strides.begin() + axis, DimStride{});
  return plan.bind(op->getResult(0), r);
}

template <> LogicalResult plan(PlanBuilder& plan, tt::BroadcastOp op) {
  Rep r = settled(plan, op->getOperand(0));
  Shape shape = PlanBuilder::shapeOf(op->getResult(0).getType());
  for (size_t d = 0; d < shape.size(); ++d) {
    if (r.shape[d] == shape[d]) continue;
    if (r.kind == Rep::Affine)
      r.strides[d] = Uniform::of(0);
    else if (r.kind == Rep::Tile)
      r.tile.strides[d] = DimStride{};
    else if (r.lo[d].is(0) && r.hi[d].is(1))
      r.hi[d] = Uniform::of(shape[d]);
    else {
      Uniform inside = plan.scalar(ScalarOp::And, 1, plan.scalar(ScalarOp::Sle, 64, r.lo[d], Uniform::of(0)),
                                   plan.scalar(ScalarOp::Sge, 64, r.hi[d], Uniform::of(1)));
      r.lo[d] = Uniform::of(0);
      r.hi[d] = plan.scalar(ScalarOp::Select, 64, inside, Uniform::of(shape[d]), Uniform::of(0));
    }
  }
  r.shape = shape;
  return plan.bind(op->getResult(0), r);
}

template <> LogicalResult plan(PlanBuilder& plan, tt::TransOp op) {
  Rep r = settled(plan, op->getOperand(0));
  llvm::ArrayRef<int32_t> order = op.getOrder();
  Rep out = r;
  for (size_t d = 0; d < order.size(); ++d) {
    size_t s = size_t(order[d]);
    out.shape[d] = r.shape[s];
    if (r.kind == Rep::Affine)
      out.strides[d] = r.strides[s];
    else if (r.kind == Rep::Tile)
      out.tile.strides[d] = r.tile.strides[s];
    else
      out.lo[d] = r.lo[s], out.hi[d] = r.hi[s];
  }
  return plan.bind(op->getResult(0), out);
}

/// Strides after reshaping without moving elements; false if that cannot be. T needs: zero, times(stride, n), follows(outer, inner, n):
/// outer == inner * n is known.
template <class T, class Times, class Follows>
static bool reshapeStrides(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<T> strides, llvm::ArrayRef<int64_t> to,
                           llvm::SmallVectorImpl<T>& out, T zero, Times times, Follows follows) {
  out.assign(to.size(), zero);
  size_t i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    if (i < from.size() && from[i] == 1) {
      ++i;
      continue;
    }
    if (j < to.size() && to[j] == 1) {
      ++j;
      continue;
    }
    if (i >= from.size() || j >= to.size()) return false;
    // A block of source dimensions [i, iEnd) equals a block of destination dimensions [j, jEnd).
    size_t iEnd = i + 1, jEnd = j + 1;
    int64_t a = from[i], b = to[j];
    while (a != b) {
      if (a < b) {
        if (iEnd >= from.size()) return false;
        a *= from[iEnd++];
      } else {
        if (jEnd >= to.size()) return false;
        b *= to[jEnd++];
      }
    }
    // The source block must be one run: each outer stride is the next one times its size.
    size_t inner = iEnd - 1;
    while (inner > i && from[inner] == 1) --inner;
    size_t last = inner;
    for (size_t k = inner; k-- > i;) {
      if (from[k] == 1) continue;
      if (!follows(strides[k], strides[last], from[last])) return false;
      last = k;
    }
    T stride = strides[inner];
    int64_t n = 1;
    for (size_t k = jEnd; k-- > j;) {
      if (to[k] == 1) continue;
      out[k] = times(stride, n);
      n *= to[k];
    }
    i = iEnd;
    j = jEnd;
  }
  return true;
}

template <> LogicalResult plan(PlanBuilder& plan, tt::ReshapeOp op) {
  Value source = op->getOperand(0);
  Rep r = settled(plan, source);
  Shape shape = PlanBuilder::shapeOf(op->getResult(0).getType());
  Rep out = r;
  out.shape = shape;
  if (r.kind == Rep::Affine) {
    int width = PlanBuilder::widthOf(r.type);
    bool ok = reshapeStrides<Uniform>(
        r.shape, r.strides, shape, out.strides, Uniform::of(0),
        [&](Uniform u, int64_t n) { return n == 1 ? u : plan.mul(width, u, Uniform::of(n)); },
        [&](Uniform a, Uniform b, int64_t n) { return a.constant && b.constant && a.value == b.value * n; });
    if (ok) return plan.bind(op->getResult(0), out);
  } else if (r.kind == Rep::Tile) {
    bool ok = reshapeStrides<DimStride>(
        r.shape, r.tile.strides, shape, out.tile.strides, DimStride{},
        [&](DimStride s, int64_t n) {
          if (n != 1 && s.cell >= 0) s.cell = -2; // a multiple of a stride known at run time only: cannot be said
          s.value *= n;
          return s;
        },
        [&](DimStride a, DimStride b, int64_t n) { return a.cell < 0 && b.cell < 0 && a.value == b.value * n; });
    for (const DimStride& s : out.tile.strides) ok &= s.cell != -2;
    if (ok) return plan.bind(op->getResult(0), out);
  } else {
    auto real = [](llvm::ArrayRef<int64_t> s) {
      Shape kept;
      for (int64_t x : s)
        if (x != 1) kept.push_back(x);
      return kept;
    };
    bool plain = real(r.shape) == real(shape);
    for (size_t d = 0; d < r.shape.size(); ++d) plain &= r.shape[d] != 1 || (r.lo[d].is(0) && r.hi[d].is(1));
    if (plain) {
      out.lo.assign(shape.size(), Uniform::of(0));
      out.hi.assign(shape.size(), Uniform::of(1));
      size_t d = 0;
      for (size_t j = 0; j < shape.size(); ++j) {
        if (shape[j] == 1) continue;
        while (r.shape[d] == 1) ++d;
        out.lo[j] = r.lo[d];
        out.hi[j] = r.hi[d];
        ++d;
      }
      return plan.bind(op->getResult(0), out);
    }
  }
  Reg dense = plan.denseOf(source);
  Rep tile = plan.tileRep(r.type, shape, dense);
  tile.root = r.root;
  return plan.bind(op->getResult(0), tile);
}

/// dst[...] = src[...] over `shape`, any strides.
template <> LogicalResult plan(PlanBuilder& plan, tt::JoinOp op) {
  Value result = op->getResult(0);
  DType type = plan.dtypeOf(result.getType());
  Shape shape = PlanBuilder::shapeOf(result.getType());
  Reg dst = plan.newTile(type, shape);
  TileRef whole = plan.denseRef(dst, type, shape);
  for (int k = 0; k < 2; ++k) {
    TileRef part = whole;
    part.strides.pop_back();
    part.offset = k * int64_t(sizeOf(type));
    emitCopy(plan, llvm::ArrayRef<int64_t>(shape).drop_back(), type, plan.tileOf(op->getOperand(k)), part);
  }
  Rep out = plan.tileRep(type, shape, dst);
  out.root =
      plan.rep(op->getOperand(0)).root == plan.rep(op->getOperand(1)).root ? plan.rep(op->getOperand(0)).root : -1;
  return plan.bind(result, out);
}

template <> LogicalResult plan(PlanBuilder& plan, tt::SplitOp op) {
  Value source = op->getOperand(0);
  Rep r = settled(plan, source);
  for (int k = 0; k < 2; ++k) {
    Rep out;
    if (r.kind == Rep::Affine) {
      out = r;
      int width = PlanBuilder::widthOf(r.type);
      if (k) out.base = plan.add(width, r.base, r.strides.back());
      out.strides.pop_back();
    } else {
      out = r;
      out.kind = Rep::Tile;
      out.tile = plan.tileOf(source);
      out.lo.clear();
      out.hi.clear();
      if (out.tile.strides.back().cell >= 0) out.tile = plan.denseRef(plan.denseOf(source), r.type, r.shape);
      out.tile.offset += k * out.tile.strides.back().value;
      out.tile.strides.pop_back();
    }
    out.shape.pop_back();
    plan.set(op->getResult(k), out);
  }
  return success();
}

template <> LogicalResult plan(PlanBuilder& plan, tt::CatOp op) {
  Value result = op->getResult(0);
  DType type = plan.dtypeOf(result.getType());
  Shape shape = PlanBuilder::shapeOf(result.getType());
  Reg dst = plan.newTile(type, shape);
  int64_t offset = 0;
  for (Value part : op->getOperands()) {
    Shape partShape = PlanBuilder::shapeOf(part.getType());
    TileRef to = plan.denseRef(dst, type, shape);
    to.offset = offset;
    emitCopy(plan, partShape, type, plan.tileOf(part), to);
    offset += elementsOf(partShape) * int64_t(sizeOf(type));
  }
  return plan.bindTile(result, dst);
}

template <> LogicalResult plan(PlanBuilder& plan, tt::GatherOp op) {
  Value source = op.getSrc(), index = op.getIndices(), result = op.getResult();
  DType type = plan.dtypeOf(result.getType());
  Shape shape = PlanBuilder::shapeOf(result.getType());
  Reg src = plan.denseOf(source), at = plan.denseOf(index), dst = plan.newTile(type, shape);
  BuildInstruction& in = plan.emit(execTileGather, "TileGather");
  TileGatherOp& data = plan.newData<TileGatherOp>(in);
  data.shape.assign(shape.begin(), shape.end());
  data.axis = int(op.getAxis());
  data.length = PlanBuilder::shapeOf(source.getType())[size_t(data.axis)];
  for (size_t d = 0; d < shape.size(); ++d)
    (int(d) < data.axis ? data.outer : int(d) == data.axis ? data.count : data.inner) *= shape[d];
  data.elementBytes = int32_t(sizeOf(type));
  data.indexBytes = int32_t(sizeOf(plan.dtypeOf(index.getType())));
  data.fn = plan.tiles().tileGather(data.elementBytes, data.indexBytes);
  plan.read(in, data.src, src);
  plan.read(in, data.index, at);
  plan.write(in, data.dst, dst);
  return plan.bindTile(result, dst);
}

template <> LogicalResult plan(PlanBuilder& plan, tt::HistogramOp op) {
  Value source = op->getOperand(0), result = op->getResult(0);
  DType type = plan.dtypeOf(result.getType());
  if (type != DType::I32 ||
      (sizeOf(plan.dtypeOf(source.getType())) != 4 && sizeOf(plan.dtypeOf(source.getType())) != 8))
    return plan.unsupported(op, "for these element types");
  Shape shape = PlanBuilder::shapeOf(result.getType());
  Reg src = plan.denseOf(source), dst = plan.newTile(type, shape);
  Reg mask = op.getMask() ? plan.denseOf(op.getMask()) : kNoReg;
  BuildInstruction& in = plan.emit(execHistogram, "Histogram");
  HistogramOp& data = plan.newData<HistogramOp>(in);
  data.elements = elementsOf(PlanBuilder::shapeOf(source.getType()));
  data.bins = elementsOf(shape);
  data.bytes = int32_t(sizeOf(plan.dtypeOf(source.getType())));
  plan.read(in, data.src, src);
  data.hasMask = mask != kNoReg;
  if (data.hasMask) plan.read(in, data.mask, mask);
  plan.write(in, data.dst, dst);
  return plan.bindTile(result, dst);
}

} // namespace tiletwin::interp
