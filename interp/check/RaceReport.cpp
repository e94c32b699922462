// interp/check/RaceReport.cpp -- data races as findings: which programs, which places, which bytes.
//
// Idea:      accesses that race are edges between places of the kernel, and places that edges connect are one mistake: a sum
//            without atomics is a race of a store with a load and of that store with itself. The finding names the lowest
//            programs, all places, and advice that holds for all of them.
// Invariant: a finding depends on what raced, not on how the shadow memory was cut into cells.
#include "interp/check/MemoryCheck.h"
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace tiletwin::interp {

namespace {

bool isWrite(RaceKind kind) { return kind == RaceKind::Write || kind == RaceKind::AtomicWrite; }

const char* verbOf(const ProbeAccessOp& op, RaceKind kind) {
  if (op.isAtomic) return isWrite(kind) ? "updates" : "reads";
  return isWrite(kind) ? "writes" : "reads";
}

using PlaceKey = std::tuple<std::string, int, int, std::string>;
PlaceKey keyOf(const ProbeAccessOp& op) { return {op.where.file, op.where.line, op.where.column, op.operation}; }

/// What names the pair of accesses that a finding shows: one that reads comes first, then lower programs.
using PairOrder = std::tuple<bool, uint64_t, uint64_t, uint32_t, uint32_t, RaceKind>;
PairOrder orderOf(const RacePair& p) {
  const uint64_t a = p.first.program(), b = p.second.program();
  return {isWrite(p.secondKind), std::min(a, b), std::max(a, b), p.first.site(), p.second.site(), p.secondKind};
}

/// Places that races connect.
struct Race {
  std::map<PlaceKey, std::pair<const ProbeAccessOp*, RaceKind>> places;
  RacePair shown;                                     ///< of the lowest order
  std::vector<std::pair<uintptr_t, uintptr_t>> cells; ///< in which that pair races
  uintptr_t counted = 0;                              ///< end of the cell that was counted last
  int64_t bytes = 0;
  std::set<std::string> others; ///< what the other programs do
  bool isAtomic = false, isSmallScope = false, isUpdate = false;
  bool onlyWrites = true, sameValue = true;
};

/// The places of a launch's races, joined while pairs are visited.
class Places {
public:
  size_t of(const PlaceKey& key) {
    auto [at, isNew] = numbers_.try_emplace(key, parents_.size());
    if (isNew) parents_.push_back(at->second);
    return at->second;
  }
  size_t raceOf(const PlaceKey& key) { return top(of(key)); }
  void join(const PlaceKey& a, const PlaceKey& b) {
    const size_t one = raceOf(a), other = raceOf(b);
    parents_[std::max(one, other)] = std::min(one, other);
  }

private:
  size_t top(size_t place) {
    while (parents_[place] != place) place = parents_[place] = parents_[parents_[place]];
    return place;
  }
  std::map<PlaceKey, size_t> numbers_;
  std::vector<size_t> parents_;
};

/// "element 3 of y", or the bytes if they are not whole elements of the access.
std::string placeText(uintptr_t begin, uintptr_t end, const Buffer* buffer, int64_t elementBytes) {
  const std::string name = buffer ? buffer->name : "memory that is no argument";
  const uintptr_t base = !buffer ? 0 : begin >= buffer->viewBegin ? buffer->viewBegin : buffer->begin;
  const int64_t offset = int64_t(begin - base), bytes = int64_t(end - begin);
  if (!buffer) return name;
  if (elementBytes > 0 && offset % elementBytes == 0 && bytes % elementBytes == 0) {
    const int64_t first = offset / elementBytes, count = bytes / elementBytes;
    if (count == 1) return "element " + std::to_string(first) + " of " + name;
    return "elements " + std::to_string(first) + " to " + std::to_string(first + count - 1) + " of " + name;
  }
  return "bytes " + std::to_string(offset) + " to " + std::to_string(offset + bytes - 1) + " of " + name;
}

/// The first run of bytes in which the shown pair races, however it was cut into cells.
std::pair<uintptr_t, uintptr_t> firstRun(Race& race) {
  std::sort(race.cells.begin(), race.cells.end());
  auto [begin, end] = race.cells.front();
  for (const auto& [from, to] : race.cells)
    if (from <= end) end = std::max(end, to);
  return {begin, end};
}

std::string listed(const std::set<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " and ") + word;
  return text;
}

std::string adviceFor(const Race& race) {
  if (race.isSmallScope) return "an atomic operation of scope cta is atomic within one program only: use scope=\"gpu\"";
  if (race.onlyWrites && race.sameValue) return "harmless as long as the values stay equal; let one program write it";
  if (race.isAtomic)
    return "let every access to memory that programs share this way be atomic (tl.atomic_load, tl.atomic_xchg, ...), "
           "the "
           "waiting one with sem=\"acquire\"";
  if (race.isUpdate)
    return "programs load it, change it and store it again, and lose what others stored meanwhile: use tl.atomic_add "
           "(atomic_max, ...), which does all that in one step, or let every program write memory of its own";
  if (race.onlyWrites)
    return "let every program write memory of its own (check offsets, strides and the mask), or use tl.atomic_add and "
           "the like";
  return "programs run in any order: split the kernel in two launches, or order the programs with an atomic release "
         "behind the write and an acquire before the read";
}

} // namespace

