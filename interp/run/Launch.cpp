// interp/run/Launch.cpp -- launch(): a plan and a grid are joined to the scheduler.
//
// Here:      checks of the parameters, how many threads, frames for threads, texts of traps.
// Not here:  order, prints, interruption (Scheduler.h), execution (Frame.h).
// Invariant: nothing is thrown: whatever goes wrong is a Trap.
#include "interp/Interp.h"
#include "interp/check/MemoryCheck.h"
#include "interp/check/OrderCheck.h"
#include "interp/debug/DebugRun.h"
#include "interp/run/Frame.h"
#include "interp/run/FramePool.h"
#include "interp/run/ProgramOrder.h"
#include "interp/run/Scheduler.h"
#include "interp/run/Workers.h"
#include "runtime/Environment.h"
#include "runtime/TrapText.h"
#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <unistd.h>

namespace tiletwin::interp {

namespace {

/// What the executor's functions share; read-only while programs run.
struct Running {
  const Plan& plan;
  const ProgramOrder& order;
  size_t arenaBytes;
  LaunchState state;
};

void* enterFrame(void* context, Seat& seat) {
  Running& running = *static_cast<Running*>(context);
  Frame* frame = FramePool::instance().acquire(running.arenaBytes);
  if (!frame) return nullptr;
  try {
    frame->launch = &running.state;
    frame->grid = running.order.grid();
    frame->poll = &Seat::poll;
    frame->takePrinted = &Seat::takePrinted;
    frame->pollContext = &seat;
    initFrame(running.plan, *frame);
  } catch (...) {
    FramePool::instance().release(frame);
    throw;
  }
  return frame;
}

void leaveFrame(void* context, void* frameOfThread) {
  const Running& running = *static_cast<const Running*>(context);
  Frame* frame = static_cast<Frame*>(frameOfThread);
  if (running.state.params->wrote) *running.state.params->wrote |= frame->stored || frame->storedBefore;
  FramePool::instance().release(frame);
}

bool runProgram(void* context, void* frameOfThread, const ProgramId& id, Trap& trap) {
  Running& running = *static_cast<Running*>(context);
  Frame& frame = *static_cast<Frame*>(frameOfThread);
  frame.program = id;
  Step step = running.state.native ? executeDebug(running.plan, frame) : execute(running.plan, frame);
  if (step == Step::Done) [[likely]]
    return true;
  if (step == Step::Trapped) {
    trap = std::move(frame.trap);
    return false;
  }
  trap.kind = TrapKind::Unsupported;
  if (running.plan.debug) {
    const SourceLocation& where = running.plan.locations[frame.wait.where];
    trap.message = where.file + ":" + std::to_string(where.line) +
                   ": this program waits for another one. With TILETWIN_GDB=1 programs run one after another, so that "
                   "none can wait for a later one; eager mode (TILETWIN_EAGER=1) can debug such kernels";
    return false;
  }
  trap.message = "a program of a kernel that cannot wait has yielded: please report this";
  return false;
}

bool runAdjacent(void* context, void* frameOfThread, const ProgramId& first, int64_t count) {
  Running& running = *static_cast<Running*>(context);
  return executeAdjacent(running.plan, *static_cast<Frame*>(frameOfThread), first, count);
}

/// The same for kernels whose programs may wait for each other.
Advance advanceProgram(void* context, void* frameOfProgram, Seat& seat, const ProgramId* id, bool timeIsOver,
                       Trap& trap, WaitState& wait) {
  Running& running = *static_cast<Running*>(context);
  Frame& frame = *static_cast<Frame*>(frameOfProgram);
  frame.pollContext = &seat;
  Step step;
  if (id) {
    frame.program = *id;
    frame.wait = {};
    step = execute(running.plan, frame);
  } else {
    frame.wait.timeIsOver = timeIsOver;
    step = resume(running.plan, frame);
  }
  if (step == Step::Done) return Advance::Done;
  if (step == Step::Trapped) {
    trap = std::move(frame.trap);
    return Advance::Trapped;
  }
  const FrameWait& w = frame.wait;
  wait.progressed = w.progressed;
  wait.sure = w.sure;
  wait.timed = w.timed;
  wait.address = w.watch ? reinterpret_cast<const void*>(w.address) : nullptr;
  wait.bytes = int32_t(w.bytes);
  wait.bits = w.bits;
  return Advance::Waits;
}

/// The buffer that holds `bytes` bytes at an address that a program has read.
std::optional<Buffer> bufferAt(const LaunchState& launch, uintptr_t address, uint32_t bytes) {
  auto holds = [&](const Buffer& b) { return b.contains(address, address + bytes); };
  for (const Buffer& b : launch.params->buffers)
    if (holds(b)) return b;
  if (auto b = BufferRegistry::instance().find(address); b && holds(*b)) return b;
  std::lock_guard lock(launch.foundMutex);
  for (const Buffer& b : launch.found)
    if (holds(b)) return b;
  return std::nullopt;
}

void describeWait(void* context, void* frameOfProgram, WaitingProgram& waiting) {
  const Running& running = *static_cast<const Running*>(context);
  const Frame& frame = *static_cast<const Frame*>(frameOfProgram);
  const FrameWait& w = frame.wait;
  waiting.where = frame.plan->locations[w.where];
  waiting.operation = w.operation;
  if (!w.named) return;
  std::optional<Buffer> buffer = bufferAt(running.state, w.named, w.namedBytes);
  if (!buffer) return;
  std::string name = !buffer->name.empty() ? buffer->name
                     : w.namedRoot >= 0    ? running.plan.arguments[size_t(w.namedRoot)].name
                                           : "a buffer";
  uint64_t held = 0; // as the program saw it, if that is known
  if (w.watch && w.address == w.named)
    held = w.bits;
  else
    std::memcpy(&held, reinterpret_cast<const void*>(w.named), w.namedBytes);
  waiting.detail = waitedOnText(name, int64_t(w.named - buffer->begin), w.namedBytes, w.namedTile, held);
}

/// Programs of 4 warps that an H200 holds at a time: 132 multiprocessors of 64 warps.
constexpr int64_t kResidentPrograms = 132 * 16;

/// How many programs may have begun: as many as on the GPU, but no more than half of the memory of this machine holds.
int64_t residentPrograms(size_t arenaBytes) {
  int64_t memory = int64_t(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE) / 2;
  return std::clamp<int64_t>(memory / int64_t(std::max<size_t>(arenaBytes, 1)), 1, kResidentPrograms);
}

std::string& printedBy(void* frame) { return static_cast<Frame*>(frame)->printed; }

Trap refusal(std::string message) {
  Trap trap;
  trap.kind = TrapKind::Unsupported;
  trap.message = std::move(message);
  return trap;
}

/// Empty if the parameters fit the plan.
std::string problemOf(const Plan& plan, const LaunchParams& params) {
  auto counts = [&](const char* what, size_t expected, size_t got) {
    return "launch of " + plan.name + ": expected " + std::to_string(expected) + " " + what + ", got " +
           std::to_string(got);
  };
  if (params.arguments.size() != plan.arguments.size())
    return counts("arguments", plan.arguments.size(), params.arguments.size());
  if (!params.results.empty() && params.results.size() != plan.results.size())
    return counts("addresses of results", plan.results.size(), params.results.size());
  if (!params.bufferOf.empty() && params.bufferOf.size() != params.arguments.size())
    return counts("buffer numbers", params.arguments.size(), params.bufferOf.size());
  for (int32_t buffer : params.bufferOf)
    if (buffer < kNoArgument || buffer >= int64_t(params.buffers.size()))
      return "launch of " + plan.name + ": buffer number " + std::to_string(buffer) + ", but there are " +
             std::to_string(params.buffers.size()) + " buffers";
  return {};
}

/// Fruitless rounds before a program leaves its worker: the other workers' programs may be about to end its wait.
constexpr int kSpins = 256;

/// How many threads may run programs, and whose they are.
void chooseThreads(const LaunchParams& params, size_t arenaBytes, ScheduleOptions& options) {
  if (params.oneByOne || environment::deterministic()) return;
  int threads = params.numThreads > 0 ? params.numThreads : environment::numThreads().value_or(0);
  const int team = Workers::instance().regionThreads(), cores = availableCores();
  // Where PyTorch has one thread for two cores, they are halves of one: the second would not help much, but wait for the first.
  if (threads <= 0) threads = team > 1 && team < cores && team >= cores / 2 ? team : cores;
  options.threads = std::min(threads, FramePool::mostThreads(arenaBytes));
  // A first launch, whose programs may be short, does not wait for threads that have yet to be made.
  options.openMp = team >= threads && threads > 1 && options.programNanoseconds >= 0;
}

Trap launchChecked(const Program& program, const LaunchParams& params, const Hooks& hooks) {
  const Plan& plan = program.plan();
  if (std::string problem = problemOf(plan, params); !problem.empty()) return refusal(std::move(problem));
  if (params.numThreads <= 0) environment::numThreads(); // a word that is no number is an error for one program, too
  ProgramOrder order = params.programId[0] >= 0
                           ? ProgramOrder::single(params.grid, params.programId)
                           : ProgramOrder(params.grid, params.onlyPrograms, params.skipPrograms, params.anyOrder);
  if (std::string problem = order.problem(); !problem.empty())
    return refusal("launch of " + plan.name + ": " + problem);
  if (order.count() == 0) return {};

  Running running{plan, order, plan.arenaBytes(), LaunchState(plan, params)};
  running.state.findBuffer = hooks.findBuffer;
  std::optional<PrintSelection> prints;
  if (plan.prints) {
    if (auto text = environment::text("TILETWIN_PRINT")) {
      running.state.prints = &prints.emplace(*text, order.grid());
      noteSelection(*text, order.grid(), prints->misses());
    }
  }
  std::optional<DebugTurn> turn;
  if (plan.debug) {
    turn.emplace([&] { return !hooks.poll || hooks.poll(0, order.count()); });
    if (turn->state() == DebugTurn::State::GivenUp) {
      Trap trap;
      trap.kind = TrapKind::Interrupted;
      return trap;
    }
    if (turn->state() == DebugTurn::State::Nested)
      return refusal("launch of " + plan.name +
                     ": with TILETWIN_GDB=1 one launch runs at a time, and this one was made while another one of this "
                     "thread prints or polls; launch it after that one has ended");
  }
  if (plan.debug)
    if (std::string problem = beginDebugLaunch(plan, params, running.state); !problem.empty())
      return refusal(std::move(problem));
  Executor executor{&running,
                    enterFrame,
                    leaveFrame,
                    runProgram,
                    plan.prints ? printedBy : nullptr,
                    advanceProgram,
                    describeWait,
                    plan.adjacent.group ? runAdjacent : nullptr};
  ScheduleOptions options;
  if (order.count() > 1 && !plan.debug) {
    options.programNanoseconds = program.programNanoseconds().load(std::memory_order_relaxed);
    chooseThreads(params, running.arenaBytes, options);
    const size_t all = plan.arenaBytes(true);
    running.state.hasOptional = FramePool::mostThreads(all) >= options.threads;
    if (running.state.hasOptional) running.arenaBytes = all;
  }
  std::optional<MemoryCheck> memory;
  if (params.findings && !plan.probes.empty()) {
    running.state.memory = &memory.emplace(plan, params);
    running.state.probed = memory->probed();
    if (memory->needsOrder()) options.threads = 1;
  }
  if (params.watch) running.state.probed = ~uint64_t(0);
  if (plan.mayWait) {
    options.waits = true;
    options.inOrder = running.state.inOrder =
        environment::deterministic() || params.oneByOne || (memory && memory->needsOrder());
    options.resident = residentPrograms(running.arenaBytes);
    running.state.spins = options.threads > 1 ? kSpins : 0;
    if (params.programId[0] >= 0) options.deadlockMilliseconds = options.restlessMilliseconds = 0; // no others can help
  }
  Scheduler scheduler(executor, order, hooks, options);
  Trap trap = scheduler.run();
  if (plan.debug) endDebugLaunch();
  // After another trap it would depend on time how far the programs behind it came.
  if (memory && (!trap || trap.kind == TrapKind::Deadlock)) memory->report(*params.findings);
  if (trap) {
    std::vector<Buffer> known(params.buffers.begin(), params.buffers.end());
    known.insert(known.end(), running.state.found.begin(), running.state.found.end());
    completeTrap(trap, known);
  } else if (int64_t measured = scheduler.programNanoseconds(); measured >= 0) {
    int64_t before = options.programNanoseconds;
    program.programNanoseconds().store(before < 0 ? measured : (before + measured) / 2, std::memory_order_relaxed);
  }
  return trap;
}

} // namespace

Trap launch(const Program& program, const LaunchParams& params, const Hooks& hooks) {
  try {
    if (checksOrder(program, params)) return launchInOrders(program, params, hooks, launchChecked);
    return launchChecked(program, params, hooks);
  } catch (const std::bad_alloc&) {
    Trap trap;
    trap.kind = TrapKind::OutOfMemory;
    return trap;
  } catch (const environment::Error& error) {
    Trap trap = refusal(error.what());
    trap.kind = TrapKind::InvalidValue;
    return trap;
  } catch (const std::exception& error) { return refusal(error.what()); }
}

} // namespace tiletwin::interp
