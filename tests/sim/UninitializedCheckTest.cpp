// tests/sim/UninitializedCheckTest.cpp -- the check of uninitialised reads: shared, local and allocated memory, and registers.
#define BOOST_TEST_MODULE sim_uninitializedcheck
#include "sim/check/WrittenBytes.h"
#include "tests/sim/SimRun.h"
#include <boost/test/unit_test.hpp>
#include <random>

using namespace tiletwin;
using namespace tiletwin::sim;

namespace {

constexpr std::string_view kShared = ".shared .align 16 .b8 s[512];\n.extern .shared .align 16 .b8 more[];\n";

/// %r60 is the thread, %r62 the address of the thread's word in s, %rd62 that of its word in p0; %p60 holds in thread 0.
constexpr std::string_view kBegin = R"(
  mov.u32 %r60, %tid.x; mul.wide.u32 %rd60, %r60, 4; add.s64 %rd62, %rd0, %rd60;
  mov.u32 %r59, s; shl.b32 %r56, %r60, 2; add.s32 %r62, %r59, %r56; setp.eq.u32 %p60, %r60, 0;
)";

struct Launched {
  uint32_t grid = 1, block = 32, cluster = 1;
};

std::vector<Finding> findingsOfText(const std::string& text, Launched how = {}) {
  SimRun run(text);
  std::vector<uint32_t> memory(1024);
  run.buffer(memory);
  run.params.cluster = {how.cluster, 1, 1};
  run.params.dynamicShared = 64;
  run.params.checks = {true, false, false, true, false};
  const Result result = run.launch(how.grid, how.block);
  BOOST_REQUIRE_MESSAGE(!result.trap, result.trap.message);
  return run.findings.take();
}
std::vector<Finding> findingsOf(const std::string& body, Launched how = {}) {
  return findingsOfText(ptxKernel(1, std::string(kBegin) + body, kShared), how);
}

std::string textOf(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& f : findings) text += f.operation + ": " + f.message + f.detail + "\n";
  return text;
}

void isClean(const std::string& body, Launched how = {}) {
  const auto findings = findingsOf(body, how);
  BOOST_TEST(findings.empty(), "nothing is wrong in " << body << "\n" << textOf(findings));
}

void isOne(const std::vector<Finding>& findings, const std::string& of, std::string_view operation,
           std::string_view words, int64_t lanes) {
  BOOST_TEST(findings.size() == 1u, "one read in " << of << "\n" << textOf(findings));
  if (findings.empty()) return;
  const Finding& f = findings.front();
  BOOST_TEST((f.check == Check::Uninitialized));
  BOOST_TEST(f.operation == operation);
  BOOST_TEST((f.message + f.detail).find(words) != std::string::npos, "'" << words << "' in " << textOf(findings));
  BOOST_TEST(f.elementCount == lanes);
}
void isReported(const std::string& body, std::string_view operation, std::string_view words, int64_t lanes = 32,
                Launched how = {}) {
  isOne(findingsOf(body, how), body, operation, words, lanes);
}

} // namespace

// ---- Memory --------------------------------------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(shared_memory) {
  isReported("ld.shared.u32 %r1, [%r62];", "ld.shared.u32", "reads shared memory that nobody has written, byte 0 of s");
  isClean("st.shared.u32 [%r62], %r60; ld.shared.u32 %r1, [%r62];");
  // Half of the lanes, and the first byte that is missing.
  isReported("setp.lt.u32 %p1, %r60, 16; @%p1 st.shared.u32 [%r62], %r60; ld.shared.u32 %r1, [%r62];", "ld.shared.u32",
             "byte 64 of s", 16);
  isReported("st.shared.u16 [%r62], %r60; ld.shared.u32 %r1, [%r62];", "ld.shared.u32", "byte 2 of s");
  isClean("st.shared.u16 [%r62], %r60; st.shared.u16 [%r62+2], %r60; ld.shared.u32 %r1, [%r62];");
  isReported("@%p60 st.shared.v4.u32 [s], {%r60, %r60, %r60, %r60}; @%p60 ld.shared.v2.u64 {%rd1, %rd2}, [s+16];",
             "ld.shared.v2.u64", "byte 16 of s", 1);
  isClean("@%p60 st.shared.v4.u32 [s], {%r60, %r60, %r60, %r60}; @%p60 ld.shared.v2.u64 {%rd1, %rd2}, [s];");
  // Another thread has written it.
  isClean("@%p60 st.shared.u32 [s], 1; bar.sync 0; ld.shared.u32 %r1, [s];", {.block = 64});
  // Each CTA has its own.
  isReported("mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.u32 [%r62], 1; ld.shared.u32 %r2, [%r62];",
             "ld.shared.u32", "byte 0 of s", 32, {.grid = 2});
  isReported("ld.shared.u8 %r1, [more+5];", "ld.shared.u8", "byte 5 of");
  isReported("cvt.u64.u32 %rd1, %r62; cvta.shared.u64 %rd1, %rd1; ld.u32 %r1, [%rd1];", "ld.u32", "shared memory");
}

