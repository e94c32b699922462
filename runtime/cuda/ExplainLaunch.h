// runtime/cuda/ExplainLaunch.h -- why the driver refused a launch: limits that its numbers break, found afterwards.
// Not here:  the launch (Kernel.h), which checks nothing that the driver checks.
#pragma once
#include "runtime/cuda/Error.h"
#include "runtime/cuda/Kernel.h"

namespace tiletwin::cuda {

/// Throws the Error of a launch that failed: its kernel, sizes, every limit that is broken, and the driver's words.
[[noreturn]] void failLaunch(Result result, const char* call, const Kernel& kernel, const LaunchShape& shape);

/// "add on device 0 (NVIDIA H200, sm_90): grid (64, 1, 1), block (128, 1, 1), 0 bytes of dynamic shared memory".
std::string describeLaunch(const Kernel& kernel, const LaunchShape& shape);

} // namespace tiletwin::cuda
