// interp/plan/ProbeAccess.cpp -- see ProbeAccess.h.
#include "interp/plan/ProbeAccess.h"
#include "interp/plan/MemoryOps.h"
#include "interp/plan/UserPlace.h"
#include "interp/program/ProbeAccess.h"
#include "interp/program/Probes.h"
#include "ir/TT.h"
#include "runtime/Checks.h"
#include "llvm/ADT/SetVector.h"

namespace tiletwin::interp {

using mlir::Operation;

namespace {

struct Probe {
  BuildInstruction& in;
  ProbeAccessOp& op;
};

/// Whether an operation stores what it computes from what it loaded from the same place.
bool isUpdate(Operation* op) {
  auto store = llvm::dyn_cast_or_null<tt::StoreOp>(op);
  if (!store) return false;
  llvm::SetVector<Operation*> sources;
  auto follow = [&](mlir::Value v) {
    if (Operation* source = v.getDefiningOp()) sources.insert(source);
  };
  follow(store.getValue());
  for (size_t i = 0; i < sources.size(); ++i) {
    if (auto load = llvm::dyn_cast<tt::LoadOp>(sources[i])) {
      if (load.getPtr() == store.getPtr()) return true;
      continue; // what an address depends on is no part of the value
    }
    for (mlir::Value operand : sources[i]->getOperands()) follow(operand);
  }
  return false;
}

Probe newProbe(PlanBuilder& plan, ProbeAccessOp::Form form, int root, DType type, llvm::ArrayRef<int64_t> shape,
               const char* operation, bool writes) {
  BuildInstruction& in = plan.emit(execProbeAccess, "ProbeAccess");
  ProbeAccessOp& op = plan.newData<ProbeAccessOp>(in);
  op.form = form;
  op.kind = writes ? RaceKind::Write : RaceKind::Read;
  op.isUpdate = writes && isUpdate(plan.planned());
  op.operation = operation;
  op.type = type;
  op.where = placeForUser(plan.location());
  op.access.root = root;
  in.in.imm = probedBit(root);
  op.access.elementBytes = int32_t(sizeOf(type));
  op.access.shape.assign(shape.begin(), shape.end());
  op.loop = plan.outermostLoop();
  op.number = uint32_t(plan.plan().probes.size());
  plan.plan().probes.push_back(&op);
  plan.plan().checks = plan.options().checks;
  plan.plan().hasProbes = true;
  return {in, op};
}

/// What an atomic operation says about order and scope.
struct Order {
  tt::MemSemantic sem;
  tt::MemScope scope;
};
Order orderOf(Operation* op) {
  if (auto rmw = llvm::dyn_cast<tt::AtomicRMWOp>(op)) return {rmw.getSem(), rmw.getScope()};
  if (auto cas = llvm::dyn_cast<tt::AtomicCASOp>(op)) return {cas.getSem(), cas.getScope()};
  if (auto load = llvm::dyn_cast<tt::AtomicLoadOp>(op)) return {load.getSem(), load.getScope()};
  if (auto store = llvm::dyn_cast<tt::AtomicStoreOp>(op)) return {store.getSem(), store.getScope()};
  auto poll = llvm::cast<tt::AtomicPollOp>(op);
  return {poll.getSem(), poll.getScope()};
}

CheckSet wantedOf(const PlanBuilder& plan) {
  CheckSet wanted;
  wanted.bits = plan.options().checks;
  return wanted;
}

void probeBarrier(PlanBuilder& plan) {
  if (wantedOf(plan).has(Check::Barriers)) plan.emit(execProbeBarrier, "ProbeBarrier");
}

} // namespace

bool probesAccesses(const PlanBuilder& plan) { return wantedOf(plan).looksAtMemory(); }

template <> mlir::LogicalResult plan(PlanBuilder& plan, ttg::BarrierOp) {
  probeBarrier(plan);
  return mlir::success();
}

void probeBlock(PlanBuilder& plan, const Rep& pointer, const Rep* box, DType type, const char* operation, bool writes) {
  if (!probesAccesses(plan)) return;
  const bool isRows = pointer.kind == Rep::Rows;
  Probe probe = newProbe(plan, isRows ? ProbeAccessOp::Form::Rows : ProbeAccessOp::Form::Block, pointer.root, type,
                         pointer.shape, operation, writes);
  readBlock(plan, probe.in, probe.op.access, pointer, box);
  if (!isRows) return;
  probe.op.tableDim = pointer.tableDim;
  plan.read(probe.in, probe.op.table, pointer.table);
}

void probeAddresses(PlanBuilder& plan, Reg address, Reg mask, int root, DType type, llvm::ArrayRef<int64_t> shape,
                    const char* operation, bool writes) {
  if (!probesAccesses(plan)) return;
  Probe probe = newProbe(plan, ProbeAccessOp::Form::Addresses, root, type, shape, operation, writes);
  probe.op.elements = elementsOf(shape);
  plan.read(probe.in, probe.op.address, address);
  probe.op.hasMask = plan.readIfAny(probe.in, probe.op.mask, mask);
}

void probeScalar(PlanBuilder& plan, Reg address, Reg mask, int root, DType type, const char* operation, bool writes) {
  if (!probesAccesses(plan)) return;
  Probe probe = newProbe(plan, ProbeAccessOp::Form::Scalar, root, type, {}, operation, writes);
  plan.read(probe.in, probe.op.address, address);
  probe.op.hasMask = plan.readIfAny(probe.in, probe.op.mask, mask);
}

void probeDescriptorRows(PlanBuilder& plan, const DescriptorRowsOp& access, DType type, llvm::ArrayRef<Reg> reads) {
  if (!probesAccesses(plan)) return;
  Probe probe = newProbe(plan, ProbeAccessOp::Form::DescriptorRows, access.root, type, access.shape, access.operation,
                         access.isStore);
  probe.op.rows = &access;
  for (Reg reg : reads) probe.in.keep.push_back(reg);
}

void probeReduce(PlanBuilder& plan, const Rep& pointer, const Rep& box, DType type, bool isFloatAdd) {
  if (!probesAccesses(plan)) return;
  Probe probe =
      newProbe(plan, ProbeAccessOp::Form::Block, pointer.root, type, pointer.shape, "tt.descriptor_reduce", true);
  readBlock(plan, probe.in, probe.op.access, pointer, &box);
  probe.op.kind = RaceKind::AtomicWrite;
  probe.op.isAtomic = true;
  probe.op.isFloatAdd = isFloatAdd;
}

void probeAtomic(PlanBuilder& plan, const AtomicProbe& atomic) {
  if (!probesAccesses(plan)) return;
  const bool isScalar = atomic.shape.empty();
  Probe probe = newProbe(plan, isScalar ? ProbeAccessOp::Form::Scalar : ProbeAccessOp::Form::Addresses, atomic.root,
                         atomic.type, atomic.shape, atomic.operation, atomic.writes);
  ProbeAccessOp& op = probe.op;
  const Order order = orderOf(atomic.op);
  const bool isStore = llvm::isa<tt::AtomicStoreOp>(atomic.op);
  op.elements = elementsOf(atomic.shape);
  op.isAtomic = true;
  op.isFloatAdd = atomic.isFloatAdd;
  op.isCas = llvm::isa<tt::AtomicCASOp>(atomic.op);
  op.isPoll = llvm::isa<tt::AtomicPollOp>(atomic.op);
  plan.read(probe.in, op.address, atomic.address);
  op.hasMask = plan.readIfAny(probe.in, op.mask, atomic.mask);
  op.hasOld = plan.readIfAny(probe.in, op.old, atomic.old);
  op.compareIsCell = atomic.compareIsCell;
  if (op.isCas) plan.read(probe.in, op.compare, atomic.compare);
  if (isScalar && atomic.isUsed) probeBarrier(plan); // all threads get the result of one, and wait for it
  if (order.scope == tt::MemScope::Cta) return;      // says nothing to other programs
  op.kind = atomic.writes ? RaceKind::AtomicWrite : RaceKind::AtomicRead;
  op.sync.isRmw = atomic.writes && !isStore;
  // An acquire whose result nothing depends on orders nothing that the program does.
  op.sync.acquires =
      !isStore && atomic.isUsed && (order.sem == tt::MemSemantic::Acquire || order.sem == tt::MemSemantic::AcqRel);
  op.sync.releases = atomic.writes && (order.sem == tt::MemSemantic::Release || order.sem == tt::MemSemantic::AcqRel);
  plan.plan().acquires |= op.sync.acquires;
  plan.plan().releases |= op.sync.releases;
}

} // namespace tiletwin::interp
