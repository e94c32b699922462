#include "sim/isa/Printf.h"
#include <cstdio>
#include <cstring>
#include <optional>

namespace tiletwin::sim {

namespace {

/// One conversion: %[flags][width][.precision][length]letter.
struct Conversion {
  std::string flags;
  std::optional<int> width, precision;
  bool widthIsArgument = false, precisionIsArgument = false;
  bool isLong = false; ///< 8 bytes: l, ll, j, z, t, L
  char letter = 0;     ///< 0: there is none
  size_t length = 0;   ///< characters
};

bool isDigit(char c) { return c >= '0' && c <= '9'; }

Conversion parse(std::string_view text) {
  Conversion result;
  size_t i = 1;
  const auto at = [&] { return i < text.size() ? text[i] : '\0'; };
  const auto number = [&] {
    int value = 0;
    while (isDigit(at())) value = std::min(value * 10 + (text[i++] - '0'), 1 << 16);
    return value;
  };
  while (at() && std::strchr("-+ #0", at())) result.flags += text[i++];
  if (at() == '*') {
    result.widthIsArgument = true;
    ++i;
  } else if (isDigit(at())) {
    result.width = number();
  }
  if (at() == '.') {
    ++i;
    if (at() == '*') {
      result.precisionIsArgument = true;
      ++i;
    } else {
      result.precision = number();
    }
  }
  for (; at() && std::strchr("hlLqjzt", at()); ++i) result.isLong |= at() != 'h';
  if (at() && std::strchr("diouxXcspfFeEgGaA%", at())) result.letter = text[i++];
  result.length = i;
  return result;
}

/// One conversion with its argument, as the host's printf writes it.
template <class T> void append(std::string& text, const Conversion& conversion, const char* length, T value) {
  const std::string spec = "%" + conversion.flags + (conversion.width ? "*" : "") + (conversion.precision ? ".*" : "") +
                           length + conversion.letter;
  const int width = conversion.width.value_or(0), precision = conversion.precision.value_or(0);
  const auto write = [&](char* to, size_t bytes) {
    if (conversion.width && conversion.precision)
      return std::snprintf(to, bytes, spec.c_str(), width, precision, value);
    if (conversion.width) return std::snprintf(to, bytes, spec.c_str(), width, value);
    if (conversion.precision) return std::snprintf(to, bytes, spec.c_str(), precision, value);
    return std::snprintf(to, bytes, spec.c_str(), value);
  };
  const int count = write(nullptr, 0);
  if (count <= 0) return;
  const size_t before = text.size();
  text.resize(before + size_t(count) + 1);
  write(text.data() + before, size_t(count) + 1);
  text.pop_back();
}

class Formatter {
public:
  Formatter(const PrintfArguments& arguments, std::string& text) : arguments_(arguments), text_(text) {}
  int count() const { return count_; }

  /// False after a trap.
  bool convert(Conversion conversion) {
    if (conversion.letter == '%') {
      text_ += '%';
      return true;
    }
    int32_t value = 0;
    if (conversion.widthIsArgument) {
      if (!next(value)) return false;
      if (value < 0) conversion.flags += '-';
      conversion.width = value < 0 ? -value : value;
    }
    if (conversion.precisionIsArgument) {
      if (!next(value)) return false;
      if (value >= 0) conversion.precision = value;
    }
    switch (conversion.letter) {
    case 's': return string(conversion);
    case 'p': return number<uint64_t>(conversion, "", [](uint64_t v) { return reinterpret_cast<void*>(v); });
    case 'c': return number<int32_t>(conversion, "", [](int32_t v) { return v; });
    case 'd':
    case 'i':
    case 'o':
    case 'u':
    case 'x':
    case 'X':
      return conversion.isLong ? number<int64_t>(conversion, "ll", [](int64_t v) { return (long long)v; })
                               : number<int32_t>(conversion, "", [](int32_t v) { return v; });
    default: return number<double>(conversion, "", [](double v) { return v; });
    }
  }

private:
  template <class T> bool next(T& value) {
    offset_ = (offset_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    if (!arguments_.read(offset_, &value, sizeof value)) return false;
    offset_ += sizeof value;
    ++count_;
    return true;
  }
  template <class T, class Convert> bool number(const Conversion& conversion, const char* length, Convert convert) {
    T value{};
    if (!next(value)) return false;
    append(text_, conversion, length, convert(value));
    return true;
  }
  bool string(const Conversion& conversion) {
    uint64_t address = 0;
    if (!next(address)) return false;
    std::string value = "(null)";
    if (address) {
      value.clear();
      if (!arguments_.readString(address, value)) return false;
    }
    append(text_, conversion, "", value.c_str());
    return true;
  }

  const PrintfArguments& arguments_;
  std::string& text_;
  uint64_t offset_ = 0;
  int count_ = 0;
};

} // namespace

int formatPrintf(std::string_view format, const PrintfArguments& arguments, std::string& text) {
  Formatter formatter(arguments, text);
  while (!format.empty()) {
    const size_t percent = std::min(format.find('%'), format.size());
    text.append(format.substr(0, percent));
    format.remove_prefix(percent);
    if (format.empty()) break;
    const Conversion conversion = parse(format);
    if (conversion.letter == 0)
      text.append(format.substr(0, conversion.length));
    else if (!formatter.convert(conversion))
      return -1;
    format.remove_prefix(conversion.length);
  }
  return formatter.count();
}

} // namespace tiletwin::sim
