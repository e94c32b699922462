// codegen/amdgcn/Amdgcn.cpp -- see Amdgcn.h.
#include "codegen/amdgcn/Amdgcn.h"
#include "codegen/ptx/Ptx.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Support/raw_ostream.h"
#include <mutex>

// The part of the AMDGPU target that is linked (llvm/Support/TargetSelect.h would want all targets of the build of LLVM).
extern "C" {
void LLVMInitializeAMDGPUTarget();
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUAsmPrinter();
void LLVMInitializeAMDGPUAsmParser();
}

namespace tiletwin::codegen {
namespace {

/// Pointers in the code's metadata and the hidden arguments are those of this version.
constexpr int kCodeObjectVersion = 500;

/// Errors of the backend, which by default would end the process.
class Errors {
public:
  explicit Errors(llvm::LLVMContext& context) : context_(context), before_(context.getDiagnosticHandlerCallBack()) {
    context.setDiagnosticHandlerCallBack(&Errors::note, this);
  }
  ~Errors() { context_.setDiagnosticHandlerCallBack(before_); }
  const std::string& text() const { return text_; }

private:
  static void note(const llvm::DiagnosticInfo* info, void* self) {
    if (info->getSeverity() != llvm::DS_Error) return;
    llvm::raw_string_ostream out(static_cast<Errors*>(self)->text_);
    llvm::DiagnosticPrinterRawOStream printer(out);
    info->print(printer);
    out << '\n';
  }

  llvm::LLVMContext& context_;
  llvm::DiagnosticHandler::DiagnosticHandlerTy before_;
  std::string text_;
};

} // namespace

llvm::Expected<std::unique_ptr<llvm::TargetMachine>> makeAmdgcnMachine(const Target& target) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmPrinter();
    LLVMInitializeAMDGPUAsmParser();
  });
  // gfx9 has wavefronts of 64 lanes; later ones shuffle between 32 lanes only. What came before has none of that.
  const bool isNew = llvm::StringRef(target.arch).starts_with("gfx1");
  const int lanes = isNew ? 32 : llvm::StringRef(target.arch).starts_with("gfx9") ? 64 : 0;
  auto machine = makeMachine("amdgcn-amd-amdhsa", target.arch, isNew ? "+wavefrontsize32" : "");
  if (!machine) return machine;
  if (lanes == 0) return llvm::createStringError("no code is made for " + target.arch + ": gfx9 and later have it");
  if (target.warpSize != lanes)
    return llvm::createStringError("a warp of " + target.arch + " has " + std::to_string(lanes) + " threads, not " +
                                   std::to_string(target.warpSize));
  return machine;
}

llvm::Expected<std::string> writeAmdgcn(llvm::Module& module, llvm::TargetMachine& machine) {
  module.setModuleFlag(llvm::Module::Error, "amdhsa_code_object_version",
                       llvm::ConstantInt::get(llvm::Type::getInt32Ty(module.getContext()), kCodeObjectVersion));
  Errors errors(module.getContext());
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream out(text);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, out, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return llvm::createStringError("LLVM cannot write assembly of AMD GPUs");
  passes.run(module);
  if (!errors.text().empty()) return llvm::createStringError(llvm::StringRef(errors.text()).rtrim().str());
  return std::string(text);
}

} // namespace tiletwin::codegen
