// sim/driver/LinkPtx.cpp -- see LinkPtx.h.
// Idea:      a text is cut into statements: variables, functions, declarations. The image has declarations of functions first,
//            then variables, then functions, so that every name is known where it is used.
#include "sim/driver/LinkPtx.h"
#include "sim/ptx/Lexer.h"
#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <vector>

namespace tiletwin::driver {
namespace {

using sim::ptx::Lexer;
using sim::ptx::Token;
using sim::ptx::TokenKind;

/// A place of a text that the image has in another form.
struct Change {
  size_t at, bytes;
  std::string text;
};

struct Statement {
  enum class Kind : uint8_t { Variable, Function, Other };
  Kind kind = Kind::Other;
  size_t begin = 0, end = 0; ///< in the text
  std::string name;
  bool isExtern = false, isVisible = false, isWeak = false, hasBody = false;
  size_t externAt = std::string::npos; ///< of the word .extern
  size_t headEnd = 0;                  ///< of a function with a body: where that begins
  bool hasResult = false;              ///< of a function
  std::vector<std::string> parameters; ///< of a function, by name
  bool isPrivate() const { return !isExtern && !isVisible && !isWeak; }
};

struct Text {
  const NamedText* source = nullptr;
  std::vector<Statement> statements;
  std::vector<std::pair<size_t, std::string>> names; ///< every name and where it stands
  std::vector<Change> changes;
  std::string version, target;
  int files = 0; ///< the highest number of a file
};

class Cutter {
public:
  Cutter(Text& text, int firstFile, bool keepsDebug, sim::ptx::Diagnostic& error)
      : text_(text), lexer_(text.source->text, error), firstFile_(firstFile), keepsDebug_(keepsDebug) {}

  void cut() {
    while (!isAtEnd()) {
      if (take("version")) {
        text_.version = rest();
      } else if (take("target")) {
        text_.target = std::string(lexer_.token().text);
        while (!isAtEnd() && (lexer_.token().kind == TokenKind::Name || lexer_.token().is(','))) next();
      } else if (take("address_size")) {
        next();
      } else if (lexer_.token().isWord("file")) {
        file();
      } else if (lexer_.token().isWord("section")) {
        section();
      } else {
        statement();
      }
    }
  }

private:
  bool isAtEnd() const { return lexer_.token().kind == TokenKind::End || lexer_.token().kind == TokenKind::Error; }
  /// Where the current token begins in the text; the lexer leaves out a word's point and a string's quotes.
  size_t here() const {
    const Token& token = lexer_.token();
    const size_t at = size_t(token.text.data() - text_.source->text.data());
    return token.kind == TokenKind::Word || token.kind == TokenKind::String ? at - 1 : at;
  }
  size_t behind() const {
    const Token& token = lexer_.token();
    return size_t(token.text.data() - text_.source->text.data()) + token.text.size() +
           (token.kind == TokenKind::String ? 1 : 0);
  }
  void next() {
    if (lexer_.token().kind == TokenKind::Name) text_.names.emplace_back(here(), lexer_.token().text);
    lastEnd_ = behind();
    lexer_.advance();
  }
  bool take(std::string_view word) {
    if (!lexer_.token().isWord(word)) return false;
    next();
    return true;
  }
  /// The number behind .version, whose point the lexer may read as a word's.
  std::string rest() {
    std::string number(lexer_.token().text);
    next();
    return number;
  }

  void renumber() {
    if (lexer_.token().kind != TokenKind::Integer) return;
    const int number = int(std::strtol(std::string(lexer_.token().text).c_str(), nullptr, 10));
    text_.files = std::max(text_.files, number);
    text_.changes.push_back({here(), lexer_.token().text.size(), std::to_string(number + firstFile_)});
    next();
  }

  void file() {
    Statement statement;
    statement.begin = here();
    next();
    renumber();
    while (!isAtEnd() && (lexer_.token().kind == TokenKind::String || lexer_.token().kind == TokenKind::Integer ||
                          lexer_.token().is(',')))
      next();
    statement.end = lastEnd_;
    text_.statements.push_back(statement);
  }

  void section() {
    Statement statement;
    statement.begin = here();
    next();
    next(); // its name
    if (lexer_.token().is('{')) lexer_.skipBody();
    next();
    statement.end = lastEnd_;
    if (keepsDebug_) text_.statements.push_back(statement);
  }

