// sim/ptx/ReadFunction.cpp -- headers of .entry and .func: results, parameters, directives; declarations and definitions.
// Not here: bodies (ReadBody.cpp).
// Source:   PTX ISA, chapter 7 (ABI), 11.2 (.entry, .func), 11.4 (performance), 11.7 (clusters).
#include "sim/ptx/Reader.h"
#include <algorithm>

namespace tiletwin::sim::ptx {

namespace {

/// A declaration and a definition must look alike to a caller.
bool areAlike(const std::vector<Variable>& a, const std::vector<Variable>& b) {
  return std::ranges::equal(a, b, [](const Variable& x, const Variable& y) {
    return x.space == y.space && x.bytes == y.bytes && x.unsized == y.unsized;
  });
}

} // namespace

/// .func (results) name (parameters) directives { body }
bool Reader::readFunction(const Declaration& linkage) {
  Function function;
  function.isEntry = lexer_.token().text == "entry";
  function.isExtern = linkage.isExtern;
  function.isVisible = linkage.isVisible;
  function.isWeak = linkage.isWeak;
  if (linkage.isCommon) return lexer_.fail(linkage.at, "only variables are .common");
  parameterNames_.clear();
  lexer_.advance();
  if (lexer_.token().isWord("attribute") && !readAttribute()) return false;
  if (!function.isEntry && lexer_.token().is('(') && !readParameters(function.results, false, false)) return false;
  const Token name = lexer_.token();
  if (name.kind != TokenKind::Name) return lexer_.expected("the name of a function");
  function.name = name.text;
  function.at = name.at;
  lexer_.advance();
  if (lexer_.token().is('(') && !readParameters(function.parameters, function.isEntry, false)) return false;
  if (!readFunctionDirectives(function)) return false;
  function.hasBody = lexer_.token().is('{');
  if (!function.hasBody && !lexer_.token().is(';'))
    return lexer_.expected("'{', ';' or a directive behind a function's header");
  int32_t index = -1;
  const bool hasBody = function.hasBody;
  if (!addFunction(std::move(function), name.text, index)) return false;
  if (hasBody) return readBody(index);
  lexer_.advance();
  return true;
}

/// (.param .b32 a, .reg .b32 b)
bool Reader::readParameters(std::vector<Variable>& parameters, bool isEntry, bool mayBeNameless) {
  lexer_.advance();
  if (lexer_.take(')')) return true;
  do {
    Declaration declaration;
    Declarator declarator;
    Variable variable;
    declaration.at = lexer_.token().at;
    if (!parameters.empty() && parameters.back().unsized)
      return lexer_.fail("a parameter of unknown size is the last one");
    if (!readDeclaration(declaration) || !readDeclarator(declarator, mayBeNameless)) return false;
    if (declaration.space != Space::Param && (isEntry || declaration.space != Space::Reg))
      return lexer_.fail(declaration.at, isEntry ? "a kernel's parameters are in .param"
                                                 : "results and parameters are in .param or .reg");
    if (declaration.space == Space::Reg && !declarator.extents.empty())
      return lexer_.fail(declarator.at, "registers are no arrays");
    if (declarator.count) return lexer_.fail(declarator.at, "a parameter has one name");
    if (!makeVariable(declaration, declarator, variable)) return false;
    variable.unsized = declarator.isOpen;
    if (declaration.space == Space::Param && variable.bytes == 0 && !variable.unsized)
      return lexer_.fail(declarator.at, "a parameter without a size");
    parameters.push_back(std::move(variable));
    parameterNames_.push_back(declarator.name);
  } while (lexer_.take(','));
  return lexer_.expect(')', " behind parameters");
}

bool Reader::readCount(int32_t& count, int32_t least, int64_t most) {
  const Position at = lexer_.token().at;
  if (lexer_.token().kind != TokenKind::Integer) return lexer_.expected("an integer");
  Constant value;
  if (!integerValue(lexer_.token().text, value) || value.integer() < least || value.integer() > most)
    return lexer_.fail(at, "expected an integer from " + std::to_string(least) + " to " + std::to_string(most));
  count = int32_t(value.bits);
  lexer_.advance();
  return true;
}

/// x, x, y or x, y, z; what is not written is 1.
bool Reader::readExtents(std::array<int32_t, 3>& extents) {
  extents = {1, 1, 1};
  for (size_t i = 0; i < extents.size(); ++i) {
    if (i > 0 && !lexer_.take(',')) break;
    if (!readCount(extents[i], 1)) return false;
  }
  return true;
}

bool Reader::readFunctionDirectives(Function& function) {
  while (lexer_.token().kind == TokenKind::Word) {
    const std::string_view word = lexer_.token().text;
    const bool isForEntries = word != "noreturn" && word != "pragma" && !word.starts_with("abi_preserve");
    if (isForEntries != function.isEntry && word != "pragma")
      return lexer_.expected(function.isEntry ? "a kernel's directive, '{' or ';'"
                                              : "a function's directive, '{' or ';'");
    if (word == "pragma") {
      if (!readPragma(function.pragmas)) return false;
      continue;
    }
    int32_t hint = 0; // occupancy, and which registers a call keeps: nothing that a program can see
    const Token token = lexer_.token();
    lexer_.advance();
    bool ok = true;
    if (word == "noreturn")
      function.isNoReturn = true;
    else if (word == "explicitcluster")
      function.explicitCluster = true;
    else if (word == "blocksareclusters")
      function.blocksAreClusters = true;
    else if (word == "reqntid")
      ok = readExtents(function.requiredThreads);
    else if (word == "maxntid")
      ok = readExtents(function.maxThreads);
    else if (word == "reqnctapercluster")
      ok = readExtents(function.requiredCluster);
    else if (word == "maxclusterrank")
      ok = readCount(function.maxClusterRank, 1);
    else if (word == "minnctapersm")
      ok = readCount(function.minCtasPerSm, 0);
    else if (word == "maxnreg")
      ok = readCount(function.maxRegisters, 0);
    else if (word == "maxnctapersm" || word == "abi_preserve" || word == "abi_preserve_control")
      ok = readCount(hint, 0);
    else
      return lexer_.fail(token.at, "expected a kernel's directive, '{' or ';', got " + describe(token));
    if (!ok) return false;
  }
  return !lexer_.hasFailed();
}

/// A declaration and its definition are one function.
bool Reader::addFunction(Function&& function, std::string_view name, int32_t& index) {
  const Symbol symbol{Operand::Kind::Function, false, int32_t(module_.functions.size())};
  if (function.isExtern && function.hasBody)
    return lexer_.fail(function.at, "an .extern function has no body here, but " + quoted(function.name) + " does");
  if (globals_.add(name, symbol)) {
    index = symbol.index;
    module_.functions.push_back(std::move(function));
    return true;
  }
  const std::optional<Symbol> earlier = globals_.find(name);
  if (earlier->kind != Operand::Kind::Function) return lexer_.fail(function.at, quoted(name) + " is declared twice");
  index = earlier->index;
  Function& known = module_.functions[size_t(index)];
  if (known.hasBody && function.hasBody) return lexer_.fail(function.at, quoted(name) + " is defined twice");
  if (known.isEntry != function.isEntry || !areAlike(known.results, function.results) ||
      !areAlike(known.parameters, function.parameters))
    return lexer_.fail(function.at, quoted(name) + " was declared with other results or parameters");
  function.isVisible |= known.isVisible;
  function.isWeak |= known.isWeak;
  function.isNoReturn |= known.isNoReturn;
  if (function.hasBody) {
    known = std::move(function);
  } else {
    known.isVisible = function.isVisible;
    known.isWeak = function.isWeak;
    known.isNoReturn = function.isNoReturn;
  }
  return true;
}

/// Results and parameters as registers and variables of the body that follows.
bool Reader::declareParameters() {
  Function& function = this->function();
  Scope& scope = blocks_.back().scope;
  const std::string_view* name = parameterNames_.data();
  for (const std::vector<Variable>* list : {&function.results, &function.parameters})
    for (const Variable& parameter : *list) {
      const bool isRegister = parameter.space == Space::Reg;
      const Symbol symbol{isRegister ? Operand::Kind::Register : Operand::Kind::Variable, true,
                          int32_t(isRegister ? function.registers.size() : function.variables.size())};
      if (!scope.add(*name++, symbol)) return lexer_.fail(parameter.at, quoted(parameter.name) + " is declared twice");
      if (isRegister)
        function.registers.push_back({parameter.name, parameter.type, parameter.vector});
      else
        function.variables.push_back(parameter);
    }
  return true;
}

} // namespace tiletwin::sim::ptx
