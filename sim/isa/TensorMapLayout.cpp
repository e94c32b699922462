#include "sim/isa/TensorMapLayout.h"
#include <algorithm>
#include <cstring>

namespace tiletwin::sim {

namespace {

constexpr uint32_t kMaxBox = 256, kMaxPixels = 1024, kMaxElementStride = 8;

/// The numbers of tensormap.replace, in the order of TensorMapType, which is the driver's.
constexpr TensorElement kElements[] = {
    TensorElement::U8,     TensorElement::U16,  TensorElement::U32,    TensorElement::S32, TensorElement::U64,
    TensorElement::S64,    TensorElement::F16,  TensorElement::F32,    TensorElement::F64, TensorElement::BF16,
    TensorElement::F32Ftz, TensorElement::TF32, TensorElement::TF32Ftz};

bool isFloat(uint8_t element) { return element >= uint8_t(TensorElement::F16); }

bool refuse(std::string& error, std::string why) {
  error = "a tensor map " + std::move(why);
  return false;
}

/// Fills in and writes a map whose box is known.
bool encode(TensorMap result, void* map, TensorMapType type, uint32_t rank, const void* globalAddress,
            const uint64_t* globalDim, const uint64_t* globalStrides, const uint32_t* elementStrides,
            TensorMapInterleave interleave, TensorMapSwizzle swizzle, TensorMapPromotion promotion, TensorMapFill fill,
            std::string& error) {
  if (uint8_t(type) >= kTensorElements) return refuse(error, "of this element type is not implemented");
  if (uint8_t(promotion) > 3) return refuse(error, "has no such L2 promotion");
  result.rank = uint8_t(rank - 1);
  result.element = uint8_t(kElements[size_t(type)]);
  result.interleave = uint8_t(interleave);
  result.swizzle = uint8_t(swizzle);
  result.fill = uint8_t(fill);
  result.globalAddress = reinterpret_cast<uintptr_t>(globalAddress);
  for (size_t i = 0; i < rank; ++i) {
    if (globalDim[i] == 0 || globalDim[i] > uint64_t(1) << 32)
      return refuse(error, "has 1 to 2^32 elements along each dimension, not " + std::to_string(globalDim[i]));
    // 2^32 elements reach as far as any coordinate: 2^32 - 1 are the same to every copy.
    result.globalDim[i] = globalDim[i] >> 32 ? ~uint32_t(0) : uint32_t(globalDim[i]);
    result.elementStride[i] = elementStrides[i];
    if (i > 0) result.globalStride[i - 1] = globalStrides[i - 1];
  }
  if (std::string problem = result.problem(); !problem.empty()) return refuse(error, std::move(problem));
  result.write(static_cast<std::byte*>(map));
  return true;
}

} // namespace

TensorMap TensorMap::read(const std::byte* map) {
  TensorMap result;
  std::memcpy(&result, map, sizeof result);
  return result;
}

void TensorMap::write(std::byte* map) const { std::memcpy(map, this, sizeof *this); }

uint32_t TensorMap::elementBytes() const {
  static constexpr uint8_t kBytes[kTensorElements] = {1, 2, 4, 4, 8, 8, 2, 4, 4, 8, 2, 4, 4};
  return element < kTensorElements ? kBytes[element] : 0;
}

uint32_t TensorMap::boxElements(int dimension) const {
  const size_t i = size_t(dimension);
  return dimension == 0 ? boxDim[0] : (boxDim[i] + elementStride[i] - 1) / elementStride[i];
}

std::string TensorMap::problem() const {
  const auto text = [](auto n) { return std::to_string(n); };
  if (rank >= kMaxTensorRank) return "has " + text(rank + 1) + " dimensions, more than 5";
  if (element >= kTensorElements) return "has an element type that is not implemented: " + text(element);
  if (interleave != 0) return "is interleaved, which is not implemented";
  if (swizzle > 3) return "has a swizzle mode that is not implemented: " + text(swizzle);
  if (fill > 1) return "has no such fill mode: " + text(fill);
  if (fill == 1 && !isFloat(element)) return "fills with NaN, but its elements are integers";
  if (globalAddress % 16 != 0) return "has a global address that is no multiple of 16";
  if (isIm2col && dimensions() < 3) return "of im2col has 3 to 5 dimensions, not " + text(dimensions());
  if (isIm2col && (boxDim[0] == 0 || boxDim[0] > kMaxBox || boxDim[1] == 0 || boxDim[1] > kMaxPixels))
    return "has columns of " + text(boxDim[1]) + " pixels with " + text(boxDim[0]) +
           " channels; there may be 1 to 1024 pixels and 1 to 256 channels";
  for (int i = 0; i < dimensions(); ++i) {
    const size_t d = size_t(i);
    if (!isIm2col && (boxDim[d] == 0 || boxDim[d] > kMaxBox))
      return "has a box of " + text(boxDim[d]) + " elements along dimension " + text(i) + "; it may be 1 to 256";
    if (isIm2col && i > 0 && i + 1 < dimensions() && lastPixel(d) < lowerCorner[d - 1])
      return "has corners that leave no pixel along dimension " + text(i);
    if (elementStride[d] == 0 || elementStride[d] > kMaxElementStride)
      return "has the element stride " + text(elementStride[d]) + " along dimension " + text(i) + "; it may be 1 to 8";
    if (i > 0 && (globalStride[d - 1] % 16 != 0 || globalStride[d - 1] >> 40 != 0))
      return "has the stride " + text(globalStride[d - 1]) + " along dimension " + text(i) +
             "; it has to be a multiple of 16 below 2^40";
  }
  if (rowBytes() % 16 != 0) return "has a box whose rows have " + text(rowBytes()) + " bytes, no multiple of 16";
  if (swizzle != 0 && rowBytes() > uint32_t(16) << swizzle)
    return "has a box whose rows have " + text(rowBytes()) + " bytes, more than the " + text(16 << swizzle) +
           " of its swizzle mode";
  return {};
}

bool encodeTensorMap(void* map, TensorMapType type, uint32_t rank, const void* globalAddress, const uint64_t* globalDim,
                     const uint64_t* globalStrides, const uint32_t* boxDim, const uint32_t* elementStrides,
                     TensorMapInterleave interleave, TensorMapSwizzle swizzle, TensorMapPromotion promotion,
                     TensorMapFill fill, std::string& error) {
  if (rank < 1 || rank > kMaxTensorRank) return refuse(error, "has 1 to 5 dimensions, not " + std::to_string(rank));
  TensorMap result{};
  std::copy_n(boxDim, rank, result.boxDim.begin());
  return encode(result, map, type, rank, globalAddress, globalDim, globalStrides, elementStrides, interleave, swizzle,
                promotion, fill, error);
}

bool encodeIm2colMap(void* map, TensorMapType type, uint32_t rank, const void* globalAddress, const uint64_t* globalDim,
                     const uint64_t* globalStrides, const int* lowerCorner, const int* upperCorner, uint32_t channels,
                     uint32_t pixels, const uint32_t* elementStrides, TensorMapInterleave interleave,
                     TensorMapSwizzle swizzle, TensorMapPromotion promotion, TensorMapFill fill, std::string& error) {
  if (rank < 3 || rank > kMaxTensorRank)
    return refuse(error, "of im2col has 3 to 5 dimensions, not " + std::to_string(rank));
  TensorMap result{};
  result.isIm2col = 1;
  result.boxDim = {channels, pixels};
  static constexpr int kCornerBits[] = {16, 8, 5}; // of images with one, two and three dimensions
  const int most = 1 << (kCornerBits[rank - 3] - 1);
  for (size_t d = 0; d < rank - 2; ++d) {
    for (const int corner : {lowerCorner[d], upperCorner[d]})
      if (corner < -most || corner >= most)
        return refuse(error, "has a corner of pixels at " + std::to_string(corner) + "; with " + std::to_string(rank) +
                                 " dimensions it may be " + std::to_string(-most) + " to " + std::to_string(most - 1));
    result.lowerCorner[d] = int16_t(lowerCorner[d]);
    result.upperCorner[d] = int16_t(upperCorner[d]);
  }
  return encode(result, map, type, rank, globalAddress, globalDim, globalStrides, elementStrides, interleave, swizzle,
                promotion, fill, error);
}

bool replaceTensorMapAddress(void* map, const void* globalAddress, std::string& error) {
  TensorMap changed = TensorMap::read(static_cast<const std::byte*>(map));
  changed.globalAddress = reinterpret_cast<uintptr_t>(globalAddress);
  if (std::string problem = changed.problem(); !problem.empty()) return refuse(error, std::move(problem));
  changed.write(static_cast<std::byte*>(map));
  return true;
}

} // namespace tiletwin::sim
