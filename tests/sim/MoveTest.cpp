// tests/sim/MoveTest.cpp -- mov, cvta, isspacep, ld and st in all spaces, and what they say of addresses that are wrong.
#define BOOST_TEST_MODULE move
#include "tests/sim/SimRun.h"
#include "tests/sim/Text.h"

using namespace tiletwin;
using namespace tiletwin::sim;

namespace {

/// One thread runs `body`; it may write 64-bit words at %rd0 and read bytes at %rd1.
struct OneThread {
  explicit OneThread(const std::string& body, const std::string& before = {}, std::vector<uint8_t> bytes = {})
      : run(ptxKernel(2, body, before)), in(std::move(bytes)) {
    in.resize(64);
    run.buffer(out).buffer(in, true);
    result = run.launch(1, 1);
  }
  uint64_t word(size_t index = 0) const {
    BOOST_REQUIRE_MESSAGE(!result.trap, result.trap.message);
    return out[index];
  }
  SimRun run;
  std::vector<uint64_t> out = std::vector<uint64_t>(16);
  std::vector<uint8_t> in;
  Result result;
};

void checkTrap(const Result& result, TrapKind kind, const std::string& text) {
  BOOST_REQUIRE(result.trap.kind == kind);
  BOOST_CHECK_MESSAGE(result.trap.message.find(text) != std::string::npos, result.trap.message);
}

} // namespace

BOOST_AUTO_TEST_CASE(packing) {
  BOOST_CHECK_EQUAL(
      OneThread("mov.u32 %r1, 0x11223344;\nmov.b64 %rd5, {%r1, 0x55667788};\nst.global.u64 [%rd0], %rd5;").word(),
      0x5566778811223344u);
  BOOST_CHECK_EQUAL(OneThread("mov.u64 %rd5, 0x0123456789abcdef;\nmov.b64 {%h1, _, %h2, %h3}, %rd5;\n"
                              "mov.b64 %rd6, {%h3, %h2, %h1, %h1};\nst.global.u64 [%rd0], %rd6;")
                        .word(),
                    0xcdefcdef45670123u);
  BOOST_CHECK_EQUAL(OneThread("mov.u32 %r1, 0x89abcdef;\nmov.b32 {%h1, %h2}, %r1;\nmov.b32 %r2, {%h2, %h1};\n"
                              "st.global.u32 [%rd0], %r2;")
                        .word(),
                    0xcdef89abu);
  BOOST_CHECK_EQUAL(OneThread(".reg .b8 %b<4>;\nmov.u32 %r1, 0x89abcdef;\nmov.b32 {%b0, %b1, %b2, %b3}, %r1;\n"
                              "mov.b32 %r2, {%b3, %b1, %b2, %b0};\nst.global.u32 [%rd0], %r2;")
                        .word(),
                    0xefabcd89u);
  const OneThread wide("mov.u64 %rd5, 5;\nmov.u64 %rd6, 6;\nmov.b128 %q0, {%rd5, %rd6};\nmov.b128 %q1, %q0;\n"
                       "st.global.b128 [%rd0], %q1;\nmov.b128 {_, %rd7}, %q1;\nst.global.u64 [%rd0+16], %rd7;");
  BOOST_CHECK_EQUAL(wide.word(0), 5u);
  BOOST_CHECK_EQUAL(wide.word(1), 6u);
  BOOST_CHECK_EQUAL(wide.word(2), 6u);
}

