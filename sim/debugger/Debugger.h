// sim/debugger/Debugger.h -- the debugger of one launch: it looks on, stops, and answers while it stands.
//
// Here:      breakpoints, steps, watchpoints, who may run during a step, the recording of writes.
// Not here:  lines (Lines.h), what a stopped machine looks like (View.h), answers (Answers.cpp), the socket (Channel.h).
// Idea:      the launch runs on one thread. To stop is not to return from Observer::instruction: requests are read and answered
//            there until one of them lets the launch go on. The instruction that it stands at has not run.
// Invariant: an instruction of the text stops once, in front of the first of the instructions that it was decoded to; one that
//            could not go on and is tried again (Step::Retry) does not stop again.
#pragma once
#include "sim/debugger/Channel.h"
#include "sim/debugger/View.h"
#include "sim/debugger/Writes.h"
#include "sim/machine/Observer.h"
#include <functional>
#include <unordered_map>

namespace tiletwin::sim::debugger {

class Json;

/// Why a request cannot be answered; a sentence for the user.
struct Refused {
  std::string why;
};

/// Which threads a breakpoint is for; what is empty is any.
struct ThreadFilter {
  std::optional<uint64_t> block;
  std::optional<uint32_t> thread, warp;
};

struct Breakpoint {
  int64_t id = 0;
  Places places;
  ThreadFilter filter;
};

struct Watch {
  int64_t id = 0;
  uint64_t cta = WriteRecord::kGlobal; ///< whose shared memory it is
  uint64_t address = 0;                ///< or the offset in shared memory
  std::string before;                  ///< the bytes when they were last looked at
  const std::byte* at = nullptr;       ///< null: the CTA does not run
};

/// What a launch that goes on looks for besides breakpoints.
enum class Going : uint8_t { Freely, Entry, Step, Next, StepInstruction, Finish };
/// Whose warps run during a step.
enum class Locking : uint8_t { Warp, Block, Off };

class Debugger final : public Observer, public TurnKeeper {
public:
  Debugger(Grid& grid, Channel& channel, uint64_t number);
  ~Debugger() override;

  bool wantsInstructions() const override { return true; }
  void instruction(Warp& warp, const Inst& in, LaneMask active) override;
  void retries(Warp& warp, const Inst& in, LaneMask active) override;
  void access(Warp& warp, const Access& access, LaneMask active, const uint64_t* addresses,
              std::byte* const* host) override;
  void block(Warp& warp, const Access& access, int lane, uint64_t address, std::byte* host, uint64_t bytes) override;
  void issues(Warp& warp, LaneMask lanes, const AsyncUse& use, std::byte* const* at) override;
  void begins(Cta& cta) override;
  void ends(Cta& cta) override;
  void traps(Warp& warp, const Trap& trap, int lane) override;
  void deadlocks(Cluster& cluster, const Trap& trap) override;

  uint64_t before(Warp& warp, uint64_t budget) override;
  bool holds(Warp& warp) override;
  void after(Warp& warp, bool ran) override;

private:
  // Of each instruction that was decoded.
  static constexpr uint8_t kFirst = 1, kBreaks = 2; ///< the first of its instruction of the text; a breakpoint is there

  // Debugger.cpp
  uint8_t flagsOf(const Frame& frame, const Inst& in);
  void mark();
  void stopIfWanted(Warp& warp, const Inst& in, LaneMask active, uint8_t flags);
  bool isStepDone(Warp& warp, const Inst& in);
  void beginStep(Going going);
  bool passes(const ThreadFilter& filter, Warp& warp, LaneMask lanes, int& lane) const;
  void lookAtWatches(Warp& warp, const Inst& in, LaneMask active);
  void note(Warp& warp, LaneMask lanes, uint64_t bytes, std::byte* const* host);
  void focusOn(Warp& warp, LaneMask lanes);
  void placeWatch(Watch& watch);

  // Requests.cpp
  /// Tells why, and answers until the launch is to go on.
  void stop(Warp* warp, const Inst* in, std::string_view reason, const std::function<void(Json&)>& details = {});
  void answer(const Request& request);
  // Each writes the fields of an answer; throws Refused.
  void addBreakpoint(const Request& request, Json& out);
  void remove(const Request& request, Json& out);
  void setFocus(const Request& request, Json& out);
  void setOption(const Request& request, Json& out);
  void addWatch(const Request& request, Json& out);
  void go(const Request& request, Json& out);
  void detach(const Request& request, Json& out);

  // Answers.cpp
  void tellLaunch(const Request& request, Json& out);
  void tellText(const Request& request, Json& out);
  void tellStack(const Request& request, Json& out);
  void tellRegisters(const Request& request, Json& out);
  void tellMemory(const Request& request, Json& out);
  void tellWarps(const Request& request, Json& out);
  void tellBlocks(const Request& request, Json& out);
  void tellSymbols(const Request& request, Json& out);
  void tellWriters(const Request& request, Json& out);
  void addFocus(Json& out) const;
  void addWriter(Json& out, const Writes::Found& found) const;
  void addLines(Json& out, const FunctionCode& code, const Inst& at) const;
  /// Where the focus's thread is; nothing if it has exited or there is no focus.
  std::optional<Group> focusGroup() const;
  /// Number `word` of the focus's stack, where inlined calls do not count.
  Call callOf(std::string_view word) const;

  struct Verb {
    std::string_view word;
    void (Debugger::*run)(const Request&, Json&);
  };

  Grid& grid_;
  Channel& channel_;
  const uint64_t number_; ///< of the launch, from 1
  std::unordered_map<const FunctionCode*, std::vector<uint8_t>> flags_;
  const FunctionCode* lastCode_ = nullptr; ///< whose flags are lastFlags_
  const uint8_t* lastFlags_ = nullptr;
  std::unordered_map<const Warp*, const Inst*> retried_;
  std::vector<Breakpoint> breakpoints_;
  std::vector<Watch> watches_;
  std::vector<Cta*> resident_;
  uint64_t begun_ = 0, ended_ = 0, told_ = 0;
  Writes writes_;
  bool records_ = true;

  Focus focus_;
  Warp* at_ = nullptr;        ///< that was about to run ...
  const Inst* now_ = nullptr; ///< ... this, when the launch stopped
  bool goesOn_ = false;
  bool pauses_ = false;
  Going going_ = Going::Freely;
  Locking locking_ = Locking::Warp;
  bool focusWaits_ = false; ///< it cannot go on without the others
  // Where and when the step began.
  uint64_t stepBegan_ = 0;
  std::vector<Line> stepLines_;
  size_t stepDepth_ = 0;
};

} // namespace tiletwin::sim::debugger
