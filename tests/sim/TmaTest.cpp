// tests/sim/TmaTest.cpp -- instructions that copy tiles of tensors, and that make tensor maps.
// Not here:  what a tile looks like (TensorMapTest.cpp).
#define BOOST_TEST_MODULE sim_tma
#include "sim/Tensormap.h"
#include "tests/sim/SimRun.h"
#include "tests/sim/Text.h"
#include <bit>
#include <cstring>

using namespace tiletwin;
using namespace tiletwin::sim;

namespace {

constexpr std::string_view kShared = ".shared .align 1024 .b8 tile[4096];\n.shared .align 8 .b64 bar;\n";

/// One thread loads a box of 8 x 4 floats at (%r1, %r2), waits, stores it to the second tensor at the same place.
constexpr std::string_view kCopy = R"(
  mov.u32 %r20, bar; mov.u32 %r21, tile;
  ld.global.u32 %r1, [%rd2]; ld.global.u32 %r2, [%rd2+4];
  mbarrier.init.shared::cta.b64 [%r20], 1;
  fence.proxy.async.shared::cta;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r20], 128;
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r21], [%rd0, {%r1, %r2}], [%r20];
  ld.shared.u32 %r9, [%r21];
  st.global.u32 [%rd2+8], %r9;
W:
  mbarrier.try_wait.parity.shared::cta.b64 %p0, [%r20], 0;
  @!%p0 bra W;
  ld.shared.u32 %r9, [%r21];
  st.global.u32 [%rd2+12], %r9;
)";

void encode(std::byte* map, std::vector<float>& tensor, uint64_t rows,
            TensorMapSwizzle swizzle = TensorMapSwizzle::None, uint32_t boxRows = 4) {
  const uint64_t dim[2] = {16, rows}, stride[1] = {64};
  const uint32_t box[2] = {8, boxRows}, step[2] = {1, 1};
  std::string error;
  BOOST_REQUIRE_MESSAGE(encodeTensorMap(map, TensorMapType::F32, 2, tensor.data(), dim, stride, box, step,
                                        TensorMapInterleave::None, swizzle, TensorMapPromotion::None,
                                        TensorMapFill::Zero, error),
                        error);
}

std::vector<float> ramp(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = float(i) + 1;
  return values;
}

Result runTensors(SimRun& run, std::vector<float>& from, std::vector<float>& to, std::vector<uint32_t>& words,
                  uint64_t rows, TensorMapSwizzle swizzle = TensorMapSwizzle::None, uint32_t boxRows = 4) {
  alignas(64) static std::byte maps[2][kTensorMapBytes];
  encode(maps[0], from, rows, swizzle, boxRows);
  encode(maps[1], to, rows, swizzle, boxRows);
  run.buffer(maps[0], kTensorMapBytes).buffer(maps[1], kTensorMapBytes).buffer(words);
  for (std::vector<float>* tensor : {&from, &to}) {
    const auto begin = reinterpret_cast<uintptr_t>(tensor->data()), end = begin + tensor->size() * 4;
    run.memory({tensor == &from ? "from" : "to", begin, end, begin, end, false, nullptr});
  }
  run.params.threads = 1;
  return run.launch(1, 1);
}

} // namespace

BOOST_AUTO_TEST_CASE(a_tile_lands_when_it_is_waited_for) {
  for (const TensorMapSwizzle swizzle : {TensorMapSwizzle::None, TensorMapSwizzle::Bytes32}) {
    const std::string body = std::string(kCopy) + R"(
  cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd1, {%r1, %r2}], [%r21];
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group.read 0;
  mov.b32 %r10, 0;
  st.shared.u32 [%r21], %r10;
  cp.async.bulk.wait_group 0;)";
    SimRun run(ptxKernel(3, body, kShared));
    std::vector<float> from = ramp(16 * 8), to(16 * 8);
    std::vector<uint32_t> words{8, 6, 77, 77};
    const Result result = runTensors(run, from, to, words, 8, swizzle);
    BOOST_REQUIRE_MESSAGE(!result.trap, result.trap.message);
    BOOST_TEST(words[2] == 0u); // before the wait: nothing
    BOOST_TEST(words[3] == std::bit_cast<uint32_t>(from[6 * 16 + 8]));
    for (size_t y = 0; y < 8; ++y)
      for (size_t x = 0; x < 16; ++x) BOOST_TEST(to[y * 16 + x] == (y >= 6 && x >= 8 ? from[y * 16 + x] : 0.f));
  }
}

