// codegen/layout/TensorCores.cpp -- the table of shapes, fragments as bases (PTX ISA, "Matrix Fragments for mma").
#include "codegen/layout/TensorCores.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace tiletwin::codegen {

using llvm::ArrayRef;
using llvm::SmallVector;

static constexpr auto kTuring = &tt::GpuFeatures::mmaTuring, kAmpere = &tt::GpuFeatures::mmaAmpere,
                      kFp8 = &tt::GpuFeatures::mmaFp8;
// Of each format the widest along K first.
static constexpr MmaShape kMmaShapes[] = {
    {"m16n8k16", Multiplied::F16, kAmpere, 4, 4, 1},  {"m16n8k8", Multiplied::F16, kTuring, 4, 3, 1},
    {"m16n8k16", Multiplied::BF16, kAmpere, 4, 4, 1}, {"m16n8k8", Multiplied::BF16, kAmpere, 4, 3, 1},
    {"m16n8k8", Multiplied::TF32, kAmpere, 4, 3, 0},  {"m16n8k4", Multiplied::TF32, kAmpere, 4, 2, 0},
    {"m16n8k32", Multiplied::S8, kAmpere, 4, 5, 2},   {"m16n8k16", Multiplied::S8, kAmpere, 4, 4, 2},
    {"m8n8k16", Multiplied::S8, kTuring, 3, 4, 2},    {"m16n8k32", Multiplied::E4M3, kFp8, 4, 5, 2},
    {"m8n8k4", Multiplied::F64, kAmpere, 3, 2, 0},
};

static Multiplied rowFormat(Multiplied format) { return format == Multiplied::E5M2 ? Multiplied::E4M3 : format; }

const MmaShape* findMmaShape(Multiplied format, const tt::GpuFeatures& features, int64_t k) {
  format = rowFormat(format);
  for (const MmaShape& shape : kMmaShapes)
    if (shape.format == format && features.*shape.feature && k >= int64_t(1) << shape.kBits) return &shape;
  return nullptr;
}

const MmaShape* mmaShapeOf(llvm::StringRef name, Multiplied format) {
  for (const MmaShape& shape : kMmaShapes)
    if (shape.name == name && shape.format == rowFormat(format)) return &shape;
  return nullptr;
}

const MmaShape* wgmmaShape(Multiplied format) {
  switch (format) {
  case Multiplied::F16:
  case Multiplied::BF16: return mmaShapeOf("m16n8k16", format);
  case Multiplied::TF32: return mmaShapeOf("m16n8k8", format);
  case Multiplied::S8:
  case Multiplied::E4M3:
  case Multiplied::E5M2: return mmaShapeOf("m16n8k32", format);
  case Multiplied::F64: return nullptr;
  }
  return nullptr;
}

LinearLayout::Bases warpsOfWgmma(ArrayRef<int64_t> dShape, unsigned warpBits) {
  LinearLayout d(dShape, {});
  LinearLayout::Bases warps;
  unsigned mAt = 4, nAt = d.dimensionBits(1); // columns from the highest bit down: a group's are one block
  while (warps.size() < warpBits) {
    if (mAt < d.dimensionBits(0))
      warps.push_back(1u << (d.dimensionShift(0) + mAt++));
    else if (nAt > MmaShape::kNBits)
      warps.push_back(1u << --nAt);
    else
      warps.push_back(0);
  }
  return warps;
}

KOrder ascendingOrder(int64_t k) {
  KOrder order;
  for (unsigned bit = 0; bit < llvm::Log2_64(uint64_t(k)); ++bit) order.push_back(int32_t(bit));
  return order;
}

KOrder interleavedOrder(const MmaShape& shape, int64_t k, unsigned elementsPerThread) {
  KOrder order = ascendingOrder(k);
  unsigned packed = shape.packedBits, own = llvm::Log2_32(elementsPerThread);
  own = std::min(own, unsigned(order.size()) - (shape.kBits - packed)); // in a short K fewer
  if (own <= packed) return order;
  // A thread's own bits beyond one register come after what the instruction takes.
  std::rotate(order.begin() + packed, order.begin() + own, order.begin() + own + (shape.kBits - packed));
  return order;
}

