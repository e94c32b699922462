// sim/isa/Opcodes.cpp -- all opcodes: the families' tables side by side. A new family has its line in kTables.
#include "sim/isa/Decode.h"
#include <algorithm>
#include <unordered_map>

namespace tiletwin::sim {
namespace {

OpcodeTable* const kTables[] = {
    &kApproxOpcodes,  &kAtomicOpcodes,   &kBarrierOpcodes,   &kBitsOpcodes,    &kCarryOpcodes,   &kCompareOpcodes,
    &kConvertOpcodes, &kCpOpcodes,       &kFenceOpcodes,     &kFloatOpcodes,   &kIntegerOpcodes, &kLogicOpcodes,
    &kMatrixOpcodes,  &kMbarrierOpcodes, &kMemoryOpcodes,    &kMmaOpcodes,     &kMoveOpcodes,    &kMultiplyOpcodes,
    &kSelectOpcodes,  &kSystemOpcodes,   &kTensormapOpcodes, &kTextureOpcodes, &kVideoOpcodes,   &kWarpOpcodes,
    &kWgmmaOpcodes,   &kWmmaOpcodes,     &kTcgen05Opcodes,
};

using Rows = std::unordered_map<std::string_view, std::vector<const OpcodeRow*>>;

const Rows& allRows() {
  static const Rows rows = [] {
    Rows result;
    for (OpcodeTable* table : kTables)
      for (const OpcodeRow& row : *table) result[row.opcode].push_back(&row);
    return result;
  }();
  return rows;
}

Domain domainOf(const ptx::Instruction& in) {
  if (std::ranges::find(in.modifiers, "cc") != in.modifiers.end()) return Domain::Carry;
  for (const std::string_view word : in.modifiers)
    if (const ptx::Type type = ptx::typeNamed(word); type != ptx::Type::None)
      return type >= ptx::Type::F16 ? Domain::Float : Domain::Integer;
  return Domain::Integer;
}

} // namespace

const OpcodeRow* findOpcode(const ptx::Instruction& in) {
  const auto found = allRows().find(in.opcode);
  if (found == allRows().end()) return nullptr;
  const std::vector<const OpcodeRow*>& rows = found->second;
  if (rows.size() == 1) return rows.front();
  for (const Domain wanted : {domainOf(in), Domain::Any})
    for (const OpcodeRow* row : rows)
      if (row->domain == wanted) return row;
  return nullptr;
}

} // namespace tiletwin::sim
