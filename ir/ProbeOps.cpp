// ir/ProbeOps.cpp -- verifiers of probes; probes that can never fire go away.
#include "ir/TT.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace tiletwin::tt {

LogicalResult ProbeLanesOp::verify() {
  const bool isByte = elementTypeOf(getBad().getType()).isInteger(8);
  const size_t origins = getOrigins() ? getOrigins()->size() : 0;
  if (isByte && origins < 1) return emitOpError() << "needs 1 to 255 origins for i8 lanes, got 0"; // C1
  if (origins > 255) return emitOpError() << "takes at most 255 origins, got " << origins;         // C1
  llvm::SmallDenseSet<int64_t> ids;
  for (Attribute origin : getOrigins().value_or(ArrayAttr::get(getContext(), {}))) {
    auto dictionary = dyn_cast<DictionaryAttr>(origin);
    if (!dictionary || !dictionary.getAs<IntegerAttr>("id") || !dictionary.getAs<LocationAttr>("where") ||
        !dictionary.getAs<StringAttr>("operation") || !dictionary.getAs<StringAttr>("text"))
      return emitOpError() << "needs origins with id, where, operation and text, got " << origin; // C1
    const int64_t id = dictionary.getAs<IntegerAttr>("id").getValue().getSExtValue();
    if (id < 1 || id > 255 || !ids.insert(id).second)
      return emitOpError() << "needs origins with different ids from 1 to 255, got " << id << " in " << origin; // C4
  }
  if (getAtOrigin() && !origins) return emitOpError() << "has at_origin and no origins"; // C2
  const bool known = llvm::StringSwitch<bool>(getCheck())
                         .Cases({"bounds", "uninitialized", "undefined", "races", "order"}, true)
                         .Cases({"nan", "overflow", "promises", "device"}, true)
                         .Default(false);
  if (!known) return emitOpError() << "has the check '" << getCheck() << "', which does not exist"; // C3
  return success();
}

static LogicalResult eraseSilentProbe(ProbeLanesOp op, PatternRewriter& rewriter) {
  if (!matchPattern(op.getBad(), m_Zero())) return failure();
  rewriter.eraseOp(op);
  return success();
}

void ProbeLanesOp::getCanonicalizationPatterns(RewritePatternSet& patterns, MLIRContext*) {
  patterns.add(eraseSilentProbe);
}

LogicalResult PromiseOp::verify() {
  if (getKind() != "multiple_of" && getKind() != "max_contiguous" && getKind() != "max_constancy")
    return emitOpError() << "has the kind '" << getKind()
                         << "'; expected multiple_of, max_contiguous or max_constancy"; // C1
  const size_t rank = std::max<size_t>(1, shapeOf(getSrc().getType()).size());
  if (getValues().size() != rank)
    return emitOpError() << "needs " << rank << " values, got " << getValues().size(); // C2
  return success();
}

} // namespace tiletwin::tt
