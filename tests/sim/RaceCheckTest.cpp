// tests/sim/RaceCheckTest.cpp -- the check of races: kernels with and without order between their accesses.
// Not here: the clocks of warps (RaceClocksTest.cpp).
#define BOOST_TEST_MODULE sim_racecheck
#include "tests/sim/SimRun.h"
#include <boost/test/unit_test.hpp>

using namespace tiletwin;
using namespace tiletwin::sim;

namespace {

constexpr std::string_view kShared = ".shared .align 16 .b8 s[2048];\n";

/// %r60 is the thread, %r57 the CTA, %r59 the address of s, %r62 the thread's word in s, %r63 the word of the thread that has 32
/// added or taken away, %r55 that of the lane beside it, %rd62 the thread's word of p0; %p60 holds in thread 0.
constexpr std::string_view kBegin = R"(
  mov.u32 %r60, %tid.x; mov.u32 %r57, %ctaid.x; mov.u32 %r58, %ntid.x;
  mad.lo.u32 %r61, %r57, %r58, %r60;
  mul.wide.u32 %rd60, %r61, 4;
  add.s64 %rd62, %rd0, %rd60;
  mov.u32 %r59, s; shl.b32 %r56, %r60, 2; add.s32 %r62, %r59, %r56;
  xor.b32 %r63, %r56, 128; add.s32 %r63, %r59, %r63;
  xor.b32 %r55, %r56, 4; add.s32 %r55, %r59, %r55;
  setp.eq.u32 %p60, %r60, 0;
)";

struct Launched {
  uint32_t grid = 1, block = 64, cluster = 1, threads = 0;
};

std::vector<Finding> findingsOf(const std::string& body, Launched how = {}) {
  SimRun run(ptxKernel(1, std::string(kBegin) + body, kShared));
  std::vector<uint32_t> memory(4096);
  run.buffer(memory);
  run.params.cluster = {how.cluster, 1, 1};
  run.params.threads = how.threads;
  run.params.instructionLimit = 2'000'000;
  run.params.checks = {true, false, false, false, true};
  const Result result = run.launch(how.grid, how.block);
  BOOST_REQUIRE_MESSAGE(!result.trap, result.trap.message);
  return run.findings.take();
}

std::string textOf(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& f : findings)
    text += f.operation + ": " + f.message + f.detail + " / " + f.secondOperation + " " + f.secondText + "\n";
  return text;
}

void isClean(const std::string& body, Launched how = {}) {
  const auto findings = findingsOf(body, how);
  BOOST_TEST(findings.empty(), "nothing is wrong in " << body << "\n" << textOf(findings));
}

/// One pair of instructions is reported. Which of the two threads comes first is nobody's business: warps take turns.
void isRace(const std::string& body, std::string_view one, std::string_view other, std::string_view words,
            Launched how = {}) {
  const auto findings = findingsOf(body, how);
  BOOST_TEST(findings.size() == 1u, "one race in " << body << "\n" << textOf(findings));
  if (findings.empty()) return;
  const Finding& f = findings.front();
  BOOST_TEST((f.check == Check::Races && !f.isNotice));
  BOOST_TEST(((f.operation == other && f.secondOperation == one) || (f.operation == one && f.secondOperation == other)),
             textOf(findings));
  BOOST_TEST((f.message + f.detail).find(words) != std::string::npos, "'" << words << "' in " << textOf(findings));
  BOOST_TEST((f.second && f.second->line > 0 && f.where.line > 0));
}

} // namespace

// ---- Shared memory of a CTA ----------------------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(barriers_order_warps) {
  const std::string write = "st.shared.u32 [%r62], %r60;\n", read = "ld.shared.u32 %r1, [%r63];\n";
  isRace(write + read, "st.shared.u32", "ld.shared.u32", "another warp of the CTA");
  for (const char* barrier : {"bar.sync 0;", "barrier.sync 3, 64;", "bar.red.popc.u32 %r2, 0, %p60;"})
    isClean(write + barrier + read);
  // What comes behind the barrier is not in front of it.
  isRace(write + "bar.sync 0;\n" + read + write, "ld.shared.u32", "st.shared.u32", "another warp of the CTA");
  isClean(write + "bar.sync 0;\n" + read + "bar.sync 0;\n" + write);
}

