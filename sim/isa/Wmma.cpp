// sim/isa/Wmma.cpp -- wmma.load, wmma.store, wmma.mma.
// Not here:  products (MatrixFragment.cpp).
// Source:    PTX ISA, "Matrix fragments for wmma", "wmma.load", "wmma.store", "wmma.mma".
#include "sim/isa/MatrixFragment.h"
#include "sim/machine/Memory.h"
#include <algorithm>
#include <cstring>

namespace tiletwin::sim {
namespace {

struct WmmaShape {
  std::string_view name;
  int m, n, k;
  int bits; ///< of an element of A and B
};
constexpr WmmaShape kShapes[] = {
    {"m16n16k16", 16, 16, 16, 16}, {"m8n32k16", 8, 32, 16, 16}, {"m32n8k16", 32, 8, 16, 16},
    {"m16n16k16", 16, 16, 16, 8},  {"m8n32k16", 8, 32, 16, 8},  {"m32n8k16", 32, 8, 16, 8},
    {"m16n16k8", 16, 16, 8, 32},   {"m8n8k32", 8, 8, 32, 4},    {"m8n8k128", 8, 8, 128, 1},
    {"m8n8k4", 8, 8, 4, 64},
};
const WmmaShape* findShape(std::string_view name, int bits) {
  const auto* row =
      std::ranges::find_if(kShapes, [&](const WmmaShape& s) { return s.name == name && (!bits || s.bits == bits); });
  return row == std::end(kShapes) ? nullptr : row;
}

/// One fragment between memory and registers. A line is a row of A or of an accumulator, a column of B; places count along it.
struct FragmentAccess {
  Access access;
  Decoder::Address address;
  Slot stride; ///< in elements, from line to line, or from place to place where the lines lie across; none: `dense`
  int32_t dense = 0; ///< elements from line to line if nothing is between them
  bool isAccumulator = false;
  bool alongLine = true; ///< a line's elements are neighbours in memory
  int bits = 16;         ///< of an element
  int groups = 1;        ///< of eight lines
  int distinct = 1;      ///< registers; those beyond hold the same elements again
  int registers = 1;
  FragmentSlots slots;

