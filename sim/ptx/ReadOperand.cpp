// sim/ptx/ReadOperand.cpp -- operands of instructions: registers, constants, addresses, vectors, pairs, lists of calls.
// Not here: what a name means that is no register or variable of the function (References.cpp).
// Source:   PTX ISA, chapter 6 (operands), chapter 10 (special registers).
#include "sim/ptx/Reader.h"
#include "sim/ptx/SpecialRegisters.h"
#include <algorithm>
#include <utility>

namespace tiletwin::sim::ptx {

namespace {

/// .x, .r: 0; .y, .g: 1; ... -1: no component.
int componentOf(std::string_view word) {
  if (word.size() != 1) return -1;
  const size_t xyzw = std::string_view("xyzw").find(word), rgba = std::string_view("rgba").find(word);
  return xyzw != std::string_view::npos ? int(xyzw) : rgba != std::string_view::npos ? int(rgba) : -1;
}

/// b0, h1, h10, b3210: bytes or halves of a register, in the operands of video instructions.
bool isSelector(std::string_view word) {
  const bool startsWell = word.size() >= 2 && word.size() <= 5 && (word[0] == 'b' || word[0] == 'h');
  return startsWell && std::ranges::all_of(word.substr(1), [](char c) { return c >= '0' && c <= '7'; });
}

/// Makes the register of an operand the part of one.
void wrapPart(Operand& operand) {
  Operand part;
  part.kind = Operand::Kind::Part;
  part.at = operand.at;
  part.parts.push_back(std::move(operand));
  operand = std::move(part);
}

bool mayBePair(const Operand& operand) {
  return operand.kind == Operand::Kind::Register || operand.kind == Operand::Kind::Sink;
}

} // namespace

bool Reader::readOperand(Operand& operand, const Instruction& instruction) {
  if (lexer_.token().is('(') && instruction.opcode == "call") {
    operand.at = lexer_.token().at;
    operand.kind = Operand::Kind::List;
    lexer_.advance();
    return lexer_.take(')') || readOperandList(operand, instruction, ')');
  }
  if (!readSimpleOperand(operand, instruction)) return false;
  if (!lexer_.token().is('|')) return true;
  if (!mayBePair(operand)) return lexer_.fail("only registers stand in front of '|'");
  lexer_.advance();
  Operand second;
  const Position at = lexer_.token().at;
  if (!readSimpleOperand(second, instruction)) return false;
  if (!mayBePair(second)) return lexer_.fail(at, "only registers stand behind '|'");
  Operand pair;
  pair.kind = Operand::Kind::Pair;
  pair.at = operand.at;
  pair.parts.push_back(std::move(operand));
  pair.parts.push_back(std::move(second));
  operand = std::move(pair);
  return true;
}

bool Reader::readSimpleOperand(Operand& operand, const Instruction& instruction) {
  const Token token = lexer_.token();
  operand.at = token.at;
  switch (token.kind) {
  case TokenKind::Sink:
    operand.kind = Operand::Kind::Sink;
    operand.name = token.text;
    lexer_.advance();
    return true;
  case TokenKind::Name: return startsConstant(token) ? readNumber(operand) : readName(operand, instruction);
  default: break;
  }
  if (token.is('[')) return readAddress(operand, instruction);
  if (token.is('{')) {
    operand.kind = Operand::Kind::Vector;
    lexer_.advance();
    return readOperandList(operand, instruction, '}');
  }
  if (!startsConstant(token)) return lexer_.expected("an operand");
  const Token next = token.kind == TokenKind::Symbol ? lexer_.peek() : Token();
  if (next.kind != TokenKind::Name || startsConstant(next)) return readNumber(operand);
  if (!token.is('!') && !token.is('-')) return readNumber(operand);
  lexer_.advance();
  if (!readName(operand, instruction)) return false;
  if (token.is('-')) {
    if (operand.kind == Operand::Kind::Register) wrapPart(operand);
    if (operand.kind != Operand::Kind::Part)
      return lexer_.fail(next.at, quoted(next.text) + " is no register to negate");
    operand.at = token.at;
    operand.negated = true;
    return true;
  }
  if (operand.kind != Operand::Kind::Register || function().registers[size_t(operand.index)].type != Type::Pred)
    return lexer_.fail(next.at, quoted(next.text) + " is no predicate");
  operand.negated = true;
  return true;
}

/// Up to `close`: what stands in vectors and in lists of calls.
bool Reader::readOperandList(Operand& operand, const Instruction& instruction, char close) {
  do {
    if (lexer_.token().is('{') || lexer_.token().is('['))
      return lexer_.expected("a register, a variable or a constant");
    if (!readSimpleOperand(operand.parts.emplace_back(), instruction)) return false;
  } while (lexer_.take(','));
  return lexer_.take(close) || lexer_.expected("',' or " + quoted({&close, 1}) + " in a list of operands");
}

bool Reader::readNumber(Operand& operand) {
  Constant constant;
  if (!readConstant(lexer_, constant)) return false;
  operand.kind = constant.isInteger() ? Operand::Kind::Integer : Operand::Kind::Float;
  operand.number = constant.real;
  operand.floatBits = constant.exactBits;
  operand.integer = constant.integer();
  return true;
}

bool Reader::readName(Operand& operand, const Instruction& instruction) {
  const Token token = lexer_.token();
  operand.at = token.at;
  operand.name = token.text;
  lexer_.advance();
  if (const std::optional<Symbol> symbol = findLocal(token.text)) {
    operand.kind = symbol->kind;
    operand.index = symbol->index;
    operand.isLocal = symbol->kind == Operand::Kind::Variable && symbol->isLocal;
  } else if (isSpecial(token.text)) {
    operand.kind = Operand::Kind::Special;
  } else if (token.text[0] == '%') {
    return lexer_.fail(token.at, "there is no register " + quoted(token.text));
  } else {
    operand.kind = Operand::Kind::Label;
    operand.index = refer(token.text, token.at);
  }
  if (operand.kind == Operand::Kind::Register || operand.kind == Operand::Kind::Special)
    return lexer_.token().kind != TokenKind::Word || readComponent(operand);
  return lexer_.token().is('[') ? readElement(operand, instruction) : readOffset(operand.integer);
}

/// Behind a register: .x, .b0
bool Reader::readComponent(Operand& operand) {
  const Token word = lexer_.token();
  const bool isRegister = operand.kind == Operand::Kind::Register;
  if (isRegister && isSelector(word.text)) {
    wrapPart(operand);
    operand.name = word.text;
    lexer_.advance();
    return true;
  }
  operand.component = int8_t(componentOf(word.text));
  const int length = isRegister ? function().registers[size_t(operand.index)].vector : 4;
  if (operand.component < 0 || length == 1 || operand.component >= length)
    return lexer_.fail(quoted(operand.name) + " has no component " + describe(word));
  lexer_.advance();
  return true;
}

/// Behind an array: [4]. For mov and cvta that is the element's address, for others the element in memory.
bool Reader::readElement(Operand& operand, const Instruction& instruction) {
  const Position at = lexer_.token().at;
  const std::optional<Symbol> global = globals_.find(operand.name);
  const Variable* array = nullptr;
  if (operand.kind == Operand::Kind::Variable)
    array = &(operand.isLocal ? function().variables : module_.variables)[size_t(operand.index)];
  else if (global && global->kind == Operand::Kind::Variable)
    array = &module_.variables[size_t(global->index)];
  if (!array) return lexer_.fail(operand.at, quoted(operand.name) + " is no array that was declared");
  lexer_.advance();
  if (lexer_.token().kind == TokenKind::Name && !startsConstant(lexer_.token()))
    return lexer_.fail("an index that is no constant is not implemented");
  Constant index;
  if (!readInteger(lexer_, "an index", index) || !lexer_.expect(']', " behind an index")) return false;
  const int64_t elementBytes = int64_t(bytesOf(array->type)) * array->vector;
  int64_t offset = 0;
  if (__builtin_mul_overflow(index.integer(), elementBytes, &offset))
    return lexer_.fail(at, "an index that is too large");
  if (instruction.opcode == "mov" || instruction.opcode == "cvta") {
    operand.integer = offset;
    return true;
  }
  Operand address;
  address.kind = Operand::Kind::Address;
  address.at = operand.at;
  address.integer = offset;
  address.parts.push_back(std::move(operand));
  operand = std::move(address);
  return true;
}

/// + constant, - constant, or nothing
bool Reader::readOffset(int64_t& offset) {
  if (!lexer_.token().is('+') && !lexer_.token().is('-')) return true;
  lexer_.take('+');
  Constant constant;
  if (!readInteger(lexer_, "an offset", constant)) return false;
  offset = constant.integer();
  return true;
}

/// [register + 4], [variable], [4096], [map, {x, y}]
bool Reader::readAddress(Operand& operand, const Instruction& instruction) {
  operand.kind = Operand::Kind::Address;
  lexer_.advance();
  Operand& base = operand.parts.emplace_back();
  const Token token = lexer_.token();
  if (startsConstant(token)) {
    if (!readNumber(base)) return false;
    if (base.kind != Operand::Kind::Integer) return lexer_.fail(token.at, "an address is no floating-point number");
  } else {
    if (token.kind != TokenKind::Name) return lexer_.expected("an address");
    if (!readName(base, instruction)) return false;
    const bool isBase = base.kind == Operand::Kind::Register || base.kind == Operand::Kind::Variable ||
                        base.kind == Operand::Kind::Label; // not known yet
    if (!isBase) return lexer_.fail(token.at, quoted(token.text) + " is no register, variable or number");
    operand.integer = std::exchange(base.integer, 0);
    if (base.kind == Operand::Kind::Register && !readOffset(operand.integer)) return false;
  }
  while (lexer_.take(','))
    if (!readSimpleOperand(operand.parts.emplace_back(), instruction)) return false;
  return lexer_.take(']') || lexer_.expected("'+', ',' or ']' in an address");
}

} // namespace tiletwin::sim::ptx
