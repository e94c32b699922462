// sim/isa/MmaSparse.cpp -- mma.sp: products whose A holds every second element of a row, and metadata says which.
// Here:      decoding, the elements of B that each row of A meets.
// Not here:  fragments (MatrixFragment.h), sums (numerics/TensorCore.h).
// Source:    PTX ISA, "Matrix multiply-accumulate operation using mma.sp instruction with sparse matrix A". Where it is silent
//            (tests/data/sim/sparse_h200.npz has what an H200 gave): metadata are read in order, also where they are not ordered.
// Idea:      a row of A is as long as half of a column of B. Each row meets columns of its own: of every four elements of a column
//            those that the row's metadata name. Elements of 4 bits go in pairs, each pair as a byte. Elements of tf32 are two
//            halves to the metadata, also where these do not belong together.
// On sm_90:  ptxas makes products of 4 bits and of fp8 of other ones. 4 bits lose nothing by it; of fp8 see TileProduct.
#include "sim/isa/MmaSparse.h"
#include "sim/isa/MatrixFragment.h"
#include <algorithm>
#include <cstring>

namespace tiletwin::sim {
namespace {

constexpr int kRows = 16;

struct SparseShape {
  std::string_view name;
  int k, bits;
  int selectors; ///< values that the selector may have
};
constexpr SparseShape kShapes[] = {{"m16n8k16", 16, 16, 4}, {"m16n8k32", 32, 16, 2}, {"m16n8k8", 8, 32, 4},
                                   {"m16n8k16", 16, 32, 2}, {"m16n8k32", 32, 8, 2},  {"m16n8k64", 64, 8, 1},
                                   {"m16n8k64", 64, 4, 2},  {"m16n8k128", 128, 4, 1}};

struct SparseProduct {
  TileProduct::Unit unit = TileProduct::Unit::Float;
  TensorFloat aFormat = TensorFloat::F16, bFormat = TensorFloat::F16;
  IntegerFormat aInteger, bInteger;
  Accumulator accumulator = Accumulator::F32;
  bool saturate = false;
  SparseForm form;
  FragmentSlots a, b, c, d;
  Slot metadata;

