// sim/driver/Report.cpp -- see Report.h.
#include "sim/driver/Report.h"
#include <cstdio>
#include <mutex>
#include <set>

namespace tiletwin::driver {
namespace {

std::string placeText(const SourceLocation& where) {
  std::string text = where.file.empty() ? "an unknown place" : where.file;
  if (where.line) text += ":" + std::to_string(where.line);
  if (where.line && where.column) text += ":" + std::to_string(where.column);
  return text;
}

std::string tripleText(const std::array<int32_t, 3>& id) {
  return "(" + std::to_string(id[0]) + ", " + std::to_string(id[1]) + ", " + std::to_string(id[2]) + ")";
}

/// "CTA (3, 0, 0) and 4 more, warp 0, lanes 1, 2: ".
std::string whoText(const Finding& finding) {
  if (finding.program[0] < 0) return {};
  std::string text = "CTA " + tripleText(finding.program);
  if (finding.programs > 1) text += " and " + std::to_string(finding.programs - 1) + " more";
  if (!finding.elements.empty()) {
    constexpr int64_t kLanes = 32;
    text += ", warp " + std::to_string(finding.elements[0] / kLanes) + ", lane" + (finding.elementCount > 1 ? "s" : "");
    for (size_t i = 0; i < finding.elements.size(); ++i)
      text += (i ? ", " : " ") + std::to_string(finding.elements[i] % kLanes);
    const int64_t more = finding.elementCount - int64_t(finding.elements.size());
    if (more > 0) text += " and " + std::to_string(more) + " more";
  }
  return text + ": ";
}

std::string textOf(const std::string& kernel, const Finding& finding) {
  std::string text = std::string("tiletwin: ") + (finding.isNotice ? "notice" : nameOf(finding.check)) + ": " + kernel +
                     ": " + placeText(finding.where) + ": " + finding.operation + ": " + whoText(finding) +
                     finding.message + finding.detail;
  if (finding.second)
    text += "\n  " + placeText(*finding.second) + ": " + finding.secondOperation + " " + finding.secondText +
            (finding.secondProgram ? " in CTA " + tripleText(*finding.secondProgram) : "");
  for (const Finding::Place& place : finding.more)
    text += "\n  " + placeText(place.where) + ": " + place.operation + " " + place.text;
  if (!finding.advice.empty()) text += "\n  what to do: " + finding.advice;
  return text;
}

} // namespace

Result resultOf(const Trap& trap) {
  switch (trap.kind) {
  case TrapKind::None: return cuda::kSuccess;
  case TrapKind::OutOfBounds:
  case TrapKind::OffsetOverflow:
  case TrapKind::ReadOnly: return cuda::kIllegalAddress;
  case TrapKind::Misaligned: return cuda::kMisalignedAddress;
  // The trap instruction and a device-side assert are one kind; only an assert has an assertion's text.
  case TrapKind::Assert:
    return trap.message.find("assertion failed") != std::string::npos ? cuda::kAssert : cuda::kLaunchFailed;
  case TrapKind::Deadlock: return cuda::kLaunchTimeout;
  case TrapKind::OutOfMemory: return cuda::kLaunchOutOfResources;
  case TrapKind::Unsupported: return cuda::kNotSupported;
  case TrapKind::InvalidValue: return cuda::kIllegalInstruction;
  case TrapKind::Interrupted: break;
  }
  return cuda::kLaunchFailed;
}

void reportTrap(const std::string& kernel, const Trap& trap) {
  const char* name = nameOf(resultOf(trap));
  std::fprintf(stderr, "tiletwin gpu: %s: %s\n  the client gets %s\n", kernel.c_str(), trap.message.c_str(), name);
}

void reportFindings(const std::string& kernel, const std::vector<Finding>& findings) {
  static std::mutex mutex;
  static std::set<std::string>* const said = new std::set<std::string>;
  for (const Finding& finding : findings) {
    const std::string key = kernel + placeText(finding.where) + finding.message;
    const std::lock_guard lock(mutex);
    if (said->insert(key).second) std::fprintf(stderr, "%s\n", textOf(kernel, finding).c_str());
  }
}

void reportLostOutput(const std::string& kernel, uint64_t bytes, uint64_t limit) {
  static std::mutex mutex;
  static std::set<std::string>* const said = new std::set<std::string>;
  const std::lock_guard lock(mutex);
  if (!said->insert(kernel).second) return;
  std::fprintf(
      stderr,
      "tiletwin gpu: %s: one launch prints at least %llu bytes of records, the context's limit is %llu: all of it is "
      "here, "
      "a GPU loses the oldest\n  what to do: print less, or call cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, ...) "
      "before the first kernel that prints\n",
      kernel.c_str(), static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(limit));
}

} // namespace tiletwin::driver
