// tcgen05: products of each kind, their layouts in shared and in tensor memory, copies, transfers of registers, and what is refused.
#define BOOST_TEST_MODULE sim_tcgen05
#include "runtime/FloatFormats.h"
#include "tests/sim/Tcgen05Kernel.h"
#include <boost/test/unit_test.hpp>
#include <random>

using namespace tiletwin;
using namespace tiletwin::sim;

namespace {

/// A small integer as an element of a type.
uint32_t codeOf(const std::string& type, int value) {
  const auto number = float(value);
  if (type == "f16") return f32ToF16(number);
  if (type == "bf16") return f32ToBF16(number);
  if (type == "tf32" || type == "f32") return std::bit_cast<uint32_t>(number);
  if (type == "e4m3") return encodeSmallFloat(kF8E4M3FN, number);
  if (type == "e5m2") return encodeSmallFloat(kF8E5M2, number);
  return uint32_t(value) & (type == "s32" ? 0xFFFFFFFFu : 0xFFu);
}

/// Where elements lie in shared memory: the canonical layouts in units of 16 bytes.
struct Placement {
  uint32_t start, swizzle = 128; ///< bytes: 0, 32, 64, 128
  bool across = false;
  uint32_t leading = 0, stride = 1024;

  uint64_t descriptor() const {
    const uint64_t mode = swizzle == 128 ? 2 : swizzle == 64 ? 4 : swizzle == 32 ? 6 : 0;
    return start >> 4 | uint64_t(leading >> 4) << 16 | uint64_t(stride >> 4) << 32 | uint64_t(1) << 46 | mode << 61;
  }
  uint32_t offset(uint32_t line, uint32_t k, uint32_t bytes) const {
    const uint32_t along = across ? line * bytes : k * bytes, other = across ? k : line, unit = along / 16;
    uint32_t at = start + along % 16;
    if (!swizzle) // eight rows of 16 bytes side by side
      return at + other % 8 * 16 + (across ? unit * stride + other / 8 * leading : unit * leading + other / 8 * stride);
    const uint32_t perRow = swizzle / 16;
    at += other % 8 * swizzle + other / 8 * stride + unit % perRow * 16 + unit / perRow * leading;
    return at ^ (at / 128 % 8 % perRow) << 4;
  }
};

struct Case {
  const char* name;
  std::string kind, a, b, d;
  int m = 128, n = 64, ctas = 1;
  Placement placeA{0}, placeB{32768};
  bool aInTensor = false, adds = true, negatesA = false;
  int scale = 0;
  std::vector<uint32_t> disabled = {};

  uint32_t bytes() const { return kind == "f16" ? 2 : kind == "tf32" ? 4 : 1; }
  int k() const { return 32 / int(bytes()); }
  uint32_t descriptor() const {
    const auto typeOf = [](const std::string& t) -> uint32_t {
      return t == "tf32" ? 2 : t == "bf16" || t == "e5m2" || t == "s8" ? 1 : 0;
    };
    return (d == "f32"   ? 1u
            : d == "s32" ? 2u
                         : 0u)
               << 4 |
           typeOf(a) << 7 | typeOf(b) << 10 | uint32_t(negatesA) << 13 | uint32_t(placeA.across) << 15 |
           uint32_t(placeB.across) << 16 | uint32_t(n / 8) << 17 | uint32_t(m / 16) << 24;
  }
  /// CTA, lane and column of an element of D.
  std::array<int, 3> place(int row, int column) const {
    if (ctas == 1) return m == 128 ? std::array{0, row, column} : std::array{0, row / 16 * 32 + row % 16, column};
    if (m == 256) return {row / 128, row % 128, column};
    return {row / 64, row % 64 + column / (n / 2) * 64, column % (n / 2)};
  }
};

void check(const Case& c) {
  BOOST_TEST_CONTEXT(c.name) {
    std::mt19937 random(7);
    const auto draw = [&](const std::string& type) { return int(random() % 7) - (type == "u8" ? 0 : 3); };
    std::vector<int> a(size_t(c.m * c.k())), b(size_t(c.n * c.k())), sum(size_t(c.m * c.n));
    for (int& x : a) x = draw(c.a);
    for (int& x : b) x = draw(c.b);
    for (int& x : sum) x = draw("f32") * 4;
    Tcgen05Kernel kernel;
    kernel.ctas = c.ctas;
    const auto put = [&](const Placement& place, int cta, int line, int k, uint32_t code) {
      std::memcpy(kernel.image(cta) + place.offset(uint32_t(line), uint32_t(k), c.bytes()), &code, c.bytes());
    };
    for (int i = 0; i < c.m; ++i)
      for (int k = 0; k < c.k(); ++k) {
        const uint32_t code = codeOf(c.a, a[size_t(i * c.k() + k)]);
        const int cta = i / (c.m / c.ctas);
        if (!c.aInTensor)
          put(c.placeA, cta, i % (c.m / c.ctas), k, code);
        else
          kernel.cell(cta, c.place(i, 0)[1], 256 + k * int(c.bytes()) / 4) |= code << k * int(c.bytes()) % 4 * 8;
      }
    for (int j = 0; j < c.n; ++j)
      for (int k = 0; k < c.k(); ++k)
        put(c.placeB, j / (c.n / c.ctas), j % (c.n / c.ctas), k, codeOf(c.b, b[size_t(j * c.k() + k)]));
    for (int i = 0; i < c.m; ++i)
      for (int j = 0; j < c.n; ++j) {
        const auto [cta, lane, column] = c.place(i, j);
        kernel.cell(cta, lane, column) = codeOf(c.d, sum[size_t(i * c.n + j)]);
      }
    std::string extra;
    if (!c.disabled.empty()) {
      for (const uint32_t mask : c.disabled)
        extra += (extra.empty() ? "{" : ", ") + std::string("%r5") + std::to_string(mask);
      extra += "}, ";
    }
    const std::string group = std::to_string(c.ctas);
    kernel.work = "tcgen05.mma.cta_group::" + group + ".kind::" + c.kind + " [%r10], " +
                  (c.aInTensor ? "[%r10 + 256]" : "%rd3") + ", %rd4, %r11, " + extra + (c.adds ? "%p1" : "!%p1") +
                  (c.scale ? ", " + std::to_string(c.scale) : "") + ";\n";
    kernel.run(c.placeA.descriptor(), c.placeB.descriptor(), c.descriptor());
    int wrong = 0;
    for (int i = 0; i < c.m; ++i)
      for (int j = 0; j < c.n; ++j) {
        double want = c.adds ? sum[size_t(i * c.n + j)] / double(1 << c.scale) : 0;
        for (int k = 0; k < c.k(); ++k)
          want += (c.negatesA ? -1 : 1) * a[size_t(i * c.k() + k)] * b[size_t(j * c.k() + k)];
        const auto [cta, lane, column] = c.place(i, j);
        const bool isDisabled = !c.disabled.empty() && c.disabled[size_t(lane / 32)] == 1;
        if (isDisabled) want = sum[size_t(i * c.n + j)];
        wrong += kernel.after(cta, lane, column) != codeOf(c.d, int(want));
      }
    BOOST_TEST(wrong == 0);
  }
}

} // namespace

