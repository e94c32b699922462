// sim/Module.cpp -- loading: text to a module, its entries to programs.
#include "sim/Sim.h"
#include "sim/debugger/Attach.h"
#include "sim/isa/Contract.h"
#include "sim/machine/DecodeFunction.h"
#include "sim/machine/Program.h"

namespace tiletwin::sim {

const std::string& Kernel::name() const { return function().name; }
const ptx::Function& Kernel::function() const { return program_->module->functions[program_->entry]; }
uint32_t Kernel::parameterBytes() const { return program_->parameterBytes; }
uint32_t Kernel::parameterOffset(size_t index) const { return program_->parameterOffset[index]; }
uint32_t Kernel::staticShared() const { return program_->staticShared; }
bool Kernel::usesHeap() const { return program_->usesHeap; }
bool Kernel::usesPrintf() const { return program_->usesPrintf; }

std::shared_ptr<const Module> Module::load(std::string_view text, const LoadOptions& options, ptx::Diagnostic& error) {
  auto module = std::make_shared<Module>();
  std::unique_ptr<const ptx::Module> read = ptx::read(text, error);
  if (!read) return nullptr;
  for (const ptx::Function& shared : read->functions) {
    auto& function = const_cast<ptx::Function&>(shared); // nobody else has it yet
    invertDivisors(function);
    if (options.contract) contractProducts(function);
  }
  module->source_ = std::move(read);
  const ptx::Module& source = *module->source_;
  auto memory = std::make_shared<ModuleMemory>();
  error = {};
  if (!memory->make(source, error)) return nullptr;
  module->memory_ = memory;
  for (size_t f = 0; f < source.functions.size(); ++f) {
    if (!source.functions[f].isEntry || !source.functions[f].hasBody) continue;
    auto program = std::make_shared<Program>();
    program->module = module->source_;
    program->memory = memory;
    program->file = options.file;
    ProgramBuilder builder{&source, program.get(), &error, options.keepsRegisters || debugger::isWanted()};
    if (!builder.build(f)) return nullptr;
    module->names_.push_back(source.functions[f].name);
    module->kernels_.emplace_back(std::move(program));
  }
  return module;
}

uint64_t Module::addressOf(size_t variable) const { return memory_->address(variable); }

const Kernel* Module::find(std::string_view entry) const {
  for (const Kernel& kernel : kernels_)
    if (kernel.name() == entry) return &kernel;
  return nullptr;
}

} // namespace tiletwin::sim
