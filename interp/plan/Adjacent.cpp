// interp/plan/Adjacent.cpp -- finds plans whose neighbouring programs may run as one: numbers, loads of rows, one group that stores.
// Not here:  whether they do in a launch (run/ExecuteAdjacent.cpp).
// Invariant: each number is the same in all programs of a row of the grid, or grows by equal steps modulo 2^width.
#include "interp/plan/Adjacent.h"
#include "interp/program/Instructions.h"
#include <algorithm>
#include <array>
#include <optional>
#include <set>

namespace tiletwin::interp {

namespace {

/// Sums of what grows grow, and so does its product with what does not. The rest may not grow.
struct Scalar {
  ScalarOp op;
  int sources;
};

bool isScalarFloat(ExecFn fn) {
  using E = TwElementwise;
  for (E op : {E::AddF, E::SubF, E::MulF, E::DivF, E::Sqrt})
    if (scalarFloatFn(op) == fn) return true;
  return false;
}

std::optional<Scalar> scalarOf(ExecFn fn) {
#define X(name) ScalarOp::name,
  static constexpr ScalarOp kOps[] = {TILETWIN_SCALAR_OPS(X)};
#undef X
  for (ScalarOp op : kOps)
    for (int width : {1, 8, 16, 32, 64}) {
      const bool unary = op == ScalarOp::Move || op == ScalarOp::SignExtend || op == ScalarOp::ZeroExtend;
      if (scalarFn(op, width) == fn) return Scalar{op, unary ? 1 : op == ScalarOp::Select ? 3 : 2};
    }
  return std::nullopt;
}

class Finder {
public:
  AdjacentPrograms find(const Plan& plan) {
    const auto isGroup = [](const Instruction& in) { return in.fn == execGroup; };
    const auto group = std::find_if(plan.code.begin(), plan.code.end(), isGroup);
    if (plan.debug || plan.code.end() - group != 2 || group[1].fn != execReturn) return {};
    for (auto in = plan.code.begin(); in != group; ++in)
      if (!take(*in)) return {};
    found_.group = static_cast<const GroupOp*>(group->data);
    if (found_.grows.size() > AdjacentPrograms::kMost || !fits(*found_.group)) return {};
    return std::move(found_);
  }

private:
  bool grows(uint32_t cell) const { return growing_.contains(cell); }
  bool grows(const UniformOperand& u) const { return !u.constant && grows(u.cell.v); }
  bool anyGrows(const std::vector<UniformOperand>& us) const {
    return std::any_of(us.begin(), us.end(), [&](const UniformOperand& u) { return grows(u); });
  }
  bool write(uint32_t cell, bool doesGrow) {
    doesGrow ? void(growing_.insert(cell)) : void(growing_.erase(cell));
    found_.grows.back() = doesGrow;
    return true;
  }

  /// False: with this instruction programs are no neighbours.
  bool take(const Instruction& in) {
    found_.grows.push_back(false);
    if (in.fn == execProgramId) return write(in.r[0], in.imm == 0);
    if (in.fn == execNumPrograms) return write(in.r[0], false);
    if (in.fn == execRangeCheck) return !anyGrows(static_cast<const RangeCheckOp*>(in.data)->strides);
    if (in.fn == execLoad) {
      const LoadOp& load = *static_cast<const LoadOp*>(in.data);
      const Access& a = load.access;
      return !load.kept && !load.forceCopy && a.shape.size() == 1 && a.root >= 0 && grows(a.base) &&
             !anyGrows(a.strides) && !(a.guard && anyGrows(a.guard->strides)) &&
             !(load.hasOther && grows(load.other.v));
    }
    if (in.fn == execScalarStrip) {
      const auto& op = *static_cast<const ScalarStripOp*>(in.data);
      const bool fixed = std::none_of(op.src, op.src + op.sources, [&](const Off& src) { return grows(src.v); });
      return fixed && write(op.dst.v, false);
    }
    if (isScalarFloat(in.fn)) return !grows(in.r[1]) && !grows(in.r[2]) && write(in.r[0], false);
    const std::optional<Scalar> scalar = scalarOf(in.fn);
    if (!scalar) return false;
    const auto growing =
        std::count_if(in.r + 1, in.r + 1 + scalar->sources, [&](uint32_t cell) { return grows(cell); });
    if (growing == 0) return write(in.r[0], false);
    switch (scalar->op) {
    case ScalarOp::Add:
    case ScalarOp::Sub:
    case ScalarOp::SatAdd:
    case ScalarOp::SatSub:
    case ScalarOp::Move:
    case ScalarOp::SignExtend:
    case ScalarOp::ZeroExtend: return write(in.r[0], true);
    case ScalarOp::Mul: return growing == 1 && write(in.r[0], true);
    default: return false;
    }
  }

  /// Whether all that the group reads and writes are rows of memory, numbers that do not grow, and strips.
  bool fits(const GroupOp& g) const {
    if (!g.straight || g.sinks.empty()) return false;
    const GroupNode& sink = g.nodes[size_t(g.sinks[0])];
    if (!grows(sink.access.base) || anyGrows(sink.access.strides) ||
        (sink.access.guard && anyGrows(sink.access.guard->strides)))
      return false;
    for (size_t s = 0; s < g.streams.size(); ++s) {
      const GroupStream& stream = g.streams[s];
      const bool one = stream.kind == GroupStream::Cell && !grows(stream.cell.v);
      const bool row = stream.kind == GroupStream::Operand && stream.operand.view && !g.splat[s];
      if (!one && !row && stream.kind != GroupStream::Strip && !stream.unused) return false;
    }
    return true;
  }

  std::set<uint32_t> growing_; // cells
  AdjacentPrograms found_;
};

} // namespace

AdjacentPrograms findAdjacent(const Plan& plan) { return Finder().find(plan); }

} // namespace tiletwin::interp