namespace {

/// Collects bases of one layout. Dimensions are named by 'b', 'm', 'n' and 'k'.
struct Fragment {
  SmallVector<char, 3> names; ///< of the dimensions, in the tile's order
  LinearLayout shape;         ///< extents only
  const KOrder& order;
  std::array<LinearLayout::Bases, 4> bases;

  Fragment(llvm::StringRef dimensions, ArrayRef<int64_t> extents, const KOrder& order)
      : names(dimensions.begin(), dimensions.end()), shape(extents, {}), order(order) {}

  /// The flat-index bit for a bit of a dimension; 0 beyond its extent.
  uint32_t basis(char name, unsigned bit) const {
    unsigned d = unsigned(llvm::find(names, name) - names.begin());
    if (d == names.size() || bit >= shape.dimensionBits(d)) return 0;
    return 1u << (shape.dimensionShift(d) + (name == 'k' ? unsigned(order[bit]) : bit));
  }
  void add(Part part, char name, unsigned from, unsigned to) {
    for (unsigned bit = from; bit < to; ++bit) {
      uint32_t one = basis(name, bit);
      if (part != Part::Register || one) bases[size_t(part)].push_back(one);
    }
  }
  /// Registers for all bits of the tile that nobody has yet, those of `name` first.
  void addRest(llvm::StringRef all) {
    for (char name : all) {
      unsigned d = unsigned(llvm::find(names, name) - names.begin());
      if (d == names.size()) continue;
      for (unsigned bit = 0; bit < shape.dimensionBits(d); ++bit) {
        uint32_t one = basis(name, bit);
        bool taken =
            llvm::any_of(bases, [&](const LinearLayout::Bases& list) { return llvm::is_contained(list, one); });
        if (!taken) bases[size_t(Part::Register)].push_back(one);
      }
    }
  }
  LinearLayout layout() const { return LinearLayout(shape.shape(), bases); }
};

/// A basis of d's flat index as one of an operand's: the dimension that the operand lacks is dropped.
uint32_t operandBasis(uint32_t basis, const LinearLayout& d, const LinearLayout& operand, bool isA) {
  SmallVector<int64_t, 5> at = d.coordinates(basis);
  at[at.size() - (isA ? 1 : 2)] = 0;
  return operand.flatIndex(at);
}

SmallVector<int64_t, 3> operandShape(ArrayRef<int64_t> dShape, int64_t k, bool isA) {
  SmallVector<int64_t, 3> shape(dShape.begin(), dShape.end());
  shape[shape.size() - (isA ? 1 : 2)] = k;
  return shape;
}

} // namespace

DotLayouts mmaLayouts(const MmaShape& shape, const KOrder& order, ArrayRef<int64_t> dShape,
                      const LinearLayout::Bases& warps) {
  int64_t k = int64_t(1) << order.size();
  bool batched = dShape.size() == 3;
  unsigned packed = shape.packedBits;
  Fragment d(batched ? "bmn" : "mn", dShape, order);
  d.add(Part::Register, 'n', 0, 1);
  d.add(Part::Lane, 'n', 1, 3), d.add(Part::Lane, 'm', 0, 3);
  d.add(Part::Register, 'm', 3, shape.mBits);
  Fragment a(batched ? "bmk" : "mk", operandShape(dShape, k, true), order);
  Fragment b(batched ? "bkn" : "kn", operandShape(dShape, k, false), order);
  for (Fragment* operand : {&a, &b}) {
    char outer = operand == &a ? 'm' : 'n';
    operand->add(Part::Register, 'k', 0, packed);
    operand->add(Part::Lane, 'k', packed, packed + 2), operand->add(Part::Lane, outer, 0, 3);
    if (operand == &a) operand->add(Part::Register, 'm', 3, shape.mBits);
    operand->add(Part::Register, 'k', packed + 2, shape.kBits);
  }
  for (uint32_t warp : warps) {
    d.bases[size_t(Part::Warp)].push_back(warp);
    a.bases[size_t(Part::Warp)].push_back(operandBasis(warp, d.shape, a.shape, true));
    b.bases[size_t(Part::Warp)].push_back(operandBasis(warp, d.shape, b.shape, false));
  }
  d.addRest("nmb"), a.addRest("kmb"), b.addRest("knb");
  return {a.layout(), b.layout(), d.layout()};
}

