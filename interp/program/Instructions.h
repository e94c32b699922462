// interp/program/Instructions.h -- what instructions operate on: the operand structs, and the functions that run them.
//
// Here:      operand layouts that plan/ fills once and run/ reads for every program; the functions by name, which run/ defines.
// Not here:  MLIR; operands of memory accesses (MemoryInstructions.h); arithmetic on elements (tile/); how operands are
//            chosen (plan/); what the functions share (run/Execute.h).
#pragma once
#include "interp/program/MemoryInstructions.h"
#include <cstdint>
#include <type_traits>
#include <vector>

namespace tiletwin::interp {

/// Scalar operation through a strip function with n = 1, then made canonical.
struct ScalarStripOp {
  TwStripFn fn = nullptr;
  int sources = 0;
  Off src[3], dst;
  DType type = DType::I32; ///< of the result
};

// ---- elementwise groups ----

/// Where one value of a group lives while its strips run.
struct GroupStream {
  enum Kind : uint8_t { Operand, Cell, Strip, Tile, BodyArgument } kind = Operand;
  int32_t elementBytes = 0;
  TileOperand operand;            ///< Operand, Tile (dense)
  Off cell;                       ///< Cell; Strip: the strip buffer
  std::vector<DimStride> strides; ///< collapsed to the group's dimensions
  int32_t argument = -1;          ///< BodyArgument
  bool unused = false;
  bool readAfterSink = false; ///< Operand that is a view: read by a node behind the first sink
};

struct GroupNode {
  /// Inside: fn on the part of a strip that is inside a box, elements of the last source elsewhere.
  enum Kind : uint8_t { Strip, Iota, Box, Inside, Sink } kind = Strip;
  int8_t sources = 0;
  int32_t src[3] = {-1, -1, -1}; ///< streams
  int32_t dst = -1;              ///< stream
  TwStripFn fn = nullptr;
  TwStripFn copy = nullptr; ///< Inside
  // Iota
  TwIotaFn iota = nullptr;
  UniformOperand base;
  std::vector<UniformOperand> strides; ///< Iota: per dimension of the group (collapsed); Sink: bytes
  std::vector<UniformOperand> lo, hi;  ///< per dimension; Box, Inside and masked Sink
  // Sink
  Access access;           ///< in the tile's own dimensions
  int32_t directFrom = -1; ///< node that may write user memory itself
  bool readBack = false;   ///< other nodes read what is stored: past the cache, it would come back from memory
  uint32_t locationIndex = 0;
  const void* location = nullptr; ///< at plan time only
};

/// A node as the strip loop sees it.
struct GroupStep {
  TwStripFn fn;
  int32_t src[3];
  int32_t dst;    ///< stream; Sink: its number among the sinks
  uint32_t splat; ///< bit i: src[i] is one element for the whole row
  uint16_t node;  ///< below kMostNodes
  uint8_t kind;
};

/// Elementwise operations over one shape, run strip by strip.
struct GroupOp {
  /// The strip loop keeps arrays over nodes on the stack. Only the region of a reduction or scan can come near it: groups
  /// of tiles are flushed long before.
  static constexpr size_t kMostNodes = 16384;
  std::vector<int64_t> shape;         ///< collapsed at plan time, at least one dimension
  std::vector<std::vector<int>> dims; ///< original dimensions of each collapsed one, size 1 ones left out
  std::vector<GroupStream> streams;
  std::vector<GroupNode> nodes;
  std::vector<int32_t> sinks; ///< nodes
  int64_t stripElements = 1024;
  bool regionIsBox = false;     ///< every output is a sink under one common box: iterate over the box only
  TwStridedCopyFn copy[4] = {}; ///< by log2 of element size
  // The same once more, compact: what does not change from run to run. Filled by seal(), after offsets are known.
  struct Place {
    uint32_t offset;
    uint8_t kind;
    bool view;
    int64_t add;
  };
  std::vector<Place> places;   ///< per stream
  std::vector<DimStride> flat; ///< per stream and dimension
  std::vector<uint8_t> splat;  ///< per stream
  std::vector<int32_t> moving; ///< streams whose address may depend on the row or the strip
  std::vector<GroupStep> steps;
  bool hasView = false, hasIota = false, hasBox = false, mayCopy = false;
  /// One dimension, at most one store, which a node writes by itself, and no numbers of elements: see ExecuteStraightGroup.cpp.
  bool straight = false;
  /// Views of at least this many bytes in a row are fetched ahead, so that memory works while a program computes. Groups of
  /// one operation and its store do nothing but wait for memory: there it was measured to cost.
  static constexpr int64_t kAheadRowBytes = 4096;
  static constexpr size_t kStraightStreams = 32;
  /// A stream of a straight group that moves from strip to strip.
  struct Run {
    int32_t stream;
    int32_t bytes;
  };
  std::vector<Run> runs;
  void seal();

