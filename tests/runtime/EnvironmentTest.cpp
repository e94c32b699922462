// tests/runtime/EnvironmentTest.cpp -- TILETWIN_* variables: what parses, and what the errors say.
#include "runtime/Environment.h"
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

using namespace tiletwin;

namespace {
struct Set {
  const char* name;
  Set(const char* n, const char* value) : name(n) { setenv(n, value, 1); }
  ~Set() { unsetenv(name); }
};

template <class F> std::string errorOf(F&& f) {
  try {
    f();
  } catch (const environment::Error& error) { return error.what(); }
  return "";
}
} // namespace

BOOST_AUTO_TEST_CASE(unset_and_empty_mean_nothing) {
  unsetenv("TILETWIN_NUM_THREADS");
  BOOST_TEST(!environment::numThreads().has_value());
  Set set("TILETWIN_NUM_THREADS", "  ");
  BOOST_TEST(!environment::numThreads().has_value());
}

BOOST_AUTO_TEST_CASE(numbers) {
  Set set("TILETWIN_NUM_THREADS", " 8 ");
  BOOST_TEST(environment::numThreads().value() == 8);
  for (const char* bad : {"0", "-1", "8x", "many", "99999999999999999999"}) {
    Set again("TILETWIN_NUM_THREADS", bad);
    BOOST_TEST(errorOf([] { environment::numThreads(); }) ==
               "TILETWIN_NUM_THREADS=" + std::string(bad) +
                   ": expected a whole number from 1 to 4096; correct or unset the variable");
  }
}

BOOST_AUTO_TEST_CASE(numerics) {
  BOOST_TEST(bool(environment::numerics() == environment::Numerics::Fast));
  Set set("TILETWIN_NUMERICS", "IEEE");
  BOOST_TEST(bool(environment::numerics() == environment::Numerics::Ieee));
  Set bad("TILETWIN_NUMERICS", "precise");
  BOOST_TEST(errorOf([] { environment::numerics(); }) ==
             "TILETWIN_NUMERICS=precise: expected one of: fast, ieee; correct or unset the variable");
}

BOOST_AUTO_TEST_CASE(variables_of_a_launch) {
  auto eager = [] { return environment::launchVariables()->mayBeEager; };
  BOOST_TEST(!eager());
  for (const char* name : {"TILETWIN_EAGER", "TILETWIN_PROGRAM"}) {
    Set empty(name, "");
    BOOST_TEST(!eager());
    Set set(name, "1");
    BOOST_TEST(eager());
  }
  Set others("TILETWIN_EAGERLY", "1");
  Set prefixed("MY_TILETWIN_EAGER", "1");
  BOOST_TEST(!eager());
  BOOST_TEST(environment::launchVariables()->numerics == "");
  Set numerics("TILETWIN_NUMERICS", "ieee");
  BOOST_TEST(environment::launchVariables()->numerics == "ieee");
}

BOOST_AUTO_TEST_CASE(variables_that_change_between_launches) {
  auto numerics = [] { return environment::launchVariables()->numerics; };
  const auto before = environment::launchVariables();
  BOOST_TEST(environment::launchVariables() == before); // nothing has changed: it is not read again
  for (const char* value : {"ieee", "fast", "ieee", "fast"}) {
    Set set("TILETWIN_NUMERICS", value);
    BOOST_TEST(numerics() == value);
    std::string elsewhere;
    std::thread([&] { elsewhere = numerics(); }).join();
    BOOST_TEST(elsewhere == value);
  }
  BOOST_TEST(numerics() == "");
  static char entry[] = "TILETWIN_NUMERICS=ieee";
  putenv(entry); // no copy is made
  BOOST_TEST(numerics() == "ieee");
  std::copy_n("fast", 4, entry + sizeof("TILETWIN_NUMERICS"));
  BOOST_TEST(numerics() == "fast");
  unsetenv("TILETWIN_NUMERICS");
  for (int i = 0; i < 300; ++i) setenv(("MANY_" + std::to_string(i)).c_str(), "1", 1); // environ moves
  Set set("TILETWIN_NUMERICS", "ieee");
  BOOST_TEST(numerics() == "ieee");
  for (int i = 0; i < 300; ++i) unsetenv(("MANY_" + std::to_string(i)).c_str());
  BOOST_TEST(numerics() == "ieee");
  BOOST_TEST(before->numerics == ""); // who holds what was read keeps it
}

BOOST_AUTO_TEST_CASE(who_interprets) {
  std::ifstream table(TILETWIN_TEST_DATA "/interprets.txt");
  int rows = 0;
  for (std::string line; std::getline(table, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string place, bar, import, word;
    words >> place >> bar >> import >> bar;
    std::vector<std::string> names;
    while (words >> word) {
      const size_t equals = word.find('=');
      names.push_back(word.substr(0, equals));
      setenv(names.back().c_str(), word.c_str() + equals + 1, 1);
    }
    std::string answer;
    const std::string error = errorOf([&] { answer = environment::launchVariables()->interprets ? "CPU" : "GPU"; });
    if (!error.empty()) answer = "ERROR";
    BOOST_TEST(answer == place, line << ": " << answer << " " << error);
    if (!error.empty())
      BOOST_TEST(error == "TILETWIN_BACKEND=" + std::string(getenv("TILETWIN_BACKEND")) +
                              ": expected one of: interp, sim, cuda, diff; correct or unset the variable");
    for (const std::string& name : names) unsetenv(name.c_str());
    ++rows;
  }
  BOOST_TEST(rows > 40);
}

BOOST_AUTO_TEST_CASE(flags) {
  BOOST_TEST(!environment::flag("TILETWIN_TEST_FLAG").has_value());
  for (const char* yes : {"1", "true", "YES", "on"}) {
    Set set("TILETWIN_TEST_FLAG", yes);
    BOOST_TEST(environment::flag("TILETWIN_TEST_FLAG").value());
  }
  for (const char* no : {"0", "False", "no", "off", "n", "NONE"}) {
    Set set("TILETWIN_TEST_FLAG", no);
    BOOST_TEST(!environment::flag("TILETWIN_TEST_FLAG").value());
  }
  Set set("TILETWIN_TEST_FLAG", "maybe");
  BOOST_TEST(
      errorOf([] { environment::flag("TILETWIN_TEST_FLAG"); }) ==
      "TILETWIN_TEST_FLAG=maybe: expected 1 (true, yes, on) or 0 (false, no, off); correct or unset the variable");
}