  int blocks() const { return form.bytes / 16; } ///< of 16 bytes along a column of B
};

void addFloats(const SparseProduct& p, TensorFloat aFormat, TensorFloat bFormat, const TileLine& row,
               const TileLine* columns, int terms, float (*sums)[kTileColumns]) {
  TensorRows a;
  TensorColumns b;
  unpackRows(aFormat, &row, 1, terms, a);
  unpackColumns(bFormat, columns, terms, b);
  addProducts(aFormat, p.accumulator, a, 1, b, terms, sums);
}

/// Two products of f16 that start from zero, and C added to their sum.
void addWidenedRow(const SparseProduct& p, const TileLine& row, const TileLine* columns, float (*sums)[kTileColumns]) {
  TileLine rows[2], halves[2][kTileColumns];
  widenFp8(p.aFormat, &row, 1, &rows[0], &rows[1]);
  widenFp8(p.bFormat, columns, kTileColumns, halves[0], halves[1]);
  float products[1][kTileColumns] = {};
  for (int half = 0; half < 2; ++half)
    addFloats(p, TensorFloat::F16, TensorFloat::F16, rows[half], halves[half], p.form.bytes / 4, products);
  for (int n = 0; n < kTileColumns; ++n) sums[0][n] = addPlainly(sums[0][n], products[0][n], p.accumulator);
}

/// One row's sums.
void addRow(const SparseProduct& p, const TileLine& row, const TileLine* columns, float* floats, int32_t* integers) {
  if (p.unit == TileProduct::Unit::Integer) {
    addIntegerProducts(p.aInteger, p.bInteger, p.saturate, &row, 1, columns, p.form.bytes / 8,
                       reinterpret_cast<int32_t (*)[kTileColumns]>(integers));
    return;
  }
  auto* sums = reinterpret_cast<float (*)[kTileColumns]>(floats);
  if (p.unit == TileProduct::Unit::WidenedFp8) return addWidenedRow(p, row, columns, sums);
  const int terms = std::max(p.form.bytes * 4 / bitsOf(p.aFormat), 8); // four elements of tf32 are followed by zeros
  addFloats(p, p.aFormat, p.bFormat, row, columns, terms, sums);
}

Step runSparse(const Inst& in, Warp& warp, LaneMask active) {
  if (const Step step = gatherWarp(warp, active); step != Step::Next) return step;
  const auto& p = *static_cast<const SparseProduct*>(in.data);
  TileLine rows[kRows] = {}, halves[2][kTileColumns] = {};
  gatherLines(warp, p.a.data(), 2, p.blocks() / 2, rows);
  gatherLines(warp, p.b.data(), 1, std::min(p.blocks(), 2), halves[0]);
  if (p.blocks() > 2) gatherLines(warp, p.b.data() + 2, 1, p.blocks() - 2, halves[1]);
  SparseColumn columns[kTileColumns];
  for (int n = 0; n < kTileColumns; ++n)
    for (int half = 0; half < 2; ++half) std::memcpy(columns[n] + half * kTileBytes, halves[half][n], kTileBytes);
  const uint32_t* lanes = warp.lanes<uint32_t>(p.metadata);
  const bool isInteger = p.unit == TileProduct::Unit::Integer;
  const auto registers = size_t(isInteger ? 2 : registersOf(p.accumulator));
  for (size_t group = 0; group < 2; ++group) {
    float floats[8][kTileColumns];
    int32_t integers[8][kTileColumns];
    if (isInteger)
      gatherBlock(warp, &p.c[group * registers], integers);
    else
      gatherFloats(warp, p.accumulator, &p.c[group * registers], floats);
    for (int i = 0; i < 8; ++i) {
      TileLine chosen[kTileColumns] = {};
      choose(p.form, metadataOf(p.form, lanes, int(group) * 8 + i), columns, chosen);
      addRow(p, rows[group * 8 + size_t(i)], chosen, floats[i], integers[i]);
    }
    if (isInteger)
      scatterBlock(warp, &p.d[group * registers], integers);
    else
      scatterFloats(warp, p.accumulator, &p.d[group * registers], floats);
  }
  return Step::Next;
}

} // namespace

uint64_t metadataOf(const SparseForm& form, const uint32_t* lanes, int row) {
  const int bitsOfRow = form.bytes / form.pieceBytes, upper = row / 8;
  lanes += row % 8 * 4;
  const auto half = [&](int lane) { return uint64_t(lanes[lane] >> (16 * upper) & 0xFFFF); };
  if (bitsOfRow == 16) return half(form.selector);
  if (form.pieceBytes != 1) return half(2 * form.selector) | half(2 * form.selector + 1) << 16;
  if (bitsOfRow == 32) return lanes[2 * form.selector + upper];
  return lanes[upper] | uint64_t(lanes[upper + 2]) << 32;
}

void choose(const SparseForm& form, uint64_t metadata, const SparseColumn* columns, TileLine* chosen) {
  const int bytes = form.pieceBytes;
  for (int to = 0; to < form.bytes / 2; to += bytes, metadata >>= 2) {
    const int from = to / (2 * bytes) * 4 * bytes + int(metadata & 3) * bytes;
    for (int n = 0; n < kTileColumns; ++n) std::memcpy(chosen[n] + to, columns[n] + from, size_t(bytes));
  }
}

bool decodeSparseMma(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  using Unit = TileProduct::Unit;
  auto* p = decoder.make<SparseProduct>();
  if (!words.take("sync") || !words.take("aligned")) return decoder.fail("mma.sp wants .sync.aligned");
  p->saturate = words.take("satfinite");
  std::string_view shapeName = words.takeNext(), aLayout = words.takeNext(), bLayout = words.takeNext();
  const std::string_view d = words.takeNext(), a = words.takeNext(), b = words.takeNext(), c = words.takeNext();
  if (c.empty()) return decoder.refuse("wants a shape, two layouts and four types");
  const TileType *aType = findTileType(a), *bType = findTileType(b);
  if (!aType || !bType || aType->bits != bType->bits || aType->unit != bType->unit || aLayout != "row" ||
      bLayout != "col")
    return decoder.fail("mma.sp has no product of ." + std::string(a) + " and ." + std::string(b) +
                        ", or wants .row.col");
  const auto* shape = std::ranges::find_if(
      kShapes, [&](const SparseShape& row) { return row.name == shapeName && row.bits == aType->bits; });
  const bool isTooShort = aType->unit == Unit::WidenedFp8 && shapeName == "m16n8k32"; // it is for integers
  if (shape == std::end(kShapes) || isTooShort)
    return decoder.fail("mma.sp has no ." + std::string(shapeName) + " of ." + std::string(a));
  p->unit = aType->unit;
  p->aFormat = aType->format, p->bFormat = bType->format;
  p->aInteger = aType->integer, p->bInteger = bType->integer;
  const bool isInteger = p->unit == Unit::Integer;
  if (c != d || (isInteger ? c != "s32" : c != "f32" && !(c == "f16" && a == "f16")))
    return decoder.fail("mma.sp of ." + std::string(a) + " has no accumulators of ." + std::string(d) + " and ." +
                        std::string(c));
  if (p->saturate && !isInteger) return decoder.fail(".satfinite is for integer products");
  p->accumulator = c == "f16" ? Accumulator::F16 : Accumulator::F32;
  int64_t selector = 0;
  if (!decoder.operands(in, 6) || !decoder.constant(in.operands[5], selector)) return false;
  if (selector < 0 || selector >= shape->selectors)
    return decoder.fail(in.operands[5], "the selector is to be below " + std::to_string(shape->selectors));
  p->form = {shape->k * shape->bits / 8, shape->bits > 8 ? 2 : 1, int(selector)};
  out.kind = InstClass::Tensor;
  out.run = runSparse;
  out.data = p;
  const int accumulators = 2 * (isInteger ? 2 : registersOf(p->accumulator));
  return decodeFragment(decoder, in.operands[1], ptx::Type::B32, p->blocks(), p->a) &&
         decodeFragment(decoder, in.operands[2], ptx::Type::B32, p->blocks(), p->b) &&
         decodeFragment(decoder, in.operands[3], ptx::Type::B32, accumulators, p->c) &&
         decoder.source(in.operands[4], ptx::Type::B32, p->metadata) &&
         decodeFragment(decoder, in.operands[0], ptx::Type::B32, accumulators, p->d, true);
}

} // namespace tiletwin::sim
