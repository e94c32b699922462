// tests/tools/tiletwin-exec.cpp -- runs the functions of an IR test on a backend and compares what they compute.
//
//   tiletwin-exec FILE --backend=interp [--filter=NAME] [--numerics=fast|ieee] [--threads=N] [--symbolic=both|yes|no]
//   [--max-ulp=N] [--dump]
// Every public tt.func of the file is a test; CheckDialect.h says how it states what it expects. A check becomes a
// result of the function, so any backend that can write results can run the file. On the interpreter each function is
// planned twice, with symbolic pointers and masks and with materialised ones. Exit status: 0 all expectations met, 1
// some not, 2 wrong usage.
#include "CheckDialect.h"
#include "TestValues.h"
#include "interp/Interp.h"
#include "ir/Passes.h"
#include "ir/TT.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cstdio>
#include <cstring>

using namespace mlir;
using namespace tiletwin;
using namespace tiletwin::check;

namespace {

namespace options {
llvm::cl::opt<std::string> file(llvm::cl::Positional, llvm::cl::desc("FILE"), llvm::cl::Required);
llvm::cl::opt<std::string> backend("backend", llvm::cl::desc("interp"), llvm::cl::init("interp"));
llvm::cl::opt<std::string> filter("filter", llvm::cl::desc("run only functions whose name contains this"));
llvm::cl::opt<int> threads("threads", llvm::cl::desc("threads of a launch"), llvm::cl::init(0));
llvm::cl::opt<bool> dump("dump", llvm::cl::desc("print the plans"), llvm::cl::init(false));
llvm::cl::opt<int64_t> maxUlp("max-ulp", llvm::cl::desc("tighten every check.close to this"), llvm::cl::init(-1));
enum class Symbolic { Both, Yes, No };
llvm::cl::opt<Symbolic> symbolic("symbolic", llvm::cl::desc("pointers and masks"), llvm::cl::init(Symbolic::Both),
                                 llvm::cl::values(clEnumValN(Symbolic::Both, "both", "one run with, one without"),
                                                  clEnumValN(Symbolic::Yes, "yes", "symbolic"),
                                                  clEnumValN(Symbolic::No, "no", "materialised")));
llvm::cl::opt<interp::Numerics>
    numerics("numerics", llvm::cl::desc("rules of rounding"), llvm::cl::init(interp::Numerics::Fast),
             llvm::cl::values(clEnumValN(interp::Numerics::Fast, "fast", "as by default"),
                              clEnumValN(interp::Numerics::Ieee, "ieee", "correctly rounded")));
} // namespace options

/// A check that has become result `result` of its function.
struct Check {
  Location where;
  TestValue expected, got;
  int64_t ulp = 0;
};

struct Argument {
  uint64_t bits = 0;
  std::optional<TestValue> memory, after; ///< of a pointer
  int32_t buffer = -1;
};

/// One function with its inputs and expectations.
struct Test {
  tt::FuncOp function;
  std::vector<Check> checks;
  std::vector<Argument> arguments;
  std::vector<Buffer> buffers;
  std::array<int32_t, 3> grid{1, 1, 1};
  std::vector<int64_t> only, skip;
  std::optional<std::string> trap, error, prints;
};

std::optional<std::string> textAttribute(Operation* op, StringRef name) {
  if (auto text = op->getAttrOfType<StringAttr>(name)) return text.str();
  return std::nullopt;
}

/// Turns the checks of a function into results of it.
LogicalResult takeChecks(Test& test) {
  tt::FuncOp function = test.function;
  SmallVector<Operation*> checks;
  function.walk([&](Operation* op) {
    if (isa<EqOp, CloseOp>(op)) checks.push_back(op);
  });
  if (checks.empty()) return success();
  SmallVector<tt::ReturnOp> returns;
  function.walk([&](tt::ReturnOp op) { returns.push_back(op); });
  if (returns.size() != 1 || function.getFunctionType().getNumResults() != 0)
    return function.emitError("a function with checks needs one tt.return, without operands");
  SmallVector<Value> values;
  SmallVector<Type> types;
  for (Operation* op : checks) {
    if (op->getParentOp() != function)
      return op->emitError("a check must not be inside a loop or branch: yield the value and check it outside");
    auto expected = valueOf(op->getAttr("expected"));
    auto zero = zeroOf(op->getOperand(0).getType());
    if (!expected || !zero) return op->emitError("this type cannot be checked");
    auto ulp = op->getAttrOfType<IntegerAttr>("ulp");
    test.checks.push_back({op->getLoc(), *expected, *zero, ulp ? ulp.getInt() : 0});
    values.push_back(op->getOperand(0));
    types.push_back(op->getOperand(0).getType());
    op->erase();
  }
  returns.front()->setOperands(values);
  function.setType(FunctionType::get(function.getContext(), function.getFunctionType().getInputs(), types));
  return verify(function);
}

LogicalResult takeArguments(Test& test) {
  tt::FuncOp function = test.function;
  for (auto [i, type] : llvm::enumerate(function.getFunctionType().getInputs())) {
    Argument argument;
    auto attribute = [&](StringRef name) { return function.getArgAttr(unsigned(i), name); };
    auto refuse = [&](const char* what) { return function.emitError("argument ") << i << ": " << what; };
    if (isa<tt::PointerType>(type)) {
      if (!attribute("check.data")) return refuse("a pointer needs check.data = dense<...>");
      argument.memory = valueOf(attribute("check.data"));
      if (!argument.memory) return refuse("check.data must be dense<...> : tensor<...>");
      if (Attribute after = attribute("check.after")) {
        argument.after = valueOf(after);
        if (!argument.after || argument.after->bytes.size() != argument.memory->bytes.size())
          return refuse("check.after must be dense<...> of the size of check.data");
      }
    } else {
      auto value = attribute("check.value") ? valueOf(attribute("check.value")) : std::nullopt;
      if (!value || value->element != type) return refuse("a scalar needs check.value of its type");
      std::memcpy(&argument.bits, value->bytes.data(), value->bytes.size());
      if (auto integer = dyn_cast<IntegerType>(type); integer && integer.getWidth() > 1 && integer.getWidth() < 64) {
        int shift = 64 - int(integer.getWidth());
        argument.bits = uint64_t(int64_t(argument.bits << shift) >> shift);
      }
    }
    test.arguments.push_back(std::move(argument));
  }
  return success();
}

LogicalResult takeExpectations(Test& test) {
  tt::FuncOp function = test.function;
  test.trap = textAttribute(function, "check.trap");
  test.error = textAttribute(function, "check.error");
  test.prints = textAttribute(function, "check.prints");
  if (auto grid = function->getAttrOfType<DenseI32ArrayAttr>("check.grid")) {
    if (grid.size() != 3) return function.emitError("check.grid needs three numbers");
    for (int d = 0; d < 3; ++d) test.grid[size_t(d)] = grid[d];
  }
  if (auto only = function->getAttrOfType<DenseI64ArrayAttr>("check.only"))
    test.only.assign(only.asArrayRef().begin(), only.asArrayRef().end());
  if (auto skip = function->getAttrOfType<DenseI64ArrayAttr>("check.skip"))
    test.skip.assign(skip.asArrayRef().begin(), skip.asArrayRef().end());
  if (failed(takeArguments(test)) || failed(takeChecks(test))) return failure();
  bool after = llvm::any_of(test.arguments, [](const Argument& argument) { return argument.after.has_value(); });
  if (test.checks.empty() && !after && !test.trap && !test.error && !test.prints)
    return function.emitError("this function expects nothing: add a check");
  return success();
}

/// Reports failures of one run of one function.
class Report {
public:
  Report(std::string name, std::string mode) : name_(std::move(name)), mode_(std::move(mode)) {}
  void fail(Location where, const std::string& what) {
    llvm::errs() << where << ": @" << name_ << " (" << mode_ << "): " << what << '\n';
    failed_ = true;
  }
  bool failed() const { return failed_; }

private:
  std::string name_, mode_;
  bool failed_ = false;
};

int64_t ulpOf(const Check& check) {
  return options::maxUlp < 0 ? check.ulp : std::min<int64_t>(check.ulp, options::maxUlp);
}

/// Printed text with a line for each record of tt.probe_call: its values as hexadecimal bytes, elements from the left.
std::string readable(const std::string& printed) {
  std::string out;
  for (size_t at = 0; at < printed.size();) {
    const size_t zero = std::min(printed.find('\0', at), printed.size());
    out += printed.substr(at, zero - at);
    if (zero == printed.size()) break;
    interp::ProbeRecord record;
    std::memcpy(&record, printed.data() + zero + 1, sizeof record);
    at = zero + 1 + sizeof record;
    char text[64];
    std::snprintf(text, sizeof text, "%s %d (%d, %d, %d)%s", record.site->isBreak ? "break" : "print",
                  record.site->number, record.program[0], record.program[1], record.program[2],
                  record.startsAgain ? " again" : "");
    out += text;
    for (const interp::ProbeSite::Item& item : record.site->items) {
      if (record.startsAgain) break;
      out += ' ';
      for (size_t i = 0; i < item.bytes; ++i, ++at) {
        std::snprintf(text, sizeof text, "%02x", unsigned(static_cast<unsigned char>(printed[at])));
        out += text;
      }
    }
    out += '\n';
  }
  return out;
}

/// Runs a planned test and compares.
void launchAndCompare(Test test, const interp::Program& program, Report& report) {
  std::vector<interp::ArgumentBits> bits, results;
  std::vector<int32_t> bufferOf;
  for (auto [i, argument] : llvm::enumerate(test.arguments)) {
    if (argument.memory) {
      Buffer buffer;
      buffer.name = "arg" + std::to_string(i);
      buffer.begin = buffer.viewBegin = reinterpret_cast<uintptr_t>(argument.memory->bytes.data());
      buffer.end = buffer.viewEnd = buffer.begin + argument.memory->bytes.size();
      buffer.readOnly = bool(test.function.getArgAttr(unsigned(i), "check.readonly"));
      argument.bits = buffer.begin;
      argument.buffer = int32_t(test.buffers.size());
      test.buffers.push_back(buffer);
    }
    bits.push_back(argument.bits);
    bufferOf.push_back(argument.buffer);
  }
  // Scalars may be written as whole 8-byte cells.
  std::vector<std::vector<uint64_t>> storage;
  for (Check& check : test.checks) {
    storage.emplace_back((check.got.bytes.size() + 7) / 8 + 1, 0xA5A5A5A5A5A5A5A5u);
    results.push_back(reinterpret_cast<uint64_t>(storage.back().data()));
  }
  std::string printed;
  interp::Hooks hooks;
  hooks.print = [&](const std::string& text) { printed += readable(text); };
  interp::LaunchParams params;
  params.grid = test.grid;
  params.arguments = bits;
  params.buffers = test.buffers;
  params.bufferOf = bufferOf;
  params.results = results;
  params.numThreads = options::threads;
  params.onlyPrograms = test.only;
  params.skipPrograms = test.skip;
  Trap trap = interp::launch(program, params, hooks);

  Location here = test.function.getLoc();
  if (test.trap) {
    if (!trap)
      report.fail(here, "expected a trap with \"" + *test.trap + "\", got none");
    else if (trap.message.find(*test.trap) == std::string::npos)
      report.fail(here, "expected a trap with \"" + *test.trap + "\", got \"" + trap.message + "\"");
  } else if (trap) {
    return report.fail(here, "unexpected trap: " + trap.message);
  }
  if (!trap)
    for (auto [check, cells] : llvm::zip(test.checks, storage)) {
      std::memcpy(check.got.bytes.data(), cells.data(), check.got.bytes.size());
      if (std::string text = difference(check.got, check.expected, ulpOf(check)); !text.empty())
        report.fail(check.where, text);
    }
  for (auto [i, argument] : llvm::enumerate(test.arguments))
    if (argument.after)
      if (std::string text = difference(*argument.memory, *argument.after, 0); !text.empty())
        report.fail(here, "memory of argument " + std::to_string(i) + ": " + text);
  if (test.prints && printed != *test.prints)
    report.fail(here, "expected to be printed:\n" + *test.prints + "\ngot:\n" + printed);
}

bool runOnInterpreter(ModuleOp module, const Test& test, bool symbolic) {
  tt::FuncOp function = test.function;
  std::string name = function.getSymName().str();
  Report report(name, symbolic ? "symbolic" : "materialised");
  std::string diagnostics;
  std::shared_ptr<const interp::Program> program;
  {
    ScopedDiagnosticHandler collect(module.getContext(), [&](Diagnostic& diagnostic) {
      llvm::raw_string_ostream(diagnostics) << diagnostic.getLocation() << ": " << diagnostic.str() << '\n';
      return success();
    });
    program = interp::planModule(module, name, {options::numerics, symbolic});
  }
  Location here = function.getLoc();
  if (program && options::dump) llvm::outs() << program->dump();
  if (test.error) {
    if (program)
      report.fail(here, "expected an error with \"" + *test.error + "\", but the function was planned");
    else if (diagnostics.find(*test.error) == std::string::npos)
      report.fail(here, "expected an error with \"" + *test.error + "\", got:\n" + diagnostics);
  } else if (!program) {
    report.fail(here, "cannot be planned:\n" + diagnostics);
  } else {
    launchAndCompare(test, *program, report);
  }
  return !report.failed();
}

} // namespace

