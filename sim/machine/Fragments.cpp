#include "sim/machine/Fragments.h"
#include "sim/machine/Cta.h"
#include "sim/machine/LocalMemory.h"
#include "sim/machine/TrapText.h"
#include <algorithm>
#include <cstring>

namespace tiletwin::sim {

// ---- Lists that keep what they once made ---------------------------------------------------------------------------------------

Fragment& Fragments::add(const Fragment& fragment) {
  if (spareFragments.empty()) spareFragments.emplace_back();
  list.splice(list.end(), spareFragments, spareFragments.begin());
  Fragment& added = list.back();
  added = fragment;
  added.self = std::prev(list.end());
  return added;
}
void Fragments::remove(Fragment& fragment) { spareFragments.splice(spareFragments.begin(), list, fragment.self); }

Join& Fragments::addJoin(const Join& join) {
  if (spareJoins.empty()) spareJoins.emplace_back();
  joins.splice(joins.end(), spareJoins, spareJoins.begin());
  Join& added = joins.back();
  added = join;
  added.self = std::prev(joins.end());
  return added;
}
void Fragments::removeJoin(Join& join) { spareJoins.splice(spareJoins.begin(), joins, join.self); }

Frame* FramePool::take(const FunctionCode& code) {
  for (size_t i = unused_.size(); i-- > 0;)
    if (unused_[i]->code == &code) {
      Frame* frame = unused_[i];
      unused_[i] = unused_.back();
      unused_.pop_back();
      return frame;
    }
  Frame* frame = all_.emplace_back(std::make_unique<Frame>()).get();
  frame->code = &code;
  frame->registers = AlignedBytes(code.registerBytes);
  return frame;
}
void FramePool::give(Frame* frame) { unused_.push_back(frame); }

// ---- Parting and meeting ---------------------------------------------------------------------------------------------------------

void part(Warp& warp, Fragment& fragment, LaneMask leaving, const Inst* target, const Inst* next, const Inst* meeting) {
  Fragments& all = *warp.fragments;
  const Join* join = fragment.join;
  if (meeting && !(join && join->at == meeting && join->frame == fragment.frame)) {
    Join made;
    made.at = meeting;
    made.frame = fragment.frame;
    made.outer = fragment.join;
    made.expected = fragment.lanes;
    fragment.join = &all.addJoin(made);
  }
  Fragment other = fragment;
  other.lanes = leaving;
  other.asleep = 0;
  other.retries = false;
  other.next = target;
  fragment.lanes &= ~leaving;
  fragment.next = next;
  all.add(other);
}

namespace {
/// The lanes that have come to a join go on as a fragment.
void release(Fragments& all, Join& join) {
  Fragment fragment;
  fragment.next = join.at;
  fragment.lanes = join.arrived;
  fragment.frame = join.frame;
  fragment.join = join.outer;
  join.expected &= ~join.arrived;
  join.arrived = 0;
  all.add(fragment);
}
} // namespace

bool arrive(Warp& warp, Fragment& fragment) {
  Fragments& all = *warp.fragments;
  Join& join = *fragment.join;
  if (!join.arrived) {
    join.since = all.executed;
    join.polls = warp.polls;
  }
  join.arrived |= fragment.lanes;
  if (join.arrived != join.expected) {
    all.remove(fragment);
    return false;
  }
  fragment.lanes = join.expected;
  fragment.join = join.outer;
  all.removeJoin(join);
  return true;
}

void leaveJoins(Warp& warp, Join* from, const Join* upTo, LaneMask lanes) {
  Fragments& all = *warp.fragments;
  while (from != upTo) {
    Join& join = *from;
    from = join.outer;
    join.expected &= ~lanes;
    if (join.arrived && join.arrived == join.expected) release(all, join);
    if (!join.expected) all.removeJoin(join);
  }
}

bool giveUpWaiting(Warp& warp, bool all) {
  // Lanes that others wait for may be polling what a waiting lane has to write: atomics and volatile accesses over and over.
  constexpr uint64_t kPolls = 64, kPollingInstructions = 2000, kInstructions = uint64_t(1) << 22;
  Fragments& fragments = *warp.fragments;
  bool some = false;
  for (auto it = fragments.joins.begin(); it != fragments.joins.end();) {
    Join& join = *it++;
    if (!join.arrived) continue;
    const uint64_t waited = fragments.executed - join.since;
    const bool polling = warp.polls - join.polls > kPolls && waited > kPollingInstructions;
    if (!all && !polling && waited < kInstructions) continue;
    release(fragments, join);
    some = true;
    if (!join.expected) fragments.removeJoin(join);
  }
  return some;
}

void merge(Warp& warp, Fragment& into, Fragment& other) {
  // The innermost join that expects both.
  Join* common = other.join;
  for (bool found = false; common && !found;) {
    for (const Join* join = into.join; join && !found; join = join->outer) found = join == common;
    if (!found) common = common->outer;
  }
  leaveJoins(warp, into.join, common, into.lanes);
  leaveJoins(warp, other.join, common, other.lanes);
  into.join = common;
  into.lanes |= other.lanes;
  warp.fragments->remove(other);
}

// ---- Calls and exits -------------------------------------------------------------------------------------------------------------

bool growLocalMemory(Cta& cta, uint64_t bytes) {
  if (bytes <= cta.localBytes) return true;
  if (bytes > kLocalLimit) return false;
  const uint64_t grown = std::min(std::max(bytes, cta.localBytes * 2), kLocalLimit);
  std::vector<std::byte> memory(grown * cta.threads);
  for (uint64_t thread = 0; thread < cta.threads && cta.localBytes; ++thread)
    std::copy_n(cta.local.data() + thread * cta.localBytes, cta.localBytes, memory.data() + thread * grown);
  cta.local = std::move(memory);
  cta.localBytes = grown;
  return true;
}

Frame* enterFrame(Warp& warp, const FunctionCode& code, Frame* caller, LaneMask lanes) {
  constexpr uint32_t kLeastBytes = 16; // what a return address takes: calls without end come to the limit
  const uint64_t base = caller ? caller->localEnd : 0;
  const uint64_t end = base + (caller ? std::max(code.localBytes, kLeastBytes) : code.localBytes);
  if (!growLocalMemory(*warp.cta, end)) {
    warp.trap(TrapKind::OutOfMemory, "the call stack needs more than the " + std::to_string(kLocalLimit) +
                                         " bytes of local memory a thread has");
    return nullptr;
  }
  Frame* frame = warp.fragments->pool->take(code);
  frame->caller = caller;
  frame->callSite = nullptr;
  frame->lanes = lanes;
  frame->localBase = uint32_t(base);
  frame->localEnd = uint32_t(end);
  if (code.clearedBytes) std::memset(frame->registers.data(), 0, code.clearedBytes);
  for (const SpecialFill& fill : code.specials)
    fillSpecial(fill.special, fill.bytes, warp, frame->localBase, frame->registers.data() + fill.offset);
  return frame;
}

void leaveFrame(Warp& warp, Frame* frame, LaneMask lanes) {
  frame->lanes &= ~lanes;
  if (!frame->lanes) warp.fragments->pool->give(frame);
}

void exitLanes(Warp& warp, Fragment& fragment, LaneMask lanes) {
  Cta& cta = *warp.cta;
  warp.live &= ~lanes;
  const uint32_t count = uint32_t(__builtin_popcount(lanes));
  cta.liveThreads -= count;
  cta.cluster->liveThreads -= count;
  leaveJoins(warp, fragment.join, nullptr, lanes);
  for (Frame* frame = fragment.frame; frame;) {
    Frame* caller = frame->caller;
    leaveFrame(warp, frame, lanes);
    frame = caller;
  }
  fragment.lanes &= ~lanes;
  if (!fragment.lanes) warp.fragments->remove(fragment);
  if (cta.onExit) cta.onExit(cta, warp, lanes);
}

void Warp::wake(LaneMask lanes) {
  for (auto it = fragments->list.begin(); it != fragments->list.end();) {
    Fragment& fragment = *it++;
    const LaneMask woken = fragment.asleep & lanes;
    if (!woken) continue;
    if (woken != fragment.asleep) part(*this, fragment, woken, fragment.next, fragment.next, nullptr);
    fragment.asleep &= ~woken;
  }
}

} // namespace tiletwin::sim
