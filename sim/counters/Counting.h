// sim/counters/Counting.h -- the observer that counts what a launch's instructions do.
// Not here:  what is counted (Counts.h), what an access costs (MemoryCost.h).
// Idea:      a cluster runs on one thread, so it counts in numbers of its own; a cluster that begins takes those that one has
//            left behind, and at the end all are added up.
#pragma once
#include "sim/Sim.h"
#include "sim/counters/Counts.h"
#include "sim/machine/Observer.h"
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace tiletwin::sim {

struct ClusterCounts;

class Counting final : public Observer {
public:
  explicit Counting(const ptx::Module& module);
  ~Counting() override;

  /// The sums. buffers: the launch's memory. Called once no cluster runs any more.
  LaunchCounts take(std::span<const Buffer> buffers);

  bool wantsInstructions() const override { return true; }
  bool wantsUnits() const override { return false; }
  void instruction(Warp& warp, const Inst& in, LaneMask active) override;
  void retries(Warp& warp, const Inst& in, LaneMask active) override;
  void regroups(Warp& warp, const Inst& in, LaneMask told, LaneMask ran) override;
  void access(Warp& warp, const Access& access, LaneMask active, const uint64_t* addresses,
              std::byte* const* host) override;
  void issues(Warp& warp, LaneMask lanes, const AsyncUse& use, std::byte* const* at) override;
  void begins(Cta& cta) override;
  void block(Warp& warp, const Access& access, int lane, uint64_t address, std::byte* host, uint64_t bytes) override;
  void arrives(Warp& warp, LaneMask lanes, const void* object, Semantics semantics) override;
  void phaseEnds(Cluster& cluster, const void* object) override;
  void waited(Warp& warp, LaneMask lanes, const void* object, Semantics semantics) override;
  void commits(Warp& warp, LaneMask lanes, AsyncGroups groups) override;
  void waitedForGroups(Warp& warp, LaneMask lanes, AsyncGroups groups, uint64_t pending) override;

private:
  void begins(Cluster& cluster);
  InstructionCounts& countsOf(Warp& warp, size_t& function, size_t& at);
  void count(Warp& warp, LaneMask lanes, const uint64_t* addresses, uint32_t bytes, CountedSpace space);

  const ptx::Module& module_;
  std::vector<std::vector<CountedAccess>> accesses_; ///< of each instruction of each function
  std::vector<std::vector<InstructionCost>> costs_;  ///< likewise
  std::mutex mutex_;
  std::vector<std::unique_ptr<ClusterCounts>> all_; ///< under mutex_
  std::vector<ClusterCounts*> unused_;              ///< under mutex_
};

} // namespace tiletwin::sim
