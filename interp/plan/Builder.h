// interp/plan/Builder.h -- one function on its way to a plan: values' representations, registers, code.
//
// Here:      PlanBuilder (registers, scopes, emission, elementwise groups, representations of values) and its small types.
// Not here:  single operations: they live in ElementwiseOps, ShapeOps, MemoryOps, ReduceOps, DotOps, ControlFlow, DebugOps (.cpp).
//
// A value is in one of these representations (struct Rep):
//   Scalar    an 8-byte cell or a constant
//   Affine    base + sum strides[d] * i_d, all parts uniform; a tile whose elements are all equal is Affine with strides 0,
//             for floats too
//   Box       an i1 tile that is true exactly inside lo[d] <= i_d < hi[d]
//   Tile      elements in the arena or behind a load's view descriptor, any strides; or still pending in an open group
//   Rows      like Affine, plus an entry of a table that depends on one dimension: rows picked by number, wrapped indices
//   Descriptor  a tensor descriptor: base, strides (in elements), hi (extents), lo[0] (1: elements outside read as NaN),
//             lo[1] (not 0: loads round f32 to tf32)
//
// Scopes: code is collected per nesting level: 0 is the launch prologue, 1 the function (or its current block), one more for
// each loop or branch around the current operation. A pure scalar instruction goes to the deepest level that defines one of
// its operands, which hoists it out of loops. Everything else goes to the current level.
// A check that a symbolic form is exact sends the program to the fallback plan, from its start. That can only be done while the
// program has written nothing: writeMayPrecede() tells, and then values that need such a check are computed element by
// element, but for pointers and masks of accesses (they trap instead, as wrapped offsets do not lead into the buffer).
// Invariant: elementwise operations wait in open groups (one per shape); groups never read each other's pending values; all
// groups are flushed before control flow and at region ends, groups with views before memory is written.
#pragma once
#include "interp/plan/DebugPlan.h"
#include "interp/plan/Networks.h"
#include "interp/program/Plan.h"
#include "interp/program/Instructions.h"
#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>

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

struct Rep {
  enum Kind : uint8_t { None, Scalar, Affine, Box, Tile, Rows, Descriptor } kind = None;
  DType type = DType::I32;
  Shape shape;                           ///< empty for scalars
  int root = -1;                         ///< pointers: the argument they come from
  Uniform base;                          ///< Scalar, Affine, Rows, Descriptor
  llvm::SmallVector<Uniform, 4> strides; ///< Affine, Rows, Descriptor
  llvm::SmallVector<Uniform, 4> lo, hi;  ///< Box, Descriptor
  TileRef tile;                          ///< Tile, unless pending
  Reg table = kNoReg;                    ///< Rows: dense i64, one entry an index of dimension tableDim
  int tableDim = -1;
  int group = -1, stream = -1;      ///< Tile, pending
  std::shared_ptr<const Rep> guard; ///< pointers: the offsets of which accesses must prove that they do not wrap
  bool pending() const { return kind == Tile && group >= 0; }
  bool isSplat() const {
    if (kind != Affine) return false;
    for (const Uniform& s : strides)
      if (!s.is(0)) return false;
    return true;
  }
};

/// A tile register's or cell's life, in positions of the final code.
struct RegInfo {
  uint64_t bytes = 8;
  int level = 0;           ///< scope level that defines it
  bool persistent = false; ///< lives in the template area
  bool claimed = false;    ///< a loop or branch hands values over in it
  Reg alias = kNoReg;      ///< shares the place of another register
  int64_t first = -1, last = -1;
  uint32_t offset = 0;
  uint64_t firstWrite = 0, lastRead = 0; ///< emission numbers, for coalescing
};

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

struct Scope {
  std::vector<std::unique_ptr<BuildInstruction>> code;
  std::map<std::string, Reg> memo; ///< pure scalar instructions and range checks already here
  bool wrote = false;              ///< an instruction so far in this code may write memory
  bool repeatsWrites = false; ///< a loop's body with such an instruction anywhere: an earlier round may have written
  uint32_t loop = 0;          ///< number of the outermost loop that the code belongs to; 0: none
};

