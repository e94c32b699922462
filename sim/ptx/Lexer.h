// sim/ptx/Lexer.h -- PTX text as tokens, one at a time, each with its place.
//
// Here:      Token, Lexer, and the reader's one diagnostic: fail() keeps the first.
// Not here:  what tokens mean (Reader.h), the values of numbers (Constants.h).
// Source:    PTX ISA, chapter 4: comments, identifiers, constants.
// Invariant: after a mistake in the text every token is Error, so that whatever reads on stops.
#pragma once
#include "sim/ptx/Ptx.h"

namespace tiletwin::sim::ptx {

enum class TokenKind : uint8_t {
  End,
  Error,
  Name,    ///< foo, %r1, $L_1, _x
  Sink,    ///< _
  Word,    ///< .sync, .shared::cta; text is without the point
  Integer, ///< 12, 0x1F, 017, 0b1, 5U
  Float,   ///< 1.5, 1e3, 0f3F800000, 0d3FF0000000000000
  String,  ///< text is without the quotes, escapes as written
  Symbol,  ///< one character, or one of << >> <= >= == != && ||
};

struct Token {
  TokenKind kind = TokenKind::End;
  std::string_view text;
  Position at;
  bool is(char c) const { return kind == TokenKind::Symbol && text.size() == 1 && text[0] == c; }
  bool isWord(std::string_view word) const { return kind == TokenKind::Word && text == word; }
};

class Lexer {
public:
  /// `text` outlives the lexer; `first` is where it begins.
  Lexer(std::string_view text, Diagnostic& error, Position first = {1, 1});

  const Token& token() const { return token_; }
  void advance() { token_ = lex(); }
  /// The token behind the current one.
  Token peek() const;
  /// Takes the symbol if it is the current token.
  bool take(char c);
  /// Takes it, or fails: "expected ';' behind the operands, got ...", where `where` is " behind the operands".
  bool expect(char c, std::string_view where = {});
  /// The current token is '{': returns what stands up to the next '}' outside of comments and strings, unread. '}' is current
  /// then.
  std::string_view skipBody();
  /// The current token is a Word such as ".5": makes it the number it is. False: it is none.
  bool wordToNumber();

  /// Keeps the first diagnostic. Returns false.
  bool fail(Position at, std::string message);
  bool fail(std::string message) { return fail(token_.at, std::move(message)); }
  /// "expected WHAT, got TOKEN".
  bool expected(std::string_view what);
  bool hasFailed() const { return !error_->message.empty(); }

private:
  Token lex();
  bool skipSpace();
  bool skipComment();
  void skipLine();
  Token lexNumber(Position at);
  Token lexWord(Position at);
  Token lexString(Position at);
  Token lexSymbol(Position at);
  Token error(Position at, std::string message);
  char next(size_t offset = 0) const { return size_t(end_ - p_) > offset ? p_[offset] : '\0'; }
  Position here() const { return {line_, int32_t(p_ - lineBegin_) + 1}; }

  const char* p_;
  const char* end_;
  const char* lineBegin_;
  int32_t line_;
  Diagnostic* error_;
  Token token_;
};

/// How diagnostics show a token: "'.foo'", "the end of the text".
std::string describe(const Token& token);
/// A name as diagnostics show it: quoted, shortened if it is very long.
std::string quoted(std::string_view name);

} // namespace tiletwin::sim::ptx