  /// Operand streams that may need a contiguous copy per strip: index of their strip buffer, or -1.
  std::vector<int32_t> strided;
  std::vector<Off> stridedBuffers;
};

/// The body of a reduce or scan: a group over contiguous runs, arguments in, results out.
struct BodyOp {
  GroupOp group;
  std::vector<int32_t> resultStreams;
  std::vector<int32_t> resultBytes;
};

// ---- other tile operations ----

struct ReduceOp {
  int64_t outer = 1, axis = 1, inner = 1;
  TwReduceFn fn = nullptr;
  TwArgReduceFn argFn = nullptr;
  TwArgTie argTie = kTwLowestIndex;
  TwScanFn scanFn = nullptr;
  TileOperand src; ///< collapsed to [outer][axis*inner] where possible: strides[0] is the row stride
  bool hasIndex = false;
  Off srcIndex;
  Off dst, dstIndex;
  // generic
  BodyOp* body = nullptr;
  std::vector<Off> sources; ///< dense, may be overwritten
  std::vector<Off> results;
  std::vector<Off> scratch; ///< three per operand, as large as the operand
  std::vector<int32_t> bytes;
  bool reverse = false;
};

/// A sum along the last axis whose numbers are not stored.
struct SumOp {
  int64_t outer = 1, axis = 1;
  TwSumFn fn = nullptr;
  TwSquaresFn squares = nullptr; ///< in place of fn, of one row: a - minus inside of [lo, hi), zeros elsewhere
  Off minus;                     ///< cell
  UniformOperand lo, hi;
  TileOperand a, b;               ///< strides: of rows, of elements
  int32_t aBytes = 0, bBytes = 0; ///< of an element; bBytes 0: there is no b
  Off dst;
};

struct SortOp { ///< compare-and-swap steps on a dense tile, in place
  TwSortFn fn = nullptr;
  std::vector<TwSortStep> steps;
  int64_t elements = 0;
  Off tile;
};

struct DotOp {
  int64_t batch = 1, m = 0, n = 0, k = 0;
  TwDotFn fn = nullptr;
  TileOperand a, b; ///< rank 2 or 3
  int32_t aBytes = 0, bBytes = 0, cBytes = 0;
  bool hasC = false;
  Off c, d, scratch; ///< c and d dense
  /// As in TwDot; with any of them `state` is a cell.
  bool holds = false, keepsA = false, keepsB = false;
  Off state;
  int32_t batches = 0; ///< 0, or `band` is a PackedBand of so many batches, each of so many bytes of `packed`
  int64_t batchBytes = 0;
  Off band, packed;
};

/// tt.dot_scaled: operands widened into `expanded`, then multiplied.
struct ScaledDotOp {
  struct Side {
    TwScaledOperandFn expand = nullptr; ///< null: the dot reads the operand as it is
    TileOperand x, scale;               ///< rank 2 or 3
    int64_t outer = 0;                  ///< m or n
    int64_t group = 0;
    int32_t storedBytes = 0; ///< of an element of x
    TwScaleKind kind = TwScaleKind::None;
    bool outerPacked = false;
    Off expanded;
  };
  int64_t batch = 1, k = 0;
  TwDotFn fn = nullptr;
  Side a, b;
  bool hasC = false;
  Off c, d, scratch; ///< c and d dense, f32
};

struct CopyOp { ///< dst[i] = src[i], any strides
  std::vector<int64_t> shape;
  TileOperand src, dst;
  int32_t elementBytes = 0;
};

struct TileGatherOp { ///< tt.gather: index and dst are [outer][count][inner], src [outer][length][inner], all dense
  TwTileGatherFn fn = nullptr;
  int64_t outer = 1, length = 1, count = 1, inner = 1;
  std::vector<int64_t> shape; ///< of dst
  int axis = 0;
  int32_t elementBytes = 0, indexBytes = 0;
  Off src, index, dst;
};

struct HistogramOp {
  int64_t elements = 0, bins = 0;
  int32_t bytes = 4;
  Off src, mask, dst;
  bool hasMask = false;
};

struct AssertOp {
  std::string message;
  int64_t elements = 1;
  std::vector<int64_t> shape;
  Off condition;
};

struct PrintOp {
  struct Item {
    DType type;
    bool isSigned;
    bool isTile;
    Off at;
    std::vector<int64_t> shape;
  };
  std::string prefix;
  bool hex = false;
  std::vector<Item> items;
};

struct ProbeCallOp { ///< print_if, breakpoint_if
  ProbeSite site;
  std::vector<Off> values; ///< dense; scalars are cells
};

struct ResultOp { ///< hands a value to the launcher
  int32_t index = 0;
  int64_t bytes = 0;
  Off at;
};

/// base + sum strides[d] * i_d over shape stays inside [min, max]; else the program restarts on the fallback plan.
struct RangeCheckOp {
  UniformOperand base;
  std::vector<UniformOperand> strides;
  std::vector<int64_t> extents; ///< shape[d] - 1
  int64_t min = 0, max = 0;
};

/// Interval of i with `base + i*stride pred bound`, 0 <= i < size.
enum class BoxPredicate : uint8_t { Lt, Le, Gt, Ge, Eq };
struct BoxBoundOp {
  UniformOperand base, stride, bound;
  int64_t size = 0;
  BoxPredicate predicate = BoxPredicate::Lt;
  Off lo, hi;
  // execExactBoxBound only: `stride` is left - right, of values that wrap around in `width` bits.
  int64_t leftStride = 0, rightStride = 0;
  int32_t width = 64;
};

/// Quotient of base + i*stride by divisor, the same for all i of the tile; else the program restarts on the fallback plan.
struct UniformQuotientOp {
  UniformOperand base, divisor;
  std::vector<UniformOperand> strides;
  std::vector<int64_t> extents;
  Off dst;
};

// ---- scalar operations on canonical cells: integers sign-extended to 64 bits, i1 is 0 or 1 ----
// clang-format off
#define TILETWIN_SCALAR_OPS(X)                                                                                          \
  X(Add) X(Sub) X(Mul) X(DivS) X(DivU) X(RemS) X(RemU)                                                                    \
  X(And) X(Or) X(Xor) X(Shl) X(ShrS) X(ShrU) X(MinS) X(MaxS) X(MinU) X(MaxU)                                              \
  X(Eq) X(Ne) X(Slt) X(Sle) X(Sgt) X(Sge) X(Ult) X(Ule) X(Ugt) X(Uge)                                                     \
  X(Select) X(Move) X(SignExtend) X(ZeroExtend) X(SatSub) X(SatAdd)
// clang-format on
enum class ScalarOp : uint8_t {
#define X(name) name,
  TILETWIN_SCALAR_OPS(X)
#undef X
};
const char* nameOf(ScalarOp op);
/// r[0] = r[1] op r[2] (op r[3]) in `width` bits (8, 16, 32 or 64; 1 for And, Or, Xor, Eq, Ne, Select, Move and extensions).
ExecFn scalarFn(ScalarOp op, int width);
/// The same, at plan time. `c` is used by Select.
int64_t foldScalar(ScalarOp op, int width, int64_t a, int64_t b, int64_t c);

/// r[0] = r[1] op r[2] (Sqrt: of r[1]) of cells that hold f32, rounded as IEEE says. Null: there is no instruction for it.
ExecFn scalarFloatFn(TwElementwise op);

// ---- instructions ----
using InstructionRef = const Instruction*;
using Exec = std::remove_pointer_t<ExecFn>;
Exec execScalarStrip;  // data: ScalarStripOp
Exec execProgramId;    // r[0] = program[imm]
Exec execNumPrograms;  // r[0] = grid[imm]
Exec execLoadArgument; // r[0] = arguments[imm], sign-extended from width r[1]; of width 1: 0 or 1
Exec execNothing;
Exec execDebugCopy;   // imm bytes from r[1] to r[0]
Exec execJump;        // pc += imm
Exec execBackEdge;    // pc += imm, with polling
Exec execBranchIfNot; // pc += imm unless r[0]
Exec execForEnter;    // r[0] iv = r[1] lower; pc += imm unless iv < r[2]; unsigned if r[3]
Exec execForStep;     // the loop is entered: its step r[0] must be positive (r[1]: unsigned)
Exec execForNext;     // iv += r[1]; pc += imm if iv < r[2], with polling; r[3]: width * 2 + unsigned
Exec execReturn;
Exec execRangeCheck; // data: RangeCheckOp
Exec execBoxBound;   // data: BoxBoundOp
/// The same where values may wrap around: their interval if they have one, else the program restarts on the fallback plan.
Exec execExactBoxBound;
Exec execUniformQuotient;                                      // data: UniformQuotientOp
Exec execScalarLoad, execScalarStore;                          // data: ScalarAccessOp
Exec execLoad;                                                 // data: LoadOp
Exec execRowsLoad;                                             // data: LoadOp with a table
Exec execRowsCheck;                                            // data: RowsCheckOp
Exec execGather;                                               // data: GatherOp
Exec execDescriptorCheck;                                      // data: DescriptorCheckOp
Exec execDescriptorRows;                                       // data: DescriptorRowsOp
Exec execRoundLoaded;                                          // data: RoundLoadedOp
Exec execDescriptorReduce;                                     // data: DescriptorReduceOp
Exec execGroup;                                                // data: GroupOp
Exec execReduce, execScan, execGenericReduce, execGenericScan; // data: ReduceOp
Exec execSum, execSumOfSquares;                                // data: SumOp
Exec execSort;                                                 // data: SortOp
Exec execDot, execDotEnd;                                      // data: DotOp
Exec execScaledDot;                                            // data: ScaledDotOp
Exec execCopy;                                                 // data: CopyOp
Exec execTileGather;                                           // data: TileGatherOp
Exec execHistogram;                                            // data: HistogramOp
Exec execAssert;                                               // data: AssertOp
Exec execPrint;                                                // data: PrintOp
Exec execProbeCondition;                                       // r[0] = any of the imm bytes at r[1] is 1
Exec execProbeCall;                                            // data: ProbeCallOp
Exec execResult;                                               // data: ResultOp
Exec execLoadTileArgument;                                     // memcpy(r[0], *(void**)r[1], imm)

} // namespace tiletwin::interp
