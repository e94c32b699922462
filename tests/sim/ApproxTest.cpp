// tests/sim/ApproxTest.cpp -- approximations: every recorded result of an H200, over whole ranges of inputs, and the instructions around
// the special function unit.
#define BOOST_TEST_MODULE sim_approx
#include "sim/numerics/Special.h"
#include "tests/sim/Recorded.h"
#include "tests/sim/SimRun.h"
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <map>

using namespace tiletwin;
using namespace tiletwin::sim;

namespace {

struct Prepared {
  Prepared() { special::prepare(); }
};
BOOST_TEST_GLOBAL_FIXTURE(Prepared);

/// special_h200.txt: a hash of the results for each range.
uint64_t recordedHash(const std::string& name) {
  std::ifstream file(TILETWIN_TEST_DATA "/sim/special_h200.txt");
  std::string word, hash;
  while (file >> word >> hash)
    if (word == name) return std::stoull(hash, nullptr, 16);
  throw std::runtime_error("special_h200.txt has no " + name);
}

template <class Value> uint64_t hashOf(size_t count, Value&& value) {
  uint64_t hash = 0;
  for (size_t i = 0; i < count; ++i) hash += uint64_t(bitsOf(value(i))) * (i * 0x9E3779B97F4A7C15u | 1);
  return hash;
}

/// Runs a unary instruction on f32, or a binary one on two, through the machine; or a text from %f0 and %f1 to %f2.
std::vector<uint32_t> run(const std::string& instruction, std::vector<uint32_t> a, std::vector<uint32_t> b = {}) {
  const bool isBinary = !b.empty();
  const uint32_t n = uint32_t(a.size());
  std::vector<uint32_t> out(n);
  if (!isBinary) b.resize(n);
  const std::string body =
      "mov.u32 %r0, %tid.x;\nmov.u32 %r1, %ctaid.x;\nmad.lo.u32 %r0, %r1, 128, %r0;\n"
      "setp.ge.u32 %p0, %r0, " +
      std::to_string(n) +
      ";\n@%p0 ret;\nmul.wide.u32 %rd3, %r0, 4;\nadd.u64 %rd4, %rd0, %rd3;\nadd.u64 %rd5, %rd1, %rd3;\n"
      "add.u64 %rd6, %rd2, %rd3;\nld.global.f32 %f0, [%rd4];\nld.global.f32 %f1, [%rd5];\n" +
      instruction +
      (instruction.find('%') != std::string::npos ? ";"
       : isBinary                                 ? " %f2, %f0, %f1;"
                                                  : " %f2, %f0;") +
      "\nst.global.f32 [%rd6], %f2;";
  SimRun sim(ptxKernel(3, body));
  sim.buffer(a).buffer(b).buffer(out);
  const Result r = sim.launch((n + 127) / 128, 128);
  if (r.trap) throw std::runtime_error(instruction + ": " + r.trap.message);
  return out;
}

std::vector<uint32_t> column(const Recorded& t, size_t c) {
  std::vector<uint32_t> words(t.rows());
  for (size_t i = 0; i < t.rows(); ++i) words[i] = t(i, c);
  return words;
}

size_t differences(const std::vector<uint32_t>& got, const std::vector<uint32_t>& want,
                   const std::vector<uint32_t>& from, const std::string& what) {
  size_t wrong = 0;
  for (size_t i = 0; i < got.size(); ++i)
    if (got[i] != want[i] && ++wrong <= 3)
      BOOST_TEST_MESSAGE(what << std::hex << " of " << from[i] << ": " << got[i] << ", an H200 gave " << want[i]);
  return wrong;
}

} // namespace

