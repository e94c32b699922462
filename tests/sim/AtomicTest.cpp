// tests/sim/AtomicTest.cpp -- atom and red: each operation of each type, lanes that meet at one address, many CTAs at once.
#define BOOST_TEST_MODULE sim_atomic
#include "tests/sim/AtomicReference.h"
#include "tests/sim/SimRun.h"
#include <algorithm>
#include <bit>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

using namespace tiletwin;
using namespace tiletwin::sim;

namespace {

/// Registers of ptxKernel by size.
std::string reg(int bits, int number) {
  return (bits == 16 ? "%h" : bits == 32 ? "%r" : "%rd") + std::to_string(number);
}

struct Outcome {
  std::vector<uint64_t> memory, old;
};

/// Each of 32 lanes does the operation at a cell of its own: memory p0, operands p1 and p2, results p3, all of `bits` bits.
Outcome eachLaneAlone(const std::string& operation, int bits, std::vector<uint64_t> memory,
                      const std::vector<uint64_t>& b, const std::vector<uint64_t>& c,
                      const std::string& space = "global") {
  const std::string size = std::to_string(bits), bytes = std::to_string(bits / 8);
  std::ostringstream body;
  body << "mov.u32 %r60, %tid.x;\nmul.wide.u32 %rd60, %r60, " << bytes << ";\n";
  for (int i = 0; i < 4; ++i) body << "add.u64 %rd" << i << ", %rd" << i << ", %rd60;\n";
  body << "ld.global.b" << size << " " << reg(bits, 10) << ", [%rd1];\nld.global.b" << size << " " << reg(bits, 11)
       << ", [%rd2];\n";
  const std::string swap = operation.starts_with("cas") ? ", " + reg(bits, 11) : "";
  const std::string call = operation + " " + reg(bits, 12) + ", ";
  if (space == "shared") {
    body << "mov.u32 %r61, cells;\nmad.lo.u32 %r61, %r60, " << bytes << ", %r61;\nld.global.b" << size << " "
         << reg(bits, 13) << ", [%rd0];\nst.shared.b" << size << " [%r61], " << reg(bits, 13) << ";\natom.shared."
         << call << "[%r61], " << reg(bits, 10) << swap << ";\nld.shared.b" << size << " " << reg(bits, 13)
         << ", [%r61];\nst.global.b" << size << " [%rd0], " << reg(bits, 13) << ";\n";
  } else {
    body << "atom." << (space == "generic" ? "" : "global.") << call << "[%rd0], " << reg(bits, 10) << swap << ";\n";
  }
  body << "st.global.b" << size << " [%rd3], " << reg(bits, 12) << ";";
  SimRun run(ptxKernel(4, body.str(), ".shared .align 8 .b8 cells[256];"));
  const size_t stride = size_t(bits / 8);
  const auto packed = [&](const std::vector<uint64_t>& values) {
    std::vector<std::byte> bytesOf(32 * stride);
    for (size_t i = 0; i < 32; ++i) std::memcpy(&bytesOf[i * stride], &values[i], stride);
    return bytesOf;
  };
  auto m = packed(memory), x = packed(b), y = packed(c), r = packed(memory);
  const Result result = run.buffer(m).buffer(x).buffer(y).buffer(r).launch(1, 32);
  BOOST_TEST(!result.trap, operation << ": " << result.trap.message);
  Outcome outcome{std::vector<uint64_t>(32), std::vector<uint64_t>(32)};
  for (size_t i = 0; i < 32; ++i) {
    std::memcpy(&outcome.memory[i], &m[i * stride], stride);
    std::memcpy(&outcome.old[i], &r[i * stride], stride);
  }
  return outcome;
}

using Update = std::function<uint64_t(uint64_t old, uint64_t b, uint64_t c)>;

/// All pairs of edges, in global, generic and shared addresses.
void check(const std::string& operation, int bits, const std::vector<uint64_t>& edges, const Update& update,
           const std::vector<std::string>& spaces = {"global", "generic", "shared"}) {
  const uint64_t mask = bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  for (size_t from = 0; from < edges.size() * edges.size(); from += 32) {
    std::vector<uint64_t> memory(32), b(32), c(32);
    for (size_t i = 0; i < 32; ++i) {
      memory[i] = edges[(from + i) % edges.size()] & mask;
      b[i] = edges[(from + i) / edges.size() % edges.size()] & mask;
      c[i] = edges[(from + 3 * i + 1) % edges.size()] & mask;
    }
    for (const std::string& space : spaces) {
      const Outcome got = eachLaneAlone(operation, bits, memory, b, c, space);
      for (size_t i = 0; i < 32; ++i) {
        const uint64_t want = update(memory[i], b[i], c[i]) & mask;
        BOOST_TEST(got.old[i] == memory[i], operation << " " << space << ": old value of lane " << i);
        BOOST_TEST(got.memory[i] == want, std::hex << operation << " " << space << ": " << memory[i] << " with " << b[i]
                                                   << ", " << c[i] << " gives " << got.memory[i] << ", expected "
                                                   << want);
      }
    }
  }
}

const std::vector<uint64_t> kIntegers = {
    0, 1, 2, 100, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x7FFFFFFFFFFFFFFF, 0x8000000000000000, ~uint64_t(0)};

template <class T> Update withType(std::function<T(T, T, T)> f) {
  return [=](uint64_t old, uint64_t b, uint64_t c) { return uint64_t(f(T(old), T(b), T(c))); };
}

template <class T> void checkIntegers(const std::string& bitsType, const std::string& type) {
  constexpr int kBits = 8 * sizeof(T);
  using F = std::function<T(T, T, T)>;
  check("and." + bitsType, kBits, kIntegers, withType<T>(F([](T o, T b, T) { return o & b; })));
  check("or." + bitsType, kBits, kIntegers, withType<T>(F([](T o, T b, T) { return o | b; })));
  check("xor." + bitsType, kBits, kIntegers, withType<T>(F([](T o, T b, T) { return o ^ b; })));
  check("exch." + bitsType, kBits, kIntegers, withType<T>(F([](T, T b, T) { return b; })));
  check("cas." + bitsType, kBits, kIntegers, withType<T>(F([](T o, T b, T c) { return o == b ? c : o; })));
  check("min." + type, kBits, kIntegers, withType<T>(F([](T o, T b, T) { return std::min(o, b); })));
  check("max." + type, kBits, kIntegers, withType<T>(F([](T o, T b, T) { return std::max(o, b); })));
}

} // namespace

