// sim/isa/MatrixFragment.cpp -- fragments to lines and sums, and products of whole fragments.
// Not here:  decoding of instructions (Mma.cpp, Wmma.cpp), the arithmetic (numerics/TensorCore.h).
#include "sim/isa/MatrixFragment.h"
#include "sim/machine/Gather.h"
#include <algorithm>
#include <bit>
#include <cstring>
#include <immintrin.h>

namespace tiletwin::sim {
namespace {

constexpr int kMaxGroups = 4; // 32 rows or columns of eight

constexpr TileType kTileTypes[] = {
    {"f16", TileProduct::Unit::Float, TensorFloat::F16, {}, 16},
    {"bf16", TileProduct::Unit::Float, TensorFloat::BF16, {}, 16},
    {"tf32", TileProduct::Unit::Float, TensorFloat::TF32, {}, 32},
    {"e4m3", TileProduct::Unit::WidenedFp8, TensorFloat::E4M3, {}, 8},
    {"e5m2", TileProduct::Unit::WidenedFp8, TensorFloat::E5M2, {}, 8},
    {"s8", TileProduct::Unit::Integer, {}, {8, true}, 8},
    {"u8", TileProduct::Unit::Integer, {}, {8, false}, 8},
    {"s4", TileProduct::Unit::Integer, {}, {4, true}, 4},
    {"u4", TileProduct::Unit::Integer, {}, {4, false}, 4},
    {"b1", TileProduct::Unit::Bits, {}, {}, 1},
    {"f64", TileProduct::Unit::Double, {}, {}, 64},
};

const std::vector<ptx::Operand>* vectorParts(const ptx::Operand& operand) {
  return operand.kind == ptx::Operand::Kind::Vector ? &operand.parts : nullptr;
}

bool checkCount(Decoder& decoder, const ptx::Operand& operand, int count) {
  const auto* parts = vectorParts(operand);
  const int got = parts ? int(parts->size()) : 1;
  if (got == count) return true;
  return decoder.fail(operand, "this fragment has " + std::to_string(count) +
                                   (count == 1 ? " register" : " registers") + ", got " + std::to_string(got));
}

/// Slots of block (row group, column group) of an accumulator.
const Slot* blockSlots(const FragmentSlots& slots, const TileProduct& p, Accumulator type, int row, int column) {
  return &slots[size_t((column * p.rowGroups + row) * registersOf(type))];
}

struct Lines {
  alignas(32) TileLine rows[8 * kMaxGroups], columns[8 * kMaxGroups];
};

void gatherOperands(const TileProduct& p, Warp& warp, Lines& lines) {
  if (p.blocks == 1) std::memset(&lines, 0, sizeof lines); // what lies behind the elements adds nothing
  gatherLines(warp, p.aSlots.data(), p.rowGroups, p.blocks, lines.rows);
  gatherLines(warp, p.bSlots.data(), p.columnGroups, p.blocks, lines.columns);
}

/// Visits blocks of up to 16 x 8: visit(first row group, row groups, column group).
template <class Visit> void eachTile(const TileProduct& p, Visit&& visit) {
  for (int row = 0; row < p.rowGroups; row += 2)
    for (int column = 0; column < p.columnGroups; ++column) visit(row, std::min(2, p.rowGroups - row), column);
}

/// The products of one step, all of whose terms are summed at once.
struct FloatStep {
  Lines lines;
  TensorFloat aFormat, bFormat;
  int terms;

