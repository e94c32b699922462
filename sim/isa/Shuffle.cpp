// sim/isa/Shuffle.cpp -- shfl, with and without .sync.
//
// Here:      from which lane each lane takes its value, as the four modes and the segment mask say.
// Not here:  how the lanes of a member mask come together (machine/Gather.h).
// Idea:      where the lane operand and the clamp operand are constants, as they nearly always are, the lane to read from is
//            known while decoding, and the instruction is one table look-up a lane.
// A lane that reads one which is not active gets that lane's register as it stands; PTX leaves it open.
#include "sim/isa/WarpOps.h"
#include <array>

namespace tiletwin::sim {

namespace {

struct Shuffle {
  ShuffleMode mode = ShuffleMode::Index;
  std::array<int32_t, kLanes> from{}; ///< where operands are constants
  LaneMask inRange = 0;
  Slot members; ///< none: the old form, or the mask is Inst::immediate
};

Step finish(const Inst& in, Warp& warp, LaneMask active, const int32_t* from, LaneMask inRange) {
  const uint32_t* a = warp.lanes<uint32_t>(in.a);
  alignas(kLaneAlignment) uint32_t value[kLanes]; // d may be a
  for (int i = 0; i < kLanes; ++i) value[i] = a[from[i]];
  if (in.d) perLane(warp.lanes<uint32_t>(in.d), active, [&](int i) { return value[i]; });
  if (in.e) assign(warp.predicate(in.e), active, inRange);
  return Step::Next;
}

enum class Members { None, Constant, Register };

template <Members kMembers, bool kIsFixed> Step runShuffle(const Inst& in, Warp& warp, LaneMask active) {
  const Shuffle& shuffle = *static_cast<const Shuffle*>(in.data);
  if constexpr (kMembers == Members::Constant)
    if (const Step s = gatherMembers(warp, LaneMask(in.immediate), active); s != Step::Next) return s;
  if constexpr (kMembers == Members::Register)
    if (const Step s = gatherMembers(warp, shuffle.members, active); s != Step::Next) return s;
  if constexpr (kIsFixed) return finish(in, warp, active, shuffle.from.data(), shuffle.inRange);
  const uint32_t *b = warp.lanes<uint32_t>(in.b), *c = warp.lanes<uint32_t>(in.c);
  alignas(kLaneAlignment) int32_t from[kLanes];
  LaneMask inRange = 0;
  for (int i = 0; i < kLanes; ++i) {
    const ShuffleSource source = shuffleSource(shuffle.mode, i, b[i], c[i]);
    from[i] = source.lane;
    inRange |= LaneMask(source.inRange) << i;
  }
  return finish(in, warp, active, from, inRange);
}

bool isConstant(const ptx::Operand& operand) { return operand.kind == ptx::Operand::Kind::Integer; }

} // namespace

bool decodeShuffle(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  const bool isSync = words.take("sync");
  const std::optional<ShuffleMode> mode = words.takeNamed<ShuffleMode>({{"up", ShuffleMode::Up},
                                                                        {"down", ShuffleMode::Down},
                                                                        {"bfly", ShuffleMode::Butterfly},
                                                                        {"idx", ShuffleMode::Index}});
  if (!mode) return decoder.fail("shfl wants .up, .down, .bfly or .idx");
  if (!words.take("b32")) return decoder.fail("shfl wants .b32");
  if (!isSync && decoder.target() >= 70) return decoder.fail("shfl without .sync is not for sm_70 and above");
  if (!decoder.operands(in, isSync ? 5 : 4)) return false;

  auto* shuffle = decoder.make<Shuffle>();
  shuffle->mode = *mode;
  out.data = shuffle;
  out.kind = InstClass::Warp;
  if (!decodeResultPair(decoder, in.operands[0], ptx::Type::B32, out.d, out.e)) return false;
  if (!decoder.source(in.operands[1], ptx::Type::B32, out.a)) return false;
  if (!decoder.source(in.operands[2], ptx::Type::B32, out.b)) return false;
  if (!decoder.source(in.operands[3], ptx::Type::B32, out.c)) return false;

  const bool isFixed = isConstant(in.operands[2]) && isConstant(in.operands[3]);
  if (isFixed)
    for (int i = 0; i < kLanes; ++i) {
      const ShuffleSource source =
          shuffleSource(shuffle->mode, i, uint32_t(in.operands[2].integer), uint32_t(in.operands[3].integer));
      shuffle->from[size_t(i)] = source.lane;
      shuffle->inRange |= LaneMask(source.inRange) << i;
    }
  if (!isSync) {
    out.run = isFixed ? runShuffle<Members::None, true> : runShuffle<Members::None, false>;
  } else if (isConstant(in.operands[4])) {
    out.immediate = in.operands[4].integer;
    out.run = isFixed ? runShuffle<Members::Constant, true> : runShuffle<Members::Constant, false>;
  } else {
    if (!decoder.source(in.operands[4], ptx::Type::B32, shuffle->members)) return false;
    out.run = isFixed ? runShuffle<Members::Register, true> : runShuffle<Members::Register, false>;
  }
  return true;
}

} // namespace tiletwin::sim