BOOST_AUTO_TEST_CASE(atomics_read) {
  isReported("atom.shared.add.u32 %r1, [s], 1;", "atom.shared.add.u32", "byte 0 of s", 1); // lane 0 has written it then
  isReported("@%p60 red.shared.add.u32 [s], 1; bar.sync 0; ld.shared.u32 %r1, [s];", "red.shared.add.u32",
             "byte 0 of s", 1);
  isClean("@%p60 st.shared.u32 [s], 0; bar.sync 0; atom.shared.add.u32 %r1, [s], 1;");
  isClean("@%p60 mbarrier.init.shared.b64 [s], 1; bar.sync 0; @%p60 mbarrier.arrive.shared.b64 %rd1, [s];");
}

BOOST_AUTO_TEST_CASE(matrices_read_rows) {
  isReported("shl.b32 %r1, %r60, 4; and.b32 %r1, %r1, 127; add.s32 %r1, %r59, %r1; setp.lt.u32 %p1, %r60, 8;"
             "mov.u32 %r2, 0; setp.ne.u32 %p2, %r60, 3; and.pred %p1, %p1, %p2;"
             "@%p1 st.shared.v4.u32 [%r1], {%r2, %r2, %r2, %r2}; bar.warp.sync 0xffffffff;"
             "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r3}, [%r1];",
             "ldmatrix.sync.aligned.m8n8.x1.shared.b16", "byte 48 of s", 1);
}

BOOST_AUTO_TEST_CASE(copies_write_when_they_land) {
  const std::string copy = "cp.async.ca.shared.global [%r62], [%rd62], 4; cp.async.commit_group;\n",
                    read = "ld.shared.u32 %r1, [%r62];\n";
  isClean(copy + "cp.async.wait_group 0;\n" + read);
  isReported(copy + read, "ld.shared.u32", "byte 0 of s");
  isReported(copy + copy + "cp.async.wait_group 1; ld.shared.u32 %r1, [%r62+128];", "ld.shared.u32", "byte 128 of s");
  isClean(
      "@!%p60 bra joined; mbarrier.init.shared.b64 [s+256], 1; mbarrier.arrive.expect_tx.shared.b64 %rd1, [s+256], 128;"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%rd0], 128, [s+256];"
      "joined: bar.sync 0; again: mbarrier.try_wait.parity.shared.b64 %p1, [s+256], 0; @!%p1 bra again;" +
      read);
}

BOOST_AUTO_TEST_CASE(shared_memory_of_other_ctas) {
  const std::string text =
      "mov.u32 %r1, %cluster_ctarank; xor.b32 %r1, %r1, 1; mapa.shared::cluster.u32 %r2, %r62, %r1;"
      "WRITE barrier.cluster.arrive; barrier.cluster.wait; ld.shared.u32 %r3, [%r62];";
  const auto with = [&](std::string_view write) { return std::string(text).replace(text.find("WRITE"), 5, write); };
  isClean(with("st.shared::cluster.u32 [%r2], 1;"), {.grid = 2, .cluster = 2});
  isReported(with("st.shared.u32 [%r62+128], 1;"), "ld.shared.u32", "byte 0 of s", 32, {.grid = 2, .cluster = 2});
}

