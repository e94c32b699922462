// interp/run/Execute.cpp -- the step loop, frames and launches seen from inside, jumps, traps.
// Here:      initFrame(), execute(), control flow instructions, the fallback plan.
// Not here:  scheduling (Launch.cpp), everything that computes (the other Execute*.cpp).
// Invariant: an instruction returns the next one or null; null with neither trap nor restart means the program is done.
#include "interp/run/Execute.h"
#include "interp/program/Probes.h"
#include "interp/program/WaitInstructions.h"
#include "interp/run/SharedCache.h"
#include <algorithm>
#include <cstring>

namespace tiletwin::interp {

LaunchState::LaunchState(const Plan& plan, const LaunchParams& params) : plan(&plan), params(&params) {
  extents.resize(plan.arguments.size());
  for (size_t i = 0; i < extents.size(); ++i) {
    int32_t buffer = i < params.bufferOf.size() ? params.bufferOf[i] : -1;
    extents[i].buffer = buffer;
    if (buffer < 0) continue;
    const Buffer& b = params.buffers[size_t(buffer)];
    extents[i] = {b.begin, b.end, b.readOnly, buffer};
  }
  chooseStreams();
  // What programs wait for others may write.
  if (plan.sharesReads && !plan.mayWait) settle();
}

/// Past the cache a line is not read before it is overwritten. That is worth it where results would not be found in the cache: if what
/// a launch reads and writes fills half of it.
void LaunchState::chooseStreams() {
  constexpr uintptr_t kAlways = uintptr_t(32) << 20, kLeast = uintptr_t(4) << 20;
  uintptr_t all = 0;
  for (const Buffer& b : params->buffers) all += b.end - b.begin;
  const uintptr_t from = all >= uintptr_t(sharedCacheBytes()) / 2 ? kLeast : kAlways;
  for (ArgumentExtent& e : extents) e.streams = e.hi - e.lo >= from;
}

void LaunchState::settle() {
  for (ArgumentExtent& e : extents) {
    e.settled = e.buffer >= 0;
    for (int32_t root : plan->written)
      e.settled &= root >= 0 && extents[size_t(root)].buffer >= 0 &&
                   (extents[size_t(root)].hi <= e.lo || e.hi <= extents[size_t(root)].lo);
  }
}

static void fill(const Plan& plan, Frame& f) {
  f.plan = &plan;
  for (const PlanConstant& c : plan.constants) std::memcpy(f.arena + c.offset, c.bytes.data(), c.bytes.size());
  for (const Instruction& in : plan.prologue) in.fn(&in, f);
}

void initFrame(const Plan& plan, Frame& f) {
  f.known = {};
  f.nextKnown = 0;
  f.written.reset();
  fill(plan, f);
}

/// Rare: index arithmetic wrapped around inside a tile. The materialised plan gives every element its exact value.
static Step restartOnFallback(const Plan& plan, Frame& f) {
  f.findings.clear();
  f.restart = false;
  f.printed.clear();
  f.printedTwice = f.printedAway;
  fill(*plan.fallback, f);
  const Instruction* in = plan.fallback->code.data();
  while (in) in = in->fn(in, f);
  if (f.step != Step::Yielded) fill(plan, f);
  return f.step;
}

static Step endOfProgram(Frame& f, Step step) {
  if (!f.findings.empty() && step != Step::Yielded) [[unlikely]]
    commitFindings(f);
  return step;
}

Step execute(const Plan& plan, Frame& f) {
  f.step = Step::Done;
  f.stored = false;
  f.storedBefore = false;
  f.restart = false;
  f.pc = nullptr;
  f.printedAway = f.printedTwice = 0;
  if (f.trap) [[unlikely]]
    f.trap = Trap();
  const Instruction* in = plan.code.data();
  while (in) in = in->fn(in, f);
  if (!f.restart) [[likely]]
    return endOfProgram(f, f.step);
  return endOfProgram(f, restartOnFallback(plan, f));
}

Step resume(const Plan& plan, Frame& f) {
  f.step = Step::Done;
  f.wait.progressed = false;
  const bool fallback = f.plan != &plan;
  const Instruction* in = f.pc;
  while (in) in = in->fn(in, f);
  if (f.restart) return endOfProgram(f, restartOnFallback(plan, f));
  if (fallback && f.step != Step::Yielded) fill(plan, f);
  return endOfProgram(f, f.step);
}

InstructionRef raise(InstructionRef in, Frame& f, TrapKind kind, std::string operation, std::string message) {
  const Plan& plan = *f.plan;
  f.step = Step::Trapped;
  f.trap.kind = kind;
  f.trap.operation = std::move(operation);
  f.trap.message = std::move(message);
  f.trap.program = f.program;
  if (in >= plan.code.data() && in < plan.code.data() + plan.code.size())
    f.trap.where = plan.locations[plan.codeLocations[size_t(in - plan.code.data())]];
  return nullptr;
}

InstructionRef execNothing(InstructionRef in, Frame&) { return in + 1; }

InstructionRef execDebugCopy(InstructionRef in, Frame& f) {
  std::memmove(f.arena + in->r[0], f.arena + in->r[1], size_t(in->imm));
  return in + 1;
}

InstructionRef execJump(InstructionRef in, Frame&) { return in + in->imm; }

bool mustStop(Frame& f) {
  if (f.launch->stop.load(std::memory_order_relaxed)) return true;
  if (!f.poll) return false;
  const size_t printed = f.printed.size();
  bool goOn = f.poll(f.pollContext);
  if (f.printed.size() < printed) f.printedAway += printed;
  return !goOn;
}

InstructionRef execBackEdge(InstructionRef in, Frame& f) {
  if (mustStop(f)) [[unlikely]]
    return raise(in, f, TrapKind::Interrupted, "scf.while", {});
  return in + in->imm;
}

InstructionRef execBranchIfNot(InstructionRef in, Frame& f) {
  return f.at<int64_t>(in->r[0]) & 1 ? in + 1 : in + in->imm;
}

InstructionRef execForEnter(InstructionRef in, Frame& f) {
  int64_t lower = f.at<int64_t>(in->r[1]), upper = f.at<int64_t>(in->r[2]);
  f.at<int64_t>(in->r[0]) = lower;
  bool enter = in->r[3] ? uint64_t(lower) < uint64_t(upper) : lower < upper;
  return enter ? in + 1 : in + in->imm;
}

InstructionRef execForStep(InstructionRef in, Frame& f) {
  const int64_t step = f.at<int64_t>(in->r[0]);
  if (step > 0 || (in->r[1] && step != 0)) [[likely]]
    return in + 1;
  return raise(in, f, TrapKind::InvalidValue, "scf.for",
               "the step of this loop is " + std::to_string(step) +
                   ", so it would never end; only a compile-time step may be negative");
}

InstructionRef execForNext(InstructionRef in, Frame& f) {
  const int width = int(in->r[3] >> 1);
  const bool isUnsigned = in->r[3] & 1;
  const int64_t iv = f.at<int64_t>(in->r[0]), step = f.at<int64_t>(in->r[1]), upper = f.at<int64_t>(in->r[2]);
  // A step past the type's last value ends the loop. Cells are sign-extended, of unsigned numbers too: those keep their
  // order as 64-bit numbers, so that only the sum has to be brought back to the type.
  int64_t next;
  bool overflow = __builtin_add_overflow(iv, step, &next);
  if (isUnsigned) {
    next = int64_t(uint64_t(next) << (64 - width)) >> (64 - width);
    overflow = uint64_t(next) < uint64_t(iv);
  } else if (width < 64) {
    overflow |= next > (int64_t(1) << (width - 1)) - 1;
  }
  f.at<int64_t>(in->r[0]) = next;
  bool more = !overflow && (isUnsigned ? uint64_t(next) < uint64_t(upper) : next < upper);
  if (!more) return in + 1;
  if (mustStop(f)) [[unlikely]]
    return raise(in, f, TrapKind::Interrupted, "scf.for", {});
  return in + in->imm;
}

InstructionRef execReturn(InstructionRef, Frame&) { return nullptr; }

InstructionRef execProgramId(InstructionRef in, Frame& f) {
  f.at<int64_t>(in->r[0]) = f.program[size_t(in->imm)];
  return in + 1;
}
InstructionRef execNumPrograms(InstructionRef in, Frame& f) {
  f.at<int64_t>(in->r[0]) = f.grid[size_t(in->imm)];
  return in + 1;
}

InstructionRef execLoadArgument(InstructionRef in, Frame& f) {
  uint64_t bits = f.launch->params->arguments[size_t(in->imm)];
  int width = int(in->r[1]);
  f.at<int64_t>(in->r[0]) = width == 1 ? int64_t(bits & 1) : int64_t(bits << (64 - width)) >> (64 - width);
  return in + 1;
}

InstructionRef execLoadTileArgument(InstructionRef in, Frame& f) {
  std::memcpy(f.arena + in->r[0], reinterpret_cast<const void*>(f.at<uint64_t>(in->r[1])), size_t(in->imm));
  return in + 1;
}

InstructionRef execResult(InstructionRef in, Frame& f) {
  const ResultOp& op = *static_cast<const ResultOp*>(in->data);
  auto results = f.launch->params->results;
  if (size_t(op.index) < results.size())
    std::memcpy(reinterpret_cast<void*>(results[size_t(op.index)]), f.arena + op.at.v, size_t(op.bytes));
  return in + 1;
}

InstructionRef restart(InstructionRef in, Frame& f, int64_t lo, int64_t hi) {
  if (!f.stored && !f.storedBefore && f.plan->fallback) {
    f.restart = true;
    return nullptr;
  }
  return raise(in, f, TrapKind::OffsetOverflow, "tt.addptr",
               "the indices of this tile go from " + std::to_string(lo) + " to " + std::to_string(hi) +
                   ", and the program has already written memory, so that it cannot start again with every index "
                   "wrapped by itself");
}

InstructionRef execRangeCheck(InstructionRef in, Frame& f) {
  const RangeCheckOp& op = *static_cast<const RangeCheckOp*>(in->data);
  Span span{op.base.get(f), op.base.get(f)};
  for (size_t d = 0; d < op.extents.size(); ++d) span.add(op.strides[d].get(f), 0, op.extents[d] + 1);
  if (!span.inside(op.min, op.max)) [[unlikely]]
    return restart(in, f, span.lo, span.hi);
  return in + 1;
}

InstructionRef execUniformQuotient(InstructionRef in, Frame& f) {
  const UniformQuotientOp& op = *static_cast<const UniformQuotientOp*>(in->data);
  const int64_t divisor = op.divisor.get(f);
  Span span{op.base.get(f), op.base.get(f)};
  for (size_t d = 0; d < op.extents.size(); ++d) span.add(op.strides[d].get(f), 0, op.extents[d] + 1);
  // Truncating division gives one quotient for all of the span if neither end crosses a multiple.
  if (divisor <= 0 || !span.inside(0, INT32_MAX) || span.lo / divisor != span.hi / divisor) [[unlikely]]
    return restart(in, f, span.lo, span.hi);
  f.at<int64_t>(op.dst.v) = span.lo / divisor;
  return in + 1;
}

} // namespace tiletwin::interp