BOOST_AUTO_TEST_CASE(constants_as_each_type) {
  BOOST_CHECK_EQUAL(OneThread("mov.f32 %f1, 0f3FC00000;\nst.global.f32 [%rd0], %f1;").word(), 0x3fc00000u);
  BOOST_CHECK_EQUAL(OneThread("mov.f32 %f1, 1.5;\nst.global.f32 [%rd0], %f1;").word(), 0x3fc00000u);
  BOOST_CHECK_EQUAL(OneThread("mov.b32 %r1, 0f7FFFFFFF;\nst.global.b32 [%rd0], %r1;").word(), 0x7fffffffu);
  BOOST_CHECK_EQUAL(OneThread("mov.f64 %fd1, 0d7FF8000000001234;\nst.global.f64 [%rd0], %fd1;").word(),
                    0x7ff8000000001234u);
  BOOST_CHECK_EQUAL(OneThread("mov.f64 %fd1, 0.5;\nst.global.f64 [%rd0], %fd1;").word(), 0x3fe0000000000000u);
  BOOST_CHECK_EQUAL(OneThread("mov.b64 %rd5, -2;\nst.global.b64 [%rd0], %rd5;").word(), ~uint64_t(1));
  BOOST_CHECK_EQUAL(OneThread("st.global.u16 [%rd0], -2;").word(), 0xfffeu);
}

BOOST_AUTO_TEST_CASE(loads_extend_as_their_type_says) {
  const std::vector<uint8_t> bytes = {0x80, 0xff, 0xfe, 0x90, 1, 2, 3, 0x84};
  const auto load = [&](const std::string& type, const std::string& reg, const std::string& store) {
    return OneThread("ld.global." + type + " " + reg + ", [%rd1];\nst.global." + store + " [%rd0], " + reg + ";", {},
                     bytes)
        .word();
  };
  BOOST_CHECK_EQUAL(load("s8", "%rd5", "u64"), 0xffffffffffffff80u);
  BOOST_CHECK_EQUAL(load("u8", "%rd5", "u64"), 0x80u);
  BOOST_CHECK_EQUAL(load("b8", "%r5", "u32"), 0x80u);
  BOOST_CHECK_EQUAL(load("s8", "%h5", "u16"), 0xff80u);
  BOOST_CHECK_EQUAL(load("s16", "%r5", "u32"), 0xffffff80u);
  BOOST_CHECK_EQUAL(load("u16", "%rd5", "u64"), 0xff80u);
  BOOST_CHECK_EQUAL(load("s32", "%rd5", "u64"), 0xffffffff90feff80u);
  BOOST_CHECK_EQUAL(load("b32", "%rd5", "u64"), 0x90feff80u);
  BOOST_CHECK_EQUAL(load("u64", "%rd5", "u8"), 0x80u); // a store takes the low bits
  BOOST_CHECK_EQUAL(load("u64", "%rd5", "u32"), 0x90feff80u);
}

BOOST_AUTO_TEST_CASE(vectors) {
  std::vector<uint8_t> bytes(64);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = uint8_t(i);
  const OneThread got(
      "ld.global.nc.L1::evict_last.L2::128B.v4.b32 {%r1, _, %r3, %r4}, [%rd1+16];\n"
      "st.global.cs.v2.b32 [%rd0], {%r4, %r1};\nst.global.v4.b8 [%rd0+8], {%r1, %r3, 7, %r4};\n"
      "ld.volatile.global.v2.b64 {%rd5, %rd6}, [%rd1+32];\nst.relaxed.gpu.global.v2.b64 [%rd0+16], {%rd6, %rd5};\n"
      "ld.global.b32 {%r7}, [%rd1];\nst.global.b32 [%rd0+32], {%r7};",
      {}, bytes);
  BOOST_CHECK_EQUAL(got.word(0), 0x131211101f1e1d1cu);
  BOOST_CHECK_EQUAL(got.word(1), 0x1c071810u);
  BOOST_CHECK_EQUAL(got.word(2), 0x2f2e2d2c2b2a2928u);
  BOOST_CHECK_EQUAL(got.word(3), 0x2726252423222120u);
  BOOST_CHECK_EQUAL(got.word(4), 0x03020100u);
}

