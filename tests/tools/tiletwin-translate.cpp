// tests/tools/tiletwin-translate.cpp -- IR text to the text of a later stage, like mlir-translate.
//
//   tiletwin-translate FILE --emit-ttgir|--emit-llvm|--emit-ptx|--emit-amdgcn [--from=ttir|ttgir|llir] [--arch=sm_80]
//   [--num-warps=N] [--num-stages=N] [--maxnreg=N] [--fp-fusion=false] [--copied-loads] [--line-info]
//   [-split-input-file] [-verify-diagnostics]
// Each part of a file is one kernel; the module is verified after every pass. --emit-facts prints what a launcher must
// know instead: arguments, shared memory, scratch. `tiletwin-translate --operations` lists the operations that have code.
#include "TargetName.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace tiletwin::codegen;

namespace {

namespace flags {
using llvm::cl::desc, llvm::cl::init, llvm::cl::opt;
opt<Stage> from("from", desc("stage of the input"), init(Stage::Ttir),
                llvm::cl::values(clEnumValN(Stage::Ttir, "ttir", "what the front end gives"),
                                 clEnumValN(Stage::Ttgir, "ttgir", "with layouts"),
                                 clEnumValN(Stage::Llir, "llir", "LLVM IR")));
opt<std::string> arch("arch", desc("target"), init("sm_80"));
opt<int> numWarps("num-warps", desc("of a program"), init(4));
opt<int> numStages("num-stages", desc("buffers of a pipelined loop"), init(3));
opt<int> numCtas("num-ctas", desc("of a program"), init(1));
opt<int> maxRegisters("maxnreg", desc("registers of a thread, 0: as ptxas likes"), init(0));
opt<bool> fpFusion("fp-fusion", desc("fuse products and sums"), init(true));
opt<bool> copiedLoads("copied-loads", desc("copies by maps of other arguments"), init(false));
opt<bool> lineInfo("line-info", desc("lines of the source"), init(false));
} // namespace flags

/// Compiles a part of the file; an error becomes a diagnostic at its place.
LogicalResult compileTo(Stage to, const llvm::SourceMgr& sources, MLIRContext* context, Code& code) {
  const llvm::MemoryBuffer* buffer = sources.getMemoryBuffer(sources.getMainFileID());
  StringRef name = buffer->getBufferIdentifier();
  Options options;
  options.numWarps = flags::numWarps, options.numStages = flags::numStages, options.maxRegisters = flags::maxRegisters;
  options.copiedLoads = flags::copiedLoads, options.numCtas = flags::numCtas;
  options.fpFusion = flags::fpFusion, options.lineInfo = flags::lineInfo, options.verify = true;
  auto error = compile(std::string_view(buffer->getBufferStart(), buffer->getBufferSize()), flags::from, to,
                       std::string_view(name.data(), name.size()), targetOf(flags::arch), options, code);
  if (!error) return success();
  Location where = UnknownLoc::get(context);
  if (error->line) where = FileLineColLoc::get(context, error->file, unsigned(error->line), unsigned(error->column));
  return emitError(where) << error->message;
}

void printFacts(llvm::raw_ostream& out, const Code& code) {
  out << "kernel " << code.name << "\narguments";
  for (const std::string& argument : code.arguments) out << ' ' << argument;
  out << "\nshared " << code.sharedBytes << "\nscratch " << code.scratchBytes << "\nwarps " << code.numWarps << '\n';
}

using Print = void (*)(llvm::raw_ostream&, const Code&);

void registerStage(StringRef name, StringRef description, Stage to, Print print) {
  static std::vector<std::unique_ptr<TranslateRegistration>> kept;
  kept.push_back(std::make_unique<TranslateRegistration>(
      name, description,
      [to, print](const std::shared_ptr<llvm::SourceMgr>& sources, llvm::raw_ostream& out, MLIRContext* context) {
        Code code;
        if (failed(compileTo(to, *sources, context, code))) return failure();
        print(out, code);
        return success();
      }));
}

} // namespace

int main(int argc, char** argv) {
  if (argc == 2 && StringRef(argv[1]) == "--operations") {
    for (std::string_view name : emittedOperations()) llvm::outs() << name << '\n';
    return 0;
  }
  registerStage("emit-ttgir", "tiles with layouts", Stage::Ttgir,
                [](llvm::raw_ostream& out, const Code& code) { out << code.ttgir; });
  registerStage("emit-llvm", "LLVM IR", Stage::Llir,
                [](llvm::raw_ostream& out, const Code& code) { out << code.llir; });
  registerStage("emit-ptx", "PTX", Stage::Ptx, [](llvm::raw_ostream& out, const Code& code) { out << code.ptx; });
  registerStage("emit-amdgcn", "assembly of AMD GPUs", Stage::Amdgcn,
                [](llvm::raw_ostream& out, const Code& code) { out << code.amdgcn; });
  registerStage("emit-facts", "what a launcher must know", Stage::Llir, printFacts);
  return failed(mlirTranslateMain(argc, argv, "tiletwin-translate: the stages of GPU code\n"));
}
