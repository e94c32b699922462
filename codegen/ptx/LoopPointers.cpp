// codegen/ptx/LoopPointers.cpp -- see LoopPointers.h.
// Idea: an address is a sum of values, each times a number, and a constant. Two addresses with the same values differ by
//       their constants. LLVM's own sums (ScalarEvolution) do not look through an extension around bits that are or-ed.
#include "codegen/ptx/LoopPointers.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm::PatternMatch;

namespace tiletwin::codegen {
namespace {

/// What an address in an instruction can add: 24 bits with a sign.
constexpr unsigned kOffsetBits = 24;
/// Operations that are looked through, one inside the other.
constexpr int kDepth = 24;

enum class Extended : uint8_t { No, Zero, Sign };

/// An address modulo 2^64.
class Sum {
public:
  Sum(llvm::Value* pointer, const llvm::DataLayout& layout) {
    for (int depth = 0; depth < kDepth; ++depth) {
      auto* moved = llvm::dyn_cast<llvm::GEPOperator>(pointer);
      llvm::SmallMapVector<llvm::Value*, llvm::APInt, 4> indices;
      llvm::APInt bytes(64, 0);
      if (!moved || !moved->collectOffset(layout, 64, indices, bytes)) break;
      constant_ += bytes.getZExtValue();
      for (auto& [index, scale] : indices) {
        const bool isNarrow = index->getType()->getScalarSizeInBits() < 64;
        add(index, isNarrow ? Extended::Sign : Extended::No, scale.getZExtValue(), depth);
      }
      pointer = moved->getPointerOperand();
    }
    addTerm(pointer, Extended::No, 1);
  }
  /// True if `value` is in it once; then it is taken out.
  bool takeOut(llvm::Value* value) {
    auto* found = terms_.find({value, unsigned(Extended::No)});
    if (found == terms_.end() || found->second != 1) return false;
    terms_.erase(found);
    return true;
  }
  /// How far `other` is from it; nothing if that is no constant.
  std::optional<int64_t> to(const Sum& other) const {
    if (terms_.size() != other.terms_.size()) return std::nullopt;
    for (const auto& [term, count] : terms_)
      if (other.terms_.lookup(term) != count) return std::nullopt;
    return int64_t(other.constant_ - constant_);
  }

private:
  using Term = std::pair<llvm::Value*, unsigned>;

  void addTerm(llvm::Value* value, Extended extended, uint64_t count) {
    uint64_t& all = terms_[{value, unsigned(extended)}];
    all += count;
    if (all == 0) terms_.erase({value, unsigned(extended)});
  }
  void add(llvm::Value* value, Extended extended, uint64_t count, int depth);

  llvm::SmallMapVector<Term, uint64_t, 8> terms_;
  uint64_t constant_ = 0;
};

/// Adds count * value, which is extended to 64 bits.
void Sum::add(llvm::Value* value, Extended extended, uint64_t count, int depth) {
  if (auto* number = llvm::dyn_cast<llvm::ConstantInt>(value); number && number->getBitWidth() <= 64) {
    constant_ += count * (extended == Extended::Sign ? uint64_t(number->getSExtValue()) : number->getZExtValue());
    return;
  }
  // An extended sum is the sum of what is extended where nothing passes the end of the narrow type.
  auto isWhole = [&](llvm::Value* sum) {
    auto* op = llvm::dyn_cast<llvm::OverflowingBinaryOperator>(sum);
    return extended == Extended::No ||
           (op && (extended == Extended::Zero ? op->hasNoUnsignedWrap() : op->hasNoSignedWrap()));
  };
  llvm::Value *a = nullptr, *b = nullptr;
  const llvm::APInt* number = nullptr;
  if (depth == kDepth) return addTerm(value, extended, count);
  if (match(value, m_DisjointOr(m_Value(a), m_Value(b))) ||
      (match(value, m_Add(m_Value(a), m_Value(b))) && isWhole(value))) {
    add(a, extended, count, depth + 1), add(b, extended, count, depth + 1);
  } else if (match(value, m_Shl(m_Value(a), m_APInt(number))) && isWhole(value) && number->ult(64)) {
    add(a, extended, count << number->getZExtValue(), depth + 1);
  } else if (match(value, m_ZExt(m_Value(a)))) {
    add(a, Extended::Zero, count, depth + 1);
  } else if (match(value, m_SExt(m_Value(a))) && extended != Extended::Zero) {
    add(a, Extended::Sign, count, depth + 1);
  } else {
    addTerm(value, extended, count);
  }
}

/// How far `other` always is from `from`; nothing if that is no constant that fits.
std::optional<int64_t> distance(llvm::PHINode& from, llvm::PHINode& other, const llvm::DataLayout& layout) {
  if (from.getType() != other.getType()) return std::nullopt;
  std::optional<int64_t> first;
  for (llvm::BasicBlock* before : from.blocks()) {
    Sum a(from.getIncomingValueForBlock(before), layout), b(other.getIncomingValueForBlock(before), layout);
    const bool isStep = a.takeOut(&from);
    if (isStep != b.takeOut(&other)) return std::nullopt;
    std::optional<int64_t> bytes = a.to(b);
    if (!bytes || (isStep && *bytes != 0) || (!isStep && first && *first != *bytes)) return std::nullopt;
    if (!isStep) first = bytes;
  }
  return first && llvm::isIntN(kOffsetBits, *first) ? first : std::nullopt;
}

bool sharePointers(llvm::BasicBlock& block) {
  const llvm::DataLayout& layout = block.getDataLayout();
  llvm::SmallVector<llvm::PHINode*> kept;
  bool isChanged = false;
  for (llvm::PHINode& phi : llvm::make_early_inc_range(block.phis())) {
    if (!phi.getType()->isPointerTy() || layout.getPointerTypeSizeInBits(phi.getType()) != 64) continue;
    std::optional<int64_t> bytes;
    for (llvm::PHINode* other : kept) {
      bytes = distance(*other, phi, layout);
      if (!bytes) continue;
      llvm::IRBuilder<> builder(&block, block.getFirstInsertionPt());
      phi.replaceAllUsesWith(builder.CreatePtrAdd(other, builder.getInt64(uint64_t(*bytes))));
      phi.eraseFromParent();
      isChanged = true;
      break;
    }
    if (!bytes) kept.push_back(&phi);
  }
  return isChanged;
}

} // namespace

llvm::PreservedAnalyses ShareLoopPointers::run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
  bool isChanged = false;
  for (llvm::BasicBlock& block : function) isChanged |= sharePointers(block);
  if (!isChanged) return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses preserved;
  preserved.preserveSet<llvm::CFGAnalyses>();
  return preserved;
}

} // namespace tiletwin::codegen
