// sim/isa/CpAsync.cpp -- cp.async and its groups, cp.async.mbarrier.arrive, and which decode function the rest of cp has.
#include "sim/isa/CpAsync.h"
#include "sim/isa/AddressOperand.h"
#include "sim/isa/Async.h"
#include "sim/isa/Mbarrier.h"
#include "sim/machine/Observer.h"
#include <algorithm>
#include <cstring>

namespace tiletwin::sim {

namespace {

using Kind = ptx::Operand::Kind;

// ---- cp.async

struct CpAsyncForm {
  AddressOperand to, from;
  Access write, read;
  uint8_t bytes = 4;
  Slot sourceBytes; ///< bytes to read, 4 bytes a lane; none: all
  Slot ignores;     ///< predicate: read nothing; none: never
};

/// Finds the sources of the lanes that read, which may want different numbers of bytes.
bool resolveSources(const CpAsyncForm& form, Warp& warp, LaneMask reading, LaneCopies& copies) {
  const LaneAddresses from = form.from.lanes(warp);
  while (reading) {
    const uint8_t bytes = copies.read[size_t(__builtin_ctz(reading))];
    LaneMask same = 0;
    eachLane(reading, [&](int i) { same |= LaneMask(copies.read[size_t(i)] == bytes) << i; });
    Access access = form.read;
    access.bytes = bytes;
    std::array<std::byte*, kLanes> host;
    if (!resolve(access, warp, same, from.data(), host.data())) return false;
    eachLane(same, [&](int i) { copies.from[size_t(i)] = host[size_t(i)]; });
    reading &= ~same;
  }
  return true;
}

Step runCpAsync(const Inst& in, Warp& warp, LaneMask active) {
  const CpAsyncForm& form = *static_cast<const CpAsyncForm*>(in.data);
  LaneCopies copies;
  copies.pending = active;
  copies.bytes = form.bytes;
  LaneMask reading = active;
  if (form.ignores) reading &= ~warp.predicate(form.ignores);
  const uint32_t* sourceBytes = form.sourceBytes ? warp.lanes<uint32_t>(form.sourceBytes) : nullptr;
  for (LaneMask rest = active; rest; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    const uint32_t bytes = sourceBytes ? sourceBytes[lane] : form.bytes;
    if (bytes > form.bytes)
      return warp.trap(TrapKind::InvalidValue,
                       "reads " + std::to_string(bytes) + " bytes, but copies " + std::to_string(form.bytes), lane);
    if (bytes == 0) reading &= ~(LaneMask(1) << lane);
    copies.read[size_t(lane)] = uint8_t(reading >> lane & 1 ? bytes : 0);
  }
  const LaneAddresses to = form.to.lanes(warp);
  if (!resolve(form.write, warp, active, to.data(), copies.to.data())) return Step::Trap;
  for (LaneMask rest = active; rest; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    if (ownerOf(*warp.cta->cluster, copies.to[size_t(lane)]) != warp.cta)
      return warp.trap(TrapKind::InvalidValue, "copies to the shared memory of another CTA", lane);
  }
  eachLane(active, [&](int i) { copies.from[size_t(i)] = copies.to[size_t(i)]; }); // of 0 bytes where nothing is read
  if (reading && !resolveSources(form, warp, reading, copies)) return Step::Trap;
  copies.origin = originOf(warp, __builtin_ctz(active));
  issueLaneCopies(warp, copies);
  return Step::Next;
}

bool decodeCpAsync(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  const bool bypassesL1 = words.take("cg");
  if (!bypassesL1 && !words.take("ca")) return decoder.fail("cp.async wants .ca or .cg");
  if (!words.take("shared") && !words.take("shared::cta")) return decoder.fail("cp.async copies to .shared");
  if (!words.take("global")) return decoder.fail("cp.async copies from .global");
  words.takeOneOf({"L2::64B", "L2::128B", "L2::256B"});
  bool hasHint = false;
  if (!takeCacheHint(decoder, in, words, hasHint)) return false;
  const size_t count = in.operands.size() - hasHint;
  if (!decoder.operands(in, 3 + hasHint, 4 + hasHint)) return false;

  auto* form = decoder.make<CpAsyncForm>();
  out.data = form;
  out.kind = InstClass::Async;
  out.run = runCpAsync;
  int64_t bytes = 0;
  if (!decoder.constant(in.operands[2], bytes)) return false;
  if (bytes != 16 && (bypassesL1 || (bytes != 4 && bytes != 8)))
    return decoder.fail(in.operands[2],
                        bypassesL1 ? "cp.async.cg copies 16 bytes" : "cp.async.ca copies 4, 8 or 16 bytes");
  form->bytes = uint8_t(bytes);
  form->write.kind = AccessKind::Write;
  form->write.space = Space::Shared;
  form->write.isLate = true;
  form->read.space = Space::Global;
  for (Access* access : {&form->write, &form->read}) access->bytes = access->alignment = uint32_t(bytes);
  if (!form->to.decode(decoder, in.operands[0], Space::Shared)) return false;
  if (!form->from.decode(decoder, in.operands[1], Space::Global)) return false;
  if (count < 4) return true;
  const ptx::Operand& last = in.operands[3];
  const bool isPredicate =
      last.kind == Kind::Register && decoder.function().registers[size_t(last.index)].type == ptx::Type::Pred;
  return isPredicate ? decoder.predicate(last, form->ignores) : decoder.source(last, ptx::Type::U32, form->sourceBytes);
}

// ---- groups

void tellCommit(Warp& warp, LaneMask lanes, AsyncGroups groups) {
  for (Observer* observer : warp.cta->cluster->grid->observers) observer->commits(warp, lanes, groups);
}

void tellWait(Warp& warp, LaneMask lanes, AsyncGroups groups, int64_t pending) {
  for (Observer* observer : warp.cta->cluster->grid->observers)
    observer->waitedForGroups(warp, lanes, groups, uint64_t(pending));
}

Step runCommit(const Inst&, Warp& warp, LaneMask active) {
  WarpAsync& async = asyncOf(warp);
  eachLane(active, [&](int i) { ++async.committed[size_t(i)]; });
  tellCommit(warp, active, AsyncGroups::Copies);
  return Step::Next;
}

/// Inst::immediate: groups that may stay on their way, or kWithOpen.
Step runWait(const Inst& in, Warp& warp, LaneMask active) {
  landLaneGroups(warp, active, in.immediate);
  if (in.immediate == kWithOpen) tellCommit(warp, active, AsyncGroups::Copies);
  tellWait(warp, active, AsyncGroups::Copies, std::max<int64_t>(in.immediate, 0));
  return Step::Next;
}

Step runBulkCommit(const Inst&, Warp& warp, LaneMask active) {
  WarpAsync& async = asyncOf(warp);
  eachLane(active, [&](int i) { ++async.bulkCommitted[size_t(i)]; });
  tellCommit(warp, active, AsyncGroups::Bulk);
  return Step::Next;
}

template <bool kReadOnly> Step runBulkWait(const Inst& in, Warp& warp, LaneMask active) {
  landBulkGroups(warp, active, in.immediate, kReadOnly);
  tellWait(warp, active, AsyncGroups::Bulk, in.immediate);
  return Step::Next;
}

bool decodePending(Decoder& decoder, const ptx::Instruction& in, Inst& out) {
  if (!decoder.operands(in, 1) || !decoder.constant(in.operands[0], out.immediate)) return false;
  return out.immediate >= 0 || decoder.fail(in.operands[0], "the number of groups cannot be negative");
}

/// Commits and waits, of bulk copies or of others; false in `isGroup` for anything else.
bool decodeGroup(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out, bool isBulk, bool& isGroup) {
  isGroup = true;
  out.kind = InstClass::Async;
  if (words.take("commit_group")) {
    out.run = isBulk ? runBulkCommit : runCommit;
    return decoder.operands(in, 0);
  }
  if (words.take("wait_group")) {
    out.run = !isBulk ? runWait : words.take("read") ? runBulkWait<true> : runBulkWait<false>;
    return decodePending(decoder, in, out);
  }
  if (!isBulk && words.take("wait_all")) {
    out.run = runWait;
    out.immediate = kWithOpen;
    return decoder.operands(in, 0);
  }
  isGroup = false;
  return true;
}

// ---- cp.async.mbarrier.arrive

struct ArriveForm {
  AddressOperand address;
  Access access;
  bool increments = true; ///< not .noinc: the phase waits for one arrival more, which is this one
};

Step runArrive(const Inst& in, Warp& warp, LaneMask active) {
  const ArriveForm& form = *static_cast<const ArriveForm*>(in.data);
  const LaneAddresses addresses = form.address.lanes(warp);
  std::array<std::byte*, kLanes> host;
  if (!resolve(form.access, warp, active, addresses.data(), host.data())) return Step::Trap;
  for (LaneMask rest = active; rest; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    std::byte* at = host[size_t(lane)];
    Cta* owner = ownerOf(*warp.cta->cluster, at);
    if (!owner) return warp.trap(TrapKind::InvalidValue, "names an mbarrier outside of shared memory", lane);
    const MbarrierState before = MbarrierState::read(at);
    MbarrierState state = before;
    const auto outcome = form.increments  ? state.addPending(1)
                         : state.isLive() ? MbarrierState::Outcome::None
                                          : MbarrierState::Outcome::NoObject;
    if (outcome != MbarrierState::Outcome::None) {
      trapMbarrier(warp, lane, owner, at, outcome, before, 1);
      return Step::Trap;
    }
    state.write(at);
    MbarrierSignal signal;
    signal.barrier = at;
    signal.warp = &warp;
    signal.lane = lane;
    signal.upTo = asyncOf(warp).issued[size_t(lane)];
    signal.copy.origin = originOf(warp, lane);
    for (Observer* observer : warp.cta->cluster->grid->observers) {
      observer->workArrives(warp, lane, AsyncGroups::Copies, at);
      observer->arrives(warp, LaneMask(1) << lane, at, Semantics::Release);
    }
    issueSignal(*owner, std::move(signal));
  }
  return Step::Next;
}

bool decodeArrive(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  if (!words.take("arrive")) return decoder.fail("cp.async.mbarrier wants .arrive");
  auto* form = decoder.make<ArriveForm>();
  form->increments = !words.take("noinc");
  const bool isShared = !words.takeOneOf({"shared", "shared::cta"}).empty();
  if (!words.take("b64")) return decoder.fail("cp.async.mbarrier.arrive wants .b64");
  form->access.kind = AccessKind::Atomic;
  form->access.semantics = Semantics::Release;
  form->access.scope = Scope::Cta;
  form->access.bytes = form->access.alignment = 8;
  out.data = form;
  out.kind = InstClass::Async;
  out.run = runArrive;
  if (!decoder.operands(in, 1)) return false;
  if (!form->address.decode(decoder, in.operands[0], isShared ? Space::Shared : Space::None)) return false;
  form->access.space = form->address.space;
  return true;
}

bool decodeCp(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  const bool reduces = words.take("reduce");
  if (!words.take("async")) return decoder.fail("cp wants .async");
  out.kind = InstClass::Async;
  const bool isBulk = words.take("bulk");
  if (reduces) {
    if (!isBulk) return decoder.fail("cp.reduce.async wants .bulk");
    return words.take("tensor") ? decodeTensorReduce(decoder, in, words, out)
                                : decodeBulkReduce(decoder, in, words, out);
  }
  bool isGroup = false;
  if (!decodeGroup(decoder, in, words, out, isBulk, isGroup)) return false;
  if (isGroup) return true;
  if (!isBulk)
    return words.take("mbarrier") ? decodeArrive(decoder, in, words, out) : decodeCpAsync(decoder, in, words, out);
  if (words.take("prefetch"))
    return words.take("tensor") ? decodeTensorPrefetch(decoder, in, words, out)
                                : decodeBulkPrefetch(decoder, in, words, out);
  return words.take("tensor") ? decodeTensorCopy(decoder, in, words, out) : decodeBulkCopy(decoder, in, words, out);
}

constexpr OpcodeRow kRows[] = {{"cp", decodeCp}};

} // namespace

constinit OpcodeTable kCpOpcodes = kRows;

bool isCpAsync(const Inst& in) { return in.run == runCpAsync; }

bool takeCacheHint(Decoder& decoder, const ptx::Instruction& in, Words& words, bool& hasHint) {
  hasHint = words.take("L2::cache_hint");
  if (!hasHint) return true;
  if (in.operands.empty()) return decoder.fail(".L2::cache_hint wants a cache policy as the last operand");
  Slot policy;
  return decoder.source(in.operands.back(), ptx::Type::B64, policy);
}

} // namespace tiletwin::sim
