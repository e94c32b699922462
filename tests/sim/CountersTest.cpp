#define BOOST_TEST_MODULE counters
#include "SimRun.h"
#include "sim/counters/Counts.h"
#include "sim/counters/MemoryCost.h"
#include <boost/test/unit_test.hpp>
#include <numeric>

using namespace tiletwin;
using namespace tiletwin::sim;

namespace {

/// What a kernel counts, and the counts of one of its instructions.
struct Counted {
  LaunchCounts counts;

  explicit Counted(SimRun& run, uint32_t grid = 1, uint32_t block = 32, std::string schedule = "turns") {
    run.params.counts = &counts;
    run.params.schedule = Schedule::parse(schedule);
    const Result result = run.launch(grid, block);
    BOOST_REQUIRE_MESSAGE(!result.trap, result.trap.message);
  }
  /// Of the `which`th instruction whose text begins so.
  const InstructionCounts& of(std::string_view text, int which = 0) const {
    for (const FunctionCounts& function : counts.functions)
      for (size_t i = 0; i < function.body.size(); ++i)
        if (function.function->body[i].text.starts_with(text) && which-- == 0) return function.body[i];
    BOOST_FAIL("no instruction " + std::string(text));
    throw std::logic_error("unreachable");
  }
  const MemoryCounts& memory(std::string_view text, CountedSpace space, int which = 0) const {
    return of(text, which).memory[size_t(space)];
  }
};

/// Zeros that begin where a line of the cache does: sectors are counted by address.
struct Data {
  alignas(128) std::array<uint32_t, 1 << 14> words{};
};

std::array<uint64_t, kLanes> strided(uint64_t step, uint64_t first = 0) {
  std::array<uint64_t, kLanes> addresses;
  for (uint64_t i = 0; i < kLanes; ++i) addresses[i] = first + i * step;
  return addresses;
}

} // namespace