BOOST_AUTO_TEST_CASE(local_memory) {
  const std::string variable = ".local .align 16 .b8 v[64];\n";
  isReported(variable + "ld.local.u32 %r1, [v+8];", "ld.local.u32", "local memory that its thread has not written");
  isClean(variable + "st.local.u32 [v+8], %r60; ld.local.u32 %r1, [v+8];");
  // Each thread has its own.
  isReported(variable + "@%p60 st.local.u32 [v], 1; ld.local.u32 %r1, [v];", "ld.local.u32", "byte 0 of local memory",
             31);
  isReported(variable + "mov.u64 %rd1, v; cvta.local.u64 %rd1, %rd1; ld.u8 %r1, [%rd1+63];", "ld.u8", "local memory");
  isReported("alloca.u64 %rd1, 64; st.local.u32 [%rd1], 1; ld.local.u32 %r1, [%rd1]; ld.local.b32 %r1, [%rd1+4];",
             "ld.local.b32", "local memory");
}

BOOST_AUTO_TEST_CASE(variables_of_each_call_are_new) {
  // f writes its variable if its argument is 1, and reads it.
  const auto text = [](std::string_view secondArgument) {
    return ptxKernel(
        1,
        std::string(".param .b32 a; .param .b32 b;\n st.param.b32 [a], 1; call (b), f, (a);\n") +
            "ld.param.b32 %r1, [b]; { .param .b32 c; .param .b32 d; st.param.b32 [c], " + std::string(secondArgument) +
            "; call (d), f, (c); ld.param.b32 %r2, [d]; }",
        ".func (.param .b32 result) f(.param .b32 x) {\n.reg .b32 %a<4>; .reg .pred %p<2>; .local .b32 v;\n"
        "ld.param.b32 %a1, [x]; setp.eq.u32 %p1, %a1, 1; @%p1 st.local.u32 [v], %a1;\n"
        "ld.local.u32 %a2, [v]; st.param.b32 [result], %a2; ret; }\n");
  };
  BOOST_TEST(findingsOfText(text("1")).empty());
  isOne(findingsOfText(text("2")), "a second call", "ld.local.u32", "local memory", 32);
}

BOOST_AUTO_TEST_CASE(memory_of_malloc) {
  const auto text = [](std::string_view body) {
    return ptxKernel(1,
                     "mov.u32 %r60, %tid.x; .param .b64 n; .param .b64 at; st.param.b64 [n], 64;\n"
                     "call (at), malloc, (n); ld.param.b64 %rd1, [at];\n" +
                         std::string(body) + "\n.param .b64 back; st.param.b64 [back], %rd1; call free, (back);",
                     ".extern .func (.param .b64 p) malloc(.param .b64 n);\n.extern .func free(.param .b64 p);\n");
  };
  isOne(findingsOfText(text("ld.u32 %r1, [%rd1+12];")), "malloc", "ld.u32", "malloc has given", 32);
  BOOST_TEST(findingsOfText(text("st.u32 [%rd1+12], %r60; ld.u32 %r1, [%rd1+12];")).empty());
  isOne(findingsOfText(text("st.u16 [%rd1+12], 1; ld.u32 %r1, [%rd1+12];")), "malloc", "ld.u32", "malloc has given",
        32);
  isOne(findingsOfText(text("atom.add.u64 %rd2, [%rd1+8], 1;")), "malloc", "atom.add.u64", "malloc has given", 32);
  // What was written before it was freed does not count: the threads of the second CTA get the same bytes.
  isOne(
      findingsOfText(text("mov.u32 %r2, %ctaid.x; setp.eq.u32 %p1, %r2, 0; @%p1 st.u32 [%rd1], 1; ld.u32 %r1, [%rd1];"),
                     {.grid = 2}),
      "malloc", "ld.u32", "malloc has given", 32);
}

// ---- Registers -----------------------------------------------------------------------------------------------------------------

