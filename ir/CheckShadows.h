// ir/CheckShadows.h -- following bad lanes: every value that may hold one gets a shadow, an i8 of its shape.
//
// Here:      Shadows, which adds the shadows to a function: through elementwise operations, shapes, reductions, loops,
//            branches; ShadowCheck, what a check has to say: where shadows begin, how they go on, where they do harm.
// Not here:  the checks (CheckUndefined, CheckOverflow, CheckNan .cpp).
// Idea:      a shadow holds 0 for a good lane, else the number of the *origin*: the operation in which the lane went bad. Two
//            operands' shadows are combined by an unsigned maximum; earlier origins have larger numbers, so the first one is
//            named. A value that no origin can reach has no shadow, and costs nothing.
// Invariant: shadows never feed an operation of the kernel; the kernel's operations keep operands, order and locations.
#pragma once
#include "ir/CarryValues.h"
#include "ir/TT.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseSet.h"
#include <optional>
#include <vector>

namespace tiletwin::tt {

class Shadows;

/// What the front end knows of an integer operation that is signless in the IR: attribute `tt.signs`, an i32: bit 0, the
/// operands are signed; bit 1, the result is.
inline constexpr llvm::StringLiteral kSignsAttr = "tt.signs";

class ShadowCheck {
public:
  virtual ~ShadowCheck() = default;
  /// The word of TILETWIN_CHECK.
  virtual llvm::StringRef name() const = 0;
  /// True if lanes of the operation's results may go bad in it.
  virtual bool begins(mlir::Operation* op) = 0;
  /// True if bad lanes of operands go on into the result.
  virtual bool follows(mlir::Operation* op, mlir::OpResult result) = 0;
  /// The shadow of a result, computed behind `op`; null: no lane is bad. Called if begins() or follows() some operand.
  virtual mlir::Value shadowOf(Shadows& shadows, mlir::Operation* op, mlir::OpResult result) = 0;
  /// Puts probes in front of an operation that harm may be done by.
  virtual void look(Shadows& shadows, mlir::Operation* op) = 0;
  /// What a finding says about the origin.
  struct OriginText {
    std::string text, advice;
  };
  virtual OriginText textOf(mlir::Operation* origin) = 0;
};

/// Adds the shadows of one check to one function.
class Shadows : public ShadowWalk {
public:
  /// `kernelOps`: the operations that are the kernel's own, not another check's; kept up to date.
  using Operations = llvm::DenseSet<mlir::Operation*>;
  Shadows(FuncOp function, ShadowCheck& check, Operations& kernelOps);
  void run();

  /// The number of an origin, for shadowOf().
  int idOf(mlir::Operation* origin) const { return ids_.lookup(origin); }

  // ---- building at the current place; null operands stand for "no lane is bad" ----
  /// i8 of the shape of a scalar or tile.
  mlir::Type typeFor(mlir::Type like) const;
  mlir::Value zero(mlir::Type like) { return integer(typeFor(like), 0); }
  mlir::Value combine(mlir::Value a, mlir::Value b);
  /// `condition ? a : b`, lane by lane.
  mlir::Value choose(mlir::Value condition, mlir::Value a, mlir::Value b, mlir::Type like);
  /// The origin's number where `condition` holds.
  mlir::Value mark(mlir::Value condition, mlir::Operation* origin);
  /// a where b is 0 (`whereZero`), or where b is not.
  mlir::Value where(mlir::Value a, mlir::Value b, bool whereZero);
  /// The operands' shadows combined lane by lane; operands of another shape are left out.
  mlir::Value ofOperands(mlir::Operation* op);
  /// The same of operands that all have one shape, whatever the results have.
  mlir::Value ofAll(mlir::Operation* op);
  /// How bad lanes go through an operation that is nothing special to the check.
  mlir::Value passedOn(mlir::Operation* op, mlir::OpResult result);
  /// A probe of `shadow`, where `mask` holds (null: everywhere), that names `op`.
  void probe(mlir::Operation* op, mlir::Value value, mlir::Value shadow, mlir::Value mask, llvm::StringRef message,
             llvm::StringRef advice, bool atOrigin);

private:
  using Origins = llvm::BitVector;
  // Which origins may reach which value: a fixed point over the function.
  void numberOrigins();
  void reach();
  bool flow(mlir::Value from, mlir::Value to);
  bool flowThrough(mlir::Operation* op);
  bool reached(mlir::Value value) const { return reaching_.contains(value); }
  bool needsShadow(mlir::Value value) const override { return reached(value); }
  mlir::Type shadowTypeOf(mlir::Type type) const override { return typeFor(type); }
  mlir::Value noShadow(mlir::Type type) override { return zero(type); }
  void shadowOp(mlir::Operation* op) override;
  void widened(mlir::Operation* op, mlir::Operation* wider) override;

  FuncOp function_;
  ShadowCheck& check_;
  Operations& kernelOps_;
  llvm::SmallVector<mlir::Operation*> origins_; ///< earliest first
  llvm::DenseMap<mlir::Operation*, int> ids_;
  std::vector<mlir::Attribute> originTexts_; ///< by id - 1
  llvm::DenseMap<mlir::Value, Origins> reaching_;
};

/// True if the operation's own place is in the language's library: what it does is meant.
bool isInLibrary(mlir::Location location);
/// The mask of lanes that an access touches: its own, or null.
mlir::Value maskOf(mlir::Operation* access);
/// Probes of what decides which way the program goes (conditions, bounds of loops), in front of `op`.
void lookAtControl(Shadows& shadows, mlir::Operation* op, bool atOrigin, llvm::StringRef advice);
/// Probes of addresses, masks and stored values of an access, in front of it.
void lookAtAccess(Shadows& shadows, mlir::Operation* op, bool atOrigin, llvm::StringRef advice, bool onlyValues);

std::unique_ptr<ShadowCheck> makeUndefinedCheck();
std::unique_ptr<ShadowCheck> makeOverflowCheck();
std::unique_ptr<ShadowCheck> makeNanCheck(bool narrowingIsReported);
/// Replaces promises by probes (CheckPromises.cpp).
void checkPromises(FuncOp function);

} // namespace tiletwin::tt
