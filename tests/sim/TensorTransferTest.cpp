// tcgen05.ld and tcgen05.st in all shapes, allocation, and what may not be done with tensor memory.
#define BOOST_TEST_MODULE sim_tensortransfer
#include "tests/sim/CheckedRun.h"

using namespace tiletwin;
using namespace tiletwin::sim;

namespace {

/// Lane and column of the bits of a register, by strides of the thread's and the register's number (CUTLASS's copy atoms have the
/// same in bits): a thread is 16 * t4 + ... + t0, a register ... + 2 * r1 + r0.
struct Shape {
  const char* words;
  int lanes, perCount; ///< registers for .x1
  std::array<std::array<int, 2>, 5> thread;
  std::array<std::array<int, 2>, 8> reg;
  int secondHalf = 0;
};
using Row = std::array<std::array<int, 2>, 8>;
constexpr Row kAlong{{{0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 16}, {0, 32}, {0, 64}, {0, 128}}};
const Shape kShapes[] = {
    {"32x32b", 32, 1, {{{1, 0}, {2, 0}, {4, 0}, {8, 0}, {16, 0}}}, kAlong},
    {"16x64b",
     16,
     1,
     {{{8, 0}, {0, 1}, {1, 0}, {2, 0}, {4, 0}}},
     {{{0, 2}, {0, 4}, {0, 8}, {0, 16}, {0, 32}, {0, 64}, {0, 128}, {}}}},
    {"16x128b",
     16,
     2,
     {{{0, 1}, {0, 2}, {1, 0}, {2, 0}, {4, 0}}},
     {{{8, 0}, {0, 4}, {0, 8}, {0, 16}, {0, 32}, {0, 64}, {0, 128}, {}}}},
    {"16x256b",
     16,
     4,
     {{{0, 2}, {0, 4}, {1, 0}, {2, 0}, {4, 0}}},
     {{{0, 1}, {8, 0}, {0, 8}, {0, 16}, {0, 32}, {0, 64}, {0, 128}, {}}}},
    {"16x32bx2", 16, 1, {{{1, 0}, {2, 0}, {4, 0}, {8, 0}, {0, 0}}}, kAlong, 256},
};

std::array<int, 2> placeOf(const Shape& shape, int thread, int reg, bool packs) {
  int lane = 0, column = 0;
  for (size_t bit = 0; bit < 5; ++bit)
    if (thread >> bit & 1) lane += shape.thread[bit][0], column += shape.thread[bit][1];
  for (size_t bit = 0; bit < 8; ++bit)
    if (reg >> bit & 1) lane += shape.reg[bit][0], column += shape.reg[bit][1];
  if (packs) column *= 2;
  return {lane, column + (thread >= 16 ? shape.secondHalf : 0)};
}

std::string vector(int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i) text += (i ? ", %v" : "%v") + std::to_string(i);
  return text + "}";
}

const std::string kBegin =
    ptxHeader("sm_100a") +
    ".visible .entry k(.param .u64 p0, .param .u64 p1)\n{\n.reg .b32 %r<32>;\n.reg .b32 %v<129>;\n"
    ".reg .b64 %rd<8>;\n.reg .pred %p<4>;\n.shared .align 4 .b32 where;\n"
    "ld.param.u64 %rd0, [p0];\nld.param.u64 %rd1, [p1];\nmov.u32 %r0, %tid.x;\nmov.u32 %r2, where;\n"
    "setp.lt.u32 %p0, %r0, 32;\n"
    "@%p0 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r2], 512;\nbar.sync 0;\n"
    "ld.shared.b32 %r1, [%r2];\nshr.u32 %r3, %r0, 5;\nshl.b32 %r3, %r3, 21;\nadd.u32 %r1, %r1, %r3;\n";
const std::string kEnd = "bar.sync 0;\n@%p0 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 512;\nret;\n}\n";
const char* kStore32 = "tcgen05.wait::st.sync.aligned;\n";