namespace {
/// Writes of registers that no thread runs.
const std::string kElsewhere = "setp.eq.u32 %p59, %r60, 4096; @%p59 bra write; bra begin; write: mov.u32 %r1, 0;"
                               "mov.u64 %rd1, 0; mov.f64 %fd2, 0d0000000000000000; setp.eq.u32 %p1, 0, 0; begin:\n";
/// Stored by every lane.
const std::string kStore = " st.global.u32 [%rd62], %r2;";
/// %r1 has a value in lanes 0 to 19.
const std::string kIn20 = "setp.lt.u32 %p1, %r60, 20; @%p1 mov.u32 %r1, 5;\n";
} // namespace

BOOST_AUTO_TEST_CASE(registers) {
  isReported(kElsewhere + "add.u32 %r2, %r1, 1;" + kStore, "st.global.u32",
             "reads %r2, computed from %r1 before that was written");
  isClean("mov.u32 %r1, 0; add.u32 %r2, %r1, 1;" + kStore);
  isReported("st.global.u32 [%rd62], %r1;", "st.global.u32", "reads %r1, which no instruction has written");
  isReported(kElsewhere + "mov.u64 %rd2, %rd1; st.global.u64 [%rd0], %rd2;", "st.global.u64",
             "reads %rd2, computed from %rd1");
}

BOOST_AUTO_TEST_CASE(registers_lane_by_lane) {
  const std::string use = "add.u32 %r2, %r1, 1;" + kStore;
  const auto says = [&](const std::string& body, int64_t lanes) {
    isReported(body, "st.global.u32", "reads %r2, computed from %r1 before", lanes);
  };
  says(kIn20 + use, 12);
  isClean(kIn20 + "@!%p1 mov.u32 %r1, 6;" + use);
  isClean("setp.lt.u32 %p1, %r60, 20; @%p1 bra low; mov.u32 %r1, 5; bra both; low: mov.u32 %r1, 6; both:" + use);
  says("setp.lt.u32 %p1, %r60, 20; @%p1 bra low; mov.u32 %r1, 5; low:" + use, 20);
  // Lanes that do not run the reading instruction do not read.
  isClean(kIn20 + "@%p1 add.u32 %r2, %r1, 1; @%p1" + kStore);
  // A write under a guard keeps what the other lanes have, and reads nothing.
  isClean(kIn20 + "@%p1 st.global.u32 [%rd62], %r1;");
}

BOOST_AUTO_TEST_CASE(values_are_followed_to_where_they_are_used) {
  const std::string chain = kIn20 + "add.u32 %r3, %r1, 1; shl.b32 %r4, %r3, 2; sub.u32 %r2, %r60, %r4;\n";
  isReported(chain + kStore, "st.global.u32", "reads %r2, computed from %r1 before", 12);
  isClean(chain);
  isClean(chain + "@%p1" + kStore);
  isClean(chain + "mov.u32 %r2, 0;" + kStore);
  isReported(chain + "st.shared.v2.u32 [s], {%r60, %r4};", "st.shared.v2.u32", "reads %r4, computed from %r1 before",
             12);
  isReported(chain + "and.b32 %r4, %r4, 0; add.u32 %r4, %r4, %r62; st.shared.u32 [%r4], 0;", "st.shared.u32",
             "reads %r4, computed from %r1 before", 12);
  isReported("st.shared.u32 [%r62], 0;" + chain + "atom.shared.add.u32 %r5, [%r62], %r2;", "atom.shared.add.u32",
             "reads %r2, computed from %r1 before", 12);
  isReported(chain + "and.b32 %r2, %r2, 0; add.u32 %r2, %r2, 1; barrier.sync %r2;", "barrier.sync",
             "reads %r2, computed from %r1 before", 12);
  isReported(chain + ".param .b32 a; st.param.b32 [a], %r2;", "st.param.b32", "reads %r2, computed from %r1 before",
             12);
}

