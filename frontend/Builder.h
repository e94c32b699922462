// frontend/Builder.h -- what the semantic layer calls to make one operation. Compiled mode (ModuleBuilder) appends it
// to a tt function; eager mode (python/, over interp) evaluates it at once. Nothing else differs between the two modes.
#pragma once
#include "frontend/Type.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <memory>
#include <string>

namespace tiletwin::frontend {

/// A run-time value of the language: its type and what stands behind it in the current mode.
struct Value {
  Type type;
  mlir::Value ir;              ///< compiled mode
  std::shared_ptr<void> eager; ///< eager mode: the evaluated tile (owned by the eager builder's library)
  explicit operator bool() const { return bool(ir) || bool(eager); }
};

/// Fills the single block of a region: receives the block's arguments, returns the values its terminator yields.
/// Returns false if a Python error is set. Regions are always built as IR, in eager mode too.
using RegionBody = llvm::function_ref<bool(class Builder& inside, llvm::ArrayRef<Value> arguments,
                                           llvm::SmallVectorImpl<Value>& yielded)>;

struct RegionSpec {
  llvm::SmallVector<Type> arguments;
  llvm::StringRef terminator; ///< "tt.reduce.return"
  RegionBody body;
  /// For operations whose result types only the body knows: it fills this, and `resultTypes` of create() is not used.
  llvm::SmallVectorImpl<Type>* resultTypes = nullptr;
};

/// Options of a compilation that change what operations mean.
struct SemanticOptions {
  bool checked = false;         ///< signs of integers (tt.signs) and promises (tt.promise) go into the IR
  bool debug = false;           ///< device asserts and overflow checks are emitted
  bool sanitizeOverflow = true; ///< with debug: integer add, sub, mul < 64 bits are checked (rule 17)
  std::string defaultDotPrecision = "tf32";
  llvm::SmallVector<std::string> allowedDotPrecisions{"tf32", "tf32x3", "ieee", "bf16x3", "bf16x6"};
  llvm::SmallVector<std::string> supportedFp8{"fp8e4b15", "fp8e4b8", "fp8e4nv", "fp8e5",
                                              "fp8e5b16"}; ///< that kernels may use
  int capability = 90;                                     ///< emulated compute capability
  int numWarps = 4;                                        ///< what a kernel may ask for
  bool interpreted = false; ///< for a launch on the CPU, which takes more than GPUs' compilers do
  bool notes = false;       ///< statements and names are noted for a native debugger (WalkerNotes.cpp)
  bool operator==(const SemanticOptions&) const = default;
};

class Builder {
public:
  virtual ~Builder() = default;
  virtual mlir::MLIRContext* context() = 0;
  /// True if values are numbers now (eager mode).
  virtual bool isEager() const = 0;
  /// Of the kernel that is being compiled or run.
  virtual const SemanticOptions& options() const = 0;
  /// Creates `name` ("arith.addf") at the current location. One Value per result type. An empty result with a Python
  /// error set means failure (a trap in eager mode, a verifier message in compiled mode).
  virtual bool create(llvm::StringRef name, llvm::ArrayRef<Value> operands, llvm::ArrayRef<Type> resultTypes,
                      llvm::ArrayRef<mlir::NamedAttribute> attributes, llvm::SmallVectorImpl<Value>& results,
                      const RegionSpec* region = nullptr) = 0;
  /// Location that new operations get (compiled mode).
  virtual void setLocation(mlir::Location loc) = 0;
  virtual mlir::Location location() = 0;

  /// One-result shorthand; an empty Value means a Python error is set. An empty operand gives one, so a chain of operations
  /// needs a single look, at its end.
  Value create1(llvm::StringRef name, llvm::ArrayRef<Value> operands, Type resultType,
                llvm::ArrayRef<mlir::NamedAttribute> attributes = {}, const RegionSpec* region = nullptr);

  /// The builder language operations go to on this thread; null outside kernels (a REPL gets the eager builder).
  static Builder* current();
  /// Installs `builder` for a scope.
  struct Scope {
    explicit Scope(Builder* builder);
    ~Scope();
    Builder* previous;
  };
};

} // namespace tiletwin::frontend
