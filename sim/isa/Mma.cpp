// sim/isa/Mma.cpp -- mma.sync: its shapes and types, and m8n8k4 of f16, whose fragments are like no other's.
// Source:    PTX ISA, "mma" and "Matrix fragments for mma.m8n8k4" and the following sections.
#include "sim/isa/MatrixFragment.h"
#include "sim/isa/MmaSparse.h"
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <immintrin.h>

namespace tiletwin::sim {
namespace {

/// A dense shape: rows, columns, elements along k, and the bits of the elements it exists for.
struct MmaShape {
  std::string_view name;
  int m, k, bits;
};
constexpr MmaShape kShapes[] = {
    {"m8n8k4", 8, 4, 64},      {"m16n8k4", 16, 4, 64},  {"m16n8k8", 16, 8, 64},  {"m16n8k16", 16, 16, 64},
    {"m16n8k4", 16, 4, 32},    {"m16n8k8", 16, 8, 32},  {"m16n8k8", 16, 8, 16},  {"m16n8k16", 16, 16, 16},
    {"m8n8k16", 8, 16, 8},     {"m16n8k16", 16, 16, 8}, {"m16n8k32", 16, 32, 8}, {"m8n8k32", 8, 32, 4},
    {"m16n8k32", 16, 32, 4},   {"m16n8k64", 16, 64, 4}, {"m8n8k128", 8, 128, 1}, {"m16n8k128", 16, 128, 1},
    {"m16n8k256", 16, 256, 1},
};

/// mma.m8n8k4 of f16: four products of 8 x 8 x 4, one for each quad of lanes 4 * q and its partner 4 * q + 16. sm_90 has no
/// such unit: ptxas calls a function that multiplies and adds in f32.
struct QuadProduct {
  bool aIsRow = true, bIsRow = true;
  Accumulator c = Accumulator::F32, d = Accumulator::F32;
  FragmentSlots aSlots, bSlots, cSlots, dSlots;
};

/// Row and column of element i of a lane's part of an accumulator; `part` is the lane in its quad, + 4 in the upper half warp.
struct Place {
  int row, column;
};
Place accumulatorPlace(Accumulator type, int part, int i) {
  const int upper = part & 4, lane = part & 3;
  if (type == Accumulator::F16) return {lane + upper, i};
  return {(lane & 1) + (i & 2) + upper, (i & 4) + (lane & 2) + (i & 1)};
}

float halfOf(Warp& warp, const FragmentSlots& slots, int lane, int i) {
  return _cvtsh_ss(uint16_t(warp.lanes<uint32_t>(slots[size_t(i / 2)])[lane] >> (i % 2 * 16)));
}

/// One output in the order of that function's operations.
float quadSum(Accumulator d, const float (&a)[4], const float (&b)[4], float c) {
  float sum;
  if (d == Accumulator::F32) {
    float products = std::fma(a[0], b[0], 0.0f);
    for (int k = 1; k < 4; ++k) products = std::fma(a[k], b[k], products);
    sum = c + products;
  } else {
    sum = c + std::fma(a[1], b[1], a[0] * b[0]);
    sum += std::fma(a[3], b[3], a[2] * b[2]);
  }
  return sum == sum ? sum : std::bit_cast<float>(0x7FFFFFFFu);
}

/// lines[row of A or column of B][k]
void gatherQuadLines(Warp& warp, const FragmentSlots& slots, bool alongK, const int (&lanes)[8], float (*lines)[4]) {
  for (int part = 0; part < 8; ++part)
    for (int i = 0; i < 4; ++i) {
      // Along k: a lane holds a whole line. Otherwise four lines' elements of one k.
      const int line = alongK ? part : i + (part & 4), k = alongK ? i : part & 3;
      lines[line][k] = halfOf(warp, slots, lanes[part], i);
    }
}

Step runQuadProduct(const Inst& in, Warp& warp, LaneMask active) {
  if (const Step step = gatherWarp(warp, active); step != Step::Next) return step;
  const auto& p = *static_cast<const QuadProduct*>(in.data);
  float sums[4][8][kTileColumns];
  for (int quad = 0; quad < 4; ++quad) {
    int lanes[8];
    for (int part = 0; part < 8; ++part) lanes[part] = 4 * quad + (part & 3) + (part & 4) * 4;
    float rows[8][4], columns[8][4];
    gatherQuadLines(warp, p.aSlots, p.aIsRow, lanes, rows);
    gatherQuadLines(warp, p.bSlots, !p.bIsRow, lanes, columns);
    for (int part = 0; part < 8; ++part)
      for (int i = 0; i < 8; ++i) {
        const Place at = accumulatorPlace(p.c, part, i);
        const float c = p.c == Accumulator::F16 ? halfOf(warp, p.cSlots, lanes[part], i)
                                                : warp.lanes<float>(p.cSlots[size_t(i)])[lanes[part]];
        sums[quad][at.row][at.column] = quadSum(p.d, rows[at.row], columns[at.column], c);
      }
  }
  for (int quad = 0; quad < 4; ++quad)
    for (int part = 0; part < 8; ++part)
      for (int i = 0; i < 8; ++i) {
        const int lane = 4 * quad + (part & 3) + (part & 4) * 4;
        const Place at = accumulatorPlace(p.d, part, i);
        const float value = sums[quad][at.row][at.column];
        if (p.d == Accumulator::F32) {
          warp.lanes<float>(p.dSlots[size_t(i)])[lane] = value;
        } else {
          const uint16_t code = uint16_t(_cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT));
          std::memcpy(reinterpret_cast<std::byte*>(warp.lanes<uint32_t>(p.dSlots[size_t(i / 2)]) + lane) + i % 2 * 2,
                      &code, 2);
        }
      }
  return Step::Next;
}

/// The words of an mma in the order of the text, once those that may stand anywhere are taken.
struct MmaWords {
  std::string_view shape, aLayout, bLayout, d, a, b, c;
};

bool readAccumulator(Decoder& decoder, std::string_view word, Accumulator& type) {
  type = word == "f16" ? Accumulator::F16 : Accumulator::F32;
  return word == "f16" || word == "f32" ||
         decoder.fail("accumulator type ." + std::string(word) + " of mma is not known");
}

bool decodeQuadProduct(Decoder& decoder, const ptx::Instruction& in, const MmaWords& words, Inst& out) {
  auto* p = decoder.make<QuadProduct>();
  if (words.a != "f16" || words.b != "f16")
    return decoder.fail("mma.m8n8k4 takes f16 or f64, not ." + std::string(words.a));
  p->aIsRow = words.aLayout == "row", p->bIsRow = words.bLayout == "row";
  if (!readAccumulator(decoder, words.c, p->c) || !readAccumulator(decoder, words.d, p->d)) return false;
  if (p->c == Accumulator::F32 && p->d == Accumulator::F16)
    return decoder.fail("mma.m8n8k4 with a .f32 accumulator gives .f32, not .f16");
  const auto count = [](Accumulator type) { return type == Accumulator::F16 ? 4 : 8; };
  out.run = runQuadProduct;
  out.data = p;
  return decodeFragment(decoder, in.operands[1], ptx::Type::B32, 2, p->aSlots) &&
         decodeFragment(decoder, in.operands[2], ptx::Type::B32, 2, p->bSlots) &&
         decodeFragment(decoder, in.operands[3], ptx::Type::B32, count(p->c), p->cSlots) &&
         decodeFragment(decoder, in.operands[0], ptx::Type::B32, count(p->d), p->dSlots, true);
}

/// Accumulators' types must be those that the operands' type allows.
bool setAccumulators(Decoder& decoder, const MmaWords& words, TileProduct& p) {
  using Unit = TileProduct::Unit;
  const bool mayBeHalf = words.a == "f16" || p.unit == Unit::WidenedFp8;
  const std::string_view wanted = p.unit == Unit::Double                            ? "f64"
                                  : p.unit == Unit::Integer || p.unit == Unit::Bits ? "s32"
                                                                                    : "f32";
  const bool isHalf = mayBeHalf && words.d == "f16";
  if (words.c != words.d || (words.d != wanted && !isHalf))
    return decoder.fail("mma of ." + std::string(words.a) + " has accumulators of ." + std::string(wanted) +
                        (mayBeHalf ? " or .f16" : "") + ", both alike; got ." + std::string(words.d) + " and ." +
                        std::string(words.c));
  p.c = p.d = isHalf ? Accumulator::F16 : Accumulator::F32;
  return true;
}

bool setShape(Decoder& decoder, const MmaWords& words, const TileType& a, const TileType& b, TileProduct& p) {
  const auto* shape =
      std::ranges::find_if(kShapes, [&](const MmaShape& row) { return row.name == words.shape && row.bits == a.bits; });
  if (shape == std::end(kShapes))
    return decoder.fail("mma has no shape ." + std::string(words.shape) + " for ." + std::string(words.a));
  if (words.aLayout != "row" || words.bLayout != "col")
    return decoder.fail("mma." + std::string(words.shape) + " of ." + std::string(words.a) + " wants .row.col");
  if (!setOperandTypes(p, a, b, shape->k))
    return decoder.fail("mma has no product of ." + std::string(words.a) + " and ." + std::string(words.b));
  p.rowGroups = uint8_t(shape->m / 8);
  return true;
}

bool decodeMma(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  if (!words.takeOneOf({"sp", "sp::ordered_metadata"}).empty()) return decodeSparseMma(decoder, in, words, out);
  if (!words.take("sync") || !words.take("aligned")) return decoder.fail("mma wants .sync.aligned");
  const bool saturate = words.take("satfinite"), isXor = words.take("xor"), isAnd = words.take("and");
  const bool isPopc = words.take("popc");
  MmaWords text;
  for (std::string_view* word : {&text.shape, &text.aLayout, &text.bLayout, &text.d, &text.a, &text.b, &text.c})
    if ((*word = words.takeNext()).empty()) return decoder.refuse("wants a shape, two layouts and four types");
  for (const std::string_view layout : {text.aLayout, text.bLayout})
    if (layout != "row" && layout != "col")
      return decoder.fail("layout ." + std::string(layout) + " of mma is not known");
  if (!decoder.operands(in, 4)) return false;
  out.kind = InstClass::Tensor;
  if (text.shape == "m8n8k4" && text.a != "f64" && !saturate && !isXor && !isAnd && !isPopc)
    return decodeQuadProduct(decoder, in, text, out);

  const TileType *a = findTileType(text.a), *b = findTileType(text.b);
  if (!a || !b) return decoder.fail("type ." + std::string(a ? text.b : text.a) + " of mma is not implemented");
  auto* p = decoder.make<TileProduct>();
  if (!setShape(decoder, text, *a, *b, *p) || !setAccumulators(decoder, text, *p)) return false;
  using Unit = TileProduct::Unit;
  if ((p->unit == Unit::Bits) != (isPopc && (isXor != isAnd)) || (p->unit != Unit::Bits && (isPopc || isXor || isAnd)))
    return decoder.fail("mma of .b1 wants .xor.popc or .and.popc, and no other mma takes them");
  if (saturate && p->unit != Unit::Integer) return decoder.fail(".satfinite is for integer products");
  p->saturate = saturate;
  p->bits = isXor ? BitOperation::Xor : BitOperation::And;
  return decodeTileProduct(decoder, in, p->aRegisters(), p->bRegisters(), *p, out);
}

constexpr OpcodeRow kRows[] = {{"mma", decodeMma}};

} // namespace

constinit OpcodeTable kMmaOpcodes = kRows;

} // namespace tiletwin::sim
