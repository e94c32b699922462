// interp/plan/MemoryOps.cpp -- pointer arithmetic, loads and stores.
// Here:      the choice between a box access (view, strided copy), a gather or scatter, and a scalar access; where pointers come from.
// Not here:  bounds checks and copies (run/ExecuteMemory.cpp); atomics; tensor descriptors (DescriptorOps.cpp).
// Invariant: a view is read only before the next operation in program order that may write memory; else the load copies.
#include "interp/plan/MemoryOps.h"
#include "interp/plan/Builder.h"
#include "interp/plan/ElementwiseOps.h"
#include "interp/plan/ProbeAccess.h"
#include "interp/program/WaitInstructions.h"
#include "ir/TT.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace tiletwin::interp {

using mlir::LogicalResult;
using mlir::Operation;
using mlir::success;
using mlir::Value;

static int64_t pointeeBytes(PlanBuilder& plan, mlir::Type type) {
  mlir::Type element = tt::elementTypeOf(type);
  return int64_t(sizeOf(plan.dtypeOf(llvm::cast<tt::PointerType>(element).getPointeeType())));
}

/// Whether loads and stores are all that use the pointers.
static bool onlyAccessed(Value pointers) {
  return llvm::all_of(pointers.getUses(), [](mlir::OpOperand& use) {
    return llvm::isa<tt::LoadOp, tt::StoreOp>(use.getOwner()) && use.getOperandNumber() == 0;
  });
}
/// Accesses element by element owe the proof for every lane.
static void checkGuard(PlanBuilder& plan, Value pointer) {
  if (std::shared_ptr<const Rep> guard = plan.rep(pointer).guard) plan.checkRange(*guard);
}

template <> LogicalResult plan(PlanBuilder& plan, tt::AddPtrOp op) {
  Value pointer = op.getPtr(), offset = op.getOffset(), result = op.getResult();
  int64_t bytes = pointeeBytes(plan, pointer.getType());
  Shape shape = PlanBuilder::shapeOf(result.getType());
  DType offsetType = plan.dtypeOf(offset.getType());
  int root = plan.rep(pointer).root;
  {
    Rep p = plan.rep(pointer), o = plan.rep(offset);
    bool uniform = p.isUniform() && o.isUniform();
    if (p.kind == Rep::Scalar || uniform ||
        (p.kind == Rep::Affine && o.kind == Rep::Affine && plan.options().symbolic)) {
      // After a write a check that fails cannot be made good, so then lanes that a mask leaves out are not looked at.
      if (!uniform && plan.checkIsLate(o) && onlyAccessed(result)) {
        p.guard = std::make_shared<const Rep>(o);
        plan.needFallback();
      } else if (!uniform) {
        plan.checkRange(o);
      }
      p.base = plan.add(64, p.base, plan.mul(64, o.base, Uniform::of(bytes)));
      for (size_t d = 0; d < p.strides.size(); ++d)
        p.strides[d] = plan.add(64, p.strides[d], plan.mul(64, o.strides[d], Uniform::of(bytes)));
      return plan.bind(result, p);
    }
  }
  {
    Rep p = plan.rep(pointer), o = plan.rep(offset), out;
    if (plan.addRows(p, o, false, bytes, out)) {
      if (o.kind == Rep::Rows)
        plan.checkRows(o);
      else if (o.kind == Rep::Affine && !o.isSplat())
        plan.checkRange(o);
      return plan.bind(result, out);
    }
  }
  for (Value v : {pointer, offset})
    if (plan.rep(v).pending() && plan.group(plan.rep(v).group).shape != shape) plan.flush(plan.rep(v).group);
  int group = plan.groupFor(shape);
  int p = plan.streamFor(group, pointer), o = plan.streamFor(group, offset);
  if (offsetType != DType::I64)
    o = plan.addStrip(group, plan.tiles().cast(offsetType, DType::I64, TwCastKind::SignedInt), {o}, DType::I64,
                      "extsi");
  if (bytes != 1)
    o = plan.addStrip(group, plan.tiles().elementwise(TwElementwise::MulI, DType::I64),
                      {o, plan.cellStream(group, bytes, DType::I64)}, DType::I64, "scale");
  int stream =
      plan.addStrip(group, plan.tiles().elementwise(TwElementwise::AddI, DType::I64), {p, o}, DType::I64, "tt.addptr");
  plan.bindValue(group, stream, result, DType::Ptr);
  plan.rep(result).root = root;
  return success();
}

