#include "sim/machine/Program.h"
#include "sim/machine/DecodeFunction.h"
#include "sim/machine/Memory.h"
#include <algorithm>

namespace tiletwin::sim {

using ptx::Operand;
using ptx::Space;

namespace {
uint64_t alignUp(uint64_t value, uint64_t alignment) { return (value + alignment - 1) / alignment * alignment; }
bool isModuleMemory(const ptx::Variable& variable) {
  return variable.space == Space::Global || variable.space == Space::Const;
}
constexpr uint64_t kLargestShared = uint64_t(1) << kSharedRankShift;
/// At least: of dynamic shared memory.
constexpr uint64_t kDynamicAlignment = 16;
constexpr uint64_t kLargestVariables = uint64_t(1) << 40;
} // namespace

const FunctionCode* Program::functionAt(uint64_t address) const {
  const uint64_t index = (address & 0xFFFFFFFF) - 1; // a 32-bit register holds the low half
  if (index >= functions.size() || (address >> 32 && (address & kWindowMask) != kFunctionAddresses)) return nullptr;
  return functions[size_t(index)].get();
}

// ---- The module's variables ---------------------------------------------------------------------------------------------------

bool ModuleMemory::make(const ptx::Module& module, ptx::Diagnostic& error) {
  addresses_.assign(module.variables.size(), 0);
  bytes_.resize(module.variables.size());
  uint64_t total = 0;
  for (size_t i = 0; i < module.variables.size(); ++i) {
    const ptx::Variable& variable = module.variables[i];
    if (!isModuleMemory(variable) || variable.isExtern) continue;
    total += variable.bytes;
    if (total > kLargestVariables) {
      error = {variable.at, "the module's variables are too large"};
      return false;
    }
    bytes_[i] = AlignedBytes(std::max<size_t>(variable.bytes, 1));
    addresses_[i] = uint64_t(bytes_[i].data());
    if (!variable.initial.empty())
      std::copy_n(variable.initial.data(), std::min<uint64_t>(variable.initial.size(), variable.bytes),
                  bytes_[i].data());
  }
  for (size_t i = 0; i < module.variables.size(); ++i) {
    const ptx::Variable& variable = module.variables[i];
    if (!addresses_[i]) continue;
    for (const ptx::Relocation& relocation : variable.relocations) {
      uint64_t value = uint64_t(relocation.addend);
      if (relocation.variable >= 0) {
        if (!addresses_[size_t(relocation.variable)]) {
          error = {variable.at, variable.name + " is initialised with the address of " +
                                    module.variables[size_t(relocation.variable)].name + ", which has none"};
          return false;
        }
        value += addresses_[size_t(relocation.variable)];
      } else if (relocation.function >= 0) {
        value += kFunctionAddresses | uint64_t(relocation.function + 1);
      }
      value >>= relocation.shift;
      if (relocation.offset + relocation.bytes <= variable.bytes)
        std::copy_n(reinterpret_cast<const std::byte*>(&value), std::min<size_t>(relocation.bytes, 8),
                    bytes_[i].data() + relocation.offset);
    }
  }
  return true;
}

// ---- An entry and what it calls -----------------------------------------------------------------------------------------------

bool ProgramBuilder::build(size_t entry) {
  program->entry = entry;
  if (!layOutParameters(module->functions[entry]) || !findFunctions(entry) || !layOutShared()) return false;
  std::vector<std::unique_ptr<FunctionDecoder>> decoders;
  for (size_t f = 0; f < program->functions.size(); ++f) {
    if (!program->functions[f]) continue;
    decoders.push_back(std::make_unique<FunctionDecoder>(*this, module->functions[f], *program->functions[f]));
    if (!decoders.back()->layOutVariables()) return false;
  }
  for (const std::unique_ptr<FunctionDecoder>& decoder : decoders)
    if (!decoder->run()) return false;
  findAsync();
  return true;
}

/// What goes on while its thread does: copies and products.
void ProgramBuilder::findAsync() {
  for (const std::unique_ptr<FunctionCode>& function : program->functions) {
    if (!function) continue;
    for (const ptx::Instruction& in : function->source->body) {
      const auto has = [&](std::string_view word) {
        return std::find(in.modifiers.begin(), in.modifiers.end(), word) != in.modifiers.end();
      };
      const bool isProduct = in.opcode == "wgmma" || in.opcode == "tcgen05";
      program->hasAsync |= isProduct || has("async");
      // A bulk copy from shared memory names it as its source.
      program->hasAsyncReads |= isProduct || (in.opcode == "cp" && has("bulk") && has("shared::cta"));
    }
  }
}

bool ProgramBuilder::layOutParameters(const ptx::Function& entry) {
  uint64_t at = 0;
  for (const ptx::Variable& parameter : entry.parameters) {
    at = alignUp(at, std::max<uint64_t>(parameter.alignment, 1));
    program->parameterOffset.push_back(uint32_t(at));
    at += parameter.bytes;
    if (at > 1 << 20) {
      *error = {parameter.at, "the parameters of " + entry.name + " are too large"};
      return false;
    }
  }
  program->parameterBytes = uint32_t(at);
  return true;
}

namespace {

/// Calls visit for an operand and all of its parts.
template <class Visit> void eachOperand(const Operand& operand, const Visit& visit) {
  visit(operand);
  for (const Operand& part : operand.parts) eachOperand(part, visit);
}
template <class Visit> void eachOperand(const ptx::Function& function, const Visit& visit) {
  for (const ptx::Instruction& in : function.body)
    for (const Operand& operand : in.operands) eachOperand(operand, visit);
}

} // namespace

/// The functions that may be called: those named in code that may run, and those whose address a variable holds.
bool ProgramBuilder::findFunctions(size_t entry) {
  program->functions.resize(module->functions.size());
  std::vector<size_t> toLookAt;
  const auto reach = [&](int32_t index) {
    if (index < 0) return;
    const std::string& name = module->functions[size_t(index)].name;
    program->usesHeap |= name == "malloc" || name == "free";
    program->usesPrintf |= name == "vprintf";
    if (program->functions[size_t(index)] || !module->functions[size_t(index)].hasBody) return;
    program->functions[size_t(index)] = std::make_unique<FunctionCode>();
    toLookAt.push_back(size_t(index));
  };
  reach(int32_t(entry));
  for (const ptx::Variable& variable : module->variables)
    for (const ptx::Relocation& relocation : variable.relocations) reach(relocation.function);
  while (!toLookAt.empty()) {
    const ptx::Function& function = module->functions[toLookAt.back()];
    toLookAt.pop_back();
    eachOperand(function, [&](const Operand& operand) {
      if (operand.kind == Operand::Kind::Function) reach(operand.index);
    });
    for (const ptx::Table& table : function.tables)
      for (const int32_t target : table.targets)
        if (table.isCalls) reach(target);
  }
  return true;
}

/// Variables that the reached functions name, in the order of the text; those without a size lie behind all others.
/// As with ptxas, only where there are such does the size count what aligns them.
bool ProgramBuilder::layOutShared() {
  std::vector<bool> isNamed(module->variables.size(), false);
  for (size_t f = 0; f < program->functions.size(); ++f)
    if (program->functions[f])
      eachOperand(module->functions[f], [&](const Operand& operand) {
        if (operand.kind == Operand::Kind::Variable && !operand.isLocal) isNamed[size_t(operand.index)] = true;
      });
  uint64_t at = 0, dynamicAlignment = 1;
  const auto place = [&](const ptx::Variable& variable, uint32_t& offset) {
    at = alignUp(at, std::max<uint64_t>(variable.alignment, 1));
    offset = uint32_t(at);
    at += variable.bytes;
    if (at <= kLargestShared) return true;
    *error = {variable.at, "the shared variables are too large"};
    return false;
  };
  program->sharedOffset.assign(module->variables.size(), 0);
  for (size_t i = 0; i < module->variables.size(); ++i) {
    const ptx::Variable& variable = module->variables[i];
    if (variable.space != Space::Shared) continue;
    program->sharedOffset[i] = Program::kNowhere;
    if (!isNamed[i]) continue;
    if (variable.unsized)
      dynamicAlignment = std::max<uint64_t>({dynamicAlignment, variable.alignment, kDynamicAlignment});
    else if (!place(variable, program->sharedOffset[i]))
      return false;
  }
  for (size_t f = 0; f < program->functions.size(); ++f) {
    if (!program->functions[f]) continue;
    const ptx::Function& function = module->functions[f];
    program->functions[f]->variableOffset.assign(function.variables.size(), 0);
    for (size_t i = 0; i < function.variables.size(); ++i)
      if (function.variables[i].space == Space::Shared &&
          !place(function.variables[i], program->functions[f]->variableOffset[i]))
        return false;
  }
  at = alignUp(at, dynamicAlignment);
  program->staticShared = uint32_t(at);
  for (size_t i = 0; i < module->variables.size(); ++i)
    if (module->variables[i].space == Space::Shared && module->variables[i].unsized && isNamed[i])
      program->sharedOffset[i] = uint32_t(at);
  return true;
}

} // namespace tiletwin::sim
