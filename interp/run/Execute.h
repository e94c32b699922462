// interp/run/Execute.h -- what the Execute*.cpp files share: places of operands, checks of accesses, ways to leave a program.
// Not here:  the operands (program/Instructions.h), the state of a program (Frame.h).
#pragma once
#include "interp/program/Instructions.h"
#include "interp/program/TileModule.h"
#include "interp/run/Frame.h"
#include <algorithm>
#include <string>
#include <vector>

namespace tiletwin::interp {

inline int64_t UniformOperand::get(Frame& f) const { return constant ? value : f.at<int64_t>(cell.v); }

/// Address of the operand's first element and its byte strides.
std::byte* resolve(const TileOperand& operand, Frame& f, int64_t* strides);
/// Copies what the view shows into its reserved tile and lets the descriptor point there.
void copyView(const LoadOp& load, Frame& f);

/// The next index of a box in row-major order. False: that was the last one.
inline bool nextIndex(size_t rank, int64_t* index, const int64_t* lo, const int64_t* hi) {
  while (rank-- > 0) {
    if (++index[rank] < hi[rank]) return true;
    index[rank] = lo[rank];
  }
  return false;
}

/// The smallest and the largest of sums of one term a dimension, as they are put together.
struct Span {
  int64_t lo = 0, hi = 0;
  bool overflow = false;
  /// A term stride * i, from <= i < to.
  [[gnu::always_inline]] void add(int64_t stride, int64_t from, int64_t to) {
    int64_t first, last;
    overflow |= __builtin_mul_overflow(stride, from, &first);
    overflow |= __builtin_mul_overflow(stride, to - 1, &last);
    overflow |= __builtin_add_overflow(lo, std::min(first, last), &lo);
    overflow |= __builtin_add_overflow(hi, std::max(first, last), &hi);
  }
  bool inside(int64_t least, int64_t most) const { return !overflow && lo >= least && hi <= most; }
};

/// Result of looking at an access: box clipped to the tile, and the bytes it spans.
struct AccessRange {
  bool empty = false, full = true;
  uintptr_t base = 0;
  int64_t strides[kMaxRank], lo[kMaxRank], hi[kMaxRank];
  uintptr_t begin = 0, end = 0;
};
/// Evaluates an access and checks its span. False: Frame::trap is set (from the first element that misses).
bool checkAccess(const Access& access, Frame& f, InstructionRef in, bool write, AccessRange& range);
/// The same for a range whose base, strides and box are known.
bool checkRange(const Access& access, Frame& f, InstructionRef in, bool write, AccessRange& range);
/// What remains of a load whose range is checked: a view if it can be one, else a copy.
InstructionRef finishLoad(const LoadOp& load, InstructionRef in, Frame& f, const AccessRange& range);
/// Lets the load's descriptor show its reserved tile.
void pointToTile(const LoadOp& load, ViewDescriptor& view, Frame& f);
/// What masked-off lanes of a load hold: one element. Not of loads that take it from a tile.
uint64_t fillOf(const LoadOp& load, Frame& f);
/// Fills what masked-off lanes of the reserved tile hold; `fill` is one element.
void fillTile(const LoadOp& load, const AccessRange& range, Frame& f, uint64_t fill);
/// Copies the box [lo, hi) of `from`, with byte strides, into a dense tile of `shape`.
void copyBox(const std::vector<int64_t>& shape, const int64_t* lo, const int64_t* hi, const std::byte* from,
             const int64_t* strides, std::byte* tile, int64_t bytes);
/// Like checkAccess() for `size` bytes at one address.
bool checkAddress(uintptr_t address, int64_t size, int32_t root, bool write, Frame& f);
/// The same for many addresses: the first lane that may not be accessed, or -1.
int64_t firstBadAddress(int64_t lanes, const uint64_t* address, const uint8_t* mask, int64_t size, int32_t root,
                        bool write, Frame& f);
/// Programs of one worker mostly read at a fixed distance from each other: the distance in bytes from where the instruction with this
/// `data` read last. 0: unknown, or a jump.
int64_t stepFromLastRead(const void* data, const std::byte* read);
/// Where the streams of a straight group are, how many elements are wanted, and whether its store goes past the cache.
struct GroupRuns {
  std::byte* at[GroupOp::kStraightStreams];
  int64_t n;
  bool streams;
};
/// False: this program's addresses are not as plain as its code.
bool findRuns(const GroupOp& group, Frame& f, GroupRuns& runs);
/// Runs n elements; `runs` moves on.
void runStrips(const GroupOp& group, Frame& f, GroupRuns& runs, int64_t n);
/// Runs a group for which `straight` holds, if this program's addresses are as plain as its code. False: nothing was done.
bool runStraightGroup(const GroupOp& group, Frame& f);
/// Shorter rows are not worth the fence.
inline bool streamsPastCache(const ArgumentExtent& extent, int64_t rowBytes) {
  constexpr int64_t kRowBytes = 1024;
  return extent.streams && rowBytes >= kRowBytes;
}
/// Whether the function that computes elements of so many bytes heeds kTwStream.
inline bool streamsByItself(int64_t elementBytes) { return elementBytes == 2 || elementBytes == 4; }
/// Runs a body over n contiguous elements.
void runBody(const BodyOp& body, Frame& f, int64_t n, const void* const* arguments, void* const* results);
/// Fills Frame::trap for one bad element and leaves the program.
InstructionRef raiseAccess(InstructionRef in, Frame& f, const char* operation, uintptr_t address, int64_t bytes,
                           int32_t root, bool write, const std::vector<int64_t>& shape, int64_t element);
/// Leaves the program because symbolic index arithmetic is not exact here: for the fallback plan if nothing is written yet,
/// with a trap otherwise. `lo` and `hi`: the smallest and the largest index.
InstructionRef restart(InstructionRef in, Frame& f, int64_t lo, int64_t hi);
InstructionRef raise(InstructionRef in, Frame& f, TrapKind kind, std::string operation, std::string message);
std::string indexText(const std::vector<int64_t>& shape, int64_t element);
/// A program that may wait has read these bits of memory.
inline void notePoll(Frame& f, uintptr_t address, int32_t bytes, int32_t root, uint64_t bits) {
  f.wait.address = address;
  f.wait.bytes = uint32_t(bytes);
  f.wait.root = root;
  f.wait.bits = bits;
}
/// At the back edges of loops: true if the program has to stop.
bool mustStop(Frame& f);
/// Hands what the program found to the launch's collector.
void commitFindings(Frame& f);

} // namespace tiletwin::interp
