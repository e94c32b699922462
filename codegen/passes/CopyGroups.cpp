// codegen/passes/CopyGroups.cpp -- see CopyGroups.h.
#include "codegen/passes/CopyGroups.h"
#include "codegen/passes/AffineLoads.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tiletwin::codegen {
namespace {

/// Buffers follow each other, and the order in shared memory repeats every eight rows of the widest swizzle.
bool fillsWholePatterns(twg::MemDescType memory) {
  SharedLayout layout = twg::sharedLayoutOf(memory);
  return layout.bytes() % std::max(layout.alignment(), 128u) == 0;
}

bool canHaveSlots(const CopyGroup& group, Block* body) {
  if (!group.before || !group.expect || group.copies.empty()) return false;
  return llvm::all_of(group.copies, [&](const BlockCopy& copy) {
    twg::LocalAllocOp memory = copy.slots.memory();
    return memory && memory->getBlock() == body && fillsWholePatterns(copy.slots.type());
  });
}

} // namespace

bool CopyGroup::isOfProgram() const {
  return llvm::any_of(copies, [](BlockCopy copy) { return !isMadeByLauncher(copy.load.getDesc()); });
}

uint32_t CopyGroup::bytes() const {
  uint32_t sum = 0;
  for (const BlockCopy& copy : copies) sum += twg::sharedLayoutOf(copy.slots.type()).bytes();
  return sum;
}

SmallVector<CopyGroup, 2> copyGroupsOf(scf::ForOp loop) {
  SmallVector<CopyGroup, 2> groups;
  CopyGroup group;
  for (Operation& op : *loop.getBody()) {
    if (auto before = dyn_cast<twg::ProxyBarrierOp>(op)) group = CopyGroup{before, {}, {}, {}};
    if (auto expect = dyn_cast<twg::BarrierExpectOp>(op)) group.expect = expect;
    if (auto load = dyn_cast<twg::TensorLoadOp>(op))
      group.copies.push_back({load, Slots(load.getDst().getDefiningOp<twg::LocalAllocOp>())});
    if (auto wait = dyn_cast<twg::BarrierWaitOp>(op)) {
      group.wait = wait;
      if (canHaveSlots(group, loop.getBody())) groups.push_back(group);
      group = CopyGroup();
    }
  }
  return groups;
}

int slotsOf(scf::ForOp loop, const Target& target, const Options& options) {
  constexpr int kMostSlots = 32; // phases of their barriers are bits of a word
  constexpr int kMostAlone = 8;
  const int stages = std::min(stagesOf(loop, options), kMostSlots);
  SmallVector<twg::LocalAllocOp> memory;
  for (const CopyGroup& group : copyGroupsOf(loop))
    for (const BlockCopy& copy : group.copies) memory.push_back(copy.slots.memory());
  return stages < 2 ? stages : deepened(stages, kMostAlone, memory, target, options);
}

twg::MemDescType barriersType(MLIRContext* context, int64_t count) {
  return twg::MemDescType::get(context, {count, 1, 1}, IntegerType::get(context, 64),
                               twg::SharedAttr::get(context, 2, 0));
}

Value barrierAt(OpBuilder& builder, Location where, Value barriers, Value slot) {
  auto type = twg::MemDescType::get(builder.getContext(), {1, 1}, builder.getI64Type(),
                                    twg::SharedAttr::get(builder.getContext(), 1, 0));
  return twg::MemDescIndexOp::create(builder, where, type, barriers, slot);
}

} // namespace tiletwin::codegen
