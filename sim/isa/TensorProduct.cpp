// sim/isa/TensorProduct.cpp -- what a tcgen05.mma computes, once it is done.
// Source:    PTX ISA, "tcgen05 data path layout organization", "matrix layouts in shared memory".
#include "runtime/FloatFormats.h"
#include "sim/isa/TensorMemory.h"
#include "sim/machine/Cta.h"
#include <cmath>
#include <cstring>

namespace tiletwin::sim {
namespace {

constexpr int kUnitBytes = 16;

/// Lines of A or B in one CTA; `elementBytes` of each element.
struct Lines {
  const MatrixDescriptor& matrix;
  bool across;
  int elementBytes;

  int perUnit() const { return kUnitBytes / elementBytes; }
  /// Calls visit(offset) for the units of `count` lines from `first` on.
  template <class Visit> void eachUnit(int first, int count, const Visit& visit) const {
    if (across) {
      for (int line = first / perUnit(); line * perUnit() < first + count; ++line)
        for (int k = 0; k < kTileBytes / elementBytes; ++k) visit(unitAcross(matrix, line, k));
      return;
    }
    for (int line = first; line < first + count; ++line)
      for (int unit = 0; unit < kTileBytes / kUnitBytes; ++unit) visit(unitAlongK(matrix, line, unit));
  }
  void read(const std::byte* shared, int first, int count, TileLine* lines) const {
    const auto bytes = size_t(elementBytes);
    for (int line = first; line < first + count; ++line)
      if (across)
        for (int k = 0; k < kTileBytes / elementBytes; ++k)
          std::memcpy(lines[line - first] + size_t(k) * bytes,
                      shared + unitAcross(matrix, line / perUnit(), k) + size_t(line % perUnit()) * bytes, bytes);
      else
        for (int unit = 0; unit < kTileBytes / kUnitBytes; ++unit)
          std::memcpy(lines[line - first] + unit * kUnitBytes, shared + unitAlongK(matrix, line, unit), kUnitBytes);
  }
};

Lines linesOfA(const TensorWork& w) { return {w.a, w.descriptor.aAcross, w.product->elementBytes()}; }
Lines linesOfB(const TensorWork& w) { return {w.b, w.descriptor.bAcross, w.product->elementBytes()}; }

/// 16 rows of A from `row` on.
void readRows(const TensorWork& work, int row, TileLine* rows) {
  const int perCta = work.descriptor.m / work.ctaCount();
  Cta& cta = *work.ctas[size_t(row / perCta)];
  if (!work.product->aInTensor) return linesOfA(work).read(cta.shared.data(), row % perCta, kTileRows, rows);
  const int lane = placeOf(work, row, 0).lane, column = TensorAddress(work.aTensor).column;
  for (int i = 0; i < kTileRows; ++i) std::memcpy(rows[i], tensorMemoryOf(cta).row(lane + i) + column, kTileBytes);
}

/// 8 columns of B from `column` on.
void readColumns(const TensorWork& work, int column, TileLine* columns) {
  const int perCta = work.descriptor.n / work.ctaCount();
  const Cta& cta = *work.ctas[size_t(column / perCta)];
  linesOfB(work).read(cta.shared.data(), column % perCta, kTileColumns, columns);
}

/// 16 rows of 8 cells of D.
class Cells {
public:
  Cells(const TensorWork& work, int row, int column) : work_(work), place_(placeOf(work, row, column)) {}
  uint32_t* row(int i) const {
    return tensorMemoryOf(*work_.ctas[size_t(place_.cta)]).row(place_.lane + i) + place_.column;
  }
  bool isDisabled(int i) const {
    const int lane = place_.lane + i + 128 * place_.cta;
    return work_.disabled[size_t(lane / 32)] >> lane % 32 & 1;
  }

private:
  const TensorWork& work_;
  TensorPlace place_;
};

void gatherFloats(const TensorWork& work, const Cells& cells, float (*sums)[kTileColumns]) {
  for (int i = 0; i < kTileRows; ++i)
    for (int n = 0; n < kTileColumns; ++n) {
      const uint32_t bits = cells.row(i)[n];
      const float value = work.descriptor.isHalf ? f16ToF32(uint16_t(bits)) : std::bit_cast<float>(bits);
      sums[i][n] = work.product->scale ? std::ldexp(value, -int(work.product->scale)) : value;
    }
}

void scatterFloats(const TensorWork& work, const Cells& cells, const float (*sums)[kTileColumns]) {
  for (int i = 0; i < kTileRows; ++i)
    for (int n = 0; n < kTileColumns && !cells.isDisabled(i); ++n) {
      const float value = sums[i][n];
      cells.row(i)[n] = !work.descriptor.isHalf ? std::bit_cast<uint32_t>(value)
                        : value != value        ? 0x7FFFu
                                                : f32ToF16(value);
    }
}

void negate(TensorRows& rows) {
  for (auto& row : rows.sign)
    for (int32_t& sign : row) sign = ~sign;
}

/// Operands made ready: one part, or two of fp8, whose halves are f16.
struct Rows {
  std::array<TensorRows, 2> parts;
};
struct Columns {
  std::array<TensorColumns, 2> parts;
};

/// The scale of a row of A or a column of B: 2^(code - 127), or NaN.
float scaleOf(const TensorWork& work, size_t cta, uint32_t address, int byte, int line) {
  const uint32_t cell = tensorMemoryOf(*work.ctas[cta]).row(line % 32)[TensorAddress(address).column + line / 32];
  const int code = int(cell >> (8 * byte) & 0xFF);
  return code == 0xFF ? std::bit_cast<float>(0x7FFFFFFFu) : std::ldexp(1.0f, code - 127);
}

/// sums = products, scaled, + what D held.
void scaleSums(const TensorWork& work, int row, int column, const float (*d)[kTileColumns],
               float (*sums)[kTileColumns]) {
  const int perCta = work.descriptor.m / work.ctaCount();
  const auto cta = size_t(row / perCta);
  for (int i = 0; i < kTileRows; ++i) {
    const float ofRow = scaleOf(work, cta, work.scalesOfA, work.descriptor.scaleByteOfA, row % perCta + i);
    for (int n = 0; n < kTileColumns; ++n) {
      const float ofColumn = scaleOf(work, cta, work.scalesOfB, work.descriptor.scaleByteOfB, column + n);
      const auto sum = float(double(sums[i][n]) * double(ofRow) * double(ofColumn) + double(d[i][n]));
      sums[i][n] = sum == sum ? sum : std::bit_cast<float>(0x7FFFFFFFu);
    }
  }
}

void multiplyFloats(const TensorWork& work) {
  const InstructionDescriptor& d = work.descriptor;
  const bool isFp8 = work.product->kind == TensorKind::F8F6F4;
  const TensorFloat format = isFp8 ? TensorFloat::F16 : d.aFormat;
  const int terms = isFp8 ? 16 : kTileBytes / work.product->elementBytes(), parts = isFp8 ? 2 : 1;
  // f16 sums of several parts are rounded once.
  const Accumulator accumulator = d.isHalf && parts == 1 ? Accumulator::F16 : Accumulator::F32;
  std::vector<Columns> columns(size_t(d.n / kTileColumns));
  for (int strip = 0; strip < d.n / kTileColumns; ++strip) {
    alignas(32) TileLine lines[kTileColumns], halves[2][kTileColumns];
    readColumns(work, strip * kTileColumns, lines);
    Columns& out = columns[size_t(strip)];
    if (isFp8) widenFp8(d.bFormat, lines, kTileColumns, halves[0], halves[1]);
    for (int part = 0; part < parts; ++part)
      unpackColumns(isFp8 ? format : d.bFormat, isFp8 ? halves[part] : lines, terms, out.parts[size_t(part)]);
  }
  auto rows = std::make_unique<Rows>();
  for (int row = 0; row < d.m; row += kTileRows) {
    alignas(32) TileLine lines[kTileRows], halves[2][kTileRows];
    readRows(work, row, lines);
    if (isFp8) widenFp8(d.aFormat, lines, kTileRows, halves[0], halves[1]);
    for (int part = 0; part < parts; ++part) {
      TensorRows& out = rows->parts[size_t(part)];
      unpackRows(format, isFp8 ? halves[part] : lines, kTileRows, terms, out);
      if (d.negatesA != d.negatesB) negate(out);
    }
    for (int strip = 0; strip < d.n / kTileColumns; ++strip) {
      const Cells cells(work, row, strip * kTileColumns);
      float sums[kTileRows][kTileColumns] = {}, before[kTileRows][kTileColumns] = {};
      if (work.addsToD) gatherFloats(work, cells, work.product->isBlockScaled ? before : sums);
      for (size_t part = 0; part < size_t(parts); ++part)
        addProducts(format, accumulator, rows->parts[part], kTileRows, columns[size_t(strip)].parts[part], terms, sums);
      if (work.product->isBlockScaled) scaleSums(work, row, strip * kTileColumns, before, sums);
      scatterFloats(work, cells, sums);
    }
  }
}

void multiplyIntegers(const TensorWork& work) {
  const InstructionDescriptor& d = work.descriptor;
  for (int strip = 0; strip < d.n / kTileColumns; ++strip) {
    alignas(32) TileLine columns[kTileColumns];
    readColumns(work, strip * kTileColumns, columns);
    for (int row = 0; row < d.m; row += kTileRows) {
      alignas(32) TileLine rows[kTileRows];
      readRows(work, row, rows);
      const Cells cells(work, row, strip * kTileColumns);
      int32_t sums[kTileRows][kTileColumns] = {};
      for (int i = 0; work.addsToD && i < kTileRows; ++i) std::memcpy(sums[i], cells.row(i), sizeof sums[i]);
      addIntegerProducts(d.aInteger, d.bInteger, d.saturates, rows, kTileRows, columns, kTileBytes / 4, sums);
      for (int i = 0; i < kTileRows; ++i)
        if (!cells.isDisabled(i)) std::memcpy(cells.row(i), sums[i], sizeof sums[i]);
    }
  }
}

} // namespace

TensorPlace placeOf(const TensorWork& work, int row, int column) {
  const TensorAddress at(work.to);
  const int perCta = work.descriptor.m / work.ctaCount(), cta = row / perCta, inCta = row % perCta;
  if (perCta == 128) return {cta, at.lane + inCta, at.column + column};
  if (!work.ctas[1]) return {cta, at.lane + inCta / 16 * 32 + inCta % 16, at.column + column};
  const int half = work.descriptor.n / 2; // the columns of the second half lie in the upper lanes
  return {cta, at.lane + inCta + column / half * 64, at.column + column % half};
}

void eachSharedUnit(const TensorWork& work, const std::function<void(int, uint32_t)>& visit) {
  for (int cta = 0; cta < work.ctaCount(); ++cta) {
    const auto each = [&](uint32_t offset) { visit(cta, offset); };
    if (work.copy) {
      for (int row = 0; row < work.copy->rows; ++row)
        for (int unit = 0; unit < work.copy->units; ++unit) each(unitAlongK(work.a, row, unit));
      continue;
    }
    linesOfB(work).eachUnit(0, work.descriptor.n / work.ctaCount(), each);
    if (!work.product->aInTensor) linesOfA(work).eachUnit(0, work.descriptor.m / work.ctaCount(), each);
  }
}

void landProduct(const TensorWork& work) {
  work.product->kind == TensorKind::I8 ? multiplyIntegers(work) : multiplyFloats(work);
}

} // namespace tiletwin::sim
