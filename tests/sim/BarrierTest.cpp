// tests/sim/BarrierTest.cpp -- barriers of CTAs and clusters, fences, and instructions about the machine.
#define BOOST_TEST_MODULE sim_barrier
#include "tests/sim/SimRun.h"
#include "tests/sim/Text.h"
#include <boost/test/unit_test.hpp>

using namespace tiletwin;
using namespace tiletwin::sim;

namespace {

constexpr std::string_view kShared = ".shared .align 8 .b8 s[1024];\n";

/// %r60 is the thread, %r61 its number in the grid, %r62 where its word in shared memory lies, %rd62 its word of p0.
constexpr std::string_view kBegin = R"(
  mov.u32 %r60, %tid.x; mov.u32 %r57, %ctaid.x; mov.u32 %r58, %ntid.x;
  mad.lo.u32 %r61, %r57, %r58, %r60;
  mul.wide.u32 %rd60, %r61, 4;
  add.s64 %rd62, %rd0, %rd60;
  mov.u32 %r59, s; shl.b32 %r56, %r60, 2; add.s32 %r62, %r59, %r56;
)";

std::vector<uint32_t> runGrid(const std::string& body, uint32_t grid, uint32_t block, uint32_t cluster = 1) {
  SimRun run(ptxKernel(1, std::string(kBegin) + body, kShared));
  std::vector<uint32_t> out(size_t(grid) * block, 0xDEAD);
  run.buffer(out);
  run.params.cluster = {cluster, 1, 1};
  const Result result = run.launch(grid, block);
  BOOST_REQUIRE_MESSAGE(!result.trap, result.trap.message);
  return out;
}

std::string trapOf(const std::string& body, uint32_t grid, uint32_t block, uint32_t cluster = 1) {
  SimRun run(ptxKernel(1, std::string(kBegin) + body, kShared));
  std::vector<uint32_t> out(size_t(grid) * block);
  run.buffer(out);
  run.params.cluster = {cluster, 1, 1};
  return run.launch(grid, block).trap.message;
}

} // namespace

BOOST_AUTO_TEST_CASE(all_threads_come_before_any_goes_on) {
  // Every thread reads what the opposite one has written, three times over.
  std::string body =
      "mov.b32 %r1, %r60;\nmov.u32 %r2, 127; sub.u32 %r2, %r2, %r60; shl.b32 %r2, %r2, 2; add.s32 %r3, %r59, %r2;\n";
  for (const std::string_view barrier :
       {"bar.sync 0;", "barrier.cta.sync.aligned 3;", "mov.b32 %r9, 5; barrier.sync %r9, 128;"})
    body += std::string("st.shared.u32 [%r62], %r1;\n") + std::string(barrier) +
            "\nld.shared.u32 %r1, [%r3];\nadd.u32 %r1, %r1, 1000;\nbar.sync 0;\n";
  body += "st.global.u32 [%rd62], %r1;";
  const auto out = runGrid(body, 2, 128);
  for (uint32_t i = 0; i < 256; ++i) BOOST_TEST(out[i] == 3000 + 127 - i % 128);
}

BOOST_AUTO_TEST_CASE(producers_arrive_and_consumers_wait) {
  // Warps 0 and 1 pass a value on through barrier 1, which expects 64 threads; warps 2 and 3 do the same through barrier 2.
  const auto out = runGrid(R"(
  shr.u32 %r1, %r60, 6; add.u32 %r1, %r1, 1;
  and.b32 %r2, %r60, 32; setp.eq.u32 %p1, %r2, 0;
  @!%p1 bra Consumer;
  mul.lo.u32 %r3, %r60, 3; st.shared.u32 [%r62], %r3;
  bar.arrive %r1, 64;
  st.global.u32 [%rd62], %r1;
  ret;
Consumer:
  bar.sync %r1, 64;
  ld.shared.u32 %r3, [%r62+-128];
  st.global.u32 [%rd62], %r3;)",
                           1, 128);
  for (uint32_t i = 0; i < 128; ++i) BOOST_TEST(out[i] == (i & 32 ? 3 * (i - 32) : 1 + i / 64));
}

