// frontend/Walker.h -- walks the ast of one jit function and emits its tt function.
//
// Every expression evaluates to a Python object: a tensor (run-time value), a constexpr (compile-time number, string,
// None), a tuple of values, an aggregate, or any plain object (module, dtype, jit function, class, builtin).
//   WalkerExpressions.cpp   names, constants, operators, attributes, subscripts, f-strings, comprehensions
//   WalkerCalls.cpp         calls: builtins, jit functions, classes, Python's own functions
//   WalkerBranches.cpp      if, ternary
//   WalkerLoops.cpp         for, while
//   WalkerStatements.cpp    assignment, assert, what is refused
//   WalkerFunctions.cpp     the tt.func, returns, calls of jit functions
//   WalkerKernel.cpp        a kernel's parameters
//   WalkerNotes.cpp         notes for a native debugger
//   WalkerProbes.cpp        print_if, breakpoint_if
//   Names.cpp               name lookup and its errors
// Invariant: an empty PyRef or `false` means that a Python exception is set.
#pragma once
#include "frontend/Ast.h"
#include "frontend/CompilationError.h"
#include "frontend/FunctionTable.h"
#include "frontend/ModuleBuilder.h"
#include "frontend/Probes.h"
#include "frontend/Raise.h"
#include "frontend/Semantic.h"
#include <set>

namespace tiletwin::frontend {

/// What the walker reads of a jit function, once per module.
struct FunctionInfo {
  PyRef function, node, globals, defaults, sourceLines, constexprs;
  std::string file, mangledName, name;
  long firstLine = 1;
  mlir::StringAttr fileAttr;
  mlir::Location location; ///< of its `def`
  bool noinlineFlag = false;
  bool hasWalrus = false;
  llvm::SmallVector<PyObject*> positional, keywordOnly; ///< interned parameter names
  PyObject* variadic = nullptr;                         ///< name of *args
  explicit FunctionInfo(mlir::Location loc) : location(loc) {}
};

/// Keyword arguments, in order.
using Keywords = llvm::SmallVector<std::pair<PyObject*, PyRef>, 4>;
using Arguments = llvm::SmallVector<PyRef, 6>;

/// Local variables in order of their first binding. Names are interned strings, compared by address. A null value: the
/// name has lost its value, because branches that depend on run-time values gave it different compile-time ones.
class Locals {
public:
  PyObject* find(PyObject* name) const {
    for (const auto& [key, value] : entries)
      if (key == name) return value.get();
    return nullptr;
  }
  void set(PyObject* name, PyRef value) {
    for (auto& [key, old] : entries)
      if (key == name) {
        old = std::move(value);
        return;
      }
    entries.emplace_back(name, std::move(value));
  }
  llvm::SmallVector<std::pair<PyObject*, PyRef>, 16> entries;
};

/// A value of the structure whose tensors are the first of `tensors`, which are taken off. Null with an error set.
PyRef fromTensors(const Structure& structure, mlir::ValueRange& tensors);

class Walker {
public:
  Walker(ModuleBuilder& builder, std::shared_ptr<FunctionInfo> info);

  /// Emits the public function of a kernel. An empty name stands for the Python function's.
  bool emitKernel(PyObject* signature, PyObject* constexprs, PyObject* attributes, llvm::StringRef name);
  /// Emits (once per argument structure) and calls a jit function at the builder's insertion point.
  static PyRef callJit(ModuleBuilder& builder, PyObject* function, const Arguments& arguments,
                       const Keywords& keywords);

  /// What the walker needs of a jit function, read once per module. Null with an error set.
  static std::shared_ptr<FunctionInfo> readFunction(ModuleBuilder& builder, PyObject* function);

  using ExpressionHandler = PyRef (Walker::*)(Ast);
  using StatementHandler = bool (Walker::*)(Ast);

private:
  // Dispatch.
  PyRef evaluate(Ast node);
  bool execute(Ast statement);
  bool executeAll(Ast statements);
  SourcePlace place(Ast node) const;
  mlir::Location locationOf(Ast node) const;
  Raised refuse(Ast node, const llvm::Twine& message, ErrorClass kind = ErrorClass::Unsupported);

  // Names.cpp
  PyRef lookUp(PyObject* name);
  Raised nameError(PyObject* name);
  bool globalAllowed(PyObject* value);

