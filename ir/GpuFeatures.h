// ir/GpuFeatures.h -- what NVIDIA's GPUs have, by their compute capability.
//
// Here:      a member for each feature that the front end, a pass or an emitter asks for.
// Not here:  names and first PTX versions of architectures (python/tiletwin/codegen/targets.py).
// Invariant: no other file compares a capability with a number (tests/lint/test_gpu_features.py). A GPU of capability 0,
//            which stands for AMD's, has none of the features.
#pragma once
#include <cstdint>
#include <string_view>

namespace tiletwin::tt {

struct GpuFeatures {
  // Products of matrices.
  bool mmaTuring = false; ///< mma.sync of f16 by m16n8k8, and of s8 by m8n8k16
  bool mmaAmpere = false; ///< mma.sync of longer K, and of bf16, tf32 and f64
  bool mmaFp8 = false;    ///< mma.sync of e4m3 and e5m2, in units of their own
  bool wgmma = false;     ///< products of warpgroups; their sums of fp8 are narrower than f32
  bool tcgen05 = false;   ///< products that one thread begins, with sums in tensor memory

  // Memory.
  bool matrixLoads = false;         ///< ldmatrix
  bool asyncCopies = false;         ///< cp.async: from global to shared memory, past the registers
  bool tensorCopies = false;        ///< cp.async.bulk.tensor: whole blocks, by tensor maps
  bool asyncProxy = false;          ///< fence.proxy.async: products and copies see shared memory by a way of their own
  bool bf16Atomics = false;         ///< atom.add of bf16
  bool vectorAtomics = false;       ///< atom.add of several numbers side by side
  uint32_t sharedKilobytesMost = 0; ///< shared memory of a CTA

  // Numbers.
  bool bf16Arithmetic = false;   ///< fma.rn.bf16
  bool bf16FromIntegers = false; ///< cvt of integers to bf16, rounded once
  bool fp8Conversions = false;   ///< cvt between f16x2 and two numbers of e4m3 or e5m2

  // Threads and grids.
  bool warpReductions = false;    ///< redux.sync
  bool warpRoles = false;         ///< setmaxnreg: Triton gives warps different work
  bool dependentLaunches = false; ///< griddepcontrol
};

/// All that GPUs of this capability (90: sm_90) have.
GpuFeatures featuresOf(int capability);
/// What of it code may use that is written for an architecture ("sm_90a"; without the letter nothing that later GPUs lack),
/// in a PTX version (ten times).
GpuFeatures featuresOf(int capability, std::string_view architecture, int ptxVersion);

} // namespace tiletwin::tt
