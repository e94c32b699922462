// tests/sim/Words32.h -- kernels in which each thread writes one word.
#pragma once
#include "tests/sim/SimRun.h"
#include <boost/test/unit_test.hpp>

namespace tiletwin::sim {

/// Adds 4 bytes times the thread's number in the grid to %rd0: where a thread's result goes.
inline const std::string kOwnWord = "mov.u32 %r60, %ctaid.x;\nmov.u32 %r61, %ntid.x;\nmov.u32 %r62, %tid.x;\n"
                                    "mad.lo.s32 %r63, %r60, %r61, %r62;\nmul.wide.u32 %rd60, %r63, 4;\n"
                                    "add.s64 %rd0, %rd0, %rd60;\n";

/// Runs `body` on so many threads; each has its word of the result, zero at first, at %rd0 and its number in %r63.
struct Words32 {
  explicit Words32(const std::string& body, uint32_t grid = 1, uint32_t block = 32, const std::string& before = {})
      : run(ptxKernel(1, kOwnWord + body, before)), words(size_t(grid) * block) {
    run.buffer(words);
    result = run.launch(grid, block);
  }
  SimRun run;
  std::vector<uint32_t> words;
  Result result;
};

template <class Expected> void check(const Words32& got, Expected&& expected) {
  BOOST_REQUIRE_MESSAGE(!got.result.trap, got.result.trap.message);
  for (uint32_t i = 0; i < got.words.size(); ++i) BOOST_REQUIRE_EQUAL(got.words[i], uint32_t(expected(i)));
}

inline void checkTrap(const Result& result, TrapKind kind, const std::string& text) {
  BOOST_REQUIRE(result.trap.kind == kind);
  BOOST_CHECK_MESSAGE(result.trap.message.find(text) != std::string::npos, result.trap.message);
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

} // namespace tiletwin::sim
