// interp/run/ProgramOrder.cpp -- grids, lists of programs, and the walk over them.
#include "interp/run/ProgramOrder.h"
#include <algorithm>
#include <cassert>
#include <functional>

namespace tiletwin::interp {

static int64_t programsOf(const ProgramId& grid) {
  int64_t total = 1; // (2^31 - 1) * 65535 * 65535 fits
  for (int32_t n : grid) {
    if (n <= 0) return 0;
    if (__builtin_mul_overflow(total, int64_t(n), &total)) return -1;
  }
  return total;
}

ProgramOrder::ProgramOrder(ProgramId grid, std::span<const int64_t> only, std::span<const int64_t> skip, bool anyOrder)
    : grid_(grid), total_(programsOf(grid)), only_(only), skip_(skip), anyOrder_(anyOrder) {
  count_ = only.empty() ? std::max<int64_t>(total_, 0) : total_ == 0 ? 0 : int64_t(only.size());
}

ProgramOrder ProgramOrder::single(ProgramId grid, ProgramId program) {
  ProgramOrder order;
  order.grid_ = grid;
  order.single_ = program;
  return order;
}

std::string ProgramOrder::problem() const {
  auto grid = [this] {
    return "grid (" + std::to_string(grid_[0]) + ", " + std::to_string(grid_[1]) + ", " + std::to_string(grid_[2]) +
           ")";
  };
  if (std::any_of(grid_.begin(), grid_.end(), [](int32_t n) { return n < 0; })) return grid() + " has a negative size";
  if (total_ < 0) return grid() + " has more than 2^63 programs";
  for (auto [list, name] : {std::pair(only_, "programs to run"), std::pair(skip_, "programs to skip")}) {
    if (list.empty() || (anyOrder_ && list.data() == only_.data())) continue;
    // Strictly ascending, so that a position is one program.
    if (std::adjacent_find(list.begin(), list.end(), std::greater_equal<>()) != list.end())
      return "the list of " + std::string(name) + " must be ascending, each program once";
    if (list.front() < 0 || list.back() >= total_)
      return "the list of " + std::string(name) + " names program " +
             std::to_string(list.front() < 0 ? list.front() : list.back()) + ", but " + grid() + " has programs 0 to " +
             std::to_string(total_ - 1);
  }
  return {};
}

ProgramOrder::Cursor::Cursor(const ProgramOrder& order, int64_t position) : order_(order), position_(position) {
  if (order.single_[0] >= 0) {
    id_ = order.single_;
    return;
  }
  place(order.only_.empty() ? position : order.only_[size_t(position)]);
}

void ProgramOrder::Cursor::place(int64_t linear) {
  linear_ = linear;
  int64_t x = order_.grid_[0], y = order_.grid_[1];
  id_ = {int32_t(linear % x), int32_t(linear / x % y), int32_t(linear / x / y)};
  skip_ = size_t(std::lower_bound(order_.skip_.begin(), order_.skip_.end(), linear) - order_.skip_.begin());
  lookUpSkip();
}

void ProgramOrder::Cursor::lookUpSkip() { skipped_ = skip_ < order_.skip_.size() && order_.skip_[skip_] == linear_; }

void ProgramOrder::Cursor::next() {
  ++position_;
  if (order_.single_[0] >= 0) return;
  if (!order_.only_.empty()) {
    if (position_ < order_.count_) place(order_.only_[size_t(position_)]);
    return;
  }
  ++linear_;
  if (++id_[0] == order_.grid_[0]) {
    id_[0] = 0;
    if (++id_[1] == order_.grid_[1]) {
      id_[1] = 0;
      ++id_[2];
    }
  }
  skip_ += skipped_;
  lookUpSkip();
}

} // namespace tiletwin::interp
