// sim/driver/Settings.cpp -- see Settings.h.
#include "sim/driver/Settings.h"
#include "runtime/Checks.h"
#include "runtime/Environment.h"
#include <algorithm>
#include <array>
#include <charconv>
#include <unistd.h>

namespace tiletwin::driver {
namespace {

constexpr int kMostDevices = 16;
constexpr uint64_t kMemoryOfH200 = 150'754'820'096, kMemoryOfA100 = 84'987'740'160, kLeastMemory = uint64_t(1) << 20;

/// "24G" as bytes.
uint64_t readMemory(const std::string& text) {
  constexpr std::string_view kUnits = "KMGT";
  uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, status] = std::from_chars(text.data(), end, number);
  const size_t unit = rest == end ? 0 : kUnits.find(char(std::toupper(static_cast<unsigned char>(*rest)))) + 1;
  const bool isWhole = status == std::errc() && (rest == end || (unit && rest + 1 == end));
  const unsigned shift = unsigned(unit) * 10;
  if (isWhole && number <= (uint64_t(1) << 46) >> shift && number << shift >= kLeastMemory) return number << shift;
  throw environment::Error("TILETWIN_GPU_MEMORY=" + text +
                           ": expected bytes, 1M at least, such as 512M or 24G; correct or unset the variable");
}

/// A client that takes most of a device's memory should not take more than this machine has.
uint64_t memoryOfMachine() {
  return uint64_t(std::max(sysconf(_SC_PHYS_PAGES), 1L)) * uint64_t(std::max(sysconf(_SC_PAGESIZE), 1L));
}

Settings read() {
  Settings settings;
  settings.devices = int(environment::integer("TILETWIN_GPU_COUNT", 0, kMostDevices).value_or(1));
  static constexpr std::array<std::string_view, 2> kArchs = {"sm_90a", "sm_80"};
  settings.isHopper = environment::choice("TILETWIN_GPU_ARCH", kArchs).value_or(0) == 0;
  if (const auto memory = environment::text("TILETWIN_GPU_MEMORY"))
    settings.memory = readMemory(*memory);
  else
    settings.memory = std::min(settings.isHopper ? kMemoryOfH200 : kMemoryOfA100, memoryOfMachine());
  static constexpr std::array<std::string_view, 2> kBounds = {"exact", "pages"};
  settings.isExact = environment::choice("TILETWIN_GPU_BOUNDS", kBounds).value_or(0) == 0;
  settings.missing = environment::text("TILETWIN_GPU_MISSING").value_or("");
  const auto own = environment::text("TILETWIN_GPU_CHECK");
  const CheckSet checks = own ? parseChecks(*own) : wantedChecks();
  settings.checks.uninitialized = checks.has(Check::Uninitialized);
  settings.checks.races = checks.has(Check::Races);
  return settings;
}

} // namespace

const Settings& Settings::get() {
  static const Settings settings = read(); // what throws is read again by the next call
  return settings;
}

} // namespace tiletwin::driver
