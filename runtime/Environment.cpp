// runtime/Environment.cpp -- parsing of TILETWIN_* variables.
#include "runtime/Environment.h"
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <unistd.h>
#include <utility>
#include <vector>

namespace tiletwin::environment {

std::string_view trimmed(std::string_view s) {
  auto space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!s.empty() && space(s.front())) s.remove_prefix(1);
  while (!s.empty() && space(s.back())) s.remove_suffix(1);
  return s;
}

static std::string lower(std::string_view s) {
  std::string result(s);
  std::transform(result.begin(), result.end(), result.begin(), [](unsigned char c) { return char(std::tolower(c)); });
  return result;
}

static Error error(const char* name, const std::string& value, const std::string& expected) {
  return Error(std::string(name) + "=" + value + ": expected " + expected + "; correct or unset the variable");
}

std::optional<std::string> text(const char* name) {
  const char* value = std::getenv(name);
  if (!value) return std::nullopt;
  std::string_view found = trimmed(value);
  if (found.empty()) return std::nullopt;
  return std::string(found);
}

std::optional<int64_t> integer(const char* name, int64_t lowest, int64_t highest) {
  std::optional<std::string> value = text(name);
  if (!value) return std::nullopt;
  int64_t number = 0;
  auto [end, status] = std::from_chars(value->data(), value->data() + value->size(), number);
  if (status != std::errc() || end != value->data() + value->size() || number < lowest || number > highest)
    throw error(name, *value, "a whole number from " + std::to_string(lowest) + " to " + std::to_string(highest));
  return number;
}

bool isOff(std::string_view value) {
  static constexpr std::array<std::string_view, 7> kWords = {"", "0", "false", "no", "off", "n", "none"};
  if (value.empty()) return true; // of every launch, three times
  return std::find(kWords.begin(), kWords.end(), lower(trimmed(value))) != kWords.end();
}

std::optional<bool> flag(const char* name) {
  static constexpr std::array<std::string_view, 4> kOn = {"1", "true", "yes", "on"};
  std::optional<std::string> value = text(name);
  if (!value) return std::nullopt;
  if (isOff(*value)) return false;
  if (std::find(kOn.begin(), kOn.end(), lower(*value)) == kOn.end())
    throw error(name, *value, "1 (true, yes, on) or 0 (false, no, off)");
  return true;
}

std::optional<int> choice(const char* name, std::span<const std::string_view> choices) {
  std::optional<std::string> value = text(name);
  if (!value) return std::nullopt;
  auto at = std::find(choices.begin(), choices.end(), lower(*value));
  if (at != choices.end()) return int(at - choices.begin());
  std::string list;
  for (std::string_view word : choices) list += (list.empty() ? "" : ", ") + std::string(word);
  throw error(name, *value, "one of: " + list);
}

std::optional<int> numThreads() {
  if (auto n = integer("TILETWIN_NUM_THREADS", 1, 4096)) return int(*n);
  return std::nullopt;
}

bool gdb() { return flag("TILETWIN_GDB").value_or(false); }

bool deterministic() { return flag("TILETWIN_DETERMINISTIC").value_or(false); }

Numerics numerics() {
  const std::string word = lower(text("TILETWIN_NUMERICS").value_or(""));
  if (word == "exact") return Numerics::Exact; // known, and refused with advice where it is asked for
  static constexpr std::array<std::string_view, 2> kModes = {"fast", "ieee"};
  if (isOff(word)) return Numerics::Fast;
  return choice("TILETWIN_NUMERICS", kModes) == 1 ? Numerics::Ieee : Numerics::Fast;
}

/// TILETWIN_BACKEND as a word; empty: nothing is named. Throws Error.
static std::string backendOf(std::string_view value) {
  static constexpr std::array<std::string_view, 4> kNames = {"interp", "sim", "cuda", "diff"};
  if (isOff(value)) return {};
  std::string word = lower(trimmed(value));
  if (std::find(kNames.begin(), kNames.end(), word) == kNames.end())
    throw error("TILETWIN_BACKEND", std::string(trimmed(value)), "one of: interp, sim, cuda, diff");
  return word;
}

static bool isInterpretersNumerics(std::string_view value) { return !isOff(value) && lower(trimmed(value)) != "fast"; }

namespace {

constexpr std::string_view kPrefix = "TILETWIN_", kTritons = "TRITON_INTERPRET=";

bool begins(const char* entry, std::string_view with) { return std::strncmp(entry, with.data(), with.size()) == 0; }

/// The environment as it was when a thread last read it. setenv() puts a new string in the place of an old one, so
/// comparing the addresses of all entries, and the text of those that count, finds every change but one: a string that a
/// program gave to putenv() and overwrote with another name.
class Remembered {
public:
  bool isCurrent() const {
    if (!environ || entries_.empty()) return false;
    for (size_t i = 0; i < entries_.size(); ++i)
      if (environ[i] != entries_[i]) return false; // the last one is the null that ends them
    return std::all_of(texts_.begin(), texts_.end(), [](const auto& t) { return t.second == t.first; });
  }

  /// Reads all entries. Throws Error.
  void read();
  std::shared_ptr<const LaunchVariables> found() const { return found_; }

private:
  std::vector<const char*> entries_;
  std::vector<std::pair<const char*, std::string>> texts_;
  std::shared_ptr<const LaunchVariables> found_;
};

void take(LaunchVariables& found, std::string_view name, std::string_view value) {
  if (name == "EAGER" || name == "PROGRAM" || name == "RECORD" || name == "BREAK")
    found.mayBeEager |= !value.empty();
  else if (name == "NUMERICS")
    found.numerics = value;
  else if (name == "GDB")
    found.gdb = value;
  else if (name == "CHECK")
    found.check = value;
  else if (name == "BACKEND")
    found.backend = backendOf(value);
  else if (name == "INTERPRET")
    found.interprets |= !isOff(value);
}

void Remembered::read() {
  entries_.clear();
  texts_.clear();
  LaunchVariables found;
  for (char** entry = environ; entry && *entry; ++entry) {
    const bool isTritons = begins(*entry, kTritons);
    if (!isTritons && !begins(*entry, kPrefix)) continue;
    texts_.emplace_back(*entry, *entry);
    const std::string_view rest = *entry + kPrefix.size();
    const std::string_view name = rest.substr(0, rest.find('=')),
                           value = rest.substr(std::min(name.size() + 1, rest.size()));
    if (isTritons)
      found.interprets |= !isOff(*entry + kTritons.size());
    else
      take(found, name, value);
  }
  // The simulator takes memory of the host, as the interpreter does; checks, gdb and other numerics are the interpreter's.
  found.interprets |= found.backend == "interp" || found.backend == "sim" || found.backend == "diff" ||
                      !isOff(found.check) || !isOff(found.gdb) || isInterpretersNumerics(found.numerics);
  if (environ) { // last: what throws is read anew by the next launch
    char** end = environ;
    while (*end) ++end;
    entries_.assign(environ, end + 1);
  }
  found_ = std::make_shared<const LaunchVariables>(std::move(found));
}

} // namespace

std::shared_ptr<const LaunchVariables> launchVariables() {
  thread_local Remembered remembered;
  if (!remembered.isCurrent()) remembered.read();
  return remembered.found();
}

} // namespace tiletwin::environment
