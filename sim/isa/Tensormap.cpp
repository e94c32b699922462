// sim/isa/Tensormap.cpp -- tensormap.replace and tensormap.cp_fenceproxy.
// Not here:  the layout of a map (TensorMapLayout.h), copies through one (Tma.cpp).
// Source:    "PTX ISA", NVIDIA, sections "tensormap.replace" and "tensormap.cp_fenceproxy".
#include "sim/isa/AddressOperand.h"
#include "sim/isa/Scope.h"
#include "sim/isa/TensorMapLayout.h"
#include "sim/isa/WarpOps.h"
#include "sim/machine/Cta.h"
#include "sim/machine/Observer.h"
#include <algorithm>
#include <cstring>

namespace tiletwin::sim {

namespace {

constexpr uint32_t kMapAlignment = 64;

enum class Field : uint8_t {
  GlobalAddress,
  Rank,
  BoxDim,
  GlobalDim,
  GlobalStride,
  ElementStride,
  Element,
  Interleave,
  Swizzle,
  Fill
};

struct FieldRow {
  std::string_view name;
  Field field;
  bool isWide = false; ///< .b64
  bool hasOrdinal = false;
  bool isConstant = false; ///< the value is known while decoding
};
constexpr FieldRow kFields[] = {
    {"box_dim", Field::BoxDim, false, true},
    {"element_stride", Field::ElementStride, false, true},
    {"elemtype", Field::Element, false, false, true},
    {"fill_mode", Field::Fill, false, false, true},
    {"global_address", Field::GlobalAddress, true},
    {"global_dim", Field::GlobalDim, false, true},
    {"global_stride", Field::GlobalStride, true, true},
    {"interleave_layout", Field::Interleave, false, false, true},
    {"rank", Field::Rank},
    {"swizzle_mode", Field::Swizzle, false, false, true},
};

struct ReplaceForm {
  Field field;
  size_t ordinal = 0;
  bool isWide = false;
  AddressOperand map;
  Access access;
  Slot value;
};

void replace(TensorMap& map, Field field, size_t ordinal, uint64_t value) {
  switch (field) {
  case Field::GlobalAddress: map.globalAddress = value; break;
  case Field::GlobalStride: map.globalStride[ordinal] = value; break;
  case Field::GlobalDim: map.globalDim[ordinal] = uint32_t(value); break;
  case Field::BoxDim: map.boxDim[ordinal] = uint32_t(value); break;
  case Field::ElementStride: map.elementStride[ordinal] = uint32_t(value); break;
  case Field::Rank: map.rank = uint8_t(std::min<uint64_t>(value, 255)); break;
  case Field::Element: map.element = uint8_t(value); break;
  case Field::Interleave: map.interleave = uint8_t(value); break;
  case Field::Swizzle: map.swizzle = uint8_t(value); break;
  case Field::Fill: map.fill = uint8_t(value); break;
  }
}

Step runReplace(const Inst& in, Warp& warp, LaneMask active) {
  const ReplaceForm& form = *static_cast<const ReplaceForm*>(in.data);
  const LaneAddresses addresses = form.map.lanes(warp);
  for (LaneMask rest = active; rest; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    std::byte* at = resolveBlock(form.access, warp, lane, addresses[size_t(lane)], kTensorMapBytes);
    if (!at) return Step::Trap;
    TensorMap map = TensorMap::read(at);
    replace(map, form.field, form.ordinal,
            form.isWide ? warp.lanes<uint64_t>(form.value)[lane] : warp.lanes<uint32_t>(form.value)[lane]);
    map.write(at);
  }
  return Step::Next;
}

/// The number of the dimension that is replaced; of strides it counts from dimension 1.
bool decodeOrdinal(Decoder& decoder, const ptx::Operand& operand, ReplaceForm& form) {
  int64_t ordinal = 0;
  if (!decoder.constant(operand, ordinal)) return false;
  const int64_t count = form.field == Field::GlobalStride ? kMaxTensorRank - 1 : kMaxTensorRank;
  if (ordinal < 0 || ordinal >= count)
    return decoder.fail(operand, "this field has the numbers 0 to " + std::to_string(count - 1));
  form.ordinal = size_t(ordinal);
  return true;
}

bool decodeReplace(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  if (!words.take("tile")) return decoder.fail("tensormap.replace wants .tile");
  const FieldRow* row = nullptr;
  for (const FieldRow& each : kFields)
    if (words.take(each.name)) row = &each;
  if (!row) return decoder.fail("tensormap.replace does not know the field ." + std::string(words.rest()));
  const std::string_view space = words.takeOneOf({"global", "shared::cta"});
  if (!words.take("b1024")) return decoder.fail("tensormap.replace wants .b1024");
  if (!words.take(row->isWide ? "b64" : "b32"))
    return decoder.fail("tensormap.replace of this field wants " + std::string(row->isWide ? ".b64" : ".b32"));
  if (!decoder.operands(in, row->hasOrdinal ? 3 : 2)) return false;

  auto* form = decoder.make<ReplaceForm>();
  out.data = form;
  out.kind = InstClass::Async;
  out.run = runReplace;
  form->field = row->field;
  form->isWide = row->isWide;
  form->access.kind = AccessKind::Write;
  form->access.bytes = kTensorMapBytes;
  form->access.alignment = kMapAlignment;
  const ptx::Operand& value = in.operands.back();
  int64_t constant = 0;
  if (row->isConstant && (!decoder.constant(value, constant) || constant < 0 || constant > 255))
    return decoder.fail(value, "this field takes a small constant");
  if (row->hasOrdinal && !decodeOrdinal(decoder, in.operands[1], *form)) return false;
  if (!form->map.decode(decoder, in.operands[0],
                        space.empty()       ? Space::None
                        : space == "global" ? Space::Global
                                            : Space::Shared))
    return false;
  form->access.space = form->map.space;
  return decoder.source(value, row->isWide ? ptx::Type::B64 : ptx::Type::B32, form->value);
}

// ---- cp_fenceproxy

struct CopyForm {
  AddressOperand to, from;
  Access write, read;
  Scope scope = Scope::Gpu;
};

/// The whole warp copies one map, as its first lane gives it, and orders the copy in front of what reads maps.
Step runCopy(const Inst& in, Warp& warp, LaneMask active) {
  if (const Step s = gatherMembers(warp, kAllLanes, active); s != Step::Next) return s;
  const CopyForm& form = *static_cast<const CopyForm*>(in.data);
  const int lane = __builtin_ctz(active);
  const std::byte* from = resolveBlock(form.read, warp, lane, form.from.lanes(warp)[size_t(lane)], kTensorMapBytes);
  if (!from) return Step::Trap;
  std::byte* to = resolveBlock(form.write, warp, lane, form.to.lanes(warp)[size_t(lane)], kTensorMapBytes);
  if (!to) return Step::Trap;
  std::memmove(to, from, kTensorMapBytes);
  for (Observer* observer : warp.cta->cluster->grid->observers)
    observer->fence(warp, active, Proxy::Tensormap, Semantics::Release, form.scope);
  return Step::Next;
}

bool decodeCopy(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  auto* form = decoder.make<CopyForm>();
  if (!words.take("global") || !words.take("shared::cta"))
    return decoder.fail("tensormap.cp_fenceproxy copies from .shared::cta to .global");
  if (!words.take("tensormap::generic") || !words.take("release"))
    return decoder.fail("tensormap.cp_fenceproxy wants .tensormap::generic.release");
  if (!takeScope(words, form->scope))
    return decoder.fail("tensormap.cp_fenceproxy wants a scope: .cta, .cluster, .gpu or .sys");
  if (!words.take("sync") || !words.take("aligned")) return decoder.fail("tensormap.cp_fenceproxy wants .sync.aligned");
  int64_t bytes = 0;
  if (!decoder.operands(in, 3) || !decoder.constant(in.operands[2], bytes)) return false;
  if (bytes != int64_t(kTensorMapBytes)) return decoder.fail(in.operands[2], "a tensor map has 128 bytes");
  out.data = form;
  out.kind = InstClass::Async;
  out.run = runCopy;
  form->write.kind = AccessKind::Write;
  form->write.space = Space::Global;
  form->read.space = Space::Shared;
  for (Access* access : {&form->write, &form->read}) { access->bytes = access->alignment = kTensorMapBytes; }
  return form->to.decode(decoder, in.operands[0], Space::Global) &&
         form->from.decode(decoder, in.operands[1], Space::Shared);
}

bool decodeTensormap(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  if (words.take("replace")) return decodeReplace(decoder, in, words, out);
  if (words.take("cp_fenceproxy")) return decodeCopy(decoder, in, words, out);
  return decoder.fail("tensormap wants .replace or .cp_fenceproxy");
}

constexpr OpcodeRow kRows[] = {{"tensormap", decodeTensormap}};

} // namespace

constinit OpcodeTable kTensormapOpcodes = kRows;

} // namespace tiletwin::sim
