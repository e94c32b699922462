// sim/machine/Random.h -- numbers that are drawn: the same ones for the same seed, on every machine.
// Not here:  what is drawn (Turns.h).
// Source:    "splitmix64", Steele, Lea, Flood: Fast splittable pseudorandom number generators.
#pragma once
#include <cstdint>

namespace tiletwin::sim {

class Random {
public:
  /// `stream`: different ones of one seed give different numbers.
  Random(uint64_t seed, uint64_t stream) : state_(mixed(seed) ^ mixed(~stream)) {}
  uint64_t next() { return mixed(state_ += 0x9E3779B97F4A7C15u); }
  /// From 0 to `count` - 1. (That low numbers are drawn a little more often does not matter here.)
  uint64_t below(uint64_t count) { return next() % count; }
  /// About as often of each size: from 1 to 2^bits - 1.
  uint64_t ofAnySize(unsigned bits) {
    const uint64_t size = below(bits);
    return (uint64_t(1) << size) + below(uint64_t(1) << size);
  }

private:
  static uint64_t mixed(uint64_t z) {
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
  }
  uint64_t state_;
};

} // namespace tiletwin::sim
