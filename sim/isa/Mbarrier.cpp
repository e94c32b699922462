// sim/isa/Mbarrier.cpp -- mbarrier: init, inval, arrive, arrive_drop, expect_tx, complete_tx, test_wait, try_wait, pending_count.
//
// Here:      decoding, and each operation lane by lane, in the order of lanes.
// Not here:  what an operation does to the object (MbarrierState.h), which copies land for a wait (AsyncQueue.cpp).
// Source:    "PTX ISA", NVIDIA, section "mbarrier".
// try_wait may wait. In a loop that does nothing but try again it waits until the phase ends, so that a phase that never ends is
// found as a deadlock; elsewhere the thread may have something to do that ends the phase, and it gets its answer at once.
#include "sim/isa/Mbarrier.h"
#include "sim/check/BarrierCheck.h"
#include "sim/isa/Async.h"
#include "sim/machine/Cta.h"
#include "sim/machine/Observer.h"
#include <algorithm>
#include <cstring>

namespace tiletwin::sim {

namespace {

using Outcome = MbarrierState::Outcome;
using Kind = ptx::Operand::Kind;

/// One lane's mbarrier: the CTA that it lies in, its bytes and its state.
struct Object {
  Cta* owner = nullptr;
  std::byte* at = nullptr;
  MbarrierState state;

