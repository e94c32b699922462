// interp/check/Mistake.h -- what accesses of one place did wrong, as it is kept until the launch has ended.
#pragma once
#include "interp/check/FreshMemory.h"
#include "interp/program/ProbeAccess.h"
#include "runtime/Buffer.h"
#include "runtime/Findings.h"
#include <span>
#include <unordered_set>

namespace tiletwin::interp {

/// Of the lowest program that did it.
struct Mistake {
  std::array<int32_t, 3> id{};
  uint64_t program = 0;                  ///< its number
  std::unordered_set<uint64_t> programs; ///< numbers of all that did
  std::vector<int64_t> elements;         ///< the first of them
  int64_t elementCount = 0;
  uintptr_t address = 0;               ///< of the first element
  const Buffer* buffer = nullptr;      ///< Bounds, Uninitialized
  std::shared_ptr<FreshRegion> region; ///< Uninitialized
  int64_t writer = 0;                  ///< Barriers: the lane whose store the first element reads

  void addElement(int64_t element, uintptr_t at) {
    if (elementCount++ == 0) address = at;
    if (elements.size() < kListedElements && element >= 0) elements.push_back(element);
  }
  /// The same of another program.
  void join(Mistake&& other) {
    programs.insert(other.program);
    if (elementCount > 0 && program <= other.program) return;
    other.programs = std::move(programs);
    *this = std::move(other);
  }
  /// What there is to say of any check's.
  Finding finding(Check check, const ProbeAccessOp& op) const {
    Finding finding;
    finding.check = check;
    finding.where = op.where;
    finding.operation = op.operation;
    finding.program = id;
    finding.programs = int64_t(programs.size());
    finding.shape = op.access.shape;
    finding.elements = elements;
    finding.elementCount = elementCount;
    return finding;
  }
};

inline uint64_t programNumber(const std::array<int32_t, 3>& grid, const std::array<int32_t, 3>& id) {
  return uint64_t(id[0]) + uint64_t(grid[0]) * (uint64_t(id[1]) + uint64_t(grid[1]) * uint64_t(id[2]));
}

/// The buffer that has the byte: rather one whose view reaches it than one whose storage does.
inline const Buffer* bufferAt(std::span<const Buffer> buffers, uintptr_t address) {
  const Buffer* best = nullptr;
  for (const Buffer& b : buffers) {
    if (!b.contains(address, address + 1)) continue;
    if (address >= b.viewBegin && address < b.viewEnd) return &b;
    if (!best) best = &b;
  }
  return best;
}

} // namespace tiletwin::interp
