#include "sim/debugger/Lines.h"
#include "sim/machine/FlowGraph.h"
#include <algorithm>
#include <climits>

namespace tiletwin::sim::debugger {
namespace {

/// Do the last parts of a path say `end`?
bool endsWithPath(std::string_view path, std::string_view end) {
  if (!path.ends_with(end)) return false;
  return path.size() == end.size() || end.starts_with('/') || path[path.size() - end.size() - 1] == '/';
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
    if (!code || !code->source->hasBody || code->source->name != name || code->source->body.empty()) continue;
    const std::vector<ptx::Instruction>& body = code->source->body;
    const auto first = std::find_if(body.begin(), body.end(), [&](const ptx::Instruction& in) {
      return in.source >= 0 && !linesOf(program, in).empty();
    });
    found.places = {{code.get(), first == body.end() ? 0 : int32_t(first - body.begin())}};
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
