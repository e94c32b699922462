// runtime/cuda/PtxHeader.cpp -- see PtxHeader.h.
#include "runtime/cuda/PtxHeader.h"
#include <algorithm>
#include <cctype>
#include <charconv>

namespace tiletwin::cuda {
namespace {

/// Words (names, directives, numbers) and single signs, without comments and strings.
class Words {
public:
  explicit Words(std::string_view text) : text_(text) { next(); }
  std::string_view word() const { return word_; } ///< empty at the end
  bool is(std::string_view wanted) const { return word_ == wanted; }
  void next();
  std::string_view take() {
    const std::string_view word = word_;
    next();
    return word;
  }

private:
  void skipBlanks();
  std::string_view text_, word_;
  size_t at_ = 0;
};

bool isWordSign(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%'; }

void Words::skipBlanks() {
  while (at_ < text_.size()) {
    if (std::isspace(static_cast<unsigned char>(text_[at_]))) {
      ++at_;
    } else if (text_.substr(at_, 2) == "//") {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (text_.substr(at_, 2) == "/*") {
      const size_t end = text_.find("*/", at_ + 2);
      at_ = end == text_.npos ? text_.size() : end + 2;
    } else if (text_[at_] == '"') {
      ++at_;
      while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
      at_ = std::min(at_ + 1, text_.size());
    } else {
      return;
    }
  }
}

void Words::next() {
  skipBlanks();
  size_t end = at_;
  if (end < text_.size() && text_[end] == '.') ++end; // a directive, or a type
  while (end < text_.size() && isWordSign(text_[end])) ++end;
  if (end == at_ && end < text_.size()) ++end;
  word_ = text_.substr(at_, end - at_);
  at_ = end;
}

uint32_t number(std::string_view word) {
  uint32_t value = 0;
  const bool isHex = word.starts_with("0x") || word.starts_with("0X");
  if (isHex) word.remove_prefix(2);
  std::from_chars(word.data(), word.data() + word.size(), value, isHex ? 16 : 10);
  return value;
}

/// Bytes of one element: the digits of "u64", "b8", and 4 of "f16x2".
uint32_t bytesOf(std::string_view type) {
  const size_t digits = type.find_first_of("0123456789");
  if (digits == type.npos) return 0;
  const uint32_t bits = number(type.substr(digits, type.find('x', digits) - digits));
  return (type.ends_with("x2") ? 2 * bits : bits) / 8;
}

bool isType(std::string_view word) {
  return word.size() > 2 && word[0] == '.' && std::string_view("usfb").find(word[1]) != std::string_view::npos &&
         bytesOf(word) > 0;
}

/// `.param .align 8 .b8 name[24]`, `.param .u64 .ptr .global .align 16 name`; ends before `,` or `)`.
PtxParameter readParameter(Words& words, uint32_t& offset) {
  PtxParameter parameter;
  uint32_t alignment = 0;
  while (!words.word().empty() && !words.is(",") && !words.is(")")) {
    const std::string_view word = words.take();
    if (word == ".align") {
      (parameter.isPointer ? parameter.pointerAlignment : alignment) = number(words.take());
    } else if (word == ".ptr") {
      parameter.isPointer = true;
    } else if (isType(word)) {
      parameter.type = word.substr(1);
      parameter.bytes = bytesOf(word);
    } else if (word == "[") {
      parameter.bytes *= number(words.take());
    } else if (word[0] != '.' && word != "]") {
      parameter.name = word;
    }
  }
  alignment = std::max({alignment, std::min(bytesOf(parameter.type), 8u), 1u});
  parameter.offset = (offset + alignment - 1) / alignment * alignment;
  offset = parameter.offset + parameter.bytes;
  return parameter;
}

/// Up to three numbers with commas between them.
std::array<uint32_t, 3> readSizes(Words& words) {
  std::array<uint32_t, 3> sizes{1, 1, 1};
  for (size_t i = 0; i < 3; ++i) {
    sizes[i] = number(words.take());
    if (!words.is(",")) break;
    words.next();
  }
  return sizes;
}

/// From the name of an entry to the brace of its body.
PtxEntry readEntry(Words& words) {
  PtxEntry entry;
  entry.name = words.take();
  if (words.is("(")) {
    words.next();
    while (!words.word().empty() && !words.is(")")) {
      if (words.is(",")) words.next();
      if (!words.is(")")) entry.parameters.push_back(readParameter(words, entry.parameterBytes));
    }
  }
  while (!words.word().empty() && !words.is("{") && !words.is(";")) {
    const std::string_view word = words.take();
    if (word == ".reqntid") entry.requiredThreads = readSizes(words);
    if (word == ".maxntid") entry.maxThreads = readSizes(words);
    if (word == ".reqnctapercluster") entry.requiredCluster = readSizes(words);
  }
  return entry;
}

void skipBody(Words& words) {
  for (int depth = 0; !words.word().empty();) {
    depth += words.is("{") ? 1 : words.is("}") ? -1 : 0;
    words.next();
    if (depth <= 0) return;
  }
}

} // namespace

bool PtxEntry::isNumber(const PtxParameter& parameter) { return parameter.bytes == bytesOf(parameter.type); }

const PtxEntry* PtxHeader::find(std::string_view entry) const {
  for (const PtxEntry& known : entries)
    if (known.name == entry) return &known;
  return nullptr;
}

PtxHeader readPtxHeader(std::string_view text) {
  PtxHeader header;
  Words words(text);
  while (!words.word().empty()) {
    const std::string_view word = words.word();
    if (word == "{") {
      skipBody(words);
      continue;
    }
    words.next();
    if (word == ".version") {
      header.version = 10 * int(number(words.take()));
      if (words.word().starts_with('.')) header.version += int(number(words.take().substr(1))); // ".0" is one word
    } else if (word == ".target") {
      header.target = words.take();
    } else if (word == ".entry") {
      PtxEntry entry = readEntry(words);
      // A declaration may stand before the definition.
      if (!entry.name.empty() && !header.find(entry.name)) header.entries.push_back(std::move(entry));
    }
  }
  return header;
}

} // namespace tiletwin::cuda