int main(int argc, char** argv) {
  llvm::cl::ParseCommandLineOptions(argc, argv, "tiletwin-exec: runs IR tests on a backend\n");
  if (options::backend != "interp") {
    llvm::errs() << "--backend=" << options::backend << ": expected interp\n";
    return 2;
  }
  DialectRegistry registry;
  tt::registerDialects(registry);
  registry.insert<CheckDialect>();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  tt::prepareContext(context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(options::file, &context);
  if (!module) return 1;

  std::vector<Test> tests;
  bool fine = true;
  for (auto function : module->getOps<tt::FuncOp>()) {
    bool chosen = function.getSymName().contains(options::filter);
    if (function.isPrivate()) continue;
    Test test{function, {}, {}, {}, {1, 1, 1}, {}, {}, {}, {}, {}};
    if (failed(takeExpectations(test))) // for all functions: no check may be left when one is planned
      fine = false;
    else if (chosen)
      tests.push_back(std::move(test));
  }
  if (tests.empty() && fine) {
    llvm::errs() << options::file << ": no public function to run\n";
    return 1;
  }
  for (const Test& test : tests) {
    if (options::symbolic != options::Symbolic::No) fine &= runOnInterpreter(*module, test, true);
    if (options::symbolic != options::Symbolic::Yes) fine &= runOnInterpreter(*module, test, false);
  }
  if (fine) llvm::outs() << tests.size() << " functions passed\n";
  return fine ? 0 : 1;
}