BOOST_AUTO_TEST_CASE(every_mantissa) {
  constexpr size_t kAll = size_t(1) << 23;
  const auto above = [](uint32_t from, uint32_t step = 1) {
    return [=](size_t i) { return floatOf(from + step * uint32_t(i)); };
  };
  const auto half = above(0x3F000000), one = above(0x3F800000), two = above(0x40000000);
  const std::map<std::string, uint64_t> got = {
      {"ex2_0_1", hashOf(kAll, [](size_t i) { return special::ex2(float(i) * 0x1p-23f); })},
      {"ex2_-1_0", hashOf(kAll, [](size_t i) { return special::ex2(-(float(i) * 0x1p-23f)); })},
      {"rcp_1_2", hashOf(kAll, [=](size_t i) { return special::rcp(one(i)); })},
      {"rsqrt_1_2", hashOf(kAll, [=](size_t i) { return special::rsqrt(one(i)); })},
      {"rsqrt_2_4", hashOf(kAll, [=](size_t i) { return special::rsqrt(two(i)); })},
      {"sqrt_1_2", hashOf(kAll, [=](size_t i) { return special::sqrt(one(i)); })},
      {"sqrt_2_4", hashOf(kAll, [=](size_t i) { return special::sqrt(two(i)); })},
      {"lg2_half_1", hashOf(kAll, [=](size_t i) { return special::lg2(half(i)); })},
      {"lg2_1_2", hashOf(kAll, [=](size_t i) { return special::lg2(one(i)); })},
      {"tanh",
       hashOf(0x220000, [=](size_t i) { return special::tanh(floatOf(0x39000000 + 64 * uint32_t(i))); })},
  };
  for (const auto& [name, hash] : got) BOOST_TEST(hash == recordedHash(name), name);
}

/// First guesses for f64: upper words by upper words, and the same whatever the lower words are.
BOOST_AUTO_TEST_CASE(every_upper_word) {
  const auto mantissa = [](size_t i) { return uint64_t(0x3FF00000 + i) << 32; };
  const auto end = [](size_t i) { return uint64_t(i / 16) << 52 | uint64_t(i % 16) << 48; };
  const auto upper = [](double (*function)(double), uint64_t low, auto&& word) {
    return [=](size_t i) { return floatOf(uint32_t(bitsOf(function(doubleOf(word(i) | low))) >> 32)); };
  };
  for (const uint64_t low : {uint64_t(0), uint64_t(1), uint64_t(0xFFFFFFFF)}) {
    const std::map<std::string, uint64_t> got = {
        {"rcp64", hashOf(size_t(1) << 21, upper(special::rcp64, low, mantissa))},
        {"rsqrt64", hashOf(size_t(1) << 21, upper(special::rsqrt64, low, mantissa))},
        {"rcp64_ends", hashOf(size_t(1) << 16, upper(special::rcp64, low, end))},
        {"rsqrt64_ends", hashOf(size_t(1) << 16, upper(special::rsqrt64, low, end))},
    };
    for (const auto& [name, hash] : got) BOOST_TEST(hash == recordedHash(name), name);
  }
}

BOOST_AUTO_TEST_CASE(angles) {
  const Recorded t("angles_h200.bin");
  const std::vector<uint32_t> x = column(t, 0);
  BOOST_TEST(differences(run("sin.approx.f32", x), column(t, 1), x, "sin") == 0u);
  BOOST_TEST(differences(run("cos.approx.ftz.f32", x), column(t, 2), x, "cos") == 0u);
  BOOST_TEST(differences(run("tanh.approx.f32", x), column(t, 3), x, "tanh") == 0u);
}

BOOST_AUTO_TEST_CASE(angles_of_all_magnitudes) {
  const Recorded t("sines_h200.bin");
  std::vector<uint32_t> x[2], want[2];
  for (size_t i = 0; i < t.rows(); ++i) x[t(i, 1)].push_back(t(i, 0)), want[t(i, 1)].push_back(t(i, 2));
  BOOST_TEST(x[0].size() > 4000u);
  BOOST_TEST(x[1].size() > 4000u);
  BOOST_TEST(differences(run("sin.approx.f32", x[0]), want[0], x[0], "sin") == 0u);
  BOOST_TEST(differences(run("cos.approx.f32", x[1]), want[1], x[1], "cos") == 0u);
}

