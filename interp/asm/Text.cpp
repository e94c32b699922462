// interp/asm/Text.cpp -- see Text.h.
#include "interp/asm/Text.h"
#include <bit>
#include <cctype>
#include <cstdlib>

namespace tiletwin::interp {
namespace {

bool isWordStart(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '%' || c == '.'; }
bool isWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '.'; }

class Splitter {
public:
  Splitter(std::string_view text, std::vector<AsmStatement>& out, std::string& error)
      : text_(text), out_(out), error_(error) {}
  bool run() {
    for (;;) {
      skip();
      if (at_ == text_.size()) return true;
      if (take(';')) continue;
      if (!statement()) return false;
    }
  }

private:
  std::string_view text_;
  std::vector<AsmStatement>& out_;
  std::string& error_;
  size_t at_ = 0;
  int line_ = 1;
  bool isHint_ = false;

  bool fail(const std::string& why) {
    if (error_.empty()) error_ = asmPlace(text_, line_) + why;
    return false;
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool starts(std::string_view s) const { return text_.substr(at_, s.size()) == s; }
  void step() {
    if (text_[at_] == '\n') ++line_;
    ++at_;
  }
  void skip() {
    while (at_ < text_.size()) {
      if (std::isspace(static_cast<unsigned char>(peek()))) {
        step();
      } else if (starts("//")) {
        while (at_ < text_.size() && peek() != '\n') step();
      } else if (starts("/*")) {
        while (at_ < text_.size() && !starts("*/")) step();
        for (int i = 0; i < 2 && at_ < text_.size(); ++i) step();
      } else {
        return;
      }
    }
  }
  bool take(char c) {
    skip();
    if (peek() != c) return false;
    step();
    return true;
  }
  std::string word() {
    std::string w;
    while (at_ < text_.size() && (isWord(peek()) || (w.empty() && isWordStart(peek())) || starts("::"))) {
      if (starts("::")) {
        w += "::";
        at_ += 2;
        continue;
      }
      if (starts("$$")) ++at_;
      w += text_[at_++];
    }
    return w;
  }
  std::string found() { return at_ < text_.size() ? "`" + std::string(1, peek()) + "`" : "the end of the text"; }

  /// $3, ${3}
  bool placeholder(int& number) {
    ++at_;
    const bool braced = peek() == '{';
    if (braced) ++at_;
    if (!std::isdigit(static_cast<unsigned char>(peek()))) return fail("a number must follow `$`");
    number = 0;
    while (std::isdigit(static_cast<unsigned char>(peek())) && number < 10000)
      number = number * 10 + (text_[at_++] - '0');
    if (braced && !take('}')) return fail("`}` must close `${" + std::to_string(number) + "`");
    return true;
  }

  bool number(AsmArgument& out) {
    const bool negative = peek() == '-';
    if (negative) ++at_;
    skip();
    const size_t start = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(peek())) || peek() == '.' ||
            ((peek() == '-' || peek() == '+') && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E') &&
             !text_.substr(start).starts_with("0x"))))
      ++at_;
    std::string digits(text_.substr(start, at_ - start));
    if (digits.empty()) return fail("a number was expected, not " + found());
    char* end = nullptr;
    const char kind = digits.size() > 1 && digits[0] == '0' ? char(std::tolower(digits[1])) : '\0';
    if (kind == 'f' || kind == 'd') { // bits in hexadecimal
      out.kind = kind == 'f' ? AsmArgument::Float32 : AsmArgument::Float64;
      out.bits = std::strtoull(digits.c_str() + 2, &end, 16);
      if (digits.size() != (kind == 'f' ? 10u : 18u)) end = nullptr;
      if (negative) out.bits ^= kind == 'f' ? 0x80000000ull : 0x8000000000000000ull;
    } else if (kind != 'x' && digits.find_first_of(".eE") != std::string::npos) {
      out.kind = AsmArgument::Float64;
      const double value = std::strtod(digits.c_str(), &end);
      out.bits = std::bit_cast<uint64_t>(negative ? -value : value);
    } else {
      out.kind = AsmArgument::Integer;
      if (digits.back() == 'U' || digits.back() == 'u') digits.pop_back();
      const bool binary = kind == 'b';
      out.bits = std::strtoull(digits.c_str() + (binary ? 2 : 0), &end, binary ? 2 : 0);
      if (negative) out.bits = uint64_t(0) - out.bits;
    }
    if (!end || *end) return fail("`" + std::string(text_.substr(start, at_ - start)) + "` is not a number");
    return true;
  }

  bool argument(AsmArgument& out) {
    skip();
    if (peek() == '!') {
      ++at_;
      skip();
      out.negated = true;
    }
    const char c = peek();
    if (c == '$') {
      out.kind = AsmArgument::Placeholder;
      return placeholder(out.placeholder);
    }
    if (c == '{') {
      ++at_;
      out.kind = AsmArgument::Vector;
      do {
        out.parts.emplace_back();
        if (!argument(out.parts.back())) return false;
      } while (take(','));
      return take('}') || fail("`}` must close a vector of registers, not " + found());
    }
    if (c == '-' || std::isdigit(static_cast<unsigned char>(c))) return number(out);
    if (c == '[' && isHint_) { // an address that only a cache would heed
      while (at_ < text_.size() && peek() != ']') step();
      out.kind = AsmArgument::Memory;
      return take(']') || fail("`]` must close an address");
    }
    if (c == '[')
      return fail("memory is not reached from inline assembly on the CPU; use tl.load, tl.store or tl.atomic_*");
    if (!isWordStart(c)) return fail("a register or a number was expected, not " + found());
    out.name = word();
    out.kind = out.name == "_" ? AsmArgument::Sink : AsmArgument::Name;
    return true;
  }

  bool registers() { // .reg .b32 a, b<4>;
    AsmStatement s;
    s.kind = AsmStatement::Registers;
    s.line = line_;
    skip();
    s.opcode = word();
    if (s.opcode.empty() || s.opcode[0] != '.') return fail("a type must follow .reg, as in `.reg .b32 t;`");
    s.opcode.erase(0, 1);
    do {
      skip();
      std::string name = word();
      if (name.empty()) return fail("a name of a register was expected, not " + found());
      if (take('<')) {
        AsmArgument count;
        skip();
        if (!number(count) || count.kind != AsmArgument::Integer || count.bits > 4096 || !take('>'))
          return fail("a number of registers was expected, as in `" + name + "<4>`");
        for (uint64_t i = 0; i < count.bits; ++i) {
          s.arguments.emplace_back();
          s.arguments.back().name = name + std::to_string(i);
        }
      } else {
        s.arguments.emplace_back();
        s.arguments.back().name = name;
      }
    } while (take(','));
    out_.push_back(std::move(s));
    return take(';') || fail("`;` was expected, not " + found());
  }

  bool statement() {
    AsmStatement s;
    s.line = line_;
    if (peek() == '{' || peek() == '}') {
      s.kind = peek() == '{' ? AsmStatement::Open : AsmStatement::Close;
      ++at_;
      out_.push_back(std::move(s));
      return true;
    }
    if (take('@')) {
      if (!argument(s.guard.emplace())) return false;
      skip();
      s.line = line_;
    }
    if (!isWordStart(peek())) return fail("an instruction was expected, not " + found());
    s.opcode = word();
    if (s.opcode == ".reg") return registers();
    if (s.opcode[0] == '.') return fail("the directive `" + s.opcode + "` is not supported");
    skip();
    if (peek() == ':')
      return fail("labels are not supported (`" + s.opcode +
                  "`), as elements may take different ways; use predicates here, or a loop of the kernel");
    for (size_t from = 0; from <= s.opcode.size();) {
      size_t dot = std::min(s.opcode.find('.', from), s.opcode.size());
      s.words.push_back(s.opcode.substr(from, dot - from));
      from = dot + 1;
    }
    if (!asmKnows(s.words[0])) {
      const std::string_view reason = asmReason(s.words[0]);
      return fail("`" + s.opcode + "` is not an instruction that runs on the CPU" +
                  (reason.empty() ? "" : ": " + std::string(reason)));
    }
    isHint_ = s.words[0].starts_with("prefetch");
    while (peek() != ';' && at_ < text_.size()) {
      s.arguments.emplace_back();
      if (!argument(s.arguments.back())) return error_.empty() ? fail("") : complete(s);
      if (take('|')) {
        s.second.emplace_back();
        if (!argument(s.second.back())) return false;
      }
      skip();
      if (!take(',')) break;
      skip();
    }
    if (!take(';')) return fail("`;` was expected after `" + s.opcode + "`, not " + found());
    out_.push_back(std::move(s));
    return true;
  }
  /// The message names the instruction.
  bool complete(const AsmStatement& s) {
    error_ += " (in `" + s.opcode + "`)";
    return false;
  }
};

} // namespace

std::string asmPlace(std::string_view text, int line) {
  size_t from = 0;
  for (int i = 1; i < line; ++i) from = std::min(text.find('\n', from), text.size() - 1) + 1;
  std::string_view shown = text.substr(from, text.find('\n', from) - from);
  while (!shown.empty() && std::isspace(static_cast<unsigned char>(shown.front()))) shown.remove_prefix(1);
  while (!shown.empty() && std::isspace(static_cast<unsigned char>(shown.back()))) shown.remove_suffix(1);
  std::string content(shown.substr(0, 100));
  return "line " + std::to_string(line) + " of the text (`" + content + (shown.size() > 100 ? "..." : "") + "`): ";
}

bool splitAsm(std::string_view text, std::vector<AsmStatement>& statements, std::string& error) {
  return Splitter(text, statements, error).run();
}

} // namespace tiletwin::interp