  /// .loc 1 12 5, function_name $L_1, inlined_at 1 3 1
  void loc() {
    next();
    renumber();
    while (lexer_.token().kind == TokenKind::Integer) next();
    if (keepsDebug_ || !lexer_.token().is(',')) return;
    const size_t begin = here();
    while (!isAtEnd() && (lexer_.token().is(',') || lexer_.token().is('+') || lexer_.token().kind == TokenKind::Name ||
                          lexer_.token().kind == TokenKind::Integer)) {
      // Debug sections of the first text alone are kept, so names in those of this one are none.
      const bool isLabel = lexer_.token().kind == TokenKind::Name && lexer_.peek().is(':');
      if (isLabel) break;
      lastEnd_ = behind();
      lexer_.advance();
    }
    text_.changes.push_back({begin, lastEnd_ - begin, ""});
  }

  void body() {
    int depth = 0;
    do {
      if (lexer_.token().is('{')) ++depth;
      if (lexer_.token().is('}')) --depth;
      if (lexer_.token().isWord("loc"))
        loc();
      else
        next();
    } while (depth && !isAtEnd());
  }

  void statement() {
    Statement statement;
    statement.begin = here();
    bool isFunction = false, isVariable = false;
    int depth = 0;
    while (!isAtEnd()) {
      const Token token = lexer_.token();
      if (token.kind == TokenKind::Word && !depth) {
        if (token.text == "extern") statement.externAt = here();
        statement.isExtern |= token.text == "extern";
        statement.isVisible |= token.text == "visible";
        statement.isWeak |= token.text == "weak" || token.text == "common";
        isFunction |= token.text == "func" || token.text == "entry";
        isVariable |= token.text == "global" || token.text == "const" || token.text == "shared";
      }
      if (token.is('(')) ++depth;
      if (token.is(')')) --depth;
      const bool isValue = token.kind == TokenKind::Name && depth;
      statement.hasResult |= isValue && statement.name.empty();
      if (isValue && !statement.name.empty()) statement.parameters.emplace_back(token.text);
      if (token.kind == TokenKind::Name && !depth && statement.name.empty()) statement.name = token.text;
      if (token.is('{') && isFunction) {
        statement.headEnd = here();
        statement.hasBody = true;
        body();
        break;
      }
      next();
      if (token.is(';')) break;
    }
    statement.end = lastEnd_;
    statement.kind = isFunction   ? Statement::Kind::Function
                     : isVariable ? Statement::Kind::Variable
                                  : Statement::Kind::Other;
    text_.statements.push_back(std::move(statement));
  }

