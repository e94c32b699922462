// sim/ptx/Ptx.cpp -- names of types, functions by name, diagnostics as text.
// Not here: reading (Reader.h).
#include "sim/ptx/Ptx.h"
#include <algorithm>

namespace tiletwin::sim::ptx {

namespace {

struct TypeRow {
  Type type;
  std::string_view name;
  int bytes;
};

/// In the order of Type.
constexpr TypeRow kTypes[] = {
    {Type::None, "", 0},       {Type::Pred, "pred", 0}, {Type::B8, "b8", 1},         {Type::B16, "b16", 2},
    {Type::B32, "b32", 4},     {Type::B64, "b64", 8},   {Type::B128, "b128", 16},    {Type::U8, "u8", 1},
    {Type::U16, "u16", 2},     {Type::U32, "u32", 4},   {Type::U64, "u64", 8},       {Type::S8, "s8", 1},
    {Type::S16, "s16", 2},     {Type::S32, "s32", 4},   {Type::S64, "s64", 8},       {Type::F16, "f16", 2},
    {Type::F16x2, "f16x2", 4}, {Type::BF16, "bf16", 2}, {Type::BF16x2, "bf16x2", 4}, {Type::F32, "f32", 4},
    {Type::F32x2, "f32x2", 8}, {Type::F64, "f64", 8},
};

constexpr bool typesAreInOrder() {
  for (size_t i = 0; i < std::size(kTypes); ++i)
    if (size_t(kTypes[i].type) != i) return false;
  return std::size(kTypes) == size_t(Type::F64) + 1;
}
static_assert(typesAreInOrder());

/// Line `number` (from 1) without its end; empty if there is none.
std::string_view lineOf(std::string_view text, int32_t number) {
  size_t begin = 0;
  for (int32_t line = 1; line < number; ++line) {
    begin = text.find('\n', begin);
    if (begin == std::string_view::npos) return {};
    ++begin;
  }
  std::string_view line = text.substr(begin, text.find('\n', begin) - begin);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

} // namespace

int bytesOf(Type type) { return kTypes[size_t(type)].bytes; }

std::string_view nameOf(Type type) { return kTypes[size_t(type)].name; }

Type typeNamed(std::string_view word) {
  if (word.empty()) return Type::None;
  const TypeRow* row =
      std::find_if(std::begin(kTypes), std::end(kTypes), [&](const TypeRow& r) { return r.name == word; });
  return row == std::end(kTypes) ? Type::None : row->type;
}

int32_t Module::findFunction(std::string_view name) const {
  for (const Alias& alias : aliases)
    if (alias.name == name) return alias.function;
  auto found = std::find_if(functions.begin(), functions.end(), [&](const Function& f) { return f.name == name; });
  return found == functions.end() ? -1 : int32_t(found - functions.begin());
}

std::string Diagnostic::render(std::string_view file, std::string_view text) const {
  std::string out(file);
  if (at.line <= 0) return out + ": " + message;
  out += ":" + std::to_string(at.line) + ":" + std::to_string(at.column) + ": " + message;
  std::string_view line = lineOf(text, at.line);
  if (line.empty()) return out;
  out.append("\n").append(line).append("\n");
  for (char c : line.substr(0, size_t(std::max(at.column - 1, 0)))) {
    bool continuesCharacter = (uint8_t(c) & 0xC0) == 0x80; // of UTF-8
    if (!continuesCharacter) out += c == '\t' ? '\t' : ' ';
  }
  return out + "^";
}

} // namespace tiletwin::sim::ptx
