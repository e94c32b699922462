// ir/SourcePosition.cpp -- see SourcePosition.h.
#include "ir/SourcePosition.h"

using namespace mlir;

namespace tiletwin::tt {

FileLineColLoc positionOf(Location location) {
  if (auto position = dyn_cast<FileLineColLoc>(location)) return position;
  if (auto name = dyn_cast<NameLoc>(location)) return positionOf(name.getChildLoc());
  if (auto call = dyn_cast<CallSiteLoc>(location)) return positionOf(call.getCallee());
  if (auto fused = dyn_cast<FusedLoc>(location))
    for (Location part : fused.getLocations())
      if (auto position = positionOf(part)) return position;
  return {};
}

} // namespace tiletwin::tt
