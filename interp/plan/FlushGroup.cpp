// interp/plan/FlushGroup.cpp -- a group of elementwise operations becomes one instruction.
// Here:      what is needed of it, the dimensions it is walked over, places of its streams.
// Not here:  how a group is gathered (Groups.cpp), nodes that become one (JoinNodes.cpp), what the strip loop reads
//            (program/SealGroup.cpp), the strip loop (run/GroupWalk.cpp).
// Invariant: a value of a group gets a whole tile only if something outside the group uses it; else one strip.
#include "interp/plan/Groups.h"
#include <algorithm>
#include <climits>

namespace tiletwin::interp {

static constexpr int64_t kStripBytes = 4096;
/// Rows of at most this many elements cost more to reach than to compute; below so many elements in all it does not matter.
static constexpr int64_t kShortRow = 8, kWorthFlattening = 64;

/// Chooses the group's dimensions: size-1 ones go, adjacent ones merge where every stream is known to allow it.
static void collapse(OpenGroup& g) {
  GroupOp& op = *g.op;
  auto boxed = [&](size_t d) {
    for (auto& u : g.uniforms)
      if (!u.lo.empty() && !(u.lo[d].is(0) && u.hi[d].is(g.shape[d]))) return true;
    return false;
  };
  auto mergeable = [&](size_t a, size_t b) { // a outer, b inner
    if (boxed(a) || boxed(b)) return false;
    for (size_t s = 0; s < op.streams.size(); ++s)
      if (op.streams[s].kind == GroupStream::Operand) {
        const DimStride &x = g.sources[s].ref.strides[a], &y = g.sources[s].ref.strides[b];
        if (x.cell >= 0 || y.cell >= 0 || x.value != y.value * g.shape[b]) return false;
      }
    for (auto& u : g.uniforms)
      if (!u.strides.empty()) {
        const Uniform &x = u.strides[a], &y = u.strides[b];
        if (!x.constant || !y.constant || x.value != y.value * g.shape[b]) return false;
      }
    return true;
  };
  for (size_t d = 0; d < g.shape.size(); ++d) {
    if (g.shape[d] == 1 && !boxed(d)) continue;
    if (!op.dims.empty() && mergeable(op.dims.back().back(), d)) {
      op.dims.back().push_back(int(d));
      op.shape.back() *= g.shape[d];
    } else {
      op.dims.push_back({int(d)});
      op.shape.push_back(g.shape[d]);
    }
  }
  if (op.dims.empty()) {
    op.dims.push_back({});
    op.shape.push_back(1);
  }
}

/// Whether short rows are all that a group could run over, only because of how its operands are laid out.
static bool hasShortRows(const OpenGroup& g) {
  const GroupOp& op = *g.op;
  if (op.shape.size() < 2 || op.shape.back() > kShortRow || elementsOf(g.shape) < kWorthFlattening ||
      !g.results.empty())
    return false;
  for (auto& u : g.uniforms)
    if (!u.strides.empty() || !u.lo.empty()) return false;
  for (size_t s = 0; s < op.streams.size(); ++s)
    if (op.streams[s].kind == GroupStream::Operand && g.sources[s].ref.view) return false;
  return true;
}

/// Copies operands of a group with short rows to tiles of their own, so that the group is one row.
void Groups::flatten(OpenGroup& g) {
  GroupOp& op = *g.op;
  for (size_t s = 0; s < op.streams.size(); ++s) {
    TileRef& ref = g.sources[s].ref;
    if (op.streams[s].kind != GroupStream::Operand || isDense(ref, g.types[s], g.shape)) continue;
    const TileRef whole = denseRef(newTile(g.types[s], g.shape), g.types[s], g.shape);
    emitCopy(*this, g.shape, g.types[s], ref, whole);
    ref = whole;
  }
  op.dims.clear();
  op.shape.clear();
  collapse(g);
}

/// Drops nodes whose result nobody reads. needed[s]: something reads stream s, a tile or a body's result among them.
static std::vector<bool> dropUnread(OpenGroup& g, llvm::ArrayRef<Reg> tiles) {
  GroupOp& op = *g.op;
  std::vector<bool> needed(op.streams.size(), false);
  for (size_t s = 0; s < op.streams.size(); ++s) needed[s] = tiles[s] != kNoReg;
  for (int stream : g.results) needed[stream] = true;
  std::vector<int> keep;
  for (int n = int(op.nodes.size()) - 1; n >= 0; --n) {
    const GroupNode& node = op.nodes[n];
    if (node.kind != GroupNode::Sink && !needed[node.dst]) continue;
    for (int i = 0; i < node.sources; ++i) needed[node.src[i]] = true;
    keep.push_back(n);
  }
  std::vector<GroupNode> nodes;
  std::vector<OpenGroup::NodeUniforms> uniforms;
  op.sinks.clear();
  for (int n : llvm::reverse(keep)) {
    if (op.nodes[n].kind == GroupNode::Sink) op.sinks.push_back(int32_t(nodes.size()));
    nodes.push_back(std::move(op.nodes[n]));
    uniforms.push_back(std::move(g.uniforms[n]));
  }
  op.nodes = std::move(nodes);
  g.uniforms = std::move(uniforms);
  return needed;
}

void Groups::flush(int index) {
  OpenGroup& g = *groups_[index];
  if (!g.open) return;
  g.open = false;
  GroupOp& op = *g.op;
  if (op.nodes.empty()) return;

  // Which values need whole tiles, and which nodes still matter.
  std::vector<Reg> tiles(op.streams.size(), kNoReg);
  for (auto& [stream, reg] : g.forced) tiles[stream] = reg;
  for (size_t s = 0; s < op.streams.size(); ++s)
    for (mlir::Value v : g.values[s]) {
      unsigned uses = 0;
      for ([[maybe_unused]] auto& use : v.getUses()) ++uses;
      if (uses > g.consumed.lookup(v) && tiles[s] == kNoReg && op.streams[s].kind == GroupStream::Strip)
        tiles[s] = newTile(g.types[s], g.shape);
    }
  chooseInside(tiles, g);
  dropUnread(g, tiles);
  joinNodes(tiles, g);
  const std::vector<bool> needed = dropUnread(g, tiles);
  if (op.nodes.empty()) return;
  for (size_t s = 0; s < op.streams.size(); ++s)
    if (!needed[s] && op.streams[s].kind == GroupStream::Operand)
      op.streams[s].kind = GroupStream::Cell, op.streams[s].unused = true;

  collapse(g);
  mlir::Location saved = location();
  setLocation(g.location);
  if (hasShortRows(g)) flatten(g);
  GroupOp& data = allocate<GroupOp>();
  data = std::move(op);
  BuildInstruction& in = emit(execGroup, "Group [" + g.text + "]");
  in.in.data = &data;
  bindGroup(g, data, in, tiles);
  setLocation(saved);

  for (size_t s = 0; s < data.streams.size(); ++s)
    for (mlir::Value v : g.values[s]) {
      Rep& r = rep(v);
      if (r.group != index) continue;
      r.group = r.stream = -1;
      if (tiles[s] != kNoReg) r.tile = denseRef(tiles[s], r.type, r.shape);
    }
  g.streamOf.clear();
}

void Groups::bindGroup(OpenGroup& g, GroupOp& data, BuildInstruction& in, llvm::ArrayRef<Reg> tiles) {
  sealLater_.push_back(&data);
  size_t rank = data.dims.size();
  int count = int(data.nodes.size());
  std::vector<int> lastUse(data.streams.size(), -1), producer(data.streams.size(), -1),
      sinkUses(data.streams.size(), 0);
  int firstWrite = count; // from this node on user memory may change under a view
  for (int n = 0; n < count; ++n) {
    GroupNode& node = data.nodes[n];
    for (int i = 0; i < node.sources; ++i) lastUse[node.src[i]] = n;
    if (node.kind == GroupNode::Sink) {
      ++sinkUses[node.src[0]];
      firstWrite = std::min(firstWrite, producer[node.src[0]] >= 0 ? producer[node.src[0]] : n);
    } else {
      producer[node.dst] = n;
    }
  }
  for (int n = firstWrite + 1; n < count; ++n)
    for (int i = 0; i < data.nodes[n].sources; ++i) data.streams[data.nodes[n].src[i]].readAfterSink = true;
  for (int stream : g.results) lastUse[stream] = count;

  // Strips: as long as fits the cache with the widest intermediate.
  int64_t widest = 1;
  for (size_t s = 0; s < data.streams.size(); ++s)
    if (data.streams[s].kind == GroupStream::Strip && tiles[s] == kNoReg)
      widest = std::max<int64_t>(widest, data.streams[s].elementBytes);
  data.stripElements = kStripBytes / widest;
  for (int log = 0; log < 4; ++log) data.copy[log] = this->tiles().stridedCopy(int64_t(1) << log);

  // Streams that live outside.
  data.strided.assign(data.streams.size(), -1);
  for (size_t s = 0; s < data.streams.size(); ++s) {
    GroupStream& stream = data.streams[s];
    if (stream.unused) continue;
    if (stream.kind == GroupStream::Operand) {
      const TileRef& ref = g.sources[s].ref;
      read(in, stream.operand, ref);
      stream.strides.resize(rank);
      for (size_t c = 0; c < rank; ++c)
        if (!data.dims[c].empty()) stream.strides[c] = ref.strides[data.dims[c].back()];
      const DimStride& last = stream.strides[rank - 1];
      if (last.cell >= 0 || (last.value != 0 && last.value != stream.elementBytes)) {
        data.strided[s] = int32_t(data.stridedBuffers.size());
        data.stridedBuffers.emplace_back();
      }
      // Several stores may have to run one after the other, each over the whole group: nothing may be overwritten then.
      noteReader(ref.base, isDense(ref, g.types[s], g.shape) && data.sinks.size() < 2 ? lastUse[s] : INT_MAX);
    } else if (stream.kind == GroupStream::Cell) {
      read(in, stream.cell, g.sources[s].cell);
    } else if (stream.kind == GroupStream::Strip && tiles[s] != kNoReg) {
      stream.kind = GroupStream::Tile;
      write(in, stream.operand.base, tiles[s]);
      stream.strides.resize(rank);
      TileRef ref = denseRef(tiles[s], g.types[s], g.shape);
      for (size_t c = 0; c < rank; ++c)
        if (!data.dims[c].empty())
          stream.strides[c] = ref.strides[data.dims[c].back()];
        else
          stream.strides[c].value = stream.elementBytes;
      noteWriter(tiles[s], producer[s]);
    }
  }

  // Strip buffers, reused when their value is dead; an operation may write over its own operand of the same width.
  struct Buffer {
    Reg reg;
    int64_t bytes;
    int busyUntil;
  };
  std::vector<Buffer> buffers;
  auto bufferFor = [&](int64_t bytes, int from, int until, bool inPlace) {
    for (Buffer& b : buffers)
      if (b.bytes == bytes && (b.busyUntil < from || (inPlace && b.busyUntil == from))) {
        b.busyUntil = until;
        return b.reg;
      }
    buffers.push_back({newReg(uint64_t(bytes * data.stripElements)), bytes, until});
    return buffers.back().reg;
  };
  for (int n = 0; n < count; ++n) {
    GroupNode& node = data.nodes[n];
    if (node.kind == GroupNode::Sink) continue;
    GroupStream& dst = data.streams[node.dst];
    if (dst.kind == GroupStream::Strip)
      write(in, dst.cell,
            bufferFor(dst.elementBytes, n, std::max(lastUse[node.dst], n), node.kind == GroupNode::Strip));
  }
  for (size_t s = 0; s < data.streams.size(); ++s)
    if (data.strided[s] >= 0)
      write(in, data.stridedBuffers[data.strided[s]],
            newReg(uint64_t(data.streams[s].elementBytes * data.stripElements)));

  // Uniform parts of nodes.
  bool onlySinks = true, sameBox = true;
  const OpenGroup::NodeUniforms* box = nullptr;
  for (size_t s = 0; s < data.streams.size(); ++s) onlySinks &= data.streams[s].kind != GroupStream::Tile;
  onlySinks &= g.results.empty();
  for (int n = 0; n < count; ++n) {
    GroupNode& node = data.nodes[n];
    OpenGroup::NodeUniforms& u = g.uniforms[n];
    auto perDim = [&](llvm::ArrayRef<Uniform> from, std::vector<UniformOperand>& to, int64_t none, bool isHi) {
      if (from.empty()) return;
      to.resize(rank);
      for (size_t c = 0; c < rank; ++c) {
        if (data.dims[c].empty())
          to[c].value = none;
        else if (isHi && data.dims[c].size() > 1)
          to[c].value = data.shape[c];
        else
          read(in, to[c], from[data.dims[c].back()]);
      }
    };
    if (node.kind == GroupNode::Iota) read(in, node.base, u.base);
    if (node.kind == GroupNode::Iota || node.kind == GroupNode::Sink) perDim(u.strides, node.strides, 0, false);
    perDim(u.lo, node.lo, 0, false);
    perDim(u.hi, node.hi, 1, true);
    if (node.kind == GroupNode::Sink) {
      read(in, node.access, u.base, u.strides, u.lo, u.hi);
      node.access.guard = readGuard(in, u.guard.get());
      int from = producer[node.src[0]];
      if (from >= 0 && sinkUses[node.src[0]] == 1 && data.streams[node.src[0]].kind == GroupStream::Strip)
        node.directFrom = from;
      if (!box) box = &u;
      sameBox &= u.lo == box->lo && u.hi == box->hi;
      node.locationIndex =
          placeOf(mlir::Location(llvm::cast<mlir::LocationAttr>(mlir::Attribute::getFromOpaquePointer(node.location))));
      noteWrite(node.access.root);
    }
  }
  data.regionIsBox = onlySinks && box && sameBox && !box->lo.empty();
}

void Groups::flushAll() {
  for (size_t g = 0; g < groups_.size(); ++g)
    if (groups_[g]->open && !groups_[g]->isPrivate) flush(int(g));
}
void Groups::flushViews(int except) {
  for (size_t g = 0; g < groups_.size(); ++g)
    if (int(g) != except && groups_[g]->open && !groups_[g]->isPrivate && (groups_[g]->hasView || groups_[g]->hasSink))
      flush(int(g));
}
void Groups::flushSinks() {
  for (size_t g = 0; g < groups_.size(); ++g)
    if (groups_[g]->open && !groups_[g]->isPrivate && groups_[g]->hasSink) flush(int(g));
}

void Groups::flushReaders(llvm::function_ref<bool(const TileRef&)> isRead) {
  for (size_t g = 0; g < groups_.size(); ++g)
    if (groups_[g]->open &&
        llvm::any_of(groups_[g]->sources, [&](const OpenGroup::Source& s) { return isRead(s.ref); }))
      flush(int(g));
}

void Groups::rollback(const Snapshot& s) {
  Emitter::rollback(s);
  for (auto& g : groups_) g->open = false;
}

void Groups::sealAll() {
  for (GroupOp* group : sealLater_) group->seal();
}

} // namespace tiletwin::interp
