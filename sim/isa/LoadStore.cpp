// sim/isa/LoadStore.cpp -- ld, ldu, st in all spaces; prefetch, discard, applypriority, createpolicy.
// Not here:  st.async (StoreAsync.cpp).
// Source:    PTX ISA, 9.7.9.8 (ld), 9.7.9.9 (ld.global.nc), 9.7.9.11 (st), 9.7.9.15 to 9.7.9.19.
// Idea:      the words that guide caches change no result: they are taken and mean nothing.
#include "sim/isa/Forms.h"
#include "sim/isa/Scope.h"
#include "sim/isa/StoreAsync.h"
#include "sim/machine/Memory.h"
#include <algorithm>
#include <array>

namespace tiletwin::sim {
namespace {

using ptx::Operand;
using ptx::Type;

constexpr size_t kMostElements = 8;

/// Inst::data of a load or a store.
struct Transfer {
  Access access;
  std::array<Slot, kMostElements> elements; ///< registers; none: a sink
  uint32_t count = 1;
  bool isWide = true; ///< the address register
};

// ---- Loads -----------------------------------------------------------------------------------------------------------------------

bool isContiguous(std::byte* const* host, size_t bytes) {
  bool all = true;
  for (int i = 1; i < kLanes; ++i) all &= host[i] == host[0] + size_t(i) * bytes;
  return all;
}

/// host[i] for each active lane, from the address that Inst::a and Inst::immediate give. False: a trap was raised.
bool resolveTransfer(const Inst& in, Warp& warp, LaneMask active, std::byte** host) {
  const auto& transfer = *static_cast<const Transfer*>(in.data);
  alignas(kLaneAlignment) uint64_t addresses[kLanes];
  laneAddresses(warp, in.a, transfer.isWide, in.immediate, addresses);
  return resolve(transfer.access, warp, active, addresses, host);
}

/// True if all 32 lanes move one element, without conversion, side by side in memory: one copy does it.
template <class M, class R> bool isOneCopy(const Transfer& transfer, LaneMask active, std::byte* const* host) {
  return sizeof(M) == sizeof(R) && transfer.count == 1 && active == kAllLanes && isContiguous(host, sizeof(M));
}

/// M: the element in memory, R: the register, as large or larger; both signed if the element is to be sign-extended.
template <class M, class R> Step runLoad(const Inst& in, Warp& warp, LaneMask active) {
  const auto& transfer = *static_cast<const Transfer*>(in.data);
  alignas(kLaneAlignment) std::byte* host[kLanes];
  if (!resolveTransfer(in, warp, active, host)) return Step::Trap;
  if (isOneCopy<M, R>(transfer, active, host)) {
    std::memcpy(warp.lanes<R>(transfer.elements[0]), host[0], sizeof(M) * kLanes);
    return Step::Next;
  }
  for (uint32_t k = 0; k < transfer.count; ++k) {
    if (!transfer.elements[k]) continue;
    R* d = warp.lanes<R>(transfer.elements[k]);
    eachLane(active, [&](int i) {
      M value;
      std::memcpy(&value, host[i] + k * sizeof(M), sizeof(M));
      d[i] = R(value);
    });
  }
  return Step::Next;
}

/// Calls visit(lane) in the order in which an H200's stores of `bytes` a lane reach memory, as far as lanes that write the same place
/// can tell: the lanes that make up 128 bytes after each other, and of those the lowest one last. (Measured: tests/sim/StoreOrderTest.cpp.)
template <class Visit> void eachStoringLane(LaneMask active, uint32_t bytes, Visit&& visit) {
  constexpr uint32_t kBytesAtOnce = 128;
  const uint32_t together = std::min<uint32_t>(kLanes, kBytesAtOnce / bytes);
  for (uint32_t first = 0; first < kLanes; first += together) {
    const LaneMask group = together == kLanes ? kAllLanes : ((LaneMask(1) << together) - 1) << first;
    for (LaneMask left = active & group; left;) {
      const int lane = 31 - __builtin_clz(left);
      visit(lane);
      left &= ~(LaneMask(1) << lane);
    }
  }
}

/// Access::write of a store.
template <class M, class R> void writeLanes(const Inst& in, Warp& warp, LaneMask active, std::byte* const* host) {
  const auto& transfer = *static_cast<const Transfer*>(in.data);
  if (isOneCopy<M, R>(transfer, active, host)) {
    std::memcpy(host[0], warp.lanes<R>(transfer.elements[0]), sizeof(M) * kLanes);
    return;
  }
  std::array<const R*, kMostElements> from;
  for (uint32_t k = 0; k < transfer.count; ++k) from[k] = warp.lanes<R>(transfer.elements[k]);
  eachStoringLane(active, transfer.access.bytes, [&](int i) {
    for (uint32_t k = 0; k < transfer.count; ++k) {
      const M value = M(from[k][i]);
      std::memcpy(host[i] + k * sizeof(M), &value, sizeof(M));
    }
  });
}

template <class M, class R> Step runStore(const Inst& in, Warp& warp, LaneMask active) {
  alignas(kLaneAlignment) std::byte* host[kLanes];
  if (!resolveTransfer(in, warp, active, host)) return Step::Trap;
  writeLanes<M, R>(in, warp, active, host);
  return Step::Next;
}

using Wide = unsigned __int128;

/// How an instruction runs; of stores, how they write, too.
struct Runs {
  Execute run = nullptr;
  decltype(Access::write) write = nullptr;
};

template <class M, class R> struct Load {
  static constexpr Runs runs = {runLoad<M, R>};
};
template <class M, class R> struct Store {
  static constexpr Runs runs = {runStore<M, R>, writeLanes<M, R>};
};

/// For elements of type M in registers that are as large or larger, with M's sign.
template <template <class, class> class Run, class M> Runs forRegister(int registerBytes) {
  Runs found;
  const auto tryIt = [&]<class R>(R) {
    if constexpr (sizeof(M) <= sizeof(R))
      if (registerBytes == sizeof(R)) found = Run<M, R>::runs;
  };
  if constexpr (std::is_signed_v<M>)
    tryIt(int16_t()), tryIt(int32_t()), tryIt(int64_t()), tryIt(__int128());
  else
    tryIt(uint16_t()), tryIt(uint32_t()), tryIt(uint64_t()), tryIt(Wide());
  return found;
}

using Elements =
    TypeSet<Type::B8, Type::B16, Type::B32, Type::B64, Type::B128, Type::U8, Type::U16, Type::U32, Type::U64, Type::S8,
            Type::S16, Type::S32, Type::S64, Type::F16, Type::BF16, Type::F32, Type::F64>;

// ---- Modifiers ---------------------------------------------------------------------------------------------------------------------

/// Takes words of caches: .ca, .L1::evict_last, .L2::128B, ... True if .L2::cache_hint was among them.
bool takeCacheWords(Words& words, bool isLoad) {
  isLoad ? words.takeOneOf({"ca", "cg", "cs", "lu", "cv"}) : words.takeOneOf({"wb", "cg", "cs", "wt"});
  words.takeOneOf({"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last", "L1::no_allocate"});
  words.takeOneOf({"L2::evict_normal", "L2::evict_first", "L2::evict_last"});
  const bool hint = words.take("L2::cache_hint");
  words.takeOneOf({"L2::64B", "L2::128B", "L2::256B"});
  return hint;
}

/// .weak, .volatile, or .relaxed, .acquire, .release and .mmio.relaxed with a scope. False: words that do not go together.
bool takeOrder(Decoder& decoder, const ptx::Instruction& in, Words& words, bool isLoad, Access& access) {
  const bool isMmio = words.take("mmio");
  const std::pair<std::string_view, Semantics> strongest =
      isLoad ? std::pair("acquire", Semantics::Acquire) : std::pair("release", Semantics::Release);
  const Semantics order = words
                              .takeNamed<Semantics>({{"weak", Semantics::Weak},
                                                     {"relaxed", Semantics::Relaxed},
                                                     strongest,
                                                     {"volatile", Semantics::Volatile}})
                              .value_or(Semantics::Weak);
  access.semantics = isMmio ? Semantics::Mmio : order;
  const bool hasScope = takeScope(words, access.scope);
  if (!hasScope) access.scope = Scope::None;
  const bool wantsScope = order != Semantics::Weak && order != Semantics::Volatile;
  if (isMmio && (order != Semantics::Relaxed || access.scope != Scope::Sys))
    return decoder.refuse(".mmio wants .relaxed.sys");
  if (wantsScope && !hasScope) return decoder.failMissing(".cta .cluster .gpu .sys");
  if (hasScope && !wantsScope)
    return decoder.refuse(isLoad ? "a scope belongs to .relaxed and .acquire"
                                 : "a scope belongs to .relaxed and .release");
  return true;
}

/// What is left out where the words name no memory that has it so.
bool checkSpace(Decoder& decoder, const ptx::Instruction& in, bool isLoad, const Transfer& transfer) {
  const Access& access = transfer.access;
  const bool isShared = access.space == ptx::Space::Shared, isGeneric = access.space == ptx::Space::None,
             isGlobal = access.space == ptx::Space::Global;
  if (!isLoad && access.space == ptx::Space::Const) return decoder.refuse(".const is read-only");
  if (in.opcode == "ldu" && !isGlobal && !isGeneric) return decoder.refuse("reads global memory only");
  if (access.nonCoherent && (!isGlobal || access.semantics != Semantics::Weak))
    return decoder.refuse(".nc belongs to weak loads of .global");
  if (access.semantics == Semantics::Mmio && ((!isGlobal && !isGeneric) || transfer.count > 1))
    return decoder.refuse(".mmio belongs to scalars in .global");
  if (access.scope != Scope::None && !isShared && !isGlobal && !isGeneric)
    return decoder.refuse("only global and shared memory have an order between threads");
  return true;
}

ptx::Space takeSpace(Words& words) {
  using ptx::Space;
  const auto space = words.takeNamed<Space>({{"global", Space::Global},
                                             {"shared", Space::Shared},
                                             {"shared::cta", Space::Shared},
                                             {"shared::cluster", Space::Shared},
                                             {"local", Space::Local},
                                             {"const", Space::Const},
                                             {"param", Space::Param},
                                             {"param::entry", Space::Param},
                                             {"param::func", Space::Param}});
  return space.value_or(Space::None);
}

uint32_t takeVector(Words& words) {
  const std::string_view word = words.takeOneOf({"v2", "v4", "v8"});
  return word.empty() ? 1 : uint32_t(word[1] - '0');
}

/// Where the address lies, and in which space: the one that is named, or the variable's own.
bool decodePlace(Decoder& decoder, const Operand& operand, Transfer& transfer, Inst& out) {
  Decoder::Address address;
  if (!decoder.address(operand, address)) return false;
  ptx::Space& space = transfer.access.space;
  if (address.space == ptx::Space::None) {
    if (space == ptx::Space::Param && !decoder.function().isEntry) space = ptx::Space::Local;
  } else {
    const bool isParameter = space == ptx::Space::Param && address.space == ptx::Space::Local;
    if (space != ptx::Space::None && space != address.space && !isParameter)
      return decoder.fail(operand, "the variable lies in another state space than the instruction says");
    space = address.space;
  }
  out.a = address.base;
  out.immediate = address.offset;
  transfer.isWide = address.bytes == 8;
  return true;
}

/// The registers of a load or store; `bytes` is what a lane of each of them takes.
bool decodeElements(Decoder& decoder, const Operand& operand, Type type, bool isLoad, Transfer& transfer, int& bytes) {
  const bool isVector = operand.kind == Operand::Kind::Vector;
  const size_t count = isVector ? operand.parts.size() : 1;
  if (count != transfer.count)
    return decoder.fail(operand,
                        std::to_string(transfer.count) + " elements are wanted here, got " + std::to_string(count));
  bytes = 0;
  for (size_t k = 0; k < count; ++k) // constants become as wide as the registers beside them
    bytes = std::max(bytes, decoder.registerBytes(isVector ? operand.parts[k] : operand));
  const int least = std::max(ptx::bytesOf(type), 2);
  bytes = std::max(bytes, least);
  for (size_t k = 0; k < count; ++k) {
    const Operand& element = isVector ? operand.parts[k] : operand;
    const int own = decoder.registerBytes(element);
    if (own && own != bytes) return decoder.fail(element, "the registers of a vector are of one size");
    Type slotType = type;
    if (!own && bytes != least) slotType = bytes == 4 ? Type::B32 : bytes == 8 ? Type::B64 : Type::B128;
    if (isLoad ? !decoder.destination(element, slotType, transfer.elements[k], true, isVector)
               : !decoder.source(element, slotType, transfer.elements[k], true))
      return false;
  }
  return true;
}

template <bool isLoad> bool decodeTransfer(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  out.kind = InstClass::Memory;
  Transfer transfer;
  Access& access = transfer.access;
  access.kind = isLoad ? AccessKind::Read : AccessKind::Write;
  if (!takeOrder(decoder, in, words, isLoad, access)) return false;
  access.space = takeSpace(words);
  access.nonCoherent = isLoad && words.take("nc");
  const bool hint = takeCacheWords(words, isLoad);
  transfer.count = takeVector(words);
  const Type type = words.takeType();
  words.take("unified");
  if (!decoder.operands(in, hint ? 3 : 2)) return false;
  const Operand &value = in.operands[isLoad ? 0 : 1], &place = in.operands[isLoad ? 1 : 0];
  if (hint) {
    Slot policy; // read, and nothing else
    if (!decoder.source(in.operands[2], Type::B64, policy)) return false;
  }
  if (!decodePlace(decoder, place, transfer, out)) return false;
  access.bytes = uint32_t(ptx::bytesOf(type)) * transfer.count;
  access.alignment = access.bytes;
  int registerBytes = 0;
  if (!access.bytes) return decoder.refuse("wants a type of 8 to 128 bits");
  const bool isWide = decoder.target() >= 100;
  if (access.bytes > (isWide ? 32 : 16))
    return decoder.fail(std::string(in.text) + (isWide ? ": more than 32 bytes a thread"
                                                       : ": more than 16 bytes a thread, which want sm_100"));
  if (!checkSpace(decoder, in, isLoad, transfer)) return false;
  if (!decodeElements(decoder, value, type, isLoad, transfer, registerBytes)) return false;
  out.run = Elements::choose(type, [&]<class M>(M) {
    const Runs runs = isLoad ? forRegister<Load, M>(registerBytes) : forRegister<Store, M>(registerBytes);
    access.write = runs.write;
    return runs.run;
  });
  if (!out.run) return decoder.refuse("is not implemented for this type");
  out.data = decoder.make<Transfer>(transfer);
  return true;
}

bool decodeStore(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  if (words.take("async")) return decodeStoreAsync(decoder, in, words, out);
  if (words.take("bulk")) return decoder.refuse("wants sm_100, which is not simulated");
  return decodeTransfer<false>(decoder, in, words, out);
}

// ---- Caches ------------------------------------------------------------------------------------------------------------------------

/// discard: what the 128 bytes hold is lost; they keep it here. The address must be one that may be written.
Step runDiscard(const Inst& in, Warp& warp, LaneMask active) {
  alignas(kLaneAlignment) std::byte* host[kLanes];
  return resolveTransfer(in, warp, active, host) ? Step::Next : Step::Trap;
}

bool decodePrefetch(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  out.kind = InstClass::Memory;
  out.run = runNothing;
  Transfer transfer;
  transfer.access.space = takeSpace(words);
  if (words.takeOneOf({"L1", "L2", "L2::evict_last", "L2::evict_normal", "tensormap"}).empty())
    return decoder.refuse("wants a level: .L1 .L2");
  return decoder.operands(in, 1) && decodePlace(decoder, in.operands[0], transfer, out);
}

/// applypriority, discard: [address], 128
bool decodeLine(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  constexpr uint32_t kLine = 128;
  out.kind = InstClass::Memory;
  const bool discards = in.opcode == "discard";
  out.run = discards ? runDiscard : runNothing;
  Transfer transfer;
  transfer.access.space = takeSpace(words);
  transfer.access.kind = AccessKind::Write;
  transfer.access.bytes = transfer.access.alignment = kLine;
  int64_t bytes = 0;
  if (words.takeOneOf({"L2", "L2::evict_normal"}).empty()) return decoder.refuse("wants .L2");
  if (!decoder.operands(in, 2) || !decodePlace(decoder, in.operands[0], transfer, out) ||
      !decoder.constant(in.operands[1], bytes))
    return false;
  if (bytes != kLine) return decoder.fail(in.operands[1], "the size is 128");
  out.data = decoder.make<Transfer>(transfer);
  return true;
}

/// A policy is opaque: any value will do.
Step runCreatePolicy(const Inst& in, Warp& warp, LaneMask active) {
  perLane(warp.lanes<uint64_t>(in.d), active, [](int) { return uint64_t(0); });
  return Step::Next;
}

bool decodeCreatePolicy(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  out.run = runCreatePolicy;
  const std::string_view form = words.takeOneOf({"fractional", "range", "cvt"});
  if (form.empty()) return decoder.fail("createpolicy wants .fractional, .range or .cvt");
  words.take("global");
  words.take("L2");
  for (int i = 0; i < 2; ++i) // the primary priority and the secondary one
    words.takeOneOf({"L2::evict_last", "L2::evict_normal", "L2::evict_first", "L2::evict_unchanged"});
  if (words.takeType() != Type::B64) return decoder.fail("createpolicy wants .b64");
  if (!decoder.operands(in, 1, 4) || !decoder.destination(in.operands[0], Type::B64, out.d)) return false;
  for (size_t i = 1; i < in.operands.size(); ++i) {
    const Operand& operand = in.operands[i];
    Slot unused;
    Decoder::Address address;
    if (operand.kind == Operand::Kind::Address ? !decoder.address(operand, address)
                                               : !decoder.source(operand,
                                                                 form == "cvt"          ? Type::B64
                                                                 : form == "fractional" ? Type::F32
                                                                                        : Type::B32,
                                                                 unused))
      return false;
  }
  return true;
}

constexpr OpcodeRow kRows[] = {
    {"applypriority", decodeLine}, {"createpolicy", decodeCreatePolicy},
    {"discard", decodeLine},       {"ld", decodeTransfer<true>},
    {"ldu", decodeTransfer<true>}, {"prefetch", decodePrefetch},
    {"prefetchu", decodePrefetch}, {"st", decodeStore},
};

} // namespace

constinit OpcodeTable kMemoryOpcodes = kRows;

} // namespace tiletwin::sim
