#include "sim/check/UninitializedCheck.h"
#include "sim/check/Report.h"
#include "sim/check/WrittenBytes.h"
#include "sim/isa/DeviceHeap.h"
#include "sim/machine/Fragments.h"
#include <atomic>
#include <set>

namespace tiletwin::sim {

/// Of one CTA. Used by the one thread that runs its cluster.
struct CtaWritten {
  WrittenBytes shared;
  std::vector<WrittenBytes> local;            ///< by thread
  std::set<std::pair<const Inst*, int>> seen; ///< instructions that have been reported, and their register or -1
};

namespace {

/// Bytes of the heap that malloc has given in this launch and nobody has written. Thread-safe.
class UnwrittenHeap {
public:
  explicit UnwrittenHeap(const DeviceHeap* heap) {
    if (heap) range_ = heap->range();
  }
  void add(const std::byte* at, uint64_t bytes) {
    {
      const std::lock_guard lock(mutex_);
      if (!words_) words_.reset(new std::atomic<uint64_t>[(size() + kBits - 1) / kBits]());
    }
    isUsed_.store(true, std::memory_order_release);
    visit(at, bytes, [](std::atomic<uint64_t>& word, uint64_t mask) { word |= mask; });
  }
  bool isUsed() const { return isUsed_.load(std::memory_order_acquire); }
  bool holds(const std::byte* at) const { return isUsed() && offsetOf(at) < size(); }
  void write(const std::byte* at, uint64_t bytes) {
    visit(at, bytes, [](std::atomic<uint64_t>& word, uint64_t mask) { word &= ~mask; });
  }
  bool any(const std::byte* at, uint64_t bytes) {
    bool found = false;
    visit(at, bytes, [&](std::atomic<uint64_t>& word, uint64_t mask) { found |= (word & mask) != 0; });
    return found;
  }

private:
  static constexpr uint64_t kBits = 64;
  uint64_t offsetOf(const std::byte* at) const { return reinterpret_cast<uint64_t>(at) - range_.begin; }
  uint64_t size() const { return range_.end - range_.begin; }
  template <class Visit> void visit(const std::byte* at, uint64_t bytes, Visit&& each) {
    const uint64_t begin = offsetOf(at);
    eachWord(words_, begin, std::min<uint64_t>(begin + bytes, size()), each);
  }
  MemoryRange range_; ///< empty: nobody calls malloc
  std::mutex mutex_;
  std::unique_ptr<std::atomic<uint64_t>[]> words_; ///< set once, before isUsed_
  std::atomic<bool> isUsed_{false};
};

class UninitializedCheck final : public Observer {
public:
  explicit UninitializedCheck(Grid& grid) : heap_(grid.heap) {
    for (const auto& function : grid.program->functions) hasDoubtful_ |= function && !function->doubtful.empty();
  }

  bool wantsInstructions() const override { return hasDoubtful_; }
  void instruction(Warp& warp, const Inst& in, LaneMask active) override;
  void access(Warp& warp, const Access& access, LaneMask active, const uint64_t* addresses,
              std::byte* const* host) override;
  void block(Warp& warp, const Access& access, int lane, uint64_t address, std::byte* host, uint64_t bytes) override;
  void lands(Cta* owner, Warp* waiter, int lane, const Inst& issued, std::byte* to, uint64_t bytes) override;
  void enters(Warp& warp, Frame& frame, LaneMask lanes) override;
  void allocates(std::byte* at, uint64_t bytes) override { heap_.add(at, bytes); }
  void begins(Cta& cta) override;

private:
  int64_t readsUnwritten(const Access& access, Warp& warp, int lane, uint64_t address, const std::byte* host,
                         uint64_t bytes);
  void reportMemory(Warp& warp, LaneMask lanes, Space space, uint64_t address, const std::byte* host);
  void reportRegister(Warp& warp, const Inst& in, LaneMask lanes, uint32_t doubtful);

