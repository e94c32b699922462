// sim/ptx/ReadBody.cpp -- a function's body: blocks with declarations of their own, labels, tables, instructions.
// Not here: operands (ReadOperand.cpp), .loc (ReadDebug.cpp).
// Source:   PTX ISA, 4.3 (statements), 9.3 (guards), 9.7.12 (control flow: blocks), 11.3 (.branchtargets, .calltargets,
//           .callprototype).
#include "sim/ptx/Reader.h"

namespace tiletwin::sim::ptx {

/// At '{'.
bool Reader::readBody(int32_t index) {
  function_ = index;
  source_ = -1;
  blocks_.clear();
  if (!openBlock() || !declareParameters()) return false;
  while (!blocks_.empty())
    if (!readStatement()) return false;
  function_ = -1;
  return true;
}

bool Reader::openBlock() {
  if (blocks_.size() == kMostBlocks)
    return lexer_.fail("more than " + std::to_string(kMostBlocks) + " blocks inside of each other");
  blocks_.push_back({lexer_.token().at, {}, {}});
  lexer_.advance();
  return true;
}

bool Reader::closeBlock() {
  closeReferences();
  blocks_.pop_back();
  lexer_.advance();
  return true;
}

std::optional<Symbol> Reader::findLocal(std::string_view name) const {
  for (size_t i = blocks_.size(); i-- > 0;)
    if (std::optional<Symbol> symbol = blocks_[i].scope.find(name)) return symbol;
  return std::nullopt;
}

bool Reader::readStatement() {
  const Token& token = lexer_.token();
  if (token.kind == TokenKind::Name) return lexer_.peek().is(':') ? readLabel() : readInstruction();
  if (token.kind == TokenKind::Word) return readBodyDirective();
  if (token.is('@')) return readInstruction();
  if (token.is('{')) return openBlock();
  if (token.is('}')) return closeBlock();
  if (token.kind == TokenKind::End)
    return lexer_.expected("'}' to close the block of line " + std::to_string(blocks_.back().at.line));
  return lexer_.expected("an instruction, a label or a directive");
}

bool Reader::readBodyDirective() {
  const Token& token = lexer_.token();
  if (token.text == "loc") return readLocation();
  if (token.text == "pragma") return readPragma(function().pragmas);
  if (token.text == "branchtargets" || token.text == "calltargets" || token.text == "callprototype")
    return lexer_.fail(describe(token) + " needs a label in front of it");
  for (std::string_view outer : {"file", "section", "alias", "entry", "func", "version", "target", "address_size"})
    if (token.text == outer) return lexer_.fail(describe(token) + " stands outside of functions");
  return readBodyVariables();
}

bool Reader::readBodyVariables() {
  Declaration declaration;
  if (!readLinkage(declaration) || !readDeclaration(declaration)) return false;
  if (declaration.space == Space::None) return lexer_.expected("a state space such as .reg");
  const bool isStatic = declaration.space == Space::Global || declaration.space == Space::Const;
  Scope& scope = blocks_.back().scope;
  do {
    Declarator declarator;
    if (!readDeclarator(declarator)) return false;
    if (declaration.space == Space::Reg) {
      if (!declareRegisters(declaration, declarator, scope)) return false;
      continue;
    }
    // Those of .global and .const live as long as the module.
    std::vector<Variable>& variables = isStatic ? module_.variables : function().variables;
    if (!declareVariables(declaration, declarator, variables, scope, !isStatic)) return false;
  } while (lexer_.take(','));
  return lexer_.expect(';', " behind a declaration");
}

/// name: and what may stand behind it
bool Reader::readLabel() {
  const Token name = lexer_.token();
  lexer_.advance();
  lexer_.advance();
  Function& function = this->function();
  const Token next = lexer_.token();
  const bool isTable = next.isWord("branchtargets") || next.isWord("calltargets"),
             isPrototype = next.isWord("callprototype");
  LabelSymbol symbol;
  if (isTable)
    symbol = {Operand::Kind::Table, int32_t(function.tables.size())};
  else if (isPrototype)
    symbol = {Operand::Kind::Prototype, int32_t(function.prototypes.size())};
  else
    symbol = {Operand::Kind::Label, int32_t(function.labels.size())};
  if (!blocks_.back().scope.addLabel(name.text, symbol))
    return lexer_.fail(name.at, "label " + quoted(name.text) + " stands twice in this block");
  if (isTable) {
    Table& table = function.tables.emplace_back();
    table.name = name.text;
    table.isCalls = next.text == "calltargets";
    return readTargets(table);
  }
  if (isPrototype) {
    Prototype& prototype = function.prototypes.emplace_back();
    prototype.name = name.text;
    return readPrototype(prototype);
  }
  function.labels.push_back({std::string(name.text), int32_t(function.body.size())});
  return true;
}

bool Reader::readTargets(Table& table) {
  do {
    lexer_.advance();
    const Token name = lexer_.token();
    if (name.kind != TokenKind::Name) return lexer_.expected(table.isCalls ? "the name of a function" : "a label");
    table.targets.push_back(refer(name.text, name.at));
    lexer_.advance();
  } while (lexer_.token().is(','));
  return lexer_.expect(';', " behind targets");
}

/// .callprototype (results) _ (parameters) .noreturn;
bool Reader::readPrototype(Prototype& prototype) {
  lexer_.advance();
  if (lexer_.token().is('(') && !readParameters(prototype.results, false, true)) return false;
  if (lexer_.token().kind != TokenKind::Sink && lexer_.token().kind != TokenKind::Name) return lexer_.expected("'_'");
  lexer_.advance();
  if (lexer_.token().is('(') && !readParameters(prototype.parameters, false, true)) return false;
  Function directives; // .noreturn and .abi_preserve: nothing that a call depends on
  return readFunctionDirectives(directives) && lexer_.expect(';', " behind a prototype");
}

/// @p, @!p
bool Reader::readGuard(Instruction& instruction) {
  lexer_.advance();
  instruction.guardNegated = lexer_.take('!');
  const Token name = lexer_.token();
  if (name.kind != TokenKind::Name) return lexer_.expected("a predicate");
  const std::optional<Symbol> symbol = findLocal(name.text);
  if (!symbol || symbol->kind != Operand::Kind::Register ||
      function().registers[size_t(symbol->index)].type != Type::Pred)
    return lexer_.fail(quoted(name.text) + " is no predicate");
  instruction.guard = symbol->index;
  lexer_.advance();
  return true;
}

bool Reader::readInstruction() {
  Instruction& instruction = function().body.emplace_back();
  instruction.source = source_;
  if (lexer_.token().is('@') && !readGuard(instruction)) return false;
  const Token opcode = lexer_.token();
  if (opcode.kind != TokenKind::Name || opcode.text[0] < 'a' || opcode.text[0] > 'z')
    return lexer_.expected("an instruction");
  instruction.at = opcode.at;
  instruction.opcode = opcode.text;
  const char* end = opcode.text.data() + opcode.text.size();
  for (lexer_.advance(); lexer_.token().kind == TokenKind::Word; lexer_.advance()) {
    const std::string_view word = lexer_.token().text;
    instruction.modifiers.push_back(word);
    end = word.data() + word.size();
  }
  instruction.text = {opcode.text.data(), size_t(end - opcode.text.data())};
  if (lexer_.take(';')) return true;
  do {
    if (!readOperand(instruction.operands.emplace_back(), instruction)) return false;
  } while (lexer_.take(','));
  return lexer_.take(';') || lexer_.expected("',' or ';' behind an operand");
}

} // namespace tiletwin::sim::ptx
