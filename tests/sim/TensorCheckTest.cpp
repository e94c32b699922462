// What the checks say of tcgen05: work on its way, registers and cells that nobody has waited for, unwritten cells, allocations;
// and the traps of tensor memory.
#define BOOST_TEST_MODULE sim_tensorcheck
#include "tests/sim/CheckedRun.h"

using namespace tiletwin;
using namespace tiletwin::sim;

namespace {

/// 128 x 16 elements of A and 16 x 16 of B in shared memory, all 0; 64 columns of tensor memory at %r1, D of 16 columns there; %r2
/// is the warp's part of it, %r5 the tiles, %r6 the mbarrier, %p1 the first warp, %p2 its first thread.
const std::string kBegin = R"(
mov.u32 %r0, %tid.x; mov.u32 %r7, where; mov.u32 %r5, tiles; mov.u32 %r6, bar; mov.u32 %r8, 0;
setp.lt.u32 %p1, %r0, 32; setp.eq.u32 %p2, %r0, 0; setp.eq.u32 %p3, 0, 0;
@%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r7], 64;
@%p2 mbarrier.init.shared::cta.b64 [%r6], 1;
mad.lo.u32 %r4, %r0, 48, %r5;
st.shared.v4.b32 [%r4], {%r8, %r8, %r8, %r8}; st.shared.v4.b32 [%r4+16], {%r8, %r8, %r8, %r8};
st.shared.v4.b32 [%r4+32], {%r8, %r8, %r8, %r8};
fence.proxy.async.shared::cta;
bar.sync 0;
ld.shared.b32 %r1, [%r7]; shr.u32 %r3, %r0, 5; shl.b32 %r3, %r3, 21; add.u32 %r2, %r1, %r3;
shr.u32 %r9, %r5, 4; cvt.u64.u32 %rd3, %r9; or.b64 %rd3, %rd3, 0x0000401000080000; add.s64 %rd4, %rd3, 256;
mov.u32 %r10, 0x08040010;
)";
const std::string
    kStore = "tcgen05.st.sync.aligned.32x32b.x16.b32 [%r2], {%r8, %r8, %r8, %r8, %r8, %r8, %r8, %r8, %r8, %r8, "
             "%r8, %r8, %r8, %r8, %r8, %r8};",
    kWaitStore = "tcgen05.wait::st.sync.aligned;\n", kMeet = "bar.sync 0;\n",
    kCommit = "@%p2 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r6];\n",
    kWait = "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r6], 0; @!%p4 bra WAIT;\n",
    kLoad = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r20}, [%r2];", kWaitLoad = "tcgen05.wait::ld.sync.aligned;\n",
    kFree = "bar.sync 0; @%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 64;";
const std::string kFilled = kStore + kWaitStore + kMeet;
std::string product(const std::string& mark = "", const std::string& adds = "%p3", const std::string& a = "%rd3") {
  return "@%p2 tcgen05.mma.cta_group::1.kind::f16 [%r1], " + a + ", %rd4, %r10, " + adds + "; " + mark + "\n";
}

/// ctas: of the group that all instructions are for.
std::string textOf(const std::string& body, int ctas = 1) {
  std::string text = kBegin + body;
  for (size_t at = 0; ctas == 2 && (at = text.find("cta_group::1", at)) != std::string::npos;) text[at + 11] = '2';
  return ptxKernel(1, text,
                   ".shared .align 1024 .b8 tiles[8192];\n.shared .align 8 .b64 bar;\n.shared .align 4 .b32 where;\n",
                   "sm_100a");
}
Launched fourWarps() {
  Launched how;
  how.block = 128;
  how.pointers = 1;
  how.prepare = [](SimRun& run) { run.params.checks = {.uninitialized = true, .races = true}; };
  return how;
}
Finding reports(const std::string& body, std::string_view message, Check check = Check::Async) {
  return expectFinding(textOf(body), check, message, fourWarps());
}
void isSilent(const std::string& body) { expectNothing(textOf(body), fourWarps()); }
void traps(const std::string& body, const std::string& words, int ctas = 1) {
  const Said said = runChecked(textOf(body, ctas), fourWarps());
  BOOST_TEST(said.trap.message.find(words) != std::string::npos, describe(said) << " lacks " << words);
}
void refuses(const std::string& body, const std::string& words, std::string_view target = "sm_100a") {
  const std::string said = SimRun::loadError(ptxKernel(1, body, "", target));
  BOOST_TEST(said.find(words) != std::string::npos, said << " lacks " << words);
}

} // namespace

