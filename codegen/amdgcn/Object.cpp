// codegen/amdgcn/Object.cpp -- assembly to an object file, by LLVM's own assembler.
#include "codegen/amdgcn/Amdgcn.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/MC/MCAsmBackend.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCCodeEmitter.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCObjectFileInfo.h"
#include "llvm/MC/MCObjectWriter.h"
#include "llvm/MC/MCParser/MCAsmParser.h"
#include "llvm/MC/MCParser/MCTargetAsmParser.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

namespace tiletwin::codegen {
namespace {

/// Keeps the first error as "line: message".
void note(const llvm::SMDiagnostic& problem, void* text) {
  auto& first = *static_cast<std::string*>(text);
  if (problem.getKind() == llvm::SourceMgr::DK_Error && first.empty())
    first = std::to_string(problem.getLineNo()) + ": " + problem.getMessage().str();
}

} // namespace

llvm::Expected<std::string> objectOfAmdgcn(llvm::StringRef text, llvm::StringRef fileName, const Target& target) {
  llvm::Expected<std::unique_ptr<llvm::TargetMachine>> machine = makeAmdgcnMachine(target);
  if (!machine) return machine.takeError();
  const llvm::Target& backend = (*machine)->getTarget();
  const llvm::Triple& triple = (*machine)->getTargetTriple();
  const llvm::MCRegisterInfo& registers = *(*machine)->getMCRegisterInfo();
  const llvm::MCAsmInfo& syntax = *(*machine)->getMCAsmInfo();
  const llvm::MCSubtargetInfo& subtarget = *(*machine)->getMCSubtargetInfo();
  const llvm::MCInstrInfo& instructions = *(*machine)->getMCInstrInfo();
  llvm::MCTargetOptions options;

  std::string problem;
  llvm::SourceMgr sources;
  sources.setDiagHandler(note, &problem);
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, fileName), llvm::SMLoc());
  llvm::MCContext context(triple, &syntax, &registers, &subtarget, &sources, &options);
  std::unique_ptr<llvm::MCObjectFileInfo> sections(backend.createMCObjectFileInfo(context, /*PIC=*/true));
  context.setObjectFileInfo(sections.get());

  llvm::SmallString<0> object;
  llvm::raw_svector_ostream out(object);
  std::unique_ptr<llvm::MCAsmBackend> fixups(backend.createMCAsmBackend(subtarget, registers, options));
  std::unique_ptr<llvm::MCObjectWriter> writer = fixups->createObjectWriter(out);
  std::unique_ptr<llvm::MCCodeEmitter> encoder(backend.createMCCodeEmitter(instructions, context));
  std::unique_ptr<llvm::MCStreamer> streamer(backend.createMCObjectStreamer(
      triple, context, std::move(fixups), std::move(writer), std::move(encoder), subtarget));
  std::unique_ptr<llvm::MCAsmParser> parser(llvm::createMCAsmParser(sources, context, *streamer, syntax));
  std::unique_ptr<llvm::MCTargetAsmParser> words(backend.createMCAsmParser(subtarget, *parser, instructions, options));
  parser->setTargetParser(*words);
  bool failed = parser->Run(/*NoInitialTextSection=*/false);
  if (failed || context.hadError()) return llvm::createStringError(problem.empty() ? "not assembled" : problem);
  return std::string(object);
}

} // namespace tiletwin::codegen
