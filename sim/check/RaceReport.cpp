#include "sim/check/RaceReport.h"
#include "sim/check/Report.h"
#include "sim/machine/Cta.h"
#include "sim/machine/DecodeFunction.h"
#include "sim/machine/Fragments.h"
#include <algorithm>
#include <cstring>

namespace tiletwin::sim {

// ---- Places --------------------------------------------------------------------------------------------------------------------

PlaceNumbers::PlaceNumbers(const Program& program) {
  const auto add = [&](const FunctionCode& code) {
    ranges_.push_back({&code, count_});
    count_ += std::max<uint64_t>(code.source->body.size(), 1);
  };
  add(program.entryCode());
  for (const auto& function : program.functions)
    if (function && function.get() != &program.entryCode()) add(*function);
}

uint32_t PlaceNumbers::of(const FunctionCode& code, const Inst& inst) const {
  for (const Range& range : ranges_)
    if (range.code == &code) return uint32_t(range.first + uint64_t(std::max(inst.source, int32_t(0))));
  return 0;
}

uint32_t PlaceNumbers::of(const Inst& inst) const {
  for (const Range& range : ranges_)
    if (&inst >= range.code->code.data() && &inst < range.code->code.data() + range.code->code.size())
      return of(*range.code, inst);
  return 0;
}

const Inst* PlaceNumbers::at(uint32_t place) const {
  const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), place,
                                      [](uint64_t number, const Range& range) { return number < range.first; });
  const Range& range = *std::prev(after);
  const auto source = int32_t(place - range.first);
  for (const Inst& inst : range.code->code)
    if (inst.source == source) return &inst;
  return range.code->code.data();
}

// ---- Values --------------------------------------------------------------------------------------------------------------------

namespace {

/// Is the special register the same in all lanes of a warp?
bool isUniform(std::string_view special) {
  return !special.starts_with("%tid") && special != "%laneid" && !special.starts_with("%lanemask");
}

} // namespace

bool writeTheSame(Warp& warp, const Inst& inst, uint64_t storedBytes, int lane, uint64_t offset, int otherLane,
                  uint64_t otherOffset, uint64_t bytes) {
  const FunctionCode& code = *warp.running->frame->code;
  const ptx::Instruction& in = code.sourceOf(inst);
  if (in.opcode != "st" || in.operands.size() < 2) return true;
  const ptx::Operand& value = in.operands[1];
  const bool isVector = value.kind == ptx::Operand::Kind::Vector;
  const uint64_t elementBytes = storedBytes / (isVector ? value.parts.size() : 1);
  const auto elementAt = [&](uint64_t byte) -> const ptx::Operand& {
    return isVector ? value.parts[size_t(byte / elementBytes)] : value;
  };
  const auto registerByte = [&](const ptx::Operand& element, int ofLane, uint64_t byte) {
    const size_t width = laneBytes(code.source->registers[size_t(element.index)].type);
    const std::byte* slot = warp.base[0] + code.registerOffset[size_t(code.registerNumber(element))];
    return slot[size_t(ofLane) * width + size_t(byte % elementBytes)];
  };
  for (uint64_t i = 0; i < bytes; ++i) {
    const ptx::Operand &mine = elementAt(offset + i), &theirs = elementAt(otherOffset + i);
    if (mine.kind == ptx::Operand::Kind::Register && theirs.kind == ptx::Operand::Kind::Register) {
      if (registerByte(mine, lane, offset + i) != registerByte(theirs, otherLane, otherOffset + i)) return false;
    } else if (&mine != &theirs) {
      return false;
    } else if (mine.kind == ptx::Operand::Kind::Special && !isUniform(mine.name)) {
      return false;
    }
  }
  return true;
}

// ---- Text ----------------------------------------------------------------------------------------------------------------------

