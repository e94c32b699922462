// interp/plan/Registers.h -- where values live: registers, their lives, and which of them share a place in the arena.
//
// Here:      Registers; Uniform and TileRef, which say what is in registers.
// Not here:  instructions (Emitter.h), the forms of values (Forms.h).
// Invariant: two registers share arena bytes only if their lives, stretched over the loops they cross, do not meet.
#pragma once
#include "interp/program/Instructions.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <map>
#include <utility>
#include <vector>

namespace tiletwin::interp {

using Shape = llvm::SmallVector<int64_t, 4>;
using Reg = uint32_t;
inline constexpr Reg kNoReg = ~0u;
inline int64_t elementsOf(llvm::ArrayRef<int64_t> shape) {
  int64_t n = 1;
  for (int64_t s : shape) n *= s;
  return n;
}

/// A uniform 64-bit cell: a constant or a register. Integers are sign-extended (i1: 0 or 1), floats are bit patterns.
struct Uniform {
  bool constant = true;
  int64_t value = 0;
  Reg reg = kNoReg;
  static Uniform of(int64_t v) { return {true, v, kNoReg}; }
  static Uniform in(Reg r) { return {false, 0, r}; }
  bool is(int64_t v) const { return constant && value == v; }
  bool operator==(const Uniform& o) const {
    return constant == o.constant && (constant ? value == o.value : reg == o.reg);
  }
};

/// Where a tile is; the plan-time side of TileOperand.
struct TileRef {
  Reg base = kNoReg; ///< the tile, or the descriptor if `view`
  const LoadOp* view = nullptr;
  Reg viewTile = kNoReg; ///< the view's reserved tile: it lives as long as the descriptor
  int64_t offset = 0;
  llvm::SmallVector<DimStride, 4> strides; ///< bytes
};

/// A tile register's or cell's life, in positions of the final code.
struct RegInfo {
  uint64_t bytes = 8;
  int level = 0;           ///< scope level that defines it
  bool persistent = false; ///< lives in the template area
  bool optional = false;   ///< lives behind the frame, if a launch has room there
  bool claimed = false;    ///< a loop or branch hands values over in it
  bool used = false;       ///< by the final code
  Reg alias = kNoReg;      ///< shares the place of another register
  int64_t first = -1, last = -1;
  uint32_t offset = 0;
  uint64_t firstWrite = 0, lastRead = 0; ///< emission numbers, for coalescing
};

class Registers {
public:
  Reg newReg(uint64_t bytes, int level);
  /// A cell that holds the constant (interned, in the template area).
  Reg constantCell(int64_t bits);
  /// A persistent tile with these bytes.
  Reg constantTile(std::vector<std::byte> bytes);
  Reg cell(const Uniform& u) { return u.constant ? constantCell(u.value) : u.reg; }
  int levelOf(const Uniform& u) const { return u.constant ? 0 : regs_[u.reg].level; }
  const RegInfo& info(Reg r) const { return regs_[r]; }
  Reg root(Reg r) const {
    while (regs_[r].alias != kNoReg) r = regs_[r].alias;
    return r;
  }
  /// It lives in the template area.
  void persist(Reg r) { regs_[r].persistent = true; }
  /// It outlives the program, but a launch may do without it.
  void makeOptional(Reg r) { regs_[r].persistent = regs_[r].optional = true; }
  /// A loop, a branch or a debugger hands values over in it: no other register takes its place.
  void claim(Reg r) { regs_[r].claimed = true; }

  // ---- which registers share a place ----
  /// The number of the instruction emitted last.
  uint64_t sequence() const { return sequence_; }
  /// The node of that instruction that reads a register last (INT_MAX: not element by element), and the node that writes it.
  /// They decide whether the two may share a place.
  void noteReader(Reg r, int node);
  void noteWriter(Reg r, int node) { writerNode_[{sequence_, root(r)}] = node; }
  /// Lets `from`, a tile written whole by one instruction, share `into`'s place if their values never coexist.
  bool coalesce(Reg from, Reg into, uint64_t intoLiveFrom);
  /// The same for a branch's result: `from` was written in one arm only.
  bool coalesceArm(Reg from, Reg into, uint64_t armStart);

protected:
  void nextInstruction() { ++sequence_; }
  void noteRead(Reg r) { regs_[r].lastRead = sequence_; }
  void noteWritten(Reg r) {
    if (!regs_[r].firstWrite) regs_[r].firstWrite = sequence_;
  }

  // ---- when the code is final ----
  /// An instruction of the prologue names the register; what it does not name it only keeps.
  void usedInPrologue(Reg r, bool isNamed);
  /// The instruction at this position of the code needs the register.
  void usedAt(Reg r, int64_t position);
  /// The code in [begin, end] is a loop: what is defined before and used in it lives to its end. Inner loops first.
  void stretchOver(int64_t begin, int64_t end);
  /// Gives all registers their places; sets the plan's sizes and constants.
  void place(Plan& plan);
  uint32_t offsetOf(Reg r) const { return regs_[root(r)].offset; }

private:
  /// `from` takes `into`'s place.
  void share(Reg from, Reg into);

  std::vector<RegInfo> regs_;
  std::map<int64_t, Reg> constantCells_;
  std::vector<std::pair<Reg, std::vector<std::byte>>> constants_;
  uint64_t sequence_ = 0;
  std::map<std::pair<uint64_t, Reg>, int> lastReader_, writerNode_; ///< see noteReader()
};

} // namespace tiletwin::interp