  void addTo(const TileProduct& p, float (*sums)[kTileColumns], int row, int groups, int column) const {
    TensorRows a;
    TensorColumns b;
    unpackRows(aFormat, lines.rows + 8 * row, 8 * groups, terms, a);
    unpackColumns(bFormat, lines.columns + 8 * column, terms, b);
    addProducts(aFormat, p.d, a, 8 * groups, b, terms, sums);
  }
};

/// Each line's second half becomes the next step's first.
void splitBlocks(const TileLine* lines, int count, TileLine* first, TileLine* second) {
  for (int i = 0; i < count; ++i) {
    std::memcpy(first[i], lines[i], 16), std::memset(first[i] + 16, 0, 16);
    std::memcpy(second[i], lines[i] + 16, 16), std::memset(second[i] + 16, 0, 16);
  }
}

/// One or two steps. Returns how many.
int gatherSteps(const TileProduct& p, Warp& warp, FloatStep (&steps)[2]) {
  const int rows = 8 * p.rowGroups, columns = 8 * p.columnGroups;
  if (p.unit != TileProduct::Unit::WidenedFp8 && !p.oneBlockAtATime) {
    gatherOperands(p, warp, steps[0].lines);
    steps[0].aFormat = p.aFormat, steps[0].bFormat = p.bFormat;
    steps[0].terms = std::max(8, p.blocks * 128 / bitsOf(p.aFormat)); // four of tf32 are filled up with zeros
    return 1;
  }
  Lines all;
  gatherOperands(p, warp, all);
  Lines &first = steps[0].lines, &second = steps[1].lines;
  if (p.oneBlockAtATime) {
    splitBlocks(all.rows, rows, first.rows, second.rows);
    splitBlocks(all.columns, columns, first.columns, second.columns);
  } else {
    widenFp8(p.aFormat, all.rows, rows, first.rows, second.rows);
    widenFp8(p.bFormat, all.columns, columns, first.columns, second.columns);
  }
  for (FloatStep& step : steps) {
    step.aFormat = p.oneBlockAtATime ? p.aFormat : TensorFloat::F16;
    step.bFormat = p.oneBlockAtATime ? p.bFormat : TensorFloat::F16;
    step.terms = p.oneBlockAtATime ? 8 : 8 * p.blocks;
  }
  return 2;
}

using Block = float[8][kTileColumns];

void addC(const TileProduct& p, const Block& c, Block& sums) {
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < kTileColumns; ++j) sums[i][j] = addPlainly(c[i][j], sums[i][j], p.d);
}

void runFloat(const TileProduct& p, Warp& warp) {
  FloatStep steps[2];
  const int stepCount = gatherSteps(p, warp, steps);
  const bool addsLast = p.unit == TileProduct::Unit::WidenedFp8;
  Block sums[kMaxGroups * kMaxGroups], c[2];
  eachTile(p, [&](int row, int groups, int column) {
    Block* tile = &sums[column * p.rowGroups + row];
    for (int g = 0; g < groups; ++g) {
      gatherFloats(warp, p.c, blockSlots(p.cSlots, p, p.c, row + g, column), tile[g]);
      if (addsLast) std::memcpy(c[g], tile[g], sizeof(Block)), std::memset(tile[g], 0, sizeof(Block));
    }
    for (int step = 0; step < stepCount; ++step) steps[step].addTo(p, tile[0], row, groups, column);
    for (int g = 0; addsLast && g < groups; ++g) addC(p, c[g], tile[g]);
  });
  eachTile(p, [&](int row, int groups, int column) {
    for (int g = 0; g < groups; ++g)
      scatterFloats(warp, p.d, blockSlots(p.dSlots, p, p.d, row + g, column), sums[column * p.rowGroups + row + g]);
  });
}

void runInteger(const TileProduct& p, Warp& warp) {
  Lines lines;
  gatherOperands(p, warp, lines);
  int32_t sums[kMaxGroups * kMaxGroups][8][kTileColumns];
  eachTile(p, [&](int row, int groups, int column) {
    auto* tile = &sums[column * p.rowGroups + row];
    for (int g = 0; g < groups; ++g)
      gatherBlock<int32_t>(warp, blockSlots(p.cSlots, p, Accumulator::F32, row + g, column), tile[g]);
    const TileLine *rows = lines.rows + 8 * row, *columns = lines.columns + 8 * column;
    if (p.unit == TileProduct::Unit::Bits)
      addBitProducts(p.bits, rows, 8 * groups, columns, 4 * p.blocks, tile[0]);
    else
      addIntegerProducts(p.aInteger, p.bInteger, p.saturate, rows, 8 * groups, columns, 4 * p.blocks, tile[0]);
  });
  eachTile(p, [&](int row, int groups, int column) {
    for (int g = 0; g < groups; ++g)
      scatterBlock<int32_t>(warp, blockSlots(p.dSlots, p, Accumulator::F32, row + g, column),
                            sums[column * p.rowGroups + row + g]);
  });
}

/// line[8 * group + g][4 * block + t] is in lane 4 * g + t.
void gatherDoubles(Warp& warp, const Slot* slots, int groups, int blocks, double (*lines)[16]) {
  for (int r = 0; r < groups * blocks; ++r) {
    const double* lanes = warp.lanes<double>(slots[r]);
    for (int g = 0; g < 8; ++g) std::memcpy(lines[8 * (r % groups) + g] + 4 * (r / groups), lanes + 4 * g, 32);
  }
}

void runDouble(const TileProduct& p, Warp& warp) {
  double a[kTileRows][16], b[kTileColumns][16], sums[kTileRows][kTileColumns];
  gatherDoubles(warp, p.aSlots.data(), p.rowGroups, p.blocks, a);
  gatherDoubles(warp, p.bSlots.data(), 1, p.blocks, b);
  for (int g = 0; g < p.rowGroups; ++g)
    gatherBlock<double>(warp, blockSlots(p.cSlots, p, Accumulator::F32, g, 0), sums + 8 * g);
  addDoubleProducts(p.rounding, a, 8 * p.rowGroups, b, 4 * p.blocks, sums);
  for (int g = 0; g < p.rowGroups; ++g)
    scatterBlock<double>(warp, blockSlots(p.dSlots, p, Accumulator::F32, g, 0), sums + 8 * g);
}

} // namespace