  int elementsPerRegister() const { return bits >= 32 ? 1 : 32 / bits; }
  struct Place {
    int line, place;
  };
  /// The first element of a register.
  Place first(int reg, int lane) const {
    const int g = lane / 4, t = lane % 4, r = reg % distinct;
    if (!isAccumulator) {
      const int each = elementsPerRegister();
      return {g + 8 * (r % groups), (r / groups * 4 + t) * each};
    }
    const int perBlock = bits == 16 ? 1 : 2, block = r / perBlock;
    return {g + 8 * (block % groups), 8 * (block / groups) + 2 * t + (bits == 16 ? 0 : r % 2)};
  }
};

/// Visits every access of the fragment as one access of all lanes: visit(register, byte in it, bytes, host addresses).
template <class Visit> Step eachAccess(const FragmentAccess& op, Warp& warp, int registers, Visit&& visit) {
  alignas(kLaneAlignment) uint64_t base[kLanes], addresses[kLanes];
  alignas(kLaneAlignment) std::byte* host[kLanes];
  laneAddresses(warp, op.address.base, op.address.bytes == 8, op.address.offset, base);
  const int32_t* stride = op.stride ? warp.lanes<int32_t>(op.stride) : nullptr;
  alignas(kLaneAlignment) int64_t step[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) step[lane] = stride ? stride[lane] : op.dense;
  // Elements along a line fill a register in one access.
  const int pieces = op.alongLine ? 1 : op.elementsPerRegister();
  const int bytes = int(op.access.bytes);
  for (int reg = 0; reg < registers; ++reg)
    for (int piece = 0; piece < pieces; ++piece) {
      for (int lane = 0; lane < kLanes; ++lane) {
        const auto [line, place] = op.first(reg, lane);
        const int64_t index = op.alongLine ? line * step[lane] + place : (place + piece) * step[lane] + line;
        addresses[lane] = base[lane] + uint64_t(index * op.bits / 8);
      }
      if (!resolve(op.access, warp, kAllLanes, addresses, host)) return Step::Trap;
      visit(reg, piece * bytes, bytes, host);
    }
  return Step::Next;
}

Step runLoad(const Inst& in, Warp& warp, LaneMask active) {
  if (const Step step = gatherWarp(warp, active); step != Step::Next) return step;
  const auto& op = *static_cast<const FragmentAccess*>(in.data);
  // All of memory is read first: the registers may hold the address.
  const size_t width = op.bits == 64 ? 8 : 4;
  std::byte read[kMaxFragment][kLanes * 8];
  const Step step = eachAccess(op, warp, op.distinct, [&](int reg, int at, int bytes, std::byte* const* host) {
    for (int lane = 0; lane < kLanes; ++lane)
      std::memcpy(read[reg] + size_t(lane) * width + at, host[lane], size_t(bytes));
  });
  if (step != Step::Next) return step;
  for (int reg = 0; reg < op.registers; ++reg)
    std::memcpy(warp.lanes<std::byte>(op.slots[size_t(reg)]), read[reg % op.distinct], width * kLanes);
  return Step::Next;
}

Step runStore(const Inst& in, Warp& warp, LaneMask active) {
  if (const Step step = gatherWarp(warp, active); step != Step::Next) return step;
  const auto& op = *static_cast<const FragmentAccess*>(in.data);
  const size_t width = op.bits == 64 ? 8 : 4;
  return eachAccess(op, warp, op.registers, [&](int reg, int at, int bytes, std::byte* const* host) {
    const auto* held = warp.lanes<std::byte>(op.slots[size_t(reg)]);
    for (int lane = 0; lane < kLanes; ++lane) std::memcpy(host[lane], held + size_t(lane) * width + at, size_t(bytes));
  });
}

/// Bits of an accumulator's element; 0 for what is none.
int accumulatorBits(std::string_view type) {
  return type == "f16" ? 16 : type == "f32" || type == "s32" ? 32 : type == "f64" ? 64 : 0;
}

/// Whether products of this shape have accumulators of this type.
bool hasAccumulator(const WmmaShape& shape, std::string_view type) {
  if (type == "f64") return shape.bits == 64;
  if (type == "s32") return shape.bits <= 8;
  if (type == "f16") return shape.bits == 16;
  return shape.bits == 16 || shape.bits == 32;
}

/// Shape, layout and type of a fragment in memory.
bool describeFragment(Decoder& decoder, std::string_view matrix, std::string_view shapeName, std::string_view layout,
                      std::string_view typeName, FragmentAccess& op) {
  const auto unknown = [&] {
    return decoder.fail("wmma has no fragment ." + std::string(matrix) + " of shape ." + std::string(shapeName) +
                        " and type ." + std::string(typeName));
  };
  op.isAccumulator = matrix == "c" || matrix == "d";
  const TileType* type = op.isAccumulator ? nullptr : findTileType(typeName);
  op.bits = op.isAccumulator ? accumulatorBits(typeName) : type ? type->bits : 0;
  if (!op.bits || (type && type->unit == TileProduct::Unit::WidenedFp8)) return unknown();
  const auto* shape = std::ranges::find_if(kShapes, [&](const WmmaShape& s) {
    return s.name == shapeName && (op.isAccumulator ? hasAccumulator(s, typeName) : s.bits == op.bits);
  });
  if (shape == std::end(kShapes)) return unknown();
  const int lines = matrix == "b" ? shape->n : shape->m, places = op.isAccumulator ? shape->n : shape->k;
  op.groups = lines / 8;
  op.alongLine = (layout == "row") == (matrix != "b");
  op.dense = op.alongLine ? places : lines;
  if (!op.alongLine && op.bits < 8)
    return decoder.fail("wmma fragments of ." + std::string(typeName) + " are .row for A and .col for B");
  op.distinct = lines * places / kLanes / op.elementsPerRegister();
  op.registers = typeName == "f16" && !op.isAccumulator ? kMaxFragment : op.distinct;
  const int bytes = op.alongLine ? std::max(32, op.bits) / 8 : op.bits / 8;
  op.access.bytes = op.access.alignment = uint32_t(bytes);
  return true;
}

bool decodeAccess(Decoder& decoder, const ptx::Instruction& in, Words& words, bool isStore, Inst& out) {
  const std::string name = isStore ? "wmma.store" : "wmma.load";
  const std::string_view matrix = isStore ? words.takeOneOf({"d"}) : words.takeOneOf({"a", "b", "c"});
  if (matrix.empty()) return decoder.fail(name + (isStore ? " wants .d" : " wants .a, .b or .c"));
  if (!words.take("sync") || !words.take("aligned")) return decoder.fail(name + " wants .sync.aligned");
  const std::string_view layout = words.takeOneOf({"row", "col"});
  if (layout.empty()) return decoder.fail(name + " wants .row or .col");
  const std::string_view space = words.takeOneOf({"global", "shared::cta", "shared"});
  const std::string_view shape = words.takeNext(), type = words.takeNext();
  auto* op = decoder.make<FragmentAccess>();
  if (!describeFragment(decoder, matrix, shape, layout, type, *op) || !decoder.operands(in, 2, 3)) return false;
  const ptx::Operand &address = in.operands[isStore ? 0 : 1], &registers = in.operands[isStore ? 1 : 0];
  if (!decoder.address(address, op->address)) return false;
  op->access.space = space.empty() ? op->address.space : space == "global" ? Space::Global : Space::Shared;
  op->access.kind = isStore ? AccessKind::Write : AccessKind::Read;
  if (in.operands.size() == 3 && !decoder.source(in.operands[2], ptx::Type::B32, op->stride)) return false;
  out.run = isStore ? runStore : runLoad;
  out.kind = InstClass::Memory;
  out.data = op;
  const ptx::Type word = op->bits == 64 ? ptx::Type::F64 : ptx::Type::B32;
  return decodeFragment(decoder, registers, word, op->registers, op->slots, !isStore);
}

/// The types of a product: two for f16 (those of the accumulators), otherwise four.
struct ProductTypes {
  std::string_view d, a, b, c;
};
bool readTypes(Decoder& decoder, Words& words, ProductTypes& types) {
  std::vector<std::string_view> names;
  for (std::string_view word; !(word = words.takeNext()).empty();) names.push_back(word);
  if (names.size() == 2)
    types = {names[0], "f16", "f16", names[1]};
  else if (names.size() == 4)
    types = {names[0], names[1], names[2], names[3]};
  else
    return decoder.fail("wmma.mma wants two types (f16) or four, got " + std::to_string(names.size()));
  return true;
}

bool setAccumulators(Decoder& decoder, const ProductTypes& types, const WmmaShape& shape, TileProduct& p) {
  for (const auto& [name, to] : {std::pair{types.c, &p.c}, std::pair{types.d, &p.d}}) {
    const bool known = accumulatorBits(name) && hasAccumulator(shape, name);
    if (!known || (name == "f16" && types.a != "f16"))
      return decoder.fail("wmma.mma of ." + std::string(types.a) + " has no accumulator of ." + std::string(name));
    *to = name == "f16" ? Accumulator::F16 : Accumulator::F32;
  }
  return true;
}

bool decodeProduct(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  if (!words.take("sync") || !words.take("aligned")) return decoder.fail("wmma.mma wants .sync.aligned");
  const bool saturate = words.take("satfinite"), isXor = words.take("xor"), isAnd = words.take("and");
  const bool isPopc = words.take("popc");
  const auto rounding = words.takeNamed<DoubleRounding>({{"rn", DoubleRounding::Nearest},
                                                         {"rz", DoubleRounding::Zero},
                                                         {"rm", DoubleRounding::Down},
                                                         {"rp", DoubleRounding::Up}});
  for (const char* side : {"A", "B"})
    if (words.takeOneOf({"row", "col"}).empty())
      return decoder.fail(std::string("wmma.mma wants .row or .col for ") + side);
  const std::string_view shapeName = words.takeNext();
  ProductTypes types;
  if (!readTypes(decoder, words, types) || !decoder.operands(in, 4)) return false;
  const TileType *a = findTileType(types.a), *b = findTileType(types.b);
  const WmmaShape* shape = a ? findShape(shapeName, a->bits) : nullptr;
  auto* p = decoder.make<TileProduct>();
  using Unit = TileProduct::Unit;
  if (!shape || !b || a->unit == Unit::WidenedFp8 || !setOperandTypes(*p, *a, *b, shape->k))
    return decoder.fail("wmma.mma has no product ." + std::string(shapeName) + " of ." + std::string(types.a) +
                        " and ." + std::string(types.b));
  if (!setAccumulators(decoder, types, *shape, *p)) return false;
  if ((p->unit == Unit::Bits) != (isPopc && (isXor != isAnd)) || (p->unit != Unit::Bits && (isPopc || isXor || isAnd)))
    return decoder.fail("wmma.mma of .b1 wants .xor.popc or .and.popc, and no other one takes them");
  if (saturate && p->unit != Unit::Integer) return decoder.fail(".satfinite is for integer products");
  if (rounding && p->unit != Unit::Double) return decoder.fail("rounding is for products of .f64");
  p->oneBlockAtATime = types.a == "tf32";
  p->saturate = saturate;
  p->bits = isXor ? BitOperation::Xor : BitOperation::And;
  p->rounding = rounding.value_or(DoubleRounding::Nearest);
  p->rowGroups = uint8_t(shape->m / 8), p->columnGroups = uint8_t(shape->n / 8);
  const bool repeats = types.a == "f16";
  return decodeTileProduct(decoder, in, repeats ? kMaxFragment : p->aRegisters(),
                           repeats ? kMaxFragment : p->bRegisters(), *p, out);
}

bool decodeWmma(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  if (words.take("load")) return decodeAccess(decoder, in, words, false, out);
  if (words.take("store")) return decodeAccess(decoder, in, words, true, out);
  if (words.take("mma")) return decodeProduct(decoder, in, words, out);
  return decoder.refuse("wmma is .load, .store or .mma");
}

constexpr OpcodeRow kRows[] = {{"wmma", decodeWmma}};

} // namespace

constinit OpcodeTable kWmmaOpcodes = kRows;

} // namespace tiletwin::sim
