// runtime/cuda/Cubin.cpp -- see Cubin.h.
#include "runtime/cuda/Cubin.h"
#include <cstring>
#include <string>

namespace tiletwin::cuda {
namespace {

using Image = std::span<const std::byte>;

// ELF of 64 bits: places in its header, in a segment's row and in a section's.
constexpr size_t kHeaderBytes = 64, kAbiVersionAt = 8, kSegmentsAt = 32, kSectionsAt = 40, kFlagsAt = 48,
                 kSegmentBytesAt = 54, kSegmentCountAt = 56, kSectionBytesAt = 58, kSectionCountAt = 60,
                 kNamesSectionAt = 62;
constexpr size_t kSegmentOffsetAt = 8, kSegmentSizeAt = 32;
constexpr size_t kSectionTypeAt = 4, kSectionOffsetAt = 24, kSectionSizeAt = 32;
constexpr uint32_t kSectionWithoutBytes = 8;
constexpr unsigned kAbiWithNewFlags = 8;

bool holds(Image image, uint64_t offset, uint64_t bytes) {
  return offset <= image.size() && bytes <= image.size() - offset;
}

/// The place of a section's row in the file.
size_t rowOf(Image image, size_t section) {
  return number<uint64_t>(image, kSectionsAt) + section * number<uint16_t>(image, kSectionBytesAt);
}

Image bytesOf(Image image, size_t section) {
  const size_t row = rowOf(image, section);
  return image.subspan(number<uint64_t>(image, row + kSectionOffsetAt), number<uint64_t>(image, row + kSectionSizeAt));
}

std::string_view nameOf(Image image, Image names, size_t section) {
  const uint32_t at = number<uint32_t>(image, rowOf(image, section));
  const std::string_view all(reinterpret_cast<const char*>(names.data()), names.size());
  return at < all.size() ? all.substr(at, all.find('\0', at) - at) : std::string_view();
}

/// The bytes of a section of this name, of a whole cubin.
std::optional<Image> sectionOf(Image image, std::string_view name) {
  const size_t count = number<uint16_t>(image, kSectionCountAt), namesAt = number<uint16_t>(image, kNamesSectionAt);
  if (namesAt >= count) return std::nullopt;
  const Image names = bytesOf(image, namesAt);
  for (size_t section = 0; section < count; ++section)
    if (nameOf(image, names, section) == name &&
        number<uint32_t>(image, rowOf(image, section) + kSectionTypeAt) != kSectionWithoutBytes)
      return bytesOf(image, section);
  return std::nullopt;
}

// .nv.info: rows of a format, an attribute, and 16 bits that are a value, or the bytes that follow.
constexpr uint8_t kHasBytes = 4;
constexpr uint8_t kParameter = 0x17, kBlockSize = 0x19;
constexpr size_t kParameterBytes = 12, kOrdinalAt = 4, kOffsetAt = 6, kSizeAt = 8;
constexpr unsigned kSizeShift = 18; // of the last word: below are alignment and memory space

/// What .nv.info says of parameters; ordinals may come in any order.
struct ParameterInfo {
  std::vector<std::optional<ParameterPlace>> places{};
  uint32_t blockBytes = 0;
  bool isUnderstood = true;
};

void readParameter(Image row, ParameterInfo& info) {
  const size_t ordinal = number<uint16_t>(row, kOrdinalAt);
  if (ordinal >= info.places.size()) info.places.resize(ordinal + 1);
  info.isUnderstood &= row.size() == kParameterBytes && !info.places[ordinal];
  info.places[ordinal] = {number<uint16_t>(row, kOffsetAt), number<uint32_t>(row, kSizeAt) >> kSizeShift};
}

ParameterInfo readInfo(Image section) {
  ParameterInfo info;
  for (size_t at = 0; at < section.size();) {
    const auto format = number<uint8_t>(section, at), attribute = number<uint8_t>(section, at + 1);
    const auto value = number<uint16_t>(section, at + 2);
    at += 4;
    if (attribute == kBlockSize) info.blockBytes = value;
    if (format != kHasBytes) continue;
    if (!holds(section, at, value)) return {.isUnderstood = false};
    if (attribute == kParameter) readParameter(section.subspan(at, value), info);
    at += value;
  }
  return info;
}

} // namespace

bool isCubin(Image image) { return image.size() >= 4 && std::memcmp(image.data(), "\177ELF", 4) == 0; }

int capabilityOfCubin(Image image) {
  if (image.size() < kHeaderBytes) return 0;
  // In the lowest byte of the flags, since CUDA 13 in the second.
  const uint32_t flags = number<uint32_t>(image, kFlagsAt);
  return int((unsigned(image[kAbiVersionAt]) >= kAbiWithNewFlags ? flags >> 8 : flags) & 0xff);
}

bool isWholeCubin(Image image) {
  if (image.size() < kHeaderBytes) return false;
  const auto sections = number<uint64_t>(image, kSectionsAt), segments = number<uint64_t>(image, kSegmentsAt);
  const auto sectionBytes = number<uint16_t>(image, kSectionBytesAt),
             segmentBytes = number<uint16_t>(image, kSegmentBytesAt);
  const auto sectionCount = number<uint16_t>(image, kSectionCountAt),
             segmentCount = number<uint16_t>(image, kSegmentCountAt);
  if (sectionCount == 0 || !holds(image, sections, uint64_t(sectionBytes) * sectionCount) ||
      !holds(image, segments, uint64_t(segmentBytes) * segmentCount))
    return false;
  for (size_t at = sections, i = 0; i < sectionCount; ++i, at += sectionBytes)
    if (number<uint32_t>(image, at + kSectionTypeAt) != kSectionWithoutBytes &&
        !holds(image, number<uint64_t>(image, at + kSectionOffsetAt), number<uint64_t>(image, at + kSectionSizeAt)))
      return false;
  for (size_t at = segments, i = 0; i < segmentCount; ++i, at += segmentBytes)
    if (!holds(image, number<uint64_t>(image, at + kSegmentOffsetAt), number<uint64_t>(image, at + kSegmentSizeAt)))
      return false;
  return true;
}

std::optional<std::vector<ParameterPlace>> parametersOfCubin(Image image, std::string_view entry) {
  if (!isCubin(image) || !isWholeCubin(image)) return std::nullopt;
  const std::optional<Image> section = sectionOf(image, ".nv.info." + std::string(entry));
  if (!section) return std::nullopt;
  const ParameterInfo info = readInfo(*section);
  std::vector<ParameterPlace> places;
  uint32_t end = 0;
  for (const std::optional<ParameterPlace>& place : info.places) {
    if (!place || place->offset < end) return std::nullopt;
    places.push_back(*place);
    end = place->offset + place->bytes;
  }
  // The size of the whole block is said apart: a row of a form not known here would make the two differ.
  if (!info.isUnderstood || end != info.blockBytes) return std::nullopt;
  return places;
}

} // namespace tiletwin::cuda
