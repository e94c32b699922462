// codegen/passes/AffineForm.cpp -- see AffineForm.h.
#include "codegen/passes/AffineForm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include <algorithm>

using namespace mlir;

namespace tiletwin::codegen {
namespace {

constexpr size_t kMostTerms = 24; ///< of a sum: longer ones are no tile's addresses
/// Of a sum: with a tile's extent, and as often as a sum has terms, it stays below 2^63.
constexpr int64_t kMostNumber = int64_t(1) << 38;

bool isSmall(int64_t number) { return -kMostNumber <= number && number <= kMostNumber; }

bool isNarrow(mlir::Type type) { return tt::elementTypeOf(type).isInteger(32); }
bool isTile(Value value) { return isa<RankedTensorType>(value.getType()); }

/// True for what a constant or one value of 32 bits is: nothing that could pass them.
bool isPlain(const Sum& sum) {
  if (sum.empty()) return true;
  if (sum.size() > 1) return false;
  auto [factors, number] = *sum.begin();
  if (factors.isConstant() && factors.arguments.empty()) return llvm::isInt<32>(number);
  return number == 1 && factors.along < 0 && factors.arguments.size() + (factors.scalar >= 0) == 1;
}

/// The sum in a tile with one more dimension, in front of which the others keep their numbers.
Sum withDimension(const Sum& sum, unsigned axis) {
  Sum there;
  for (const auto& [given, number] : sum) {
    Factors factors = given;
    if (factors.along >= int(axis) && factors.along < Factors::kIteration) ++factors.along;
    there[factors] = number;
  }
  return there;
}

} // namespace

Sum sumOf(int64_t number) { return number ? Sum{{Factors(), number}} : Sum(); }

std::optional<Sum> plus(const Sum& a, const Sum& b, int64_t times) {
  Sum sum = a;
  for (auto [factors, number] : b) {
    int64_t& here = sum[factors];
    if (__builtin_mul_overflow(number, times, &number) || __builtin_add_overflow(here, number, &here) || !isSmall(here))
      return std::nullopt;
    if (!here) sum.erase(factors);
  }
  return sum.size() <= kMostTerms ? std::optional(sum) : std::nullopt;
}

std::optional<int64_t> numberOf(const Sum& sum) {
  if (sum.empty()) return 0;
  const bool isNumber = sum.size() == 1 && sum.begin()->first == Factors();
  return isNumber ? std::optional(sum.begin()->second) : std::nullopt;
}

bool isOfArguments(const Sum& sum) {
  return llvm::all_of(sum, [](const auto& term) { return term.first.isConstant(); });
}

bool AffineForms::isNeverNegative(Value scalar) {
  return isa_and_nonnull<tt::GetProgramIdOp, tt::GetNumProgramsOp>(scalar.getDefiningOp());
}

AffineForms::AffineForms(scf::ForOp loop) : loop_(loop) {
  APInt step;
  if (matchPattern(loop.getStep(), m_ConstantInt(&step)) && !loop.getUnsignedCmp())
    step_ = std::max<int64_t>(step.getSExtValue(), 0);
}

std::optional<Sum> AffineForms::of(Value value) {
  Formed found = form(value);
  return found && !found->base ? std::optional(found->sum) : std::nullopt;
}

std::optional<AffinePointers> AffineForms::pointers(Value value) {
  Formed found = form(value);
  if (!found || !found->base) return std::nullopt;
  return AffinePointers{*found->base, found->sum};
}

AffineForms::Formed AffineForms::form(Value value) {
  if (auto found = known_.find(value); found != known_.end()) return found->second;
  Formed made = compute(value);
  known_[value] = made;
  return made;
}

bool AffineForms::isInLoop(Value value) const {
  return const_cast<scf::ForOp&>(loop_)->isAncestor(value.getParentRegion()->getParentOp());
}

void AffineForms::require(const std::optional<Sum>& sum, ArrayRef<int64_t> shape) {
  areKnown_ &= sum.has_value();
  Sum least;
  for (auto [given, number] : sum.value_or(Sum())) {
    Factors factors = given;
    if (factors.along >= 0) {
      const bool isIteration = factors.along == Factors::kIteration;
      if (number > 0) continue; // least in the first element, or iteration
      if (!isIteration) number *= shape[size_t(factors.along)] - 1;
      factors.along = isIteration ? Factors::kLast : -1;
    }
    if (number) least[factors] += number;
  }
  const bool holds = llvm::all_of(least, [&](const auto& term) {
    auto [factors, number] = term;
    const bool isKnown = factors.scalar < 0 || isNeverNegative(scalars_[size_t(factors.scalar)]);
    return number >= 0 && factors.arguments.empty() && isKnown;
  });
  if (!holds) conditions_.insert(least);
}

void AffineForms::requireFits(const Sum& sum, Value value) {
  if (!isNarrow(value.getType()) || isPlain(sum)) return;
  const int64_t most = int64_t(1) << 31;
  ArrayRef<int64_t> shape = tt::shapeOf(value.getType());
  require(plus(sumOf(most - 1), sum, -1), shape);
  require(plus(sum, sumOf(most)), shape);
}

AffineForms::Formed AffineForms::product(const Form& a, const Form& b) const {
  if (a.base || b.base) return std::nullopt;
  Sum sum;
  for (const auto& [x, m] : a.sum)
    for (const auto& [y, n] : b.sum) {
      if (!x.isConstant() && !y.isConstant()) return std::nullopt;
      Factors both = x.isConstant() ? y : x;
      both.arguments.clear();
      std::merge(x.arguments.begin(), x.arguments.end(), y.arguments.begin(), y.arguments.end(),
                 std::back_inserter(both.arguments));
      int64_t number;
      if (__builtin_mul_overflow(m, n, &number)) return std::nullopt;
      std::optional<Sum> next = plus(sum, Sum{{both, number}});
      if (!next) return std::nullopt;
      sum = *next;
    }
  return Form{std::nullopt, sum};
}

AffineForms::Formed AffineForms::moved(Value source, unsigned axis) {
  Formed found = form(source);
  if (!found) return found;
  return Form{found->base, withDimension(found->sum, axis)};
}

AffineForms::Formed AffineForms::ofArgument(BlockArgument argument) {
  Operation* parent = argument.getOwner()->getParentOp();
  if (isa<tt::FuncOp>(parent) && argument.getOwner()->isEntryBlock()) {
    if (isa<tt::PointerType>(argument.getType())) return Form{argument, Sum()};
    Factors factors;
    factors.arguments.push_back(argument.getArgNumber());
    if (argument.getType().isInteger(32) || argument.getType().isInteger(64))
      return Form{std::nullopt, Sum{{factors, 1}}};
    return std::nullopt;
  }
  if (parent != loop_) return ofScalar(argument);
  if (!step_) return std::nullopt;
  if (argument != loop_.getInductionVar()) return ofCarried(argument);
  Formed first = form(loop_.getLowerBound());
  if (!first) return std::nullopt;
  Factors iteration;
  iteration.along = Factors::kIteration;
  std::optional<Sum> sum = plus(first->sum, Sum{{iteration, step_}});
  return sum ? Formed(Form{std::nullopt, *sum}) : std::nullopt;
}

/// What is carried becomes in each iteration what it was, and something that stays the same.
AffineForms::Formed AffineForms::ofCarried(BlockArgument argument) {
  Formed first = form(loop_.getTiedLoopInit(argument)->get());
  if (!first) return first;
  Value next = loop_.getTiedLoopYieldedValue(argument)->get();
  AffineForms tried = *this; // with a stand-in, of which nothing remains
  const int self = int(tried.scalars_.size());
  tried.scalars_.push_back(argument);
  Factors itself;
  itself.scalar = self;
  tried.known_[argument] = Form{first->base, Sum{{itself, 1}}};
  Formed later = tried.form(next);
  if (!later || later->base != first->base || tried.scalars_.size() != size_t(self) + 1) return std::nullopt;
  Sum sum = first->sum;
  auto found = later->sum.find(itself);
  if (found == later->sum.end() || found->second != 1) return std::nullopt;
  later->sum.erase(found);
  for (const auto& [given, number] : later->sum) {
    Factors factors = given;
    if (!factors.isConstant()) return std::nullopt;
    factors.along = Factors::kIteration;
    std::optional<Sum> more = plus(sum, Sum{{factors, number}});
    if (!more) return std::nullopt;
    sum = *more;
  }
  known_[argument] = Form{first->base, sum};
  (void)form(next); // for its conditions
  return Form{first->base, sum};
}

/// A number that nothing more is said of. It stands in front of the loop.
AffineForms::Formed AffineForms::ofScalar(Value value) {
  if (isTile(value) || isInLoop(value)) return std::nullopt;
  if (!value.getType().isInteger(32) && !value.getType().isInteger(64)) return std::nullopt;
  auto* found = std::find(scalars_.data(), scalars_.data() + scalars_.size(), value);
  Factors factors;
  factors.scalar = int(found - scalars_.data());
  if (size_t(factors.scalar) == scalars_.size()) scalars_.push_back(value);
  Sum sum{{factors, 1}};
  if (value.getType().isInteger(64)) {
    require(plus(sumOf((int64_t(1) << 31) - 1), sum, -1), {});
    require(plus(sum, sumOf(int64_t(1) << 31)), {});
  }
  return Form{std::nullopt, sum};
}

/// Indices that are kept inside: what they are where the condition is true everywhere.
AffineForms::Formed AffineForms::chosen(arith::SelectOp select) {
  if (!isTile(select.getResult())) return std::nullopt;
  Formed found = form(select.getTrueValue());
  std::optional<std::vector<Sum>> sums = found ? mask(select.getCondition()) : std::nullopt;
  if (!sums) return std::nullopt;
  for (const Sum& sum : *sums) require(sum, tt::shapeOf(select.getType()));
  return found;
}

/// The same of the smaller one of an index and a number.
AffineForms::Formed AffineForms::smaller(arith::MinSIOp least) {
  if (!isTile(least.getResult())) return std::nullopt;
  Formed index = form(least.getLhs()), bound = form(least.getRhs());
  if (!index || !bound) return std::nullopt;
  auto isOfTile = [](const auto& term) { return term.first.along >= 0 && term.first.along < Factors::kIteration; };
  if (llvm::none_of(index->sum, isOfTile)) std::swap(index, bound);
  requireFits(index->sum, least.getResult());
  requireFits(bound->sum, least.getResult());
  std::optional<Sum> rest = plus(bound->sum, index->sum, -1);
  if (!rest) return std::nullopt;
  require(rest, tt::shapeOf(least.getType()));
  return index;
}

AffineForms::Formed AffineForms::compute(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) return ofArgument(argument);
  mlir::Type element = tt::elementTypeOf(value.getType());
  if (!isa<tt::PointerType>(element) && !element.isInteger(32) && !element.isInteger(64)) return std::nullopt;
  auto ofNumber = [](const APInt& number) {
    const int64_t small = number.getSExtValue();
    return isSmall(small) ? Formed(Form{std::nullopt, sumOf(small)}) : std::nullopt;
  };
  if (APInt number; matchPattern(value, m_ConstantInt(&number))) return ofNumber(number);
  if (DenseElementsAttr tile; matchPattern(value, m_Constant(&tile)))
    return tile.isSplat() ? ofNumber(tile.getSplatValue<APInt>()) : std::nullopt;
  Operation* op = value.getDefiningOp();
  auto source = [&](unsigned i) { return form(op->getOperand(i)); };
  auto added = [&](int64_t times) -> Formed {
    Formed a = source(0), b = source(1);
    if (!a || !b || b->base) return std::nullopt;
    std::optional<Sum> sum = plus(a->sum, b->sum, times);
    return sum ? Formed(Form{a->base, *sum}) : std::nullopt;
  };
  Formed made = llvm::TypeSwitch<Operation*, Formed>(op)
                    .Case<tt::SplatOp>([&](auto) { return source(0); })
                    .Case([&](tt::BroadcastOp broadcast) {
                      // Along a dimension of one element the element's index is 0.
                      Formed found = source(0);
                      if (!found) return found;
                      ArrayRef<int64_t> shape = tt::shapeOf(broadcast.getSrc().getType());
                      std::erase_if(found->sum, [&](const auto& term) {
                        const int along = term.first.along;
                        return along >= 0 && along < Factors::kIteration && shape[size_t(along)] == 1;
                      });
                      return found;
                    })
                    .Case([&](tt::ExpandDimsOp expand) { return moved(expand.getSrc(), unsigned(expand.getAxis())); })
                    .Case([&](tt::MakeRangeOp range) {
                      Factors index;
                      index.along = 0;
                      std::optional<Sum> sum = plus(sumOf(int32_t(range.getStart())), Sum{{index, 1}});
                      return sum ? Formed(Form{std::nullopt, *sum}) : std::nullopt;
                    })
                    .Case<arith::AddIOp>([&](auto) { return added(1); })
                    .Case<arith::SubIOp>([&](auto) { return added(-1); })
                    .Case<arith::MulIOp>([&](auto) -> Formed {
                      Formed a = source(0), b = source(1);
                      return a && b ? product(*a, *b) : std::nullopt;
                    })
                    .Case([&](tt::AddPtrOp add) {
                      if (Formed offset = source(1)) requireFits(offset->sum, add.getOffset());
                      return added(1);
                    })
                    .Case([&](arith::ExtSIOp extended) {
                      Formed found = source(0);
                      if (found) requireFits(found->sum, extended.getIn());
                      return found;
                    })
                    .Case([&](arith::RemSIOp rem) -> Formed {
                      if (!isTile(value)) return std::nullopt;
                      Formed a = source(0), b = source(1);
                      if (!a || !b || a->base || !isOfArguments(b->sum)) return std::nullopt;
                      requireFits(a->sum, value);
                      std::optional<Sum> below = plus(b->sum, a->sum, -1);
                      if (below) below = plus(*below, sumOf(-1));
                      if (!below) return std::nullopt;
                      require(below, tt::shapeOf(value.getType()));
                      require(a->sum, tt::shapeOf(value.getType()));
                      return a;
                    })
                    .Case([&](arith::SelectOp select) { return chosen(select); })
                    .Case([&](arith::MinSIOp least) { return smaller(least); })
                    .Default([](Operation*) { return std::nullopt; });
  return made ? made : ofScalar(value);
}

