// codegen/emit/TwOps.cpp -- operations of tw: one PTX instruction each, written as it stands.
#include "codegen/emit/Elementwise.h"
#include "codegen/emit/Emitters.h"
#include "ir/TW.h"

using namespace mlir;

namespace tiletwin::codegen {

using llvm::Value;

namespace {

/// What ir/TWOps.td names as the PTX of an operation: without .ftz, and the types it has.
struct Instruction {
  llvm::StringLiteral name, text, tail; ///< "sqrt.approx" and "": sqrt.approx[.ftz].f32
};
constexpr Instruction kInstructions[] = {
    {"tw.div_approx", "div.approx", ""}, {"tw.div_full", "div.full", ""},         {"tw.div_rn", "div.rn", ""},
    {"tw.ex2_approx", "ex2.approx", ""}, {"tw.rsqrt_approx", "rsqrt.approx", ""}, {"tw.sqrt_approx", "sqrt.approx", ""},
    {"tw.sqrt_rn", "sqrt.rn", ""},       {"tw.trunc", "cvt.rzi", ".f"},
};

} // namespace

LogicalResult emitTw(Emitter& e, Operation* op) {
  const Instruction* row =
      llvm::find_if(kInstructions, [&](const Instruction& i) { return i.name == op->getName().getStringRef(); });
  if (row == std::end(kInstructions)) return notCompiled(op, e);
  unsigned bits = tt::elementTypeOf(op->getResult(0).getType()).getIntOrFloatBitWidth();
  std::string type = ".f" + std::to_string(bits);
  std::string text =
      row->text.str() + (op->hasAttr("ftz") ? ".ftz" : "") + type + (row->tail.empty() ? "" : type) + " $0";
  std::string constraints = bits == 64 ? "=d" : "=f";
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    text += ", $" + std::to_string(i + 1);
    constraints += bits == 64 ? ",d" : ",f";
  }
  text += ";";
  return emitPerRegister(e, op, [&](ArrayRef<Value*> in) {
    return e.inlinePtx(text, constraints, {in[0]->getType()}, in, false).front();
  });
}

} // namespace tiletwin::codegen
