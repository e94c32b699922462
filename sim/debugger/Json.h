// sim/debugger/Json.h -- writes JSON: what the engine answers.
// Here:      Json, a text that grows: objects, lists, numbers, strings, lists of numbers.
// Invariant: bytes that are no ASCII stand as they are; texts of a PTX module are UTF-8.
#pragma once
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace tiletwin::sim::debugger {

class Json {
public:
  /// Calls fill() between the brackets.
  template <class Fill> Json& object(Fill&& fill) { return nest('{', '}', fill); }
  template <class Fill> Json& list(Fill&& fill) { return nest('[', ']', fill); }
  Json& key(std::string_view name) {
    value(name);
    text_ += ':';
    needsComma_ = false;
    return *this;
  }
  template <class T> Json& field(std::string_view name, const T& v) { return key(name).value(v); }

  Json& value(bool v) { return raw(v ? "true" : "false"); }
  template <std::integral T> Json& value(T v) { return raw(std::to_string(v)); }
  Json& value(const char* v) { return value(std::string_view(v)); }
  Json& value(const std::string& v) { return value(std::string_view(v)); }
  Json& value(std::string_view v) {
    comma();
    text_ += '"';
    for (const char c : v) addCharacter(c);
    text_ += '"';
    return *this;
  }
  /// A list of numbers.
  template <class List>
    requires requires(const List& l) {
      l.begin();
      typename List::value_type;
    } && (!std::same_as<List, std::string>) && (!std::same_as<List, std::string_view>)
  Json& value(const List& numbers) {
    return list([&] {
      for (const auto& n : numbers) value(n);
    });
  }

  const std::string& text() const { return text_; }

private:
  template <class Fill> Json& nest(char open, char close, Fill&& fill) {
    comma();
    text_ += open;
    needsComma_ = false;
    fill();
    text_ += close;
    needsComma_ = true;
    return *this;
  }
  Json& raw(std::string_view v) {
    comma();
    text_ += v;
    return *this;
  }
  void comma() {
    if (needsComma_) text_ += ',';
    needsComma_ = true;
  }
  void addCharacter(char c) {
    constexpr char kDigits[] = "0123456789abcdef";
    const auto u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      text_ += '\\';
      text_ += c;
    } else if (u < 0x20) {
      text_ += "\\u00";
      text_ += kDigits[u >> 4];
      text_ += kDigits[u & 15];
    } else {
      text_ += c;
    }
  }

  std::string text_;
  bool needsComma_ = false;
};

/// Bytes as two hexadecimal digits each, in the order of memory.
inline std::string hexBytes(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    text += kDigits[static_cast<unsigned char>(c) >> 4];
    text += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return text;
}

} // namespace tiletwin::sim::debugger
