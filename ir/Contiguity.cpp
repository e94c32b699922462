// ir/Contiguity.cpp -- see Contiguity.h.
#include "ir/Contiguity.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include <numeric>

namespace tiletwin::tt {
namespace {

using namespace mlir;

constexpr int64_t kMost = int64_t(1) << 32; ///< divides zero; larger divisors tell nothing more

int64_t powerOfTwoIn(int64_t number) { return number == 0 ? kMost : std::min(number & -number, kMost); }
int64_t product(int64_t a, int64_t b) { return std::min(a * std::min(b, kMost / a), kMost); }

size_t rankOf(Value value) { return std::max<size_t>(shapeOf(value.getType()).size(), 1); }
int64_t extent(Value value, size_t dimension) {
  llvm::ArrayRef<int64_t> shape = shapeOf(value.getType());
  return shape.empty() ? 1 : shape[dimension];
}

Contiguity nothing(Value value) {
  Contiguity known;
  known.dimensions.resize(rankOf(value));
  return known;
}

Contiguity ofNumber(Value value, int64_t number) {
  Contiguity known = nothing(value);
  known.value = number;
  for (size_t d = 0; d < known.dimensions.size(); ++d)
    known.dimensions[d] = {1, powerOfTwoIn(number), extent(value, d)};
  return known;
}

/// What holds of both.
Contiguity meet(Contiguity a, const Contiguity& b) {
  for (size_t d = 0; d < a.dimensions.size(); ++d) {
    a.dimensions[d].contiguous = std::gcd(a.dimensions[d].contiguous, b.dimensions[d].contiguous);
    a.dimensions[d].divisor = std::gcd(a.dimensions[d].divisor, b.dimensions[d].divisor);
    a.dimensions[d].constant = std::gcd(a.dimensions[d].constant, b.dimensions[d].constant);
  }
  if (a.value != b.value) a.value.reset();
  return a;
}

bool equal(const Contiguity& a, const Contiguity& b) {
  return a.value == b.value && std::equal(a.dimensions.begin(), a.dimensions.end(), b.dimensions.begin(),
                                          [](const AlongDimension& x, const AlongDimension& y) {
                                            return x.contiguous == y.contiguous && x.divisor == y.divisor &&
                                                   x.constant == y.constant;
                                          });
}

/// A divisor of every element, not only of the first ones of groups.
int64_t divisorOfAll(const AlongDimension& known) { return known.contiguous > 1 ? 1 : known.divisor; }

AlongDimension sum(const AlongDimension& a, const AlongDimension& b, int64_t scale, bool subtract) {
  int64_t ahead = std::gcd(a.contiguous, b.constant);
  int64_t behind = subtract ? 1 : std::gcd(a.constant, b.contiguous);
  return {std::max(ahead, behind), std::gcd(a.divisor, product(b.divisor, scale)), std::gcd(a.constant, b.constant)};
}

int64_t bytesOfPointee(Type pointer) {
  Type element = elementTypeOf(pointeeTypeLike(pointer));
  return element.isIntOrFloat() ? (element.getIntOrFloatBitWidth() + 7) / 8 : 8;
}

/// What tl.multiple_of and its like promise of a result.
void applyHints(Operation* op, Contiguity& known) {
  auto read = [&](llvm::StringRef name, int64_t AlongDimension::* member) {
    auto numbers = op->getAttrOfType<DenseIntElementsAttr>(name);
    if (!numbers || size_t(numbers.getNumElements()) != known.dimensions.size()) return;
    for (auto [dimension, number] : llvm::zip(known.dimensions, numbers.getValues<APInt>()))
      dimension.*member = std::max(dimension.*member, powerOfTwoIn(number.getSExtValue()));
  };
  read("tt.divisibility", &AlongDimension::divisor);
  read("tt.contiguity", &AlongDimension::contiguous);
  read("tt.constancy", &AlongDimension::constant);
}

} // namespace

Contiguity ContiguityAnalysis::ofBinary(Operation* op) {
  Value result = op->getResult(0);
  const Contiguity a = of(op->getOperand(0)), b = of(op->getOperand(1));
  Contiguity known = nothing(result);
  bool isPointer = isa<AddPtrOp>(op);
  int64_t scale = isPointer ? bytesOfPointee(result.getType()) : 1;
  for (size_t d = 0; d < known.dimensions.size(); ++d) {
    const AlongDimension &x = a.dimensions[d], &y = b.dimensions[d];
    AlongDimension& z = known.dimensions[d];
    z.constant = std::gcd(x.constant, y.constant);
    if (isa<arith::AddIOp, AddPtrOp, arith::SubIOp>(op)) {
      z = sum(x, y, scale, isa<arith::SubIOp>(op));
    } else if (isa<arith::MulIOp>(op)) {
      z.contiguous = b.value == 1 ? x.contiguous : a.value == 1 ? y.contiguous : 1;
      z.divisor = b.value == 1 ? x.divisor : a.value == 1 ? y.divisor : product(divisorOfAll(x), divisorOfAll(y));
    } else if (isa<arith::RemSIOp, arith::RemUIOp>(op)) {
      // Groups that do not straddle a multiple of the divisor keep counting.
      if (y.constant == extent(result, d)) z.contiguous = std::gcd(x.contiguous, y.divisor);
      z.divisor = z.contiguous > 1 ? std::gcd(x.divisor, y.divisor) : std::gcd(divisorOfAll(x), divisorOfAll(y));
    } else if (isa<arith::DivSIOp, arith::DivUIOp>(op)) {
      if (b.value == 1)
        z = x;
      else if (b.value && *b.value > 1) {
        int64_t by = powerOfTwoIn(*b.value);
        z.constant = std::max(z.constant, std::gcd(x.contiguous, std::gcd(x.divisor, by)));
        if (by == *b.value) z.divisor = std::max<int64_t>(divisorOfAll(x) / by, 1);
      }
    } else if (isa<arith::CmpIOp>(op)) {
      // A run that starts at a multiple and a bound that is one: the comparison's outcome changes between groups only.
      if (y.constant == extent(result, d))
        z.constant = std::max(z.constant, std::gcd(x.contiguous, std::gcd(x.divisor, y.divisor)));
      if (x.constant == extent(result, d))
        z.constant = std::max(z.constant, std::gcd(y.contiguous, std::gcd(y.divisor, x.divisor)));
    }
  }
  return known;
}

Contiguity ContiguityAnalysis::ofArgument(BlockArgument argument) {
  Contiguity known = nothing(argument);
  Operation* parent = argument.getOwner()->getParentOp();
  if (auto function = dyn_cast<FuncOp>(parent)) {
    if (auto divisor = function.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), "tt.divisibility"))
      for (AlongDimension& dimension : known.dimensions) dimension.divisor = powerOfTwoIn(divisor.getInt());
    return known;
  }
  auto loop = dyn_cast<scf::ForOp>(parent);
  if (!loop) return known;
  if (argument == loop.getInductionVar()) {
    int64_t divisor =
        std::gcd(of(loop.getLowerBound()).dimensions[0].divisor, of(loop.getStep()).dimensions[0].divisor);
    known.dimensions[0].divisor = divisor;
    return known;
  }
  // Assume what holds at first, and take back what the loop's body does not keep, until nothing changes.
  auto at = assumed_.find(argument);
  if (at != assumed_.end()) return at->second;
  if (assumed_.size() >= 6) return known; // values that depend on each other in circles
  Contiguity assumption = of(loop.getTiedLoopInit(argument)->get());
  Value next = loop.getTiedLoopYieldedValue(argument)->get();
  for (int round = 0; round < 8; ++round) {
    ContiguityAnalysis inner;
    inner.assumed_ = assumed_;
    inner.assumed_[argument] = assumption;
    Contiguity kept = meet(assumption, inner.of(next));
    if (equal(kept, assumption)) return kept;
    assumption = kept;
  }
  return known;
}

