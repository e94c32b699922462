// interp/plan/Followers.cpp -- see Followers.h.
#include "interp/plan/Followers.h"
#include "interp/program/ProbeAccess.h"
#include <algorithm>
#include <map>
#include <set>

namespace tiletwin::interp {

std::vector<std::pair<int32_t, int32_t>> findFollowers(const Plan& plan) {
  struct Accesses {
    uint32_t firstWrite = UINT32_MAX, lastRead = 0; ///< numbers, plus 1
    std::set<uint32_t> writingLoops, readingLoops;
  };
  std::map<int32_t, Accesses> byRoot;
  for (const ProbeAccessOp* op : plan.probes) {
    Accesses& a = byRoot[op->access.root];
    if (op->writes()) {
      a.firstWrite = std::min(a.firstWrite, op->number + 1);
      if (op->loop) a.writingLoops.insert(op->loop);
    }
    if (!op->writes() || op->isAtomic) {
      a.lastRead = std::max(a.lastRead, op->number + 1);
      if (op->loop) a.readingLoops.insert(op->loop);
    }
  }
  std::vector<std::pair<int32_t, int32_t>> pairs;
  for (const auto& [writer, writes] : byRoot)
    for (const auto& [reader, reads] : byRoot) {
      const bool sharesLoop =
          std::any_of(writes.writingLoops.begin(), writes.writingLoops.end(),
                      [&, &reads = reads](uint32_t loop) { return reads.readingLoops.count(loop); });
      if (writes.firstWrite < reads.lastRead || sharesLoop) pairs.emplace_back(writer, reader);
    }
  return pairs;
}

} // namespace tiletwin::interp
