// sim/isa/Forms.h -- what many instructions have in common: loops over lanes for an operation, and sets of types.
// Here:      runLanes, runAlike, runPredicates; TypeSet; operations of several families.
// Not here:  operands (Decoder::form), what one family alone computes (Integer.cpp and its neighbours).
// Idea:      an operation is a function of values, handed over as a template argument; the decode function picks the
//            instantiation once.
// Invariant: an operation is total: it also runs on whatever lanes that are not active hold.
#pragma once
#include "sim/isa/Decode.h"
#include "sim/machine/Warp.h"
#include <tuple>
#include <utility>

namespace tiletwin::sim {

// ---- Loops -------------------------------------------------------------------------------------------------------------------

/// d = kOp(a, b, ...), of lanes of these types.
template <auto kOp, class D, class... A> Step runLanes(const Inst& in, Warp& warp, LaneMask active) {
  const Slot slots[] = {in.a, in.b, in.c, in.e};
  size_t next = 0;
  const std::tuple<const A*...> sources{warp.lanes<A>(slots[next++])...};
  std::apply([&](const A*... from) { perLane(warp.lanes<D>(in.d), active, [=](int i) { return D(kOp(from[i]...)); }); },
             sources);
  return Step::Next;
}

/// runLanes for d and `kSources` sources that are all of one type.
template <auto kOp, class T, int kSources>
inline constexpr Execute runAlike = []<size_t... I>(std::index_sequence<I...>) -> Execute {
  return runLanes<kOp, T, std::tuple_element_t<0, std::pair<T, std::integral_constant<size_t, I>>>...>;
}(std::make_index_sequence<kSources>());

/// The same for predicates, a word each: one operation for all lanes.
template <auto kOp, int kSources> Step runPredicates(const Inst& in, Warp& warp, LaneMask active) {
  const LaneMask a = warp.predicate(in.a);
  if constexpr (kSources == 1)
    assign(warp.predicate(in.d), active, kOp(a));
  else
    assign(warp.predicate(in.d), active, kOp(a, warp.predicate(in.b)));
  return Step::Next;
}

/// Of what changes nothing here: hints, caches, time.
inline Step runNothing(const Inst&, Warp&, LaneMask) { return Step::Next; }

// ---- Types -------------------------------------------------------------------------------------------------------------------

/// What a lane of each ptx::Type holds, in their order: integers, and for bits and floats the unsigned integer of their size.
using LaneValues = std::tuple<void, void, uint8_t, uint16_t, uint32_t, uint64_t, unsigned __int128, uint8_t, uint16_t,
                              uint32_t, uint64_t, int8_t, int16_t, int32_t, int64_t, uint16_t, uint32_t, uint16_t,
                              uint32_t, uint32_t, uint64_t, uint64_t>;
template <ptx::Type kType> using LaneValue = std::tuple_element_t<size_t(kType), LaneValues>;
static_assert(std::tuple_size_v<LaneValues> == size_t(ptx::Type::F64) + 1);

/// Types that an instruction may have.
template <ptx::Type... kTypes> struct TypeSet {
  /// pick(T()) for the one that `type` is; null if it is none.
  template <class Pick> static Execute choose(ptx::Type type, Pick&& pick) {
    Execute run = nullptr;
    (void)((type == kTypes && (run = pick(LaneValue<kTypes>()), true)) || ...);
    return run;
  }
  /// The same with unsigned types: for what does not look at the sign.
  template <class Pick> static Execute chooseWidth(ptx::Type type, Pick&& pick) {
    return choose(type, [&]<class T>(T) { return pick(std::make_unsigned_t<T>()); });
  }
  static bool has(ptx::Type type) { return ((type == kTypes) || ...); }
  /// ".u16 .u32": for messages.
  static std::string names() {
    std::string all;
    ((all += (all.empty() ? "." : " .") + std::string(ptx::nameOf(kTypes))), ...);
    return all;
  }
};
using Integers =
    TypeSet<ptx::Type::U16, ptx::Type::U32, ptx::Type::U64, ptx::Type::S16, ptx::Type::S32, ptx::Type::S64>;
using SignedIntegers = TypeSet<ptx::Type::S16, ptx::Type::S32, ptx::Type::S64>;
using IntegerWords = TypeSet<ptx::Type::U32, ptx::Type::U64, ptx::Type::S32, ptx::Type::S64>;
using Words32 = TypeSet<ptx::Type::U32, ptx::Type::S32>;
using BitTypes = TypeSet<ptx::Type::B16, ptx::Type::B32, ptx::Type::B64>;
using BitWords = TypeSet<ptx::Type::B32, ptx::Type::B64>;

/// An instruction whose operands are all of one type of a set: Op lane by lane, with `kSources` sources.
template <class Set, auto kOp, int kSources>
bool decodeAlike(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  const ptx::Type type = words.takeType();
  out.run = Set::choose(type, []<class T>(T) { return runAlike<kOp, T, kSources>; });
  return out.run ? decoder.alike(in, out, type, kSources) : decoder.failType(Set::names());
}

inline bool isSigned(ptx::Type type) { return type >= ptx::Type::S8 && type <= ptx::Type::S64; }
/// Two halves of 32 bits.
inline bool isPacked(ptx::Type type) { return type == ptx::Type::F16x2 || type == ptx::Type::BF16x2; }

/// pick(std::bool_constant) for a flag that is known while decoding.
template <class Pick> Execute forFlag(bool flag, Pick&& pick) {
  return flag ? pick(std::true_type()) : pick(std::false_type());
}

/// An operation whose first arguments are known.
template <auto kOp, auto... kFirst> inline constexpr auto kBound = [](auto... a) { return kOp(kFirst..., a...); };

// ---- Operations --------------------------------------------------------------------------------------------------------------

inline constexpr auto kSame = []<class T>(T a) -> T { return a; };
inline constexpr auto kAdd = []<class T>(T a, T b) -> T { return T(a + b); }; // unsigned
inline constexpr auto kMin = []<class T>(T a, T b) -> T { return a < b ? a : b; };
inline constexpr auto kMax = []<class T>(T a, T b) -> T { return a > b ? a : b; };
inline constexpr auto kAnd = []<class T>(T a, T b) -> T { return T(a & b); };
inline constexpr auto kOr = []<class T>(T a, T b) -> T { return T(a | b); };
inline constexpr auto kXor = []<class T>(T a, T b) -> T { return T(a ^ b); };
inline constexpr auto kNot = []<class T>(T a) -> T { return T(~a); };

} // namespace tiletwin::sim