  // WalkerExpressions.cpp
  PyRef visitConstant(Ast node);
  PyRef visitName(Ast node);
  PyRef visitBinOp(Ast node);
  PyRef visitUnaryOp(Ast node);
  PyRef visitBoolOp(Ast node);
  PyRef visitCompare(Ast node);
  PyRef visitAttribute(Ast node);
  PyRef visitSubscript(Ast node);
  PyRef visitSlice(Ast node);
  PyRef visitTuple(Ast node);
  PyRef visitIfExp(Ast node);
  PyRef visitJoinedStr(Ast node);
  PyRef visitNamedExpr(Ast node);
  PyRef visitListComp(Ast node);
  PyRef visitRefusedExpression(Ast node);
  PyRef binaryValues(const OperatorRow& row, PyObject* lhs, PyObject* rhs);
  PyRef compareValues(const OperatorRow& row, PyObject* lhs, PyObject* rhs);
  /// owner.method(other), if the owner is an aggregate with that method.
  std::optional<PyRef> operatorMethod(PyObject* owner, const char* method, PyObject* other);
  /// lhs.method(rhs), or rhs.reflected(lhs).
  std::optional<PyRef> operatorMethod(const OperatorRow& row, PyObject* lhs, PyObject* rhs);
  PyRef combineTruth(bool isAnd, llvm::SmallVectorImpl<PyRef>& values);
  PyRef attributeOf(PyObject* base, PyObject* name);

  // WalkerCalls.cpp
  PyRef visitCall(Ast node);
  bool evaluateArguments(Ast call, Arguments& arguments, Keywords& keywords);
  PyRef callValue(PyObject* callee, Arguments& arguments, Keywords& keywords);
  PyRef callClass(PyObject* cls, Arguments& arguments, Keywords& keywords);
  PyRef callMinMax(PyObject* callee, const Arguments& arguments, bool isMin);
  PyRef callPrint(Arguments& arguments, Keywords& keywords);
  // WalkerProbes.cpp
  PyRef callProbe(ProbeKind kind, Arguments& arguments, Keywords& keywords);
  /// An f-string of run-time values: texts and (value, conversion, format) in turn.
  static PyRef formattedText(llvm::ArrayRef<PyRef> parts);
  PyRef callCompileTime(PyObject* callee, const Arguments& arguments, const Keywords& keywords);

  // WalkerBranches.cpp, WalkerLoops.cpp
  bool visitIf(Ast node);
  bool visitFor(Ast node);
  bool visitWhile(Ast node);
  bool ifAsRegion(Ast node, const Value& condition);
  bool ifAsBlocks(Ast node, const Value& condition);
  bool staticFor(Ast node, PyObject* callee, const Arguments& arguments, const Keywords& keywords);
  bool compileTimeTruth(PyObject* value, Ast node, bool& truth);
  /// Names whose values differ at the ends of two branches and what they hold there.
  struct Merged {
    PyObject* name;
    Structure structure;
    llvm::SmallVector<Value, 2> thenLeaves, elseLeaves;
    bool operator<(const Merged& other) const;
  };
  bool mergeBranches(Ast node, const Locals& before, const Locals& thenLocals, const Locals& elseLocals,
                     std::vector<Merged>& merged);
  /// Executes one branch from what was before the `if`, at the builder's insertion point, and says in which block it ends.
  bool executeBranch(Ast statements, const Locals& before, Locals& after, mlir::Block*& end);
  /// A variable that a loop carries: live before the loop, holds tensors, and is assigned in the body.
  struct Carried {
    PyObject* name;
    Structure structure;
  };
  struct Loop {
    std::vector<Carried> carried;
    llvm::SmallVector<Value> leaves; ///< their tensors before the loop
    Locals before;
  };
  bool beginLoop(Ast node, PyObject* alsoAssigned, Loop& loop);
  /// Gives the names of `entries` the values of their structures that these tensors make.
  template <class Entry> bool bind(const std::vector<Entry>& entries, mlir::ValueRange tensors) {
    for (const Entry& entry : entries) {
      PyRef value = fromTensors(entry.structure, tensors);
      if (!value) return false;
      locals_.set(entry.name, std::move(value));
    }
    return true;
  }
  /// Gives a block an argument for each tensor that is carried, named after its variable.
  void addCarried(const Loop& loop, mlir::Block* block);
  /// Ends the region of a body with what the next round gets.
  bool yieldCarried(const Loop& loop);
  /// Makes the operation, named after what it carries, and gives that its results. Names that are new in the loop are gone.
  bool finishLoop(Ast node, Loop& loop, llvm::StringRef operation, llvm::ArrayRef<mlir::Value> operands,
                  llvm::ArrayRef<mlir::NamedAttribute> attributes,
                  llvm::MutableArrayRef<std::unique_ptr<mlir::Region>> regions);
  /// " (line 12)": where a variable got its value last; empty if it is not known.
  std::string assignedAt(PyObject* name) const;
  /// Makes the loop, named after what it carries, and gives that its results. Names that are new in it are gone.
  bool finishLoop(Ast node, llvm::StringRef name, llvm::ArrayRef<mlir::Value> operands,
                  const std::vector<Carried>& carried, llvm::ArrayRef<Value> leaves,
                  llvm::ArrayRef<mlir::NamedAttribute> attributes,
                  llvm::MutableArrayRef<std::unique_ptr<mlir::Region>> regions, Locals before);
  void assignedNames(Ast statements, llvm::SmallVectorImpl<PyObject*>& names);
  bool containsReturn(Ast statements);