BOOST_AUTO_TEST_CASE(integers_of_32_bits) {
  checkIntegers<uint32_t>("b32", "u32");
  checkIntegers<int32_t>("b32", "s32");
  using F = std::function<uint32_t(uint32_t, uint32_t, uint32_t)>;
  for (const char* type : {"add.u32", "add.s32"})
    check(type, 32, kIntegers, withType<uint32_t>(F([](uint32_t o, uint32_t b, uint32_t) { return o + b; })));
  check("inc.u32", 32, kIntegers,
        withType<uint32_t>(F([](uint32_t o, uint32_t b, uint32_t) { return o >= b ? 0 : o + 1; })));
  check("dec.u32", 32, kIntegers,
        withType<uint32_t>(F([](uint32_t o, uint32_t b, uint32_t) { return o == 0 || o > b ? b : o - 1; })));
}

BOOST_AUTO_TEST_CASE(integers_of_64_bits) {
  checkIntegers<uint64_t>("b64", "u64");
  checkIntegers<int64_t>("b64", "s64");
  check("add.u64", 64, kIntegers, [](uint64_t o, uint64_t b, uint64_t) { return o + b; });
}

BOOST_AUTO_TEST_CASE(swap_of_16_bits) {
  check("cas.b16", 16, {0, 1, 0x7FFF, 0x8000, 0xFFFF},
        [](uint64_t o, uint64_t b, uint64_t c) { return o == b ? c : o; });
}

BOOST_AUTO_TEST_CASE(sums_of_f32_flush_in_global_memory_only) {
  const std::vector<uint64_t> edges = {0,          0x80000000, 1,          0x80000001, 0x007FFFFF,
                                       0x00800000, 0x80800001, 0x3F800000, 0xBF800001, 0x33800000,
                                       0x7F7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00001};
  check("add.f32", 32, edges, [](uint64_t o, uint64_t b, uint64_t) { return sum32(o, b, true); },
        {"global", "generic"});
  check("add.f32", 32, edges, [](uint64_t o, uint64_t b, uint64_t) { return sum32(o, b, false); }, {"shared"});
}

