// tests/sim/Text.h -- what a message must hold.
#pragma once
#include <boost/test/unit_test.hpp>
#include <string>
#include <string_view>

namespace tiletwin::sim {

inline void has(const std::string& text, std::string_view part) {
  BOOST_TEST(text.find(part) != std::string::npos, "'" << text << "' lacks '" << part << "'");
}

} // namespace tiletwin::sim
