// runtime/TrapText.cpp -- the one-line messages of traps.
#include "runtime/TrapText.h"
#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <optional>
#include <tuple>
#include <utility>

namespace tiletwin {

namespace {

struct NameRow {
  std::string_view operation, user;
};
/// Operations whose user name is not "tl." plus the IR name. Sorted by operation.
constexpr NameRow kUserNames[] = {
    {"arith.addi", "+"},
    {"arith.divf", "/"},
    {"arith.divsi", "//"},
    {"arith.divui", "//"},
    {"arith.muli", "*"},
    {"arith.remf", "%"},
    {"arith.remsi", "%"},
    {"arith.remui", "%"},
    {"arith.subi", "-"},
    {"tt.addptr", "pointer arithmetic"},
    {"tt.assert", "tl.device_assert"},
    {"tt.atomic_rmw", "atomic operation"},
    {"tt.call", "function call"},
    {"tt.descriptor_gather", "descriptor.gather"},
    {"tt.descriptor_load", "descriptor.load"},
    {"tt.descriptor_reduce", "descriptor.atomic operation"},
    {"tt.descriptor_scatter", "descriptor.scatter"},
    {"tt.descriptor_store", "descriptor.store"},
    {"tt.elementwise_inline_asm", "tl.inline_asm_elementwise"},
    {"tt.extern_elementwise", "libdevice function"},
    {"tt.get_num_programs", "tl.num_programs"},
    {"tt.get_program_id", "tl.program_id"},
    {"tt.make_range", "tl.arange"},
    {"tt.print", "tl.device_print"},
    {"tt.scan", "tl.associative_scan"},
};
static_assert(std::is_sorted(std::begin(kUserNames), std::end(kUserNames),
                             [](const NameRow& a, const NameRow& b) { return a.operation < b.operation; }));

/// A nearest buffer further away than this says nothing about the mistake.
constexpr uint64_t kNearBytes = uint64_t(1) << 30;
/// The same for a pointer that could have meant any buffer.
constexpr uint64_t kNearUnknownBytes = 1024;

std::string number(int64_t n) { return std::to_string(n); }
std::string bytes(int64_t n) { return n == 1 ? "1 byte" : number(n) + " bytes"; }
std::string hex(uint64_t address) {
  std::array<char, 24> text;
  std::snprintf(text.data(), text.size(), "0x%" PRIx64, address);
  return text.data();
}

bool writes(const Trap& trap) {
  if (trap.operation == "tt.atomic_load" || trap.operation == "tt.atomic_poll") return false;
  constexpr std::array<std::string_view, 6> kWriting = {"store", "atomic", "scatter", "reduce", "cas", "rmw"};
  return trap.kind == TrapKind::ReadOnly || std::any_of(kWriting.begin(), kWriting.end(), [&](std::string_view word) {
           return trap.operation.find(word) != std::string::npos;
         });
}

std::string where(const Trap& trap) {
  std::string text = trap.where.file;
  if (trap.where.line > 0) {
    text += (text.empty() ? "line " : ":") + number(trap.where.line);
    if (trap.where.column > 0) text += ":" + number(trap.where.column);
  }
  return text.empty() ? text : text + ": ";
}

std::string programText(const std::array<int32_t, 3>& id) {
  return "(" + number(id[0]) + ", " + number(id[1]) + ", " + number(id[2]) + ")";
}

std::string which(const Trap& trap) {
  std::string text = "program " + programText(trap.program);
  if (trap.element >= 0) {
    text += ", element " + number(trap.element);
    if (trap.index.find(',') != std::string::npos) text += " (index " + trap.index + ")";
  }
  return text;
}

/// "reads 4 bytes at offset 4096 of x (4096 bytes)" or "... at address 0x10".
std::string access(const Trap& trap) {
  std::string text = writes(trap) ? "writes " : "reads ";
  text += trap.accessBytes > 0 ? bytes(trap.accessBytes) : "memory";
  const std::string at = " at offset " + number(trap.offset) + " of ";
  if (trap.ofView)
    return text + " at offset " + number(trap.viewOffset) + " of " + trap.buffer + " (a view of " +
           bytes(trap.viewBytes) + "; the access is" + at + "its storage's " + bytes(trap.bufferBytes) + ")";
  if (!trap.buffer.empty()) return text + at + trap.buffer + " (" + bytes(trap.bufferBytes) + ")";
  return text + " at address " + hex(trap.address);
}

std::string outOfBounds(const Trap& trap) {
  if (trap.buffer.empty()) {
    if (trap.address < 4096) return access(trap) + ": a null pointer, or an offset added to one";
    return access(trap) + ", which is far from every buffer known: check the pointer arithmetic; memory that is not an "
                          "argument of the launch, nor of a torch tensor on the CPU, must be named with "
                          "tiletwin.register(...)";
  }
  int64_t last = trap.offset + std::max<int64_t>(trap.accessBytes, 1);
  const char* of = trap.ofView ? " of the storage" : "";
  std::string how;
  if (trap.offset < 0)
    how = bytes(-trap.offset) + " before the start" + of + "; is an index negative, or a mask missing?";
  else if (last > trap.bufferBytes)
    how = bytes(last - trap.bufferBytes) + " past the end" + of + "; is a mask missing, or does it allow too much?";
  else
    how = "outside of what may be accessed";
  return access(trap) + ": " + how;
}

std::string programs(const std::vector<const WaitingProgram*>& group) {
  constexpr size_t kMostListed = 4;
  std::string text = group.size() == 1 ? "program " : "programs ";
  for (size_t i = 0; i < std::min(group.size(), kMostListed); ++i)
    text += (i ? ", " : "") + programText(group[i]->program);
  return group.size() > kMostListed ? text + " and " + number(int64_t(group.size() - kMostListed)) + " more" : text;
}

/// One line for each place and memory where programs wait.
std::string deadlock(const Trap& trap) {
  using Key = std::tuple<std::string, int, int, std::string, std::string>;
  std::vector<std::pair<Key, std::vector<const WaitingProgram*>>> groups;
  for (const WaitingProgram& w : trap.waiting) {
    Key key{w.where.file, w.where.line, w.where.column, w.operation, w.detail};
    auto at = std::find_if(groups.begin(), groups.end(), [&](const auto& group) { return group.first == key; });
    if (at == groups.end()) at = groups.insert(groups.end(), {key, {}});
    at->second.push_back(&w);
  }
  constexpr size_t kMostGroups = 12;
  std::string text = "deadlock: every program that is left waits for another one";
  for (size_t i = 0; i < std::min(groups.size(), kMostGroups); ++i) {
    const WaitingProgram& first = *groups[i].second.front();
    Trap place;
    place.where = first.where;
    text += "\n  " + where(place) + programs(groups[i].second) + " in " + userNameOf(first.operation) +
            (first.detail.empty() ? "" : " of " + first.detail);
  }
  if (groups.size() > kMostGroups)
    text += "\n  and at " + number(int64_t(groups.size() - kMostGroups)) + " more places";
  if (trap.notStarted > 0)
    text += "\n  " + number(trap.notStarted) + (trap.notStarted == 1 ? " program has" : " programs have") +
            " not begun: " + number(trap.resident) + " can be on the GPU at the same time, and all of them wait";
  return text;
}

std::string what(const Trap& trap) {
  const std::string& detail = trap.message;
  switch (trap.kind) {
  case TrapKind::None: return "nothing went wrong";
  case TrapKind::OutOfBounds: return outOfBounds(trap) + (detail.empty() ? "" : "; " + detail);
  case TrapKind::ReadOnly: return access(trap) + ", which is read-only" + (detail.empty() ? "" : ": " + detail);
  case TrapKind::Assert: return detail.empty() ? "assertion failed" : "assertion failed: " + detail;
  case TrapKind::OffsetOverflow:
    return "32-bit offset arithmetic wrapped around" + (detail.empty() ? "" : " (" + detail + ")") +
           "; make an operand 64 bits wide, for example with .to(tl.int64)";
  case TrapKind::Unsupported: return detail.empty() ? "this cannot be run by the interpreter" : detail;
  case TrapKind::Interrupted: return "interrupted";
  case TrapKind::Misaligned:
    return access(trap) + ": an atomic operation needs an address that is a multiple of " + number(trap.accessBytes);
  case TrapKind::Deadlock: return deadlock(trap);
  case TrapKind::InvalidValue: return detail.empty() ? "a value that the operation does not take" : detail;
  case TrapKind::OutOfMemory: return "out of memory" + (detail.empty() ? "" : ": " + detail);
  }
  return detail;
}

} // namespace

std::string userNameOf(std::string_view operation) {
  auto at = std::lower_bound(std::begin(kUserNames), std::end(kUserNames), operation,
                             [](const NameRow& row, std::string_view name) { return row.operation < name; });
  if (at != std::end(kUserNames) && at->operation == operation) return std::string(at->user);
  size_t dot = operation.find('.');
  if (dot == std::string_view::npos) return std::string(operation);
  std::string name(operation.substr(dot + 1));
  return operation.starts_with("tt.") ? "tl." + name : name;
}

void nameBuffer(Trap& trap, const Buffer& buffer, std::string_view unnamed) {
  trap.buffer = buffer.name.empty() ? unnamed : buffer.name;
  trap.offset = int64_t(trap.address - buffer.begin);
  trap.bufferBytes = int64_t(buffer.end - buffer.begin);
  trap.ofView = buffer.viewEnd > buffer.viewBegin && buffer.viewEnd - buffer.viewBegin < buffer.end - buffer.begin;
  trap.viewOffset = int64_t(trap.address - buffer.viewBegin);
  trap.viewBytes = int64_t(buffer.viewEnd - buffer.viewBegin);
}

void describeAccess(Trap& trap, std::span<const Buffer> buffers) {
  bool access =
      trap.kind == TrapKind::OutOfBounds || trap.kind == TrapKind::ReadOnly || trap.kind == TrapKind::Misaligned;
  if (!access || !trap.buffer.empty() || trap.address == 0) return;
  auto gap = [&](const Buffer& buffer) -> uint64_t {
    if (trap.address < buffer.begin) return buffer.begin - trap.address;
    return trap.address >= buffer.end ? trap.address - buffer.end : 0;
  };
  std::optional<Buffer> best = BufferRegistry::instance().nearest(trap.address);
  for (const Buffer& buffer : buffers)
    if (!best || gap(buffer) <= gap(*best)) best = buffer; // an argument of the launch is named in preference
  if (!best || gap(*best) > (trap.originUnknown ? kNearUnknownBytes : kNearBytes)) return;
  nameBuffer(trap, *best, "an unnamed buffer");
}

std::string trapText(const Trap& trap) {
  if (trap.kind == TrapKind::Interrupted || trap.kind == TrapKind::Deadlock) return where(trap) + what(trap);
  std::string name = userNameOf(trap.operation);
  return where(trap) + (name.empty() ? name : name + ": ") + which(trap) + ": " + what(trap);
}

std::string waitedOnText(std::string_view buffer, int64_t offset, uint32_t bytes, bool isTile, uint64_t bits) {
  const unsigned unused = 64 - 8 * bytes;
  return std::string(buffer) + (isTile ? " (from byte " : " (byte ") + number(offset) +
         (isTile ? " on), whose first element is " : "), which holds ") + number(int64_t(bits << unused) >> unused);
}

void completeTrap(Trap& trap, std::span<const Buffer> buffers) {
  describeAccess(trap, buffers);
  trap.message = trapText(trap);
}

} // namespace tiletwin
