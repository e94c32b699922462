// tests/sim/AsyncTest.cpp -- cp.async, bulk copies and their groups, functions without a body: what lands, and that it lands late.
#define BOOST_TEST_MODULE sim_async
#include "sim/isa/Printf.h"
#include "tests/sim/SimRun.h"
#include "tests/sim/Text.h"
#include <bit>
#include <boost/test/unit_test.hpp>
#include <cstring>

using namespace tiletwin;
using namespace tiletwin::sim;

namespace {

constexpr std::string_view kShared = ".shared .align 128 .b8 s[2048];\n.shared .align 8 .b64 bar;\n";

/// p0 is read, p1 written; %r60 the thread, %r62 its 16 bytes of shared memory, %rd61 and %rd62 its 16 bytes of p0 and p1.
constexpr std::string_view kBegin = R"(
  mov.u32 %r60, %tid.x; mov.u32 %r59, s; shl.b32 %r58, %r60, 4; add.s32 %r62, %r59, %r58;
  mul.wide.u32 %rd60, %r60, 16; add.s64 %rd61, %rd0, %rd60; add.s64 %rd62, %rd1, %rd60;
)";

std::vector<uint32_t> ramp(size_t count) {
  std::vector<uint32_t> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = uint32_t(i) + 1;
  return values;
}

struct Outcome {
  std::vector<uint32_t> out;
  std::string trap, printed;
};
Outcome runKernel(const std::string& body, std::vector<uint32_t> in, size_t words, uint32_t block, uint32_t grid = 1,
                  uint32_t cluster = 1, std::string_view before = kShared) {
  SimRun run(ptxKernel(2, std::string(kBegin) + body, before));
  Outcome result;
  result.out.assign(words, 0xDEAD);
  run.buffer(in).buffer(result.out);
  run.params.cluster = {cluster, 1, 1};
  run.params.threads = 1;
  run.params.print = [&](std::string_view text) { result.printed += text; };
  result.trap = run.launch(grid, block).trap.message;
  return result;
}
std::vector<uint32_t> good(const Outcome& outcome) {
  BOOST_REQUIRE_MESSAGE(outcome.trap.empty(), outcome.trap);
  return outcome.out;
}

/// Arguments as a kernel packs them.
struct Packed {
  std::vector<std::byte> bytes;
  template <class T> Packed& add(T value) {
    while (bytes.size() % sizeof(T)) bytes.push_back(std::byte(0));
    bytes.resize(bytes.size() + sizeof value);
    std::memcpy(bytes.data() + bytes.size() - sizeof value, &value, sizeof value);
    return *this;
  }
};

/// Stores the thread's 16 bytes of shared memory to p1 + offset.
std::string show(int offset) {
  return "ld.shared.v4.u32 {%r50, %r51, %r52, %r53}, [%r62];\nst.global.v4.u32 [%rd62+" + std::to_string(offset) +
         "], {%r50, %r51, %r52, %r53};\n";
}

} // namespace

BOOST_AUTO_TEST_CASE(groups_land_when_they_are_waited_for) {
  // Three groups of copies to the same place: each wait shows the group that has just landed.
  std::string body = "mov.b32 %r1, 0;\nst.shared.v4.u32 [%r62], {%r1, %r1, %r1, %r1};\n";
  for (int group = 0; group < 3; ++group)
    body +=
        "cp.async.cg.shared.global [%r62], [%rd61+" + std::to_string(512 * group) + "], 16;\ncp.async.commit_group;\n";
  body += "cp.async.ca.shared.global [%r62], [%rd61+1536], 8;\n"; // in no group yet
  body += show(0) + "cp.async.wait_group 3;\n" + show(512) + "cp.async.wait_group 2;\n" + show(1024) +
          "cp.async.wait_group 0;\n" + show(1536) + "cp.async.wait_all;\n" + show(2048);
  const auto out = good(runKernel(body, ramp(512), 640, 32));
  for (uint32_t i = 0; i < 128; ++i) {
    BOOST_TEST(out[i] == 0u);
    BOOST_TEST(out[128 + i] == 0u);
    BOOST_TEST(out[256 + i] == i + 1);
    BOOST_TEST(out[384 + i] == 256 + i + 1);
    BOOST_TEST(out[512 + i] == (i % 4 < 2 ? 384 : 256) + i + 1);
  }
}