std::optional<std::vector<Sum>> AffineForms::mask(Value value) {
  Operation* op = value.getDefiningOp();
  if (!op) return std::nullopt;
  if (isa<tt::BroadcastOp>(op)) return mask(op->getOperand(0));
  if (isa<arith::AndIOp>(op)) {
    std::optional<std::vector<Sum>> all = mask(op->getOperand(0)), more = mask(op->getOperand(1));
    if (!all || !more) return std::nullopt;
    all->insert(all->end(), more->begin(), more->end());
    return all;
  }
  if (auto expand = dyn_cast<tt::ExpandDimsOp>(op)) {
    std::optional<std::vector<Sum>> all = mask(expand.getSrc());
    if (!all) return all;
    for (Sum& sum : *all) sum = withDimension(sum, unsigned(expand.getAxis()));
    return all;
  }
  auto compare = dyn_cast<arith::CmpIOp>(op);
  if (!compare) return std::nullopt;
  std::optional<Sum> a = of(compare.getLhs()), b = of(compare.getRhs());
  if (!a || !b) return std::nullopt;
  requireFits(*a, compare.getLhs());
  requireFits(*b, compare.getRhs());
  using enum arith::CmpIPredicate;
  const arith::CmpIPredicate predicate = compare.getPredicate();
  const bool isGreater = predicate == sgt || predicate == sge, isStrict = predicate == sgt || predicate == slt;
  if (!isGreater && predicate != slt && predicate != sle) return std::nullopt;
  std::optional<Sum> sum = isGreater ? plus(*a, *b, -1) : plus(*b, *a, -1);
  if (sum && isStrict) sum = plus(*sum, sumOf(-1));
  return sum ? std::optional(std::vector<Sum>{*sum}) : std::nullopt;
}

} // namespace tiletwin::codegen