// ---- who may write ----

bool PlanBuilder::mayWrite(Operation* op) {
  if (auto it = mayWrite_.find(op); it != mayWrite_.end()) return it->second;
  auto access = llvm::dyn_cast<tt::MemoryAccess>(op); // inline assembly is none: it reaches no memory
  bool writes = llvm::isa<tt::CallOp>(op) || (access && access.writes());
  for (mlir::Region& region : op->getRegions())
    for (mlir::Block& block : region)
      for (Operation& inner : block) writes |= mayWrite(&inner);
  mayWrite_[op] = writes;
  return writes;
}

bool PlanBuilder::readAcrossWrite(Operation* load, Value v) {
  for (mlir::OpOperand& use : v.getUses()) {
    Operation* user = use.getOwner();
    Operation* ancestor = load->getBlock()->findAncestorOpInBlock(*user);
    if (!ancestor) return true;
    if (ancestor != user && mayWrite(ancestor)) return true;
    for (Operation* between = load->getNextNode(); between && between != ancestor; between = between->getNextNode())
      if (mayWrite(between)) return true;
    if ((isAnyOf(user, Renamings{}) || networks_.halves(user)) && ancestor == user)
      for (Value renamed : user->getResults()) {
        // Its readers count from here on: between load and user nothing writes.
        if (readAcrossWrite(user, renamed)) return true;
      }
  }
  return false;
}

/// Operations that keep offsets affine and masks boxes.
using Symbolic = OpList<arith::AddIOp, arith::AndIOp, arith::CmpIOp, arith::ExtSIOp, arith::ExtUIOp, arith::MulIOp,
                        arith::SelectOp, arith::ShLIOp, arith::SubIOp, arith::TruncIOp, tt::BroadcastOp,
                        tt::ExpandDimsOp, tt::ReshapeOp, tt::SplitOp, tt::TransOp>;

bool PlanBuilder::feedsAccess(Value v) {
  llvm::SmallVector<Value, 8> work;
  llvm::SmallPtrSet<void*, 16> seen;
  auto follow = [&](Value next) {
    if (seen.insert(next.getAsOpaquePointer()).second) work.push_back(next);
  };
  follow(v);
  while (!work.empty()) {
    Value next = work.pop_back_val();
    for (mlir::OpOperand& use : next.getUses()) {
      Operation* user = use.getOwner();
      Operation* parent = user->getParentOp();
      unsigned index = use.getOperandNumber();
      auto carried = [&](Operation* loop, unsigned i) {
        follow(loop->getRegion(0).getArgument(i + 1));
        follow(loop->getResult(i));
      };
      auto access = llvm::dyn_cast<tt::MemoryAccess>(user);
      if (llvm::isa<tt::AddPtrOp>(user) || (access && (next == access.getAddress() || next == access.getMask())))
        return true;
      const bool isYield = llvm::isa<scf::YieldOp>(user);
      if (llvm::isa<scf::ForOp>(user) && index >= 3)
        carried(user, index - 3);
      else if (isYield && llvm::isa<scf::ForOp>(parent))
        carried(parent, index);
      else if (isYield && llvm::isa<scf::IfOp>(parent))
        follow(parent->getResult(index));
      else if (!llvm::isa<tt::ReturnOp>(user) && user->hasTrait<mlir::OpTrait::IsTerminator>())
        return true; // other loops and blocks are not followed
      else if (llvm::isa<scf::WhileOp>(user))
        return true;
      else if (isAnyOf(user, Symbolic{}))
        for (Value result : user->getResults()) follow(result);
    }
  }
  return false;
}