BOOST_AUTO_TEST_CASE(kinds_and_types) {
  check({"f16", "f16", "f16", "f16", "f32"});
  check({"bf16", "f16", "bf16", "bf16", "f32"});
  check({"f16 in f16", "f16", "f16", "f16", "f16"});
  check({"tf32", "tf32", "tf32", "tf32", "f32"});
  check({"e4m3", "f8f6f4", "e4m3", "e4m3", "f32"});
  check({"e5m2 with e4m3", "f8f6f4", "e5m2", "e4m3", "f32"});
  check({"e4m3 in f16", "f8f6f4", "e4m3", "e5m2", "f16"});
  check({"s8", "i8", "s8", "s8", "s32"});
  check({"u8 with s8", "i8", "u8", "s8", "s32"});
}

BOOST_AUTO_TEST_CASE(shapes) {
  check({"m64", "f16", "f16", "f16", "f32", 64, 8});
  check({"m64, n256", "tf32", "tf32", "tf32", "f32", 64, 256, 1, {0}, {16384}});
  check({"n16", "f16", "f16", "f16", "f32", 128, 16});
  check({"n208", "f16", "bf16", "bf16", "f32", 128, 208, 1, {0}, {16384}});
  check({"m256 of two CTAs", "f16", "f16", "f16", "f32", 256, 128, 2});
  check({"m128 of two CTAs", "f16", "f16", "f16", "f32", 128, 64, 2});
  check({"fp8 of two CTAs", "f8f6f4", "e4m3", "e4m3", "f32", 256, 32, 2});
}

BOOST_AUTO_TEST_CASE(layouts_of_shared_memory) {
  const auto laidOut = [](const char* name, Case c, Placement a, Placement b) {
    c.name = name, c.placeA = a, c.placeB = b, c.n = 128;
    b.start = c.placeB.start = 32768;
    check(c);
  };
  const Case halves{"", "f16", "bf16", "bf16", "f32"}, bytes{"", "i8", "s8", "s8", "s32"};
  for (const uint32_t swizzle : {32u, 64u, 128u}) {
    const Placement along{0, swizzle, false, 0, 8 * swizzle}, across{0, swizzle, true, 32 * swizzle, 8 * swizzle};
    laidOut("along k", halves, along, along);
    laidOut("across", halves, across, across);
    laidOut("bytes across", bytes, across, across);
    laidOut("A across, B along k", bytes, across, along);
  }
  laidOut("along k, no swizzle", halves, {0, 0, false, 2048, 128}, {0, 0, false, 128, 256});
  laidOut("across, no swizzle", halves, {0, 0, true, 128, 256}, {0, 0, true, 2048, 128});
}

