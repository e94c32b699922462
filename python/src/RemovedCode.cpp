// python/src/RemovedCode.cpp -- see RemovedCode.h.
#include "RemovedCode.h"
#include "Binding.h"
#include "interp/plan/UserPlace.h"
#include "interp/plan/WaitCause.h"
#include "ir/TT.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <map>
#include <set>
#include <tuple>

namespace tiletwin::python {
namespace {

using Place = std::tuple<std::string, int, int>;

Place placeOf(mlir::Operation* op) {
  const SourceLocation where = interp::placeForUser(op->getLoc());
  return {where.file, where.line, where.column};
}

bool warn(const Place& place, const std::string& text) {
  const auto& [file, line, column] = place;
  if (file.empty() || llvm::StringRef(file).contains("/tiletwin/language/")) return true;
  static PyObject* said = PyDict_New(); // Python's own memory of what it has shown; for ever
  return PyErr_WarnExplicit(PyExc_UserWarning, text.c_str(), file.c_str(), line, nullptr, said) == 0;
}

/// Whether an access, or a function that is called for it, reads memory in a way that need not see what others write.
/// Other accesses are never removed where a program comes to them.
bool readsPlainly(mlir::Operation* access, llvm::SmallPtrSetImpl<mlir::Operation*>& seen) {
  if (auto load = llvm::dyn_cast<tt::LoadOp>(access)) return !load.getIsVolatile();
  auto call = llvm::dyn_cast<tt::CallOp>(access);
  if (!call) return llvm::isa<tt::DescriptorLoadOp, tt::DescriptorGatherOp>(access);
  auto callee = access->getParentOfType<mlir::ModuleOp>().lookupSymbol<tt::FuncOp>(call.getCalleeAttr().getAttr());
  if (!callee || !seen.insert(callee).second) return false;
  return callee
      ->walk([&](mlir::Operation* op) {
        return readsPlainly(op, seen) ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

/// `tl.load(p)` with nothing around it: no name, no use.
bool isStatement(tt::LoadOp load) {
  return !load.getIsVolatile() && load->use_empty() && !llvm::isa<mlir::NameLoc>(load.getLoc());
}

} // namespace

bool warnOfRemovedCode(mlir::ModuleOp source, mlir::ModuleOp ttir) {
  std::set<Place> left;
  ttir.walk([&](mlir::Operation* op) {
    if (llvm::isa<mlir::scf::WhileOp, tt::LoadOp>(op)) left.insert(placeOf(op));
  });
  std::map<Place, std::string> removed; // in the order of the file
  source.walk([&](mlir::Operation* op) {
    if (!llvm::isa<mlir::scf::WhileOp, tt::LoadOp>(op)) return;
    const Place place = placeOf(op);
    if (llvm::isa<mlir::scf::WhileOp>(op) && !left.count(place)) {
      mlir::Operation* access = interp::whileWaitsOn(op).access;
      llvm::SmallPtrSet<mlir::Operation*, 8> seen;
      if (!access || !readsPlainly(access, seen)) return;
      const int line = std::get<1>(placeOf(access));
      removed[place] = "this loop waits for memory and has no other effect, so compilers remove it, on a GPU too: the "
                       "load in line " +
                       std::to_string(line ? line : std::get<1>(place)) +
                       " need not see what others write. Write tl.load(..., volatile=True), or an atomic operation "
                       "with sem=\"acquire\"";
    } else if (auto load = llvm::dyn_cast<tt::LoadOp>(op); load && isStatement(load) && !left.count(place)) {
      removed[place] = "nothing uses what tl.load reads here, so compilers remove it, on a GPU too, and no access is "
                       "made or checked. Use the value, write tl.load(..., volatile=True) to keep it, or delete it";
    }
  });
  for (const auto& [place, text] : removed)
    if (!warn(place, text)) return false;
  return true;
}

} // namespace tiletwin::python
