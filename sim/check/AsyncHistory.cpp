#include "sim/check/AsyncHistory.h"

namespace tiletwin::sim {

void AsyncHistory::add(const Cta& cta) {
  words_.emplace_back((cta.shared.size() + kWord - 1) / kWord);
  blocks_.emplace_back((cta.shared.size() + kBlock - 1) / kBlock);
  warps_.emplace_back(cta.warps.size());
  for (const Warp& warp : cta.warps) part(warp).lanes = warp.live;
}

uint16_t AsyncHistory::number(const Inst* inst) {
  if (last_.first == inst) return last_.second;
  const auto [found, isNew] = numbers_.try_emplace(inst, uint16_t(insts_.size()));
  if (isNew && insts_.size() < kNobody) {
    insts_.push_back(inst);
  } else if (isNew) {
    found->second = 0; // more instructions than any kernel has: the first one stands for the rest
  }
  last_ = *found;
  return found->second;
}

namespace {
constexpr auto kBefore = [](const AsyncHistory::Fence& fence, uint32_t time) { return fence.time < time; };
} // namespace

/// Fences of a warp that another one knows of: its own, and those of others before it last synchronised.
std::span<const AsyncHistory::Fence> AsyncHistory::knownFences(const WarpPart& other, const WarpPart& own) const {
  const auto begin = other.fences.begin(), all = other.fences.end();
  const auto end = &other == &own ? all : std::lower_bound(begin, all, own.synchronised, kBefore);
  return {begin, end};
}

bool AsyncHistory::isFencedBy(const WarpPart& other, AsyncStamp written, const Warp& warp) {
  const std::span<const Fence> known = knownFences(other, part(warp));
  if (known.empty()) return false;
  if (known.back().known > written.time) return true; // of a write that it knew of; later fences know more
  if (&other != &writerOf(written)) return false;
  const LaneMask writer = LaneMask(1) << laneOf(written.thread);
  for (auto fence = std::lower_bound(known.begin(), known.end(), written.time, kBefore); fence != known.end(); ++fence)
    if (fence->lanes & writer) return true;
  return false;
}

uint32_t AsyncHistory::fencedBefore(const Warp& warp) {
  WarpPart& own = part(warp);
  if (own.asOf == changes_) return own.fencedUpTo;
  uint32_t byOne = 0;        // the latest time that one fence knew of
  uint32_t byWriter = time_; // until when each warp's own fences cover what it wrote
  for (const std::vector<WarpPart>& cta : warps_)
    for (const WarpPart& other : cta) {
      const std::span<const Fence> known = knownFences(other, own);
      if (!known.empty()) byOne = std::max(byOne, known.back().known);
      uint32_t covered = 0;
      for (auto fence = known.rbegin(); fence != known.rend() && !covered; ++fence)
        if (fence->lanes == other.lanes) covered = fence->time;
      if (other.written > covered) byWriter = std::min(byWriter, covered);
    }
  own.asOf = changes_;
  return own.fencedUpTo = std::max(byOne, byWriter);
}

bool AsyncHistory::isFenced(AsyncStamp written, const Warp& warp) {
  if (!written || isFencedBy(writerOf(written), written, warp) || isFencedBy(part(warp), written, warp)) return true;
  for (const std::vector<WarpPart>& cta : warps_)
    for (const WarpPart& other : cta)
      if (isFencedBy(other, written, warp)) return true;
  return false;
}

} // namespace tiletwin::sim
