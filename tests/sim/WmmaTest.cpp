// wmma in all shapes, types and layouts, ldmatrix, stmatrix and movmatrix, through the reader and the machine.
#define BOOST_TEST_MODULE sim_wmma
#include "tests/sim/TensorProducts.h"
#include <numeric>
#include <sstream>

using namespace tiletwin;
using namespace tiletwin::sim;

// ---- wmma: matrices in memory, with rows or columns that lie apart --------------------------------------------------------------

namespace {

/// Elements in memory, line after line with `stride` elements each.
std::vector<std::byte> inMemory(Matrix& matrix, bool byRow, int stride) {
  const int lines = byRow ? matrix.rows : matrix.columns, places = byRow ? matrix.columns : matrix.rows;
  std::vector<std::byte> bytes(size_t(lines * stride * matrix.type.bits / 8 + 8));
  for (int line = 0; line < lines; ++line)
    for (int place = 0; place < places; ++place) {
      const int bit = (line * stride + place) * matrix.type.bits;
      const uint64_t code = (byRow ? matrix.at(line, place) : matrix.at(place, line)) << bit % 8;
      for (int i = 0; i < std::max(1, matrix.type.bits / 8); ++i)
        bytes[size_t(bit / 8 + i)] |= std::byte(code >> 8 * i);
    }
  return bytes;
}
void fromMemory(const std::vector<std::byte>& bytes, Matrix& matrix, bool byRow, int stride) {
  for (int i = 0; i < matrix.rows; ++i)
    for (int j = 0; j < matrix.columns; ++j) {
      const size_t index = size_t(byRow ? i * stride + j : j * stride + i), width = size_t(matrix.type.bits / 8);
      matrix.at(i, j) = 0;
      std::memcpy(&matrix.at(i, j), bytes.data() + index * width, width);
    }
}

int operandRegisters(const Product& p, const ElementType& type, int lines) {
  return type.name == "f16" ? 8 : std::max(1, lines * p.k * type.bits / 1024 / (type.bits == 64 ? 2 : 1));
}
int accumulatorRegisters(const Product& p, const std::string& type) { return p.m * p.n / 32 / (type == "f16" ? 2 : 1); }

void runWmma(const std::string& shape, const std::string& tail, const Product& p, bool aRow, bool bRow, bool cRow,
             std::mt19937_64& random) {
  Matrix a(p.a, p.m, p.k), b(p.b, p.k, p.n), c(p.c, p.m, p.n), d(p.d, p.m, p.n);
  for (Matrix* matrix : {&a, &b, &c}) matrix->fill(random);
  const int gap = 256 / a.type.bits;
  const int sa = (aRow ? p.k : p.m) + gap, sb = (bRow ? p.n : p.k) + gap, sc = (cRow ? p.n : p.m) + 8;
  auto ma = inMemory(a, aRow, sa), mb = inMemory(b, bRow, sb), mc = inMemory(c, cRow, sc);
  std::vector<std::byte> md(size_t((cRow ? p.m : p.n) * sc) * size_t(d.type.bits / 8));
  const std::string reg = p.d == "f64" ? "%fd" : "%r";
  const int na = operandRegisters(p, a.type, p.m), nb = operandRegisters(p, b.type, p.n);
  const int nc = accumulatorRegisters(p, p.c), nd = accumulatorRegisters(p, p.d);
  const std::string ra = registers(reg, 0, na), rb = registers(reg, 8, nb), rc = registers(reg, 16, nc),
                    rd = registers(reg, 24, nd);
  const auto layout = [](bool isRow) { return isRow ? std::string(".row.") : std::string(".col."); };
  const std::string bitWords = p.a == "b1" ? p.isXor ? ".xor.popc" : ".and.popc" : "";
  std::ostringstream text;
  text << "wmma.load.a.sync.aligned" << layout(aRow) << shape << ".global." << p.a << " " << ra << ", [%rd0], " << sa
       << ";\n"
       << "wmma.load.b.sync.aligned" << layout(bRow) << shape << ".global." << p.b << " " << rb << ", [%rd1], " << sb
       << ";\n"
       << "mov.u32 %r60, " << sc << ";\n"
       << "wmma.load.c.sync.aligned" << layout(cRow) << shape << "." << p.c << " " << rc << ", [%rd2], %r60;\n"
       << "wmma.mma" << bitWords << ".sync.aligned" << layout(aRow) << (bRow ? "row." : "col.") << shape << tail << " "
       << rd << ", " << ra << ", " << rb << ", " << rc << ";\n"
       << "wmma.store.d.sync.aligned" << layout(cRow) << shape << ".global." << p.d << " [%rd3], " << rd << ", %r60;\n";
  SimRun run(ptxKernel(4, text.str()));
  run.buffer(ma).buffer(mb).buffer(mc).buffer(md);
  const Result result = run.launch(1, 32);
  BOOST_REQUIRE_MESSAGE(!result.trap, result.trap.message);
  fromMemory(md, d, cRow, sc);
  checkProduct(p, a, b, c, d, "wmma " + shape + tail + layout(aRow) + layout(bRow));
}

void runWmmaLayouts(const std::string& shape, const std::string& tail, const Product& p) {
  std::mt19937_64 random(2);
  for (int layouts = 0; layouts < 8; ++layouts) {
    const bool aRow = layouts & 1, bRow = layouts & 2;
    if (elementType(p.a).bits < 8 && (!aRow || bRow)) continue;
    runWmma(shape, tail, p, aRow, bRow, layouts & 4, random);
  }
}

} // namespace

