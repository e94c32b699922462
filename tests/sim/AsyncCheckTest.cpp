// tests/sim/AsyncCheckTest.cpp -- the check of asynchronous operations: what it says of each mistake with copies and proxies, and
// that it says nothing of the same kernel without the mistake.
// Not here:  wgmma (ProductCheckTest.cpp).
#define BOOST_TEST_MODULE sim_asynccheck
#include "sim/Tensormap.h"
#include "tests/sim/CheckedRun.h"

using namespace tiletwin;
using namespace tiletwin::sim;

namespace {

constexpr std::string_view kShared = ".shared .align 128 .b8 s[2048];\n.shared .align 8 .b64 bar;\n";

/// %r60 is the thread, %r59 the address of s, %r62 the thread's 16 bytes of it, %rd61 and %rd62 those of p0 and p1; %p60: not
/// thread 0.
constexpr std::string_view kBegin = R"(
mov.u32 %r60, %tid.x; mov.u32 %r59, s; shl.b32 %r58, %r60, 4; add.s32 %r62, %r59, %r58;
mul.wide.u32 %rd60, %r60, 16; add.s64 %rd61, %rd0, %rd60; add.s64 %rd62, %rd1, %rd60; setp.ne.u32 %p60, %r60, 0;
)";

std::string textOf(const std::string& body, int pointers = 2) {
  return ptxKernel(pointers, std::string(kBegin) + body, kShared);
}

Finding reports(const std::string& body, std::string_view message, Launched how = {}) {
  return expectFinding(textOf(body, how.pointers), Check::Async, message, how);
}
void isSilent(const std::string& body, Launched how = {}) { expectNothing(textOf(body, how.pointers), how); }

const std::string kCopy = "cp.async.cg.shared.global [%r62], [%rd61], 16; // THERE\ncp.async.commit_group;\n";
const std::string kWait = "cp.async.wait_group 0;\n", kBarrier = "bar.sync 0;\n";
const std::string kRead = "ld.shared.u32 %r1, [%r62]; // HERE\n";
/// Reads 4 of the 16 bytes of the thread whose number differs in the bits of `mask`.
std::string readOther(int mask) {
  return "xor.b32 %r2, %r58, " + std::to_string(16 * mask) +
         "; add.s32 %r2, %r59, %r2;\nld.shared.u32 %r1, [%r2]; // HERE\n";
}

/// Warps begin to go on behind it in the order of their numbers.
const std::string kInOrder = kBarrier + kBarrier;
const std::string kInit = "@!%p60 mbarrier.init.shared::cta.b64 [bar], 1;\n" + kInOrder;
const std::string kLoad =
    "@!%p60 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 512;\n"
    "@!%p60 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%rd0], 512, [bar]; "
    "// THERE\n";
std::string waitFor(int parity) {
  return "W: mbarrier.try_wait.parity.shared::cta.b64 %p61, [bar], " + std::to_string(parity) + ";\n@!%p61 bra W;\n";
}

const std::string kWrite = "st.shared.u32 [%r62], %r60;\n", kFence = "fence.proxy.async.shared::cta;\n";
const std::string kStore = "@!%p60 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [s], 512;";
const std::string kCommit = "cp.async.bulk.commit_group;\n", kBulkWait = "cp.async.bulk.wait_group 0;\n";

Launched threads(uint32_t block) {
  Launched how;
  how.block = block;
  return how;
}

constexpr std::string_view kOnItsWay = "going to write", kUnseen = "no barrier lies between",
                           kNotWaited = "without having waited", kStillRead = "a copy on its way is going to read",
                           kNoFence = "no fence.proxy.async between", kGlobal = "global memory that a copy on its way";

} // namespace

BOOST_AUTO_TEST_SUITE(cp_async)

