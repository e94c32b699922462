// tests/sim/BitsTest.cpp -- bits, logic and shifts: every form against references that go bit by bit, and against an H200.
#define BOOST_TEST_MODULE sim_bits
#include "tests/sim/LaneForms.h"

using namespace tiletwin;
using namespace tiletwin::sim;

namespace {

std::string size(int bits) { return std::to_string(bits); }
bool bit(uint64_t v, int64_t i) { return v >> i & 1; }

std::vector<Form> counts() {
  std::vector<Form> forms;
  for (const int bits : {32, 64}) {
    const std::string b = size(bits), from = "d32 a" + b;
    forms.push_back({"popc.b" + b + " %d, %a;", from, [=](Lane& v) {
                       v.d = 0;
                       for (int i = 0; i < bits; ++i) v.d += bit(v.a, i);
                     }});
    forms.push_back({"clz.b" + b + " %d, %a;", from, [=](Lane& v) {
                       v.d = 0;
                       for (int i = bits - 1; i >= 0 && !bit(v.a, i); --i) ++v.d;
                     }});
    forms.push_back({"brev.b" + b + " %d, %a;", "d" + b + " a" + b, [=](Lane& v) {
                       v.d = 0;
                       for (int i = 0; i < bits; ++i) v.d |= uint64_t(bit(v.a, i)) << (bits - 1 - i);
                     }});
    for (const bool isSigned : {false, true})
      for (const bool shift : {false, true})
        forms.push_back({std::string("bfind.") + (shift ? "shiftamt." : "") + (isSigned ? "s" : "u") + b + " %d, %a;",
                         from, [=](Lane& v) {
                           const bool sign = isSigned && bit(v.a, bits - 1);
                           int at = bits - 1;
                           while (at >= 0 && bit(v.a, at) == sign) --at;
                           v.d = at < 0 ? ~uint64_t(0) : uint64_t(shift ? bits - 1 - at : at);
                         }});
  }
  // Only bases that the ISA defines.
  forms.push_back({"and.b32 %b, %b, 31; fns.b32 %d, %a, %b, %c;", "d32 a32 b32s c32", [](Lane& v) {
                     const auto offset = int32_t(v.c);
                     const int64_t base = int64_t(v.b & 31);
                     v.d = ~uint64_t(0);
                     if (offset == INT32_MIN) v.d = 0;
                     if (offset == INT32_MIN) return;
                     if (offset == 0 && bit(v.a, base)) v.d = uint64_t(base);
                     int64_t seen = 0;
                     const int64_t wanted = offset < 0 ? -int64_t(offset) : int64_t(offset);
                     for (int64_t at = base; offset != 0 && at >= 0 && at < 32; at += offset > 0 ? 1 : -1) {
                       seen += bit(v.a, at);
                       if (bit(v.a, at) && seen == wanted) {
                         v.d = uint64_t(at);
                         break;
                       }
                     }
                   }});
  return forms;
}

std::vector<Form> fields() {
  std::vector<Form> forms;
  for (const int bits : {32, 64}) {
    const std::string b = size(bits);
    for (const bool isSigned : {false, true})
      forms.push_back({std::string("bfe.") + (isSigned ? "s" : "u") + b + " %d, %a, %b, %c;",
                       "d" + b + " a" + b + " b32s c32s", [=](Lane& v) {
                         const uint64_t byte = bits == 32 ? 0xFF : 0xFFFFFFFF; // on 64 bits all of it counts
                         const int64_t pos = int64_t(v.b & byte), len = int64_t(v.c & byte), top = bits - 1;
                         const bool sign = isSigned && len != 0 && bit(v.a, std::min(pos + len - 1, top));
                         v.d = 0;
                         for (int64_t i = 0; i <= top; ++i)
                           v.d |= uint64_t(i < len && pos + i <= top ? bit(v.a, pos + i) : sign) << i;
                       }});
    forms.push_back({"bfi.b" + b + " %d, %a, %b, %c, %x;", "d" + b + " a" + b + " b" + b + " c32s x32s", [=](Lane& v) {
                       const uint64_t byte = bits == 32 ? 0xFF : 0xFFFFFFFF;
                       const int64_t pos = int64_t(v.c & byte), len = int64_t(v.x & byte);
                       v.d = v.b;
                       for (int64_t i = 0; i < len && pos + i < bits; ++i)
                         v.d = (v.d & ~(uint64_t(1) << (pos + i))) | uint64_t(bit(v.a, i)) << (pos + i);
                     }});
  }
  for (const bool clamp : {true, false}) {
    const std::string mode = clamp ? "clamp" : "wrap";
    forms.push_back({"bmsk." + mode + ".b32 %d, %a, %b;", "d32 a32s b32s", [=](Lane& v) {
                       const uint64_t from = clamp ? v.a : v.a & 31, width = clamp ? v.b : v.b & 31;
                       v.d = 0;
                       for (uint64_t i = 0; i < 32; ++i) v.d |= uint64_t(i >= from && i - from < width) << i;
                     }});
    for (const bool isSigned : {false, true})
      forms.push_back({"szext." + mode + (isSigned ? ".s32" : ".u32") + " %d, %a, %b;", "d32 a32 b32s", [=](Lane& v) {
                         const uint64_t width = clamp ? std::min<uint64_t>(v.b, 32) : v.b & 31;
                         const bool sign = isSigned && width != 0 && bit(v.a, int64_t(width) - 1);
                         v.d = 0;
                         for (uint64_t i = 0; i < 32; ++i)
                           v.d |= uint64_t(i < width ? bit(v.a, int64_t(i)) : sign) << i;
                       }});
  }
  return forms;
}

/// prmt's tables as the ISA prints them: for each selector the four bytes of the result, the highest first.
const std::map<std::string, std::array<std::array<int, 4>, 4>> kPermutations = {
    {"f4e", {{{3, 2, 1, 0}, {4, 3, 2, 1}, {5, 4, 3, 2}, {6, 5, 4, 3}}}},
    {"b4e", {{{5, 6, 7, 0}, {6, 7, 0, 1}, {7, 0, 1, 2}, {0, 1, 2, 3}}}},
    {"rc8", {{{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}}}},
    {"ecl", {{{3, 2, 1, 0}, {3, 2, 1, 1}, {3, 2, 2, 2}, {3, 3, 3, 3}}}},
    {"ecr", {{{0, 0, 0, 0}, {1, 1, 1, 0}, {2, 2, 1, 0}, {3, 2, 1, 0}}}},
    {"rc16", {{{1, 0, 1, 0}, {3, 2, 3, 2}, {1, 0, 1, 0}, {3, 2, 3, 2}}}},
};

std::vector<Form> permutations() {
  std::vector<Form> forms;
  forms.push_back({"prmt.b32 %d, %a, %b, %c;", "d32 a32 b32 c32", [](Lane& v) {
                     v.d = 0;
                     for (int j = 0; j < 4; ++j) {
                       const uint64_t nibble = v.c >> 4 * j & 15, word = nibble & 4 ? v.b : v.a;
                       const uint64_t byte = word >> 8 * (nibble & 3) & 0xFF;
                       v.d |= (nibble & 8 ? (byte > 127 ? 0xFF : 0) : byte) << 8 * j;
                     }
                   }});
  forms.push_back({"prmt.b32 %d, %a, %b, 0x5410U;", "d32 a32 b32", [](Lane& v) { v.d = (v.a & 0xFFFF) | v.b << 16; }});
  for (const auto& [mode, table] : kPermutations)
    forms.push_back({"prmt.b32." + mode + " %d, %a, %b, %c;", "d32 a32 b32 c32", [table = table](Lane& v) {
                       const uint64_t bytes = v.b << 32 | v.a;
                       v.d = 0;
                       for (const int byte : table[v.c & 3]) v.d = v.d << 8 | (bytes >> 8 * byte & 0xFF);
                     }});
  return forms;
}

std::vector<Form> logic() {
  std::vector<Form> forms;
  for (const int bits : {16, 32, 64}) {
    const std::string b = size(bits), two = "d" + b + " a" + b, three = two + " b" + b;
    forms.push_back({"and.b" + b + " %d, %a, %b;", three, [](Lane& v) { v.d = v.a & v.b; }});
    forms.push_back({"or.b" + b + " %d, %a, %b;", three, [](Lane& v) { v.d = v.a | v.b; }});
    forms.push_back({"xor.b" + b + " %d, %a, %b;", three, [](Lane& v) { v.d = v.a ^ v.b; }});
    forms.push_back({"not.b" + b + " %d, %a;", two, [](Lane& v) { v.d = ~v.a; }});
    forms.push_back({"cnot.b" + b + " %d, %a;", two, [](Lane& v) { v.d = v.a == 0; }});
  }
  forms.push_back({"and.pred %d, %a, %b;", "d1 a1 b1", [](Lane& v) { v.d = v.a & v.b; }});
  forms.push_back({"or.pred %d, %a, %b;", "d1 a1 b1", [](Lane& v) { v.d = v.a | v.b; }});
  forms.push_back({"xor.pred %d, %a, %b;", "d1 a1 b1", [](Lane& v) { v.d = v.a ^ v.b; }});
  forms.push_back({"not.pred %d, %a;", "d1 a1", [](Lane& v) { v.d = !v.a; }});
  forms.push_back({"mov.pred %d, %a;", "d1 a1", [](Lane& v) { v.d = v.a; }});
  return forms;
}

uint64_t lookup(unsigned table, const Lane& v) {
  uint64_t r = 0;
  for (int i = 0; i < 32; ++i) r |= uint64_t(table >> (4 * bit(v.a, i) + 2 * bit(v.b, i) + bit(v.c, i)) & 1) << i;
  return r;
}

std::vector<Form> tables() {
  std::vector<Form> forms;
  for (unsigned table = 0; table < 256; table += 1) {
    const std::string number = std::to_string(table);
    forms.push_back(
        {"lop3.b32 %d, %a, %b, %c, " + number + ";", "d32 a32 b32 c32", [=](Lane& v) { v.d = lookup(table, v); }});
    if (table % 51 != 1) continue;
    forms.push_back({"lop3.or.b32 %d|%e, %a, %b, %c, " + number + ", %x;", "d32 e1 a32 b32 c32 x1", [=](Lane& v) {
                       v.d = lookup(table, v);
                       v.e = v.d != 0 || v.x;
                     }});
    forms.push_back({"lop3.and.b32 %d|%e, %a, %b, %c, " + number + ", !%x;", "d32 e1 a32 b32 c32 x1", [=](Lane& v) {
                       v.d = lookup(table, v);
                       v.e = v.d != 0 && !v.x;
                     }});
    forms.push_back({"lop3.and.b32 _|%e, %a, %b, %c, " + number + ", %x;", "e1 a32 b32 c32 x1",
                     [=](Lane& v) { v.e = lookup(table, v) != 0 && v.x; }});
  }
  return forms;
}

std::vector<Form> shifts() {
  std::vector<Form> forms;
  for (const int bits : {16, 32, 64}) {
    const std::string b = size(bits), registers = "d" + b + " a" + b + " b32s";
    forms.push_back({"shl.b" + b + " %d, %a, %b;", registers, [=](Lane& v) {
                       v.d = 0;
                       for (uint64_t i = 0; i < uint64_t(bits); ++i)
                         if (i >= v.b) v.d |= uint64_t(bit(v.a, int64_t(i - v.b))) << i;
                     }});
    for (const char* sign : {"b", "u", "s"})
      forms.push_back({std::string("shr.") + sign + b + " %d, %a, %b;", registers, [=](Lane& v) {
                         const bool fill = sign[0] == 's' && bit(v.a, bits - 1);
                         v.d = 0;
                         for (uint64_t i = 0; i < uint64_t(bits); ++i)
                           v.d |= uint64_t(v.b < uint64_t(bits) - i ? bit(v.a, int64_t(i + v.b)) : fill) << i;
                       }});
  }
  forms.push_back({"shl.b64 %d, %a, 33;", "d64 a64", [](Lane& v) { v.d = v.a << 33; }});
  for (const bool clamp : {true, false}) {
    const std::string mode = clamp ? "clamp" : "wrap";
    const auto amount = [=](const Lane& v) { return clamp ? std::min<uint64_t>(v.c, 32) : v.c & 31; };
    forms.push_back({"shf.l." + mode + ".b32 %d, %a, %b, %c;", "d32 a32 b32 c32s", [=](Lane& v) {
                       const uint64_t n = amount(v);
                       v.d = n == 32 ? v.a : v.b << n | (n ? v.a >> (32 - n) : 0);
                     }});
    forms.push_back({"shf.r." + mode + ".b32 %d, %a, %b, %c;", "d32 a32 b32 c32s", [=](Lane& v) {
                       const uint64_t n = amount(v);
                       v.d = n == 32 ? v.b : (n ? v.b << (32 - n) : 0) | v.a >> n;
                     }});
  }
  return forms;
}

} // namespace