BOOST_AUTO_TEST_CASE(wmma_all) {
  struct Shape {
    std::string name;
    int m, n;
  };
  for (const Shape& s : {Shape{"m16n16k16", 16, 16}, Shape{"m8n32k16", 8, 32}, Shape{"m32n8k16", 32, 8}}) {
    for (const std::string d : {"f32", "f16"})
      for (const std::string c : {"f32", "f16"})
        if (d == c || d == "f32") runWmmaLayouts(s.name, "." + d + "." + c, {"f16", "f16", c, d, s.m, s.n, 16});
    runWmmaLayouts(s.name, ".f32.bf16.bf16.f32", {"bf16", "bf16", "f32", "f32", s.m, s.n, 16});
    for (const std::string t : {"s8", "u8"})
      for (const bool saturate : {false, true})
        runWmmaLayouts(s.name, ".s32." + t + "." + t + ".s32" + (saturate ? ".satfinite" : ""),
                       {t, t, "s32", "s32", s.m, s.n, 16, saturate});
  }
  runWmmaLayouts("m16n16k8", ".f32.tf32.tf32.f32", {"tf32", "tf32", "f32", "f32", 16, 16, 8, false, false, 4});
  for (const std::string t : {"s4", "u4"})
    for (const bool saturate : {false, true})
      runWmmaLayouts("m8n8k32", ".s32." + t + "." + t + ".s32" + (saturate ? ".satfinite" : ""),
                     {t, t, "s32", "s32", 8, 8, 32, saturate});
  for (const bool isXor : {false, true})
    runWmmaLayouts("m8n8k128", ".s32.b1.b1.s32", {"b1", "b1", "s32", "s32", 8, 8, 128, false, isXor});
  runWmmaLayouts("m8n8k4", ".f64.f64.f64.f64", {"f64", "f64", "f64", "f64", 8, 8, 4});
}

// ---- ldmatrix, stmatrix, movmatrix ------------------------------------------------------------------------------------------------

namespace {

/// Where a lane finds element i (0, 1) of its register: row and column of an 8 x 8 matrix.
std::pair<int, int> matrixPlace(int lane, int i, bool transposed) {
  const int row = lane / 4, column = lane % 4 * 2 + i;
  return transposed ? std::pair{column, row} : std::pair{row, column};
}

} // namespace

