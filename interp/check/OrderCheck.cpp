// interp/check/OrderCheck.cpp -- see OrderCheck.h.
#include "interp/check/OrderCheck.h"
#include "interp/check/Mistake.h"
#include "interp/run/ProbeElements.h"
#include "runtime/FloatFormats.h"
#include <algorithm>
#include <atomic>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <numeric>
#include <optional>

namespace tiletwin::interp {

namespace {

constexpr size_t kMostDiffering = size_t(1) << 20; ///< differing ranges that are kept
constexpr int64_t kMostPrograms = int64_t(1) << 24;

/// Memory that the launch may write, and what it held at some time.
class Snapshot {
public:
  explicit Snapshot(std::span<const WriteWatch::Range> ranges) {
    for (const WriteWatch::Range& r : ranges) {
      Piece& piece = pieces_.emplace_back(Piece{r, {}});
      piece.bytes.resize(r.end - r.begin);
      std::memcpy(piece.bytes.data(), reinterpret_cast<const void*>(r.begin), piece.bytes.size());
    }
  }
  void putBack() const {
    for (const Piece& p : pieces_) std::memcpy(reinterpret_cast<void*>(p.range.begin), p.bytes.data(), p.bytes.size());
  }
  /// Bytes that memory holds in another way now, as ranges.
  std::vector<WriteWatch::Range> differing() const {
    std::vector<WriteWatch::Range> found;
    for (const Piece& p : pieces_) {
      const auto* now = reinterpret_cast<const std::byte*>(p.range.begin);
      if (std::memcmp(now, p.bytes.data(), p.bytes.size()) == 0) continue;
      for (size_t i = 0; i < p.bytes.size() && found.size() < kMostDiffering; ++i) {
        if (now[i] == p.bytes[i]) continue;
        const uintptr_t at = p.range.begin + i;
        if (!found.empty() && found.back().end == at)
          ++found.back().end;
        else
          found.push_back({at, at + 1});
      }
    }
    return found;
  }
  /// What was at an address.
  const std::byte* at(uintptr_t address) const {
    for (const Piece& p : pieces_)
      if (address >= p.range.begin && address < p.range.end) return p.bytes.data() + (address - p.range.begin);
    return nullptr;
  }

private:
  struct Piece {
    WriteWatch::Range range;
    std::vector<std::byte> bytes;
  };
  std::vector<Piece> pieces_;
};

std::vector<WriteWatch::Range> writableRanges(std::span<const Buffer> buffers) {
  std::vector<WriteWatch::Range> all, joined;
  for (const Buffer& b : buffers)
    if (!b.readOnly && b.begin < b.end) all.push_back({b.begin, b.end});
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  for (const auto& r : all) {
    if (!joined.empty() && r.begin <= joined.back().end)
      joined.back().end = std::max(joined.back().end, r.end);
    else
      joined.push_back(r);
  }
  return joined;
}

double numberOf(const std::byte* bytes, DType type) {
  auto read = [&](auto value) {
    std::memcpy(&value, bytes, sizeof value);
    return value;
  };
  switch (type) {
  case DType::F16: return f16ToF32(read(uint16_t()));
  case DType::BF16: return bf16ToF32(read(uint16_t()));
  case DType::F32: return read(float());
  case DType::F64: return read(double());
  default: return 0;
  }
}

std::string valueText(const std::byte* bytes, DType type) {
  char text[40];
  auto shown = [&](auto value) { return std::string(text, std::to_chars(text, text + sizeof text, value).ptr); };
  switch (type) {
  case DType::F16:
  case DType::BF16:
  case DType::F32: return shown(float(numberOf(bytes, type)));
  case DType::F64: return shown(numberOf(bytes, type));
  default: {
    const size_t size = sizeOf(type);
    uint64_t bits = 0;
    std::memcpy(&bits, bytes, size);
    if (type == DType::Ptr || !isInteger(type)) return "bits " + shown(bits);
    return shown(int64_t(bits << (64 - 8 * size)) >> (64 - 8 * size));
  }
  }
}

std::string idText(const std::array<int32_t, 3>& id) {
  return "(" + std::to_string(id[0]) + ", " + std::to_string(id[1]) + ", " + std::to_string(id[2]) + ")";
}

struct Order {
  const char* name;
  std::vector<int64_t> programs;
};

std::vector<int64_t> forwardPrograms(const LaunchParams& params) {
  if (!params.onlyPrograms.empty()) return {params.onlyPrograms.begin(), params.onlyPrograms.end()};
  std::vector<int64_t> programs(size_t(int64_t(params.grid[0]) * params.grid[1] * params.grid[2]));
  std::iota(programs.begin(), programs.end(), int64_t(0));
  return programs;
}

std::vector<int64_t> shuffled(std::vector<int64_t> programs) {
  uint64_t state = 0x9E3779B97F4A7C15; // always the same order
  for (size_t i = programs.size(); i > 1; --i) {
    state = state * 6364136223846793005 + 1442695040888963407;
    std::swap(programs[i - 1], programs[(state >> 33) % i]);
  }
  return programs;
}

class OrderCheck {
public:
  OrderCheck(const Program& program, const LaunchParams& params, const Hooks& hooks, RunLaunch run)
      : program_(program), params_(params), hooks_(hooks), run_(run), first_(forwardPrograms(params)) {}