BOOST_AUTO_TEST_CASE(own_accesses_and_other_bytes_are_no_race) {
  isClean("st.shared.u32 [%r62], %r60; ld.shared.u32 %r1, [%r62]; st.shared.u32 [%r62], %r1;");
  isClean("add.s32 %r1, %r59, %r60; st.shared.u8 [%r1], %r60; ld.shared.u8 %r2, [%r1];");
  isClean("shl.b32 %r1, %r60, 1; add.s32 %r1, %r59, %r1; st.shared.u16 [%r1], %r60; ld.shared.u16 %r2, [%r1];");
  // The byte behind the own one is another warp's, for one thread of each warp.
  isRace("add.s32 %r1, %r59, %r60; st.shared.u8 [%r1], %r60; setp.eq.u32 %p1, %r60, 32;"
         "@%p1 ld.shared.u8 %r2, [%r1+-1];",
         "st.shared.u8", "ld.shared.u8", "byte 31 of s");
}

BOOST_AUTO_TEST_CASE(narrow_accesses_inside_of_wide_ones_are_seen) {
  // Thread 0 has written 16 bytes, thread 32 reads the last one.
  isRace("mov.u32 %r1, 0; @%p60 st.shared.v4.u32 [s], {%r1, %r1, %r1, %r1};"
         "setp.eq.u32 %p1, %r60, 32; @%p1 ld.shared.u8 %r2, [s+15];",
         "st.shared.v4.u32", "ld.shared.u8", "byte 15 of s");
  isClean("mov.u32 %r1, 0; @%p60 st.shared.v4.u32 [s], {%r1, %r1, %r1, %r1};"
          "setp.eq.u32 %p1, %r60, 32; @%p1 ld.shared.u8 %r2, [s+16];");
}

BOOST_AUTO_TEST_CASE(generic_addresses_are_the_same_memory) {
  isRace("st.shared.u32 [%r62], %r60; cvt.u64.u32 %rd1, %r63; cvta.shared.u64 %rd1, %rd1; ld.u32 %r1, [%rd1];",
         "st.shared.u32", "ld.u32", "shared memory");
}

BOOST_AUTO_TEST_CASE(arriving_hands_on_what_came_before) {
  // Warp 0 arrives, warp 1 waits.
  const std::string begin = "setp.ge.u32 %p1, %r60, 32; @%p1 bra wait;\n st.shared.u32 [%r62], %r60;\n";
  const std::string arrive = "bar.arrive 1, 64;\n", after = "st.shared.u32 [%r62+512], %r60;\n";
  const std::string end = "bra done; wait: bar.sync 1, 64;\n ld.shared.u32 %r1, [%r63];\n ld.shared.b32 %r2, "
                          "[%r63+512]; done:";
  isClean(begin + after + arrive + end);
  isRace(begin + arrive + after + end, "st.shared.u32", "ld.shared.b32", "another warp");
}

BOOST_AUTO_TEST_CASE(a_barrier_orders_those_that_take_part) {
  // Warps 0 and 1 meet at barrier 1, warps 2 and 3 at barrier 2; each reads from the other one of its pair, or of the other pair.
  const std::string meet = "st.shared.u32 [%r62], %r60; shr.u32 %r1, %r60, 6; add.u32 %r1, %r1, 1; bar.sync %r1, 64;\n";
  isClean(meet + "ld.shared.u32 %r2, [%r63];", {.block = 128});
  isRace(meet + "xor.b32 %r3, %r56, 256; add.s32 %r3, %r59, %r3; ld.shared.u32 %r2, [%r3];", "st.shared.u32",
         "ld.shared.u32", "another warp", {.block = 128});
}

BOOST_AUTO_TEST_CASE(lanes_of_a_warp_are_threads) {
  const std::string write = "st.shared.u32 [%r62], %r60;\n", read = "ld.shared.u32 %r1, [%r55];\n";
  isRace(write + read, "st.shared.u32", "ld.shared.u32", "another lane of the warp", {.block = 32});
  isClean(write + "bar.warp.sync 0xffffffff;\n" + read, {.block = 32});
  isClean(write + "bar.sync 0;\n" + read, {.block = 32});
  // Values are exchanged, memory is not ordered.
  isRace(write + "shfl.sync.bfly.b32 %r2, %r60, 1, 31, 0xffffffff;\n" + read, "st.shared.u32", "ld.shared.u32",
         "another lane", {.block = 32});
  // Pairs of lanes that meet among themselves are ordered, those of two pairs are not.
  const std::string pairs = "and.b32 %r3, %r60, 30; mov.u32 %r4, 3; shl.b32 %r4, %r4, %r3; bar.warp.sync %r4;\n";
  isClean(write + pairs + read, {.block = 32});
  isRace(write + pairs + "xor.b32 %r5, %r56, 8; add.s32 %r5, %r59, %r5; ld.shared.u32 %r1, [%r5];", "st.shared.u32",
         "ld.shared.u32", "another lane", {.block = 32});
}

