// runtime/cuda/PtxHeader.h -- what a launcher has to know of a PTX text: its version and target, its entries and their parameters.
// Here:      a reader of directives that skips the bodies of functions.
// Not here:  instructions; the simulator's reader, which shares nothing with this one (sim/ptx).
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tiletwin::cuda {

struct PtxParameter {
  std::string name, type;        ///< "add_param_0", "u64"
  uint32_t bytes = 0;            ///< of the whole parameter; more than its type's for arrays and structures
  uint32_t offset = 0;           ///< in the parameter block
  bool isPointer = false;        ///< declared with .ptr
  uint32_t pointerAlignment = 1; ///< of what .ptr points to
};

struct PtxEntry {
  std::string name;
  std::vector<PtxParameter> parameters;
  uint32_t parameterBytes = 0;
  std::array<uint32_t, 3> requiredThreads{}, maxThreads{}, requiredCluster{}; ///< zeros where not given
  /// Not an array or structure: its type's own size.
  static bool isNumber(const PtxParameter& parameter);
};

struct PtxHeader {
  int version = 0;    ///< 90 of `.version 9.0`; 0: there is no such line
  std::string target; ///< "sm_90a"
  std::vector<PtxEntry> entries;
  const PtxEntry* find(std::string_view entry) const;
};

/// Never fails: of a text that is no PTX it finds nothing.
PtxHeader readPtxHeader(std::string_view text);

} // namespace tiletwin::cuda
