// interp/plan/Groups.h -- elementwise operations of one shape gather in a group and run strip by strip.
//
// Here:      OpenGroup, a group that is not an instruction yet; Groups: joining and flushing them, and elements of values, which
//            come out of groups.
// Not here:  which operation joins (ElementwiseOps, MemoryOps), what the strip loop reads (program/SealGroup.cpp).
// Invariant: elementwise operations wait in open groups (one per shape); groups never read each other's pending values; all
//            groups are flushed before control flow and at region ends, groups with views before memory is written.
#pragma once
#include "interp/plan/Forms.h"
#include "mlir/IR/ValueRange.h"

namespace tiletwin::interp {

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

class Groups : public Forms {
public:
  using Forms::Forms;

  // ---- joining a group (Groups.cpp) ----
  int groupFor(llvm::ArrayRef<int64_t> shape);
  /// The group that a store of the value joins: the value's own if it is pending and not full.
  int groupForStoring(mlir::Value value);
  int newGroup(llvm::ArrayRef<int64_t> shape, bool isPrivate);
  const OpenGroup& group(int g) const { return *groups_[g]; }
  int streamFor(int group, mlir::Value v); ///< a stream that yields v's elements
  int operandStream(int group, const TileRef& ref, DType type);
  int iotaStream(int group, const Uniform& base, llvm::ArrayRef<Uniform> strides, DType type);
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

  /// One use of a pending value is computed elsewhere, from what the value is computed from.
  void consume(mlir::Value v) { ++groups_[rep(v).group]->consumed[v]; }
  /// A pending value is read outside its group, even if all that uses it is inside.
  void keep(mlir::Value v) {
    if (rep(v).pending()) groups_[rep(v).group]->consumed.erase(v);
  }

  // ---- groups become instructions (FlushGroup.cpp, JoinNodes.cpp) ----
  void flush(int group);
  void flushAll();
  /// Before memory is written outside groups, or by `except`.
  void flushViews(int except = -1);
  void flushSinks();
  /// Groups with an operand of which `isRead` holds.
  void flushReaders(llvm::function_ref<bool(const TileRef&)> isRead);
  /// Undoes what was emitted since, and what waits in groups.
  void rollback(const Snapshot& s);

  // ---- regions of reductions and scans, which are groups over scalars ----
  /// The group of the region that is being planned; -1: none. Scalar operations join it.
  int bodyGroup() const { return bodyGroup_; }
  void openBody(mlir::ValueRange arguments);
  /// The region's end: it yields `results`. Null if it takes too many steps.
  BodyOp* closeBody(mlir::ValueRange results);
  /// Registers the cells and strip buffers of the body closed last with the instruction that runs it.
  void bindBody(BodyOp& body, BuildInstruction& in);

  // ---- elements of values (Elements.cpp) ----
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
  void copyDense(DType type, llvm::ArrayRef<int64_t> shape, Reg from, Reg to);

  // ---- rows (Rows.cpp) ----
  /// a + b (a - b if `subtract`) of equal shapes as Rows, where one varies along one dimension and the other is affine;
  /// integers of `width` bits, or bytes: `scale` multiplies b. False: they have no such form.
  bool addRows(const Rep& a, const Rep& b, bool subtract, int64_t scale, Rep& out);
  /// Gives a value in Rows form elements of its own.
  void materialiseRows(mlir::Value v);

protected:
  /// When offsets are known: what the strip loop reads.
  void sealAll();

private:
  /// A stream of `group` that yields the elements of a value in Rows form.
  int rowsStream(int group, const Rep& r);
  /// Elements of a stream, moved to a strip of their own.
  int copyStrip(int group, int stream, DType type);
  void flatten(OpenGroup& g);
  /// In a group that only stores, all of it under one box, a choice under that box is what it chooses inside: no more is computed.
  void chooseInside(llvm::ArrayRef<Reg> tiles, OpenGroup& g);
  void joinNodes(llvm::ArrayRef<Reg> tiles, OpenGroup& g);
  void bindGroup(OpenGroup& g, GroupOp& data, BuildInstruction& in, llvm::ArrayRef<Reg> tiles);

  std::vector<std::unique_ptr<OpenGroup>> groups_;
  std::vector<GroupOp*> sealLater_; ///< groups whose offsets finish() settles
  int bodyGroup_ = -1;
  OpenGroup* pendingBody_ = nullptr; ///< the body closed last, until bindBody()
};

} // namespace tiletwin::interp
