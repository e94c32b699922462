// codegen/passes/NeededHalves.h -- which halves of its tiles a kernel needs in each of two CTAs that run its programs together.
// Here:      where a kernel's products have their rows, what each store needs, why a kernel cannot be divided.
// Not here:  the operations that compute halves (HalfTiles.h), the kernel that is made (Divide.h).
// Idea: what comes row by row from a product that both CTAs multiply is stored by halves. From there back each value is needed in
//       halves or as a whole, and an operation is run once for each form in which it is needed.
#pragma once
#include "codegen/passes/HalfTiles.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include <string>

namespace tiletwin::codegen {

/// Why a kernel is not divided, as a sentence that goes on after "since".
struct Refusal {
  mlir::Operation* where;
  std::string why;
};

/// Who runs an operation that has effects.
struct Runner {
  enum class Who : uint8_t {
    Both,   ///< each CTA, with whole operands
    First,  ///< the first CTA, with whole operands
    Halves, ///< each CTA, with its halves
  } who = Who::Both;
  Half along = kWhole;
  bool meets = false; ///< the CTAs meet in front of it
};

class NeededHalves {
public:
  explicit NeededHalves(tt::FuncOp kernel) : kernel_(kernel) {}

  /// None: the kernel can be divided, and the rest is known.
  std::optional<Refusal> find();

  /// The forms in which a value is needed; a tile as a whole comes first, since a half that its operation cannot give is taken of it.
  llvm::ArrayRef<Half> of(mlir::Value value) const;
  bool isNeeded(mlir::Value value, Half half) const { return llvm::is_contained(of(value), half); }
  /// Of an operation with effects.
  Runner runnerOf(mlir::Operation* op) const { return runners_.lookup(op); }
  /// The dimension along which blocks of a descriptor are halves.
  Half halfOfBlocks(mlir::Value descriptor) const;
  const llvm::MapVector<mlir::Value, Half>& descriptors() const { return descriptors_; }

private:
  void findRows();
  Half rowsOf(mlir::Operation* op) const;
  Half rowsOf(mlir::Value value) const;
  bool setRows(mlir::Value value, Half along);
  bool spreadRows(mlir::Operation* op);
  std::optional<Refusal> findRoots();
  std::optional<Refusal> addRoot(mlir::Operation* op);
  std::optional<Refusal> orderWrites();
  std::optional<Refusal> run(mlir::Operation* op, Half along, mlir::Value descriptor = {});
  std::optional<Refusal> add(mlir::Value value, Half half, mlir::Operation* asker);
  std::optional<Refusal> addSources(mlir::Value value, Half half);
  std::optional<Refusal> addSources(mlir::OpResult result, Half half);
  std::optional<Refusal> setBlocks(mlir::Value descriptor, Half along, mlir::Operation* asker);
  void need(mlir::Value value, Half half, mlir::Operation* asker);

  struct Wanted {
    mlir::Value value;
    Half half;
    mlir::Operation* asker;
  };
  tt::FuncOp kernel_;
  llvm::DenseMap<mlir::Value, Half> rows_; ///< dimensions that are rows of a product that both multiply
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Half, 2>> needed_;
  llvm::DenseMap<mlir::Operation*, Runner> runners_;
  llvm::MapVector<mlir::Value, Half> descriptors_;
  llvm::SmallVector<Wanted> wanted_;
};

} // namespace tiletwin::codegen
