// sim/ptx/Scope.cpp -- looking names up. %r007 is %r7 of %r<8>, as ptxas has it.
#include "sim/ptx/Scope.h"
#include <algorithm>
#include <charconv>

namespace tiletwin::sim::ptx {

namespace {

bool isDigit(char c) { return c >= '0' && c <= '9'; }
constexpr size_t kMostDigits = 9; ///< of a number in a name, so that it fits 32 bits

} // namespace

bool Scope::add(std::string_view name, Symbol symbol) {
  if (!numbered_.empty() && findNumbered(name)) return false;
  return names_.emplace(name, symbol).second;
}

bool Scope::addNumbered(std::string_view prefix, uint32_t count, Symbol first) {
  const bool mayBeTaken = !names_.empty() || !numbered_.empty();
  std::string name(prefix);
  for (uint32_t i = 0; mayBeTaken && i < count; ++i) {
    name.resize(prefix.size());
    if (find(name += std::to_string(i))) return false;
  }
  return numbered_.emplace(prefix, Numbered{first, count}).second;
}

std::optional<Symbol> Scope::find(std::string_view name) const {
  if (auto found = names_.find(name); found != names_.end()) return found->second;
  return numbered_.empty() ? std::nullopt : findNumbered(name);
}

std::optional<Symbol> Scope::findNumbered(std::string_view name) const {
  const size_t least = name.size() > kMostDigits ? name.size() - kMostDigits : 1;
  for (size_t at = name.size(); at > least && isDigit(name[at - 1]);) {
    --at;
    auto found = numbered_.find(name.substr(0, at));
    if (found == numbered_.end()) continue;
    uint32_t number = 0;
    std::from_chars(name.data() + at, name.data() + name.size(), number);
    if (number >= found->second.count) continue;
    Symbol symbol = found->second.first;
    symbol.index += int32_t(number);
    return symbol;
  }
  return std::nullopt;
}

const LabelSymbol* Scope::findLabel(std::string_view name) const {
  auto found = labels_.find(name);
  return found == labels_.end() ? nullptr : &found->second;
}

} // namespace tiletwin::sim::ptx