BOOST_AUTO_TEST_CASE(lanes_of_one_store_may_write_the_same) {
  const Launched warp{.block = 32};
  isClean("mov.u32 %r1, 7; st.shared.u32 [s], %r1;", warp);
  isClean("st.shared.u32 [s], 7;", warp);
  isClean("mov.u32 %r1, 7; mov.u32 %r2, 8; st.shared.v2.u32 [s], {%r1, %r2};", warp);
  isRace("st.shared.u32 [s], %r60;", "st.shared.u32", "st.shared.u32", "several lanes write different values", warp);
  isRace("mov.u32 %r1, 7; st.shared.v2.u32 [s], {%r1, %r60};", "st.shared.v2.u32", "st.shared.v2.u32",
         "several lanes write different values", warp);
  // Only what is stored counts: the low byte is the same.
  isClean("shl.b32 %r1, %r60, 8; st.shared.u8 [s], %r1;", warp);
  // Of two stores the second one changes nothing, or it does.
  isClean("setp.lt.u32 %p1, %r60, 16; @%p1 st.shared.u32 [s], 7; @!%p1 st.shared.b32 [s], 7;", warp);
  isRace("setp.lt.u32 %p1, %r60, 16; @%p1 st.shared.u32 [s], 7; @!%p1 st.shared.b32 [s], 8;", "st.shared.u32",
         "st.shared.b32", "another lane", warp);
}

BOOST_AUTO_TEST_CASE(warps_may_write_the_same) {
  isClean("mov.u32 %r1, 7; st.shared.u32 [s], %r1; bar.sync 0; ld.shared.u32 %r2, [s];");
  isRace("shr.u32 %r1, %r60, 5; st.shared.u32 [s], %r1; bar.sync 0; ld.shared.u32 %r2, [s];", "st.shared.u32",
         "st.shared.u32", "another warp");
  // Reading is a race nevertheless.
  isRace("mov.u32 %r1, 7; st.shared.u32 [%r62], %r1; ld.shared.u32 %r2, [%r63];", "st.shared.u32", "ld.shared.u32",
         "another warp");
  isClean("st.global.u32 [%rd0], 7;", {.grid = 4});
  // CTAs that meet and then write on threads of the host at the same moment.
  for (int i = 0; i < 200; ++i)
    isClean("atom.relaxed.gpu.global.add.u32 %r1, [%rd0+16380], 1;\n"
            "meet: ld.relaxed.gpu.global.u32 %r1, [%rd0+16380]; setp.lt.u32 %p1, %r1, 64; @%p1 bra meet;\n"
            "mul.wide.u32 %rd1, %r60, 16; add.s64 %rd1, %rd0, %rd1; mov.u32 %r1, 0; mov.u32 %r2, 7;\n"
            "words: st.global.v4.u32 [%rd1], {%r2, %r2, %r2, %r2}; add.s64 %rd1, %rd1, 512; "
            "add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 31; @%p1 bra words;",
            {.grid = 2, .block = 32, .threads = 2});
  isRace("add.u32 %r1, %r57, 1; st.global.u32 [%rd0], %r1;", "st.global.u32", "st.global.u32", "another CTA",
         {.grid = 4});
  // Rows of a matrix that two warps store.
  const std::string_view store = "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {%r2};";
  const std::string rows = "and.b32 %r1, %r60, 7; shl.b32 %r1, %r1, 4; add.s32 %r1, %r59, %r1;";
  isClean(rows + "mov.u32 %r2, 5;" + std::string(store));
  isRace(rows + "mov.u32 %r2, %r60;" + std::string(store), "stmatrix.sync.aligned.m8n8.x1.shared.b16",
         "stmatrix.sync.aligned.m8n8.x1.shared.b16", "another warp");
}