  Trap launch() {
    const Snapshot before(writableRanges(params_.buffers));
    std::atomic<bool> elsewhere{false};
    LaunchParams forward = params_;
    forward.oneByOne = true;
    forward.reachedElsewhere = &elsewhere;
    Trap trap = run_(program_, forward, hooks_);
    if (trap) return trap;
    if (elsewhere) {
      notice(
          "was not run in other orders: it reaches memory that is no argument (an address it loads, or makes), which "
          "would not be as before",
          placeOfAddresses());
      return {};
    }
    const Snapshot after(writableRanges(params_.buffers));
    Order orders[] = {{"backward", {first_.rbegin(), first_.rend()}}, {"in a shuffled order", shuffled(first_)}};
    for (const Order& order : orders) {
      before.putBack();
      Trap other = runAgain(order, nullptr);
      if (other.kind == TrapKind::Interrupted) {
        after.putBack();
        return other;
      }
      if (other.kind == TrapKind::Deadlock) {
        notice(std::string("was not compared ") + order.name +
                   ": its programs wait for others that must have begun before them, more than can run at a time",
               other.where);
      } else if (other) {
        failure(order, other);
        break;
      } else if (std::vector<WriteWatch::Range> differing = after.differing(); !differing.empty()) {
        report(order, before, after, std::move(differing));
        break;
      }
    }
    after.putBack();
    return {};
  }

private:
  Trap runAgain(const Order& order, WriteWatch* watch) {
    LaunchParams params = params_;
    params.onlyPrograms = order.programs;
    params.anyOrder = params.oneByOne = true;
    params.findings = nullptr;
    params.watch = watch;
    Hooks hooks = hooks_;
    hooks.print = [](const std::string&) {}; // said once
    return run_(program_, params, hooks);
  }

  /// The first access through a pointer that comes from no argument.
  SourceLocation placeOfAddresses() const {
    for (const ProbeAccessOp* probe : program_.plan().probes)
      if (probe->access.root < 0) return probe->where;
    return {};
  }

  void notice(std::string message, const SourceLocation& where) {
    Finding finding;
    finding.isNotice = true;
    finding.check = Check::Order;
    finding.where = where;
    finding.message = "the launch " + std::move(message);
    params_.findings->add(std::move(finding));
  }

  void failure(const Order& order, const Trap& trap) {
    Finding finding;
    finding.check = Check::Order;
    finding.where = trap.where;
    finding.operation = trap.operation;
    finding.program = trap.program;
    finding.message =
        std::string("fails if the programs run ") + order.name + ", and does not if they run forward: " + trap.message;
    finding.advice = "no program may depend on another one having run before, unless it waits for it";
    params_.findings->add(std::move(finding));
  }

