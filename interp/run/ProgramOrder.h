// interp/run/ProgramOrder.h -- which programs of a grid run, and in which order.
// Here:      positions 0 .. count()-1 in ascending order of linear program id, x fastest.
// Not here:  threads (Scheduler.h).
// Invariant: a position means the same program for as long as the spans it was made from live.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace tiletwin::interp {

using ProgramId = std::array<int32_t, 3>;

class ProgramOrder {
public:
  ProgramOrder() = default;
  /// `only` empty: all programs of the grid; otherwise those linear ids, ascending. Those in `skip` (ascending) do not
  /// run. `anyOrder`: `only` need not ascend, and is the order.
  ProgramOrder(ProgramId grid, std::span<const int64_t> only = {}, std::span<const int64_t> skip = {},
               bool anyOrder = false);
  /// One program that need not be inside its grid.
  static ProgramOrder single(ProgramId grid, ProgramId program);

  /// What is wrong with the grid or the lists, as a sentence; empty if nothing is.
  std::string problem() const;
  /// Positions, skipped programs included. 0 if a dimension of the grid is 0.
  int64_t count() const { return count_; }
  const ProgramId& grid() const { return grid_; }
  /// Whether position p is the grid's program p, and all of them run.
  bool isWhole() const { return only_.empty() && skip_.empty() && single_[0] < 0; }

  /// Walks positions upward.
  class Cursor {
  public:
    Cursor(const ProgramOrder& order, int64_t position);
    const ProgramId& id() const { return id_; }
    bool skipped() const { return skipped_; }
    void next();

  private:
    void place(int64_t linear);
    void lookUpSkip();
    const ProgramOrder& order_;
    int64_t position_, linear_ = 0;
    ProgramId id_{};
    size_t skip_ = 0; // first entry of skip_ at or above linear_
    bool skipped_ = false;
  };

private:
  ProgramId grid_{1, 1, 1};
  ProgramId single_{-1, 0, 0};
  int64_t total_ = 1; // programs of the grid
  int64_t count_ = 1;
  std::span<const int64_t> only_, skip_;
  bool anyOrder_ = false;
};

} // namespace tiletwin::interp
