#include "ir/Contraction.h"
#include "ir/Notes.h"
#include "ir/TT.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tiletwin::tt {
namespace {

/// What a sum adds: a product, possibly negated, or null.
struct Term {
  arith::MulFOp product;
  bool negated = false;
};

Term productIn(Value value, Block* block) {
  Operation* op = value.getDefiningOp();
  auto negation = dyn_cast_if_present<arith::NegFOp>(op);
  if (negation) op = negation.getOperand().getDefiningOp();
  auto product = dyn_cast_if_present<arith::MulFOp>(op);
  if (!product || product->getBlock() != block || (negation && negation->getBlock() != block)) return {};
  return {product, bool(negation)};
}

int64_t uses(Value value) { return llvm::range_size(usesOf(value)); }

bool hasFma(Type type) {
  Type element = elementTypeOf(type);
  return element.isF16() || element.isBF16() || element.isF32() || element.isF64();
}

/// x*y + z in place of `sum`, whose operand `at` is the product. `subtracts`: operand 1 is taken away.
void fuse(Operation* sum, unsigned at, Term term, bool subtracts) {
  OpBuilder b(sum);
  const Location location = sum->getLoc();
  Value x = term.product.getLhs(), y = term.product.getRhs(), z = sum->getOperand(1 - at);
  const bool negatesProduct = term.negated != (subtracts && at == 1), negatesAddend = subtracts && at == 0;
  if (negatesProduct) x = arith::NegFOp::create(b, location, x);
  if (negatesAddend) z = arith::NegFOp::create(b, location, z);
  Operation* operand = sum->getOperand(at).getDefiningOp();
  sum->getResult(0).replaceAllUsesWith(math::FmaOp::create(b, location, x, y, z));
  sum->erase();
  if (operand->use_empty() && operand != term.product) operand->erase();
  if (term.product->use_empty()) term.product->erase();
}

/// Which operand's product is fused, of the terms of a sum.
std::optional<unsigned> choose(Operation* sum, const Term (&terms)[2]) {
  if (!terms[0].product || !terms[1].product) {
    if (!terms[0].product && !terms[1].product) return std::nullopt;
    return terms[0].product ? 0 : 1;
  }
  Value first = sum->getOperand(0), second = sum->getOperand(1);
  if (first == second) {
    const bool isWide = elementTypeOf(first.getType()).getIntOrFloatBitWidth() >= 32;
    if (isa<arith::SubFOp>(sum) || !isWide || uses(first) > 2) return std::nullopt;
  }
  if (terms[0].negated != terms[1].negated) return terms[0].negated ? 1 : 0;
  return uses(first) > uses(second) ? 1 : 0;
}

void contract(Operation* sum) {
  if (!hasFma(sum->getResult(0).getType())) return;
  const Term terms[2] = {productIn(sum->getOperand(0), sum->getBlock()),
                         productIn(sum->getOperand(1), sum->getBlock())};
  if (std::optional<unsigned> at = choose(sum, terms)) fuse(sum, *at, terms[*at], isa<arith::SubFOp>(sum));
}

} // namespace

void contractProducts(Operation* root) {
  SmallVector<Operation*> sums;
  root->walk<WalkOrder::PreOrder>([&](Operation* op) {
    if (isa<arith::AddFOp, arith::SubFOp>(op)) sums.push_back(op);
  });
  for (Operation* sum : llvm::reverse(sums)) contract(sum);
}

} // namespace tiletwin::tt