/// An open elementwise group.
struct OpenGroup {
  bool open = false;
  Shape shape;
  std::unique_ptr<GroupOp> op;
  struct Source {
    TileRef ref;
    Reg cell = kNoReg;
  };
  std::vector<Source> sources;                           ///< per stream
  std::vector<llvm::SmallVector<mlir::Value, 1>> values; ///< per stream: values it stands for
  std::vector<DType> types;                              ///< per stream
  llvm::DenseMap<mlir::Value, unsigned> consumed;        ///< uses inside the group
  llvm::DenseMap<mlir::Value, int> streamOf;
  struct NodeUniforms {
    Uniform base;
    llvm::SmallVector<Uniform, 4> strides, lo, hi; ///< in the tile's own dimensions
    std::shared_ptr<const Rep> guard;              ///< Sink
  };
  std::vector<NodeUniforms> uniforms; ///< per node
  std::map<int, Reg> forced;          ///< streams whose tile has a given place
  std::vector<int> results;           ///< bodies: streams that are returned
  std::string text;
  bool hasSink = false, hasView = false, isPrivate = false;
  mlir::Location location;
  explicit OpenGroup(mlir::Location l) : location(l) {}
};

/// A loop that may wait for other programs; `access` is null for all others.
struct WaitLoop {
  mlir::Operation* access = nullptr;      ///< what it waits on
  llvm::SmallVector<Reg, 8> cells, tiles; ///< what rounds hand on
  Reg state = kNoReg;
  bool exact = true, watchable = true; ///< WaitOp's
};
/// Why a loop may wait.
struct WaitCause {
  mlir::Operation* access = nullptr; ///< the access to memory that its end depends on; null: none
  /// Per value that rounds hand on: false if neither the end nor an access to memory depends on it (it counts attempts).
  /// Empty: all matter.
  llvm::SmallVector<bool, 8> matters;
  bool readsClock = false; ///< inline assembly may see something else each time
};
WaitCause whileWaitsOn(mlir::Operation* loop);
/// The same for loops made of blocks: any access of the function.
WaitCause blocksWaitOn(mlir::Operation* function);

class PlanBuilder {
public:
  PlanBuilder(mlir::Operation* func, const PlanOptions& options);
  /// Null on failure, with diagnostics emitted.
  std::unique_ptr<Plan> build();

  const PlanOptions& options() const { return options_; }
  const TwTileOps& tiles() const { return tiles_; }

  // ---- registers and uniforms (Uniforms.cpp) ----
  Reg newReg(uint64_t bytes, int level = -1);
  Reg newTile(DType type, llvm::ArrayRef<int64_t> shape) { return newReg(uint64_t(elementsOf(shape)) * sizeOf(type)); }
  /// A cell that holds the constant (interned, in the template area).
  Reg constantCell(int64_t bits);
  Reg cell(const Uniform& u) { return u.constant ? constantCell(u.value) : u.reg; }
  int levelOf(const Uniform& u) const;
  int level() const { return int(scopes_.size()) - 1; }
  Uniform scalar(ScalarOp op, int width, Uniform a, Uniform b = Uniform::of(0), Uniform c = Uniform::of(0));
  Uniform add(int width, Uniform a, Uniform b) { return scalar(ScalarOp::Add, width, a, b); }
  Uniform sub(int width, Uniform a, Uniform b) { return scalar(ScalarOp::Sub, width, a, b); }
  Uniform mul(int width, Uniform a, Uniform b) { return scalar(ScalarOp::Mul, width, a, b); }
  /// A pure instruction with operands `srcs` and one result cell; hoisted and remembered.
  Uniform pureScalar(ExecFn fn, llvm::StringRef name, llvm::ArrayRef<Uniform> srcs, int64_t imm = 0);
  /// The level where an instruction over these operands may run, and whether an equal one is there already (under `key`).
  int placeFor(llvm::ArrayRef<Uniform> srcs) const;
  Reg remembered(int level, const std::string& key) const;
  void remember(int level, const std::string& key, Reg reg) { scopes_[level].memo[key] = reg; }
  static std::string keyOf(llvm::StringRef name, llvm::ArrayRef<Uniform> srcs, int64_t imm = 0);
  /// A scalar computed by a strip function.
  Uniform stripScalar(TwStripFn fn, llvm::StringRef name, llvm::ArrayRef<Uniform> srcs, DType resultType);

  // ---- emission (Builder.cpp) ----
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
  void read(BuildInstruction& in, TileOperand& field, const TileRef& ref);
  int newLabel() { return labels_++; }
  void placeLabel(int label);
  BuildInstruction& emitJump(ExecFn fn, int label, llvm::StringRef text);
  void move(Reg dst, const Uniform& src);
  mlir::Location location() const { return location_; }
  /// The operation that is being planned; of one with regions only until those are planned.
  mlir::Operation* planned() const { return planned_; }
  void setLocation(mlir::Location l) { location_ = l; }
  /// After an operation's region: what is emitted now belongs to the operation again.
  void comeBackTo(mlir::Operation* op);
  /// Null unless the plan is for a native debugger.
  DebugPlan* debug() { return debug_.get(); }
  const SourceLocation& placeAt(mlir::Location l) { return plan_->locations[locationIndex(l)]; }

