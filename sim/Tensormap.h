// sim/Tensormap.h -- tensor maps for launchers: what cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col do for a GPU, in the simulator's own layout.
// Not here:  copies through a map (isa/TensorCopy.h), tensormap.replace (isa/Tensormap.cpp).
// Source:    "CUDA Driver API", NVIDIA, "Tensor Map Object Management". The 128 bytes are opaque there.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace tiletwin::sim {

inline constexpr size_t kTensorMapBytes = 128;

// The driver's numbers: CUtensorMapDataType and its kin can be cast.
enum class TensorMapType : uint8_t { U8, U16, U32, S32, U64, S64, F16, F32, F64, BF16, F32Ftz, TF32, TF32Ftz };
enum class TensorMapInterleave : uint8_t { None, Bytes16, Bytes32 };
enum class TensorMapSwizzle : uint8_t { None, Bytes32, Bytes64, Bytes128 };
enum class TensorMapPromotion : uint8_t { None, Bytes64, Bytes128, Bytes256 };
enum class TensorMapFill : uint8_t { Zero, NaN };

/// Writes a tensor map to `map` (kTensorMapBytes bytes, aligned to 64). Parameters as of cuTensorMapEncodeTiled: `globalDim`,
/// `boxDim` and `elementStrides` have `rank` numbers, `globalStrides` rank - 1, in bytes, from dimension 1 on.
/// False if the driver would refuse them, or if the simulator has no such copies; `error` says why.
bool encodeTensorMap(void* map, TensorMapType type, uint32_t rank, const void* globalAddress, const uint64_t* globalDim,
                     const uint64_t* globalStrides, const uint32_t* boxDim, const uint32_t* elementStrides,
                     TensorMapInterleave interleave, TensorMapSwizzle swizzle, TensorMapPromotion promotion,
                     TensorMapFill fill, std::string& error);

/// The same for columns of pixels, as of cuTensorMapEncodeIm2col: the corners have rank - 2 numbers, from dimension 1 on.
bool encodeIm2colMap(void* map, TensorMapType type, uint32_t rank, const void* globalAddress, const uint64_t* globalDim,
                     const uint64_t* globalStrides, const int* lowerCorner, const int* upperCorner, uint32_t channels,
                     uint32_t pixels, const uint32_t* elementStrides, TensorMapInterleave interleave,
                     TensorMapSwizzle swizzle, TensorMapPromotion promotion, TensorMapFill fill, std::string& error);

/// Gives a tensor map that either of them wrote another address, as cuTensorMapReplaceAddress does.
bool replaceTensorMapAddress(void* map, const void* globalAddress, std::string& error);

} // namespace tiletwin::sim
