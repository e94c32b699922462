#include "codegen/libdevice/Contraction.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;

namespace tiletwin::codegen {
namespace {

/// What a sum adds: a product, possibly negated, or null.
struct Term {
  BinaryOperator* product = nullptr;
  bool negated = false;
};

Term productIn(Value* value, BasicBlock* block) {
  auto* op = dyn_cast<Instruction>(value);
  const bool negated = op && op->getOpcode() == Instruction::FNeg;
  if (negated) op = op->getParent() == block ? dyn_cast<Instruction>(op->getOperand(0)) : nullptr;
  if (!op || op->getOpcode() != Instruction::FMul || op->getParent() != block) return {};
  return {cast<BinaryOperator>(op), negated};
}

/// x*y + z in place of `sum`, whose operand `at` is the product.
void fuse(Instruction* sum, unsigned at, Term term) {
  IRBuilder<> b(sum);
  const bool subtracts = sum->getOpcode() == Instruction::FSub;
  Value *x = term.product->getOperand(0), *y = term.product->getOperand(1), *z = sum->getOperand(1 - at);
  if (term.negated != (subtracts && at == 1)) x = b.CreateFNeg(x);
  if (subtracts && at == 0) z = b.CreateFNeg(z);
  auto* operand = cast<Instruction>(sum->getOperand(at));
  Value* fused = b.CreateIntrinsic(Intrinsic::fma, {sum->getType()}, {x, y, z});
  fused->takeName(sum);
  sum->replaceAllUsesWith(fused);
  sum->eraseFromParent();
  if (operand->use_empty() && operand != term.product) operand->eraseFromParent();
  if (term.product->use_empty()) term.product->eraseFromParent();
}

/// Which operand's product is fused, of the terms of a sum.
std::optional<unsigned> choose(Instruction* sum, const Term (&terms)[2]) {
  if (!terms[0].product || !terms[1].product) {
    if (!terms[0].product && !terms[1].product) return std::nullopt;
    return terms[0].product ? 0 : 1;
  }
  Value *first = sum->getOperand(0), *second = sum->getOperand(1);
  if (first == second && (sum->getOpcode() == Instruction::FSub || first->hasNUsesOrMore(3))) return std::nullopt;
  if (terms[0].negated != terms[1].negated) return terms[0].negated ? 1 : 0;
  return first->getNumUses() > second->getNumUses() ? 1 : 0;
}

void contract(Instruction* sum) {
  const Term terms[2] = {productIn(sum->getOperand(0), sum->getParent()),
                         productIn(sum->getOperand(1), sum->getParent())};
  if (std::optional<unsigned> at = choose(sum, terms)) fuse(sum, *at, terms[*at]);
}

} // namespace

void contractProducts(Function& function) {
  SmallVector<Instruction*> sums;
  for (BasicBlock& block : function)
    for (Instruction& op : block)
      if (op.getOpcode() == Instruction::FAdd || op.getOpcode() == Instruction::FSub) sums.push_back(&op);
  for (Instruction* sum : reverse(sums)) contract(sum);
}

} // namespace tiletwin::codegen
