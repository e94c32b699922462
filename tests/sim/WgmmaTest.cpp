// wgmma in its types, widths, layouts of shared memory and swizzles, and when its results appear.
#define BOOST_TEST_MODULE sim_wgmma
#include "sim/isa/Wgmma.h"
#include "tests/sim/TensorProducts.h"
#include <sstream>

using namespace tiletwin;
using namespace tiletwin::sim;

namespace {

constexpr uint32_t kImageBytes = 49152, kStartOfB = 8192;

/// A matrix in shared memory: lines are rows of A or columns of B; across: lines, not k, are neighbours.
struct Placement {
  uint32_t start, leading, stride, swizzle = 0; ///< swizzle: 0, 32, 64, 128 bytes
  bool across = false;

  uint64_t descriptor() const {
    const uint64_t mode = swizzle == 128 ? 1 : swizzle == 64 ? 2 : swizzle == 32 ? 3 : 0;
    return start >> 4 | uint64_t(leading >> 4) << 16 | uint64_t(stride >> 4) << 32 | mode << 62;
  }
  /// The byte of an element that begins at byte kByte of its line (along k), or of element k of a line (across, 16 bits).
  uint32_t offset(uint32_t line, uint32_t kByte) const {
    uint32_t at = start;
    if (!across && !swizzle) {
      at += line / 8 * stride + kByte / 16 * leading + line % 8 * 16 + kByte % 16;
    } else if (!across) {
      at += line / 8 * stride + line % 8 * swizzle + kByte;
    } else {
      const uint32_t k = kByte / 2, unit = line / 8, perRow = swizzle / 16;
      at += swizzle ? unit % perRow * 16 + unit / perRow * leading + k % 8 * swizzle + k / 8 * stride
                    : unit * stride + k / 8 * leading + k % 8 * 16;
      at += line % 8 * 2;
    }
    if (!swizzle) return at;
    const uint32_t chunks = swizzle / 16, chunk = at / 16 % chunks;
    return at - chunk * 16 + (chunk ^ (at / 128 % chunks)) * 16;
  }
  void write(std::vector<std::byte>& image, Matrix& matrix, bool byColumn) const {
    const int bits = matrix.type.bits, lines = byColumn ? matrix.columns : matrix.rows,
              places = byColumn ? matrix.rows : matrix.columns;
    for (int line = 0; line < lines; ++line)
      for (int k = 0; k < places; ++k) {
        const uint64_t code = byColumn ? matrix.at(k, line) : matrix.at(line, k);
        const uint32_t at = offset(uint32_t(line), uint32_t(k * bits / 8));
        for (int i = 0; i < std::max(1, bits / 8); ++i)
          image[at + uint32_t(i)] |= std::byte(code << k * bits % 8 >> 8 * i);
      }
  }
};

struct Wgmma {
  std::string words; ///< after ".aligned."
  std::string a, b, d;
  int n, k;
  bool aInRegisters = false;
  Placement placeA{0, 128, 256}, placeB{kStartOfB, 128, 256};
  std::string scaleD = "1";
  int scaleA = 1, scaleB = 1;
  bool saturate = false;
};

int registersOfD(const Wgmma& w) { return w.n / (w.d == "f16" ? 4 : 2); }

/// Shared memory from p0, A's registers from p1, D from p2 and to p3; `middle` stands behind the product.
std::string
kernelText(const Wgmma& w,
           const std::string& middle = "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n") {
  const int nd = registersOfD(w);
  std::ostringstream text;
  text << ptxHeader()
       << ".visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3, .param .u64 da, .param "
          ".u64 db)\n"
       << "{\n.reg .b32 %r<200>;\n.reg .b64 %rd<16>;\n.reg .pred %p<4>;\n.shared .align 1024 .b8 image[" << kImageBytes
       << "];\n"
       << "mov.u32 %r180, %tid.x;\nmov.u32 %r181, image;\n";
  for (int i = 0; i < 4; ++i)
    text << "ld.param.u64 %rd" << i << ", [p" << i << "];\nmad.wide.u32 %rd" << i << ", %r180, 4, %rd" << i << ";\n";
  text
      << "ld.param.u64 %rd4, [da];\nld.param.u64 %rd5, [db];\nshr.u32 %r182, %r181, 4;\ncvt.u64.u32 %rd6, %r182;\n"
      << "add.u64 %rd4, %rd4, %rd6;\nadd.u64 %rd5, %rd5, %rd6;\nmad.lo.u32 %r183, %r180, 4, %r181;\nmov.u32 %r184, 0;\n"
      << "FILL:\nld.global.b32 %r185, [%rd0];\nst.shared.b32 [%r183], %r185;\nadd.u64 %rd0, %rd0, 512;\nadd.u32 %r183, "
         "%r183, 512;\n"
      << "add.u32 %r184, %r184, 1;\nsetp.lt.u32 %p0, %r184, " << kImageBytes / 512 << ";\n@%p0 bra FILL;\n";
  for (int i = 0; i < nd; ++i) text << "ld.global.b32 %r" << i << ", [%rd2+" << 512 * i << "];\n";
  for (int i = 0; i < 4; ++i) text << "ld.global.b32 %r" << 190 + i << ", [%rd1+" << 512 * i << "];\n";
  text << "fence.proxy.async;\nbar.sync 0;\nsetp.eq.u32 %p1, 0, 0;\nsetp.ne.u32 %p2, 0, 0;\nwgmma.fence.sync.aligned;\n"
       << "wgmma.mma_async.sync.aligned." << w.words << " " << registers("%r", 0, nd) << ", "
       << (w.aInRegisters ? registers("%r", 190, 4) : std::string("%rd4")) << ", %rd5, " << w.scaleD;
  if (elementType(w.a).isFloat()) text << ", " << w.scaleA << ", " << w.scaleB;
  if (w.a == "f16" || w.a == "bf16")
    text << (w.aInRegisters ? "" : w.placeA.across ? ", 1" : ", 0") << (w.placeB.across ? ", 1" : ", 0");
  text << ";\n" << middle;
  for (int i = 0; i < nd; ++i) text << "st.global.b32 [%rd3+" << 512 * i << "], %r" << i << ";\n";
  text << "ret;\n}\n";
  return text.str();
}

float expectedFloat(const Wgmma& w, Matrix& a, Matrix& b, float c, int i, int j) {
  std::vector<float> x = lineOf(a, true, i, 0, w.k), y = lineOf(b, false, j, 0, w.k);
  for (float& v : x) v *= float(w.scaleA * w.scaleB);
  return referenceDot(x, y, c, ruleOf(a.type, b.type, w.d == "f16", a.type.bits == 8));
}

uint32_t expectedCode(const Wgmma& w, Matrix& a, Matrix& b, Matrix& c, int i, int j) {
  const bool adds = w.scaleD == "1" || w.scaleD == "%p1" || w.scaleD == "!%p2";
  if (a.type.isFloat()) {
    const float sum = canonical(expectedFloat(w, a, b, adds ? float(c.value(i, j)) : 0.0f, i, j));
    return w.d != "f16" ? std::bit_cast<uint32_t>(sum) : sum == sum ? encodeSmallFloat(kF16, sum) : 0x7FFFu;
  }
  int64_t sum = adds ? int64_t(c.value(i, j)) : 0;
  for (int k = 0; k < w.k; ++k) sum += int64_t(a.value(i, k)) * int64_t(b.value(k, j));
  return uint32_t(w.saturate ? std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX) : sum);
}