  // ---- values (Values.cpp) ----
  Rep& rep(mlir::Value v);
  std::string formsText(); ///< the form of every value, one line each (Forms.cpp)
  bool has(mlir::Value v) const { return reps_.count(v); }
  void set(mlir::Value v, Rep r);
  DType dtypeOf(mlir::Type t) const; ///< of the elements
  static Shape shapeOf(mlir::Type t);
  static int widthOf(DType t) { return t == DType::I1 ? 1 : int(sizeOf(t)) * 8; }
  Rep scalarRep(DType type, Uniform u, int root = -1) const;
  Rep splatRep(DType type, llvm::ArrayRef<int64_t> shape, Uniform u, int root = -1) const;
  /// The form of a scalar or descriptor of a type, its cells not chosen yet.
  Rep formOfType(mlir::Type t) const;
  Rep tileRep(DType type, llvm::ArrayRef<int64_t> shape, Reg reg) const;
  TileRef denseRef(Reg reg, DType type, llvm::ArrayRef<int64_t> shape) const;
  static bool isDense(const TileRef& ref, DType type, llvm::ArrayRef<int64_t> shape);
  /// The value as a tile with any strides (flushes its group; materialises what is symbolic).
  TileRef tileOf(mlir::Value v);
  /// The value as a dense tile in the arena; copies if it must.
  Reg denseOf(mlir::Value v);
  /// The same for a reader beside the kernel's own (a probe): a value that is still pending is computed a second time, by
  /// a copy of its group, which stays open and as it is. Groups with more than `most` nodes are flushed instead; groups
  /// with sinks must have been.
  Reg denseAside(mlir::Value v, size_t most = SIZE_MAX);
  /// A fresh dense tile holding a copy of the value.
  Reg copyOf(mlir::Value v);
  /// Writes the value densely into `dst`.
  void writeTo(mlir::Value v, Reg dst);
  Uniform uniformOf(mlir::Value v); ///< scalars
  /// Emits the run-time proof that an integer tile does not wrap around in its type.
  void checkRange(const Rep& r);
  /// The same for given limits.
  void checkRange(const Rep& r, int64_t min, int64_t max);
  /// The proof of offsets that an access owes, as its operand; null if it owes none.
  const OffsetGuard* readGuard(BuildInstruction& in, const Rep* offsets);
  /// True if checkRange() would emit a check that may run after the program has written memory.
  bool checkIsLate(const Rep& r);
  bool checkIsLate(const Rep& r, int64_t min, int64_t max);

  // ---- rows (Rows.cpp) ----
  /// a + b (a - b if `subtract`) of equal shapes as Rows, where one varies along one dimension and the other is affine;
  /// integers of `width` bits, or bytes: `scale` multiplies b. False: they have no such form.
  bool addRows(const Rep& a, const Rep& b, bool subtract, int64_t scale, Rep& out);
  /// Emits the proof that an integer in Rows form does not wrap around in its type.
  void checkRows(const Rep& r);
  /// Gives a value in Rows form elements of its own.
  void materialiseRows(mlir::Value v);
  /// A stream of `group` that yields the elements of a value in Rows form.
  int rowsStream(int group, const Rep& r);

  // ---- elementwise groups (Groups.cpp, FlushGroup.cpp) ----
  int groupFor(llvm::ArrayRef<int64_t> shape);
  /// The group that a store of the value joins: the value's own if it is pending and not full.
  int groupForStoring(mlir::Value value);
  int newGroup(llvm::ArrayRef<int64_t> shape, bool isPrivate);
  int streamFor(int group, mlir::Value v); ///< a stream that yields v's elements
  int cellStream(int group, int64_t constant, DType type);
  int addStrip(int group, TwStripFn fn, llvm::ArrayRef<int> srcs, DType type, llvm::StringRef name);
  void bindValue(int group, int stream, mlir::Value v, DType type);
  /// `operation`: a literal, for traps.
  void addSink(int group, int stream, const Rep& pointer, const Rep* mask, DType type,
               const char* operation = "tt.store");
  /// A pending value that a node of its group computes.
  bool isStrip(mlir::Value v) {
    return rep(v).pending() && groups_[rep(v).group]->op->streams[rep(v).stream].kind == GroupStream::Strip;
  }
  void flush(int group);
  void flushAll();
  /// Before memory is written outside groups, or by `except`.
  void flushViews(int except = -1);
  void flushSinks();
  OpenGroup& group(int g) { return *groups_[g]; }