BOOST_AUTO_TEST_CASE(a_product_that_is_waited_for) {
  isSilent(kFilled + product() + kCommit + kWait + kLoad + kWaitLoad + kFree);
  isSilent(product("", "!%p3") + product() + kCommit + kWait + kLoad + kWaitLoad + kFree);
}

BOOST_AUTO_TEST_CASE(accumulators_are_used_before_the_wait) {
  const std::string begin = kFilled + product("// THERE") + kCommit + "bar.warp.sync -1;\n" + kMeet;
  const Finding f = reports(begin + kLoad + "// HERE\n" + kWaitLoad + kWait + kFree,
                            "reads tensor memory that a tcgen05.mma on its way is going to write");
  BOOST_TEST(f.detail.ends_with(", column 0"), f.detail);
  reports(begin + kStore + "// HERE\n" + kWaitStore + kWait + kFree,
          "writes tensor memory that a tcgen05.mma on its way");
  reports(begin + "@%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 64; // HERE\n" + kMeet + kWait,
          "gives back tensor memory that a tcgen05.mma on its way");
}

BOOST_AUTO_TEST_CASE(operands_are_overwritten_before_the_wait) {
  const std::string begin = kFilled + product("// THERE") + kCommit + kMeet;
  const std::string early = textOf(begin + "st.shared.b32 [%r5], %r10; // HERE\n" + kWait + kFree);
  Launched how = fourWarps();
  how.prepare = [](SimRun&) {};
  expectFinding(early, Check::Async, "writes shared memory that a tcgen05 operation on its way is going to read", how);
  how.prepare = [](SimRun& run) { // nothing is on its way then, and nothing orders the write behind the product
    run.params.schedule = Schedule::parse("copies=early");
    run.params.checks.races = true;
  };
  expectFinding(early, Check::Races, "writes shared memory that a tcgen05 operation reads, and nothing orders", how);
  isSilent(begin + "st.shared.b32 [%r5+6144], %r8;\n" + kWait + kFree);
  isSilent(begin + kWait + kMeet + "st.shared.b32 [%r4], %r8;\n" + kFree);
  const std::string inTensor = kFilled + product("// THERE", "!%p3", "[%r1 + 32]") + kCommit + kMeet;
  traps(inTensor + kWait + "add.u32 %r2, %r2, 64;\n" + kLoad,
        "reaches columns 64 to 64 of tensor memory; allocated are: 0 to 63");
}

BOOST_AUTO_TEST_CASE(operands_are_written_with_no_proxy_fence) {
  reports(kFilled + "@%p2 st.shared.b32 [%r5], %r8; // THERE\n" + product("// HERE") + kCommit + kWait + kFree,
          "in the generic proxy, with no fence.proxy.async between");
}

BOOST_AUTO_TEST_CASE(transfers_that_nobody_has_waited_for) {
  reports(kStore + "// THERE\n" + kMeet + product("// HERE") + kCommit + kWait + kWaitStore + kFree,
          "that a tcgen05.st has written and its warp has not waited for");
  reports(kFilled + kLoad + "// THERE\n" + kMeet + product("// HERE") + kCommit + kWait + kWaitLoad + kFree,
          "that a tcgen05.ld reads whose warp has not waited for it");
}

BOOST_AUTO_TEST_CASE(cells_that_nobody_has_written) {
  reports(kLoad + "// HERE\n" + kWaitLoad + kFree, "reads tensor memory that nobody has written", Check::Uninitialized);
  reports(product("// HERE") + kCommit + kWait + kFree, "reads tensor memory that nobody has written",
          Check::Uninitialized);
}

BOOST_AUTO_TEST_CASE(what_is_left_behind) {
  const std::string text =
      ptxKernel(1, "mov.u32 %r7, where;\ntcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r7], 32; // HERE\n",
                ".shared .align 4 .b32 where;\n", "sm_100a");
  Launched one;
  one.pointers = 1;
  expectFinding(text, Check::Async, "allocates 32 columns of tensor memory that nobody gives back", one);
  const Said said = runChecked(textOf(kFilled + product()), fourWarps());
  BOOST_REQUIRE(said.findings.size() == 2u);
  BOOST_TEST(said.findings[0].message == "allocates 64 columns of tensor memory that nobody gives back");
  BOOST_TEST(said.findings[1].message == "is on its way when its CTA ends: nobody has waited for it");
}

