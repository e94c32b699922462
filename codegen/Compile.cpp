// codegen/Compile.cpp -- the way from text to text: parse, numerics, layouts, emission, PTX.
#include "codegen/Codegen.h"
#include "codegen/amdgcn/Amdgcn.h"
#include "codegen/dialect/TWG.h"
#include "codegen/emit/Emitter.h"
#include "codegen/emit/LineTable.h"
#include "codegen/libdevice/Libdevice.h"
#include "codegen/passes/AffineLoads.h"
#include "codegen/passes/Barriers.h"
#include "codegen/passes/Divide.h"
#include "codegen/passes/Groups.h"
#include "codegen/passes/Notes.h"
#include "codegen/passes/Pairs.h"
#include "codegen/passes/Phases.h"
#include "codegen/passes/Producer.h"
#include "codegen/passes/SharedMemory.h"
#include "codegen/passes/Steps.h"
#include "codegen/passes/TensorMaps.h"
#include "codegen/passes/TileLoop.h"
#include "codegen/passes/VerifyLayouts.h"
#include "codegen/passes/VerifyProtocol.h"
#include "codegen/ptx/Ptx.h"
#include "codegen/ptx/Variables.h"
#include "ir/Numerics.h"
#include "ir/Passes.h"
#include "ir/SourcePosition.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Verifier.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace tiletwin::codegen {
namespace {

constexpr int kMostThreads = 1024; ///< of a program, on all GPUs

/// LLVM's side of a family of GPUs.
struct Family {
  StringLiteral backend;
  llvm::Expected<std::unique_ptr<llvm::TargetMachine>> (*makeMachine)(const Target&);
  llvm::Expected<std::string> (*write)(llvm::Module&, llvm::TargetMachine&);
  std::string Code::* text;
};
constexpr Family kFamilies[] = {
    {"cuda", makeTargetMachine, writePtx, &Code::ptx},
    {"hip", makeAmdgcnMachine, writeAmdgcn, &Code::amdgcn},
};
const Family* findFamily(const Target& target) {
  return llvm::find_if(kFamilies, [&](const Family& family) { return family.backend == target.backend; });
}

/// One compilation: its contexts, and the first error.
class Compilation {
public:
  Compilation(const Target& target, const Options& options, Code& code)
      : target_(target), options_(options), code_(code), context_(MLIRContext::Threading::DISABLED) {
    tt::prepareContext(context_);
    context_.loadDialect<twg::TWGDialect>();
  }

  std::optional<CompileError> run(std::string_view text, Stage from, Stage to, std::string_view fileName);

private:
  LogicalResult note(Diagnostic& diagnostic);
  LogicalResult fail(const llvm::Twine& message);
  LogicalResult parse(std::string_view text, std::string_view fileName);
  LogicalResult parseLlir(std::string_view text, std::string_view fileName);
  LogicalResult makeTtgir(std::string_view text, std::string_view fileName);
  LogicalResult makeLlir(llvm::TargetMachine& machine);
  LogicalResult steps(std::string_view text, Stage from, Stage to, std::string_view fileName);
  tt::FuncOp kernel() { return kernelOf(*module_); }