BOOST_AUTO_TEST_CASE(spaces_by_name_and_through_generic_addresses) {
  const std::string variables = ".shared .align 8 .b8 first[24];\n.shared .u64 second;\n.global .u64 counter = 40;\n"
                                ".const .u32 table[3] = {7, 8, 9};\n.global .u64 self = counter;\n";
  const OneThread got(R"(
    .local .align 8 .b8 own[32];
    mov.u64 %rd5, 123;
    st.shared.u64 [second], %rd5;
    mov.u32 %r1, first;
    ld.shared.u64 %rd6, [%r1+24];
    st.global.u64 [%rd0], %rd6;                 // 0: second lies behind first
    mov.u64 %rd7, second;
    cvta.shared.u64 %rd7, %rd7;
    ld.u64 %rd6, [%rd7];
    st.global.u64 [%rd0+8], %rd6;               // 1
    isspacep.shared %p0, %rd7;
    isspacep.global %p1, %rd7;
    isspacep.local %p2, %rd7;
    selp.u32 %r2, 1, 0, %p0;
    selp.u32 %r3, 10, 0, %p1;
    selp.u32 %r4, 100, 0, %p2;
    add.u32 %r2, %r2, %r3;
    add.u32 %r2, %r2, %r4;
    st.global.u32 [%rd0+16], %r2;               // 2
    st.local.u64 [own+8], %rd5;
    mov.u64 %rd8, own;
    cvta.local.u64 %rd8, %rd8;
    st.u32 [%rd8+12], 1;
    cvta.to.local.u64 %rd9, %rd8;
    ld.local.u64 %rd6, [%rd9+8];
    st.global.u64 [%rd0+24], %rd6;              // 3
    ld.global.u64 %rd6, [counter];
    add.u64 %rd6, %rd6, 1;
    st.global.u64 [counter], %rd6;
    ld.global.u64 %rd7, [self];
    ld.global.u64 %rd6, [%rd7];
    st.global.u64 [%rd0+32], %rd6;              // 4
    ld.const.u32 %r5, [table+8];
    mov.u64 %rd10, table;
    cvta.const.u64 %rd10, %rd10;
    isspacep.const %p3, %rd10;
    @%p3 add.u32 %r5, %r5, 100;
    st.global.u32 [%rd0+40], %r5;               // 5
    mov.b64 %rd11, p0;
    cvta.param.u64 %rd11, %rd11;
    ld.u64 %rd12, [%rd11];
    sub.u64 %rd12, %rd12, %rd0;
    st.global.u64 [%rd0+48], %rd12;             // 6
    ld.u32 %r6, [%rd1];
    st.global.u32 [%rd0+56], %r6;               // 7
)",
                      variables, {5, 0, 0, 0});
  const uint64_t expected[] = {123, 123, 1, 123 + (uint64_t(1) << 32), 41, 109, 0, 5};
  for (size_t i = 0; i < std::size(expected); ++i) BOOST_CHECK_EQUAL(got.word(i), expected[i]);
}

BOOST_AUTO_TEST_CASE(module_variables_keep_their_values) {
  SimRun run(
      ptxKernel(1, "ld.global.u32 %r1, [n];\nadd.u32 %r1, %r1, 1;\nst.global.u32 [n], %r1;\nst.global.u32 [%rd0], %r1;",
                ".global .u32 n = 5;\n"));
  std::vector<uint32_t> out(1);
  run.buffer(out);
  run.launch(1, 1);
  BOOST_CHECK_EQUAL(out[0], 6u);
  run.launch(1, 1);
  BOOST_CHECK_EQUAL(out[0], 7u);
}

BOOST_AUTO_TEST_CASE(lanes_in_different_spaces_and_buffers) {
  SimRun run(ptxKernel(2, R"(
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %rd3, %r0, 4;
    mov.u64 %rd4, near;
    cvta.shared.u64 %rd4, %rd4;
    rem.u32 %r1, %r0, 3;
    setp.eq.u32 %p0, %r1, 0;
    setp.eq.u32 %p1, %r1, 1;
    selp.b64 %rd5, %rd0, %rd1, %p0;
    selp.b64 %rd5, %rd4, %rd5, %p1;
    add.s64 %rd5, %rd5, %rd3;
    st.u32 [%rd5], %r0;
    ld.u32 %r2, [%rd5];
    @%p1 add.s64 %rd5, %rd0, %rd3;
    st.u32 [%rd5], %r2;)",
                       ".shared .u32 near[32];\n"));
  std::vector<uint32_t> a(32, 99), b(32, 99);
  run.buffer(a).buffer(b);
  const Result result = run.launch(1, 32);
  BOOST_REQUIRE_MESSAGE(!result.trap, result.trap.message);
  for (uint32_t i = 0; i < 32; ++i) {
    BOOST_CHECK_EQUAL(a[i], i % 3 == 2 ? 99 : i);
    BOOST_CHECK_EQUAL(b[i], i % 3 == 2 ? i : 99);
  }
}