  /// Memory holds the other order's result.
  void report(const Order& order, const Snapshot& before, const Snapshot& after,
              std::vector<WriteWatch::Range> differing) {
    const uintptr_t first = differing.front().begin;
    const Snapshot other(writableRanges(params_.buffers));
    before.putBack();
    WriteWatch watch({first, first + 1}, differing);
    runAgain({"forward", first_}, &watch);
    Finding finding;
    finding.check = Check::Order;
    const Buffer* buffer = bufferAt(params_.buffers, first);
    DType type = DType::I8;
    const auto& writers = watch.writers();
    if (!writers.empty()) {
      const WriteWatch::Writer &last = writers.back(), &lowest = writers.front();
      type = last.op->type;
      finding.where = last.op->where;
      finding.operation = last.op->operation;
      finding.program = last.program;
      if (lowest.program != last.program) {
        finding.second = lowest.op->where;
        finding.secondOperation = lowest.op->operation;
        finding.secondText = "writes it, too";
        finding.secondProgram = lowest.program;
      }
    }
    const int64_t size = int64_t(sizeOf(type));
    const uintptr_t base = buffer ? buffer->viewBegin : first;
    const uintptr_t element = first - uintptr_t((int64_t(first - base) % size + size) % size);
    const std::string place =
        "element " + std::to_string(int64_t(element - base) / size) + " of " + (buffer ? buffer->name : "a buffer");
    auto shown = [&](const Snapshot& snapshot) {
      const std::byte* bytes = snapshot.at(element);
      return bytes ? valueText(bytes, type) : std::string("unknown");
    };
    std::string values = place + " is " + shown(after) + " if the programs run forward, and " + shown(other) +
                         " if they run " + order.name;
    if (writers.size() > 1)
      values += "; " + std::to_string(writers.size()) + " programs write it, from " + idText(writers.front().program) +
                " to " + idText(writers.back().program);
    if (watch.onlyFloatSums() && !writers.empty()) {
      finding.message = "sums of floats by atomic operations differ by rounding, by " +
                        largestText(differing, after, other, base, type) +
                        " at most, if the programs run in another order";
      finding.advice = values + "; expected of atomic sums of floats: let one program add in a fixed order, or sum "
                                "integers, if equal bits matter";
    } else {
      finding.message = "leaves other bits if the programs run in another order: " + values;
      finding.advice =
          "no order of programs is promised: let each element be written by one program, from values that no "
          "other program writes";
    }
    params_.findings->add(std::move(finding));
  }

  static std::string largestText(const std::vector<WriteWatch::Range>& differing, const Snapshot& a, const Snapshot& b,
                                 uintptr_t base, DType type) {
    double largest = 0;
    const int64_t size = int64_t(sizeOf(type));
    for (const WriteWatch::Range& r : differing)
      for (uintptr_t at = r.begin - uintptr_t((int64_t(r.begin - base) % size + size) % size); at < r.end;
           at += uintptr_t(size)) {
        const std::byte *x = a.at(at), *y = b.at(at);
        if (!x || !y) continue;
        const double difference = std::abs(numberOf(x, type) - numberOf(y, type));
        if (!(difference <= largest)) largest = difference;
      }
    char text[40];
    return std::string(text, std::to_chars(text, text + sizeof text, largest, std::chars_format::general, 3).ptr);
  }

  const Program& program_;
  const LaunchParams& params_;
  const Hooks& hooks_;
  const RunLaunch run_;
  const std::vector<int64_t> first_;
};

} // namespace

void WriteWatch::access(const ProbeAccessOp& op, Frame& f) {
  if (!op.writes()) return;
  bool hits = false, touches = false;
  eachRun(op, f, [&](uintptr_t lo, uintptr_t hi) {
    hits |= lo < element_.end && element_.begin < hi;
    if (op.isFloatAdd || touches) return;
    auto at = std::partition_point(differing_.begin(), differing_.end(), [&](const Range& r) { return r.end <= lo; });
    touches |= at != differing_.end() && at->begin < hi;
  });
  if (!hits && !touches) return;
  std::lock_guard lock(mutex_);
  onlyFloatSums_ &= !touches;
  if (hits && (writers_.empty() || writers_.back().program != f.program)) writers_.push_back({f.program, &op});
}

bool checksOrder(const Program& program, const LaunchParams& params) {
  const Plan& plan = program.plan();
  const int64_t count = int64_t(params.grid[0]) * params.grid[1] * params.grid[2];
  return params.findings && plan.checks >> unsigned(Check::Order) & 1 && plan.storesMemory && params.programId[0] < 0 &&
         params.skipPrograms.empty() && count > 1 && count <= kMostPrograms && params.onlyPrograms.size() != 1;
}

Trap launchInOrders(const Program& program, const LaunchParams& params, const Hooks& hooks, RunLaunch run) {
  return OrderCheck(program, params, hooks, run).launch();
}

} // namespace tiletwin::interp