/// Row and column of element i of a thread's part of D.
std::pair<int, int> placeOfD(int thread, int i) {
  return {thread / 32 * 16 + thread % 32 / 4 + 8 * (i / 2 % 2), i / 4 * 8 + thread % 4 * 2 + i % 2};
}

struct Operands {
  Matrix a, b, c;
  std::vector<std::byte> image = std::vector<std::byte>(kImageBytes);
  std::vector<uint32_t> registersA = std::vector<uint32_t>(512), before, after;

  Operands(const Wgmma& w, uint64_t seed) : a(w.a, 64, w.k), b(w.b, w.k, w.n), c(w.d, 64, w.n) {
    std::mt19937_64 random(seed);
    for (Matrix* matrix : {&a, &b, &c}) matrix->fill(random);
    if (!w.aInRegisters) w.placeA.write(image, a, false);
    w.placeB.write(image, b, true);
    const int bits = a.type.bits, each = 32 / bits;
    for (int thread = 0; w.aInRegisters && thread < 128; ++thread)
      for (int i = 0; i < 4 * each; ++i) {
        const int row = thread / 32 * 16 + thread % 32 / 4 + 8 * (i / each % 2),
                  k = thread % 4 * each + i % each + i / each / 2 * 4 * each;
        registersA[size_t(i / each * 128 + thread)] |= uint32_t(a.at(row, k)) << i % each * bits;
      }
    before.resize(size_t(registersOfD(w)) * 128), after.resize(before.size());
    const int perRegister = w.d == "f16" ? 2 : 1;
    for (int thread = 0; thread < 128; ++thread)
      for (int i = 0; i < w.n / 2; ++i) {
        const auto [row, column] = placeOfD(thread, i);
        before[size_t(i / perRegister * 128 + thread)] |= uint32_t(c.at(row, column)) << i % perRegister * 16;
      }
  }

