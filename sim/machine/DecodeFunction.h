// sim/machine/DecodeFunction.h -- a function's body becomes instructions that run.
//
// Here:      ProgramBuilder (an entry and what it calls), FunctionDecoder (slots for registers, constants and special registers,
//            guards, branch targets).
// Not here:  operands as instructions ask for them (isa/Decode.cpp), control flow's instructions (DecodeControl.cpp), registers
//            that may be unwritten (DecodeDoubtful.cpp), single instructions (isa/).
// Idea:      a body is decoded twice. The first time every register has a place of its own, and what each instruction reads and
//            writes is noted as its decode function asks for it; then registers whose lives do not meet get one place, and the
//            second time makes the code.
#pragma once
#include "sim/isa/Decode.h"
#include "sim/machine/Program.h"
#include "sim/machine/Registers.h"
#include <deque>
#include <map>

namespace tiletwin::sim {

/// What the decoders of a program's functions share.
struct ProgramBuilder {
  const ptx::Module* module = nullptr;
  Program* program = nullptr;
  ptx::Diagnostic* error = nullptr;
  bool keepsRegisters = false; ///< none shares its place with another

  /// Lays shared memory and parameters out and decodes the entry and all that it may call. False: `error` is set.
  bool build(size_t entry);

private:
  bool layOutParameters(const ptx::Function& entry);
  bool findFunctions(size_t entry);
  void findAsync();
  bool layOutShared();
};

class FunctionDecoder {
public:
  FunctionDecoder(ProgramBuilder& builder, const ptx::Function& function, FunctionCode& code);
  /// Where its variables lie; before any function is decoded, since calls look at the variables of other functions.
  bool layOutVariables();
  bool run();

  // For Decoder and the control-flow instructions.
  bool fail(ptx::Position at, std::string message);
  Slot registerSlot(const ptx::Operand& operand);
  void reads(const ptx::Operand& operand) { uses_[size_t(current_)].reads.push_back(number(operand)); }
  void writes(const ptx::Operand& operand);
  /// Index into FunctionCode::productRegisters, or -1.
  int productNumber(const ptx::Operand& operand) const { return productNumbers_[size_t(number(operand))]; }
  const ptx::Register& registerOf(const ptx::Operand& operand) const {
    return function_.registers[size_t(operand.index)];
  }
  Slot special(Special special, int bytes);
  Slot broadcast(const void* value, size_t bytes);
  Slot temporary(size_t bytesPerLane);
  Inst& emitBefore() { return before_.emplace_back(); }
  Inst& emitAfter() { return after_.emplace_back(); }
  const ptx::Function& function() const { return function_; }
  const ptx::Instruction& current() const { return function_.body[size_t(current_)]; }
  ProgramBuilder& builder() { return builder_; }
  FunctionCode& code() { return code_; }
  /// The variable's offset in its space, 0 for global ones; which is of the module if `isLocal` is false.
  uint32_t offsetOf(const ptx::Operand& variable) const;
  const ptx::Variable& variableOf(const ptx::Operand& variable) const;
  /// The space that holds it while the function runs: parameters of functions are local memory.
  ptx::Space spaceOf(const ptx::Operand& variable) const;

private:
  int32_t number(const ptx::Operand& operand) const {
    return firstNumber_[size_t(operand.index)] + std::max<int32_t>(operand.component, 0);
  }
  void numberRegisters();
  void placeApart();
  void placeTogether(const FlowGraph& graph);
  bool decodeBody(const FlowGraph& graph);
  bool decodeInstruction();
  bool decodeByFamily(const ptx::Instruction& in, Inst& out);
  /// bra, brx, call, ret, exit: true if `in` is one of them; `ok` says whether it was decoded.
  bool decodeControl(const ptx::Instruction& in, Words& words, Inst& out, bool& ok);
  bool decodeBranch(const ptx::Instruction& in, Words& words, Inst& out);
  bool decodeBranchTable(const ptx::Instruction& in, Words& words, Inst& out);
  bool decodeCall(const ptx::Instruction& in, Words& words, Inst& out);
  bool decodeBuiltinCall(const ptx::Instruction& in, const ptx::Function& callee, Inst& out);
  void append(Inst out);
  void numberProductRegisters();
  const void* productRegisterUses();
  void noteDoubtful();
  void finish();

  ProgramBuilder& builder_;
  const ptx::Function& function_;
  FunctionCode& code_;
  Decoder decoder_;
  int32_t current_ = 0; ///< index into the body
  const FlowGraph* graph_ = nullptr;
  std::vector<RegisterUses> uses_;
  std::vector<int32_t> firstNumber_;    ///< of each register's first component
  std::vector<uint8_t> size_;           ///< of each numbered register; 0: predicate
  std::vector<int32_t> productNumbers_; ///< of each numbered register in FunctionCode::productRegisters; -1: none
  std::vector<bool> alone_;             ///< numbered registers that share their place with none
  std::vector<bool> mayBeUnwritten_;    ///< numbered registers that may be read before they are written
  std::vector<uint32_t> offset_;        ///< of each numbered register; Slot::kNone: never used
  uint32_t nextOffset_ = 0;             ///< behind the registers: temporaries
  uint32_t nextPredicate_ = 0, predicatesEnd_ = 0;
  std::deque<Inst> before_, after_;
  std::vector<int32_t> firstInst_; ///< of each instruction of the body, and of the end
  std::map<std::pair<Special, int>, Slot> specials_;
  std::map<std::string, Slot> broadcasts_;
  std::vector<std::byte> constants_;
};

/// Bytes a lane of a register takes; 0 for a predicate.
uint8_t laneBytes(ptx::Type type);

} // namespace tiletwin::sim
