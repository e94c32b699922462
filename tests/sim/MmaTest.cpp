// mma.sync in all shapes and types, through the reader and the machine, against products computed from the matrices.
#define BOOST_TEST_MODULE sim_mma
#include "tests/sim/TensorProducts.h"
#include <sstream>

using namespace tiletwin;
using namespace tiletwin::sim;

namespace {

// ---- Fragments of mma: element i of a lane, as the ISA's tables give them ------------------------------------------------------

struct Place {
  int line, place; ///< row and k of A, column and k of B, row and column of C and D
};
/// A (lines: rows) and B (lines: columns).
Place operandPlace(int lines, int bits, int lane, int i) {
  const int each = std::max(1, 32 / bits), unit = i / each, groups = lines / 8;
  return {lane / 4 + 8 * (unit % groups), lane % 4 * each + i % each + unit / groups * 4 * each};
}
Place accumulatorPlace(int lane, int i) { return {lane / 4 + 8 * (i / 2), lane % 4 * 2 + i % 2}; }

/// Registers as the kernel loads them: word[register * 32 + lane], 32 bits or, for f64, 64.
template <class Where> std::vector<std::byte> packFragment(Matrix& matrix, bool swapped, int elements, Where&& where) {
  const int bits = matrix.type.bits, word = std::max(32, bits), each = word / bits, registers = elements / each;
  std::vector<std::byte> bytes(size_t(registers * 32 * word / 8));
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < elements; ++i) {
      const Place at = where(lane, i);
      const uint64_t code = swapped ? matrix.at(at.place, at.line) : matrix.at(at.line, at.place);
      std::byte* to = bytes.data() + (i / each * 32 + lane) * word / 8;
      uint64_t value = 0;
      std::memcpy(&value, to, size_t(word / 8));
      value |= code << (i % each * bits);
      std::memcpy(to, &value, size_t(word / 8));
    }
  return bytes;
}
template <class Where>
void unpackFragment(const std::vector<std::byte>& bytes, Matrix& matrix, int elements, Where&& where) {
  const int bits = matrix.type.bits, word = std::max(32, bits), each = word / bits;
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < elements; ++i) {
      uint64_t value = 0;
      std::memcpy(&value, bytes.data() + (i / each * 32 + lane) * word / 8, size_t(word / 8));
      const Place at = where(lane, i);
      matrix.at(at.line, at.place) =
          value >> (i % each * bits) & (bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1);
    }
}

/// Loads registers of three fragments, runs the instruction, stores the fourth.
std::string mmaKernel(const std::string& instruction, int na, int nb, int nc, int nd, bool wide) {
  const std::string reg = wide ? "%fd" : "%r", type = wide ? "f64" : "b32";
  const int size = wide ? 8 : 4;
  std::ostringstream text;
  text << "mov.u32 %r63, %laneid;\n";
  for (int i = 0; i < 4; ++i) text << "mad.wide.u32 %rd" << i << ", %r63, " << size << ", %rd" << i << ";\n";
  int next = 0;
  for (const auto& [pointer, count] : {std::pair{0, na}, std::pair{1, nb}, std::pair{2, nc}})
    for (int i = 0; i < count; ++i)
      text << "ld.global." << type << " " << reg << next++ << ", [%rd" << pointer << "+" << 32 * size * i << "];\n";
  text << instruction << " " << registers(reg, next, nd) << ", " << registers(reg, 0, na) << ", "
       << registers(reg, na, nb) << ", " << registers(reg, na + nb, nc) << ";\n";
  for (int i = 0; i < nd; ++i)
    text << "st.global." << type << " [%rd3+" << 32 * size * i << "], " << reg << next + i << ";\n";
  return ptxKernel(4, text.str());
}

