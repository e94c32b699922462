// sim/ptx/Constants.cpp -- precedence climbing over the operators of C, without assignments.
#include "sim/ptx/Constants.h"
#include <bit>
#include <charconv>
#include <iterator>

namespace tiletwin::sim::ptx {

namespace {

using Kind = Constant::Kind;
constexpr int kDeepest = 128; ///< parentheses, signs and choices inside of each other
constexpr uint64_t kWarpSize = 32;

enum class Operator : uint8_t {
  Or,
  And,
  BitOr,
  BitXor,
  BitAnd,
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  Shl,
  Shr,
  Add,
  Sub,
  Mul,
  Div,
  Rem
};
struct OperatorRow {
  std::string_view text;
  Operator op;
  int level; ///< binds tighter than lower ones
};
constexpr OperatorRow kOperators[] = {
    {"||", Operator::Or, 1},    {"&&", Operator::And, 2}, {"|", Operator::BitOr, 3}, {"^", Operator::BitXor, 4},
    {"&", Operator::BitAnd, 5}, {"==", Operator::Eq, 6},  {"!=", Operator::Ne, 6},   {"<", Operator::Lt, 7},
    {"<=", Operator::Le, 7},    {">", Operator::Gt, 7},   {">=", Operator::Ge, 7},   {"<<", Operator::Shl, 8},
    {">>", Operator::Shr, 8},   {"+", Operator::Add, 9},  {"-", Operator::Sub, 9},   {"*", Operator::Mul, 10},
    {"/", Operator::Div, 10},   {"%", Operator::Rem, 10},
};

const OperatorRow* operatorOf(const Token& token) {
  if (token.kind != TokenKind::Symbol) return nullptr;
  for (const OperatorRow& row : kOperators)
    if (row.text == token.text) return &row;
  return nullptr;
}

Constant integerConstant(uint64_t bits, bool isUnsigned) { return {isUnsigned ? Kind::Unsigned : Kind::Signed, bits}; }
Constant truth(bool value) { return integerConstant(value, false); }
Constant realConstant(double value) { return {Kind::Real, 0, value}; }

template <class T> bool compare(Operator op, T a, T b) {
  switch (op) {
  case Operator::Eq: return a == b;
  case Operator::Ne: return a != b;
  case Operator::Lt: return a < b;
  case Operator::Le: return a <= b;
  case Operator::Gt: return a > b;
  default: return a >= b;
  }
}

bool isComparison(Operator op) { return op >= Operator::Eq && op <= Operator::Ge; }

class Expression {
public:
  explicit Expression(Lexer& lexer) : lexer_(lexer) {}

  /// choice: binary [? choice : choice]
  bool choice(Constant& value) {
    Nesting nesting(*this);
    if (!nesting.isAllowed || !binary(value, 1)) return false;
    const Position at = lexer_.token().at;
    if (!lexer_.take('?')) return true;
    if (!value.isInteger()) return lexer_.fail(at, "the condition of '?' must be an integer");
    Constant yes, no;
    if (!choice(yes) || !lexer_.expect(':', " of a choice") || !choice(no)) return false;
    value = value.bits ? yes : no;
    return true;
  }

private:
  struct Nesting {
    explicit Nesting(Expression& e) : depth(e.depth_), isAllowed(++depth <= kDeepest) {
      if (!isAllowed) e.lexer_.fail("a constant expression is nested too deeply");
    }
    ~Nesting() { --depth; }
    int& depth;
    bool isAllowed;
  };

  bool binary(Constant& left, int level) {
    if (!unary(left)) return false;
    while (const OperatorRow* row = operatorOf(lexer_.token())) {
      if (row->level < level) break;
      if (left.kind == Kind::Exact) return lexer_.fail("a number in hexadecimal takes no operators");
      const Position at = lexer_.token().at;
      lexer_.advance();
      Constant right;
      if (!binary(right, row->level + 1)) return false;
      if (!apply(row->op, at, left, right)) return false;
    }
    return true;
  }

  bool unary(Constant& value) {
    Nesting nesting(*this);
    if (!nesting.isAllowed) return false;
    const Token sign = lexer_.token();
    if (!sign.is('+') && !sign.is('-') && !sign.is('!') && !sign.is('~')) return primary(value);
    lexer_.advance();
    if (!unary(value)) return false;
    if (value.kind == Kind::Exact) return lexer_.fail(sign.at, "a number in hexadecimal takes no operators");
    if (value.kind == Kind::Real) {
      if (sign.is('-')) value.real = -value.real;
      if (!sign.is('!') && !sign.is('~')) return true;
      return lexer_.fail(sign.at, "'" + std::string(sign.text) + "' takes an integer");
    }
    if (sign.is('-')) value.bits = -value.bits;
    if (sign.is('!')) value = truth(!value.bits);
    if (sign.is('~')) value = integerConstant(~value.bits, true);
    return true;
  }

  bool primary(Constant& value) {
    const Token token = lexer_.token();
    if (token.kind == TokenKind::Word && lexer_.wordToNumber()) return real(value);
    if (token.kind == TokenKind::Float) return real(value);
    if (token.kind == TokenKind::Integer) {
      if (!integerValue(token.text, value)) return lexer_.fail(quoted(token.text) + " is no integer of 64 bits");
      lexer_.advance();
      return true;
    }
    if (token.kind == TokenKind::Name && token.text == "WARP_SZ") {
      value = integerConstant(kWarpSize, false);
      lexer_.advance();
      return true;
    }
    if (!lexer_.take('(')) return lexer_.expected("a constant");
    if (lexer_.token().kind == TokenKind::Word && !startsConstant(lexer_.token())) return cast(value);
    return choice(value) && lexer_.expect(')', " behind a constant");
  }

