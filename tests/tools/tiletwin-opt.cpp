// tests/tools/tiletwin-opt.cpp -- runs passes over tt and twg text, like mlir-opt; `--tt-time FILE...` times the way to
// ttir. Not here: what comes behind ttgir (tiletwin-translate).
#include "CodegenPasses.h"
#include "codegen/dialect/TWG.h"
#include "ir/Checks.h"
#include "ir/Numerics.h"
#include "ir/Passes.h"
#include "mlir/IR/AsmState.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <chrono>
#include <vector>

using namespace mlir;
using Clock = std::chrono::steady_clock;

static double milliseconds(Clock::time_point from) {
  return std::chrono::duration<double, std::milli>(Clock::now() - from).count();
}

// Prints, for each file: context creation, parsing, makeTtir the first time in a context and the best of the next nine.
static int timeFiles(ArrayRef<char*> files) {
  for (const char* file : files) {
    auto buffer = llvm::MemoryBuffer::getFile(file);
    if (!buffer) {
      llvm::errs() << file << ": " << buffer.getError().message() << '\n';
      return 1;
    }
    auto start = Clock::now();
    MLIRContext context(MLIRContext::Threading::DISABLED);
    tiletwin::tt::prepareContext(context);
    double contextTime = milliseconds(start), parseTime = 0, firstTime = 0, bestTime = 1e30;
    for (int round = 0; round < 10; ++round) {
      start = Clock::now();
      auto module = tiletwin::tt::parseTtir((*buffer)->getBuffer(), file, context);
      if (!module) return 1;
      if (round == 0) parseTime = milliseconds(start);
      start = Clock::now();
      if (failed(tiletwin::tt::makeTtir(*module))) return 1;
      double time = milliseconds(start);
      if (round == 0)
        firstTime = time;
      else
        bestTime = std::min(bestTime, time);
    }
    llvm::outs() << llvm::format("%-60s context %.2f ms, parse %.2f ms, makeTtir %.2f ms first, %.2f ms best\n", file,
                                 contextTime, parseTime, firstTime, bestTime);
  }
  return 0;
}

int main(int argc, char** argv) {
  if (argc > 1 && StringRef(argv[1]) == "--tt-time") return timeFiles(ArrayRef(argv + 2, argv + argc));
  DialectRegistry registry;
  tiletwin::tt::registerDialects(registry);
  registry.insert<tiletwin::twg::TWGDialect>();
  registerCanonicalizerPass();
  registerCSEPass();
  registerSymbolDCEPass();
  PassPipelineRegistration<>("tt-make-ttir", "source to ttir: what makeTtir does",
                             [](OpPassManager& pm) { tiletwin::tt::addTtirPasses(pm); });
  PassPipelineRegistration<>("tt-inline-everything", "as tt-make-ttir, noinline functions too",
                             [](OpPassManager& pm) { tiletwin::tt::addTtirPasses(pm, /*inlineEverything=*/true); });
  PassPipelineRegistration<>("tt-make-debug-ttir", "source with notes for a native debugger: what makeDebugTtir does",
                             [](OpPassManager& pm) { tiletwin::tt::addDebugTtirPass(pm); });
  registerPass([] { return tiletwin::tt::makeCheckPass({}); });
  registerPass([] { return tiletwin::tt::makeNumericsPass(); });
  tiletwin::codegen::registerCodegenPasses();
  return asMainReturnCode(MlirOptMain(argc, argv, "tiletwin-opt: passes over tt and twg text\n", registry));
}
