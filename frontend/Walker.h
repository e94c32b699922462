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
#include "frontend/AstNames.h"
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

  using ExpressionHandler = PyRef (Walker::*)(PyObject*);
  using StatementHandler = bool (Walker::*)(PyObject*);

private:
  // Dispatch.
  PyRef evaluate(PyObject* node);
  bool execute(PyObject* statement);
  bool executeAll(PyObject* statements);
  SourcePlace place(PyObject* node) const;
  mlir::Location locationOf(PyObject* node) const;
  Raised refuse(PyObject* node, const llvm::Twine& message, ErrorClass kind = ErrorClass::Unsupported);

  // Names.cpp
  PyRef lookUp(PyObject* name);
  Raised nameError(PyObject* name);
  bool globalAllowed(PyObject* value);

  // WalkerExpressions.cpp
  PyRef visitConstant(PyObject* node);
  PyRef visitName(PyObject* node);
  PyRef visitBinOp(PyObject* node);
  PyRef visitUnaryOp(PyObject* node);
  PyRef visitBoolOp(PyObject* node);
  PyRef visitCompare(PyObject* node);
  PyRef visitAttribute(PyObject* node);
  PyRef visitSubscript(PyObject* node);
  PyRef visitSlice(PyObject* node);
  PyRef visitTuple(PyObject* node);
  PyRef visitIfExp(PyObject* node);
  PyRef visitJoinedStr(PyObject* node);
  PyRef visitNamedExpr(PyObject* node);
  PyRef visitListComp(PyObject* node);
  PyRef visitRefusedExpression(PyObject* node);
  PyRef binaryValues(const OperatorRow& row, PyObject* lhs, PyObject* rhs);
  PyRef compareValues(const OperatorRow& row, PyObject* lhs, PyObject* rhs);
  /// owner.method(other), if the owner is an aggregate with that method.
  std::optional<PyRef> operatorMethod(PyObject* owner, const char* method, PyObject* other);
  /// lhs.method(rhs), or rhs.reflected(lhs).
  std::optional<PyRef> operatorMethod(const OperatorRow& row, PyObject* lhs, PyObject* rhs);
  PyRef combineTruth(bool isAnd, llvm::SmallVectorImpl<PyRef>& values);
  PyRef attributeOf(PyObject* base, PyObject* name);

  // WalkerCalls.cpp
  PyRef visitCall(PyObject* node);
  bool evaluateArguments(PyObject* call, Arguments& arguments, Keywords& keywords);
  PyRef callValue(PyObject* callee, Arguments& arguments, Keywords& keywords, PyObject* node);
  PyRef callClass(PyObject* cls, Arguments& arguments, Keywords& keywords);
  PyRef callMinMax(PyObject* callee, const Arguments& arguments, bool isMin);
  PyRef callPrint(Arguments& arguments, Keywords& keywords, PyObject* node);
  // WalkerProbes.cpp
  PyRef callProbe(ProbeKind kind, Arguments& arguments, Keywords& keywords);
  /// An f-string of run-time values: texts and (value, conversion, format) in turn.
  static PyRef formattedText(llvm::ArrayRef<PyRef> parts);
  PyRef callCompileTime(PyObject* callee, const Arguments& arguments, const Keywords& keywords);

  // WalkerBranches.cpp, WalkerLoops.cpp
  bool visitIf(PyObject* node);
  bool visitFor(PyObject* node);
  bool visitWhile(PyObject* node);
  bool ifAsRegion(PyObject* node, const Value& condition);
  bool ifAsBlocks(PyObject* node, const Value& condition);
  bool staticFor(PyObject* node, PyObject* iter, PyObject* callee, const Arguments& arguments,
                 const Keywords& keywords);
  bool compileTimeTruth(PyObject* value, PyObject* node, bool& truth);
  /// Names whose values differ at the ends of two branches and what they hold there.
  struct Merged {
    PyObject* name;
    Structure structure;
    llvm::SmallVector<Value, 2> thenLeaves, elseLeaves;
    bool operator<(const Merged& other) const;
  };
  bool mergeBranches(PyObject* node, const Locals& before, const Locals& thenLocals, const Locals& elseLocals,
                     std::vector<Merged>& merged);
  bool bindMerged(const std::vector<Merged>& merged, mlir::ValueRange results);
  /// Executes one branch from what was before the `if`, at the builder's insertion point, and says in which block it ends.
  bool executeBranch(PyObject* statements, const Locals& before, Locals& after, mlir::Block*& end);
  /// Loop-carried variables: live before the loop, hold tensors, and are assigned in the body.
  struct Carried {
    PyObject* name;
    Structure structure;
    size_t firstLeaf, leafCount;
  };
  bool findCarried(PyObject* node, PyObject* alsoAssigned, std::vector<Carried>& carried,
                   llvm::SmallVectorImpl<Value>& leaves);
  bool bindCarried(const std::vector<Carried>& carried, llvm::ArrayRef<Value> leaves, mlir::ValueRange values);
  /// Gives a block an argument for each tensor that is carried, named after its variable.
  void addCarried(const std::vector<Carried>& carried, llvm::ArrayRef<Value> leaves, mlir::Block* block);
  bool collectYielded(PyObject* node, const std::vector<Carried>& carried, const Locals& before,
                      llvm::SmallVectorImpl<mlir::Value>& yielded);
  /// " (line 12)": where a variable got its value last; empty if it is not known.
  std::string assignedAt(PyObject* name) const;
  void forgetInner(const Locals& before, PyObject* node, const char* where);
  bool assignedNames(PyObject* statements, llvm::SmallVectorImpl<PyObject*>& names);
  bool containsReturn(PyObject* statements);

  // WalkerStatements.cpp
  bool visitAssign(PyObject* node);
  bool visitAnnAssign(PyObject* node);
  bool visitAugAssign(PyObject* node);
  bool visitExpr(PyObject* node);
  /// False with an error set: the call `node` is a statement of its own, and its function's result must be used.
  bool resultIsUsed(PyObject* node, PyObject* callee);
  bool visitReturn(PyObject* node);
  bool visitPass(PyObject* node);
  bool visitAssert(PyObject* node);
  bool visitRefusedStatement(PyObject* node);
  bool assign(PyObject* target, PyRef value);
  /// What assignment to `target` makes of a value: run-time values, but for names announced as `x: tl.constexpr`.
  PyRef valueFor(PyObject* target, PyObject* value);
  bool isConstexprAnnotation(PyObject* annotation, bool& is);

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
  void noteStatement(PyObject* node);
  /// Notes the names that hold other objects than when they were noted last; they hold the notes' results afterwards.
  bool noteNames();
  Value noteTensor(const std::string& name, const Value& value);

  struct Return {
    mlir::Block* block;
    PyRef value;
    mlir::Location location;
    PyObject* node;
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
