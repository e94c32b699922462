// tests/sim/BarrierCheckTest.cpp -- the check of barriers: parts of warps, counts, mbarriers; and what deadlocks say is missing.
// Not here:  what barriers do when they are used as they should be (BarrierTest.cpp, MbarrierTest.cpp).
#define BOOST_TEST_MODULE sim_barriercheck
#include "tests/sim/CheckedRun.h"

using namespace tiletwin;
using namespace tiletwin::sim;

namespace {

constexpr std::string_view kShared = ".shared .align 128 .b8 s[256];\n.shared .align 8 .b64 bar;\n";

std::string textOf(const std::string& body) {
  return ptxKernel(
      2,
      "mov.u32 %r60, %tid.x; setp.ne.u32 %p60, %r60, 0; setp.ge.u32 %p61, %r60, 16; setp.ge.u32 %p62, %r60, 32;\n" +
          body,
      kShared);
}
/// Of what copies do wrong besides the check of asynchronous operations has tests of its own.
Launched threads(uint32_t block) {
  Launched how;
  how.block = block;
  how.prepare = [](SimRun& run) { run.params.checks.async = false; };
  return how;
}
Finding reports(const std::string& body, std::string_view message, uint32_t block) {
  return expectFinding(textOf(body), Check::Barriers, message, threads(block));
}
void isSilent(const std::string& body, uint32_t block) { expectNothing(textOf(body), threads(block)); }

/// The message of a launch that deadlocks.
std::string deadlock(const std::string& body, const Launched& how) {
  const Said said = runChecked(textOf(body), how);
  BOOST_REQUIRE_MESSAGE((said.trap.kind == TrapKind::Deadlock), describe(said));
  return said.trap.message;
}
void has(const std::string& text, std::string_view part) {
  BOOST_TEST(text.find(part) != std::string::npos, "'" << text << "' lacks '" << part << "'");
}

const std::string kTry = "W: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;\n@!%p1 bra W;\n";
std::string init(int count) {
  return "@!%p60 mbarrier.init.shared::cta.b64 [bar], " + std::to_string(count) + ";\nbar.sync 0;\n";
}

constexpr std::string_view kPart = "only part of the warp has come to",
                           kTwo = "waits at while other lanes wait at another";

} // namespace

BOOST_AUTO_TEST_SUITE(parts_of_warps)

BOOST_AUTO_TEST_CASE(lanes_leave_a_barrier_out) {
  const Finding f = reports("@%p61 bra BEHIND;\nbar.sync 0; // HERE\nBEHIND: st.global.u32 [%rd0], %r60;\n", kPart, 32);
  BOOST_TEST(f.elementCount == 16);
  BOOST_TEST((f.elements == std::vector<int64_t>{0, 1, 2, 3}));
  reports("@%p61 bra BEHIND;\nbarrier.sync.aligned 3; // HERE\nBEHIND: st.global.u32 [%rd0], %r60;\n", kPart, 32);
  reports("@%p61 bra BEHIND;\nbarrier.cluster.arrive.aligned; // HERE\nbarrier.cluster.wait;\nBEHIND: st.global.u32 "
          "[%rd0], %r60;\n",
          kPart, 32);
  isSilent("@%p61 bra BEHIND;\nbarrier.sync 0, 32;\nBEHIND: st.global.u32 [%rd0], %r60;\n", 32); // need not be whole
  isSilent("@%p62 bra BEHIND;\nbar.sync 1, 32;\nBEHIND: st.global.u32 [%rd0], %r60;\n", 64);     // a warp leaves it out
}

BOOST_AUTO_TEST_CASE(lanes_that_exit_are_not_expected) {
  isSilent("@%p61 bra END;\nbar.sync 0;\nst.global.u32 [%rd0], %r60;\nEND:\n", 32);
  isSilent("@%p61 exit;\nbar.sync 0;\n", 32);
  isSilent("@%p61 ret;\nbar.sync 0;\n", 64);
}

BOOST_AUTO_TEST_CASE(lanes_come_later) {
  isSilent("@%p61 bra NEXT;\nst.global.u32 [%rd0], %r60;\nNEXT: bar.sync 0;\n", 32);
  // The loop's lanes come to the barrier after different numbers of rounds.
  isSilent("mov.u32 %r1, %r60;\nL: sub.u32 %r1, %r1, 1; setp.gt.s32 %p1, %r1, 0;\n@%p1 bra L;\nbar.sync 0;\n", 64);
}

