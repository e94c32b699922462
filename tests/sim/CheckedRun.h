// tests/sim/CheckedRun.h -- runs a PTX text and looks at what checks say; for tests.
// In a text, a comment `// HERE` ends the line that has to be reported, `// THERE` that of the second place.
#pragma once
#include "tests/sim/SimRun.h"
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <functional>

namespace tiletwin::sim {

/// How a text is launched; p0, p1, ... have `words` words each, filled with 1, 2, 3, ...
struct Launched {
  uint32_t block = 32, grid = 1, cluster = 1;
  int pointers = 2;
  size_t words = 1024;
  uint64_t limit = 1'000'000;
  std::function<void(SimRun&)> prepare = [](SimRun&) {};
};

struct Said {
  std::vector<Finding> findings;
  Trap trap;
};

inline Said runChecked(const std::string& text, const Launched& how) {
  SimRun run(text);
  std::vector<std::vector<uint32_t>> memory(size_t(how.pointers), std::vector<uint32_t>(how.words));
  for (std::vector<uint32_t>& words : memory) {
    for (size_t i = 0; i < words.size(); ++i) words[i] = uint32_t(i) + 1;
    run.buffer(words);
  }
  run.params.cluster = {how.cluster, 1, 1};
  run.params.threads = 1;
  run.params.instructionLimit = how.limit;
  how.prepare(run);
  Said said;
  said.trap = run.launch(how.grid, how.block).trap;
  said.findings = run.findings.take();
  return said;
}

/// Numbers of the lines that a mark ends, from 1.
inline std::vector<int> linesOf(const std::string& text, std::string_view mark) {
  std::vector<int> lines;
  int line = 1;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\n') ++line;
    if (text.compare(at, mark.size(), mark) == 0) lines.push_back(line);
  }
  return lines;
}

inline std::string describe(const Said& said) {
  std::string text = said.trap.message;
  for (const Finding& f : said.findings)
    text += "\n" + std::to_string(f.where.line) + ": " + f.operation + ": " + f.message + f.detail +
            (f.second ? " / " + std::to_string(f.second->line) + ": " + f.secondOperation + " " + f.secondText : "");
  return text;
}

/// One finding, at the line marked HERE and, if one is marked, with THERE as its second place.
inline Finding expectFinding(const std::string& text, Check check, std::string_view message, const Launched& how) {
  const Said said = runChecked(text, how);
  BOOST_REQUIRE_MESSAGE(said.findings.size() == 1, "one finding is wanted, got: " << describe(said) << "\n" << text);
  const Finding& f = said.findings.front();
  BOOST_TEST((f.check == check));
  BOOST_TEST(f.message.find(message) != std::string::npos, "'" << f.message << "' lacks '" << message << "'");
  const std::vector<int> here = linesOf(text, "// HERE"), there = linesOf(text, "// THERE");
  BOOST_REQUIRE(here.size() == 1u);
  BOOST_TEST(f.where.line == here.front(), describe(said) << "\n" << text);
  if (there.empty()) return f;
  BOOST_REQUIRE_MESSAGE(f.second, describe(said));
  BOOST_TEST(std::count(there.begin(), there.end(), f.second->line) == 1, describe(said) << "\n" << text);
  return f;
}

inline void expectNothing(const std::string& text, const Launched& how) {
  const Said said = runChecked(text, how);
  BOOST_TEST((said.findings.empty() && !said.trap), "nothing is wrong here: " << describe(said) << "\n" << text);
}

} // namespace tiletwin::sim