namespace {

/// %ctaid of the CTA of a number: clusters one after the other, in each of them the CTAs by rank.
std::array<int32_t, 3> ctaId(const LaunchParams& params, uint64_t number) {
  std::array<uint32_t, 3> clusters;
  uint64_t size = 1;
  for (size_t i = 0; i < 3; ++i) {
    clusters[i] = params.grid[i] / params.cluster[i];
    size *= params.cluster[i];
  }
  const auto cluster = unravel(number / size, clusters), inCluster = unravel(number % size, params.cluster);
  std::array<int32_t, 3> id{};
  for (size_t i = 0; i < 3; ++i) id[i] = int32_t(cluster[i] * params.cluster[i] + inCluster[i]);
  return id;
}

enum class Between : uint8_t { Lanes, Warps, Ctas };

const char* whoOf(Between between) {
  return between == Between::Lanes   ? "another lane of the warp"
         : between == Between::Warps ? "another warp of the CTA"
                                     : "another CTA";
}

std::string adviceFor(Between between, bool isShared) {
  if (between == Between::Lanes) return "put bar.warp.sync (__syncwarp()) between them, in all lanes that take part";
  if (between == Between::Warps) return "put a barrier (bar.sync, __syncthreads()) between them";
  if (isShared) return "put barrier.cluster.arrive and barrier.cluster.wait between them";
  return "let the first CTA release (st.release.gpu, fence.acq_rel.gpu) and the second one acquire, use atomics, "
         "or give each CTA memory of its own";
}

std::string adviceForAgent(AsyncAgents::Kind kind) {
  switch (kind) {
  case AsyncAgents::Kind::Copies:
    return "wait with cp.async.wait_group or cp.async.wait_all in the thread that copies, and put a barrier behind it";
  case AsyncAgents::Kind::Bulk:
    return "wait with cp.async.bulk.wait_group.read in the thread that copies, and put a barrier behind it";
  case AsyncAgents::Kind::Products:
    return "wait with wgmma.wait_group in all warps of the warpgroup, and put a barrier or an mbarrier's arrival "
           "behind it";
  case AsyncAgents::Kind::TensorWork:
    return "commit it (tcgen05.commit), and wait for the phase of the mbarrier that hears of it";
  case AsyncAgents::Kind::Mbarrier: break;
  }
  return "wait for the phase of the mbarrier that the copy signals (mbarrier.try_wait): mind its parity";
}

std::string messageOf(const RaceReport& race, Between between, bool isShared) {
  if (race.isSameStore)
    return std::string("several lanes write different values to the same place in ") +
           (isShared ? "shared" : "global") + " memory, and which of them stays is open";
  const char* what = race.kind == AccessKind::Read ? "reads" : race.kind == AccessKind::Write ? "writes" : "updates";
  if (race.otherAgent)
    return std::string(what) + " shared memory that " +
           (*race.otherAgent == AsyncAgents::Kind::Products     ? "a wgmma"
            : *race.otherAgent == AsyncAgents::Kind::TensorWork ? "a tcgen05 operation"
                                                                : "an asynchronous copy") +
           (race.otherWrote ? " writes" : " reads") + ", and nothing orders the access behind the end of that";
  const std::string other = std::string(whoOf(between)) + (race.otherWrote ? " has written" : " has read");
  return std::string(what) + (isShared ? " shared" : " global") + " memory that " + other +
         ", and nothing orders the two accesses";
}

} // namespace

void reportRace(const PlaceNumbers& places, RacesSeen& seen, const RaceReport& race) {
  Warp& warp = *race.warp;
  Cta& cta = *warp.cta;
  Cluster& cluster = *cta.cluster;
  Grid& grid = *cluster.grid;
  const uint32_t place = places.of(*race.inst);
  const uint64_t first = std::min(place, race.otherPlace), second = std::max(place, race.otherPlace);
  if (!grid.params->findings || !seen.insert(first << 32 | second).second) return;

  const Cta* owner = nullptr; // of the shared memory
  for (const Cta& each : cluster.ctas)
    if (race.host >= each.shared.data() && race.host < each.shared.data() + each.shared.size()) owner = &each;
  const uint64_t number = cluster.linear * cluster.ctas.size() + cta.rank;
  const Between between = number != race.otherCta        ? Between::Ctas
                          : warp.index != race.otherWarp ? Between::Warps
                                                         : Between::Lanes;
  Finding finding =
      findingOf(Check::Races, {&warp, race.inst, LaneMask(1) << race.lane}, messageOf(race, between, owner != nullptr),
                race.isSameStore  ? "let one of the lanes write"
                : race.otherAgent ? adviceForAgent(*race.otherAgent)
                                  : adviceFor(between, owner != nullptr));
  finding.detail = ", " + (owner ? placeInShared(cta, *owner, uint64_t(race.host - owner->shared.data()))
                                 : placeInGlobal(grid, reinterpret_cast<uint64_t>(race.host)));
  addSecond(finding, *grid.program, {nullptr, places.at(race.otherPlace), 0},
            race.otherAgent   ? "has been issued before"
            : race.otherWrote ? "has written it"
                              : "has read it");
  if (race.otherAgent != AsyncAgents::Kind::Mbarrier)
    finding.secondText += ", warp " + std::to_string(race.otherWarp) + ", lane " + std::to_string(race.otherLane);
  finding.secondProgram = ctaId(*grid.params, race.otherCta);
  report(grid, std::move(finding));
}

void reportNoRaceCheck(Grid& grid) {
  Finding finding;
  finding.check = Check::Races;
  finding.isNotice = true;
  finding.where.file = grid.program->file;
  finding.message = "the launch has too many warps: races are not looked for";
  finding.advice = "launch a smaller grid";
  report(grid, std::move(finding));
}

} // namespace tiletwin::sim
