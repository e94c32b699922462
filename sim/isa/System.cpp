// sim/isa/System.cpp -- nanosleep, pmevent, setmaxnreg, griddepcontrol, mapa, getctarank; multimem is refused.
//
// Here:      instructions about the machine itself. Most have no effect on values: time and dependent grids are not modelled, but
//            their operands are checked as an assembler would. Of registers only the number that setmaxnreg moves is.
// Source:    "PTX ISA", NVIDIA, sections "nanosleep", "pmevent", "setmaxnreg", "griddepcontrol", "mapa", "getctarank".
#include "sim/isa/AddressOperand.h"
#include "sim/isa/Scope.h"
#include "sim/isa/WaitText.h"
#include "sim/isa/WarpOps.h"
#include "sim/machine/Cta.h"
#include "sim/machine/Program.h"

namespace tiletwin::sim {

namespace {

bool decodeNanosleep(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  if (!words.take("u32")) return decoder.fail("nanosleep wants .u32");
  out.kind = InstClass::Special;
  out.run = runNothing; // the turns of warps take care that others come on
  return decoder.operands(in, 1) && decoder.source(in.operands[0], ptx::Type::U32, out.a);
}

bool decodePmevent(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  const bool isMask = words.take("mask");
  int64_t value = 0;
  if (!decoder.operands(in, 1) || !decoder.constant(in.operands[0], value)) return false;
  if (value < 0 || value > (isMask ? 0xFFFF : 15))
    return decoder.fail(in.operands[0], isMask ? "a mask of events has 16 bits" : "the events are 0 to 15");
  out.kind = InstClass::Special;
  out.run = runNothing;
  return true;
}

// ---- setmaxnreg: registers that warps give to their CTA's pool and take from it

constexpr uint32_t kRegistersOfCta = 65536; ///< of a multiprocessor of every GPU that has the instruction
constexpr uint32_t kMostRegisters = 256;

/// Registers of a thread when its kernel begins: .maxnreg, or as many as .reqntid or .maxntid (and .minnctapersm) leave room for;
/// 0: the kernel says nothing, and setmaxnreg has no effect.
uint32_t registersAtEntry(const ptx::Function& entry) {
  if (entry.maxRegisters > 0) return uint32_t(entry.maxRegisters);
  const auto& extents = entry.requiredThreads[0] ? entry.requiredThreads : entry.maxThreads;
  if (!extents[0]) return 0;
  uint64_t threads = 1;
  for (const int32_t extent : extents) threads *= uint64_t(std::max(extent, 1));
  threads = (threads + kLanes - 1) / kLanes * kLanes * uint64_t(std::max(entry.minCtasPerSm, 1));
  return uint32_t(std::min<uint64_t>(kMostRegisters, kRegistersOfCta / threads / 8 * 8));
}

/// Inst::immediate: the number of registers, negative for .dec.
Step runSetMaxRegisters(const Inst& in, Warp& warp, LaneMask active) {
  if (const Step s = gatherMembers(warp, kAllLanes, active); s != Step::Next) return s;
  Cta& cta = *warp.cta;
  if (!warp.maxRegisters) warp.maxRegisters = registersAtEntry(*cta.cluster->grid->program->entryCode().source);
  if (!warp.maxRegisters) return Step::Next;
  const bool takes = in.immediate > 0;
  const uint32_t count = uint32_t(takes ? in.immediate : -in.immediate);
  if (takes ? count < warp.maxRegisters : count > warp.maxRegisters)
    return warp.trap(TrapKind::InvalidValue, std::string("setmaxnreg.") + (takes ? "inc" : "dec") + " to " +
                                                 std::to_string(count) + " registers, but the warp's threads have " +
                                                 std::to_string(warp.maxRegisters) + (takes ? " already" : " only") +
                                                 ": the PTX ISA leaves open what happens then");
  if (!takes) {
    cta.freeRegisters += (warp.maxRegisters - count) * kLanes;
  } else if (const uint32_t wanted = (count - warp.maxRegisters) * kLanes; wanted > cta.freeRegisters) {
    return Step::Retry; // until another warp gives some back
  } else {
    cta.freeRegisters -= wanted;
  }
  warp.maxRegisters = count;
  return Step::Next;
}

bool decodeSetmaxnreg(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  const std::string_view action = words.takeOneOf({"inc", "dec"});
  if (action.empty()) return decoder.fail("setmaxnreg wants .inc or .dec");
  if (!words.take("sync") || !words.take("aligned") || !words.take("u32"))
    return decoder.fail("setmaxnreg wants .sync.aligned.u32");
  int64_t count = 0;
  if (!decoder.operands(in, 1) || !decoder.constant(in.operands[0], count)) return false;
  if (count < 24 || count > 256 || count % 8 != 0)
    return decoder.fail(in.operands[0], "setmaxnreg takes 24 to 256 registers, a multiple of 8");
  out.kind = InstClass::Special;
  out.run = runSetMaxRegisters;
  out.immediate = action == "inc" ? count : -count;
  return true;
}

bool decodeGriddepcontrol(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  if (words.takeOneOf({"launch_dependents", "wait"}).empty())
    return decoder.fail("griddepcontrol wants .launch_dependents or .wait");
  out.kind = InstClass::Special;
  out.run = runNothing; // grids run one after the other
  return decoder.operands(in, 0);
}

// ---- mapa, getctarank

constexpr uint64_t kRankMask = uint64_t(0xFF) << kSharedRankShift;

struct ClusterAddressForm {
  AddressOperand address;
  bool isGeneric = false;
};

/// The operand's addresses; generic ones are in the window of shared memory, or it is a trap.
bool sharedAddresses(const ClusterAddressForm& form, Warp& warp, LaneMask active, LaneAddresses& addresses) {
  addresses = form.address.lanes(warp);
  if (!form.isGeneric) return true;
  int wrong = -1;
  eachLane(active, [&](int i) {
    uint64_t& address = addresses[size_t(i)];
    if (form.address.space == Space::Shared) address |= kSharedWindow; // the operand is a variable
    if ((address & kWindowMask) != kSharedWindow) wrong = i;
  });
  if (wrong < 0) return true;
  return warp.fail(TrapKind::InvalidValue, "takes an address that is not in shared memory", wrong);
}

template <class T> Step runMapa(const Inst& in, Warp& warp, LaneMask active) {
  const auto& form = *static_cast<const ClusterAddressForm*>(in.data);
  LaneAddresses addresses;
  if (!sharedAddresses(form, warp, active, addresses)) return Step::Trap;
  const uint32_t* ranks = warp.lanes<uint32_t>(in.b);
  const size_t size = warp.cta->cluster->ctas.size();
  LaneMask wrong = 0;
  eachLane(active, [&](int i) { wrong |= LaneMask(ranks[i] >= size) << i; });
  if (wrong) {
    const int lane = __builtin_ctz(wrong);
    return warp.trap(TrapKind::InvalidValue,
                     "names CTA " + std::to_string(ranks[lane]) + " of a cluster of " + std::to_string(size), lane);
  }
  alignas(kLaneAlignment) T result[kLanes];
  for (int i = 0; i < kLanes; ++i)
    result[i] = T((addresses[size_t(i)] & ~kRankMask) | uint64_t(ranks[i]) << kSharedRankShift);
  perLane(warp.lanes<T>(in.d), active, [&](int i) { return result[i]; });
  return Step::Next;
}

Step runRank(const Inst& in, Warp& warp, LaneMask active) {
  const auto& form = *static_cast<const ClusterAddressForm*>(in.data);
  LaneAddresses addresses;
  if (!sharedAddresses(form, warp, active, addresses)) return Step::Trap;
  perLane(warp.lanes<uint32_t>(in.d), active,
          [&](int i) { return uint32_t(addresses[size_t(i)] >> kSharedRankShift & 0xFF); });
  return Step::Next;
}

/// The space and the type, which is that of addresses.
bool decodeAddress(Decoder& decoder, const ptx::Operand& operand, Words& words, ClusterAddressForm& form,
                   bool& isWide) {
  form.isGeneric = !words.take("shared::cluster");
  isWide = words.take("u64");
  if (!isWide && !words.take("u32")) return decoder.fail("wants .u32 or .u64");
  return form.address.decode(decoder, operand, form.isGeneric ? Space::None : Space::Shared);
}

bool decodeMapa(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  auto* form = decoder.make<ClusterAddressForm>();
  bool isWide = false;
  if (!decoder.operands(in, 3) || !decodeAddress(decoder, in.operands[1], words, *form, isWide)) return false;
  if (form->isGeneric && !isWide) return decoder.fail("mapa of generic addresses wants .u64");
  out.data = form;
  out.run = isWide ? runMapa<uint64_t> : runMapa<uint32_t>;
  return decoder.destination(in.operands[0], isWide ? ptx::Type::U64 : ptx::Type::U32, out.d) &&
         decoder.source(in.operands[2], ptx::Type::U32, out.b);
}

bool decodeGetctarank(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  auto* form = decoder.make<ClusterAddressForm>();
  bool isWide = false;
  if (!decoder.operands(in, 2) || !decodeAddress(decoder, in.operands[1], words, *form, isWide)) return false;
  if (form->isGeneric && !isWide) return decoder.fail("getctarank of generic addresses wants .u64");
  out.data = form;
  out.run = runRank;
  return decoder.destination(in.operands[0], ptx::Type::U32, out.d);
}

/// Memory of several devices under one address: no virtual device has it.
bool decodeMultimem(Decoder& decoder, const ptx::Instruction&, Words&, Inst&) {
  return decoder.fail(
      "multimem wants a multicast object, which virtual devices do not have "
      "(CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED is 0): build the code without it, and combine what each device "
      "has with loads and stores of its own address");
}

constexpr OpcodeRow kRows[] = {
    {"getctarank", decodeGetctarank}, {"griddepcontrol", decodeGriddepcontrol}, {"mapa", decodeMapa},
    {"multimem", decodeMultimem},     {"nanosleep", decodeNanosleep},           {"pmevent", decodePmevent},
    {"setmaxnreg", decodeSetmaxnreg},
};

} // namespace

constinit OpcodeTable kSystemOpcodes = kRows;

std::string registerWaitText(Warp& warp, const Inst* at) {
  if (at->run != runSetMaxRegisters || !warp.maxRegisters || at->immediate <= int64_t(warp.maxRegisters)) return {};
  return "setmaxnreg.inc waits for " + std::to_string((uint64_t(at->immediate) - warp.maxRegisters) * kLanes) +
         " registers, and the CTA's pool has " + std::to_string(warp.cta->freeRegisters) + " (setmaxnreg.dec fills it)";
}

} // namespace tiletwin::sim