BOOST_AUTO_TEST_CASE(each_lane_has_its_origin) {
  // %r3 is written in all lanes, but comes from %r1 in the upper ones and from %r4 in the lower ones, until these are written.
  const std::string both = kIn20 + "@!%p1 mov.u32 %r4, 6; @!%p1 add.u32 %r2, %r1, 1; @%p1 add.u32 %r2, %r4, 1;\n";
  isReported(both + kStore, "st.global.u32", "reads %r2, computed from %r4 before", 32);
  isReported(both + "@%p1 mov.u32 %r2, 0;" + kStore, "st.global.u32", "reads %r2, computed from %r1 before", 12);
  isReported(both + "@!%p1 mov.u32 %r2, 0;" + kStore, "st.global.u32", "reads %r2, computed from %r4 before", 20);
  isClean(both + "@!%p1 mov.u32 %r2, 0; @%p1 mov.u32 %r2, 0;" + kStore);
}

BOOST_AUTO_TEST_CASE(values_around_a_loop) {
  const auto loop = [](std::string_view body) {
    return "mov.u32 %r3, 0; again:\n" + std::string(body) +
           "add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 3; @%p2 bra again;\n";
  };
  isReported(loop("add.u32 %r4, %r2, 1; mov.u32 %r2, %r4;") + kStore, "st.global.u32",
             "reads %r2, computed from %r2 before", 32);
  // Some lanes begin in the first iteration, the others never do.
  const std::string first = "setp.eq.u32 %p3, %r3, 0; setp.lt.and.u32 %p4, %r60, 20, %p3; @%p4 mov.u32 %r2, 0;";
  isReported(loop(first + "add.u32 %r2, %r2, 1;") + kStore, "st.global.u32", "reads %r2, computed from %r2 before", 12);
  isClean(loop(first + "add.u32 %r2, %r2, 1;") + "setp.lt.u32 %p1, %r60, 20; @%p1" + kStore);
  isClean(loop(first + "@!%p4 mov.u32 %r2, 0; add.u32 %r2, %r2, 1;") + kStore);
}

BOOST_AUTO_TEST_CASE(a_choice_takes_one_side) {
  const std::string second = kIn20 + "setp.ge.u32 %p2, %r60, 20;\n";
  isClean(second + "selp.b32 %r2, %r1, %r60, %p1;" + kStore);
  isClean(second + "selp.b32 %r2, %r60, %r1, %p2;" + kStore);
  isClean(second + "selp.b32 %r2, %r60, %r1, !%p1;" + kStore);
  isReported(kIn20 + "selp.b32 %r2, %r60, %r1, %p1;" + kStore, "st.global.u32", "reads %r2, computed from %r1 before",
             12);
  isReported(second + "selp.b32 %r2, %r1, %r60, %p2;" + kStore, "st.global.u32", "reads %r2, computed from %r1 before",
             12);
  isReported(second + "selp.b32 %r2, %r1, %r60, !%p1;" + kStore, "st.global.u32", "reads %r2, computed from %r1 before",
             12);
  isReported(kIn20 + "selp.b32 %r2, %r1, %r1, %p1;" + kStore, "st.global.u32", "reads %r2, computed from %r1 before",
             12);
  // Who does not know which side it is has neither.
  isReported(kElsewhere + "selp.u32 %r2, 1, 2, %p1;" + kStore, "st.global.u32", "reads %r2, computed from %p1 before");
  isReported(kIn20 + "setp.eq.u32 %p2, %r1, 5; selp.u32 %r2, 1, 2, %p2;" + kStore, "st.global.u32",
             "reads %r2, computed from %r1 before", 12);
}

BOOST_AUTO_TEST_CASE(predicates) {
  isReported("@%p1 mov.u32 %r2, 1;", "mov.u32", "reads %p1, which", 32);
  isReported("@%p1 st.global.u32 [%rd62], 1;", "st.global.u32", "reads %p1, which", 32);
  const std::string compared = kIn20 + "setp.eq.u32 %p2, %r1, 4;\n";
  isClean(compared);
  isReported(compared + "@%p2 bra over; mov.u32 %r2, 1; over:", "bra", "reads %p2, computed from %r1 before", 12);
  isReported(compared + "@!%p2 st.global.u32 [%rd62], %r60;", "st.global.u32", "reads %p2, computed from %r1 before",
             12);
  isReported(compared + "and.pred %p3, %p1, %p2; not.pred %p3, %p3; @%p3 mov.u32 %r2, 1;", "mov.u32",
             "reads %p3, computed from %r1 before", 12);
  isReported(kIn20 + "and.b32 %r1, %r1, 0; list: .branchtargets over; brx.idx %r1, list; over:", "brx.idx",
             "reads %r1, computed from %r1 before", 12);
}