  // WalkerStatements.cpp
  bool visitAssign(Ast node);
  bool visitAnnAssign(Ast node);
  bool visitAugAssign(Ast node);
  bool visitExpr(Ast node);
  /// False with an error set: the call `node` is a statement of its own, and its function's result must be used.
  bool resultIsUsed(Ast node, PyObject* callee);
  bool visitReturn(Ast node);
  bool visitPass(Ast node);
  bool visitAssert(Ast node);
  bool visitRefusedStatement(Ast node);
  bool assign(Ast target, PyRef value);
  /// What assignment to `target` makes of a value: run-time values, but for names announced as `x: tl.constexpr`.
  PyRef valueFor(Ast target, PyObject* value);
  bool isConstexprAnnotation(Ast annotation, bool& is);

  // WalkerFunctions.cpp, WalkerKernel.cpp
  static bool bindParameters(const FunctionInfo& info, const Arguments& arguments, const Keywords& keywords,
                             Locals& bound);
  bool emitPrivate(EmittedFunction& emitted, const Locals& bound);
  bool walkBody(mlir::Operation* function, Structure& result, bool isKernel);
  bool finishReturns(mlir::Operation* function, Structure& result, bool isKernel);
  mlir::Operation* createFunction(llvm::StringRef name, bool isPublic, llvm::ArrayRef<mlir::Type> argumentTypes,
                                  llvm::ArrayRef<mlir::Location> argumentLocations,
                                  llvm::ArrayRef<mlir::Attribute> argumentAttributes);

  // WalkerNotes.cpp
  bool takesNotes() const;
  /// Before a statement.
  void noteStatement(Ast node);
  /// Notes the names that hold other objects than when they were noted last; they hold the notes' results afterwards.
  bool noteNames();
  Value noteTensor(const std::string& name, const Value& value);

  struct Return {
    mlir::Block* block;
    PyRef value;
    mlir::Location location;
    Ast node;
  };

  ModuleBuilder& builder_;
  std::shared_ptr<FunctionInfo> info_;
  Locals locals_;
  llvm::SmallVector<std::pair<PyObject*, std::string>, 4> lost_; ///< names that are gone, and why (for NameError)
  llvm::SmallVector<PyObject*, 4> pendingConstexpr_;             ///< `x: tl.constexpr` without a value
  llvm::SmallDenseMap<PyObject*, long, 16> assignedAt_; ///< line of the last assignment to a variable, for messages
  PyObject* assigning_ = nullptr;                       ///< variable being assigned: names values' locations
  PyObject* unusedCall_ = nullptr;                      ///< the expression that is the statement at hand
  int probeDepth_ = 0;                                  ///< > 0 in arguments of print_if: f-strings may show tensors
  int regionDepth_ = 0;                                 ///< > 0 inside scf regions: no return there
  std::set<std::pair<PyObject*, PyObject*>> noted_;     ///< name, object
  std::vector<PyRef> notedObjects_;                     ///< keeps them alive: addresses stay theirs
  std::vector<Return> returns_;
  mlir::Region* functionRegion_ = nullptr;

  friend struct LocationGuard;
  friend struct RegionGuard;
};

/// Restores the builder's location and the variable being assigned at the end of a scope.
struct LocationGuard {
  explicit LocationGuard(Walker& walker)
      : walker(walker), location(walker.builder_.location()), assigning(walker.assigning_) {}
  ~LocationGuard() {
    walker.builder_.setLocation(location);
    walker.assigning_ = assigning;
  }
  Walker& walker;
  mlir::Location location;
  PyObject* assigning;
};

/// While an scf region is filled; the insertion point is the builder's again at the end of the scope.
struct RegionGuard {
  explicit RegionGuard(Walker& walker) : walker(walker), place(walker.builder_.op()) { ++walker.regionDepth_; }
  ~RegionGuard() { --walker.regionDepth_; }
  Walker& walker;
  mlir::OpBuilder::InsertionGuard place;
};

/// What a callee is, found once per Python type.
enum class CalleeKind : uint8_t { Other, Builtin, Jit, ConstexprFunction, PythonFunction, Class, Module, Dtype };
CalleeKind calleeKind(PyObject* object);
/// An instance of an @triton.aggregate class.
bool isAggregate(PyObject* object);
/// Why kernels do not have a statement, and what to write instead; by its class in ast, or "For.orelse" for a part of
/// it. Null: kernels have it, or nothing is known.
const char* statementAdvice(llvm::StringRef name);
/// Language functions that the walker does itself.
enum class Special : uint8_t { None, StaticAssert, StaticPrint, Range, StaticRange, Condition };
Special specialOf(PyObject* object);

} // namespace tiletwin::frontend