  bool hasDoubtful_ = false;
  UnwrittenHeap heap_;
};

// ---- Memory --------------------------------------------------------------------------------------------------------------------

WrittenBytes& localOf(Warp& warp, int lane) {
  CtaWritten& written = *warp.cta->written;
  WrittenBytes& local = written.local[warp.index * size_t(kLanes) + size_t(lane)];
  if (local.bytes() < warp.cta->localBytes) { // a call or alloca has made it grow
    WrittenBytes grown(warp.cta->localBytes);
    for (uint64_t at = 0; at < local.bytes(); ++at)
      if (local.all(at, 1)) grown.set(at, 1);
    local = std::move(grown);
  }
  return local;
}

Space spaceOf(const Access& access, uint64_t address) {
  return access.space == Space::None ? spaceOfGeneric(address) : access.space;
}

/// What an access does now: a copy on its way writes later, and an mbarrier's operations see to their object themselves.
bool doesRead(const Warp& warp, const Access& access) {
  if (access.kind == AccessKind::Read) return true;
  return access.kind == AccessKind::Atomic && access.proxy == Proxy::Generic && warp.at->kind != InstClass::Async;
}
bool doesWrite(const Access& access) {
  return access.kind != AccessKind::Read && access.proxy == Proxy::Generic && !access.isLate;
}

void UninitializedCheck::begins(Cta& cta) {
  cta.written = std::make_shared<CtaWritten>();
  cta.written->shared = WrittenBytes(cta.shared.size());
  cta.written->local.resize(cta.threads);
}

constexpr int64_t kNone = -1;

/// Notes what one lane writes. The first of the bytes that it reads and nobody has written, or kNone.
int64_t UninitializedCheck::readsUnwritten(const Access& access, Warp& warp, int lane, uint64_t address,
                                           const std::byte* host, uint64_t bytes) {
  const bool reads = doesRead(warp, access), writes = doesWrite(access);
  const auto look = [&](WrittenBytes& memory, uint64_t offset) {
    const int64_t bad = reads && !memory.all(offset, bytes) ? int64_t(memory.firstUnset(offset) - offset) : kNone;
    if (writes) memory.set(offset, bytes);
    return bad;
  };
  switch (spaceOf(access, address)) {
  case Space::Shared: {
    const uint64_t at = address & ~kWindowMask;
    return look(warp.cta->cluster->ctas[at >> kSharedRankShift].written->shared, at & kSharedOffsetMask);
  }
  case Space::Local: return look(localOf(warp, lane), address & ~kWindowMask);
  case Space::Param:
  case Space::Const: return kNone;
  default: break;
  }
  if (!heap_.holds(host)) return kNone;
  const int64_t bad = reads && heap_.any(host, bytes) ? 0 : kNone;
  if (writes) heap_.write(host, bytes);
  return bad;
}

void UninitializedCheck::access(Warp& warp, const Access& access, LaneMask active, const uint64_t* addresses,
                                std::byte* const* host) {
  if (access.space == Space::Global && !heap_.isUsed()) return;
  LaneMask bad = 0;
  int64_t byte = 0;
  eachLane(active, [&](int lane) {
    const int64_t found = readsUnwritten(access, warp, lane, addresses[lane], host[lane], access.bytes);
    if (found == kNone) return;
    if (!bad) byte = found;
    bad |= LaneMask(1) << lane;
  });
  if (!bad) return;
  const int first = __builtin_ctz(bad);
  reportMemory(warp, bad, spaceOf(access, addresses[first]), addresses[first] + uint64_t(byte), host[first]);
}

void UninitializedCheck::block(Warp& warp, const Access& access, int lane, uint64_t address, std::byte* host,
                               uint64_t bytes) {
  lane &= kLanes - 1;
  const int64_t byte = readsUnwritten(access, warp, lane, address, host, bytes);
  if (byte != kNone) reportMemory(warp, LaneMask(1) << lane, spaceOf(access, address), address + uint64_t(byte), host);
}

void UninitializedCheck::lands(Cta* owner, Warp*, int, const Inst&, std::byte* to, uint64_t bytes) {
  if (owner)
    owner->written->shared.set(uint64_t(to - owner->shared.data()), bytes);
  else if (heap_.holds(to))
    heap_.write(to, bytes);
}

/// Parameters in registers have the values of the call.
void beginsUnwritten(Frame& frame) {
  const FunctionCode& code = *frame.code;
  frame.doubtful.assign(code.doubtful.size(), {});
  for (uint32_t i = 0; i < code.doubtfulOrigins; ++i) {
    const uint32_t offset = code.registerOffset[size_t(code.doubtful[i])];
    const bool isParameter = std::any_of(code.parameters.begin(), code.parameters.end(),
                                         [&](const CallValue& p) { return p.slot && p.slot.code == offset; });
    if (isParameter) continue;
    frame.doubtful[i].written = 0;
    frame.doubtful[i].origin.fill(i);
  }
}

/// A call's variables are new; its arguments, and its own calls' arguments and results, are not looked at.
void UninitializedCheck::enters(Warp& warp, Frame& frame, LaneMask lanes) {
  const FunctionCode& code = *frame.code;
  const ptx::Function& function = *code.source;
  if (frame.localBase < warp.cta->localBytes)
    eachLane(lanes, [&](int lane) {
      WrittenBytes& local = localOf(warp, lane);
      local.clear(frame.localBase, local.bytes() - frame.localBase);
      for (size_t i = function.isEntry ? function.parameters.size() : 0; i < function.variables.size(); ++i)
        if (function.variables[i].space == ptx::Space::Param)
          local.set(frame.localBase + uint64_t(code.variableOffset[i]), function.variables[i].bytes);
    });
  beginsUnwritten(frame);
}

// ---- Registers -----------------------------------------------------------------------------------------------------------------

/// Several Insts may be made of one instruction of the text: the first one of them that runs under its guard stands for it.
bool standsForItsText(const FunctionCode& code, const Inst& in) {
  const bool hasGuard = code.sourceOf(in).guard >= 0;
  if (hasGuard && !in.guard) return false; // a copy of the guard
  if (&in == code.code.data()) return true;
  const Inst& before = *(&in - 1);
  return before.source != in.source || (hasGuard && !before.guard);
}

/// Lanes of other fragments that stand here and that the instruction may take in.
LaneMask standHere(const Warp& warp, const Inst& in, const Frame* frame) {
  LaneMask lanes = 0;
  if (warp.fragments->list.size() > 1)
    for (const Fragment& other : warp.fragments->list)
      if (other.next == &in && other.frame == frame) lanes |= other.lanes;
  return lanes;
}

/// Lanes in which a selp gives the side that is named by a use of kind IfTrue or IfFalse.
LaneMask lanesThatChoose(Warp& warp, const FunctionCode& code, const Inst& in, DoubtfulUse::Kind side) {
  const ptx::Operand& operand = code.sourceOf(in).operands[3];
  const LaneMask isSet = warp.predicate({code.registerOffset[size_t(code.registerNumber(operand))]});
  return operand.negated == (side == DoubtfulUse::Kind::IfTrue) ? ~isSet : isSet;
}

/// What one instruction computes: lanes in which it comes from a register that nobody has written, and from which one.
struct Computed {
  LaneMask unwritten = 0;
  std::array<uint32_t, kLanes> origin;