Contiguity ContiguityAnalysis::compute(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) return ofArgument(argument);
  Operation* op = value.getDefiningOp();
  if (APInt number; matchPattern(value, m_ConstantInt(&number))) return ofNumber(value, number.getSExtValue());
  if (DenseElementsAttr tile; matchPattern(value, m_Constant(&tile)) && tile.isSplat())
    if (isa<IntegerType>(tile.getElementType())) return ofNumber(value, tile.getSplatValue<APInt>().getSExtValue());
  Contiguity known = nothing(value);
  llvm::TypeSwitch<Operation*>(op)
      .Case<MakeRangeOp>(
          [&](MakeRangeOp range) { known.dimensions[0] = {extent(value, 0), powerOfTwoIn(range.getStart()), 1}; })
      .Case<SplatOp>([&](SplatOp splat) {
        const Contiguity& scalar = of(splat.getSrc());
        known.value = scalar.value;
        for (size_t d = 0; d < known.dimensions.size(); ++d)
          known.dimensions[d] = {1, scalar.dimensions[0].divisor, extent(value, d)};
      })
      .Case<ExpandDimsOp>([&](ExpandDimsOp expand) {
        const Contiguity& source = of(expand.getSrc());
        known = source;
        int64_t divisor = kMost;
        for (const AlongDimension& dimension : source.dimensions) divisor = std::min(divisor, divisorOfAll(dimension));
        known.dimensions.insert(known.dimensions.begin() + expand.getAxis(), AlongDimension{1, divisor, 1});
      })
      .Case<BroadcastOp>([&](BroadcastOp broadcast) {
        known = of(broadcast.getSrc());
        for (size_t d = 0; d < known.dimensions.size(); ++d)
          if (extent(broadcast.getSrc(), d) != extent(value, d))
            known.dimensions[d] = {1, divisorOfAll(known.dimensions[d]), extent(value, d)};
      })
      .Case<TransOp>([&](TransOp trans) {
        const Contiguity source = of(trans.getSrc());
        for (auto [d, from] : llvm::enumerate(trans.getOrder())) known.dimensions[d] = source.dimensions[size_t(from)];
        known.value = source.value;
      })
      .Case<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::IndexCastOp, BitcastOp>(
          [&](Operation* cast) { known = of(cast->getOperand(0)); })
      .Case<arith::AndIOp, arith::OrIOp>([&](Operation* both) {
        const Contiguity a = of(both->getOperand(0)), b = of(both->getOperand(1));
        for (size_t d = 0; d < known.dimensions.size(); ++d)
          known.dimensions[d].constant = std::gcd(a.dimensions[d].constant, b.dimensions[d].constant);
      })
      .Case<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::RemSIOp, arith::RemUIOp, arith::DivSIOp, arith::DivUIOp,
            arith::CmpIOp, AddPtrOp>([&](Operation* binary) { known = ofBinary(binary); });
  applyHints(op, known);
  return known;
}

const Contiguity& ContiguityAnalysis::of(Value value) {
  if (auto at = known_.find(value); at != known_.end()) return at->second;
  Contiguity computed = compute(value);
  return known_[value] = std::move(computed);
}

} // namespace tiletwin::tt