BOOST_AUTO_TEST_CASE(lanes_wait_at_two_places) {
  const std::string body = "@%p61 bra OTHER;\nbar.sync 0; // THERE\nbra DONE;\nOTHER: bar.sync 0; // HERE\nDONE:\n";
  const Said said = runChecked(textOf(body), threads(32));
  BOOST_TEST((said.trap.kind == TrapKind::Deadlock));
  has(said.trap.message, "waits for the other lanes of the warp");
  BOOST_REQUIRE_MESSAGE(said.findings.size() == 1u, describe(said));
  has(said.findings.front().message, kTwo);
  BOOST_REQUIRE(said.findings.front().second.has_value());
  const int lines[] = {said.findings.front().where.line, said.findings.front().second->line};
  BOOST_TEST(std::max(lines[0], lines[1]) == linesOf(textOf(body), "// HERE").front());
  BOOST_TEST(std::min(lines[0], lines[1]) == linesOf(textOf(body), "// THERE").front());
}

BOOST_AUTO_TEST_CASE(can_be_switched_off) {
  Launched how = threads(32);
  how.prepare = [](SimRun& run) { run.params.checks.barriers = false; };
  expectNothing(textOf("@%p61 bra BEHIND;\nbar.sync 0;\nBEHIND: st.global.u32 [%rd0], %r60;\n"), how);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE(counts)

BOOST_AUTO_TEST_CASE(do_not_agree) {
  const std::string two = "@%p62 bra OTHER;\nbar.sync 1, 64; // THERE\nbra DONE;\nOTHER: bar.sync 1";
  reports(two + ", 96; // HERE\nDONE:\n", "expects 96 threads at barrier 1, where others wait for 64", 64);
  reports(two + "; // HERE\nDONE:\n", "expects all threads at barrier 1, where others wait for 64", 64);
  isSilent(two + ", 64;\nDONE:\n", 64);
}

BOOST_AUTO_TEST_CASE(nobody_waits) {
  const std::string two = "@%p62 bra OTHER;\nbar.arrive 1, 64; // THERE\nbra DONE;\nOTHER: bar.";
  reports(two + "arrive 1, 64; // HERE\nDONE:\n", "completes a phase of barrier 1 that nobody waits for", 64);
  isSilent(two + "sync 1, 64;\nDONE:\n", 64);
}

BOOST_AUTO_TEST_CASE(are_too_large) {
  const std::string message = deadlock("@%p62 bra DONE;\nbar.sync 1, 64;\nDONE:\n", threads(64));
  has(message, "no thread of this cluster can go on");
  has(message, "warp 0, all lanes of CTA (0, 0, 0): bar.sync: barrier 1 waits for 64 threads, 32 have come");
  BOOST_TEST(message.find("warp 1") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(of_different_barriers) {
  const std::string message =
      deadlock("@%p62 bra OTHER;\nbar.sync 1, 64;\nbra DONE;\nOTHER: barrier.sync 2, 64;\nDONE:\n", threads(64));
  has(message, "warp 0, all lanes of CTA (0, 0, 0): bar.sync: barrier 1 waits for 64 threads, 32 have come");
  has(message, "warp 1, all lanes of CTA (0, 0, 0): barrier.sync: barrier 2 waits for 64 threads, 32 have come");
}

BOOST_AUTO_TEST_CASE(of_all_threads) {
  // Warp 1 waits for a lock that is never free.
  Launched how = threads(64);
  how.limit = 20000;
  const std::string message = deadlock("@%p62 bra SPIN;\nbar.sync 0;\nbra DONE;\nSPIN: ld.volatile.global.u32 %r1, "
                                       "[%rd0];\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra SPIN;\nDONE:\n",
                                       how);
  has(message, "has run 20000 instructions");
  has(message, "bar.sync: barrier 0 waits for 64 threads, 32 have come");
  has(message, "warp 1, all lanes, running of CTA (0, 0, 0)");
}

BOOST_AUTO_TEST_CASE(of_a_cluster) {
  Launched how = threads(32);
  how.grid = how.cluster = 2;
  const std::string message =
      deadlock("mov.u32 %r1, %cluster_ctarank; setp.ne.u32 %p1, %r1, 0;\nbarrier.cluster.arrive;\n"
               "@%p1 bra OTHER;\nbarrier.cluster.wait;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n"
               "bra DONE;\nOTHER: barrier.cluster.wait;\nbar.sync 1, 64;\nDONE:\n",
               how);
  has(message, "barrier.cluster.wait: the cluster's barrier waits for 64 threads, 32 have come");
  has(message, "of CTA (1, 0, 0): bar.sync: barrier 1 waits for 64 threads, 32 have come");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE(mbarriers)

BOOST_AUTO_TEST_CASE(that_nobody_has_initialised) {
  for (const char* use :
       {"mbarrier.arrive.shared::cta.b64 %rd5, [bar]", "mbarrier.test_wait.parity.shared::cta.b64 %p1, [bar], 0",
        "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 16", "mbarrier.inval.shared::cta.b64 [bar]",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%rd0], 16, [bar]",
        "cp.async.mbarrier.arrive.shared::cta.b64 [bar]"}) {
    const Finding f =
        reports("@%p60 bra DONE;\n" + std::string(use) + "; // HERE\nDONE:\n", "finds no mbarrier there", 32);
    BOOST_TEST((f.elements == std::vector<int64_t>{0}));
  }
  reports(init(1) + "@%p60 bra DONE;\nmbarrier.inval.shared::cta.b64 [bar];\nmbarrier.arrive.shared::cta.b64 _, [bar]; "
                    "// HERE\nDONE:\n",
          "finds no mbarrier there", 32);
}

BOOST_AUTO_TEST_CASE(that_too_many_arrive_at) {
  const std::string make = "@!%p60 mbarrier.init.shared::cta.b64 [bar], 2; // THERE\nbar.sync 0;\n";
  reports(make + "@!%p60 mbarrier.arrive.shared::cta.b64 _, [bar], 3; // HERE\n",
          "arrives 3 times at an mbarrier whose phase waits for 2", 32);
}

BOOST_AUTO_TEST_CASE(that_are_initialised_again) {
  const std::string make = "@!%p60 mbarrier.init.shared::cta.b64 [bar], 1; // THERE\n";
  const std::string again = "@!%p60 mbarrier.init.shared::cta.b64 [bar], 1; // HERE\n";
  reports(make + again, "is one already", 32);
  isSilent(make + "@!%p60 mbarrier.inval.shared::cta.b64 [bar];\n" + again, 32);
  isSilent(make + "mov.u64 %rd5, 0;\n@!%p60 st.shared.u64 [bar], %rd5;\n" + again,
           32); // overwritten: it is none any more
  reports(make +
              "@!%p60 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16;\n"
              "@!%p60 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%rd0], 16, [bar];\n" +
              again,
          "copies on their way are going to signal", 32);
  // Warp 1 waits while thread 0 begins anew, and arrives then.
  reports(make +
              "bar.sync 0;\nbar.sync 0;\n@%p62 bra W;\nmov.u32 %r1, 0;\nL: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, "
              "2000;\n@%p1 bra L;\n" +
              again + "@!%p60 mbarrier.arrive.shared::cta.b64 _, [bar];\n" + kTry,
          "that threads wait for", 64);
}

BOOST_AUTO_TEST_CASE(whose_arrivals_do_not_come) {
  const std::string message =
      deadlock(init(64) + "@%p62 bra W;\nmbarrier.arrive.shared::cta.b64 _, [bar];\n" + kTry, threads(64));
  for (const char* warp : {"warp 0", "warp 1"}) has(message, warp);
  has(message,
      "mbarrier.try_wait.parity.shared::cta.b64: the phase of the mbarrier at byte 0 of bar misses 32 of 64 arrivals");
}

BOOST_AUTO_TEST_CASE(whose_bytes_do_not_come) {
  const auto copy = [](int expected, int copied) {
    return init(1) + "@!%p60 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], " + std::to_string(expected) +
           ";\n@!%p60 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%rd0], " +
           std::to_string(copied) + ", [bar];\n" + kTry;
  };
  has(deadlock(copy(128, 64), threads(32)), "byte 0 of bar misses 64 bytes that it was told of and no copy brings");
  has(deadlock(copy(64, 128), threads(32)), "byte 0 of bar got 64 bytes more than it was told of");
  isSilent(copy(64, 64), 32);
  const std::string both = init(2) + "@!%p60 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 32;\n" + kTry;
  has(deadlock(both, threads(32)), "misses 1 of 2 arrivals and 32 bytes that it was told of");
}

BOOST_AUTO_TEST_SUITE_END()