BOOST_AUTO_TEST_CASE(operands_of_an_instruction) {
  Case c{"A in tensor memory", "f16", "f16", "f16", "f32"};
  c.aInTensor = true;
  check(c);
  c.m = 64;
  check(c);
  c = {"A of bytes in tensor memory", "i8", "s8", "s8", "s32"};
  c.aInTensor = true;
  check(c);
  c = {"D is not added", "f16", "f16", "f16", "f32"};
  c.adds = false;
  check(c);
  c = {"A is negated", "tf32", "tf32", "tf32", "f32"};
  c.negatesA = true;
  check(c);
  c = {"D is scaled", "f16", "f16", "f16", "f32"};
  c.scale = 2;
  check(c);
  c = {"lanes are left out", "f16", "f16", "f16", "f32"};
  c.disabled = {0, 1, 0, 1};
  check(c);
}

BOOST_AUTO_TEST_CASE(copies_from_shared_memory) {
  struct Shape {
    const char* words;
    int rows, units;
    std::vector<int> (*lanes)(int row);
  };
  const Shape shapes[] = {{"128x256b", 128, 2, [](int r) { return std::vector{r}; }},
                          {"128x128b", 128, 1, [](int r) { return std::vector{r}; }},
                          {"4x256b", 4, 2, [](int r) { return std::vector{32 * r}; }},
                          {"64x128b.warpx2::02_13", 64, 1, [](int r) { return std::vector{r, r + 64}; }},
                          {"64x128b.warpx2::01_23", 64, 1,
                           [](int r) { return std::vector{r / 32 * 64 + r % 32, r / 32 * 64 + r % 32 + 32}; }},
                          {"32x128b.warpx4", 32, 1, [](int r) { return std::vector{r, r + 32, r + 64, r + 96}; }}};
  for (const Shape& shape : shapes) BOOST_TEST_CONTEXT(shape.words) {
      const Placement place{0, 0, false, 128, 256};
      Tcgen05Kernel kernel;
      for (int cell = 0; cell < 128 * 64; ++cell) kernel.cell(0, cell / 64, cell % 64) = 0xABCDu;
      for (uint32_t at = 0; at < Tcgen05Kernel::kImageBytes; at += 4) std::memcpy(kernel.image(0) + at, &at, 4);
      kernel.work = std::string("tcgen05.cp.cta_group::1.") + shape.words + " [%r10 + 8], %rd3;\n";
      kernel.run(place.descriptor(), 0, 0);
      std::vector<uint32_t> want(128 * 64, 0xABCDu);
      for (int row = 0; row < shape.rows; ++row)
        for (const int lane : shape.lanes(row))
          for (int word = 0; word < 4 * shape.units; ++word)
            want[size_t(lane * 64 + 8 + word)] = place.offset(uint32_t(row), uint32_t(word), 4);
      int wrong = 0;
      for (int cell = 0; cell < 128 * 64; ++cell) wrong += kernel.after(0, cell / 64, cell % 64) != want[size_t(cell)];
      BOOST_TEST(wrong == 0);
    }
}

BOOST_AUTO_TEST_CASE(what_descriptors_must_not_say) {
  const Case good{"", "f16", "f16", "f16", "f32"};
  const uint64_t a = good.placeA.descriptor(), b = good.placeB.descriptor();
  const auto trapOf = [&](uint64_t da, uint64_t db, uint32_t idesc) {
    Tcgen05Kernel kernel;
    kernel.work = "tcgen05.mma.cta_group::1.kind::f16 [%r10], %rd3, %rd4, %r11, %p1;\n";
    return kernel.trap(da, db, idesc);
  };
  const auto has = [](const std::string& text, const std::string& words) {
    BOOST_TEST(text.find(words) != std::string::npos, text << " lacks " << words);
  };
  const uint32_t idesc = good.descriptor();
  has(trapOf(a, b, idesc | 4), "says that A is sparse");
  has(trapOf(a, b, (idesc & ~(31u << 24)) | 2u << 24), "says M = 32; .cta_group::1 has 64 and 128");
  has(trapOf(a, b, (idesc & ~(63u << 17)) | 1u << 17), "says N = 8; for M = 128 it is to be a multiple of 16");
  has(trapOf(a, b, idesc | 2u << 7), "types 2 and 0 for A and B, which the kind does not have");
  has(trapOf(a, b, idesc | 8), "saturates floats");
  has(trapOf(a & ~(uint64_t(7) << 46), b, idesc), "where sm_100 wants 1: is it one of wgmma?");
  has(trapOf(a, (b & ~(uint64_t(7) << 61)) | uint64_t(1) << 61, idesc), "atoms of 32, which is not implemented");
  has(trapOf(a, (b & ~(uint64_t(7) << 61)) | uint64_t(3) << 61, idesc), "has swizzle 3, which there is not");
  has(trapOf(a | 0x3FFF, b, idesc), "shared memory");
}
