// runtime/PrintSelection.h -- TILETWIN_PRINT: which programs' prints are shown, and which elements of their tiles.
// Here:      its grammar, which is that of TILETWIN_PROGRAM with a slice behind each item; the choice for one tile.
// Not here:  the texts (interp/run/ExecuteDebug.cpp); TILETWIN_PROGRAM itself (python/tiletwin/runtime).
// Invariant: the same text and grid give the same choice everywhere in a process, `random:` included.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tiletwin {

/// The elements of one tile that are shown, by row-major number.
class ShownElements {
public:
  bool all() const { return boxes_.empty(); }
  bool has(int64_t element) const;

private:
  friend class PrintSelection;
  std::vector<int64_t> shape_;
  std::vector<std::vector<std::vector<bool>>> boxes_; ///< any of them; per dimension, per index
};

/// "3,0,0" "0-7" "*,2" "random:8", each with "[0:8, ::2]" behind it or alone, joined by ";"; "none".
class PrintSelection {
public:
  /// Throws environment::Error if the text is none of these.
  PrintSelection(std::string_view text, const std::array<int32_t, 3>& grid);
  bool shows(const std::array<int32_t, 3>& program) const;
  /// Whether programs are named, and the grid has none of them.
  bool misses() const;
  /// The elements to show of a tile that a program prints. Slices are counted from the first dimension;
  /// dimensions without a slice are shown whole, and a slice too many is left out.
  ShownElements elements(const std::array<int32_t, 3>& program, const std::vector<int64_t>& shape) const;

private:
  struct Range {
    int64_t first = 0, last = 0;
  };
  struct Slice { ///< as in Python; `has` parts that are given
    int64_t start = 0, stop = 0, step = 1;
    bool hasStart = false, hasStop = false;
  };
  struct Item {
    std::array<Range, 3> programs;
    std::vector<int64_t> chosen; ///< linear ids, ascending, of "random:"
    bool isRandom = false;
    std::vector<Slice> slices;
  };
  static std::vector<bool> shown(const Slice& slice, int64_t extent);
  bool matches(const Item& item, const std::array<int32_t, 3>& program) const;
  std::array<int32_t, 3> grid_;
  std::vector<Item> items_;
};

/// Called by every launch that prints.
void noteSelection(std::string_view text, const std::array<int32_t, 3>& grid, bool misses);
/// For the end of the process: one line for each text that named a program of no launch of this process.
std::vector<std::string> missedSelections();

} // namespace tiletwin