BOOST_AUTO_TEST_CASE(reductions_over_a_cta) {
  const auto out = runGrid(R"(
  rem.u32 %r1, %r60, 3; setp.eq.u32 %p1, %r1, 0; setp.lt.u32 %p2, %r60, 96; setp.eq.u32 %p3, %r60, 95;
  barrier.red.popc.aligned.u32 %r2, 0, %p1;
  bar.red.popc.u32 %r3, 0, !%p1;
  barrier.cta.red.and.aligned.pred %p4, 1, 96, %p2;
  bar.red.and.pred %p5, 0, %p1;
  bar.red.or.pred %p6, 2, %p3;
  barrier.red.or.pred %p7, 0, !%p2;
  selp.u32 %r4, 1, 0, %p4; selp.u32 %r5, 2, 0, %p5; selp.u32 %r6, 4, 0, %p6; selp.u32 %r7, 8, 0, %p7;
  or.b32 %r4, %r4, %r5; or.b32 %r4, %r4, %r6; or.b32 %r4, %r4, %r7;
  shl.b32 %r2, %r2, 8; shl.b32 %r3, %r3, 16; or.b32 %r4, %r4, %r2; or.b32 %r4, %r4, %r3;
  st.global.u32 [%rd62], %r4;)",
                           1, 96);
  for (const uint32_t value : out) BOOST_TEST(value == (64u << 16 | 32u << 8 | 4 | 1));
}

BOOST_AUTO_TEST_CASE(threads_that_have_exited_are_not_waited_for) {
  const auto out = runGrid(R"(
  setp.ge.u32 %p1, %r60, 64; @%p1 ret;
  setp.eq.u32 %p2, %r60, 5; @%p2 ret;
  bar.sync 0;
  mov.u32 %r1, 1; st.global.u32 [%rd62], %r1;)",
                           1, 128);
  for (uint32_t i = 0; i < 128; ++i) BOOST_TEST(out[i] == (i < 64 && i != 5 ? 1u : 0xDEADu));
  // ... also if they exit while the others wait.
  const auto late = runGrid(R"(
  setp.lt.u32 %p1, %r60, 32; @%p1 bra Wait;
  mov.u32 %r2, 0;
L: add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 3000; @%p2 bra L;
  ret;
Wait:
  bar.sync 0;
  st.global.u32 [%rd62], %r60;)",
                            1, 64);
  for (uint32_t i = 0; i < 64; ++i) BOOST_TEST(late[i] == (i < 32 ? i : 0xDEADu));
}

BOOST_AUTO_TEST_CASE(lanes_come_one_by_one_to_barriers_that_are_not_aligned) {
  const auto out = runGrid(R"(
  st.shared.u32 [%r62], %r60;
  and.b32 %r1, %r60, 1; setp.eq.u32 %p1, %r1, 0;
  @%p1 bra Even;
  barrier.sync 0;
  bra.uni Join;
Even:
  barrier.sync 0;
Join:
  mov.u32 %r2, 63; sub.u32 %r2, %r2, %r60; shl.b32 %r2, %r2, 2; add.s32 %r2, %r2, %r59;
  ld.shared.u32 %r3, [%r2];
  st.global.u32 [%rd62], %r3;)",
                           1, 64);
  for (uint32_t i = 0; i < 64; ++i) BOOST_TEST(out[i] == 63 - i);
}

BOOST_AUTO_TEST_CASE(mistakes_at_barriers_are_traps) {
  has(trapOf("mov.u32 %r1, 16; bar.sync %r1;", 1, 32), "names barrier 16, and there are 16");
  has(trapOf("bar.sync 1, 33;", 1, 64), "expects 33 threads");
  has(trapOf("bar.sync %r60;", 1, 32), "names barrier");
  has(trapOf("setp.lt.u32 %p1, %r60, 32; @%p1 bar.sync 1, 64; @!%p1 bar.sync 1, 96;", 1, 64),
      "others that wait there expect");
  has(trapOf("bar.sync 1, 96;", 1, 64), "no thread of this cluster can go on");
  has(trapOf("setp.lt.u32 %p1, %r60, 7; @%p1 bar.sync 0; bar.sync 1;", 1, 32), "no thread of this cluster can go on");
}

