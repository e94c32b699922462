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

int64_t powerOfTwoIn(int64_t number) { // without a sign: the smallest number has no negative
  const uint64_t lowest = uint64_t(number) & (0 - uint64_t(number));
  return number == 0 ? kMost : int64_t(std::min(lowest, uint64_t(kMost)));
}
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
  known.notNegative = number >= 0;
  for (size_t d = 0; d < known.dimensions.size(); ++d)
    known.dimensions[d] = {1, powerOfTwoIn(number), extent(value, d)};
  return known;
}

/// A divisor of the first elements of smaller groups: within a run each lies 1, or a pointee of so many bytes, after the
/// last.
int64_t divisorOfGroups(const AlongDimension& known, int64_t size, int64_t bytes = 1) {
  return known.contiguous > size ? std::gcd(known.divisor, product(powerOfTwoIn(bytes), size)) : known.divisor;
}

/// A divisor of every element, not only of the first ones of groups.
int64_t divisorOfAll(const AlongDimension& known) { return known.contiguous > 1 ? 1 : known.divisor; }

int64_t bytesOfPointee(Type pointer) {
  Type element = elementTypeOf(pointeeTypeLike(pointer));
  return element.isIntOrFloat() ? (element.getIntOrFloatBitWidth() + 7) / 8 : 8;
}

bool isPointer(Value value) { return isa<PointerType>(elementTypeOf(value.getType())); }

/// What neighbours that count up differ by: 1, or a pointee's bytes.
int64_t bytesOfStep(Value value) { return isPointer(value) ? bytesOfPointee(value.getType()) : 1; }

/// What holds of both. bytes: of a pointee; 1 of an integer.
Contiguity meet(Contiguity a, const Contiguity& b, int64_t bytes) {
  for (size_t d = 0; d < a.dimensions.size(); ++d) {
    AlongDimension &x = a.dimensions[d], y = b.dimensions[d];
    int64_t run = std::gcd(x.contiguous, y.contiguous);
    x = {run, std::gcd(divisorOfGroups(x, run, bytes), divisorOfGroups(y, run, bytes)),
         std::gcd(x.constant, y.constant)};
  }
  if (a.value != b.value) a.value.reset();
  a.notNegative &= b.notNegative;
  return a;
}

/// What holds of elements of either, chosen by a mask: a group is one of theirs where the mask is the same in all of it.
Contiguity chosen(const Contiguity& mask, const Contiguity& a, const Contiguity& b, int64_t bytes) {
  Contiguity known = meet(a, b, bytes);
  for (auto [dimension, same] : llvm::zip(known.dimensions, mask.dimensions)) {
    const int64_t run = std::gcd(dimension.contiguous, same.constant);
    dimension = {run, divisorOfGroups(dimension, run, bytes), std::gcd(dimension.constant, same.constant)};
  }
  return known;
}

bool equal(const Contiguity& a, const Contiguity& b) {
  return a.value == b.value && a.notNegative == b.notNegative &&
         std::equal(a.dimensions.begin(), a.dimensions.end(), b.dimensions.begin(),
                    [](const AlongDimension& x, const AlongDimension& y) {
                      return x.contiguous == y.contiguous && x.divisor == y.divisor && x.constant == y.constant;
                    });
}

/// bytes: of what a points to; 1 of integers.
AlongDimension sum(const AlongDimension& a, const AlongDimension& b, int64_t bytes, bool subtract) {
  int64_t ahead = std::gcd(a.contiguous, b.constant);
  int64_t behind = subtract ? 1 : std::gcd(a.constant, b.contiguous);
  int64_t run = std::max(ahead, behind);
  int64_t divisor = std::gcd(divisorOfGroups(a, run, bytes), product(divisorOfGroups(b, run), bytes));
  return {run, divisor, std::gcd(a.constant, b.constant)};
}

/// Whether a comparison keeps its outcome within an aligned group that counts up from a multiple of its size, where the
/// bound is such a multiple too. `run < bound` does; `run <= bound` does not: the bound's own group begins with one
/// element that is equal.
bool splitsBetweenGroups(arith::CmpIPredicate predicate, bool isRunOnTheLeft) {
  using enum arith::CmpIPredicate;
  return isRunOnTheLeft ? predicate == slt || predicate == sge || predicate == ult || predicate == uge
                        : predicate == sgt || predicate == sle || predicate == ugt || predicate == ule;
}

