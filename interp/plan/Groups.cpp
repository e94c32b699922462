// interp/plan/Groups.cpp -- elementwise operations of one shape gather in a group and run strip by strip.
// Here:      streams (operands, intermediates, results), sinks (affine stores), regions of reductions and scans.
// Not here:  which operation joins (ElementwiseOps, MemoryOps), what becomes of a flushed group (FlushGroup.cpp).
#include "interp/plan/Groups.h"

namespace tiletwin::interp {

static constexpr size_t kMaxNodes = 96;

int Groups::groupFor(llvm::ArrayRef<int64_t> shape) {
  for (size_t g = 0; g < groups_.size(); ++g)
    if (groups_[g]->open && groups_[g]->shape == shape && !groups_[g]->isPrivate) {
      if (groups_[g]->op->nodes.size() < kMaxNodes) return int(g);
      flush(int(g));
    }
  return newGroup(shape, false);
}

int Groups::groupForStoring(mlir::Value value) {
  if (rep(value).pending()) {
    const int own = rep(value).group;
    if (groups_[own]->op->nodes.size() < kMaxNodes) return own;
    flush(own);
  }
  return groupFor(shapeOf(value.getType()));
}

int Groups::newGroup(llvm::ArrayRef<int64_t> shape, bool isPrivate) {
  auto g = std::make_unique<OpenGroup>(location());
  g->open = true;
  g->isPrivate = isPrivate;
  g->shape = Shape(shape);
  g->op = std::make_unique<GroupOp>();
  groups_.push_back(std::move(g));
  return int(groups_.size() - 1);
}

static int addStream(OpenGroup& g, GroupStream::Kind kind, DType type) {
  GroupStream s;
  s.kind = kind;
  s.elementBytes = int32_t(sizeOf(type));
  g.op->streams.push_back(std::move(s));
  g.sources.emplace_back();
  g.values.emplace_back();
  g.types.push_back(type);
  return int(g.op->streams.size() - 1);
}

static GroupNode& addNode(OpenGroup& g, GroupNode::Kind kind) {
  g.op->nodes.emplace_back();
  g.op->nodes.back().kind = kind;
  g.uniforms.emplace_back();
  return g.op->nodes.back();
}

int Groups::operandStream(int index, const TileRef& ref, DType type) {
  OpenGroup& g = *groups_[index];
  int stream = addStream(g, GroupStream::Operand, type);
  g.sources[stream].ref = ref;
  g.hasView |= ref.view != nullptr;
  return stream;
}

int Groups::iotaStream(int index, const Uniform& base, llvm::ArrayRef<Uniform> strides, DType type) {
  OpenGroup& g = *groups_[index];
  int stream = addStream(g, GroupStream::Strip, type);
  GroupNode& node = addNode(g, GroupNode::Iota);
  node.dst = stream;
  node.iota = tiles().iota(type == DType::Ptr ? DType::I64 : type);
  g.uniforms.back().base = base;
  g.uniforms.back().strides.assign(strides.begin(), strides.end());
  return stream;
}

int Groups::streamFor(int index, mlir::Value v) {
  if (rep(v).pending() && rep(v).group != index) flush(rep(v).group);
  OpenGroup& g = *groups_[index];
  Rep& r = rep(v);
  if (r.pending()) {
    ++g.consumed[v];
    return r.stream;
  }
  if (auto it = g.streamOf.find(v); it != g.streamOf.end()) return it->second;
  int stream = -1;
  if (r.isUniform()) {
    stream = addStream(g, GroupStream::Cell, r.type);
    g.sources[stream].cell = cell(r.base);
  } else if (r.kind == Rep::Tile) {
    stream = operandStream(index, r.tile, r.type);
  } else if (r.kind == Rep::Affine) {
    stream = iotaStream(index, r.base, r.strides, r.type);
  } else if (r.kind == Rep::Rows) {
    stream = rowsStream(index, r);
  } else {
    stream = addStream(g, GroupStream::Strip, DType::I1);
    GroupNode& node = addNode(g, GroupNode::Box);
    node.dst = stream;
    g.uniforms.back().lo = r.lo;
    g.uniforms.back().hi = r.hi;
  }
  g.streamOf[v] = stream;
  return stream;
}

int Groups::cellStream(int index, int64_t constant, DType type) {
  int stream = addStream(*groups_[index], GroupStream::Cell, type);
  groups_[index]->sources[stream].cell = constantCell(constant);
  return stream;
}

int Groups::copyStrip(int index, int stream, DType type) {
  return addStrip(index, tiles().elementwise(TwElementwise::Copy, type == DType::Ptr ? DType::I64 : type), {stream},
                  type, "copy");
}

int Groups::addStrip(int index, TwStripFn fn, llvm::ArrayRef<int> srcs, DType type, llvm::StringRef name) {
  OpenGroup& g = *groups_[index];
  int stream = addStream(g, GroupStream::Strip, type);
  GroupNode& node = addNode(g, GroupNode::Strip);
  node.fn = fn;
  node.sources = int8_t(srcs.size());
  for (size_t i = 0; i < srcs.size(); ++i) node.src[i] = srcs[i];
  node.dst = stream;
  if (!g.text.empty()) g.text += ", ";
  g.text += name.str();
  return stream;
}

void Groups::bindValue(int index, int stream, mlir::Value v, DType type) {
  Rep r;
  r.kind = Rep::Tile;
  r.type = type;
  r.shape = shapeOf(v.getType());
  r.group = index;
  r.stream = stream;
  set(v, r);
  groups_[index]->values[stream].push_back(v);
}

void Groups::addSink(int index, int stream, const Rep& pointer, const Rep* mask, DType type, const char* operation) {
  OpenGroup& g = *groups_[index];
  GroupNode& node = addNode(g, GroupNode::Sink);
  node.src[0] = stream;
  node.sources = 1;
  node.access.elementBytes = int32_t(sizeOf(type));
  node.access.root = pointer.root;
  node.access.operation = operation;
  node.access.shape.assign(g.shape.begin(), g.shape.end());
  node.location = location().getAsOpaquePointer();
  g.uniforms.back().base = pointer.base;
  g.uniforms.back().strides = pointer.strides;
  g.uniforms.back().guard = pointer.guard;
  if (mask) {
    g.uniforms.back().lo = mask->lo;
    g.uniforms.back().hi = mask->hi;
  }
  g.op->sinks.push_back(int32_t(g.op->nodes.size() - 1));
  g.hasSink = true;
  g.location = location();
  g.text += g.text.empty() ? "store" : ", store";
}

// ---- regions of reductions and scans ----

void Groups::openBody(mlir::ValueRange arguments) {
  bodyGroup_ = newGroup({}, true);
  OpenGroup& g = *groups_[bodyGroup_];
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    const DType type = dtypeOf(argument.getType());
    const int stream = addStream(g, GroupStream::BodyArgument, type);
    g.op->streams[stream].argument = int32_t(i);
    bindValue(bodyGroup_, stream, argument, type);
  }
}

BodyOp* Groups::closeBody(mlir::ValueRange results) {
  OpenGroup& g = *groups_[bodyGroup_];
  for (mlir::Value v : results) {
    int stream = streamFor(bodyGroup_, v);
    // Results are copied out by the caller: an argument or a constant goes through a strip of its own.
    if (g.op->streams[stream].kind != GroupStream::Strip) stream = copyStrip(bodyGroup_, stream, dtypeOf(v.getType()));
    g.results.push_back(stream);
  }
  bodyGroup_ = -1;
  g.open = false;
  if (g.op->nodes.size() > GroupOp::kMostNodes) return nullptr;
  BodyOp& body = allocate<BodyOp>();
  for (int stream : g.results) {
    body.resultStreams.push_back(stream);
    body.resultBytes.push_back(g.op->streams[stream].elementBytes);
  }
  body.group = std::move(*g.op);
  body.group.dims.push_back({});
  body.group.shape.push_back(1);
  pendingBody_ = &g;
  return &body;
}

void Groups::bindBody(BodyOp& body, BuildInstruction& in) {
  std::vector<Reg> none(body.group.streams.size(), kNoReg);
  bindGroup(*pendingBody_, body.group, in, none);
}

} // namespace tiletwin::interp