float addPlainly(float x, float y, Accumulator type) {
  const float sum = x + y; // 24 bits are enough for the sum of two f16 to be rounded twice as if once
  if (sum != sum) return std::bit_cast<float>(0x7FFFFFFFu);
  return type == Accumulator::F16 ? _cvtsh_ss(_cvtss_sh(sum, _MM_FROUND_TO_NEAREST_INT)) : sum;
}

bool decodeFragment(Decoder& decoder, const ptx::Operand& operand, ptx::Type type, int count, FragmentSlots& slots,
                    bool isDestination) {
  if (!checkCount(decoder, operand, count)) return false;
  const auto* parts = vectorParts(operand);
  for (int i = 0; i < count; ++i) {
    const ptx::Operand& part = parts ? (*parts)[size_t(i)] : operand;
    Slot& slot = slots[size_t(i)];
    if (!(isDestination ? decoder.destination(part, type, slot) : decoder.source(part, type, slot))) return false;
  }
  return true;
}

bool decodeTileProduct(Decoder& decoder, const ptx::Instruction& in, int aRegisters, int bRegisters, TileProduct& p,
                       Inst& out) {
  const ptx::Type type = p.unit == TileProduct::Unit::Double ? ptx::Type::F64 : ptx::Type::B32;
  out.run = runTileProduct;
  out.kind = InstClass::Tensor;
  out.data = &p;
  return decodeFragment(decoder, in.operands[1], type, aRegisters, p.aSlots) &&
         decodeFragment(decoder, in.operands[2], type, bRegisters, p.bSlots) &&
         decodeFragment(decoder, in.operands[3], type, p.accumulatorRegisters(p.c), p.cSlots) &&
         decodeFragment(decoder, in.operands[0], type, p.accumulatorRegisters(p.d), p.dSlots, true);
}

Step gatherWarp(Warp& warp, LaneMask& active) {
  if (const Step step = gather(warp, kAllLanes, active); step != Step::Next) return step;
  if (active == kAllLanes) return Step::Next;
  return warp.trap(TrapKind::InvalidValue,
                   "needs all 32 lanes of the warp; " + std::to_string(__builtin_popcount(active)) + " are left");
}

void gatherLines(Warp& warp, const Slot* slots, int groups, int blocks, TileLine* lines) {
  for (int r = 0; r < groups * blocks; ++r) {
    const auto* lanes = warp.lanes<uint32_t>(slots[r]);
    for (int g = 0; g < 8; ++g) std::memcpy(lines[8 * (r % groups) + g] + 16 * (r / groups), lanes + 4 * g, 16);
  }
}

void gatherFloats(Warp& warp, Accumulator type, const Slot* slots, float (*rows)[kTileColumns]) {
  if (type != Accumulator::F16) return gatherBlock<float>(warp, slots, rows);
  const auto* pairs = warp.lanes<uint32_t>(*slots);
  for (int i = 0; i < 8; ++i)
    _mm256_storeu_ps(rows[i], _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(pairs + 4 * i))));
}

void scatterFloats(Warp& warp, Accumulator type, const Slot* slots, const float (*rows)[kTileColumns]) {
  if (type != Accumulator::F16) return scatterBlock<float>(warp, slots, rows);
  auto* pairs = warp.lanes<uint32_t>(*slots);
  for (int i = 0; i < 8; ++i)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(pairs + 4 * i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(rows[i]), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

Step runTileProduct(const Inst& in, Warp& warp, LaneMask active) {
  if (const Step step = gatherWarp(warp, active); step != Step::Next) return step;
  const auto& product = *static_cast<const TileProduct*>(in.data);
  switch (product.unit) {
  case TileProduct::Unit::Float:
  case TileProduct::Unit::WidenedFp8: runFloat(product, warp); break;
  case TileProduct::Unit::Integer:
  case TileProduct::Unit::Bits: runInteger(product, warp); break;
  case TileProduct::Unit::Double: runDouble(product, warp); break;
  }
  return Step::Next;
}

const TileType* findTileType(std::string_view name) {
  const auto* row = std::ranges::find(kTileTypes, name, &TileType::name);
  return row == std::end(kTileTypes) ? nullptr : row;
}

bool setOperandTypes(TileProduct& product, const TileType& a, const TileType& b, int k) {
  const bool mayDiffer = a.unit == TileProduct::Unit::Integer || a.unit == TileProduct::Unit::WidenedFp8;
  if (a.unit != b.unit || a.bits != b.bits || (!mayDiffer && a.name != b.name)) return false;
  product.unit = a.unit;
  product.aFormat = a.format, product.bFormat = b.format;
  product.aInteger = a.integer, product.bInteger = b.integer;
  product.blocks = uint8_t(a.unit == TileProduct::Unit::Double ? k / 4 : k * a.bits / 128);
  return true;
}

} // namespace tiletwin::sim
