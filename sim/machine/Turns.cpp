#include "sim/machine/Turns.h"
#include <numeric>

namespace tiletwin::sim {

namespace {
constexpr unsigned kStretchBits = 7, kBudgetBits = 10;
} // namespace

Turns::Turns(Cluster& cluster) : random_(*cluster.random) {
  for (Cta& cta : cluster.ctas)
    for (Warp& warp : cta.warps) warps_.push_back(&warp);
  waiting_.resize(warps_.size());
}

void Turns::beginStretch() {
  left_ = random_.ofAnySize(kStretchBits);
  ranks_.clear();
  if (random_.below(2)) return;
  ranks_.resize(warps_.size());
  std::iota(ranks_.begin(), ranks_.end(), size_t(0));
  for (size_t i = ranks_.size(); i > 1; --i) std::swap(ranks_[i - 1], ranks_[size_t(random_.below(i))]);
}

Warp* Turns::next() {
  if (left_ == 0) beginStretch();
  --left_;
  if (ranks_.empty()) {
    size_t count = 0;
    for (size_t i = 0; i < warps_.size(); ++i) count += mayRun(i);
    if (count == 0) return nullptr;
    size_t skip = size_t(random_.below(count));
    for (last_ = 0; !mayRun(last_) || skip-- != 0;) ++last_;
    return warps_[last_];
  }
  for (const size_t i : ranks_)
    if (mayRun(i)) return warps_[last_ = i];
  return nullptr;
}

uint64_t Turns::budget() { return random_.ofAnySize(kBudgetBits); }

} // namespace tiletwin::sim