BOOST_AUTO_TEST_CASE(a_copy_reads_its_source_when_it_lands) {
  const auto out = good(runKernel("cp.async.ca.shared.global [%r62], [%rd62+512], 4;\nmov.b32 %r1, 42;\n"
                                  "st.global.u32 [%rd62+512], %r1;\ncp.async.wait_all;\nld.shared.u32 %r2, [%r62];\n"
                                  "st.global.u32 [%rd62], %r2;\n",
                                  ramp(8), 256, 32));
  for (uint32_t i = 0; i < 32; ++i) BOOST_TEST(out[4 * i] == 42u);
}

BOOST_AUTO_TEST_CASE(fewer_bytes_are_filled_up_with_zeros) {
  std::string body = "mov.b32 %r1, 0x77777777;\nst.shared.v4.u32 [%r62], {%r1, %r1, %r1, %r1};\n"
                     "and.b32 %r2, %r60, 15; setp.eq.u32 %p1, %r2, 3;\n"
                     "cp.async.ca.shared.global.L2::128B [%r62], [%rd61], 16, %r2;\ncp.async.wait_all;\n" +
                     show(0) + "cp.async.cg.shared.global [%r62], [%rd61], 16, %p1;\ncp.async.wait_all;\n" + show(512);
  const auto out = good(runKernel(body, std::vector<uint32_t>(128, 0xABABABAB), 256, 32));
  const auto* bytes = reinterpret_cast<const uint8_t*>(out.data());
  for (uint32_t i = 0; i < 32; ++i)
    for (uint32_t b = 0; b < 16; ++b) {
      BOOST_TEST(bytes[16 * i + b] == (b < i % 16 ? 0xAB : 0));
      BOOST_TEST(bytes[512 + 16 * i + b] == (i % 16 == 3 ? 0 : 0xAB));
    }
}

BOOST_AUTO_TEST_CASE(what_is_not_read_need_not_exist) {
  const auto outcome = runKernel(
      "mov.b64 %rd5, 64;\nmov.b32 %r1, 0;\ncp.async.ca.shared.global [%r62], [%rd5], 4, %r1;\n", ramp(8), 8, 32);
  BOOST_TEST(outcome.trap == "");
  has(runKernel("mov.b64 %rd5, 64;\ncp.async.ca.shared.global [%r62], [%rd5], 4;\n", ramp(8), 8, 32).trap, "reads 4 bytes at offset");
  has(runKernel("mov.b32 %r1, 5;\ncp.async.ca.shared.global [%r62], [%rd61], 4, %r1;\n", ramp(128), 8, 32).trap,
      "reads 5 bytes, but copies 4");
  has(runKernel("cp.async.cg.shared.global [%r62], [%rd61+8], 16;\n", ramp(256), 8, 32).trap, "no multiple of 16");
}

BOOST_AUTO_TEST_CASE(cp_async_arrives_at_an_mbarrier) {
  for (const bool noinc : {false, true}) {
    std::string body = "mov.u32 %r10, bar;\nsetp.eq.u32 %p1, %r60, 0;\n@%p1 mbarrier.init.shared.b64 [%r10], " +
                       std::string(noinc ? "32" : "1") + ";\nbar.sync 0;\n";
    body += "mov.b32 %r1, 0;\nst.shared.v4.u32 [%r62], {%r1, %r1, %r1, %r1};\n"
            "cp.async.cg.shared.global [%r62], [%rd61], 16;\ncp.async.mbarrier.arrive" +
            std::string(noinc ? ".noinc" : "") +
            ".shared.b64 [%r10];\ncp.async.ca.shared.global [%r62], [%rd61+4], 4;\n" + show(0);
    if (!noinc) body += "bar.sync 0;\n@%p1 mbarrier.arrive.shared.b64 _, [%r10];\n";
    body += "W: mbarrier.try_wait.parity.shared.b64 %p2, [%r10], 0;\n@!%p2 bra W;\n" + show(512);
    const auto out = good(runKernel(body, ramp(160), 256, 32));
    for (uint32_t i = 0; i < 128; ++i) {
      BOOST_TEST(out[i] == 0u);
      BOOST_TEST(out[128 + i] == i + 1); // the copy behind the arrival has not landed
    }
  }
}

