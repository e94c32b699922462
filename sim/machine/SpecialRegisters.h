// sim/machine/SpecialRegisters.h -- %tid, %ctaid, %laneid, %clock and the others.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tiletwin::sim {

struct Warp;
struct Inst;

enum class Special : uint8_t {
  TidX,
  TidY,
  TidZ,
  NtidX,
  NtidY,
  NtidZ,
  CtaidX,
  CtaidY,
  CtaidZ,
  NctaidX,
  NctaidY,
  NctaidZ,
  ClusteridX,
  ClusteridY,
  ClusteridZ,
  NclusteridX,
  NclusteridY,
  NclusteridZ,
  ClusterCtaidX,
  ClusterCtaidY,
  ClusterCtaidZ,
  ClusterNctaidX,
  ClusterNctaidY,
  ClusterNctaidZ,
  ClusterCtarank,
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
  Zero,       ///< environment and performance counter registers
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

/// "%tid" with component 0 is TidX. Nothing for a name that is no special register.
std::optional<Special> findSpecial(std::string_view name, int component);
/// Bytes of the register as PTX declares it: 4 or 8.
int bytesOf(Special special);

/// Writes a special register's 32 lanes, of 2, 4 or 8 bytes each. `localBase`: of the call that begins.
void fillSpecial(Special special, int bytes, const Warp& warp, uint32_t localBase, std::byte* lanes);

} // namespace tiletwin::sim
