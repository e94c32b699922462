// interp/asm/Refused.cpp -- why instructions of PTX do not run here, for messages that say what to write instead.
#include "interp/asm/Text.h"

namespace tiletwin::interp {
namespace {

constexpr std::string_view kMemory =
    "memory is not reached from inline assembly on the CPU; use tl.load, tl.store or tl.atomic_*";
constexpr std::string_view kThreads =
    "there are no threads or warps; use tl.reduce, tl.associative_scan, tl.gather or tl.sum on blocks";
constexpr std::string_view kFlow =
    "elements may take different ways; use predicates here, or a loop or an `if` of the kernel";
constexpr std::string_view kMatrix = "there are no tensor cores; use tl.dot or tl.dot_scaled";
constexpr std::string_view kCopy = "there is no shared memory; use tl.load or a tensor descriptor";
constexpr std::string_view kStop = "use tl.device_assert";
constexpr std::string_view kCarry = "there is no carry register; use 64-bit arithmetic or mad.wide";

constexpr struct {
  std::string_view word, reason;
} kTable[] = {
    {"activemask", kThreads},
    {"addc", kCarry},
    {"applypriority", kMemory},
    {"atom", kMemory},
    {"bra", kFlow},
    {"brkpt", kStop},
    {"brx", kFlow},
    {"call", kFlow},
    {"cp", kCopy},
    {"createpolicy", kMemory},
    {"cvta", kMemory},
    {"discard", kMemory},
    {"elect", kThreads},
    {"exit", kFlow},
    {"getctarank", kThreads},
    {"isspacep", kMemory},
    {"istypep", kMemory},
    {"ld", kMemory},
    {"ldmatrix", kMatrix},
    {"ldu", kMemory},
    {"madc", kCarry},
    {"mapa", kThreads},
    {"match", kThreads},
    {"mbarrier", kCopy},
    {"mma", kMatrix},
    {"movmatrix", kMatrix},
    {"multimem", kMemory},
    {"red", kMemory},
    {"redux", kThreads},
    {"ret", kFlow},
    {"shfl", kThreads},
    {"st", kMemory},
    {"stmatrix", kMatrix},
    {"subc", kCarry},
    {"suld", kMemory},
    {"sust", kMemory},
    {"tcgen05", kMatrix},
    {"tex", kMemory},
    {"trap", kStop},
    {"vote", kThreads},
    {"wgmma", kMatrix},
    {"wmma", kMatrix},
};

} // namespace

std::string_view asmReason(std::string_view word) {
  for (const auto& row : kTable)
    if (row.word == word) return row.reason;
  return {};
}

} // namespace tiletwin::interp