BOOST_AUTO_TEST_CASE(bulk_copies_in_and_out) {
  const std::string body = R"(
  mov.u32 %r10, bar; setp.ne.u32 %p1, %r60, 0; @%p1 bra Wait;
  mbarrier.init.shared::cta.b64 [%r10], 1;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r10], 512;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r59], [%rd0], 256, [%r10];
  cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r59+256], [%rd0+256], 256, [%r10];
  cp.async.bulk.prefetch.L2.global [%rd0], 64;
Wait:
  bar.warp.sync -1;
)" + show(0) + R"(
W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r10], 0; @!%p2 bra W;
)" + show(512) + R"(
  @%p1 bra End;
  cp.async.bulk.global.shared::cta.bulk_group [%rd1+1024], [%r59], 512;
  cp.async.bulk.commit_group;
  ld.global.u32 %r20, [%rd1+1024]; st.global.u32 [%rd1+1536], %r20;
  cp.async.bulk.wait_group.read 0;
  mov.b32 %r21, 0; st.shared.u32 [%r59], %r21;
  ld.global.u32 %r20, [%rd1+1024]; st.global.u32 [%rd1+1540], %r20;
  cp.async.bulk.wait_group 0;
  ld.global.u32 %r20, [%rd1+1024]; st.global.u32 [%rd1+1544], %r20;
End:)";
  const auto out = good(runKernel(body, ramp(128), 400, 32));
  for (uint32_t i = 0; i < 128; ++i) {
    BOOST_TEST(out[i] == 0u);
    BOOST_TEST(out[128 + i] == i + 1);
    BOOST_TEST(out[256 + i] == i + 1);
  }
  BOOST_TEST(out[384] == 0xDEADu); // issued, then read: nothing is written yet
  BOOST_TEST(out[385] == 0xDEADu);
  BOOST_TEST(out[386] == 1u);
}

BOOST_AUTO_TEST_CASE(reductions_into_global_memory) {
  struct Row {
    std::string_view type;
    uint32_t before, value, want;
  };
  const Row rows[] = {
      {"add.u32", 5, 7, 12},
      {"add.s32", 5, uint32_t(-7), uint32_t(-2)},
      {"min.s32", 5, uint32_t(-7), uint32_t(-7)},
      {"min.u32", 5, uint32_t(-7), 5},
      {"max.u32", 5, uint32_t(-7), uint32_t(-7)},
      {"max.s32", 5, uint32_t(-7), 5},
      {"inc.u32", 5, 5, 0},
      {"dec.u32", 0, 9, 9},
      {"and.b32", 12, 10, 8},
      {"or.b32", 12, 10, 14},
      {"xor.b32", 12, 10, 6},
      {"add.f32", std::bit_cast<uint32_t>(1.5f), std::bit_cast<uint32_t>(2.25f), std::bit_cast<uint32_t>(3.75f)},
      {"add.f32", 1, 2, 3}, // subnormals are kept
      {"add.noftz.f16", 0x3C003C00, 0x40003800, 0x42003E00},
      {"add.noftz.bf16", 0x3F803F80, 0x40003F00, 0x40403FC0},
      {"min.f16", 0x3C007E00, 0xC0003800, 0xC0003800},
      {"max.bf16", 0x3F808000, 0x40000000, 0x40000000}};
  for (const Row& row : rows) {
    const auto out = good(runKernel(
        "mov.b32 %r1, " + std::to_string(row.value) + "; st.shared.v4.u32 [%r62], {%r1, %r1, %r1, %r1};\n" +
            "mov.b32 %r2, " + std::to_string(row.before) + "; st.global.v4.u32 [%rd62], {%r2, %r2, %r2, %r2};\n" +
            "fence.proxy.async;\ncp.reduce.async.bulk.global.shared::cta.bulk_group." + std::string(row.type) +
            " [%rd62], [%r62], 16;\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n",
        ramp(8), 128, 32));
    for (const uint32_t value : out) BOOST_REQUIRE_MESSAGE(value == row.want, row.type << " gives " << value);
  }
}

