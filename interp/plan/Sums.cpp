// interp/plan/Sums.cpp -- sums that compute the numbers they add: products and squares of differences, as in norms, and f16 or bf16
// made f32.
// Here:      when that saves a tile.
// Not here:  other reductions (ReduceOps.cpp), the sums (tile/Sums.cpp).
// Invariant: the result has the bits of the operations one after the other.
#include "interp/plan/Reduced.h"
#include <optional>

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

/// Differences of a row's numbers from one number, perhaps inside of a range only and zeros elsewhere.
struct Differences {
  Summand from;
  Uniform minus;
  Uniform lo = Uniform::of(0), hi = Uniform::of(ViewDescriptor::kWhole);
};

/// What is computed of elements that are there, and of which nothing has been computed yet.
std::optional<Differences> differencesOf(PlanBuilder& plan, Value v) {
  Differences d;
  if (!plan.isStrip(v)) return std::nullopt;
  if (auto choice = v.getDefiningOp<arith::SelectOp>()) {
    const Rep &inside = plan.rep(choice.getCondition()), &other = plan.rep(choice.getFalseValue());
    if (inside.kind != Rep::Box || !other.isSplat() || !other.base.is(0)) return std::nullopt;
    for (size_t dim = 0; dim < inside.shape.size(); ++dim) {
      if (inside.shape[dim] > 1) {
        d.lo = inside.lo[dim];
        d.hi = inside.hi[dim];
      } else if (!inside.lo[dim].is(0) || !inside.hi[dim].is(1)) {
        return std::nullopt;
      }
    }
    v = choice.getTrueValue();
  }
  auto difference = v.getDefiningOp<arith::SubFOp>();
  if (!difference || !plan.isStrip(v) || !plan.rep(difference.getRhs()).isSplat()) return std::nullopt;
  d.from = summandOf(plan, difference.getLhs());
  d.minus = plan.rep(difference.getRhs()).base;
  return hasElements(plan, d.from) && !plan.isStrip(d.from.value) ? std::optional(d) : std::nullopt;
}

/// The sum of squares of differences, as in every variance. The differences stay in their group: whoever reads them next computes
/// them again, which takes less time than to write and read a tile.
bool planSumOfSquares(PlanBuilder& plan, tt::ReduceOp op, arith::MulFOp product) {
  Value source = op->getOperand(0);
  const Shape shape = PlanBuilder::shapeOf(source.getType());
  const int64_t axis = int32_t(op.getAxis());
  const Axes axes = axesOf(shape, axis);
  if (product.getLhs() != product.getRhs() || axes.outer != 1) return false;
  const std::optional<Differences> d = differencesOf(plan, product.getLhs());
  if (!d) return false;
  TwSquaresFn fn = plan.tiles().sumOfSquares(d->from.type);
  if (!fn) return false;
  plan.consume(source);
  const TileRef rows = rowsOf(plan, d->from.value, d->from.type, shape, axis);
  const Reg minus = plan.cell(d->minus), dst = plan.newReg(8);
  BuildInstruction& in = plan.emit(execSumOfSquares, "Sum of squares");
  SumOp& data = plan.newData<SumOp>(in);
  data.axis = axes.axis;
  data.squares = fn;
  data.aBytes = int32_t(sizeOf(d->from.type));
  plan.read(in, data.a, rows);
  plan.read(in, data.minus, minus);
  plan.read(in, data.lo, d->lo);
  plan.read(in, data.hi, d->hi);
  plan.write(in, data.dst, dst);
  bindElements(plan, op->getResult(0), dst);
  return true;
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
    if (planSumOfSquares(plan, op, product)) return true;
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
