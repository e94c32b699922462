// codegen/passes/AffineLoads.h -- tiles of pointers that loops read for matrix products, as blocks of a tensor.
//
// Here:      which loads are the same as copies of blocks by the tensor memory accelerator (TMA), the arguments that the
//            kernel gets for that, and what the launcher makes of them.
// Not here:  the form of the pointers (AffineForm.h), what becomes of such blocks (TensorCopies.h, PipelineTma.h), the launch
//            (python/src/CopiedLoads.h, python/tiletwin/launch/copied_loads.py).
//
// Idea: pointers `base + i * stride + j` with a mask `i < n` are a block of a tensor that nobody wrote down. The kernel gets the
//       tensor's map as one more argument at its end, with a recipe: which argument is the base, and sums of arguments that
//       are extents and strides. Whether the map describes what the loads read depends on numbers: on a launch's (the last
//       argument is 1 if they allow it) and on a program's (`x % m` is x only in a tile that does not wrap around). So the
//       loop is there twice, and each program runs the one with copies if all conditions hold. Lines of elements that the loop
//       reads beside its tiles are blocks of one row.
// Invariant: both loops read the same elements, and have the same zeros where a mask is false: results have the same bits.
#pragma once
#include "codegen/Codegen.h"
#include "codegen/dialect/TWG.h"
#include "ir/TT.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tiletwin::codegen {

/// Before tiles have layouts. Nothing without Options::copiedLoads.
void makeAffineLoads(tt::FuncOp kernel, const Target& target, const Options& options);

/// Of an argument that the pass added: what the launcher makes it of. Empty: the argument is the kernel's own.
///
/// Of a map "a0; 1*a3/2147483647; 1*a6": the base is argument 0; extents, strides in elements, of all dimensions but the last
/// one, which is contiguous. Each is a sum of products of a number and arguments: "2*a4*a5+-1".
/// Of the last argument, an i32, "1*a3/1*a6": sums that must lie from 1 to 2^30 - 1. It is 1 if they do and all maps can
/// be made, else 0. Of arguments behind it, i32, "programs": the grid's sizes, dimension 0 first.
llvm::StringRef recipeOf(mlir::BlockArgument argument);

/// True for a map that the launcher makes: the kernel does not write its memory.
bool isMadeByLauncher(mlir::Value descriptor);

/// True for a branch that has a loop with copies, and otherwise the same loop with loads.
bool isEitherWay(mlir::scf::IfOp branch);

constexpr llvm::StringLiteral kProgramsRecipe = "programs";
/// Adds an argument for a size of the grid. Behind all other ones.
mlir::BlockArgument addProgramsArgument(tt::FuncOp kernel);

} // namespace tiletwin::codegen
