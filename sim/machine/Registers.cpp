#include "sim/machine/Registers.h"
#include <algorithm>
#include <queue>

namespace tiletwin::sim {
namespace {

class BitRows {
public:
  BitRows(size_t rows, size_t columns) : words_((columns + 63) / 64), bits_(rows * words_) {}
  uint64_t* row(size_t r) { return bits_.data() + r * words_; }
  size_t words() const { return words_; }

private:
  size_t words_;
  std::vector<uint64_t> bits_;
};
void set(uint64_t* row, int32_t bit) { row[bit / 64] |= uint64_t(1) << bit % 64; }
bool test(const uint64_t* row, int32_t bit) { return row[bit / 64] >> bit % 64 & 1; }

/// The instructions [first, last] that a register is alive at, without gaps.
struct Interval {
  int32_t reg = 0, first = INT32_MAX, last = -1;
  void cover(int32_t at) {
    first = std::min(first, at);
    last = std::max(last, at);
  }
};

struct Liveness {
  BitRows in, out;
};

Liveness findLiveness(const FlowGraph& graph, const std::vector<RegisterUses>& uses, size_t registers) {
  const std::vector<BasicBlock>& blocks = graph.blocks();
  BitRows read(blocks.size(), registers), written(blocks.size(), registers);
  for (size_t b = 0; b < blocks.size(); ++b)
    for (int32_t i = blocks[b].begin; i < blocks[b].end; ++i) {
      for (const auto* list : {&uses[size_t(i)].reads, &uses[size_t(i)].keeps})
        for (const int32_t r : *list)
          if (!test(written.row(b), r)) set(read.row(b), r);
      for (const int32_t r : uses[size_t(i)].writes) set(written.row(b), r);
    }
  Liveness live{BitRows(blocks.size(), registers), BitRows(blocks.size(), registers)};
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t b = blocks.size(); b-- > 0;) {
      uint64_t *in = live.in.row(b), *out = live.out.row(b);
      for (const int32_t to : blocks[b].successors)
        for (size_t w = 0; w < live.in.words(); ++w) out[w] |= live.in.row(size_t(to))[w];
      for (size_t w = 0; w < live.in.words(); ++w) {
        const uint64_t now = read.row(b)[w] | (out[w] & ~written.row(b)[w]);
        changed |= now != in[w];
        in[w] = now;
      }
    }
  }
  return live;
}

std::vector<Interval> findIntervals(const FlowGraph& graph, const std::vector<RegisterUses>& uses, Liveness& live,
                                    size_t registers) {
  std::vector<Interval> intervals(registers);
  for (size_t r = 0; r < registers; ++r) intervals[r].reg = int32_t(r);
  const std::vector<BasicBlock>& blocks = graph.blocks();
  for (size_t b = 0; b < blocks.size(); ++b) {
    for (size_t w = 0; w < live.in.words(); ++w) {
      for (uint64_t bits = live.in.row(b)[w]; bits; bits &= bits - 1)
        intervals[w * 64 + size_t(__builtin_ctzll(bits))].cover(blocks[b].begin);
      for (uint64_t bits = live.out.row(b)[w]; bits; bits &= bits - 1)
        intervals[w * 64 + size_t(__builtin_ctzll(bits))].cover(std::max(blocks[b].end - 1, blocks[b].begin));
    }
    for (int32_t i = blocks[b].begin; i < blocks[b].end; ++i) {
      for (const int32_t r : uses[size_t(i)].reads) intervals[size_t(r)].cover(i);
      for (const int32_t r : uses[size_t(i)].writes) intervals[size_t(r)].cover(i);
    }
  }
  return intervals;
}

} // namespace

RegisterPlaces placeRegisters(const FlowGraph& graph, const std::vector<RegisterUses>& uses,
                              const std::vector<uint8_t>& size, const std::vector<bool>& alone) {
  const size_t registers = size.size();
  RegisterPlaces result;
  result.place.assign(registers, -1);
  result.unwritten.assign(registers, false);
  Liveness live = findLiveness(graph, uses, registers);
  std::vector<Interval> intervals = findIntervals(graph, uses, live, registers);
  const auto newPlace = [&](uint8_t bytes) {
    result.placeSize.push_back(bytes);
    return int32_t(result.placeSize.size()) - 1;
  };
  for (size_t r = 0; r < registers; ++r) {
    result.unwritten[r] = test(live.in.row(0), int32_t(r));
    if (intervals[r].last >= 0 && (result.unwritten[r] || alone[r])) result.place[r] = newPlace(size[r]);
  }

  std::sort(intervals.begin(), intervals.end(), [](const Interval& a, const Interval& b) { return a.first < b.first; });
  using Ending = std::pair<int32_t, int32_t>; // last instruction, place
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> taken;
  std::array<std::vector<int32_t>, 17> unused; // by size
  for (const Interval& interval : intervals) {
    if (interval.last < 0 || result.place[size_t(interval.reg)] >= 0) continue;
    for (; !taken.empty() && taken.top().first < interval.first; taken.pop())
      unused[result.placeSize[size_t(taken.top().second)]].push_back(taken.top().second);
    const uint8_t bytes = size[size_t(interval.reg)];
    int32_t place;
    if (unused[bytes].empty()) {
      place = newPlace(bytes);
    } else {
      place = unused[bytes].back();
      unused[bytes].pop_back();
    }
    result.place[size_t(interval.reg)] = place;
    taken.emplace(interval.last, place);
  }
  return result;
}

} // namespace tiletwin::sim
