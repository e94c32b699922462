#include "sim/counters/AccessForms.h"
#include <algorithm>

namespace tiletwin::sim {
namespace {

using ptx::Instruction;
using ptx::Operand;

bool hasWord(const Instruction& in, std::string_view word) {
  return std::find(in.modifiers.begin(), in.modifiers.end(), word) != in.modifiers.end();
}

/// How often the registers of a function are read, but for moves of what nobody wants.
class Reads {
public:
  explicit Reads(const ptx::Function& function)
      : reads_(function.registers.size()), values_(function.registers.size()) {
    for (const Instruction& in : function.body) {
      count(in, 1);
      if (in.guard >= 0) ++reads_[size_t(in.guard)];
      if (!isMove(in) || in.operands[0].kind != Operand::Kind::Register) continue;
      if (in.operands[1].kind == Operand::Kind::Integer) values_[size_t(in.operands[0].index)] = &in.operands[1];
    }
    dropMoves(function);
  }
  /// A destination that nothing reads.
  bool isUnused(const Operand& destination) const {
    if (destination.kind == Operand::Kind::Register) return reads_[size_t(destination.index)] == 0;
    return std::all_of(destination.parts.begin(), destination.parts.end(),
                       [&](const Operand& o) { return isUnused(o); });
  }
  /// The number 1, or a register that a move sets to it.
  bool isOne(const Operand& operand) const {
    if (operand.kind == Operand::Kind::Integer) return operand.integer == 1;
    if (operand.kind != Operand::Kind::Register || operand.component >= 0) return false;
    const Operand* value = values_[size_t(operand.index)];
    return value && value->integer == 1;
  }

private:
  static bool isMove(const Instruction& in) { return in.opcode == "mov" && in.operands.size() == 2; }
  /// Is the first operand, if it is no address, a destination that is not read?
  static bool writesFirst(const Instruction& in) {
    for (const std::string_view opcode : {"bar", "barrier", "nanosleep", "wgmma", "call", "brx"})
      if (in.opcode == opcode) return false;
    return !in.operands.empty() && in.operands[0].kind != Operand::Kind::Address;
  }
  void count(const Instruction& in, int by) {
    for (size_t i = writesFirst(in) ? 1 : 0; i < in.operands.size(); ++i) read(in.operands[i], by);
  }
  void read(const Operand& operand, int by) {
    if (operand.kind == Operand::Kind::Register && operand.index >= 0) reads_[size_t(operand.index)] += by;
    for (const Operand& part : operand.parts) read(part, by);
  }
  void dropMoves(const ptx::Function& function) {
    std::vector<bool> dropped(function.body.size());
    for (bool again = true; again;) {
      again = false;
      for (size_t i = 0; i < function.body.size(); ++i) {
        const Instruction& in = function.body[i];
        if (dropped[i] || !isMove(in) || !isUnused(in.operands[0])) continue;
        count(in, -1);
        dropped[i] = again = true;
      }
    }
  }

  std::vector<int> reads_;
  std::vector<const Operand*> values_; ///< of a mov
};

/// What shared memory does itself: 32-bit integers, exchange and compare-and-swap of any size; and it adds up lanes that count.
AccessForm atomicForm(const Instruction& in, bool reduces, const Reads& reads) {
  if (hasWord(in, "cas")) return AccessForm::CompareAndSwap;
  if (hasWord(in, "exch")) return AccessForm::Atomic;
  const bool is32Bits = hasWord(in, "u32") || hasWord(in, "s32") || hasWord(in, "b32");
  if (!is32Bits) return AccessForm::AtomicLoop;
  return reduces && hasWord(in, "add") && reads.isOne(in.operands.back()) ? AccessForm::Count : AccessForm::Atomic;
}

/// Parameters of calls lie in registers on a GPU. st.async and red.async are the copy unit's.
CountedAccess accessOf(const Instruction& in, const Reads& reads) {
  if (in.opcode == "cp") {
    if (hasWord(in, "bulk") || !hasWord(in, "global")) return {};
    return {hasWord(in, "cg") ? AccessForm::CopyPastL1 : AccessForm::Copy};
  }
  if (hasWord(in, "param") || hasWord(in, "async")) return {};
  if (in.opcode == "ld" || in.opcode == "ldu") return {AccessForm::Load};
  if (in.opcode == "ldmatrix") return {AccessForm::LoadMatrix};
  if (in.opcode == "st" || in.opcode == "stmatrix") return {AccessForm::Store};
  if (in.opcode != "atom" && in.opcode != "red") return {};
  const auto hasAny = [&](std::initializer_list<std::string_view> words) {
    return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return hasWord(in, word); });
  };
  // What orders other accesses stays as it is.
  const bool mayReduce = !hasAny({"cas", "exch", "acquire", "release", "acq_rel"});
  const bool reduces = in.opcode == "red" || (mayReduce && reads.isUnused(in.operands[0]));
  return {atomicForm(in, reduces, reads), reduces};
}

} // namespace

std::vector<CountedAccess> accessesOf(const ptx::Function& function) {
  const Reads reads(function);
  std::vector<CountedAccess> accesses;
  accesses.reserve(function.body.size());
  for (const Instruction& in : function.body) accesses.push_back(accessOf(in, reads));
  return accesses;
}

} // namespace tiletwin::sim
