// codegen/libdevice/Libdevice.h -- NVIDIA's math functions (__nv_expf, __nv_sin, ...), linked into a kernel.
//
// Here:      the functions that a kernel declares get their bodies, which may then be inlined.
// Not here:  Contraction.h; which function an operation of the language calls (ir/NumericsRewrites.cpp).
// Idea:      libdevice is bitcode written for a compiler that fuses products with sums as it likes, and that answers questions
//            (__nvvm_reflect) about denormals, precision and the GPU. Both are settled here, the same way for every kernel:
//            - The questions are answered as Triton answers them: __CUDA_FTZ by flushDenormals, __CUDA_ARCH by the
//              capability, everything else (__CUDA_PREC_SQRT) 0.
//            - Contraction.h fuses what Triton's compiler fuses under its default options.
// Invariant: what is linked has no fast-math flags, and every fmul, fadd and fsub in it is rounded by itself; a backend that does
//            not contract gives each the modifier .rn.
#pragma once
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

namespace tiletwin::codegen {

struct LibdeviceOptions {
  int capability = 90;        // 75, 80, ...: ten times the compute capability
  bool flushDenormals = true; // f32 functions take and give zeros for denormals, mostly
};

/// Gives the functions of libdevice that `kernel` declares their bodies, as private functions. The kernel's data layout and triple
/// must be set. An error names a __nv_ function that libdevice does not have, or one that is declared with other types.
llvm::Error linkLibdevice(llvm::Module& kernel, const LibdeviceOptions& options);

/// "float (float)" and the like: a function's type; empty if libdevice has no such function.
llvm::StringRef libdeviceSignature(llvm::StringRef function);
std::string signatureText(const llvm::FunctionType& type);

/// libdevice, with only the names of its functions read so far.
llvm::Expected<std::unique_ptr<llvm::Module>> readLibdevice(llvm::LLVMContext& context);

} // namespace tiletwin::codegen
