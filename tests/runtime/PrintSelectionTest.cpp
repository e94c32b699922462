// tests/runtime/PrintSelectionTest.cpp -- the grammar of TILETWIN_PRINT: programs, slices, errors.
#include "runtime/PrintSelection.h"
#include "runtime/Environment.h"
#include <boost/test/unit_test.hpp>
#include <string>

using namespace tiletwin;

static std::string shown(const char* text) {
  PrintSelection selection(text, {3, 2, 1});
  std::string out;
  for (int y = 0; y < 2; ++y)
    for (int x = 0; x < 3; ++x) out += selection.shows({x, y, 0}) ? '1' : '0';
  return out;
}

static std::string elements(const char* text, std::vector<int64_t> shape) {
  ShownElements chosen = PrintSelection(text, {1, 1, 1}).elements({0, 0, 0}, shape);
  std::string out;
  int64_t count = 1;
  for (int64_t s : shape) count *= s;
  for (int64_t e = 0; e < count; ++e) out += chosen.has(e) ? '1' : '0';
  return out;
}

BOOST_AUTO_TEST_CASE(print_selection_programs) {
  BOOST_TEST(shown("1") == "010000");
  BOOST_TEST(shown("1,1") == "000010");
  BOOST_TEST(shown("0-1,*") == "110110");
  BOOST_TEST(shown(" 2 ; 0,1 ") == "001100");
  BOOST_TEST(shown("[0]") == "111111");
  BOOST_TEST(shown("*") == "111000");
  BOOST_TEST(shown("none") == "000000");
  BOOST_TEST(shown("random:6") == "111111");
  BOOST_TEST(shown("random:0") == "000000");
  BOOST_TEST(shown("random:3") == shown("random:3"));
}

BOOST_AUTO_TEST_CASE(print_selection_elements) {
  BOOST_TEST(elements("*", {4}) == "1111");
  BOOST_TEST(elements("[1:3]", {4}) == "0110");
  BOOST_TEST(elements("[::3]", {4}) == "1001");
  BOOST_TEST(elements("[-2:]", {4}) == "0011");
  BOOST_TEST(elements("[-9:1]", {4}) == "1000");
  BOOST_TEST(elements("[3:1]", {4}) == "0000");
  BOOST_TEST(elements("[1, 0]", {2, 2}) == "0010");
  BOOST_TEST(elements("[:, 1]", {2, 2}) == "0101");
  BOOST_TEST(elements("[0]; [:, 1]", {2, 2}) == "1101");
  BOOST_TEST(elements("[0]; *", {2, 2}) == "1111");
}

BOOST_AUTO_TEST_CASE(print_selection_errors) {
  for (const char* bad : {"a", "1,2,3,4", "1-", "-1", "1-2-3", "3[", "[1:2:0]", "[x]", "[1:2:3:4]", "random:", "[]"})
    BOOST_CHECK_THROW(PrintSelection(bad, {1, 1, 1}), environment::Error);
}
