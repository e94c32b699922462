// runtime/cuda/Image.cpp -- see Image.h.
#include "runtime/cuda/Image.h"
#include "runtime/cuda/Driver.h"
#include <charconv>
#include <cstring>
#include <string_view>

namespace tiletwin::cuda {
namespace {

constexpr size_t kElfHeaderBytes = 64, kElfAbiVersionAt = 8, kElfFlagsAt = 48;
constexpr unsigned kAbiWithNewFlags = 8;
constexpr uint32_t kFatBinaryMagic = 0xBA55ED50;

uint32_t word(std::span<const std::byte> image, size_t at) {
  uint32_t value = 0;
  if (at + sizeof value <= image.size()) std::memcpy(&value, image.data() + at, sizeof value);
  return value;
}

/// The flags of an ELF file for a GPU hold its capability: in the lowest byte, since CUDA 13 in the second.
int capabilityOfCubin(std::span<const std::byte> image) {
  if (image.size() < kElfHeaderBytes) return 0;
  const uint32_t flags = word(image, kElfFlagsAt);
  return int((unsigned(image[kElfAbiVersionAt]) >= kAbiWithNewFlags ? flags >> 8 : flags) & 0xff);
}

} // namespace

ImageFacts readImage(std::span<const std::byte> image) {
  ImageFacts facts;
  if (image.size() >= 4 && std::memcmp(image.data(), "\177ELF", 4) == 0) {
    facts.kind = ImageKind::Cubin;
    facts.capability = capabilityOfCubin(image);
  } else if (word(image, 0) == kFatBinaryMagic) {
    facts.kind = ImageKind::FatBinary;
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