/// The mask as a box if it can be one; constant true gives no mask at all.
static bool maskAsBox(PlanBuilder& plan, Value mask, bool& masked, Rep& box) {
  masked = false;
  if (!mask) return true;
  Rep r = plan.rep(mask);
  if (r.kind == Rep::Box) {
    masked = true;
    box = r;
    return true;
  }
  if (!r.isSplat()) return false;
  if (r.base.is(1)) return true;
  masked = true;
  box = r;
  box.kind = Rep::Box;
  box.lo.assign(r.shape.size(), Uniform::of(0));
  box.hi.clear();
  for (int64_t s : r.shape) box.hi.push_back(Uniform::of(s));
  box.hi[0] = plan.scalar(ScalarOp::Select, 64, r.base, Uniform::of(r.shape[0]), Uniform::of(0));
  return true;
}

static void scalarAccess(PlanBuilder& plan, Operation* op, bool isStore, Value pointer, Value mask, Value other,
                         Value data) {
  DType type = plan.dtypeOf(data.getType());
  const Reg address = plan.cell(plan.rep(pointer).base), maskCell = mask ? plan.cell(plan.rep(mask).base) : kNoReg;
  const int root = plan.rep(pointer).root;
  BuildInstruction& in = plan.emit(isStore             ? execScalarStore
                                   : plan.inWaitLoop() ? execPolledLoad
                                                       : execScalarLoad,
                                   op->getName().getStringRef());
  ScalarAccessOp& access = plan.newData<ScalarAccessOp>(in);
  access.bytes = int32_t(sizeOf(type));
  access.root = root;
  access.operation = isStore ? "tt.store" : "tt.load";
  access.signExtend = isInteger(type) && type != DType::I1;
  plan.read(in, access.address, address);
  access.hasMask = plan.readIfAny(in, access.mask, maskCell);
  access.hasOther = bool(other);
  if (other) plan.read(in, access.other, plan.cell(plan.rep(other).base));
  if (isStore) {
    plan.read(in, access.data, plan.cell(plan.rep(data).base));
    plan.noteWrite(root);
  } else {
    Reg dst = plan.newReg(8);
    plan.write(in, access.data, dst);
    plan.set(data, plan.scalarRep(type, Uniform::in(dst)));
  }
  probeScalar(plan, address, maskCell, root, type, isStore ? "tt.store" : "tt.load", isStore);
}

static void gatherAccess(PlanBuilder& plan, bool isStore, Value pointer, Value mask, Value other, Value data) {
  DType type = plan.dtypeOf(data.getType());
  Shape shape = PlanBuilder::shapeOf(data.getType());
  int root = plan.rep(pointer).root;
  Reg address = plan.denseOf(pointer), maskTile = mask ? plan.denseOf(mask) : kNoReg, source = kNoReg;
  Reg otherReg = kNoReg;
  int otherKind = 0;
  if (other) {
    bool splat = plan.rep(other).isSplat();
    otherKind = splat ? 1 : 2;
    otherReg = splat ? plan.cell(plan.rep(other).base) : plan.denseOf(other);
  }
  bool dataIsCell = false;
  if (isStore) {
    dataIsCell = plan.rep(data).isSplat();
    source = dataIsCell ? plan.cell(plan.rep(data).base) : plan.denseOf(data);
  }
  BuildInstruction& in = plan.emit(execGather, isStore ? "Scatter" : "Gather");
  GatherOp& op = plan.newData<GatherOp>(in);
  op.shape.assign(shape.begin(), shape.end());
  op.elements = elementsOf(shape);
  op.elementBytes = int32_t(sizeOf(type));
  op.root = root;
  op.isStore = isStore;
  op.operation = isStore ? "tt.store" : "tt.load";
  op.gather = plan.tiles().gather(op.elementBytes);
  op.scatter = plan.tiles().scatter(op.elementBytes);
  plan.read(in, op.address, address);
  op.hasMask = plan.readIfAny(in, op.mask, maskTile);
  op.otherKind = otherKind;
  plan.readIfAny(in, op.other, otherReg);
  op.dataIsCell = dataIsCell;
  if (isStore) {
    plan.read(in, op.data, source);
    plan.noteWrite(root);
  } else {
    Reg dst = plan.newTile(type, shape);
    plan.write(in, op.data, dst);
    plan.set(data, plan.tileRep(type, shape, dst));
  }
  probeAddresses(plan, address, maskTile, root, type, shape, isStore ? "tt.store" : "tt.load", isStore);
}

