// interp/plan/UserPlace.cpp -- see UserPlace.h.
#include "interp/plan/UserPlace.h"

namespace tiletwin::interp {

/// The place a user is told: in a function of the language's library, the call of it in the user's file.
static bool findPlace(mlir::Location l, SourceLocation& out) {
  if (auto file = llvm::dyn_cast<mlir::FileLineColLoc>(l)) {
    out.file = file.getFilename().str();
    out.line = int(file.getLine());
    out.column = int(file.getColumn());
    return !llvm::StringRef(out.file).contains("/tiletwin/language/");
  }
  if (auto name = llvm::dyn_cast<mlir::NameLoc>(l)) {
    const bool users = findPlace(name.getChildLoc(), out);
    out.variable = name.getName().str();
    return users;
  }
  if (auto call = llvm::dyn_cast<mlir::CallSiteLoc>(l)) {
    if (findPlace(call.getCallee(), out)) return true;
    SourceLocation caller;
    const bool users = findPlace(call.getCaller(), caller);
    if (users) out = caller;
    return users;
  }
  if (auto fused = llvm::dyn_cast<mlir::FusedLoc>(l))
    for (mlir::Location part : fused.getLocations())
      if (findPlace(part, out)) return true;
  return false;
}

SourceLocation placeForUser(mlir::Location location) {
  SourceLocation where;
  findPlace(location, where);
  return where;
}

} // namespace tiletwin::interp
