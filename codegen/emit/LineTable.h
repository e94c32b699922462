// codegen/emit/LineTable.h -- source locations of the kernel as LLVM debug locations, for .loc directives.
// Here:      files, functions and lines, calls that were inlined. Not here: variables.
#pragma once
#include "mlir/IR/Location.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/Module.h"

namespace tiletwin::codegen {

class LineTable {
public:
  explicit LineTable(llvm::Module& module);
  /// Locations from now on belong to this function.
  void begin(llvm::Function* function, mlir::Location location);
  llvm::DebugLoc locationOf(mlir::Location location, llvm::LLVMContext& context);
  /// To be called once, after the last function.
  void finish() { builder_.finalize(); }

private:
  llvm::DIFile* fileOf(llvm::StringRef path);
  llvm::DISubprogram* scopeOf(llvm::StringRef path, unsigned line);
  llvm::DILocation* locate(mlir::Location location, llvm::DILocation* inlinedAt);

  llvm::Module& module_;
  llvm::DIBuilder builder_;
  llvm::DICompileUnit* unit_ = nullptr;
  llvm::DISubprogram* kernel_ = nullptr;
  std::string kernelPath_;
  llvm::StringMap<llvm::DIFile*> files_;
  llvm::StringMap<llvm::DISubprogram*> inlined_; // one for each file that code was inlined from
};

} // namespace tiletwin::codegen
