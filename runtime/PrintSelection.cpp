// runtime/PrintSelection.cpp -- see PrintSelection.h.
#include "runtime/PrintSelection.h"
#include "runtime/Environment.h"
#include <algorithm>
#include <cctype>
#include <charconv>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <unistd.h>

namespace tiletwin {
namespace {

[[noreturn]] void refuse(std::string_view text, const std::string& why) {
  throw environment::Error("TILETWIN_PRINT=" + std::string(text) + ": " + why +
                           "; expected programs as in 3,0,0 or 0-7 or *,2 or random:8, with elements behind them as in "
                           "3[0:8, 4] or [:16] for all programs, several joined by ; -- or none");
}

using environment::trimmed;

/// The parts between separators, without spaces around them; one empty part of an empty text.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    size_t end = std::min(text.find(separator), text.size());
    parts.push_back(trimmed(text.substr(0, end)));
    if (end == text.size()) return parts;
    text.remove_prefix(end + 1);
  }
}

bool number(std::string_view text, int64_t& out, bool signedToo) {
  if (text.empty() || (!signedToo && text.front() == '-')) return false;
  auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), out);
  return status == std::errc() && end == text.data() + text.size();
}

/// The same choice for every print of a launch, in both modes: it depends on the process and the grid alone.
std::vector<int64_t> chooseAtRandom(int64_t count, const std::array<int32_t, 3>& grid) {
  static const uint64_t kSeed = std::random_device()();
  const int64_t total = int64_t(grid[0]) * grid[1] * grid[2];
  std::mt19937_64 generator(kSeed + uint64_t(total) * 0x9E3779B97F4A7C15u);
  std::vector<int64_t> chosen; // Floyd's way: `count` different numbers below `total`
  count = std::min(count, total);
  for (int64_t last = total - count; last < total; ++last) {
    int64_t pick = int64_t(generator() % uint64_t(last + 1));
    auto at = std::lower_bound(chosen.begin(), chosen.end(), pick);
    if (at != chosen.end() && *at == pick)
      chosen.push_back(last); // above all others
    else
      chosen.insert(at, pick);
  }
  return chosen;
}

} // namespace

PrintSelection::PrintSelection(std::string_view text, const std::array<int32_t, 3>& grid) : grid_(grid) {
  if (trimmed(text) == "none") return;
  for (std::string_view entry : split(text, ';')) {
    if (entry.empty()) continue;
    Item item;
    for (Range& range : item.programs) range.last = std::numeric_limits<int32_t>::max();
    size_t bracket = std::min(entry.find('['), entry.size());
    std::string_view programs = trimmed(entry.substr(0, bracket)), slices = entry.substr(bracket);
    if (!slices.empty()) {
      if (slices.back() != ']') refuse(text, "'" + std::string(slices) + "' does not end in ]");
      for (std::string_view part : split(slices.substr(1, slices.size() - 2), ',')) {
        Slice slice;
        std::vector<std::string_view> bounds = split(part, ':');
        int64_t only;
        if (bounds.size() == 1 && number(part, only, true)) {
          slice.start = only;
          slice.stop = only + 1;
          slice.hasStart = true;
          slice.hasStop = only != -1;
        } else if (bounds.size() == 2 || bounds.size() == 3) {
          slice.hasStart = !bounds[0].empty();
          slice.hasStop = !bounds[1].empty();
          if ((slice.hasStart && !number(bounds[0], slice.start, true)) ||
              (slice.hasStop && !number(bounds[1], slice.stop, true)) ||
              (bounds.size() == 3 && !bounds[2].empty() && !number(bounds[2], slice.step, true)) || slice.step < 1)
            refuse(text, "'" + std::string(part) + "' is no slice with a step above 0");
        } else {
          refuse(text, "'" + std::string(part) + "' is neither an index nor a slice");
        }
        item.slices.push_back(slice);
      }
    }
    int64_t count;
    if (programs.starts_with("random:")) {
      if (!number(trimmed(programs.substr(7)), count, false)) refuse(text, "random: needs a number");
      item.isRandom = true;
      item.chosen = chooseAtRandom(count, grid);
    } else if (!programs.empty()) {
      std::vector<std::string_view> axes = split(programs, ',');
      if (axes.size() > 3) refuse(text, "a program id has at most three parts");
      for (size_t axis = 0; axis < 3; ++axis) {
        Range& range = item.programs[axis];
        if (axis >= axes.size()) {
          range.last = 0;
          continue;
        }
        if (axes[axis].empty() || axes[axis] == "*") continue;
        std::vector<std::string_view> ends = split(axes[axis], '-');
        if (ends.size() > 2 || !number(ends.front(), range.first, false) || !number(ends.back(), range.last, false))
          refuse(text, "'" + std::string(axes[axis]) + "' is not a number, a range like 2-5, or *");
      }
    }
    items_.push_back(std::move(item));
  }
}

