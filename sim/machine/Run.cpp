#include "sim/machine/Run.h"
#include "sim/machine/Cta.h"
#include "sim/machine/Observer.h"

namespace tiletwin::sim {
namespace {

/// How a fragment's turn ended.
enum class Pause : uint8_t {
  Budget, ///< it can go on
  Waits,  ///< Retry, or asleep
  Gone,   ///< waits at a join, or has exited
  Trapped
};

/// One fragment's turn. Its state is kept in members while it runs and written back when others look at it.
class FragmentRun {
public:
  FragmentRun(Warp& warp, Fragment& fragment, uint64_t& budget, RunCounts& counts, bool observed)
      : warp_(warp), fragment_(fragment), budget_(budget), counts_(counts), observed_(observed) {}
  Pause run();

private:
  bool load();
  template <class Tell> void tellWatching(Tell&& tell);
  // Out of the loop's way: nobody looks on, nearly always.
  [[gnu::cold, gnu::noinline]] bool tell(const Inst& in, LaneMask active);
  [[gnu::cold, gnu::noinline]] Pause hold(const Inst& in, LaneMask active);
  [[gnu::cold, gnu::noinline]] void tellRegroups(const Inst& in, LaneMask told);
  [[gnu::cold, gnu::noinline]] void tellRetries(const Inst& in, LaneMask active);
  Pause step(const Inst& in, LaneMask active);
  Pause pauseAt(const Inst& in, LaneMask active, Step step);
  bool branch(const Inst& in, LaneMask active);
  bool branchTable(const Inst& in, LaneMask active);
  bool enterCall(const Inst& in, LaneMask active);
  bool exit(const Inst& in, LaneMask active);
  void goTo(const Inst* next) { next_ = next; }
  const Inst* meetingOf(const Inst& in) const { return in.reconverges < 0 ? nullptr : code_ + in.reconverges; }

