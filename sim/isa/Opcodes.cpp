// sim/isa/Opcodes.cpp -- all opcodes: the families' tables side by side. A new family has its line in kTables.
#include "sim/isa/Approx.h"
#include "sim/isa/Atomic.h"
#include "sim/isa/Barrier.h"
#include "sim/isa/Bits.h"
#include "sim/isa/Compare.h"
#include "sim/isa/Convert.h"
#include "sim/isa/CpAsync.h"
#include "sim/isa/Decode.h"
#include "sim/isa/Float.h"
#include "sim/isa/Integer.h"
#include "sim/isa/Matrix.h"
#include "sim/isa/Mbarrier.h"
#include "sim/isa/Mma.h"
#include "sim/isa/Move.h"
#include "sim/isa/System.h"
#include "sim/isa/Video.h"
#include "sim/isa/WarpOps.h"
#include "sim/isa/Wgmma.h"
#include "sim/isa/Wmma.h"
#include <unordered_map>

namespace tiletwin::sim {
namespace {

const std::span<const OpcodeRow>* const kTables[] = {
    &kMatrixOpcodes,  &kMmaOpcodes,       &kWgmmaOpcodes,    &kWmmaOpcodes,
    &kApproxOpcodes,  &kConvertOpcodes,   &kFloatOpcodes,
    &kWarpOpcodes,    &kTensormapOpcodes, &kSystemOpcodes,   &kMbarrierOpcodes, &kFenceOpcodes,   &kCpOpcodes,
    &kBarrierOpcodes, &kBitsOpcodes,      &kCarryOpcodes,    &kCompareOpcodes,  &kIntegerOpcodes, &kLogicOpcodes,
    &kMemoryOpcodes,  &kMoveOpcodes,      &kMultiplyOpcodes, &kSelectOpcodes,  &kAtomicOpcodes,   &kVideoOpcodes,
};

using Rows = std::unordered_map<std::string_view, std::vector<const OpcodeRow*>>;

const Rows& allRows() {
  static const Rows rows = [] {
    Rows result;
    for (const std::span<const OpcodeRow>* table : kTables)
      for (const OpcodeRow& row : *table) result[row.opcode].push_back(&row);
    return result;
  }();
  return rows;
}

bool isFloat(ptx::Type type) { return type >= ptx::Type::F16 && type <= ptx::Type::F64; }

} // namespace

const OpcodeRow* findOpcode(const ptx::Instruction& in) {
  const auto found = allRows().find(in.opcode);
  if (found == allRows().end()) return nullptr;
  const std::vector<const OpcodeRow*>& rows = found->second;
  if (rows.size() == 1) return rows.front();
  ptx::Type type = ptx::Type::None;
  for (const std::string_view word : in.modifiers)
    if ((type = ptx::typeNamed(word)) != ptx::Type::None) break;
  const Domain wanted = isFloat(type) ? Domain::Float : Domain::Integer;
  for (const OpcodeRow* row : rows)
    if (row->domain == wanted) return row;
  for (const OpcodeRow* row : rows)
    if (row->domain == Domain::Any) return row;
  return nullptr;
}

} // namespace tiletwin::sim
