// sim/isa/Barrier.cpp -- bar, barrier: sync, arrive and red on a CTA's 16 barriers; bar.warp.sync.
//
// Not here:  barrier.cluster (ClusterBarrier.cpp).
// Idea:      a barrier counts warps, each as 32 threads: a warp has arrived once all of its live lanes have. Aligned forms bring the
//            lanes together first; the others let lanes come one by one, from any instruction. Lanes that wait sleep, and the last
//            warp to come wakes them.
//            The result of bar.red is left at the barrier, and a second instruction behind the first picks it up.
// Invariant: lanes that exit are no longer waited for.
#include "sim/isa/Barrier.h"
#include "sim/check/BarrierCheck.h"
#include "sim/isa/WaitText.h"
#include "sim/isa/WarpOps.h"
#include "sim/machine/Cta.h"
#include "sim/machine/Gather.h"
#include "sim/machine/Observer.h"
#include <algorithm>

namespace tiletwin::sim {

namespace {

constexpr uint32_t kBarriers = 16;

bool hasArrived(const BarrierArrival& arrival) { return (arrival.warp->live & ~arrival.arrived) == 0; }

bool isComplete(const Cta& cta, const Barrier& barrier) {
  uint32_t arrived = 0, arrivedLive = 0, live = 0;
  for (const BarrierArrival& arrival : barrier.arrivals)
    if (hasArrived(arrival)) {
      ++arrived;
      arrivedLive += arrival.warp->live != 0;
    }
  if (barrier.expected) return arrived * kLanes >= barrier.expected;
  for (const Warp& warp : cta.warps) live += warp.live != 0;
  return arrivedLive >= live;
}

void keepResult(Barrier& barrier, Warp& warp, LaneMask lanes) {
  if (barrier.reduces) barrier.results.push_back({&warp, lanes, barrier.count, barrier.all, barrier.any});
}

/// The phase ends: everybody who sleeps goes on, and the barrier is as new.
void complete(Cta& cta, uint32_t id) {
  Barrier& barrier = cta.barriers[id];
  for (Observer* observer : cta.cluster->grid->observers) observer->phaseEnds(*cta.cluster, &barrier);
  for (const BarrierArrival& arrival : barrier.arrivals)
    if (arrival.asleep) {
      keepResult(barrier, *arrival.warp, arrival.asleep);
      arrival.warp->wake(arrival.asleep);
      for (Observer* observer : cta.cluster->grid->observers)
        observer->waited(*arrival.warp, arrival.asleep, &barrier, Semantics::Acquire);
    }
  barrier.arrivals.clear();
  barrier.expected = barrier.count = 0;
  barrier.reduces = barrier.any = false;
  barrier.all = true;
}

/// The entry of a warp that lanes can still join, or a new one.
BarrierArrival& arrivalOf(Barrier& barrier, Warp& warp, LaneMask lanes) {
  for (BarrierArrival& arrival : barrier.arrivals)
    if (arrival.warp == &warp && !hasArrived(arrival) && !(arrival.arrived & lanes)) return arrival;
  barrier.arrivals.push_back({&warp, 0, 0});
  return barrier.arrivals.back();
}

/// The operand's value, the same in all active lanes; false: a trap.
bool uniform(Warp& warp, Slot slot, LaneMask active, std::string_view what, uint32_t& value) {
  const uint32_t* lanes = warp.lanes<uint32_t>(slot);
  const int first = __builtin_ctz(active);
  value = lanes[first];
  int other = -1;
  eachLane(active, [&](int i) {
    if (lanes[i] != value) other = i;
  });
  if (other < 0) return true;
  warp.trap(TrapKind::InvalidValue,
            std::string(what) + " " + std::to_string(lanes[other]) + " in lane " + std::to_string(other) + ", but " +
                std::to_string(value) + " in lane " + std::to_string(first),
            other);
  return false;
}

enum class Form { Sync, Arrive, Reduce };

/// Inst::a is the barrier, b the number of threads or none, c the predicate of a reduction, immediate 1 if aligned.
template <Form kForm> Step runBarrier(const Inst& in, Warp& warp, LaneMask active) {
  Cta& cta = *warp.cta;
  cta.onExit = leaveBarriers;
  if (in.immediate)
    if (const Step s = gatherAtBarrier(warp, active); s != Step::Next) return s;
  uint32_t id = 0, threads = 0;
  if (!uniform(warp, in.a, active, "names barrier", id)) return Step::Trap;
  if (in.b && !uniform(warp, in.b, active, "expects a number of threads,", threads)) return Step::Trap;
  if (id >= kBarriers)
    return warp.trap(TrapKind::InvalidValue, "names barrier " + std::to_string(id) + ", and there are 16");
  if (in.b && (threads == 0 || threads % kLanes != 0))
    return warp.trap(TrapKind::InvalidValue,
                     "expects " + std::to_string(threads) + " threads, which is no positive multiple of 32");

  Barrier& barrier = cta.barriers[id];
  if (!barrier.arrivals.empty() && barrier.expected != threads) {
    reportCounts(warp, active, id, threads, barrier);
    const auto text = [](uint32_t n) { return n ? std::to_string(n) : std::string("all"); };
    return warp.trap(TrapKind::InvalidValue, "expects " + text(threads) + " threads at barrier " + std::to_string(id) +
                                                 ", where others that wait there expect " + text(barrier.expected));
  }
  barrier.expected = threads;
  if constexpr (kForm == Form::Reduce) {
    const LaneMask yes = warp.predicate(in.c) & active;
    barrier.reduces = true;
    barrier.count += uint32_t(__builtin_popcount(yes));
    barrier.all &= yes == active;
    barrier.any |= yes != 0;
  }
  BarrierArrival& arrival = arrivalOf(barrier, warp, active);
  arrival.arrived |= active;
  arrival.at = &in;
  if constexpr (kForm != Form::Arrive) arrival.asleep |= active; // those that run are not woken, but get the result
  for (Observer* observer : cta.cluster->grid->observers) observer->arrives(warp, active, &barrier, Semantics::Release);
  if (isComplete(cta, barrier)) {
    if (std::ranges::none_of(barrier.arrivals, [](const BarrierArrival& one) { return one.asleep != 0; }))
      reportUnawaited(warp, active, id, barrier);
    complete(cta, id);
    return Step::Next;
  }
  return kForm == Form::Arrive ? Step::Next : Step::Park;
}

enum class Reduction { Count, All, Any };

/// Behind bar.red: the barrier's result for these lanes.
template <Reduction kReduction> Step takeResult(const Inst& in, Warp& warp, LaneMask active) {
  Barrier& barrier = warp.cta->barriers[warp.lanes<uint32_t>(in.a)[__builtin_ctz(active)]];
  for (size_t i = 0; i < barrier.results.size();) {
    BarrierResult& result = barrier.results[i];
    const LaneMask lanes = result.warp == &warp ? result.lanes & active : 0;
    if (lanes) {
      if constexpr (kReduction == Reduction::Count) {
        perLane(warp.lanes<uint32_t>(in.d), lanes, [&](int) { return result.count; });
      } else {
        assign(warp.predicate(in.d), lanes, (kReduction == Reduction::All ? result.all : result.any) ? kAllLanes : 0);
      }
      result.lanes &= ~lanes;
      active &= ~lanes;
    }
    if (result.lanes == 0) {
      barrier.results.erase(barrier.results.begin() + ptrdiff_t(i));
    } else {
      ++i;
    }
    if (!active) break;
  }
  return Step::Next;
}

Step runWarpSync(const Inst& in, Warp& warp, LaneMask active) {
  const uint32_t* members = warp.lanes<uint32_t>(in.a);
  for (LaneMask rest = active; rest;) {
    const int first = __builtin_ctz(rest);
    const LaneMask mask = members[first];
    if (!(mask >> first & 1))
      return warp.trap(TrapKind::InvalidValue, "runs in a lane that its member mask does not name", first);
    if (mask & warp.live & ~active)
      if (const Step s = meet(warp, mask, active); s != Step::Next) return s;
    LaneMask team = 0;
    eachLane(rest, [&](int i) { team |= LaneMask(members[i] == mask) << i; });
    for (Observer* observer : warp.cta->cluster->grid->observers) observer->meets(warp, mask & warp.live);
    rest &= ~team;
  }
  return Step::Next;
}

bool decodeWarpSync(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  if (!words.take("sync")) return decoder.fail("bar.warp wants .sync");
  out.run = runWarpSync;
  return decoder.operands(in, 1) && decoder.source(in.operands[0], ptx::Type::B32, out.a);
}

bool decodeReduction(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  const std::string_view op = words.takeOneOf({"popc", "and", "or"});
  if (op.empty()) return decoder.fail("barrier.red wants .popc, .and or .or");
  const bool isCount = op == "popc";
  if (!words.take(isCount ? "u32" : "pred"))
    return decoder.fail(isCount ? "barrier.red.popc wants .u32" : "barrier.red of this kind wants .pred");
  if (!decoder.operands(in, 3, 4)) return false;
  const size_t last = in.operands.size() - 1;
  Slot result;
  if (!decoder.destination(in.operands[0], isCount ? ptx::Type::U32 : ptx::Type::Pred, result)) return false;
  if (!decoder.source(in.operands[1], ptx::Type::U32, out.a)) return false;
  if (last == 3 && !decoder.source(in.operands[2], ptx::Type::U32, out.b)) return false;
  if (!decoder.predicate(in.operands[last], out.c)) return false;
  out.run = runBarrier<Form::Reduce>;
  Inst& second = decoder.emitAfter();
  second.run = isCount       ? takeResult<Reduction::Count>
               : op == "and" ? takeResult<Reduction::All>
                             : takeResult<Reduction::Any>;
  second.kind = InstClass::Barrier;
  second.d = result;
  second.a = out.a;
  return true;
}

bool decodeBarrier(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  out.kind = InstClass::Barrier;
  if (words.take("cluster")) {
    if (in.opcode != "barrier") return decoder.fail("bar.cluster does not exist; barrier.cluster does");
    return decodeClusterBarrier(decoder, in, words, out);
  }
  if (in.opcode == "bar" && words.take("warp")) return decodeWarpSync(decoder, in, words, out);
  words.take("cta");
  const std::string_view form = words.takeOneOf({"sync", "arrive", "red"});
  if (form.empty()) return decoder.fail(std::string(in.opcode) + " wants .sync, .arrive or .red");
  const bool saysAligned = words.take("aligned");
  if (saysAligned && in.opcode == "bar") return decoder.fail("bar is aligned: .aligned belongs to barrier");
  out.immediate = saysAligned || in.opcode == "bar";
  if (form == "red") return decodeReduction(decoder, in, words, out);
  const bool isSync = form == "sync";
  if (!decoder.operands(in, isSync ? 1 : 2, 2)) return false;
  out.run = isSync ? runBarrier<Form::Sync> : runBarrier<Form::Arrive>;
  return decoder.source(in.operands[0], ptx::Type::U32, out.a) &&
         (in.operands.size() < 2 || decoder.source(in.operands[1], ptx::Type::U32, out.b));
}

constexpr OpcodeRow kRows[] = {{"bar", decodeBarrier}, {"barrier", decodeBarrier}};

} // namespace

constinit OpcodeTable kBarrierOpcodes = kRows;

Step gatherAtBarrier(Warp& warp, LaneMask& active) {
  const Step step = gatherMembers(warp, kAllLanes, active);
  if (step == Step::Retry) partedAtBarrier(warp, warp.running->lanes);
  if (step == Step::Next && !warp.cta->parted.empty()) metAtBarrier(warp);
  return step;
}

std::string barrierWaitText(Warp& warp, const Fragment& fragment, const Inst* at) {
  if (at->run != runBarrier<Form::Sync> && at->run != runBarrier<Form::Reduce>) return {};
  const uint32_t id = warp.lanes<uint32_t>(at->a)[__builtin_ctz(fragment.lanes)];
  const std::string name = "barrier " + std::to_string(id);
  if (!fragment.asleep) return fragment.retries ? name + " waits for the other lanes of the warp" : std::string();
  const Barrier& barrier = warp.cta->barriers[id];
  uint32_t arrived = 0;
  for (const BarrierArrival& arrival : barrier.arrivals)
    arrived += barrier.expected ? uint32_t(hasArrived(arrival)) * kLanes
                                : uint32_t(__builtin_popcount(arrival.arrived & arrival.warp->live));
  const uint32_t wanted = barrier.expected ? barrier.expected : warp.cta->liveThreads;
  return name + " waits for " + std::to_string(wanted) + " threads, " + std::to_string(arrived) + " have come";
}

void leaveBarriers(Cta& cta, Warp& warp, LaneMask lanes) {
  if (!cta.parted.empty()) leftBarrier(cta, warp, lanes);
  for (uint32_t id = 0; id < kBarriers; ++id)
    if (!cta.barriers[id].arrivals.empty() && isComplete(cta, cta.barriers[id])) complete(cta, id);
  leaveClusterBarrier(warp, lanes);
}

} // namespace tiletwin::sim
