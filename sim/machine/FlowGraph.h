// sim/machine/FlowGraph.h -- the basic blocks of a function, and where ways that part meet again.
// Not here:  what instructions read and write (Registers.h).
#pragma once
#include "sim/ptx/Ptx.h"
#include <cstdint>
#include <vector>

namespace tiletwin::sim {

/// Instructions [begin, end) of ptx::Function::body that run one after the other.
struct BasicBlock {
  int32_t begin = 0, end = 0;
  std::vector<int32_t> successors; ///< blocks; the last one, which is empty, is the function's end
};

class FlowGraph {
public:
  explicit FlowGraph(const ptx::Function& function);
  const std::vector<BasicBlock>& blocks() const { return blocks_; }
  int32_t blockOf(int32_t instruction) const { return blockOf_[size_t(instruction)]; }
  /// The first instruction of the immediate post-dominator of a block; the body's size: the function's end; -1: none (the
  /// block is in a loop without a way out).
  int32_t meetingPoint(int32_t block) const;

private:
  void findBlocks(const ptx::Function& function);
  void findSuccessors(const ptx::Function& function);
  void findPostDominators();

  std::vector<BasicBlock> blocks_;
  std::vector<int32_t> blockOf_;        ///< per instruction, and one for the end
  std::vector<int32_t> postDominators_; ///< immediate ones, as blocks; -1: none
};

/// What an instruction does to the order in which instructions run.
enum class Jump : uint8_t { None, Branch, Table, Leave };
Jump jumpOf(const ptx::Instruction& in);
/// Labels a brx.idx may go to.
const std::vector<int32_t>* branchTargets(const ptx::Function& function, const ptx::Instruction& in);

} // namespace tiletwin::sim
