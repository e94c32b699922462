// ir/Numerics.h -- the numerics pass: what a target rounds, said in operations that have one definition each.
//
// Here:      the pass, and the check that nothing is left to the target.
// Not here:  what the operations compute (TWOps.td); the order of sums in reductions and dots, which follows from layouts.
// Idea:      a code generator that lowers the result one to one, with a rounding modifier on every instruction, can neither
//            fuse nor approximate further; an interpreter can run the same operations and get the same bits. The choices
//            are those that Triton makes for the same kernel: NumericsRewrites.cpp lists them, Contraction.h has the rule for
//            products and sums, DotSums.h the one for products of matrices.
// Invariant: after the pass verifyNumericsExplicit() succeeds.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include <memory>

namespace tiletwin::tt {

/// Whose rules hold.
enum class GpuFamily : uint8_t { Nvidia, Amd };

struct NumericsTarget {
  int capability = 90;        // 75, 80, 86, 89, 90, 100, 120: of sm_XX; 0: not NVIDIA's
  bool enableFpFusion = true; // products and sums become fused multiply-adds
  bool flushDenormals = true; // exp2, sqrt and rsqrt of f32 take and give zeros for denormals, as in Triton
  GpuFamily family = GpuFamily::Nvidia;
};

/// Rewrites the module for `target`. Fails with a diagnostic at an operation that no target can compute.
mlir::LogicalResult makeNumericsExplicit(mlir::ModuleOp module, const NumericsTarget& target);

/// Fails with an error at each operation whose rounding `target` would choose.
mlir::LogicalResult verifyNumericsExplicit(mlir::ModuleOp module, const NumericsTarget& target);

/// The pass as "tt-numerics" with the options capability, fp-fusion and flush-denormals, for tests.
std::unique_ptr<mlir::Pass> makeNumericsPass();

} // namespace tiletwin::tt
