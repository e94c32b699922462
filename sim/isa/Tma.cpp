// sim/isa/Tma.cpp -- copies of tiles between shared memory and tensors: cp.async.bulk.tensor, cp.reduce.async.bulk.tensor and the
// prefetch.
//
// Here:      decoding, the tensor map and the rows that a tile will touch, checked when the copy is issued.
// Not here:  elements of a tile (TensorCopy.h), landing (AsyncQueue.cpp), tensormap.replace (Tensormap.cpp).
// Source:    "PTX ISA", NVIDIA, sections "Tensors" and "cp.async.bulk.tensor". Tiled mode, im2col, gather and scatter; im2col::w,
//            which GPUs from sm_100 on have, is an error when the module is loaded.
#include "sim/isa/BulkTargets.h"
#include "sim/isa/CpAsync.h"
#include "sim/isa/ReduceElements.h"
#include "sim/isa/TensorCopy.h"
#include <optional>

namespace tiletwin::sim {

namespace {

using Kind = ptx::Operand::Kind;

constexpr uint32_t kTileAlignment = 128, kMapAlignment = 64;

struct TensorForm {
  int dimensions = 1;
  bool isIm2col = false;
  bool isGathered = false; ///< gather and scatter: a column and four rows in `at`
  size_t offsets = 0;      ///< of a filter, of im2col's loads
  AddressOperand map, shared;
  std::array<Slot, kMaxTensorRank - 2> filterOffset;
  std::array<Slot, kMaxTensorRank> at;
  BulkTargets targets;            ///< of loads
  std::optional<ReduceOp> reduce; ///< of stores

