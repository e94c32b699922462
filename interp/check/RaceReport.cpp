// interp/check/RaceReport.cpp -- data races as findings: which programs, which places, which bytes.
#include "interp/check/MemoryCheck.h"
#include <map>
#include <tuple>

namespace tiletwin::interp {

namespace {

/// All cells in which the same two places race.
struct Merged {
  RacePair lowest;
  int64_t bytes = 0;
  bool sameValue = true;
};

bool isWrite(RaceKind kind) { return kind == RaceKind::Write || kind == RaceKind::AtomicWrite; }

auto orderOf(const RacePair& p) {
  const uint64_t a = p.first.program(), b = p.second.program();
  return std::tuple(std::min(a, b), std::max(a, b), p.begin);
}

std::string verbOf(const ProbeAccessOp& op, RaceKind kind) {
  if (op.isAtomic) return isWrite(kind) ? "updates" : "reads";
  return isWrite(kind) ? "writes" : "reads";
}

/// "element 3 of y", or the bytes if they are not whole elements of the access.
std::string placeText(const RacePair& pair, const Buffer* buffer, int64_t elementBytes) {
  const std::string name = buffer ? buffer->name : "memory that is no argument";
  const uintptr_t base = !buffer ? 0 : pair.begin >= buffer->viewBegin ? buffer->viewBegin : buffer->begin;
  const int64_t offset = int64_t(pair.begin - base), bytes = int64_t(pair.end - pair.begin);
  if (!buffer) return name;
  if (elementBytes > 0 && offset % elementBytes == 0 && bytes % elementBytes == 0) {
    const int64_t first = offset / elementBytes, count = bytes / elementBytes;
    if (count == 1) return "element " + std::to_string(first) + " of " + name;
    return "elements " + std::to_string(first) + " to " + std::to_string(first + count - 1) + " of " + name;
  }
  return "bytes " + std::to_string(offset) + " to " + std::to_string(offset + bytes - 1) + " of " + name;
}

} // namespace

void MemoryCheck::reportRaces(FindingCollector& findings) {
  std::map<std::tuple<uint32_t, RaceKind, uint32_t, RaceKind>, Merged> merged;
  auto add = [&](const RacePair& pair) {
    auto [at, isNew] =
        merged.try_emplace({pair.first.site(), pair.firstKind, pair.second.site(), pair.secondKind}, Merged{pair});
    Merged& m = at->second;
    if (!isNew && orderOf(pair) < orderOf(m.lowest)) m.lowest = pair;
    m.bytes += int64_t(pair.end - pair.begin);
    m.sameValue &= pair.sameValue;
  };
  if (races_) races_->races(add);
  if (ordered_) ordered_->races(add);
  for (const auto& [key, m] : merged) {
    const RacePair& pair = m.lowest;
    const ProbeAccessOp& first = siteOf(pair.first.site());
    const ProbeAccessOp& second = siteOf(pair.second.site());
    const bool bothWrite = isWrite(pair.firstKind) && isWrite(pair.secondKind);
    Finding finding;
    finding.check = Check::Races;
    finding.where = first.where;
    finding.operation = first.operation;
    finding.program = idOf(pair.first.program());
    finding.programs = 1;
    finding.second = second.where;
    finding.secondOperation = second.operation;
    finding.secondProgram = idOf(pair.second.program());
    const std::string place = placeText(pair, bufferAt(pair.begin), first.access.elementBytes);
    finding.message = verbOf(first, pair.firstKind) + " " + place + ", which another program " +
                      verbOf(second, pair.secondKind) + " and nothing orders the two";
    finding.secondText = verbOf(second, pair.secondKind) + " the same memory";
    if (m.bytes > int64_t(pair.end - pair.begin)) finding.message += " (" + std::to_string(m.bytes) + " bytes in all)";
    const bool smallScope =
        (first.isAtomic && !first.isAtomicForAll()) || (second.isAtomic && !second.isAtomicForAll());
    if (smallScope) {
      finding.advice = "an atomic operation of scope cta is atomic within one program only: use scope=\"gpu\"";
    } else if (bothWrite && m.sameValue) {
      finding.message += "; all of them write the same value, so that the result is the same whoever comes last";
      finding.advice = "harmless as long as the values stay equal; let one program write it";
    } else if (first.isAtomic || second.isAtomic) {
      finding.advice = "let every access to memory that programs share this way be atomic (tl.atomic_load, "
                       "tl.atomic_xchg, ...), the waiting one with sem=\"acquire\"";
    } else if (bothWrite) {
      finding.advice = "let every program write memory of its own (check offsets, strides and the mask), or use "
                       "tl.atomic_add and the like";
    } else {
      finding.advice = "programs run in any order: split the kernel in two launches, or order the programs with an "
                       "atomic release behind the write and an acquire before the read";
    }
    findings.add(std::move(finding));
  }
}

} // namespace tiletwin::interp