BOOST_AUTO_TEST_CASE(lanes_that_have_exited_do_not_come_to_barriers) {
  // Warp 1 writes and exits; the barrier is then complete without it and orders nothing with it.
  isRace(
      "setp.ge.u32 %p1, %r60, 32; @%p1 st.shared.u32 [%r62], %r60; @%p1 exit; bar.sync 0; ld.shared.u32 %r1, [%r63];",
      "st.shared.u32", "ld.shared.u32", "another warp");
}

// ---- Atomics, volatile ---------------------------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(atomics_do_not_race_with_each_other) {
  const std::string add = "atom.shared.add.u32 %r1, [s], 1;\n", load = "ld.shared.u32 %r2, [s];\n";
  isClean("@%p60 st.shared.u32 [s], 0; bar.sync 0;" + add + "bar.sync 0;" + load);
  isClean(add + "red.shared.max.u32 [s], %r60;");
  isRace(add + load, "atom.shared.add.u32", "ld.shared.u32", "another");
  isRace("@%p60 st.shared.u32 [s], 0;\n" + add, "st.shared.u32", "atom.shared.add.u32", "updates shared memory");
  isClean("atom.global.add.u32 %r1, [%rd0], 1;", {.grid = 8});
}

BOOST_AUTO_TEST_CASE(volatile_accesses_do_not_race_with_each_other) {
  isClean("st.volatile.shared.u32 [%r62], %r60; ld.volatile.shared.u32 %r1, [%r63];");
  isRace("st.volatile.shared.u32 [%r62], %r60; ld.shared.u32 %r1, [%r63];", "st.volatile.shared.u32", "ld.shared.u32",
         "another warp");
}

// ---- Global memory -------------------------------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(ctas_are_not_ordered) {
  const Launched two{.grid = 2, .block = 32};
  isRace("shl.b32 %r1, %r60, 2; cvt.u64.u32 %rd1, %r1; add.s64 %rd1, %rd0, %rd1; st.global.u32 [%rd1], %r57;",
         "st.global.u32", "st.global.u32", "another CTA", two);
  isClean("st.global.u32 [%rd62], %r57; ld.global.u32 %r1, [%rd62];", {.grid = 16, .block = 64});
  isClean("ld.global.u32 %r1, [%rd0];", {.grid = 16, .block = 64});
  // A barrier of the CTA does not order CTAs.
  isRace("@%p60 st.global.u32 [%rd62], %r57; bar.sync 0; setp.eq.u32 %p1, %r61, 32; @%p1 ld.global.u32 %r1, [%rd0];",
         "st.global.u32", "ld.global.u32", "byte 0 of p0", {.grid = 2, .block = 32, .threads = 1});
}

namespace {

/// CTA 0 writes [p0] in one thread, sets the flag [p0 + 64] as `set` does; CTA 1 waits for it as `get` does and reads [p0].
std::string messages(std::string_view set, std::string_view get) {
  return "setp.ne.u32 %p1, %r57, 0; @%p1 bra reader; st.global.u32 [%rd0], 77; mov.u32 %r4, 1;\n" + std::string(set) +
         "\nbra done; reader: " + std::string(get) +
         "\nsetp.eq.u32 %p2, %r5, 0; @%p2 bra reader; BEHIND ld.global.u32 %r6, [%rd0]; done:";
}
std::string replaced(std::string text, std::string_view by) { return text.replace(text.find("BEHIND"), 6, by); }

} // namespace

BOOST_AUTO_TEST_CASE(release_and_acquire_order_ctas) {
  for (const uint32_t threads : {1u, 2u}) {
    const Launched how{.grid = 2, .block = 1, .threads = threads};
    const auto clean = [&](std::string_view set, std::string_view get, std::string_view behind = "") {
      isClean(replaced(messages(set, get), behind), how);
    };
    const auto race = [&](std::string_view set, std::string_view get, std::string_view behind = "") {
      isRace(replaced(messages(set, get), behind), "st.global.u32", "ld.global.u32", "another CTA", how);
    };
    const std::string_view release = "st.release.gpu.global.u32 [%rd0+64], %r4;",
                           relaxed = "st.relaxed.gpu.global.u32 [%rd0+64], %r4;",
                           acquire = "ld.acquire.gpu.global.u32 %r5, [%rd0+64];",
                           look = "ld.relaxed.gpu.global.u32 %r5, [%rd0+64];";
    const std::string fenced = "fence.acq_rel.gpu;\n" + std::string(relaxed);
    clean(release, acquire);
    race(release, look);
    race(relaxed, acquire);
    race(relaxed, look);
    clean(fenced, acquire);
    clean(fenced, look, "fence.acq_rel.gpu;");
    clean(release, look, "membar.gl;");
    race(fenced, look);
    race(relaxed, look, "membar.gl;");
    // A fence behind the flag comes too late.
    race(std::string(relaxed) + "fence.acq_rel.gpu;", acquire);
    // Scopes that do not take in the other thread.
    race("membar.cta;\n" + std::string(relaxed), acquire);
    race(fenced, look, "fence.acq_rel.cta;");
    // Atomics and volatile accesses as flags.
    clean("membar.gl; st.volatile.global.u32 [%rd0+64], %r4;", "ld.volatile.global.u32 %r5, [%rd0+64];", "membar.gl;");
    clean("atom.release.gpu.global.exch.b32 %r7, [%rd0+64], %r4;", "atom.acquire.gpu.global.or.b32 %r5, [%rd0+64], 0;");
    race("atom.relaxed.gpu.global.exch.b32 %r7, [%rd0+64], %r4;", "atom.acquire.gpu.global.or.b32 %r5, [%rd0+64], 0;");
  }
}

