// sim/isa/WarpOps.cpp -- vote, match, redux, activemask, elect.
//
// Not here:  shfl (Shuffle.cpp), bar.warp.sync (Barrier.cpp).
// Idea:      lanes may name different members (two halves of a warp that each vote among themselves); an instruction works
//            through the distinct masks, which is one nearly always.
#include "sim/isa/WarpOps.h"
#include "sim/isa/Forms.h"
#include "sim/numerics/Single.h"
#include <array>

namespace tiletwin::sim {

namespace {

using Kind = ptx::Operand::Kind;

/// Calls visit(lanes) for each set of active lanes that name the same members.
template <class Visit> void eachTeam(const uint32_t* members, LaneMask active, Visit&& visit) {
  while (active) {
    const uint32_t mask = members[__builtin_ctz(active)];
    LaneMask team = 0;
    eachLane(active, [&](int i) { team |= LaneMask(members[i] == mask) << i; });
    visit(team);
    active &= ~team;
  }
}

/// The common course of a .sync instruction: members come together, then visit(team) for each team.
/// Inst::c holds the member masks; none: the old forms, in which all active lanes are one team.
template <class Visit> Step runTeams(const Inst& in, Warp& warp, LaneMask active, Visit&& visit) {
  if (!in.c) {
    visit(active);
    return Step::Next;
  }
  if (const Step s = gatherMembers(warp, in.c, active); s != Step::Next) return s;
  eachTeam(warp.lanes<uint32_t>(in.c), active, visit);
  return Step::Next;
}

void fill(uint32_t* d, LaneMask team, uint32_t value) {
  perLane(d, team, [&](int) { return value; });
}
void decide(LaneMask& p, LaneMask team, bool value) { assign(p, team, value ? kAllLanes : 0); }

// ---- vote

enum class Vote { All, Any, Uniform, Ballot };

template <Vote kVote> Step runVote(const Inst& in, Warp& warp, LaneMask active) {
  return runTeams(in, warp, active, [&](LaneMask team) {
    const LaneMask yes = warp.predicate(in.a) & team;
    if constexpr (kVote == Vote::Ballot) fill(warp.lanes<uint32_t>(in.d), team, yes);
    if constexpr (kVote == Vote::All) decide(warp.predicate(in.d), team, yes == team);
    if constexpr (kVote == Vote::Any) decide(warp.predicate(in.d), team, yes != 0);
    if constexpr (kVote == Vote::Uniform) decide(warp.predicate(in.d), team, yes == team || yes == 0);
  });
}

bool decodeVote(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  const bool isSync = words.take("sync");
  const std::optional<Execute> run = words.takeNamed<Execute>({{"all", runVote<Vote::All>},
                                                               {"any", runVote<Vote::Any>},
                                                               {"uni", runVote<Vote::Uniform>},
                                                               {"ballot", runVote<Vote::Ballot>}});
  if (!run) return decoder.fail("vote wants .all, .any, .uni or .ballot");
  const bool isBallot = *run == runVote<Vote::Ballot>;
  if (!words.take(isBallot ? "b32" : "pred"))
    return decoder.fail(isBallot ? "vote.ballot wants .b32" : "vote wants .pred");
  if (!isSync && decoder.target() >= 70) return decoder.fail("vote without .sync is not for sm_70 and above");
  if (!decoder.operands(in, isSync ? 3 : 2)) return false;
  out.kind = InstClass::Warp;
  out.run = *run;
  return decoder.destination(in.operands[0], isBallot ? ptx::Type::B32 : ptx::Type::Pred, out.d) &&
         decoder.predicate(in.operands[1], out.a) && (!isSync || decoder.source(in.operands[2], ptx::Type::B32, out.c));
}

// ---- match

template <class T> Step runMatchAny(const Inst& in, Warp& warp, LaneMask active) {
  return runTeams(in, warp, active, [&](LaneMask team) {
    const T* a = warp.lanes<T>(in.a);
    std::array<uint32_t, kLanes> equal{};
    for (LaneMask rest = team; rest;) {
      const T value = a[__builtin_ctz(rest)];
      LaneMask same = 0;
      eachLane(rest, [&](int i) { same |= LaneMask(a[i] == value) << i; });
      eachLane(same, [&](int i) { equal[size_t(i)] = same; });
      rest &= ~same;
    }
    perLane(warp.lanes<uint32_t>(in.d), team, [&](int i) { return equal[size_t(i)]; });
  });
}

template <class T> Step runMatchAll(const Inst& in, Warp& warp, LaneMask active) {
  return runTeams(in, warp, active, [&](LaneMask team) {
    const T* a = warp.lanes<T>(in.a);
    const T value = a[__builtin_ctz(team)];
    bool isSame = true;
    eachLane(team, [&](int i) { isSame &= a[i] == value; });
    if (in.d) fill(warp.lanes<uint32_t>(in.d), team, isSame ? team : 0);
    if (in.e) decide(warp.predicate(in.e), team, isSame);
  });
}

bool decodeMatch(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  const std::string_view mode = words.takeOneOf({"any", "all"});
  if (mode.empty()) return decoder.fail("match wants .any or .all");
  if (!words.take("sync")) return decoder.fail("match wants .sync");
  const bool isWide = words.take("b64");
  if (!isWide && !words.take("b32")) return decoder.fail("match wants .b32 or .b64");
  if (!decoder.operands(in, 3)) return false;
  out.kind = InstClass::Warp;
  if (mode == "any") {
    out.run = isWide ? runMatchAny<uint64_t> : runMatchAny<uint32_t>;
    if (!decoder.destination(in.operands[0], ptx::Type::B32, out.d)) return false;
  } else {
    out.run = isWide ? runMatchAll<uint64_t> : runMatchAll<uint32_t>;
    if (!decodeResultPair(decoder, in.operands[0], ptx::Type::B32, out.d, out.e)) return false;
  }
  return decoder.source(in.operands[1], isWide ? ptx::Type::B64 : ptx::Type::B32, out.a) &&
         decoder.source(in.operands[2], ptx::Type::B32, out.c);
}

// ---- redux

template <auto kOp, class T> Step runRedux(const Inst& in, Warp& warp, LaneMask active) {
  return runTeams(in, warp, active, [&](LaneMask team) {
    const T* a = warp.lanes<T>(in.a);
    T result = a[__builtin_ctz(team)];
    eachLane(team & (team - 1), [&](int i) { result = kOp(result, a[i]); });
    fill(warp.lanes<uint32_t>(in.d), team, uint32_t(result));
  });
}

template <auto kOp, bool kAbsolute> Step runReduxFloat(const Inst& in, Warp& warp, LaneMask active) {
  return runTeams(in, warp, active, [&](LaneMask team) {
    const float* a = warp.lanes<float>(in.a);
    const auto value = [&](int i) { return kAbsolute ? single::kAbs(a[i]) : a[i]; };
    float result = value(__builtin_ctz(team));
    eachLane(team & (team - 1), [&](int i) { result = kOp(result, value(i)); });
    fill(warp.lanes<uint32_t>(in.d), team, bitsOf(canonical(result)));
  });
}

bool decodeReduxFloat(Decoder& decoder, const ptx::Instruction& in, Words& words, std::string_view operation,
                      Inst& out) {
  if (decoder.target() < 100) return decoder.refuse("of .f32 needs a target of sm_100a or sm_100f");
  const bool isMaximum = operation == "max";
  if (!isMaximum && operation != "min") return decoder.refuse("of .f32 is .min or .max");
  const bool isAbsolute = words.take("abs"), isNan = words.take("NaN");
  out.run = forFlag(isMaximum, [&](auto maximum) {
    return forFlag(isNan, [&](auto nan) {
      return forFlag(isAbsolute, [](auto absolute) -> Execute {
        return runReduxFloat<single::kExtremum<decltype(maximum)::value, decltype(nan)::value, false>,
                             decltype(absolute)::value>;
      });
    });
  });
  out.kind = InstClass::Warp;
  return decoder.operands(in, 3) && decoder.destination(in.operands[0], ptx::Type::F32, out.d) &&
         decoder.source(in.operands[1], ptx::Type::F32, out.a) && decoder.source(in.operands[2], ptx::Type::B32, out.c);
}

bool decodeRedux(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  if (!words.take("sync")) return decoder.fail("redux wants .sync");
  struct Row {
    Execute s32, u32, b32;
  };
  const std::string_view operation = words.takeOneOf({"add", "min", "max", "and", "or", "xor"});
  const ptx::Type type = words.takeType();
  if (type == ptx::Type::F32) return decodeReduxFloat(decoder, in, words, operation, out);
  constexpr std::pair<std::string_view, Row> rows[] = {
      {"add", {runRedux<kAdd, uint32_t>, runRedux<kAdd, uint32_t>, nullptr}},
      {"min", {runRedux<kMin, int32_t>, runRedux<kMin, uint32_t>, nullptr}},
      {"max", {runRedux<kMax, int32_t>, runRedux<kMax, uint32_t>, nullptr}},
      {"and", {nullptr, nullptr, runRedux<kAnd, uint32_t>}},
      {"or", {nullptr, nullptr, runRedux<kOr, uint32_t>}},
      {"xor", {nullptr, nullptr, runRedux<kXor, uint32_t>}}};
  Row row{};
  for (const auto& [name, runs] : rows)
    if (name == operation) row = runs;
  out.run = type == ptx::Type::S32   ? row.s32
            : type == ptx::Type::U32 ? row.u32
            : type == ptx::Type::B32 ? row.b32
                                     : nullptr;
  if (!out.run)
    return decoder.fail("redux.sync wants .add, .min or .max with .u32 or .s32, or .and, .or or .xor with .b32");
  out.kind = InstClass::Warp;
  return decoder.operands(in, 3) && decoder.destination(in.operands[0], type, out.d) &&
         decoder.source(in.operands[1], type, out.a) && decoder.source(in.operands[2], ptx::Type::B32, out.c);
}

// ---- activemask, elect

Step runActiveMask(const Inst& in, Warp& warp, LaneMask active) {
  fill(warp.lanes<uint32_t>(in.d), active, active);
  return Step::Next;
}

bool decodeActiveMask(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  if (!words.take("b32")) return decoder.fail("activemask wants .b32");
  out.kind = InstClass::Warp;
  out.run = runActiveMask;
  return decoder.operands(in, 1) && decoder.destination(in.operands[0], ptx::Type::B32, out.d);
}

/// The lowest lane of each team leads.
Step runElect(const Inst& in, Warp& warp, LaneMask active) {
  return runTeams(in, warp, active, [&](LaneMask team) {
    if (in.d) fill(warp.lanes<uint32_t>(in.d), team, uint32_t(__builtin_ctz(team)));
    if (in.e) assign(warp.predicate(in.e), team, team & -team);
  });
}

bool decodeElect(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  if (!words.take("sync")) return decoder.fail("elect wants .sync");
  if (!decoder.operands(in, 2)) return false;
  if (in.operands[0].kind != Kind::Pair) return decoder.fail(in.operands[0], "elect.sync wants a pair d|p here");
  out.kind = InstClass::Warp;
  out.run = runElect;
  return decodeResultPair(decoder, in.operands[0], ptx::Type::B32, out.d, out.e) &&
         decoder.source(in.operands[1], ptx::Type::B32, out.c);
}

constexpr OpcodeRow kRows[] = {
    {"activemask", decodeActiveMask}, {"elect", decodeElect},  {"match", decodeMatch},
    {"redux", decodeRedux},           {"shfl", decodeShuffle}, {"vote", decodeVote},
};

} // namespace

constinit OpcodeTable kWarpOpcodes = kRows;

Step gatherMembers(Warp& warp, Slot members, LaneMask& active) {
  const uint32_t* masks = warp.lanes<uint32_t>(members);
  bool allHere = true;
  int stranger = -1;
  eachLane(active, [&](int i) {
    if (!(masks[i] >> i & 1)) stranger = i;
    allHere &= (masks[i] & warp.live & ~active) == 0;
  });
  if (stranger >= 0)
    return warp.trap(TrapKind::InvalidValue, "runs in a lane that its member mask does not name", stranger);
  return allHere ? Step::Next : gather(warp, members, active);
}

bool decodeResultPair(Decoder& decoder, const ptx::Operand& operand, ptx::Type type, Slot& d, Slot& p) {
  if (operand.kind != Kind::Pair) return decoder.destination(operand, type, d);
  return decoder.destination(operand.parts[0], type, d, false, true) &&
         decoder.destination(operand.parts[1], ptx::Type::Pred, p, false, true);
}

} // namespace tiletwin::sim
