// codegen/layout/GatherPlan.cpp -- see GatherPlan.h.
#include "codegen/layout/GatherPlan.h"

namespace tiletwin::codegen {

GatherPlan::GatherPlan(const LinearLayout& from, const LinearLayout& to, unsigned axis)
    : from(from), to(to), axis(axis) {
  isByShuffles = planShuffles();
}

uint32_t GatherPlan::inSource(uint32_t element) const {
  llvm::SmallVector<int64_t, 5> at = to.coordinates(element);
  at[axis] = 0;
  return from.flatIndex(at);
}

LinearLayout::Bases GatherPlan::inSource(Part part) const {
  LinearLayout::Bases bases;
  for (uint32_t basis : to.bases(part)) bases.push_back(inSource(basis));
  return bases;
}

bool GatherPlan::planShuffles() {
  Span held;
  llvm::SmallVector<std::pair<Part, unsigned>, 16> bits;
  for (Part part : {Part::Register, Part::Lane})
    for (auto [bit, basis] : llvm::enumerate(from.bases(part)))
      if (held.add(basis)) bits.push_back({part, unsigned(bit)});
  bool inside = true;
  auto add = [&](uint32_t element, Vectors& lanes, Vectors& places) {
    std::optional<uint32_t> coordinates = held.coordinates(element);
    inside &= coordinates.has_value();
    uint32_t lane = 0, place = 0;
    for (auto [i, bit] : llvm::enumerate(bits))
      if (coordinates.value_or(0) >> i & 1) (bit.first == Part::Lane ? lane : place) |= 1u << bit.second;
    lanes.push_back(lane), places.push_back(place);
  };
  for (unsigned bit = 0; bit < from.dimensionBits(axis); ++bit)
    add(1u << (from.dimensionShift(axis) + bit), ofPicked.lane, ofPicked.place);
  for (uint32_t basis : inSource(Part::Lane)) add(basis, ofLane.lane, ofLane.place);
  for (auto [basis, mine] : llvm::zip_equal(inSource(Part::Warp), from.bases(Part::Warp)))
    add(basis ^ mine, ofWarp.lane, ofWarp.place);
  for (uint32_t basis : inSource(Part::Register)) add(basis, registerLanes, registerPlaces);
  if (!inside || from.bases(Part::Block) != inSource(Part::Block)) return false;
  for (const Columns* columns : {&ofPicked, &ofLane, &ofWarp}) candidates.addAll(columns->place);
  // One shuffle for each register that may hold the element; against a store of each and a load, and two barriers.
  unsigned shuffles = to.registers() << candidates.dimension();
  return shuffles <= 30 + from.registers() + to.registers();
}

} // namespace tiletwin::codegen
