// codegen/layout/WarpConversion.cpp -- see WarpConversion.h.
#include "codegen/layout/WarpConversion.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace tiletwin::codegen {
namespace {

/// Bases of both sides while the plan is made. `fromRegisters` has no zeros.
class Planner {
public:
  Planner(const LinearLayout& from, const LinearLayout& to)
      : fromRegisters_(from.withoutRepeatedRegisters().bases(Part::Register)), fromLanes_(from.bases(Part::Lane)),
        fromWarps_(from.bases(Part::Warp)), toRegisters_(to.bases(Part::Register)), toLanes_(to.bases(Part::Lane)),
        toWarps_(to.bases(Part::Warp)) {}

  std::optional<WarpConversion> plan(unsigned partsPerWord);

private:
  bool staysInWarps() const;
  void keepParts();
  bool keepOne(unsigned threadBit, bool isLane);
  void choosePacked(unsigned partsPerWord);
  void chooseTransversal();
  void makeWords();
  void makeSend();
  void makeRounds();
  void makeResults();
  Span space() const {
    Span all(fromRegisters_);
    all.addAll(fromLanes_);
    return all;
  }
  /// By how much what a warp must have differs from what it has.
  Vectors warpShifts() const {
    Vectors shifts;
    for (auto [a, b] : llvm::zip_equal(fromWarps_, toWarps_)) shifts.push_back(a ^ b);
    return shifts;
  }
  uint32_t packedPart(uint32_t vector) const { return *split_.coordinates(vector) & ((1u << packed_.size()) - 1); }
  uint32_t withoutPacked(uint32_t vector) const { return vector ^ Span(packed_).sum(packedPart(vector)); }

