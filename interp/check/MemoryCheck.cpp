// interp/check/MemoryCheck.cpp -- accesses on their way to the checks; mistakes of single accesses. Races: RaceReport.cpp.
#include "interp/check/MemoryCheck.h"
#include "interp/check/OrderCheck.h"
#include "interp/run/ProbeElements.h"
#include <algorithm>
#include <cstring>

namespace tiletwin::interp {

namespace {
constexpr uint32_t kFallbackSite = kMostProbes; ///< in sites: the operation belongs to the fallback plan
static_assert(2 * kMostProbes <= 1u << RaceStamp::kSiteBits);

bool isWanted(const Plan& plan, Check check) { return plan.checks >> unsigned(check) & 1; }

/// Whether programs of the plan can order each other.
bool orders(const Plan& plan) { return (plan.acquires && plan.releases) || (plan.fallback && orders(*plan.fallback)); }

/// Storages that meet, as one range each.
struct Range {
  uintptr_t begin, end;
};
std::vector<Range> joined(std::span<const Buffer> buffers) {
  std::vector<Range> ranges;
  for (const Buffer& b : buffers)
    if (b.begin < b.end)
      ranges.push_back(
          {b.begin / kShadowBlock * kShadowBlock, (b.end + kShadowBlock - 1) / kShadowBlock * kShadowBlock});
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
  std::vector<Range> result;
  for (const Range& r : ranges) {
    if (!result.empty() && r.begin < result.back().end)
      result.back().end = std::max(result.back().end, r.end);
    else
      result.push_back(r);
  }
  return result;
}

std::string bytesText(int64_t n) { return n == 1 ? "1 byte" : std::to_string(n) + " bytes"; }
} // namespace

MemoryCheck::MemoryCheck(const Plan& plan, const LaunchParams& params)
    : plan_(plan), params_(params), bounds_(isWanted(plan, Check::Bounds)),
      fresh_(isWanted(plan, Check::Uninitialized) && !FreshMemory::instance().empty()) {
  if (isWanted(plan, Check::Races)) {
    if (orders(plan))
      ordered_ = std::make_unique<RaceOrder>();
    else
      races_ = std::make_unique<RaceSet>();
  }
  if (isWanted(plan, Check::Barriers)) barriers_ = std::make_unique<BarrierCheck>(plan, params);
  struct Regions {
    Range range;
    RaceSet::Map::Region* plain = nullptr;
    RaceOrder::Map::Region* ordered = nullptr;
  };
  std::vector<Regions> regions;
  if (races_ || ordered_)
    for (const Range& range : joined(params.buffers)) {
      Regions& r = regions.emplace_back(Regions{range});
      if (races_) r.plain = races_->map().add(range.begin, range.end);
      if (ordered_) r.ordered = ordered_->map().add(range.begin, range.end);
    }
  wantsUnknown_ = fresh_ || races_ || ordered_;
  arguments_.resize(plan.arguments.size());
  for (size_t i = 0; i < arguments_.size(); ++i) {
    Argument& argument = arguments_[i];
    const int32_t number = i < params.bufferOf.size() ? params.bufferOf[i] : -1;
    argument.wanted = wantsUnknown_;
    if (number < 0) continue;
    const Buffer& b = params.buffers[size_t(number)];
    argument.buffer = &b;
    if (bounds_ && b.view && !(b.view->isDense() && b.view->begin() == b.begin && b.view->end() == b.end))
      argument.view = b.view.get();
    if (fresh_) argument.fresh = FreshMemory::instance().overlapping(b.begin, b.end);
    for (const Regions& r : regions)
      if (b.begin >= r.range.begin && b.begin < r.range.end) {
        argument.plain = r.plain;
        argument.ordered = r.ordered;
      }
    argument.wanted = argument.view || !argument.fresh.empty() || races_ || ordered_;
  }
}

uint64_t MemoryCheck::probed() const {
  uint64_t bits = 0;
  for (int32_t root = -1; root < int32_t(arguments_.size()); ++root) {
    const bool wanted = root < 0 ? wantsUnknown_ : arguments_[size_t(root)].wanted;
    bits |= uint64_t(wanted || (barriers_ && barriers_->wants(root))) << probedBit(root);
  }
  return bits;
}

std::array<int32_t, 3> MemoryCheck::idOf(uint64_t number) const {
  const uint64_t x = uint64_t(params_.grid[0]), y = uint64_t(params_.grid[1]);
  return {int32_t(number % x), int32_t(number / x % y), int32_t(number / x / y)};
}

const ProbeAccessOp& MemoryCheck::siteOf(uint32_t site) const {
  const Plan* plan = site & kFallbackSite ? plan_.fallback.get() : &plan_;
  return *plan->probes[site & (kMostProbes - 1)];
}

// ---- an access ----

void MemoryCheck::checkRaces(const ProbeAccessOp& op, const Argument* argument, uintptr_t lo, uintptr_t hi,
                             RaceStamp by) {
  const auto checkIn = [&](auto& races, auto* known) {
    for (uintptr_t at = lo; at < hi;) {
      auto& region = known ? *known : *races.map().find(at);
      const uintptr_t end = std::min(hi, region.end);
      races.access(region, at, end, op.kind, by);
      at = end;
    }
  };
  if (races_) checkIn(*races_, argument ? argument->plain : nullptr);
  if (ordered_) checkIn(*ordered_, argument ? argument->ordered : nullptr);
}

void MemoryCheck::access(const ProbeAccessOp& op, Frame& f) {
  if (barriers_ && barriers_->wants(op.access.root)) barriers_->access(op, f);
  if (op.access.root >= 0 ? !arguments_[size_t(op.access.root)].wanted : !wantsUnknown_) return;
  const Argument* argument = op.access.root >= 0 ? &arguments_[size_t(op.access.root)] : nullptr;
  if (argument && !argument->buffer) argument = nullptr;
  const ViewShape* view = argument ? argument->view : nullptr;
  const uint32_t site = op.number | (f.plan == &plan_ ? 0 : kFallbackSite);
  const RaceStamp by = RaceStamp::of(programNumber(params_.grid, f.program), site);
  const bool reads = !op.writes() || op.isAtomic, races = races_ || ordered_;
  const std::vector<std::shared_ptr<FreshRegion>>* fresh = argument ? &argument->fresh : nullptr;
  std::vector<std::shared_ptr<FreshRegion>> found;
  if (fresh_ && !argument) {
    eachRun(op, f, [&](uintptr_t lo, uintptr_t hi) {
      for (auto& region : FreshMemory::instance().overlapping(lo, hi))
        if (std::find(found.begin(), found.end(), region) == found.end()) found.push_back(region);
    });
    fresh = &found;
  }
  const bool hasFresh = fresh && !fresh->empty();
  bool outside = false, unwritten = false;
  eachRun(op, f, [&](uintptr_t lo, uintptr_t hi) {
    if (view && !view->contains(lo, hi)) [[unlikely]]
      outside = true;
    if (hasFresh)
      for (const auto& region : *fresh) {
        const uintptr_t from = std::max(lo, region->begin()), to = std::min(hi, region->end());
        if (from >= to) continue;
        if (op.isAtomic)
          unwritten |= region->isOpen(from, to);
        else if (reads)
          unwritten |= region->maybeUnwritten(from, to);
        else
          region->write(from, to);
      }
    if (races) checkRaces(op, argument, lo, hi, by);
  });
  if (outside) [[unlikely]]
    noteOutside(op, f, *argument);
  if (unwritten) [[unlikely]]
    noteUnwritten(op, f, *fresh);
  if (hasFresh && op.isAtomic && op.writes())
    eachRun(op, f, [&](uintptr_t lo, uintptr_t hi) {
      for (const auto& region : *fresh) region->write(lo, hi);
    });
  if (ordered_ && op.isAtomic) synchronise(op, f, argument, by);
}

/// Whether lane `element` of a compare-and-swap has written, or a poll has seen what it waited for.
static bool hasTakenPlace(const ProbeAccessOp& op, Frame& f, int64_t element) {
  if (!op.hasOld) return true;
  if (op.isPoll) return f.at<int64_t>(op.old.v) & 1;
  const uint32_t bytes = uint32_t(op.access.elementBytes), lane = element < 0 ? 0 : uint32_t(element);
  return std::memcmp(f.arena + op.old.v + lane * bytes, f.arena + op.compare.v + (op.compareIsCell ? 0 : lane * bytes),
                     bytes) == 0;
}

void MemoryCheck::synchronise(const ProbeAccessOp& op, Frame& f, const Argument* argument, RaceStamp by) {
  const auto regionAt = [&](uintptr_t at) -> RaceOrder::Map::Region& {
    return argument && argument->ordered ? *argument->ordered : *ordered_->map().find(at);
  };
  const uintptr_t bytes = uintptr_t(op.access.elementBytes); // elements are aligned: none crosses a region's end
  const bool isCas = op.hasOld && !op.isPoll && op.isCas;
  if (op.sync.acquires && (!op.isPoll || hasTakenPlace(op, f, -1))) {
    eachElement(op, f, [&](int64_t, uintptr_t at) { ordered_->acquire(regionAt(at), at, at + bytes); });
    ordered_->acquired(by.program());
  }
  if (!op.writes()) return;
  eachElement(op, f, [&](int64_t element, uintptr_t at) {
    if (!isCas || hasTakenPlace(op, f, element)) ordered_->release(regionAt(at), at, at + bytes, op.sync, by.program());
  });
  if (op.sync.releases) ordered_->released(by.program());
}

// ---- mistakes of one access ----

/// Keeps what the lowest program did wrong first: `bad(element, address)` says which lanes are.
template <class Bad>
void MemoryCheck::note(Check check, const ProbeAccessOp& op, Frame& f, std::shared_ptr<FreshRegion> region,
                       const Buffer* buffer, Bad&& bad) {
  const uint64_t program = programNumber(params_.grid, f.program);
  {
    std::lock_guard lock(mutex_);
    auto at = mistakes_.find({check, &op});
    if (at != mistakes_.end() && at->second.program <= program) {
      at->second.programs.insert(program);
      return;
    }
  }
  Mistake mistake;
  eachElement(op, f, [&](int64_t element, uintptr_t address) {
    if (bad(element, address)) mistake.addElement(element, address);
  });
  if (mistake.elementCount == 0) return;
  mistake.id = f.program;
  mistake.program = program;
  mistake.buffer = buffer;
  mistake.region = std::move(region);
  std::lock_guard lock(mutex_);
  mistakes_[{check, &op}].join(std::move(mistake));
}

void MemoryCheck::noteOutside(const ProbeAccessOp& op, Frame& f, const Argument& argument) {
  const uintptr_t bytes = uintptr_t(op.access.elementBytes);
  note(Check::Bounds, op, f, nullptr, argument.buffer,
       [&](int64_t, uintptr_t at) { return !argument.view->contains(at, at + bytes); });
}

void MemoryCheck::noteUnwritten(const ProbeAccessOp& op, Frame& f,
                                const std::vector<std::shared_ptr<FreshRegion>>& fresh) {
  const int64_t bytes = op.access.elementBytes;
  auto isUnwritten = [&](const FreshRegion& region, int64_t element, uintptr_t at) {
    if (at < region.begin() || at + uintptr_t(bytes) > region.end()) return false;
    if (!op.isAtomic || !op.hasOld || op.isPoll) return region.isUnwritten(at, at + uintptr_t(bytes));
    const std::byte* old = f.arena + op.old.v + (element < 0 ? 0 : uint32_t(element * bytes));
    return region.wasUnwritten(at, old, bytes);
  };
  for (const auto& region : fresh) {
    // Elements smaller than kLeastBytes count if they stand beside each other, or if what is around them is unwritten.
    int64_t inRow = 0;
    uintptr_t next = 0;
    bool sure = bytes >= FreshMemory::kLeastBytes;
    if (!sure)
      eachElement(op, f, [&](int64_t element, uintptr_t at) {
        if (sure || !isUnwritten(*region, element, at)) return;
        inRow = at == next ? inRow + bytes : bytes;
        next = at + uintptr_t(bytes);
        sure = inRow >= FreshMemory::kLeastBytes || (bytes > 1 && region->isUnwrittenAround(at));
      });
    if (sure)
      note(Check::Uninitialized, op, f, region, bufferAt(params_.buffers, region->begin()),
           [&](int64_t element, uintptr_t at) { return isUnwritten(*region, element, at); });
  }
}

void MemoryCheck::reportMistakes(FindingCollector& findings) {
  for (auto& [key, mistake] : mistakes_) {
    const auto& [check, op] = key;
    Finding finding = mistake.finding(check, *op);
    const std::string name = mistake.buffer ? mistake.buffer->name : "a buffer";
    const std::string bytes = bytesText(op->access.elementBytes);
    const std::string verb = op->isAtomic && op->writes() ? "updates" : op->writes() ? "writes" : "reads";
    if (check == Check::Bounds) {
      const ViewShape& view = *mistake.buffer->view;
      const int64_t before = int64_t(view.begin() - mistake.address), size = int64_t(view.end() - view.begin());
      std::string where = size == 0    ? "it has no elements"
                          : before > 0 ? bytesText(before) + " before its first element"
                          : mistake.address >= view.end()
                              ? bytesText(int64_t(mistake.address - view.end())) + " behind its last element"
                              : "between its rows, at byte " + std::to_string(-before) + " of it";
      if (mistake.address == view.end() && size) where = "right behind its last element";
      finding.message = verb + " " + bytes + " of " + name + "'s storage that are no part of the view passed as " +
                        name + ": " + where;
      finding.advice =
          "mask the access with the argument's shape; pass the tensor itself, not a view of it, if the kernel "
          "is meant to see more";
    } else {
      finding.message = verb + " memory that nobody has written: " + bytes + " at offset " +
                        std::to_string(mistake.address - mistake.region->begin()) + " of " + name;
      finding.advice = "write it first, or make it with zeros";
      finding.second = mistake.region->made();
      finding.secondOperation = mistake.region->maker();
      finding.secondText = "made the memory, with nothing in it";
    }
    findings.add(std::move(finding));
  }
}

void MemoryCheck::report(FindingCollector& findings) {
  reportMistakes(findings);
  reportRaces(findings);
  if (barriers_) barriers_->report(findings);
}

} // namespace tiletwin::interp

namespace tiletwin::interp {

InstructionRef execProbeAccess(InstructionRef in, Frame& f) {
  // Most launches with a check want nothing of most arguments: that is told without looking at anything else.
  if (!(f.launch->probed >> in->imm & 1)) return in + 1;
  const ProbeAccessOp& op = *static_cast<const ProbeAccessOp*>(in->data);
  if (WriteWatch* watch = f.launch->params->watch) watch->access(op, f);
  if (f.launch->memory) f.launch->memory->access(op, f);
  return in + 1;
}

InstructionRef execProbeBarrier(InstructionRef in, Frame& f) {
  BarrierCheck::barrier(f);
  return in + 1;
}

} // namespace tiletwin::interp
