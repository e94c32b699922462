#include "sim/counters/Timeline.h"
#include "sim/machine/Cta.h"
#include <algorithm>
#include <cmath>

namespace tiletwin::sim {
namespace {

/// Cycles from the last arrival until those that wait go on.
constexpr float kBarrierLatency = 20;
constexpr float kSchedulers = 4;
/// Bytes of L2 that a multiprocessor gets in a cycle.
constexpr float kBytesFromL2 = 64;
/// Sectors that L1 looks up in a cycle.
constexpr float kSectorsInPass = 4;
/// cp.async and bulk copies take longer than loads.
constexpr float kCopyLatency = 80, kBulkLatency = 350;

float sharing(size_t clock) { return kSharing[clock % kSharing.size()]; }
float latencyOfGlobal(size_t clock) { return clock < kSharing.size() ? kLatencyL2 : kLatencyMemory; }

void later(Times& to, const Times& than) {
  for (size_t i = 0; i < kClocks; ++i) to.at[i] = std::max(to.at[i], than.at[i]);
}

Times plus(Times times, float cycles) {
  for (float& at : times.at) at += cycles;
  return times;
}

/// Units that a multiprocessor has once are shared by the warps of all schedulers.
float users(Unit unit, size_t clock) {
  return unit == Unit::Memory || unit == Unit::Copy ? sharing(clock) * kSchedulers : sharing(clock);
}

} // namespace

TimelineSums& TimelineSums::operator+=(const TimelineSums& other) {
  for (size_t i = 0; i < kClocks; ++i) {
    cycles[i] += other.cycles[i];
    longest[i] = std::max(longest[i], other.longest[i]);
  }
  for (size_t i = 0; i < kUnits; ++i) busy[i] += other.busy[i];
  warps += other.warps;
  meetings += other.meetings;
  ctas += other.ctas;
  return *this;
}

void Timeline::begins(const Cta& cta) {
  if (warps_.size() <= cta.rank) warps_.resize(cta.rank + 1);
  warps_[cta.rank].assign((cta.threads + kLanes - 1) / kLanes, {});
}

Timeline::WarpTimes& Timeline::of(const Warp& warp) { return warps_[warp.cta->rank][warp.index]; }

Times Timeline::take(WarpTimes& warp, Unit unit, float cycles) {
  Times& free = warp.free[size_t(unit)];
  Times begin = free;
  later(begin, warp.floor);
  for (size_t i = 0; i < kClocks; ++i) free.at[i] = begin.at[i] + cycles * users(unit, i);
  return begin;
}

void Timeline::instruction(const Warp& warp, size_t function, size_t at) {
  const InstructionCost& cost = costs_[function][at];
  WarpTimes& times = of(warp);
  if (times.ready.size() <= function) times.ready.resize(costs_.size());
  std::vector<Times>& ready = times.ready[function];
  const auto clockOf = [&](uint32_t number) -> Times& {
    if (ready.size() <= number) ready.resize(number + 1);
    return ready[number];
  };
  Times begin = take(times, Unit::Issue, cost.issues);
  if (cost.busy > 0 && !cost.isAsync) later(begin, take(times, cost.unit, cost.busy));
  if (cost.ends) later(begin, times.latest);
  for (const uint32_t number : cost.reads)
    if (!cost.isAsync || number < ready.size()) later(begin, clockOf(number));
  later(times.latest, begin);
  if (cost.ends) times.floor = times.latest;
  // Products that run beside their warp wait for the tensor core, the warp does not.
  if (cost.isAsync) later(begin, take(times, cost.unit, cost.busy));
  const Times done = plus(begin, cost.latency);
  if (cost.isAsync)
    later(times.groups[size_t(AsyncGroups::Products)].open, done);
  else
    for (const uint32_t number : cost.writes) clockOf(number) = done;
  later(times.done, done);
  sums_.busy[size_t(Unit::Issue)] += cost.issues;
  if (cost.unit != Unit::Issue) sums_.busy[size_t(cost.unit)] += cost.busy;
  times.busy += cost.issues + cost.busy;
  if (cost.meets) {
    const float met = std::min(float(warps_[warp.cta->rank].size()), std::ceil(float(cost.meets) / kLanes));
    if (met > kSchedulers) sums_.meetings += double(1 / met);
  }
  current_ = begin;
}

void Timeline::retries(const Warp& warp, size_t function, size_t at) {
  const float issues = costs_[function][at].issues;
  Times& free = of(warp).free[size_t(Unit::Issue)];
  for (size_t i = 0; i < kClocks; ++i) free.at[i] -= issues * users(Unit::Issue, i);
  sums_.busy[size_t(Unit::Issue)] -= issues;
}

void Timeline::loads(const Warp& warp, size_t function, size_t at, float passes, bool isGlobal, bool isInL1) {
  WarpTimes& times = of(warp);
  Times begin = current_;
  later(begin, take(times, Unit::Memory, passes));
  sums_.busy[size_t(Unit::Memory)] += passes;
  const InstructionCost& cost = costs_[function][at];
  Times done;
  for (size_t i = 0; i < kClocks; ++i) {
    const float latency = !isGlobal ? cost.latency : isInL1 ? kLatencyL1 : latencyOfGlobal(i);
    done.at[i] = begin.at[i] + latency + passes;
  }
  if (cost.writes.empty()) return;
  for (const uint32_t number : cost.writes) times.ready[function][number] = done;
  later(times.done, done);
}

void Timeline::copies(const Warp& warp, float sectors, float missed, float passes) {
  WarpTimes& times = of(warp);
  Times done = current_;
  const float cycles = missed * kSectorBytes / kBytesFromL2;
  passes += sectors / kSectorsInPass;
  later(done, take(times, Unit::Copy, cycles));
  later(done, take(times, Unit::Memory, passes));
  sums_.busy[size_t(Unit::Copy)] += cycles;
  sums_.busy[size_t(Unit::Memory)] += passes;
  for (size_t i = 0; i < kClocks; ++i) done.at[i] += latencyOfGlobal(i) + kCopyLatency;
  later(times.groups[size_t(AsyncGroups::Copies)].open, done);
}

void Timeline::bulk(const Warp& warp, uint64_t bytes, const void* mbarrier) {
  WarpTimes& times = of(warp);
  const float cycles = float(bytes) / kBytesFromL2;
  // A CTA's copies share the way from L2 with those of the other CTAs, not with those of its own warps.
  const float share = 1 / float(std::max<size_t>(warps_[warp.cta->rank].size(), 4));
  Times done = current_;
  later(done, take(times, Unit::Copy, cycles * share));
  sums_.busy[size_t(Unit::Copy)] += cycles;
  for (size_t i = 0; i < kClocks; ++i)
    done.at[i] += latencyOfGlobal(i) + kBulkLatency + cycles * share * users(Unit::Copy, i);
  if (mbarrier)
    later(phases_[mbarrier].arriving, done);
  else
    later(times.groups[size_t(AsyncGroups::Bulk)].open, done);
}

void Timeline::commits(const Warp& warp, AsyncGroups groups) {
  Groups& of = this->of(warp).groups[size_t(groups)];
  of.committed.push_back(of.open);
  of.open = {};
}

void Timeline::waitedForGroups(const Warp& warp, AsyncGroups groups, uint64_t pending) {
  WarpTimes& times = of(warp);
  std::deque<Times>& committed = times.groups[size_t(groups)].committed;
  while (committed.size() > pending) {
    later(times.floor, committed.front());
    committed.pop_front();
  }
  later(times.latest, times.floor);
}

void Timeline::arrives(const Warp& warp, const void* object) {
  WarpTimes& times = of(warp);
  later(phases_[object].arriving, times.latest);
}

void Timeline::phaseEnds(const void* object) {
  Phase& phase = phases_[object];
  phase.ended = phase.arriving;
  phase.arriving = {};
}

void Timeline::waited(const Warp& warp, const void* object) {
  WarpTimes& times = of(warp);
  later(times.floor, plus(phases_[object].ended, kBarrierLatency));
  later(times.latest, times.floor);
}

void Timeline::end() {
  for (const std::vector<WarpTimes>& warps : warps_) {
    if (warps.empty()) continue;
    Times last;
    float most = 1, sum = 0;
    for (const WarpTimes& warp : warps) {
      sum += warp.busy;
      most = std::max(most, warp.busy);
      later(last, warp.latest);
      later(last, warp.done);
      for (const Groups& groups : warp.groups) later(last, groups.open);
    }
    for (size_t i = 0; i < kClocks; ++i) {
      sums_.cycles[i] += double(last.at[i]);
      sums_.longest[i] = std::max(sums_.longest[i], double(last.at[i]));
    }
    sums_.warps += double(sum / most);
    ++sums_.ctas;
  }
  warps_.clear();
  phases_.clear();
}

} // namespace tiletwin::sim