void runMma(const std::string& words, const Product& p, std::mt19937_64& random) {
  Matrix a(p.a, p.m, p.k), b(p.b, p.k, p.n), c(p.c, p.m, p.n), d(p.d, p.m, p.n);
  for (Matrix* matrix : {&a, &b, &c}) matrix->fill(random);
  const auto aPlace = [&](int lane, int i) { return operandPlace(p.m, a.type.bits, lane, i); };
  const auto bPlace = [&](int lane, int i) { return operandPlace(p.n, b.type.bits, lane, i); };
  const int perLane = p.m * p.n / 32;
  auto ra = packFragment(a, false, p.m * p.k / 32, aPlace), rb = packFragment(b, true, p.n * p.k / 32, bPlace);
  auto rc = packFragment(c, false, perLane, accumulatorPlace);
  const bool wide = p.d == "f64";
  const size_t word = wide ? 256 : 128;
  std::vector<std::byte> rd(size_t(perLane * 32 * d.type.bits / 8));
  SimRun run(mmaKernel("mma.sync.aligned." + words, int(ra.size() / word), int(rb.size() / word), int(rc.size() / word),
                       int(rd.size() / word), wide));
  run.buffer(ra).buffer(rb).buffer(rc).buffer(rd);
  const Result result = run.launch(1, 32);
  BOOST_REQUIRE_MESSAGE(!result.trap, result.trap.message);
  unpackFragment(rd, d, perLane, accumulatorPlace);
  checkProduct(p, a, b, c, d, words);
}

void runMmaRounds(const std::string& words, const Product& p) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 4; ++round) runMma(words, p, random);
}

} // namespace

BOOST_AUTO_TEST_CASE(mma_floats) {
  runMmaRounds("m16n8k16.row.col.f32.f16.f16.f32", {"f16", "f16", "f32", "f32", 16, 8, 16});
  runMmaRounds("m16n8k16.row.col.f16.f16.f16.f16", {"f16", "f16", "f16", "f16", 16, 8, 16});
  runMmaRounds("m16n8k8.row.col.f32.f16.f16.f32", {"f16", "f16", "f32", "f32", 16, 8, 8});
  runMmaRounds("m16n8k8.row.col.f16.f16.f16.f16", {"f16", "f16", "f16", "f16", 16, 8, 8});
  runMmaRounds("m16n8k16.row.col.f32.bf16.bf16.f32", {"bf16", "bf16", "f32", "f32", 16, 8, 16});
  runMmaRounds("m16n8k8.row.col.f32.bf16.bf16.f32", {"bf16", "bf16", "f32", "f32", 16, 8, 8});
  runMmaRounds("m16n8k8.row.col.f32.tf32.tf32.f32", {"tf32", "tf32", "f32", "f32", 16, 8, 8});
  runMmaRounds("m16n8k4.row.col.f32.tf32.tf32.f32", {"tf32", "tf32", "f32", "f32", 16, 8, 4});
  for (const std::string a : {"e4m3", "e5m2"})
    for (const std::string b : {"e4m3", "e5m2"})
      for (const std::string c : {"f32", "f16"})
        for (int k : {16, 32})
          runMmaRounds("m16n8k" + std::to_string(k) + ".row.col." + c + "." + a + "." + b + "." + c,
                       {a, b, c, c, 16, 8, k});
}

BOOST_AUTO_TEST_CASE(mma_doubles) {
  runMmaRounds("m8n8k4.row.col.f64.f64.f64.f64", {"f64", "f64", "f64", "f64", 8, 8, 4});
  for (int k : {4, 8, 16})
    runMmaRounds("m16n8k" + std::to_string(k) + ".row.col.f64.f64.f64.f64", {"f64", "f64", "f64", "f64", 16, 8, k});
}

BOOST_AUTO_TEST_CASE(mma_integers) {
  for (const bool saturate : {false, true})
    for (const char* a : {"s", "u"})
      for (const char* b : {"s", "u"})
        for (const int bits : {8, 4}) {
          const std::string ta = a + std::to_string(bits), tb = b + std::to_string(bits);
          const auto one = [&](int m, int k) {
            const std::string shape = "m" + std::to_string(m) + "n8k" + std::to_string(k);
            runMmaRounds(shape + ".row.col" + (saturate ? ".satfinite" : "") + ".s32." + ta + "." + tb + ".s32",
                         {ta, tb, "s32", "s32", m, 8, k, saturate});
          };
          one(8, 128 / bits), one(16, 128 / bits), one(16, 256 / bits);
        }
}

