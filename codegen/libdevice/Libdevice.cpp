#include "codegen/libdevice/Libdevice.h"
#include "codegen/libdevice/Contraction.h"
#include "codegen/libdevice/Data.h"
#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Operator.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/MemoryBufferRef.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace tiletwin::codegen {
namespace {

/// The types of libdevice's public functions, as text.
StringMap<std::string> readSignatures() {
  LLVMContext context;
  std::unique_ptr<Module> library = cantFail(readLibdevice(context));
  StringMap<std::string> signatures;
  for (const Function& function : *library)
    if (!function.isDeclaration() && function.getName().starts_with("__nv_"))
      signatures[function.getName()] = signatureText(*function.getFunctionType());
  return signatures;
}

/// The functions of libdevice that the kernel declares and calls.
SmallVector<Function*> declared(Module& kernel) {
  SmallVector<Function*> functions;
  for (Function& function : kernel)
    if (function.isDeclaration() && function.getName().starts_with("__nv_") && !function.use_empty())
      functions.push_back(&function);
  return functions;
}

Error check(ArrayRef<Function*> functions) {
  for (const Function* function : functions) {
    const StringRef known = libdeviceSignature(function->getName());
    const std::string given = signatureText(*function->getFunctionType());
    if (known.empty()) return createStringError("libdevice has no function " + function->getName());
    if (known != given) return createStringError(function->getName() + " of libdevice is " + known + ", not " + given);
  }
  return Error::success();
}

/// What libdevice asks the compiler.
int answer(StringRef question, const LibdeviceOptions& options) {
  if (question == "__CUDA_FTZ") return options.flushDenormals;
  if (question == "__CUDA_ARCH") return options.capability * 10;
  return 0;
}

StringRef questionOf(const CallInst& call) {
  auto* text = cast<GlobalVariable>(call.getArgOperand(0)->stripPointerCasts());
  return cast<ConstantDataSequential>(text->getInitializer())->getAsCString();
}

/// Puts the answers in, and takes out what they make unreachable.
void answerQuestions(Function& function, const LibdeviceOptions& options) {
  SmallVector<CallInst*> calls;
  for (Instruction& op : instructions(function))
    if (auto* call = dyn_cast<CallInst>(&op))
      if (Function* callee = call->getCalledFunction(); callee && callee->getName() == "__nvvm_reflect")
        calls.push_back(call);
  for (CallInst* call : calls) {
    Constant* value = ConstantInt::getSigned(call->getType(), answer(questionOf(*call), options));
    SmallVector<Instruction*> users;
    for (User* user : call->users()) users.push_back(cast<Instruction>(user));
    call->replaceAllUsesWith(value);
    call->eraseFromParent();
    const DataLayout& layout = function.getParent()->getDataLayout();
    for (Instruction* user : users)
      if (Constant* folded = ConstantFoldInstruction(user, layout)) {
        user->replaceAllUsesWith(folded);
        user->eraseFromParent();
      }
  }
  for (BasicBlock& block : function) ConstantFoldTerminator(&block, /*DeleteDeadConditions=*/true);
  removeUnreachableBlocks(function);
}

/// Blocks that a branch connects become one, small branches become selects: what LLVM's own pipeline would do before it fuses.
void simplify(Function& function) {
  const TargetTransformInfo costs(function.getDataLayout());
  for (bool changed = true; changed;) {
    changed = false;
    for (BasicBlock& block : make_early_inc_range(function))
      if (simplifyCFG(&block, costs)) {
        changed = true;
        break;
      }
  }
}

/// A function of libdevice becomes one of ours: private, without the flags and attributes of the compiler that made it.
void adopt(Function& function, const LibdeviceOptions& options) {
  function.setLinkage(GlobalValue::InternalLinkage);
  AttrBuilder kept(function.getContext());
  kept.addAttribute(Attribute::NoUnwind);
  for (Attribute::AttrKind kind : {Attribute::AlwaysInline, Attribute::NoInline})
    if (function.hasFnAttribute(kind)) kept.addAttribute(kind);
  function.setAttributes(AttributeList::get(function.getContext(), AttributeList::FunctionIndex, kept));
  for (Instruction& op : instructions(function))
    if (isa<FPMathOperator>(op)) op.setFastMathFlags({});
  answerQuestions(function, options);
  simplify(function);
  contractProducts(function);
}

} // namespace

Expected<std::unique_ptr<Module>> readLibdevice(LLVMContext& context) {
  const std::string_view bytes = libdeviceBitcode();
  return getLazyBitcodeModule(MemoryBufferRef(StringRef(bytes.data(), bytes.size()), "libdevice.10.bc"), context);
}

std::string signatureText(const FunctionType& type) {
  std::string text;
  raw_string_ostream(text) << type;
  return text;
}

StringRef libdeviceSignature(StringRef function) {
  static const StringMap<std::string> signatures = readSignatures();
  auto at = signatures.find(function);
  return at == signatures.end() ? StringRef() : StringRef(at->second);
}

Error linkLibdevice(Module& kernel, const LibdeviceOptions& options) {
  SmallVector<Function*> functions = declared(kernel);
  if (functions.empty()) return Error::success();
  if (Error wrong = check(functions)) return wrong;
  Expected<std::unique_ptr<Module>> library = readLibdevice(kernel.getContext());
  if (!library) return library.takeError();
  (*library)->setDataLayout(kernel.getDataLayout());
  (*library)->setTargetTriple(kernel.getTargetTriple());
  SmallPtrSet<const GlobalValue*, 16> before;
  for (const GlobalValue& value : kernel.global_values())
    if (!value.isDeclaration()) before.insert(&value);
  if (Linker::linkModules(kernel, std::move(*library), Linker::LinkOnlyNeeded))
    return createStringError("libdevice could not be linked");
  for (Function& function : kernel)
    if (!function.isDeclaration() && !before.contains(&function)) adopt(function, options);
  for (GlobalVariable& data : make_early_inc_range(kernel.globals())) {
    if (before.contains(&data) || data.isDeclaration()) continue;
    data.setLinkage(GlobalValue::InternalLinkage);
    if (data.use_empty()) data.eraseFromParent(); // the texts of questions
  }
  for (Function& function : make_early_inc_range(kernel)) // what only the branches not taken call
    if (function.isDeclaration() && function.use_empty()) function.eraseFromParent();
  return Error::success();
}

} // namespace tiletwin::codegen
