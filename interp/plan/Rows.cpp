// interp/plan/Rows.cpp -- values that are affine but for a table along one dimension: rows picked by number (embeddings,
// experts, pages), indices that wrap around (`% M`).
// Here:      making the form, adding to it, its elements where they are needed after all.
// Not here:  loads through such pointers (MemoryOps.cpp, run/ExecuteRows.cpp); stores, which scatter.
// Invariant: element i is table[i at tableDim] + base + sum of strides[d] * i_d, in 64 bits; a table is written once and is
//            8 bytes an entry, so that it costs a fraction of what the elements would.
#include "interp/plan/Groups.h"

namespace tiletwin::interp {

/// The only dimension along which a tile varies, if it is spread over others; else -1.
static int dimensionOfTable(const Rep& r) {
  if (r.kind != Rep::Tile || r.pending()) return -1;
  int dim = -1;
  bool spread = false;
  for (size_t d = 0; d < r.shape.size(); ++d) {
    if (r.shape[d] == 1) continue;
    if (r.tile.strides[d].cell < 0 && r.tile.strides[d].value == 0) {
      spread = true;
    } else {
      if (dim >= 0) return -1;
      dim = int(d);
    }
  }
  return spread ? dim : -1;
}

bool Groups::addRows(const Rep& first, const Rep& second, bool subtract, int64_t scale, Rep& out) {
  if (!options().symbolic) return false;
  bool address = first.type == DType::Ptr;
  int width = address ? 64 : widthOf(first.type);
  auto scaled = [&](const Uniform& u) { return mul(width, u, Uniform::of(scale)); };
  auto combine = [&](const Uniform& x, const Uniform& y) { return subtract ? sub(width, x, y) : add(width, x, y); };
  if (first.kind == Rep::Rows && second.kind == Rep::Affine) {
    out = first;
    out.base = combine(first.base, scaled(second.base));
    for (size_t d = 0; d < out.strides.size(); ++d)
      out.strides[d] = combine(first.strides[d], scaled(second.strides[d]));
    return true;
  }
  // The table, or the tile to make it of, is the other operand.
  const Rep *tile = nullptr, *affine = nullptr;
  if (first.kind == Rep::Affine && !subtract)
    tile = &second, affine = &first;
  else if (second.kind == Rep::Affine)
    tile = &first, affine = &second;
  else
    return false;
  const int64_t factor = tile == &second ? scale : 1;
  int dim = tile->kind == Rep::Rows ? tile->tableDim : dimensionOfTable(*tile);
  if (dim < 0 || (!isInteger(tile->type) && tile->type != DType::Ptr) || widthOf(tile->type) < 32) return false;
  out = *affine;
  out.kind = Rep::Rows;
  out.tableDim = dim;
  if (affine == &second) {
    out.base = combine(Uniform::of(0), scaled(affine->base));
    for (Uniform& u : out.strides) u = combine(Uniform::of(0), scaled(u));
  }
  out.type = first.type;
  out.root = first.root;
  if (tile->kind == Rep::Rows) {
    out.base = add(width, out.base, mul(width, tile->base, Uniform::of(factor)));
    for (size_t d = 0; d < out.strides.size(); ++d)
      out.strides[d] = add(width, out.strides[d], mul(width, tile->strides[d], Uniform::of(factor)));
  }
  if (tile->kind == Rep::Rows && factor == 1) {
    out.table = tile->table;
    return true;
  }
  // Entries as 64-bit numbers, scaled.
  const int64_t entries = tile->shape[size_t(dim)];
  TileRef from;
  DType type = tile->type == DType::Ptr ? DType::I64 : tile->type;
  if (tile->kind == Rep::Rows) {
    from = denseRef(tile->table, DType::I64, {entries});
    type = DType::I64;
  } else {
    from = tile->tile;
    from.strides = {tile->tile.strides[size_t(dim)]};
  }
  int group = newGroup({entries}, true), stream = operandStream(group, from, type);
  if (type != DType::I64)
    stream = addStrip(group, tiles().cast(type, DType::I64, TwCastKind::SignedInt), {stream}, DType::I64, "table");
  if (factor != 1)
    stream = addStrip(group, tiles().elementwise(TwElementwise::MulI, DType::I64),
                      {stream, cellStream(group, factor, DType::I64)}, DType::I64, "table");
  else if (type == DType::I64)
    stream = addStrip(group, tiles().elementwise(TwElementwise::Copy, DType::I64), {stream}, DType::I64, "table");
  out.table = newTile(DType::I64, {entries});
  groups_[group]->forced[stream] = out.table;
  flush(group);
  return true;
}

int Groups::rowsStream(int group, const Rep& r) {
  TileRef table = denseRef(r.table, DType::I64, {r.shape[size_t(r.tableDim)]});
  DimStride step = table.strides[0];
  table.strides.assign(r.shape.size(), DimStride{});
  table.strides[size_t(r.tableDim)] = step;
  int entries = operandStream(group, table, DType::I64);
  int affine = iotaStream(group, r.base, r.strides, DType::I64);
  int sum =
      addStrip(group, tiles().elementwise(TwElementwise::AddI, DType::I64), {entries, affine}, DType::I64, "rows");
  if (r.type == DType::Ptr || r.type == DType::I64) return sum;
  return addStrip(group, tiles().cast(DType::I64, r.type, TwCastKind::SignedInt), {sum}, r.type, "rows");
}

void Groups::materialiseRows(mlir::Value v) {
  if (rep(v).kind != Rep::Rows) return;
  int root = rep(v).root;
  DType type = rep(v).type;
  Shape shape = rep(v).shape;
  Rep tile = tileRep(type, shape, copyOf(v));
  tile.root = root;
  set(v, tile);
}

} // namespace tiletwin::interp