BOOST_AUTO_TEST_CASE(registers_of_all_kinds) {
  isReported(kElsewhere +
                 "mov.f64 %fd1, 0d0000000000000000; fma.rn.f64 %fd3, %fd1, %fd2, %fd1; st.global.f64 [%rd0], %fd3;",
             "st.global.f64", "reads %fd3, computed from %fd2");
  isReported("setp.eq.u32 %p1, %r60, 40; @%p1 mov.u32 %r1, 0; mov.b64 %rd1, {%r1, %r60}; st.global.u64 [%rd0], %rd1;",
             "st.global.u64", "reads %rd1, computed from %r1");
  isReported("st.global.v2.u32 [%rd0], {%r60, %r1};", "st.global.v2.u32", "reads %r1, which");
  isReported(".reg .v2 .b32 %v; mov.b32 %v.x, 1; setp.eq.u32 %p1, %r60, 40; @%p1 mov.b32 %v.y, 1; add.u32 %r2, %v.x, "
             "%v.y;" +
                 kStore,
             "st.global.u32", "reads %r2, computed from %v.y");
}

BOOST_AUTO_TEST_CASE(lanes_exchange_what_some_of_them_have) {
  // How a reduction of warps ends: a few lanes load what each warp has got, all of them combine it, one of them stores it.
  const auto reduction = [](std::string_view step) {
    std::string text = "st.shared.u32 [%r62], %r60; bar.sync 0; setp.lt.u32 %p1, %r60, 4;"
                       "@%p1 ld.shared.b32 %r12, [%r62];\n";
    for (const char* distance : {"2", "1"})
      text += "shfl.sync.bfly.b32 %r13, %r12, " + std::string(distance) + ", 31, 0xffffffff;\n" + std::string(step);
    return text;
  };
  for (const std::string_view step : {"add.u32 %r12, %r12, %r13;", "max.s32 %r12, %r12, %r13;",
                                      "setp.gt.s32 %p3, %r12, %r13; selp.b32 %r12, %r12, %r13, %p3;"}) {
    isClean(reduction(step) + "@%p60 st.shared.u32 [s], %r12; bar.sync 0; ld.shared.u32 %r2, [s];" + kStore,
            {.block = 128});
    isReported(reduction(step) + "st.global.u32 [%rd62], %r12;", "st.global.u32",
               "reads %r12, computed from %r12 before", 28);
  }
  isClean(kIn20 + "shfl.sync.bfly.b32 %r2, %r1, 1, 31, 0xffffffff;" + kStore);
  isClean(kIn20 + "redux.sync.add.u32 %r2, %r1, 0xffffffff;" + kStore);
  isClean(kIn20 + "setp.eq.u32 %p2, %r1, 5; vote.sync.ballot.b32 %r2, %p2, 0xffffffff;" + kStore);
  isClean(kIn20 + "match.any.sync.b32 %r2, %r1, 0xffffffff;" + kStore);
  // Who takes part is no value that is exchanged.
  isReported(kIn20 + "or.b32 %r1, %r1, -1; shfl.sync.bfly.b32 %r2, %r60, 1, 31, %r1;" + kStore, "shfl.sync.bfly.b32",
             "reads %r1, computed from %r1 before", 12);
  isReported(kIn20 + "or.b32 %r3, %r1, -1; bar.warp.sync %r3;", "bar.warp.sync", "reads %r3, computed from %r1 before",
             12);
}

BOOST_AUTO_TEST_CASE(products_take_what_lanes_have) {
  isClean(kIn20 +
          "mov.f32 %f1, 0f00000000; mov.u32 %r3, 0;"
          "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f2, %f3, %f4, %f5}, {%r3, %r1}, {%r3}, {%f1, %f1, "
          "%f1, %f1}; st.global.f32 [%rd62], %f2;");
}

