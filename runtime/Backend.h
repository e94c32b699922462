// runtime/Backend.h -- what a backend is: something that runs a compiled kernel on a grid and says how it ended.
// Here:      the abstract Backend, the handle of a kernel it compiled, a launch's inputs, its Outcome.
// Not here:  any backend, caches, the comparison of outcomes (diff/).
// Invariant: a kernel's misbehaviour is a Trap in the Outcome; an exception out of run() is a fault of tiletwin.
#pragma once
#include "runtime/Buffer.h"
#include "runtime/DType.h"
#include "runtime/Trap.h"
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tiletwin {

/// A kernel as one backend loaded it (a plan, a PTX module, a cubin). Immutable; shared between launches and threads.
class LoadedKernel {
public:
  virtual ~LoadedKernel() = default;
  virtual const std::string& name() const = 0;
  /// Storage types of the run-time arguments, in order.
  virtual std::span<const DType> argumentTypes() const = 0;
};

/// One argument's bit pattern in the low bytes; pointers are addresses in the backend's memory.
struct KernelArgument {
  DType type = DType::I64;
  uint64_t bits = 0;
  int32_t buffer = -1; ///< index into Launch::buffers of the memory a pointer points into; -1: none
};

/// The storage type of a parameter that PTX calls "f32", "u64", ...; what is no float is an integer of its size.
inline DType parameterType(std::string_view ptxType, uint64_t bytes) {
  for (const DType type : {DType::F16, DType::BF16, DType::F32, DType::F64})
    if (ptxType == nameOf(type)) return type;
  switch (bytes) {
  case 1: return DType::I8;
  case 2: return DType::I16;
  case 4: return DType::I32;
  default: return DType::I64;
  }
}

struct Launch {
  std::array<int32_t, 3> grid{1, 1, 1};
  /// For kernels of GPU code: threads of a CTA and CTAs of a cluster, 0: as the kernel says; bytes of dynamic shared memory.
  std::array<int32_t, 3> block{0, 0, 0}, cluster{0, 0, 0};
  int32_t sharedBytes = 0;
  std::span<const KernelArgument> arguments;
  std::span<const Buffer> buffers;
};

/// How a launch ended. What it wrote is in the launch's buffers.
struct Outcome {
  Trap trap;                        ///< kind None: every program ran to its end
  std::vector<std::string> printed; ///< one per print, in order of program id
};

/// Thread-safe: load and run may be called from several threads at once.
class Backend {
public:
  virtual ~Backend() = default;
  /// "interp", "sim", "cuda", "triton".
  virtual std::string_view name() const = 0;
  /// Makes a kernel runnable from the bytes this backend takes (TTIR text for interp, PTX for sim, PTX or a cubin for
  /// cuda). On failure returns null and puts a message with line and column into `error`.
  virtual std::shared_ptr<const LoadedKernel> load(std::span<const std::byte> bytes, std::string_view entry,
                                                   std::string& error) = 0;
  /// Runs the grid to its end, or to its first trap.
  virtual Outcome run(const LoadedKernel& kernel, const Launch& launch) = 0;
};

} // namespace tiletwin