BOOST_AUTO_TEST_CASE(columns_and_lanes) {
  traps("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r20}, [%r1];",
        "reaches lanes 0 to 31 of tensor memory; warp 3 of its CTA may "
        "reach 96 to 127");
  traps("add.u32 %r2, %r2, 64;\n" + kLoad, "reaches columns 64 to 64 of tensor memory; allocated are: 0 to 63");
  traps("and.b32 %r20, %r0, 1; add.u32 %r2, %r2, %r20;\n" + kLoad, "has another address in tensor memory than lane 0");
  traps("add.u32 %r1, %r1, 56;\n" + product("", "!%p3"), "reaches columns 56 to 71 of tensor memory");
  traps("add.u32 %r1, %r1, 0x200000;\n" + product("", "!%p3"), "puts D at lane 32: it begins at lane 0");
  traps(kFree + kFree, "gives back 64 columns of tensor memory from column 0 on, which are no allocation");
  traps("@%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r7], 48;", "names 48 columns of tensor memory");
  traps("@%p1 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n@%p1 "
        "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r7], 64;",
        "after its CTA has run tcgen05.relinquish_alloc_permit");
  traps("@%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r7], 512;",
        "waits for 512 free columns of tensor memory; 64 of 512 are allocated");
  traps(product(), "the cluster has no CTA beside rank 0", 2);
}

BOOST_AUTO_TEST_CASE(block_scales) {
  const auto scaled = [](const std::string& descriptor) {
    return "mov.u32 %r10, " + descriptor +
           ";\n@%p2 tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X [%r1], %rd3, %rd4, %r10, [%r1 + "
           "48], "
           "[%r1 + 56], !%p3; // HERE\n" +
           kCommit + kWait + kFree;
  };
  isSilent(kFilled + "add.u32 %r2, %r2, 48;\n" + kFilled + scaled("0x08840000"));
  traps(scaled("0x08040000"), "names scales of another type than e8m0");
  traps(scaled("0x04840000"), "block scales for M = 64 are not implemented");
  traps(scaled("0x08840180"), "only e4m3 and e5m2 are implemented");
  traps("add.u32 %r1, %r1, 8;\n" + scaled("0x08840000"), "reaches columns 64 to 64 of tensor memory");
  reports(kFilled + scaled("0x08840000"), "reads tensor memory that nobody has written", Check::Uninitialized);
}

BOOST_AUTO_TEST_CASE(an_mbarrier_that_never_hears_of_a_product) {
  traps(kFilled + product() + kWait, "no thread of this cluster can go on");
}

BOOST_AUTO_TEST_CASE(what_is_refused) {
  refuses("tcgen05.wait::ld.sync.aligned;", "needs a target of sm_100a or sm_100f", "sm_90a");
  refuses("tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;\ntcgen05.dealloc.cta_group::1.sync.aligned.b32 "
          "%r1, 32;",
          "a function's tcgen05 are all of .cta_group::1 or all of .cta_group::2");
  refuses("tcgen05.shift.cta_group::1.down [%r1];", "is not implemented");
  refuses("tcgen05.mma.sp.cta_group::1.kind::f16 [%r1], %rd3, %rd4, [%r2], %r3, %p1;", "with .sp is not implemented");
  refuses("tcgen05.mma.ws.cta_group::1.kind::f16 [%r1], %rd3, %rd4, %r3, %p1;", "with .ws is not implemented");
  refuses("tcgen05.mma.cta_group::1.kind::mxf4.block_scale [%r1], %rd3, %rd4, %r3, [%r4], [%r5], %p1;",
          "wants one of .kind::f16");
  refuses("tcgen05.mma.cta_group::1.kind::mxf8f6f4 [%r1], %rd3, %rd4, %r3, [%r4], [%r5], %p1;", "go together");
  refuses("tcgen05.mma.cta_group::1.kind::i8 [%r1], %rd3, %rd4, %r3, %p1, 3;", "scale-input-d is for .kind::f16");
  refuses("tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd3, %rd4, %r3, {%r4, %r5}, %p1;",
          "the mask of lanes has 4 registers");
  refuses("tcgen05.ld.sync.aligned.32x32b.x3.b32 {%r1, %r2, %r3}, [%r4];", "wants one of .x1, .x2, .x4");
  refuses("tcgen05.ld.sync.aligned.16x256b.x1.b32 {%r1}, [%r4];", "this shape has 4 registers, got 1");
  refuses("tcgen05.cp.cta_group::1.128x256b.b8x16.b6x16_p32 [%r1], %rd3;", "that decompresses is not implemented");
  refuses("tcgen05.commit.cta_group::1.shared::cluster.b64 [%r1];", "wants .mbarrier::arrive::one");
}
