// interp/plan/ProbeOps.cpp -- probes of checks: what a finding will say is put together here, once per kernel.
// Not here:  which probes there are and why (ir/Check*.cpp), firing (run/ExecuteProbe.cpp).
#include "interp/plan/Builder.h"
#include "interp/program/Probes.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace tiletwin::interp {

using mlir::LogicalResult;
using mlir::Operation;
using mlir::success;
using mlir::Value;

/// The place a user is told: in a function of the language's library, the call of it in the user's file.
static bool findPlace(mlir::Location l, SourceLocation& out) {
  if (auto file = llvm::dyn_cast<mlir::FileLineColLoc>(l)) {
    out.file = file.getFilename().str();
    out.line = int(file.getLine());
    out.column = int(file.getColumn());
    return !llvm::StringRef(out.file).contains("/tiletwin/language/");
  }
  if (auto name = llvm::dyn_cast<mlir::NameLoc>(l)) {
    const bool users = findPlace(name.getChildLoc(), out);
    out.variable = name.getName().str();
    return users;
  }
  if (auto call = llvm::dyn_cast<mlir::CallSiteLoc>(l)) {
    if (findPlace(call.getCallee(), out)) return true;
    SourceLocation caller;
    const bool users = findPlace(call.getCaller(), caller);
    if (users) out = caller;
    return users;
  }
  if (auto fused = llvm::dyn_cast<mlir::FusedLoc>(l))
    for (mlir::Location part : fused.getLocations())
      if (findPlace(part, out)) return true;
  return false;
}

SourceLocation placeForUser(mlir::Location location) {
  SourceLocation where;
  findPlace(location, where);
  return where;
}

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