BOOST_AUTO_TEST_CASE(a_lock_orders_what_it_guards) {
  const auto locked = [](std::string_view behindLock, std::string_view beforeUnlock) {
    return "try: atom.global.cas.b32 %r1, [%rd0+256], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra try;\n" +
           std::string(behindLock) + "ld.global.u32 %r2, [%rd0]; add.u32 %r2, %r2, 1; st.global.u32 [%rd0], %r2;\n" +
           std::string(beforeUnlock) + "atom.global.exch.b32 %r3, [%rd0+256], 0;";
  };
  for (const Launched how : {Launched{.grid = 4, .block = 1, .threads = 2}, Launched{.block = 64}}) {
    isClean(locked("membar.gl;", "membar.gl;"), how);
    BOOST_TEST(!findingsOf(locked("membar.gl;", ""), how).empty());
    BOOST_TEST(!findingsOf(locked("", ""), how).empty());
  }
}

BOOST_AUTO_TEST_CASE(a_thread_releases_for_others_only_behind_a_barrier) {
  // All threads of CTA 0 write, thread 0 sets the flag; all threads of CTA 1 read once thread 0 has seen it.
  const auto text = [](std::string_view before, std::string_view behind) {
    return "setp.ne.u32 %p1, %r57, 0; @%p1 bra reader; st.global.u32 [%rd62], %r60;\n" + std::string(before) +
           "\nmov.u32 %r4, 1; @%p60 st.release.gpu.global.u32 [%rd0+4096], %r4; bra done; reader: @!%p60 bra joined;\n"
           "again: ld.acquire.gpu.global.u32 %r5, [%rd0+4096]; setp.eq.u32 %p2, %r5, 0; @%p2 bra again; joined:\n" +
           std::string(behind) + "\nld.global.u32 %r6, [%rd62+-256]; done:";
  };
  const Launched how{.grid = 2, .block = 64};
  isClean(text("bar.sync 0;", "bar.sync 0;"), how);
  isRace(text("", "bar.sync 0;"), "st.global.u32", "ld.global.u32", "another CTA", how);
  isRace(text("bar.sync 0;", ""), "st.global.u32", "ld.global.u32", "another CTA", how);
}

BOOST_AUTO_TEST_CASE(fences_of_all_threads_and_a_flag_of_one) {
  // As above, but the fences are run by all threads, on the other side of the barrier than thread 0's relaxed access.
  const auto text = [](std::string_view before, std::string_view behind) {
    return "setp.ne.u32 %p1, %r57, 0; @%p1 bra reader; st.global.u32 [%rd62], %r60;\n" + std::string(before) +
           "\nbar.sync 0; mov.u32 %r4, 1; @%p60 st.relaxed.gpu.global.u32 [%rd0+4096], %r4; bra done; reader: @!%p60 "
           "bra "
           "joined;\nagain: ld.relaxed.gpu.global.u32 %r5, [%rd0+4096]; setp.eq.u32 %p2, %r5, 0; @%p2 bra again; "
           "joined:\n"
           "bar.sync 0;\n" +
           std::string(behind) + "\nld.global.u32 %r6, [%rd62+-256]; done:";
  };
  const Launched how{.grid = 2, .block = 64};
  isClean(text("membar.gl;", "membar.gl;"), how);
  isRace(text("membar.gl;", ""), "st.global.u32", "ld.global.u32", "another CTA", how);
  isRace(text("", "membar.gl;"), "st.global.u32", "ld.global.u32", "another CTA", how);
  isRace(text("membar.cta;", "membar.gl;"), "st.global.u32", "ld.global.u32", "another CTA", how);
  isRace(text("membar.gl;", "membar.cta;"), "st.global.u32", "ld.global.u32", "another CTA", how);
}