  void read(const DoubtfulValue& value, LaneMask lanes) {
    lanes &= ~value.written & ~unwritten;
    eachLane(lanes, [&](int lane) { origin[size_t(lane)] = value.origin[size_t(lane)]; });
    unwritten |= lanes;
  }
  void write(DoubtfulValue& value, LaneMask lanes) const {
    value.written = (value.written & ~lanes) | (lanes & ~unwritten);
    value.computed |= lanes;
    eachLane(lanes & unwritten, [&](int lane) { value.origin[size_t(lane)] = origin[size_t(lane)]; });
  }
};

void UninitializedCheck::instruction(Warp& warp, const Inst& in, LaneMask active) {
  Frame& frame = *warp.running->frame;
  const FunctionCode& code = *frame.code;
  if (code.doubtful.empty() || in.source < 0) return;
  const uint32_t first = code.firstDoubtful[size_t(in.source)], last = code.firstDoubtful[size_t(in.source) + 1];
  if (first == last || &in == &code.code.back() || !standsForItsText(code, in)) return;
  Computed computed;
  for (uint32_t i = first; i < last; ++i) {
    const DoubtfulUse& use = code.doubtfulUses[i];
    DoubtfulValue& value = frame.doubtful[use.index];
    using Kind = DoubtfulUse::Kind;
    switch (use.kind) {
    case Kind::Guard: reportRegister(warp, in, warp.running->lanes & ~value.written, use.index); break;
    case Kind::Needs: reportRegister(warp, in, active & ~value.written, use.index); break;
    case Kind::Follows: computed.read(value, active); break;
    case Kind::IfTrue:
    case Kind::IfFalse: computed.read(value, active & lanesThatChoose(warp, code, in, use.kind)); break;
    case Kind::Result: computed.write(value, active); break;
    case Kind::Write: value.written |= active | standHere(warp, in, &frame); break;
    }
  }
}

// ---- Reports -------------------------------------------------------------------------------------------------------------------

void UninitializedCheck::reportMemory(Warp& warp, LaneMask lanes, Space space, uint64_t address,
                                      const std::byte* host) {
  Cta& cta = *warp.cta;
  Grid& grid = *cta.cluster->grid;
  const ptx::Instruction& in = instructionOf(*grid.program, warp.at);
  // A tile's rows lie apart in shared memory, and between them there may be nothing.
  if (in.opcode == "cp" && std::find(in.modifiers.begin(), in.modifiers.end(), "tensor") != in.modifiers.end()) return;
  if (!cta.written->seen.emplace(warp.at, -1).second) return;
  const uint64_t at = address & ~kWindowMask;
  std::string what, detail;
  if (space == Space::Shared) {
    Cta& owner = cta.cluster->ctas[at >> kSharedRankShift];
    what = "reads shared memory that nobody has written";
    detail = placeInShared(cta, owner, at & kSharedOffsetMask);
  } else if (space == Space::Local) {
    what = "reads local memory that its thread has not written";
    detail = "byte " + std::to_string(at) + " of local memory";
  } else {
    what = "reads memory that malloc has given and nobody has written";
    detail = placeInGlobal(grid, reinterpret_cast<uint64_t>(host));
  }
  Finding finding = findingOf(Check::Uninitialized, {&warp, warp.at, lanes}, std::move(what),
                              "write it on every way that leads here");
  finding.detail = ", " + detail;
  report(grid, std::move(finding));
}

/// "%r12", "%v3.x"
std::string registerName(const FunctionCode& code, int32_t number) {
  const auto after = std::upper_bound(code.firstNumber.begin(), code.firstNumber.end(), number);
  const auto index = size_t(after - code.firstNumber.begin()) - 1;
  const ptx::Register& reg = code.source->registers[index];
  return reg.vector > 1 ? reg.name + "." + "xyzw"[number - code.firstNumber[index]] : reg.name;
}

/// Names the register that the first of these lanes has its value from.
void UninitializedCheck::reportRegister(Warp& warp, const Inst& in, LaneMask lanes, uint32_t doubtful) {
  if (!lanes || !warp.cta->written->seen.emplace(&in, int(doubtful)).second) return;
  const Frame& frame = *warp.running->frame;
  const FunctionCode& code = *frame.code;
  const DoubtfulValue& value = frame.doubtful[doubtful];
  const int lane = __builtin_ctz(lanes);
  const bool isComputed = value.computed >> lane & 1;
  const std::string origin = registerName(code, code.doubtful[value.origin[size_t(lane)]]);
  report(*warp.cta->cluster->grid,
         findingOf(Check::Uninitialized, {&warp, &in, lanes},
                   "reads " + registerName(code, code.doubtful[doubtful]) +
                       (isComputed ? ", computed from " + origin + " before that was written"
                                   : ", which no instruction has written on the way here"),
                   "give " + (isComputed ? origin : std::string("it")) + " a value on every way that leads here"));
}

} // namespace

std::unique_ptr<Observer> makeUninitializedCheck(Grid& grid) { return std::make_unique<UninitializedCheck>(grid); }

} // namespace tiletwin::sim
