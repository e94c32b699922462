// tests/sim/ProductCheckTest.cpp -- the check of asynchronous operations on wgmma: registers and shared memory of products on their
// way, wgmma.fence, proxy fences.
// Not here:  copies (AsyncCheckTest.cpp).
#define BOOST_TEST_MODULE sim_productcheck
#include "tests/sim/CheckedRun.h"

using namespace tiletwin;
using namespace tiletwin::sim;

namespace {

/// 64 x 16 elements of A (2048 bytes) and 16 x 16 of B behind them, written by 128 threads, 16 bytes each: %r3 are those of the
/// thread in A, %rd3 and %rd4 descriptors of A and B.
const std::string kTiles = R"(
mov.u32 %r0, %tid.x; mov.u32 %r2, tiles; mad.lo.u32 %r3, %r0, 16, %r2; mov.u32 %r4, 0x3c003c00;
shr.u32 %r5, %r2, 4; cvt.u64.u32 %rd3, %r5; or.b64 %rd3, %rd3, 0x0000001000080000; add.s64 %rd4, %rd3, 128;
mov.b32 %r10, 0; mov.b32 %r11, 0; mov.b32 %r12, 0; mov.b32 %r13, 0;
mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;
mov.f32 %f4, %f0; mov.f32 %f5, %f0; mov.f32 %f6, %f0; mov.f32 %f7, %f0;
)";
const std::string kWrite =
    "st.shared.v4.b32 [%r3], {%r4, %r4, %r4, %r4};\nst.shared.v4.b32 [%r3+2048], {%r4, %r4, %r4, %r4};";
const std::string kBegin = kTiles + kWrite + "\nfence.proxy.async.shared::cta;\nbar.sync 0;\n";

const std::string kFence = "wgmma.fence.sync.aligned;\n", kCommit = "wgmma.commit_group.sync.aligned;\n";
std::string waitFor(int groups) { return "wgmma.wait_group.sync.aligned " + std::to_string(groups) + ";\n"; }
const std::string kWait = waitFor(0);

const std::string kFirst = "{%f0, %f1, %f2, %f3}", kSecond = "{%f4, %f5, %f6, %f7}";
std::string product(const std::string& d, const std::string& mark = "") {
  return "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 " + d + ", %rd3, %rd4, 1, 1, 1, 0, 0; " + mark + "\n";
}
/// A in %r10 to %r13.
std::string productOfRegisters(const std::string& mark = "") {
  return "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 " + kFirst +
         ", {%r10, %r11, %r12, %r13}, %rd4, 1, 1, 1, 0; " + mark + "\n";
}
const std::string kThere = "// THERE", kHere = "// HERE";

std::string textOf(const std::string& body) { return ptxKernel(2, body, ".shared .align 1024 .b8 tiles[4096];\n"); }
Launched warpgroup() {
  Launched how;
  how.block = 128;
  return how;
}
Finding reports(const std::string& body, std::string_view message) {
  return expectFinding(textOf(body), Check::Async, message, warpgroup());
}
void isSilent(const std::string& body) { expectNothing(textOf(body), warpgroup()); }

constexpr std::string_view kWritten = "a wgmma on its way is going to write",
                           kRead = "a wgmma on its way is going to read",
                           kUnfenced = "another instruction has used, with no wgmma.fence between";

} // namespace

BOOST_AUTO_TEST_CASE(accumulators_are_used_before_the_wait) {
  const std::string begin = kBegin + kFence + product(kFirst, kThere) + kCommit;
  const Finding f = reports(begin + "add.f32 %f10, %f11, %f2; // HERE\n" + kWait, kWritten);
  BOOST_TEST(f.detail == ", register %f2");
  BOOST_TEST(f.secondOperation == "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16");
  reports(begin + "mov.f32 %f3, 0f00000000; // HERE\n" + kWait, kWritten);
  reports(begin + "st.global.f32 [%rd0], %f1; // HERE\n" + kWait, kWritten);
  reports(begin + "setp.eq.u32 %p1, %r0, 127;\n@%p1 mov.f32 %f9, %f0; // HERE\n" + kWait, kWritten);
  isSilent(begin + kWait + "add.f32 %f10, %f1, %f2;\n");
  isSilent(begin + "add.f32 %f10, %f4, %f5;\n" + kWait); // others
  isSilent(begin + "setp.eq.u32 %p1, %r0, 128;\n@%p1 mov.f32 %f9, %f0;\n" + kWait);
}

BOOST_AUTO_TEST_CASE(the_wait_leaves_a_group_on_its_way) {
  const std::string begin = kBegin + kFence + product(kFirst) + kCommit + product(kSecond, kThere) + kCommit;
  isSilent(begin + waitFor(1) + "mov.f32 %f9, %f0;\n" + kWait);
  reports(begin + waitFor(1) + "mov.f32 %f9, %f4; // HERE\n" + kWait, kWritten);
  reports(kBegin + kFence + product(kFirst, kThere) + kWait + "mov.f32 %f9, %f0; // HERE\n" + kCommit + kWait,
          kWritten); // it was in no group when the wait came
}

BOOST_AUTO_TEST_CASE(registers_of_a_change) {
  const std::string begin = kBegin + kFence + productOfRegisters(kThere) + kCommit;
  const Finding f = reports(begin + "mov.b32 %r12, 7; // HERE\n" + kWait, kRead);
  BOOST_TEST(f.detail == ", register %r12");
  isSilent(begin + "mov.b32 %r20, %r12;\n" + kWait); // reading them does no harm
  isSilent(begin + kWait + "mov.b32 %r12, 7;\n");
}

