// tests/interp/ProgramOrderTest.cpp -- grids and lists of programs.
#include "interp/run/ProgramOrder.h"
#include <boost/test/unit_test.hpp>
#include <vector>

using namespace tiletwin::interp;

static std::vector<ProgramId> programs(const ProgramOrder& order) {
  std::vector<ProgramId> ids;
  ProgramOrder::Cursor cursor(order, 0);
  for (int64_t i = 0; i < order.count(); ++i, cursor.next())
    if (!cursor.skipped()) ids.push_back(cursor.id());
  return ids;
}

BOOST_AUTO_TEST_CASE(x_runs_fastest) {
  std::vector<ProgramId> expected = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0},
                                     {0, 0, 1}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}};
  BOOST_TEST((programs(ProgramOrder({2, 2, 2})) == expected));
}

BOOST_AUTO_TEST_CASE(only_and_skip) {
  std::vector<int64_t> only = {1, 4, 5}, skip = {0, 3, 4};
  BOOST_TEST((programs(ProgramOrder({2, 3, 1}, only)) == std::vector<ProgramId>{{1, 0, 0}, {0, 2, 0}, {1, 2, 0}}));
  BOOST_TEST((programs(ProgramOrder({2, 3, 1}, {}, skip)) == std::vector<ProgramId>{{1, 0, 0}, {0, 1, 0}, {1, 2, 0}}));
  BOOST_TEST((programs(ProgramOrder({2, 3, 1}, only, skip)) == std::vector<ProgramId>{{1, 0, 0}, {1, 2, 0}}));
}

BOOST_AUTO_TEST_CASE(cursors_start_anywhere) {
  std::vector<int64_t> skip = {0, 3, 4};
  ProgramOrder order({2, 3, 1}, {}, skip);
  ProgramOrder::Cursor cursor(order, 4);
  BOOST_TEST(cursor.skipped());
  cursor.next();
  BOOST_TEST(!cursor.skipped());
  BOOST_TEST((cursor.id() == ProgramId{1, 2, 0}));
}

BOOST_AUTO_TEST_CASE(a_single_program_may_lie_outside_of_its_grid) {
  ProgramOrder order = ProgramOrder::single({2, 1, 1}, {7, 8, 9});
  BOOST_TEST(order.count() == 1);
  BOOST_TEST(order.problem() == "");
  BOOST_TEST((programs(order) == std::vector<ProgramId>{{7, 8, 9}}));
  BOOST_TEST((order.grid() == ProgramId{2, 1, 1}));
}

BOOST_AUTO_TEST_CASE(the_largest_grid_is_counted_in_64_bits) {
  ProgramOrder order({2147483647, 65535, 65535});
  BOOST_TEST(order.count() == 2147483647LL * 65535 * 65535);
  ProgramOrder::Cursor last(order, order.count() - 1);
  BOOST_TEST((last.id() == ProgramId{2147483646, 65534, 65534}));
}

BOOST_AUTO_TEST_CASE(bad_input_is_named) {
  std::vector<int64_t> descending = {3, 1}, far = {0, 6}, twice = {2, 2}, negative = {-1, 2};
  BOOST_TEST(ProgramOrder({-1, 1, 1}).problem() == "grid (-1, 1, 1) has a negative size");
  BOOST_TEST(ProgramOrder({2147483647, 2147483647, 2147483647}).problem() ==
             "grid (2147483647, 2147483647, 2147483647) has more than 2^63 programs");
  BOOST_TEST(ProgramOrder({6, 1, 1}, descending).problem() ==
             "the list of programs to run must be ascending, each program once");
  BOOST_TEST(ProgramOrder({6, 1, 1}, {}, twice).problem() ==
             "the list of programs to skip must be ascending, each program once");
  BOOST_TEST(ProgramOrder({6, 1, 1}, far).problem() ==
             "the list of programs to run names program 6, but grid (6, 1, 1) has programs 0 to 5");
  BOOST_TEST(ProgramOrder({6, 1, 1}, negative).problem() ==
             "the list of programs to run names program -1, but grid (6, 1, 1) has programs 0 to 5");
}
