// sim/driver/FatBinary.h -- the entries of a fat binary.
// Here:      reading them, and undoing their compression (LZ4).
// Not here:  which one is taken (Image.h).
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tiletwin::driver {

inline constexpr uint32_t kFatWrapperMagic = 0x466243B1, kFatBinaryMagic = 0xBA55ED50;

struct FatEntry {
  bool isPtx = false; ///< else machine code
  int capability = 0; ///< 90
  bool isCompressed = false;
  bool isZstd = false; ///< of what is compressed: by zstd, else LZ4
  uint64_t plainBytes = 0;
  std::span<const std::byte> bytes;
};

/// The entries of what begins with kFatBinaryMagic; its header says how long it is. Nothing: a length does not fit.
std::optional<std::vector<FatEntry>> readFatBinary(const std::byte* image);

/// What an entry holds; nothing: it cannot be read. The text of PTX ends in zeros here, and not in textOf.
std::optional<std::string> contentOf(const FatEntry& entry);
std::optional<std::string> textOf(const FatEntry& entry);

/// What an LZ4 block holds, `plainBytes` of it; nothing: it is none.
std::optional<std::string> readLz4(std::span<const std::byte> block, size_t plainBytes);

} // namespace tiletwin::driver
