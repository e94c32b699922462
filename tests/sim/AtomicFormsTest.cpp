// tests/sim/AtomicFormsTest.cpp -- atom and red as forms: what an H200 gave, in global and in shared memory.
// Not here:  lanes that meet, many CTAs (AtomicTest.cpp).
#define BOOST_TEST_MODULE sim_atomic_forms
#include "tests/sim/AtomicReference.h"
#include "tests/sim/LaneForms.h"

using namespace tiletwin;
using namespace tiletwin::sim;

namespace {

/// One lane's operation in global memory, in the place of its result: %a was there, %b comes, %e is what the operation returned.
std::string inGlobal(const std::string& bits, const std::string& operation) {
  return "st.global.b" + bits + " [%out], %a; atom.global." + operation + " %e, [%out], %b; ld.global.b" + bits +
         " %d, [%out];";
}
std::string inShared(const std::string& bits, const std::string& operation) {
  return ".shared .align 8 .b8 cells[2048]; mov.u32 %t, %tid.x; mov.u32 %i, cells; mad.lo.u32 %t, %t, 8, %i; "
         "st.shared.b" +
         bits + " [%t], %a; atom.shared." + operation + " %e, [%t], %b; ld.shared.b" + bits + " %d, [%t];";
}

std::vector<Form> atomicForms() {
  std::vector<Form> forms;
  const auto both = [&](const std::string& bits, const std::string& kind, const std::string& operation, auto update,
                        auto updateInShared) {
    const std::string registers = "d" + bits + " e" + bits + " a" + bits + kind + " b" + bits + kind;
    forms.push_back({inGlobal(bits, operation), registers, [=](Lane& v) { v.d = update(v.a, v.b), v.e = v.a; }});
    forms.push_back(
        {inShared(bits, operation), registers, [=](Lane& v) { v.d = updateInShared(v.a, v.b), v.e = v.a; }});
  };
  const auto same = [&](const std::string& bits, const std::string& kind, const std::string& operation, auto update) {
    both(bits, kind, operation, update, update);
  };
  both(
      "32", "f", "add.f32", [](uint64_t x, uint64_t y) { return sum32(x, y, true); },
      [](uint64_t x, uint64_t y) { return sum32(x, y, false); });
  both(
      "64", "l", "add.f64",
      [](uint64_t x, uint64_t y) {
        return std::isnan(std::bit_cast<double>(y)) ? y : std::isnan(std::bit_cast<double>(x)) ? x : sum64(x, y);
      },
      [](uint64_t x, uint64_t y) {
        const uint64_t quiet = uint64_t(1) << 51;
        return std::isnan(std::bit_cast<double>(x))   ? x | quiet
               : std::isnan(std::bit_cast<double>(y)) ? y | quiet
                                                      : sum64(x, y);
      });
  for (const bool isBF16 : {false, true}) {
    const std::string kind = isBF16 ? "g" : "h", pair = isBF16 ? "G" : "H", name = isBF16 ? "bf16" : "f16";
    const uint64_t infinity = isBF16 ? 0x7F80 : 0x7C00;
    same("16", kind, "add.noftz." + name, [=](uint64_t x, uint64_t y) { return sumOfHalves(x, y, isBF16); });
    same("32", pair, "add.noftz." + name + "x2", [=](uint64_t x, uint64_t y) {
      return sumOfHalves(x >> 16, y >> 16, isBF16) << 16 | sumOfHalves(x & 0xFFFF, y & 0xFFFF, isBF16);
    });
    for (const bool smaller : {true, false})
      forms.push_back({std::string("st.global.b32 [%out], %a; red.global.v2.") + name + (smaller ? ".min" : ".max") +
                           ".noftz [%out], {%b, %c}; ld.global.b32 %d, [%out];",
                       "d32 a32" + pair + " b16" + kind + " c16" + kind, [=](Lane& v) {
                         v.d = extremeOfHalves(v.a >> 16, v.c, infinity, smaller) << 16 |
                               extremeOfHalves(v.a & 0xFFFF, v.b, infinity, smaller);
                       }});
  }
  // Reductions, which return nothing; generic addresses; pairs at once.
  const auto reduce = [&](const std::string& bits, const std::string& kind, const std::string& operation, auto update,
                          auto updateInShared) {
    const std::string registers = "d" + bits + " a" + bits + kind + " b" + bits + kind;
    const auto text = [&](const std::string& atomic) {
      std::string text = atomic;
      text.replace(text.find("atom."), 5, "red.");
      return text.erase(text.find(" %e,"), 4);
    };
    forms.push_back({text(inGlobal(bits, operation)), registers, [=](Lane& v) { v.d = update(v.a, v.b); }});
    forms.push_back({text(inShared(bits, operation)), registers, [=](Lane& v) { v.d = updateInShared(v.a, v.b); }});
  };
  const auto sum = [](bool flush) { return [=](uint64_t x, uint64_t y) { return sum32(x, y, flush); }; };
  reduce("32", "f", "add.f32", sum(true), sum(false));
  forms.push_back({"st.global.b32 [%out], %a; atom.add.f32 %e, [%out], %b; ld.global.b32 %d, [%out];",
                   "d32 e32 a32f b32f", [=](Lane& v) { v.d = sum32(v.a, v.b, true), v.e = v.a; }});
  forms.push_back({"st.global.v2.b32 [%out], {%a, %b}; red.global.v2.f32.add [%out], {%x, %y}; "
                   "ld.global.v2.b32 {%d, %e}, [%out]; mov.b32 %t, 0; st.global.b32 [%out+4], %t;",
                   "d32 e32 a32f b32f x32f y32f",
                   [=](Lane& v) { v.d = sum32(v.a, v.x, true), v.e = sum32(v.b, v.y, true); }});
  for (const bool isBF16 : {false, true}) {
    const std::string kind = isBF16 ? "G" : "H", name = isBF16 ? "bf16x2" : "f16x2";
    const auto sumOfPairs = [=](uint64_t x, uint64_t y) {
      return sumOfHalves(x >> 16, y >> 16, isBF16) << 16 | sumOfHalves(x & 0xFFFF, y & 0xFFFF, isBF16);
    };
    reduce("32", kind, "add.noftz." + name, sumOfPairs, sumOfPairs);
    forms.push_back({"st.global.v2.b32 [%out], {%a, %b}; red.global.v2." + name + ".add.noftz [%out], {%x, %y}; " +
                         "ld.global.v2.b32 {%d, %e}, [%out]; mov.b32 %t, 0; st.global.b32 [%out+4], %t;",
                     "d32 e32 a32" + kind + " b32" + kind + " x32" + kind + " y32" + kind,
                     [=](Lane& v) { v.d = sumOfPairs(v.a, v.x), v.e = sumOfPairs(v.b, v.y); }});
  }
  same("32", "", "inc.u32", [](uint64_t x, uint64_t y) { return x >= y ? 0 : x + 1; });
  same("32", "", "dec.u32", [](uint64_t x, uint64_t y) { return x == 0 || x > y ? y : x - 1; });
  same("32", "", "min.s32", [](uint64_t x, uint64_t y) { return int32_t(x) < int32_t(y) ? x : y; });
  same("64", "", "max.s64", [](uint64_t x, uint64_t y) { return int64_t(x) > int64_t(y) ? x : y; });
  same("64", "", "min.u64", [](uint64_t x, uint64_t y) { return x < y ? x : y; });
  return forms;
}

} // namespace

BOOST_AUTO_TEST_CASE(forms_of_each_kind) { checkForms(atomicForms(), "atomics"); }
