// tests/sim/StoreAsyncTest.cpp -- st.async and red.async: what arrives in the other CTA, and that it arrives with the wait.
#define BOOST_TEST_MODULE sim_store_async
#include "tests/sim/SimRun.h"
#include "tests/sim/Text.h"
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <functional>

using namespace tiletwin;
using namespace tiletwin::sim;

namespace {

constexpr std::string_view kShared = ".shared .align 16 .b8 s[512];\n.shared .align 8 .b64 bar;\n";
constexpr uint32_t kThreads = 32, kBytes = 16 * kThreads;

/// %r60 thread, %r61 rank; %r59, %r10: s and bar, %r58 the thread's 16 bytes of s; %r57, %r11: those of the other CTA of two, as
/// shared::cluster addresses; %rd57, %rd11: as generic ones; %rd62: the thread's 16 bytes of p0. s is filled with 0x11111111, and
/// bar waits for one arrival and `bytes`.
std::string begin(uint32_t bytes) {
  return R"(
  mov.u32 %r60, %tid.x; mov.u32 %r61, %cluster_ctarank; mov.u32 %r59, s; mov.u32 %r10, bar;
  shl.b32 %r1, %r60, 4; add.s32 %r58, %r59, %r1;
  mov.u32 %r2, %ctaid.x; mad.lo.u32 %r2, %r2, 512, %r1; cvt.u64.u32 %rd62, %r2; add.s64 %rd62, %rd62, %rd0;
  mov.b32 %r3, 0x11111111; st.shared.v4.b32 [%r58], {%r3, %r3, %r3, %r3};
  setp.ne.u32 %p1, %r60, 0;
  @!%p1 mbarrier.init.shared::cta.b64 [%r10], 1;
  @!%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r10], )" +
         std::to_string(bytes) + R"(;
  barrier.cluster.arrive; barrier.cluster.wait;
  xor.b32 %r4, %r61, 1; mapa.shared::cluster.u32 %r57, %r58, %r4; mapa.shared::cluster.u32 %r11, %r10, %r4;
  cvt.u64.u32 %rd2, %r58; cvta.shared.u64 %rd2, %rd2; mapa.u64 %rd57, %rd2, %r4;
  cvt.u64.u32 %rd2, %r10; cvta.shared.u64 %rd2, %rd2; mapa.u64 %rd11, %rd2, %r4;
)";
}
constexpr std::string_view kWait = R"(
W: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [%r10], 0; @!%p2 bra W;
)";
constexpr std::string_view kShow =
    "ld.shared.v4.b32 {%r50, %r51, %r52, %r53}, [%r58]; st.global.v4.b32 [%rd62], {%r50, %r51, %r52, %r53};\n";
constexpr std::string_view kEnd = "barrier.cluster.arrive; barrier.cluster.wait;\n";

struct Outcome {
  std::vector<uint32_t> out; ///< four words a thread, CTA by CTA
  std::string trap;
};
Outcome runPair(const std::string& body) {
  SimRun run(ptxKernel(1, body, kShared));
  Outcome result;
  result.out.assign(2 * 4 * kThreads, 0xDEAD);
  run.buffer(result.out);
  run.params.cluster = {2, 1, 1};
  result.trap = run.launch(2, kThreads).trap.message;
  return result;
}
std::vector<uint32_t> good(const std::string& body) {
  const Outcome outcome = runPair(body);
  BOOST_REQUIRE_MESSAGE(outcome.trap.empty(), outcome.trap);
  return outcome.out;
}

const std::string kStore = "st.async.shared::cluster.mbarrier::complete_tx::bytes",
                  kReduce = "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes";

} // namespace

BOOST_AUTO_TEST_CASE(vectors_arrive_in_the_other_cta) {
  const auto out = good(begin(kBytes) + "mad.lo.u32 %r20, %r61, 1000, %r60; add.u32 %r21, %r20, 100;\n" + kStore +
                        ".v4.b32 [%r57], {%r20, %r21, 7, %r60}, [%r11];\nmov.b32 %r21, 5;\n" + std::string(kWait) +
                        std::string(kShow) + std::string(kEnd));
  for (uint32_t cta = 0; cta < 2; ++cta)
    for (uint32_t i = 0; i < kThreads; ++i) {
      const uint32_t* got = &out[4 * (cta * kThreads + i)];
      const uint32_t sent = 1000 * (1 - cta) + i;
      BOOST_TEST(got[0] == sent);
      BOOST_TEST(got[1] == sent + 100); // as it was when the store was issued
      BOOST_TEST(got[2] == 7u);
      BOOST_TEST(got[3] == i);
    }
}

