// tests/sim/SimRun.h -- runs a PTX text with arrays and numbers as arguments; for tests.
//   SimRun run(text);                       // throws std::runtime_error with the reader's message if it does not load
//   run.buffer(in).buffer(out).scalar(7u);  // parameters, in order; buffers are read and written in place
//   const Result r = run.launch(1, 32);     // grid and block in x; run.params holds everything else
#pragma once
#include "sim/Sim.h"
#include <cstring>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tiletwin::sim {

/// ".version", ".target", ".address_size", and then `body`.
inline std::string ptxHeader(std::string_view target = "sm_90a", std::string_view version = "8.8") {
  std::string text = ".version ";
  text.append(version).append("\n.target ").append(target).append("\n.address_size 64\n");
  return text;
}

/// One entry named `k` with `pointers` .u64 parameters p0, p1, ..., loaded into %rd0, %rd1, ... and made global. `body` may use
/// %r, %rd, %f, %fd, %h (b16), %q (b128), %p<0..63>; registers %rd0 to %rd(pointers - 1) are taken. It ends with `ret`.
inline std::string ptxKernel(int pointers, std::string_view body, std::string_view before = "",
                             std::string_view target = "sm_90a", std::string_view version = "8.8") {
  std::ostringstream text;
  text << ptxHeader(target, version) << before << "\n.visible .entry k(";
  for (int i = 0; i < pointers; ++i) text << (i ? ", " : "") << ".param .u64 p" << i;
  text << ")\n{\n.reg .pred %p<64>;\n.reg .b16 %h<64>;\n.reg .b32 %r<64>;\n.reg .b64 %rd<64>;\n.reg .f32 %f<64>;\n"
       << ".reg .f64 %fd<64>;\n.reg .b128 %q<8>;\n";
  for (int i = 0; i < pointers; ++i)
    text << "ld.param.u64 %rd" << i << ", [p" << i << "];\ncvta.to.global.u64 %rd" << i << ", %rd" << i << ";\n";
  text << body << "\nret;\n}\n";
  return text.str();
}

class SimRun {
public:
  explicit SimRun(std::string_view text, LoadOptions options = {}) {
    ptx::Diagnostic error;
    module_ = Module::load(text, options, error);
    if (!module_) throw std::runtime_error(error.render(options.file, text));
    entry(module_->entries().empty() ? std::string_view() : std::string_view(module_->entries().front()));
  }

  /// What load() says of a text that must not load; empty if it loads.
  static std::string loadError(std::string_view text, LoadOptions options = {}) {
    ptx::Diagnostic error;
    return Module::load(text, options, error) ? std::string() : error.render(options.file, text);
  }

  SimRun& entry(std::string_view name) {
    kernel_ = module_->find(name);
    if (!kernel_) throw std::runtime_error("no entry " + std::string(name));
    return *this;
  }

  template <class T> SimRun& buffer(T* data, size_t count, bool readOnly = false, std::string name = {}) {
    const auto begin = reinterpret_cast<uintptr_t>(data), end = begin + count * sizeof(T);
    if (name.empty()) name = "p" + std::to_string(arguments_.size());
    buffers_.push_back({std::move(name), begin, end, begin, end, readOnly, nullptr});
    return scalar(uint64_t(begin));
  }
  template <class T> SimRun& buffer(std::vector<T>& data, bool readOnly = false) {
    return buffer(data.data(), data.size(), readOnly);
  }
  /// Memory the kernel may touch that is no parameter.
  SimRun& memory(Buffer buffer) {
    buffers_.push_back(std::move(buffer));
    return *this;
  }
  template <class T> SimRun& scalar(const T& value) {
    std::vector<std::byte> bytes(sizeof(T));
    std::memcpy(bytes.data(), &value, sizeof(T));
    arguments_.push_back(std::move(bytes));
    return *this;
  }

  Result launch(uint32_t grid, uint32_t block) {
    return launch(std::array<uint32_t, 3>{grid, 1, 1}, std::array<uint32_t, 3>{block, 1, 1});
  }
  Result launch(std::array<uint32_t, 3> grid, std::array<uint32_t, 3> block) {
    std::vector<std::byte> parameters(kernel_->parameterBytes());
    for (size_t i = 0; i < arguments_.size(); ++i)
      std::memcpy(parameters.data() + kernel_->parameterOffset(i), arguments_[i].data(), arguments_[i].size());
    params.grid = grid;
    params.block = block;
    params.parameters = parameters;
    params.buffers = buffers_;
    params.findings = &findings;
    return sim::launch(*kernel_, params);
  }

  const Module& module() const { return *module_; }
  const Kernel& kernel() const { return *kernel_; }
  LaunchParams params; ///< cluster, dynamicShared, checks, threads, instructionLimit, print, ...
  FindingCollector findings;

private:
  std::shared_ptr<const Module> module_;
  const Kernel* kernel_ = nullptr;
  std::vector<std::vector<std::byte>> arguments_;
  std::vector<Buffer> buffers_;
};

} // namespace tiletwin::sim
