// sim/isa/Move.cpp -- mov (with packing and unpacking), cvta, isspacep; trap and brkpt; alloca, stacksave, stackrestore.
// Source:    PTX ISA, 9.7.9 (data movement), 9.7.19 (miscellaneous), 9.7.17 (stack manipulation).
#include "sim/isa/Forms.h"
#include "sim/machine/LocalMemory.h"
#include "sim/machine/Memory.h"
#include "sim/machine/Program.h"
#include <algorithm>

namespace tiletwin::sim {
namespace {

using ptx::Operand;
using ptx::Type;

// ---- mov -----------------------------------------------------------------------------------------------------------------------

/// The parts of a packed value: where each lies, how many bytes of it count, and how many a lane of it takes.
struct Parts {
  std::vector<Slot> slots;
  uint32_t bytes = 0, stride = 0;
  uint32_t whole = 0; ///< bytes of the packed value
};

Step runPack(const Inst& in, Warp& warp, LaneMask active) {
  const auto& parts = *static_cast<const Parts*>(in.data);
  std::byte* d = warp.lanes<std::byte>(in.d);
  for (size_t k = 0; k < parts.slots.size(); ++k) {
    const std::byte* from = warp.lanes<std::byte>(parts.slots[k]);
    std::byte* to = d + k * parts.bytes;
    eachLane(active,
             [&](int i) { std::memcpy(to + size_t(i) * parts.whole, from + size_t(i) * parts.stride, parts.bytes); });
  }
  return Step::Next;
}

Step runUnpack(const Inst& in, Warp& warp, LaneMask active) {
  const auto& parts = *static_cast<const Parts*>(in.data);
  const std::byte* a = warp.lanes<std::byte>(in.a);
  for (size_t k = 0; k < parts.slots.size(); ++k) {
    if (!parts.slots[k]) continue;
    const std::byte* from = a + k * parts.bytes;
    std::byte* to = warp.lanes<std::byte>(parts.slots[k]);
    eachLane(active, [&](int i) {
      std::memset(to + size_t(i) * parts.stride, 0, parts.stride);
      std::memcpy(to + size_t(i) * parts.stride, from + size_t(i) * parts.whole, parts.bytes);
    });
  }
  return Step::Next;
}

/// Two halves of 64 bits: what 64-bit addresses and packed pairs are made of all the time.
constexpr auto kPackWords = [](uint32_t low, uint32_t high) -> uint64_t { return low | uint64_t(high) << 32; };

Type bitsOf(uint32_t bytes) {
  switch (bytes) {
  case 1: return Type::B8;
  case 2: return Type::B16;
  case 4: return Type::B32;
  case 8: return Type::B64;
  case 16: return Type::B128;
  default: return Type::None;
  }
}

bool decodePacked(Decoder& decoder, const ptx::Instruction& in, Type type, Inst& out) {
  const bool packs = in.operands[1].kind == Operand::Kind::Vector;
  const Operand &vector = in.operands[packs ? 1 : 0], &whole = in.operands[packs ? 0 : 1];
  const size_t count = vector.parts.size();
  const uint32_t bytes = uint32_t(ptx::bytesOf(type));
  if ((count != 2 && count != 4) || bytes % count || (bytes == 2 && count == 4))
    return decoder.fail(vector, "a vector of " + std::to_string(count) + " elements does not make ." +
                                    std::string(ptx::nameOf(type)));
  Parts parts;
  parts.whole = bytes;
  parts.bytes = bytes / uint32_t(count);
  parts.stride = std::max<uint32_t>(parts.bytes, 2);
  const Type element = bitsOf(parts.bytes);
  for (const Operand& part : vector.parts) {
    Slot& slot = parts.slots.emplace_back();
    if (packs ? !decoder.source(part, element, slot) : !decoder.destination(part, element, slot, false, true))
      return false;
  }
  if (packs ? !decoder.destination(whole, type, out.d) : !decoder.source(whole, type, out.a)) return false;
  if (packs && bytes == 8 && count == 2) {
    out.run = runLanes<kPackWords, uint64_t, uint32_t, uint32_t>;
    out.a = parts.slots[0];
    out.b = parts.slots[1];
    return true;
  }
  out.run = packs ? runPack : runUnpack;
  out.data = decoder.make<Parts>(std::move(parts));
  return true;
}

bool decodeMov(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  out.kind = InstClass::Move;
  if (!decoder.operands(in, 2)) return false;
  const Type type = words.takeType();
  if (in.operands[0].kind == Operand::Kind::Vector || in.operands[1].kind == Operand::Kind::Vector) {
    const bool isBits = type == Type::B16 || type == Type::B32 || type == Type::B64 || type == Type::B128;
    return isBits ? decodePacked(decoder, in, type, out)
                  : decoder.fail("mov of a vector wants .b16, .b32, .b64 or .b128");
  }
  using Movable =
      TypeSet<Type::B16, Type::B32, Type::B64, Type::B128, Type::U16, Type::U32, Type::U64, Type::S16, Type::S32,
              Type::S64, Type::F16, Type::F16x2, Type::BF16, Type::BF16x2, Type::F32, Type::F32x2, Type::F64>;
  out.run = type == Type::Pred ? runPredicates<kSame, 1>
                               : Movable::choose(type, []<class T>(T) { return runAlike<kSame, T, 1>; });
  return out.run ? decoder.alike(in, out, type, 1) : decoder.fail("mov wants .pred or a type of 16 to 128 bits");
}

// ---- Addresses -----------------------------------------------------------------------------------------------------------------

Step runToGeneric(const Inst& in, Warp& warp, LaneMask active) {
  const uint64_t* a = warp.lanes<uint64_t>(in.a);
  const uint64_t window = uint64_t(in.immediate);
  perLane(warp.lanes<uint64_t>(in.d), active, [=](int i) { return a[i] | window; });
  return Step::Next;
}

constexpr auto kWithoutWindow = [](uint64_t a) -> uint64_t { return a & ~kWindowMask; };

/// The window of a state space's word, or nothing if it names none.
std::optional<uint64_t> windowNamed(Decoder& decoder, std::string_view space) {
  if (space == "global" || space == "const") return 0;
  if (space.starts_with("shared")) return kSharedWindow;
  if (space == "local") return kLocalWindow;
  if (space.starts_with("param")) return decoder.function().isEntry ? kParameterWindow : kLocalWindow;
  return std::nullopt;
}

constexpr std::initializer_list<std::string_view> kSpaces = {"global", "shared", "shared::cta", "shared::cluster",
                                                             "local",  "const",  "param",       "param::entry"};

bool decodeCvta(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  out.kind = InstClass::Move;
  const bool fromGeneric = words.take("to");
  const std::optional<uint64_t> window = windowNamed(decoder, words.takeOneOf(kSpaces));
  if (!window) return decoder.fail("cvta wants a state space: .global .shared .local .const .param");
  if (words.takeType() != Type::U64) return decoder.fail("cvta wants .u64: addresses have 64 bits");
  out.immediate = int64_t(*window);
  out.run = !*window      ? runAlike<kSame, uint64_t, 1>
            : fromGeneric ? runAlike<kWithoutWindow, uint64_t, 1>
                          : runToGeneric;
  return decoder.alike(in, out, Type::U64, 1);
}

enum class WindowTest : uint8_t { Global, Const, Shared, SharedCta, Local, Param };

bool isConstVariable(const Program& program, uint64_t address) {
  for (size_t i = 0; i < program.module->variables.size(); ++i) {
    const ptx::Variable& variable = program.module->variables[i];
    const uint64_t begin = program.memory->address(i);
    if (variable.space == ptx::Space::Const && address >= begin && address < begin + variable.bytes) return true;
  }
  return false;
}

Step runIsSpace(const Inst& in, Warp& warp, LaneMask active) {
  const uint64_t* a = warp.lanes<uint64_t>(in.a);
  const Program& program = *warp.cta->cluster->grid->program;
  perLanePredicate(warp.predicate(in.d), active, [&](int i) {
    const uint64_t window = a[i] & kWindowMask;
    switch (WindowTest(in.immediate)) {
    case WindowTest::Global: return !window && !isConstVariable(program, a[i]);
    case WindowTest::Const: return !window && isConstVariable(program, a[i]);
    case WindowTest::Shared: return window == kSharedWindow;
    case WindowTest::SharedCta:
      return window == kSharedWindow && (a[i] & ~kWindowMask) >> kSharedRankShift == warp.cta->rank;
    case WindowTest::Local: return window == kLocalWindow;
    case WindowTest::Param: return window == kParameterWindow;
    }
    return false;
  });
  return Step::Next;
}

bool decodeIsspacep(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  const std::string_view space = words.takeOneOf(kSpaces);
  const WindowTest test = space == "global"                             ? WindowTest::Global
                          : space == "const"                            ? WindowTest::Const
                          : space == "local"                            ? WindowTest::Local
                          : space == "shared::cluster"                  ? WindowTest::Shared
                          : space == "shared" || space == "shared::cta" ? WindowTest::SharedCta
                                                                        : WindowTest::Param;
  if (space.empty()) return decoder.fail("isspacep wants a state space: .global .shared .local .const .param");
  out.run = runIsSpace;
  out.immediate = int64_t(test);
  return decoder.form(in, out, Type::Pred, {Type::U64});
}

// ---- The stack -----------------------------------------------------------------------------------------------------------------

/// Room for the largest size that a lane asks for: lanes of a call share one stack pointer.
Step runAlloca(const Inst& in, Warp& warp, LaneMask active) {
  const uint64_t* sizes = warp.lanes<uint64_t>(in.a);
  Frame& frame = *warp.running->frame;
  const uint64_t alignment = uint64_t(in.immediate);
  const uint64_t begin = (frame.localEnd + alignment - 1) & ~(alignment - 1);
  uint64_t largest = 0;
  eachLane(active, [&](int lane) { largest = std::max(largest, sizes[lane]); });
  const uint64_t end = begin + ((largest + 15) & ~uint64_t(15));
  if (largest > kLocalLimit || !growLocalMemory(*warp.cta, end))
    return warp.trap(TrapKind::OutOfMemory, "alloca of " + std::to_string(largest) + " bytes: a thread has " +
                                                std::to_string(kLocalLimit) + " bytes of local memory");
  frame.localEnd = uint32_t(end);
  perLane(warp.lanes<uint64_t>(in.d), active, [=](int) { return begin; });
  return Step::Next;
}

Step runStackSave(const Inst& in, Warp& warp, LaneMask active) {
  const uint64_t end = warp.running->frame->localEnd;
  perLane(warp.lanes<uint64_t>(in.d), active, [=](int) { return end; });
  return Step::Next;
}

/// While lanes of the call are elsewhere, the stack stays as large as they may need it.
Step runStackRestore(const Inst& in, Warp& warp, LaneMask active) {
  Frame& frame = *warp.running->frame;
  const uint64_t end = warp.lanes<uint64_t>(in.a)[__builtin_ctz(active)];
  if (end > frame.localEnd || end < frame.localBase + frame.code->localBytes)
    return warp.trap(TrapKind::InvalidValue, "stackrestore to " + std::to_string(end) + ", which no stacksave gave",
                     __builtin_ctz(active));
  if (active == frame.lanes) frame.localEnd = uint32_t(end);
  return Step::Next;
}

bool decodeAlloca(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  if (words.takeType() != Type::U64) return decoder.fail("alloca wants .u64: addresses have 64 bits");
  if (!decoder.operands(in, 2, 3)) return false;
  out.run = runAlloca;
  out.kind = InstClass::Memory;
  out.immediate = 8;
  if (in.operands.size() == 3 && !decoder.constant(in.operands[2], out.immediate)) return false;
  if (out.immediate < 1 || out.immediate > 1 << 20 || (out.immediate & (out.immediate - 1)))
    return decoder.fail(in.operands[2], "an alignment is a power of two");
  return decoder.destination(in.operands[0], Type::U64, out.d) && decoder.source(in.operands[1], Type::U64, out.a);
}

bool decodeStackSave(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  if (words.takeType() != Type::U64) return decoder.fail("stacksave wants .u64: addresses have 64 bits");
  out.run = runStackSave;
  return decoder.form(in, out, Type::U64, {});
}
bool decodeStackRestore(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  if (words.takeType() != Type::U64) return decoder.fail("stackrestore wants .u64: addresses have 64 bits");
  out.run = runStackRestore;
  return decoder.operands(in, 1) && decoder.source(in.operands[0], Type::U64, out.a);
}

// ---- trap, brkpt -----------------------------------------------------------------------------------------------------------------

Step runTrap(const Inst&, Warp& warp, LaneMask active) {
  return warp.trap(TrapKind::Assert, "the kernel ended itself with trap", __builtin_ctz(active));
}
bool decodeTrap(Decoder& decoder, const ptx::Instruction& in, Words&, Inst& out) {
  out.run = runTrap;
  out.kind = InstClass::Control;
  return decoder.operands(in, 0);
}

/// There is no debugger to stop in: execution goes on, as on a GPU without one.
bool decodeBrkpt(Decoder& decoder, const ptx::Instruction& in, Words&, Inst& out) {
  out.run = runNothing;
  out.kind = InstClass::Control;
  return decoder.operands(in, 0);
}

constexpr OpcodeRow kRows[] = {
    {"alloca", decodeAlloca},       {"brkpt", decodeBrkpt}, {"cvta", decodeCvta},
    {"isspacep", decodeIsspacep},   {"mov", decodeMov},     {"stackrestore", decodeStackRestore},
    {"stacksave", decodeStackSave}, {"trap", decodeTrap},
};

} // namespace

constinit OpcodeTable kMoveOpcodes = kRows;

} // namespace tiletwin::sim
