// interp/plan/ProbeOps.cpp -- probes of checks: what a finding will say is put together here, once per kernel.
// Not here:  which probes there are and why (ir/Check*.cpp), firing (run/ExecuteProbe.cpp).
#include "interp/plan/Builder.h"
#include "interp/plan/UserPlace.h"
#include "interp/program/Probes.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace tiletwin::interp {

using mlir::LogicalResult;
using mlir::Operation;
using mlir::success;
using mlir::Value;

/// One finding for each origin, or one if there are none.
static void fillForms(LaneProbeOp& probe, tt::ProbeLanesOp op) {
  auto text = [&](mlir::DictionaryAttr from, llvm::StringRef name) {
    auto value = from.getAs<mlir::StringAttr>(name);
    return value ? value.getValue().str() : std::string();
  };
  Finding here;
  here.check = checkOf(op.getCheck().str());
  here.where = placeForUser(op->getLoc());
  here.operation = op.getProbed().str();
  here.message = op.getMessage().str();
  here.advice = op.getAdvice().str();
  probe.formOf.fill(0);
  probe.forms.push_back(here); // also for a lane whose origin is not listed
  if (mlir::ArrayAttr origins = op.getOriginsAttr())
    for (mlir::Attribute attribute : origins) {
      auto origin = llvm::cast<mlir::DictionaryAttr>(attribute);
      Finding form = here;
      SourceLocation where = placeForUser(origin.getAs<mlir::LocationAttr>("where"));
      const std::string advice = text(origin, "advice");
      if (op.getAtOrigin()) {
        form.second = form.where;
        form.secondOperation = form.operation;
        form.secondText = form.message;
        form.where = where;
        form.operation = text(origin, "operation");
        form.message = text(origin, "text");
      } else {
        form.second = where;
        form.secondOperation = text(origin, "operation");
        form.secondText = text(origin, "text");
      }
      if (!advice.empty()) form.advice = advice;
      auto id = origin.getAs<mlir::IntegerAttr>("id");
      probe.formOf.at(size_t(id.getInt())) = uint16_t(probe.forms.size());
      probe.forms.push_back(std::move(form));
    }
}

template <> LogicalResult plan(PlanBuilder& plan, tt::ProbeLanesOp op) {
  Value bad = op.getBad();
  Shape shape = PlanBuilder::shapeOf(bad.getType());
  plan.flushAll();
  Rep& r = plan.rep(bad);
  const bool single = r.isUniform();
  if (single && r.base.is(0)) return success();
  Reg reg = single ? plan.cell(r.base) : plan.denseOf(bad);
  BuildInstruction& in = plan.emit(execLaneProbe, "Probe");
  LaneProbeOp& data = plan.newData<LaneProbeOp>(in);
  fillForms(data, op);
  data.elements = single ? 1 : elementsOf(shape);
  data.shape.assign(shape.begin(), shape.end());
  plan.read(in, data.bad, reg);
  plan.plan().hasProbes = true;
  return success();
}

} // namespace tiletwin::interp