BOOST_AUTO_TEST_CASE(nothing_arrives_before_the_wait) {
  const auto out = good(begin(4 * kThreads) + kStore + ".u32 [%r57+4], %r60, [%r11];\n" + std::string(kEnd) +
                        std::string(kShow) + std::string(kWait) + std::string(kEnd));
  for (const uint32_t word : out) BOOST_TEST(word == 0x11111111u);
}

BOOST_AUTO_TEST_CASE(one_element_and_two_of_64_bits) {
  const auto scalar = good(begin(8 * kThreads) + "cvt.u64.u32 %rd20, %r60; or.b64 %rd20, %rd20, 0x7700000000;\n" +
                           "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.s64 [%r57+8], %rd20, [%r11];\n" +
                           std::string(kWait) + std::string(kShow) + std::string(kEnd));
  const auto pair =
      good(begin(kBytes) + "cvt.rn.f64.u32 %fd1, %r60; mov.f64 %fd2, 0d4000000000000000;\n" +
           "st.async.mbarrier::complete_tx::bytes.v2.f64 [%rd57], {%fd1, %fd2}, [%rd11];\n" + // generic addresses
           std::string(kWait) + std::string(kShow) + std::string(kEnd));
  for (uint32_t i = 0; i < 2 * kThreads; ++i) {
    const uint32_t* word = &scalar[4 * i];
    BOOST_TEST(word[1] == 0x11111111u);
    BOOST_TEST(word[2] == i % kThreads);
    BOOST_TEST(word[3] == 0x77u);
    double values[2];
    std::memcpy(values, &pair[4 * i], sizeof values);
    BOOST_TEST(values[0] == double(i % kThreads));
    BOOST_TEST(values[1] == 2.0);
  }
}

BOOST_AUTO_TEST_CASE(lanes_that_are_not_active_send_nothing) {
  const auto out = good(begin(4 * 5) + "setp.lt.u32 %p3, %r60, 5;\n@%p3 " + kStore + ".b32 [%r57], 3, [%r11];\n" +
                        std::string(kWait) + std::string(kShow) + std::string(kEnd));
  for (uint32_t i = 0; i < 2 * kThreads; ++i) BOOST_TEST(out[4 * i] == (i % kThreads < 5 ? 3u : 0x11111111u));
}

/// All threads reduce into the other CTA's first element.
BOOST_AUTO_TEST_CASE(reductions) {
  struct Row {
    std::string operation;
    bool isWide;
    std::function<uint64_t(uint64_t old, uint64_t b)> apply;
  };
  const Row rows[] = {
      {"add.u32", false, [](uint64_t x, uint64_t b) { return uint32_t(x + b); }},
      {"add.s32", false, [](uint64_t x, uint64_t b) { return uint32_t(x + b); }},
      {"add.u64", true, [](uint64_t x, uint64_t b) { return x + b; }},
      {"add.s64", true, [](uint64_t x, uint64_t b) { return x + b; }},
      {"min.u32", false, [](uint64_t x, uint64_t b) { return std::min(x, b); }},
      {"max.u32", false, [](uint64_t x, uint64_t b) { return std::max(x, b); }},
      {"min.s32", false, [](uint64_t x, uint64_t b) { return uint32_t(std::min(int32_t(x), int32_t(b))); }},
      {"max.s32", false, [](uint64_t x, uint64_t b) { return uint32_t(std::max(int32_t(x), int32_t(b))); }},
      {"inc.u32", false, [](uint64_t x, uint64_t b) { return x >= b ? 0 : x + 1; }},
      {"dec.u32", false, [](uint64_t x, uint64_t b) { return x == 0 || x > b ? b : x - 1; }},
      {"and.b32", false, [](uint64_t x, uint64_t b) { return x & b; }},
      {"or.b32", false, [](uint64_t x, uint64_t b) { return x | b; }},
      {"xor.b32", false, [](uint64_t x, uint64_t b) { return x ^ b; }},
  };
  for (const Row& row : rows) {
    // Values of both signs; for inc and dec the limit that all threads name.
    const bool counts = row.operation.starts_with("inc") || row.operation.starts_with("dec");
    const auto value = [&](uint32_t thread) {
      return counts ? uint64_t(0x11111120)
                    : uint64_t(row.isWide ? int64_t(thread - 9u) * 0x100000001 : uint32_t(thread * 0x9E3779B1u));
    };
    const uint32_t bytes = row.isWide ? 8 : 4;
    std::string body = begin(bytes * kThreads);
    if (counts)
      body += "mov.b32 %r20, 0x11111120;\n";
    else if (row.isWide)
      body += "sub.u32 %r20, %r60, 9; cvt.u64.u32 %rd20, %r20; mul.lo.u64 %rd20, %rd20, 0x100000001;\n";
    else
      body += "mul.lo.u32 %r20, %r60, 0x9E3779B1;\n";
    body += "mapa.shared::cluster.u32 %r56, %r59, %r4;\n" + kReduce + "." + row.operation +
            (row.isWide ? " [%r56], %rd20, [%r11];\n" : " [%r56], %r20, [%r11];\n") + std::string(kWait) +
            std::string(kShow) + std::string(kEnd);
    const auto out = good(body);
    uint64_t want = row.isWide ? 0x1111111111111111 : 0x11111111;
    for (uint32_t i = 0; i < kThreads; ++i) want = row.apply(want, value(i));
    for (uint32_t cta = 0; cta < 2; ++cta) {
      const uint32_t* first = &out[4 * cta * kThreads];
      BOOST_TEST(first[0] == uint32_t(want), row.operation);
      BOOST_TEST(first[1] == (row.isWide ? uint32_t(want >> 32) : 0x11111111u), row.operation);
    }
  }
}