  void load() { state = MbarrierState::read(at); }
  void store(MbarrierState next) {
    state = next;
    state.write(at);
  }
};

/// Calls visit(lane, object) for the active lanes, which returns false after a trap.
template <class Visit> Step eachObject(const MbarrierForm& form, Warp& warp, LaneMask active, Visit&& visit) {
  const LaneAddresses addresses = form.address.lanes(warp);
  std::array<std::byte*, kLanes> host;
  if (!resolve(form.access, warp, active, addresses.data(), host.data())) return Step::Trap;
  for (LaneMask rest = active; rest; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    Object object;
    object.at = host[size_t(lane)];
    object.owner = ownerOf(*warp.cta->cluster, object.at);
    if (!object.owner) return warp.trap(TrapKind::InvalidValue, "names an mbarrier outside of shared memory", lane);
    if (object.owner != warp.cta && !form.anyCta)
      return warp.trap(TrapKind::InvalidValue, "names an mbarrier of another CTA", lane);
    object.load();
    if (!visit(lane, object)) return Step::Trap;
  }
  return Step::Next;
}

int64_t countOf(const MbarrierForm& form, Warp& warp, int lane) {
  return form.count ? int64_t(warp.lanes<uint32_t>(form.count)[lane]) : 1;
}

/// The mbarrier.init of an object that has not been invalidated, or null.
const MbarrierOrigin* makerOf(const CtaAsync& async, const std::byte* at) {
  for (const MbarrierOrigin& made : async.mbarriers)
    if (made.at == at) return &made;
  return nullptr;
}

/// Notes who makes an mbarrier, and looks whether it is one already. (If what is there is none any more, it was overwritten.)
void initialises(Warp& warp, int lane, Object& object) {
  CtaAsync& async = asyncOf(*object.owner);
  if (const MbarrierOrigin* made = makerOf(async, object.at)) {
    if (object.state.isLive()) initialisedAgain(warp, lane, *object.owner, *made);
    *const_cast<MbarrierOrigin*>(made) = {object.at, &warp, lane, warp.at};
  } else {
    async.mbarriers.push_back({object.at, &warp, lane, warp.at});
  }
}

Step runInit(const Inst& in, Warp& warp, LaneMask active) {
  const MbarrierForm& form = formOf(in);
  return eachObject(form, warp, active, [&](int lane, Object& object) {
    const int64_t count = countOf(form, warp, lane);
    if (!MbarrierState::isCount(count))
      return trapMbarrier(warp, lane, object.owner, object.at, Outcome::BadCount, object.state, count);
    initialises(warp, lane, object);
    object.store(MbarrierState::init(uint32_t(count)));
    return true;
  });
}

Step runInvalidate(const Inst& in, Warp& warp, LaneMask active) {
  return eachObject(formOf(in), warp, active, [&](int lane, Object& object) {
    if (!object.state.isLive())
      return trapMbarrier(warp, lane, object.owner, object.at, Outcome::NoObject, object.state, 0);
    object.store(MbarrierState());
    std::erase_if(asyncOf(*object.owner).mbarriers, [&](const MbarrierOrigin& made) { return made.at == object.at; });
    return true;
  });
}

/// Arrives for a lane; false after a trap.
bool arrive(Warp& warp, int lane, Object& object, const MbarrierForm& form, int64_t count) {
  // A phase without pending arrivals waits for copies only: they have landed by now, or this arrival would be one too many.
  if (object.state.isLive() && count > object.state.pending() && landSignals(*object.owner, object.at)) object.load();
  MbarrierState next = object.state;
  const Outcome outcome = next.arrive(count, form.drops);
  if (outcome == Outcome::PhaseEnds && form.noComplete)
    return warp.fail(TrapKind::InvalidValue, "ends the mbarrier's phase, which .noComplete says it does not", lane);
  if (outcome != Outcome::None && outcome != Outcome::PhaseEnds)
    return trapMbarrier(warp, lane, object.owner, object.at, outcome, object.state, count);
  object.store(next);
  Cluster& cluster = *warp.cta->cluster;
  for (Observer* observer : cluster.grid->observers) {
    observer->arrives(warp, LaneMask(1) << lane, object.at, form.access.semantics);
    if (outcome == Outcome::PhaseEnds) observer->phaseEnds(cluster, object.at);
  }
  return true;
}

Step runArrive(const Inst& in, Warp& warp, LaneMask active) {
  const MbarrierForm& form = formOf(in);
  uint64_t* states = in.d ? warp.lanes<uint64_t>(in.d) : nullptr;
  return eachObject(form, warp, active, [&](int lane, Object& object) {
    const int64_t count = countOf(form, warp, lane); // d may be the register of the count
    const MbarrierState before = object.state;
    if (!arrive(warp, lane, object, form, count)) return false;
    if (states) states[lane] = before.bits();
    return true;
  });
}

/// expect_tx and arrive.expect_tx; the latter arrives once.
Step runExpect(const Inst& in, Warp& warp, LaneMask active) {
  const MbarrierForm& form = formOf(in);
  uint64_t* states = in.d ? warp.lanes<uint64_t>(in.d) : nullptr;
  return eachObject(form, warp, active, [&](int lane, Object& object) {
    const int64_t bytes = countOf(form, warp, lane);
    // The bytes belong to the phase that the arrival below belongs to.
    if (form.arrives && object.state.isLive() && object.state.pending() == 0 && landSignals(*object.owner, object.at))
      object.load();
    const MbarrierState before = object.state;
    MbarrierState next = before;
    if (const Outcome outcome = next.expectBytes(bytes); outcome != Outcome::None)
      return trapMbarrier(warp, lane, object.owner, object.at, outcome, object.state, bytes);
    object.store(next);
    if (form.arrives && !arrive(warp, lane, object, form, 1)) return false;
    if (states) states[lane] = before.bits();
    return true;
  });
}

Step runComplete(const Inst& in, Warp& warp, LaneMask active) {
  const MbarrierForm& form = formOf(in);
  return eachObject(form, warp, active, [&](int lane, Object& object) {
    const int64_t bytes = countOf(form, warp, lane);
    MbarrierState next = object.state;
    const Outcome outcome = next.completeBytes(bytes);
    if (outcome != Outcome::None && outcome != Outcome::PhaseEnds)
      return trapMbarrier(warp, lane, object.owner, object.at, outcome, object.state, bytes);
    object.store(next);
    Cluster& cluster = *warp.cta->cluster;
    if (outcome == Outcome::PhaseEnds)
      for (Observer* observer : cluster.grid->observers) observer->phaseEnds(cluster, object.at);
    return true;
  });
}

/// Does asking for the phase make copies land? Where chance decides, a thread that does not ask again may get no for an answer.
bool mayLand(const MbarrierForm& form, Cluster& cluster) {
  if (form.waitsInLoop || cluster.grid->schedule.copies != CopyTime::Drawn || !cluster.random) return true;
  return cluster.random->below(4) == 0;
}

enum class Phase { Token, Parity };

template <Phase kPhase> Step runWait(const Inst& in, Warp& warp, LaneMask active) {
  const MbarrierForm& form = formOf(in);
  ++warp.polls;
  const bool lands = mayLand(form, *warp.cta->cluster);
  LaneMask ended = 0;
  const Step step = eachObject(form, warp, active, [&](int lane, Object& object) {
    if (!object.state.isLive())
      return trapMbarrier(warp, lane, object.owner, object.at, Outcome::NoObject, object.state, 0);
    bool parity;
    if constexpr (kPhase == Phase::Parity) {
      const uint32_t value = warp.lanes<uint32_t>(in.b)[lane];
      if (value > 1)
        return warp.fail(TrapKind::InvalidValue, "asks for a phase of parity " + std::to_string(value), lane);
      parity = value != 0;
    } else {
      const MbarrierState token(warp.lanes<uint64_t>(in.b)[lane]);
      if (!token.isLive())
        return warp.fail(TrapKind::InvalidValue, "waits with a state that no mbarrier.arrive has returned", lane);
      parity = token.parity();
    }
    const bool hasEnded = object.state.hasEnded(parity) || (lands && landSignals(*object.owner, object.at));
    ended |= LaneMask(hasEnded) << lane;
    if (hasEnded)
      for (Observer* observer : warp.cta->cluster->grid->observers)
        observer->waited(warp, LaneMask(1) << lane, object.at, form.access.semantics);
    return true;
  });
  if (step != Step::Next) return step;
  if (ended == 0 && form.waitsInLoop) return Step::Retry;
  assign(warp.predicate(in.d), active, ended);
  return Step::Next;
}

Step runPendingCount(const Inst& in, Warp& warp, LaneMask active) {
  const uint64_t* states = warp.lanes<uint64_t>(in.a);
  perLane(warp.lanes<uint32_t>(in.d), active, [&](int i) { return MbarrierState(states[i]).pending(); });
  return Step::Next;
}

// ---- decoding

/// Semantics, scope, space and type, which all but pending_count have.
bool decodeMemory(Decoder& decoder, const ptx::Operand& operand, Words& words, MbarrierForm& form) {
  const std::string_view order = words.takeOneOf({"release", "relaxed", "acquire"});
  const std::string_view scope = words.takeOneOf({"cta", "cluster"});
  const std::string_view space = words.takeOneOf({"shared", "shared::cta", "shared::cluster"});
  if (!words.take("b64")) return decoder.fail("mbarrier wants .b64");
  form.anyCta = space.empty() || space == "shared::cluster";
  form.access.kind = AccessKind::Atomic;
  form.access.bytes = form.access.alignment = 8;
  form.access.semantics = order == "relaxed"   ? Semantics::Relaxed
                          : order == "acquire" ? Semantics::Acquire
                                               : Semantics::Release;
  form.access.scope = scope == "cluster" ? Scope::Cluster : Scope::Cta;
  if (!form.address.decode(decoder, operand, space.empty() ? Space::None : Space::Shared)) return false;
  form.access.space = form.address.space;
  return true;
}

bool namesCluster(const ptx::Instruction& in) {
  return std::ranges::find(in.modifiers, std::string_view("shared::cluster")) != in.modifiers.end();
}

bool decodeArrive(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out, MbarrierForm& form) {
  const bool expects = words.take("expect_tx");
  form.noComplete = words.take("noComplete");
  if (expects && form.noComplete) return decoder.fail(".expect_tx and .noComplete exclude each other");
  if (!decoder.operands(in, expects || form.noComplete ? 3 : 2, 3)) return false;
  if (!decodeMemory(decoder, in.operands[1], words, form)) return false;
  if (form.access.semantics == Semantics::Acquire) return decoder.fail("mbarrier.arrive is .release or .relaxed");
  if (namesCluster(in) && in.operands[0].kind != Kind::Sink)
    return decoder.fail(in.operands[0], "an arrival in .shared::cluster gives no state: wants _");
  if (!decoder.destination(in.operands[0], ptx::Type::B64, out.d, false, true)) return false;
  if (in.operands.size() == 3 && !decoder.source(in.operands[2], ptx::Type::U32, form.count)) return false;
  form.arrives = expects;
  out.run = expects ? runExpect : runArrive;
  return true;
}

/// Does the thread do nothing but ask again if the answer is no? Loops "L: try_wait p; @!p bra L" and
/// "L: try_wait p; @p bra Done; bra L", with nothing but moves between the label and try_wait.
bool isOnlyTriedAgain(const ptx::Function& function, const ptx::Instruction& in) {
  const auto& body = function.body;
  const auto here = size_t(&in - body.data());
  if (here + 1 >= body.size() || in.operands[0].kind != Kind::Register) return false;
  const auto leadsBack = [&](const ptx::Instruction& branch) {
    if (branch.opcode != "bra" || branch.operands.size() != 1 || branch.operands[0].kind != Kind::Label) return false;
    const auto target = size_t(function.labels[size_t(branch.operands[0].index)].instruction);
    if (target > here) return false;
    for (size_t i = target; i < here; ++i)
      if (body[i].opcode != "mov") return false;
    return true;
  };
  const ptx::Instruction& next = body[here + 1];
  if (next.opcode != "bra" || next.guard != in.operands[0].index) return false;
  if (next.guardNegated) return leadsBack(next);
  return here + 2 < body.size() && body[here + 2].guard < 0 && leadsBack(body[here + 2]);
}

bool decodeWait(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out, MbarrierForm& form, bool isTry) {
  const bool isParity = words.take("parity");
  if (namesCluster(in)) return decoder.fail("a thread waits for mbarriers of its own CTA: no .shared::cluster");
  if (!decoder.operands(in, 3, isTry ? 4 : 3)) return false;
  if (!decodeMemory(decoder, in.operands[1], words, form)) return false;
  if (form.access.semantics == Semantics::Release) form.access.semantics = Semantics::Acquire; // the default
  form.access.kind = AccessKind::Atomic;
  form.waitsInLoop = isTry && isOnlyTriedAgain(decoder.function(), in);
  out.run = isParity ? runWait<Phase::Parity> : runWait<Phase::Token>;
  if (!decoder.destination(in.operands[0], ptx::Type::Pred, out.d)) return false;
  if (!decoder.source(in.operands[2], isParity ? ptx::Type::U32 : ptx::Type::B64, out.b)) return false;
  Slot timeLimit; // in nanoseconds: there is no time here that it could limit
  return in.operands.size() < 4 || decoder.source(in.operands[3], ptx::Type::U32, timeLimit);
}

bool decodeMbarrier(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  const std::string_view operation = words.takeOneOf(
      {"init", "inval", "arrive", "arrive_drop", "expect_tx", "complete_tx", "test_wait", "try_wait", "pending_count"});
  out.kind = InstClass::Async;
  if (operation == "pending_count") {
    if (!words.take("b64")) return decoder.fail("mbarrier.pending_count wants .b64");
    out.run = runPendingCount;
    return decoder.operands(in, 2) && decoder.destination(in.operands[0], ptx::Type::U32, out.d) &&
           decoder.source(in.operands[1], ptx::Type::B64, out.a);
  }
  auto* form = decoder.make<MbarrierForm>();
  out.data = form;
  if (operation == "test_wait" || operation == "try_wait")
    return decodeWait(decoder, in, words, out, *form, operation == "try_wait");
  // mbarrier.arrive.expect_tx has both words.
  form->drops = operation == "arrive_drop";
  if (form->drops || operation == "arrive") return decodeArrive(decoder, in, words, out, *form);
  if (operation.empty()) return decoder.fail("mbarrier wants an operation: .init, .arrive, .try_wait, ...");

  const bool isInvalidate = operation == "inval";
  if (!decoder.operands(in, isInvalidate ? 1 : 2)) return false;
  if (!decodeMemory(decoder, in.operands[0], words, *form)) return false;
  out.run = operation == "init"        ? runInit
            : isInvalidate             ? runInvalidate
            : operation == "expect_tx" ? runExpect
                                       : runComplete;
  if (operation == "init" || isInvalidate) {
    form->anyCta = false;
    form->access.semantics = Semantics::Weak;
  }
  return isInvalidate || decoder.source(in.operands[1], ptx::Type::U32, form->count);
}

constexpr OpcodeRow kRows[] = {{"mbarrier", decodeMbarrier}};

} // namespace

/// What trapMbarrier says.
static std::string misuseText(MbarrierState::Outcome outcome, MbarrierState state, int64_t count) {
  const std::string n = std::to_string(count);
  switch (outcome) {
  case Outcome::NoObject: return "finds no mbarrier there: it was not initialised, was invalidated, or was overwritten";
  case Outcome::TooManyArrivals:
    return "arrives " + n + " times at an mbarrier whose phase waits for " + std::to_string(state.pending());
  case Outcome::BadCount: return "gives the count " + n + "; it may be 1 to 1048575";
  case Outcome::TooManyBytes:
    return "adds " + n + " bytes to the " + std::to_string(state.bytes()) +
           " that the mbarrier's phase waits for; 1048575 are the most";
  case Outcome::None:
  case Outcome::PhaseEnds: break;
  }
  return {};
}

bool isMbarrierWait(const Inst& in) { return in.run == runWait<Phase::Token> || in.run == runWait<Phase::Parity>; }

constinit OpcodeTable kMbarrierOpcodes = kRows;

bool trapMbarrier(Warp& warp, int lane, Cta* owner, const std::byte* at, Outcome outcome, MbarrierState state,
                  int64_t count) {
  std::string text = misuseText(outcome, state, count);
  const MbarrierOrigin* made = owner && owner->async ? makerOf(*owner->async, at) : nullptr;
  reportMbarrier(warp, lane, text, made);
  return warp.fail(TrapKind::InvalidValue, std::move(text), lane);
}

} // namespace tiletwin::sim