BOOST_AUTO_TEST_CASE(a_result_is_used_before_the_wait) {
  reports(kCopy + kRead, kOnItsWay);
  reports(kCopy + kBarrier + kRead, kOnItsWay);
  reports(kCopy + "st.shared.u32 [%r62], %r60; // HERE\n", "writes shared memory that a copy");
  reports(kCopy + "atom.shared.add.u32 %r1, [%r62+12], 1; // HERE\n", kOnItsWay);
  reports(kCopy + "ld.shared.u8 %r1, [%r62+15]; // HERE\n", kOnItsWay);
  reports(kCopy + "cvt.u64.u32 %rd5, %r62; cvta.shared.u64 %rd5, %rd5; ld.u32 %r1, [%rd5]; // HERE\n", kOnItsWay);
  isSilent(kCopy + kWait + kRead);
  isSilent(kCopy + "cp.async.wait_all;\n" + kRead);
  isSilent(kCopy + "ld.shared.u32 %r1, [%r62+512];\n"); // beside it
}

BOOST_AUTO_TEST_CASE(the_wait_leaves_the_group_on_its_way) {
  const std::string two = "cp.async.cg.shared.global [%r62], [%rd61], 16; \ncp.async.commit_group;\n"
                          "cp.async.ca.shared.global [%r62+512], [%rd61], 8; // THERE\ncp.async.commit_group;\n"
                          "cp.async.wait_group 1;\nld.shared.u32 %r3, [%r62];\n";
  reports(two + "ld.shared.u32 %r1, [%r62+512]; // HERE\n", kOnItsWay);
  isSilent(two + "ld.shared.u32 %r1, [%r62+520];\n");
  isSilent(two + kWait + "ld.shared.u32 %r1, [%r62+512];\n");
}

BOOST_AUTO_TEST_CASE(two_copies_to_one_place) {
  reports(kCopy + "cp.async.cg.shared.global [%r62], [%rd61+512], 16; // HERE\n", kOnItsWay);
  isSilent(kCopy + kWait + "cp.async.cg.shared.global [%r62], [%rd61+512], 16;\n");
}

BOOST_AUTO_TEST_CASE(other_threads_need_a_barrier_behind_the_wait) {
  reports(kCopy + kWait + readOther(1), kUnseen);
  isSilent(kCopy + kWait + "bar.warp.sync 0xffffffff;\n" + readOther(1));
  isSilent(kCopy + kWait + kBarrier + readOther(1));
  isSilent(kCopy + kWait + kBarrier + readOther(32), threads(64));
  reports(kCopy + kInOrder + kWait + "bar.warp.sync 0xffffffff;\n" + readOther(32), kOnItsWay, threads(64));
}

BOOST_AUTO_TEST_CASE(a_barrier_in_front_of_the_wait_does_not_do) {
  const std::string text = textOf(kCopy + kInOrder + kWait + readOther(32));
  const Said said = runChecked(text, threads(64));
  BOOST_REQUIRE_MESSAGE(said.findings.size() == 2u,
                        describe(said)); // what warp 0 reads is on its way, the other has landed
  for (const Finding& f : said.findings) BOOST_TEST(f.where.line == linesOf(text, "// HERE").front());
  const std::string all = describe(said);
  BOOST_TEST(all.find(kOnItsWay) != std::string::npos);
  BOOST_TEST(all.find(kUnseen) != std::string::npos);
}

BOOST_AUTO_TEST_CASE(an_mbarrier_hears_of_copies) {
  const std::string arrive = "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [bar];\n";
  const std::string begin = "@!%p60 mbarrier.init.shared::cta.b64 [bar], 32;\n" + kBarrier + kCopy + arrive;
  isSilent(begin + waitFor(0) + readOther(1));
  reports(begin + waitFor(1) + readOther(1), kOnItsWay);
}