BOOST_AUTO_TEST_CASE(ctas_of_a_cluster_exchange_through_shared_memory) {
  // Each CTA writes into the next one's shared memory, twice.
  const auto out = runGrid(R"(
  mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, %cluster_nctarank;
  add.u32 %r3, %r1, 1; rem.u32 %r3, %r3, %r2;
  mapa.shared::cluster.u32 %r4, %r62, %r3;
  getctarank.shared::cluster.u32 %r5, %r4;
  mad.lo.u32 %r6, %r1, 1000, %r60;
  barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;
  st.shared::cluster.u32 [%r4], %r6;
  barrier.cluster.arrive; barrier.cluster.wait;
  ld.shared.u32 %r7, [%r62];
  cvt.u64.u32 %rd1, %r62; cvta.shared.u64 %rd1, %rd1;
  mapa.u64 %rd2, %rd1, %r3;
  barrier.cluster.arrive.relaxed; mad.lo.u32 %r7, %r5, 100000, %r7; barrier.cluster.wait;
  st.u32 [%rd2], %r7;
  getctarank.u64 %r8, %rd2;
  barrier.cluster.arrive; barrier.cluster.wait;
  ld.shared.u32 %r9, [%r62];
  mad.lo.u32 %r9, %r8, 1000000, %r9;
  st.global.u32 [%rd62], %r9;)",
                           8, 64, 4);
  for (uint32_t i = 0; i < 512; ++i) {
    const uint32_t rank = i / 64 % 4, first = (rank + 2) % 4;
    BOOST_TEST(out[i] == (rank + 1) % 4 * 1000000 + rank * 100000 + first * 1000 + i % 64);
  }
}

BOOST_AUTO_TEST_CASE(a_cluster_does_not_wait_for_threads_that_have_exited) {
  const auto out = runGrid(R"(
  mov.u32 %r1, %cluster_ctarank; setp.eq.u32 %p1, %r1, 1; @%p1 ret;
  barrier.cluster.arrive; setp.eq.u32 %p2, %r60, 3; @%p2 ret;
  barrier.cluster.wait;
  barrier.cluster.arrive; barrier.cluster.wait;
  st.global.u32 [%rd62], %r60;)",
                           2, 64, 2);
  for (uint32_t i = 0; i < 128; ++i) BOOST_TEST(out[i] == (i < 64 && i != 3 ? i : 0xDEADu));
}

BOOST_AUTO_TEST_CASE(mistakes_in_clusters_are_traps) {
  has(trapOf("barrier.cluster.wait;", 2, 32, 2), "without having arrived");
  has(trapOf("barrier.cluster.arrive; barrier.cluster.arrive;", 2, 32, 2), "twice without waiting");
  has(trapOf("mov.u32 %r1, %cluster_ctarank; setp.eq.u32 %p1, %r1, 0; @%p1 bra W; L: bra L; W: barrier.cluster.arrive; "
             "barrier.cluster.wait; mapa.shared::cluster.u32 %r1, %r62, 2;",
             1, 32, 1),
      "names CTA 2 of a cluster of 1");
}

