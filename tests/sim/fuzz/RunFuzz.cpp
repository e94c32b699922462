// tests/sim/fuzz/RunFuzz.cpp -- libFuzzer's target for the whole simulator: a text loads or gives a diagnostic; what loads runs, with
// every check, to its end, a trap or the limit of instructions.
//
// Here:      arguments for any parameters: buffers for what may be a pointer, small numbers, zeros for structures.
// Not here:  the reader's own invariants (ReaderFuzz.cpp).
#include "sim/Sim.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace tiletwin;
using namespace tiletwin::sim;

namespace {

constexpr size_t kBufferBytes = 1 << 16, kMostBuffers = 4;
constexpr uint64_t kInstructionLimit = 4000;
constexpr uint32_t kDynamicShared = 16 << 10;

void require(bool holds) {
  if (!holds) std::abort();
}

struct Arguments {
  std::vector<std::vector<std::byte>> memory{kMostBuffers, std::vector<std::byte>(kBufferBytes, std::byte(1))};
  std::vector<std::byte> block;
  std::vector<Buffer> buffers;

  explicit Arguments(const Kernel& kernel) : block(kernel.parameterBytes()) {
    for (size_t i = 0; i < memory.size(); ++i) {
      const auto begin = reinterpret_cast<uintptr_t>(memory[i].data());
      Buffer buffer;
      buffer.name = "p" + std::to_string(i);
      buffer.begin = buffer.viewBegin = begin;
      buffer.end = buffer.viewEnd = begin + kBufferBytes;
      buffers.push_back(std::move(buffer));
    }
    size_t next = 0;
    const auto& parameters = kernel.function().parameters;
    for (size_t i = 0; i < parameters.size(); ++i) {
      const uint64_t value = parameters[i].bytes == 8 ? buffers[next++ % kMostBuffers].begin : 17;
      std::memcpy(block.data() + kernel.parameterOffset(i), &value,
                  std::min<size_t>(sizeof value, size_t(parameters[i].bytes)));
    }
  }
};

void run(const Kernel& kernel) {
  const Arguments arguments(kernel);
  const auto& required = kernel.function().requiredThreads;
  FindingCollector findings;
  LaunchParams params;
  params.grid = {2, 1, 1};
  params.block = {32, 1, 1};
  for (size_t i = 0; i < 3 && required[0]; ++i) params.block[i] = uint32_t(std::max(required[i], 1));
  for (size_t i = 0; i < 3; ++i) // whole clusters
    params.grid[i] *= uint32_t(std::max(kernel.function().requiredCluster[i], 1));
  params.dynamicShared = kDynamicShared;
  params.parameters = arguments.block;
  params.buffers = arguments.buffers;
  params.checks = {true, true, true, true, true};
  params.findings = &findings;
  params.threads = 1;
  params.instructionLimit = kInstructionLimit;
  params.print = [](std::string_view) {};
  const Result result = launch(kernel, params);
  require(result.trap.kind == TrapKind::None || !result.trap.message.empty());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  ptx::Diagnostic error;
  const auto module = Module::load(text, {}, error);
  if (!module) {
    require(!error.message.empty());
    (void)error.render("text", text);
    return 0;
  }
  for (const std::string& entry : module->entries()) {
    const Kernel* kernel = module->find(entry);
    require(kernel);
    run(*kernel);
  }
  return 0;
}
