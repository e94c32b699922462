#include "sim/counters/Counting.h"
#include "sim/machine/Cta.h"
#include "sim/machine/Fragments.h"
#include <algorithm>

namespace tiletwin::sim {

/// Of one cluster, while it runs.
struct ClusterCounts {
  explicit ClusterCounts(const std::vector<std::vector<InstructionCost>>& costs) : timeline(costs) {}
  std::vector<FunctionCounts> functions;
  Timeline timeline;
  Traffic traffic;
  LaneMask told = 0; ///< lanes that came to the instruction that was told last
  /// Of the cp.async that runs: what its write would cost if it wrote zeros, and where it writes.
  std::pair<SharedCost, AccessSample> copied;
};

MemoryCounts& MemoryCounts::operator+=(const MemoryCounts& other) {
  requests += other.requests;
  sectors += other.sectors;
  wavefronts += other.wavefronts;
  conflicts += other.conflicts;
  loopWavefronts += other.loopWavefronts;
  loopConflicts += other.loopConflicts;
  bytes += other.bytes;
  distinct += other.distinct;
  return *this;
}

InstructionCounts& InstructionCounts::operator+=(const InstructionCounts& other) {
  executed += other.executed;
  executedOn += other.executedOn;
  threads += other.threads;
  threadsOn += other.threadsOn;
  parted += other.parted;
  bulkBytes += other.bulkBytes;
  for (size_t i = 0; i < kCountedSpaces; ++i) memory[i] += other.memory[i];
  return *this;
}

namespace {

unsigned lanesIn(LaneMask mask) { return unsigned(__builtin_popcount(mask)); }

/// Local memory of a warp is laid out word by word, those of the 32 lanes side by side.
uint64_t placeOfLocal(uint64_t offset, int lane) {
  return offset / kBankBytes * kBankBytes * kLanes + uint64_t(lane) * kBankBytes + offset % kBankBytes;
}

/// Lanes that access the CTA's own shared memory; what goes to another CTA's takes another way.
LaneMask ownLanes(const Cta& cta, LaneMask lanes, const uint64_t* addresses) {
  LaneMask own = 0;
  eachLane(lanes, [&](int lane) { own |= LaneMask(addresses[lane] >> kSharedRankShift == cta.rank) << lane; });
  return own;
}

/// Words of local memory that are side by side in a lane's own view are in different lines.
uint32_t sectorsOfWords(LaneMask lanes, const uint64_t* offsets, uint32_t bytes) {
  const uint32_t each = std::min(bytes, kBankBytes);
  uint32_t sum = 0;
  for (uint32_t first = 0; first < bytes; first += each) {
    std::array<uint64_t, kLanes> places{};
    eachLane(lanes, [&](int lane) { places[size_t(lane)] = placeOfLocal(offsets[lane] + first, lane); });
    sum += sectorsTouched(AccessForm::Load, lanes, places.data(), each);
  }
  return sum;
}

/// The costlier one of two, the first of them if they cost the same.
void keepWorst(std::optional<AccessSample>& worst, const std::optional<AccessSample>& other) {
  if (other && (!worst || worst->cost < other->cost)) worst = other;
}

/// Sectors of global memory that the cluster touches for the first time.
uint32_t touches(Traffic& traffic, const AccessSample& access, bool writes) {
  uint32_t added = 0;
  uint64_t last = ~uint64_t(0);
  eachLane(access.active, [&](int lane) {
    const uint64_t address = access.addresses[size_t(lane)];
    if (address / kSectorBytes == last && (address + access.bytes - 1) / kSectorBytes == last) return;
    added += traffic.touch(address, access.bytes, writes);
    last = address / kSectorBytes;
  });
  return added;
}

/// sign: 1, or -1 to take back what was added.
void addCost(MemoryCounts& memory, const SharedCost& cost, uint64_t sign) {
  memory.wavefronts += sign * cost.wavefronts;
  memory.conflicts += sign * cost.conflicts;
  memory.loopWavefronts += sign * cost.loopWavefronts;
  memory.loopConflicts += sign * cost.loopConflicts;
}

/// What all clusters together have touched, by buffer.
std::vector<BufferTraffic> trafficOf(const Traffic& all, std::span<const Buffer> buffers) {
  std::vector<BufferTraffic> found(buffers.size() + 1);
  for (size_t i = 0; i < buffers.size(); ++i)
    found[i].name = buffers[i].name, found[i].bytes = buffers[i].end - buffers[i].begin;
  all.eachPage([&](uint64_t page, const TrafficSums& sums) {
    size_t at = 0;
    while (at < buffers.size() && !(buffers[at].begin < page + kPageBytes && page < buffers[at].end)) ++at;
    for (size_t kind = 0; kind < 2; ++kind) {
      found[at].sums.ofCtas[kind] += sums.ofCtas[kind];
      found[at].sums.distinct[kind] += sums.distinct[kind];
    }
  });
  std::erase_if(found, [](const BufferTraffic& one) { return !one.sums.distinct[0] && !one.sums.distinct[1]; });
  return found;
}

} // namespace

Counting::Counting(const ptx::Module& module) : module_(module) {
  for (const ptx::Function& function : module.functions) {
    accesses_.push_back(accessesOf(function));
    costs_.push_back(costsOf(function));
  }
}

Counting::~Counting() = default;

void Counting::begins(Cta& cta) {
  if (!cta.cluster->counts) begins(*cta.cluster);
  cta.cluster->counts->timeline.begins(cta);
}

void Counting::begins(Cluster& cluster) {
  const std::lock_guard lock(mutex_);
  if (unused_.empty()) {
    unused_.push_back(all_.emplace_back(std::make_unique<ClusterCounts>(costs_)).get());
    for (const ptx::Function& function : module_.functions)
      unused_.back()->functions.push_back({&function, {}, {}, {}});
  }
  cluster.counts = std::shared_ptr<ClusterCounts>(unused_.back(), [this](ClusterCounts* counts) {
    counts->timeline.end();
    counts->traffic.end();
    const std::lock_guard lock(mutex_);
    unused_.push_back(counts);
  });
  unused_.pop_back();
}

/// Of the instruction of the text that runs.
InstructionCounts& Counting::countsOf(Warp& warp, size_t& function, size_t& at) {
  const ptx::Function* source = warp.running->frame->code->source;
  function = size_t(source - module_.functions.data());
  at = size_t(warp.at->source);
  FunctionCounts& counts = warp.cta->cluster->counts->functions[function];
  if (counts.body.empty()) {
    counts.body.resize(source->body.size());
    counts.worst.resize(source->body.size());
  }
  return counts.body[at];
}

void Counting::instruction(Warp& warp, const Inst& in, LaneMask active) {
  if (in.isInserted) return;
  size_t function, at;
  InstructionCounts& counts = countsOf(warp, function, at);
  const LaneMask lanes = warp.cta->cluster->counts->told = warp.running->lanes;
  ++counts.executed;
  counts.executedOn += active != 0;
  counts.threads += lanesIn(lanes);
  counts.threadsOn += lanesIn(active);
  counts.parted += in.flow == Flow::Branch && active && active != lanes;
  warp.cta->cluster->counts->timeline.instruction(warp, function, at);
}

void Counting::retries(Warp& warp, const Inst& in, LaneMask active) {
  if (in.isInserted) return;
  size_t function, at;
  InstructionCounts& counts = countsOf(warp, function, at);
  --counts.executed;
  counts.executedOn -= active != 0;
  counts.threads -= lanesIn(warp.cta->cluster->counts->told);
  counts.threadsOn -= lanesIn(active);
  warp.cta->cluster->counts->timeline.retries(warp, function, at);
}

void Counting::regroups(Warp& warp, const Inst& in, LaneMask told, LaneMask ran) {
  if (in.isInserted) return;
  size_t function, at;
  InstructionCounts& counts = countsOf(warp, function, at);
  counts.threads += uint64_t(lanesIn(ran)) - lanesIn(told);
  counts.threadsOn += uint64_t(lanesIn(ran)) - lanesIn(told);
}

void Counting::access(Warp& warp, const Access& access, LaneMask active, const uint64_t* addresses, std::byte* const*) {
  const auto counted = [](Space space) -> std::optional<CountedSpace> {
    switch (space) {
    case Space::Global: return CountedSpace::Global;
    case Space::Local: return CountedSpace::Local;
    case Space::Shared: return CountedSpace::Shared;
    default: return std::nullopt;
    }
  };
  if (access.space != Space::None) {
    if (const auto space = counted(access.space)) count(warp, active, addresses, access.bytes, *space);
    return;
  }
  alignas(kLaneAlignment) uint64_t inWindow[kLanes] = {};
  for (LaneMask left = active; left;) { // the lanes of each window together
    const Space space = spaceOfGeneric(addresses[__builtin_ctz(left)]);
    LaneMask group = 0;
    eachLane(left, [&](int lane) {
      if (spaceOfGeneric(addresses[lane]) != space) return;
      group |= LaneMask(1) << lane;
      inWindow[lane] = space == Space::Global ? addresses[lane] : addresses[lane] & ~kWindowMask;
    });
    left &= ~group;
    if (const auto one = counted(space)) count(warp, group, inWindow, access.bytes, *one);
  }
}

void Counting::count(Warp& warp, LaneMask lanes, const uint64_t* addresses, uint32_t bytes, CountedSpace space) {
  size_t function, at;
  InstructionCounts& counts = countsOf(warp, function, at);
  const AccessForm form = accesses_[function][at].form;
  if (space == CountedSpace::Shared) lanes &= ownLanes(*warp.cta, lanes, addresses);
  if (form == AccessForm::None || !lanes) return;
  ClusterCounts& cluster = *warp.cta->cluster->counts;
  AccessSample sample{.space = space, .active = lanes, .bytes = bytes};
  eachLane(lanes, [&](int lane) {
    sample.addresses[size_t(lane)] = space == CountedSpace::Local    ? placeOfLocal(addresses[lane], lane)
                                     : space == CountedSpace::Shared ? addresses[lane] & kSharedOffsetMask
                                                                     : addresses[lane];
  });
  const uint64_t* places = sample.addresses.data();
  MemoryCounts& memory = counts.memory[size_t(space)];
  // Local memory goes word by word.
  memory.requests += space == CountedSpace::Local ? std::max<uint32_t>(1, bytes / kBankBytes) : 1;
  memory.bytes += uint64_t(bytes) * lanesIn(lanes);
  memory.distinct += distinctBytes(lanes, places, bytes);
  const bool isCopy = form == AccessForm::Copy || form == AccessForm::CopyPastL1;
  if (space == CountedSpace::Shared) {
    const SharedCost cost = isCopy ? copyCost(lanes, nullptr, places, bytes) : sharedCost(form, lanes, places, bytes);
    addCost(memory, cost, 1);
    sample.cost = cost.wavefronts;
    if (isCopy)
      cluster.copied = {cost, sample};
    else
      cluster.timeline.loads(warp, function, at, float(cost.wavefronts), false, false);
  } else if (isCopy) { // the write was told before: lanes that read do not only fill with zeros
    MemoryCounts& shared = counts.memory[size_t(CountedSpace::Shared)];
    const auto& [zeros, to] = cluster.copied;
    const bool isWhole = bytes == to.bytes && lanes == to.active;
    sample.cost = form == AccessForm::Copy ? sectorsTouched(form, lanes, places, bytes)
                                           : sectorsPastL1(lanes, places, to.addresses.data());
    if (isWhole) addCost(shared, zeros, uint64_t(-1));
    const bool isThroughL1 = isWhole && form == AccessForm::Copy;
    const SharedCost write = isThroughL1 ? copyCost(lanes, places, to.addresses.data(), bytes) : zeros;
    if (isThroughL1) addCost(shared, write, 1);
    memory.sectors += sample.cost;
    const uint32_t first = touches(cluster.traffic, sample, false);
    const auto missed = float(form == AccessForm::Copy ? first : sample.cost);
    cluster.timeline.copies(warp, float(sample.cost), missed, float(write.wavefronts));
  } else {
    sample.cost = space == CountedSpace::Local ? sectorsOfWords(lanes, addresses, bytes)
                                               : sectorsTouched(form, lanes, places, bytes);
    memory.sectors += sample.cost;
    const bool reads = form == AccessForm::Load, isLocal = space == CountedSpace::Local;
    const uint32_t missed = isLocal ? 0 : touches(cluster.traffic, sample, !reads);
    // L2 reads what it changes.
    if (!isLocal && !reads && form != AccessForm::Store) touches(cluster.traffic, sample, false);
    const float passes =
        reads || isLocal ? std::max(float(sample.cost) / 4, float(missed) / 2) : float(sample.cost) / 2;
    cluster.timeline.loads(warp, function, at, passes, true, reads && !missed);
  }
  keepWorst(cluster.functions[function].worst[at], sample);
}

void Counting::issues(Warp& warp, LaneMask lanes, const AsyncUse& use, std::byte* const*) {
  if (use.groups != AsyncGroups::Bulk) return;
  size_t function, at;
  countsOf(warp, function, at).bulkBytes += use.bytes * lanesIn(lanes);
  warp.cta->cluster->counts->timeline.bulk(warp, use.bytes, use.mbarrier);
}

void Counting::block(Warp& warp, const Access& access, int, uint64_t address, std::byte*, uint64_t bytes) {
  const bool isGlobal =
      access.space == Space::Global || (access.space == Space::None && spaceOfGeneric(address) == Space::Global);
  if (isGlobal) warp.cta->cluster->counts->traffic.touch(address, bytes, access.kind != AccessKind::Read);
}

void Counting::arrives(Warp& warp, LaneMask, const void* object, Semantics) {
  warp.cta->cluster->counts->timeline.arrives(warp, object);
}

void Counting::phaseEnds(Cluster& cluster, const void* object) { cluster.counts->timeline.phaseEnds(object); }

void Counting::waited(Warp& warp, LaneMask, const void* object, Semantics) {
  warp.cta->cluster->counts->timeline.waited(warp, object);
}

void Counting::commits(Warp& warp, LaneMask, AsyncGroups groups) {
  warp.cta->cluster->counts->timeline.commits(warp, groups);
}

void Counting::waitedForGroups(Warp& warp, LaneMask, AsyncGroups groups, uint64_t pending) {
  warp.cta->cluster->counts->timeline.waitedForGroups(warp, groups, pending);
}

LaunchCounts Counting::take(std::span<const Buffer> buffers) {
  LaunchCounts sums;
  Traffic traffic;
  for (const std::unique_ptr<ClusterCounts>& some : all_) {
    sums.timeline += some->timeline.sums();
    traffic.add(some->traffic);
  }
  sums.traffic = trafficOf(traffic, buffers);
  for (const ptx::Function& function : module_.functions) sums.functions.push_back({&function, {}, {}, {}});
  for (const std::unique_ptr<ClusterCounts>& some : all_)
    for (size_t f = 0; f < sums.functions.size(); ++f) {
      FunctionCounts &sum = sums.functions[f], &part = some->functions[f];
      if (part.body.empty()) continue;
      sum.body.resize(part.body.size());
      sum.worst.resize(part.body.size());
      sum.accesses = accesses_[f];
      for (size_t i = 0; i < part.body.size(); ++i) {
        sum.body[i] += part.body[i];
        keepWorst(sum.worst[i], part.worst[i]);
      }
    }
  return sums;
}

} // namespace tiletwin::sim
