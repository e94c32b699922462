#include "sim/check/Report.h"
#include "sim/machine/Program.h"
#include "sim/machine/TrapText.h"
#include <cstdlib>
#include <cxxabi.h>
#include <memory>

namespace tiletwin::sim {
namespace {

/// Behind a text whose place is a line of the kernel's source: where the PTX stands.
std::string ptxSuffix(const Program& program, const ptx::Instruction& in, const Inst* inst) {
  return in.source < 0 ? std::string() : " (" + ptxPlaceOf(program, inst) + ")";
}

/// A variable as the source calls it: nvcc's _ZZ9block_sumE4part is block_sum::part.
std::string sourceName(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> plain(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                     std::free);
  return status == 0 && name.starts_with("_Z") ? std::string(plain.get()) : name;
}

std::string byteText(uint64_t byte, std::string_view of) {
  return "byte " + std::to_string(byte) + " of " + std::string(of);
}

} // namespace

const ptx::Instruction& instructionOf(const Program& program, const Inst* inst) {
  for (const auto& function : program.functions)
    if (function && !function->source->body.empty() && inst >= function->code.data() &&
        inst < function->code.data() + function->code.size())
      return function->sourceOf(*inst);
  static const ptx::Instruction unknown{}; // the end of a function without instructions
  return unknown;
}

std::string ptxPlaceOf(const Program& program, const Inst* inst) {
  return ptxPlace(program, instructionOf(program, inst));
}

Finding findingOf(Check check, const ThreadsAt& who, std::string message, std::string advice) {
  const Cta& cta = *who.warp->cta;
  const Program& program = *cta.cluster->grid->program;
  const ptx::Instruction& in = instructionOf(program, who.inst);
  Finding finding;
  finding.check = check;
  finding.ofThreads = true;
  finding.where = sourceOf(program, in);
  finding.operation = in.text;
  finding.message = std::move(message) + ptxSuffix(program, in, who.inst);
  finding.advice = std::move(advice);
  finding.program = programOf(cta);
  finding.shape = {int64_t(cta.warps.size()), kLanes};
  eachLane(who.lanes, [&](int lane) {
    if (finding.elements.size() < kListedElements) finding.elements.push_back(int64_t(who.warp->index) * kLanes + lane);
  });
  finding.elementCount = __builtin_popcount(who.lanes);
  return finding;
}

void addSecond(Finding& finding, const Program& program, const ThreadsAt& who, std::string text) {
  const ptx::Instruction& in = instructionOf(program, who.inst);
  finding.second = sourceOf(program, in);
  finding.secondOperation = in.text;
  finding.secondText = std::move(text) + ptxSuffix(program, in, who.inst);
  if (!who.warp) return;
  finding.secondText += ", warp " + std::to_string(who.warp->index);
  if (who.lanes && who.lanes != kAllLanes) finding.secondText += ", lane " + std::to_string(__builtin_ctz(who.lanes));
  finding.secondProgram = programOf(*who.warp->cta);
}

void report(Grid& grid, Finding finding) {
  if (grid.params->findings) grid.params->findings->add(std::move(finding));
}

std::string placeInShared(const Cta& viewer, const Cta& cta, uint64_t offset) {
  const Program& program = *cta.cluster->grid->program;
  const std::string whose = &viewer == &cta ? "" : " in the CTA of rank " + std::to_string(cta.rank);
  const auto inside = [&](const ptx::Variable& variable, uint32_t at) {
    return variable.space == ptx::Space::Shared && at != Program::kNowhere && offset >= at &&
           offset < at + variable.bytes;
  };
  const auto& variables = program.module->variables;
  for (size_t i = 0; i < variables.size(); ++i)
    if (inside(variables[i], program.sharedOffset[i]))
      return byteText(offset - program.sharedOffset[i], sourceName(variables[i].name)) + whose;
  for (const auto& function : program.functions) {
    if (!function) continue;
    const auto& own = function->source->variables;
    for (size_t i = 0; i < own.size(); ++i)
      if (inside(own[i], function->variableOffset[i]))
        return byteText(offset - function->variableOffset[i], sourceName(own[i].name)) + whose;
  }
  if (offset >= program.staticShared) return byteText(offset - program.staticShared, "dynamic shared memory") + whose;
  return byteText(offset, "shared memory") + whose;
}

std::string placeInGlobal(const Grid& grid, uint64_t address) {
  const int found = grid.addresses.find(address, address + 1);
  if (found < 0) return "global memory";
  const MemoryRange& range = grid.addresses[size_t(found)];
  return byteText(address - range.begin, range.name);
}

} // namespace tiletwin::sim