BOOST_AUTO_TEST_CASE(counting_and_finding) { checkForms(counts(), "counts"); }
BOOST_AUTO_TEST_CASE(fields_of_bits) { checkForms(fields(), "fields"); }
BOOST_AUTO_TEST_CASE(permuting_bytes) { checkForms(permutations(), "permutations"); }
BOOST_AUTO_TEST_CASE(logic_of_words_and_predicates) { checkForms(logic(), "logic"); }
BOOST_AUTO_TEST_CASE(truth_tables) { checkForms(tables(), "tables"); }
BOOST_AUTO_TEST_CASE(shifting) { checkForms(shifts(), "shifts"); }

/// The examples that the ISA gives.
BOOST_AUTO_TEST_CASE(examples_of_fns) {
  const auto find = [](const char* operands) {
    std::vector<uint32_t> out(1);
    SimRun run(ptxKernel(1, std::string("fns.b32 %r1, ") + operands + ";\nst.global.b32 [%rd0], %r1;"));
    run.buffer(out).launch(1, 1);
    return out[0];
  };
  BOOST_TEST(find("0xaaaaaaaa, 3, 1") == 3u);
  BOOST_TEST(find("0xaaaaaaaa, 3, -1") == 3u);
  BOOST_TEST(find("0xaaaaaaaa, 2, 1") == 3u);
  BOOST_TEST(find("0xaaaaaaaa, 2, -1") == 1u);
}

