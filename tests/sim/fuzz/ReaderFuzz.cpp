// tests/sim/fuzz/ReaderFuzz.cpp -- libFuzzer's target for the reader of PTX: any text gives a module or a diagnostic.
#include "sim/ptx/Ptx.h"
#include <cstdlib>

using namespace tiletwin::sim;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void checkOperand(const ptx::Module& module, const ptx::Function& f, const ptx::Operand& o) {
  using Kind = ptx::Operand::Kind;
  auto exists = [&](size_t count) { require(o.index >= 0 && size_t(o.index) < count); };
  if (o.kind == Kind::Register) exists(f.registers.size());
  if (o.kind == Kind::Variable) exists(o.isLocal ? f.variables.size() : module.variables.size());
  if (o.kind == Kind::Function) exists(module.functions.size());
  if (o.kind == Kind::Label) exists(f.labels.size());
  if (o.kind == Kind::Table) exists(f.tables.size());
  if (o.kind == Kind::Prototype) exists(f.prototypes.size());
  for (const ptx::Operand& part : o.parts) checkOperand(module, f, part);
}

/// What Ptx.h promises of every module.
void check(const ptx::Module& module) {
  for (const ptx::Function& f : module.functions) {
    for (const ptx::Instruction& in : f.body) {
      require(in.guard < int32_t(f.registers.size()) && in.source < int32_t(module.sourceLines.size()));
      for (const ptx::Operand& o : in.operands) checkOperand(module, f, o);
    }
    for (const ptx::Label& label : f.labels) require(size_t(label.instruction) <= f.body.size());
    for (const ptx::Table& table : f.tables)
      for (int32_t target : table.targets)
        require(target >= 0 && size_t(target) < (table.isCalls ? module.functions.size() : f.labels.size()));
  }
  for (const ptx::Variable& v : module.variables) {
    require(v.initial.empty() || v.initial.size() == v.bytes);
    for (const ptx::Relocation& r : v.relocations) {
      require((r.variable >= 0) != (r.function >= 0) && r.offset + r.bytes <= v.bytes);
      require(r.variable < int32_t(module.variables.size()) && r.function < int32_t(module.functions.size()));
    }
  }
  for (const ptx::SourceLine& line : module.sourceLines)
    require(line.file < int32_t(module.files.size()) && line.inlinedAt < int32_t(module.sourceLines.size()));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  ptx::Diagnostic error;
  const auto module = ptx::read(text, error);
  require(bool(module) == error.message.empty());
  if (module) {
    check(*module);
  } else {
    require(error.at.line >= 1 && error.at.column >= 1);
    (void)error.render("text", text);
  }
  return 0;
}
