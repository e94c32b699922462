// sim/machine/Calls.cpp -- calls and returns: frames, arguments and results.
// Invariant: a callee's registers and local variables are its own; lanes that called together return together where they can.
#include "sim/machine/LocalMemory.h"
#include "sim/machine/Observer.h"
#include "sim/machine/Run.h"
#include <cstring>

namespace tiletwin::sim {
namespace {

/// One side of a value that is passed.
struct Side {
  std::byte* registers;
  std::byte* constants;
  uint32_t localBase;
  std::byte* slot(Slot s) const {
    return (s.code & Slot::kConstant ? constants : registers) + (s.code & ~Slot::kConstant);
  }
};

Side sideOf(const Frame& frame) { return {frame.registers.data(), frame.code->constants.data(), frame.localBase}; }

std::byte* localAt(Cta& cta, const Warp& warp, int lane, uint64_t offset) {
  return cta.local.data() + (uint64_t(warp.index) * kLanes + uint64_t(lane)) * cta.localBytes + offset;
}

void copyValue(Warp& warp, LaneMask lanes, const Side& fromSide, const CallValue& from, const Side& toSide,
               const CallValue& to) {
  if (!from.isUsed || !to.isUsed) return;
  if (from.slot && to.slot && !from.bytes) { // a predicate
    const LaneMask value = *reinterpret_cast<const LaneMask*>(fromSide.slot(from.slot));
    assign(*reinterpret_cast<LaneMask*>(toSide.slot(to.slot)), lanes, value);
    return;
  }
  const size_t bytes = std::min(from.bytes, to.bytes);
  eachLane(lanes, [&](int lane) {
    const std::byte* source = from.slot ? fromSide.slot(from.slot) + size_t(lane) * from.bytes
                                        : localAt(*warp.cta, warp, lane, fromSide.localBase + from.offset);
    std::byte* target = to.slot ? toSide.slot(to.slot) + size_t(lane) * to.bytes
                                : localAt(*warp.cta, warp, lane, toSide.localBase + to.offset);
    std::memcpy(target, source, bytes);
  });
}

void copyValues(Warp& warp, LaneMask lanes, const Frame& from, const std::vector<CallValue>& sources, const Frame& to,
                const std::vector<CallValue>& targets) {
  for (size_t i = 0; i < sources.size() && i < targets.size(); ++i)
    copyValue(warp, lanes, sideOf(from), sources[i], sideOf(to), targets[i]);
}

/// The function that each lane's register names; null with a trap raised if one names none. Lanes that call another one than the
/// first lane part, and come to the call again.
const FunctionCode* calledThroughRegister(Warp& warp, Fragment& fragment, const Inst& in, const CallSite& site) {
  const auto target = [&](int lane) {
    return site.isWide ? warp.lanes<uint64_t>(in.a)[lane] : uint64_t(warp.lanes<uint32_t>(in.a)[lane]);
  };
  const int first = __builtin_ctz(fragment.lanes);
  const FunctionCode* code = warp.cta->cluster->grid->program->functionAt(target(first));
  if (!code || code->source->isEntry) {
    warp.trap(TrapKind::InvalidValue, "calls " + std::to_string(target(first)) + ", which is no function's address",
              first);
    return nullptr;
  }
  LaneMask others = 0;
  eachLane(fragment.lanes, [&](int lane) { others |= LaneMask(target(lane) != target(first)) << lane; });
  if (others) part(warp, fragment, others, &in, &in, &in + 1);
  return code;
}

} // namespace

bool call(Warp& warp, Fragment& fragment, const Inst& in) {
  const CallSite& site = *static_cast<const CallSite*>(in.data);
  const FunctionCode* callee = site.callee ? site.callee : calledThroughRegister(warp, fragment, in, site);
  if (!callee) return false;
  Frame* caller = fragment.frame;
  Frame* frame = enterFrame(warp, *callee, caller, fragment.lanes);
  if (!frame) return false;
  frame->callSite = &in;
  copyValues(warp, fragment.lanes, *caller, site.arguments, *frame, callee->parameters);
  for (Observer* observer : warp.cta->cluster->grid->observers) observer->enters(warp, *frame, fragment.lanes);
  fragment.frame = frame;
  fragment.next = callee->code.data();
  return true;
}

void returnFromCall(Warp& warp, Fragment& fragment) {
  Frame* frame = fragment.frame;
  Frame* caller = frame->caller;
  const Join* outer = fragment.join;
  while (outer && outer->frame == frame) outer = outer->outer;
  leaveJoins(warp, fragment.join, outer, fragment.lanes);
  fragment.join = const_cast<Join*>(outer);
  const CallSite& site = *static_cast<const CallSite*>(frame->callSite->data);
  copyValues(warp, fragment.lanes, *frame, frame->code->results, *caller, site.results);
  fragment.next = frame->callSite + 1;
  fragment.frame = caller;
  leaveFrame(warp, frame, fragment.lanes);
}

} // namespace tiletwin::sim