BOOST_AUTO_TEST_CASE(the_shared_memory_of_another_cta_is_no_destination) {
  Launched how;
  how.grid = how.cluster = 2;
  const Said said = runChecked(
      textOf("mapa.shared::cluster.u32 %r1, %r62, 1;\ncp.async.cg.shared.global [%r1], [%rd61], 16;\n"), how);
  BOOST_TEST(said.trap.message.find("another CTA") != std::string::npos, said.trap.message);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE(bulk)

BOOST_AUTO_TEST_CASE(a_load_is_used_before_its_phase_ends) {
  reports(kInit + kLoad + kBarrier + kRead, kOnItsWay);
  reports(kInit + kLoad + kBarrier + waitFor(1) + kRead, kOnItsWay); // the phase before the first one counts as ended
  reports(kInit + kLoad + kBarrier + "st.shared.u32 [%r62], %r60; // HERE\n", kOnItsWay);
  isSilent(kInit + kLoad + kBarrier + waitFor(0) + kRead);
}

BOOST_AUTO_TEST_CASE(a_thread_that_has_not_waited) {
  const std::string warp0Waits =
      kInit + kLoad + "setp.ge.u32 %p62, %r60, 32;\n" + kInOrder + "@%p62 bra READ;\n" + waitFor(0);
  reports(warp0Waits + "READ:\n" + readOther(32), kNotWaited, threads(64));
  isSilent(warp0Waits + "READ:\nbar.sync 0;\n" + readOther(32), threads(64));
}

BOOST_AUTO_TEST_CASE(two_loads_to_one_place) {
  const std::string again =
      "@!%p60 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 16;\n"
      "@!%p60 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s+496], [%rd0], 16, "
      "[bar]; // HERE\n";
  const std::string expect = "@!%p60 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 528;\n";
  const std::string load = kLoad.substr(kLoad.find('\n') + 1);
  reports(kInit + expect + load + again.substr(again.find('\n') + 1) + kBarrier + waitFor(0), kOnItsWay);
}

BOOST_AUTO_TEST_CASE(the_source_of_a_store_changes) {
  const std::string begin = kWrite + kFence + kBarrier + kStore + " // THERE\n" + kCommit;
  const std::string change = "@!%p60 st.shared.u32 [s+256], %r60; // HERE\n";
  reports(begin + change + kBulkWait, kStillRead);
  reports(begin + "cp.async.bulk.wait_group.read 1;\n" + change + kBulkWait, kStillRead);
  isSilent(begin + "cp.async.bulk.wait_group.read 0;\n" + change + kBulkWait);
  isSilent(begin + kBulkWait + change);
  isSilent(begin + "@!%p60 ld.shared.u32 %r1, [s+256];\n" + kBulkWait); // may be read
  reports(begin + "cp.async.cg.shared.global [%r62], [%rd61], 16; // HERE\n" + kBulkWait, kStillRead);
}

BOOST_AUTO_TEST_CASE(the_destination_of_a_store_is_read) {
  const std::string begin = kWrite + kFence + kBarrier + kStore + " // THERE\n" + kCommit;
  const std::string read = "ld.global.u32 %r1, [%rd1+508]; // HERE\n";
  const Finding f = reports(begin + read + kBulkWait, kGlobal);
  BOOST_TEST(f.detail == ", byte 508 of p1");
  reports(begin + "cp.async.bulk.wait_group.read 0;\n" + read + kBulkWait, kGlobal);
  isSilent(begin + kBulkWait + read);
  isSilent(begin + "ld.global.u32 %r1, [%rd1+512];\nld.global.u32 %r1, [%rd0];\n" + kBulkWait);
}

BOOST_AUTO_TEST_CASE(rows_of_a_tile) {
  // A tile of 8 columns and 4 rows of a tensor of 32 columns.
  alignas(64) std::byte map[kTensorMapBytes];
  std::vector<uint32_t> tensor(32 * 8);
  const uint64_t dim[] = {32, 8}, stride[] = {128};
  const uint32_t box[] = {8, 4}, step[] = {1, 1};
  std::string error;
  BOOST_REQUIRE_MESSAGE(encodeTensorMap(map, TensorMapType::U32, 2, tensor.data(), dim, stride, box, step,
                                        TensorMapInterleave::None, TensorMapSwizzle::None, TensorMapPromotion::None,
                                        TensorMapFill::Zero, error),
                        error);
  Launched how;
  how.prepare = [&](SimRun& run) { run.buffer(map, sizeof map, true, "map").buffer(tensor); };
  const auto text = [](const std::string& body) { return textOf(body, 4); };
  const std::string begin =
      kWrite + kFence + kBarrier +
      "@!%p60 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd2, {8, 2}], [s]; // THERE\n" + kCommit;
  const auto read = [](int column, int row) {
    return "ld.global.u32 %r1, [%rd3+" + std::to_string(row * 128 + column * 4) + "]; // HERE\n";
  };
  expectFinding(text(begin + read(15, 5) + kBulkWait), Check::Async, kGlobal, how);
  expectFinding(text(begin + read(8, 2) + kBulkWait), Check::Async, kGlobal, how);
  for (const auto& [column, row] : {std::pair{7, 3}, {16, 3}, {8, 1}, {8, 6}})
    expectNothing(text(begin + read(column, row) + kBulkWait), how);
  expectNothing(text(begin + kBulkWait + read(15, 5)), how);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE(proxies)

BOOST_AUTO_TEST_CASE(a_fence_lies_between_write_and_store) {
  const std::string write = "st.shared.u32 [%r62], %r60; // THERE\n",
                    store = kStore + " // HERE\n" + kCommit + kBulkWait;
  const std::string own = "@!%p60 " + kFence, second = "setp.ne.u32 %p62, %r60, 32;\n@!%p62 " + kFence;
  for (const uint32_t block : {32u, 64u}) {
    isSilent(write + kFence + kBarrier + store, threads(block));
    isSilent(write + kBarrier + own + store, threads(block));
    isSilent(write + kBarrier + "@!%p60 fence.proxy.async;\n" + store, threads(block));
    reports(write + kBarrier + store, kNoFence, threads(block));
    reports(kFence + write + kBarrier + store, kNoFence, threads(block));
    reports(write + "fence.proxy.async.global;\nmembar.cta;\n" + kBarrier + store, kNoFence, threads(block));
    reports(write + kFence + "st.shared.u32 [%r62+4], %r60; // THERE\n" + kBarrier + store, kNoFence, threads(block));
  }
  // A third thread's fence counts if it is in order with both.
  reports(write + kBarrier + second + store, kNoFence, threads(64));
  isSilent(write + kBarrier + second + kBarrier + store, threads(64));
  reports(write + second + kBarrier + store, kNoFence, threads(64));
}

BOOST_AUTO_TEST_CASE(threads_of_one_warp) {
  const std::string write = "st.shared.u32 [%r62], %r60; // THERE\n",
                    store = kStore + " // HERE\n" + kCommit + kBulkWait;
  isSilent(write + "bar.warp.sync 0xffffffff;\n@!%p60 " + kFence + store);
  reports(write + "@!%p60 " + kFence + store, kNoFence); // it is a fence for what thread 0 itself wrote
}

BOOST_AUTO_TEST_CASE(copies_of_threads_are_writes_of_the_generic_proxy) {
  const std::string store = kStore + " // HERE\n" + kCommit + kBulkWait;
  reports(kCopy + kWait + kBarrier + store, kNoFence);
  isSilent(kCopy + kWait + kFence + kBarrier + store);
  isSilent(kCopy + kWait + kBarrier + "@!%p60 " + kFence + store);
  reports(kCopy + kFence + kBarrier + store, kOnItsWay);
}

BOOST_AUTO_TEST_CASE(bulk_copies_need_none) {
  isSilent(kInit + kLoad + kBarrier + waitFor(0) + kStore + "\n" + kCommit + kBulkWait);
  reports(kInit + kLoad + kBarrier + kStore + " // HERE\n" + kCommit + kBulkWait + waitFor(0), kOnItsWay);
}

BOOST_AUTO_TEST_CASE(a_neighbour_of_the_cluster_writes) {
  Launched how;
  how.grid = how.cluster = 2;
  const std::string begin =
      "mov.u32 %r40, %cluster_ctarank; setp.ne.u32 %p62, %r40, 0;\nmapa.shared::cluster.u32 %r41, %r62, 0;\n";
  const std::string write = "@%p62 st.shared::cluster.u32 [%r41], %r60; // THERE\n",
                    cluster = "barrier.cluster.arrive;\nbarrier.cluster.wait;\n",
                    store = "@%p62 bra DONE;\n" + kStore + " // HERE\n" + kCommit + kBulkWait + "DONE:\n";
  const Finding f = reports(begin + write + cluster + store, kNoFence, how);
  BOOST_REQUIRE(f.secondProgram.has_value());
  BOOST_TEST((*f.secondProgram)[0] == 1);
  isSilent(begin + write + "fence.proxy.async;\n" + cluster + store, how);
  isSilent(begin + write + cluster + "fence.proxy.async;\n" + store, how);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE(findings)

BOOST_AUTO_TEST_CASE(name_threads_and_bytes) {
  Launched how;
  how.block = 64;
  how.grid = 3;
  // Lanes 2 and 5 of warp 1 read; the copies are those of threads 34 and 37.
  const std::string body = kCopy + "setp.eq.u32 %p1, %r60, 34; setp.eq.u32 %p2, %r60, 37; or.pred %p1, %p1, %p2;\n"
                                   "@%p1 ld.shared.u32 %r1, [%r62+4]; // HERE\n";
  const Finding f = reports(body, kOnItsWay, how);
  BOOST_TEST(f.ofThreads);
  BOOST_TEST((f.program == std::array<int32_t, 3>{0, 0, 0}));
  BOOST_TEST(f.programs == 3);
  BOOST_TEST((f.shape == std::vector<int64_t>{2, 32}));
  BOOST_TEST((f.elements == std::vector<int64_t>{34, 37}));
  BOOST_TEST(f.elementCount == 2);
  BOOST_TEST(f.operation == "ld.shared.u32");
  BOOST_TEST(f.detail == ", byte 548 of s");
  BOOST_TEST(f.secondOperation == "cp.async.cg.shared.global");
  BOOST_TEST(f.secondText == "is on its way, warp 1, lane 2");
  BOOST_TEST(f.advice.find("cp.async.wait_group") != std::string::npos);
  BOOST_TEST(f.where.file == "kernel.ptx");
}

BOOST_AUTO_TEST_CASE(name_lines_of_the_source) {
  const std::string body = ".loc 1 53 4\n" + kCopy + ".loc 1 60 8\n" + kRead;
  std::string text = textOf(body);
  text.insert(text.find(".visible"), ".file 1 \"kernel.py\"\n");
  const Said said = runChecked(text, {});
  BOOST_REQUIRE_MESSAGE(said.findings.size() == 1u, describe(said));
  const Finding& f = said.findings.front();
  BOOST_TEST(f.where.file == "kernel.py");
  BOOST_TEST(f.where.line == 60);
  BOOST_TEST(f.message.find("kernel.ptx:" + std::to_string(linesOf(text, "// HERE").front())) != std::string::npos);
  BOOST_REQUIRE(f.second.has_value());
  BOOST_TEST(f.second->line == 53);
  BOOST_TEST(f.secondText.find("kernel.ptx:" + std::to_string(linesOf(text, "// THERE").front())) != std::string::npos);
}

BOOST_AUTO_TEST_CASE(can_be_switched_off) {
  Launched how;
  how.prepare = [](SimRun& run) { run.params.checks.async = false; };
  isSilent(kCopy + kRead, how);
}

BOOST_AUTO_TEST_CASE(go_nowhere_if_nobody_collects_them) {
  SimRun run(textOf(kCopy + kRead));
  std::vector<uint32_t> memory(2048, 7);
  const uint64_t addresses[] = {reinterpret_cast<uint64_t>(memory.data()),
                                reinterpret_cast<uint64_t>(memory.data() + 1024)};
  const Buffer buffer{"p", addresses[0], addresses[0] + 8192, addresses[0], addresses[0] + 8192, false, nullptr};
  LaunchParams params;
  params.block = {32, 1, 1};
  params.parameters = std::as_bytes(std::span(addresses));
  params.buffers = {&buffer, 1};
  const Result result = launch(run.kernel(), params);
  BOOST_TEST(!result.trap, result.trap.message);
}

BOOST_AUTO_TEST_SUITE_END()