/// Results over all magnitudes, subnormal numbers, infinities and NaNs.
BOOST_AUTO_TEST_CASE(recorded_unary) {
  const Recorded t("unary_f32_h200.bin");
  const std::vector<uint32_t> x = column(t, 0), ones(x.size(), 0x3F800000);
  const char* const instructions[] = {"ex2.approx.ftz.f32", "sqrt.approx.ftz.f32", "sqrt.rn.f32",
                                      "rsqrt.approx.ftz.f32"};
  for (size_t c = 0; c < 4; ++c)
    BOOST_TEST(differences(run(instructions[c], x), column(t, c + 1), x, instructions[c]) == 0u, instructions[c]);
  BOOST_TEST(differences(run("div.full.f32", ones, x), column(t, 5), x, "div.full") == 0u);
  BOOST_TEST(differences(run("sin.approx.ftz.f32", x), column(t, 6), x, "sin") == 0u);
}

BOOST_AUTO_TEST_CASE(recorded_binary) {
  const Recorded t("binary_f32_h200.bin");
  const std::vector<uint32_t> x = column(t, 0), y = column(t, 1);
  const std::pair<const char*, size_t> instructions[] = {{"add.f32", 2},      {"sub.f32", 3},     {"mul.f32", 4},
                                                         {"div.full.f32", 5}, {"div.rn.f32", 6},  {"min.f32", 7},
                                                         {"max.f32", 8},      {"min.NaN.f32", 9}, {"max.NaN.f32", 10}};
  for (const auto& [instruction, c] : instructions)
    BOOST_TEST(differences(run(instruction, x, y), column(t, c), x, instruction) == 0u, instruction);
  BOOST_TEST(differences(run("fma.rn.f32 %f2, %f0, %f1, %f0", x, y), column(t, 11), x, "fma") == 0u);
  BOOST_TEST(differences(run("mul.f32 %f3, %f0, %f1;\nadd.f32 %f2, %f3, %f0", x, y), column(t, 12), x, "mul, add") ==
             0u);
}

