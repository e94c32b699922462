// interp/run/Launch.cpp -- launch(): a plan and a grid are joined to the scheduler.
//
// Here:      checks of the parameters, how many threads, frames for threads, texts of traps.
// Not here:  order, prints, interruption (Scheduler.h), execution (Frame.h).
// Invariant: nothing is thrown: whatever goes wrong is a Trap.
#include "interp/Interp.h"
#include "interp/run/Frame.h"
#include "interp/run/FramePool.h"
#include "interp/run/ProgramOrder.h"
#include "interp/run/Scheduler.h"
#include "interp/run/Workers.h"
#include "runtime/Environment.h"
#include "runtime/TrapText.h"
#include <algorithm>
#include <exception>
#include <new>

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
    frame->pollContext = &seat;
    initFrame(running.plan, *frame);
  } catch (...) {
    FramePool::instance().release(frame);
    throw;
  }
  return frame;
}

void leaveFrame(void*, void* frame) { FramePool::instance().release(static_cast<Frame*>(frame)); }

bool runProgram(void* context, void* frameOfThread, const ProgramId& id, Trap& trap) {
  Running& running = *static_cast<Running*>(context);
  Frame& frame = *static_cast<Frame*>(frameOfThread);
  frame.program = id;
  Step step = execute(running.plan, frame);
  if (step == Step::Done) [[likely]]
    return true;
  if (step == Step::Trapped) {
    trap = std::move(frame.trap);
    return false;
  }
  trap.kind = TrapKind::Unsupported;
  trap.message = "the program waits for another program of its launch, which the interpreter cannot do yet";
  return false;
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
    if (buffer < -1 || buffer >= int64_t(params.buffers.size()))
      return "launch of " + plan.name + ": buffer number " + std::to_string(buffer) + ", but there are " +
             std::to_string(params.buffers.size()) + " buffers";
  return {};
}

int threadsFor(const LaunchParams& params, size_t arenaBytes) {
  int threads = params.numThreads;
  if (threads <= 0) threads = environment::numThreads().value_or(availableCores());
  return std::min(threads, FramePool::mostThreads(arenaBytes));
}

Trap launchChecked(const Program& program, const LaunchParams& params, const Hooks& hooks) {
  const Plan& plan = program.plan();
  if (std::string problem = problemOf(plan, params); !problem.empty()) return refusal(std::move(problem));
  ProgramOrder order = params.programId[0] >= 0 ? ProgramOrder::single(params.grid, params.programId)
                                                : ProgramOrder(params.grid, params.onlyPrograms, params.skipPrograms);
  if (std::string problem = order.problem(); !problem.empty())
    return refusal("launch of " + plan.name + ": " + problem);
  if (order.count() == 0) return {};

  Running running{plan, order, plan.arenaBytes(), LaunchState(plan, params)};
  Executor executor{&running, enterFrame, leaveFrame, runProgram, printedBy};
  ScheduleOptions options;
  if (order.count() > 1) {
    options.threads = threadsFor(params, running.arenaBytes);
    options.programNanoseconds = program.programNanoseconds().load(std::memory_order_relaxed);
  }
  Scheduler scheduler(executor, order, hooks, options);
  Trap trap = scheduler.run();
  if (trap)
    completeTrap(trap, params.buffers);
  else if (int64_t measured = scheduler.programNanoseconds(); measured >= 0) {
    int64_t before = options.programNanoseconds;
    program.programNanoseconds().store(before < 0 ? measured : (before + measured) / 2, std::memory_order_relaxed);
  }
  return trap;
}

} // namespace

Trap launch(const Program& program, const LaunchParams& params, const Hooks& hooks) {
  try {
    return launchChecked(program, params, hooks);
  } catch (const std::bad_alloc&) {
    Trap trap;
    trap.kind = TrapKind::OutOfMemory;
    return trap;
  } catch (const std::exception& error) { return refusal(error.what()); }
}

} // namespace tiletwin::interp
