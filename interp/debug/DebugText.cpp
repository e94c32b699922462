// interp/debug/DebugText.cpp -- see DebugText.h. Numbers that are addresses are written in full: JSON's readers in Python
// have no limit.
#include "interp/debug/DebugText.h"
#include <cstdio>

namespace tiletwin::interp {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", c);
      out += code;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

template <class List, class Item> std::string list(const List& items, Item item) {
  std::string out = "[";
  for (size_t i = 0; i < std::size(items); ++i) out += (i ? ", " : "") + item(items[i]);
  return out + "]";
}

std::string number(int64_t n) { return std::to_string(n); }
std::string address(uint64_t n) { return std::to_string(n); }

} // namespace

std::string kernelText(const Plan& plan) {
  const DebugInfo& info = *plan.debug;
  return "{\"name\": " + quoted(plan.name) + ", \"files\": " + list(info.files, quoted) + ", \"functions\": " +
         list(info.functions,
              [](const DebugFunction& f) {
                return "{\"name\": " + quoted(f.name) + ", \"file\": " + number(f.file) +
                       ", \"line\": " + number(f.line) + "}";
              }) +
         ", \"statements\": " +
         list(info.statements,
              [](const DebugStatement& s) {
                return "{\"file\": " + number(s.file) + ", \"line\": " + number(s.line) +
                       ", \"function\": " + number(s.function) + ", \"ttir\": " + list(s.ttir, quoted) + "}";
              }) +
         ", \"variables\": " +
         list(info.variables,
              [](const DebugVariable& v) {
                return "{\"name\": " + quoted(v.name) + ", \"type\": " + quoted(v.type) +
                       ", \"shape\": " + list(v.shape, number) + ", \"function\": " + number(v.function) + "}";
              }) +
         "}";
}

std::string launchText(const Plan& plan, const LaunchParams& params) {
  std::string arguments = "[";
  for (size_t i = 0; i < plan.arguments.size(); ++i)
    arguments += (i ? ", " : "") + ("{\"name\": " + quoted(plan.arguments[i].name)) +
                 ", \"type\": " + quoted(nameOf(plan.arguments[i].type)) +
                 ", \"bits\": " + address(params.arguments[i]) +
                 ", \"buffer\": " + number(i < params.bufferOf.size() ? params.bufferOf[i] : -1) + "}";
  return "{\"kernel\": " + quoted(plan.name) + ", \"grid\": " + list(params.grid, number) +
         ", \"arguments\": " + arguments + "], \"buffers\": " +
         list(params.buffers,
              [](const Buffer& b) {
                return "{\"name\": " + quoted(b.name) + ", \"begin\": " + address(b.begin) +
                       ", \"end\": " + address(b.end) + ", \"viewBegin\": " + address(b.viewBegin) +
                       ", \"viewEnd\": " + address(b.viewEnd) + ", \"readOnly\": " + (b.readOnly ? "true" : "false") +
                       "}";
              }) +
         "}";
}

} // namespace tiletwin::interp
