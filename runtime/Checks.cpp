// runtime/Checks.cpp -- see Checks.h.
#include "runtime/Checks.h"
#include "runtime/Environment.h"
#include <algorithm>
#include <array>
#include <cctype>

namespace tiletwin {

static constexpr std::array<const char*, size_t(Check::Count)> kNames = {
    "bounds",   "uninitialized", "undefined", "races",    "order", "nan",
    "overflow", "promises",      "device",    "barriers", "async"};
static constexpr std::string_view kDevice = "device:";

const char* nameOf(Check check) { return check < Check::Count ? kNames[size_t(check)] : "none"; }

Check checkOf(std::string_view word) { return Check(std::find(kNames.begin(), kNames.end(), word) - kNames.begin()); }

static std::string cleaned(std::string_view word) {
  std::string result;
  for (char c : word)
    if (!std::isspace(static_cast<unsigned char>(c))) result += char(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

static void addWord(CheckSet& set, const std::string& word, std::string_view text) {
  if (word == "all")
    set.bits |= (1u << unsigned(Check::Count)) - 1;
  else if (word == "raise")
    set.raise = true;
  else if (word.starts_with(kDevice) && word.size() > kDevice.size()) {
    set.bits |= 1u << unsigned(Check::Device);
    set.device = word.substr(kDevice.size());
  } else if (Check check = checkOf(word); check != Check::Count)
    set.bits |= 1u << unsigned(check);
  else if (!environment::isOff(word)) {
    std::string words;
    for (const char* name : kNames) words += std::string(words.empty() ? "" : ", ") + name;
    throw environment::Error("TILETWIN_CHECK=" + std::string(text) + ": '" + word +
                             "' is not a check; join some of these words by commas: " + words +
                             " (or device:h100 for a certain GPU), all, and raise; correct or unset the variable");
  }
}

CheckSet parseChecks(std::string_view text) {
  CheckSet set;
  bool off = false;
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    const std::string word = cleaned(text.substr(at, comma - at));
    off |= !word.empty() && environment::isOff(word);
    if (!word.empty()) addWord(set, word, text);
    at = comma + 1;
  }
  if (set.raise && !set.bits && !off) set.bits = (1u << unsigned(Check::Count)) - 1;
  return set;
}

CheckSet wantedChecks() {
  std::optional<std::string> text = environment::text("TILETWIN_CHECK");
  return text ? parseChecks(*text) : CheckSet();
}

} // namespace tiletwin