BOOST_AUTO_TEST_CASE(reductions_and_negative_coordinates) { // loads begin below zero, and nothing else does
  const std::string body = std::string(kCopy) + R"(
  mov.b32 %r10, 0;
  cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%rd1, {%r10, %r10}], [%r21];
  cp.async.bulk.commit_group;
  cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%rd1, {%r10, %r10}], [%r21];)";
  SimRun run(ptxKernel(3, body, kShared)); // never waited for: lands when the CTA ends
  std::vector<float> from = ramp(16 * 8), to(16 * 8, 1000.f);
  std::vector<uint32_t> words{uint32_t(-4), uint32_t(-2), 77, 77};
  const Result result = runTensors(run, from, to, words, 8);
  BOOST_REQUIRE_MESSAGE(!result.trap, result.trap.message);
  BOOST_TEST(words[3] == 0u); // outside of the tensor
  for (size_t y = 0; y < 8; ++y)
    for (size_t x = 0; x < 16; ++x)
      BOOST_TEST(to[y * 16 + x] ==
                 (y >= 2 && y < 4 && x >= 4 && x < 8 ? 1000.f + 2 * from[(y - 2) * 16 + x - 4] : 1000.f));
}

BOOST_AUTO_TEST_CASE(four_rows_are_gathered_and_scattered) {
  const std::string body = R"(
  mov.u32 %r20, bar; mov.u32 %r21, tile; mov.u32 %r1, 8;
  mov.u32 %r2, 5; mov.u32 %r3, 0; mov.u32 %r4, 9; mov.u32 %r5, 5;
  mov.u32 %r6, 1; mov.u32 %r7, 7; mov.u32 %r8, 2; mov.u32 %r9, 100;
  mbarrier.init.shared::cta.b64 [%r20], 1;
  fence.proxy.async.shared::cta;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r20], 128;
  cp.async.bulk.tensor.2d.tile::gather4.shared::cta.global.mbarrier::complete_tx::bytes [%r21], [%rd0, {%r1, %r2, %r3, %r4, %r5}], [%r20];
W:
  mbarrier.try_wait.parity.shared::cta.b64 %p0, [%r20], 0;
  @!%p0 bra W;
  cp.async.bulk.tensor.2d.tile::scatter4.global.shared::cta.bulk_group [%rd1, {%r1, %r6, %r7, %r8, %r9}], [%r21];
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;)";
  for (const TensorMapSwizzle swizzle : {TensorMapSwizzle::None, TensorMapSwizzle::Bytes32}) {
    SimRun run(ptxKernel(3, body, kShared, "sm_100a"));
    std::vector<float> from = ramp(16 * 8), to(16 * 8);
    std::vector<uint32_t> words(4);
    const Result result = runTensors(run, from, to, words, 8, swizzle, 1);
    BOOST_REQUIRE_MESSAGE(!result.trap, result.trap.message);
    std::vector<float> want(16 * 8);
    const int rows[][2] = {{1, 5}, {7, 0}, {2, -1}, {-1, 5}}; // row 9 is outside of the tensor, and so is row 100
    for (const auto& [at, of] : rows)
      for (int x = 8; at >= 0 && x < 16; ++x) want[size_t(at * 16 + x)] = of < 0 ? 0 : from[size_t(of * 16 + x)];
    BOOST_TEST(to == want, boost::test_tools::per_element());
  }
  SimRun run(ptxKernel(3, body, kShared, "sm_100a"));
  std::vector<float> from = ramp(16 * 8), to(16 * 8);
  std::vector<uint32_t> words(4);
  has(runTensors(run, from, to, words, 8).trap.message,
      "takes four rows with a tensor map whose box has 4: it is to have one");
  has(SimRun::loadError(ptxKernel(3, body, kShared)), "gather and scatter need a target of sm_100 or above");
}

BOOST_AUTO_TEST_CASE(mistakes_with_tiles_are_traps) {
  const auto trapOf = [](std::string body, uint32_t x) {
    SimRun run(ptxKernel(3, body, kShared));
    std::vector<float> from = ramp(16 * 8), to(16 * 8);
    std::vector<uint32_t> words{x, 0, 0, 0};
    return runTensors(run, from, to, words, 8).trap.message;
  };
  const std::string copy(kCopy);
  const auto with = [&](std::string_view from, std::string_view to) {
    std::string body = copy;
    body.replace(body.find(from), from.size(), to);
    return body;
  };
  const std::string reduce =
      "\n  cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%rd1, {%r1, %r2}], [%r21];";
  has(trapOf(copy + reduce, uint32_t(-4)), "begins at -4 along dimension 0");
  has(trapOf(copy, 2), "begins at byte 8 of its rows, no multiple of 16");
  has(trapOf(with("[%r21], [%rd0", "[%r21+64], [%rd0"), 0), "multiple of 128");
  has(trapOf(with("[%rd0, {%r1, %r2}]", "[%rd0+8, {%r1, %r2}]"), 0), "no multiple of 64");
  has(trapOf(with("mbarrier.init.shared::cta.b64 [%r20], 1;", ""), 0), "no mbarrier");
  has(trapOf(with("_, [%r20], 128", "_, [%r20], 256"), 0), "no thread of this cluster can go on");
}

