// tests/sim/WarpOpsTest.cpp -- shfl, vote, match, redux, elect, activemask, bar.warp.sync: against what their definitions say.
#define BOOST_TEST_MODULE sim_warpops
#include "tests/sim/SimRun.h"
#include "tests/sim/Text.h"
#include <bit>
#include <boost/test/unit_test.hpp>
#include <functional>
#include <limits>
#include <random>

using namespace tiletwin;
using namespace tiletwin::sim;

namespace {

/// %r0 is the thread's element of p0; store(k, register) writes a 32-bit register to p1[k * 32 + lane].
constexpr std::string_view kBegin = R"(
  mov.u32 %r60, %tid.x;
  mul.wide.u32 %rd60, %r60, 4;
  add.s64 %rd61, %rd0, %rd60;
  add.s64 %rd62, %rd1, %rd60;
  ld.global.u32 %r0, [%rd61];
)";
std::string store(int k, std::string_view reg) {
  return "st.global.u32 [%rd62+" + std::to_string(k * 128) + "], " + std::string(reg) + ";\n";
}
std::string storePredicate(int k, std::string_view reg) {
  return "selp.u32 %r59, 1, 0, " + std::string(reg) + ";\n" + store(k, "%r59");
}

std::vector<uint32_t> runLanes(const std::string& body, std::vector<uint32_t> values, int results,
                               std::string_view before = "", std::string_view target = "sm_90a") {
  SimRun run(ptxKernel(2, std::string(kBegin) + body, before, target));
  std::vector<uint32_t> out(size_t(results) * 32, 0xDEAD);
  run.buffer(values).buffer(out);
  const Result result = run.launch(1, 32);
  BOOST_REQUIRE_MESSAGE(!result.trap, result.trap.message);
  return out;
}

std::string trapOf(const std::string& body) {
  SimRun run(ptxKernel(2, std::string(kBegin) + body));
  std::vector<uint32_t> values(32), out(32);
  run.buffer(values).buffer(out);
  return run.launch(1, 32).trap.message;
}

std::vector<uint32_t> lanesFrom(std::mt19937& random, uint32_t limit) {
  std::vector<uint32_t> values(32);
  for (uint32_t& v : values) v = limit ? random() % limit : random();
  return values;
}

} // namespace

BOOST_AUTO_TEST_CASE(shuffles_stay_in_their_segments) {
  struct Case {
    std::string mode;
    int width, distance;
  };
  std::vector<Case> cases;
  std::string body;
  for (const std::string mode : {"up", "down", "bfly", "idx"})
    for (const int width : {1, 2, 4, 8, 16, 32})
      for (const int distance : {0, 1, 3, 16, 31})
        for (const bool isConstant : {true, false}) {
          const int clamp = ((32 - width) << 8) | (mode == "up" ? 0 : 31);
          const std::string b = std::to_string(distance), c = std::to_string(clamp);
          const int k = int(cases.size());
          if (!isConstant) body += "mov.b32 %r10, " + b + ";\nmov.b32 %r11, " + c + ";\nmov.b32 %r12, -1;\n";
          body += "shfl.sync." + mode + ".b32 %r1|%p1, %r0, " +
                  (isConstant ? b + ", " + c + ", -1;\n" : std::string("%r10, %r11, %r12;\n"));
          body += "selp.u32 %r2, 1, 0, %p1;\nmad.lo.u32 %r3, %r1, 2, %r2;\n" + store(k, "%r3");
          cases.push_back({mode, width, distance});
        }
  std::vector<uint32_t> values(32);
  for (uint32_t i = 0; i < 32; ++i) values[i] = 1000 + i;
  const auto out = runLanes(body, values, int(cases.size()));
  for (size_t k = 0; k < cases.size(); ++k)
    for (int lane = 0; lane < 32; ++lane) {
      const auto& [mode, width, distance] = cases[k];
      const int first = lane / width * width, end = first + width;
      const int from = mode == "up"     ? lane - distance
                       : mode == "down" ? lane + distance
                       : mode == "bfly" ? lane ^ distance
                                        : first + distance % width;
      const bool isInside = mode == "up" ? from >= first : from < end;
      const uint32_t want = 2 * uint32_t(1000 + (isInside ? from : lane)) + isInside;
      BOOST_REQUIRE_MESSAGE(out[k * 32 + size_t(lane)] == want,
                            mode << " width " << width << " distance " << distance << " lane " << lane);
    }
}

BOOST_AUTO_TEST_CASE(a_shuffle_may_overwrite_its_source) {
  std::vector<uint32_t> values(32);
  for (uint32_t i = 0; i < 32; ++i) values[i] = i * i;
  const auto out = runLanes("shfl.sync.bfly.b32 %r0, %r0, 31, 31, -1;\n" + store(0, "%r0"), values, 1);
  for (uint32_t i = 0; i < 32; ++i) BOOST_TEST(out[i] == (31 - i) * (31 - i));
}