namespace {

constexpr unsigned kBankedBits = 7; ///< log2 of the bytes of all banks, which are those of a swizzled row

/// The layout of a matrix whose rows have other numbers.
LinearLayout withRows(const LinearLayout& layout, ArrayRef<int32_t> rows) {
  if (rows.empty()) return layout;
  std::array<LinearLayout::Bases, 4> bases;
  for (Part part : kParts)
    for (uint32_t basis : layout.bases(part)) {
      SmallVector<int64_t, 5> at = layout.coordinates(basis);
      int64_t row = 0;
      for (unsigned bit = 0; bit < rows.size(); ++bit) row |= (at[0] >> bit & 1) << rows[bit];
      at[0] = row;
      bases[size_t(part)].push_back(layout.flatIndex(at));
    }
  return LinearLayout(layout.shape(), std::move(bases));
}

} // namespace

SmallVector<int32_t, 8> rowsReadFromMemory(const MmaShape& shape, int64_t extent, unsigned elementBytes,
                                           unsigned warpBits) {
  const unsigned all = llvm::Log2_64(uint64_t(extent)), size = llvm::Log2_32(elementBytes);
  SmallVector<int32_t, 8> free, rows(all, -1); // bits of the tile's rows that no bit of the instruction's has yet
  for (unsigned bit = 0; bit < all; ++bit) free.push_back(int32_t(bit));
  auto take = [&](unsigned own, auto isWanted) {
    auto* found = llvm::find_if(free, isWanted);
    rows[own] = found == free.end() ? free.front() : *found;
    free.erase(found == free.end() ? free.begin() : found);
  };
  auto any = [](int32_t) { return true; };
  // Registers: rows 8 apart, and the tiles of rows that a warp has. The lowest bits up to the widest access.
  unsigned accessBits = size;
  for (unsigned own = shape.mBits - 1; own < all && accessBits < 4;
       own = own < shape.mBits ? shape.mBits + warpBits : own + 1)
    take(own, any), ++accessBits;
  // Lanes: first bits of the address that those along K do not change, too, by the swizzle.
  SmallVector<unsigned, 2> swizzled;
  for (unsigned bit : {unsigned(shape.packedBits), shape.packedBits + 1u})
    if (bit < 3) swizzled.push_back(bit + 4);
  for (unsigned own = 0; own + 1 < shape.mBits; ++own)
    take(own, [&](int32_t bit) {
      const unsigned address = unsigned(bit) + size;
      return address < kBankedBits && !llvm::is_contained(swizzled, address);
    });
  for (unsigned own = 0; own < all; ++own)
    if (rows[own] < 0) take(own, any);
  return rows;
}

DotLayouts wgmmaInstruction(const MmaShape& shape, const WgmmaForm& form, ArrayRef<int64_t> dShape, int64_t k,
                            unsigned warpBits) {
  SmallVector<int64_t, 2> extents(dShape);
  if (form.isTransposed) std::swap(extents[0], extents[1]);
  return mmaLayouts(shape, ascendingOrder(k), extents, warpsOfWgmma(extents, warpBits));
}

