// interp/run/ExecuteScaledDot.cpp -- tt.dot_scaled: both operands brought to one float type, then a dot.
// Here:      strides, batches, the orientation of the widened operands.
// Not here:  number formats and the product (interp/tile).
// Invariant: a widened operand is dense, with its contiguous dimension where the source's is.
#include "interp/run/Execute.h"

namespace tiletwin::interp {
namespace {

/// An operand as the dot reads it: element strides between neighbours in outer (m or n) and k.
struct Operand {
  const std::byte* data;
  int64_t outer, k;
};

/// `kAxis` is 1 for a, whose last dimension is k, and 0 for b.
Operand widen(const ScaledDotOp::Side& side, int kAxis, int64_t k, int64_t batch, Frame& f) {
  int64_t strides[3], scales[3];
  std::byte* x = resolve(side.x, f, strides);
  const size_t r = side.x.strides.size();
  int64_t outer = strides[r - 1 - size_t(kAxis)], inK = strides[r - 2 + size_t(kAxis)];
  if (!side.expand && side.x.view && (outer % side.storedBytes || inK % side.storedBytes)) {
    copyView(*side.x.view, f); // strides that are no multiples of the element: byte-wise pointer arithmetic
    x = resolve(side.x, f, strides);
    outer = strides[r - 1 - size_t(kAxis)], inK = strides[r - 2 + size_t(kAxis)];
  }
  if (r == 3) x += batch * strides[0];
  if (!side.expand) return {x, outer / side.storedBytes, inK / side.storedBytes};
  TwScaledOperand operand{};
  operand.outer = side.outer;
  operand.k = k;
  operand.x = x;
  operand.xOuter = outer;
  operand.xK = inK;
  operand.group = side.group;
  operand.kind = side.kind;
  operand.outerPacked = side.outerPacked;
  operand.kInner = inK == side.storedBytes || outer != side.storedBytes;
  operand.dst = f.arena + side.expanded.v;
  if (side.kind != TwScaleKind::None) {
    const std::byte* scale = resolve(side.scale, f, scales);
    operand.scale = scale + (r == 3 ? batch * scales[0] : 0);
    operand.scaleOuter = scales[r - 2];
    operand.scaleGroup = scales[r - 1];
  }
  side.expand(&operand);
  return {f.arena + side.expanded.v, operand.kInner ? k : 1, operand.kInner ? 1 : side.outer};
}

} // namespace

InstructionRef execScaledDot(InstructionRef in, Frame& f) {
  const ScaledDotOp& op = *static_cast<const ScaledDotOp*>(in->data);
  const int64_t m = op.a.outer, n = op.b.outer, tile = m * n * int64_t(sizeof(float));
  for (int64_t i = 0; i < op.batch; ++i) {
    const Operand a = widen(op.a, 1, op.k, i, f), b = widen(op.b, 0, op.k, i, f);
    TwDot dot;
    dot.m = m;
    dot.n = n;
    dot.k = op.k;
    dot.a = a.data;
    dot.aRow = a.outer;
    dot.aCol = a.k;
    dot.b = b.data;
    dot.bRow = b.k;
    dot.bCol = b.outer;
    dot.c = op.hasC ? f.arena + op.c.v + i * tile : nullptr;
    dot.d = f.arena + op.d.v + i * tile;
    dot.cRow = dot.dRow = n;
    dot.scratch = f.arena + op.scratch.v;
    op.fn(&dot);
  }
  return in + 1;
}

} // namespace tiletwin::interp