BOOST_AUTO_TEST_CASE(teams_vote_match_and_reduce_among_themselves) {
  // Four teams: all lanes; two halves that name different masks at the same place; the lanes below 12 on their own way.
  const auto operations = [&](int k, const std::string& mask) {
    std::string text = "setp.ge.u32 %p2, %r0, 2;\n";
    text += "vote.sync.all.pred %p3, %p2, " + mask + ";\n" + storePredicate(k, "%p3");
    text += "vote.sync.any.pred %p3, %p2, " + mask + ";\n" + storePredicate(k + 1, "%p3");
    text += "vote.sync.uni.pred %p3, !%p2, " + mask + ";\n" + storePredicate(k + 2, "%p3");
    text += "vote.sync.ballot.b32 %r2, %p2, " + mask + ";\n" + store(k + 3, "%r2");
    text += "match.any.sync.b32 %r2, %r0, " + mask + ";\n" + store(k + 4, "%r2");
    text += "match.all.sync.b32 %r2|%p3, %r0, " + mask + ";\n" + store(k + 5, "%r2") + storePredicate(k + 6, "%p3");
    text += "cvt.s64.s32 %rd10, %r0;\nmatch.any.sync.b64 %r2, %rd10, " + mask + ";\n" + store(k + 7, "%r2");
    int at = k + 8;
    for (const char* op :
         {"add.u32", "min.u32", "max.u32", "add.s32", "min.s32", "max.s32", "and.b32", "or.b32", "xor.b32"})
      text += std::string("redux.sync.") + op + " %r2, %r0, " + mask + ";\n" + store(at++, "%r2");
    text += "elect.sync %r2|%p3, " + mask + ";\n" + store(at, "%r2") + storePredicate(at + 1, "%p3");
    return text;
  };
  constexpr int kEach = 19;
  std::string body = operations(0, "-1");
  body += "setp.lt.u32 %p1, %r60, 16;\nselp.b32 %r20, 0xFFFF, 0xFFFF0000, %p1;\n" + operations(kEach, "%r20");
  body += "setp.ge.u32 %p1, %r60, 12;\n@%p1 bra Skip;\n" + operations(2 * kEach, "0xFFF");
  body += "activemask.b32 %r2;\n" + store(3 * kEach, "%r2") + "Skip:\n";
  std::mt19937 random(3);
  for (int round = 0; round < 12; ++round) {
    const uint32_t limit = round < 4 ? 3 : round < 8 ? 1 + random() % 2 : 0;
    std::vector<uint32_t> values = lanesFrom(random, limit);
    const auto out = runLanes(body, values, 3 * kEach + 1);
    for (int where = 0; where < 3; ++where)
      for (uint32_t lane = 0; lane < (where == 2 ? 12 : 32); ++lane) {
        const uint32_t team = where == 0 ? ~0u : where == 2 ? 0xFFFu : lane < 16 ? 0xFFFFu : 0xFFFF0000u;
        std::vector<uint32_t> mine;
        uint32_t ballot = 0, equal = 0;
        for (uint32_t i = 0; i < 32; ++i)
          if (team >> i & 1) {
            mine.push_back(values[i]);
            ballot |= uint32_t(values[i] >= 2) << i;
            equal |= uint32_t(values[i] == values[lane]) << i;
          }
        const auto fold = [&](std::function<uint32_t(uint32_t, uint32_t)> f) {
          uint32_t r = mine[0];
          for (size_t i = 1; i < mine.size(); ++i) r = f(r, mine[i]);
          return r;
        };
        const auto lessSigned = [](uint32_t a, uint32_t b) { return int32_t(a) < int32_t(b); };
        const uint32_t first = uint32_t(__builtin_ctz(team));
        const uint32_t want[kEach] = {ballot == team,
                                      ballot != 0,
                                      ballot == team || ballot == 0,
                                      ballot,
                                      equal,
                                      equal == team ? team : 0,
                                      equal == team,
                                      equal,
                                      fold([](auto a, auto b) { return a + b; }),
                                      fold([](auto a, auto b) { return std::min(a, b); }),
                                      fold([](auto a, auto b) { return std::max(a, b); }),
                                      fold([](auto a, auto b) { return a + b; }),
                                      fold([&](auto a, auto b) { return lessSigned(a, b) ? a : b; }),
                                      fold([&](auto a, auto b) { return lessSigned(a, b) ? b : a; }),
                                      fold([](auto a, auto b) { return a & b; }),
                                      fold([](auto a, auto b) { return a | b; }),
                                      fold([](auto a, auto b) { return a ^ b; }),
                                      first,
                                      lane == first};
        for (int k = 0; k < kEach; ++k)
          BOOST_REQUIRE_MESSAGE(out[size_t(where * kEach + k) * 32 + lane] == want[k],
                                "operation " << k << " team " << team << " lane " << lane);
      }
    for (uint32_t lane = 0; lane < 12; ++lane) BOOST_REQUIRE_EQUAL(out[3 * kEach * 32 + lane], 0xFFFu);
  }
}

