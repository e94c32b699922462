// diff/Bounds.h -- how far two right runs of a kernel may be apart, element by element: a kernel that computes it.
//
// Here:      addBounds(), which turns a kernel into one that also computes, for every number it stores, a bound of the
//            difference between two backends; Latitude, what the two may do differently without being wrong.
// Not here:  the rules of single operations (bounds/*Ops.cpp), running the kernel (the interpreter does), comparing (Compare.h).
// Idea:      running error analysis. Every value that may differ gets a shadow, an f32 of its shape: with v the interpreter's
//            value, any two right runs are within v +- shadow of each other. Each operation makes its result's shadow of those
//            of its operands and of its own rounding; memory has shadow memory behind shadow pointers, so a bound goes through
//            stores and loads. A value that cannot differ has no shadow and costs nothing.
//
// What is guaranteed, to first order in the roundings: +, -, *, /, fma, sqrt, casts, minima, maxima, selection (a condition that
// may go either way gives the distance of the two choices), sums along an axis in any order (n * ulp * sum of |terms|), dots
// (the same with the accumulator's ulp), atomic sums in any order, integers made of numbers and their sums modulo 2^n.
// What is heuristic:
//   - functions without an analytic rule are evaluated at both ends of the argument's interval: right if monotone there, and
//     near an extremum; their own errors are those of CUDA's tables (bounds/FunctionOps.cpp);
//   - reductions and scans with other combine functions than +, * , min, max are followed in the interpreter's order;
//   - errors of f64 below 2^-149 count as 2^-149.
// An infinite bound says that nothing is known. It comes from a branch, an address or a loop that an error decides,
// from the value that an atomic returns, from an element that two atomics exchanged, and from an operation without a
// rule. `Reason` says which of these a launch came to. Where the other side may have written elements that this one has
// not, an argument's memory is "open": no bound of it counts.
// Invariant: shadows never feed an operation of the kernel; the kernel's values are what they were.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include <cstdint>
#include <string>
#include <vector>

namespace tiletwin::diff {

/// What two right runs may do differently.
struct Latitude {
  bool contracts = false;        ///< x * y + z rounded once on one side, twice on the other; so of products of matrices
  bool approximates = false;     ///< division, exp, sqrt ... by a GPU's approximate units
  bool tf32Differs = false;      ///< one side reads the f32 operands of a tf32 dot as they are
  bool fp8Sums = false;          ///< sums of f8 products with 13 bits on one side
  bool undefinedDiffers = false; ///< lanes of a load that are masked off, without `other`, may hold anything
};

/// Why a bound is infinite. The bounds kernel writes a 1 to element `Reason` of its last argument where it happens. Behind
/// these: one element for "nothing of this launch is known" (kEverything), then one for each of `shadowed`, "open".
enum class Reason : uint8_t { Branch, Address, AtomicOrder, NoRule, Undefined, Count };
const char* textOf(Reason reason);

struct BoundsKernel {
  /// Arguments of the kernel that have shadow memory: pointers and descriptors, in order. For each of them the kernel has
  /// one more argument behind its own, a pointer to f32: element i is the bound of the argument's element i. Behind these
  /// an i64, the distance of planes in elements, and a pointer to i32, the reasons.
  /// Four planes of shadow memory: the bound; the sum of |terms| and the number of terms of atomic sums; who wrote the
  /// element: (linear program id) * stores + (number of the store) + 1 as i32, 0: nobody.
  std::vector<unsigned> shadowed;
  /// The places of the stores, by number, as locations of the module.
  std::vector<mlir::Location> stores;
  static constexpr int kEverything = int(Reason::Count);
  /// Those of `shadowed` that the kernel reads through: if such memory is open, nothing of the launch is known.
  std::vector<unsigned> read;
  /// Names of operations without a rule that are in the kernel and that something inexact reaches.
  std::vector<std::string> withoutRule;
};

/// Adds shadows to the public function `entry`, whose calls must be inlined. Fails with a diagnostic.
mlir::FailureOr<BoundsKernel> addBounds(mlir::ModuleOp module, llvm::StringRef entry, const Latitude& latitude);

} // namespace tiletwin::diff