  Result run(const Wgmma& w, const std::string& text) {
    SimRun sim(text);
    sim.buffer(image).buffer(registersA).buffer(before).buffer(after);
    sim.scalar(w.placeA.descriptor()).scalar(w.placeB.descriptor());
    return sim.launch(1, 128);
  }
  uint32_t result(const Wgmma& w, int thread, int i) const {
    return w.d == "f16" ? after[size_t(i / 2 * 128 + thread)] >> i % 2 * 16 & 0xFFFF : after[size_t(i * 128 + thread)];
  }
};

void check(const Wgmma& w, uint64_t seed = 1) {
  Operands o(w, seed);
  const Result result = o.run(w, kernelText(w));
  BOOST_REQUIRE_MESSAGE(!result.trap, w.words << ": " << result.trap.message);
  for (int thread = 0; thread < 128; ++thread)
    for (int i = 0; i < w.n / 2; ++i) {
      const auto [row, column] = placeOfD(thread, i);
      const uint32_t expected = expectedCode(w, o.a, o.b, o.c, row, column);
      if (o.result(w, thread, i) == expected) continue;
      BOOST_ERROR(w.words << ", swizzles " << w.placeA.swizzle << " " << w.placeB.swizzle << ": [" << row << "]["
                          << column << "] is " << std::hex << o.result(w, thread, i) << ", expected " << expected);
      return;
    }
}

/// A matrix of `lines` lines as kernels lay them out for a swizzle.
Placement placement(uint32_t start, uint32_t swizzle, bool across) {
  if (!swizzle) return across ? Placement{start, 128, 256, 0, true} : Placement{start, 128, 256, 0, false};
  // Across: 16 rows of k, each of `swizzle` bytes, then the next lines.
  return across ? Placement{start, 16 * swizzle, 8 * swizzle, swizzle, true}
                : Placement{start, 16, 8 * swizzle, swizzle, false};
}

Wgmma f16Product(int n) { return {"m64n" + std::to_string(n) + "k16.f32.f16.f16", "f16", "f16", "f32", n, 16}; }

} // namespace

BOOST_AUTO_TEST_CASE(types) {
  for (const int n : {8, 64}) {
    const std::string shape = "m64n" + std::to_string(n) + "k";
    for (const bool aInRegisters : {false, true}) {
      for (const std::string d : {"f32", "f16"})
        check({shape + "16." + d + ".f16.f16", "f16", "f16", d, n, 16, aInRegisters});
      check({shape + "16.f32.bf16.bf16", "bf16", "bf16", "f32", n, 16, aInRegisters});
      check({shape + "8.f32.tf32.tf32", "tf32", "tf32", "f32", n, 8, aInRegisters});
      for (const std::string a : {"e4m3", "e5m2"})
        for (const std::string b : {"e4m3", "e5m2"})
          for (const std::string d : {"f32", "f16"})
            check({shape + "32." + d + "." + a + "." + b, a, b, d, n, 32, aInRegisters});
      for (const std::string a : {"s8", "u8"})
        for (const std::string b : {"s8", "u8"})
          for (const bool saturate : {false, true}) {
            Wgmma w{shape + "32" + (saturate ? ".satfinite" : "") + ".s32." + a + "." + b,
                    a,
                    b,
                    "s32",
                    n,
                    32,
                    aInRegisters};
            w.saturate = saturate;
            check(w);
          }
      check({shape + "256.s32.b1.b1.and.popc", "b1", "b1", "s32", n, 256, aInRegisters});
    }
  }
}

BOOST_AUTO_TEST_CASE(widths) {
  for (int n = 8; n <= 256; n += 8) check(f16Product(n));
}

