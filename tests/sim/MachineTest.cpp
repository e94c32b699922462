// tests/sim/MachineTest.cpp -- the machine: registers, control flow, calls, memory, scheduling, traps.
#define BOOST_TEST_MODULE machine
#include "tests/sim/SimRun.h"
#include <boost/test/unit_test.hpp>
#include <numeric>

using namespace tiletwin;
using namespace tiletwin::sim;

namespace {

/// Byte address of element `%tid.x` (of `bytes`) behind %rd<base> is in %rd40.
std::string elementOf(int base, int bytes) {
  return "mov.u32 %r40, %tid.x;\nmul.wide.u32 %rd40, %r40, " + std::to_string(bytes) + ";\nadd.s64 %rd40, %rd" +
         std::to_string(base) + ", %rd40;\n";
}

std::vector<uint32_t> iota(size_t count, uint32_t first = 0) {
  std::vector<uint32_t> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

} // namespace

BOOST_AUTO_TEST_CASE(vector_add) {
  SimRun run(ptxKernel(3, R"(
    mov.u32 %r0, %ctaid.x;
    mov.u32 %r1, %ntid.x;
    mov.u32 %r2, %tid.x;
    mad.lo.s32 %r3, %r0, %r1, %r2;
    mul.wide.u32 %rd3, %r3, 4;
    add.s64 %rd4, %rd0, %rd3;
    add.s64 %rd5, %rd1, %rd3;
    add.s64 %rd6, %rd2, %rd3;
    ld.global.u32 %r4, [%rd4];
    ld.global.u32 %r5, [%rd5];
    add.s32 %r6, %r4, %r5;
    st.global.u32 [%rd6], %r6;)"));
  std::vector<uint32_t> a = iota(512), b = iota(512, 1000), c(512);
  run.buffer(a).buffer(b).buffer(c);
  const Result result = run.launch(4, 128);
  BOOST_REQUIRE_MESSAGE(!result.trap, result.trap.message);
  for (uint32_t i = 0; i < 512; ++i) BOOST_REQUIRE_EQUAL(c[i], 1000 + 2 * i);
}
