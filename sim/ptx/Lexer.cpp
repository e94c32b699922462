// sim/ptx/Lexer.cpp -- spaces, comments, names, words, numbers, strings, symbols.
#include "sim/ptx/Lexer.h"
#include <array>
#include <cstring>

namespace tiletwin::sim::ptx {

namespace {

enum CharClass : uint8_t { kNameStart = 1, kNameRest = 2, kDigit = 4, kHex = 8 };

constexpr std::array<uint8_t, 256> classifyCharacters() {
  std::array<uint8_t, 256> table{};
  for (int c = 0; c < 256; ++c) {
    bool digit = c >= '0' && c <= '9', letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    bool hex = digit || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    bool start = letter || c == '_' || c == '$' || c == '%', rest = letter || digit || c == '_' || c == '$';
    table[size_t(c)] = uint8_t(start * kNameStart | rest * kNameRest | digit * kDigit | hex * kHex);
  }
  return table;
}
constexpr auto kCharClasses = classifyCharacters();

bool has(char c, uint8_t which) { return kCharClasses[uint8_t(c)] & which; }

constexpr std::string_view kSymbols = "{}[]()<>,;:=+-*/%!~&|^?@";
constexpr std::string_view kLongSymbols[] = {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};
constexpr size_t kShownLength = 60;

} // namespace

std::string quoted(std::string_view name) {
  std::string out = "'";
  for (char c : name.substr(0, kShownLength)) {
    static constexpr char kHexDigits[] = "0123456789abcdef";
    if (c >= ' ' && c < 127)
      out += c;
    else
      out.append("\\x") += {kHexDigits[uint8_t(c) >> 4], kHexDigits[uint8_t(c) & 15]};
  }
  return out + (name.size() > kShownLength ? "...'" : "'");
}

std::string describe(const Token& token) {
  switch (token.kind) {
  case TokenKind::End: return "the end of the text";
  case TokenKind::Word: return quoted("." + std::string(token.text.substr(0, kShownLength + 1)));
  case TokenKind::String: return "a string";
  default: return quoted(token.text);
  }
}

Lexer::Lexer(std::string_view text, Diagnostic& error, Position first)
    : p_(text.data()), end_(text.data() + text.size()), lineBegin_(p_ - (first.column - 1)), line_(first.line),
      error_(&error) {
  while (end_ != p_ && end_[-1] == '\0') --end_; // C strings that were handed over with their end
  advance();
}

Token Lexer::peek() const {
  Diagnostic ignored; // a mistake is reported when its token becomes the current one
  Lexer copy = *this;
  copy.error_ = &ignored;
  return copy.lex();
}

bool Lexer::take(char c) {
  if (!token_.is(c)) return false;
  advance();
  return true;
}

bool Lexer::expect(char c, std::string_view where) {
  if (take(c)) return true;
  return expected(quoted({&c, 1}).append(where));
}

bool Lexer::fail(Position at, std::string message) {
  token_ = error(at, std::move(message));
  return false;
}

bool Lexer::expected(std::string_view what) {
  return fail(token_.at, "expected " + std::string(what) + ", got " + describe(token_));
}

Token Lexer::error(Position at, std::string message) {
  if (!hasFailed()) {
    error_->at = at;
    error_->message = std::move(message);
  }
  return {TokenKind::Error, {}, at};
}

void Lexer::skipLine() {
  const void* newline = std::memchr(p_, '\n', size_t(end_ - p_));
  p_ = newline ? static_cast<const char*>(newline) : end_;
}

/// At "/*". False: it has no end.
bool Lexer::skipComment() {
  for (p_ += 2; p_ != end_; ++p_) {
    if (*p_ == '*' && next(1) == '/') {
      p_ += 2;
      return true;
    }
    if (*p_ == '\n') {
      ++line_;
      lineBegin_ = p_ + 1;
    }
  }
  return false;
}

/// To the next token. False: an error was reported.
bool Lexer::skipSpace() {
  for (bool lineIsEmpty = p_ == lineBegin_; p_ != end_;) {
    switch (*p_) {
    case '\n':
      ++line_;
      lineBegin_ = ++p_;
      lineIsEmpty = true;
      break;
    case ' ':
    case '\t':
    case '\r':
    case '\f':
    case '\v': ++p_; break;
    case '/':
      if (next(1) == '/') {
        skipLine();
      } else if (next(1) == '*') {
        Position at = here();
        if (!skipComment()) {
          error(at, "a comment that begins here has no end");
          return false;
        }
      } else {
        return true;
      }
      break;
    case '#': // a preprocessor's line marker: # 12 "file"
      if (!lineIsEmpty || next(1) != ' ' || !has(next(2), kDigit)) return true;
      skipLine();
      break;
    default: return true;
    }
  }
  return true;
}

Token Lexer::lex() {
  if (hasFailed() || !skipSpace()) return {TokenKind::Error, {}, here()};
  const Position at = here();
  if (p_ == end_) return {TokenKind::End, {}, at};
  const char c = *p_;
  if (has(c, kNameStart)) {
    const char* rest = p_ + 1;
    while (rest != end_ && has(*rest, kNameRest)) ++rest;
    std::string_view text(p_, size_t(rest - p_));
    bool stands = c != '%' && c != '$'; // alone, as a letter does; a lone % is an operator
    if (text.size() > 1 || stands) {
      p_ = rest;
      return {text == "_" ? TokenKind::Sink : TokenKind::Name, text, at};
    }
  }
  if (c == '.') return lexWord(at);
  if (has(c, kDigit)) return lexNumber(at);
  if (c == '"') return lexString(at);
  return lexSymbol(at);
}

/// .word, .word::word
Token Lexer::lexWord(Position at) {
  const char* begin = ++p_;
  auto skipRest = [&] {
    while (p_ != end_ && has(*p_, kNameRest)) ++p_;
  };
  skipRest();
  if (p_ == begin) return error(at, "expected the name of a directive or modifier behind '.'");
  while (next() == ':' && next(1) == ':' && has(next(2), kNameRest)) {
    p_ += 2;
    skipRest();
  }
  return {TokenKind::Word, {begin, size_t(p_ - begin)}, at};
}

bool Lexer::wordToNumber() {
  if (token_.kind != TokenKind::Word || token_.text.empty() || !has(token_.text[0], kDigit)) return false;
  p_ = token_.text.data() - 1; // its point
  token_ = lexNumber(token_.at);
  return token_.kind == TokenKind::Float;
}

Token Lexer::lexNumber(Position at) {
  const char* begin = p_;
  TokenKind kind = TokenKind::Integer;
  auto skip = [&](uint8_t which) {
    const char* from = p_;
    while (p_ != end_ && has(*p_, which)) ++p_;
    return p_ - from;
  };
  const char second = *p_ == '0' ? next(1) : '\0';
  bool wellFormed = true;
  if (second == 'x' || second == 'X' || second == 'b' || second == 'B') {
    p_ += 2;
    wellFormed = skip(second == 'x' || second == 'X' ? kHex : kDigit) > 0;
  } else if (second == 'f' || second == 'F' || second == 'd' || second == 'D') {
    p_ += 2;
    kind = TokenKind::Float;
    wellFormed = skip(kHex) == (second == 'f' || second == 'F' ? 8 : 16);
  } else {
    skip(kDigit);
    if (next() == '.') {
      kind = TokenKind::Float;
      ++p_;
      skip(kDigit);
    }
    if (next() == 'e' || next() == 'E') {
      kind = TokenKind::Float;
      ++p_;
      if (next() == '+' || next() == '-') ++p_;
      wellFormed = skip(kDigit) > 0;
    }
  }
  if (kind == TokenKind::Integer && next() == 'U') ++p_;
  if (skip(kNameRest)) wellFormed = false;
  std::string_view text(begin, size_t(p_ - begin));
  if (!wellFormed) return error(at, quoted(text) + " is no number");
  return {kind, text, at};
}

Token Lexer::lexString(Position at) {
  const char* begin = ++p_;
  for (; p_ != end_ && *p_ != '"' && *p_ != '\n'; ++p_)
    if (*p_ == '\\' && p_ + 1 != end_ && p_[1] != '\n') ++p_;
  if (next() != '"') return error(at, "a string that begins here has no end on its line");
  return {TokenKind::String, {begin, size_t(p_++ - begin)}, at};
}

Token Lexer::lexSymbol(Position at) {
  std::string_view rest(p_, size_t(end_ - p_));
  for (std::string_view symbol : kLongSymbols)
    if (rest.starts_with(symbol)) {
      p_ += symbol.size();
      return {TokenKind::Symbol, rest.substr(0, symbol.size()), at};
    }
  if (kSymbols.find(*p_) == std::string_view::npos)
    return error(at, "unexpected character " + quoted(rest.substr(0, 1)));
  ++p_;
  return {TokenKind::Symbol, rest.substr(0, 1), at};
}

std::string_view Lexer::skipBody() {
  const Position at = token_.at;
  const char* begin = p_;
  while (skipSpace() && p_ != end_ && *p_ != '}') {
    if (*p_ == '"') {
      if (lexString(here()).kind == TokenKind::Error) break;
    } else {
      ++p_;
    }
  }
  if (!hasFailed() && p_ == end_)
    fail(at, "expected '}' to close the section that begins here, got the end of the text");
  std::string_view body(begin, size_t(p_ - begin));
  advance();
  return body;
}

} // namespace tiletwin::sim::ptx
