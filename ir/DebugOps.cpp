// ir/DebugOps.cpp -- verifier of tt.print; asserts that always hold go away.
#include "ir/TT.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace tiletwin::tt {

LogicalResult PrintOp::verify() {
  if (getIsSigned().size() != getArgs().size())
    return emitOpError() << "needs " << getArgs().size() << " entries in isSigned, got " << getIsSigned().size(); // C1
  return success();
}

static LogicalResult eraseTrueAssert(AssertOp op, PatternRewriter& rewriter) {
  if (!matchPattern(op.getCondition(), m_One())) return failure();
  rewriter.eraseOp(op);
  return success();
}

void AssertOp::getCanonicalizationPatterns(RewritePatternSet& patterns, MLIRContext*) { patterns.add(eraseTrueAssert); }

} // namespace tiletwin::tt
