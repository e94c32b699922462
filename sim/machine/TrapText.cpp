#include "sim/machine/TrapText.h"
#include "sim/isa/WaitText.h"
#include "sim/machine/Fragments.h"
#include "sim/machine/Observer.h"

namespace tiletwin::sim {
namespace {

std::string placeText(const std::string& file, int line, int column) {
  return file + ":" + std::to_string(line) + ":" + std::to_string(column);
}

/// The place in the kernel's source, if .loc says one: " (kernel.py:53:40)".
std::string sourceText(const Program& program, const ptx::Instruction& in) {
  if (in.source < 0) return {};
  const SourceLocation where = sourceOf(program, in);
  return " (" + placeText(where.file, where.line, where.column) + ")";
}

uint64_t ctaOrder(const LaunchParams& params, const std::array<int32_t, 3>& id) {
  return uint64_t(id[0]) + params.grid[0] * (uint64_t(id[1]) + params.grid[1] * uint64_t(id[2]));
}

void note(Grid& grid, Trap trap) {
  const std::lock_guard lock(grid.mutex);
  if (!grid.trap || ctaOrder(*grid.params, trap.program) < ctaOrder(*grid.params, grid.trap.program))
    grid.trap = std::move(trap);
  grid.stop = true;
}

/// "lanes 0-15, 31"
std::string lanesText(LaneMask lanes) {
  if (lanes == kAllLanes) return "all lanes";
  std::string text = "lane";
  text += __builtin_popcount(lanes) > 1 ? "s " : " ";
  bool first = true;
  for (int i = 0; i < kLanes; ++i) {
    if (!(lanes >> i & 1)) continue;
    int last = i;
    while (last + 1 < kLanes && lanes >> (last + 1) & 1) ++last;
    text += (first ? "" : ", ") + std::to_string(i) + (last > i ? "-" + std::to_string(last) : "");
    first = false;
    i = last;
  }
  return text;
}

} // namespace

std::string tripleText(const std::array<uint32_t, 3>& d) {
  return "(" + std::to_string(d[0]) + ", " + std::to_string(d[1]) + ", " + std::to_string(d[2]) + ")";
}

std::string ptxPlace(const Program& program, const ptx::Instruction& in) {
  return placeText(program.file, in.at.line, in.at.column);
}

std::array<int32_t, 3> programOf(const Cta& cta) {
  return {int32_t(cta.id[0]), int32_t(cta.id[1]), int32_t(cta.id[2])};
}

SourceLocation sourceOf(const Program& program, const ptx::Instruction& in) {
  SourceLocation where{program.file, in.at.line, in.at.column, {}};
  if (in.source < 0) return where;
  const ptx::SourceLine& line = program.module->sourceLines[size_t(in.source)];
  if (line.file < 0 || size_t(line.file) >= program.module->files.size()) return where;
  where.file = program.module->files[size_t(line.file)];
  where.line = line.line;
  where.column = line.column;
  return where;
}

Step raise(Warp& warp, Trap trap, int lane) {
  const Cta& cta = *warp.cta;
  Grid& grid = *cta.cluster->grid;
  const Program& program = *grid.program;
  const ptx::Instruction& in = warp.running->frame->code->sourceOf(*warp.at);
  trap.where = sourceOf(program, in);
  trap.operation = in.text;
  trap.program = programOf(cta);
  if (lane >= 0) trap.element = int64_t(warp.index) * kLanes + lane;
  std::string text = ptxPlace(program, in) + ": " + std::string(in.text) + ": CTA " + tripleText(cta.id) + ", warp " +
                     std::to_string(warp.index);
  if (lane >= 0) text += ", lane " + std::to_string(lane);
  trap.message = text + sourceText(program, in) + ": " + trap.message;
  for (Observer* observer : grid.observers) observer->traps(warp, trap, lane);
  note(grid, std::move(trap));
  return Step::Trap;
}

Step Warp::trap(TrapKind kind, std::string message, int lane) {
  return raise(*this, Trap::of(kind, std::move(message)), lane);
}

namespace {

/// The lines of a deadlock's message, and the threads that it lists.
class Deadlock {
public:
  explicit Deadlock(const Program& program) : program_(program) {}

  /// Lanes that stand at an instruction. `state`: "", ", running", ...; `wait`: what they wait for, or empty.
  void add(const Warp& warp, LaneMask lanes, const FunctionCode& code, const Inst* at, std::string_view state,
           const std::string& wait = {}) {
    WaitingProgram waiting;
    waiting.program = programOf(*warp.cta);
    std::string source;
    if (!code.source->body.empty()) {
      const ptx::Instruction& in = code.sourceOf(*at);
      waiting.where = sourceOf(program_, in);
      waiting.operation = in.text;
      waiting.detail = ptxPlace(program_, in) + ", ";
      source = sourceText(program_, in);
    }
    waiting.detail += "warp " + std::to_string(warp.index) + ", " + lanesText(lanes) + std::string(state);
    lines_.push_back(waiting.detail + " of CTA " + tripleText(warp.cta->id) + source + ": " + waiting.operation +
                     (wait.empty() ? "" : ": " + wait));
    waiting_.push_back(std::move(waiting));
  }

  void finish(Trap& trap, const std::string& detail) {
    constexpr size_t kListed = 32;
    trap.kind = TrapKind::Deadlock;
    trap.message = detail;
    for (size_t i = 0; i < lines_.size() && i < kListed; ++i) trap.message += "\n  " + lines_[i];
    if (lines_.size() > kListed) trap.message += "\n  and " + std::to_string(lines_.size() - kListed) + " more";
    if (!waiting_.empty()) {
      trap.where = waiting_.front().where;
      trap.operation = waiting_.front().operation;
      trap.program = waiting_.front().program;
    }
    trap.waiting = std::move(waiting_);
  }

private:
  const Program& program_;
  std::vector<std::string> lines_;
  std::vector<WaitingProgram> waiting_;
};

} // namespace

void raiseDeadlock(Cluster& cluster, const std::string& detail) {
  Deadlock deadlock(*cluster.grid->program);
  for (Cta& cta : cluster.ctas)
    for (Warp& warp : cta.warps) {
      for (const Fragment& fragment : warp.fragments->list) {
        const bool sleeps = fragment.asleep != 0;
        const FunctionCode& code = *fragment.frame->code;
        // A sleeping fragment stands behind the instruction that it waits at.
        const Inst* at = sleeps && fragment.next != code.code.data() ? fragment.next - 1 : fragment.next;
        const bool waits = sleeps || fragment.retries;
        deadlock.add(warp, fragment.lanes, code, at, waits ? "" : ", running",
                     waits ? waitText(warp, fragment, at) : std::string());
      }
      for (const Join& join : warp.fragments->joins)
        if (join.arrived) deadlock.add(warp, join.arrived, *join.frame->code, join.at, ", waiting for other lanes");
    }
  Trap trap;
  deadlock.finish(trap, detail);
  trap.resident = int64_t(cluster.ctas.size());
  for (Observer* observer : cluster.grid->observers) observer->deadlocks(cluster, trap);
  note(*cluster.grid, std::move(trap));
}

} // namespace tiletwin::sim