BOOST_AUTO_TEST_CASE(load_and_store_matrices) {
  for (const int count : {1, 2, 4})
    for (const bool transposed : {false, true}) {
      // Row r of all matrices lies at 16 * (r * 5 % 32) of shared memory; elements are numbers.
      std::vector<uint16_t> image(512), stored(512);
      std::iota(image.begin(), image.end(), uint16_t(100));
      std::vector<uint32_t> loaded(size_t(count) * 32);
      const std::string words = ".sync.aligned.m8n8.x" + std::to_string(count) + (transposed ? ".trans" : "");
      std::ostringstream text;
      text
          << ".shared .align 16 .b8 memory[1024], other[1024];\n"
          << "mov.u32 %r63, %laneid;\nmul.lo.u32 %r62, %r63, 5;\nand.b32 %r62, %r62, 31;\nshl.b32 %r62, %r62, 4;\n"
          << "mov.u32 %r61, memory;\nadd.u32 %r60, %r61, %r62;\nmov.u32 %r59, other;\nadd.u32 %r58, %r59, %r62;\n"
          << "mad.wide.u32 %rd3, %r63, 4, %rd0;\nmad.wide.u32 %rd4, %r63, 4, %rd1;\nmad.wide.u32 %rd5, %r63, 4, %rd2;\n"
          << "mad.lo.u32 %r57, %r63, 4, %r61;\nmad.lo.u32 %r56, %r63, 4, %r59;\n";
      for (int i = 0; i < 8; ++i)
        text << "ld.global.b32 %r55, [%rd3+" << 128 * i << "];\nst.shared.b32 [%r57+" << 128 * i << "], %r55;\n"
             << "st.shared.b32 [%r56+" << 128 * i << "], 0;\n";
      text << "bar.warp.sync -1;\nldmatrix" << words << ".shared.b16 " << registers("%r", 0, count) << ", [%r60];\n";
      for (int i = 0; i < count; ++i) text << "st.global.b32 [%rd4+" << 128 * i << "], %r" << i << ";\n";
      text << "stmatrix" << words << ".shared.b16 [%r58], " << registers("%r", 0, count) << ";\nbar.warp.sync -1;\n";
      for (int i = 0; i < 8; ++i)
        text << "ld.shared.b32 %r55, [%r56+" << 128 * i << "];\nst.global.b32 [%rd5+" << 128 * i << "], %r55;\n";
      SimRun run(ptxKernel(3, text.str()));
      run.buffer(image).buffer(loaded).buffer(stored);
      const Result result = run.launch(1, 32);
      BOOST_REQUIRE_MESSAGE(!result.trap, result.trap.message);
      for (int m = 0; m < count; ++m)
        for (int lane = 0; lane < 32; ++lane)
          for (int i = 0; i < 2; ++i) {
            const auto [row, column] = matrixPlace(lane, i, transposed);
            const int offset = (8 * m + row) * 5 % 32 * 8 + column;
            BOOST_REQUIRE_EQUAL(loaded[size_t(32 * m + lane)] >> 16 * i & 0xFFFF, image[size_t(offset)]);
          }
      for (int r = 0; r < 32; ++r) // stored the same way: what was loaded is back, other rows are still zero
        for (int j = 0; j < 8; ++j) {
          const size_t at = size_t(r * 5 % 32 * 8 + j);
          BOOST_REQUIRE_EQUAL(stored[at], r < 8 * count ? image[at] : 0);
        }
    }
}

BOOST_AUTO_TEST_CASE(move_matrix) {
  std::vector<uint32_t> in(32), out(32);
  for (uint32_t lane = 0; lane < 32; ++lane)
    in[lane] = lane << 17 | 0x10000 | lane << 1; // elements 2 * lane, 2 * lane + 1
  SimRun run(ptxKernel(
      2, "mov.u32 %r0, %laneid;\nmad.wide.u32 %rd0, %r0, 4, %rd0;\nmad.wide.u32 %rd1, %r0, 4, %rd1;\n"
         "ld.global.b32 %r1, [%rd0];\nmovmatrix.sync.aligned.m8n8.trans.b16 %r2, %r1;\nst.global.b32 [%rd1], %r2;\n"));
  run.buffer(in).buffer(out);
  BOOST_REQUIRE(!run.launch(1, 32).trap);
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 2; ++i) {
      const auto [row, column] = matrixPlace(lane, i, true);
      BOOST_TEST((out[size_t(lane)] >> 16 * i & 0xFFFF) == uint32_t(row * 8 + column));
    }
}
