// interp/run/SchedulerPrints.cpp -- what programs print reaches the hook in order of program id.
//
// A text may go out once no thread runs, or will run, a program with a lower position: lowestRunning(). Until then it
// waits in waiting_. Threads that are ahead stop when too much waits; the thread with the lowest position goes on
// unless its own text is what waits, so somebody always moves.
#include "interp/run/Scheduler.h"
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

namespace tiletwin::interp {

int64_t Scheduler::lowestRunning() {
  // The counter first: a claim made after this point is at or above it, one made before shows in its seat.
  int64_t lowest = next_.load();
  for (Seat* seat = seats_; seat; seat = seat->next_) lowest = std::min(lowest, seat->position_.load());
  return room_ ? std::min(lowest, lowestParked()) : lowest;
}

bool Scheduler::deliverable() { return !waiting_.empty() && waiting_.begin()->first <= lowestRunning(); }

void Scheduler::print(Seat& seat, std::string& text) {
  if (text.empty() || (seat.launching_ && forked_)) return;
  if (seat.launching_ && !opened_ && !room_) { // alone: every program below has finished
    callPrint(text);
    text.clear();
    return;
  }
  {
    std::lock_guard lock(mutex_);
    const size_t bytes = text.size();
    waiting_.emplace(seat.position_.load(), std::move(text));
    waitingBytes_ += bytes;
  }
  text.clear();
  if (seat.launching_)
    deliverPrints();
  else
    Workers::instance().ring(call_);
  // A program that waits for this one may be what the text waits for.
  if (waitingBytes_.load() > options_.printBytes && !room_) waitForPrints(seat);
}

void Scheduler::waitForPrints(Seat& seat) {
  const auto pause = std::chrono::milliseconds(options_.pollMilliseconds);
  const int64_t position = seat.position_.load();
  while (waitingBytes_.load() > options_.printBytes && !cancelled(position)) {
    if (seat.launching_) tick();
    std::unique_lock lock(mutex_);
    if (position <= lowestRunning() && !deliverable()) return;
    printsTaken_.wait_for(lock, pause);
  }
}

void Scheduler::deliverPrints() {
  while (!forked_) {
    decltype(waiting_)::node_type text;
    {
      std::lock_guard lock(mutex_);
      if (waiting_.empty()) return;
      const auto first = waiting_.begin();
      if (first->first > std::min(lowestRunning(), limit_.load(std::memory_order_relaxed))) return;
      waitingBytes_ -= first->second.size();
      text = waiting_.extract(first);
      printsTaken_.notify_all();
    }
    callPrint(text.mapped());
  }
}

void Scheduler::callPrint(const std::string& text) {
  if (hookFailed_) return;
  if (!hooks_.print) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return;
  }
  try {
    hooks_.print(text);
  } catch (...) { // as if the user had interrupted: an exception must not cross the programs
    hookFailed_ = true;
    interrupt();
  }
  noticeFork();
}

} // namespace tiletwin::interp
