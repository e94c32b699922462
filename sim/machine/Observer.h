// sim/machine/Observer.h -- what checks and counters are told while a kernel runs. Nothing is told where nobody looks on.
// Not here:  the checks (check/), the counters (Counters.h).
#pragma once
#include "sim/machine/Memory.h"

namespace tiletwin::sim {

class Observer {
public:
  virtual ~Observer() = default;
  /// An instruction is about to run. Told only if wantsInstructions().
  virtual void instruction(Warp& warp, const Inst& in, LaneMask active) { (void)warp, (void)in, (void)active; }
  virtual bool wantsInstructions() const { return false; }
  /// Memory is about to be read or written: `host` as resolve() found it.
  virtual void access(Warp& warp, const Access& access, LaneMask active, const uint64_t* addresses,
                      std::byte* const* host) {
    (void)warp, (void)access, (void)active, (void)addresses, (void)host;
  }
  virtual void block(Warp& warp, const Access& access, int lane, uint64_t address, std::byte* host, uint64_t bytes) {
    (void)warp, (void)access, (void)lane, (void)address, (void)host, (void)bytes;
  }
  /// All threads of a barrier have come: what came before it is in front of what follows. `id` -1: the cluster's.
  virtual void barrier(Cta& cta, int id) { (void)cta, (void)id; }
  /// fence.proxy.async and its kin; membar and fence.
  virtual void fence(Warp& warp, LaneMask active, Proxy proxy, Semantics semantics, Scope scope) {
    (void)warp, (void)active, (void)proxy, (void)semantics, (void)scope;
  }
  /// A CTA begins, or has ended.
  virtual void begins(Cta& cta) { (void)cta; }
  virtual void ends(Cta& cta) { (void)cta; }
};

} // namespace tiletwin::sim
