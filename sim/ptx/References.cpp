// sim/ptx/References.cpp -- names that are used in front of their declaration: labels, tables, functions, variables.
// Idea:      an index of -2 or less stands for a reference. A label is looked for when its block ends, then in the block around
//            it; what is left then names something of the module, which is looked for at the text's end.
// Invariant: no stand-in outlives finishReferences().
#include "sim/ptx/Reader.h"

namespace tiletwin::sim::ptx {

int32_t Reader::refer(std::string_view name, Position at) {
  const int32_t number = int32_t(references_.size());
  references_.push_back({name, at});
  if (!blocks_.empty()) blocks_.back().references.push_back(number);
  return -2 - number;
}

/// The innermost block ends.
void Reader::closeReferences() {
  Block& block = blocks_.back();
  Block* outer = blocks_.size() > 1 ? &blocks_[blocks_.size() - 2] : nullptr;
  for (int32_t number : block.references) {
    Reference& reference = references_[size_t(number)];
    if (const LabelSymbol* label = block.scope.findLabel(reference.name)) {
      reference.isResolved = true;
      reference.kind = label->kind;
      reference.index = label->index;
    } else if (outer) {
      outer->references.push_back(number);
    }
  }
}

bool Reader::finishReferences() {
  std::unordered_map<int32_t, int32_t> functionOfAlias;
  for (const PendingAlias& pending : aliases_)
    functionOfAlias.emplace(globals_.find(pending.alias)->index, globals_.find(pending.function)->index);
  for (Reference& reference : references_) {
    if (reference.isResolved) continue;
    const std::optional<Symbol> symbol = globals_.find(reference.name);
    if (!symbol) return lexer_.fail(reference.at, "unknown name " + quoted(reference.name));
    reference.isResolved = true;
    reference.kind = symbol->kind;
    reference.index = symbol->index;
    if (auto alias = functionOfAlias.find(symbol->index);
        symbol->kind == Operand::Kind::Function && alias != functionOfAlias.end())
      reference.index = alias->second;
  }
  if (references_.empty()) return true;
  for (Function& function : module_.functions) {
    for (Instruction& instruction : function.body)
      for (Operand& operand : instruction.operands)
        if (!finishOperand(operand, false)) return false;
    for (Table& table : function.tables)
      if (!finishTable(table)) return false;
  }
  for (Variable& variable : module_.variables)
    if (!finishVariable(variable)) return false;
  return true;
}

bool Reader::finishOperand(Operand& operand, bool isAddress) {
  if (operand.kind == Operand::Kind::Label && operand.index < -1) {
    const Reference& reference = referenceOf(operand.index);
    operand.kind = reference.kind;
    operand.index = reference.index;
    if (operand.kind != Operand::Kind::Variable && (isAddress || operand.integer != 0))
      return lexer_.fail(operand.at, quoted(operand.name) + " is no variable");
  }
  for (size_t i = 0; i < operand.parts.size(); ++i)
    if (!finishOperand(operand.parts[i], operand.kind == Operand::Kind::Address && i == 0)) return false;
  return true;
}

bool Reader::finishTable(Table& table) {
  for (int32_t& target : table.targets) {
    const Reference& reference = referenceOf(target);
    if (reference.kind != (table.isCalls ? Operand::Kind::Function : Operand::Kind::Label))
      return lexer_.fail(reference.at, quoted(reference.name) + (table.isCalls ? " is no function" : " is no label"));
    target = reference.index;
  }
  return true;
}

bool Reader::finishVariable(Variable& variable) {
  for (Relocation& relocation : variable.relocations) {
    if (relocation.variable >= -1) continue;
    const Reference& reference = referenceOf(relocation.variable);
    const bool isFunction = reference.kind == Operand::Kind::Function;
    if (!isFunction && reference.kind != Operand::Kind::Variable)
      return lexer_.fail(reference.at, quoted(reference.name) + " is no variable or function");
    relocation.variable = isFunction ? -1 : reference.index;
    relocation.function = isFunction ? reference.index : -1;
  }
  return true;
}

} // namespace tiletwin::sim::ptx