BOOST_AUTO_TEST_CASE(a_barrier_of_the_grid_orders_all) {
  const auto text = [](std::string_view fence) {
    return "st.global.u32 [%rd62], %r60; bar.sync 0; @!%p60 bra joined;\n" + std::string(fence) +
           "atom.global.add.u32 %r1, [%rd0+8192], 1; mov.u32 %r3, %nctaid.x;\n"
           "again: ld.volatile.global.u32 %r2, [%rd0+8192]; setp.lt.u32 %p1, %r2, %r3; @%p1 bra again;\n" +
           std::string(fence) +
           "joined: bar.sync 0; xor.b32 %r4, %r57, 1; mad.lo.u32 %r4, %r4, %r58, %r60; mul.wide.u32 %rd1, %r4, 4;\n"
           "add.s64 %rd1, %rd0, %rd1; ld.global.u32 %r5, [%rd1];";
  };
  for (const uint32_t threads : {1u, 2u}) {
    isClean(text("membar.gl;"), {.grid = 16, .block = 64, .threads = threads});
    isRace(text(""), "st.global.u32", "ld.global.u32", "another CTA", {.grid = 16, .block = 64, .threads = threads});
  }
}

BOOST_AUTO_TEST_CASE(ctas_that_race_are_counted) {
  const auto findings = findingsOf("st.global.u32 [%rd0], %r57;", {.grid = 8, .block = 1, .threads = 1});
  BOOST_REQUIRE(findings.size() == 1u);
  BOOST_TEST(findings.front().programs == 7);
  BOOST_TEST(findings.front().program[0] == 1);
  BOOST_TEST((findings.front().secondProgram && (*findings.front().secondProgram)[0] == 0));
}

// ---- Clusters, mbarriers, copies -----------------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(barriers_of_the_cluster_order_its_ctas) {
  const std::string begin =
      "mov.u32 %r1, %cluster_ctarank; xor.b32 %r1, %r1, 1; mapa.shared::cluster.u32 %r2, %r62, %r1;"
      "st.shared::cluster.u32 [%r2], %r60;\n";
  const std::string end = "\nld.shared.u32 %r3, [%r62]; barrier.cluster.arrive; barrier.cluster.wait;";
  const Launched pair{.grid = 2, .block = 64, .cluster = 2};
  isClean(begin + "barrier.cluster.arrive; barrier.cluster.wait;" + end, pair);
  isRace(begin + "bar.sync 0;" + end, "st.shared::cluster.u32", "ld.shared.u32", "another CTA", pair);
  isRace(begin + "barrier.cluster.arrive.relaxed; barrier.cluster.wait;" + end, "st.shared::cluster.u32",
         "ld.shared.u32", "another CTA", pair);
  isClean(begin + "fence.acq_rel.cluster; barrier.cluster.arrive.relaxed; barrier.cluster.wait;" + end, pair);
  // What is done between arriving and waiting has no order yet.
  isRace("mov.u32 %r1, %cluster_ctarank; xor.b32 %r1, %r1, 1; mapa.shared::cluster.u32 %r2, %r62, %r1;"
         "barrier.cluster.arrive; st.shared::cluster.u32 [%r2], %r60; barrier.cluster.wait;" +
             end,
         "st.shared::cluster.u32", "ld.shared.u32", "another CTA", pair);
}

namespace {

/// Warp 0 writes and arrives at an mbarrier of 32 arrivals, warp 1 waits there and reads.
std::string throughMbarrier(std::string_view arrive, std::string_view wait) {
  return "@%p60 mbarrier.init.shared.b64 [s+1024], 32; bar.sync 0; setp.ge.u32 %p1, %r60, 32; @%p1 bra reader;\n"
         "st.shared.u32 [%r62], %r60;\n" +
         std::string(arrive) + "\nbra done; reader:\n" + std::string(wait) + "\nld.shared.u32 %r2, [%r63]; done:";
}

} // namespace