BOOST_AUTO_TEST_CASE(copies_within_a_cluster) {
  // CTA 0 multicasts 256 bytes to both CTAs; then each sends its half of what it has doubled to the other, and adds 1 to it there.
  const std::string body = R"(
  mov.u32 %r10, bar; mov.u32 %r1, %cluster_ctarank; setp.ne.u32 %p1, %r60, 0; setp.ne.u32 %p3, %r1, 0;
  @!%p1 mbarrier.init.shared::cta.b64 [%r10], 1;
  @!%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r10], 256;
  barrier.cluster.arrive; barrier.cluster.wait;
  or.pred %p2, %p1, %p3; mov.b16 %h1, 3;
  @!%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r59], [%rd0], 256, [%r10], %h1;
W: mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r10], 0; @!%p4 bra W;
  setp.lt.u32 %p5, %r60, 16;
  ld.shared.u32 %r20, [%r62]; mad.lo.u32 %r20, %r20, 2, %r1; st.shared.u32 [%r62], %r20;
  xor.b32 %r2, %r1, 1; mapa.shared::cluster.u32 %r3, %r59, %r2; mapa.shared::cluster.u32 %r4, %r10, %r2;
  @!%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r10], 272;
  mov.b32 %r22, 1; add.s32 %r23, %r59, 1024;
  @!%p1 st.shared.v4.u32 [%r23], {%r22, %r22, %r22, %r22};
  fence.proxy.async; barrier.cluster.arrive; barrier.cluster.wait;
  @!%p1 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r3+512], [%r59], 256, [%r4];
  @!%p1 cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [%r3+512], [%r23], 16, [%r4];
V: mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r10], 1; @!%p4 bra V;
  ld.shared.u32 %r21, [%r62+512];
  mad.lo.u32 %r5, %r1, 16, %r60; mul.wide.u32 %rd5, %r5, 4; add.s64 %rd5, %rd1, %rd5;
  st.global.u32 [%rd5], %r21;
  barrier.cluster.arrive; barrier.cluster.wait;)";
  const auto out = good(runKernel(body, ramp(64), 32, 16, 2, 2));
  for (uint32_t i = 0; i < 32; ++i) BOOST_TEST(out[i] == 2 * (4 * (i % 16) + 1) + (1 - i / 16) + (i % 16 == 0 ? 1 : 0));
}

BOOST_AUTO_TEST_CASE(mistakes_with_bulk_copies_are_traps) {
  const std::string init = "mov.u32 %r10, bar; mbarrier.init.shared::cta.b64 [%r10], 1;\n";
  const auto trapOf = [&](const std::string& text) { return runKernel(text, ramp(64), 64, 1).trap; };
  const std::string copy = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes ";
  has(trapOf(init + copy + "[%r59], [%rd0], 24, [%r10];"), "copies 24 bytes, no multiple of 16");
  has(trapOf(init + copy + "[%r59], [%rd0+4], 16, [%r10];"), "no multiple of 16");
  has(trapOf(init + copy + "[%r59], [%rd0], 512, [%r10];"), "512 bytes");
  has(trapOf(copy + "[%r59], [%rd0], 16, [%r59+1024];"), "no mbarrier there");
  has(trapOf(init + "mov.b16 %h1, "
                    "2;\ncp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r59], "
                    "[%rd0], 16, [%r10], %h1;"),
      "names CTA 1 of a cluster of 1");
}

