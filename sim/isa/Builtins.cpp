// sim/isa/Builtins.cpp -- vprintf, __assertfail, malloc and free: what kernels call without its having a body.
//
// Not here:  conversions of a format (Printf.h), how calls are decoded (machine/DecodeControl.cpp).
// Source:    "CUDA C++ Programming Guide", NVIDIA, sections on formatted output, assertions and dynamic allocation.
// What a CTA prints is kept and handed on when the CTA is gone, so that lines of several CTAs do not mix.
#include "sim/isa/DeviceHeap.h"
#include "sim/isa/Printf.h"
#include "sim/machine/Builtin.h"
#include "sim/machine/Cta.h"
#include "sim/machine/Observer.h"
#include <cstdio>
#include <cstring>
#include <utility>

namespace tiletwin::sim {

/// Text of one CTA that has not been handed on.
struct PrintedText {
  explicit PrintedText(Grid& grid) : grid(grid) {}
  PrintedText(const PrintedText&) = delete;
  PrintedText& operator=(const PrintedText&) = delete;
  ~PrintedText() { handOn(); }
  void handOn() {
    const std::lock_guard lock(grid.mutex);
    grid.printed += std::exchange(records, 0);
    if (text.empty()) return;
    if (grid.params->print) {
      grid.params->print(text);
    } else {
      std::fwrite(text.data(), 1, text.size(), stdout);
      std::fflush(stdout);
    }
    text.clear();
  }
  Grid& grid;
  std::string text;
  uint64_t records = 0; ///< bytes that a GPU keeps of it at least: a word for the format and one for each value
};

namespace {

constexpr size_t kLongestString = 1 << 16, kMostKept = 1 << 20;

/// A lane's argument or 0 if there is none, whatever its size.
uint64_t argument(const BuiltinCall& call, Warp& warp, size_t index, int lane) {
  if (index >= call.arguments.size()) return 0;
  switch (call.argumentBytes[index]) {
  case 8: return warp.lanes<uint64_t>(call.arguments[index])[lane];
  case 4: return warp.lanes<uint32_t>(call.arguments[index])[lane];
  default: return warp.lanes<uint16_t>(call.arguments[index])[lane];
  }
}

void setResult(const BuiltinCall& call, Warp& warp, int lane, uint64_t value) {
  if (!call.result) return;
  if (call.resultBytes == 8) {
    warp.lanes<uint64_t>(call.result)[lane] = value;
  } else {
    warp.lanes<uint32_t>(call.result)[lane] = uint32_t(value);
  }
}

/// The bytes up to the next zero; false: a trap.
bool readString(Warp& warp, int lane, uint64_t address, std::string& text) {
  Access access;
  access.bytes = access.alignment = 1;
  while (text.size() < kLongestString) {
    const std::byte* at = resolveBlock(access, warp, lane, address + text.size(), 1);
    if (!at) return false;
    if (*at == std::byte(0)) return true;
    text += char(*at);
  }
  return true;
}

Step runVprintf(const Inst& in, Warp& warp, LaneMask active) {
  const BuiltinCall& call = *static_cast<const BuiltinCall*>(in.data);
  Cta& cta = *warp.cta;
  if (!cta.printed) cta.printed = std::make_shared<PrintedText>(*cta.cluster->grid);
  for (LaneMask rest = active; rest; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    const uint64_t format = argument(call, warp, 0, lane), values = argument(call, warp, 1, lane);
    if (!format) {
      setResult(call, warp, lane, ~uint64_t(0));
      continue;
    }
    std::string pattern;
    if (!readString(warp, lane, format, pattern)) return Step::Trap;
    PrintfArguments arguments;
    arguments.read = [&](uint64_t offset, void* to, uint32_t bytes) {
      Access access;
      access.bytes = access.alignment = bytes;
      const std::byte* at = resolveBlock(access, warp, lane, values + offset, bytes);
      if (at) std::memcpy(to, at, bytes);
      return at != nullptr;
    };
    arguments.readString = [&](uint64_t address, std::string& text) { return readString(warp, lane, address, text); };
    const int count = formatPrintf(pattern, arguments, cta.printed->text);
    if (count < 0) return Step::Trap;
    cta.printed->records += sizeof(uint64_t) * (1 + uint64_t(count));
    setResult(call, warp, lane, uint64_t(count));
  }
  if (cta.printed->text.size() > kMostKept) cta.printed->handOn();
  return Step::Next;
}

/// __assertfail(message, file, line, function, bytes of a character)
Step runAssertfail(const Inst& in, Warp& warp, LaneMask active) {
  const BuiltinCall& call = *static_cast<const BuiltinCall*>(in.data);
  const int lane = __builtin_ctz(active);
  const auto text = [&](size_t index, std::string& to) {
    const uint64_t address = argument(call, warp, index, lane);
    return !address || readString(warp, lane, address, to);
  };
  std::string message, file, function;
  if (!text(0, message) || !text(1, file) || !text(3, function)) return Step::Trap;
  return warp.trap(TrapKind::Assert,
                   "assertion failed: " + message + " (" + file + ":" + std::to_string(argument(call, warp, 2, lane)) +
                       ", " + function + ")",
                   lane);
}

Step runMalloc(const Inst& in, Warp& warp, LaneMask active) {
  const BuiltinCall& call = *static_cast<const BuiltinCall*>(in.data);
  const Grid& grid = *warp.cta->cluster->grid;
  eachLane(active, [&](int lane) {
    const uint64_t bytes = argument(call, warp, 0, lane);
    std::byte* at = grid.heap->allocate(bytes);
    if (at)
      for (Observer* observer : grid.observers) observer->allocates(at, bytes);
    setResult(call, warp, lane, reinterpret_cast<uint64_t>(at));
  });
  return Step::Next;
}

Step runFree(const Inst& in, Warp& warp, LaneMask active) {
  const BuiltinCall& call = *static_cast<const BuiltinCall*>(in.data);
  for (LaneMask rest = active; rest; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    const uint64_t address = argument(call, warp, 0, lane);
    // NOLINTNEXTLINE(performance-no-int-to-ptr): global addresses are host addresses
    if (address && !warp.cta->cluster->grid->heap->release(reinterpret_cast<std::byte*>(address)))
      return warp.trap(TrapKind::InvalidValue, "frees memory that malloc has not given, or that was freed before",
                       lane);
  }
  return Step::Next;
}

constexpr BuiltinRow kBuiltins[] = {
    {"__assertfail", runAssertfail}, {"free", runFree}, {"malloc", runMalloc}, {"vprintf", runVprintf}};

} // namespace

const BuiltinRow* findBuiltin(std::string_view name) {
  for (const BuiltinRow& row : kBuiltins)
    if (row.name == name) return &row;
  return nullptr;
}

} // namespace tiletwin::sim
