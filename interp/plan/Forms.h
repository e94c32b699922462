// interp/plan/Forms.h -- in which form a plan has each value, and the proofs that symbolic forms are exact.
//
// Here:      Rep, the form of one value; Forms, which keeps them, makes them and checks their ranges.
// Not here:  elements of values, for which groups are needed (Groups.h); who chooses a form (the files of operations).
//
// A value is in one of these forms (struct Rep):
//   Scalar    an 8-byte cell or a constant
//   Affine    base + sum strides[d] * i_d, all parts uniform; a tile whose elements are all equal is Affine with strides 0,
//             for floats too
//   Box       an i1 tile that is true exactly inside lo[d] <= i_d < hi[d]
//   Tile      elements in the arena or behind a load's view descriptor, any strides; or still pending in an open group
//   Rows      like Affine, plus an entry of a table that depends on one dimension: rows picked by number, wrapped indices
//   Descriptor  a tensor descriptor: base, strides (in elements), hi (extents), lo[0] (1: elements outside read as NaN),
//             lo[1] (not 0: loads round f32 to tf32)
//
// A check that a symbolic form is exact sends the program to the fallback plan, from its start. That can only be done while the
// program has written nothing: writeMayPrecede() tells, and then values that need such a check are computed element by
// element, but for pointers and masks of accesses (they trap instead, as wrapped offsets do not lead into the buffer).
// Invariant: a Rep's registers are defined before the current instruction; a pending Rep belongs to an open group.
#pragma once
#include "interp/plan/Emitter.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace tiletwin::interp {

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
  /// One value for all elements.
  bool isUniform() const { return kind == Scalar || isSplat(); }
  bool isSplat() const {
    if (kind != Affine) return false;
    for (const Uniform& s : strides)
      if (!s.is(0)) return false;
    return true;
  }
};

class Forms : public Emitter {
public:
  using Emitter::Emitter;
  Rep& rep(mlir::Value v) { return reps_[v]; }
  bool has(mlir::Value v) const { return reps_.count(v); }
  void set(mlir::Value v, Rep r) { reps_[v] = std::move(r); }
  /// The same as the last step of planning an operation.
  mlir::LogicalResult bind(mlir::Value v, Rep r) {
    set(v, std::move(r));
    return mlir::success();
  }
  /// The value's elements lie densely in the register.
  mlir::LogicalResult bindTile(mlir::Value v, Reg reg) {
    return bind(v, tileRep(dtypeOf(v.getType()), shapeOf(v.getType()), reg));
  }
  Uniform uniformOf(mlir::Value v) { return rep(v).base; } ///< scalars
  /// The form of every value of a function, one line each.
  std::string formsText(mlir::Operation* func);

  // ---- types ----
  DType dtypeOf(mlir::Type t) const; ///< of the elements
  static Shape shapeOf(mlir::Type t);
  static int widthOf(DType t) { return t == DType::I1 ? 1 : int(sizeOf(t)) * 8; }
  /// The integer type of elements of this size.
  static DType bitsOf(DType t) {
    constexpr DType kBits[] = {DType::I8, DType::I16, DType::I32, DType::I64};
    return kBits[std::countr_zero(sizeOf(t))];
  }

  // ---- making forms ----
  Rep scalarRep(DType type, Uniform u, int root = -1) const;
  Rep splatRep(DType type, llvm::ArrayRef<int64_t> shape, Uniform u, int root = -1) const;
  /// The form of a scalar or descriptor of a type, its cells not chosen yet.
  Rep formOfType(mlir::Type t) const;
  Rep tileRep(DType type, llvm::ArrayRef<int64_t> shape, Reg reg) const;
  TileRef denseRef(Reg reg, DType type, llvm::ArrayRef<int64_t> shape) const;
  static bool isDense(const TileRef& ref, DType type, llvm::ArrayRef<int64_t> shape);

  // ---- proofs (RangeChecks.cpp) ----
  /// Emits the run-time proof that an integer tile does not wrap around in its type.
  void checkRange(const Rep& r);
  /// The same for given limits.
  void checkRange(const Rep& r, int64_t min, int64_t max);
  /// The same for an integer in Rows form.
  void checkRows(const Rep& r);
  /// The proof of offsets that an access owes, as its operand; null if it owes none.
  const OffsetGuard* readGuard(BuildInstruction& in, const Rep* offsets);
  /// True if checkRange() would emit a check that may run after the program has written memory.
  bool checkIsLate(const Rep& r);
  bool checkIsLate(const Rep& r, int64_t min, int64_t max);

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

  llvm::DenseMap<mlir::Value, Rep> reps_;
};

} // namespace tiletwin::interp
