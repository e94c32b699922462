// sim/isa/StoreAsync.cpp -- st.async and red.async to .shared::cluster, with an mbarrier that counts their bytes.
//
// Here:      decoding; each lane's store goes to the queue of the CTA that it writes to, with the values it has now.
// Not here:  the queue and landing (AsyncQueue.cpp).
// Source:    "PTX ISA", NVIDIA, sections "st.async", "red.async"; what ptxas 13 takes for sm_90. The forms with .global, .mmio and
//            .release, which have no mbarrier, want sm_100 and are errors.
#include "sim/isa/StoreAsync.h"
#include "sim/isa/BulkTargets.h"
#include "sim/isa/Forms.h"
#include "sim/isa/ReduceElements.h"
#include <array>

namespace tiletwin::sim {

namespace {

using ptx::Operand;
using ptx::Type;

constexpr size_t kMostElements = 4;

struct StoreAsyncForm {
  AddressOperand to;
  Access access;
  std::array<Slot, kMostElements> values;
  uint32_t count = 1, elementBytes = 4;
  BulkTargets targets;
  ReduceElements reduce = nullptr; ///< null: a store
};

Step runStoreAsync(const Inst& in, Warp& warp, LaneMask active) {
  const StoreAsyncForm& form = *static_cast<const StoreAsyncForm*>(in.data);
  const LaneAddresses to = form.to.lanes(warp);
  std::array<std::byte*, kLanes> host;
  if (!resolve(form.access, warp, active, to.data(), host.data())) return Step::Trap;
  for (LaneMask rest = active; rest; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    if (!ownerOf(*warp.cta->cluster, host[size_t(lane)]))
      return warp.trap(TrapKind::InvalidValue, "stores outside of shared memory", lane);
    BulkCopy copy;
    copy.to = host[size_t(lane)];
    copy.bytes = form.access.bytes;
    copy.reduce = form.reduce;
    copy.elementBytes = form.elementBytes;
    copy.staged.resize(copy.bytes);
    for (size_t k = 0; k < form.count; ++k)
      std::memcpy(copy.staged.data() + k * form.elementBytes,
                  warp.lanes<std::byte>(form.values[k]) + size_t(lane) * form.elementBytes, form.elementBytes);
    copy.origin = originOf(warp, lane);
    if (!form.targets.issue(warp, lane, std::move(copy), form.access.bytes)) return Step::Trap;
  }
  return Step::Next;
}

/// .shared::cluster, or none: a generic address. `hasScope`: .cluster was written, which .shared::cta excludes.
bool takePlace(Decoder& decoder, const ptx::Instruction& in, Words& words, bool hasScope, Space& space) {
  if (hasWord(in, "global") || hasWord(in, "mmio") || hasWord(in, "release"))
    return decoder.refuse(".global, .mmio and .release want sm_100, which is not simulated");
  const bool named = words.take("shared::cluster") || (!hasScope && words.take("shared::cta"));
  space = named ? Space::Shared : Space::None;
  if (!words.take("mbarrier::complete_tx::bytes")) return decoder.refuse("wants .mbarrier::complete_tx::bytes");
  if (decoder.target() < 90) return decoder.refuse("wants sm_90 or higher");
  return true;
}

/// [a], b, [mbar]
bool decodeOperands(Decoder& decoder, const ptx::Instruction& in, Space space, Type type, StoreAsyncForm& form,
                    Inst& out) {
  out.data = &form;
  out.run = runStoreAsync;
  out.kind = InstClass::Async;
  form.elementBytes = uint32_t(ptx::bytesOf(type));
  form.access.kind = form.reduce ? AccessKind::Atomic : AccessKind::Write;
  form.access.bytes = form.access.alignment = form.count * form.elementBytes;
  form.access.proxy = Proxy::Async;
  if (!decoder.operands(in, 3) || !form.to.decode(decoder, in.operands[0], space) ||
      !form.targets.decode(decoder, in.operands[2], nullptr, space))
    return false;
  form.access.space = form.to.space;
  const Operand& value = in.operands[1];
  const bool isVector = value.kind == Operand::Kind::Vector;
  if ((isVector ? value.parts.size() : 1) != form.count)
    return decoder.fail(value, std::to_string(form.count) + " elements are wanted here");
  for (size_t k = 0; k < form.count; ++k)
    if (!decoder.source(isVector ? value.parts[k] : value, type, form.values[k])) return false;
  return true;
}

} // namespace

bool decodeStoreAsync(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  auto* form = decoder.make<StoreAsyncForm>();
  const bool hasScope = !words.take("weak") && words.take("cluster");
  Space space = Space::None;
  if (!takePlace(decoder, in, words, hasScope, space)) return false;
  const std::string_view vector = words.takeOneOf({"v2", "v4"});
  form->count = vector.empty() ? 1 : uint32_t(vector[1] - '0');
  const Type type = words.takeType();
  const int bytes = ptx::bytesOf(type);
  if ((bytes != 4 && bytes != 8) || type == Type::F16x2 || type == Type::BF16x2 || type == Type::F32x2)
    return decoder.failType(".b32 .b64 .u32 .u64 .s32 .s64 .f32 .f64");
  if (form->count * uint32_t(bytes) > 16) return decoder.refuse("more than 16 bytes a thread");
  return decodeOperands(decoder, in, space, type, *form, out);
}

bool decodeReduceAsync(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  auto* form = decoder.make<StoreAsyncForm>();
  const bool isRelaxed = words.take("relaxed"), hasScope = words.take("cluster");
  Space space = Space::None;
  if (!takePlace(decoder, in, words, true, space)) return false;
  if (!isRelaxed || !hasScope) return decoder.failMissing(".relaxed.cluster");
  const auto op = takeReduceOp(words);
  if (!op) return decoder.failMissing(".add .min .max .inc .dec .and .or .xor");
  const Type type = words.takeType();
  const bool isWideSum = *op == ReduceOp::Add && (type == Type::U64 || type == Type::S64);
  if (type < Type::F16 && (ptx::bytesOf(type) == 4 || isWideSum))
    form->reduce = reducer(*op, type == Type::S64 ? Type::U64 : type);
  if (!form->reduce)
    return decoder.refuse("no ." + std::string(nameOf(*op)) +
                          (type == Type::None ? " without a type" : " of ." + std::string(ptx::nameOf(type))));
  form->access.semantics = Semantics::Relaxed;
  form->access.scope = Scope::Cluster;
  return decodeOperands(decoder, in, space, type, *form, out);
}

} // namespace tiletwin::sim