BOOST_AUTO_TEST_CASE(lanes_meet_at_different_instructions) {
  const std::string body = R"(
  mov.u32 %r10, s;
  shl.b32 %r11, %r60, 2;
  add.s32 %r12, %r10, %r11;
  xor.b32 %r13, %r11, 64;
  add.s32 %r14, %r10, %r13;
  setp.lt.u32 %p1, %r60, 16;
  @%p1 bra Low;
  st.shared.u32 [%r12], %r0;
  bar.warp.sync -1;
  bra.uni Join;
Low:
  st.shared.u32 [%r12], %r0;
  bar.warp.sync 0xffffffff;
Join:
  ld.shared.u32 %r1, [%r14];
)" + store(0, "%r1");
  std::vector<uint32_t> values(32);
  for (uint32_t i = 0; i < 32; ++i) values[i] = 7 * i + 1;
  const auto out = runLanes(body, values, 1, ".shared .align 4 .b8 s[128];\n");
  for (uint32_t i = 0; i < 32; ++i) BOOST_TEST(out[i] == 7 * (i ^ 16) + 1);
}

BOOST_AUTO_TEST_CASE(masks_that_do_not_fit_are_traps) {
  has(trapOf("vote.sync.ballot.b32 %r1, %p1, 0xfffffffe;"), "its member mask does not name");
  has(trapOf("bar.warp.sync 0xfffffff0;"), "its member mask does not name");
  has(trapOf("mov.b32 %r5, 1;\nshfl.sync.idx.b32 %r1, %r0, 0, 31, %r5;"), "its member mask does not name");
  has(trapOf("setp.lt.u32 %p1, %r60, 16;\n@%p1 redux.sync.add.u32 %r1, %r0, -1;\nbar.warp.sync -1;"),
      "no thread of this cluster can go on");
}

BOOST_AUTO_TEST_CASE(floats_are_reduced) {
  constexpr uint32_t nan = 0x7FFFFFFF;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  std::vector<uint32_t> values(32, std::bit_cast<uint32_t>(-2.5f));
  for (const auto& [lane, value] : {std::pair{3, 7.0f}, {5, -9.0f}, {20, 1e-40f}, {21, infinity}, {22, -0.0f}})
    values[size_t(lane)] = std::bit_cast<uint32_t>(value);
  values[9] = 0xFFC00001; // a NaN, in the lower half only
  std::string body = "setp.lt.u32 %p1, %r60, 16;\nselp.b32 %r20, 0xFFFF, 0xFFFF0000, %p1;\nmov.b32 %f0, %r0;\n";
  int at = 0;
  for (const char* op : {"max", "min", "max.abs", "min.abs", "max.NaN", "min.NaN", "max.abs.NaN"})
    body += std::string("redux.sync.") + op + ".f32 %f1, %f0, %r20;\nmov.b32 %r2, %f1;\n" + store(at++, "%r2");
  const auto out = runLanes(body, values, at, "", "sm_100a");
  const auto bits = [](float value) { return std::bit_cast<uint32_t>(value); };
  const std::array<uint32_t, 2> want[] = {{bits(7), bits(infinity)}, {bits(-9), bits(-2.5f)}, {bits(9), bits(infinity)},
                                          {bits(2.5f), 0},           {nan, bits(infinity)},   {nan, bits(-2.5f)},
                                          {nan, bits(infinity)}};
  for (int k = 0; k < at; ++k)
    for (int lane = 0; lane < 32; ++lane)
      BOOST_TEST(out[size_t(32 * k + lane)] == want[k][size_t(lane / 16)], k << " " << lane);
}

BOOST_AUTO_TEST_CASE(forms_that_do_not_exist_do_not_load) {
  const auto errorOf = [](std::string_view body) { return SimRun::loadError(ptxKernel(2, body)); };
  has(errorOf("redux.sync.max.f32 %f1, %f0, -1;"), "of .f32 needs a target of sm_100a or sm_100f");
  has(SimRun::loadError(ptxKernel(2, "redux.sync.add.f32 %f1, %f0, -1;", "", "sm_100a")), "of .f32 is .min or .max");
  has(errorOf("redux.sync.and.s32 %r1, %r0, -1;"), "redux.sync wants");
  has(errorOf("shfl.idx.b32 %r1, %r0, 0, 31;"), "not for sm_70 and above");
  has(errorOf("shfl.sync.left.b32 %r1, %r0, 0, 31, -1;"), "wants .up, .down, .bfly or .idx");
  has(errorOf("vote.all.pred %p1, %p2;"), "not for sm_70 and above");
  has(errorOf("vote.sync.most.pred %p1, %p2, -1;"), "vote wants");
  has(errorOf("elect.sync %r1, -1;"), "wants a pair d|p");
  has(errorOf("match.any.sync.b16 %r1, %h0, -1;"), "match wants .b32 or .b64");
}