void MemoryCheck::reportRaces(FindingCollector& findings) {
  auto eachPair = [&](auto&& visit) {
    auto with = [&](const RacePair& pair) { visit(pair, siteOf(pair.first.site()), siteOf(pair.second.site())); };
    if (races_) races_->races(with);
    if (ordered_) ordered_->races(with);
  };
  Places places;
  eachPair([&](const RacePair&, const ProbeAccessOp& first, const ProbeAccessOp& second) {
    places.join(keyOf(first), keyOf(second));
  });
  std::map<size_t, Race> races;
  eachPair([&](const RacePair& pair, const ProbeAccessOp& first, const ProbeAccessOp& second) {
    auto [at, isNew] = races.try_emplace(places.raceOf(keyOf(first)));
    Race& race = at->second;
    race.places.try_emplace(keyOf(first), &first, pair.firstKind);
    race.places.try_emplace(keyOf(second), &second, pair.secondKind);
    if (isNew || orderOf(pair) < orderOf(race.shown)) {
      race.shown = pair;
      race.cells.clear();
    }
    if (orderOf(pair) == orderOf(race.shown)) race.cells.emplace_back(pair.begin, pair.end);
    // The pairs of a cell come one after the other.
    if (race.counted != pair.end) race.bytes += int64_t(pair.end - pair.begin);
    race.counted = pair.end;
    const bool bothWrite = isWrite(pair.firstKind) && isWrite(pair.secondKind);
    race.others.insert(verbOf(second, pair.secondKind));
    race.onlyWrites &= bothWrite;
    race.sameValue &= pair.sameValue;
    race.isUpdate |= bothWrite && first.isUpdate && second.isUpdate;
    for (const ProbeAccessOp* op : {&first, &second}) {
      race.isAtomic |= op->isAtomic;
      race.isSmallScope |= op->isAtomic && !op->isAtomicForAll();
    }
  });
  for (auto& [number, race] : races) {
    const RacePair& pair = race.shown;
    const ProbeAccessOp& first = siteOf(pair.first.site());
    const ProbeAccessOp& second = siteOf(pair.second.site());
    const auto [begin, end] = firstRun(race);
    Finding finding;
    finding.check = Check::Races;
    finding.where = first.where;
    finding.operation = first.operation;
    finding.program = idOf(pair.first.program());
    finding.programs = 1;
    finding.second = second.where;
    finding.secondOperation = second.operation;
    finding.secondProgram = idOf(pair.second.program());
    finding.secondText = std::string(verbOf(second, pair.secondKind)) + " the same memory";
    finding.message = std::string(verbOf(first, pair.firstKind)) + " " +
                      placeText(begin, end, bufferAt(params_.buffers, begin), first.access.elementBytes) +
                      ", which another program " + listed(race.others) + " and nothing orders the two";
    if (race.bytes > int64_t(end - begin)) finding.message += " (" + std::to_string(race.bytes) + " bytes in all)";
    if (race.onlyWrites && race.sameValue)
      finding.message += "; all of them write the same value, so that the result is the same whoever comes last";
    finding.advice = adviceFor(race);
    for (const auto& [key, place] : race.places) {
      const auto& [op, kind] = place;
      if (key == keyOf(first) || key == keyOf(second)) continue;
      finding.more.push_back({op->where, op->operation, std::string(verbOf(*op, kind)) + " the same memory"});
    }
    findings.add(std::move(finding));
  }
}

} // namespace tiletwin::interp