/// True if all that reads a loaded tile reshapes it in a way for which it would have to be copied anyway.
static bool isReshapedOnly(Value loaded) {
  auto real = [](Value v) {
    Shape kept = PlanBuilder::shapeOf(v.getType());
    llvm::erase(kept, 1);
    return kept;
  };
  return !loaded.use_empty() && llvm::all_of(loaded.getUsers(), [&](Operation* user) {
    if (llvm::isa<tt::BitcastOp, arith::BitcastOp>(user)) return isReshapedOnly(user->getResult(0));
    return llvm::isa<tt::ReshapeOp>(user) && real(user->getResult(0)) != real(loaded);
  });
}

void readBlock(PlanBuilder& plan, BuildInstruction& in, Access& access, const Rep& pointer, const Rep* box) {
  plan.read(in, access, pointer.base, pointer.strides, box ? box->lo : llvm::ArrayRef<Uniform>(),
            box ? box->hi : llvm::ArrayRef<Uniform>());
}

/// Whether every program of a launch reads the same elements, if nothing writes them.
static bool isSameForAll(PlanBuilder& plan, const Rep& p, const Rep* box, const BoxLoadOther& other) {
  const auto known = [&](llvm::ArrayRef<Uniform> parts) {
    return llvm::all_of(parts, [&](const Uniform& u) { return plan.levelOf(u) == 0; });
  };
  return p.kind == Rep::Affine && !p.guard && known(p.base) && known(p.strides) &&
         (!box || (known(box->lo) && known(box->hi))) && !other.isTile &&
         (other.reg == kNoReg || plan.info(other.reg).level == 0);
}

void boxLoad(PlanBuilder& plan, Operation* op, const Rep& p, const Rep* box, const BoxLoadOther& other,
             const char* operation) {
  Value result = op->getResult(0);
  DType type = plan.dtypeOf(result.getType());
  Shape shape = PlanBuilder::shapeOf(result.getType());
  Reg tile = plan.newTile(type, shape);
  Reg descriptor = plan.newReg(sizeof(ViewDescriptor) + 8 * shape.size());
  bool isRows = p.kind == Rep::Rows;
  BuildInstruction& in = plan.emit(isRows ? execRowsLoad : execLoad, isRows ? "LoadRows" : "Load");
  LoadOp& data = plan.newData<LoadOp>(in);
  if (isRows) {
    data.tableDim = p.tableDim;
    plan.read(in, data.table, p.table);
  }
  data.access.elementBytes = int32_t(sizeOf(type));
  data.access.root = p.root;
  data.access.operation = operation;
  data.access.shape.assign(shape.begin(), shape.end());
  readBlock(plan, in, data.access, p, box);
  auto plain = llvm::dyn_cast<tt::LoadOp>(op);
  data.dense = isReshapedOnly(result);
  data.forceCopy = data.dense || plan.readAcrossWrite(op, result) || (plain && plain.getIsVolatile());
  data.otherIsTile = other.isTile;
  data.hasOther = plan.readIfAny(in, other.isTile ? data.otherTile : data.other, other.reg);
  data.access.guard = plan.readGuard(in, p.guard.get());
  plan.write(in, data.descriptor, descriptor);
  plan.write(in, data.tile, tile);
  constexpr int64_t kMostKept = 64 << 10; // each thread has its own copy
  if (plain && !plain.getIsVolatile() && !data.dense && elementsOf(shape) * int64_t(sizeOf(type)) <= kMostKept &&
      isSameForAll(plan, p, box, other)) {
    data.kept = plan.plan().sharesReads = true;
    plan.persist(descriptor);
    plan.persist(tile);
    plan.write(in, data.state, plan.constantTile(std::vector<std::byte>(8)));
  }
  Rep block = p;
  block.shape = shape;
  probeBlock(plan, block, box, type, operation, false);
  if (data.dense) return plan.set(result, plan.tileRep(type, shape, tile));

  Rep r;
  r.kind = Rep::Tile;
  r.type = type;
  r.shape = shape;
  r.tile.base = descriptor;
  r.tile.view = &data;
  r.tile.viewTile = tile;
  r.tile.strides.resize(shape.size());
  for (size_t d = 0; d < shape.size(); ++d) r.tile.strides[d].cell = int32_t(d);
  plan.set(result, r);
}

