// runtime/cuda/Image.h -- code as bytes: PTX text, a cubin, or a fat binary; what can be told of it without loading it.
// Not here:  loading (Module.h).
#pragma once
#include "runtime/cuda/PtxHeader.h"
#include <cstddef>
#include <span>
#include <string>

namespace tiletwin::cuda {

enum class ImageKind : uint8_t { Unknown, Ptx, Cubin, FatBinary };

struct ImageFacts {
  ImageKind kind = ImageKind::Unknown;
  int capability = 0;  ///< of a cubin: 90; 0 where it does not say
  PtxHeader ptx;       ///< of PTX
  bool isWhole = true; ///< false: a cubin or fat binary that says it is longer than it is; drivers crash on those
  /// "PTX 9.0 for sm_90a", "a cubin for sm_90", "a fat binary".
  std::string text() const;
};
ImageFacts readImage(std::span<const std::byte> image);

/// Why code for `target` ("sm_90a"; of a cubin "sm_90") does not run on a GPU of `capability`; empty: it does, as far as
/// its name tells. PTX runs on newer GPUs too, a cubin on those of its generation.
std::string whyNotRunnable(const std::string& target, bool isCubin, int capability);

} // namespace tiletwin::cuda
