// tests/tools/CheckDialect.cpp -- parsing and printing of the checks.
#include "CheckDialect.h"
#include "mlir/IR/Builders.h"

MLIR_DEFINE_EXPLICIT_TYPE_ID(tiletwin::check::CheckDialect)
MLIR_DEFINE_EXPLICIT_TYPE_ID(tiletwin::check::EqOp)
MLIR_DEFINE_EXPLICIT_TYPE_ID(tiletwin::check::CloseOp)

using namespace mlir;

namespace tiletwin::check {

CheckDialect::CheckDialect(MLIRContext* context)
    : Dialect(getDialectNamespace(), context, TypeID::get<CheckDialect>()) {
  addOperations<EqOp, CloseOp>();
}

static ParseResult parseValueAndExpected(OpAsmParser& parser, OperationState& state) {
  OpAsmParser::UnresolvedOperand value;
  Attribute expected;
  if (parser.parseOperand(value) || parser.parseComma()) return failure();
  llvm::SMLoc where = parser.getCurrentLocation();
  if (parser.parseAttribute(expected)) return failure();
  auto typed = dyn_cast<TypedAttr>(expected);
  if (!typed || !isa<DenseElementsAttr, IntegerAttr, FloatAttr>(expected))
    return parser.emitError(where, "expected dense<...> : tensor<...> or a scalar with its type");
  state.addAttribute("expected", expected);
  return parser.resolveOperand(value, typed.getType(), state.operands);
}

ParseResult EqOp::parse(OpAsmParser& parser, OperationState& state) {
  if (parseValueAndExpected(parser, state)) return failure();
  return parser.parseOptionalAttrDict(state.attributes);
}

ParseResult CloseOp::parse(OpAsmParser& parser, OperationState& state) {
  int64_t ulp;
  if (parseValueAndExpected(parser, state) || parser.parseComma() || parser.parseKeyword("ulp") ||
      parser.parseEqual() || parser.parseInteger(ulp))
    return failure();
  state.addAttribute("ulp", parser.getBuilder().getI64IntegerAttr(ulp));
  return parser.parseOptionalAttrDict(state.attributes);
}

void EqOp::print(OpAsmPrinter& printer) {
  printer << ' ' << (*this)->getOperand(0) << ", " << (*this)->getAttr("expected");
}

void CloseOp::print(OpAsmPrinter& printer) {
  printer << ' ' << (*this)->getOperand(0) << ", " << (*this)->getAttr("expected")
          << ", ulp = " << cast<IntegerAttr>((*this)->getAttr("ulp")).getInt();
}

} // namespace tiletwin::check