Value withoutExtension(Value number) {
  while (auto extended = number.getDefiningOp<arith::ExtSIOp>()) number = extended.getIn();
  return number;
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

bool ContiguityAnalysis::assumeMask(Value mask) {
  llvm::SmallVector<Value> parts{mask};
  while (!parts.empty()) {
    Operation* op = parts.pop_back_val().getDefiningOp();
    if (!op) continue;
    // Elements keep their places: a tile that is repeated has the rank of the mask.
    if (isa<arith::AndIOp, BroadcastOp>(op)) llvm::append_range(parts, op->getOperands());
    auto compare = dyn_cast<arith::CmpIOp>(op);
    if (!compare || !isa<RankedTensorType>(compare.getLhs().getType())) continue;
    using enum arith::CmpIPredicate;
    const arith::CmpIPredicate predicate = compare.getPredicate();
    const bool isOnTheLeft = predicate == sge || predicate == sgt;
    if (!isOnTheLeft && predicate != sle && predicate != slt) continue;
    Value number = isOnTheLeft ? compare.getLhs() : compare.getRhs();
    ContiguityAnalysis constants;
    std::optional<int64_t> bound = constants.of(isOnTheLeft ? compare.getRhs() : compare.getLhs()).value;
    if (!bound || !llvm::isInt<32>(*bound)) continue;
    int64_t least = *bound + (predicate == sgt || predicate == slt);
    int64_t& known = atLeast_.try_emplace(withoutExtension(number), least).first->second;
    known = std::max(known, least);
  }
  return !atLeast_.empty();
}

Contiguity ContiguityAnalysis::ofMoved(Value tile) {
  if (atLeast_.empty()) return of(tile);
  ContiguityAnalysis everywhere;
  everywhere.assumed_ = assumed_;
  return everywhere.of(tile);
}

/// Of the signed result of an operation on integers.
bool ContiguityAnalysis::isNotNegative(Operation* op, const Contiguity& a, const Contiguity& b) const {
  if (isa<arith::AddIOp, arith::SubIOp>(op)) {
    const bool isSum = isa<arith::AddIOp>(op);
    auto staysAbove = [&](Value number, const Contiguity& other) {
      const auto least = atLeast_.find(withoutExtension(number));
      if (least == atLeast_.end() || !other.value || !llvm::isInt<32>(*other.value)) return false;
      return least->second + (isSum ? *other.value : -*other.value) >= 0;
    };
    if (staysAbove(op->getOperand(0), b) || (isSum && staysAbove(op->getOperand(1), a))) return true;
    return isSum && a.notNegative && b.notNegative;
  }
  if (isa<arith::MulIOp, arith::OrIOp>(op)) return a.notNegative && b.notNegative;
  if (isa<arith::AndIOp>(op)) return a.notNegative || b.notNegative;
  if (isa<arith::RemSIOp, arith::RemUIOp, arith::DivUIOp, arith::ShRSIOp, arith::ShRUIOp>(op)) return a.notNegative;
  // What counts programs and rows is divided by other counts (pid // width): only a divisor that is known to be negative
  // is taken for one.
  if (isa<arith::DivSIOp>(op)) return a.notNegative && b.value.value_or(1) > 0;
  return false;
}

Contiguity ContiguityAnalysis::ofBinary(Operation* op) {
  Value result = op->getResult(0);
  const Contiguity a = of(op->getOperand(0)), b = of(op->getOperand(1));
  Contiguity known = nothing(result);
  int64_t bytes = isa<AddPtrOp>(op) ? bytesOfPointee(result.getType()) : 1;
  bool isSigned = isa<arith::RemSIOp, arith::DivSIOp>(op);
  known.notNegative = isNotNegative(op, a, b);
  for (size_t d = 0; d < known.dimensions.size(); ++d) {
    const AlongDimension &x = a.dimensions[d], &y = b.dimensions[d];
    AlongDimension& z = known.dimensions[d];
    z.constant = std::gcd(x.constant, y.constant);
    if (isa<arith::AddIOp, AddPtrOp, arith::SubIOp>(op)) {
      z = sum(x, y, bytes, isa<arith::SubIOp>(op));
    } else if (isa<arith::MulIOp>(op)) {
      z.contiguous = b.value == 1 ? x.contiguous : a.value == 1 ? y.contiguous : 1;
      z.divisor = b.value == 1 ? x.divisor : a.value == 1 ? y.divisor : product(divisorOfAll(x), divisorOfAll(y));
    } else if (isa<arith::RemSIOp, arith::RemUIOp>(op)) {
      // Groups that do not straddle a multiple of the divisor keep counting. Below zero the multiple itself stands at
      // the end of what has one quotient, so that a group is cut behind its first element.
      if (y.constant == extent(result, d) && (!isSigned || a.notNegative))
        z.contiguous = std::gcd(x.contiguous, std::gcd(x.divisor, y.divisor));
      z.divisor = z.contiguous > 1 ? std::gcd(divisorOfGroups(x, z.contiguous), y.divisor)
                                   : std::gcd(divisorOfAll(x), divisorOfAll(y));
    } else if (isa<arith::DivSIOp, arith::DivUIOp>(op)) {
      if (b.value == 1)
        z = x;
      else if (b.value && *b.value > 1) {
        int64_t by = powerOfTwoIn(*b.value);
        if (!isSigned || a.notNegative)
          z.constant = std::max(z.constant, std::gcd(x.contiguous, std::gcd(x.divisor, by)));
        if (by == *b.value) z.divisor = std::max<int64_t>(divisorOfAll(x) / by, 1);
      }
    } else if (isa<arith::ShRSIOp, arith::ShRUIOp>(op)) { // rounds down below zero, too
      if (b.value && *b.value >= 0 && *b.value < 32)
        z.constant = std::max(z.constant, std::gcd(x.contiguous, std::gcd(x.divisor, int64_t(1) << *b.value)));
    } else if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
      arith::CmpIPredicate predicate = compare.getPredicate();
      if (y.constant == extent(result, d) && splitsBetweenGroups(predicate, true))
        z.constant = std::max(z.constant, std::gcd(x.contiguous, std::gcd(x.divisor, y.divisor)));
      if (x.constant == extent(result, d) && splitsBetweenGroups(predicate, false))
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
    known.notNegative = of(loop.getLowerBound()).notNegative && of(loop.getStep()).notNegative;
    return known;
  }
  if (!assumed_.contains(argument)) assumeCarriedValues(loop);
  return assumed_.at(argument);
}

void ContiguityAnalysis::assumeCarriedValues(scf::ForOp loop) {
  // All at once: values that depend on each other in circles would each ask for the others again. A round costs one look
  // at the body, and each round but the last takes something back, so that it ends.
  auto arguments = loop.getRegionIterArgs();
  auto yielded = loop.getYieldedValues();
  llvm::SmallVector<Contiguity> kept;
  for (Value init : loop.getInitArgs()) kept.push_back(of(init));
  for (bool changed = true; changed;) {
    changed = false;
    ContiguityAnalysis body;
    body.assumed_ = assumed_;
    for (auto [argument, known] : llvm::zip(arguments, kept)) body.assumed_[argument] = known;
    for (auto [argument, known, next] : llvm::zip(arguments, kept, yielded)) {
      Contiguity both = meet(known, body.of(next), bytesOfStep(argument));
      changed |= !equal(both, known);
      known = std::move(both);
    }
  }
  for (auto [argument, known] : llvm::zip(arguments, kept)) assumed_[argument] = std::move(known);
}

Contiguity ContiguityAnalysis::compute(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) return ofArgument(argument);
  Operation* op = value.getDefiningOp();
  if (APInt number; matchPattern(value, m_ConstantInt(&number))) return ofNumber(value, number.getSExtValue());
  if (DenseElementsAttr tile; matchPattern(value, m_Constant(&tile)) && tile.isSplat())
    if (isa<IntegerType>(tile.getElementType())) return ofNumber(value, tile.getSplatValue<APInt>().getSExtValue());
  Contiguity known = nothing(value);
  llvm::TypeSwitch<Operation*>(op)
      .Case<MakeRangeOp>([&](MakeRangeOp range) {
        known.dimensions[0] = {extent(value, 0), powerOfTwoIn(range.getStart()), 1};
        known.notNegative = int32_t(range.getStart()) >= 0;
      })
      .Case<GetProgramIdOp, GetNumProgramsOp>([&](Operation*) { known.notNegative = true; })
      .Case<SplatOp>([&](SplatOp splat) {
        const Contiguity& scalar = of(splat.getSrc());
        known.value = scalar.value;
        known.notNegative = scalar.notNegative;
        for (size_t d = 0; d < known.dimensions.size(); ++d)
          known.dimensions[d] = {1, scalar.dimensions[0].divisor, extent(value, d)};
      })
      .Case<ExpandDimsOp>([&](ExpandDimsOp expand) {
        const Contiguity source = ofMoved(expand.getSrc());
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
        const Contiguity source = ofMoved(trans.getSrc());
        for (auto [d, from] : llvm::enumerate(trans.getOrder())) known.dimensions[d] = source.dimensions[size_t(from)];
        known.value = source.value;
        known.notNegative = source.notNegative;
      })
      .Case<arith::ExtSIOp, arith::IndexCastOp>([&](Operation* cast) { known = of(cast->getOperand(0)); })
      .Case<arith::ExtUIOp>([&](Operation* cast) {
        known = of(cast->getOperand(0));
        if (known.value.value_or(0) < 0) known.value.reset(); // a value is read with its sign
        known.notNegative = true;
      })
      .Case<arith::TruncIOp>([&](Operation* cast) {
        known = of(cast->getOperand(0));
        known.value.reset();
        known.notNegative = false;
      })
      .Case<BitcastOp>([&](BitcastOp cast) {
        const Contiguity source = of(cast.getSrc());
        if (isPointer(cast.getSrc())) {
          int64_t before = bytesOfPointee(cast.getSrc().getType()), after = bytesOfPointee(value.getType());
          // Pointers keep their distance, which is no longer that of neighbours.
          for (auto [to, from] : llvm::zip(known.dimensions, source.dimensions))
            to = before == after ? from : AlongDimension{1, divisorOfGroups(from, 1, before), from.constant};
        } else if (isa<IntegerType>(elementTypeOf(cast.getSrc().getType()))) {
          known = source;
        }
      })
      .Case<arith::AndIOp, arith::OrIOp>([&](Operation* both) {
        const Contiguity a = of(both->getOperand(0)), b = of(both->getOperand(1));
        known.notNegative = isNotNegative(both, a, b);
        for (size_t d = 0; d < known.dimensions.size(); ++d)
          known.dimensions[d].constant = std::gcd(a.dimensions[d].constant, b.dimensions[d].constant);
      })
      .Case<arith::SelectOp>([&](arith::SelectOp select) {
        const Contiguity a = of(select.getTrueValue()), b = of(select.getFalseValue());
        const Contiguity mask = of(select.getCondition());
        const bool isTile = isa<RankedTensorType>(select.getCondition().getType());
        known = isTile ? chosen(mask, a, b, bytesOfStep(value)) : meet(a, b, bytesOfStep(value));
      })
      .Case<arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp>([&](Operation* either) {
        const Contiguity a = of(either->getOperand(0)), b = of(either->getOperand(1));
        Contiguity first = a; // which of them is the smaller one is the same where both are
        for (auto [dimension, other] : llvm::zip(first.dimensions, b.dimensions))
          dimension.constant = std::gcd(dimension.constant, other.constant);
        known = chosen(first, a, b, 1);
        known.notNegative |= isa<arith::MaxSIOp>(either) && (a.notNegative || b.notNegative);
      })
      .Case<scf::IfOp>([&](scf::IfOp branch) {
        const unsigned number = cast<OpResult>(value).getResultNumber();
        const Contiguity a = of(branch.thenYield().getOperand(number)), b = of(branch.elseYield().getOperand(number));
        known = meet(a, b, bytesOfStep(value));
      })
      .Case<scf::ForOp>([&](scf::ForOp loop) { // what goes into its first iteration, or comes out of one
        known = of(loop.getRegionIterArgs()[cast<OpResult>(value).getResultNumber()]);
      })
      .Case<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::RemSIOp, arith::RemUIOp, arith::DivSIOp, arith::DivUIOp,
            arith::ShRSIOp, arith::ShRUIOp, arith::CmpIOp, AddPtrOp>(
          [&](Operation* binary) { known = ofBinary(binary); });
  applyHints(op, known);
  return known;
}

const Contiguity& ContiguityAnalysis::of(Value value) {
  void* key = value.getAsOpaquePointer();
  if (auto at = known_.find(key); at != known_.end()) return at->second;
  Contiguity computed = compute(value);
  return known_[key] = std::move(computed);
}

} // namespace tiletwin::tt