BOOST_AUTO_TEST_CASE(mma_bits) {
  for (const bool isXor : {false, true})
    for (const auto& [m, k] : {std::pair{8, 128}, std::pair{16, 128}, std::pair{16, 256}})
      runMmaRounds("m" + std::to_string(m) + "n8k" + std::to_string(k) + ".row.col.s32.b1.b1.s32" +
                       (isXor ? ".xor" : ".and") + ".popc",
                   {"b1", "b1", "s32", "s32", m, 8, k, false, isXor});
}

// Four products of 8 x 8 x 4; layouts as the ISA's section on m8n8k4 gives them.
BOOST_AUTO_TEST_CASE(mma_quads) {
  std::mt19937_64 random(5);
  for (const bool aRow : {true, false})
    for (const bool bRow : {true, false})
      for (const auto& [td, tc] : {std::pair<std::string, std::string>{"f32", "f32"}, {"f16", "f16"}, {"f32", "f16"}}) {
        std::vector<Matrix> as, bs, cs;
        for (int q = 0; q < 4; ++q) {
          for (Matrix* m : {&as.emplace_back("f16", 8, 4), &bs.emplace_back("f16", 4, 8), &cs.emplace_back(tc, 8, 8)})
            m->fill(random);
        }
        const auto upper = [](int lane) { return lane >= 16 ? 4 : 0; };
        const auto quad = [](int lane) { return size_t(lane % 16 / 4); };
        const auto place = [&](const std::string& type, int lane, int i) {
          return type == "f16" ? Place{lane % 4 + upper(lane), i}
                               : Place{(lane & 1) + (i & 2) + upper(lane), (i & 4) + (lane & 2) + (i & 1)};
        };
        std::vector<uint32_t> ra(64), rb(64), rc(8 * 32), rd(8 * 32);
        for (int lane = 0; lane < 32; ++lane)
          for (int i = 0; i < 4; ++i) {
            const uint64_t a =
                aRow ? as[quad(lane)].at(lane % 4 + upper(lane), i) : as[quad(lane)].at(i + upper(lane), lane % 4);
            const uint64_t b =
                bRow ? bs[quad(lane)].at(lane % 4, i + upper(lane)) : bs[quad(lane)].at(i, lane % 4 + upper(lane));
            ra[size_t(i / 2 * 32 + lane)] |= uint32_t(a) << (i % 2 * 16);
            rb[size_t(i / 2 * 32 + lane)] |= uint32_t(b) << (i % 2 * 16);
          }
        for (int lane = 0; lane < 32; ++lane)
          for (int i = 0; i < 8; ++i) {
            const Place at = place(tc, lane, i);
            const uint32_t code = uint32_t(cs[quad(lane)].at(at.line, at.place));
            if (tc == "f16")
              rc[size_t(i / 2 * 32 + lane)] |= code << (i % 2 * 16);
            else
              rc[size_t(i * 32 + lane)] = code;
          }
        const std::string words =
            std::string("m8n8k4.") + (aRow ? "row." : "col.") + (bRow ? "row." : "col.") + td + ".f16.f16." + tc;
        SimRun run(mmaKernel("mma.sync.aligned." + words, 2, 2, tc == "f16" ? 4 : 8, td == "f16" ? 4 : 8, false));
        run.buffer(ra).buffer(rb).buffer(rc).buffer(rd);
        const Result result = run.launch(1, 32);
        BOOST_REQUIRE_MESSAGE(!result.trap, result.trap.message);
        for (int lane = 0; lane < 32; ++lane)
          for (int i = 0; i < 8; ++i) {
            const Place at = place(td, lane, i);
            const auto x = [&](int k) { return float(as[quad(lane)].value(at.line, k)); };
            const auto y = [&](int k) { return float(bs[quad(lane)].value(k, at.place)); };
            float sum = float(cs[quad(lane)].value(at.line, at.place));
            if (td == "f32") {
              float products = 0;
              for (int k = 0; k < 4; ++k) products = std::fma(x(k), y(k), products);
              sum += products;
            } else {
              sum += std::fma(x(1), y(1), x(0) * y(0));
              sum += std::fma(x(3), y(3), x(2) * y(2));
            }
            const uint32_t expected = td == "f16" ? sum == sum ? encodeSmallFloat(kF16, sum) : 0x7FFF
                                                  : std::bit_cast<uint32_t>(canonical(sum));
            const uint32_t got =
                td == "f16" ? rd[size_t(i / 2 * 32 + lane)] >> (i % 2 * 16) & 0xFFFF : rd[size_t(i * 32 + lane)];
            BOOST_REQUIRE_MESSAGE(got == expected, words << ": lane " << lane << ", element " << i);
          }
      }
}

