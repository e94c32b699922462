// codegen/ptx/Variables.cpp -- see Variables.h.
#include "codegen/ptx/Variables.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineInstrBuilder.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Metadata.h"

using namespace llvm;

namespace tiletwin::codegen {
namespace {

constexpr StringLiteral kComment = "// tiletwin.var: ", kNote = "// tiletwin.note: ", kLine = "// tiletwin.line: ";

class VariableComments final : public MachineFunctionPass {
public:
  static char ID;
  VariableComments() : MachineFunctionPass(ID) {}
  StringRef getPassName() const override { return "Variables as comments"; }
  bool runOnMachineFunction(MachineFunction& function) override;

private:
  void write(MachineInstr& value, const DebugLoc& where);
};
char VariableComments::ID = 0;

/// Empty: the operand is no constant.
std::string constantOf(const MachineOperand& operand) {
  if (operand.isImm()) return "0x" + utohexstr(uint64_t(operand.getImm()), /*LowerCase=*/true);
  SmallString<40> text;
  if (operand.isCImm()) operand.getCImm()->getValue().toString(text, 16, /*Signed=*/false);
  if (operand.isFPImm()) operand.getFPImm()->getValueAPF().bitcastToAPInt().toString(text, 16, /*Signed=*/false);
  return text.empty() ? std::string() : "0x" + text.str().lower();
}

/// " plus_uconst 4": what DWARF computes of the operands; empty: nothing.
std::string stepsOf(const DIExpression& expression) {
  std::string text;
  for (const DIExpression::ExprOperand& step : expression.expr_ops()) {
    StringRef name = dwarf::OperationEncodingString(unsigned(step.getOp()));
    name.consume_front("DW_OP_");
    if (name == "stack_value") continue;
    text += (" " + name).str();
    for (unsigned i = 0; i < step.getNumArgs(); ++i) text += " " + std::to_string(step.getArg(i));
  }
  return text;
}

void VariableComments::write(MachineInstr& value, const DebugLoc& where) {
  MachineBasicBlock& block = *value.getParent();
  const TargetInstrInfo& instructions = *block.getParent()->getSubtarget().getInstrInfo();
  std::string text = (kComment + value.getDebugVariable()->getName() + " ").str(), operands;
  SmallVector<Register, 4> registers;
  bool isKnown = !value.isIndirectDebugValue();
  for (const MachineOperand& operand : value.debug_operands()) {
    if (!operands.empty()) operands += ",";
    if (operand.isReg() && operand.getReg()) {
      operands += "$" + std::to_string(registers.size());
      registers.push_back(operand.getReg());
    } else if (std::string constant = constantOf(operand); !constant.empty()) {
      operands += constant;
    } else {
      isKnown = false;
    }
  }
  if (!isKnown) registers.clear();
  text += isKnown ? operands + stepsOf(*value.getDebugExpression()) : "?";
  MachineInstrBuilder made = BuildMI(block, value, where, instructions.get(TargetOpcode::INLINEASM))
                                 .addExternalSymbol(block.getParent()->createExternalSymbolName(text))
                                 .addImm(InlineAsm::Extra_HasSideEffects);
  for (Register one : registers) made.addImm(InlineAsm::Flag(InlineAsm::Kind::RegUse, 1)).addReg(one);
  value.eraseFromParent();
}

bool VariableComments::runOnMachineFunction(MachineFunction& function) {
  bool changed = false;
  for (MachineBasicBlock& block : function) {
    // Of the instruction in front, or behind at the block's begin: the comment begins no line of its own. The function's
    // first place is the printer's.
    auto hasLine = [](const MachineInstr& one) { return !one.isMetaInstruction() && one.getDebugLoc(); };
    auto first = find_if(block, hasLine);
    DebugLoc where = first == block.end() || block.isEntryBlock() ? DebugLoc() : first->getDebugLoc();
    for (MachineInstr& one : make_early_inc_range(block)) {
      if (one.isDebugValue()) {
        write(one, where);
        changed = true;
      } else if (hasLine(one)) {
        where = one.getDebugLoc();
      }
    }
  }
  return changed;
}

} // namespace

/// visit(record, phi) for each debug value that looks at a phi.
template <class Visit> static void eachPhiValue(const Function& function, Visit&& visit) {
  for (const BasicBlock& block : function)
    for (const Instruction& instruction : block)
      for (DbgRecord& record : const_cast<Instruction&>(instruction).getDbgRecordRange())
        if (auto* value = dyn_cast<DbgVariableRecord>(&record); value && !value->hasArgList())
          if (auto* phi = dyn_cast_or_null<PHINode>(value->getVariableLocationOp(0))) visit(*value, *phi);
}

void PhiValues::watch(PassInstrumentationCallbacks& callbacks) {
  static constexpr StringLiteral kPass = "InstCombinePass";
  callbacks.registerBeforeNonSkippedPassCallback([this](StringRef pass, Any unit) {
    const auto* function = any_cast<const Function*>(&unit);
    if (pass != kPass || !function) return;
    before_.clear();
    eachPhiValue(**function,
                 [&](DbgVariableRecord& value, PHINode& phi) { before_.emplace_back(&value, WeakVH(&phi)); });
  });
  callbacks.registerAfterPassCallback([this](StringRef pass, Any unit, const PreservedAnalyses&) {
    const auto* function = any_cast<const Function*>(&unit);
    if (pass != kPass || !function) return;
    DenseMap<DbgVariableRecord*, Value*> then;
    for (auto& [value, phi] : before_) then[value] = phi;
    eachPhiValue(**function, [&](DbgVariableRecord& value, PHINode& phi) {
      if (auto found = then.find(&value); found != then.end() && found->second != static_cast<Value*>(&phi))
        value.setKillLocation();
    });
    before_.clear();
  });
}

MachineFunctionPass* createVariableComments() { return new VariableComments; }

void finishVariableComments(std::string& ptx, const Module& module) {
  const NamedMDNode* table = module.getNamedMetadata(kVariableTable);
  if (!table) return;
  SmallVector<StringRef> lines;
  StringRef(ptx).split(lines, '\n');
  std::string kept;
  kept.reserve(ptx.size());
  auto isComment = [&](size_t at) { return at < lines.size() && lines[at].trim().starts_with(kComment); };
  for (size_t i = 0; i < lines.size(); ++i) {
    const StringRef line = lines[i].trim();
    if (line == "// begin inline asm" && isComment(i + 1)) continue;
    if (line == "// end inline asm" && i && isComment(i - 1)) continue;
    kept.append(isComment(i) ? line : lines[i]);
    if (i + 1 < lines.size()) kept += '\n';
  }
  for (auto [name, begin] : {std::pair(kVariableTable, kNote), std::pair(kLineTable, kLine)})
    if (const NamedMDNode* texts = module.getNamedMetadata(name))
      for (const MDNode* one : texts->operands())
        kept += (begin + cast<MDString>(one->getOperand(0))->getString() + "\n").str();
  ptx = std::move(kept);
}

} // namespace tiletwin::codegen
