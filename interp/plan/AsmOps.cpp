// interp/plan/AsmOps.cpp -- tt.elementwise_inline_asm: the text is read here, once; a plan holds its steps.
// Not here:  PTX (interp/asm).
// Invariant: operands and results are dense tiles, or cells where the operation is on scalars.
#include "interp/plan/Builder.h"
#include "interp/program/ForeignInstructions.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace tiletwin::interp {

using mlir::LogicalResult;
using mlir::Operation;
using mlir::Value;

template <> LogicalResult plan(PlanBuilder& plan, tt::ElementwiseInlineAsmOp op) {
  if (plan.bodyGroup() >= 0) return plan.unsupported(op, "inside the region of a reduction or scan");
  const Shape shape = PlanBuilder::shapeOf(op->getResult(0).getType());
  const llvm::StringRef text = op.getAsmString(), constraints = op.getConstraints();
  AsmRequest request;
  request.text = {text.data(), text.size()};
  request.constraints = {constraints.data(), constraints.size()};
  request.pack = op.getPackedElement();
  request.tiles = &plan.tiles();
  for (Value v : op->getResults()) request.results.push_back(plan.dtypeOf(v.getType()));
  for (Value v : op->getOperands()) request.operands.push_back(plan.dtypeOf(v.getType()));
  AsmProgram program;
  std::string error;
  if (!readAsm(request, program, error)) {
    op->emitError() << "interpreter: inline assembly: " << error;
    return mlir::failure();
  }
  std::vector<Reg> sources, results;
  for (Value v : op->getOperands()) sources.push_back(shape.empty() ? plan.cell(plan.uniformOf(v)) : plan.denseOf(v));
  BuildInstruction& in = plan.emit(execInlineAsm, "InlineAsm");
  InlineAsmOp& data = plan.newData<InlineAsmOp>(in);
  data.program = std::move(program);
  data.elements = elementsOf(shape);
  data.inputs.resize(sources.size());
  data.outputs.resize(op->getNumResults());
  for (size_t i = 0; i < sources.size(); ++i) plan.read(in, data.inputs[i], sources[i]);
  for (size_t i = 0; i < data.outputs.size(); ++i) {
    results.push_back(plan.newReg(std::max<uint64_t>(8, uint64_t(data.elements) * sizeOf(request.results[i]))));
    plan.write(in, data.outputs[i], results.back());
  }
  plan.write(in, data.scratch, plan.newReg(data.program.scratchBytes));
  for (size_t i = 0; i < results.size(); ++i) bindElements(plan, op->getResult(unsigned(i)), results[i]);
  return mlir::success();
}

} // namespace tiletwin::interp