BOOST_AUTO_TEST_CASE(sums_of_f64) {
  check("add.f64", 64,
        {0, 0x8000000000000000, 1, 0x3FF0000000000000, 0xBFF0000000000001, 0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000,
         0xFFF0000000000000, 0x7FF8000000000000},
        [](uint64_t o, uint64_t b, uint64_t) {
          return std::isnan(std::bit_cast<double>(b)) ? b : std::isnan(std::bit_cast<double>(o)) ? o : sum64(o, b);
        });
}

BOOST_AUTO_TEST_CASE(sums_of_halves) {
  const std::vector<uint64_t> f16 = {0,      0x8000, 1,      0x8001, 0x03FF, 0x0400, 0x3C00,
                                     0xBC01, 0x1400, 0x7BFF, 0x7C00, 0xFC00, 0x7E01};
  const auto sumF16 = [](uint64_t x, uint64_t y) -> uint64_t {
    const double r = double(f16ToF32(uint16_t(x))) + double(f16ToF32(uint16_t(y)));
    return std::isnan(r) ? 0x7FFF : f32ToF16(f64ToF32Odd(r));
  };
  check("add.noftz.f16", 16, f16, [=](uint64_t o, uint64_t b, uint64_t) { return sumF16(o, b); });
  const std::vector<uint64_t> bf16 = {0,      0x8000, 1,      0x8001, 0x007F, 0x0080, 0x3F80,
                                      0xBF81, 0x3B80, 0x7F7F, 0x7F80, 0xFF80, 0x7FC1};
  const auto sumBF16 = [](uint64_t x, uint64_t y) -> uint64_t {
    const double r = double(bf16ToF32(uint16_t(x))) + double(bf16ToF32(uint16_t(y)));
    return std::isnan(r) ? 0x7FFF : f32ToBF16(f64ToF32Odd(r));
  };
  check("add.noftz.bf16", 16, bf16, [=](uint64_t o, uint64_t b, uint64_t) { return sumBF16(o, b); });
  std::vector<uint64_t> pairs, bfPairs;
  for (size_t i = 0; i < f16.size(); ++i) {
    pairs.push_back(f16[i] << 16 | f16[(i + 5) % f16.size()]);
    bfPairs.push_back(bf16[i] << 16 | bf16[(i + 5) % bf16.size()]);
  }
  check("add.noftz.f16x2", 32, pairs, [=](uint64_t o, uint64_t b, uint64_t) {
    return sumF16(o >> 16, b >> 16) << 16 | sumF16(o & 0xFFFF, b & 0xFFFF);
  });
  check("add.noftz.bf16x2", 32, bfPairs, [=](uint64_t o, uint64_t b, uint64_t) {
    return sumBF16(o >> 16, b >> 16) << 16 | sumBF16(o & 0xFFFF, b & 0xFFFF);
  });
}

BOOST_AUTO_TEST_CASE(lanes_at_one_address_come_one_by_one) {
  std::vector<uint32_t> counter(1, 5), old(32);
  SimRun run(ptxKernel(2, "mov.u32 %r1, %tid.x;\natom.add.u32 %r2, [%rd0], 3;\nmul.wide.u32 %rd5, %r1, 4;\n"
                          "add.u64 %rd1, %rd1, %rd5;\nst.global.b32 [%rd1], %r2;"));
  run.buffer(counter).buffer(old).launch(1, 32);
  BOOST_TEST(counter[0] == 5u + 96u);
  for (uint32_t i = 0; i < 32; ++i) BOOST_TEST(old[i] == 5 + 3 * i);
}

BOOST_AUTO_TEST_CASE(lanes_that_are_off_change_nothing) {
  std::vector<uint32_t> counter(1), unused(1);
  SimRun run(ptxKernel(1, "mov.u32 %r1, %tid.x;\nsetp.lt.u32 %p1, %r1, 10;\nmov.b32 %r2, 77;\n"
                          "@%p1 atom.global.add.u32 %r2, [%rd0], 1;\n@!%p1 red.global.add.u32 [%rd0], 100;"));
  run.buffer(counter).launch(1, 32);
  BOOST_TEST(counter[0] == 10u + 2200u);
}

