// tests/sim/StoreOrderTest.cpp -- which lane's value stays where lanes of one store write the same place.
// Source:    100,000 random groups of lanes on an H200, all widths, all and some lanes active, global and shared memory: of up to 4
//            bytes a lane the lowest lane's stays; of 8 bytes the lowest of the upper half's, of 16 the lowest of the last quarter's,
//            if any of its lanes is among them.
#define BOOST_TEST_MODULE sim_store_order
#include "tests/sim/SimRun.h"
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <random>

using namespace tiletwin;
using namespace tiletwin::sim;

namespace {

constexpr int kLanes = 32;

struct Width {
  const char* type;
  const char* value;
  uint32_t bytes;
};
constexpr Width kWidths[] = {{"b8", "%r3", 1},
                             {"b16", "%h1", 2},
                             {"b32", "%r3", 4},
                             {"b64", "%rd4", 8},
                             {"v2.b32", "{%r3, %r3}", 8},
                             {"v4.b32", "{%r3, %r3, %r3, %r3}", 16},
                             {"v2.b64", "{%rd4, %rd4}", 16}};
std::ostream& operator<<(std::ostream& out, const Width& width) { return out << width.type; }

/// Lane i stores i at places[i], if bit i of active is set.
std::string text(const Width& width) {
  return ptxKernel(3, "mov.u32 %r3, %tid.x;\ncvt.u16.u32 %h1, %r3;\ncvt.u64.u32 %rd4, %r3;\n"
                      "mad.wide.u32 %rd5, %r3, 4, %rd1;\nld.global.u32 %r5, [%rd5];\n"
                      "mad.wide.u32 %rd6, %r5, " +
                          std::to_string(width.bytes) +
                          ", %rd0;\nld.global.u32 %r6, [%rd2];\nshr.u32 %r6, %r6, %r3;\nand.b32 %r6, %r6, 1;\n"
                          "setp.ne.u32 %p1, %r6, 0;\n@%p1 st.global." +
                          width.type + " [%rd6], " + width.value + ";");
}

BOOST_DATA_TEST_CASE(LowestLaneOfTheLastGroupStays, boost::unit_test::data::make(kWidths), width) {
  std::mt19937 random(width.bytes);
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<uint32_t> places(kLanes);
    const uint32_t spread = uint32_t(1) << trial % 6;
    for (uint32_t& place : places) place = random() % spread;
    std::vector<uint32_t> active{trial % 2 ? ~uint32_t(0) : uint32_t(random())};
    std::vector<uint64_t> memory(kLanes * 2, 0);
    auto* out = reinterpret_cast<uint8_t*>(memory.data());
    std::vector<uint8_t> want(kLanes * width.bytes);
    for (uint32_t place = 0; place < spread; ++place) {
      int stays = -1; // the lane
      const int group = width.bytes <= 4 ? 32 : width.bytes == 8 ? 16 : 8;
      for (int lane = 0; lane < kLanes; ++lane)
        if (active[0] >> lane & 1 && places[size_t(lane)] == place && (stays < 0 || stays / group != lane / group))
          stays = lane;
      if (stays < 0) continue;
      const uint32_t part = width.bytes < 4 ? width.bytes : std::string_view(width.type).ends_with("b64") ? 8 : 4;
      for (uint32_t byte = 0; byte < width.bytes; ++byte)
        want[place * width.bytes + byte] = byte % part ? 0 : uint8_t(stays);
    }
    const Result result = SimRun(text(width)).buffer(memory).buffer(places).buffer(active).launch(1, kLanes);
    BOOST_TEST(result.trap.message == "");
    BOOST_TEST(std::vector<uint8_t>(out, out + want.size()) == want, boost::test_tools::per_element());
  }
}

} // namespace
