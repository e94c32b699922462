// ir/Checks.h -- checks as an instrumentation of the IR: passes that add probes (ProbeOps.td) and what they look at.
//
// Here:      which checks a module is instrumented for, and the pass that does it.
// Not here:  words of TILETWIN_CHECK (runtime/Checks.h), what a probe does when it fires (interp/run/ExecuteProbe.cpp).
// Read next: CheckShadows.h, for checks that follow a bad lane from where it begins to where it does harm.
// Invariant: operations that were there stay, in their order, and compute the same; everything added is dead without its
//            probe.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include <memory>

namespace tiletwin::tt {

/// Checks that this module can carry.
struct CheckOptions {
  bool undefined = false, nan = false, overflow = false, promises = false;
  explicit operator bool() const { return undefined || nan || overflow || promises; }
};

/// Adds probes to the public functions of a module in which everything is inlined. Failure with a diagnostic if the result
/// does not verify.
mlir::LogicalResult addChecks(mlir::ModuleOp module, const CheckOptions& options);
/// The same as a pass, "tt-add-checks" with a list of checks, for tests.
std::unique_ptr<mlir::Pass> makeCheckPass(const CheckOptions& options);

} // namespace tiletwin::tt