DotLayouts wgmmaLayouts(const MmaShape& shape, const WgmmaForm& form, ArrayRef<int64_t> dShape, int64_t k,
                        unsigned warpBits) {
  DotLayouts result = wgmmaInstruction(shape, form, dShape, k, warpBits);
  result.a = withRows(result.a, form.rows), result.d = withRows(result.d, form.rows);
  if (!form.isTransposed) return result;
  return {result.b.transposed({1, 0}), result.a.transposed({1, 0}), result.d.transposed({1, 0})};
}

DotLayouts fmaLayouts(const LinearLayout& d, int64_t k) {
  DotLayouts result{{}, {}, d};
  for (bool isA : {true, false}) {
    LinearLayout operand(operandShape(d.shape(), k, isA), {});
    std::array<LinearLayout::Bases, 4> bases;
    unsigned kDimension = d.rank() - (isA ? 1 : 2);
    for (unsigned bit = 0; bit < operand.dimensionBits(kDimension); ++bit)
      bases[size_t(Part::Register)].push_back(1u << (operand.dimensionShift(kDimension) + bit));
    for (Part part : kParts)
      for (uint32_t basis : d.bases(part)) {
        uint32_t own = operandBasis(basis, d, operand, isA);
        if (own || part != Part::Register) bases[size_t(part)].push_back(own);
      }
    (isA ? result.a : result.b) = LinearLayout(operand.shape(), bases);
  }
  return result;
}

LinearLayout fmaResult(ArrayRef<int64_t> shape, unsigned laneBits, unsigned warpBits) {
  unsigned rank = shape.size();
  int64_t elements = 1, threads = int64_t(1) << (laneBits + warpBits);
  for (int64_t extent : shape) elements *= extent;
  SmallVector<int64_t, 3> own(rank, 1), lanes(rank, 1), warps(rank, 1);
  SmallVector<int32_t, 3> order;
  for (unsigned d = rank; d-- > 0;) order.push_back(int32_t(d));
  int64_t left = std::max<int64_t>(elements / threads, 1);
  for (unsigned d = rank; d-- > rank - 2;) {
    own[d] = std::min({int64_t(4), shape[d], left});
    left /= own[d];
  }
  int64_t wanted = int64_t(1) << (laneBits - laneBits / 2), lane = int64_t(1) << laneBits;
  lanes[rank - 1] = std::min(shape[rank - 1] / own[rank - 1], wanted);
  lanes[rank - 2] = lane / lanes[rank - 1];
  int64_t rows = std::max<int64_t>(shape[rank - 2] / own[rank - 2] / lanes[rank - 2], 1);
  int64_t warp = int64_t(1) << warpBits;
  warps[rank - 2] = std::min(rows, warp);
  warps[rank - 1] = warp / warps[rank - 2];
  return LinearLayout::blocked(shape, own, lanes, warps, order);
}

LinearLayout::Bases warpsOfDot(const MmaShape& shape, ArrayRef<int64_t> dShape, unsigned warpBits, bool rowsFirst) {
  LinearLayout d(dShape, {});
  unsigned rank = d.rank();
  auto bitsLeft = [&](unsigned dimension, unsigned taken) {
    return d.dimensionBits(dimension) > taken ? d.dimensionBits(dimension) - taken : 0;
  };
  unsigned batches = rank == 3 ? d.dimensionBits(0) : 0, batchAt = 0;
  unsigned m = rank - 2, n = rank - 1, mAt = shape.mBits, nAt = MmaShape::kNBits;
  LinearLayout::Bases warps;
  while (warps.size() < warpBits) {
    unsigned rows = bitsLeft(m, mAt), columns = bitsLeft(n, nAt);
    if (batchAt < batches) {
      warps.push_back(1u << (d.dimensionShift(0) + batchAt++));
    } else if (rows && (rowsFirst || rows + shape.mBits >= columns + MmaShape::kNBits || !columns)) {
      warps.push_back(1u << (d.dimensionShift(m) + mAt++));
    } else if (columns) {
      warps.push_back(1u << (d.dimensionShift(n) + nAt++));
    } else {
      warps.push_back(0);
    }
  }
  return warps;
}

} // namespace tiletwin::codegen