  Text& text_;
  Lexer lexer_;
  int firstFile_;
  bool keepsDebug_;
  size_t lastEnd_ = 0;
};

/// [begin, end) of a text, with its changes.
std::string partOf(const Text& text, size_t begin, size_t end) {
  std::string part;
  for (const Change& change : text.changes) { // by place
    if (change.at < begin || change.at >= end) continue;
    part.append(text.source->text, begin, change.at - begin);
    part += change.text;
    begin = change.at + change.bytes;
  }
  return part.append(text.source->text, begin, end - begin);
}

/// Private names that another text uses too get another name.
void renamePrivate(std::vector<Text>& texts) {
  std::map<std::string, std::set<size_t>> users;
  for (size_t i = 0; i < texts.size(); ++i)
    for (const Statement& s : texts[i].statements)
      if (!s.name.empty()) users[s.name].insert(i);
  for (size_t i = 0; i < texts.size(); ++i) {
    std::map<std::string, std::string> renamed;
    for (const Statement& s : texts[i].statements)
      if (s.kind != Statement::Kind::Other && s.isPrivate() && s.hasBody | (s.kind == Statement::Kind::Variable) &&
          users[s.name].size() > 1)
        renamed[s.name] = s.name + "_of_text_" + std::to_string(i + 1);
    for (const auto& [at, name] : texts[i].names)
      if (const auto to = renamed.find(name); to != renamed.end())
        texts[i].changes.push_back({at, name.size(), to->second});
    for (Statement& s : texts[i].statements)
      if (const auto to = renamed.find(s.name); to != renamed.end()) s.name = to->second;
  }
}

struct Definition {
  const Text* text;
  const Statement* statement;
};
using Definitions = std::map<std::string, Definition>;

/// A text may declare a function with a result that its definition does not have: an assembler's linker knows names alone. Then
/// the text calls a function of its own, which has the result, hands its arguments on and leaves the result as it was.
std::string addResults(std::vector<Text>& texts, const Definitions& definitions) {
  std::string added;
  for (size_t i = 0; i < texts.size(); ++i) {
    std::set<std::string> known; // a text may declare it again
    for (Statement& s : texts[i].statements) {
      const auto defined = definitions.find(s.name);
      if (s.kind != Statement::Kind::Function || s.hasBody || !s.hasResult || defined == definitions.end()) continue;
      if (defined->second.statement->hasResult) continue;
      const std::string name = s.name, own = name + "_with_result_for_text_" + std::to_string(i + 1);
      if (s.externAt != std::string::npos) texts[i].changes.push_back({s.externAt, std::strlen(".extern"), ""});
      s.name = own;
      if (!known.insert(name).second) continue;
      for (const auto& [at, word] : texts[i].names)
        if (word == name) texts[i].changes.push_back({at, name.size(), own});
      std::string given;
      for (const std::string& parameter : s.parameters) given += (given.empty() ? "" : ", ") + parameter;
      std::ranges::stable_sort(texts[i].changes, {}, &Change::at);
      std::string head = partOf(texts[i], s.begin, s.end);
      head.resize(head.find_last_of(')') + 1);
      added.append(head).append("\n{\n\tcall.uni ").append(name).append(", (").append(given).append(");\n\tret;\n}\n");
    }
  }
  return added;
}

} // namespace

bool linkPtx(std::span<const NamedText> sources, std::string& linked, std::string& error) {
  if (sources.size() == 1) {
    linked = sources[0].text;
    return true;
  }
  std::vector<Text> texts(sources.size());
  int files = 0;
  for (size_t i = 0; i < sources.size(); ++i) {
    texts[i].source = &sources[i];
    sim::ptx::Diagnostic wrong;
    Cutter(texts[i], files, i == 0, wrong).cut();
    if (!wrong.message.empty()) {
      error = wrong.render(sources[i].name, sources[i].text);
      return false;
    }
    files += texts[i].files;
  }
  renamePrivate(texts);
  Definitions definitions;
  for (const Text& text : texts)
    for (const Statement& s : text.statements) {
      if (s.isExtern || s.kind == Statement::Kind::Other || (s.kind == Statement::Kind::Function && !s.hasBody))
        continue;
      const auto [known, isNew] = definitions.try_emplace(s.name, Definition{&text, &s});
      if (isNew) continue;
      const bool wasWeak = known->second.statement->isWeak;
      if (!wasWeak && !s.isWeak) {
        error = known->second.text->source->name + " and " + text.source->name + " both define " + s.name;
        return false;
      }
      if (wasWeak && !s.isWeak) known->second = {&text, &s};
    }
  std::string declarations, variables, functions = addResults(texts, definitions), others;
  std::set<std::string> declared;
  for (Text& text : texts) {
    std::ranges::stable_sort(text.changes, {}, &Change::at);
    for (const Statement& s : text.statements) {
      const auto defined = definitions.find(s.name);
      const bool isThis = defined != definitions.end() && defined->second.statement == &s;
      const bool isDefined = defined != definitions.end() && s.kind != Statement::Kind::Other;
      if (s.kind == Statement::Kind::Other) {
        others += partOf(text, s.begin, s.end) + "\n";
      } else if (s.kind == Statement::Kind::Variable) {
        if (isThis || (!isDefined && declared.insert(s.name).second)) variables += partOf(text, s.begin, s.end) + "\n";
      } else if (s.hasBody) {
        if (!isThis) continue;
        functions += partOf(text, s.begin, s.end) + "\n";
        if (text.source->text.compare(s.begin, s.headEnd - s.begin, ".entry") != 0 && declared.insert(s.name).second &&
            text.source->text.substr(s.begin, s.headEnd - s.begin).find(".entry") == std::string::npos)
          declarations += partOf(text, s.begin, s.headEnd) + ";\n";
      } else if (!isDefined && declared.insert(s.name).second) {
        declarations += partOf(text, s.begin, s.end) + "\n";
      }
    }
  }
  const auto newest =
      std::max_element(texts.begin(), texts.end(), [](const Text& a, const Text& b) { return a.version < b.version; });
  linked = ".version " + newest->version + "\n.target " + texts[0].target + "\n.address_size 64\n" + declarations +
           variables + functions + others;
  return true;
}

} // namespace tiletwin::driver
