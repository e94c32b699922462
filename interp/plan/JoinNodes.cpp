// interp/plan/JoinNodes.cpp -- nodes of a group that become one, so that what is between them is not written and read again.
// Here:      pairs that have a function in common; choices under a box mask with what they choose, or in its midst.
// Not here:  the functions of pairs (tile/Joined.cpp), flushing (FlushGroup.cpp), which drops what has lost its reader.
// Invariant: a value that anything else needs stays.
#include "interp/plan/Groups.h"
#include <algorithm>

namespace tiletwin::interp {

namespace {

/// As which functions know a node's result.
DType elementType(const OpenGroup& g, const GroupNode& node) {
  return g.types[node.dst] == DType::Ptr ? DType::I64 : g.types[node.dst];
}

struct Joining {
  OpenGroup& g;
  GroupOp& op;
  llvm::ArrayRef<Reg> tiles;
  std::vector<int> producer; ///< node by stream
  std::vector<int> uses;     ///< by stream

  Joining(OpenGroup& g, llvm::ArrayRef<Reg> tiles)
      : g(g), op(*g.op), tiles(tiles), producer(op.streams.size(), -1), uses(op.streams.size(), 0) {
    for (size_t n = 0; n < op.nodes.size(); ++n) {
      const GroupNode& node = op.nodes[n];
      for (int i = 0; i < node.sources; ++i) ++uses[node.src[i]];
      if (node.kind != GroupNode::Sink) producer[node.dst] = int(n);
    }
    for (int stream : g.results) ++uses[stream];
  }

  /// The strip function's node behind operand i of a node, if nothing but that operand needs its result; else null.
  const GroupNode* only(const GroupNode& node, int i) const {
    const int between = node.src[i];
    if (producer[between] < 0 || uses[between] != 1 || tiles[between] != kNoReg) return nullptr;
    const GroupNode& inner = op.nodes[producer[between]];
    return inner.kind == GroupNode::Strip ? &inner : nullptr;
  }

  /// Inner's operands take the place of operand i.
  static void replace(GroupNode& node, int i, const GroupNode& inner) {
    std::copy_backward(node.src + i + 1, node.src + node.sources, node.src + node.sources - 1 + inner.sources);
    std::copy(inner.src, inner.src + inner.sources, node.src + i);
    node.sources += inner.sources - 1;
  }

  void pairs(const TwTileOps& ops) {
    for (GroupNode& node : op.nodes) {
      if (node.kind != GroupNode::Strip) continue;
      // Casts first: the function that reads narrow numbers itself takes the place of either operand.
      for (const bool casts : {true, false})
        for (int i = node.sources - 1; i >= 0; --i) {
          const GroupNode* inner = only(node, i);
          if (!inner || (inner->sources == 1) != casts || node.sources - 1 + inner->sources > 3) continue;
          TwStripFn fn = ops.joined(inner->fn, node.fn, i);
          if (!fn) continue;
          node.fn = fn;
          replace(node, i, *inner);
        }
    }
  }

  /// select(box mask, a, b): a, and what computes it, inside of the box only. The mask needs no elements then.
  void choices(const TwTileOps& ops) {
    for (size_t n = 0; n < op.nodes.size(); ++n) {
      GroupNode& node = op.nodes[n];
      if (node.kind != GroupNode::Strip || node.sources != 3) continue;
      const DType type = elementType(g, node);
      const int box = producer[node.src[0]];
      if (box < 0 || op.nodes[box].kind != GroupNode::Box || g.uniforms[box].lo.empty() ||
          node.fn != ops.elementwise(TwElementwise::Select, type))
        continue;
      g.uniforms[n].lo = g.uniforms[box].lo;
      g.uniforms[n].hi = g.uniforms[box].hi;
      node.kind = GroupNode::Inside;
      node.fn = node.copy = ops.elementwise(TwElementwise::Copy, type);
      node.src[0] = node.src[1];
      node.src[1] = node.src[2];
      node.sources = 2;
      const GroupNode* inner = only(node, 0);
      if (!inner || inner->sources > 2) continue;
      node.fn = inner->fn;
      replace(node, 0, *inner);
    }
  }
};

} // namespace

void Groups::chooseInside(llvm::ArrayRef<Reg> tiles, OpenGroup& g) {
  GroupOp& op = *g.op;
  if (op.sinks.empty() || !g.results.empty() || llvm::any_of(tiles, [](Reg r) { return r != kNoReg; })) return;
  const OpenGroup::NodeUniforms& region = g.uniforms[op.sinks[0]];
  const auto isRegion = [&](size_t n) {
    return !region.lo.empty() && g.uniforms[n].lo == region.lo && g.uniforms[n].hi == region.hi;
  };
  if (!llvm::all_of(op.sinks, isRegion)) return;
  std::vector<bool> always(op.streams.size());
  std::vector<int> standsFor(op.streams.size());
  for (size_t s = 0; s < standsFor.size(); ++s) standsFor[s] = int(s);
  for (size_t n = 0; n < op.nodes.size(); ++n) {
    GroupNode& node = op.nodes[n];
    for (int i = 0; i < node.sources; ++i) node.src[i] = standsFor[node.src[i]];
    if (node.kind == GroupNode::Box) always[node.dst] = isRegion(n);
    if (node.kind == GroupNode::Strip && node.sources == 3 && always[node.src[0]] &&
        node.fn == this->tiles().elementwise(TwElementwise::Select, elementType(g, node)))
      standsFor[node.dst] = node.src[1];
  }
}

void Groups::joinNodes(llvm::ArrayRef<Reg> tiles, OpenGroup& g) {
  Joining joining(g, tiles);
  joining.pairs(this->tiles());
  joining.choices(this->tiles());
}

} // namespace tiletwin::interp
