// sim/ptx/ReadDeclaration.cpp -- what stands in front of a variable's name and behind it: .align 8 .v2 .b32 name[4][2]
// Not here: initial values (ReadInitializer.cpp).
// Source:   PTX ISA, 5.1 (state spaces), 5.2 (types), 5.4 (variables), 11.6 (linking).
#include "sim/ptx/Reader.h"
#include <algorithm>
#include <bit>
#include <limits>

namespace tiletwin::sim::ptx {

namespace {

Space spaceNamed(std::string_view word) {
  static constexpr std::pair<std::string_view, Space> kSpaces[] = {
      {"reg", Space::Reg},     {"const", Space::Const}, {"global", Space::Global},
      {"local", Space::Local}, {"param", Space::Param}, {"shared", Space::Shared},
  };
  for (const auto& [name, space] : kSpaces)
    if (name == word) return space;
  return Space::None;
}

constexpr std::string_view kOpaqueTypes[] = {"texref", "samplerref", "surfref"};
/// Types of instructions only: registers and variables are declared as bits.
constexpr Type kOperationTypes[] = {Type::BF16, Type::BF16x2, Type::F32x2};
/// Directives that declare no variable.
constexpr std::string_view kDirectives[] = {
    "version", "target", "address_size", "entry", "func",   "file",          "section",     "loc",           "alias",
    "pragma",  "extern", "visible",      "weak",  "common", "branchtargets", "calltargets", "callprototype",
};
constexpr int kMostVectorBytes = 16;
constexpr uint64_t kMostAlignment = 1 << 16;

} // namespace

/// .extern, .visible, .weak, .common
bool Reader::readLinkage(Declaration& declaration) {
  declaration.at = lexer_.token().at;
  for (bool found = false; lexer_.token().kind == TokenKind::Word; lexer_.advance()) {
    const std::string_view word = lexer_.token().text;
    bool* linkage = word == "extern"    ? &declaration.isExtern
                    : word == "visible" ? &declaration.isVisible
                    : word == "weak"    ? &declaration.isWeak
                    : word == "common"  ? &declaration.isCommon
                                        : nullptr;
    if (!linkage) return true;
    if (found) return lexer_.fail("a second linking directive, " + describe(lexer_.token()));
    *linkage = found = true;
  }
  return true;
}

bool Reader::readDeclaration(Declaration& declaration) {
  while (lexer_.token().kind == TokenKind::Word)
    if (!readDeclarationWord(declaration)) return false;
  if (lexer_.hasFailed()) return false;
  if (declaration.type == Type::None) return lexer_.expected("a type such as .b32");
  if (declaration.type == Type::Pred && (declaration.space != Space::Reg || declaration.vector > 1))
    return lexer_.fail(declaration.at, "predicates are registers, and no vectors");
  if (bytesOf(declaration.type) * declaration.vector > kMostVectorBytes)
    return lexer_.fail(declaration.at, "a vector has at most 128 bits");
  return true;
}

bool Reader::readDeclarationWord(Declaration& declaration) {
  const Token token = lexer_.token();
  const std::string_view word = token.text;
  if (word == "align") return readAlignment(declaration.alignment);
  if (word == "ptr") return readPointer(declaration);
  if (word == "attribute") return readAttribute();
  const Space space = spaceNamed(word);
  const Type type = typeNamed(word);
  if (space != Space::None) {
    if (declaration.space != Space::None) return lexer_.fail("a second state space, " + describe(token));
    declaration.space = space;
  } else if (word == "v2" || word == "v4") {
    if (declaration.vector != 1) return lexer_.fail("a second vector length, " + describe(token));
    declaration.vector = word == "v2" ? 2 : 4;
  } else if (type != Type::None) {
    if (declaration.type != Type::None) return lexer_.fail("a second type, " + describe(token));
    if (std::ranges::find(kOperationTypes, type) != std::end(kOperationTypes))
      return lexer_.fail("nothing is declared of type " + describe(token) + ": use .b" +
                         std::to_string(8 * bytesOf(type)));
    declaration.type = type;
  } else if (std::ranges::find(kOpaqueTypes, word) != std::end(kOpaqueTypes) || word == "tex") {
    return lexer_.fail("textures, samplers and surfaces (" + describe(token) + ") are not implemented");
  } else {
    const bool begins = declaration.space == Space::None && declaration.type == Type::None && declaration.vector == 1;
    if (begins && std::ranges::find(kDirectives, word) == std::end(kDirectives))
      return lexer_.fail("unknown directive " + describe(token));
    return lexer_.expected("a state space, a type or .align");
  }
  lexer_.advance();
  if (space == Space::Const && lexer_.token().is('[')) return lexer_.fail("numbered constant banks are not supported");
  return true;
}

/// .ptr .global .align 16, behind the type of a kernel's parameter
bool Reader::readPointer(Declaration& declaration) {
  if (declaration.space != Space::Param || bytesOf(declaration.type) < 4 || declaration.isPointer)
    return lexer_.fail(".ptr stands behind the type of a parameter of 32 or 64 bits");
  declaration.isPointer = true;
  lexer_.advance();
  if (lexer_.token().kind == TokenKind::Word) {
    declaration.pointerSpace = spaceNamed(lexer_.token().text);
    if (declaration.pointerSpace == Space::Reg || declaration.pointerSpace == Space::Param)
      return lexer_.expected("a space that a pointer can point into");
    if (declaration.pointerSpace != Space::None) lexer_.advance();
  }
  return !lexer_.token().isWord("align") || readAlignment(declaration.pointerAlignment);
}

bool Reader::readAlignment(uint32_t& alignment) {
  lexer_.advance();
  const Position at = lexer_.token().at;
  Constant value;
  if (!readInteger(lexer_, "an alignment", value)) return false;
  if (!std::has_single_bit(value.bits) || value.bits > kMostAlignment)
    return lexer_.fail(at, "an alignment is a power of two, at most " + std::to_string(kMostAlignment));
  alignment = uint32_t(value.bits);
  return true;
}

/// .attribute(.managed, .unified(1, 2)): where memory lies for others than the kernel, which nothing here depends on.
bool Reader::readAttribute() {
  lexer_.advance();
  if (!lexer_.expect('(', " behind .attribute")) return false;
  do {
    const bool isUnified = lexer_.token().isWord("unified");
    if (!isUnified && !lexer_.token().isWord("managed")) return lexer_.expected(".managed or .unified");
    lexer_.advance();
    if (!isUnified) continue;
    Constant part;
    if (!lexer_.expect('(', " behind .unified") || !readInteger(lexer_, "an integer", part) ||
        !lexer_.expect(',', " in .unified") || !readInteger(lexer_, "an integer", part) ||
        !lexer_.expect(')', " behind .unified"))
      return false;
  } while (lexer_.take(','));
  return lexer_.expect(')', " behind attributes");
}

bool Reader::readDeclarator(Declarator& declarator, bool mayBeNameless) {
  const Token name = lexer_.token();
  const bool isNameless = mayBeNameless && name.kind == TokenKind::Sink;
  if (name.kind != TokenKind::Name && !isNameless) return lexer_.expected("a name");
  declarator.at = name.at;
  if (!isNameless) declarator.name = name.text;
  lexer_.advance();
  if (lexer_.take('<')) {
    Constant count;
    if (lexer_.token().kind != TokenKind::Integer || !integerValue(lexer_.token().text, count))
      return lexer_.expected("a number of names");
    if (count.bits == 0 || count.bits > uint64_t(kMostRegisters))
      return lexer_.fail("a number of names is from 1 to " + std::to_string(kMostRegisters));
    declarator.count = uint32_t(count.bits);
    lexer_.advance();
    return lexer_.expect('>', " behind a number of names");
  }
  while (lexer_.take('[')) {
    if (declarator.extents.size() == kMostExtents) return lexer_.fail("an array of too many dimensions");
    if (declarator.extents.empty() && lexer_.take(']')) {
      declarator.isOpen = true;
      declarator.extents.push_back(0);
      continue;
    }
    Constant extent;
    const Position at = lexer_.token().at;
    if (!readInteger(lexer_, "the extent of an array", extent)) return false;
    if (extent.integer() < 0) return lexer_.fail(at, "the extent of an array is negative");
    declarator.extents.push_back(extent.bits);
    if (!lexer_.expect(']', " behind an extent")) return false;
  }
  return true;
}

bool Reader::makeVariable(const Declaration& declaration, const Declarator& declarator, Variable& variable) {
  static_cast<Declaration&>(variable) = declaration;
  variable.name = declarator.name;
  variable.at = declarator.at;
  variable.unsized = declarator.isOpen;
  uint64_t bytes = uint64_t(bytesOf(declaration.type)) * uint64_t(declaration.vector);
  if (!variable.alignment) variable.alignment = uint32_t(std::max<uint64_t>(bytes, 1));
  bool isEmpty = false;
  for (uint64_t extent : declarator.extents) {
    isEmpty |= extent == 0;
    if (__builtin_mul_overflow(bytes, std::max<uint64_t>(extent, 1), &bytes) || bytes > kMostBytes)
      return lexer_.fail(declarator.at, quoted(declarator.name) + " is too large");
  }
  variable.bytes = isEmpty ? 0 : bytes;
  return true;
}

bool Reader::countNumbered(const Declarator& declarator) {
  numbered_ += declarator.count.value_or(0);
  return numbered_ <= kMostNumbered || lexer_.fail(declarator.at, "too many names of the form name<number>");
}

bool Reader::taken(const Declarator& declarator) {
  return lexer_.fail(declarator.at, quoted(declarator.name) + " is declared twice");
}

bool Reader::declareRegisters(const Declaration& declaration, const Declarator& declarator, Scope& scope) {
  if (!declarator.extents.empty()) return lexer_.fail(declarator.at, "registers are no arrays");
  std::vector<Register>& registers = function().registers;
  const int64_t count = declarator.count.value_or(1);
  if (int64_t(registers.size()) + count > kMostRegisters)
    return lexer_.fail(declarator.at, "a function has at most " + std::to_string(kMostRegisters) + " registers");
  if (!countNumbered(declarator)) return false;
  const Symbol first{Operand::Kind::Register, true, int32_t(registers.size())};
  if (!declarator.count) {
    registers.push_back({std::string(declarator.name), declaration.type, declaration.vector});
    return scope.add(declarator.name, first) || taken(declarator);
  }
  if (!scope.addNumbered(declarator.name, *declarator.count, first)) return taken(declarator);
  for (int64_t i = 0; i < count; ++i)
    registers.push_back({std::string(declarator.name) + std::to_string(i), declaration.type, declaration.vector});
  return true;
}

bool Reader::declareVariables(const Declaration& declaration, const Declarator& declarator,
                              std::vector<Variable>& variables, Scope& scope, bool isLocal) {
  Variable variable;
  if (!makeVariable(declaration, declarator, variable)) return false;
  if (lexer_.take('=') && !readInitializer(declarator, variable)) return false;
  variable.unsized = variable.bytes == 0;
  if (variable.unsized && !variable.isExtern) return lexer_.fail(variable.at, quoted(declarator.name) + " has no size");
  const Symbol first{Operand::Kind::Variable, isLocal, int32_t(variables.size())};
  if (!declarator.count) {
    if (scope.add(declarator.name, first)) {
      variables.push_back(std::move(variable));
      return true;
    }
    // A declaration and its definition are one variable.
    const std::optional<Symbol> earlier = scope.find(declarator.name);
    if (isLocal || earlier->kind != Operand::Kind::Variable) return taken(declarator);
    Variable& known = variables[size_t(earlier->index)];
    if (known.name != declarator.name || (!known.isExtern && !variable.isExtern)) return taken(declarator);
    if (known.space != variable.space || (!known.unsized && !variable.unsized && known.bytes != variable.bytes))
      return lexer_.fail(declarator.at, quoted(declarator.name) + " was declared as something else");
    variable.alignment = std::max(known.alignment, variable.alignment);
    if (known.isExtern) known = std::move(variable);
    return true;
  }
  if (!variable.initial.empty() || !variable.relocations.empty() || !declarator.extents.empty())
    return lexer_.fail(declarator.at, "variables of the form name<number> have no initial values and are no arrays");
  if (!countNumbered(declarator)) return false;
  if (!scope.addNumbered(declarator.name, *declarator.count, first)) return taken(declarator);
  for (uint32_t i = 0; i < *declarator.count; ++i) {
    variable.name = std::string(declarator.name) + std::to_string(i);
    variables.push_back(variable);
  }
  return true;
}

} // namespace tiletwin::sim::ptx
