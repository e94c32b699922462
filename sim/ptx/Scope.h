// sim/ptx/Scope.h -- what a name means inside of one pair of braces.
//
// Here:      registers, variables and functions by name; names with a number, declared together as %r<100>; labels.
// Not here:  the blocks around it, names that are used in front of their declaration (Reader.h).
// Idea:      %r<100> is one entry, however many registers it makes: the digits at a name's end are tried as its number.
#pragma once
#include "sim/ptx/Ptx.h"
#include <optional>
#include <unordered_map>

namespace tiletwin::sim::ptx {

struct Symbol {
  Operand::Kind kind = Operand::Kind::Register; ///< Register, Variable or Function
  bool isLocal = false;                         ///< Variable: of the function
  int32_t index = -1;
};

/// A label's name; also of what stands behind one: .branchtargets and its kin.
struct LabelSymbol {
  Operand::Kind kind = Operand::Kind::Label; ///< Label, Table or Prototype
  int32_t index = -1;
};

class Scope {
public:
  /// False: the name is taken.
  bool add(std::string_view name, Symbol symbol);
  /// `prefix`0 to `prefix`(count - 1), of consecutive indices. False: one of them is taken.
  bool addNumbered(std::string_view prefix, uint32_t count, Symbol first);
  bool addLabel(std::string_view name, LabelSymbol label) { return labels_.emplace(name, label).second; }
  std::optional<Symbol> find(std::string_view name) const;
  const LabelSymbol* findLabel(std::string_view name) const;

private:
  struct Numbered {
    Symbol first;
    uint32_t count;
  };
  std::optional<Symbol> findNumbered(std::string_view name) const;

  // Names lie in Module::text.
  std::unordered_map<std::string_view, Symbol> names_;
  std::unordered_map<std::string_view, Numbered> numbered_;
  std::unordered_map<std::string_view, LabelSymbol> labels_;
};

} // namespace tiletwin::sim::ptx