BOOST_AUTO_TEST_CASE(misuse) {
  const auto error = [](const std::string& body) { return SimRun::loadError(ptxKernel(1, body)); };
  const std::string operands = " {%r0,%r1,%r2,%r3}, {%r4,%r5,%r6,%r7}, {%r8,%r9}, {%r0,%r1,%r2,%r3};";
  const auto says = [&](const std::string& body, const std::string& what) {
    const std::string message = error(body);
    BOOST_TEST(message.find(what) != std::string::npos, body << " gives: " << message);
  };
  BOOST_TEST(error("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32" + operands) == "");
  says("mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32" + operands, "wants 6 operands");
  says("mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32" + operands, "wants .row.col");
  says("mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32" + operands, "no shape .m16n8k32");
  says("mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32" + operands, "no product of .f16 and .bf16");
  says("mma.sync.aligned.m16n8k16.row.col.f32.e2m1.e2m1.f32" + operands, ".e2m1");
  says("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f32" + operands, "both alike");
  says("mma.sync.aligned.m16n8k16.row.col.satfinite.f32.f16.f16.f32" + operands, "satfinite");
  says("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r0,%r1}, {%r4,%r5,%r6,%r7}, {%r8,%r9}, {%r0,%r1,%r2,%r3};",
       "4 registers, got 2");
  says("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32.wide" + operands, "wide");
  says("ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r0,%r1}, [%r4];", ".m8n8");
  says("ldmatrix.sync.aligned.m8n8.x3.shared.b16 {%r0,%r1}, [%r4];", ".x1, .x2 or .x4");
  says("wmma.load.a.sync.aligned.col.m8n8k32.global.s4 {%r0}, [%rd0];", ".row for A");
  says("wmma.load.a.sync.aligned.row.m16n16k8.global.f16 {%r0}, [%rd0];", "no fragment .a");

  // A misaligned row and half a warp are found when the kernel runs.
  const std::string load =
      ".shared .align 16 .b8 memory[1024];\nmov.u32 %r1, %laneid;\nmov.u32 %r0, memory;\nmad.lo.u32 %r0, %r1, 8, %r0;\n"
      "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r4,%r5,%r6,%r7}, [%r0];\n";
  std::vector<uint32_t> nothing(1);
  SimRun misaligned(ptxKernel(1, load));
  BOOST_TEST(int(misaligned.buffer(nothing).launch(1, 32).trap.kind) == int(TrapKind::Misaligned));
  SimRun half(ptxKernel(1, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32" + operands));
  const Result result = half.buffer(nothing).launch(1, 16);
  BOOST_TEST(int(result.trap.kind) == int(TrapKind::InvalidValue));
  BOOST_TEST(result.trap.message.find("32 lanes") != std::string::npos, result.trap.message);
}
