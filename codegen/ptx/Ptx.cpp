// codegen/ptx/Ptx.cpp -- see Ptx.h.
#include "codegen/ptx/Ptx.h"
#include "codegen/ptx/Fences.h"
#include "codegen/ptx/LoopPointers.h"
#include "codegen/ptx/OrderByUse.h"
#include "codegen/ptx/Variables.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/CodeGen/CodeGenTargetMachineImpl.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include <mutex>

// The part of the NVPTX target that is linked (llvm/Support/TargetSelect.h would want all targets of the build of LLVM).
extern "C" {
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

namespace tiletwin::codegen {

/// Settles what LLVM takes from the command line, for the whole process: before the first target machine is made.
static void settleOptions() {
  // Straight-line strength reduction asks before each use of an earlier result whether that may be poison where the new
  // one is not: two thirds of the time that large kernels take, and it refuses most. Here nothing is poison unless an
  // operand is: emission promises nothing (no nsw, nuw, exact), and what LLVM adds it has proved.
  static std::once_flag once;
  std::call_once(once, [] {
    auto& options = llvm::cl::getRegisteredOptions();
    if (auto guard = options.find("enable-poison-reuse-guard"); guard != options.end())
      static_cast<llvm::cl::opt<bool>*>(guard->second)->setValue(false);
  });
}

llvm::Expected<std::unique_ptr<llvm::TargetMachine>> makeMachine(llvm::StringRef tripleText, const std::string& arch,
                                                                 const std::string& features) {
  settleOptions();
  llvm::Triple triple(tripleText);
  std::string problem;
  const llvm::Target* backend = llvm::TargetRegistry::lookupTarget(triple, problem);
  if (!backend) return llvm::createStringError(problem);
  std::unique_ptr<llvm::MCSubtargetInfo> known(backend->createMCSubtargetInfo(triple, "", ""));
  if (!known || !known->isCPUStringValid(arch))
    return llvm::createStringError("no code can be made for " + arch + ": this LLVM does not know it");
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(backend->createTargetMachine(
      triple, arch, features, options, llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

llvm::Expected<std::unique_ptr<llvm::TargetMachine>> makeTargetMachine(const Target& target) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  return makeMachine("nvptx64-nvidia-cuda", target.arch, "+ptx" + std::to_string(target.ptxVersion));
}

void optimise(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager calls;
  llvm::ModuleAnalysisManager modules;
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.SLPVectorization = tuning.LoopInterleaving = false; // threads are the vectors here
  llvm::PassInstrumentationCallbacks callbacks;
  PhiValues values;
  if (module.getNamedMetadata(kVariableTable)) values.watch(callbacks);
  llvm::PassBuilder builder(&machine, tuning, std::nullopt, &callbacks);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(calls);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, calls, modules);
  builder.registerOptimizerLastEPCallback(
      [](llvm::ModulePassManager& last, llvm::OptimizationLevel, llvm::ThinOrFullLTOPhase) {
        last.addPass(llvm::createModuleToFunctionPassAdaptor(ShareLoopPointers()));
        last.addPass(llvm::createModuleToFunctionPassAdaptor(MergeFences()));
        last.addPass(llvm::createModuleToFunctionPassAdaptor(OrderByUse()));
      });
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules);
}

namespace {

/// Sums without a rounding that is written out: ptxas takes `add.rn` for something it must not look into, and computes what
/// cannot happen (that 1 + e^x is subnormal). It rounds both alike, and fuses neither with `mul.rn`. Where a text has products
/// that may be fused, all stays as it is, and so do sums of mixed types (`add.rn.f32.bf16`).
std::string relaxSums(llvm::StringRef ptx) {
  if (ptx.contains("mul.f32") || ptx.contains("mul.ftz.f32")) return ptx.str();
  std::string relaxed;
  relaxed.reserve(ptx.size());
  while (!ptx.empty()) {
    const size_t end = std::min(ptx.find('\n'), ptx.size() - 1) + 1;
    llvm::StringRef line = ptx.take_front(end), sum = line;
    ptx = ptx.drop_front(end);
    const bool isSum = sum.consume_front("\tadd.rn") || sum.consume_front("\tsub.rn");
    if (isSum && (sum.starts_with(".f32 ") || sum.starts_with(".ftz.f32 "))) {
      relaxed += line.take_front(llvm::StringRef("\tadd").size());
      line = sum;
    }
    relaxed += line;
  }
  return relaxed;
}

} // namespace

llvm::Expected<std::string> writePtx(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream out(text);
  llvm::legacy::PassManager passes;
  // What addPassesToEmitFile does, with a pass in front of the printer.
  auto* modules = new llvm::MachineModuleInfoWrapperPass(&machine);
  llvm::TargetPassConfig* config = static_cast<llvm::CodeGenTargetMachineImpl&>(machine).createPassConfig(passes);
  config->setDisableVerify(true);
  config->disablePass(&llvm::LiveDebugValuesID); // it knows of physical registers, and these are none
  passes.add(config);
  passes.add(modules);
  bool failed = config->addISelPasses();
  if (!failed) {
    config->addMachinePasses();
    config->setInitialized();
    if (module.getNamedMetadata(kVariableTable)) passes.add(createVariableComments());
    failed = machine.addAsmPrinter(passes, out, nullptr, llvm::CodeGenFileType::AssemblyFile,
                                   modules->getMMI().getContext());
  }
  if (failed) return llvm::createStringError("LLVM cannot write PTX");
  passes.add(llvm::createFreeMachineFunctionPass());
  passes.run(module);
  std::string ptx(text);
  finishVariableComments(ptx, module);
  return relaxSums(ptx);
}

} // namespace tiletwin::codegen
