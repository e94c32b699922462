// interp/asm/Refused.cpp -- why instructions of PTX do not run here, for messages that say what to write instead.
#include "interp/asm/Text.h"
#include <string>

namespace tiletwin::interp {
namespace {

constexpr struct {
  std::string_view reason, words;
} kTable[] = {
    {"memory is not reached from inline assembly on the CPU; use tl.load, tl.store or tl.atomic_*",
     "applypriority atom createpolicy cvta discard isspacep istypep ld ldu multimem red st suld sust tex"},
    {"there are no threads or warps; use tl.reduce, tl.associative_scan, tl.gather or tl.sum on blocks",
     "activemask elect getctarank mapa match redux shfl vote"},
    {"elements may take different ways; use predicates here, or a loop or an `if` of the kernel",
     "bra brx call exit ret"},
    {"there are no tensor cores; use tl.dot or tl.dot_scaled", "ldmatrix mma movmatrix stmatrix tcgen05 wgmma wmma"},
    {"there is no shared memory; use tl.load or a tensor descriptor", "cp mbarrier"},
    {"use tl.device_assert", "brkpt trap"},
    {"there is no carry register; use 64-bit arithmetic or mad.wide", "addc madc subc"},
};

} // namespace

std::string_view asmReason(std::string_view word) {
  for (const auto& row : kTable)
    if ((" " + std::string(row.words) + " ").find(" " + std::string(word) + " ") != std::string::npos)
      return row.reason;
  return {};
}

} // namespace tiletwin::interp
