// codegen/layout/Conversion.cpp -- see Conversion.h.
#include "codegen/layout/Conversion.h"

namespace tiletwin::codegen {

/// Rough cycles of a warp: a word through shared memory or a shuffle 2, a select 1, two barriers 100: all
/// warps wait for the last one.
static bool isWarpCheaper(const WarpConversion& warp, const LinearLayout& from, const LinearLayout& to,
                          unsigned bytes) {
  unsigned wordsPerElement = bytes > 4 ? 2 : 1;
  unsigned inWarp = (2 * warp.shuffles() + warp.selects()) * wordsPerElement;
  unsigned registers = from.withoutRepeatedRegisters().registers() + to.withoutRepeatedRegisters().registers();
  unsigned inShared = 100 + 2 * ((registers * bytes + 3) / 4);
  return inWarp <= inShared;
}

Conversion Conversion::plan(const LinearLayout& from, const LinearLayout& to, unsigned elementBytes,
                            uint32_t maxBytes) {
  Conversion result;
  result.elementBytes = elementBytes;
  std::optional<WarpConversion> warp = WarpConversion::plan(from, to, std::max(1u, 4 / elementBytes));
  if (warp && warp->shuffles() == 0 && warp->selects() == 0)
    warp = WarpConversion::plan(from, to, 1); // nothing to pack
  if (warp && isWarpCheaper(*warp, from, to, elementBytes))
    result.inWarps = std::move(warp);
  else
    result.inShared = SharedConversion::plan(from, to, elementBytes, maxBytes);
  return result;
}

} // namespace tiletwin::codegen
