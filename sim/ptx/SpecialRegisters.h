// sim/ptx/SpecialRegisters.h -- the names of special registers: %tid, %ctaid, %laneid, %clock and the others.
// Not here:  what they hold (machine/SpecialRegisters.cpp).
// Source:    PTX ISA, chapter 10.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace tiletwin::sim {

enum class Special : uint8_t {
  Tid, ///< its x; y and z follow, as they do for those below
  Ntid = Tid + 3,
  Ctaid = Ntid + 3,
  Nctaid = Ctaid + 3,
  Clusterid = Nctaid + 3,
  Nclusterid = Clusterid + 3,
  ClusterCtaid = Nclusterid + 3,
  ClusterNctaid = ClusterCtaid + 3,
  ClusterCtarank = ClusterNctaid + 3,
  ClusterNctarank,
  IsExplicitCluster,
  Laneid,
  Warpid,
  Nwarpid,
  Smid,
  Nsmid,
  Gridid,
  LanemaskEq,
  LanemaskLe,
  LanemaskLt,
  LanemaskGe,
  LanemaskGt,
  TotalSmemSize,
  AggrSmemSize,
  DynamicSmemSize,
  GridWorkspace, ///< %envreg2
  GridWorkspaceHi,
  Zero,       ///< other environment and performance counter registers
  SharedBase, ///< the CTA's own shared memory as a shared address: no PTX register
  LocalBase,  ///< the call's local variables as a local address: no PTX register
  Clock,      ///< from here on: read when the instruction runs
  Clock64,
  ClockHi,
  Globaltimer,
  GlobaltimerLo,
  GlobaltimerHi,
};
inline bool changesWhileRunning(Special special) { return special >= Special::Clock; }

/// "%tid" with component 1 is its y. Nothing for a name that is no special register.
std::optional<Special> findSpecial(std::string_view name, int component);
/// Is there a special register of this name, whatever its components are?
bool isSpecial(std::string_view name);
/// Bytes of the register as PTX declares it: 4 or 8.
int bytesOf(Special special);

} // namespace tiletwin::sim
