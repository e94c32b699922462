// sim/debugger/Lines.h -- lines of source and instructions.
//
// Here:      the lines that an instruction comes from, and the instructions that a breakpoint at a line or a function means.
// Not here:  when a breakpoint stops (Debugger.h).
// Idea:      a compiler spreads a line over many places. A breakpoint means the line's first instruction in each basic block, so
//            that it stops once in each round of a loop.
#pragma once
#include "sim/machine/Program.h"
#include <string>
#include <string_view>
#include <vector>

namespace tiletwin::sim::debugger {

/// A line, and the function whose text it is.
struct Line {
  std::string_view file;
  int32_t line = 0, column = 0;
  std::string_view function; ///< that was inlined; empty: the function that runs
  friend bool operator==(const Line& a, const Line& b) {
    return a.file == b.file && a.line == b.line && a.function == b.function;
  }
};

/// A function as the source calls it: "twice" for "_Z5twicefi"; a name that C++ did not make stays.
std::string sourceName(const std::string& symbol);

/// Where an instruction comes from, the innermost line first, then those of the calls that were inlined. Without .loc it is the
/// line of the PTX. Empty: the compiler says that it comes from no line (.loc with line 0).
std::vector<Line> linesOf(const Program& program, const ptx::Instruction& in);

/// An instruction of the text.
struct Place {
  const FunctionCode* code = nullptr;
  int32_t instruction = 0;
};

/// What a breakpoint's place came to.
struct Places {
  std::vector<Place> places; ///< empty: there is none
  std::string file;          ///< as the module names it
  int32_t line = 0;          ///< the first one at or behind the line asked for that has instructions
};

/// `file` is the end of a path: "kernel.py" with or without folders in front, or the PTX's name.
Places placesOfLine(const Program& program, std::string_view file, int32_t line);
/// The first instruction of a function that comes from a line, in code for debuggers from its second one; of one that was inlined its first in each basic block.
Places placesOfFunction(const Program& program, std::string_view name);

} // namespace tiletwin::sim::debugger
