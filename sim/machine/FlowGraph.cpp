#include "sim/machine/FlowGraph.h"
#include <algorithm>

namespace tiletwin::sim {

Jump jumpOf(const ptx::Instruction& in) {
  if (in.opcode == "bra") return Jump::Branch;
  if (in.opcode == "brx") return Jump::Table;
  if (in.opcode == "ret" || in.opcode == "exit" || in.opcode == "trap") return Jump::Leave;
  return Jump::None;
}

const std::vector<int32_t>* branchTargets(const ptx::Function& function, const ptx::Instruction& in) {
  for (const ptx::Operand& operand : in.operands)
    if (operand.kind == ptx::Operand::Kind::Table) return &function.tables[size_t(operand.index)].targets;
  return nullptr;
}

namespace {
int32_t branchTarget(const ptx::Function& function, const ptx::Instruction& in) {
  for (const ptx::Operand& operand : in.operands)
    if (operand.kind == ptx::Operand::Kind::Label) return function.labels[size_t(operand.index)].instruction;
  return -1;
}
} // namespace

FlowGraph::FlowGraph(const ptx::Function& function) {
  findBlocks(function);
  findSuccessors(function);
  findPostDominators();
}

void FlowGraph::findBlocks(const ptx::Function& function) {
  const size_t count = function.body.size();
  std::vector<bool> begins(count + 1, false);
  begins[0] = begins[count] = true;
  for (const ptx::Label& label : function.labels) begins[size_t(label.instruction)] = true;
  for (size_t i = 0; i < count; ++i)
    if (jumpOf(function.body[i]) != Jump::None) begins[i + 1] = true;
  blockOf_.resize(count + 1);
  for (size_t i = 0; i <= count; ++i) {
    if (begins[i]) blocks_.push_back({int32_t(i), int32_t(i), {}});
    blockOf_[i] = int32_t(blocks_.size()) - 1;
    if (i < count) blocks_.back().end = int32_t(i) + 1;
  }
}

void FlowGraph::findSuccessors(const ptx::Function& function) {
  const int32_t end = int32_t(blocks_.size()) - 1;
  for (int32_t b = 0; b < end; ++b) {
    BasicBlock& block = blocks_[size_t(b)];
    const auto add = [&](int32_t to) {
      if (std::find(block.successors.begin(), block.successors.end(), to) == block.successors.end())
        block.successors.push_back(to);
    };
    const ptx::Instruction& last = function.body[size_t(block.end) - 1];
    const Jump jump = jumpOf(last);
    if (jump == Jump::None || last.guard >= 0) add(b + 1);
    if (jump == Jump::Leave) add(end);
    if (jump == Jump::Branch)
      if (const int32_t to = branchTarget(function, last); to >= 0) add(blockOf_[size_t(to)]);
    if (jump == Jump::Table)
      if (const std::vector<int32_t>* targets = branchTargets(function, last))
        for (const int32_t label : *targets) add(blockOf_[size_t(function.labels[size_t(label)].instruction)]);
  }
}

/// Dominators of the reversed graph: Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001).
void FlowGraph::findPostDominators() {
  const int32_t count = int32_t(blocks_.size()), end = count - 1;
  std::vector<std::vector<int32_t>> predecessors(static_cast<size_t>(count));
  for (int32_t b = 0; b < count; ++b)
    for (const int32_t to : blocks_[size_t(b)].successors) predecessors[size_t(to)].push_back(b);

  // Postorder numbers of the reversed graph, from the end.
  std::vector<int32_t> number(size_t(count), -1), order;
  std::vector<bool> seen(size_t(count), false);
  std::vector<std::pair<int32_t, size_t>> stack{{end, 0}};
  seen[size_t(end)] = true;
  while (!stack.empty()) {
    auto& [block, next] = stack.back();
    if (next < predecessors[size_t(block)].size()) {
      const int32_t to = predecessors[size_t(block)][next++];
      if (!seen[size_t(to)]) {
        seen[size_t(to)] = true;
        stack.emplace_back(to, 0);
      }
    } else {
      number[size_t(block)] = int32_t(order.size());
      order.push_back(block);
      stack.pop_back();
    }
  }

  postDominators_.assign(size_t(count), -1);
  postDominators_[size_t(end)] = end;
  const auto meet = [&](int32_t a, int32_t b) {
    while (a != b) {
      while (number[size_t(a)] < number[size_t(b)]) a = postDominators_[size_t(a)];
      while (number[size_t(b)] < number[size_t(a)]) b = postDominators_[size_t(b)];
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      if (*it == end) continue;
      int32_t best = -1;
      for (const int32_t to : blocks_[size_t(*it)].successors)
        if (number[size_t(to)] >= 0 && postDominators_[size_t(to)] >= 0) best = best < 0 ? to : meet(best, to);
      if (best >= 0 && postDominators_[size_t(*it)] != best) {
        postDominators_[size_t(*it)] = best;
        changed = true;
      }
    }
  }
}

int32_t FlowGraph::meetingPoint(int32_t block) const {
  const int32_t b = postDominators_[size_t(block)];
  return b < 0 ? -1 : blocks_[size_t(b)].begin;
}

} // namespace tiletwin::sim
