// interp/asm/LanesVideo.cpp -- the "video" instructions: vadd, vsub, vabsdiff, vmin, vmax, vavrg on whole registers and
// on two or four parts of them.
// Here:      one loop an operation; which types, and what happens to the result, is read from a control word.
// Not here:  what the reader refuses: selected or masked parts, forms that GPUs compute in other ways than documented.
#include "interp/asm/Lanes.h"
#include "interp/asm/Video.h"

namespace tiletwin::interp {
namespace {

int64_t partOf(uint32_t x, int bits, int index, bool isSigned) {
  const uint32_t low = bits == 32 ? x : x >> (bits * index) & ((1u << bits) - 1);
  const int64_t sign = int64_t(1) << (bits - 1);
  return isSigned ? (int64_t(low) ^ sign) - sign : int64_t(low);
}
int64_t clampTo(int64_t x, int bits, bool isSigned) {
  const int64_t low = isSigned ? -(int64_t(1) << (bits - 1)) : 0, high = low + (int64_t(1) << bits) - 1;
  return x < low ? low : x > high ? high : x;
}

template <int64_t (*Op)(int64_t, int64_t)> uint32_t video(uint32_t a, uint32_t b, uint32_t c, uint32_t control) {
  const VideoControl how = VideoControl::from(control);
  const int bits = 32 / how.parts;
  const uint32_t mask = bits == 32 ? ~0u : (1u << bits) - 1;
  uint32_t result = 0;
  int64_t sum = 0;
  for (int i = 0; i < how.parts; ++i) {
    int64_t r = Op(partOf(a, bits, i, how.aSigned), partOf(b, bits, i, how.bSigned));
    if (how.saturates) r = clampTo(r, bits, how.resultSigned);
    sum += r; // of whole numbers, not of their low bits
    result |= (uint32_t(r) & mask) << (how.parts == 1 ? 0 : bits * i);
  }
  return how.adds ? uint32_t(sum) + c : result;
}

int64_t add(int64_t a, int64_t b) { return a + b; }
int64_t subtract(int64_t a, int64_t b) { return a - b; }
int64_t distance(int64_t a, int64_t b) { return a < b ? b - a : a - b; }
int64_t lesser(int64_t a, int64_t b) { return a < b ? a : b; }
int64_t greater(int64_t a, int64_t b) { return a < b ? b : a; }
int64_t average(int64_t a, int64_t b) { return (a + b + (a + b >= 0)) >> 1; }

constexpr struct {
  std::string_view name;
  TwStripFn fn;
} kTable[] = {
    {"vadd", kLanes<video<add>>},    {"vsub", kLanes<video<subtract>>}, {"vabsdiff", kLanes<video<distance>>},
    {"vmin", kLanes<video<lesser>>}, {"vmax", kLanes<video<greater>>},  {"vavrg", kLanes<video<average>>},
};

} // namespace

TwStripFn laneVideo(std::string_view name) {
  for (const auto& row : kTable)
    if (row.name == name) return row.fn;
  return nullptr;
}

} // namespace tiletwin::interp