bool PrintSelection::matches(const Item& item, const std::array<int32_t, 3>& program) const {
  if (item.isRandom) {
    int64_t linear = program[0] + int64_t(grid_[0]) * (program[1] + int64_t(grid_[1]) * program[2]);
    return std::binary_search(item.chosen.begin(), item.chosen.end(), linear);
  }
  for (size_t axis = 0; axis < 3; ++axis)
    if (program[axis] < item.programs[axis].first || program[axis] > item.programs[axis].last) return false;
  return true;
}

bool PrintSelection::shows(const std::array<int32_t, 3>& program) const {
  return std::any_of(items_.begin(), items_.end(), [&](const Item& item) { return matches(item, program); });
}

bool PrintSelection::misses() const {
  auto inGrid = [&](const Item& item) {
    if (item.isRandom) return !item.chosen.empty();
    for (size_t axis = 0; axis < 3; ++axis)
      if (item.programs[axis].first >= grid_[axis] || item.programs[axis].first > item.programs[axis].last)
        return false;
    return true;
  };
  return !items_.empty() && std::none_of(items_.begin(), items_.end(), inGrid);
}

namespace {
struct Missed {
  std::array<int32_t, 3> largest{}; ///< of the grids that had none of its programs; all zero: some grid had one
  pid_t process = 0;                ///< that has launched it: a fork's child has launched nothing yet
};
struct Selections {
  std::mutex mutex;
  std::map<std::string, Missed, std::less<>> byText;
};
/// Never destroyed: threads may launch while the process ends.
Selections& selections() {
  static Selections& all = *new Selections;
  return all;
}
} // namespace

void noteSelection(std::string_view text, const std::array<int32_t, 3>& grid, bool misses) {
  auto programs = [](const std::array<int32_t, 3>& g) { return int64_t(g[0]) * g[1] * g[2]; };
  std::lock_guard lock(selections().mutex);
  auto [known, isNew] = selections().byText.try_emplace(std::string(text));
  Missed& missed = known->second;
  if (isNew || missed.process != getpid()) missed = {misses ? grid : std::array<int32_t, 3>{}, getpid()};
  if (!misses)
    missed.largest = {};
  else if (missed.largest[0] != 0 && programs(grid) > programs(missed.largest))
    missed.largest = grid;
}

std::vector<std::string> missedSelections() {
  std::vector<std::string> lines;
  std::lock_guard lock(selections().mutex);
  for (const auto& [text, missed] : selections().byText)
    if (const auto& [x, y, z] = missed.largest; x != 0 && missed.process == getpid())
      lines.push_back("tiletwin: no launch that prints had a program " + text +
                      " (TILETWIN_PRINT); the largest grid was (" + std::to_string(x) + ", " + std::to_string(y) +
                      ", " + std::to_string(z) + ")");
  return lines;
}

std::vector<bool> PrintSelection::shown(const Slice& slice, int64_t extent) {
  auto inside = [extent](int64_t index) { return std::clamp<int64_t>(index < 0 ? index + extent : index, 0, extent); };
  std::vector<bool> indices(size_t(extent), false);
  const int64_t stop = slice.hasStop ? inside(slice.stop) : extent;
  for (int64_t i = slice.hasStart ? inside(slice.start) : 0; i < stop; i += slice.step) indices[size_t(i)] = true;
  return indices;
}

ShownElements PrintSelection::elements(const std::array<int32_t, 3>& program, const std::vector<int64_t>& shape) const {
  ShownElements result;
  for (const Item& item : items_) {
    if (!matches(item, program)) continue;
    if (item.slices.empty() || shape.empty()) return {}; // all of them
    std::vector<std::vector<bool>> box;
    for (size_t d = 0; d < shape.size(); ++d)
      box.push_back(d < item.slices.size() ? shown(item.slices[d], shape[d])
                                           : std::vector<bool>(size_t(shape[d]), true));
    result.boxes_.push_back(std::move(box));
  }
  result.shape_ = shape;
  return result;
}

bool ShownElements::has(int64_t element) const {
  if (all()) return true;
  for (const auto& box : boxes_) {
    int64_t rest = element;
    bool inside = true;
    for (size_t d = shape_.size(); d-- > 0 && inside;) {
      inside = box[d][size_t(rest % shape_[d])];
      rest /= shape_[d];
    }
    if (inside) return true;
  }
  return false;
}

} // namespace tiletwin