/// What the ISA promises at the ends.
BOOST_AUTO_TEST_CASE(special_values) {
  constexpr uint32_t kInf = 0x7F800000, kMinusInf = 0xFF800000, kAnyNan = 0x7FFFFFFF, kZero = 0,
                     kMinusZero = 0x80000000, kOne = 0x3F800000, kTiny = 1, kMinusTiny = 0x80000001;
  const std::vector<uint32_t> x{kMinusInf, 0xBF800000, kMinusTiny, kMinusZero, kZero, kTiny, kOne, kInf, 0x7FC00000};
  using Row = std::vector<uint32_t>;
  const uint32_t lg2Tiny = bitsOf(-149.0f), sqrtTiny = bitsOf(std::sqrt(0x1p-149f)),
                 rsqrtTiny = bitsOf(1 / std::sqrt(0x1p-149f));
  const std::pair<const char*, Row> rows[] = {
      {"ex2.approx.ftz.f32", {kZero, 0x3F000000, kOne, kOne, kOne, kOne, 0x40000000, kInf, kAnyNan}},
      {"lg2.approx.ftz.f32", {kAnyNan, kAnyNan, kMinusInf, kMinusInf, kMinusInf, kMinusInf, kZero, kInf, kAnyNan}},
      {"lg2.approx.f32", {kAnyNan, kAnyNan, kAnyNan, kMinusInf, kMinusInf, lg2Tiny, kZero, kInf, kAnyNan}},
      {"rcp.approx.ftz.f32", {kMinusZero, 0xBF800000, kMinusInf, kMinusInf, kInf, kInf, kOne, kZero, kAnyNan}},
      {"rsqrt.approx.ftz.f32", {kAnyNan, kAnyNan, kMinusInf, kMinusInf, kInf, kInf, kOne, kZero, kAnyNan}},
      {"rsqrt.approx.f32", {kAnyNan, kAnyNan, kAnyNan, kMinusInf, kInf, rsqrtTiny, kOne, kZero, kAnyNan}},
      {"sqrt.approx.ftz.f32", {kAnyNan, kAnyNan, kMinusZero, kMinusZero, kZero, kZero, kOne, kInf, kAnyNan}},
      {"sqrt.approx.f32", {kAnyNan, kAnyNan, kAnyNan, kMinusZero, kZero, sqrtTiny, kOne, kInf, kAnyNan}},
      {"tanh.approx.f32", {0xBF800000, 0xBF42F848, kMinusTiny, kMinusZero, kZero, kTiny, 0x3F42F848, kOne, kAnyNan}},
      {"cos.approx.f32", {kAnyNan, bitsOf(-0.0f), kOne, kOne, kOne, kOne, 0, kAnyNan, kAnyNan}},
  };
  for (const auto& [instruction, want] : rows) {
    const std::vector<uint32_t> got = run(instruction, x);
    for (size_t i = 0; i < x.size(); ++i) {
      if (std::string(instruction).starts_with("cos") && (i == 1 || i == 6)) continue;
      const bool close = std::fabs(floatOf(got[i]) - floatOf(want[i])) <= 2e-7f * std::fabs(floatOf(want[i]));
      BOOST_TEST((got[i] == want[i] || close),
                 instruction << std::hex << " of " << x[i] << ": " << got[i] << ", not " << want[i]);
    }
  }
  // 2^-127: subnormal, kept without .ftz; divisors whose reciprocal is subnormal; quotients by .approx become zero there.
  BOOST_TEST(run("ex2.approx.f32", {bitsOf(-127.0f)})[0] == 0x003FFFFFu); // the square of 2^-63.5
  BOOST_TEST(run("ex2.approx.ftz.f32", {bitsOf(-127.0f)})[0] == 0u);
  BOOST_TEST(run("rcp.approx.f32", {bitsOf(0x1p127f)})[0] == 0x00400000u);
  BOOST_TEST(run("rcp.approx.ftz.f32", {bitsOf(0x1p127f)})[0] == 0u);
  BOOST_TEST(run("div.full.f32", {bitsOf(0x1p127f)}, {bitsOf(0x1p127f)})[0] == kOne);
  BOOST_TEST(run("div.approx.f32", {bitsOf(0x1p127f)}, {bitsOf(0x1p127f)})[0] == 0u);
  BOOST_TEST(run("div.full.f32", {kTiny}, {kTiny})[0] == kOne);
}

/// f16 and bf16: all codes, alone and as halves of packed ones.
BOOST_AUTO_TEST_CASE(narrow_forms) {
  const auto all = [](const std::string& instruction, bool packed) {
    std::vector<uint16_t> in(size_t(1) << 17), out(in.size());
    for (size_t i = 0; i < in.size(); ++i) in[i] = uint16_t(i % 2 && packed ? i / 2 * 40503 + 7 : i / 2);
    const std::string r = packed ? "r" : "h", type = packed ? "b32" : "b16", bytes = packed ? "4" : "2";
    SimRun sim(ptxKernel(2, "mov.u32 %r10, %ctaid.x;\nmov.u32 %r11, %tid.x;\nmad.lo.u32 %r10, %r10, 256, %r11;\n"
                            "mul.wide.u32 %rd10, %r10, 4;\nadd.u64 %rd2, %rd0, %rd10;\nadd.u64 %rd3, %rd1, %rd10;\n"
                            "ld.global." +
                                type + " %" + r + "1, [%rd2];\n" + instruction + " %" + r + "2, %" + r +
                                "1;\nst.global." + type + " [%rd3], %" + r + "2;"));
    sim.buffer(in).buffer(out);
    BOOST_REQUIRE(!sim.launch(256, 256).trap);
    return out;
  };
  const std::pair<std::string, std::string> rows[] = {{"ex2.approx.f16", "ex2_f16"},
                                                      {"ex2.approx.ftz.bf16", "ex2_bf16"},
                                                      {"tanh.approx.f16", "tanh_f16"},
                                                      {"tanh.approx.bf16", "tanh_bf16"}};
  for (const auto& [instruction, name] : rows) {
    const std::vector<uint16_t> scalar = all(instruction, false), packed = all(instruction + "x2", true);
    BOOST_TEST(hashOf(size_t(1) << 16, [&](size_t i) { return floatOf(scalar[2 * i]); }) == recordedHash(name), name);
    size_t wrong = 0;
    for (size_t i = 0; i < 1 << 16; ++i) {
      wrong += packed[2 * i] != scalar[2 * i];
      wrong += packed[2 * i + 1] != scalar[2 * size_t(uint16_t(i * 40503 + 7))];
    }
    BOOST_TEST(wrong == 0u, name);
  }
}