  // ---- families; each returns failure after emitting a diagnostic ----
  mlir::LogicalResult planOp(mlir::Operation* op);
  mlir::LogicalResult planBlock(mlir::Block& block); ///< all but the terminator
  mlir::LogicalResult planFunction();
  /// A region of blocks that branch to each other; `leaveRegion` plans the terminators that leave it.
  mlir::LogicalResult planBlocks(mlir::Region& region,
                                 llvm::function_ref<mlir::LogicalResult(mlir::Operation*)> leaveRegion);
  mlir::LogicalResult unsupported(mlir::Operation* op, llvm::StringRef why = {});
  /// Builds a body (region of tt.reduce or tt.scan); null with a diagnostic if it holds more than elementwise operations.
  BodyOp* planBody(mlir::Operation* op, mlir::Region& region);
  mlir::LogicalResult planBodyBlock(mlir::Operation* op, mlir::Block& block, int group);
  void bindBody(BodyOp& body, BuildInstruction& in);
  void needFallback() { fallback_ = true; }
  bool wantsFallback() const { return fallback_; }
  int bodyGroup_ = -1; ///< while a body is planned: its group; scalar operations join it

  // loops (ControlFlow.cpp)
  /// `loop`: null, or the operation whose body the scope is the code of.
  void pushScope(mlir::Operation* loop = nullptr);
  /// A number for the outermost loop around the current operation; 0: there is none.
  uint32_t outermostLoop() const { return scopes_.back().loop; }
  std::vector<std::unique_ptr<BuildInstruction>> popScope();
  void append(std::vector<std::unique_ptr<BuildInstruction>> code);
  // loops that may wait (WaitLoops.cpp)
  /// Before a loop whose rounds hand on `cells` (they hold the initial values) and `tiles`, of what matters.
  WaitLoop enterWaitLoop(mlir::Operation* loop, const WaitCause& cause, llvm::ArrayRef<Reg> cells,
                         llvm::ArrayRef<Reg> tiles);
  void emitBackEdge(int label, const WaitLoop& wait);
  void leaveWaitLoop(const WaitLoop& wait);
  bool inWaitLoop() const { return !waitAccesses_.empty(); }
  /// The operation's position in Plan::locations.
  uint32_t placeOf(mlir::Operation* op) { return locationIndex(op->getLoc()); }
  const SourceLocation& sourceOf(mlir::Operation* op) { return plan_->locations[placeOf(op)]; }
  void notePrint() { plan_->prints = true; }
  void noteBreak() { plan_->breaks = true; }
  /// An instruction of the current code writes memory.
  void noteWrite() {
    scopes_.back().wrote = true;
    plan_->storesMemory = true;
  }
  /// True if the program may have written memory when an instruction emitted now at `place` runs.
  bool writeMayPrecede(int place) const;
  /// True if `v`, an integer or i1 tile, may become the offset or the mask of an access without leaving its symbolic form.
  bool feedsAccess(mlir::Value v);
  /// True if `v` may be read by something that runs after memory has been written.
  bool readAcrossWrite(mlir::Operation* load, mlir::Value v);
  bool mayWrite(mlir::Operation* op);
  /// Lets `from`, a tile written whole by one instruction, share `into`'s place if their values never coexist.
  /// The same for a branch's result: `from` was written in one arm only.
  bool coalesceArm(Reg from, Reg into, uint64_t armStart);
  void copyDense(DType type, llvm::ArrayRef<int64_t> shape, Reg from, Reg to);
  mlir::LogicalResult planReturn(mlir::Operation* op);
  /// Plans an operation that is part of a sorting network or a reversal (Networks.h); false: it is not.
  bool planNetwork(mlir::Operation* op);
  bool diesIn(mlir::Value source, mlir::Operation* op, mlir::Operation* first);
  /// What an argument that is a tensor descriptor stands for, from its own cell and those of the arguments behind it.
  mlir::LogicalResult planDescriptorArgument(mlir::BlockArgument argument);
  /// How far the forms of what a loop or branch hands over are known to be given up, by operation: an operation planned
  /// once more begins with it.
  std::map<mlir::Operation*, std::vector<uint8_t>> carriedForms_;
  bool coalesce(Reg from, Reg into, uint64_t intoLiveFrom);
  int operandStream(int group, const TileRef& ref, DType type);
  int iotaStream(int group, const Uniform& base, llvm::ArrayRef<Uniform> strides, DType type);
  RegInfo& info(Reg r) { return regs_[r]; }
  uint64_t sequence() const { return sequence_; }
  Reg root(Reg r) const {
    while (regs_[r].alias != kNoReg) r = regs_[r].alias;
    return r;
  }
  /// Undoes everything emitted since: used when a loop's assumed representations turn out wrong.
  struct Snapshot {
    std::vector<size_t> code;
    std::vector<std::map<std::string, Reg>> memo;
    std::vector<bool> wrote;
  };
  Snapshot snapshot() const;
  void rollback(const Snapshot& s);
  /// (emission number, register): the node of that instruction that reads it last (INT_MAX: not element by element), or
  /// the node that writes it. Decides whether the two may share a place.
  std::map<std::pair<uint64_t, Reg>, int> lastReader_, writerNode_;

private:
  /// What checkRange() has to emit for r: nothing (`proven`), or an instruction over `srcs` that may run at `place`.
  struct RangeProof {
    bool proven = false;
    int place = 1;
    llvm::SmallVector<Uniform, 6> srcs;
    std::vector<int64_t> extents;
    std::string name = "RangeCheck";
  };
  RangeProof rangeProof(const Rep& r, int64_t min, int64_t max) const;
  /// Whether an equal check stands at `place` or further out.
  bool isChecked(const RangeProof& proof, int place, int64_t min, int64_t max) const;
  void flatten(OpenGroup& g);
  void bindGroup(OpenGroup& g, GroupOp& data, BuildInstruction& in, llvm::ArrayRef<Reg> tiles);
  void finish();
  void beginDebug();
  void finishDebug();
  void emitPrologueArguments();
  void bindWait(BuildInstruction& in, const WaitLoop& wait, bool isEnter);
  /// After an access that a loop waits on: lets a deadlock's message name its memory.
  void noteWaitAccess(mlir::Operation* access);
  uint32_t locationIndex(mlir::Location l);

