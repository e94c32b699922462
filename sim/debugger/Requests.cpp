// sim/debugger/Requests.cpp -- stopping, and what a request changes.
#include "sim/debugger/Debugger.h"
#include "sim/debugger/Json.h"
#include <charconv>
#include <cstdio>
#include <cstdlib>

namespace tiletwin::sim::debugger {
namespace {

uint64_t numberOf(std::string_view word, const char* what) {
  uint64_t value = 0;
  const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (word.empty() || status != std::errc() || end != word.data() + word.size())
    throw Refused{"'" + std::string(word) + "' is no " + what};
  return value;
}

/// "3", or "1,2,0" in a box of `extents`: its number, x first. Empty: none.
std::optional<uint64_t> numberIn(std::string_view word, const std::array<uint32_t, 3>& extents, const char* what) {
  if (word.empty()) return std::nullopt;
  std::array<uint64_t, 3> at{};
  size_t parts = 0;
  for (; !word.empty() && parts < 3; ++parts) {
    const size_t comma = std::min(word.find(','), word.size());
    at[parts] = numberOf(word.substr(0, comma), what);
    word.remove_prefix(std::min(comma + 1, word.size()));
  }
  const uint64_t all = uint64_t(extents[0]) * extents[1] * extents[2];
  bool isInside = parts == 1 ? at[0] < all : true;
  for (size_t i = 0; parts > 1 && i < 3; ++i) isInside &= at[i] < extents[i];
  if (!isInside)
    throw Refused{"there is no such " + std::string(what) + ": there are " + std::to_string(extents[0]) + " x " +
                  std::to_string(extents[1]) + " x " + std::to_string(extents[2])};
  return parts == 1 ? at[0] : at[0] + extents[0] * (at[1] + uint64_t(extents[1]) * at[2]);
}

/// Of a debugger that died: a kernel that it was to stop may run for ever.
[[noreturn]] void endProgram() {
  std::fputs("tiletwin: the debugger of this program is gone: the program ends\n", stderr);
  std::_Exit(1);
}

} // namespace

void Debugger::stop(Warp* warp, const Inst* in, std::string_view reason, const std::function<void(Json&)>& details) {
  at_ = warp;
  now_ = in;
  going_ = Going::Freely;
  pauses_ = false;
  Json event;
  event.object([&] {
    event.field("event", "stopped").field("reason", reason).field("launch", number_).field("time", told_);
    if (details) details(event);
    addFocus(event);
  });
  channel_.send(event.text());
  goesOn_ = false;
  while (!goesOn_) {
    Request request;
    if (!channel_.receive(request)) {
      if (!channel_.isLetGo()) endProgram();
      return detach(request, event);
    }
    if (request.verb() != "pause") answer(request); // which has come too late, and is not answered
  }
}

void Debugger::answer(const Request& request) {
  // What there is to ask for, and what it takes.
  static constexpr Verb kVerbs[] = {
      {"break", &Debugger::addBreakpoint}, // id, line or function, file or name, line or "", block, thread, warp
      {"blocks", &Debugger::tellBlocks},   //
      {"detach", &Debugger::detach},       //
      {"focus", &Debugger::setFocus},      // block, thread, warp, lane: "" for what stays
      {"go", &Debugger::go}, // continue, entry (to the next instruction of any thread), step, next, stepi, finish
      {"launch", &Debugger::tellLaunch},       //
      {"memory", &Debugger::tellMemory},       // space, address, bytes, call
      {"option", &Debugger::setOption},        // locking: warp, block, off; record: on, off
      {"registers", &Debugger::tellRegisters}, // call, names...
      {"remove", &Debugger::remove},           // id of a breakpoint or a watchpoint
      {"stack", &Debugger::tellStack},         //
      {"symbols", &Debugger::tellSymbols},     //
      {"text", &Debugger::tellText},           //
      {"warps", &Debugger::tellWarps},         //
      {"watch", &Debugger::addWatch},          // id, space, address, bytes
      {"writers", &Debugger::tellWriters},     // space, address, how many
  };
  Json out;
  std::string refused;
  out.object([&] {
    try {
      for (const Verb& verb : kVerbs)
        if (verb.word == request.verb()) {
          (this->*verb.run)(request, out);
          return;
        }
      refused = "there is no request '" + std::string(request.verb()) + "'";
    } catch (const Refused& why) { refused = why.why; }
  });
  if (!refused.empty()) {
    out = {};
    out.object([&] { out.field("error", refused); });
  }
  channel_.send(out.text());
}

// ---- Breakpoints and watchpoints ---------------------------------------------------------------------------------------------------

void Debugger::addBreakpoint(const Request& request, Json& out) {
  Breakpoint breakpoint;
  breakpoint.id = int64_t(numberOf(request.argument(0), "number of a breakpoint"));
  if (request.argument(1) == "line")
    breakpoint.places =
        placesOfLine(*grid_.program, request.argument(2), int32_t(numberOf(request.argument(3), "line")));
  else
    breakpoint.places = placesOfFunction(*grid_.program, request.argument(2));
  breakpoint.filter.block = numberIn(request.argument(4), grid_.params->grid, "block");
  breakpoint.filter.thread = numberIn(request.argument(5), grid_.params->block, "thread");
  if (!request.argument(6).empty()) breakpoint.filter.warp = uint32_t(numberOf(request.argument(6), "warp"));
  out.field("places", breakpoint.places.places.size());
  out.field("file", breakpoint.places.file).field("line", breakpoint.places.line);
  breakpoints_.push_back(std::move(breakpoint));
  mark();
}

void Debugger::remove(const Request& request, Json& out) {
  const auto id = int64_t(numberOf(request.argument(0), "number of a breakpoint"));
  const size_t count = std::erase_if(breakpoints_, [&](const Breakpoint& b) { return b.id == id; }) +
                       std::erase_if(watches_, [&](const Watch& w) { return w.id == id; });
  out.field("removed", count);
  mark();
}

void Debugger::addWatch(const Request& request, Json& out) {
  if (!focus_.cta) throw Refused{"a watchpoint needs a kernel that runs: set it at a breakpoint"};
  Watch watch;
  watch.id = int64_t(numberOf(request.argument(0), "number of a watchpoint"));
  const uint64_t bytes = numberOf(request.argument(3), "number of bytes");
  const uint64_t address = numberOf(request.argument(2), "address");
  constexpr uint64_t kMostBytes = 4096; // they are compared after each instruction
  if (!bytes || bytes > kMostBytes) throw Refused{"a watchpoint is for 1 to 4096 bytes"};
  const Bytes found = bytesAt(focus_, nullptr, request.argument(1), address, bytes);
  if (!found.at) throw Refused{found.error};
  watch.at = found.at;
  watch.address = reinterpret_cast<uint64_t>(found.at);
  for (const Cta& cta : focus_.cta->cluster->ctas) {
    if (found.at < cta.shared.data() || found.at >= cta.shared.data() + cta.shared.size()) continue;
    watch.cta = linearCta(grid_, cta.id);
    watch.address = uint64_t(found.at - cta.shared.data());
  }
  watch.before.assign(reinterpret_cast<const char*>(found.at), bytes);
  out.field("value", hexBytes(watch.before)).field("shared", watch.cta != WriteRecord::kGlobal);
  watches_.push_back(std::move(watch));
}

// ---- Focus and going on ------------------------------------------------------------------------------------------------------------

void Debugger::setFocus(const Request& request, Json& out) {
  Focus focus = focus_;
  if (const auto block = numberIn(request.argument(0), grid_.params->grid, "block")) {
    focus.cta = nullptr;
    for (Cta* cta : resident_)
      if (linearCta(grid_, cta->id) == *block) focus.cta = cta;
    if (!focus.cta)
      throw Refused{"block " + std::string(request.argument(0)) +
                    " does not run now: blocks run one after the other. A breakpoint with `if block==" +
                    std::string(request.argument(0)) + "` stops in it"};
  }
  if (!focus.cta) throw Refused{"no block runs"};
  if (const auto thread = numberIn(request.argument(1), grid_.params->block, "thread")) {
    focus.warp = uint32_t(*thread / kLanes);
    focus.lane = int(*thread % kLanes);
  }
  if (!request.argument(2).empty()) focus.warp = uint32_t(numberOf(request.argument(2), "warp"));
  if (focus.warp >= focus.cta->warps.size())
    throw Refused{"the block has " + std::to_string(focus.cta->warps.size()) + " warps, 0 to " +
                  std::to_string(focus.cta->warps.size() - 1)};
  if (!request.argument(3).empty()) focus.lane = int(numberOf(request.argument(3), "lane"));
  if (focus.lane < 0 || focus.lane >= kLanes || linearThread(focus) >= focus.cta->threads)
    throw Refused{"the warp has no such lane"};
  focus_ = focus;
  addFocus(out);
}

void Debugger::setOption(const Request& request, Json&) {
  const std::string_view name = request.argument(0), value = request.argument(1);
  if (name == "locking" && value == "warp")
    locking_ = Locking::Warp;
  else if (name == "locking" && value == "block")
    locking_ = Locking::Block;
  else if (name == "locking" && value == "off")
    locking_ = Locking::Off;
  else if (name == "record" && (value == "on" || value == "off"))
    records_ = value == "on";
  else
    throw Refused{"there is no option '" + std::string(name) + "' with the value '" + std::string(value) + "'"};
}

void Debugger::go(const Request& request, Json&) {
  static constexpr std::pair<std::string_view, Going> kWays[] = {
      {"continue", Going::Freely}, {"entry", Going::Entry},           {"step", Going::Step},
      {"next", Going::Next},       {"stepi", Going::StepInstruction}, {"finish", Going::Finish}};
  for (const auto& [word, going] : kWays)
    if (word == request.argument(0)) {
      beginStep(going);
      goesOn_ = true;
      return;
    }
  throw Refused{"there is no way to go on called '" + std::string(request.argument(0)) + "'"};
}

void Debugger::detach(const Request&, Json&) {
  breakpoints_.clear();
  watches_.clear();
  records_ = false;
  going_ = Going::Freely;
  goesOn_ = true;
  channel_.letGo();
  mark();
}

} // namespace tiletwin::sim::debugger