/// First guesses for f64, and the refined square root, are near.
BOOST_AUTO_TEST_CASE(double_forms) {
  const auto value = [](const std::string& instruction, double x) {
    std::vector<double> in{x}, out{0};
    SimRun sim(
        ptxKernel(2, "ld.global.f64 %fd0, [%rd0];\n" + instruction + " %fd1, %fd0;\nst.global.f64 [%rd1], %fd1;"));
    sim.buffer(in).buffer(out);
    BOOST_REQUIRE(!sim.launch(1, 1).trap);
    return out[0];
  };
  for (const double x : {1.0, 3.0, -7.25, 1e300, -1e-300, 0x1.fffffffffffffp5}) {
    const double r = value("rcp.approx.ftz.f64", x);
    BOOST_TEST(std::fabs(r * x - 1) < 0x1p-19);
    BOOST_TEST((bitsOf(r) & 0xFFFFFFFF) == 0u);
    const double s = value("rsqrt.approx.ftz.f64", std::fabs(x));
    BOOST_TEST(std::fabs(s * s * std::fabs(x) - 1) < 0x1p-18);
    const double t = value("rsqrt.approx.f64", std::fabs(x));
    BOOST_TEST(std::fabs(t * t * std::fabs(x) - 1) < 1e-15);
  }
  BOOST_TEST(value("rsqrt.approx.f64", 0x1p-1074) == 0x1p537);
  // A NaN only in the lower word is an infinity to the unit.
  BOOST_TEST(value("rcp.approx.ftz.f64", doubleOf(kInfinity64 | 1)) == 0.0);
  BOOST_TEST(bitsOf(value("rcp.approx.ftz.f64", doubleOf(kInfinity64 | kQuiet64 | 5))) == 0x7FFFFFFF00000000u);
  BOOST_TEST(bitsOf(value("rsqrt.approx.ftz.f64", -2.0)) == 0x7FFFFFFF00000000u);
  BOOST_TEST(std::signbit(value("rcp.approx.ftz.f64", -INFINITY)));
}

BOOST_AUTO_TEST_CASE(errors) {
  for (const char* wrong : {"ex2.f32 %f0, %f1;", "ex2.approx.ftz.f16 %h0, %h1;", "ex2.approx.bf16 %h0, %h1;",
                            "tanh.approx.ftz.f32 %f0, %f1;", "lg2.approx.f64 %fd0, %fd1;", "rcp.approx.f64 %fd0, %fd1;",
                            "div.full.f64 %fd0, %fd1, %fd2;", "sin.approx.f16 %h0, %h1;", "rsqrt.rn.f32 %f0, %f1;"}) {
    const std::string error = SimRun::loadError(ptxKernel(0, wrong));
    BOOST_TEST(error.find(std::string(wrong).substr(0, 3)) != std::string::npos, wrong << ": " << error);
  }
}
