// ir/Text.cpp -- TTIR text in and out.
#include "ir/Passes.h"
#include "ir/TT.h"
#include "mlir/IR/AsmState.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

namespace tiletwin::tt {

OwningOpRef<ModuleOp> parseTtir(StringRef text, StringRef fileName, MLIRContext& context) {
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, fileName), llvm::SMLoc());
  ParserConfig config(&context);
  return parseSourceFile<ModuleOp>(sources, config);
}

std::string printTtir(ModuleOp module, bool locations) {
  OpPrintingFlags flags;
  flags.printNameLocAsPrefix(true);
  if (locations) flags.enableDebugInfo(true, /*prettyForm=*/false);
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream, flags);
  stream << '\n';
  return text;
}

} // namespace tiletwin::tt
