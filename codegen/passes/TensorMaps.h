// codegen/passes/TensorMaps.h -- which tensor descriptors among a kernel's arguments are tensor maps, for the tensor memory
// accelerator (TMA).
//
// Here:      the choice, from sm_90 on, and what the host makes such a map of.
// Not here:  the copies (TensorCopies.h), descriptors that stay addresses with extents (emit/Descriptor.h).
//
// Idea: a map is as good as the address in everything but three: its blocks begin at multiples of 16 bytes along the last
//       dimension, what is written begins at no index below zero, and only whole blocks can be copied. So an argument becomes
//       a map if every use of it is a load, store or reduction of a block whose indices are known to be so; a descriptor that
//       is carried through control flow or read row by row stays as it was. The argument's attribute `twg.tensor_map` says
//       so, to passes and launchers.
// Invariant: all copies through one map have its box and its order in shared memory.
#pragma once
#include "codegen/Codegen.h"
#include "codegen/dialect/TWG.h"
#include "ir/TT.h"

namespace tiletwin::codegen {

constexpr llvm::StringLiteral kTensorMapAttribute = "twg.tensor_map"; ///< of an argument

/// Decides for all arguments, before tiles have layouts.
void chooseTensorMaps(tt::FuncOp kernel, const Target& target);

/// The map whose copies bring such blocks; null if none does. isOrdered: what is done with the elements looks at their sign.
twg::TensorMapAttr tensorMapOfBlock(tt::TensorDescType block, bool isOrdered = false);

/// The map that a descriptor is; null if it is none.
twg::TensorMapAttr tensorMapOf(mlir::Value descriptor);
twg::TensorMapAttr tensorMapOf(tt::FuncOp kernel, unsigned argument);

/// A block in shared memory as copies through the map leave it: its rows, whatever dimensions they come from, by the last
/// extent.
twg::MemDescType tensorMemory(tt::TensorDescType descriptor, twg::TensorMapAttr map);

/// What a launcher passes for a map: "tensormap<float16, 64x64, 128>"; of a map that it makes of other arguments, by a recipe,
/// "tensormap<float16, 64x64, 128; a0; ...>".
std::string describeTensorMap(twg::TensorMapAttr map, llvm::StringRef recipe);

} // namespace tiletwin::codegen
