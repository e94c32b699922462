// sim/driver/Image.cpp -- see Image.h.
#include "sim/driver/Image.h"
#include "sim/driver/CarriedPtx.h"
#include "sim/driver/FatBinary.h"
#include "sim/driver/VirtualDevice.h"
#include <charconv>
#include <cstring>

namespace tiletwin::driver {
namespace {

constexpr const char* kAdvice =
    "this GPU runs PTX: load PTX, or a fat binary that holds some (nvcc -arch=compute_90 or "
    "-gencode arch=compute_90,code=compute_90), or let the driver link (cuLink*), or take tiletwin's ptxas";

/// What stands behind ".target ": "sm_90a"; empty: no such line.
std::string_view targetOf(std::string_view ptx) {
  size_t at = ptx.find(".target");
  if (at == std::string_view::npos) return {};
  at = ptx.find_first_not_of(" \t", at + 7);
  return at == std::string_view::npos ? std::string_view() : ptx.substr(at, ptx.find_first_of(", \t\r\n/", at) - at);
}

/// 90 of "sm_90a", and its letter or 0.
std::pair<int, char> partsOf(std::string_view target) {
  int number = 0;
  if (!target.starts_with("sm_")) return {0, '\0'};
  const char* end = target.data() + target.size();
  const char* rest = std::from_chars(target.data() + 3, end, number).ptr;
  return {number, rest == end ? '\0' : *rest};
}

/// PTX runs on its own GPU and newer ones; with a letter on its own alone (a), or on its family (f).
bool runsOn(std::string_view target, const VirtualDevice& device) {
  const auto [number, letter] = partsOf(target);
  const Limits& limits = device.limits();
  const int own = limits.major * 10 + limits.minor;
  if (letter == 'a') return number == own;
  return number <= own && (letter != 'f' || number / 10 == own / 10);
}

Result checkTarget(std::string_view ptx, const VirtualDevice& device, std::string& why) {
  const std::string_view target = targetOf(ptx);
  if (runsOn(target, device)) return cuda::kSuccess;
  why = "PTX for " + std::string(target) + " does not run on a GPU of " + device.arch();
  return cuda::kNoBinaryForGpu;
}

Result readFat(const std::byte* image, const VirtualDevice& device, Image& read, std::string& why) {
  const auto entries = readFatBinary(image);
  if (!entries) {
    why = "the fat binary is damaged: a length in it does not fit";
    return cuda::kInvalidImage;
  }
  std::string others;
  std::pair<int, char> best{-1, '\0'};
  for (const FatEntry& entry : *entries) {
    others += (others.empty() ? "" : ", ") + std::string(entry.isPtx ? "PTX for sm_" : "machine code for sm_") +
              std::to_string(entry.capability);
    if (!entry.isPtx) {
      const Limits& limits = device.limits();
      if (entry.capability != limits.major * 10 + limits.minor) continue;
      if (const std::optional<std::string> code = contentOf(entry))
        read.registers = notedRegisters(reinterpret_cast<const std::byte*>(code->data()), code->size());
      continue;
    }
    std::optional<std::string> text = textOf(entry);
    if (!text) {
      why = "the fat binary is damaged: its PTX for sm_" + std::to_string(entry.capability) + " cannot be unpacked";
      return cuda::kInvalidImage;
    }
    const std::string_view target = targetOf(*text);
    if (!runsOn(target, device) || partsOf(target) <= best) continue;
    best = partsOf(target);
    read.ptx = std::move(*text);
  }
  if (best.first >= 0) return cuda::kSuccess;
  why = "the fat binary holds " + (others.empty() ? "nothing" : others) + ", and no PTX for " + device.arch() + "; " +
        kAdvice + "; code that nvcc links separately (-rdc=true, -dc) leaves no PTX: compile it without";
  return cuda::kNoBinaryForGpu;
}

} // namespace

Result readImage(const void* image, size_t bytes, const VirtualDevice& device, Image& read, std::string& why) {
  const auto* at = static_cast<const std::byte*>(image);
  const auto* text = static_cast<const char*>(image);
  const size_t length = bytes ? strnlen(text, bytes) : std::strlen(text); // others have four bytes that are not 0
  const std::string_view begin(text, std::min<size_t>(length, 4));
  uint32_t magic = 0;
  if (begin.size() == sizeof magic) std::memcpy(&magic, image, sizeof magic);
  if (magic == kFatWrapperMagic) { // u32 version, and the address of the binary
    const std::byte* inside = nullptr;
    std::memcpy(static_cast<void*>(&inside), at + 8, sizeof inside);
    return readFat(inside, device, read, why);
  }
  if (magic == kFatBinaryMagic) return readFat(at, device, read, why);
  if (begin == kElfMagic) {
    std::optional<std::string> carried = carriedPtx(at, bytes);
    if (!carried) {
      why = std::string("this image is machine code for a real GPU (a cubin); ") + kAdvice;
      return cuda::kNoBinaryForGpu;
    }
    read.ptx = std::move(*carried);
    read.registers = notedRegisters(at, bytes);
  } else {
    read.ptx.assign(text, length);
  }
  if (read.ptx.find(".version") == std::string::npos) {
    why = "this image is neither PTX (there is no .version line) nor a fat binary";
    return cuda::kInvalidImage;
  }
  return checkTarget(read.ptx, device, why);
}

} // namespace tiletwin::driver
