// sim/isa/Bulk.cpp -- cp.async.bulk, cp.reduce.async.bulk and cp.async.bulk.prefetch of bytes.
//
// Here:      decoding; one thread's copy goes to a queue for each CTA that it writes to.
// Not here:  tiles of tensors (Tma.cpp), commits and waits (CpAsync.cpp), landing (AsyncQueue.cpp).
// Source:    "PTX ISA", NVIDIA, sections "cp.async.bulk", "cp.reduce.async.bulk", "cp.async.bulk.prefetch".
#include "sim/isa/BulkTargets.h"
#include "sim/isa/CpAsync.h"
#include "sim/isa/Forms.h"
#include "sim/isa/ReduceElements.h"

namespace tiletwin::sim {

namespace {

struct BulkForm {
  AddressOperand to, from;
  Access write, read;
  Slot bytes;
  BulkTargets targets; ///< of copies to shared memory
  ReduceElements reduce = nullptr;
  uint32_t elementBytes = 1;
};

Step runBulk(const Inst& in, Warp& warp, LaneMask active) {
  const BulkForm& form = *static_cast<const BulkForm*>(in.data);
  const uint32_t* sizes = warp.lanes<uint32_t>(form.bytes);
  const LaneAddresses to = form.to.lanes(warp), from = form.from.lanes(warp);
  for (LaneMask rest = active; rest; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    const uint32_t bytes = sizes[lane];
    if (bytes % 16 != 0)
      return warp.trap(TrapKind::InvalidValue, "copies " + std::to_string(bytes) + " bytes, no multiple of 16", lane);
    BulkCopy copy;
    copy.bytes = bytes;
    copy.reduce = form.reduce;
    copy.elementBytes = form.elementBytes;
    copy.from = resolveBlock(form.read, warp, lane, from[size_t(lane)], bytes);
    if (!copy.from) return Step::Trap;
    copy.to = resolveBlock(form.write, warp, lane, to[size_t(lane)], bytes);
    if (!copy.to) return Step::Trap;
    copy.origin = originOf(warp, lane);
    if (form.read.space == Space::Shared) copy.read = ownerOf(*warp.cta->cluster, copy.from);
    if (form.write.space == Space::Shared) {
      if (!form.targets.issue(warp, lane, std::move(copy), bytes)) return Step::Trap;
    } else {
      issueGrouped(warp, std::move(copy));
    }
  }
  return Step::Next;
}

/// Spaces, completion, cache hint and operands: the common part of copies and reductions. On return `words` holds the operation.
bool decodeBulk(Decoder& decoder, const ptx::Instruction& in, Words& words, BulkForm& form, Inst& out) {
  out.data = &form;
  out.run = runBulk;
  const bool toGlobal = !in.modifiers.empty() && isDestinationGlobal(in);
  if (toGlobal) {
    words.take("global");
    if (!words.take("shared::cta")) return decoder.fail("a bulk copy to .global comes from .shared::cta");
    if (!words.take("bulk_group")) return decoder.fail("a bulk copy to .global wants .bulk_group");
  } else {
    const bool toCluster = words.take("shared::cluster");
    if (!words.take("global") && !(toCluster && words.take("shared::cta")))
      return decoder.fail(
          "a bulk copy to shared memory comes from .global, or goes from .shared::cta to .shared::cluster");
    if (!toCluster && !words.take("shared::cta")) return decoder.fail("a bulk copy wants a destination space");
    if (!words.take("mbarrier::complete_tx::bytes"))
      return decoder.fail("a bulk copy to shared memory wants .mbarrier::complete_tx::bytes");
  }
  const bool isFromGlobal = !toGlobal && hasWord(in, "global");
  const bool isMulticast = isFromGlobal && words.take("multicast::cluster");
  bool hasHint = false;
  if (!takeCacheHint(decoder, in, words, hasHint)) return false;
  if (!decoder.operands(in, 3 + size_t(!toGlobal) + isMulticast + hasHint)) return false;

  const Space to = toGlobal ? Space::Global : Space::Shared, from = isFromGlobal ? Space::Global : Space::Shared;
  form.write.kind = form.reduce ? AccessKind::Atomic : AccessKind::Write;
  form.write.space = to;
  form.read.space = from;
  for (Access* access : {&form.write, &form.read}) {
    access->bytes = access->alignment = 16;
    access->proxy = Proxy::Async;
  }
  if (!form.to.decode(decoder, in.operands[0], to) || !form.from.decode(decoder, in.operands[1], from)) return false;
  if (!decoder.source(in.operands[2], ptx::Type::U32, form.bytes)) return false;
  return toGlobal || form.targets.decode(decoder, in.operands[3], isMulticast ? &in.operands[4] : nullptr);
}

} // namespace

bool decodeBulkCopy(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  return decodeBulk(decoder, in, words, *decoder.make<BulkForm>(), out);
}

bool decodeBulkReduce(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  auto* form = decoder.make<BulkForm>();
  const auto op = takeReduceOp(words);
  if (!op)
    return decoder.fail("cp.reduce.async.bulk wants an operation: .add, .min, .max, .inc, .dec, .and, .or or .xor");
  const bool keepsSubnormals = words.take("noftz");
  const ptx::Type type = words.takeType();
  const bool isHalf = type == ptx::Type::F16 || type == ptx::Type::BF16;
  if (keepsSubnormals != (isHalf && *op == ReduceOp::Add))
    return decoder.fail(".noftz belongs to .add.f16 and .add.bf16, which want it");
  form->reduce = reducer(*op, type);
  const bool isFloat = type >= ptx::Type::F16, isWide = ptx::bytesOf(type) == 8;
  const bool toShared = !isDestinationGlobal(in);
  if (!form->reduce || (toShared && (isFloat || (isWide && *op != ReduceOp::Add))))
    return decoder.fail("cp.reduce.async.bulk has no ." + std::string(nameOf(*op)) + " of ." +
                        std::string(ptx::nameOf(type)) + (toShared ? " in shared memory" : ""));
  form->elementBytes = uint32_t(ptx::bytesOf(type));
  return decodeBulk(decoder, in, words, *form, out);
}

bool decodeBulkPrefetch(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  if (!words.take("L2") || !words.take("global")) return decoder.fail("cp.async.bulk.prefetch wants .L2.global");
  bool hasHint = false;
  AddressOperand from;
  Slot bytes;
  out.run = runNothing; // there are no caches to fill
  return takeCacheHint(decoder, in, words, hasHint) && decoder.operands(in, 2 + size_t(hasHint)) &&
         from.decode(decoder, in.operands[0], Space::Global) && decoder.source(in.operands[1], ptx::Type::U32, bytes);
}

} // namespace tiletwin::sim