BOOST_AUTO_TEST_CASE(each_instruction_of_the_text_counts_once) {
  Data data;
  // The negated predicate, %laneid and the two halves of the vector each need instructions of the machine's own.
  SimRun run(ptxKernel(1, R"(
    mov.u32 %r0, %tid.x;
    setp.lt.u32 %p0, %r0, 8;
    not.pred %p1, %p0;
    selp.b32 %r1, %r0, 7, !%p0;
    @!%p0 add.u32 %r1, %r1, %laneid;
    @%p1 mov.b64 {%r2, %r3}, %rd0;
  )"));
  run.buffer(data.words.data(), data.words.size());
  const Counted counted(run, 3, 64);
  for (const char* text : {"mov.u32", "setp", "not", "selp", "add.u32", "mov.b64"}) {
    BOOST_TEST_CONTEXT(text) {
      BOOST_TEST(counted.of(text).executed == 6u);
      BOOST_TEST(counted.of(text).threads == 6u * 32);
    }
  }
  BOOST_TEST(counted.of("setp").threadsOn == 192u);
  BOOST_TEST(counted.of("add.u32").threadsOn == 3 * (24 + 32u));
  BOOST_TEST(counted.of("ret").executed == 6u);
}

BOOST_AUTO_TEST_CASE(an_instruction_without_a_lane_is_executed_but_not_on) {
  Data data;
  SimRun run(ptxKernel(1, R"(
    mov.u32 %r0, %tid.x;
    setp.gt.u32 %p0, %r0, 31;
    @%p0 ld.global.u32 %r1, [%rd0];
  )"));
  run.buffer(data.words.data(), data.words.size());
  const Counted counted(run, 1, 64);
  BOOST_TEST(counted.of("ld.global").executed == 2u);
  BOOST_TEST(counted.of("ld.global").executedOn == 1u);
  BOOST_TEST(counted.memory("ld.global", CountedSpace::Global).requests == 1u);
}

BOOST_AUTO_TEST_CASE(waiting_counts_once) {
  Data data;
  // The second warp waits for the first, which goes on for long; the mbarrier is asked until its phase ends.
  SimRun run(ptxKernel(1, R"(
    .shared .b64 phase;
    mov.u32 %r0, %tid.x;
    setp.ne.u32 %p0, %r0, 0;
    @%p0 bra ready;
    mbarrier.init.shared.b64 [phase], 64;
  ready:
    bar.sync 0;
    setp.gt.u32 %p1, %r0, 31;
    @%p1 bra arrive;
    mov.u32 %r1, 0;
  loop:
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p2, %r1, 3000;
    @%p2 bra loop;
  arrive:
    mbarrier.arrive.shared.b64 %rd1, [phase];
  wait:
    mbarrier.test_wait.shared.b64 %p3, [phase], %rd1;
    @!%p3 bra wait;
    bar.sync 1;
  )"));
  run.buffer(data.words.data(), data.words.size());
  const Counted counted(run, 1, 64);
  BOOST_TEST(counted.of("bar.sync", 0).executed == 2u);
  BOOST_TEST(counted.of("bar.sync", 1).executed == 2u);
  BOOST_TEST(counted.of("add.u32").executed == 3000u);
  BOOST_TEST(counted.of("mbarrier.arrive").executed == 2u);
}

BOOST_AUTO_TEST_CASE(lanes_that_gather_are_one_instruction) {
  Data data;
  SimRun run(ptxKernel(1, R"(
    mov.u32 %r0, %laneid;
    setp.lt.u32 %p0, %r0, 16;
    @%p0 bra.uni low;
    mov.u32 %r1, 1;
    bra.uni both;
  low:
    mov.u32 %r1, 2;
  both:
    shfl.sync.bfly.b32 %r2, %r1, 16, 31, -1;
    st.global.u32 [%rd0], %r2;
  )"));
  run.buffer(data.words.data(), data.words.size());
  const Counted counted(run, 2, 64);
  BOOST_TEST(counted.of("shfl").executed == 4u);
  BOOST_TEST(counted.of("shfl").threads == 128u);
  BOOST_TEST(counted.of("bra.uni", 0).parted == 4u);
  BOOST_TEST(counted.of("bra.uni", 1).parted == 0u);
  BOOST_TEST(counted.of("mov.u32", 1).threads == 64u);
}

BOOST_AUTO_TEST_CASE(lanes_that_wait_for_others_of_their_warp_count_once) {
  Data data;
  // One way may lead past the shuffle, so the lanes do not meet in front of it: the first half tries, and waits for the other.
  SimRun run(ptxKernel(1, R"(
    mov.u32 %r0, %laneid;
    mov.u32 %r2, 0;
    setp.lt.u32 %p0, %r0, 16;
    setp.gt.u32 %p1, %r0, 40;
    @%p0 bra low;
    mov.u32 %r1, 1;
    bra.uni both;
  low:
    mov.u32 %r1, 2;
    @%p1 bra end;
  both:
    shfl.sync.bfly.b32 %r2, %r1, 16, 31, -1;
  end:
    st.global.u32 [%rd0], %r2;
  )"));
  run.buffer(data.words.data(), data.words.size());
  for (const char* schedule : {"turns", "seed:1", "seed:2"}) {
    const Counted counted(run, 2, 64, schedule);
    BOOST_TEST(counted.of("shfl").executed == 4u);
    BOOST_TEST(counted.of("shfl").executedOn == 4u);
    BOOST_TEST(counted.of("shfl").threads == 128u);
    BOOST_TEST(counted.of("shfl").threadsOn == 128u);
  }
}

BOOST_AUTO_TEST_CASE(clusters_on_threads_add_up) {
  Data data;
  SimRun run(ptxKernel(1, R"(
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %rd1, %r0, 4;
    add.s64 %rd2, %rd0, %rd1;
    ld.global.u32 %r1, [%rd2];
    red.global.add.u32 [%rd2], %r1;
  )"));
  run.buffer(data.words.data(), data.words.size());
  run.params.threads = 4;
  const Counted counted(run, 999, 96);
  BOOST_TEST(counted.of("ld.global").executed == 999u * 3);
  BOOST_TEST(counted.memory("ld.global", CountedSpace::Global).sectors == 999u * 3 * 4);
  BOOST_TEST(counted.memory("ld.global", CountedSpace::Global).bytes == 999u * 96 * 4);
  BOOST_TEST(counted.memory("red.global", CountedSpace::Global).requests == 999u * 3);
}

BOOST_AUTO_TEST_CASE(any_order_of_warps_gives_the_same_counts) {
  Data data;
  const auto counted = [&](const std::string& schedule) {
    SimRun run(ptxKernel(1, R"(
      .shared .b32 tile[64];
      mov.u32 %r0, %tid.x;
      shl.b32 %r1, %r0, 2;
      mov.u32 %r2, tile;
      add.u32 %r3, %r2, %r1;
      st.shared.u32 [%r3], %r0;
      bar.sync 0;
      xor.b32 %r4, %r1, 128;
      add.u32 %r5, %r2, %r4;
      ld.shared.u32 %r6, [%r5];
    )"));
    run.buffer(data.words.data(), data.words.size());
    const Counted found(run, 5, 64, schedule);
    std::vector<uint64_t> all;
    for (const InstructionCounts& one : found.counts.functions[0].body)
      all.insert(all.end(), {one.executed, one.threadsOn, one.memory[2].wavefronts});
    return all;
  };
  const auto first = counted("turns");
  BOOST_TEST(std::accumulate(first.begin(), first.end(), uint64_t(0)) > 0u);
  for (const char* schedule : {"seed:1", "seed:2", "seed:3"})
    BOOST_TEST(counted(schedule) == first, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(generic_accesses_count_where_they_reach) {
  Data data;
  SimRun run(ptxKernel(1, R"(
    .shared .align 16 .b32 tile[64];
    mov.u32 %r0, %tid.x;
    setp.lt.u32 %p0, %r0, 12;
    mov.u32 %r1, tile;
    cvta.shared.u64 %rd1, tile;
    cvta.global.u64 %rd2, %rd0;
    selp.b64 %rd3, %rd1, %rd2, %p0;
    mul.wide.u32 %rd4, %r0, 4;
    add.s64 %rd5, %rd3, %rd4;
    st.u32 [%rd5], %r0;
  )"));
  run.buffer(data.words.data(), data.words.size());
  const Counted counted(run);
  BOOST_TEST(counted.memory("st.u32", CountedSpace::Shared).bytes == 12u * 4);
  BOOST_TEST(counted.memory("st.u32", CountedSpace::Shared).wavefronts == 1u);
  BOOST_TEST(counted.memory("st.u32", CountedSpace::Global).bytes == 20u * 4);
}

BOOST_AUTO_TEST_CASE(parameters_of_calls_are_no_memory) {
  Data data;
  SimRun run(ptxKernel(1, R"(
    mov.u32 %r0, %tid.x;
    { .param .b32 a; .param .b32 b;
    st.param.b32 [a], %r0;
    call (b), twice, (a);
    ld.param.b32 %r1, [b]; }
    st.global.u32 [%rd0], %r1;
  )",
                       R"(
    .func (.param .b32 result) twice(.param .b32 value) {
      .reg .b32 %x;
      ld.param.b32 %x, [value];
      add.u32 %x, %x, %x;
      st.param.b32 [result], %x;
      ret;
    })"));
  run.buffer(data.words.data(), data.words.size());
  const Counted counted(run);
  BOOST_TEST(counted.of("add.u32").executed == 1u);
  for (const FunctionCounts& function : counted.counts.functions)
    for (const InstructionCounts& one : function.body)
      BOOST_TEST(one.memory[size_t(CountedSpace::Local)].requests == 0u);
}

BOOST_AUTO_TEST_CASE(nothing_is_counted_unless_asked) {
  Data data;
  SimRun run(ptxKernel(1, "st.global.u32 [%rd0], 1;"));
  run.buffer(data.words.data(), data.words.size());
  BOOST_TEST(!run.launch(1, 32).trap);
}

BOOST_AUTO_TEST_CASE(bytes_at_the_same_place_are_distinct_once) {
  const auto same = strided(0), apart = strided(8);
  BOOST_TEST(distinctBytes(kAllLanes, same.data(), 4) == 4u);
  BOOST_TEST(distinctBytes(kAllLanes, apart.data(), 4) == 128u);
  BOOST_TEST(distinctBytes(0xF, apart.data(), 4) == 16u);
}
