#include "sim/check/Checks.h"
#include "sim/check/AsyncCheck.h"
#include "sim/check/RaceCheck.h"
#include "sim/check/UninitializedCheck.h"
#include "sim/machine/Cta.h"

namespace tiletwin::sim {

std::vector<std::unique_ptr<Observer>> makeChecks(Grid& grid) {
  std::vector<std::unique_ptr<Observer>> checks;
  const CheckOptions& wanted = grid.params->checks;
  if (!grid.params->findings) return checks;
  const auto add = [&](std::unique_ptr<Observer> check) {
    if (check) checks.push_back(std::move(check));
  };
  if (wanted.async) add(makeAsyncCheck(grid));
  if (wanted.uninitialized) add(makeUninitializedCheck(grid));
  if (wanted.races) add(makeRaceCheck(grid));
  return checks;
}

} // namespace tiletwin::sim
