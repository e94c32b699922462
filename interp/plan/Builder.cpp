// interp/plan/Builder.cpp -- from a function to its plan: the steps, and what is refused when the plan is whole.
// Not here:  the walk over the function (Blocks.cpp), the layout of code (Emitter.cpp) and of the arena (Registers.cpp).
#include "interp/plan/Builder.h"
#include "interp/plan/Adjacent.h"
#include "interp/plan/Followers.h"
#include "interp/program/ProbeAccess.h"

namespace tiletwin::interp {

std::unique_ptr<Plan> PlanBuilder::build() {
  if (failed(planFunction())) return nullptr;
  const bool fits = finish();
  if (fits && debug()) finishDebug();
  if (fits) sealAll();
  if (plan().probes.size() > kMostProbes) {
    func_->emitError()
        << "interpreter: " << plan().name << " makes " << plan().probes.size()
        << " accesses to memory that TILETWIN_CHECK looks at, and " << kMostProbes
        << " are the most; unroll less, or check it without bounds, uninitialized, races, barriers and order";
    return nullptr;
  }
  if (!fits) {
    func_->emitError() << "interpreter: the tiles of one program of " << plan().name << " take " << plan().frameBytes
                       << " bytes at a time, and 4294967295 are the most; use smaller blocks";
    return nullptr;
  }
  plan().adjacent = findAdjacent(plan());
  plan().followers = findFollowers(plan());
  if (options().forms) plan().forms = formsText(func_);
  return takePlan();
}

} // namespace tiletwin::interp