BOOST_AUTO_TEST_CASE(fences_and_the_like_load_and_run) {
  std::string body = "mov.u64 %rd5, %rd0;\n";
  for (const std::string_view text : {"membar.cta;",
                                      "membar.gl;",
                                      "membar.sys;",
                                      "membar.proxy.alias;",
                                      "fence.cta;",
                                      "fence.sc.gpu;",
                                      "fence.acq_rel.sys;",
                                      "fence.acquire.cluster;",
                                      "fence.release.gpu;",
                                      "fence.acquire.sync_restrict::shared::cluster.cluster;",
                                      "fence.release.sync_restrict::shared::cta.cluster;",
                                      "fence.mbarrier_init.release.cluster;",
                                      "fence.proxy.alias;",
                                      "fence.proxy.async;",
                                      "fence.proxy.async.global;",
                                      "fence.proxy.async.shared::cta;",
                                      "fence.proxy.async.shared::cluster;",
                                      "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;",
                                      "fence.proxy.tensormap::generic.release.gpu;",
                                      "nanosleep.u32 100;",
                                      "pmevent 7;",
                                      "pmevent.mask 5;",
                                      "setmaxnreg.inc.sync.aligned.u32 232;",
                                      "setmaxnreg.dec.sync.aligned.u32 40;",
                                      "griddepcontrol.wait;",
                                      "griddepcontrol.launch_dependents;"})
    body += std::string(text) + "\n";
  body += "st.global.u32 [%rd62], %r60;";
  const auto out = runGrid(body, 1, 32);
  for (uint32_t i = 0; i < 32; ++i) BOOST_TEST(out[i] == i);
  const auto errorOf = [](std::string_view text) { return SimRun::loadError(ptxKernel(1, text)); };
  has(errorOf("fence.gl;"), "fence wants a scope");
  has(errorOf("fence.proxy.texture;"), "a proxy fence is");
  has(errorOf("fence.acquire.sync_restrict::shared::cta.cluster;"), "a restricted fence is");
  has(errorOf("membar.gpu;"), "membar wants");
  has(errorOf("setmaxnreg.inc.sync.aligned.u32 30;"), "a multiple of 8");
  has(errorOf("bar.cluster.arrive;"), "barrier.cluster does");
  has(errorOf("bar.red.xor.pred %p1, 0, %p2;"), "wants .popc, .and or .or");
  has(errorOf("bar.arrive 0;"), "operands");
  has(errorOf("fence.sc.gpu.volatile;"), "volatile");
}

namespace {
/// What a kernel of `warps` warps says that ends with a trap, or nothing; `directives` stand before its body.
std::string withRegisters(std::string_view directives, std::string_view body, uint32_t warps) {
  std::string text = ptxKernel(1, std::string(kBegin) + std::string(body), kShared);
  const size_t at = text.find(")\n{");
  text.insert(at + 2, std::string(directives) + "\n");
  SimRun run(text);
  std::vector<uint32_t> out(size_t(warps) * 32);
  run.buffer(out);
  return run.launch(1, warps * 32).trap.message;
}
} // namespace

BOOST_AUTO_TEST_CASE(registers_come_from_those_that_others_give_back) {
  // Warp 0 gives back what the others take: with .maxntid 128 a thread has 256 at first, with 512 threads 128.
  const std::string body = R"(
  setp.lt.u32 %p1, %r60, 256;
  @%p1 bra GIVE;
  setmaxnreg.inc.sync.aligned.u32 WANTED;
  bra END;
GIVE:
  setmaxnreg.dec.sync.aligned.u32 40;
END:
)";
  const auto wanting = [&](std::string_view wanted) {
    std::string text = body;
    return text.replace(text.find("WANTED"), 6, wanted);
  };
  for (const std::string_view directive :
       {".maxntid 512, 1, 1", ".reqntid 512", ".maxntid 512 .minnctapersm 1", ".maxnreg 128"})
    BOOST_TEST(withRegisters(directive, wanting("216"), 16) == "", directive); // 8 warps x 88 for 8 warps x 88
  const std::string message = withRegisters(".reqntid 512", wanting("224"), 16);
  has(message, "no thread of this cluster can go on");
  has(message, "setmaxnreg.inc waits for 3072 registers, and the CTA's pool has 1024");
  BOOST_TEST(withRegisters("", wanting("224"), 16) == ""); // of such a kernel nobody knows how many it has
  // Nobody gives any back.
  has(withRegisters(".maxnreg 64", "setmaxnreg.inc.sync.aligned.u32 72;", 1), "the CTA's pool has 0");
  has(withRegisters(".maxnreg 64", "setmaxnreg.inc.sync.aligned.u32 56;", 1),
      "setmaxnreg.inc to 56 registers, but the warp's threads have 64 already");
  has(withRegisters(".maxnreg 64", "setmaxnreg.dec.sync.aligned.u32 72;", 1),
      "setmaxnreg.dec to 72 registers, but the warp's threads have 64 only");
  BOOST_TEST(withRegisters(".maxnreg 64", "setmaxnreg.dec.sync.aligned.u32 24;\nsetmaxnreg.inc.sync.aligned.u32 64;",
                           1) == "");
}