  const Target& target_;
  const Options& options_;
  Code& code_;
  MLIRContext context_;
  OwningOpRef<ModuleOp> module_;
  llvm::LLVMContext llvmContext_;
  std::unique_ptr<llvm::Module> llvmModule_;
  std::optional<CompileError> error_;
};

LogicalResult Compilation::note(Diagnostic& diagnostic) {
  const bool isError = diagnostic.getSeverity() == DiagnosticSeverity::Error;
  if (isError ? error_.has_value() : diagnostic.getSeverity() != DiagnosticSeverity::Warning) return success();
  Message said{diagnostic.str(), "", 0, 0};
  if (FileLineColLoc position = tt::positionOf(diagnostic.getLocation())) {
    said.file = position.getFilename().str();
    said.line = int(position.getLine()), said.column = int(position.getColumn());
  }
  if (isError)
    error_ = std::move(said);
  else
    code_.warnings.push_back(std::move(said));
  return success();
}

LogicalResult Compilation::fail(const llvm::Twine& message) {
  if (!error_) error_ = CompileError{message.str(), "", 0, 0};
  return failure();
}

LogicalResult Compilation::parse(std::string_view text, std::string_view fileName) {
  module_ = tt::parseTtir(StringRef(text.data(), text.size()), StringRef(fileName.data(), fileName.size()), context_);
  if (!module_) return fail("the text could not be parsed");
  if (!kernel()) return fail("the text has no public function");
  return success();
}

LogicalResult Compilation::parseLlir(std::string_view text, std::string_view fileName) {
  llvm::SMDiagnostic problem;
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(StringRef(text.data(), text.size()),
                                                     StringRef(fileName.data(), fileName.size()));
  llvmModule_ = llvm::parseIR(*buffer, problem, llvmContext_);
  code_.numWarps = options_.numWarps;
  if (llvmModule_) return success();
  error_ =
      CompileError{problem.getMessage().str(), std::string(fileName), problem.getLineNo(), problem.getColumnNo() + 1};
  return failure();
}

bool hasProducer(tt::FuncOp kernel) { return producerOf(kernel) != nullptr; }

bool hasDotsInFlight(tt::FuncOp kernel) {
  auto find = [](twg::WarpgroupDotOp dot) {
    return dot.getInFlight() ? WalkResult::interrupt() : WalkResult::advance();
  };
  return kernel.walk(find).wasInterrupted();
}

/// A program that two CTAs cannot run together is run by one.
/// Where the shared memory of a CTA is too small, each CTA runs one program; then all loops copy blocks or none does, so that a
/// producer's rings are nobody else's; then no warps copy ahead across what the kernel keeps there, and then products wait
/// for each other: so the memory of copies, and of operands, is used again. A CTA that has no warps that copy ahead runs one
/// program, too.
LogicalResult Compilation::makeTtgir(std::string_view text, std::string_view fileName) {
  struct Saving {
    bool Options::* option;
    bool (*isUsed)(tt::FuncOp);
  };
  constexpr Saving kSavings[] = {{&Options::deepRings, [](tt::FuncOp) { return true; }},
                                 {&Options::pairs, runsInPairs},
                                 {&Options::tileLoops, hasTileLoop},
                                 {&Options::decideApart, hasProducer},
                                 {&Options::producers, hasProducer},
                                 {&Options::dotsInFlight, hasDotsInFlight}};
  auto again = [&](const Options& options) {
    error_.reset(), code_.warnings.clear();
    return success(succeeded(parse(text, fileName)) && succeeded(runSteps(ttgirSteps(), *module_, target_, options)));
  };
  const uint32_t most = target_.features().sharedKilobytesMost * 1024;
  Options smaller = options_;
  smaller.deepRings &= smaller.isAlone;
  if (failed(runSteps(ttgirSteps(), *module_, target_, options_))) {
    smaller.undivided =
        "the product's operands do not lie in shared memory as tensor cores read them. Leave it out, or load "
        "them with 16 bytes side by side";
    if (!isDivided(kernel()) || failed(again(smaller))) return failure();
  }
  if (isDivided(kernel()) && most && sharedBytesOf(kernel()) > most) {
    smaller.undivided =
        "what each of two CTAs would need of the program does not fit into shared memory. Leave it out, or "
        "make num_stages smaller";
    if (failed(again(smaller))) return failure();
  }
  for (const Saving& saving : kSavings) {
    const bool isInVain = hasTileLoop(kernel()) && !hasProducer(kernel());
    if (!isInVain && (!most || sharedBytesOf(kernel()) <= most)) break;
    if (!(smaller.*saving.option) || !saving.isUsed(kernel())) continue;
    smaller.*saving.option = false;
    if (failed(again(smaller))) return failure();
  }
  return success();
}

LogicalResult Compilation::makeLlir(llvm::TargetMachine& machine) {
  // Passes on the way must not leave a rounding open, nor may a user's ttgir.
  if (failed(tt::verifyNumericsExplicit(*module_, {.capability = target_.capability}))) return failure();
  const ThreadBits threads = threadsOf(target_, options_);
  if (failed(verifyLayouts(kernel(), threads))) return failure();
  if (!barriersAreComplete(*module_)) { // text that a user wrote
    derivePhases(kernel());
    assignSharedMemory(kernel(), target_, threads);
    insertBarriers(kernel());
    makeGroups(kernel());
  }
  if (failed(verifyProtocol(kernel(), target_, threads))) return failure();
  llvmModule_ = std::make_unique<llvm::Module>(kernel().getName(), llvmContext_);
  llvmModule_->setTargetTriple(machine.getTargetTriple());
  llvmModule_->setDataLayout(machine.createDataLayout());
  std::optional<LineTable> lines;
  if (options_.lineInfo) lines.emplace(*llvmModule_);
  Emitter emitter(*llvmModule_, target_, options_, lines ? &*lines : nullptr);
  if (failed(emitter.emitKernel(kernel()))) return fail("the kernel could not be emitted");
  if (lines) lines->finish();
  if (auto reaching = (*module_)->getAttrOfType<StringAttr>(kReaching)) {
    llvm::NamedMDNode* table = llvmModule_->getOrInsertNamedMetadata(kLineTable);
    for (StringRef line : llvm::split(reaching.getValue().rtrim('\n'), '\n'))
      table->addOperand(llvm::MDNode::get(llvmContext_, llvm::MDString::get(llvmContext_, line)));
  }
  code_.name = kernel().getName().str();
  code_.sharedBytes = sharedBytesOf(kernel());
  code_.scratchBytes = emitter.globalScratchBytes();
  code_.numWarps = warpsOf(kernel(), options_);
  code_.programCtas = isDivided(kernel()) ? kCtasOfPair : 1;
  code_.clusterCtas = runsInPairs(kernel()) ? kCtasOfPair : code_.programCtas;
  for (BlockArgument argument : kernel().getArguments()) {
    mlir::Type type = argument.getType();
    std::string name;
    llvm::raw_string_ostream out(name);
    if (twg::TensorMapAttr map = tensorMapOf(argument))
      out << describeTensorMap(map, recipeOf(argument));
    else if (StringRef recipe = recipeOf(argument); recipe == kProgramsRecipe)
      out << recipe;
    else if (!recipe.empty())
      out << "copies<" << recipe << '>';
    else if (isa<tt::PointerType>(type))
      out << "ptr";
    else if (isa<tt::TensorDescType>(type))
      out << "i64"; // the base address, with two facts of the descriptor in its low bits (emit/Descriptor.h)
    else
      out << type;
    code_.arguments.push_back(name);
  }
  std::string problem;
  llvm::raw_string_ostream out(problem);
  if (llvm::verifyModule(*llvmModule_, &out)) return fail("emission made LLVM IR that is not valid: " + problem);
  if (llvm::Error wrong = linkLibdevice(*llvmModule_, {target_.capability, options_.flushDenormals}))
    return fail(llvm::toString(std::move(wrong)));
  optimise(*llvmModule_, machine);
  return success();
}

LogicalResult Compilation::steps(std::string_view text, Stage from, Stage to, std::string_view fileName) {
  if (from <= Stage::Ttgir && failed(parse(text, fileName))) return failure();
  if (from == Stage::Ttir && failed(makeTtgir(text, fileName))) return failure();
  if (module_) code_.ttgir = tt::printTtir(*module_);
  if (to == Stage::Ttgir) return success();
  const Family& family = *findFamily(target_);
  llvm::Expected<std::unique_ptr<llvm::TargetMachine>> machine = family.makeMachine(target_);
  if (!machine) return fail(llvm::toString(machine.takeError()));
  if (from == Stage::Llir ? failed(parseLlir(text, fileName)) : failed(makeLlir(**machine))) return failure();
  llvm::raw_string_ostream(code_.llir) << *llvmModule_;
  if (to == Stage::Llir) return success();
  llvm::Expected<std::string> assembly = family.write(*llvmModule_, **machine);
  if (!assembly) {
    std::string problem = llvm::toString(assembly.takeError());
    return module_ ? LogicalResult(kernel().emitError(problem)) : fail(problem);
  }
  code_.*family.text = std::move(*assembly);
  return success();
}

std::optional<CompileError> Compilation::run(std::string_view text, Stage from, Stage to, std::string_view fileName) {
  ScopedDiagnosticHandler handler(&context_, [this](Diagnostic& diagnostic) { return note(diagnostic); });
  if (succeeded(steps(text, from, to, fileName))) return std::nullopt;
  return error_;
}

} // namespace

