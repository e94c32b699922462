// interp/plan/Emitter.h -- instructions on their way to a plan: where they go, what they read and write, scalar arithmetic.
//
// Here:      Emitter: scopes, labels, source positions, pure scalar instructions, the layout of the final code.
// Not here:  where registers are (Registers.h), the forms of values (Forms.h), elementwise groups (Groups.h).
//
// Scopes: code is collected per nesting level: 0 is the launch prologue, 1 the function (or its current block), one more for
// each loop or branch around the current operation. A pure scalar instruction goes to the deepest level that defines one of
// its operands, which hoists it out of loops. Everything else goes to the current level.
// Invariant: an instruction reads a register only behind the one that writes it, in the order in which programs run them.
#pragma once
#include "interp/plan/DebugPlan.h"
#include "interp/plan/Registers.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringRef.h"
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace tiletwin::interp {

/// An instruction before registers have places.
struct BuildInstruction {
  Instruction in;
  struct Fix {
    uint32_t* field;
    Reg reg;
  };
  llvm::SmallVector<Fix, 4> fixes;
  llvm::SmallVector<Reg, 2> keep; ///< registers alive here though no field names them
  int label = -1;                 ///< this is a label, not an instruction
  int target = -1;                ///< in.imm becomes the distance to this label
  mlir::Location location;
  std::string text;
  DebugStep debug; ///< of plans for a native debugger
  explicit BuildInstruction(mlir::Location l) : location(l) {}
};
using Code = std::vector<std::unique_ptr<BuildInstruction>>;

class Emitter : public Registers {
public:
  Emitter(const PlanOptions& options, mlir::Location location);
  const PlanOptions& options() const { return options_; }
  const TwTileOps& tiles() const { return tiles_; }
  Plan& plan() { return *plan_; }
  /// Null unless the plan is for a native debugger.
  DebugPlan* debug() { return debug_.get(); }

  // ---- registers of the current level, or of a given one ----
  Reg newReg(uint64_t bytes, int level = -1) { return Registers::newReg(bytes, level < 0 ? this->level() : level); }
  Reg newTile(DType type, llvm::ArrayRef<int64_t> shape) { return newReg(uint64_t(elementsOf(shape)) * sizeOf(type)); }

  // ---- scalar arithmetic: folded, remembered, hoisted (Uniforms.cpp) ----
  Uniform scalar(ScalarOp op, int width, Uniform a, Uniform b = Uniform::of(0), Uniform c = Uniform::of(0));
  Uniform add(int width, Uniform a, Uniform b) { return scalar(ScalarOp::Add, width, a, b); }
  Uniform sub(int width, Uniform a, Uniform b) { return scalar(ScalarOp::Sub, width, a, b); }
  Uniform mul(int width, Uniform a, Uniform b) { return scalar(ScalarOp::Mul, width, a, b); }
  /// A pure instruction with operands `srcs` and one result cell; hoisted and remembered.
  Uniform pureScalar(ExecFn fn, llvm::StringRef name, llvm::ArrayRef<Uniform> srcs, int64_t imm = 0);
  /// A scalar computed by a strip function.
  Uniform stripScalar(TwStripFn fn, llvm::StringRef name, llvm::ArrayRef<Uniform> srcs, DType resultType);
  void move(Reg dst, const Uniform& src);
  /// The level where an instruction over these operands may run, and whether an equal one is there already (under `key`).
  int placeFor(llvm::ArrayRef<Uniform> srcs) const;
  Reg remembered(int level, const std::string& key) const;
  void remember(int level, const std::string& key, Reg reg) { scopes_[level].memo[key] = reg; }
  static std::string keyOf(llvm::StringRef name, llvm::ArrayRef<Uniform> srcs, int64_t imm = 0);

  // ---- instructions ----
  BuildInstruction& emit(ExecFn fn, llvm::StringRef text) { return emitAt(level(), fn, text); }
  BuildInstruction& emitAt(int level, ExecFn fn, llvm::StringRef text);
  template <class T> T& newData(BuildInstruction& in) {
    T& data = allocate<T>();
    in.in.data = &data;
    return data;
  }
  template <class T> T& allocate() {
    T* data = new T();
    plan_->storage.emplace_back(data, [](void* p) { delete static_cast<T*>(p); });
    return *data;
  }
  void read(BuildInstruction& in, uint32_t& field, Reg reg);
  void write(BuildInstruction& in, uint32_t& field, Reg reg);
  void read(BuildInstruction& in, Off& field, Reg reg) { read(in, field.v, reg); }
  void write(BuildInstruction& in, Off& field, Reg reg) { write(in, field.v, reg); }
  void read(BuildInstruction& in, UniformOperand& field, const Uniform& u);
  void read(BuildInstruction& in, std::vector<UniformOperand>& fields, llvm::ArrayRef<Uniform> from);
  /// False: there is no such operand.
  bool readIfAny(BuildInstruction& in, Off& field, Reg reg);
  void read(BuildInstruction& in, TileOperand& field, const TileRef& ref);
  /// Where a block lies: `lo` and `hi` are empty if no lane is masked off.
  void read(BuildInstruction& in, Access& access, const Uniform& base, llvm::ArrayRef<Uniform> strides,
            llvm::ArrayRef<Uniform> lo, llvm::ArrayRef<Uniform> hi);
  int newLabel() { return labels_++; }
  void placeLabel(int label);
  BuildInstruction& emitJump(ExecFn fn, int label, llvm::StringRef text);

  // ---- scopes ----
  int level() const { return int(scopes_.size()) - 1; }
  /// Begins code of its own. That of a loop runs again and again; an earlier round of it may have written if it `writes`.
  void pushScope(bool isLoop, bool writes);
  Code popScope();
  void append(Code code);
  /// The current code is made of blocks that branch back.
  void repeatScope(bool writes);
  /// A block begins that may be reached in several ways.
  void forgetScalars() { scopes_.back().memo.clear(); }
  /// A number for the outermost loop around the current operation; 0: there is none.
  uint32_t outermostLoop() const { return scopes_.back().loop; }
  /// Undoes everything emitted since: used when a loop's assumed forms turn out wrong.
  struct Snapshot {
    std::vector<size_t> code;
    std::vector<std::map<std::string, Reg>> memo;
    std::vector<bool> wrote;
  };
  Snapshot snapshot() const;
  void rollback(const Snapshot& s);

  // ---- memory ----
  /// An instruction of the current code writes memory through an argument; -1: through a pointer from elsewhere.
  void noteWrite(int root);
  /// True if the program may have written memory when an instruction emitted now at `place` runs.
  bool writeMayPrecede(int place) const;
  void needFallback() { fallback_ = true; }
  bool wantsFallback() const { return fallback_; }

  // ---- source positions ----
  mlir::Location location() const { return location_; }
  void setLocation(mlir::Location l) { location_ = l; }
  /// After an operation's region: what is emitted now belongs to the operation again.
  void comeBackTo(mlir::Operation* op);
  /// A position in Plan::locations.
  uint32_t placeOf(mlir::Location l);
  uint32_t placeOf(mlir::Operation* op) { return placeOf(op->getLoc()); }
  const SourceLocation& placeAt(mlir::Location l) { return plan_->locations[placeOf(l)]; }
  const SourceLocation& sourceOf(mlir::Operation* op) { return placeAt(op->getLoc()); }

protected:
  DebugPlan& startDebug();
  /// Lays the code out and gives registers their places. False: the frame is too large for offsets of 32 bits.
  bool finish();
  std::unique_ptr<Plan> takePlan() { return std::move(plan_); }

private:
  struct Scope {
    Code code;
    std::map<std::string, Reg> memo; ///< pure scalar instructions and range checks already here
    bool wrote = false;              ///< an instruction so far in this code may write memory
    bool repeatsWrites = false; ///< a loop's body with such an instruction anywhere: an earlier round may have written
    uint32_t loop = 0;          ///< number of the outermost loop that the code belongs to; 0: none
  };

  PlanOptions options_;
  const TwTileOps& tiles_;
  std::unique_ptr<Plan> plan_;
  std::unique_ptr<DebugPlan> debug_;
  std::vector<Scope> scopes_;
  std::map<std::tuple<std::string, int, unsigned>, uint32_t> locationIndices_;
  mlir::Location location_;
  int labels_ = 0;
  uint32_t loops_ = 0; ///< numbers of outermost loops
  bool fallback_ = false;
};

/// Emits dst[...] = src[...] over `shape`, any strides; the two do not overlap.
void emitCopy(Emitter& plan, llvm::ArrayRef<int64_t> shape, DType type, const TileRef& src, const TileRef& dst);

} // namespace tiletwin::interp
