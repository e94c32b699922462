#include "ir/Contraction.h"
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

int64_t uses(Value value) { return std::distance(value.use_begin(), value.use_end()); }

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

void contract(Operation* sum) {
  if (!hasFma(sum->getResult(0).getType()) || sum->getOperand(0) == sum->getOperand(1)) return;
  const bool subtracts = isa<arith::SubFOp>(sum);
  Term terms[2] = {productIn(sum->getOperand(0), sum->getBlock()), productIn(sum->getOperand(1), sum->getBlock())};
  if (!terms[0].product && !terms[1].product) return;
  unsigned at = terms[0].product ? 0 : 1;
  if (terms[0].product && terms[1].product && uses(sum->getOperand(0)) > uses(sum->getOperand(1))) at = 1;
  fuse(sum, at, terms[at], subtracts);
}

} // namespace

void contractProducts(Operation* root) {
  SmallVector<Operation*> sums;
  root->walk<WalkOrder::PreOrder>([&](Operation* op) {
    if (isa<arith::AddFOp, arith::SubFOp>(op)) sums.push_back(op);
  });
  for (Operation* sum : sums) contract(sum);
}

} // namespace tiletwin::tt
