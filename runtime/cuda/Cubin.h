// runtime/cuda/Cubin.h -- what can be read of a cubin, an ELF file for a GPU: its GPU, its kernels' parameters, whether it is whole.
// Here:      the few fields that a launcher needs, checked against each other.
// Not here:  code, symbols, debug information.
// Source:    the ELF format is documented; what NVIDIA puts into .nv.info is not, and was read off ptxas's output. So every
//            answer may be "unknown", and tests compare what is read with the PTX, for each GPU that ptxas knows.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace tiletwin::cuda {

/// Where a parameter lies in the block of parameters. Types are the caller's affair: machine code does not hold them.
struct ParameterPlace {
  uint32_t offset = 0, bytes = 0;
};

/// A number of a file of machine code; 0 behind its end.
template <class T> T number(std::span<const std::byte> image, size_t at) {
  T value = 0;
  if (at <= image.size() && sizeof value <= image.size() - at) std::memcpy(&value, image.data() + at, sizeof value);
  return value;
}

bool isCubin(std::span<const std::byte> image);
/// 10 * major + minor: 90; 0: the file does not say.
int capabilityOfCubin(std::span<const std::byte> image);
/// Whether all tables lie within the file. The driver takes an address and no size, and crashes on other files.
bool isWholeCubin(std::span<const std::byte> image);
/// The parameters of an entry, in order; nothing: the file does not tell, or has no such entry. Offsets may differ
/// from PTX's: compilers align a parameter of 64 bytes in the memory that it lies in, not in the block.
std::optional<std::vector<ParameterPlace>> parametersOfCubin(std::span<const std::byte> image, std::string_view entry);

} // namespace tiletwin::cuda
