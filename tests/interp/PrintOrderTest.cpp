// tests/interp/PrintOrderTest.cpp -- printed text arrives in order of program id, within bounds of memory, and not
// beyond a trap.
#include "FakeLaunch.h"
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <stdexcept>
#include <thread>

using namespace tiletwin;
using namespace tiletwin::interp;

static std::string expected(int programs, size_t bytes) {
  std::string text;
  for (int i = 0; i < programs; ++i) text += std::to_string(i) + std::string(bytes, '.') + "\n";
  return text;
}

static FakeLaunch& printing(FakeLaunch& launch, std::string& seen, size_t bytes) {
  launch.hooks.print = [&seen](const std::string& text) { seen += text; };
  launch.program = [bytes](const ProgramId& id, FakeFrame& frame, Trap&) {
    if (id[0] % 5 == 0) spin(int(unsigned(id[0]) * 2654435761u % 100));
    frame.printed = std::to_string(id[0]) + std::string(bytes, '.') + "\n";
    return true;
  };
  return launch;
}

BOOST_AUTO_TEST_CASE(prints_come_in_order_of_program_id) {
  for (int threads : {1, 2, 8})
    for (int round = 0; round < 5; ++round) {
      FakeLaunch launch(threads);
      std::string seen;
      BOOST_TEST(!printing(launch, seen, 3).run(ProgramOrder({500, 1, 1})));
      BOOST_REQUIRE(seen == expected(500, 3));
    }
}

BOOST_AUTO_TEST_CASE(threads_that_are_ahead_wait_when_much_text_waits) {
  for (int threads : {2, 8}) {
    FakeLaunch launch(threads);
    launch.options.printBytes = 1000;
    launch.options.pollMilliseconds = 2;
    std::string seen;
    BOOST_TEST(!printing(launch, seen, 400).run(ProgramOrder({200, 1, 1})));
    BOOST_REQUIRE(seen == expected(200, 400));
  }
}

BOOST_AUTO_TEST_CASE(a_slow_first_program_holds_back_a_bounded_amount) {
  FakeLaunch launch(4);
  launch.options.printBytes = 10'000;
  std::string seen;
  std::atomic<int> finished{0}, most{0};
  printing(launch, seen, 1000);
  auto print = launch.program;
  launch.program = [&](const ProgramId& id, FakeFrame& frame, Trap& trap) {
    if (id[0] == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      most = finished.load();
    }
    bool fine = print(id, frame, trap);
    ++finished;
    return fine;
  };
  BOOST_TEST(!launch.run(ProgramOrder({100, 1, 1})));
  BOOST_REQUIRE(seen == expected(100, 1000));
  BOOST_TEST(most <= 10 + 4 + 1);
}

BOOST_AUTO_TEST_CASE(nothing_above_a_trap_is_printed) {
  for (int round = 0; round < 20; ++round) {
    FakeLaunch launch(8);
    std::string seen;
    printing(launch, seen, 0);
    auto print = launch.program;
    launch.program = [&](const ProgramId& id, FakeFrame& frame, Trap& trap) {
      print(id, frame, trap);
      if (id[0] == 40) spin(300);
      if (id[0] == 40 || id[0] == 41) trap.kind = TrapKind::Assert;
      return !trap;
    };
    Trap trap = launch.run(ProgramOrder({300, 1, 1}));
    BOOST_REQUIRE(trap.program[0] == 40);
    BOOST_REQUIRE(seen == expected(41, 0)); // the trapped program's own text included
  }
}

BOOST_AUTO_TEST_CASE(a_loop_s_text_appears_while_it_runs) {
  FakeLaunch launch(1);
  std::string seen;
  launch.hooks.print = [&](const std::string& text) { seen += text; };
  size_t early = 0;
  launch.program = [&](const ProgramId&, FakeFrame& frame, Trap&) {
    for (int i = 0; i < 200; ++i) {
      frame.printed += "x";
      Seat::poll(frame.seat);
    }
    early = seen.size();
    return true;
  };
  BOOST_TEST(!launch.run(ProgramOrder({1, 1, 1})));
  BOOST_TEST(early > 0u);
  BOOST_TEST(seen == std::string(200, 'x'));
}

BOOST_AUTO_TEST_CASE(text_that_is_taken_while_programs_run_stays_in_order) {
  std::string wanted;
  for (int i = 0; i < 200; ++i)
    for (char part : {'a', 'b', 'c'}) wanted += std::to_string(i) + part + "\n";
  for (int threads : {1, 2, 8}) {
    FakeLaunch launch(threads);
    launch.options.printBytes = 500;
    launch.options.pollMilliseconds = 2;
    std::string seen;
    launch.hooks.print = [&seen](const std::string& text) { seen += text; };
    launch.program = [](const ProgramId& id, FakeFrame& frame, Trap& trap) {
      for (char part : {'a', 'b', 'c'}) {
        if (id[0] % 7 == 0) spin(20);
        frame.printed += std::to_string(id[0]) + part + "\n";
        if (!Seat::takePrinted(frame.seat)) trap.kind = TrapKind::Interrupted;
      }
      return !trap;
    };
    BOOST_TEST(!launch.run(ProgramOrder({200, 1, 1})));
    BOOST_REQUIRE(seen == wanted);
  }
}

BOOST_AUTO_TEST_CASE(an_error_of_the_reader_stops_the_launch) {
  for (int threads : {1, 4}) {
    FakeLaunch launch(threads);
    std::string seen;
    printing(launch, seen, 10);
    int calls = 0;
    launch.hooks.print = [&](const std::string&) {
      if (++calls == 3) throw std::runtime_error("the pipe is closed");
    };
    Trap trap = launch.run(ProgramOrder({100'000, 1, 1}));
    BOOST_TEST((trap.kind == TrapKind::Interrupted));
    BOOST_TEST(calls == 3);
  }
}
