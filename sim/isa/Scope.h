// sim/isa/Scope.h -- the scopes of fences and of ordered accesses.
#pragma once
#include "sim/isa/Decode.h"
#include "sim/machine/Memory.h"

namespace tiletwin::sim {

/// .cta, .cluster, .gpu or .sys; false if none is there.
inline bool takeScope(Words& words, Scope& scope) {
  const std::optional<Scope> named = words.takeNamed<Scope>(
      {{"cta", Scope::Cta}, {"cluster", Scope::Cluster}, {"gpu", Scope::Gpu}, {"sys", Scope::Sys}});
  scope = named.value_or(Scope::Sys);
  return named.has_value();
}

} // namespace tiletwin::sim
