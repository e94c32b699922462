// codegen/passes/AffineConditions.cpp -- see AffineConditions.h.
#include "codegen/passes/AffineConditions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include <algorithm>
#include <limits>

using namespace mlir;

namespace tiletwin::codegen {
namespace {

// A group is at most 2^31 times 2^30, and a sum has at most four. In a group a number times a factor of 32 bits is below 2^58.
constexpr int64_t kMostFactor = int64_t(1) << 31, kMostPositive = int64_t(1) << 30;
constexpr int64_t kMostNumber = int64_t(1) << 26;
constexpr size_t kMostGroups = 4;
constexpr double kWidest = 2147483648.0; ///< what no number of 32 bits, nor one of 64 that is looked at, is beyond

} // namespace

AffineConditions::Groups AffineConditions::groupsOf(const Sum& sum) {
  Groups groups;
  for (const auto& [factors, number] : sum) {
    Factors inside = factors;
    inside.arguments.clear();
    groups[factors.arguments][inside] = number;
  }
  return groups;
}

void AffineConditions::add(Sum sum) {
  int64_t number = 0;
  if (auto found = sum.find(Factors()); found != sum.end()) number = found->second, sum.erase(found);
  if (sum.empty() && number >= 0) return;
  auto [found, isNew] = least_.try_emplace(sum, -number);
  if (!isNew) found->second = std::max(found->second, -number);
}

/// A number that the sum is not below, whatever the program and the launch. All of them fit into a double well enough.
double AffineConditions::leastOf(const Sum& sum) const {
  Block* kernel = &loop_->getParentOfType<tt::FuncOp>().getBody().front();
  double least = 0;
  for (const auto& [arguments, terms] : groupsOf(sum)) {
    double low = 0, high = 0;
    for (const auto& [factors, number] : terms) {
      const bool isOne = factors == Factors(), isLast = factors.along == Factors::kLast;
      Value scalar = isOne || isLast ? Value() : forms_.scalar(factors.scalar);
      const bool isBelow = scalar && !AffineForms::isNeverNegative(scalar);
      const double from = isOne ? 1 : isBelow ? -kWidest : 0, to = isOne ? 1 : scalar ? kWidest : 2 * kWidest;
      low += double(number) * (number > 0 ? from : to);
      high += double(number) * (number > 0 ? to : from);
    }
    const bool isPositive = positive_.contains(Sum{{Factors{.arguments = arguments}, 1}});
    if (arguments.empty())
      least += low;
    else if (isPositive)
      least += low * (low < 0 ? double(kMostPositive) : 1.0);
    else if (arguments.size() == 1 && kernel->getArgument(arguments[0]).getType().isInteger(32))
      least += std::min({low * -kWidest, low * (kWidest - 1), high * -kWidest, high * (kWidest - 1)});
    else
      return -std::numeric_limits<double>::infinity();
  }
  return least;
}

bool AffineConditions::find() {
  if (!forms_.areConditionsKnown()) return false;
  Block* kernel = &loop_->getParentOfType<tt::FuncOp>().getBody().front();
  for (const Sum& sum : forms_.conditions()) {
    Groups groups = groupsOf(sum);
    if (groups.size() > kMostGroups) return false;
    for (const auto& [arguments, terms] : groups) {
      // A number times one argument of 32 bits passes no 64.
      const bool isNarrow = arguments.size() == 1 && kernel->getArgument(arguments[0]).getType().isInteger(32);
      if (!arguments.empty() && !(isNarrow && numberOf(terms)))
        positive_.insert(Sum{{Factors{.arguments = arguments}, 1}});
      for (const auto& [factors, number] : terms)
        if (!(factors == Factors() && arguments.empty()) && (number > kMostNumber || number < -kMostNumber))
          return false;
      if (arguments.empty() || numberOf(terms)) continue;
      std::optional<Sum> above = plus(terms, sumOf(kMostFactor)), below = plus(sumOf(kMostFactor), terms, -1);
      if (!above || !below) return false;
      add(*above);
      add(*below);
    }
    add(sum);
  }
  std::erase_if(least_, [&](const auto& condition) { return leastOf(condition.first) >= double(condition.second); });
  // What depends on one product of arguments alone the launcher finds out, with its other conditions of that product.
  std::erase_if(least_, [&](const auto& condition) {
    const auto& [sum, least] = condition;
    if (sum.size() != 1 || least > -kMostPositive) return false;
    auto [factors, number] = *sum.begin();
    if (number >= 0 || !positive_.contains(Sum{{factors, 1}})) return false;
    positive_.insert(Sum{{factors, -number}});
    return true;
  });
  return true;
}

Value AffineConditions::constant(OpBuilder& builder, int64_t number) {
  return arith::ConstantOp::create(builder, loop_.getLoc(), builder.getI64IntegerAttr(number));
}

Value AffineConditions::wide(OpBuilder& builder, Value number) {
  if (number.getType().isInteger(64)) return number;
  return builder.createOrFold<arith::ExtSIOp>(loop_.getLoc(), builder.getI64Type(), number);
}

/// (upper - lower - 1) / step, and 0 in a loop without iterations.
Value AffineConditions::last(OpBuilder& builder) {
  if (last_) return last_;
  Location where = loop_.getLoc();
  Value lower = wide(builder, loop_.getLowerBound()), upper = wide(builder, loop_.getUpperBound());
  Value more = builder.createOrFold<arith::SubIOp>(where, upper, lower);
  Value before = builder.createOrFold<arith::SubIOp>(where, more, constant(builder, 1));
  Value whole = forms_.step() == 1
                    ? before
                    : builder.createOrFold<arith::DivSIOp>(where, before, constant(builder, forms_.step()));
  last_ = builder.createOrFold<arith::MaxSIOp>(where, whole, constant(builder, 0));
  // Of 64 bits it may be anything, and the difference may have wrapped around.
  if (loop_.getInductionVar().getType().isInteger(64)) {
    for (Value bound : {lower, upper}) {
      andAtLeast(builder, bound, -(int64_t(1) << 31));
      andAtLeast(builder, builder.createOrFold<arith::SubIOp>(where, constant(builder, int64_t(1) << 31), bound), 0);
    }
  }
  return last_;
}

Value AffineConditions::valueOf(OpBuilder& builder, const Factors& factors) {
  return factors.along == Factors::kLast ? last(builder) : wide(builder, forms_.scalar(factors.scalar));
}

Value AffineConditions::inner(OpBuilder& builder, const Sum& sum) {
  Location where = loop_.getLoc();
  Value all;
  for (const auto& [factors, number] : sum) {
    Value term = constant(builder, number);
    if (factors != Factors()) term = builder.createOrFold<arith::MulIOp>(where, valueOf(builder, factors), term);
    all = all ? builder.createOrFold<arith::AddIOp>(where, all, term) : term;
  }
  return all;
}

void AffineConditions::andAtLeast(OpBuilder& builder, Value number, int64_t least) {
  Location where = loop_.getLoc();
  Value holds = builder.createOrFold<arith::CmpIOp>(where, arith::CmpIPredicate::sge, number, constant(builder, least));
  holds_ = arith::AndIOp::create(builder, where, holds_, holds);
}

Value AffineConditions::emit(OpBuilder& builder, Value allowed) {
  Location where = loop_.getLoc();
  Block* kernel = &loop_->getParentOfType<tt::FuncOp>().getBody().front();
  holds_ = allowed;
  for (const auto& [sum, least] : least_) {
    Value all;
    for (const auto& [arguments, terms] : groupsOf(sum)) {
      Value part = inner(builder, terms);
      for (unsigned argument : arguments)
        part = builder.createOrFold<arith::MulIOp>(where, part, wide(builder, kernel->getArgument(argument)));
      all = all ? builder.createOrFold<arith::AddIOp>(where, all, part) : part;
    }
    andAtLeast(builder, all ? all : constant(builder, 0), least);
  }
  return holds_;
}

Value distanceIn(OpBuilder& builder, scf::ForOp loop) {
  Location where = loop.getLoc();
  APInt lower;
  Value number = loop.getInductionVar();
  if (!matchPattern(loop.getLowerBound(), m_ConstantInt(&lower)) || !lower.isZero())
    number = arith::SubIOp::create(builder, where, number, loop.getLowerBound());
  if (number.getType().isInteger(64)) number = arith::TruncIOp::create(builder, where, builder.getI32Type(), number);
  return number;
}

/// What computes a value between two operations of a block, operands first. False: more than scalars does.
static bool addSlice(Value value, Operation* first, llvm::SetVector<Operation*>& slice) {
  Operation* op = value.getDefiningOp();
  if (!op || op->getBlock() != first->getBlock() || op->isBeforeInBlock(first) || slice.contains(op)) return true;
  if (op == first || op->getNumRegions() || !isMemoryEffectFree(op)) return false;
  for (Value operand : op->getOperands())
    if (!addSlice(operand, first, slice)) return false;
  slice.insert(op);
  return true;
}

void decideAtOnce(ArrayRef<scf::IfOp> branches) {
  SmallVector<scf::IfOp> together;
  for (scf::IfOp branch : branches) {
    scf::IfOp first = together.empty() ? branch : together.front();
    llvm::SetVector<Operation*> slice;
    if (branch->getBlock() != first->getBlock() || !addSlice(branch.getCondition(), first, slice)) continue;
    for (Operation* op : slice) op->moveBefore(first);
    together.push_back(branch);
  }
  if (together.size() < 2) return;
  OpBuilder builder(together.front());
  Value all = together.front().getCondition();
  for (scf::IfOp branch : ArrayRef<scf::IfOp>(together).drop_front())
    all = arith::AndIOp::create(builder, branch.getLoc(), all, branch.getCondition());
  for (scf::IfOp branch : together) branch.getConditionMutable().assign(all);
}

} // namespace tiletwin::codegen