tt::GpuFeatures Target::features() const { return tt::featuresOf(capability, arch, ptxVersion); }

std::optional<CompileError> compile(std::string_view text, Stage from, Stage to, std::string_view fileName,
                                    const Target& target, const Options& options, Code& code) {
  if (!llvm::isPowerOf2_32(uint32_t(options.numWarps)) || options.numWarps > 32)
    return CompileError{"num_warps is a power of two from 1 to 32, not " + std::to_string(options.numWarps), "", 0, 0};
  if (findFamily(target) == std::end(kFamilies))
    return CompileError{"there is no code generation for " + target.backend, "", 0, 0};
  if (options.numWarps * target.warpSize > kMostThreads)
    return CompileError{"num_warps=" + std::to_string(options.numWarps) + " of " + std::to_string(target.warpSize) +
                            " threads: a program has at most " + std::to_string(kMostThreads) + " threads",
                        "", 0, 0};
  return Compilation(target, options, code).run(text, from, to, fileName);
}

std::optional<CompileError> assembleAmdgcn(std::string_view text, std::string_view fileName, const Target& target,
                                           std::string& object) {
  llvm::Expected<std::string> made =
      objectOfAmdgcn(StringRef(text.data(), text.size()), StringRef(fileName.data(), fileName.size()), target);
  if (made) return object = std::move(*made), std::nullopt;
  return CompileError{llvm::toString(made.takeError()), std::string(fileName), 0, 0};
}

} // namespace tiletwin::codegen
