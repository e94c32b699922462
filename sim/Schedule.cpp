#include "sim/Schedule.h"
#include "runtime/Environment.h"
#include <algorithm>
#include <charconv>
#include <string>

namespace tiletwin::sim {

namespace {

constexpr const char* kVariable = "TILETWIN_SIM_SCHEDULE";

[[noreturn]] void refuse(std::string_view text, std::string_view why) {
  throw environment::Error(std::string(kVariable) + "=" + std::string(text) + ": " + std::string(why) +
                           "; expected words joined by commas: turns (warps take turns in order) or seed:N (chance "
                           "decides which warp runs; N "
                           "from 0 to 18446744073709551615), and copies=late, copies=early or, with a seed, "
                           "copies=drawn; correct or unset the "
                           "variable");
}

std::optional<uint64_t> seedIn(std::string_view word) {
  constexpr std::string_view kSeed = "seed:";
  if (!word.starts_with(kSeed)) return std::nullopt;
  word.remove_prefix(kSeed.size());
  uint64_t seed = 0;
  const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), seed);
  return status == std::errc() && end == word.data() + word.size() ? std::optional(seed) : std::nullopt;
}

std::optional<CopyTime> copiesIn(std::string_view word) {
  if (word == "copies=late") return CopyTime::Late;
  if (word == "copies=early") return CopyTime::Early;
  if (word == "copies=drawn") return CopyTime::Drawn;
  return std::nullopt;
}

} // namespace

Schedule Schedule::parse(std::string_view text) {
  Schedule schedule;
  bool hasOrder = false, hasCopies = false;
  const std::string_view all = environment::trimmed(text);
  for (std::string_view rest = all; !rest.empty();) {
    const size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view word = environment::trimmed(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    const std::optional<CopyTime> copies = copiesIn(word);
    const std::optional<uint64_t> seed = seedIn(word);
    if (!copies && !seed && word != "turns") refuse(all, "'" + std::string(word) + "' is no word of it");
    bool& isGiven = copies ? hasCopies : hasOrder;
    if (isGiven) refuse(all, "'" + std::string(word) + "' says again what another word has said");
    isGiven = true;
    if (copies) schedule.copies = *copies;
    if (seed) schedule.seed = seed;
  }
  if (schedule.copies == CopyTime::Drawn && !schedule.seed) refuse(all, "copies=drawn wants a seed");
  return schedule;
}

Schedule Schedule::ofEnvironment() { return parse(environment::text(kVariable).value_or("")); }

} // namespace tiletwin::sim
