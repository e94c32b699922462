// sim/machine/DecodeDoubtful.cpp -- which registers of a function may hold what nobody has written, and what its instructions do
// with them.
//
// Here:      FunctionCode::doubtful and doubtfulUses.
// Not here:  which lanes have written what while it runs (check/UninitializedCheck.cpp).
// Idea:      registers that are alive at the function's first instruction, closed over instructions that compute registers from
//            registers lane by lane. Nothing is followed through memory, which must not get such a value, and between lanes:
//            compilers let all lanes of a warp exchange what some of them have, and look at some of the results only. Which ones
//            they look at cannot be known from a mask of 32 bits, so that results of such instructions count as written.
// Invariant: a function without doubtful registers has no uses, so that nobody watches its instructions.
#include "sim/machine/DecodeFunction.h"
#include <algorithm>

namespace tiletwin::sim {
namespace {

using ptx::Operand;
using Kind = DoubtfulUse::Kind;

/// What an instruction does with what it reads.
enum class Role : uint8_t {
  Computes,  ///< makes registers of it, in the same lane
  Exchanges, ///< ... in any lane of the warp
  Uses       ///< memory, jumps, barriers, calls
};

Role roleOf(const Inst& in) {
  if (in.flow != Flow::None) return Role::Uses;
  switch (in.kind) {
  case InstClass::Memory:
  case InstClass::Atomic:
  case InstClass::Barrier:
  case InstClass::Async:
  case InstClass::Control: return Role::Uses;
  case InstClass::Warp:
  case InstClass::Tensor: return Role::Exchanges;
  default: return Role::Computes;
  }
}

/// Does operand i say who takes part in an exchange, or where it finds its memory, so that it is no value that is exchanged?
bool rulesExchange(const ptx::Instruction& in, size_t i) {
  if (in.opcode == "tcgen05") return true;
  if (in.opcode == "wgmma") return i > 0; // a descriptor, or whether there is a sum to add to
  if (in.opcode == "movmatrix" || in.opcode == "mma" || in.opcode == "wmma") return false;
  return i > 0 && i + 1 == in.operands.size(); // the member mask
}

class DoubtfulRegisters {
public:
  DoubtfulRegisters(FunctionCode& code, const std::vector<RegisterUses>& uses, const std::vector<bool>& mayBeUnwritten);
  void find();
  void noteUses();

private:
  /// Calls visit(register, kind) for all that instruction i reads and that counts.
  template <class Visit> void eachRead(size_t i, Visit&& visit) const;
  template <class Visit> void eachSourceOfSelp(const ptx::Instruction& in, Visit&& visit) const;
  bool isDoubtful(int32_t r) const { return index_[size_t(r)] >= 0; }
  void add(int32_t r);
  bool addResults(size_t i);

