#include "sim/counters/MemoryCost.h"
#include "sim/machine/Warp.h"
#include <algorithm>
#include <array>

namespace tiletwin::sim {
namespace {

/// At the most 32 lanes with 128 bytes each.
constexpr size_t kMostNumbers = size_t(kLanes) * 4;

/// A list of numbers in which each one occurs once.
class Distinct {
public:
  /// False: it was there.
  bool add(uint64_t number) {
    if (std::find(numbers_.begin(), numbers_.begin() + count_, number) != numbers_.begin() + count_) return false;
    numbers_[count_++] = number;
    return true;
  }
  uint32_t count() const { return count_; }

private:
  std::array<uint64_t, kMostNumbers> numbers_;
  uint32_t count_ = 0;
};

bool isAtomic(AccessForm form) {
  return form == AccessForm::Atomic || form == AccessForm::Count || form == AccessForm::CompareAndSwap ||
         form == AccessForm::AtomicLoop;
}

/// The lanes that one pass serves at the most: as many as make up 128 bytes.
uint32_t lanesTogether(uint32_t bytes) { return std::min<uint32_t>(kLanes, kLineBytes / std::max(bytes, kBankBytes)); }

/// Calls visit(lanes) for the groups that are served one after another.
template <class Visit> void eachGroup(LaneMask active, uint32_t bytes, Visit&& visit) {
  const uint32_t together = lanesTogether(bytes);
  for (uint32_t first = 0; first < kLanes; first += together) {
    const LaneMask group = together == kLanes ? kAllLanes : ((LaneMask(1) << together) - 1) << first;
    if (active & group) visit(active & group);
  }
}

/// True if lanes whose numbers differ in bit `bit` are at the same address, wherever both are active.
bool areAlike(LaneMask lanes, const uint64_t* addresses, int bit) {
  bool alike = true;
  eachLane(lanes, [&](int lane) {
    const int other = lane ^ bit;
    alike &= !(lanes >> other & 1) || addresses[lane] == addresses[other];
  });
  return alike;
}

/// As eachGroup() for loads of 8 and 16 bytes: two neighbouring groups are served together if in all of the warp lanes 0 and 1, 2 and 3,
/// ... are at the same address, or lanes 0 and 2, 1 and 3, ...
template <class Visit> void eachGroupOfLoad(LaneMask active, const uint64_t* addresses, uint32_t bytes, Visit&& visit) {
  const bool goTogether = areAlike(active, addresses, 1) || areAlike(active, addresses, 2);
  eachGroup(active, goTogether ? std::max(bytes / 2, kBankBytes) : bytes, visit);
}

/// Calls visit(word) for the words of an element.
template <class Visit> void eachWord(uint64_t address, uint32_t bytes, Visit&& visit) {
  for (uint64_t word = address / kBankBytes; word <= (address + bytes - 1) / kBankBytes; ++word) visit(word);
}

/// The most different words in one bank.
uint32_t readPasses(LaneMask lanes, const uint64_t* addresses, uint32_t bytes) {
  Distinct words;
  std::array<uint32_t, kBanks> counts{};
  eachLane(lanes, [&](int lane) {
    eachWord(addresses[lane], bytes, [&](uint64_t word) { counts[word % kBanks] += words.add(word); });
  });
  return *std::max_element(counts.begin(), counts.end());
}

/// The most lanes in one bank: where each one is served by itself, at the same address or not.
uint32_t passesOfLanes(LaneMask lanes, const uint64_t* addresses, uint32_t bytes) {
  std::array<uint32_t, kBanks> counts{};
  eachLane(lanes, [&](int lane) { eachWord(addresses[lane], bytes, [&](uint64_t word) { ++counts[word % kBanks]; }); });
  return *std::max_element(counts.begin(), counts.end());
}

/// Lanes that a pass serves: no two of them in one bank, the lowest ones first.
LaneMask served(LaneMask lanes, const uint64_t* addresses, uint32_t bytes) {
  uint32_t banks = 0;
  LaneMask done = 0;
  eachLane(lanes, [&](int lane) {
    uint32_t own = 0;
    eachWord(addresses[lane], bytes, [&](uint64_t word) { own |= uint32_t(1) << word % kBanks; });
    if (banks & own) return;
    banks |= own;
    done |= LaneMask(1) << lane;
  });
  return done;
}

/// A loop of loads and exchanges that goes on until every lane has had its turn; an exchange takes two wavefronts.
SharedCost loopCost(LaneMask active, const uint64_t* addresses, uint32_t bytes) {
  SharedCost cost;
  while (active) {
    LaneMask done = 0;
    eachGroup(active, bytes, [&](LaneMask group) {
      const uint32_t passes = readPasses(group, addresses, bytes);
      cost.loopWavefronts += passes;
      cost.loopConflicts += passes - 1;
      cost.wavefronts += 2;
      done |= served(group, addresses, bytes);
    });
    active &= ~done;
  }
  return cost;
}

} // namespace

uint32_t sectorsTouched(AccessForm form, LaneMask active, const uint64_t* addresses, uint32_t bytes) {
  if (!isAtomic(form)) {
    Distinct sectors;
    eachLane(active, [&](int lane) {
      for (uint64_t s = addresses[lane] / kSectorBytes; s <= (addresses[lane] + bytes - 1) / kSectorBytes; ++s)
        sectors.add(s);
    });
    return sectors.count();
  }
  uint32_t sum = 0;
  while (active) { // of each sector the address that most lanes have
    const uint64_t sector = addresses[__builtin_ctz(active)] / kSectorBytes;
    LaneMask there = 0;
    eachLane(active, [&](int lane) { there |= LaneMask(addresses[lane] / kSectorBytes == sector) << lane; });
    uint32_t most = 0;
    eachLane(there, [&](int lane) {
      uint32_t alike = 0;
      eachLane(there, [&](int other) { alike += addresses[other] == addresses[lane]; });
      most = std::max(most, alike);
    });
    sum += most;
    active &= ~there;
  }
  return sum;
}

uint32_t sectorsPastL1(LaneMask active, const uint64_t* from, const uint64_t* to) {
  Distinct pairs; // shared memory has fewer than 2^18 bytes
  eachLane(active, [&](int lane) { pairs.add(from[lane] / kSectorBytes << 18 | to[lane] / kSectorBytes); });
  return pairs.count();
}

uint32_t distinctBytes(LaneMask active, const uint64_t* addresses, uint32_t bytes) {
  Distinct elements; // lanes' elements are at multiples of their size: they are the same or apart
  eachLane(active, [&](int lane) { elements.add(addresses[lane]); });
  return elements.count() * bytes;
}

SharedCost sharedCost(AccessForm form, LaneMask active, const uint64_t* addresses, uint32_t bytes) {
  if (form == AccessForm::AtomicLoop) return loopCost(active, addresses, bytes);
  const bool oneByOne = form == AccessForm::Atomic || form == AccessForm::CompareAndSwap;
  SharedCost cost;
  const auto add = [&](LaneMask group) {
    const uint32_t passes = oneByOne ? passesOfLanes(group, addresses, bytes) : readPasses(group, addresses, bytes);
    cost.wavefronts += form == AccessForm::CompareAndSwap ? 2 * passes : passes;
    cost.conflicts += passes - 1;
  };
  if (form == AccessForm::Load)
    eachGroupOfLoad(active, addresses, bytes, add);
  else
    eachGroup(active, bytes, add);
  return cost;
}

SharedCost copyCost(LaneMask active, const uint64_t* from, const uint64_t* to, uint32_t bytes) {
  constexpr uint32_t kLinesAtOnce = 4;
  SharedCost cost;
  const auto add = [&](LaneMask lanes) {
    const uint32_t writes = passesOfLanes(lanes, to, bytes), reads = from ? readPasses(lanes, from, bytes) : 1;
    cost.wavefronts += std::max(reads, writes);
    cost.conflicts += std::max(reads, writes) - 1;
  };
  eachGroup(active, bytes, [&](LaneMask group) {
    if (!from) return add(group);
    while (group) { // the lanes of four lines of the cache
      Distinct lines;
      LaneMask some = 0;
      eachLane(group, [&](int lane) {
        Distinct more = lines;
        more.add(from[lane] / kLineBytes);
        if (more.count() > kLinesAtOnce) return;
        lines = more;
        some |= LaneMask(1) << lane;
      });
      add(some);
      group &= ~some;
    }
  });
  return cost;
}

} // namespace tiletwin::sim