BOOST_AUTO_TEST_CASE(copies_that_do_not_exist_do_not_load) {
  const auto errorOf = [](std::string_view text) { return SimRun::loadError(ptxKernel(2, text, kShared)); };
  has(errorOf("cp.async.cg.shared.global [%r1], [%rd0], 8;"), "cp.async.cg copies 16 bytes");
  has(errorOf("cp.async.ca.shared.global [%r1], [%rd0], 5;"), "copies 4, 8 or 16 bytes");
  has(errorOf("cp.async.wait_group -1;"), "cannot be negative");
  has(errorOf("cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd0], [%r1], 16, %h1;"), "operands");
  has(errorOf("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f16 [%rd0], [%r1], 16;"), ".noftz");
  has(errorOf("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.f32 [%r1], [%r2], 16, "
              "[%r3];"),
      "has no .add of .f32 in shared memory");
  has(errorOf("cp.reduce.async.bulk.global.shared::cta.bulk_group.mul.u32 [%rd0], [%r1], 16;"), "wants an operation");
}

// ---- Functions without a body

BOOST_AUTO_TEST_CASE(formats_as_an_h200_prints_them) {
  const auto print = [](std::string_view format, const Packed& packed, int count) {
    PrintfArguments arguments;
    arguments.read = [&](uint64_t offset, void* to, uint32_t bytes) {
      BOOST_REQUIRE_LE(offset + bytes, packed.bytes.size());
      std::memcpy(to, packed.bytes.data() + offset, bytes);
      return true;
    };
    arguments.readString = [](uint64_t address, std::string& text) {
      text = reinterpret_cast<const char*>(address);
      return true;
    };
    std::string text;
    BOOST_TEST(formatPrintf(format, arguments, text) == count);
    return text;
  };
  const auto abc = reinterpret_cast<uint64_t>("abc");
  BOOST_TEST(print("plain", {}, 0) == "plain");
  BOOST_TEST(print("%%|%d|%5d|%-5d|%05d|%+d|% d|%i|", Packed().add(-42).add(42).add(42).add(42).add(42).add(42).add(7),
                   7) == "%|-42|   42|42   |00042|+42| 42|7|");
  BOOST_TEST(print("%u|%x|%X|%#x|%o|%#o|%.4d|",
                   Packed().add(4000000000u).add(255).add(255).add(255).add(8).add(8).add(42),
                   7) == "4000000000|ff|FF|0xff|10|010|0042|");
  BOOST_TEST(print("%ld|%lu|%llx|%hd|",
                   Packed().add(int64_t(-5000000000)).add(int64_t(5000000000)).add(int64_t(0x123456789ABCDEF)).add(-3),
                   4) == "-5000000000|5000000000|123456789abcdef|-3|");
  BOOST_TEST(
      print("%f|%.2f|%10.3f|%-10.1f|%e|%E|%g|%G|%a|",
            Packed().add(3.14159).add(2.5).add(2.5).add(2.5).add(12345.678).add(0.00012).add(1e10).add(1e-10).add(1.0),
            9) == "3.141590|2.50|     2.500|2.5       |1.234568e+04|1.200000E-04|1e+10|1E-10|0x1p+0|");
  BOOST_TEST(print("%f|%f|%8.1e|", Packed().add(1.0 / 0.0).add(-1.0 / 0.0).add(1e300), 3) == "inf|-inf|1.0e+300|");
  BOOST_TEST(print("%c|%s|%10s|%-10s|%.2s|%5c|",
                   Packed().add(int('x')).add(abc).add(abc).add(abc).add(abc).add(int('y')),
                   6) == "x|abc|       abc|abc       |ab|    y|");
  BOOST_TEST(print("%*d|%-*d|%*d|", Packed().add(6).add(42).add(6).add(42).add(-6).add(42), 6) ==
             "    42|42    |42    |");
  BOOST_TEST(print("%p|%s|", Packed().add(uint64_t(0x1234)).add(uint64_t(0)), 2) == "0x1234|(null)|");
  BOOST_TEST(print("%d %c %f %s %ld\n", Packed().add(1).add(int('c')).add(2.0).add(abc).add(int64_t(3)), 5) ==
             "1 c 2.000000 abc 3\n");
  BOOST_TEST(print("100%", {}, 0) == "100%");
  BOOST_TEST(print("%y%d", Packed().add(5), 1) == "%y5");
}

