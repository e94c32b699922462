// diff/bounds/AssemblyOps.cpp -- bounds through PTX text in kernels: of single approximate instructions those that are known.
// Source:    the maximum errors that PTX ISA states for *.approx and div.full.
// Not here:  what operands may be off (smooth() in FunctionOps.cpp).
#include "diff/bounds/Builder.h"

using namespace mlir;

namespace tiletwin::diff {
namespace {

/// What an instruction may be off: a share of the result, and an absolute error.
struct Instruction {
  StringLiteral name, format;
  double relative, absolute;
};
constexpr Instruction kInstructions[] = {
    {"cos.approx", "f32", 0, 0x1p-20},       {"div.approx", "f32", 0x1p-22, 0},  {"div.full", "f32", 0x1p-22, 0},
    {"ex2.approx", "f32", 0x1p-22, 0},       {"ex2.approx", "f16", 0x1p-9, 0},   {"ex2.approx", "bf16", 0x1p-7, 0},
    {"lg2.approx", "f32", 0x1p-22, 0x1p-22}, {"rcp.approx", "f32", 0x1p-23, 0},  {"rsqrt.approx", "f32", 0x1p-22, 0},
    {"sin.approx", "f32", 0, 0x1p-20},       {"sqrt.approx", "f32", 0x1p-23, 0}, {"tanh.approx", "f32", 0x1p-11, 0},
    {"tanh.approx", "f16", 0, 0x1p-10},      {"tanh.approx", "bf16", 0, 0x1p-8},
};

bool isApproximate(tt::ElementwiseInlineAsmOp op) {
  return op.getAsmString().contains(".approx") || op.getAsmString().contains(".full");
}

StringRef formatOf(Type type) {
  Type element = tt::elementTypeOf(type);
  return element.isF32() ? "f32" : element.isF16() ? "f16" : element.isBF16() ? "bf16" : "";
}

/// The instruction that is the whole text, on registers that are the operands; null: it is not a known one.
const Instruction* singleOf(tt::ElementwiseInlineAsmOp op) {
  StringRef text = op.getAsmString().trim();
  if (text.consume_front("{") && !text.consume_back("}")) return nullptr;
  text = text.trim();
  (void)text.consume_back(";");
  auto [name, registers] = text.trim().split(' ');
  std::string places;
  for (char c : registers)
    if (c != ' ' && c != '\t') places += c;
  const bool isQuotient = name.starts_with("div");
  if (op->getNumResults() != 1 || op->getNumOperands() != (isQuotient ? 2 : 1)) return nullptr;
  if (places != (isQuotient ? "$0,$1,$2" : "$0,$1")) return nullptr;
  StringRef format = formatOf(op->getResult(0).getType());
  if (!name.consume_back(op.getPackedElement() == 2 ? "x2" : "") || op.getPackedElement() > 2) return nullptr;
  if (!llvm::all_of(op->getOperandTypes(), [&](Type type) { return formatOf(type) == format; })) return nullptr;
  for (const Instruction& row : kInstructions) {
    StringRef rest = name;
    if (row.format != format || !rest.consume_front(row.name)) continue;
    (void)rest.consume_front(".ftz");
    if (rest.consume_front(".") && rest == format) return &row;
  }
  return nullptr;
}

bool approximates(const Builder& b, tt::ElementwiseInlineAsmOp op) {
  return b.latitude().approximates && isApproximate(op);
}

Value ofInstruction(Builder& b, Operation* op, OpResult r, const Instruction& row) {
  Type type = r.getType();
  Value own = b.add(b.rounding(r, 2), b.mul(b.magnitude(r), row.relative)), unknown;
  if (row.absolute > 0) own = b.add(own, b.constant(type, row.absolute));
  if (row.name == "div.approx") {
    own = quotientBy(b, op, r, 4);
    unknown = hugeDivisorOfInfinity(b, op);
  }
  if (row.name == "sin.approx" || row.name == "cos.approx") {
    // 2^-20.5 up to 2 pi, 2^-14.7 up to 100 pi.
    Value size = b.add(b.magnitude(x(op)), b.of(x(op)));
    Value isFar = b.compare(Predicate::OGT, size, b.constant(type, 6.2831853));
    own = b.add(own, b.select(isFar, b.constant(type, 0x1p-14), b.zero(type)));
    unknown = b.compare(Predicate::OGT, size, b.constant(type, 314.15926));
  }
  // Of zeros they are infinite.
  if (row.name.starts_with("div")) unknown = b.either(unknown, b.mayBeZero(y(op)));
  if (row.name == "rcp.approx" || row.name == "rsqrt.approx" || row.name == "lg2.approx") unknown = b.mayBeZero(x(op));
  return b.unknownWhere(unknown, Reason::NoRule, smooth(b, op, r, own), type);
}

Value assembled(Builder& b, tt::ElementwiseInlineAsmOp text, OpResult r) {
  if (!approximates(b, text)) return b.withoutRule(text, r);
  if (const Instruction* row = singleOf(text)) return ofInstruction(b, text, r, *row);
  b.without(text);
  Value all = b.spread(b.always(), r.getType());
  b.note(all, Reason::NoRule);
  return isBool(r.getType()) ? all : b.infiniteWhere(all, {}, r.getType());
}

} // namespace

BOUNDS_RULE(tt::ElementwiseInlineAsmOp, assembled, approximates)

} // namespace tiletwin::diff