BOOST_AUTO_TEST_CASE(distributed_shared_memory_of_a_cluster) {
  SimRun run(ptxKernel(1, R"(
    mov.u32 %r0, %cluster_ctarank;
    mov.u32 %r1, cell;
    st.shared.u32 [%r1], %r0;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    xor.b32 %r2, %r0, 1;
    and.b32 %r3, %r1, 0xffffff;
    shl.b32 %r4, %r2, 24;
    or.b32 %r3, %r3, %r4;                 // the other CTA's cell
    ld.shared::cluster.u32 %r5, [%r3];
    ld.shared::cta.u32 %r6, [cell];
    mad.lo.u32 %r5, %r5, 10, %r6;
    mov.u32 %r7, %ctaid.x;
    mul.wide.u32 %rd1, %r7, 4;
    add.s64 %rd1, %rd0, %rd1;
    st.global.u32 [%rd1], %r5;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;)",
                       ".shared .u32 pad;\n.shared .u32 cell;\n"));
  std::vector<uint32_t> out(4);
  run.buffer(out);
  run.params.cluster = {2, 1, 1};
  const Result result = run.launch(4, 32);
  BOOST_REQUIRE_MESSAGE(!result.trap, result.trap.message);
  BOOST_CHECK((out == std::vector<uint32_t>{10, 1, 10, 1}));
}

BOOST_AUTO_TEST_CASE(stack_memory) {
  const OneThread got("mov.u64 %rd5, 24;\nstacksave.u64 %rd6;\nalloca.u64 %rd7, %rd5, 16;\nalloca.u64 %rd8, %rd5;\n"
                      "st.local.u64 [%rd7+16], %rd5;\nst.local.u64 [%rd8], 9;\nld.local.u64 %rd9, [%rd7+16];\n"
                      "st.global.u64 [%rd0], %rd9;\nstackrestore.u64 %rd6;\nalloca.u64 %rd10, %rd5, 16;\n"
                      "sub.u64 %rd11, %rd10, %rd7;\nst.global.u64 [%rd0+8], %rd11;");
  BOOST_CHECK_EQUAL(got.word(0), 24u);
  BOOST_CHECK_EQUAL(got.word(1), 0u);
}

BOOST_AUTO_TEST_CASE(words_for_caches) {
  const OneThread got("createpolicy.fractional.L2::evict_last.b64 %rd5, 1.0;\n"
                      "createpolicy.fractional.L2::evict_last.L2::evict_first.b64 %rd6, 0.5;\n"
                      "ld.global.L1::no_allocate.L2::cache_hint.u64 %rd7, [%rd1], %rd5;\nst.global.L2::cache_hint.u64 "
                      "[%rd0], %rd7, %rd6;\n"
                      "prefetch.global.L2 [%rd1];\nprefetch.L1 [%rd1+16];\nprefetchu.L1 [%rd1];\n"
                      "applypriority.global.L2::evict_normal [%rd1], 128;",
                      {}, {3, 1});
  BOOST_CHECK_EQUAL(got.word(), 0x103u);
}

