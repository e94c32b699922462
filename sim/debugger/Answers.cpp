// sim/debugger/Answers.cpp -- what a request gets to see of the stopped launch.
#include "sim/debugger/Debugger.h"
#include "sim/debugger/Json.h"
#include "sim/isa/WaitText.h"
#include "sim/machine/Memory.h"
#include <charconv>

namespace tiletwin::sim::debugger {
namespace {

uint64_t number(std::string_view word) {
  uint64_t value = 0;
  const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (status != std::errc() || end != word.data() + word.size())
    throw Refused{"'" + std::string(word) + "' is no number"};
  return value;
}

std::string_view bytesIn(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// "x" of 2 components: "r.y".
std::string nameOf(const ptx::Register& reg, int component) {
  if (reg.vector == 1) return reg.name;
  return reg.name + "." + "xyzw"[component];
}

constexpr std::string_view kStates[] = {"running", "ready", "waiting", "joining"};

} // namespace

void Debugger::addFocus(Json& out) const {
  if (!focus_.cta) return;
  const std::array<uint32_t, 3> thread = unravel(linearThread(focus_), grid_.params->block);
  out.key("focus").object([&] {
    out.field("block", focus_.cta->id).field("thread", thread).field("warp", focus_.warp).field("lane", focus_.lane);
  });
  const std::optional<Group> group = focusGroup();
  if (!group) return;
  out.field("function", sourceName(group->frame->code->source->name));
  addLines(out, *group->frame->code, *group->at);
}

/// "ptx": line of the text; "instruction": its text; "lines": the innermost first.
void Debugger::addLines(Json& out, const FunctionCode& code, const Inst& at) const {
  if (code.source->body.empty()) return;
  const ptx::Instruction& in = code.sourceOf(at);
  out.field("ptx", in.at.line).field("instruction", in.text);
  out.key("lines").list([&] {
    for (const Line& line : linesOf(*grid_.program, in))
      out.object([&] {
        out.field("file", line.file).field("line", line.line).field("column", line.column);
        out.field("function", line.function);
      });
  });
}

std::optional<Group> Debugger::focusGroup() const {
  if (!focus_.cta) return std::nullopt;
  const std::vector<Group> groups = groupsOf(focus_.warpOf(), at_, now_);
  const Group* group = groupOf(groups, focus_.lane);
  return group ? std::optional(*group) : std::nullopt;
}

Call Debugger::callOf(std::string_view word) const {
  const std::optional<Group> group = focusGroup();
  if (!group) throw Refused{focus_.cta ? "the thread has ended" : "no kernel runs"};
  const std::vector<Call> stack = stackOf(*group);
  const uint64_t which = word.empty() ? 0 : number(word);
  if (which >= stack.size()) throw Refused{"the stack has " + std::to_string(stack.size()) + " calls"};
  return stack[size_t(which)];
}

void Debugger::tellLaunch(const Request&, Json& out) {
  const ptx::Function& entry = *grid_.program->entryCode().source;
  out.field("kernel", entry.name).field("file", grid_.program->file);
  out.field("grid", grid_.params->grid).field("block", grid_.params->block).field("cluster", grid_.params->cluster);
  out.field("shared", grid_.program->staticShared + grid_.params->dynamicShared);
}

void Debugger::tellText(const Request&, Json& out) {
  out.field("file", grid_.program->file).field("text", grid_.program->module->text);
}

void Debugger::tellStack(const Request&, Json& out) {
  const std::optional<Group> group = focusGroup();
  if (!group) throw Refused{focus_.cta ? "the thread has ended" : "no kernel runs"};
  out.key("calls").list([&] {
    for (const Call& call : stackOf(*group))
      out.object([&] {
        out.field("function", sourceName(call.frame->code->source->name));
        addLines(out, *call.frame->code, *call.at);
      });
  });
}

/// Those of a call: name, type, the 32 lanes as bytes (a predicate: one word, a bit for each lane). Words behind the call are the
/// names that are wanted.
void Debugger::tellRegisters(const Request& request, Json& out) {
  const Call call = callOf(request.argument(0));
  const ptx::Function& function = *call.frame->code->source;
  out.key("registers").list([&] {
    for (size_t r = 0; r < function.registers.size(); ++r) {
      const ptx::Register& reg = function.registers[r];
      for (int component = 0; component < reg.vector; ++component) {
        const std::string name = nameOf(reg, component);
        bool isWanted = request.words.size() <= 2;
        for (size_t i = 2; i < request.words.size(); ++i) isWanted |= request.words[i] == name;
        const std::span<const std::byte> lanes =
            isWanted ? lanesOf(*call.frame, r, component) : std::span<const std::byte>();
        if (lanes.empty()) continue;
        out.list([&] { out.value(name).value(ptx::nameOf(reg.type)).value(hexBytes(bytesIn(lanes))); });
      }
    }
  });
}

void Debugger::tellMemory(const Request& request, Json& out) {
  if (!focus_.cta) throw Refused{"no kernel runs"};
  const std::optional<Group> group = focusGroup();
  const Frame* frame = group ? callOf(request.argument(3)).frame : nullptr;
  const uint64_t bytes = number(request.argument(2));
  const Bytes found = bytesAt(focus_, frame, request.argument(0), number(request.argument(1)), bytes);
  if (!found.at) throw Refused{found.error};
  out.field("bytes", hexBytes(bytesIn({found.at, size_t(bytes)})));
}

void Debugger::tellWarps(const Request&, Json& out) {
  out.key("warps").list([&] {
    for (Cta* cta : resident_)
      for (Warp& warp : cta->warps)
        out.object([&] {
          out.field("block", cta->id).field("warp", warp.index).field("live", warp.live);
          out.field("threads", std::min<uint32_t>(kLanes, cta->threads - warp.index * uint32_t(kLanes)));
          out.key("groups").list([&] {
            for (const Group& group : groupsOf(warp, at_, now_))
              out.object([&] {
                out.field("lanes", group.lanes).field("state", kStates[size_t(group.state)]);
                if (group.fragment && group.state == Group::State::Waits)
                  out.field("waits", waitText(warp, *group.fragment, group.at));
                out.field("function", sourceName(group.frame->code->source->name));
                addLines(out, *group.frame->code, *group.at);
              });
          });
        });
  });
}

void Debugger::tellBlocks(const Request&, Json& out) {
  out.field("begun", begun_).field("ended", ended_);
  out.key("blocks").list([&] {
    for (const Cta* cta : resident_)
      out.object([&] {
        out.field("block", cta->id).field("threads", cta->threads).field("live", cta->liveThreads);
        out.field("shared", cta->shared.size());
      });
  });
}

/// Variables of the module and of the focus's function: name, space, address (generic; of shared memory: an offset), bytes, type.
void Debugger::tellSymbols(const Request& request, Json& out) {
  const Program& program = *grid_.program;
  const auto add = [&](const ptx::Variable& variable, std::string_view space, uint64_t address) {
    out.list([&] {
      out.value(variable.name).value(space).value(address).value(variable.bytes).value(ptx::nameOf(variable.type));
    });
  };
  out.key("symbols").list([&] {
    for (size_t i = 0; i < program.module->variables.size(); ++i) {
      const ptx::Variable& variable = program.module->variables[i];
      if (variable.space == ptx::Space::Shared) {
        if (program.sharedOffset[i] != Program::kNowhere) add(variable, "shared", program.sharedOffset[i]);
      } else if (const uint64_t at = program.memory->address(i)) {
        add(variable, "global", at);
      }
    }
    const FunctionCode& code = focusGroup() ? *callOf(request.argument(0)).frame->code : program.entryCode();
    const ptx::Function& function = *code.source;
    for (size_t i = 0; i < function.variables.size(); ++i) {
      const ptx::Variable& variable = function.variables[i];
      const bool isParameter = function.isEntry && i < function.parameters.size();
      if (variable.space == ptx::Space::Shared) add(variable, "shared", code.variableOffset[i]);
      if (isParameter) add(variable, "param", code.variableOffset[i]);
      if (variable.space == ptx::Space::Local || (variable.space == ptx::Space::Param && !isParameter))
        add(variable, "local", code.variableOffset[i]);
    }
  });
}

/// null: nobody is known.
void Debugger::addWriter(Json& out, const Writes::Found& found) const {
  if (found.record < 0) {
    out.list([] {});
    return;
  }
  const WriteRecord& record = writes_[found.record];
  out.object([&] {
    const uint32_t thread = record.warp * uint32_t(kLanes) + uint32_t(found.lane);
    out.field("block", unravel(record.cta, grid_.params->grid));
    out.field("thread", unravel(thread, grid_.params->block)).field("warp", record.warp).field("lane", found.lane);
    out.field("time", record.time).field("bytes", record.bytes).field("address", record.address(found.lane));
    out.field("function", sourceName(record.code->source->name));
    addLines(out, *record.code, *record.at);
  });
}

/// Who wrote a byte, the last one first.
void Debugger::tellWriters(const Request& request, Json& out) {
  if (!focus_.cta) throw Refused{"no kernel runs"};
  const Bytes found = bytesAt(focus_, nullptr, request.argument(0), number(request.argument(1)), 1);
  if (!found.at) throw Refused{found.error};
  uint64_t owner = WriteRecord::kGlobal, address = reinterpret_cast<uint64_t>(found.at);
  for (const Cta& cta : focus_.cta->cluster->ctas) {
    if (found.at >= cta.local.data() && found.at < cta.local.data() + cta.local.size())
      throw Refused{"writes to local memory are not recorded: only the thread itself can have written there"};
    if (found.at < cta.shared.data() || found.at >= cta.shared.data() + cta.shared.size()) continue;
    owner = linearCta(grid_, cta.id);
    address = uint64_t(found.at - cta.shared.data());
  }
  out.field("recorded", records_).field("forgotten", writes_.hasForgotten());
  out.key("writers").list([&] {
    int64_t before = writes_.end();
    for (uint64_t count = number(request.argument(2)); count; --count) {
      const Writes::Found one = writes_.last(owner, address, before);
      if (one.record < 0) break;
      addWriter(out, one);
      before = one.record;
    }
  });
}

} // namespace tiletwin::sim::debugger
