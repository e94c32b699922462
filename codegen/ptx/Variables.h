// codegen/ptx/Variables.h -- LLVM's debug values as comments of the PTX: which register holds what from here on.
// Source:    emit/NoteOps.cpp makes them, python/tiletwin/debugger/kernel_variables.py reads them.
// Format:    `// tiletwin.var: 12.3 %r5`: register 3 of note 12 is in %r5. `12 0x1`: the note is reached. `12.3+16 %r5`: 16 bits up
//            in it. Several registers stand with commas between; a number among them is a constant's bits. Behind them may stand
//            what DWARF computes of them (`plus_uconst 4`); `?`: the value is nowhere. Behind the code, for each note,
//            `// tiletwin.note: ASSIGNMENT|NAME|CALLERS|LANGUAGE TYPE|ELEMENT|LAYOUT`, and for each line of the source
//            LAYOUT is a tile's (emit/NoteOps.cpp), "scalar", "parameter 3", or "round" of a loop's variable.
//            `// tiletwin.line: kernel.py:12 1,2,9`, the assignments that it may find (-: none).
// Invariant: the code is the same as without them.
#pragma once
#include "llvm/IR/DebugProgramInstruction.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/IR/ValueHandle.h"
#include <string>
#include <utility>
#include <vector>

namespace llvm {
class MachineFunctionPass;
}

namespace tiletwin::codegen {

/// The module's metadata that has a text for each note.
inline constexpr llvm::StringLiteral kVariableTable = "tiletwin.variables";
/// And metadata that has one for each line.
inline constexpr llvm::StringLiteral kLineTable = "tiletwin.lines";

/// Where InstCombine takes an operation into the ways to a phi it lets the phi's debug values look at the result: those are
/// given up. To outlive the passes.
class PhiValues {
public:
  void watch(llvm::PassInstrumentationCallbacks& callbacks);

private:
  std::vector<std::pair<llvm::DbgVariableRecord*, llvm::WeakVH>> before_;
};
/// Writes debug values as inline assembly: the last pass in front of the printer.
llvm::MachineFunctionPass* createVariableComments();
/// Takes what stands around inline assembly from the comments, and adds the notes' texts.
void finishVariableComments(std::string& ptx, const llvm::Module& module);

} // namespace tiletwin::codegen