BOOST_AUTO_TEST_CASE(words_for_order) {
  const OneThread got("ld.mmio.relaxed.sys.global.u32 %r1, [%rd1];\nst.mmio.relaxed.sys.u32 [%rd0], %r1;\n"
                      "ld.volatile.global.cv.u8 %r2, [%rd1+1];\n",
                      {}, {3, 1});
  BOOST_CHECK_EQUAL(got.word(), 0x103u);
  const auto fails = [](const std::string& body, std::string_view part) {
    has(SimRun::loadError(ptxKernel(2, body)), part);
  };
  fails("ld.relaxed.global.u32 %r1, [%rd1];", "wants one of .cta .cluster .gpu .sys");
  fails("st.release.global.u32 [%rd1], %r1;", "wants one of .cta .cluster .gpu .sys");
  fails("ld.gpu.global.u32 %r1, [%rd1];", "a scope belongs to .relaxed and .acquire");
  fails("st.weak.gpu.global.u32 [%rd1], %r1;", "a scope belongs to .relaxed and .release");
  fails("ld.release.gpu.global.u32 %r1, [%rd1];", "release");
  fails("st.acquire.gpu.global.u32 [%rd1], %r1;", "acquire");
  fails("ld.mmio.global.u32 %r1, [%rd1];", ".mmio wants .relaxed.sys");
  fails("ld.mmio.relaxed.gpu.global.u32 %r1, [%rd1];", ".mmio wants .relaxed.sys");
  fails("st.mmio.relaxed.sys.shared.u32 [%rd1], %r1;", ".mmio belongs to scalars in .global");
  fails("st.mmio.relaxed.sys.global.v2.u32 [%rd1], {%r1, %r2};", ".mmio belongs to scalars in .global");
  fails("ld.relaxed.gpu.local.u32 %r1, [%rd1];", "only global and shared memory");
  fails("ld.relaxed.gpu.global.nc.u32 %r1, [%rd1];", ".nc belongs to weak loads of .global");
  fails("ld.shared.nc.u32 %r1, [%rd1];", ".nc belongs to weak loads of .global");
  fails("st.global.nc.u32 [%rd1], %r1;", "nc");
  fails("st.global.ca.u32 [%rd1], %r1;", "ca");
  fails("ld.global.wb.u32 %r1, [%rd1];", "wb");
  fails("st.const.u32 [%rd1], %r1;", "read-only");
  fails("ldu.shared.u32 %r1, [%rd1];", "reads global memory only");
  fails("ld.global.u32 %r1, [%fd1];", "an address is a register of 32 or 64 bits");
  fails("ld.global.v4.u64 {%rd1, %rd2, %rd3, %rd4}, [%rd1];", "more than 16 bytes a thread, which want sm_100");
}

BOOST_AUTO_TEST_CASE(whether_a_launch_has_clusters) {
  for (const uint32_t ctas : {1u, 2u}) {
    SimRun run(
        ptxKernel(1, "mov.pred %p1, %is_explicit_cluster;\nselp.u32 %r1, 1, 0, %p1;\nst.global.u32 [%rd0], %r1;"));
    std::vector<uint32_t> out{7};
    run.buffer(out);
    run.params.cluster = {ctas, 1, 1};
    BOOST_REQUIRE(!run.launch(2, 1).trap);
    BOOST_CHECK_EQUAL(out[0], ctas - 1);
  }
}

