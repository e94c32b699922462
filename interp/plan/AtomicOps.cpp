// interp/plan/AtomicOps.cpp -- atomic accesses to memory.
// Here:      which loop over lanes runs, with which operands; scalars and tiles.
// Not here:  the loops (run/Atomics.cpp), checks of addresses (run/ExecuteAtomic.cpp), atomic updates through descriptors.
// Invariant: stores and loads before an atomic access in program order are done before it. `sem` and `scope` need no
//            care: every access is sequentially consistent for the whole process.
#include "interp/plan/Builder.h"
#include "interp/plan/ProbeAccess.h"
#include "interp/program/WaitInstructions.h"
#include "ir/TT.h"

namespace tiletwin::interp {

using mlir::LogicalResult;
using mlir::Operation;
using mlir::Value;

namespace {

struct RmwRow {
  tt::RmwKind kind;
  AtomicKind run;
  const char* name; ///< for traps: as users know it
};
constexpr RmwRow kRmw[] = {
    {tt::RmwKind::And, AtomicKind::And, "tt.atomic_and"},   {tt::RmwKind::Or, AtomicKind::Or, "tt.atomic_or"},
    {tt::RmwKind::Xor, AtomicKind::Xor, "tt.atomic_xor"},   {tt::RmwKind::Add, AtomicKind::Add, "tt.atomic_add"},
    {tt::RmwKind::FAdd, AtomicKind::FAdd, "tt.atomic_add"}, {tt::RmwKind::Max, AtomicKind::Max, "tt.atomic_max"},
    {tt::RmwKind::Min, AtomicKind::Min, "tt.atomic_min"},   {tt::RmwKind::UMax, AtomicKind::UMax, "tt.atomic_max"},
    {tt::RmwKind::UMin, AtomicKind::UMin, "tt.atomic_min"}, {tt::RmwKind::Exch, AtomicKind::Exch, "tt.atomic_xchg"},
};

const RmwRow& rowOf(tt::RmwKind kind) {
  for (const RmwRow& row : kRmw)
    if (row.kind == kind) return row;
  llvm_unreachable("kRmw has all kinds");
}

struct Operands {
  Value pointer, value, compare, mask, result;
};

/// Null if every lane is wanted.
Value neededMask(PlanBuilder& plan, Value mask) {
  if (!mask) return mask;
  const Rep& r = plan.rep(mask);
  bool uniform = r.isUniform();
  return uniform && r.base.is(1) ? Value() : mask;
}

LogicalResult planAtomic(PlanBuilder& plan, Operation* op, AtomicKind kind, const char* name, Operands o) {
  mlir::Type pointee = llvm::cast<tt::PointerType>(tt::elementTypeOf(o.pointer.getType())).getPointeeType();
  DType type = plan.dtypeOf(pointee);
  AtomicFn fn = atomicFn(kind, type);
  if (!fn) return plan.unsupported(op, std::string("on ") + nameOf(type));
  plan.flushViews();
  Shape shape = PlanBuilder::shapeOf(o.pointer.getType());
  const bool isScalar = shape.empty();
  o.mask = neededMask(plan, o.mask);
  const bool isUsed = o.result && !o.result.use_empty();
  if (o.result && !isUsed && !probesAccesses(plan)) o.result = {};
  // An operand of a tile: a cell for all lanes, or dense.
  auto isCell = [&](Value v) { return isScalar || plan.rep(v).isSplat(); };
  auto place = [&](Value v) { return isCell(v) ? plan.cell(plan.rep(v).base) : plan.denseOf(v); };
  Reg address = isScalar ? plan.cell(plan.rep(o.pointer).base) : plan.denseOf(o.pointer);
  Reg mask = !o.mask ? kNoReg : isScalar ? plan.cell(plan.rep(o.mask).base) : plan.denseOf(o.mask);
  Reg value = o.value ? place(o.value) : kNoReg, compare = o.compare ? place(o.compare) : kNoReg;
  bool valueIsCell = o.value && isCell(o.value), compareIsCell = o.compare && isCell(o.compare);
  const int root = plan.rep(o.pointer).root;

  BuildInstruction& in = plan.emit(isScalar ? execScalarAtomic : execAtomic, llvm::StringRef(name).drop_front(3));
  AtomicOp& data = plan.newData<AtomicOp>(in);
  data.fn = fn;
  data.elements = elementsOf(shape);
  data.shape.assign(shape.begin(), shape.end());
  data.elementBytes = int32_t(sizeOf(type));
  data.root = root;
  data.writes = kind != AtomicKind::Load;
  data.signExtend = isInteger(type) && type != DType::I1;
  data.operation = name;
  data.valueIsCell = valueIsCell;
  data.compareIsCell = compareIsCell;
  data.hasResult = bool(o.result);
  plan.read(in, data.address, address);
  data.hasMask = plan.readIfAny(in, data.mask, mask);
  data.hasValue = plan.readIfAny(in, data.value, value);
  data.hasCompare = plan.readIfAny(in, data.compare, compare);
  Reg old = kNoReg;
  if (o.result) {
    Reg reg = old = isScalar ? plan.newReg(8) : plan.newTile(type, shape);
    plan.write(in, data.result, reg);
    plan.set(o.result, isScalar ? plan.scalarRep(type, Uniform::in(reg)) : plan.tileRep(type, shape, reg));
  }
  if (data.writes) plan.noteWrite(root);
  probeAtomic(plan, {op, name, address, mask, old, compare, compareIsCell, data.writes, kind == AtomicKind::FAdd,
                     isUsed, root, type, shape});
  return mlir::success();
}

} // namespace

const char* atomicName(Operation* op) {
  if (auto rmw = llvm::dyn_cast<tt::AtomicRMWOp>(op)) return rowOf(rmw.getAtomicRmwOp()).name;
  return op->getName().getStringRef().data(); // of a registered operation: lives as long as the process
}

template <> LogicalResult plan(PlanBuilder& plan, tt::AtomicRMWOp rmw) {
  const RmwRow& row = rowOf(rmw.getAtomicRmwOp());
  return planAtomic(plan, rmw, row.run, row.name, {rmw.getPtr(), rmw.getVal(), {}, rmw.getMask(), rmw.getResult()});
}

template <> LogicalResult plan(PlanBuilder& plan, tt::AtomicCASOp cas) {
  return planAtomic(plan, cas, AtomicKind::Cas, "tt.atomic_cas",
                    {cas.getPtr(), cas.getVal(), cas.getCmp(), {}, cas.getResult()});
}

template <> LogicalResult plan(PlanBuilder& plan, tt::AtomicLoadOp load) {
  return planAtomic(plan, load, AtomicKind::Load, "tt.atomic_load",
                    {load.getPtr(), {}, {}, load.getMask(), load.getResult()});
}

template <> LogicalResult plan(PlanBuilder& plan, tt::AtomicStoreOp store) {
  return planAtomic(plan, store, AtomicKind::Store, "tt.atomic_store",
                    {store.getPtr(), store.getValue(), {}, store.getMask(), {}});
}

template <> LogicalResult plan(PlanBuilder& plan, tt::AtomicPollOp poll) {
  plan.flushViews();
  DType type = plan.dtypeOf(poll.getExpected().getType());
  Reg address = plan.cell(plan.rep(poll.getPtr()).base), expected = plan.cell(plan.uniformOf(poll.getExpected()));
  Reg timeout = poll.getTimeout() ? plan.cell(plan.uniformOf(poll.getTimeout())) : kNoReg;
  Reg state = plan.newReg(8);
  BuildInstruction& enter = plan.emit(execPollEnter, "PollEnter");
  plan.write(enter, enter.in.r[0], state);
  BuildInstruction& in = plan.emit(execPoll, "atomic_poll");
  PollOp& data = plan.newData<PollOp>(in);
  data.bytes = int32_t(sizeOf(type));
  data.root = plan.rep(poll.getPtr()).root;
  data.where = plan.placeOf(poll);
  plan.read(in, data.address, address);
  plan.read(in, data.expected, expected);
  plan.read(in, data.state, state);
  data.hasTimeout = plan.readIfAny(in, data.timeout, timeout);
  Reg result = plan.newReg(8);
  plan.write(in, data.result, result);
  plan.set(poll.getResult(), plan.scalarRep(DType::I1, Uniform::in(result)));
  plan.plan().mayWait = true;
  AtomicProbe probe;
  probe.op = poll;
  probe.operation = "tt.atomic_poll";
  probe.address = address;
  probe.old = result;
  probe.isUsed = true;
  probe.root = data.root;
  probe.type = type;
  probeAtomic(plan, probe);
  return mlir::success();
}

} // namespace tiletwin::interp
