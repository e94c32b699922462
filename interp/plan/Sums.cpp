// interp/plan/Sums.cpp -- sums that compute the numbers they add: products, as in norms, and f16 or bf16 made f32.
// Here:      when that saves a tile.
// Not here:  other reductions (ReduceOps.cpp), the sums (tile/Sums.cpp).
// Invariant: the result has the bits of the operations one after the other.
#include "interp/plan/Reduced.h"

namespace tiletwin::interp {

using mlir::Value;

namespace {

/// Elements that a sum reads: a value's, or those from which it is widened.
struct Summand {
  Value value;
  DType type = DType::F32;
};

/// The value itself is stored by then, or somebody else's to store.
Summand summandOf(PlanBuilder& plan, Value v) {
  auto cast = v.getDefiningOp<arith::ExtFOp>();
  if (!cast || !plan.isStrip(v)) return {v};
  const DType from = plan.dtypeOf(cast.getIn().getType());
  return plan.tiles().sumOf(from) ? Summand{cast.getIn(), from} : Summand{v};
}

bool hasElements(PlanBuilder& plan, const Summand& s) { return plan.rep(s.value).kind == Rep::Tile; }

/// Whether the sum of products is the only one for which the summand would be stored.
bool isStoredFor(PlanBuilder& plan, const Summand& s, mlir::Operation* product) {
  return plan.isStrip(s.value) &&
         llvm::all_of(s.value.getUsers(), [&](mlir::Operation* user) { return user == product; });
}

} // namespace

bool planSum(PlanBuilder& plan, tt::ReduceOp op) {
  Value source = op->getOperand(0);
  const Shape shape = PlanBuilder::shapeOf(source.getType());
  const int64_t axis = int32_t(op.getAxis());
  const Axes axes = axesOf(shape, axis);
  if (plan.dtypeOf(source.getType()) != DType::F32 || axes.inner != 1 || !plan.isStrip(source)) return false;
  // A store that the group has taken up may overwrite what the sum would read from memory.
  if (plan.group(plan.rep(source).group).hasSink) return false;
  Summand a = summandOf(plan, source), b;
  TwSumFn fn = nullptr;
  if (auto product = source.getDefiningOp<arith::MulFOp>(); product && source.hasOneUse()) {
    a = summandOf(plan, product.getLhs());
    b = summandOf(plan, product.getRhs());
    // The product's tile is saved: no two others may have to be written for that.
    if (!hasElements(plan, a) || !hasElements(plan, b) ||
        (a.value != b.value && isStoredFor(plan, a, product) && isStoredFor(plan, b, product)))
      return false;
    fn = plan.tiles().sumOfProducts(a.type, b.type);
  } else if (a.value != source && hasElements(plan, a)) {
    fn = plan.tiles().sumOf(a.type);
  }
  if (!fn) return false;

  plan.consume(source);
  plan.keep(a.value);
  if (b.value) plan.keep(b.value);
  const TileRef aRows = rowsOf(plan, a.value, a.type, shape, axis);
  const TileRef bRows = b.value ? rowsOf(plan, b.value, b.type, shape, axis) : TileRef();
  const Reg dst = plan.newReg(std::max<uint64_t>(8, uint64_t(axes.outer) * sizeOf(DType::F32)));
  BuildInstruction& in = plan.emit(execSum, b.value ? "Sum of products" : "Sum of widened");
  SumOp& data = plan.newData<SumOp>(in);
  data.outer = axes.outer;
  data.axis = axes.axis;
  data.fn = fn;
  plan.read(in, data.a, aRows);
  data.aBytes = int32_t(sizeOf(a.type));
  if (b.value) {
    plan.read(in, data.b, bRows);
    data.bBytes = int32_t(sizeOf(b.type));
  }
  plan.write(in, data.dst, dst);
  bindElements(plan, op->getResult(0), dst);
  return true;
}

} // namespace tiletwin::interp