BOOST_AUTO_TEST_CASE(mbarriers_order_arriving_and_waiting_threads) {
  const std::string_view arrive = "mbarrier.arrive.shared.b64 %rd1, [s+1024];",
                         wait = "again: mbarrier.try_wait.parity.shared.b64 %p2, [s+1024], 0; @!%p2 bra again;";
  isClean(throughMbarrier(arrive, wait));
  isRace(throughMbarrier("mbarrier.arrive.relaxed.cta.shared::cta.b64 %rd1, [s+1024];", wait), "st.shared.u32",
         "ld.shared.u32", "another warp");
  isRace(throughMbarrier(arrive, "again: mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 %p2, [s+1024], 0;"
                                 "@!%p2 bra again;"),
         "st.shared.u32", "ld.shared.u32", "another warp");
  // Of the wrong parity: the phase before the first one has ended always.
  isRace(throughMbarrier(arrive, "again: mbarrier.try_wait.parity.shared.b64 %p2, [s+1024], 1; @!%p2 bra again;"),
         "st.shared.u32", "ld.shared.u32", "another warp");
  // Without a barrier behind the initialisation.
  isRace("@%p60 mbarrier.init.shared.b64 [s+1024], 33; setp.eq.u32 %p1, %r60, 32;"
         "@%p1 mbarrier.arrive.shared.b64 %rd1, [s+1024];",
         "mbarrier.init.shared.b64", "mbarrier.arrive.shared.b64", "another warp");
}

BOOST_AUTO_TEST_CASE(copies_count_where_they_have_been_waited_for) {
  const std::string copy = "cp.async.ca.shared.global [%r62], [%rd62], 4; cp.async.commit_group;\n",
                    wait = "cp.async.wait_group 0;\n", read = "ld.shared.u32 %r1, [%r63];";
  isClean(copy + wait + "bar.sync 0;\n" + read);
  const std::string_view words = "and nothing orders";
  isRace(copy + wait + read, "cp.async.ca.shared.global", "ld.shared.u32", words);
  isRace(copy + "bar.sync 0;\n" + wait + read, "cp.async.ca.shared.global", "ld.shared.u32", words);
  // Through an mbarrier that the copies signal.
  isClean("@%p60 mbarrier.init.shared.b64 [s+1024], 64; bar.sync 0; cp.async.ca.shared.global [%r62], [%rd62], 4;"
          "cp.async.mbarrier.arrive.noinc.shared.b64 [s+1024];"
          "again: mbarrier.try_wait.parity.shared.b64 %p2, [s+1024], 0; @!%p2 bra again;" +
          read);
}

BOOST_AUTO_TEST_CASE(a_wait_covers_the_groups_that_it_names) {
  const std::string first = "cp.async.ca.shared.global [%r62], [%rd62], 4; cp.async.commit_group;\n",
                    second = "cp.async.ca.shared.global [%r62+1024], [%rd62], 4; cp.async.commit_group;\n",
                    wait = "cp.async.wait_group 1;\nbar.sync 0;\n";
  isClean(first + second + wait + "ld.shared.u32 %r1, [%r63];");
  isRace(first + second + wait + "ld.shared.u32 %r1, [%r63+1024];", "cp.async.ca.shared.global", "ld.shared.u32",
         "reads shared memory that an asynchronous copy writes");
  // What is committed behind the wait is not part of it, nor what is not committed.
  isRace(first + "cp.async.wait_all;\n" + second + "bar.sync 0;\nld.shared.u32 %r1, [%r63+1024];",
         "cp.async.ca.shared.global", "ld.shared.u32", "asynchronous copy");
  isRace(
      "cp.async.ca.shared.global [%r62], [%rd62], 4; cp.async.wait_group 0;\nbar.sync 0;\nld.shared.u32 %r1, [%r63];",
      "cp.async.ca.shared.global", "ld.shared.u32", "asynchronous copy");
}

BOOST_AUTO_TEST_CASE(a_copy_comes_behind_what_its_thread_knows) {
  const std::string read = "ld.shared.u32 %r1, [%r63];\n",
                    copy = "cp.async.ca.shared.global [%r62], [%rd62], 4; cp.async.wait_all;\n";
  isClean("st.shared.u32 [%r62], %r60;\nbar.sync 0;\n" + read + "bar.sync 0;\n" + copy);
  isRace("st.shared.u32 [%r62], %r60;\nbar.sync 0;\n" + read + copy, "cp.async.ca.shared.global", "ld.shared.u32",
         "and nothing orders");
}