BOOST_AUTO_TEST_CASE(layouts) {
  for (const uint32_t swizzle : {0u, 32u, 64u, 128u})
    for (int across = 0; across < 4; ++across) {
      Wgmma w = f16Product(128);
      w.placeA = placement(0, swizzle, across & 1), w.placeB = placement(kStartOfB, swizzle, across & 2);
      check(w);
      w.words = "m64n128k16.f32.bf16.bf16", w.a = w.b = "bf16";
      check(w);
    }
  // The second, third and fourth step along k of rows of 128 bytes begin inside of the pattern.
  for (const uint32_t step : {32u, 64u, 96u}) {
    Wgmma w{"m64n64k32.f32.e4m3.e5m2", "e4m3", "e5m2", "f32", 64, 32};
    w.placeA = placement(step, 128, false), w.placeB = placement(kStartOfB + step, 128, false);
    check(w);
  }
}

BOOST_AUTO_TEST_CASE(scales) {
  for (const char* scaleD : {"0", "1", "%p1", "%p2", "!%p2"})
    for (const int scaleA : {1, -1})
      for (const int scaleB : {1, -1}) {
        Wgmma w = f16Product(16);
        w.scaleD = scaleD, w.scaleA = scaleA, w.scaleB = scaleB;
        check(w);
      }
}

// The base offset moves the pattern: a matrix that begins at row 2 of it.
BOOST_AUTO_TEST_CASE(descriptors) {
  const MatrixDescriptor d =
      decodeDescriptor(uint64_t(2) << 62 | uint64_t(5) << 49 | uint64_t(0x40) << 32 | uint64_t(0x10) << 16 | 0x321);
  BOOST_TEST(d.start == 0x3210u);
  BOOST_TEST(d.leading == 0x100u);
  BOOST_TEST(d.stride == 0x400u);
  BOOST_TEST(int(d.baseOffset) == 5);
  BOOST_TEST(int(d.swizzleBytes) == 64);
  const MatrixDescriptor moved{256, 16, 1024, 2, 128};
  BOOST_TEST(unitAlongK(moved, 0, 1) == 256u + 16); // the pattern's first row: nothing is exchanged
  BOOST_TEST(unitAlongK(moved, 1, 0) == 256u + 128 + 16);
}

// Until the group is waited for, accumulators hold what they held, and shared memory may still change what comes out.
BOOST_AUTO_TEST_CASE(lands_late) {
  const Wgmma w = f16Product(8);
  const std::string commit = "wgmma.commit_group.sync.aligned;\n", wait = "wgmma.wait_group.sync.aligned 0;\n";
  Operands early(w, 3);
  BOOST_REQUIRE(!early.run(w, kernelText(w, commit)).trap);
  BOOST_TEST(early.after == early.before);

  // Groups that may remain, and products that no group holds, do not land either.
  Operands open(w, 3);
  BOOST_REQUIRE(!open.run(w, kernelText(w, commit + "wgmma.wait_group.sync.aligned 1;\n")).trap);
  BOOST_TEST(open.after == open.before);
  Operands uncommitted(w, 3);
  BOOST_REQUIRE(!uncommitted.run(w, kernelText(w, wait)).trap);
  BOOST_TEST(uncommitted.after == uncommitted.before);
  Operands second(w, 3);
  BOOST_REQUIRE(!second.run(w, kernelText(w, commit + commit + "wgmma.wait_group.sync.aligned 1;\n")).trap);
  BOOST_TEST(second.after != second.before);

  // Zeros over all of A before the wait: D comes out as C, which the sum leaves as it is.
  Operands late(w, 3);
  const std::string clear =
      "mad.lo.u32 %r183, %r180, 4, %r181;\nst.shared.b32 [%r183], 0;\nst.shared.b32 [%r183+512], 0;\n"
      "st.shared.b32 [%r183+1024], 0;\nst.shared.b32 [%r183+1536], 0;\nbar.sync 0;\n";
  BOOST_REQUIRE(!late.run(w, kernelText(w, commit + clear + wait)).trap);
  for (int thread = 0; thread < 128; ++thread)
    for (int i = 0; i < 4; ++i) {
      const auto [row, column] = placeOfD(thread, i);
      const std::vector<float> zeros(16);
      const float c =
          canonical(referenceDot(zeros, lineOf(late.b, false, column, 0, 16), float(late.c.value(row, column)), {}));
      BOOST_REQUIRE_EQUAL(late.result(w, thread, i), std::bit_cast<uint32_t>(c));
    }
}

