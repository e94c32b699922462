// interp/check/BarrierCheck.cpp -- see BarrierCheck.h.
#include "interp/check/BarrierCheck.h"
#include "interp/check/WrittenLanes.h"
#include "interp/run/ProbeElements.h"
#include <algorithm>

namespace tiletwin::interp {

namespace {

bool meet(const LaunchParams& params, int32_t a, int32_t b) {
  const auto bufferOf = [&](int32_t root) -> const Buffer* {
    const int32_t number = root >= 0 && size_t(root) < params.bufferOf.size() ? params.bufferOf[size_t(root)] : -1;
    return number < 0 ? nullptr : &params.buffers[size_t(number)];
  };
  const Buffer *x = bufferOf(a), *y = bufferOf(b);
  return !x || !y || (x->begin < y->end && y->begin < x->end); // what is not known may be anywhere
}

/// Whether element e of one access and element e of the other are one thread's.
bool sameLanes(const Access& a, const Access& b) {
  if (a.elementBytes != b.elementBytes || a.shape.empty() || b.shape.empty()) return false;
  auto i = a.shape.begin(), j = b.shape.begin();
  for (;; ++i, ++j) {
    i = std::find_if(i, a.shape.end(), [](int64_t n) { return n != 1; });
    j = std::find_if(j, b.shape.end(), [](int64_t n) { return n != 1; });
    if (i == a.shape.end() || j == b.shape.end()) return i == a.shape.end() && j == b.shape.end();
    if (*i != *j) return false;
  }
}

std::string laneText(const ProbeAccessOp& op, int64_t element) {
  return element < 0 ? std::string("one thread") : "element " + indexText(op.access.shape, element);
}

} // namespace

BarrierCheck::BarrierCheck(const Plan& plan, const LaunchParams& params) : params_(params) {
  wanted_.assign(plan.arguments.size() + 1, false);
  for (const Plan* each : {&plan, plan.fallback.get()})
    for (const auto& [writer, reader] : each ? each->followers : decltype(plan.followers)())
      if (meet(params, writer, reader)) wanted_[size_t(writer + 1)] = wanted_[size_t(reader + 1)] = true;
}

void BarrierCheck::barrier(Frame& f) {
  if (f.written) f.written->forget();
}

void BarrierCheck::access(const ProbeAccessOp& op, Frame& f) {
  if (!f.written) f.written = std::make_shared<WrittenLanes>();
  WrittenLanes& written = *f.written;
  written.belongTo(f.program);
  const int64_t bytes = op.access.elementBytes;
  if (!op.writes() || op.isAtomic) {
    bool mayHold = false;
    eachRun(op, f, [&](uintptr_t lo, uintptr_t hi) { mayHold |= written.mayHold(lo, hi); });
    std::vector<std::pair<const ProbeAccessOp*, Mistake>> found;
    const auto look = [&](int64_t element, uintptr_t address) {
      for (int64_t i = 0; i < bytes; ++i) {
        const WrittenLanes::Byte* byte = written.find(address + uintptr_t(i));
        if (!byte) continue;
        const ProbeAccessOp& writer = *f.plan->probes[byte->probe];
        if ((op.isAtomic && writer.isAtomic) || (element == byte->element && sameLanes(op.access, writer.access)))
          continue;
        auto at = std::find_if(found.begin(), found.end(), [&](const auto& one) { return one.first == &writer; });
        if (at == found.end()) {
          at = found.insert(found.end(), {&writer, {}});
          at->second.writer = byte->element;
        }
        at->second.addElement(element, address);
        return; // one store is enough to say of a lane
      }
    };
    if (mayHold) eachElement(op, f, look);
    for (auto& [writer, mistake] : found) {
      mistake.id = f.program;
      mistake.program = programNumber(params_.grid, f.program);
      std::lock_guard lock(mutex_);
      mistakes_[{&op, writer}].join(std::move(mistake));
    }
  }
  if (!op.writes()) return;
  eachElement(op, f, [&](int64_t element, uintptr_t address) { written.write(address, bytes, op.number, element); });
  if (const ProbeAccessOp* none = nullptr; written.isFull()) full_.compare_exchange_strong(none, &op);
}

void BarrierCheck::report(FindingCollector& findings) const {
  for (const auto& [key, mistake] : mistakes_) {
    const auto& [reader, writer] = key;
    Finding finding = mistake.finding(Check::Barriers, *reader);
    const Buffer* buffer = bufferAt(params_.buffers, mistake.address);
    const std::string memory = buffer ? buffer->name : "memory";
    finding.message = std::string(reader->isAtomic ? "updates " : "reads ") + memory +
                      " where another thread of the same program may have stored just now, with no barrier in between";
    finding.detail = ": what " + laneText(*writer, mistake.writer) + " of the store has written" +
                     (mistake.elements.empty() ? std::string(", all threads read")
                                               : ", " + laneText(*reader, mistake.elements.front()) + " reads");
    finding.advice = "tl.debug_barrier() between the two; or hand the value on without memory (tl.gather, tl.trans, "
                     "tl.reshape, a reduction)";
    finding.second = writer->where;
    finding.secondOperation = writer->operation;
    finding.secondText = "writes it";
    findings.add(std::move(finding));
  }
  if (const ProbeAccessOp* store = full_) {
    Finding finding;
    finding.isNotice = true;
    finding.check = Check::Barriers;
    finding.where = store->where;
    finding.message =
        "a program of the launch stores more than " +
        std::to_string(WrittenLanes::kMostPages * WrittenLanes::kPageBytes >> 20) +
        " MiB, and was not checked for reads of what it stores beyond them; a launch with smaller sizes is";
    findings.add(std::move(finding));
  }
}

} // namespace tiletwin::interp