  FunctionCode& code_;
  const std::vector<RegisterUses>& uses_;
  const std::vector<bool>& mayBeUnwritten_;
  std::vector<bool> isWritten_; ///< by some instruction
  std::vector<Role> roles_;     ///< of each instruction of the body
  std::vector<int32_t> index_;  ///< of each register in FunctionCode::doubtful; -1: none
};

DoubtfulRegisters::DoubtfulRegisters(FunctionCode& code, const std::vector<RegisterUses>& uses,
                                     const std::vector<bool>& mayBeUnwritten)
    : code_(code), uses_(uses), mayBeUnwritten_(mayBeUnwritten), isWritten_(mayBeUnwritten.size(), false),
      roles_(uses.size(), Role::Computes), index_(mayBeUnwritten.size(), -1) {
  for (const RegisterUses& use : uses)
    for (const int32_t r : use.writes) isWritten_[size_t(r)] = true;
  for (const Inst& in : code.code)
    if (in.source >= 0) roles_[size_t(in.source)] = std::max(roles_[size_t(in.source)], roleOf(in));
}

template <class Visit> void DoubtfulRegisters::eachSourceOfSelp(const ptx::Instruction& in, Visit&& visit) const {
  const bool isKnown = in.operands[3].kind == Operand::Kind::Register; // which one is taken, when it runs
  const Kind kinds[] = {isKnown ? Kind::IfTrue : Kind::Follows, isKnown ? Kind::IfFalse : Kind::Follows, Kind::Follows};
  for (size_t i = 1; i <= 3; ++i)
    if (in.operands[i].kind == Operand::Kind::Register) visit(code_.registerNumber(in.operands[i]), kinds[i - 1]);
}

/// A register that nothing writes is how compilers write an undefined value, one that fills half a vector and that nobody will
/// look at: what is computed from it counts as written.
template <class Visit> void DoubtfulRegisters::eachRead(size_t i, Visit&& visit) const {
  const ptx::Instruction& in = code_.source->body[i];
  const std::vector<int32_t>& reads = uses_[i].reads;
  const bool hasGuard = in.guard >= 0; // it is read first
  if (hasGuard) visit(reads.front(), Kind::Guard);
  const auto visitWritten = [&](int32_t r, Kind kind) {
    if (isWritten_[size_t(r)]) visit(r, kind);
  };
  switch (roles_[i]) {
  case Role::Uses:
    for (size_t k = hasGuard; k < reads.size(); ++k) visit(reads[k], Kind::Needs);
    break;
  case Role::Exchanges:
    for (size_t k = 0; k < in.operands.size(); ++k)
      if (in.operands[k].kind == Operand::Kind::Register && rulesExchange(in, k))
        visitWritten(code_.registerNumber(in.operands[k]), Kind::Needs);
    break;
  case Role::Computes:
    if (in.opcode == "selp") return eachSourceOfSelp(in, visitWritten);
    for (size_t k = hasGuard; k < reads.size(); ++k) visitWritten(reads[k], Kind::Follows);
  }
}

void DoubtfulRegisters::add(int32_t r) {
  index_[size_t(r)] = int32_t(code_.doubtful.size());
  code_.doubtful.push_back(r);
}

/// True if the instruction's results become doubtful by what it reads.
bool DoubtfulRegisters::addResults(size_t i) {
  if (roles_[i] != Role::Computes) return false;
  bool isComputed = false, found = false;
  eachRead(i, [&](int32_t r, Kind kind) { isComputed |= kind != Kind::Guard && isDoubtful(r); });
  for (const int32_t r : uses_[i].writes)
    if (isComputed && !isDoubtful(r)) {
      add(r);
      found = true;
    }
  return found;
}

void DoubtfulRegisters::find() {
  for (size_t i = 0; i < uses_.size(); ++i)
    eachRead(i, [&](int32_t r, Kind) {
      if (mayBeUnwritten_[size_t(r)] && !isDoubtful(r)) add(r);
    });
  code_.doubtfulOrigins = uint32_t(code_.doubtful.size());
  for (bool found = !code_.doubtful.empty(); found;) {
    found = false;
    for (size_t i = 0; i < uses_.size(); ++i) found |= addResults(i);
  }
}

void DoubtfulRegisters::noteUses() {
  for (size_t i = 0; i < uses_.size(); ++i) {
    code_.firstDoubtful.push_back(uint32_t(code_.doubtfulUses.size()));
    const auto note = [&](int32_t r, Kind kind) {
      if (isDoubtful(r)) code_.doubtfulUses.push_back({uint32_t(index_[size_t(r)]), kind});
    };
    eachRead(i, note);
    for (const int32_t r : uses_[i].writes) note(r, roles_[i] == Role::Computes ? Kind::Result : Kind::Write);
  }
  code_.firstDoubtful.push_back(uint32_t(code_.doubtfulUses.size()));
}

} // namespace

void FunctionDecoder::noteDoubtful() {
  code_.firstNumber = firstNumber_;
  code_.registerOffset = offset_;
  code_.doubtful.clear();
  code_.firstDoubtful.clear();
  code_.doubtfulUses.clear();
  DoubtfulRegisters registers(code_, uses_, mayBeUnwritten_);
  registers.find();
  if (!code_.doubtful.empty()) registers.noteUses();
}

} // namespace tiletwin::sim
