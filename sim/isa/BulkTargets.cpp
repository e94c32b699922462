#include "sim/isa/BulkTargets.h"
#include "sim/isa/Mbarrier.h"
#include <algorithm>
#include <cstring>

namespace tiletwin::sim {

namespace {

/// Queues the copy for one CTA; false: a trap.
bool issueTo(Warp& warp, int lane, Cta& cta, const std::byte* barrier, BulkCopy copy, uint64_t signalled) {
  if (const MbarrierState state = MbarrierState::read(barrier); !state.isLive())
    return trapMbarrier(warp, lane, &cta, barrier, MbarrierState::Outcome::NoObject, state, 0);
  copy.written = &cta;
  MbarrierSignal signal{.barrier = barrier, .copy = std::move(copy), .bytes = uint32_t(signalled)};
  issueSignal(cta, std::move(signal));
  return true;
}

} // namespace

bool BulkTargets::decode(Decoder& decoder, const ptx::Operand& barrierOperand, const ptx::Operand* maskOperand,
                         Space space) {
  return barrier.decode(decoder, barrierOperand, space) &&
         (!maskOperand || decoder.source(*maskOperand, ptx::Type::U16, ctaMask));
}

bool BulkTargets::issue(Warp& warp, int lane, BulkCopy copy, uint64_t signalled) const {
  Cluster& cluster = *warp.cta->cluster;
  Access access{.space = barrier.space, .kind = AccessKind::Atomic};
  access.bytes = access.alignment = 8;
  access.proxy = Proxy::Async;
  const std::byte* at = resolveBlock(access, warp, lane, barrier.lanes(warp)[size_t(lane)], 8);
  if (!at) return false;
  Cta *owner = ownerOf(cluster, copy.to), *barrierOwner = ownerOf(cluster, at);
  if (!owner || owner != barrierOwner)
    return warp.fail(TrapKind::InvalidValue, "signals an mbarrier of another CTA than the one that it writes to", lane);
  if (signalled > uint64_t(MbarrierState::kMaxBytes))
    return warp.fail(TrapKind::InvalidValue,
                     "copies " + std::to_string(signalled) + " bytes; an mbarrier can count 1048575", lane);
  if (!ctaMask) return issueTo(warp, lane, *owner, at, std::move(copy), signalled);

  const uint32_t mask = warp.lanes<uint16_t>(ctaMask)[lane];
  if (mask >> cluster.ctas.size() != 0)
    return warp.fail(TrapKind::InvalidValue,
                     "names CTA " + std::to_string(31 - __builtin_clz(mask)) + " of a cluster of " +
                         std::to_string(cluster.ctas.size()),
                     lane);
  const ptrdiff_t toOffset = copy.to - owner->shared.data(), barrierOffset = at - owner->shared.data();
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    Cta& cta = cluster.ctas[size_t(__builtin_ctz(rest))];
    BulkCopy part = copy;
    part.to = cta.shared.data() + toOffset;
    if (!issueTo(warp, lane, cta, cta.shared.data() + barrierOffset, std::move(part), signalled)) return false;
  }
  return true;
}

bool hasWord(const ptx::Instruction& in, std::string_view word) {
  return std::find(in.modifiers.begin(), in.modifiers.end(), word) != in.modifiers.end();
}

bool isDestinationGlobal(const ptx::Instruction& in) {
  for (const std::string_view word : in.modifiers) {
    if (word == "global") return true;
    if (word.starts_with("shared")) return false;
  }
  return false;
}

} // namespace tiletwin::sim