template <> LogicalResult plan(PlanBuilder& plan, tt::LoadOp op) {
  Value pointer = op.getPtr(), mask = op.getMask(), other = op.getOther(), result = op.getResult();
  plan.flushSinks();
  if (PlanBuilder::shapeOf(result.getType()).empty()) {
    scalarAccess(plan, op, false, pointer, mask, other, result);
    return success();
  }
  bool masked = false;
  Rep box;
  bool symbolic = plan.rep(pointer).kind == Rep::Affine || plan.rep(pointer).kind == Rep::Rows;
  if (!symbolic || !maskAsBox(plan, mask, masked, box)) {
    checkGuard(plan, pointer);
    gatherAccess(plan, false, pointer, mask, other, result);
    return success();
  }
  Reg otherReg = kNoReg;
  bool otherIsTile = false;
  if (other && masked) {
    otherIsTile = !plan.rep(other).isSplat();
    otherReg = otherIsTile ? plan.denseOf(other) : plan.cell(plan.rep(other).base);
  }
  Rep p = plan.rep(pointer);
  boxLoad(plan, op, p, masked ? &box : nullptr, {otherReg, otherIsTile}, "tt.load");
  return success();
}

void storeBlock(PlanBuilder& plan, int group, int stream, const Rep& pointer, const Rep* box, DType type,
                const char* operation) {
  plan.addSink(group, stream, pointer, box, type, operation);
  if (!probesAccesses(plan)) return;
  Rep block = pointer;
  block.shape = plan.group(group).shape;
  plan.flush(group);
  probeBlock(plan, block, box, type, operation, true);
}

template <> LogicalResult plan(PlanBuilder& plan, tt::StoreOp op) {
  Value pointer = op.getPtr(), value = op.getValue(), mask = op.getMask();
  Shape shape = PlanBuilder::shapeOf(value.getType());
  if (shape.empty()) {
    plan.flushViews();
    scalarAccess(plan, op, true, pointer, mask, {}, value);
    return success();
  }
  bool masked = false;
  Rep box;
  if (plan.rep(pointer).kind != Rep::Affine || !maskAsBox(plan, mask, masked, box)) {
    plan.flushViews();
    checkGuard(plan, pointer);
    gatherAccess(plan, true, pointer, mask, {}, value);
    return success();
  }
  Rep p = plan.rep(pointer);
  int group = plan.groupForStoring(value);
  plan.flushViews(group);
  int stream = plan.streamFor(group, value);
  storeBlock(plan, group, stream, p, masked ? &box : nullptr, plan.dtypeOf(value.getType()), "tt.store");
  return success();
}

} // namespace tiletwin::interp
