// sim/SimBackend.h -- the simulator as a backend: what the differential tester and tools run kernels on.
// Not here:  the simulator's own interface, which has more to set (Sim.h).
// Kernels whose parameters are structures (tensor maps among them) are refused by load(): a Launch has numbers and pointers.
#pragma once
#include "runtime/Backend.h"
#include "sim/Sim.h"

namespace tiletwin::sim {

class SimBackend : public Backend {
public:
  explicit SimBackend(CheckOptions checks = {}, LoadOptions options = {})
      : checks_(checks), options_(std::move(options)) {}
  std::string_view name() const override { return "sim"; }
  /// `bytes`: PTX text.
  std::shared_ptr<const LoadedKernel> load(std::span<const std::byte> bytes, std::string_view entry,
                                           std::string& error) override;
  /// `kernel` is one of this class's load(). Outcome::printed holds what each CTA that prints has printed.
  Outcome run(const LoadedKernel& kernel, const Launch& launch) override;

private:
  CheckOptions checks_;
  LoadOptions options_;
};

} // namespace tiletwin::sim