BOOST_AUTO_TEST_CASE(maps_made_by_replacement_are_maps) {
  const std::string body = R"(
  mov.u32 %r20, bar; mov.u32 %r21, tile; mov.u32 %r22, map;
  cvt.u64.u32 %rd22, %r22;
  mov.b32 %r30, 0;
  mov.u32 %r31, %tid.x;
  shl.b32 %r32, %r31, 2;
  add.s32 %r33, %r32, %r22;
  st.shared.b32 [%r33], %r30;
  bar.warp.sync -1;
  setp.ne.u32 %p1, %r31, 0;
  @%p1 bra Filled;
  ld.global.u64 %rd10, [%rd2];
  tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%rd22], %rd10;
  tensormap.replace.tile.rank.shared::cta.b1024.b32 [%rd22], 1;
  tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%rd22], 0, 8;
  tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%rd22], 1, 4;
  tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%rd22], 0, 16;
  tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%rd22], 1, 8;
  tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%rd22], 0, 64;
  tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%rd22], 0, 1;
  tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%rd22], 1, 1;
  tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%rd22], 7;
  tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%rd22], 0;
  tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%rd22], 1;
  tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%rd22], 1;
Filled:
  bar.warp.sync -1;
  tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd0], [%rd22], 128;
  fence.proxy.tensormap::generic.acquire.gpu [%rd0], 128;)";
  SimRun run(ptxKernel(3, body, std::string(kShared) + ".shared .align 128 .b8 map[128];\n"));
  alignas(128) static std::byte made[128], wanted[128];
  std::vector<float> tensor = ramp(16 * 8);
  std::vector<uint64_t> words{reinterpret_cast<uintptr_t>(tensor.data())};
  run.buffer(made, 128).buffer(wanted, 128).buffer(words);
  const Result result = run.launch(1, 32);
  BOOST_REQUIRE_MESSAGE(!result.trap, result.trap.message);
  const uint64_t dim[2] = {16, 8}, stride[1] = {64};
  const uint32_t box[2] = {8, 4}, step[2] = {1, 1};
  std::string error;
  BOOST_REQUIRE(encodeTensorMap(wanted, TensorMapType::F32, 2, tensor.data(), dim, stride, box, step,
                                TensorMapInterleave::None, TensorMapSwizzle::Bytes32, TensorMapPromotion::None,
                                TensorMapFill::NaN, error));
  BOOST_TEST(std::memcmp(made, wanted, 128) == 0);
}

BOOST_AUTO_TEST_CASE(what_is_not_implemented_does_not_load) {
  const auto fails = [](std::string_view instruction, std::string_view part) {
    has(SimRun::loadError(ptxKernel(1, instruction, kShared)), part);
  };
  const auto column = [](std::string mode, std::string offsets) {
    return "cp.async.bulk.tensor.4d.shared::cluster.global." + mode +
           ".mbarrier::complete_tx::bytes [%r0], [%rd0, {%r1, %r1, %r1, %r1}], [%r2]" + offsets + ";";
  };
  fails(column("im2col::w", ", {%h0, %h0}"), "mode .im2col::w are not implemented");
  fails(column("im2col", ", {%h0}"), "with 4 dimensions wants 2 offsets");
  fails(column("im2col", ""), "wants 4 operands");
  fails("cp.async.bulk.tensor.2d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r0], [%rd0, {%r1, %r1}], "
        "[%r2], {%h0};",
        ".3d, .4d or .5d");
  fails("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r0], [%rd0, {%r1}], [%r2];",
        "wants 2 coordinates");
  fails("cp.async.bulk.tensor.6d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r0], [%rd0, {%r1}], [%r2];",
        ".1d, .2d, .3d, .4d or .5d");
  fails("tensormap.replace.tile.nothing.global.b1024.b32 [%rd0], 1;", "nothing");
  fails("tensormap.replace.tile.global_stride.global.b1024.b64 [%rd0], 4, 16;", "0 to 3");
}
