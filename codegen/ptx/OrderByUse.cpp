// codegen/ptx/OrderByUse.cpp -- see OrderByUse.h.
#include "codegen/ptx/OrderByUse.h"
#include "codegen/ptx/Words.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

namespace tiletwin::codegen {
namespace {

using Order = llvm::SmallVector<llvm::Instruction*, 0>;

/// True for what must stay where it is with respect to others of this kind.
bool isAnchored(const llvm::Instruction& one) {
  if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&one)) {
    if (call->isConvergent()) return true;
    // Of assembly LLVM takes it for granted that it reads memory; emission says so where it does.
    if (const auto* text = llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand())) return text->hasSideEffects();
  }
  return llvm::isa<llvm::PHINode>(one) || one.isTerminator() || one.mayReadOrWriteMemory() || one.mayHaveSideEffects();
}

/// Registers of 32 bits that a value takes; of aggregates and vectors all parts. Conditions have registers of their own.
unsigned registersOf(const llvm::Type* type) {
  if (const auto* parts = llvm::dyn_cast<llvm::StructType>(type)) {
    unsigned sum = 0;
    for (const llvm::Type* part : parts->elements()) sum += registersOf(part);
    return sum;
  }
  if (type->isPointerTy()) return 2;
  const unsigned bits = type->getPrimitiveSizeInBits().getKnownMinValue();
  return bits == 1 ? 0 : (bits + 31) / 32;
}

/// The most registers that values made in the block take at once in this order, if each is held up to its last use.
unsigned mostHeld(const Order& order) {
  llvm::DenseMap<const llvm::Instruction*, unsigned> place, last;
  for (auto [i, one] : llvm::enumerate(order)) place[one] = last[one] = i;
  std::vector<unsigned> ends(order.size(), 0);
  for (const llvm::Instruction* one : order)
    for (const llvm::User* user : one->users()) {
      auto found = place.find(llvm::cast<llvm::Instruction>(user));
      // A use elsewhere, or in the next round of a loop, holds it up to the end.
      unsigned& end = last[one];
      end = found == place.end() || found->second < place[one] ? order.size() - 1 : std::max(end, found->second);
    }
  unsigned held = 0, most = 0;
  for (auto [i, one] : llvm::enumerate(order)) {
    held += registersOf(one->getType());
    ends[last[one]] += registersOf(one->getType());
    most = std::max(most, held);
    held -= ends[i];
  }
  return most;
}

Order byUse(llvm::BasicBlock& block) {
  Order order;
  llvm::DenseSet<const llvm::Instruction*> done;
  // Operands first, in their order; an explicit stack, because sums of a tile are chains of thousands.
  auto place = [&](llvm::Instruction* wanted) {
    llvm::SmallVector<std::pair<llvm::Instruction*, unsigned>, 32> stack{{wanted, 0}};
    while (!stack.empty()) {
      auto& [one, next] = stack.back();
      if (done.contains(one)) {
        stack.pop_back();
      } else if (next == one->getNumOperands() || llvm::isa<llvm::PHINode>(one)) {
        done.insert(one);
        order.push_back(one);
        stack.pop_back();
      } else {
        auto* operand = llvm::dyn_cast<llvm::Instruction>(one->getOperand(next++));
        if (operand && operand->getParent() == &block && !done.contains(operand)) stack.push_back({operand, 0});
      }
    }
  };
  auto since = block.begin(); // of what runs beside products of warpgroups, and is not to wait for them
  for (llvm::Instruction& one : block) {
    if (!isAnchored(one) || one.isTerminator()) continue;
    if (wordsOf(one).starts_with("wgmma.wait_group"))
      for (llvm::Instruction& beside : llvm::make_range(since, one.getIterator())) place(&beside);
    if (wordsOf(one).starts_with("wgmma.commit_group")) since = one.getIterator();
    place(&one);
  }
  for (llvm::Instruction& one : block) place(&one); // what other blocks use; the terminator
  return order;
}

/// True where tensor cores work: they have other work beside waits, and registers are scarce.
bool hasProducts(llvm::Function& function) {
  return llvm::any_of(llvm::instructions(function), [](const llvm::Instruction& one) {
    const llvm::StringRef words = wordsOf(one);
    return words.starts_with("mma.") || words.starts_with("wgmma.") || words.contains("tcgen05.mma");
  });
}

bool isBarrier(const llvm::Instruction& one) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&one);
  return call && call->getCalledFunction()->getName().starts_with("llvm.nvvm.barrier");
}

using Places = llvm::SmallVector<std::pair<llvm::Instruction*, llvm::Instruction*>, 0>;