BOOST_AUTO_TEST_CASE(who_reads_what) {
  WgmmaPlan plan;
  plan.n = 8;
  WarpProducts products;
  Warp warp;
  warp.index = 1; // rows 16 to 31
  WarpProducts::Product& product = products.pending.emplace_back();
  product.plan = &plan;
  product.a = {0, 128, 256, 0, 0}, product.b = {8192, 128, 256, 0, 0};
  product.low = {8192, 512}, product.high = {8192 + 256, 1024};
  BOOST_TEST(products.reader(warp, 512, 4) == &product); // row 16
  BOOST_TEST(products.reader(warp, 0, 512) == nullptr);  // rows 0 to 15 are another warp's
  BOOST_TEST(products.reader(warp, 1024, 4) == nullptr);
  BOOST_TEST(products.reader(warp, 8192 + 255, 1) == &product);
  BOOST_TEST(products.reader(warp, 8192 + 256, 64) == nullptr);
}

BOOST_AUTO_TEST_CASE(misuse) {
  const auto says = [](const Wgmma& w, const std::string& what) {
    const std::string message = SimRun::loadError(kernelText(w));
    BOOST_TEST(message.find(what) != std::string::npos, w.words << " gives: " << message);
  };
  says({"m64n12k16.f32.f16.f16", "f16", "f16", "f32", 12, 16}, "no shape .m64n12k16");
  says({"m64n8k8.f32.f16.f16", "f16", "f16", "f32", 8, 16}, "no shape .m64n8k8");
  says({"m64n40k32.s32.s8.s8", "s8", "s8", "s32", 40, 32}, "no shape .m64n40k32");
  says({"m64n8k16.f32.f16.bf16", "f16", "f16", "f32", 8, 16}, "no product of .f16 and .bf16");
  says({"m64n8k16.f16.bf16.bf16", "bf16", "bf16", "f16", 8, 16}, "does not give .f16");
  says({"m64n8k16.s32.f16.f16", "f16", "f16", "s32", 8, 16}, "does not give .s32");
  says({"m64n8k256.s32.b1.b1", "b1", "b1", "s32", 8, 256}, ".and.popc");
  says({"m64n16k16.f32.f16.f16", "f16", "f16", "f32", 8, 16}, "D of this product has 8 registers");
  Wgmma scaled = f16Product(8);
  scaled.scaleA = 2;
  says(scaled, "imm-scale-a is 1 or -1, got 2");
  const auto sparse = [](const std::string& operands) {
    return SimRun::loadError(ptxKernel(1, "wgmma.mma_async.sp.sync.aligned." + operands));
  };
  BOOST_TEST(sparse("m64n8k16.f32.f16.f16 {%r0,%r1,%r2,%r3}, %rd0, %rd0, %r4, 0, 1, 1, 1, 0, 0;").find("no shape") !=
             std::string::npos);
  BOOST_TEST(sparse("m64n8k32.f32.f16.f16 {%r0,%r1,%r2,%r3}, %rd0, %rd0, %r4, 2, 1, 1, 1, 0, 0;").find("at most 1") !=
             std::string::npos);
  BOOST_TEST(sparse("m64n8k64.s32.s8.s8 {%r0,%r1,%r2,%r3}, %rd0, %rd0, %r4, 1, 1;").find("at most 0") !=
             std::string::npos);

  // Two warps are no warpgroup; a descriptor may lead out of shared memory.
  const Wgmma w = f16Product(8);
  Operands o(w, 1);
  SimRun two(kernelText(w));
  two.buffer(o.image)
      .buffer(o.registersA)
      .buffer(o.before)
      .buffer(o.after)
      .scalar(w.placeA.descriptor())
      .scalar(w.placeB.descriptor());
  const Result few = two.launch(1, 64);
  BOOST_TEST(int(few.trap.kind) == int(TrapKind::InvalidValue));
  Wgmma beyond = w;
  beyond.placeB.start = kImageBytes - 64;
  Operands out(w, 1);
  const Result outside = out.run(beyond, kernelText(beyond));
  BOOST_TEST(int(outside.trap.kind) == int(TrapKind::OutOfBounds));
}