  /// Behind '(': .s64) or .u64)
  bool cast(Constant& value) {
    const Token type = lexer_.token();
    if (!type.isWord("s64") && !type.isWord("u64")) return lexer_.expected("a constant, .s64 or .u64");
    lexer_.advance();
    if (!lexer_.expect(')', " behind a type") || !unary(value)) return false;
    if (!value.isInteger()) return lexer_.fail(type.at, "a cast takes an integer");
    value.kind = type.text == "u64" ? Kind::Unsigned : Kind::Signed;
    return true;
  }

  bool real(Constant& value) {
    const Token token = lexer_.token();
    const char* begin = token.text.data();
    const char* end = begin + token.text.size();
    const char form = token.text.size() > 1 ? char(token.text[1] | 0x20) : '\0';
    std::from_chars_result result{end, std::errc()};
    if (form == 'f' || form == 'd') {
      value = {Kind::Exact};
      result = std::from_chars(begin + 2, end, value.bits, 16);
      value.exactBits = form == 'f' ? 32 : 64;
      value.real = form == 'f' ? double(std::bit_cast<float>(uint32_t(value.bits))) : std::bit_cast<double>(value.bits);
    } else {
      value = realConstant(0);
      result = std::from_chars(begin, end, value.real);
    }
    if (result.ec == std::errc::result_out_of_range)
      return lexer_.fail(quoted(token.text) + " is beyond the range of double precision");
    if (result.ec != std::errc() || result.ptr != end) return lexer_.fail(quoted(token.text) + " is no number");
    lexer_.advance();
    return true;
  }

  bool apply(Operator op, Position at, Constant& a, const Constant& b) {
    if (b.kind == Kind::Exact) return lexer_.fail(at, "a number in hexadecimal takes no operators");
    if (a.isInteger() != b.isInteger())
      return lexer_.fail(at, "an integer and a floating-point number in one operation");
    return a.isInteger() ? applyInteger(op, at, a, b) : applyReal(op, at, a, b.real);
  }

  bool applyReal(Operator op, Position at, Constant& a, double b) {
    if (isComparison(op)) {
      a = truth(compare(op, a.real, b));
      return true;
    }
    switch (op) {
    case Operator::Add: a.real += b; return true;
    case Operator::Sub: a.real -= b; return true;
    case Operator::Mul: a.real *= b; return true;
    case Operator::Div: a.real /= b; return true;
    default: return lexer_.fail(at, "this operator takes integers");
    }
  }

  bool applyInteger(Operator op, Position at, Constant& a, const Constant& b) {
    const bool isUnsigned = a.kind == Kind::Unsigned || b.kind == Kind::Unsigned;
    const uint64_t x = a.bits, y = b.bits;
    if ((op == Operator::Div || op == Operator::Rem) && y == 0) return lexer_.fail(at, "division by zero");
    if (isComparison(op)) {
      a = truth(isUnsigned ? compare(op, x, y) : compare(op, int64_t(x), int64_t(y)));
      return true;
    }
    switch (op) {
    case Operator::Or: a = truth(x || y); return true;
    case Operator::And: a = truth(x && y); return true;
    case Operator::Shl: a.bits = x << (y & 63); return true;
    case Operator::Shr:
      a.bits = a.kind == Kind::Unsigned ? x >> (y & 63) : uint64_t(int64_t(x) >> (y & 63));
      return true;
    case Operator::Rem: a = integerConstant(x % y, true); return true;
    case Operator::BitOr: a = integerConstant(x | y, isUnsigned); return true;
    case Operator::BitXor: a = integerConstant(x ^ y, isUnsigned); return true;
    case Operator::BitAnd: a = integerConstant(x & y, isUnsigned); return true;
    case Operator::Add: a = integerConstant(x + y, isUnsigned); return true;
    case Operator::Sub: a = integerConstant(x - y, isUnsigned); return true;
    case Operator::Mul: a = integerConstant(x * y, isUnsigned); return true;
    default: break;
    }
    if (!isUnsigned && int64_t(x) == INT64_MIN && int64_t(y) == -1)
      return lexer_.fail(at, "the quotient is no integer of 64 bits");
    a = integerConstant(isUnsigned ? x / y : uint64_t(int64_t(x) / int64_t(y)), isUnsigned);
    return true;
  }

  Lexer& lexer_;
  int depth_ = 0;
};

} // namespace

bool integerValue(std::string_view text, Constant& constant) {
  const bool isUnsigned = text.ends_with('U');
  if (isUnsigned) text.remove_suffix(1);
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    const char second = char(text[1] | 0x20);
    base = second == 'x' ? 16 : second == 'b' ? 2 : 8;
    text.remove_prefix(base == 8 ? 1 : 2);
  }
  uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return false;
  constant = integerConstant(value, isUnsigned || int64_t(value) < 0);
  return true;
}

bool startsConstant(const Token& token) {
  switch (token.kind) {
  case TokenKind::Integer:
  case TokenKind::Float: return true;
  case TokenKind::Name: return token.text == "WARP_SZ";
  case TokenKind::Word: return token.text[0] >= '0' && token.text[0] <= '9'; // .5
  case TokenKind::Symbol: return token.is('(') || token.is('-') || token.is('+') || token.is('~') || token.is('!');
  default: return false;
  }
}

bool readConstant(Lexer& lexer, Constant& constant) { return Expression(lexer).choice(constant); }

bool readInteger(Lexer& lexer, std::string_view what, Constant& constant) {
  const Token token = lexer.token();
  if (!startsConstant(token)) return lexer.expected(what);
  if (!readConstant(lexer, constant)) return false;
  if (constant.isInteger()) return true;
  return lexer.fail(token.at, "expected " + std::string(what) + ", got a floating-point number");
}

} // namespace tiletwin::sim::ptx