  Warp& warp_;
  Fragment& fragment_;
  uint64_t& budget_;
  RunCounts& counts_;
  const bool observed_;
  const Inst* code_ = nullptr; ///< of the function that runs
  const Inst* next_ = nullptr;
  const Inst* stop_ = nullptr; ///< where lanes that parted are waited for; null: nowhere in this call
  LaneMask lanes_ = 0;
};

/// Reads the fragment anew after it has parted, called, returned or met others. False: it waits at its join now.
bool FragmentRun::load() {
  while (fragment_.join && fragment_.join->at == fragment_.next && fragment_.join->frame == fragment_.frame)
    if (!arrive(warp_, fragment_)) return false;
  const Frame& frame = *fragment_.frame;
  warp_.running = &fragment_;
  warp_.base[0] = frame.registers.data();
  warp_.base[1] = frame.code->constants.data();
  code_ = frame.code->code.data();
  next_ = fragment_.next;
  lanes_ = fragment_.lanes;
  stop_ = fragment_.join && fragment_.join->frame == &frame ? fragment_.join->at : nullptr;
  return true;
}

Pause FragmentRun::run() {
  if (!load()) return Pause::Gone;
  while (budget_) {
    if (next_ == stop_) {
      fragment_.next = next_;
      if (!load()) return Pause::Gone;
    }
    const Inst& in = *next_;
    const LaneMask active = guarded(in, warp_, lanes_);
    --budget_;
    ++counts_.instructions;
    counts_.laneInstructions += unsigned(__builtin_popcount(active));
    if (observed_) [[unlikely]]
      if (tell(in, active)) return hold(in, active);
    bool stays = true;
    switch (in.flow) {
    case Flow::None:
      if (active)
        if (const Pause pause = step(in, active); pause != Pause::Budget) return pause;
      ++next_;
      continue;
    case Flow::Branch: stays = branch(in, active); break;
    case Flow::BranchTable: stays = branchTable(in, active); break;
    case Flow::Call: stays = enterCall(in, active); break;
    case Flow::Return:
      fragment_.next = next_;
      if (fragment_.frame->caller) {
        returnFromCall(warp_, fragment_);
        stays = load();
        break;
      }
      warp_.at = &in;
      exitLanes(warp_, fragment_, lanes_);
      return Pause::Gone;
    case Flow::Exit: stays = exit(in, active); break;
    }
    if (!stays) return warp_.cta->cluster->grid->stop ? Pause::Trapped : Pause::Gone;
  }
  fragment_.next = next_;
  return Pause::Budget;
}

/// Tells observers that want to hear of instructions.
template <class Tell> void FragmentRun::tellWatching(Tell&& tell) {
  for (Observer* observer : warp_.cta->cluster->grid->observers)
    if (observer->wantsInstructions()) tell(*observer);
}

/// True: the warp may not go on.
bool FragmentRun::tell(const Inst& in, LaneMask active) {
  warp_.at = &in;
  tellWatching([&](Observer& observer) { observer.instruction(warp_, in, active); });
  TurnKeeper* const keeper = warp_.cta->cluster->grid->keeper;
  return keeper && keeper->holds(warp_);
}

/// The instruction will be told of again, as one that is tried again.
Pause FragmentRun::hold(const Inst& in, LaneMask active) {
  budget_ = 0;
  --counts_.instructions;
  counts_.laneInstructions -= unsigned(__builtin_popcount(active));
  fragment_.next = next_;
  tellRetries(in, active);
  return Pause::Budget;
}

void FragmentRun::tellRegroups(const Inst& in, LaneMask told) {
  const LaneMask ran = guarded(in, warp_, fragment_.lanes);
  tellWatching([&](Observer& observer) { observer.regroups(warp_, in, told, ran); });
}

void FragmentRun::tellRetries(const Inst& in, LaneMask active) {
  tellWatching([&](Observer& observer) { observer.retries(warp_, in, active); });
}

Pause FragmentRun::step(const Inst& in, LaneMask active) {
  warp_.at = &in;
  fragment_.next = next_;
  const Step step = in.run(in, warp_, active);
  if (step != Step::Next) [[unlikely]]
    return pauseAt(in, active, step);
  if (fragment_.lanes != lanes_) [[unlikely]] { // it has gathered or left lanes behind
    if (observed_) tellRegroups(in, active);
    lanes_ = fragment_.lanes;
    stop_ = fragment_.join && fragment_.join->frame == fragment_.frame ? fragment_.join->at : nullptr;
  }
  return Pause::Budget;
}

/// Lanes whose guard is false do not wait with the others.
Pause FragmentRun::pauseAt(const Inst& in, LaneMask active, Step step) {
  if (step == Step::Trap) return Pause::Trapped;
  const Inst* after = next_ + 1;
  const LaneMask others = fragment_.lanes & ~guarded(in, warp_, fragment_.lanes);
  if (step == Step::Retry) {
    ++budget_;
    --counts_.instructions;
    counts_.laneInstructions -= unsigned(__builtin_popcount(active));
    fragment_.retries = true;
    if (observed_) tellRetries(in, active);
    if (others) part(warp_, fragment_, others, after, next_, after);
    return Pause::Waits;
  }
  const LaneMask sleeping = fragment_.lanes & ~others;
  fragment_.next = after;
  if (others) part(warp_, fragment_, others, after, after, after);
  fragment_.asleep = sleeping;
  return Pause::Waits;
}

bool FragmentRun::branch(const Inst& in, LaneMask active) {
  const Inst* target = code_ + in.immediate;
  if (active == lanes_) {
    goTo(target);
    return true;
  }
  if (!active) {
    ++next_;
    return true;
  }
  part(warp_, fragment_, active, target, next_ + 1, meetingOf(in));
  return load();
}

bool FragmentRun::branchTable(const Inst& in, LaneMask active) {
  const auto& targets = *static_cast<const std::vector<int32_t>*>(in.data);
  const uint32_t* index = warp_.lanes<uint32_t>(in.a);
  if (active != lanes_) { // the others fall through; this instruction is looked at again
    if (!active) {
      ++next_;
      return true;
    }
    part(warp_, fragment_, lanes_ & ~active, next_ + 1, next_, meetingOf(in));
    return load();
  }
  const int first = __builtin_ctz(active);
  LaneMask together = 0;
  eachLane(active, [&](int lane) { together |= LaneMask(index[lane] == index[first]) << lane; });
  if (index[first] >= targets.size()) {
    warp_.at = &in;
    return warp_.fail(
        TrapKind::InvalidValue,
        "index " + std::to_string(index[first]) + " of a list of " + std::to_string(targets.size()) + " labels", first);
  }
  const Inst* target = code_ + targets[index[first]];
  if (together == lanes_) {
    goTo(target);
    return true;
  }
  part(warp_, fragment_, together, target, next_, meetingOf(in));
  return load();
}

bool FragmentRun::enterCall(const Inst& in, LaneMask active) {
  if (!active) {
    ++next_;
    return true;
  }
  fragment_.next = next_;
  warp_.at = &in;
  if (active != lanes_) {
    part(warp_, fragment_, lanes_ & ~active, next_ + 1, next_, next_ + 1);
    return load(); // and comes back here with all lanes active
  }
  return call(warp_, fragment_, in) && load();
}

bool FragmentRun::exit(const Inst& in, LaneMask active) {
  warp_.at = &in;
  fragment_.next = next_ + 1;
  if (!active) {
    ++next_;
    return true;
  }
  const bool all = active == lanes_;
  exitLanes(warp_, fragment_, active);
  return !all && load();
}

Fragment* nextFragment(Fragments& all) {
  Fragment* best = nullptr;
  for (Fragment& fragment : all.list)
    if (!fragment.asleep && (!best || fragment.turn < best->turn)) best = &fragment;
  return best;
}

} // namespace

Turn runWarp(Warp& warp, uint64_t budget, RunCounts& counts) {
  Fragments& all = *warp.fragments;
  const uint64_t given = budget;
  bool observed = false;
  for (const Observer* observer : warp.cta->cluster->grid->observers) observed |= observer->wantsInstructions();
  if (!all.joins.empty()) giveUpWaiting(warp, false);
  // Fragments that wait are asked again once all others have had their turn.
  size_t waiting = 0;
  while (budget && waiting < all.list.size()) {
    Fragment* fragment = nextFragment(all);
    if (!fragment) break;
    fragment->turn = ++all.turns;
    fragment->retries = false;
    const uint64_t before = budget;
    const Pause pause = FragmentRun(warp, *fragment, budget, counts, observed).run();
    all.executed += before - budget;
    if (pause == Pause::Trapped) return Turn::Trapped;
    waiting = before != budget || pause == Pause::Gone ? 0 : waiting + 1;
  }
  return budget != given ? Turn::Ran : Turn::Blocked;
}

void startWarp(Warp& warp, const FunctionCode& entry, LaneMask lanes, FramePool& pool) {
  warp.live = lanes;
  warp.fragments = std::make_shared<Fragments>();
  warp.fragments->pool = &pool;
  Fragment fragment;
  fragment.frame = enterFrame(warp, entry, nullptr, lanes);
  fragment.next = entry.code.data();
  fragment.lanes = lanes;
  warp.running = &warp.fragments->add(fragment);
}

} // namespace tiletwin::sim
