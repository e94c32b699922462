// sim/isa/TensorWork.h -- what tcgen05 does while its thread goes on: products, and copies from shared to tensor memory.
//
// Here:      instruction descriptors, shared-memory descriptors of sm_100, the queue, commits.
// Not here:  sums (numerics/TensorCore.h), tensor memory itself (TensorMemory.h).
// Idea:      an instruction only queues its work. By default it is done at the latest moment that is allowed: when somebody waits
//            for the mbarrier of a tcgen05.commit of its thread. Until then accumulators hold what they held, and what is
//            written to shared memory in between is what the product sees.
// Invariant: the work of a thread is done in the order in which it was issued.
// Numerics:  not recorded on a GPU. A product of 32 bytes along k is summed as wgmma sums it, with 25 bits below the largest
//            exponent; fp8 is widened to f16 first, and its 32 elements are two sums of 16. A block's scales multiply their sum, which is then added to D.
#pragma once
#include "sim/isa/AddressOperand.h"
#include "sim/isa/Async.h"
#include "sim/isa/Wgmma.h"
#include <array>
#include <functional>
#include <string>

namespace tiletwin::sim {

enum class TensorKind : uint8_t { F16, TF32, F8F6F4, I8 };

/// The 32 bits that say what a product is.
struct InstructionDescriptor {
  int m = 0, n = 0;
  TensorFloat aFormat = TensorFloat::F16, bFormat = TensorFloat::F16;
  IntegerFormat aInteger, bInteger;
  bool isHalf = false;                    ///< D is of f16
  int scaleByteOfA = 0, scaleByteOfB = 0; ///< of block scales: which byte of their cells
  bool saturates = false, negatesA = false, negatesB = false, aAcross = false, bAcross = false;
};
/// Why the bits describe no product of the kind that the simulator has; empty: they do, and `out` is it.
std::string readInstructionDescriptor(uint32_t bits, TensorKind kind, int ctas, InstructionDescriptor& out);
/// The same for products with block scales.
std::string readScaledDescriptor(uint32_t bits, int ctas, InstructionDescriptor& out);
/// The same for a descriptor of a matrix in shared memory.
std::string readMatrixDescriptor(uint64_t bits, MatrixDescriptor& out);

/// Inst::data of tcgen05.mma.
struct TensorProductPlan {
  TensorKind kind = TensorKind::F16;
  int ctas = 1; ///< cta_group
  bool aInTensor = false;
  AddressOperand d, aTensor;
  Slot a, b, descriptor, addsToD;
  std::vector<Slot> disabled; ///< masks of lanes that are not written; empty: all are
  int64_t scale = 0;          ///< D counts 2^-scale times
  /// .block_scale of .kind::mxf8f6f4: rows of A and columns of B have a scale each, of e8m0, in tensor memory.
  bool isBlockScaled = false;
  AddressOperand scalesOfA, scalesOfB;

  int elementBytes() const { return kind == TensorKind::F16 ? 2 : kind == TensorKind::TF32 ? 4 : 1; }
};
Step runTensorProduct(const Inst& in, Warp& warp, LaneMask active);

/// Inst::data of tcgen05.cp.
struct TensorCopyPlan {
  int ctas = 1, rows = 128, units = 1; ///< units: of 16 bytes in a row
  /// Lanes from the address's on that row r goes to: r / group * pitch + r % group, and again `repeat` lanes further, `copies`
  /// times in all.
  int group = 128, pitch = 128, repeat = 0, copies = 1;
  AddressOperand to;
  Slot from;
};
Step runTensorCopy(const Inst& in, Warp& warp, LaneMask active);

/// Inst::data of tcgen05.commit.
struct TensorCommitForm {
  AddressOperand barrier;
  Slot ctaMask; ///< 2 bytes a lane; none: no multicast
};
Step runTensorCommit(const Inst& in, Warp& warp, LaneMask active);

struct TensorRange;

/// One product or copy on its way.
struct TensorWork {
  AsyncOrigin origin;
  Warp* warp = nullptr;
  uint32_t number = 0; ///< of the CTA's work
  const TensorProductPlan* product = nullptr;
  const TensorCopyPlan* copy = nullptr;
  std::array<Cta*, 2> ctas{}; ///< the second one: null, or of cta_group::2
  InstructionDescriptor descriptor;
  MatrixDescriptor a, b; ///< of copies: a
  uint32_t to = 0, aTensor = 0, scalesOfA = 0, scalesOfB = 0;
  bool addsToD = false;
  std::array<uint32_t, 8> disabled{};
  uint32_t low = 0, high = 0; ///< all that is read of each CTA's shared memory lies between these offsets

  int ctaCount() const { return ctas[1] ? 2 : 1; }
  /// Does it read one of these bytes of a CTA's shared memory?
  bool reads(const Cta& cta, uint64_t offset, uint64_t bytes) const;
  /// The cells that it writes in the tensor memory of ctas[i]; of products with A there, those that A lies in.
  std::vector<TensorRange> written() const;
  std::vector<TensorRange> read() const;
};

/// Where 16 rows from `row` on and 8 columns from `column` on of D lie: which of the CTAs, the first lane, the first column.
struct TensorPlace {
  int cta, lane, column;
};
TensorPlace placeOf(const TensorWork& work, int row, int column);

/// Calls visit(cta index, offset) for each unit of 16 bytes of shared memory that it reads.
void eachSharedUnit(const TensorWork& work, const std::function<void(int, uint32_t)>& visit);
/// Multiplies; TensorProduct.cpp.
void landProduct(const TensorWork& work);

/// Lands what a lane of a warp has issued before number `upTo`, in order.
void landTensorWork(Warp& warp, int lane, uint32_t upTo);
/// Lands what is due at a turn, and what is in front of it; returns when the next one is.
uint64_t landDueTensorWork(Cta& cta, uint64_t turn);
/// The work of a cluster's threads that reads any of these bytes of a CTA's shared memory, or null.
const TensorWork* tensorReader(const Cta& cta, uint64_t offset, uint64_t bytes);
/// A CTA ends: what it has left behind is reported.
void endTensorMemory(Cta& cta);

} // namespace tiletwin::sim
