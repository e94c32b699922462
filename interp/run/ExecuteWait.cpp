// interp/run/ExecuteWait.cpp -- where programs find out that they wait for each other, and leave their worker.
// Here:      back edges of loops that may wait, tt.atomic_poll.
// Not here:  which loops may wait (plan/WaitLoops.cpp), what runs meanwhile (SchedulerWaiting.cpp).
// Idea:      a round of a loop that wrote nothing and hands on what it was handed, as far as that matters, will be repeated
//            for ever unless memory changes. Such a program yields at once, or, where other workers run, after a short spin. A loop whose
//            rounds write nothing but hand on new values yields now and then: soon if it reads the same from one address
//            again and again (it counts its attempts), late if not (it walks a list).
// Invariant: a program yields only at a point from where it can go on with nothing but its frame.
#include "interp/program/Atomics.h"
#include "interp/program/WaitInstructions.h"
#include "interp/run/Execute.h"
#include <algorithm>
#include <cstring>
#include <ctime>
#include <immintrin.h>
#include <utility>

namespace tiletwin::interp {

namespace {

/// Rounds that write nothing, though they differ, before a program lets others run.
constexpr uint64_t kRestlessRounds = 10'000;
/// The same if all of them read one address, and the same there.
constexpr uint64_t kCountingRounds = 16;

/// What a loop that may wait remembers from round to round, in the arena; the cells follow.
struct WaitRounds {
  uint64_t written;  ///< rounds since memory was written
  uint64_t same;     ///< rounds that handed on what they were handed
  uint64_t samePoll; ///< rounds that read one address only, and saw the same
  uint64_t address, bits;
  uint64_t tiles; ///< a hash of the tiles handed on, if `same` is not 0
  uint64_t* cells() { return reinterpret_cast<uint64_t*>(this + 1); }
};
static_assert(sizeof(WaitRounds) == kWaitRoundsBytes);

/// What the program has written since it was last asked counts as progress.
bool takeStored(Frame& f) {
  if (!f.stored) return false;
  f.stored = false;
  f.storedBefore = true;
  f.wait.progressed = true;
  return true;
}

InstructionRef yield(Frame& f, InstructionRef next, uint32_t where, const char* operation) {
  f.pc = next;
  f.wait.where = where;
  f.wait.operation = operation;
  f.step = Step::Yielded;
  return nullptr;
}

int64_t nanoseconds() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return int64_t(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

/// Tiles are compared by a hash: two that differ look equal once in 2^64 times.
uint64_t hashOf(const std::vector<WaitOp::Tile>& tiles, Frame& f) {
  uint64_t hash = 0;
  for (const WaitOp::Tile& tile : tiles)
    for (uint64_t i = 0; i < tile.bytes; i += 8) {
      uint64_t word = 0;
      std::memcpy(&word, f.arena + tile.at.v + i, std::min<uint64_t>(8, tile.bytes - i));
      hash = (hash ^ word) * 0x9E3779B97F4A7C15;
      hash ^= hash >> 29;
    }
  return hash;
}

uint64_t lowBits(int64_t value, int32_t bytes) {
  return bytes == 8 ? uint64_t(value) : uint64_t(value) & ((uint64_t(1) << (8 * bytes)) - 1);
}

} // namespace

InstructionRef execPolledLoad(InstructionRef in, Frame& f) {
  const ScalarAccessOp& op = *static_cast<const ScalarAccessOp*>(in->data);
  InstructionRef next = execScalarLoad(in, f);
  if (!next || (op.hasMask && !(f.at<int64_t>(op.mask.v) & 1))) return next;
  ++f.wait.polls;
  notePoll(f, f.at<uintptr_t>(op.address.v), op.bytes, op.root, lowBits(f.at<int64_t>(op.data.v), op.bytes));
  return next;
}

InstructionRef execWaitEnter(InstructionRef in, Frame& f) {
  const WaitOp& op = *static_cast<const WaitOp*>(in->data);
  WaitRounds& rounds = f.at<WaitRounds>(op.state.v);
  rounds = {};
  for (size_t i = 0; i < op.cells.size(); ++i) rounds.cells()[i] = f.at<uint64_t>(op.cells[i].v);
  f.wait.polls = 0;
  return in + 1;
}

InstructionRef execWaitEdge(InstructionRef in, Frame& f) {
  if (mustStop(f)) [[unlikely]]
    return raise(in, f, TrapKind::Interrupted, "scf.while", {});
  const WaitOp& op = *static_cast<const WaitOp*>(in->data);
  WaitRounds& rounds = f.at<WaitRounds>(op.state.v);
  const bool wrote = takeStored(f);
  bool same = !wrote;
  for (size_t i = 0; i < op.cells.size(); ++i) {
    uint64_t now = f.at<uint64_t>(op.cells[i].v);
    same &= rounds.cells()[i] == now;
    rounds.cells()[i] = now;
  }
  if (same && !op.tiles.empty()) {
    const uint64_t hash = hashOf(op.tiles, f);
    same = std::exchange(rounds.tiles, hash) == hash;
  }
  const bool onePoll = op.watchable && std::exchange(f.wait.polls, 0) == 1 && f.wait.address % f.wait.bytes == 0;
  const bool samePoll = !wrote && onePoll && rounds.address == f.wait.address && rounds.bits == f.wait.bits;
  rounds.written = wrote ? 0 : rounds.written + 1;
  rounds.same = same ? rounds.same + 1 : 0;
  rounds.samePoll = samePoll ? rounds.samePoll + 1 : 0;
  rounds.address = f.wait.address;
  rounds.bits = f.wait.bits;
  const uint64_t spins = uint64_t(f.launch->spins);
  const bool waits = rounds.same > spins;
  const bool counts = rounds.samePoll > std::max(spins, kCountingRounds);
  if (!waits && !counts && rounds.written < kRestlessRounds) [[likely]] {
    if (same || samePoll) _mm_pause();
    return in + in->imm;
  }
  rounds.written = rounds.samePoll = 0;
  f.wait.sure = waits && op.exact;
  f.wait.watch = onePoll && op.exact && (waits || counts);
  f.wait.timed = false;
  return yield(f, in + in->imm, op.where, op.operation);
}

InstructionRef execWaitNote(InstructionRef in, Frame& f) {
  f.wait.named = f.at<uintptr_t>(in->r[0]);
  f.wait.namedBytes = in->r[1];
  f.wait.namedTile = in->r[2];
  f.wait.namedRoot = int32_t(in->imm);
  return in + 1;
}

InstructionRef execPollEnter(InstructionRef in, Frame& f) {
  f.at<int64_t>(in->r[0]) = 0;
  return in + 1;
}

InstructionRef execPoll(InstructionRef in, Frame& f) {
  const PollOp& op = *static_cast<const PollOp*>(in->data);
  const uintptr_t address = f.at<uintptr_t>(op.address.v);
  if (!checkAddress(address, op.bytes, op.root, false, f)) [[unlikely]]
    return raiseAccess(in, f, "tt.atomic_poll", address, op.bytes, op.root, false, {}, -1);
  if (address % uint32_t(op.bytes)) [[unlikely]] {
    raiseAccess(in, f, "tt.atomic_poll", address, op.bytes, op.root, false, {}, -1);
    f.trap.kind = TrapKind::Misaligned;
    return nullptr;
  }
  const uint64_t expected = lowBits(f.at<int64_t>(op.expected.v), op.bytes);
  uint64_t now = readAtomically(address, op.bytes);
  for (int i = 0; now != expected && i < f.launch->spins; ++i) {
    _mm_pause();
    now = readAtomically(address, op.bytes);
  }
  if (now == expected) {
    f.at<int64_t>(op.result.v) = 1;
    return in + 1;
  }
  if (mustStop(f)) [[unlikely]]
    return raise(in, f, TrapKind::Interrupted, "tt.atomic_poll", {});
  if (op.hasTimeout) {
    // Others get at least one chance to run before the time is over.
    int64_t& began = f.at<int64_t>(op.state.v);
    bool over =
        f.wait.timeIsOver || (!f.launch->inOrder && began && nanoseconds() - began >= f.at<int64_t>(op.timeout.v));
    if (over) {
      f.wait.timeIsOver = false;
      f.at<int64_t>(op.result.v) = 0;
      return in + 1;
    }
    if (!began) began = nanoseconds();
  }
  takeStored(f);
  notePoll(f, address, op.bytes, op.root, now);
  f.wait.named = address;
  f.wait.namedBytes = uint32_t(op.bytes);
  f.wait.namedRoot = op.root;
  f.wait.namedTile = false;
  f.wait.sure = f.wait.watch = true;
  f.wait.timed = op.hasTimeout;
  return yield(f, in, op.where, "tt.atomic_poll");
}

} // namespace tiletwin::interp