BOOST_AUTO_TEST_CASE(mistakes_are_traps) {
  const auto trap = [](const std::string& instruction) {
    return runPair(begin(4 * kThreads) + instruction + "\n" + std::string(kEnd)).trap;
  };
  has(trap(kStore + ".b32 [%r57], %r60, [%r10];"), "mbarrier of another CTA");
  has(trap(kStore + ".b32 [%r57], %r60, [%r57];"), "no mbarrier there");
  has(trap(kStore + ".b32 [%r57+2], %r60, [%r11];"), "no multiple of 4");
  has(trap(kStore + ".v4.b32 [%r57+8], {%r1, %r2, %r3, %r4}, [%r11];"), "no multiple of 16");
  has(trap(kStore + ".b32 [%r57+4096], %r60, [%r11];"), "shared memory");
  has(trap("st.async.mbarrier::complete_tx::bytes.b32 [%rd62], %r60, [%rd11];"), "outside of shared memory");
  has(trap(std::string(kWait)), "no thread of this cluster can go on");
}

BOOST_AUTO_TEST_CASE(forms_that_do_not_exist_do_not_load) {
  const auto error = [](const std::string& text, std::string_view target = "sm_90a") {
    return SimRun::loadError(ptxKernel(1, text, "", target));
  };
  const std::string tx = ".mbarrier::complete_tx::bytes";
  has(error("st.async.shared::cluster.b32 [%r1], %r2, [%r3];"), "wants .mbarrier::complete_tx::bytes");
  has(error("st.async.mmio.release.sys.global.b32 [%rd1], %r2;"), "sm_100");
  has(error("red.async.release.gpu.global.add.u32 [%rd1], %r2;"), "sm_100");
  has(error("st.bulk.weak.shared::cta [%r1], %rd2, 0;"), "sm_100");
  has(error(kStore + ".b16 [%r1], %h2, [%r3];"), "wants a type of .b32");
  has(error(kStore + ".f16x2 [%r1], %r2, [%r3];"), "wants a type of .b32");
  has(error(kStore + ".b128 [%r1], %q2, [%r3];"), "wants a type of .b32");
  has(error(kStore + ".v4.b64 [%r1], {%rd1, %rd2, %rd3, %rd4}, [%r3];"), "more than 16 bytes");
  has(error(kStore + ".v2.b32 [%r1], %r2, [%r3];"), "2 elements");
  has(error(kStore + ".b32 [%r1], {%r2, %r4}, [%r3];"), "1 elements");
  has(error(kStore + ".b32 [%r1], %rd2, [%r3];"), "does not fit .b32");
  has(error(kStore + ".b32 [%r1], %r2;"), "operands");
  has(error("st.async.weak.cluster.shared::cluster" + tx + ".b32 [%r1], %r2, [%r3];"), "cluster");
  has(error(kReduce + ".add.f32 [%r1], %f2, [%r3];"), "no .add of .f32");
  has(error(kReduce + ".and.b64 [%r1], %rd2, [%r3];"), "no .and of .b64");
  has(error(kReduce + ".max.u64 [%r1], %rd2, [%r3];"), "no .max of .u64");
  has(error(kReduce + ".cas.b32 [%r1], %r2, [%r3];"), ".add .min");
  has(error("red.async.relaxed.shared::cluster" + tx + ".add.u32 [%r1], %r2, [%r3];"), ".relaxed.cluster");
  has(error("red.async.relaxed.cluster.shared::cta" + tx + ".add.u32 [%r1], %r2, [%r3];"), "shared::cta");
  has(error(kStore + ".b32 [%r1], %r2, [%r3];", "sm_80"), "sm_90");
}
