// sim/ptx/ReadDebug.cpp -- where instructions come from: .file, .loc; sections of debug information, which are kept unread but
// for the names of functions that were inlined.
// Source: PTX ISA, 11.5 (debugging directives).
#include "sim/ptx/Reader.h"
#include <limits>

namespace tiletwin::sim::ptx {

namespace {

constexpr int32_t kMostLines = std::numeric_limits<int32_t>::max();

/// Backslashes in front of quotes and of each other go.
std::string unescaped(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == '"' || text[i + 1] == '\\')) ++i;
    out += text[i];
  }
  return out;
}

/// A section's bytes, and where its labels are in them.
struct SectionBytes {
  std::string bytes;
  std::unordered_map<std::string_view, size_t> labels;

  /// label: .b8 1, 2 and so on; the values of other symbols count as 0.
  void append(std::string_view body) {
    Diagnostic ignored;
    size_t width = 0;
    for (Lexer lexer(body, ignored); lexer.token().kind != TokenKind::End && !lexer.hasFailed(); lexer.advance()) {
      const Token& token = lexer.token();
      Constant value;
      if (token.kind == TokenKind::Name && lexer.peek().is(':'))
        labels.emplace(token.text, bytes.size());
      else if (token.kind == TokenKind::Word && typeNamed(token.text) != Type::None)
        width = size_t(bytesOf(typeNamed(token.text)));
      else if (token.kind == TokenKind::Integer && integerValue(token.text, value))
        for (size_t i = 0; i < width; ++i) bytes += char(i < 8 ? value.bits >> (8 * i) : 0);
      else if (token.kind == TokenKind::Name)
        bytes.append(width, '\0');
    }
  }
};

} // namespace

/// .file 1 "name", timestamp, size
bool Reader::readFile() {
  lexer_.advance();
  const Position at = lexer_.token().at;
  int32_t number = 0;
  if (!readCount(number, 0, kMostFiles)) return false;
  if (lexer_.token().kind != TokenKind::String) return lexer_.expected("the name of a file");
  const std::string name = unescaped(lexer_.token().text);
  lexer_.advance();
  for (int i = 0; i < 2 && lexer_.take(','); ++i) {
    Constant ignored; // when it was written, and its size
    if (!readInteger(lexer_, "an integer", ignored)) return false;
  }
  if (size_t(number) >= module_.files.size()) module_.files.resize(size_t(number) + 1);
  if (!module_.files[size_t(number)].empty())
    return lexer_.fail(at, "file " + std::to_string(number) + " is declared twice");
  module_.files[size_t(number)] = name;
  return true;
}

/// .loc file line column, function_name label + offset, inlined_at file line column
bool Reader::readLocation() {
  lexer_.advance();
  SourceLine source;
  if (!readCount(source.file, 0, kMostFiles) || !readCount(source.line, 0, kMostLines) ||
      !readCount(source.column, 0, kMostLines))
    return false;
  while (lexer_.take(','))
    if (!readInlined(source)) return false;
  source_ = int32_t(module_.sourceLines.size());
  sources_[{source.file, source.line, source.column}] = source_;
  module_.sourceLines.push_back(std::move(source));
  return true;
}

bool Reader::readInlined(SourceLine& source) {
  const Token word = lexer_.token();
  const bool isName = word.kind == TokenKind::Name && word.text == "function_name";
  if (!isName && !(word.kind == TokenKind::Name && word.text == "inlined_at"))
    return lexer_.expected("function_name or inlined_at");
  lexer_.advance();
  if (isName) {
    PendingName name{module_.sourceLines.size(), lexer_.token().text, 0, lexer_.token().at};
    if (lexer_.token().kind != TokenKind::Name) return lexer_.expected("a label of .debug_str");
    lexer_.advance();
    int64_t offset = 0;
    if (!readOffset(offset)) return false;
    name.offset = uint64_t(offset);
    inlinedNames_.push_back(name);
    return true;
  }
  SourceKey call{};
  if (!readCount(call.file, 0, kMostFiles) || !readCount(call.line, 0, kMostLines) ||
      !readCount(call.column, 0, kMostLines))
    return false;
  auto found = sources_.find(call);
  if (found == sources_.end())
    return lexer_.fail(word.at, "the place of inlined_at is that of no .loc in front of this one");
  source.inlinedAt = found->second;
  return true;
}

/// .section .name { ... }
bool Reader::readSection() {
  lexer_.advance();
  const Token name = lexer_.token();
  if (name.kind != TokenKind::Word) return lexer_.expected("the name of a section");
  lexer_.advance();
  if (!lexer_.token().is('{')) return lexer_.expected("'{' behind the name of a section");
  const std::string_view body = lexer_.skipBody();
  module_.sections.push_back({"." + std::string(name.text), body});
  return lexer_.expect('}', " behind a section");
}

/// Files that are nowhere named are unknown; names of inlined functions are read from .debug_str.
bool Reader::finishSources() {
  for (SourceLine& source : module_.sourceLines)
    if (size_t(source.file) >= module_.files.size() || module_.files[size_t(source.file)].empty()) source.file = -1;
  if (inlinedNames_.empty()) return true;
  SectionBytes strings;
  for (const Module::Section& section : module_.sections)
    if (section.name == ".debug_str") strings.append(section.body);
  for (const PendingName& name : inlinedNames_) {
    auto label = strings.labels.find(name.label);
    if (label == strings.labels.end())
      return lexer_.fail(name.at, "section .debug_str has no label " + quoted(name.label));
    const uint64_t begin = label->second + name.offset;
    if (begin >= strings.bytes.size()) return lexer_.fail(name.at, "a name beyond the end of section .debug_str");
    module_.sourceLines[name.source].inlinedFrom = strings.bytes.c_str() + begin;
  }
  return true;
}

} // namespace tiletwin::sim::ptx