BOOST_AUTO_TEST_CASE(accesses_outside_of_every_buffer) {
  const OneThread far("ld.global.u32 %r1, [%rd1+64];");
  checkTrap(far.result, TrapKind::OutOfBounds,
            "ld.global.u32: CTA (0, 0, 0), warp 0, lane 0: reads 4 bytes at offset 64 of p1, which has 64");
  BOOST_CHECK_EQUAL(far.result.trap.buffer, "p1");
  BOOST_CHECK_EQUAL(far.result.trap.offset, 64);
  BOOST_CHECK_EQUAL(far.result.trap.bufferBytes, 64);
  checkTrap(OneThread("ld.global.u32 %r1, [%rd1+-4];").result, TrapKind::OutOfBounds, "");
  checkTrap(OneThread("mov.u64 %rd5, 0;\nst.global.u32 [%rd5], 1;").result, TrapKind::OutOfBounds,
            "writes 4 bytes at offset");
  checkTrap(OneThread("mov.u64 %rd5, -4;\nst.global.u32 [%rd5], 1;").result, TrapKind::OutOfBounds,
            "writes 4 bytes at offset");
  checkTrap(OneThread("st.shared.u32 [x+4], 1;", ".shared .u32 x;\n").result, TrapKind::OutOfBounds,
            "writes 4 bytes at offset 4 of shared memory, which has 4");
  checkTrap(OneThread(".local .u32 x;\nst.local.u32 [x+4096], 1;").result, TrapKind::OutOfBounds,
            "of local memory, which has 16");
  // The end of these lies past 2^64.
  checkTrap(OneThread(".local .u32 x;\nmov.u64 %rd5, -4;\nst.local.u32 [%rd5], 1;").result, TrapKind::OutOfBounds,
            "writes 4 bytes at offset -4 of local memory, which has 16");
  checkTrap(OneThread("mov.u64 %rd5, -4;\nst.shared.u32 [%rd5], 1;", ".shared .u32 x;\n").result, TrapKind::OutOfBounds,
            "writes 4 bytes at offset 16777212 of shared memory");
  checkTrap(OneThread("mov.u64 %rd5, -4;\nld.param.u32 %r1, [%rd5];").result, TrapKind::OutOfBounds,
            "offset -4 of the parameters, which has 16");
  checkTrap(OneThread("mov.u32 %r1, 0x5000000;\nld.shared.u32 %r2, [%r1];").result, TrapKind::OutOfBounds,
            "shared memory of the CTA of rank 5 (the cluster has 1)");
  checkTrap(OneThread("ld.param.u32 %r1, [p1+8];").result, TrapKind::OutOfBounds,
            "offset 16 of the parameters, which has 16");
  checkTrap(OneThread("st.global.u32 [%rd1], 1;").result, TrapKind::ReadOnly,
            "writes 4 bytes of p1, which is read-only");
  checkTrap(OneThread("mov.u64 %rd5, t;\ncvta.const.u64 %rd5, %rd5;\nst.u32 [%rd5], 1;", ".const .u32 t;\n").result,
            TrapKind::ReadOnly, "of t, which is read-only");
}

BOOST_AUTO_TEST_CASE(one_lane_of_many_is_outside) {
  SimRun run(ptxKernel(
      1, "mov.u32 %r0, %tid.x;\nmul.wide.u32 %rd1, %r0, 4;\nadd.s64 %rd1, %rd0, %rd1;\nst.global.u32 [%rd1], %r0;"));
  std::vector<uint32_t> out(45);
  run.buffer(out);
  const Result result = run.launch(1, 64);
  checkTrap(result, TrapKind::OutOfBounds, "warp 1, lane 13: writes 4 bytes at offset 180 of p0, which has 180");
  BOOST_CHECK_EQUAL(result.trap.element, 45);
  BOOST_CHECK_EQUAL(out[31], 31u);
  BOOST_CHECK_EQUAL(out[32], 0u); // nothing of the failing instruction is written
}

BOOST_AUTO_TEST_CASE(misaligned_accesses) {
  checkTrap(OneThread("ld.global.u32 %r1, [%rd1+2];").result, TrapKind::Misaligned, "which is no multiple of 4");
  checkTrap(OneThread("ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1+8];").result, TrapKind::Misaligned,
            "no multiple of 16");
  checkTrap(OneThread("ld.shared.u16 %h1, [x+1];", ".shared .u32 x;\n").result, TrapKind::Misaligned,
            "reads 2 bytes at 0x1, which is no multiple of 2");
}

BOOST_AUTO_TEST_CASE(texts_with_wrong_addresses_do_not_load) {
  const auto error = [](const std::string& body, const std::string& before = {}) {
    return SimRun::loadError(ptxKernel(0, body, before));
  };
  const auto contains = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  BOOST_CHECK(
      contains(error("ld.global.u32 %r1, [x];", ".shared .u32 x;\n"), "the variable lies in another state space"));
  BOOST_CHECK(
      contains(error("ld.global.u32 %r1, [x];", ".extern .global .u32 x;\n"), "has no definition in this module"));
  BOOST_CHECK(contains(error("cvta.u64 %rd1, %rd2;"), "cvta wants a state space"));
  BOOST_CHECK(contains(error("cvta.global.u32 %r1, %r2;"), "cvta wants .u64"));
  BOOST_CHECK(contains(error(".local .b8 x[600000];\nmov.u64 %rd1, x;"), "the local variables of k are too large"));
}