BOOST_AUTO_TEST_CASE(many_ctas_lose_no_update) {
  std::vector<uint64_t> sums(4);
  std::vector<float> real(1);
  std::vector<uint32_t> halves(1);
  SimRun run(
      ptxKernel(3, "red.relaxed.gpu.global.add.u64 [%rd0], 1;\nred.global.add.u32 [%rd0+8], 1;\n"
                   "atom.global.max.u64 %rd9, [%rd0+16], %rd1;\nred.global.xor.b32 [%rd0+24], 1;\n"
                   "red.global.add.f32 [%rd1], 0f3F800000;\nmov.b32 %r1, 0x3C003C00;\n"
                   "mov.u32 %r2, %ctaid.x;\nsetp.lt.u32 %p1, %r2, 8;\n@%p1 red.global.add.noftz.f16x2 [%rd2], %r1;"));
  run.params.threads = 4;
  const Result r = run.buffer(sums).buffer(real).buffer(halves).launch(500, 128);
  BOOST_TEST(!r.trap, r.trap.message);
  BOOST_TEST(sums[0] == 64000u);
  BOOST_TEST(sums[1] == 64000u);
  BOOST_TEST(sums[2] == uint64_t(uintptr_t(real.data())));
  BOOST_TEST(sums[3] == 0u);
  BOOST_TEST(real[0] == 64000.f);
  BOOST_TEST(halves[0] == uint32_t(f32ToF16(1024)) * 0x10001u);
}

BOOST_AUTO_TEST_CASE(vectors_return_and_add_element_by_element) {
  SimRun run(ptxKernel(2, "mov.f32 %f1, 0f3F800000;\nmov.f32 %f2, 0f40000000;\n"
                          "atom.global.add.v4.f32 {%f1, %f2, %f3, %f4}, [%rd0], {%f2, %f1, %f1, %f2};\n"
                          "st.global.v4.f32 [%rd1], {%f1, %f2, %f3, %f4};"));
  alignas(16) float aligned[4] = {1, 2, 3, 4}, results[4];
  run.buffer(aligned, 4).buffer(results, 4);
  const Result r = run.launch(1, 1);
  BOOST_TEST(!r.trap, r.trap.message);
  for (int i = 0; i < 4; ++i) BOOST_TEST(results[i] == float(i + 1));
  BOOST_TEST(aligned[0] == 3);
  BOOST_TEST(aligned[1] == 3);
  BOOST_TEST(aligned[2] == 4);
  BOOST_TEST(aligned[3] == 6);
}

BOOST_AUTO_TEST_CASE(vectors_of_halves_have_min_and_max) {
  alignas(16) uint16_t cells[8] = {0x3C00, 0x7E00, 0x8000, 0xBC00, 0x3C00, 0x7E00, 0x8000, 0xBC00};
  SimRun run(ptxKernel(1, "mov.b16 %h1, 0x4000;\nmov.b16 %h2, 0x0000;\nmov.b16 %h3, 0x7E00;\n"
                          "red.global.v4.f16.min.noftz [%rd0], {%h1, %h1, %h2, %h3};\n"
                          "red.global.v4.f16.max.noftz [%rd0+8], {%h1, %h1, %h2, %h3};"));
  run.buffer(cells, 8);
  const Result r = run.launch(1, 1);
  BOOST_TEST(!r.trap, r.trap.message);
  const uint16_t want[8] = {0x3C00, 0x4000, 0x8000, 0xBC00, 0x4000, 0x4000, 0x0000, 0xBC00};
  for (int i = 0; i < 8; ++i) BOOST_TEST(cells[i] == want[i]);
}

