// tests/sim/PtxText.h -- short texts as modules, for tests of the reader.
#pragma once
#include "sim/ptx/Ptx.h"
#include <boost/test/unit_test.hpp>
#include <memory>
#include <string>

namespace tiletwin::sim::ptx {

inline const std::string kHeader = ".version 8.0\n.target sm_90a\n.address_size 64\n"; ///< three lines

/// The module of a text behind kHeader; the test ends if it cannot be read.
inline std::unique_ptr<const Module> moduleOf(const std::string& text) {
  Diagnostic error;
  auto module = read(kHeader + text, error);
  BOOST_REQUIRE_MESSAGE(module, error.render("text", kHeader + text));
  return module;
}

inline const std::string kRegisters = ".reg .b32 %r<10>; .reg .b64 %rd<10>; .reg .f32 %f<10>; .reg .pred %p<5>;\n";
inline const std::string kEntry = ".visible .entry k(.param .u64 kp) {\n" + kRegisters; ///< two lines

/// The module of one entry "k" whose body is `body`; its first line is line 6.
inline std::unique_ptr<const Module> entryOf(const std::string& body, const std::string& front = {}) {
  return moduleOf(front + kEntry + body + "\n}\n");
}

/// "line:column: message" of a text that cannot be read, behind kHeader.
inline std::string errorOf(const std::string& text) {
  Diagnostic error;
  auto module = read(kHeader + text, error);
  if (module) return "no error";
  return std::to_string(error.at.line) + ":" + std::to_string(error.at.column) + ": " + error.message;
}

/// The same of a body's text: its first line is line 6.
inline std::string bodyError(const std::string& body) { return errorOf(kEntry + body + "\n}\n"); }

/// A module's one function.
inline const Function& only(const Module& module) {
  BOOST_REQUIRE_EQUAL(module.functions.size(), 1u);
  return module.functions[0];
}

/// The operands of the body's last instruction.
inline const std::vector<Operand>& operandsOf(const Module& module) {
  return module.functions.back().body.back().operands;
}

inline std::string registerName(const Function& function, const Operand& operand) {
  BOOST_REQUIRE(operand.kind == Operand::Kind::Register);
  return function.registers.at(size_t(operand.index)).name;
}

} // namespace tiletwin::sim::ptx
