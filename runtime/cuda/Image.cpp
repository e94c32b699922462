// runtime/cuda/Image.cpp -- see Image.h.
#include "runtime/cuda/Image.h"
#include "runtime/cuda/Cubin.h"
#include "runtime/cuda/Driver.h"
#include <charconv>
#include <cstring>
#include <string_view>

namespace tiletwin::cuda {
namespace {

constexpr uint32_t kFatBinaryMagic = 0xBA55ED50;
constexpr size_t kFatHeaderBytesAt = 6, kFatBytesAt = 8;

/// A header that says its own size and that of what follows.
bool isWholeFatBinary(std::span<const std::byte> image) {
  const uint64_t header = number<uint16_t>(image, kFatHeaderBytesAt), rest = number<uint64_t>(image, kFatBytesAt);
  return header <= image.size() && rest <= image.size() - header;
}

} // namespace

ImageFacts readImage(std::span<const std::byte> image) {
  ImageFacts facts;
  if (isCubin(image)) {
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
