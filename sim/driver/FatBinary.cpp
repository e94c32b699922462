// sim/driver/FatBinary.cpp -- see FatBinary.h.
// Source:    the LZ4 block format, "LZ4 Block Format Description"; entries as Image.h says.
#include "sim/driver/FatBinary.h"
#include <cstring>
#include <zstd.h>

namespace tiletwin::driver {
namespace {

template <class T> T numberAt(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// Of the whole: magic, u16 version, u16 bytes of this header, u64 bytes behind it.
constexpr size_t kHeaderBytesAt = 6, kRestAt = 8;
// Of an entry: u16 kind, u32 bytes of this header, u64 bytes behind it, u32 those that count, u32 architecture, u64 flags, u64
// bytes without compression.
constexpr size_t kEntryHeaderAt = 4, kEntryBytesAt = 8, kEntryUsedAt = 16, kArchitectureAt = 28, kFlagsAt = 40,
                 kPlainAt = 56, kLeastEntryHeader = 64;
constexpr uint16_t kPtxEntry = 1;
constexpr uint64_t kLz4Flag = 0x2000, kZstdFlag = 0x8000, kMostPlainBytes = uint64_t(1) << 32;

} // namespace

std::optional<std::vector<FatEntry>> readFatBinary(const std::byte* image) {
  const size_t header = numberAt<uint16_t>(image + kHeaderBytesAt);
  uint64_t left = numberAt<uint64_t>(image + kRestAt);
  const std::byte* at = image + header;
  std::vector<FatEntry> entries;
  while (left) {
    if (left < kLeastEntryHeader) return std::nullopt;
    const uint64_t own = numberAt<uint32_t>(at + kEntryHeaderAt), rest = numberAt<uint64_t>(at + kEntryBytesAt);
    if (own < kLeastEntryHeader || own > left || rest > left - own) return std::nullopt;
    const uint64_t flags = numberAt<uint64_t>(at + kFlagsAt), used = numberAt<uint32_t>(at + kEntryUsedAt);
    FatEntry entry;
    entry.isPtx = numberAt<uint16_t>(at) == kPtxEntry;
    entry.capability = int(numberAt<uint32_t>(at + kArchitectureAt));
    entry.isCompressed = (flags & (kLz4Flag | kZstdFlag)) != 0;
    entry.isZstd = (flags & kZstdFlag) != 0;
    entry.plainBytes = numberAt<uint64_t>(at + kPlainAt);
    entry.bytes = {at + own, size_t(entry.isCompressed && used <= rest ? used : rest)};
    entries.push_back(entry);
    at += own + rest;
    left -= own + rest;
  }
  return entries;
}

std::optional<std::string> readLz4(std::span<const std::byte> block, size_t plainBytes) {
  std::string plain;
  plain.reserve(plainBytes);
  const std::byte* at = block.data();
  const std::byte* const end = at + block.size();
  // A length of 15 goes on in the next bytes, up to the first that is not 255.
  const auto length = [&](size_t first) -> std::optional<size_t> {
    size_t total = first;
    if (first == 15)
      for (;;) {
        if (at == end) return std::nullopt;
        const auto more = size_t(*at++);
        total += more;
        if (more != 255) break;
      }
    return total;
  };
  while (at != end) {
    const auto token = unsigned(*at++);
    const auto literals = length(token >> 4);
    if (!literals || *literals > size_t(end - at) || *literals > plainBytes - plain.size()) return std::nullopt;
    plain.append(reinterpret_cast<const char*>(at), *literals);
    at += *literals;
    if (at == end) break; // the last sequence has literals alone
    if (end - at < 2) return std::nullopt;
    const size_t distance = numberAt<uint16_t>(at);
    at += 2;
    const auto repeated = length(token & 15);
    constexpr size_t kLeastMatch = 4;
    if (!repeated || !distance || distance > plain.size() || *repeated + kLeastMatch > plainBytes - plain.size())
      return std::nullopt;
    for (size_t i = 0; i < *repeated + kLeastMatch; ++i) plain += plain[plain.size() - distance]; // it may overlap
  }
  return plain.size() == plainBytes ? std::optional(std::move(plain)) : std::nullopt;
}

std::optional<std::string> contentOf(const FatEntry& entry) {
  if (!entry.isCompressed) return std::string(reinterpret_cast<const char*>(entry.bytes.data()), entry.bytes.size());
  if (entry.plainBytes > kMostPlainBytes) return std::nullopt;
  if (!entry.isZstd) return readLz4(entry.bytes, entry.plainBytes);
  std::string plain(entry.plainBytes, '\0');
  const size_t got = ZSTD_decompress(plain.data(), plain.size(), entry.bytes.data(), entry.bytes.size());
  if (ZSTD_isError(got) || got != plain.size()) return std::nullopt;
  return plain;
}

std::optional<std::string> textOf(const FatEntry& entry) {
  std::optional<std::string> text = contentOf(entry);
  if (text) text->resize(std::strlen(text->c_str())); // it is filled up with zeros
  return text;
}

} // namespace tiletwin::driver