/// What nobody in the block needs in front of a barrier stands behind it, right before its first use: the time in which a
/// reduction goes from warp to warp has work then, and what is reduced is there sooner. The instructions that move, and in front
/// of which others, in order.
Places pastBarriers(const Order& now) {
  llvm::DenseMap<const llvm::Instruction*, unsigned> place;
  llvm::SmallVector<unsigned> barriers;
  for (auto [i, one] : llvm::enumerate(now)) {
    place[one] = i;
    if (isBarrier(*one)) barriers.push_back(i);
  }
  if (barriers.empty()) return {};
  Places places;
  for (unsigned i = now.size(); i-- > 0;) { // those behind use those in front
    llvm::Instruction* one = now[i];
    unsigned first = now.size();
    if (!isAnchored(*one))
      for (const llvm::User* user : one->users()) {
        auto found = place.find(llvm::cast<llvm::Instruction>(user));
        // A use elsewhere, or in the next round of a loop.
        first = std::min(first, found == place.end() || llvm::isa<llvm::PHINode>(user) ? i : found->second);
      }
    const auto* barrier = llvm::upper_bound(barriers, i);
    if (first == now.size() || barrier == barriers.end() || *barrier >= first) continue;
    place[one] = first;
    places.emplace_back(one, now[first]);
  }
  std::reverse(places.begin(), places.end());
  return places;
}

Order withPlaces(const Order& now, const Places& places) {
  llvm::DenseMap<const llvm::Instruction*, Order> before;
  llvm::DenseSet<const llvm::Instruction*> moved;
  for (auto [one, place] : places) {
    before[place].push_back(one);
    moved.insert(one);
  }
  Order order;
  for (llvm::Instruction* one : now) {
    if (auto found = before.find(one); found != before.end()) llvm::append_range(order, found->second);
    if (!moved.contains(one)) order.push_back(one);
  }
  return order;
}

/// Notes for a debugger that stand in front of `one` stay there, but for those that look at it.
void moveWithNotes(llvm::Instruction& one, llvm::Instruction& place) {
  one.moveBefore(place.getIterator());
  llvm::SmallVector<llvm::DbgVariableRecord*> notes;
  llvm::findDbgUsers(&one, notes);
  for (llvm::DbgVariableRecord* note : notes) {
    const llvm::Instruction* at = note->getInstruction();
    if (!at || at->getParent() != one.getParent() || !at->comesBefore(&one)) continue;
    note->removeFromParent();
    one.getParent()->insertDbgRecordAfter(note, &one);
  }
}

/// True for a block that loads, computes and stores, and keeps no other order.
bool isElementwise(const llvm::BasicBlock& block) {
  return llvm::all_of(block, [](const llvm::Instruction& one) {
    const bool isAccess = wordsOf(one).starts_with("ld.global") || wordsOf(one).starts_with("st.global");
    return !isAnchored(one) || isAccess || llvm::isa<llvm::PHINode>(one) || one.isTerminator();
  });
}

} // namespace

llvm::PreservedAnalyses OrderByUse::run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
  bool isFull = false;
  const bool isOfProducts = hasProducts(function);
  for (llvm::BasicBlock& block : function) {
    Order now;
    for (llvm::Instruction& one : block) now.push_back(&one);
    unsigned held = mostHeld(now);
    if (Places places = isOfProducts ? Places() : pastBarriers(now); !places.empty()) {
      Order later = withPlaces(now, places);
      if (const unsigned most = mostHeld(later); most <= held + kHeldMore) {
        for (auto [one, place] : places) moveWithNotes(*one, *place);
        now = std::move(later), held = most;
      }
    }
    if (held <= kHeldMuch) continue;
    const Order wanted = byUse(block);
    const unsigned less = mostHeld(wanted);
    // Between loads and stores the assembler delays the loads, but not across a store that comes early.
    const bool isLeft = held <= kHeldMost && less > kHeldWell && isElementwise(block);
    if (less < held && !isLeft) {
      for (llvm::Instruction* one : wanted) one->moveBeforePreserving(block, block.end());
      held = less;
    }
    isFull |= held > kHeldMost;
  }
  // What does not fit makes the assembler take 32 registers a thread, as if threads were missing, and keep the rest in
  // memory. With a number of CTAs to make room for it takes as many as there are.
  if (isFull && !function.hasFnAttribute("nvvm.minctasm")) function.addFnAttr("nvvm.minctasm", "1");
  llvm::PreservedAnalyses kept;
  kept.preserveSet<llvm::CFGAnalyses>();
  return kept;
}

} // namespace tiletwin::codegen
