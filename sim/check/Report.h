// sim/check/Report.h -- from what a check has seen to a Finding: where it stands in the PTX and in the kernel's source, and who did it.
// Not here:  what the checks look for, who collects findings (runtime/Findings.h), traps (machine/TrapText.h).
// Invariant: a finding's message and places depend on the text of the kernel only, so that equal mistakes of many threads are one
//            finding; what belongs to one thread is its detail, its elements and the text of its second place.
#pragma once
#include "runtime/Findings.h"
#include "sim/machine/Cta.h"
#include <string>

namespace tiletwin::sim {

/// Lanes of a warp at an instruction.
struct ThreadsAt {
  const Warp* warp = nullptr;
  const Inst* inst = nullptr;
  LaneMask lanes = 0;
};

/// The instruction of the text that an Inst was made of, whichever of the program's functions it lies in.
const ptx::Instruction& instructionOf(const Program& program, const Inst* inst);
/// "kernel.ptx:12:5"
std::string ptxPlaceOf(const Program& program, const Inst* inst);

/// A finding at these threads' instruction.
Finding findingOf(Check check, const ThreadsAt& who, std::string message, std::string advice = {});
/// Its second place: `text` says what happened there. `warp` null: nobody in particular.
void addSecond(Finding& finding, const Program& program, const ThreadsAt& who, std::string text);
/// Hands it to whoever launched the grid; nothing if nobody collects findings.
void report(Grid& grid, Finding finding);

/// "byte 128 of cells" for shared memory of a CTA (its own, to those that look: of `viewer`), "byte 4 of p0" for global memory.
std::string placeInShared(const Cta& viewer, const Cta& cta, uint64_t offset);
std::string placeInGlobal(const Grid& grid, uint64_t address);

} // namespace tiletwin::sim