BOOST_AUTO_TEST_CASE(swaps_of_128_bits) {
  alignas(16) uint64_t cell[2] = {1, 2}, old[4] = {};
  SimRun run(ptxKernel(2, "mov.b64 %rd5, 1;\nmov.b64 %rd6, 2;\nmov.b64 %rd7, 30;\nmov.b64 %rd8, 40;\n"
                          "mov.b128 %q1, {%rd5, %rd6};\nmov.b128 %q2, {%rd7, %rd8};\n"
                          "atom.global.cas.b128 %q3, [%rd0], %q1, %q2;\natom.global.exch.b128 %q4, [%rd0], %q1;\n"
                          "mov.b128 {%rd10, %rd11}, %q3;\nmov.b128 {%rd12, %rd13}, %q4;\n"
                          "st.global.v2.b64 [%rd1], {%rd10, %rd11};\nst.global.v2.b64 [%rd1+16], {%rd12, %rd13};\n"
                          "atom.global.cas.b128 %q3, [%rd0], %q2, %q2;"));
  run.buffer(cell, 2).buffer(old, 4);
  const Result r = run.launch(1, 1);
  BOOST_TEST(!r.trap, r.trap.message);
  BOOST_TEST(old[0] == 1u);
  BOOST_TEST(old[1] == 2u);
  BOOST_TEST(old[2] == 30u);
  BOOST_TEST(old[3] == 40u);
  BOOST_TEST(cell[0] == 1u);
  BOOST_TEST(cell[1] == 2u);
}

BOOST_AUTO_TEST_CASE(orderings_scopes_and_policies_are_taken) {
  std::vector<uint32_t> cell(1);
  SimRun run(
      ptxKernel(1, "mov.b64 %rd5, 0;\natom.acquire.cta.global.add.u32 %r1, [%rd0], 1;\n"
                   "atom.release.cluster.global.add.u32 %r1, [%rd0], 1;\n"
                   "atom.global.gpu.acq_rel.add.u32 %r1, [%rd0], 1;\natom.relaxed.sys.global.add.u32 _, [%rd0], 1;\n"
                   "red.global.release.sys.add.L2::cache_hint.u32 [%rd0], 1, %rd5;"));
  const Result r = run.buffer(cell).launch(1, 1);
  BOOST_TEST(!r.trap, r.trap.message);
  BOOST_TEST(cell[0] == 5u);
}

BOOST_AUTO_TEST_CASE(outside_of_buffers_and_misaligned_are_traps) {
  std::vector<uint32_t> cell(4);
  BOOST_TEST((SimRun(ptxKernel(1, "red.global.add.u32 [%rd0+16], 1;")).buffer(cell).launch(1, 1).trap.kind ==
              TrapKind::OutOfBounds));
  BOOST_TEST((SimRun(ptxKernel(1, "red.global.add.u32 [%rd0+2], 1;")).buffer(cell).launch(1, 1).trap.kind ==
              TrapKind::Misaligned));
  BOOST_TEST((SimRun(ptxKernel(1, "red.global.add.u32 [%rd0], 1;")).buffer(cell, true).launch(1, 1).trap.kind ==
              TrapKind::ReadOnly));
}

BOOST_AUTO_TEST_CASE(what_is_not_there_is_an_error) {
  const auto error = [](const std::string& instruction) { return SimRun::loadError(ptxKernel(1, instruction)); };
  BOOST_TEST(error("atom.global.add.s64 %rd1, [%rd0], %rd2;").find("no .add of .s64") != std::string::npos);
  BOOST_TEST(error("atom.global.add.f16 %h1, [%rd0], %h2;").find("wants .noftz") != std::string::npos);
  BOOST_TEST(error("atom.global.add.noftz.f32 %f1, [%rd0], %f2;").find("has no .noftz") != std::string::npos);
  BOOST_TEST(error("atom.global.min.noftz.f16 %h1, [%rd0], %h2;").find("wants a vector") != std::string::npos);
  BOOST_TEST(error("red.global.exch.b32 [%rd0], %r2;").find("no .exch of .b32") != std::string::npos);
  BOOST_TEST(error("atom.global.mul.u32 %r1, [%rd0], %r2;").find("wants one of .and") != std::string::npos);
  BOOST_TEST(error("atom.global.add.v2.u32 {%r1, %r2}, [%rd0], {%r2, %r3};").find("no such vector") !=
             std::string::npos);
  BOOST_TEST(error("atom.global.add.v2.f32 %f1, [%rd0], {%f2, %f3};").find("vector of 2 registers") !=
             std::string::npos);
  BOOST_TEST(error("atom.shared.add.v2.f32 {%f1, %f4}, [%rd0], {%f2, %f3};").find("in global memory") !=
             std::string::npos);
  BOOST_TEST(error("red.acquire.gpu.global.add.u32 [%rd0], %r2;").find("acquire") != std::string::npos);
  BOOST_TEST(error("red.async.relaxed.cluster.global.add.u32 [%rd0], %r2;").find("async") != std::string::npos);
}