BOOST_AUTO_TEST_CASE(values_that_compilers_leave_undefined) {
  // Nothing in the text writes %r1.
  isClean("mov.b64 %rd1, {%r60, %r1}; mov.b64 {%r2, %r3}, %rd1; st.global.u32 [%rd62], %r2;");
  isClean("mov.f32 %f1, 0f3F800000; cvt.rn.satfinite.e4m3x2.f32 %h1, %f2, %f1; st.global.u8 [%rd62], %h1;");
  isReported("mov.b64 %rd1, {%r60, %r1}; st.global.u32 [%rd62], %r1;", "st.global.u32", "reads %r1");
  isReported("ld.global.u32 %r2, [%rd62]; bar.sync %r1;", "bar.sync", "reads %r1");
}

BOOST_AUTO_TEST_CASE(sums_of_wgmma_need_no_value) {
  // scale-d is false: the sum is only written.
  isClean(".reg .b64 %d; and.b32 %r10, %r59, 262128; shr.u32 %r10, %r10, 4; cvt.u64.u32 %d, %r10;"
          "mov.u32 %r11, 0; shl.b32 %r12, %r60, 2; add.s32 %r12, %r59, %r12; st.shared.u32 [%r12], %r11;"
          "wgmma.fence.sync.aligned;"
          "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, {%r11, %r11, %r11, %r11}, %d, 0, 1, "
          "1, 0;"
          "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; st.global.f32 [%rd62], %f0;",
          {.block = 128});
}

BOOST_AUTO_TEST_CASE(lanes_that_are_gathered_have_written) {
  // The upper half comes to the vote later than the lower one, which runs it for all of them.
  isClean(
      "setp.lt.u32 %p1, %r60, 16; @%p1 bra vote; mov.u32 %r3, 0; again: add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 40;"
      "@%p2 bra again; vote: setp.eq.u32 %p3, %r60, 0; @%p3 mov.u32 %r1, 1; vote.sync.ballot.b32 %r1, %p3, 0xffffffff;"
      "st.global.u32 [%rd62], %r1;");
}

BOOST_AUTO_TEST_CASE(arguments_and_results_in_registers) {
  const auto text = [](std::string_view body) {
    return ptxKernel(1, "mov.u32 %r60, %tid.x;\n" + std::string(body),
                     ".func (.reg .b32 %result) f(.reg .b32 %x) {\n.reg .pred %p<2>; setp.eq.u32 %p1, %x, 0;\n"
                     "@%p1 mov.u32 %result, 1; @!%p1 mov.u32 %result, 2; ret; }\n");
  };
  BOOST_TEST(findingsOfText(text("call (%r2), f, (%r60); st.global.u32 [%rd0], %r2;")).empty());
  isOne(findingsOfText(text("call (%r2), f, (%r1); st.global.u32 [%rd0], %r2;")), "an argument", "call", "reads %r1",
        32);
}

// ---- The bits ------------------------------------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(written_bytes_are_a_set_of_bytes) {
  constexpr uint64_t kBytes = 300;
  std::mt19937 random(1);
  WrittenBytes bits(kBytes);
  std::vector<bool> bytes(kBytes);
  for (int step = 0; step < 4000; ++step) {
    const uint64_t at = random() % kBytes, count = random() % std::min<uint64_t>(kBytes - at + 1, 140);
    const bool sets = random() % 3 != 0;
    if (random() % 2) {
      sets ? bits.set(at, count) : bits.clear(at, count);
      std::fill_n(bytes.begin() + ptrdiff_t(at), count, sets);
    }
    const auto first = std::find(bytes.begin() + ptrdiff_t(at), bytes.begin() + ptrdiff_t(at + count), false);
    const bool all = first == bytes.begin() + ptrdiff_t(at + count);
    BOOST_REQUIRE(bits.all(at, count) == all);
    if (!all) BOOST_REQUIRE(bits.firstUnset(at) == uint64_t(first - bytes.begin()));
  }
}
