// interp/run/ExecuteAtomic.cpp -- atomic accesses: checked memory, then the loops of Atomics.h.
// Not here:  waiting (ExecuteWait.cpp).
// Invariant: nothing is written before every lane is inside a buffer and aligned; a lane whose mask is 0 forms no access.
#include "interp/program/WaitInstructions.h"
#include "interp/run/Execute.h"
#include <cstring>

namespace tiletwin::interp {

static int64_t firstMisaligned(const AtomicOp& op, const uint64_t* address, const uint8_t* mask) {
  const uint64_t low = uint64_t(op.elementBytes) - 1;
  uint64_t seen = 0;
  if (mask)
    for (int64_t i = 0; i < op.elements; ++i) seen |= mask[i] ? address[i] : 0;
  else
    for (int64_t i = 0; i < op.elements; ++i) seen |= address[i];
  if (!(seen & low)) [[likely]]
    return -1;
  for (int64_t i = 0;; ++i)
    if ((!mask || mask[i]) && (address[i] & low)) return i;
}

static InstructionRef raiseMisaligned(InstructionRef in, Frame& f, const AtomicOp& op, uint64_t address,
                                      int64_t element) {
  raiseAccess(in, f, op.operation, address, op.elementBytes, op.root, op.writes, op.shape, element);
  f.trap.kind = TrapKind::Misaligned;
  return nullptr;
}

InstructionRef execAtomic(InstructionRef in, Frame& f) {
  const AtomicOp& op = *static_cast<const AtomicOp*>(in->data);
  const uint64_t* address = &f.at<uint64_t>(op.address.v);
  const uint8_t* mask = op.hasMask ? &f.at<uint8_t>(op.mask.v) : nullptr;
  const int64_t outside = firstBadAddress(op.elements, address, mask, op.elementBytes, op.root, op.writes, f);
  if (outside >= 0) [[unlikely]]
    return raiseAccess(in, f, op.operation, address[outside], op.elementBytes, op.root, op.writes, op.shape, outside);
  if (int64_t bad = firstMisaligned(op, address, mask); bad >= 0) [[unlikely]]
    return raiseMisaligned(in, f, op, address[bad], bad);
  AtomicLanes lanes;
  lanes.count = op.elements;
  lanes.address = address;
  lanes.mask = mask;
  lanes.old = op.hasResult ? f.arena + op.result.v : nullptr;
  lanes.value = op.hasValue ? f.arena + op.value.v : nullptr;
  lanes.valueStride = op.valueIsCell ? 0 : op.elementBytes;
  lanes.compare = op.hasCompare ? f.arena + op.compare.v : nullptr;
  lanes.compareStride = op.compareIsCell ? 0 : op.elementBytes;
  f.stored |= op.fn(lanes);
  f.wait.polls += 2; // more than one address: not to be watched
  return in + 1;
}

InstructionRef execScalarAtomic(InstructionRef in, Frame& f) {
  const AtomicOp& op = *static_cast<const AtomicOp*>(in->data);
  if (op.hasMask && !(f.at<int64_t>(op.mask.v) & 1)) {
    if (op.hasResult) f.at<int64_t>(op.result.v) = 0;
    return in + 1;
  }
  const uint64_t address = f.at<uint64_t>(op.address.v);
  if (!checkAddress(address, op.elementBytes, op.root, op.writes, f)) [[unlikely]]
    return raiseAccess(in, f, op.operation, address, op.elementBytes, op.root, op.writes, {}, -1);
  if (address & uint64_t(op.elementBytes - 1)) [[unlikely]]
    return raiseMisaligned(in, f, op, address, -1);
  uint64_t old = 0;
  AtomicLanes lanes;
  lanes.count = 1;
  lanes.address = &address;
  lanes.old = &old;
  lanes.value = op.hasValue ? f.arena + op.value.v : nullptr;
  lanes.compare = op.hasCompare ? f.arena + op.compare.v : nullptr;
  f.stored |= op.fn(lanes);
  // If memory is as it was, these are its bits now.
  ++f.wait.polls;
  notePoll(f, address, op.elementBytes, op.root, old);
  if (op.hasResult) {
    const int unused = 64 - 8 * op.elementBytes;
    f.at<int64_t>(op.result.v) = op.signExtend ? int64_t(old << unused) >> unused : int64_t(old);
  }
  return in + 1;
}

} // namespace tiletwin::interp