  WarpConversion result_;
  LinearLayout::Bases fromRegisters_, fromLanes_, fromWarps_, toRegisters_, toLanes_, toWarps_;
  Vectors packed_; // elements of one word differ in these
  Span split_;     // packed_, then the rest of the space
  Span sent_, taken_,
      more_; // registers of source and result without packed_; those of the result that need further turns
  Vectors transversal_;
};

bool Planner::staysInWarps() const {
  Span all = space();
  auto inside = [&](uint32_t vector) { return all.contains(vector); };
  return llvm::all_of(toRegisters_, inside) && llvm::all_of(toLanes_, inside) && llvm::all_of(warpShifts(), inside);
}

bool Planner::keepOne(unsigned threadBit, bool isLane) {
  uint32_t wanted = (isLane ? toLanes_ : toWarps_)[threadBit];
  // The register that the thread's bit chooses in the result. Lanes may keep any part, another lane then has the rest.
  auto* chosen = llvm::find(fromRegisters_, wanted);
  if (chosen == fromRegisters_.end() && isLane)
    chosen = llvm::find_if(fromRegisters_, [&](uint32_t basis) { return !llvm::is_contained(toRegisters_, basis); });
  if (chosen == fromRegisters_.end() && isLane && !fromRegisters_.empty()) chosen = fromRegisters_.end() - 1;
  if (chosen == fromRegisters_.end()) return false;
  Planner after = *this;
  unsigned bit = unsigned(chosen - fromRegisters_.begin());
  (isLane ? after.fromLanes_ : after.fromWarps_)[threadBit] = *chosen;
  after.fromRegisters_.erase(after.fromRegisters_.begin() + bit);
  if (!after.staysInWarps()) return false;
  ThreadParity parity;
  (isLane ? parity.lanes : parity.warps) = 1u << threadBit;
  after.result_.kept.push_back({parity, bit});
  *this = std::move(after);
  return true;
}

void Planner::keepParts() {
  for (unsigned bit = 0; bit < fromWarps_.size(); ++bit)
    if (fromWarps_[bit] == 0 && toWarps_[bit] != 0) keepOne(bit, false);
  unsigned needed = Span(toRegisters_).dimension();
  for (unsigned bit = 0; bit < fromLanes_.size(); ++bit)
    if (fromLanes_[bit] == 0 && fromRegisters_.size() > needed) keepOne(bit, true);
}

void Planner::choosePacked(unsigned partsPerWord) {
  // What lanes and warps decide must not change an element's part of the word.
  Span threads(fromLanes_);
  threads.addAll(toLanes_), threads.addAll(warpShifts());
  Span free = threads;
  for (uint32_t vector : intersection(Span(fromRegisters_), Span(toRegisters_)))
    if ((1u << packed_.size()) < partsPerWord && free.add(vector)) packed_.push_back(vector);
  split_ = Span(packed_);
  split_.addAll(threads.vectors());
  split_.addAll(space().vectors());
}

void Planner::chooseTransversal() {
  for (uint32_t basis : fromRegisters_) sent_.add(withoutPacked(basis));
  // Registers of the result, those first that are registers of the source too. What the source cannot send at once needs
  // further turns.
  Span all;
  for (bool common : {true, false})
    for (uint32_t basis : toRegisters_)
      if (uint32_t vector = withoutPacked(basis); sent_.contains(vector) == common && all.add(vector))
        (taken_.dimension() < sent_.dimension() ? taken_ : more_).add(vector);
  // What the source sends beyond what the result holds is received and dropped.
  for (uint32_t vector : sent_.vectors())
    if (taken_.dimension() < sent_.dimension()) taken_.add(vector);
  for (uint32_t vector : split_.vectors())
    if (taken_.dimension() < sent_.dimension() && packedPart(vector) == 0) taken_.add(vector);
  // T: lanes that stay, then the source's lanes (no selects before), the result's (none behind), then anything.
  Vectors candidates;
  for (auto [a, b] : llvm::zip_equal(fromLanes_, toLanes_))
    if (a == b) candidates.push_back(a);
  llvm::append_range(candidates, fromLanes_);
  llvm::append_range(candidates, toLanes_);
  for (uint32_t vector : space().vectors()) candidates.push_back(withoutPacked(vector));
  Span a = sent_, b = taken_;
  while (uint32_t next = outsideOfBoth(a, b, candidates)) {
    a.add(next), b.add(next);
    transversal_.push_back(next);
  }
}

void Planner::makeWords() {
  Span registers(fromRegisters_);
  Span packed(packed_);
  for (uint32_t word = 0; word < 1u << sent_.dimension(); ++word) {
    Vectors parts;
    for (uint32_t part = 0; part < 1u << packed_.size(); ++part)
      parts.push_back(*registers.coordinates(sent_.sum(word) ^ packed.sum(part)));
    result_.words.push_back(std::move(parts));
  }
}

/// Bit i of `numbers`, a linear function of the bits of `part`, as parities.
void addParities(llvm::SmallVectorImpl<ThreadParity>& parities, llvm::ArrayRef<uint32_t> numbers,
                 uint32_t ThreadParity::* part) {
  for (auto [bit, number] : llvm::enumerate(numbers))
    for (unsigned i = 0; i < parities.size(); ++i)
      if (number >> i & 1) parities[i].*part ^= 1u << bit;
}

void Planner::makeSend() {
  // In round c lane s sends the one of its elements that lies in c + T: register c XOR what its lane has along T.
  Span along = sent_;
  along.addAll(transversal_);
  Vectors numbers;
  uint32_t words = (1u << sent_.dimension()) - 1;
  for (uint32_t basis : fromLanes_) numbers.push_back(*along.coordinates(basis) & words);
  result_.send.resize(sent_.dimension());
  addParities(result_.send, numbers, &ThreadParity::lanes);
}

void Planner::makeRounds() {
  Span along = taken_;
  along.addAll(transversal_);
  Vectors laneBits; // of each vector in `lanes`
  Span lanes = sent_;
  for (auto [bit, basis] : llvm::enumerate(fromLanes_))
    if (lanes.add(basis)) laneBits.push_back(1u << bit);
  unsigned held = taken_.dimension(), sent = sent_.dimension();
  /// Place and source lane of an element of T + what the result takes.
  auto placeAndLane = [&](uint32_t vector) {
    uint32_t coordinates = *along.coordinates(vector), lane = 0;
    uint32_t inT = 0;
    for (auto [i, basis] : llvm::enumerate(transversal_))
      if (coordinates >> (held + i) & 1) inT ^= basis;
    uint32_t fromLane = *lanes.coordinates(inT) >> sent;
    for (auto [i, bit] : llvm::enumerate(laneBits))
      if (fromLane >> i & 1) lane |= bit;
    return std::pair(coordinates & ((1u << held) - 1), lane);
  };
  for (uint32_t turn = 0; turn < 1u << more_.dimension(); ++turn)
    for (uint32_t word = 0; word < 1u << sent; ++word) {
      auto [place, lane] = placeAndLane(more_.sum(turn) ^ sent_.sum(word));
      result_.rounds.push_back({word, lane, place | turn << held});
    }
  auto add = [&](llvm::ArrayRef<uint32_t> bases, uint32_t ThreadParity::* part, bool isLane) {
    Vectors places, sources;
    for (auto [bit, basis] : llvm::enumerate(bases)) {
      auto [place, lane] = placeAndLane(basis);
      // Lanes that hold the same: each reads from its like.
      if (isLane && fromLanes_[bit] == 0) lane ^= 1u << bit;
      places.push_back(place), sources.push_back(lane);
    }
    addParities(result_.receive, places, part);
    addParities(result_.source, sources, part);
  };
  result_.receive.resize(held);
  result_.source.resize(fromLanes_.size());
  add(toLanes_, &ThreadParity::lanes, true);
  add(warpShifts(), &ThreadParity::warps, false);
  for (auto [bit, parity] : llvm::enumerate(result_.source)) result_.isOwnLane &= parity == ThreadParity{1u << bit, 0};
}

void Planner::makeResults() {
  Span places = taken_;
  places.addAll(more_.vectors());
  for (uint32_t number = 0; number < 1u << toRegisters_.size(); ++number) {
    uint32_t element = 0;
    for (auto [bit, basis] : llvm::enumerate(toRegisters_))
      if (number >> bit & 1) element ^= basis;
    result_.results.push_back({*places.coordinates(withoutPacked(element)), packedPart(element)});
  }
}

std::optional<WarpConversion> Planner::plan(unsigned partsPerWord) {
  if (!staysInWarps()) return std::nullopt;
  keepParts();
  choosePacked(partsPerWord);
  chooseTransversal();
  makeWords();
  makeSend();
  makeRounds();
  makeResults();
  return std::move(result_);
}

} // namespace

unsigned WarpConversion::shuffles() const {
  return unsigned(llvm::count_if(rounds, [&](const Round& round) { return !isOwnLane || round.flip != 0; }));
}

unsigned WarpConversion::selects() const {
  auto moved = [](const ThreadParity& parity) { return !parity.isZero(); };
  return unsigned(llvm::count_if(send, moved) * words.size() + llvm::count_if(receive, moved) * rounds.size()) +
         (kept.empty() ? 0 : unsigned(words.size()) << kept.size());
}

std::optional<WarpConversion> WarpConversion::plan(const LinearLayout& from, const LinearLayout& to,
                                                   unsigned partsPerWord) {
  if (from.bases(Part::Block) != to.bases(Part::Block)) return std::nullopt;
  return Planner(from, to).plan(partsPerWord);
}

} // namespace tiletwin::codegen
