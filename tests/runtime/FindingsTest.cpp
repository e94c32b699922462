// tests/runtime/FindingsTest.cpp -- words of TILETWIN_CHECK, and what the collector of findings merges.
#include "runtime/Findings.h"
#include "runtime/Environment.h"
#include <boost/test/unit_test.hpp>
#include <string>
#include <thread>

using namespace tiletwin;

BOOST_AUTO_TEST_SUITE(findings)

BOOST_AUTO_TEST_CASE(words) {
  CheckSet set = parseChecks(" Nan, undefined ,raise");
  BOOST_TEST(set.has(Check::Nan));
  BOOST_TEST(set.has(Check::Undefined));
  BOOST_TEST(!set.has(Check::Races));
  BOOST_TEST(set.raise);
  BOOST_TEST(parseChecks("device:h100").device == "h100");
  BOOST_TEST(parseChecks("device:h100").has(Check::Device));
  BOOST_TEST(!parseChecks("device:h100").codeBits());
  BOOST_TEST(!parseChecks("async").codeBits()); // of the simulator
  BOOST_TEST(parseChecks("barriers").looksAtMemory());
  BOOST_TEST(!bool(parseChecks("")));
  BOOST_TEST(!bool(parseChecks("0")));
  BOOST_TEST(!bool(parseChecks("off")));
  for (int i = 0; i < int(Check::Count); ++i) {
    BOOST_TEST(parseChecks("all").has(Check(i)));
    BOOST_TEST(parseChecks("raise").has(Check(i)));
    BOOST_TEST((checkOf(nameOf(Check(i))) == Check(i)));
  }
}

BOOST_AUTO_TEST_CASE(bad_words) {
  for (const char* text : {"race", "nan;undefined", "device:", "all,everything"})
    BOOST_CHECK_EXCEPTION(parseChecks(text), environment::Error, [&](const environment::Error& error) {
      const std::string what = error.what();
      return what.find(text) != std::string::npos && what.find("uninitialized") != std::string::npos;
    });
}

static Finding finding(int line, std::array<int32_t, 3> program, std::vector<int64_t> elements = {}) {
  Finding f;
  f.check = Check::Overflow;
  f.where = {"k.py", line, 3, "x"};
  f.message = "wrong";
  f.program = program;
  f.shape = {8};
  f.elementCount = int64_t(elements.size());
  f.elements = std::move(elements);
  return f;
}

BOOST_AUTO_TEST_CASE(equal_ones_are_one) {
  FindingCollector collector;
  BOOST_TEST(collector.empty());
  collector.add(finding(9, {3, 0, 0}, {5}));
  collector.add(finding(9, {1, 0, 0}, {6, 7}));
  collector.add(finding(9, {1, 0, 0}, {0}));
  collector.add(finding(9, {0, 1, 0}, {1}));
  collector.add(finding(4, {2, 0, 0}));
  std::vector<Finding> all = collector.take();
  BOOST_REQUIRE(all.size() == 2u);
  BOOST_TEST(all[0].where.line == 4);
  BOOST_TEST(all[1].programs == 3);
  BOOST_TEST((all[1].program == std::array<int32_t, 3>{1, 0, 0})); // x runs fastest
  BOOST_TEST((all[1].elements == std::vector<int64_t>{6, 7}));
  BOOST_TEST(all[1].elementCount == 2);
  BOOST_TEST(collector.empty());
}

BOOST_AUTO_TEST_CASE(what_belongs_to_a_program_is_that_of_the_lowest) {
  FindingCollector collector;
  Finding late = finding(9, {3, 0, 0}, {5}), early = finding(9, {1, 0, 0}, {6});
  late.second = early.second = SourceLocation{"k.py", 5, 1, ""};
  late.detail = ", byte 20", late.secondText = "lane 5";
  early.detail = ", byte 24", early.secondText = "lane 6";
  collector.add(late);
  collector.add(early);
  collector.add(late);
  std::vector<Finding> all = collector.take();
  BOOST_REQUIRE(all.size() == 1u);
  BOOST_TEST(all[0].detail == ", byte 24");
  BOOST_TEST(all[0].secondText == "lane 6");
  BOOST_TEST(all[0].programs == 2);
}

BOOST_AUTO_TEST_CASE(a_second_place_makes_another) {
  FindingCollector collector;
  Finding one = finding(9, {0, 0, 0}), other = one;
  one.second = SourceLocation{"k.py", 5, 1, ""};
  other.second = SourceLocation{"k.py", 6, 1, ""};
  collector.add(one);
  collector.add(other);
  collector.add(one);
  BOOST_TEST(collector.take().size() == 2u);
}

BOOST_AUTO_TEST_CASE(forms_are_recognised_from_all_threads) {
  FindingCollector collector;
  const Finding form = finding(9, {-1, 0, 0}), twin = form;
  auto report = [&](const Finding& which, int32_t first) {
    for (int32_t i = 0; i < 1000; ++i) collector.add(which, {first + i, 0, 0}, {8}, {i % 8}, 1);
  };
  std::thread a([&] { report(form, 500); }), b([&] { report(twin, 0); });
  a.join();
  b.join();
  std::vector<Finding> all = collector.take();
  BOOST_REQUIRE(all.size() == 1u);
  BOOST_TEST(all[0].programs == 1500);
  BOOST_TEST(all[0].program[0] == 0);
  BOOST_TEST(all[0].elementCount == 1);
}

BOOST_AUTO_TEST_CASE(a_finding_of_no_program) {
  FindingCollector collector;
  collector.add(finding(1, {-1, 0, 0}));
  collector.add(finding(1, {-1, 0, 0}));
  std::vector<Finding> all = collector.take();
  BOOST_REQUIRE(all.size() == 1u);
  BOOST_TEST(all[0].programs == 0);
}

BOOST_AUTO_TEST_SUITE_END()