BOOST_AUTO_TEST_CASE(a_fence_lies_in_front) {
  reports(kBegin + product(kFirst, kHere) + kCommit + kWait, "first product, with no wgmma.fence");
  reports(kBegin + kFence + "mov.f32 %f1, %f9; // THERE\n" + product(kFirst, kHere) + kCommit + kWait, kUnfenced);
  reports(kBegin + kFence + "mov.b32 %r11, 1; // THERE\n" + productOfRegisters(kHere) + kCommit + kWait, kUnfenced);
  isSilent(kBegin + kFence + "mov.f32 %f5, %f9;\n" + product(kFirst) + kCommit + kWait);
  const std::string first = kBegin + kFence + product(kFirst) + kCommit + kWait;
  reports(first + "mov.f32 %f9, %f1; // THERE\n" + product(kFirst, kHere) + kCommit + kWait, kUnfenced);
  isSilent(first + "mov.f32 %f9, %f1;\n" + kFence + product(kFirst) + kCommit + kWait);
}

BOOST_AUTO_TEST_CASE(products_of_one_shape_follow_each_other) {
  isSilent(kBegin + kFence + product(kFirst) + product(kFirst) + product(kFirst) + kCommit + product(kFirst) + kCommit +
           kWait);
  const std::string wide = "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, "
                           "%f7}, %rd3, %rd4, 1, 1, 1, 0, 0;";
  reports(kBegin + kFence + product(kFirst, kThere) + wide + " // HERE\n" + kCommit + kWait, "of another shape");
  isSilent(kBegin + kFence + product(kFirst) + kCommit + kWait + kFence + wide + "\n" + kCommit + kWait);
}

BOOST_AUTO_TEST_CASE(shared_memory_changes_under_a_product) {
  const std::string begin = kBegin + kFence + product(kFirst, kThere) + kCommit;
  const std::string change = "st.shared.b32 [%r3], %r0; // HERE\n";
  const Finding f = reports(begin + change + kWait, "writes shared memory that a wgmma on its way");
  BOOST_TEST(f.advice.find("wgmma.wait_group") != std::string::npos);
  reports(begin + "cp.async.ca.shared.global [%r3], [%rd0], 4; // HERE\n" + kWait, "writes shared memory that a wgmma");
  reports(begin + "setp.eq.u32 %p1, %r0, 0;\nbar.sync 0;\n@%p1 st.shared.b8 [tiles+2303], %r0; // HERE\n" + kWait,
          "writes shared memory that a wgmma"); // the last byte of B
  isSilent(begin + "st.shared.b32 [tiles+2304], %r0;\n" + kWait);
  isSilent(begin + "ld.shared.b32 %r20, [%r3];\n" + kWait);
  isSilent(begin + kWait + "bar.sync 0;\n" + change);
}

BOOST_AUTO_TEST_CASE(warps_wait_for_each_other) {
  // Warps write where other warps' products read: their own wait is not enough.
  const std::string other = "xor.b32 %r6, %r0, 32; mad.lo.u32 %r6, %r6, 16, %r2;\n";
  const std::string begin = kBegin + other + kFence + product(kFirst, kThere) + kCommit;
  isSilent(begin + kWait + "bar.sync 0;\nst.shared.b32 [%r6], %r0;\n");
  reports(begin + "bar.sync 0;\n" + kWait + "st.shared.b32 [%r6], %r0; // HERE\n", "writes shared memory that a wgmma");
}

BOOST_AUTO_TEST_CASE(the_proxies) {
  const std::string write = kTiles + "st.shared.v4.b32 [%r3], {%r4, %r4, %r4, %r4}; // THERE\n" +
                            "st.shared.v4.b32 [%r3+2048], {%r4, %r4, %r4, %r4}; // THERE\n";
  const std::string use = kFence + product(kFirst, kHere) + kCommit + kWait;
  constexpr std::string_view noFence = "no fence.proxy.async between";
  isSilent(write + "fence.proxy.async;\nbar.sync 0;\n" + use);
  isSilent(write + "bar.sync 0;\nfence.proxy.async.shared::cta;\n" + use);
  const std::string text = textOf(write + "bar.sync 0;\n" + use);
  const Said said = runChecked(text, warpgroup());
  BOOST_REQUIRE_MESSAGE(said.findings.size() == 2u, describe(said)); // of A and of B
  for (const Finding& f : said.findings) {
    BOOST_TEST(f.where.line == linesOf(text, "// HERE").front());
    BOOST_TEST(f.message.find(noFence) != std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(in_a_function) {
  // The same registers' numbers in another function: nothing is mixed up.
  const std::string function =
      ".func f() {\n.reg .f32 %f<8>;\nmov.f32 %f0, 0f00000000;\nadd.f32 %f1, %f0, %f0;\nret;\n}\n";
  const std::string body = kBegin + kFence + product(kFirst, kThere) + kCommit + "call f;\n";
  const std::string before = ".shared .align 1024 .b8 tiles[4096];\n" + function;
  expectNothing(ptxKernel(2, body + kWait + "mov.f32 %f9, %f0;\n", before), warpgroup());
  expectFinding(ptxKernel(2, body + "mov.f32 %f9, %f0; // HERE\n" + kWait, before), Check::Async, kWritten,
                warpgroup());
}

BOOST_AUTO_TEST_CASE(can_be_switched_off) {
  Launched how = warpgroup();
  how.prepare = [](SimRun& run) { run.params.checks.async = false; };
  expectNothing(textOf(kBegin + product(kFirst) + kCommit + "mov.f32 %f9, %f0;\nst.shared.b32 [%r3], %r0;\n" + kWait),
                how);
}
