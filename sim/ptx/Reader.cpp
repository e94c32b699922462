// sim/ptx/Reader.cpp -- a module's directives: version, target, pragmas, aliases, and what may stand between functions.
// Source: PTX ISA, 11.1 (module directives), 11.6 (linking), 5.4 (variables).
#include "sim/ptx/Reader.h"
#include <algorithm>
#include <charconv>
#include <limits>

namespace tiletwin::sim::ptx {

namespace {

constexpr int kLeastMajor = 3, kMostMajor = 9;
constexpr size_t kLongestText = std::numeric_limits<int32_t>::max();

bool parse(std::string_view digits, int32_t& value) {
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return error == std::errc() && end == digits.data() + digits.size();
}

/// sm_90, sm_90a, sm_100f
bool isTarget(std::string_view word) {
  if (!word.starts_with("sm_")) return false;
  word.remove_prefix(3);
  if (word.ends_with('a') || word.ends_with('f')) word.remove_suffix(1);
  int32_t number = 0;
  return word.size() <= 4 && parse(word, number) && number > 0;
}

constexpr std::string_view kTargetOptions[] = {"texmode_unified", "texmode_independent", "debug"};

} // namespace

bool Reader::readModule() {
  if (module_.text.size() > kLongestText) return lexer_.fail("the text has more than 2^31 - 1 bytes");
  if (!readVersion() || !readTarget() || !readAddressSize()) return false;
  while (lexer_.token().kind != TokenKind::End)
    if (!readModuleItem()) return false;
  return finishAliases() && finishReferences() && finishSources();
}

bool Reader::readVersion() {
  if (!lexer_.token().isWord("version")) return lexer_.expected(".version");
  lexer_.advance();
  const Token number = lexer_.token();
  const size_t point = number.text.find('.');
  if (number.kind != TokenKind::Float || point == std::string_view::npos ||
      !parse(number.text.substr(0, point), module_.major) || !parse(number.text.substr(point + 1), module_.minor))
    return lexer_.expected("a version such as 8.0");
  if (module_.major < kLeastMajor || module_.major > kMostMajor)
    return lexer_.fail("PTX of version " + std::string(number.text) + " is not supported: versions 3.0 to 9.x are");
  lexer_.advance();
  return true;
}

bool Reader::readTarget() {
  if (!lexer_.token().isWord("target")) return lexer_.expected(".target");
  do {
    lexer_.advance();
    const Token word = lexer_.token();
    if (word.kind != TokenKind::Name) return lexer_.expected("a target such as sm_90");
    const bool isOption = std::ranges::find(kTargetOptions, word.text) != std::end(kTargetOptions);
    if (isOption)
      module_.targetOptions.emplace_back(word.text);
    else if (!module_.target.empty() || !isTarget(word.text))
      return lexer_.fail("target " + quoted(word.text) + " is not supported");
    else
      module_.target = word.text;
    lexer_.advance();
  } while (lexer_.token().is(','));
  return !module_.target.empty() || lexer_.expected("a target such as sm_90");
}

bool Reader::readAddressSize() {
  if (!lexer_.token().isWord("address_size")) return true;
  lexer_.advance();
  Constant size;
  const Position at = lexer_.token().at;
  if (!readInteger(lexer_, "32 or 64", size)) return false;
  if (size.bits != 32 && size.bits != 64) return lexer_.fail(at, "expected an address size of 32 or 64");
  module_.addressSize = int32_t(size.bits);
  return true;
}

bool Reader::readModuleItem() {
  const Token& token = lexer_.token();
  if (token.isWord("file")) return readFile();
  if (token.isWord("section")) return readSection();
  if (token.isWord("alias")) return readAlias();
  if (token.isWord("pragma")) return readPragma(module_.pragmas);
  if (token.is('@'))
    return lexer_.fail("only sections (.section) hold debug information here: @@DWARF is not supported");
  if (token.kind == TokenKind::Word) return readLinked();
  return lexer_.expected("a directive such as .entry, .func or .global");
}

bool Reader::readLinked() {
  Declaration declaration;
  if (!readLinkage(declaration)) return false;
  if (lexer_.token().isWord("entry") || lexer_.token().isWord("func")) return readFunction(declaration);
  return readDeclaration(declaration) && readModuleVariables(declaration);
}

bool Reader::readModuleVariables(const Declaration& declaration) {
  switch (declaration.space) {
  case Space::Global:
  case Space::Const:
  case Space::Shared: break;
  case Space::None: return lexer_.expected("a state space such as .global");
  default: return lexer_.fail(declaration.at, "variables of a module are in .global, .const or .shared");
  }
  do {
    Declarator declarator;
    if (!readDeclarator(declarator) || !declareVariables(declaration, declarator, module_.variables, globals_, false))
      return false;
  } while (lexer_.take(','));
  return lexer_.expect(';', " behind a variable");
}

bool Reader::readPragma(std::vector<std::string>& pragmas) {
  do {
    lexer_.advance();
    if (lexer_.token().kind != TokenKind::String) return lexer_.expected("a string");
    pragmas.emplace_back(lexer_.token().text);
    lexer_.advance();
  } while (lexer_.token().is(','));
  return lexer_.expect(';', " behind a pragma");
}

/// .alias name, function;
bool Reader::readAlias() {
  PendingAlias alias;
  lexer_.advance();
  alias.at = lexer_.token().at;
  for (std::string_view* name : {&alias.alias, &alias.function}) {
    if (name == &alias.function && !lexer_.expect(',', " behind an alias")) return false;
    if (lexer_.token().kind != TokenKind::Name) return lexer_.expected("the name of a function");
    *name = lexer_.token().text;
    lexer_.advance();
  }
  aliases_.push_back(alias);
  return lexer_.expect(';', " behind an alias");
}

bool Reader::finishAliases() {
  for (const PendingAlias& pending : aliases_) {
    const std::optional<Symbol> alias = globals_.find(pending.alias), function = globals_.find(pending.function);
    for (const auto& [name, symbol] : {std::pair(pending.alias, alias), std::pair(pending.function, function)})
      if (!symbol || symbol->kind != Operand::Kind::Function)
        return lexer_.fail(pending.at, "there is no function " + quoted(name));
    if (module_.functions[size_t(alias->index)].hasBody)
      return lexer_.fail(pending.at, quoted(pending.alias) + " has a body and cannot be an alias");
    if (!module_.functions[size_t(function->index)].hasBody)
      return lexer_.fail(pending.at, quoted(pending.function) + " has no body and cannot have an alias");
    module_.aliases.push_back({std::string(pending.alias), function->index});
  }
  return true;
}

std::unique_ptr<const Module> read(std::string_view text, Diagnostic& error) {
  error = {};
  auto module = std::make_unique<Module>();
  module->text = text;
  if (!Reader(*module, error).readModule()) return nullptr;
  return module;
}

} // namespace tiletwin::sim::ptx