BOOST_AUTO_TEST_CASE(what_is_not_there_is_an_error) {
  const auto error = [](const std::string& instruction) { return SimRun::loadError(ptxKernel(1, instruction)); };
  BOOST_TEST(error("popc.u32 %r1, %r2;").find("wants a type of .b32 .b64") != std::string::npos);
  BOOST_TEST(error("bfe.u16 %h1, %h2, %r1, %r2;").find(".u32 .u64 .s32 .s64") != std::string::npos);
  BOOST_TEST(error("lop3.b32 %r1, %r2, %r3, %r4, 256;").find("from 0 to 255") != std::string::npos);
  BOOST_TEST(error("lop3.and.b32 %r1, %r2, %r3, %r4, 1, %p1;").find("d|p") != std::string::npos);
  BOOST_TEST(error("lop3.b32 %r1, %r2, %r3, %r4, %r5;").find("integer constant") != std::string::npos);
  BOOST_TEST(error("shf.l.b32 %r1, %r2, %r3, %r4;").find(".clamp .wrap") != std::string::npos);
  BOOST_TEST(error("and.s32 %r1, %r2, %r3;").find(".pred .b16 .b32 .b64") != std::string::npos);
  BOOST_TEST(error("shl.s32 %r1, %r2, %r3;").find(".b16 .b32 .b64") != std::string::npos);
  BOOST_TEST(error("prmt.b32.xyz %r1, %r2, %r3, %r4;").find("xyz") != std::string::npos);
}
