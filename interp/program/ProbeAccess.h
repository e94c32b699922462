// interp/program/ProbeAccess.h -- what an access is shown to the checks of memory as, and the instruction that does it.
// Here:      the operands: those of the access itself.
// Not here:  where such instructions are put (plan/ProbeAccess.cpp), what the checks make of them (check/MemoryCheck.h).
// Invariant: a probe stands right behind its access: what is written is written, addresses are known to be inside of a
//            buffer, and nothing of the same program comes between.
#pragma once
#include "interp/check/RaceOrder.h"
#include "interp/program/Instructions.h"

namespace tiletwin::interp {

struct ProbeAccessOp {
  enum class Form : uint8_t { Block, Rows, Addresses, Scalar, DescriptorRows };
  Form form = Form::Block;
  RaceKind kind = RaceKind::Read; ///< atomics of scope cta are plain
  bool isAtomic = false;          ///< whatever the scope
  bool isFloatAdd = false;        ///< an atomic sum of floats
  bool isCas = false, isPoll = false;
  bool isUpdate = false; ///< a store of what was computed from a load of the same pointers
  RaceSync sync;
  uint32_t number = 0; ///< in Plan::probes
  uint32_t loop = 0;   ///< the outermost loop that it stands in; 0: none
  SourceLocation where;
  const char* operation = "tt.load";
  DType type = DType::I32;
  Access access;         ///< Block, Rows; all forms: shape, elementBytes, root
  int32_t tableDim = -1; ///< Rows
  Off table;
  int64_t elements = 1; ///< Addresses
  Off address;          ///< Addresses: a dense tile; Scalar: a cell
  bool hasMask = false;
  Off mask;
  const DescriptorRowsOp* rows = nullptr; ///< DescriptorRows: the access's own operands
  /// What memory held (atomics); a compare-and-swap has written where it is `compare`. A poll: 1 if it saw its value.
  bool hasOld = false, compareIsCell = false;
  Off old, compare;
  bool isAtomicForAll() const { return kind == RaceKind::AtomicRead || kind == RaceKind::AtomicWrite; }
  bool writes() const { return kind == RaceKind::Write || kind == RaceKind::AtomicWrite; }
};

/// A plan with more of them is refused: what the checks remember of each byte has so much room for the number of a probe.
inline constexpr uint32_t kMostProbes = 1u << 19;
/// The bit of LaunchState::probed for accesses through an argument (-1: none that is known). Beyond 62 arguments share one.
inline int64_t probedBit(int32_t root) { return root < 62 ? root + 1 : 63; }

Exec execProbeAccess; // data: ProbeAccessOp; imm: probedBit() of its argument
Exec execProbeBarrier;

} // namespace tiletwin::interp
