// sim/isa/Tcgen05Decode.cpp -- tcgen05: words and operands.
// Not here:  what the instructions do (TensorMemory.cpp, TensorTransfer.cpp, TensorWork.cpp).
// Source:    PTX ISA, "TensorCore 5th generation instructions". Sparse (.sp) and weight-stationary (.ws) products, block scales
//            but those of .kind::mxf8f6f4, tcgen05.shift, decompressing copies and loads that reduce (.red) are errors when the module is loaded.
#include "sim/isa/Decode.h"
#include "sim/isa/Forms.h"
#include "sim/isa/TensorMemory.h"
#include <algorithm>
#include <charconv>

namespace tiletwin::sim {
namespace {

using Kind = ptx::Operand::Kind;

bool takeGroup(Decoder& decoder, Words& words, int& ctas) {
  const auto group = words.takeNamed<int>({{"cta_group::1", 1}, {"cta_group::2", 2}});
  if (!group) return decoder.failMissing(".cta_group::1 and .cta_group::2");
  ctas = *group;
  if (!decoder.tensorGroup) decoder.tensorGroup = ctas;
  return decoder.tensorGroup == ctas ||
         decoder.refuse("a function's tcgen05 are all of .cta_group::1 or all of .cta_group::2");
}

bool takeAligned(Decoder& decoder, Words& words) {
  return (words.take("sync") && words.take("aligned")) || decoder.refuse("wants .sync.aligned");
}

bool decodeAlloc(Decoder& decoder, const ptx::Instruction& in, Words& words, bool frees, Inst& out) {
  auto* form = decoder.make<TensorAllocationForm>();
  out.data = form;
  out.run = frees ? runTensorDealloc : runTensorAlloc;
  int ctas = 1;
  if (!takeGroup(decoder, words, ctas) || !takeAligned(decoder, words)) return false;
  const bool isShared = !frees && !words.takeOneOf({"shared::cta", "shared"}).empty();
  if (!words.take("b32")) return decoder.refuse("wants .b32");
  if (!decoder.operands(in, 2) || !decoder.source(in.operands[1], ptx::Type::U32, form->columns)) return false;
  return frees ? decoder.source(in.operands[0], ptx::Type::U32, form->address)
               : form->to.decode(decoder, in.operands[0], isShared ? Space::Shared : Space::None);
}

bool decodeRelinquish(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  int ctas = 1;
  out.run = runTensorRelinquish;
  return takeGroup(decoder, words, ctas) && takeAligned(decoder, words) && decoder.operands(in, 0);
}

/// N of ".xN": a power of two up to 128; 0: the word is none.
int readCount(std::string_view word) {
  int count = 0;
  if (!word.starts_with('x')) return 0;
  const auto end = word.data() + word.size();
  const auto read = std::from_chars(word.data() + 1, end, count);
  return read.ec == std::errc() && read.ptr == end && count >= 1 && count <= 128 && (count & (count - 1)) == 0 ? count
                                                                                                               : 0;
}

bool decodeRegisters(Decoder& decoder, const ptx::Operand& operand, bool loads, TensorTransfer& form) {
  using Shape = TensorTransfer::Shape;
  const int each = form.shape == Shape::Lanes16x128 ? 2 : form.shape == Shape::Lanes16x256 ? 4 : 1;
  const size_t count = size_t(each) * size_t(form.count);
  const std::vector<ptx::Operand> one{operand};
  const std::vector<ptx::Operand>& parts = operand.kind == Kind::Vector ? operand.parts : one;
  if (count > 128) return decoder.refuse("has no shape of more than 128 registers");
  if (parts.size() != count)
    return decoder.fail(operand,
                        "this shape has " + std::to_string(count) + " registers, got " + std::to_string(parts.size()));
  for (const ptx::Operand& part : parts) {
    Slot slot;
    if (!(loads ? decoder.destination(part, ptx::Type::B32, slot) : decoder.source(part, ptx::Type::B32, slot)))
      return false;
    form.registers.push_back(slot);
  }
  return true;
}

bool decodeTransfer(Decoder& decoder, const ptx::Instruction& in, Words& words, bool loads, Inst& out) {
  using Shape = TensorTransfer::Shape;
  auto* form = decoder.make<TensorTransfer>();
  out.data = form;
  out.run = loads ? runTensorLoad : runTensorStore;
  if (words.take("red")) return decoder.refuse("that reduces is not implemented");
  if (!takeAligned(decoder, words)) return false;
  const auto shape = words.takeNamed<Shape>({{"32x32b", Shape::Lanes32},
                                             {"16x64b", Shape::Lanes16x64},
                                             {"16x128b", Shape::Lanes16x128},
                                             {"16x256b", Shape::Lanes16x256},
                                             {"16x32bx2", Shape::Halves16x32}});
  if (!shape) return decoder.failMissing(".32x32b, .16x64b, .16x128b, .16x256b and .16x32bx2");
  form->shape = *shape;
  form->count = readCount(words.takeNext());
  if (!form->count) return decoder.failMissing(".x1, .x2, .x4, ... .x128");
  form->packs = words.take(loads ? "pack::16b" : "unpack::16b");
  if (!words.take("b32")) return decoder.refuse("wants .b32");
  const size_t halves = form->shape == Shape::Halves16x32;
  const size_t address = loads ? 1 : 0, offset = address + 1;
  if (!decoder.operands(in, 2 + halves)) return false;
  if (halves && !decoder.constant(in.operands[offset], form->secondHalf)) return false;
  return form->address.decode(decoder, in.operands[address], Space::None) &&
         decodeRegisters(decoder, in.operands[loads ? 0 : 1 + halves], loads, *form);
}

bool decodeWait(Decoder& decoder, const ptx::Instruction& in, Words& words, bool loads, Inst& out) {
  out.run = loads ? runTensorWaitLoad : runTensorWaitStore;
  return takeAligned(decoder, words) && decoder.operands(in, 0);
}

bool decodeCommit(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  auto* form = decoder.make<TensorCommitForm>();
  out.data = form;
  out.run = runTensorCommit;
  int ctas = 1;
  if (!takeGroup(decoder, words, ctas)) return false;
  if (!words.take("mbarrier::arrive::one")) return decoder.refuse("wants .mbarrier::arrive::one");
  const bool isShared = words.take("shared::cluster");
  const bool isMulticast = words.take("multicast::cluster");
  if (!words.take("b64")) return decoder.refuse("wants .b64");
  return decoder.operands(in, isMulticast ? 2 : 1) &&
         form->barrier.decode(decoder, in.operands[0], isShared ? Space::Shared : Space::None) &&
         (!isMulticast || decoder.source(in.operands[1], ptx::Type::U16, form->ctaMask));
}

bool decodeCopy(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  auto* plan = decoder.make<TensorCopyPlan>();
  out.data = plan;
  out.run = runTensorCopy;
  int ctas = 1;
  if (!takeGroup(decoder, words, ctas)) return false;
  struct Row {
    std::string_view shape, multicast;
    int rows, units, group, pitch, repeat, copies;
  };
  constexpr Row kRows[] = {
      {"128x256b", "", 128, 2, 128, 128, 0, 1},           {"4x256b", "", 4, 2, 1, 32, 0, 1},
      {"128x128b", "", 128, 1, 128, 128, 0, 1},           {"64x128b", "warpx2::02_13", 64, 1, 64, 64, 64, 2},
      {"64x128b", "warpx2::01_23", 64, 1, 32, 64, 32, 2}, {"32x128b", "warpx4", 32, 1, 32, 32, 32, 4}};
  const std::string_view shape = words.takeNext();
  for (const Row& row : kRows) {
    if (row.shape != shape || (!row.multicast.empty() && !words.take(row.multicast))) continue;
    *plan = {ctas, row.rows, row.units, row.group, row.pitch, row.repeat, row.copies, {}, {}};
    if (!words.rest().empty()) return decoder.refuse("that decompresses is not implemented");
    return decoder.operands(in, 2) && plan->to.decode(decoder, in.operands[0], Space::None) &&
           decoder.source(in.operands[1], ptx::Type::B64, plan->from);
  }
  return decoder.failMissing(".128x256b, .4x256b, .128x128b, .64x128b.warpx2::02_13, .64x128b.warpx2::01_23 and "
                             ".32x128b.warpx4");
}

/// {disable-output-lane}, enable-input-d, scale-input-d, from operand 4 on.
bool decodeRest(Decoder& decoder, const ptx::Instruction& in, TensorProductPlan& plan) {
  size_t next = 4;
  if (next < in.operands.size() && in.operands[next].kind == Kind::Vector) {
    const ptx::Operand& masks = in.operands[next++];
    if (masks.parts.size() != 4 * size_t(plan.ctas))
      return decoder.fail(masks, "the mask of lanes has " + std::to_string(4 * plan.ctas) + " registers");
    for (const ptx::Operand& part : masks.parts)
      if (!decoder.source(part, ptx::Type::B32, plan.disabled.emplace_back())) return false;
  }
  if (next >= in.operands.size()) return decoder.refuse("wants enable-input-d, a predicate");
  if (!decoder.predicate(in.operands[next++], plan.addsToD)) return false;
  if (next == in.operands.size()) return true;
  if (plan.kind != TensorKind::F16 && plan.kind != TensorKind::TF32)
    return decoder.fail(in.operands[next], "scale-input-d is for .kind::f16 and .kind::tf32");
  if (!decoder.constant(in.operands[next], plan.scale)) return false;
  return (plan.scale >= 0 && plan.scale <= 15) || decoder.fail(in.operands[next], "scale-input-d is 0 to 15");
}

bool decodeProduct(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  auto* plan = decoder.make<TensorProductPlan>();
  out.data = plan;
  out.run = runTensorProduct;
  out.kind = InstClass::Tensor;
  if (const auto other = words.takeOneOf({"sp", "ws"}); !other.empty())
    return decoder.refuse("with ." + std::string(other) + " is not implemented");
  if (!takeGroup(decoder, words, plan->ctas)) return false;
  const bool isMx = std::ranges::find(in.modifiers, "kind::mxf8f6f4") != in.modifiers.end();
  const auto kind = words.takeNamed<TensorKind>({{"kind::f16", TensorKind::F16},
                                                 {"kind::tf32", TensorKind::TF32},
                                                 {"kind::f8f6f4", TensorKind::F8F6F4},
                                                 {"kind::i8", TensorKind::I8},
                                                 {"kind::mxf8f6f4", TensorKind::F8F6F4}});
  if (!kind) return decoder.failMissing(".kind::f16, .kind::tf32, .kind::f8f6f4, .kind::i8 and .kind::mxf8f6f4");
  plan->isBlockScaled = words.take("block_scale");
  if (plan->isBlockScaled != isMx) return decoder.refuse(".block_scale and .kind::mxf8f6f4 go together");
  if (isMx) words.takeOneOf({"block32", "scale_vec::1X"});
  plan->kind = *kind;
  // Which operands a GPU keeps for the next product changes no result.
  words.takeOneOf({"collector::a::fill", "collector::a::use", "collector::a::lastuse", "collector::a::discard"});
  if (isMx ? !decoder.operands(in, 7) : !decoder.operands(in, 5, 7)) return false;
  plan->aInTensor = in.operands[1].kind == Kind::Address;
  return plan->d.decode(decoder, in.operands[0], Space::None) &&
         (plan->aInTensor ? plan->aTensor.decode(decoder, in.operands[1], Space::None)
                          : decoder.source(in.operands[1], ptx::Type::B64, plan->a)) &&
         decoder.source(in.operands[2], ptx::Type::B64, plan->b) &&
         decoder.source(in.operands[3], ptx::Type::B32, plan->descriptor) &&
         (isMx ? plan->scalesOfA.decode(decoder, in.operands[4], Space::None) &&
                     plan->scalesOfB.decode(decoder, in.operands[5], Space::None) &&
                     decoder.predicate(in.operands[6], plan->addsToD)
               : decodeRest(decoder, in, *plan));
}

bool decodeTcgen05(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  if (decoder.target() < 100) return decoder.refuse("needs a target of sm_100a or sm_100f");
  out.kind = InstClass::Async;
  const std::string_view what = words.takeNext();
  if (what == "alloc" || what == "dealloc") return decodeAlloc(decoder, in, words, what == "dealloc", out);
  if (what == "relinquish_alloc_permit") return decodeRelinquish(decoder, in, words, out);
  if (what == "ld" || what == "st") return decodeTransfer(decoder, in, words, what == "ld", out);
  if (what == "wait::ld" || what == "wait::st") return decodeWait(decoder, in, words, what == "wait::ld", out);
  if (what == "commit") return decodeCommit(decoder, in, words, out);
  if (what == "cp") return decodeCopy(decoder, in, words, out);
  if (what == "mma") return decodeProduct(decoder, in, words, out);
  if (what == "fence::before_thread_sync" || what == "fence::after_thread_sync") {
    out.run = runNothing; // what one thread of the host runs is in order
    return decoder.operands(in, 0);
  }
  return decoder.refuse(what == "shift" ? "is not implemented" : "there is no such tcgen05");
}

constexpr OpcodeRow kRows[] = {{"tcgen05", decodeTcgen05}};

} // namespace

constinit OpcodeTable kTcgen05Opcodes = kRows;

} // namespace tiletwin::sim