  size_t coordinates() const { return isGathered ? 1 + kGatheredRows : size_t(dimensions); }
};

/// An H200 refuses a column whose first pixel lies outside of the box that the map's corners leave; which image it is in, is free.
bool beginsInBox(Warp& warp, int lane, const TensorTile& tile) {
  for (size_t d = 1; d + 1 < size_t(tile.map.dimensions()); ++d) {
    const int64_t first = tile.map.lowerCorner[d - 1], last = tile.map.lastPixel(d);
    if (tile.at[d] >= first && tile.at[d] <= last) continue;
    return warp.fail(TrapKind::InvalidValue,
                     "copies a column that begins at " + std::to_string(tile.at[d]) + " along dimension " +
                         std::to_string(d) + ", outside of its map's box from " + std::to_string(first) + " to " +
                         std::to_string(last) + ", which GPUs refuse as an illegal instruction",
                     lane);
  }
  return true;
}

/// The map of a lane and where its tile lies; false: a trap.
bool readTile(const TensorForm& form, Warp& warp, int lane, TensorTile& tile) {
  Access access;
  access.space = form.map.space;
  access.bytes = kTensorMapBytes;
  access.alignment = kMapAlignment;
  access.proxy = Proxy::Tensormap;
  const std::byte* map = resolveBlock(access, warp, lane, form.map.lanes(warp)[size_t(lane)], kTensorMapBytes);
  if (!map) return false;
  tile.map = TensorMap::read(map);
  std::string problem = tile.map.problem();
  if (problem.empty() && tile.map.dimensions() != form.dimensions)
    problem = "has " + std::to_string(tile.map.dimensions()) + " dimensions, not " + std::to_string(form.dimensions);
  if (problem.empty() && bool(tile.map.isIm2col) != form.isIm2col)
    problem = tile.map.isIm2col ? "is one of im2col: the copy wants .im2col"
                                : "is one of tiles: a copy with .im2col wants one that cuTensorMapEncodeIm2col made";
  if (!problem.empty()) return warp.fail(TrapKind::InvalidValue, "copies with a tensor map that " + problem, lane);
  if (form.isGathered && tile.map.boxDim[1] != 1)
    return warp.fail(TrapKind::InvalidValue,
                     "takes four rows with a tensor map whose box has " + std::to_string(tile.map.boxDim[1]) +
                         ": it is to have one",
                     lane);
  for (size_t d = 0; d < form.coordinates(); ++d) tile.at[d] = warp.lanes<int32_t>(form.at[d])[lane];
  if (form.isGathered) {
    tile.gathered.emplace();
    std::copy_n(tile.at.begin() + 1, kGatheredRows, tile.gathered->begin());
    std::fill(tile.at.begin() + 1, tile.at.end(), 0);
  }
  for (size_t d = 0; d < form.offsets; ++d) tile.filterOffset[d] = warp.lanes<uint16_t>(form.filterOffset[d])[lane];
  if (form.isIm2col && !beginsInBox(warp, lane, tile)) return false;
  const int64_t firstByte = int64_t(tile.at[0]) * tile.map.elementBytes();
  if (firstByte % 16 == 0) return true;
  return warp.fail(TrapKind::InvalidValue,
                   "copies a tile that begins at byte " + std::to_string(firstByte) + " of its rows, no multiple of 16",
                   lane);
}

/// An H200 ends a kernel with an illegal instruction where a tile that is stored or reduced begins below zero (seen on one;
/// loads may begin there); false: a trap.
bool beginsInside(const TensorForm& form, Warp& warp, int lane, const TensorTile& tile) {
  for (int d = 0; d < form.dimensions; ++d) {
    if (tile.at[size_t(d)] >= 0) continue;
    return warp.fail(TrapKind::InvalidValue,
                     "stores a tile that begins at " + std::to_string(tile.at[size_t(d)]) + " along dimension " +
                         std::to_string(d) + " of its tensor map, which GPUs refuse as an illegal instruction",
                     lane);
  }
  return true;
}

/// All bytes of the tensor that the tile covers are memory of the launch; false: a trap.
bool checkRows(Warp& warp, int lane, const TensorTile& tile, AccessKind kind) {
  Access access{.space = Space::Global, .kind = kind, .alignment = tile.map.elementBytes(), .proxy = Proxy::Async};
  bool isGood = true;
  eachRow(tile, [&](const TensorRow& row) {
    if (!isGood || row.first == row.last) return;
    isGood = resolveBlock(access, warp, lane, row.global, uint64_t(row.last - row.first) * tile.map.elementBytes());
  });
  return isGood;
}

/// The tile's end in shared memory, or null.
std::byte* sharedEnd(const TensorForm& form, Warp& warp, int lane, const TensorTile& tile, AccessKind kind) {
  Access access{.space = Space::Shared, .kind = kind};
  access.bytes = access.alignment = kTileAlignment;
  access.proxy = Proxy::Async;
  return resolveBlock(access, warp, lane, form.shared.lanes(warp)[size_t(lane)], touchedBytes(tile));
}

Step runLoad(const Inst& in, Warp& warp, LaneMask active) {
  const TensorForm& form = *static_cast<const TensorForm*>(in.data);
  for (LaneMask rest = active; rest; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    TensorTile tile;
    if (!readTile(form, warp, lane, tile) || !checkRows(warp, lane, tile, AccessKind::Read)) return Step::Trap;
    BulkCopy copy;
    copy.to = sharedEnd(form, warp, lane, tile, AccessKind::Write);
    if (!copy.to) return Step::Trap;
    copy.bytes = touchedBytes(tile);
    copy.tile = tile;
    copy.origin = originOf(warp, lane);
    if (!form.targets.issue(warp, lane, std::move(copy), tile.bytes())) return Step::Trap;
  }
  return Step::Next;
}

Step runStore(const Inst& in, Warp& warp, LaneMask active) {
  const TensorForm& form = *static_cast<const TensorForm*>(in.data);
  for (LaneMask rest = active; rest; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    TensorTile tile;
    const AccessKind kind = form.reduce ? AccessKind::Atomic : AccessKind::Write;
    if (!readTile(form, warp, lane, tile) || !beginsInside(form, warp, lane, tile)) return Step::Trap;
    if (!checkRows(warp, lane, tile, kind)) return Step::Trap;
    BulkCopy copy;
    if (form.reduce) {
      copy.reduce = reducer(*form.reduce, TensorElement(tile.map.element));
      if (!copy.reduce)
        return warp.trap(TrapKind::InvalidValue,
                         "reduces with ." + std::string(nameOf(*form.reduce)) +
                             ", which the element type of its tensor map does not have",
                         lane);
    }
    copy.from = sharedEnd(form, warp, lane, tile, AccessKind::Read);
    if (!copy.from) return Step::Trap;
    copy.read = ownerOf(*warp.cta->cluster, copy.from);
    copy.bytes = touchedBytes(tile);
    copy.tile = tile;
    copy.origin = originOf(warp, lane);
    issueGrouped(warp, std::move(copy));
  }
  return Step::Next;
}

/// Nothing is fetched ahead here, but the map has to be one.
Step runPrefetch(const Inst& in, Warp& warp, LaneMask active) {
  const TensorForm& form = *static_cast<const TensorForm*>(in.data);
  for (LaneMask rest = active; rest; rest &= rest - 1) {
    TensorTile tile;
    if (!readTile(form, warp, __builtin_ctz(rest), tile)) return Step::Trap;
  }
  return Step::Next;
}

// ---- decoding

/// .1d to .5d, and the mode: loads and prefetches of im2col move their pixels by offsets, stores cannot.
bool decodeMode(Decoder& decoder, Words& words, bool isLoad, TensorForm& form) {
  const std::string_view dimensions = words.takeOneOf({"1d", "2d", "3d", "4d", "5d"});
  if (dimensions.empty()) return decoder.fail("a tensor copy wants .1d, .2d, .3d, .4d or .5d");
  form.dimensions = dimensions[0] - '0';
  if (const auto mode = words.takeOneOf({"im2col::w", "im2col::w::128"}); !mode.empty())
    return decoder.fail("tensor copies of mode ." + std::string(mode) +
                        " are not implemented: GPUs from sm_100 on have them");
  form.isGathered = words.take(isLoad ? "tile::gather4" : "tile::scatter4");
  if (form.isGathered) {
    if (decoder.target() < 100) return decoder.fail("gather and scatter need a target of sm_100 or above");
    return form.dimensions == 2 || decoder.fail("gather and scatter are of .2d");
  }
  form.isIm2col = words.take(isLoad ? "im2col" : "im2col_no_offs");
  if (!form.isIm2col) {
    words.take("tile");
    return true;
  }
  if (form.dimensions < 3) return decoder.fail("a copy of im2col wants .3d, .4d or .5d");
  form.offsets = isLoad ? size_t(form.dimensions) - 2 : 0;
  return true;
}

/// [map, {c0, c1, ...}]
bool decodeTensorOperand(Decoder& decoder, const ptx::Operand& operand, TensorForm& form) {
  if (operand.kind != Kind::Address || operand.parts.size() != 2)
    return decoder.fail(operand, "a tensor copy wants [map, {coordinates}] here");
  const ptx::Operand& coordinates = operand.parts[1];
  const bool isVector = coordinates.kind == Kind::Vector;
  if ((isVector ? coordinates.parts.size() : 1) != form.coordinates())
    return decoder.fail(coordinates,
                        "a tensor copy of this mode wants " + std::to_string(form.coordinates()) + " coordinates");
  ptx::Operand map = operand;
  map.parts.resize(1);
  if (!form.map.decode(decoder, map, Space::None)) return false;
  for (size_t d = 0; d < form.coordinates(); ++d)
    if (!decoder.source(isVector ? coordinates.parts[d] : coordinates, ptx::Type::S32, form.at[d])) return false;
  return true;
}

/// {o0, ...}, of im2col's loads; true: there are none to decode.
bool decodeOffsets(Decoder& decoder, const ptx::Instruction& in, size_t index, TensorForm& form) {
  if (!form.offsets) return true;
  const ptx::Operand& offsets = in.operands[index];
  const bool isVector = offsets.kind == Kind::Vector;
  if ((isVector ? offsets.parts.size() : 1) != form.offsets)
    return decoder.fail(offsets, "a copy of im2col with " + std::to_string(form.dimensions) + " dimensions wants " +
                                     std::to_string(form.offsets) + " offsets");
  for (size_t d = 0; d < form.offsets; ++d)
    if (!decoder.source(isVector ? offsets.parts[d] : offsets, ptx::Type::U16, form.filterOffset[d])) return false;
  return true;
}

bool decodeStore(Decoder& decoder, const ptx::Instruction& in, Words& words, TensorForm& form, Inst& out) {
  out.run = runStore;
  if (!words.take("global") || !words.take("shared::cta"))
    return decoder.fail("a tensor copy to .global comes from .shared::cta");
  if (!words.take("bulk_group")) return decoder.fail("a tensor copy to .global wants .bulk_group");
  bool hasHint = false;
  return takeCacheHint(decoder, in, words, hasHint) && decoder.operands(in, 2 + size_t(hasHint)) &&
         decodeTensorOperand(decoder, in.operands[0], form) &&
         form.shared.decode(decoder, in.operands[1], Space::Shared);
}

bool decodeLoad(Decoder& decoder, const ptx::Instruction& in, Words& words, TensorForm& form, Inst& out) {
  out.run = runLoad;
  if (words.takeOneOf({"shared::cluster", "shared::cta"}).empty() || !words.take("global"))
    return decoder.fail("a tensor copy goes from .global to .shared::cluster or .shared::cta");
  if (!words.take("mbarrier::complete_tx::bytes"))
    return decoder.fail("a tensor copy to shared memory wants .mbarrier::complete_tx::bytes");
  const bool isMulticast = words.take("multicast::cluster");
  bool hasHint = false;
  return takeCacheHint(decoder, in, words, hasHint) &&
         decoder.operands(in, 3 + size_t(form.offsets != 0) + size_t(isMulticast) + size_t(hasHint)) &&
         form.shared.decode(decoder, in.operands[0], Space::Shared) &&
         decodeTensorOperand(decoder, in.operands[1], form) && decodeOffsets(decoder, in, 3, form) &&
         form.targets.decode(decoder, in.operands[2],
                             isMulticast ? &in.operands[3 + size_t(form.offsets != 0)] : nullptr);
}

TensorForm* makeForm(Decoder& decoder, Words& words, bool isLoad, Inst& out) {
  auto* form = decoder.make<TensorForm>();
  out.data = form;
  return decodeMode(decoder, words, isLoad, *form) ? form : nullptr;
}

} // namespace

bool decodeTensorCopy(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  TensorForm* form = makeForm(decoder, words, !isDestinationGlobal(in), out);
  if (!form) return false;
  return isDestinationGlobal(in) ? decodeStore(decoder, in, words, *form, out)
                                 : decodeLoad(decoder, in, words, *form, out);
}

bool decodeTensorReduce(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  TensorForm* form = makeForm(decoder, words, false, out);
  if (!form) return false;
  if (form->isGathered) return decoder.fail("cp.reduce.async.bulk.tensor does not scatter");
  form->reduce = takeReduceOp(words);
  if (!form->reduce)
    return decoder.fail(
        "cp.reduce.async.bulk.tensor wants an operation: .add, .min, .max, .inc, .dec, .and, .or or .xor");
  return decodeStore(decoder, in, words, *form, out);
}

bool decodeTensorPrefetch(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  TensorForm* form = makeForm(decoder, words, true, out);
  if (!form) return false;
  out.run = runPrefetch;
  if (!words.take("L2") || !words.take("global")) return decoder.fail("cp.async.bulk.prefetch.tensor wants .L2.global");
  bool hasHint = false;
  return takeCacheHint(decoder, in, words, hasHint) &&
         decoder.operands(in, 1 + size_t(form->offsets != 0) + size_t(hasHint)) &&
         decodeTensorOperand(decoder, in.operands[0], *form) && decodeOffsets(decoder, in, 1, *form);
}

} // namespace tiletwin::sim
