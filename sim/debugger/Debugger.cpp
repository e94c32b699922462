#include "sim/debugger/Debugger.h"
#include "sim/debugger/Json.h"
#include "sim/machine/TrapText.h"
#include <algorithm>
#include <cstring>

namespace tiletwin::sim::debugger {
namespace {

/// Instructions between two looks at the socket: a look takes a microsecond.
constexpr uint64_t kToldPerLook = 1024;
/// Instructions of a turn where others run during a step: warps shall not run far away from each other.
constexpr uint64_t kSteppingTurn = 32;
/// A warp that steps for so long may be in a loop that waits for other warps; they run from then on.
constexpr uint64_t kPatience = 4096;

size_t depthOf(const Frame* frame) {
  size_t depth = 0;
  for (; frame; frame = frame->caller) ++depth;
  return depth;
}

} // namespace

Debugger::Debugger(Grid& grid, Channel& channel, uint64_t number) : grid_(grid), channel_(channel), number_(number) {
  mark();
  stop(nullptr, nullptr, "launch", [&](Json& out) { tellLaunch({}, out); });
}

Debugger::~Debugger() {
  Json event;
  event.object([&] { event.field("event", "ended").field("launch", number_).field("instructions", told_); });
  channel_.send(event.text());
}

// ---- Marks -------------------------------------------------------------------------------------------------------------------------

void Debugger::mark() {
  for (const std::unique_ptr<FunctionCode>& code : grid_.program->functions) {
    if (!code) continue;
    std::vector<uint8_t>& flags = flags_[code.get()];
    flags.assign(code->code.size(), 0);
    for (size_t i = 0; i + 1 < code->code.size(); ++i) // the last one is the function's end
      if (!i || code->code[i].source != code->code[i - 1].source) flags[i] = kFirst;
  }
  for (const Breakpoint& breakpoint : breakpoints_)
    for (const Place& place : breakpoint.places.places) {
      const std::vector<Inst>& code = place.code->code;
      const auto first =
          std::find_if(code.begin(), code.end(), [&](const Inst& in) { return in.source == place.instruction; });
      if (first != code.end()) flags_[place.code][size_t(first - code.begin())] |= kBreaks;
    }
  lastCode_ = nullptr;
}

uint8_t Debugger::flagsOf(const Frame& frame, const Inst& in) {
  if (frame.code != lastCode_) {
    lastCode_ = frame.code;
    lastFlags_ = flags_.at(frame.code).data();
  }
  return lastFlags_[&in - frame.code->code.data()];
}

// ---- Looking on --------------------------------------------------------------------------------------------------------------------

void Debugger::instruction(Warp& warp, const Inst& in, LaneMask active) {
  ++told_;
  if (!watches_.empty()) lookAtWatches(warp, in, active);
  if (told_ % kToldPerLook == 0 && channel_.hasInput()) pauses_ = true;
  const uint8_t flags = flagsOf(*warp.running->frame, in);
  if (!(flags & kFirst)) return;
  if (flags & kBreaks || going_ != Going::Freely || pauses_) stopIfWanted(warp, in, active, flags);
}

void Debugger::retries(Warp& warp, const Inst& in, LaneMask) { retried_[&warp] = &in; }

void Debugger::stopIfWanted(Warp& warp, const Inst& in, LaneMask active, uint8_t flags) {
  if (const auto tried = retried_.find(&warp); tried != retried_.end()) {
    const bool isAgain = tried->second == &in;
    retried_.erase(tried);
    if (isAgain && !pauses_) return;
  }
  const LaneMask lanes = warp.running->lanes;
  std::vector<int64_t> hit;
  int lane = -1;
  if (flags & kBreaks)
    for (const Breakpoint& breakpoint : breakpoints_)
      for (const Place& place : breakpoint.places.places)
        if (place.code == warp.running->frame->code && place.instruction == in.source &&
            passes(breakpoint.filter, warp, lanes, lane))
          hit.push_back(breakpoint.id);
  const bool stepped = isStepDone(warp, in);
  if (hit.empty() && !stepped && !pauses_) return;
  if (lane >= 0)
    focus_ = {warp.cta, warp.index, lane};
  else
    focusOn(warp, active ? active : lanes);
  stop(&warp, &in,
       !hit.empty() ? "breakpoint"
       : stepped    ? "step"
                    : "pause",
       [&](Json& out) { out.field("breakpoints", hit); });
}

bool Debugger::passes(const ThreadFilter& filter, Warp& warp, LaneMask lanes, int& lane) const {
  if (filter.block && *filter.block != linearCta(grid_, warp.cta->id)) return false;
  if (filter.warp && *filter.warp != warp.index) return false;
  if (!filter.thread) return true;
  if (*filter.thread / kLanes != warp.index || !(lanes >> (*filter.thread % kLanes) & 1)) return false;
  lane = int(*filter.thread % kLanes);
  return true;
}

/// The focus stays with its thread if that is one of these; else it goes to the first of them.
void Debugger::focusOn(Warp& warp, LaneMask lanes) {
  const bool stays = focus_.cta == warp.cta && focus_.warp == warp.index && warp.running->lanes >> focus_.lane & 1;
  if (!stays) focus_ = {warp.cta, warp.index, lanes ? __builtin_ctz(lanes) : 0};
}

// ---- Steps -------------------------------------------------------------------------------------------------------------------------

void Debugger::beginStep(Going going) {
  going_ = going;
  focusWaits_ = false;
  stepBegan_ = told_;
  const std::optional<Group> group = focusGroup();
  if (!group) {
    if (going != Going::Entry) going_ = Going::Freely;
    return;
  }
  stepDepth_ = depthOf(group->frame);
  stepLines_ = linesOf(*grid_.program, group->frame->code->sourceOf(*group->at));
}

bool Debugger::isStepDone(Warp& warp, const Inst& in) {
  if (going_ == Going::Entry) return true;
  if (going_ == Going::Freely || warp.cta != focus_.cta || warp.index != focus_.warp) return false;
  if (!(warp.running->lanes >> focus_.lane & 1)) return false;
  if (going_ == Going::StepInstruction) return true;
  const std::vector<Line> lines = linesOf(*grid_.program, warp.running->frame->code->sourceOf(in));
  if (lines.empty()) return false;
  const size_t depth = depthOf(warp.running->frame), now = lines.size(), then = stepLines_.size();
  if (depth != stepDepth_) return depth < stepDepth_ || going_ == Going::Step;
  if (going_ == Going::Finish) return now < then;
  if (stepLines_.empty() || now < then) return true;
  if (going_ == Going::Step && now > then) return true;
  return !(lines[now - then] == stepLines_[0]);
}

uint64_t Debugger::before(Warp& warp, uint64_t budget) {
  // Others shall come along in short turns.
  if (locking_ != Locking::Warp) budget = std::min(budget, kSteppingTurn);
  if (going_ == Going::Freely || !focus_.cta) return budget;
  const bool isFocus = warp.cta == focus_.cta && warp.index == focus_.warp;
  if (!(focus_.warpOf().live >> focus_.lane & 1)) { // it has ended without a stop
    going_ = Going::Freely;
    return budget;
  }
  if (isFocus) return budget;
  budget = std::min(budget, kSteppingTurn);
  // A cluster that runs while another one waits for it is not held: nobody would wait for it to be let go.
  if (locking_ == Locking::Off || focusWaits_ || warp.cta->cluster != focus_.cta->cluster) return budget;
  return locking_ == Locking::Block && warp.cta == focus_.cta ? budget : 0;
}

/// A warp that has stopped in the midst of its turn stands while another one steps.
bool Debugger::holds(Warp& warp) { return before(warp, 1) == 0; }

void Debugger::after(Warp& warp, bool ran) {
  if (warp.cta == focus_.cta && warp.index == focus_.warp) focusWaits_ = !ran || told_ - stepBegan_ > kPatience;
}

// ---- Memory ------------------------------------------------------------------------------------------------------------------------

void Debugger::access(Warp& warp, const Access& access, LaneMask active, const uint64_t*, std::byte* const* host) {
  if (access.kind != AccessKind::Read) note(warp, active, access.bytes, host);
}

void Debugger::block(Warp& warp, const Access& access, int lane, uint64_t, std::byte* host, uint64_t bytes) {
  if (access.kind == AccessKind::Read) return;
  std::array<std::byte*, kLanes> at{};
  at[size_t(lane)] = host;
  note(warp, LaneMask(1) << lane, bytes, at.data());
}

void Debugger::issues(Warp& warp, LaneMask lanes, const AsyncUse& use, std::byte* const* at) {
  if (use.kind != AccessKind::Read && use.groups == AsyncGroups::Bulk) note(warp, lanes, use.bytes, at);
}

void Debugger::note(Warp& warp, LaneMask lanes, uint64_t bytes, std::byte* const* host) {
  if (!records_ || !lanes || !warp.at) return;
  WriteRecord record;
  record.bytes = bytes;
  record.time = told_;
  record.cta = linearCta(grid_, warp.cta->id);
  record.warp = warp.index;
  record.code = warp.running->frame->code;
  record.at = warp.at;
  const auto isIn = [](const std::vector<std::byte>& memory, const std::byte* p) {
    return p >= memory.data() && p < memory.data() + memory.size();
  };
  while (lanes) { // the lanes that write to one memory together
    const std::byte* first = host[__builtin_ctz(lanes)];
    const Cta* owner = nullptr;
    bool isLocal = false;
    for (const Cta& cta : warp.cta->cluster->ctas) {
      if (isIn(cta.shared, first)) owner = &cta;
      isLocal |= isIn(cta.local, first);
    }
    alignas(kLaneAlignment) std::array<uint64_t, kLanes> addresses{};
    record.lanes = 0;
    eachLane(lanes, [&](int lane) {
      const bool isOther = owner ? !isIn(owner->shared, host[lane]) : false;
      if (isOther) return;
      record.lanes |= LaneMask(1) << lane;
      addresses[size_t(lane)] =
          owner ? uint64_t(host[lane] - owner->shared.data()) : reinterpret_cast<uint64_t>(host[lane]);
    });
    lanes &= ~record.lanes;
    record.owner = owner ? linearCta(grid_, owner->id) : WriteRecord::kGlobal;
    record.stride = 0;
    record.apart = nullptr;
    if (!isLocal) writes_.add(record, addresses.data());
  }
}

void Debugger::placeWatch(Watch& watch) {
  if (watch.cta == WriteRecord::kGlobal) return;
  watch.at = nullptr;
  for (const Cta* cta : resident_)
    if (linearCta(grid_, cta->id) == watch.cta) watch.at = cta->shared.data() + watch.address;
  if (watch.at) std::memcpy(watch.before.data(), watch.at, watch.before.size());
}

void Debugger::lookAtWatches(Warp& warp, const Inst& in, LaneMask active) {
  for (size_t i = 0; i < watches_.size(); ++i) {
    Watch& watch = watches_[i];
    if (!watch.at || std::memcmp(watch.at, watch.before.data(), watch.before.size()) == 0) continue;
    const std::string old = watch.before;
    std::memcpy(watch.before.data(), watch.at, watch.before.size());
    uint64_t changed = 0;
    while (old[changed] == watch.before[changed]) ++changed;
    focusOn(warp, active ? active : warp.running->lanes);
    stop(&warp, &in, "watchpoint", [&](Json& out) {
      out.field("watch", watch.id).field("old", hexBytes(old)).field("new", hexBytes(watch.before)).key("writer");
      addWriter(out, writes_.last(watch.cta, watch.address + changed, writes_.end()));
    });
  }
}

// ---- Beginnings and ends -----------------------------------------------------------------------------------------------------------

void Debugger::begins(Cta& cta) {
  ++begun_;
  resident_.push_back(&cta);
  for (Watch& watch : watches_) placeWatch(watch);
}

void Debugger::ends(Cta& cta) {
  ++ended_;
  std::erase(resident_, &cta);
  for (const Warp& warp : cta.warps) retried_.erase(&warp);
  for (Watch& watch : watches_) placeWatch(watch);
  if (focus_.cta != &cta) return;
  focus_ = {};
  going_ = Going::Freely;
}

void Debugger::traps(Warp& warp, const Trap& trap, int lane) {
  if (lane >= 0)
    focus_ = {warp.cta, warp.index, lane};
  else
    focusOn(warp, warp.running->lanes);
  stop(&warp, warp.at, "trap", [&](Json& out) { out.field("message", trap.message); });
}

void Debugger::deadlocks(Cluster& cluster, const Trap& trap) {
  for (Cta& cta : cluster.ctas)
    for (Warp& warp : cta.warps)
      if (warp.live && focus_.cta == nullptr) focus_ = {&cta, warp.index, __builtin_ctz(warp.live)};
  stop(nullptr, nullptr, "deadlock", [&](Json& out) { out.field("message", trap.message); });
}

} // namespace tiletwin::sim::debugger