  mlir::Operation* func_;
  PlanOptions options_;
  const TwTileOps& tiles_;
  std::unique_ptr<Plan> plan_;
  std::unique_ptr<DebugPlan> debug_;
  std::vector<RegInfo> regs_;
  std::vector<Scope> scopes_;
  llvm::DenseMap<mlir::Value, Rep> reps_;
  std::vector<std::unique_ptr<OpenGroup>> groups_;
  std::map<int64_t, Reg> constantCells_;
  std::vector<std::pair<Reg, std::vector<std::byte>>> constants_;
  std::map<std::tuple<std::string, int, unsigned>, uint32_t> locationIndices_;
  llvm::DenseMap<mlir::Operation*, bool> mayWrite_;
  Networks networks_;
  mlir::Location location_;
  mlir::Operation* planned_ = nullptr;
  int labels_ = 0;
  uint32_t loops_ = 0;                                  ///< numbers of outermost loops
  llvm::SmallVector<mlir::Operation*, 2> waitAccesses_; ///< what the loops around the current operation wait on
  uint64_t sequence_ = 0;
  bool fallback_ = false;
  std::vector<GroupOp*> sealLater_;  ///< groups whose offsets finish() settles
  OpenGroup* pendingBody_ = nullptr; ///< the body planned last, until bindBody()

public:
  /// A persistent tile with these bytes.
  Reg constantTile(std::vector<std::byte> bytes);
  Plan& plan() { return *plan_; }
};

/// The place that findings name: in the language's library, the call of it in the user's file.
SourceLocation placeForUser(mlir::Location location);

/// Emits dst[...] = src[...] over `shape`, any strides; the two do not overlap.
void emitCopy(PlanBuilder& plan, llvm::ArrayRef<int64_t> shape, DType type, const TileRef& src, const TileRef& dst);

/// One row of the table of operations.
using PlanFn = mlir::LogicalResult (*)(PlanBuilder& plan, mlir::Operation* op);
struct PlanRow {
  const char* name;
  PlanFn plan;
};
/// Null if the interpreter cannot run the operation.
const PlanRow* findPlanRow(llvm::StringRef name);

} // namespace tiletwin::interp
