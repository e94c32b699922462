#include "sim/SimBackend.h"
#include <cstring>

namespace tiletwin::sim {
namespace {

/// Ptr only where .ptr says so: other pointers are numbers of 64 bits.
DType typeOf(const ptx::Variable& parameter) {
  return parameter.isPointer ? DType::Ptr : parameterType(ptx::nameOf(parameter.type), parameter.bytes);
}

class SimKernel : public LoadedKernel {
public:
  SimKernel(std::shared_ptr<const Module> module, const Kernel& kernel) : kernel(kernel), module_(std::move(module)) {
    for (const ptx::Variable& parameter : kernel.function().parameters) types_.push_back(typeOf(parameter));
  }
  const std::string& name() const override { return kernel.name(); }
  std::span<const DType> argumentTypes() const override { return types_; }
  const Kernel& kernel;

private:
  std::shared_ptr<const Module> module_; // owns `kernel`
  std::vector<DType> types_;
};

/// The launch's sizes, or what the kernel says where they are 0, or 1.
std::array<uint32_t, 3> sizes(const std::array<int32_t, 3>& given, const std::array<int32_t, 3>& required) {
  const std::array<int32_t, 3>& from = given == std::array<int32_t, 3>{} ? required : given;
  std::array<uint32_t, 3> result;
  for (size_t i = 0; i < 3; ++i) result[i] = from[i] > 0 ? uint32_t(from[i]) : 1;
  return result;
}

} // namespace

std::shared_ptr<const LoadedKernel> SimBackend::load(std::span<const std::byte> bytes, std::string_view entry,
                                                     std::string& error) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  ptx::Diagnostic diagnostic;
  std::shared_ptr<const Module> module = Module::load(text, options_, diagnostic);
  if (!module) {
    error = diagnostic.render(options_.file, text);
    return nullptr;
  }
  const Kernel* kernel = module->find(entry);
  if (!kernel) {
    error = options_.file + ": there is no entry " + std::string(entry);
    return nullptr;
  }
  for (const ptx::Variable& parameter : kernel->function().parameters) {
    if (parameter.bytes == uint64_t(ptx::bytesOf(parameter.type)) && parameter.bytes <= sizeof(KernelArgument::bits))
      continue;
    error = options_.file + ":" + std::to_string(parameter.at.line) + ":" + std::to_string(parameter.at.column) + ": " +
            parameter.name + " is a structure of " + std::to_string(parameter.bytes) +
            " bytes; a backend's launch passes numbers and pointers";
    return nullptr;
  }
  return std::make_shared<SimKernel>(std::move(module), *kernel);
}

Outcome SimBackend::run(const LoadedKernel& loaded, const Launch& launched) {
  const Kernel& kernel = static_cast<const SimKernel&>(loaded).kernel;
  const ptx::Function& function = kernel.function();
  Outcome outcome;
  if (launched.arguments.size() != function.parameters.size()) {
    outcome.trap =
        Trap::of(TrapKind::InvalidValue, kernel.name() + " takes " + std::to_string(function.parameters.size()) +
                                             " arguments, not " + std::to_string(launched.arguments.size()));
    return outcome;
  }
  for (int32_t extent : launched.grid)
    if (extent < 1) {
      outcome.trap =
          Trap::of(TrapKind::InvalidValue, kernel.name() + ": a grid has at least one CTA along each dimension");
      return outcome;
    }
  std::vector<std::byte> parameters(kernel.parameterBytes());
  for (size_t i = 0; i < launched.arguments.size(); ++i)
    std::memcpy(parameters.data() + kernel.parameterOffset(i), &launched.arguments[i].bits,
                size_t(function.parameters[i].bytes));
  LaunchParams params;
  for (size_t i = 0; i < 3; ++i) params.grid[i] = uint32_t(launched.grid[i]);
  params.block = sizes(launched.block, function.requiredThreads);
  params.cluster = sizes(launched.cluster, function.requiredCluster);
  params.dynamicShared = uint32_t(launched.sharedBytes);
  params.parameters = parameters;
  params.buffers = launched.buffers;
  params.checks = checks_;
  params.print = [&](std::string_view text) { outcome.printed.emplace_back(text); }; // under a lock of the launch
  outcome.trap = sim::launch(kernel, params).trap;
  return outcome;
}

} // namespace tiletwin::sim
