// interp/plan/DescriptorOps.cpp -- tensor descriptors: what they consist of, and blocks read and written through them.
// Here:      a block as affine addresses inside a box, so that loads are views or strided copies and stores are sinks;
//            rows by number (gather, scatter); reductions into memory.
// Not here:  bounds checks, copies, atomic updates (run/ExecuteDescriptor.cpp, run/ExecuteMemory.cpp).
// Invariant: offsets and extents are 32 bits and are combined in 64, so a block's box needs no proof at run time.
#include "interp/plan/Builder.h"
#include "interp/plan/MemoryOps.h"
#include "interp/plan/ProbeAccess.h"
#include "ir/TT.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "runtime/FloatFormats.h"
#include <algorithm>

namespace tiletwin::interp {

using mlir::LogicalResult;
using mlir::Operation;
using mlir::success;
using mlir::Value;

/// A NaN of an element type, as its bits; 0 for integers.
static int64_t nanBits(DType type) {
  switch (type) {
  case DType::F32: return 0x7FC00000;
  case DType::F64: return 0x7FF8000000000000;
  default: return smallFloat(type).nan;
  }
}

/// The cell with what elements outside the tensor read as; kNoReg for zero.
static Reg paddingCell(PlanBuilder& plan, const Rep& descriptor) {
  int64_t nan = nanBits(descriptor.type);
  Uniform isNan = descriptor.lo[0];
  if (!nan || isNan.is(0)) return kNoReg;
  return plan.cell(plan.scalar(ScalarOp::Select, 64, isNan, Uniform::of(nan), Uniform::of(0)));
}

/// After a load: rounds what was loaded, if the descriptor says so.
static void roundLoaded(PlanBuilder& plan, const Rep& descriptor, Value loaded) {
  if (descriptor.type != DType::F32 || descriptor.lo[1].is(0)) return;
  BuildInstruction& in = plan.emit(execRoundLoaded, "RoundLoaded");
  RoundLoadedOp& data = plan.newData<RoundLoadedOp>(in);
  const Rep& tile = plan.rep(loaded);
  data.elements = elementsOf(tile.shape);
  plan.read(in, data.tile, tile.tile);
  plan.read(in, data.rounds, descriptor.lo[1]);
}

/// Emits the check of what a descriptor's memory must be like, unless one that holds here has been emitted.
static void checkDescriptor(PlanBuilder& plan, const Rep& descriptor, const Uniform& lastStride) {
  llvm::SmallVector<Uniform, 6> srcs{descriptor.base};
  srcs.append(descriptor.strides.begin(), descriptor.strides.end());
  srcs.back() = lastStride;
  int64_t bytes = int64_t(sizeOf(descriptor.type));
  std::string key = PlanBuilder::keyOf("DescriptorCheck", srcs, bytes);
  for (int l = 1; l <= plan.level(); ++l)
    if (plan.remembered(l, key) != kNoReg) return;
  // Never further out than the operation: a program that does not reach it makes no descriptor.
  BuildInstruction& in = plan.emit(execDescriptorCheck, "DescriptorCheck");
  DescriptorCheckOp& data = plan.newData<DescriptorCheckOp>(in);
  data.elementBytes = int32_t(bytes);
  plan.read(in, data.base, srcs[0]);
  plan.read(in, data.strides, llvm::ArrayRef(srcs).drop_front());
  plan.remember(plan.level(), key, 0);
}

template <> LogicalResult plan(PlanBuilder& plan, tt::MakeTensorDescriptorOp make) {
  tt::TensorDescType type = make.getResult().getType();
  Rep r;
  r.kind = Rep::Descriptor;
  r.type = plan.dtypeOf(type.getBlockType());
  r.shape = Shape(type.getShape());
  r.root = plan.rep(make.getBase()).root;
  r.base = plan.uniformOf(make.getBase());
  for (Value extent : make.getShape()) r.hi.push_back(plan.uniformOf(extent));
  for (Value stride : make.getStrides()) r.strides.push_back(plan.uniformOf(stride));
  r.lo.push_back(Uniform::of(make.getPadding() == tt::Padding::NaN));
  r.lo.push_back(Uniform::of(make->hasAttr("tt.round_f32_to_tf32"))); // eager mode: one that was made on the host
  Uniform lastStride = r.strides.back();
  r.strides.back() = Uniform::of(1); // checked
  checkDescriptor(plan, r, lastStride);
  return plan.bind(make.getResult(), r);
}

LogicalResult PlanBuilder::planDescriptorArgument(mlir::BlockArgument argument) {
  auto type = llvm::cast<tt::TensorDescType>(argument.getType());
  size_t rank = type.getShape().size(), first = argument.getArgNumber() + 1;
  auto arguments = argument.getOwner()->getArguments();
  for (size_t i = 0; i < 2 * rank; ++i)
    if (first + i >= arguments.size() || !arguments[first + i].getType().isInteger(i < rank ? 32 : 64))
      return func_->emitError() << "interpreter: the descriptor that is argument " << argument.getArgNumber()
                                << " must be followed by its " << rank << " extents (i32) and " << rank
                                << " strides (i64)";
  // The cell holds the address, a multiple of 16, plus 1 if elements outside the tensor read as NaN, plus 2 if loads
  // round to tf32.
  Uniform bits = rep(argument).base;
  Rep r;
  r.kind = Rep::Descriptor;
  r.type = dtypeOf(type.getBlockType());
  r.shape = Shape(type.getShape());
  r.root = int(argument.getArgNumber());
  r.base = scalar(ScalarOp::And, 64, bits, Uniform::of(~int64_t(15)));
  r.lo.push_back(scalar(ScalarOp::And, 64, bits, Uniform::of(1)));
  r.lo.push_back(scalar(ScalarOp::And, 64, bits, Uniform::of(2)));
  for (size_t d = 0; d < rank; ++d) {
    r.hi.push_back(uniformOf(arguments[first + d]));
    r.strides.push_back(uniformOf(arguments[first + rank + d]));
  }
  r.strides.back() = Uniform::of(1); // who launches checks it
  return bind(argument, r);
}

namespace {
/// Where a block lies: the addresses of its elements, and which of them are inside the tensor.
struct Block {
  Rep pointer, box;
};

/// The block at `indices` as a tile of `shape`; the tile may lack leading extents of 1.
Block placeBlock(PlanBuilder& plan, const Rep& descriptor, mlir::ValueRange indices, llvm::ArrayRef<int64_t> shape) {
  Block block;
  block.pointer.kind = Rep::Affine;
  block.pointer.type = DType::Ptr;
  block.pointer.root = descriptor.root;
  block.box.kind = Rep::Box;
  block.box.type = DType::I1;
  block.pointer.shape = block.box.shape = Shape(shape);
  const Uniform bytes = Uniform::of(int64_t(sizeOf(descriptor.type)));
  size_t rank = descriptor.shape.size(), absent = rank - shape.size();
  llvm::SmallVector<Uniform, 5> terms;
  Uniform inside = Uniform::of(1);
  for (size_t d = 0; d < rank; ++d) {
    Uniform index = plan.uniformOf(indices[d]), stride = plan.mul(64, descriptor.strides[d], bytes);
    terms.push_back(plan.mul(64, index, stride));
    // Element i is inside if 0 <= index + i < extent.
    Uniform lo = plan.sub(64, Uniform::of(0), index), hi = plan.sub(64, descriptor.hi[d], index);
    if (d >= absent) {
      block.pointer.strides.push_back(stride);
      block.box.lo.push_back(lo);
      block.box.hi.push_back(hi);
      continue;
    }
    Uniform here = plan.scalar(ScalarOp::And, 1, plan.scalar(ScalarOp::Sle, 64, lo, Uniform::of(0)),
                               plan.scalar(ScalarOp::Sge, 64, hi, Uniform::of(1)));
    inside = plan.scalar(ScalarOp::And, 1, inside, here);
  }
  if (!inside.is(1)) block.box.hi[0] = plan.scalar(ScalarOp::Select, 64, inside, block.box.hi[0], Uniform::of(0));
  // What changes least is added first, so that loops only add what they change.
  std::stable_sort(terms.begin(), terms.end(),
                   [&](const Uniform& a, const Uniform& b) { return plan.levelOf(a) < plan.levelOf(b); });
  block.pointer.base = descriptor.base;
  for (const Uniform& term : terms) block.pointer.base = plan.add(64, block.pointer.base, term);
  return block;
}

bool hasDescriptor(PlanBuilder& plan, Value v) { return plan.rep(v).kind == Rep::Descriptor; }
constexpr llvm::StringLiteral kUnknown = "on a descriptor whose making is not known here";
} // namespace

template <> LogicalResult plan(PlanBuilder& plan, tt::DescriptorLoadOp load) {
  Shape shape = PlanBuilder::shapeOf(load.getResult().getType());
  if (!hasDescriptor(plan, load.getDesc())) return plan.unsupported(load, kUnknown);
  if (shape.empty()) return plan.unsupported(load, "as a tile without dimensions");
  plan.flushSinks();
  Rep descriptor = plan.rep(load.getDesc());
  Block block = placeBlock(plan, descriptor, load.getIndices(), shape);
  boxLoad(plan, load, block.pointer, &block.box, {paddingCell(plan, descriptor), false}, "tt.descriptor_load");
  roundLoaded(plan, descriptor, load.getResult());
  return success();
}

template <> LogicalResult plan(PlanBuilder& plan, tt::DescriptorStoreOp store) {
  Value value = store.getSrc();
  Shape shape = PlanBuilder::shapeOf(value.getType());
  if (!hasDescriptor(plan, store.getDesc())) return plan.unsupported(store, kUnknown);
  if (shape.empty()) return plan.unsupported(store, "of a tile without dimensions");
  Block block = placeBlock(plan, plan.rep(store.getDesc()), store.getIndices(), shape);
  int group = plan.groupForStoring(value);
  plan.flushViews(group);
  int stream = plan.streamFor(group, value);
  storeBlock(plan, group, stream, block.pointer, &block.box, plan.dtypeOf(value.getType()), "tt.descriptor_store");
  return success();
}

template <> LogicalResult plan(PlanBuilder& plan, tt::DescriptorReduceOp reduce) {
  Value value = reduce.getSrc();
  Shape shape = PlanBuilder::shapeOf(value.getType());
  if (!hasDescriptor(plan, reduce.getDesc())) return plan.unsupported(reduce, kUnknown);
  Rep descriptor = plan.rep(reduce.getDesc());
  auto element = llvm::dyn_cast<mlir::IntegerType>(reduce.getDesc().getType().getElementType());
  DescriptorReduceFn fn =
      descriptorReduceFn(DescriptorReduceKind(reduce.getKind()), descriptor.type, element && element.isUnsigned());
  if (!fn || shape.empty())
    return plan.unsupported(reduce, "for elements of type " + std::string(nameOf(descriptor.type)));
  Block block = placeBlock(plan, descriptor, reduce.getIndices(), shape);
  Reg source = plan.denseOf(value);
  plan.flushViews();
  BuildInstruction& in = plan.emit(execDescriptorReduce, "DescriptorReduce");
  DescriptorReduceOp& data = plan.newData<DescriptorReduceOp>(in);
  data.fn = fn;
  data.access.elementBytes = int32_t(sizeOf(descriptor.type));
  data.access.root = block.pointer.root;
  data.access.operation = "tt.descriptor_reduce";
  data.access.shape.assign(shape.begin(), shape.end());
  plan.read(in, data.access, block.pointer.base, block.pointer.strides, block.box.lo, block.box.hi);
  plan.read(in, data.data, source);
  plan.noteWrite(block.pointer.root);
  probeReduce(plan, block.pointer, block.box, descriptor.type,
              !element && DescriptorReduceKind(reduce.getKind()) == DescriptorReduceKind::Add);
  return success();
}

/// What gather and scatter share. `rows`: a dense tile of row numbers; `tile`: what is read or written, `kNoReg` to make it.
static DescriptorRowsOp& emitRows(PlanBuilder& plan, const Rep& descriptor, Reg rows, DType rowType, Uniform column,
                                  int64_t count, bool isStore, Reg tile, Reg fill) {
  const Uniform bytes = Uniform::of(int64_t(sizeOf(descriptor.type)));
  Uniform rowStride = plan.mul(64, descriptor.strides[0], bytes);
  BuildInstruction& in = plan.emit(execDescriptorRows, isStore ? "ScatterRows" : "GatherRows");
  DescriptorRowsOp& data = plan.newData<DescriptorRowsOp>(in);
  data.shape = {count, descriptor.shape[1]};
  data.elementBytes = int32_t(bytes.value);
  data.indexBytes = int32_t(sizeOf(rowType));
  data.root = descriptor.root;
  data.isStore = isStore;
  data.operation = isStore ? "tt.descriptor_scatter" : "tt.descriptor_gather";
  data.copy = plan.tiles().stridedCopy(bytes.value);
  plan.read(in, data.base, descriptor.base);
  plan.read(in, data.rowStride, rowStride);
  plan.read(in, data.extents[0], descriptor.hi[0]);
  plan.read(in, data.extents[1], descriptor.hi[1]);
  plan.read(in, data.column, column);
  plan.read(in, data.rows, rows);
  data.hasFill = plan.readIfAny(in, data.fill, fill);
  if (isStore)
    plan.read(in, data.data, tile);
  else
    plan.write(in, data.data, tile);
  llvm::SmallVector<Reg, 6> reads{rows};
  for (const Uniform& u : {descriptor.base, rowStride, descriptor.hi[0], descriptor.hi[1], column})
    if (!u.constant) reads.push_back(u.reg);
  probeDescriptorRows(plan, data, descriptor.type, reads);
  return data;
}

template <> LogicalResult plan(PlanBuilder& plan, tt::DescriptorGatherOp gather) {
  if (!hasDescriptor(plan, gather.getDesc())) return plan.unsupported(gather, kUnknown);
  plan.flushSinks();
  Rep descriptor = plan.rep(gather.getDesc());
  Shape shape = PlanBuilder::shapeOf(gather.getResult().getType());
  Reg rows = plan.denseOf(gather.getXOffsets());
  Reg tile = plan.newTile(descriptor.type, shape);
  emitRows(plan, descriptor, rows, plan.dtypeOf(gather.getXOffsets().getType()), plan.uniformOf(gather.getYOffset()),
           shape[0], false, tile, paddingCell(plan, descriptor));
  LogicalResult bound = plan.bindTile(gather.getResult(), tile);
  roundLoaded(plan, descriptor, gather.getResult());
  return bound;
}

template <> LogicalResult plan(PlanBuilder& plan, tt::DescriptorScatterOp scatter) {
  if (!hasDescriptor(plan, scatter.getDesc())) return plan.unsupported(scatter, kUnknown);
  Rep descriptor = plan.rep(scatter.getDesc());
  Reg rows = plan.denseOf(scatter.getXOffsets()), tile = plan.denseOf(scatter.getSrc());
  plan.flushViews();
  emitRows(plan, descriptor, rows, plan.dtypeOf(scatter.getXOffsets().getType()), plan.uniformOf(scatter.getYOffset()),
           PlanBuilder::shapeOf(scatter.getSrc().getType())[0], true, tile, kNoReg);
  plan.noteWrite(descriptor.root);
  return success();
}

} // namespace tiletwin::interp
