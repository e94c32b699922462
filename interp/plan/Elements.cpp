// interp/plan/Elements.cpp -- elements of values: tiles of what is symbolic or pending, copies.
// Not here:  the forms themselves (Forms.cpp), groups' inside (Groups.cpp).
#include "interp/plan/Groups.h"

namespace tiletwin::interp {

TileRef Groups::tileOf(mlir::Value v) {
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

Reg Groups::denseOf(mlir::Value v) {
  if (rep(v).pending()) flush(rep(v).group);
  Rep& r = rep(v);
  if (r.kind == Rep::Tile && isDense(r.tile, r.type, r.shape)) return r.tile.base;
  return copyOf(v);
}

Reg Groups::copyOf(mlir::Value v) {
  Rep& r = rep(v);
  Reg dst = newTile(r.type, r.shape);
  writeTo(v, dst);
  return dst;
}

void Groups::writeTo(mlir::Value v, Reg dst) {
  if (rep(v).pending()) {
    OpenGroup& g = *groups_[rep(v).group];
    int stream = rep(v).stream;
    if (g.op->streams[stream].kind == GroupStream::Strip && !g.forced.count(stream) && g.values[stream].size() == 1 &&
        v.hasOneUse()) {
      g.forced[stream] = dst;
      flush(rep(v).group);
      return;
    }
    flush(rep(v).group);
  }
  DType type = rep(v).type;
  Shape shape = rep(v).shape;
  if (rep(v).kind == Rep::Tile && !rep(v).tile.view) {
    emitCopy(*this, shape, type, rep(v).tile, denseRef(dst, type, shape));
    return;
  }
  int index = newGroup(shape, true);
  int stream = streamFor(index, v);
  if (groups_[index]->op->streams[stream].kind != GroupStream::Strip) stream = copyStrip(index, stream, type);
  groups_[index]->forced[stream] = dst;
  flush(index);
}

Reg Groups::denseAside(mlir::Value v, size_t most) {
  if (!rep(v).pending()) return denseOf(v);
  OpenGroup& from = *groups_[rep(v).group];
  const int stream = rep(v).stream;
  if (from.op->streams[stream].kind != GroupStream::Strip || from.op->nodes.size() > most) return denseOf(v);
  ++from.consumed[v];
  Reg dst = newTile(rep(v).type, rep(v).shape);
  const int index = newGroup(from.shape, true);
  OpenGroup& copy = *groups_[index];
  *copy.op = *from.op;
  copy.sources = from.sources;
  copy.values.resize(from.values.size());
  copy.types = from.types;
  copy.uniforms = from.uniforms;
  copy.text = from.text;
  copy.hasView = from.hasView;
  copy.forced[stream] = dst;
  flush(index);
  return dst;
}

void Groups::copyDense(DType type, llvm::ArrayRef<int64_t> shape, Reg from, Reg to) {
  const int index = newGroup(shape, true);
  const int stream = copyStrip(index, operandStream(index, denseRef(from, type, shape), type), type);
  groups_[index]->forced[stream] = to;
  flush(index);
}

} // namespace tiletwin::interp