BOOST_AUTO_TEST_CASE(kernels_print_assert_and_allocate) {
  const std::string functions = std::string(kShared) + R"(
.extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);
.extern .func __assertfail (.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e) .noreturn;
.extern .func (.param .b64 r) malloc (.param .b64 a);
.extern .func free (.param .b64 a);
.global .align 1 .b8 format[16] = {116, 37, 100, 32, 37, 108, 100, 10, 0};
.global .align 1 .b8 message[6] = {120, 32, 60, 32, 50, 0};
.global .align 1 .b8 file[5] = {97, 46, 99, 117, 0};
)";
  const std::string print = R"(
  .local .align 8 .b8 values[16];
  st.local.u32 [values], %r60; cvt.u64.u32 %rd10, %r60; neg.s64 %rd10, %rd10; st.local.u64 [values+8], %rd10;
  mov.u64 %rd11, values; cvta.local.u64 %rd11, %rd11; mov.u64 %rd12, format; cvta.global.u64 %rd12, %rd12;
  { .param .b64 p0; .param .b64 p1; .param .b32 q;
    st.param.b64 [p0], %rd12; st.param.b64 [p1], %rd11;
    call.uni (q), vprintf, (p0, p1);
    ld.param.b32 %r1, [q]; }
  st.global.u32 [%rd62], %r1;
)";
  const auto printed = runKernel(print, ramp(8), 12, 3, 1, 1, functions);
  BOOST_TEST(printed.trap == "");
  BOOST_TEST(printed.printed == "t0 0\nt1 -1\nt2 -2\n");
  for (int i = 0; i < 3; ++i) BOOST_TEST(printed.out[size_t(4 * i)] == 2u);

  const std::string fail = R"(
  setp.lt.u32 %p1, %r60, 2; @%p1 bra Fine;
  mov.u64 %rd10, message; cvta.global.u64 %rd10, %rd10; mov.u64 %rd11, file; cvta.global.u64 %rd11, %rd11;
  { .param .b64 p0; .param .b64 p1; .param .b32 p2; .param .b64 p3; .param .b64 p4;
    st.param.b64 [p0], %rd10; st.param.b64 [p1], %rd11; st.param.b32 [p2], 17; st.param.b64 [p3], %rd11; st.param.b64 [p4], 1;
    call.uni __assertfail, (p0, p1, p2, p3, p4); }
Fine:)";
  has(runKernel(fail, ramp(8), 8, 3, 1, 1, functions).trap, "lane 2: assertion failed: x < 2 (a.cu:17, a.cu)");

  const std::string allocate = R"(
  mov.b64 %rd10, 40;
  { .param .b64 p0; .param .b64 q; st.param.b64 [p0], %rd10; call.uni (q), malloc, (p0); ld.param.b64 %rd11, [q]; }
  st.u32 [%rd11+36], %r60; ld.u32 %r1, [%rd11+36]; st.global.u32 [%rd62], %r1;
  { .param .b64 p0; st.param.b64 [p0], %rd11; call.uni free, (p0); }
)";
  const auto allocated = good(runKernel(allocate, ramp(8), 128, 32, 1, 1, functions));
  for (uint32_t i = 0; i < 32; ++i) BOOST_TEST(allocated[4 * i] == i);
  has(runKernel(allocate + "{ .param .b64 p0; st.param.b64 [p0], %rd11; call.uni free, (p0); }\n", ramp(8), 128, 1, 1,
                1, functions)
          .trap,
      "freed before");
}
