// codegen/emit/LineTable.cpp -- MLIR locations to DILocations.
#include "codegen/emit/LineTable.h"
#include "ir/SourcePosition.h"
#include "mlir/IR/Builders.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace tiletwin::codegen {

LineTable::LineTable(llvm::Module& module) : module_(module), builder_(module) {
  module.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
}

llvm::DIFile* LineTable::fileOf(StringRef path) {
  llvm::DIFile*& file = files_[path];
  if (!file) file = builder_.createFile(llvm::sys::path::filename(path), llvm::sys::path::parent_path(path));
  return file;
}

void LineTable::begin(llvm::Function* function, Location location) {
  FileLineColLoc position = tt::positionOf(location);
  kernelPath_ = position ? position.getFilename().str() : std::string("<unknown>");
  unsigned line = position ? position.getLine() : 1;
  if (!unit_)
    unit_ = builder_.createCompileUnit(llvm::DISourceLanguageName(llvm::dwarf::DW_LANG_C), fileOf(kernelPath_),
                                       "tiletwin", true, "", 0, "", llvm::DICompileUnit::DebugDirectivesOnly);
  auto* type = builder_.createSubroutineType(builder_.getOrCreateTypeArray({}));
  kernel_ = builder_.createFunction(fileOf(kernelPath_), function->getName(), function->getName(), fileOf(kernelPath_),
                                    line, type, line, llvm::DINode::FlagZero,
                                    llvm::DISubprogram::SPFlagDefinition | llvm::DISubprogram::SPFlagOptimized);
  function->setSubprogram(kernel_);
}

llvm::DISubprogram* LineTable::scopeOf(StringRef path, unsigned line) {
  llvm::DISubprogram*& scope = inlined_[path];
  if (!scope) {
    auto* type = builder_.createSubroutineType(builder_.getOrCreateTypeArray({}));
    scope = builder_.createFunction(fileOf(path), llvm::sys::path::stem(path), "", fileOf(path), line, type, line,
                                    llvm::DINode::FlagZero,
                                    llvm::DISubprogram::SPFlagDefinition | llvm::DISubprogram::SPFlagLocalToUnit);
  }
  return scope;
}

llvm::DILocation* LineTable::locate(Location location, llvm::DILocation* inlinedAt) {
  if (auto name = dyn_cast<NameLoc>(location)) return locate(name.getChildLoc(), inlinedAt);
  if (auto call = dyn_cast<CallSiteLoc>(location)) {
    llvm::DILocation* caller = locate(call.getCaller(), inlinedAt);
    return locate(call.getCallee(), caller ? caller : inlinedAt);
  }
  FileLineColLoc position = tt::positionOf(location);
  if (!position) return nullptr;
  StringRef path = position.getFilename().getValue();
  llvm::DISubprogram* scope = !inlinedAt ? kernel_ : scopeOf(path, position.getLine());
  llvm::DIScope* place = scope;
  if (!inlinedAt && path != kernelPath_) place = builder_.createLexicalBlockFile(scope, fileOf(path));
  return llvm::DILocation::get(module_.getContext(), position.getLine(), position.getColumn(), place, inlinedAt);
}

llvm::DebugLoc LineTable::locationOf(Location location, llvm::LLVMContext& context) {
  if (llvm::DILocation* found = locate(location, nullptr)) return llvm::DebugLoc(found);
  return llvm::DebugLoc(llvm::DILocation::get(context, 0, 0, kernel_));
}

} // namespace tiletwin::codegen
