// interp/run/ExecuteAdjacent.cpp -- neighbouring programs that run as one, with rows as long as all of theirs.
// Here:      the proof that their rows follow each other, and the run.
// Not here:  which plans may (plan/Adjacent.cpp), everything else that programs do (Execute.cpp).
// Idea:      the numbers of the first, the second and the last program are computed as they always are. A number that grows modulo 2^width
//            and is, without a modulus, as far from the first to the last as that many steps from the first to the second, is so in
//            between, too. So what is checked of the first and the last program holds for all: rows, masks, guards, bounds.
// Invariant: nothing is written before everything has been checked; elements have the bits that their own programs give.
#include "interp/run/Execute.h"
#include <array>
#include <limits>

namespace tiletwin::interp {

namespace {

using Numbers = std::array<int64_t, AdjacentPrograms::kMost>;

/// Computes what is in front of the group. False: the program is out of the ordinary.
bool runHead(const Plan& plan, Frame& f, const std::array<int32_t, 3>& program, Numbers& numbers, GroupRuns& runs) {
  f.program = program;
  const Instruction* in = plan.code.data();
  for (size_t i = 0; i < plan.adjacent.grows.size(); ++i) {
    const Instruction* next = in->fn(in, f);
    if (!next) return false;
    if (plan.adjacent.grows[i]) numbers[i] = f.at<int64_t>(in->r[0]);
    in = next;
  }
  const GroupOp& g = *plan.adjacent.group;
  if (!findRuns(g, f, runs) || runs.n < g.shape[0]) return false;
  for (size_t s = 0; s < g.places.size(); ++s) {
    if (!g.places[s].view) continue;
    const ViewDescriptor& view = f.at<ViewDescriptor>(g.places[s].offset);
    const ArgumentExtent& e = f.launch->extents[size_t(g.streams[s].operand.view->access.root)];
    if (view.lo == view.hi || view.lo < e.lo || view.hi > e.hi)
      return false; // a copy, or in a buffer that was looked up
  }
  return true;
}

/// Whether c is so many steps from a as b is one.
bool growsEvenly(int64_t a, int64_t b, int64_t c, int64_t steps) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  int64_t step, all, last;
  return !__builtin_sub_overflow(b, a, &step) && !__builtin_mul_overflow(step, steps, &all) &&
         !__builtin_add_overflow(a, all, &last) && last == c && a > -kMost && a < kMost && c > -kMost && c < kMost;
}

} // namespace

bool executeAdjacent(const Plan& plan, Frame& f, const std::array<int32_t, 3>& first, int64_t count) {
  const GroupOp& g = *plan.adjacent.group;
  std::array<Numbers, 3> numbers;
  std::array<GroupRuns, 3> runs;
  f.step = Step::Done;
  f.stored = f.storedBefore = f.restart = false;
  const int64_t program[3] = {0, 1, count - 1};
  for (size_t i : {2, 1, 0}) // the first one last: its frame stays
    if (!runHead(plan, f, {int32_t(first[0] + program[i]), first[1], first[2]}, numbers[i], runs[i])) return false;
  for (size_t i = 0; i < plan.adjacent.grows.size(); ++i)
    if (plan.adjacent.grows[i] && !growsEvenly(numbers[0][i], numbers[1][i], numbers[2][i], count - 1)) return false;
  const GroupNode& sink = g.nodes[size_t(g.sinks[0])];
  const int64_t n = g.shape[0];
  for (const GroupOp::Run& run : g.runs) {
    const bool row = g.places[size_t(run.stream)].view || run.stream == sink.src[0];
    const auto to = [&](size_t i) { return runs[i].at[run.stream] - runs[0].at[run.stream]; };
    if (row && (to(1) != n * run.bytes || to(2) != (count - 1) * n * run.bytes)) return false;
  }
  const std::byte* const begin = runs[0].at[sink.src[0]];
  const std::byte* const end = begin + count * n * sink.access.elementBytes;
  for (size_t s = 0; s < g.places.size(); ++s) // what a program stores another one may read
    if (g.places[s].view && runs[0].at[s] < end && begin < runs[2].at[s] + n * g.streams[s].elementBytes) return false;
  runStrips(g, f, runs[0], count * n);
  return true;
}

} // namespace tiletwin::interp
