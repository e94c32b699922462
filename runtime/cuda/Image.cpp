// runtime/cuda/Image.cpp -- see Image.h.
#include "runtime/cuda/Image.h"
#include "runtime/cuda/Driver.h"
#include <charconv>
#include <cstring>
#include <string_view>

namespace tiletwin::cuda {
namespace {

constexpr size_t kElfHeaderBytes = 64, kElfAbiVersionAt = 8, kElfFlagsAt = 48;
constexpr size_t kSegmentsAt = 32, kSegmentBytesAt = 54, kSegmentCountAt = 56, kSegmentOffsetAt = 8,
                 kSegmentSizeAt = 32;
constexpr size_t kSectionsAt = 40, kSectionBytesAt = 58, kSectionCountAt = 60, kSectionTypeAt = 4,
                 kSectionOffsetAt = 24, kSectionSizeAt = 32;
constexpr uint32_t kSectionWithoutBytes = 8;
constexpr unsigned kAbiWithNewFlags = 8;
constexpr uint32_t kFatBinaryMagic = 0xBA55ED50;

/// A number of the file; 0 behind its end.
template <class T> T number(std::span<const std::byte> image, size_t at) {
  T value = 0;
  if (at <= image.size() && sizeof value <= image.size() - at) std::memcpy(&value, image.data() + at, sizeof value);
  return value;
}

bool holds(std::span<const std::byte> image, uint64_t offset, uint64_t bytes) {
  return offset <= image.size() && bytes <= image.size() - offset;
}

/// The driver takes an address and no size: it trusts every offset in the file.
bool isWholeCubin(std::span<const std::byte> image) {
  if (image.size() < kElfHeaderBytes) return false;
  const auto sections = number<uint64_t>(image, kSectionsAt), segments = number<uint64_t>(image, kSegmentsAt);
  const auto sectionBytes = number<uint16_t>(image, kSectionBytesAt),
             sectionCount = number<uint16_t>(image, kSectionCountAt);
  const auto segmentBytes = number<uint16_t>(image, kSegmentBytesAt),
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

/// A header of 16 bytes, with its own size and that of what follows.
bool isWholeFatBinary(std::span<const std::byte> image) {
  return holds(image, number<uint16_t>(image, 6), number<uint64_t>(image, 8));
}

/// The flags of an ELF file for a GPU hold its capability: in the lowest byte, since CUDA 13 in the second.
int capabilityOfCubin(std::span<const std::byte> image) {
  if (image.size() < kElfHeaderBytes) return 0;
  const uint32_t flags = number<uint32_t>(image, kElfFlagsAt);
  return int((unsigned(image[kElfAbiVersionAt]) >= kAbiWithNewFlags ? flags >> 8 : flags) & 0xff);
}

} // namespace

ImageFacts readImage(std::span<const std::byte> image) {
  ImageFacts facts;
  if (image.size() >= 4 && std::memcmp(image.data(), "\177ELF", 4) == 0) {
    facts.kind = ImageKind::Cubin;
    facts.capability = capabilityOfCubin(image);
    facts.isWhole = isWholeCubin(image);
  } else if (number<uint32_t>(image, 0) == kFatBinaryMagic) {
    facts.kind = ImageKind::FatBinary;
    facts.isWhole = isWholeFatBinary(image);
  } else {
    facts.ptx = readPtxHeader({reinterpret_cast<const char*>(image.data()), image.size()});
    if (facts.ptx.version) facts.kind = ImageKind::Ptx;
  }
  return facts;
}

std::string ImageFacts::text() const {
  switch (kind) {
  case ImageKind::Ptx: return "PTX " + ptxVersionText(ptx.version) + " for " + ptx.target;
  case ImageKind::Cubin: return capability ? "a cubin for sm_" + std::to_string(capability) : "a cubin";
  case ImageKind::FatBinary: return "a fat binary";
  case ImageKind::Unknown: break;
  }
  return "neither PTX (there is no .version line) nor a cubin";
}

// "PTX ISA", directive .target, and "CUDA C++ Programming Guide", "Binary Compatibility": a means this GPU alone, f its
// family (the same major number, this minor number or a higher one).
std::string whyNotRunnable(const std::string& target, bool isCubin, int capability) {
  if (!target.starts_with("sm_")) return {};
  int wanted = 0;
  const char* end = target.data() + target.size();
  const char* suffix = std::from_chars(target.data() + 3, end, wanted).ptr;
  const char letter = suffix == end ? '\0' : *suffix;
  const bool sameMajor = wanted / 10 == capability / 10;
  if (letter == 'a' && wanted != capability) return target + " runs on GPUs of sm_" + std::to_string(wanted) + " alone";
  if (wanted > capability) return target + " needs a newer GPU";
  if (letter == 'f' && !sameMajor) return target + " runs on its own family of GPUs alone";
  if (isCubin && !sameMajor) return "a cubin runs on GPUs of its own generation alone";
  return {};
}

} // namespace tiletwin::cuda
