// sim/isa/WaitText.h -- what threads that cannot go on wait for, and what is missing: for deadlocks.
// Here:      the question, which machine/TrapText.cpp asks, and an answer from each family of instructions.
// Not here:  positions (machine/TrapText.cpp).
#pragma once
#include "sim/machine/Fragments.h"
#include <string>

namespace tiletwin::sim {

/// "barrier 1 waits for 96 threads, 64 have come"; empty: the instruction waits for nothing that is known. `at` is where the
/// fragment waits.
std::string waitText(Warp& warp, const Fragment& fragment, const Inst* at);

/// Each for its own instructions; empty for others. Barrier.cpp, ClusterBarrier.cpp, MbarrierWait.cpp, System.cpp,
/// TensorMemory.cpp. The warp's registers are
/// those of the fragment.
std::string barrierWaitText(Warp& warp, const Fragment& fragment, const Inst* at);
std::string clusterWaitText(Warp& warp, const Inst* at);
std::string mbarrierWaitText(Warp& warp, const Fragment& fragment, const Inst* at);
std::string registerWaitText(Warp& warp, const Inst* at);
std::string tensorWaitText(Warp& warp, const Inst* at);

/// Do lanes of the warp wait for a phase of this mbarrier? MbarrierWait.cpp.
bool waitsForMbarrier(Warp& warp, const std::byte* mbarrier);

/// The warp's registers are those of a fragment for a while.
class RegistersOf {
public:
  RegistersOf(Warp& warp, const Fragment& fragment) : warp_(warp), saved_{warp.base[0], warp.base[1]} {
    warp.base[0] = fragment.frame->registers.data();
    warp.base[1] = fragment.frame->code->constants.data();
  }
  ~RegistersOf() {
    warp_.base[0] = saved_[0];
    warp_.base[1] = saved_[1];
  }
  RegistersOf(const RegistersOf&) = delete;
  RegistersOf& operator=(const RegistersOf&) = delete;

private:
  Warp& warp_;
  std::byte* saved_[2];
};

} // namespace tiletwin::sim
