// sim/check/RaceReport.h -- what the check of races says: from two accesses to a finding with both places.
// Here:      PlaceNumbers (instructions as small numbers), whether two lanes of a store write the same, the text.
// Not here:  finding races (RaceCheck.cpp), what all checks say of a place (Report.h).
#pragma once
#include "sim/check/AsyncOrder.h"
#include "sim/machine/Memory.h"
#include "sim/machine/Program.h"
#include <unordered_set>

namespace tiletwin::sim {

struct Grid;

/// Numbers of the instructions of a program's text, function by function.
class PlaceNumbers {
public:
  explicit PlaceNumbers(const Program& program);
  uint64_t count() const { return count_; }
  uint32_t of(const FunctionCode& code, const Inst& inst) const;
  uint32_t of(const Inst& inst) const; ///< whose function is not known
  /// An instruction of this number.
  const Inst* at(uint32_t place) const;

private:
  struct Range {
    const FunctionCode* code;
    uint64_t first;
  };
  std::vector<Range> ranges_; ///< by first; the entry comes first
  uint64_t count_ = 0;
};

/// Do two lanes of the running instruction, a store of `storedBytes` bytes a lane, write the same bytes? `offset`: of the bytes in
/// what a lane writes. True as well for instructions whose values cannot be told apart here (stmatrix, cp.async).
bool writeTheSame(Warp& warp, const Inst& inst, uint64_t storedBytes, int lane, uint64_t offset, int otherLane,
                  uint64_t otherOffset, uint64_t bytes);

struct RaceReport {
  Warp* warp = nullptr;
  const Inst* inst = nullptr;
  int lane = 0;
  AccessKind kind = AccessKind::Read;
  uint32_t otherPlace = 0;
  uint64_t otherCta = 0; ///< number in the grid, cluster by cluster
  uint32_t otherWarp = 0;
  std::optional<AsyncAgents::Kind> otherAgent; ///< of an asynchronous operation, which its thread has issued
  int otherLane = 0;
  bool otherWrote = false;
  bool isSameStore = false;        ///< both are lanes of one store
  const std::byte* host = nullptr; ///< the first byte
};

/// Pairs of places that a cluster has been told of.
using RacesSeen = std::unordered_set<uint64_t>;
/// Reports a race, unless the cluster has reported one of these two places before.
void reportRace(const PlaceNumbers& places, RacesSeen& seen, const RaceReport& race);
/// The launch is too large for it.
void reportNoRaceCheck(Grid& grid);

} // namespace tiletwin::sim
