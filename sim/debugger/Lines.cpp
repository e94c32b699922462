#include "sim/debugger/Lines.h"
#include "sim/machine/FlowGraph.h"
#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cxxabi.h>
#include <memory>

namespace tiletwin::sim::debugger {
namespace {

/// Do the last parts of a path say `end`? Or, of a relative one, those of `end` the path: an editor names files as a whole.
bool endsWithPath(std::string_view path, std::string_view end) {
  if (end.starts_with('/') && !path.starts_with('/') && !path.empty()) std::swap(path, end);
  if (!path.ends_with(end)) return false;
  return path.size() == end.size() || end.starts_with('/') || path[path.size() - end.size() - 1] == '/';
}

/// Is `name` the symbol, or what the source calls it, with or without the arguments of a template?
bool isNamed(const std::string& symbol, std::string_view name) {
  const std::string source = sourceName(symbol);
  return name == symbol || name == source || name == std::string_view(source).substr(0, source.find('<'));
}

/// visit(instruction) for each of the functions that the entry may call.
template <class Visit> void eachInstruction(const Program& program, Visit&& visit) {
  for (const std::unique_ptr<FunctionCode>& code : program.functions)
    if (code && code->source->hasBody)
      for (const ptx::Instruction& in : code->source->body) visit(in);
}

/// Of the instructions that `wants` takes the first one of each basic block.
template <class Wants> std::vector<Place> firstOfBlocks(const Program& program, Wants&& wants) {
  std::vector<Place> places;
  for (const std::unique_ptr<FunctionCode>& code : program.functions) {
    if (!code || !code->source->hasBody) continue;
    const FlowGraph graph(*code->source);
    for (const BasicBlock& block : graph.blocks())
      for (int32_t i = block.begin; i < block.end; ++i)
        if (wants(code->source->body[size_t(i)])) {
          places.push_back({code.get(), i});
          break;
        }
  }
  return places;
}

} // namespace

std::string sourceName(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> plain(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status),
                                                     std::free);
  if (status != 0 || !symbol.starts_with("_Z")) return symbol;
  // "void scale<float>(float*, int)": what stands between the result's type and the parameters.
  const std::string_view all = plain.get();
  constexpr std::string_view kUnnamed = "(anonymous namespace)";
  int depth = 0;
  size_t begin = 0, end = 0;
  for (; end < all.size(); ++end) {
    if (all.substr(end).starts_with(kUnnamed)) end += kUnnamed.size();
    depth += (all[end] == '<') - (all[end] == '>');
    if (depth == 0 && all[end] == '(') break;
    if (depth == 0 && all[end] == ' ') begin = end + 1;
  }
  return std::string(all.substr(begin, end - begin));
}

std::vector<Line> linesOf(const Program& program, const ptx::Instruction& in) {
  const ptx::Module& module = *program.module;
  std::vector<Line> lines;
  for (int32_t source = in.source; source >= 0;) {
    const ptx::SourceLine& line = module.sourceLines[size_t(source)];
    if (line.file >= 0 && line.line > 0)
      lines.push_back({module.files[size_t(line.file)], line.line, line.column, line.inlinedFrom});
    source = line.inlinedAt;
  }
  if (in.source < 0) lines.push_back({program.file, in.at.line, in.at.column, {}});
  return lines;
}

Places placesOfLine(const Program& program, std::string_view file, int32_t line) {
  Places found;
  found.line = INT32_MAX;
  const bool isPtx = endsWithPath(program.file, file);
  const auto visitLines = [&](const ptx::Instruction& in, auto&& visit) {
    if (isPtx) return visit(std::string_view(program.file), in.at.line);
    for (const Line& one : linesOf(program, in))
      if (endsWithPath(one.file, file)) visit(one.file, one.line);
  };
  eachInstruction(program, [&](const ptx::Instruction& in) {
    visitLines(in, [&](std::string_view path, int32_t at) {
      if (at < line || at >= found.line) return;
      found.line = at;
      found.file = path;
    });
  });
  if (found.file.empty()) return {};
  found.places = firstOfBlocks(program, [&](const ptx::Instruction& in) {
    bool is = false;
    visitLines(in, [&](std::string_view, int32_t at) { is |= at == found.line; });
    return is;
  });
  return found;
}

Places placesOfFunction(const Program& program, std::string_view name) {
  Places found;
  for (const std::unique_ptr<FunctionCode>& code : program.functions) {
    if (!code || !code->source->hasBody || !isNamed(code->source->name, name) || code->source->body.empty()) continue;
    const std::vector<ptx::Instruction>& body = code->source->body;
    const auto isOfLine = [&](const ptx::Instruction& in) { return in.source >= 0 && !linesOf(program, in).empty(); };
    auto first = std::find_if(body.begin(), body.end(), isOfLine);
    // What nvcc -G writes first brings parameters to where the debug information says that they are.
    if (std::ranges::count(program.module->targetOptions, "debug") && first != body.end()) {
      const Line head = linesOf(program, *first).front();
      const auto behind = std::find_if(first, body.end(), [&](const ptx::Instruction& in) {
        return isOfLine(in) && linesOf(program, in).front() != head;
      });
      if (behind != body.end()) first = behind;
    }
    found.places.push_back({code.get(), first == body.end() ? 0 : int32_t(first - body.begin())});
  }
  if (found.places.empty())
    found.places = firstOfBlocks(program, [&](const ptx::Instruction& in) {
      for (const Line& line : linesOf(program, in))
        if (line.function == name) return true;
      return false;
    });
  if (found.places.empty()) return found;
  const Place& place = found.places.front();
  if (const auto lines = linesOf(program, place.code->source->body[size_t(place.instruction)]); !lines.empty()) {
    found.file = lines.front().file;
    found.line = lines.front().line;
  }
  return found;
}

} // namespace tiletwin::sim::debugger