/// Each warp's lanes get their words of p0 (512 a lane); `shape` moves p1's or to p1 (128 a thread).
std::string transferText(const Shape& shape, int count, bool packs, bool loads) {
  const int registers = count * shape.perCount;
  const std::string name = std::string(loads ? "tcgen05.ld" : "tcgen05.st") + ".sync.aligned." + shape.words + ".x" +
                           std::to_string(count) + (packs ? loads ? ".pack::16b" : ".unpack::16b" : "") + ".b32 ";
  const std::string half = shape.secondHalf ? ", " + std::to_string(shape.secondHalf) : "";
  std::string t = kBegin + "mul.wide.u32 %rd2, %r0, 2048;\nadd.u64 %rd2, %rd2, %rd0;\nmul.wide.u32 %rd3, %r0, 512;\n"
                           "add.u64 %rd3, %rd3, %rd1;\n";
  const auto each = [&](int n, const std::string& text) {
    t += "mov.u32 %r4, 0;\nmov.u64 %rd4, %rd2;\nmov.u32 %r5, %r1;\n";
    t += "L" + std::to_string(n) + ":\n" + text +
         "add.u64 %rd4, %rd4, 4;\nadd.u32 %r5, %r5, 1;\nadd.u32 %r4, %r4, 1;\n"
         "setp.lt.u32 %p1, %r4, 512;\n@%p1 bra L" +
         std::to_string(n) + ";\n";
  };
  each(0, "ld.global.b32 %v128, [%rd4];\ntcgen05.st.sync.aligned.32x32b.x1.b32 [%r5], %v128;\n");
  t += kStore32;
  if (loads) {
    t += name + vector(registers) + ", [%r1]" + half + ";\ntcgen05.wait::ld.sync.aligned;\n";
    for (int i = 0; i < registers; ++i)
      t += "st.global.b32 [%rd3+" + std::to_string(4 * i) + "], %v" + std::to_string(i) + ";\n";
    return t + kEnd;
  }
  for (int i = 0; i < registers; ++i)
    t += "ld.global.b32 %v" + std::to_string(i) + ", [%rd3+" + std::to_string(4 * i) + "];\n";
  t += name + "[%r1]" + half + ", " + vector(registers) + ";\n" + kStore32;
  each(1, "tcgen05.ld.sync.aligned.32x32b.x1.b32 %v128, [%r5];\ntcgen05.wait::ld.sync.aligned;\nst.global.b32 [%rd4], "
          "%v128;\n");
  return t + kEnd;
}

void checkTransfer(const Shape& shape, int count, bool packs, bool loads) {
  BOOST_TEST_CONTEXT(shape.words << ".x" << count << (packs ? " packs" : "") << (loads ? " loads" : " stores")) {
    constexpr int kThreads = 128;
    std::vector<uint32_t> cells(size_t(kThreads) * 512), registers(size_t(kThreads) * 128);
    for (size_t i = 0; i < cells.size(); ++i) cells[i] = uint32_t(i) * 2654435761u;
    for (size_t i = 0; i < registers.size(); ++i) registers[i] = uint32_t(i) * 2246822519u + 1;
    std::vector<uint32_t> wantCells = cells, wantRegisters = registers;
    for (int thread = 0; thread < kThreads; ++thread)
      for (int r = 0; r < count * shape.perCount; ++r) {
        const auto [lane, column] = placeOf(shape, thread % 32, r, packs);
        uint32_t* cell = &wantCells[size_t((thread / 32 * 32 + lane) * 512 + column)];
        uint32_t& reg = wantRegisters[size_t(thread * 128 + r)];
        if (loads)
          reg = packs ? (cell[0] & 0xFFFF) | cell[1] << 16 : cell[0];
        else if (packs)
          cell[0] = reg & 0xFFFF, cell[1] = reg >> 16;
        else
          cell[0] = reg;
      }
    SimRun run(transferText(shape, count, packs, loads));
    run.buffer(cells).buffer(registers);
    run.params.checks.uninitialized = true;
    const Result result = run.launch(1, kThreads);
    BOOST_REQUIRE(result.trap.message == "");
    BOOST_TEST(run.findings.take().empty());
    BOOST_TEST((loads ? registers == wantRegisters : cells == wantCells));
  }
}

} // namespace

BOOST_AUTO_TEST_CASE(all_shapes) {
  for (const Shape& shape : kShapes)
    for (int count = 1; count * shape.perCount <= 128; count *= 2)
      for (const bool loads : {true, false}) {
        checkTransfer(shape, count, false, loads);
        checkTransfer(shape, count, true, loads);
      }
}
