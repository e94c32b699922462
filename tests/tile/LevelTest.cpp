// tests/tile/LevelTest.cpp -- which tile module a CPU gets, for CPUs that this machine is not: the loader with another answer
// to what the CPU supports.
#define BOOST_TEST_MODULE level
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <set>
#include <string>

namespace {
std::set<std::string> cpu; // what the CPU has
bool fakeCpuHas(const char* feature) { return cpu.contains(feature); }
} // namespace

#define __builtin_cpu_supports(feature) fakeCpuHas(feature)
#include "interp/tile/Load.cpp"
#undef __builtin_cpu_supports

using namespace tiletwin;

namespace {

const std::set<std::string> kSandyBridge = {"sse4.2", "popcnt", "avx"};
const std::set<std::string> kHaswell = {"sse4.2", "popcnt", "avx",  "avx2",  "fma",
                                        "f16c",   "bmi",    "bmi2", "lzcnt", "movbe"};
std::set<std::string> skylakeServer() {
  std::set<std::string> features = kHaswell;
  features.insert({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"});
  return features;
}

struct NoVariable {
  NoVariable() { unsetenv("TILETWIN_ISA"); }
  ~NoVariable() { unsetenv("TILETWIN_ISA"); }
};

std::string level() {
  std::string error;
  const char* name = tileLevel(&error);
  return name ? name : error;
}

const std::string kTooOld =
    "this CPU is too old for tiletwin: it needs x86-64-v3, that is AVX2, FMA, F16C, BMI1, BMI2, "
    "LZCNT and MOVBE (Intel Haswell, AMD Zen, or newer)";

} // namespace

BOOST_FIXTURE_TEST_CASE(the_best_that_the_cpu_has, NoVariable) {
  cpu = kHaswell;
  BOOST_TEST(level() == "v3");
  cpu = skylakeServer();
  BOOST_TEST(level() == "v4");
}

BOOST_FIXTURE_TEST_CASE(every_feature_is_asked_for, NoVariable) {
  for (const std::string& feature : {"avx2", "fma", "f16c", "bmi", "bmi2", "lzcnt", "movbe"}) {
    cpu = skylakeServer();
    cpu.erase(feature);
    BOOST_TEST(level() == kTooOld, feature);
  }
  for (const std::string& feature : {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}) {
    cpu = skylakeServer();
    cpu.erase(feature);
    BOOST_TEST(level() == "v3", feature);
  }
}

BOOST_FIXTURE_TEST_CASE(a_cpu_without_avx2_opens_nothing, NoVariable) {
  cpu = kSandyBridge;
  std::string error;
  BOOST_TEST(!loadTileOps(TILETWIN_TILE_DIR, &error)); // the modules are there
  BOOST_TEST(error == kTooOld);
}

BOOST_FIXTURE_TEST_CASE(a_level_that_is_asked_for_must_run, NoVariable) {
  cpu = kHaswell;
  setenv("TILETWIN_ISA", "v4", 1);
  BOOST_TEST(level() == "TILETWIN_ISA=v4: this CPU lacks what x86-64-v4 needs: AVX-512 (F, BW, CD, DQ, VL); unset "
                        "TILETWIN_ISA to let tiletwin choose");
  cpu = skylakeServer();
  setenv("TILETWIN_ISA", "v3", 1);
  BOOST_TEST(level() == "v3");
}
