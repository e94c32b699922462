// ir/GpuFeatures.cpp -- see GpuFeatures.h.
// Sources: the "PTX ISA Notes" and "Target ISA Notes" in the PTX ISA's sections on the instructions that the rows name.
#include "ir/GpuFeatures.h"

namespace tiletwin::tt {
namespace {

constexpr int kLast = 1000; ///< more than any capability or PTX version

struct FeatureRow {
  bool GpuFeatures::* feature;
  int from, to;    ///< capabilities, both inclusive
  int ptxVersion;  ///< the least; 0: that of the GPU's own architecture
  bool isSpecific; ///< only architectures whose names end with "a"
};
// A feature is there if one of its rows holds.
constexpr FeatureRow kFeatures[] = {
    // Warp Level Matrix Instructions: mma (.m16n8k8 of .f16, .m8n8k16 of .s8)
    {&GpuFeatures::mmaTuring, 75, kLast, 65, false},
    // Warp Level Matrix Instructions: mma (.bf16, .tf32, .f64; .m16n8k16 and .m16n8k32)
    {&GpuFeatures::mmaAmpere, 80, kLast, 0, false},
    // Warp Level Matrix Instructions: mma (.e4m3, .e5m2). sm_90 takes them too, but has no units of its own for them.
    {&GpuFeatures::mmaFp8, 89, 89, 84, false},
    {&GpuFeatures::mmaFp8, 100, kLast, 84, false},
    // Asynchronous Warpgroup Level Matrix Instructions: wgmma.mma_async
    {&GpuFeatures::wgmma, 90, 90, 0, true},
    // TensorCore 5th Generation Instructions: tcgen05.mma
    {&GpuFeatures::tcgen05, 100, 119, 0, true},
    // Warp Level Matrix Load Instruction: ldmatrix
    {&GpuFeatures::matrixLoads, 75, kLast, 65, false},
    // Data Movement and Conversion Instructions: cp.async
    {&GpuFeatures::asyncCopies, 80, kLast, 0, false},
    // Data Movement and Conversion Instructions: cp.async.bulk.tensor
    {&GpuFeatures::tensorCopies, 90, kLast, 80, false},
    // Parallel Synchronization and Communication Instructions: membar, fence (fence.proxy.async)
    {&GpuFeatures::asyncProxy, 90, kLast, 0, false},
    // Parallel Synchronization and Communication Instructions: atom (.add.noftz.bf16)
    {&GpuFeatures::bf16Atomics, 90, kLast, 0, false},
    // Parallel Synchronization and Communication Instructions: atom (.vec_32_bit, .vec_16_bit)
    {&GpuFeatures::vectorAtomics, 90, kLast, 81, false},
    // Half Precision Floating Point Instructions: fma (.bf16)
    {&GpuFeatures::bf16Arithmetic, 80, kLast, 0, false},
    // Data Movement and Conversion Instructions: cvt (.bf16 from integers)
    {&GpuFeatures::bf16FromIntegers, 90, kLast, 0, false},
    // Data Movement and Conversion Instructions: cvt (.e4m3x2, .e5m2x2)
    {&GpuFeatures::fp8Conversions, 89, 89, 81, false},
    {&GpuFeatures::fp8Conversions, 90, kLast, 0, false},
    // Parallel Synchronization and Communication Instructions: redux.sync
    {&GpuFeatures::warpReductions, 80, kLast, 0, false},
    // Miscellaneous Instructions: setmaxnreg
    {&GpuFeatures::warpRoles, 90, kLast, 0, false},
    // Parallel Synchronization and Communication Instructions: griddepcontrol
    {&GpuFeatures::dependentLaunches, 90, kLast, 0, false},
};

/// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability": the most shared memory of a thread block.
/// A GPU that is not listed has what the one in front of it has.
struct SharedRow {
  int capability;
  uint32_t kilobytes;
};
constexpr SharedRow kShared[] = {{0, 48},  {75, 64},  {80, 163},  {86, 99}, {87, 163},
                                 {89, 99}, {90, 227}, {100, 227}, {120, 99}};

} // namespace

GpuFeatures featuresOf(int capability) { return featuresOf(capability, "a", kLast); }

GpuFeatures featuresOf(int capability, std::string_view architecture, int ptxVersion) {
  const bool isSpecific = architecture.ends_with('a');
  GpuFeatures features;
  for (const FeatureRow& row : kFeatures)
    if (row.from <= capability && capability <= row.to && row.ptxVersion <= ptxVersion &&
        (isSpecific || !row.isSpecific))
      features.*row.feature = true;
  for (const SharedRow& row : kShared)
    if (row.capability <= capability) features.sharedKilobytesMost = row.kilobytes;
  return features;
}

} // namespace tiletwin::tt
