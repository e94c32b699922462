// interp/run/ExecuteMemory.cpp -- loads, gathers, scatters and scalar accesses: where kernel memory is checked and read.
// Here:      the span of a box access against its buffer, views and copies, the first bad element.
// Not here:  stores of affine tiles: they are sinks of groups (ExecuteGroup.cpp), checked through checkAccess() here.
// Invariant: a lane whose mask is 0 never forms an access; nothing is written before every lane of the tile is checked.
#include "interp/run/Execute.h"
#include "runtime/TrapText.h"
#include <algorithm>
#include <cstring>

namespace tiletwin::interp {

std::string indexText(const std::vector<int64_t>& shape, int64_t element) {
  if (shape.empty()) return {};
  std::vector<int64_t> index(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    index[d] = element % shape[d];
    element /= shape[d];
  }
  std::string text = "(";
  for (size_t d = 0; d < index.size(); ++d) text += (d ? ", " : "") + std::to_string(index[d]);
  return text + ")";
}

/// Looks for a buffer that holds [lo, hi): among the launch's, the registered ones, and those the launcher can find.
[[gnu::noinline]] static bool findBuffer(uintptr_t lo, uintptr_t hi, bool write, Frame& f, bool* readOnly) {
  bool isKnown = false; // the first byte is, at least
  auto taken = [&](const Buffer& b) {
    isKnown |= b.contains(lo, lo + 1);
    if (!b.contains(lo, hi)) return false;
    *readOnly = write && b.readOnly;
    if (*readOnly) return false;
    f.known[f.nextKnown++ % f.known.size()] = {b.begin, b.end, b.readOnly};
    return true;
  };
  for (const Buffer& b : f.launch->params->buffers)
    if (taken(b)) return true;
  if (std::atomic<bool>* elsewhere = f.launch->params->reachedElsewhere) elsewhere->store(true);
  if (auto b = BufferRegistry::instance().find(lo); b && taken(*b)) return true;
  if (isKnown || !f.launch->findBuffer) return false;
  std::lock_guard lock(f.launch->foundMutex);
  for (const Buffer& b : f.launch->found)
    if (b.contains(lo, lo + 1)) return taken(b);
  auto b = f.launch->findBuffer(lo);
  if (b) f.launch->found.push_back(*b);
  return b && taken(*b);
}

/// The buffer that must hold an access: its root's, or any that is known.
static bool inside(uintptr_t lo, uintptr_t hi, int32_t root, bool write, Frame& f, bool* readOnly) {
  *readOnly = false;
  if (root >= 0) {
    const ArgumentExtent& e = f.launch->extents[size_t(root)];
    if (e.buffer >= 0) {
      *readOnly = write && e.readOnly;
      return lo >= e.lo && hi <= e.hi && !*readOnly;
    }
  }
  for (const KnownRange& k : f.known)
    if (lo >= k.lo && hi <= k.hi && !(write && k.readOnly)) [[likely]]
      return true;
  return findBuffer(lo, hi, write, f, readOnly);
}

bool checkAddress(uintptr_t address, int64_t size, int32_t root, bool write, Frame& f) {
  bool readOnly;
  uintptr_t end;
  return !__builtin_add_overflow(address, uintptr_t(size), &end) && inside(address, end, root, write, f, &readOnly);
}

InstructionRef raiseAccess(InstructionRef in, Frame& f, const char* operation, uintptr_t address, int64_t bytes,
                           int32_t root, bool write, const std::vector<int64_t>& shape, int64_t element) {
  bool readOnly;
  bool bad = !inside(address, address + uintptr_t(bytes), root, write, f, &readOnly);
  raise(in, f, bad && readOnly ? TrapKind::ReadOnly : TrapKind::OutOfBounds, operation, {});
  f.trap.address = address;
  const int32_t buffer = root < 0 ? kNoArgument : f.launch->extents[size_t(root)].buffer;
  f.trap.originUnknown = buffer == kNoArgument;
  f.trap.accessBytes = bytes;
  f.trap.element = element;
  f.trap.index = element >= 0 ? indexText(shape, element) : std::string();
  if (buffer >= 0) nameBuffer(f.trap, f.launch->params->buffers[size_t(buffer)], f.plan->arguments[size_t(root)].name);
  return nullptr;
}

/// The first element in row-major order, inside the box, that may not be accessed.
static void findBad(const Access& a, AccessRange& r, Frame& f, InstructionRef in, bool write) {
  size_t rank = a.shape.size();
  int64_t index[kMaxRank];
  std::copy(r.lo, r.lo + rank, index);
  do {
    uintptr_t address = r.base;
    int64_t element = 0;
    for (size_t d = 0; d < rank; ++d) {
      address += uintptr_t(index[d]) * uintptr_t(r.strides[d]);
      element = element * a.shape[d] + index[d];
    }
    if (!checkAddress(address, a.elementBytes, a.root, write, f)) {
      raiseAccess(in, f, a.operation, address, a.elementBytes, a.root, write, a.shape, element);
      return;
    }
  } while (nextIndex(rank, index, r.lo, r.hi)); // each element is inside some buffer, though not all in one: allowed
}

/// The bytes of a box: in one buffer, or else each element in some buffer.
[[gnu::always_inline]] static inline bool spanIsKnown(const Access& a, Frame& f, InstructionRef in, bool write,
                                                      AccessRange& r, const Span& span) {
  uintptr_t begin, end;
  bool overflow = span.overflow;
  overflow |= __builtin_add_overflow(r.base, span.lo, &begin);
  overflow |= __builtin_add_overflow(r.base, span.hi, &end);
  overflow |= __builtin_add_overflow(end, uintptr_t(a.elementBytes), &end);
  r.begin = begin;
  r.end = end;
  if (!overflow && begin < end && a.root >= 0) [[likely]] {
    const ArgumentExtent& e = f.launch->extents[size_t(a.root)];
    if (begin >= e.lo && end <= e.hi && !(write && e.readOnly)) [[likely]]
      return true;
  }
  bool readOnly;
  if (!overflow && begin < end && inside(begin, end, a.root, write, f, &readOnly)) return true;
  findBad(a, r, f, in, write);
  return f.step != Step::Trapped;
}

/// Whether no offset inside the box wraps around; else the program leaves.
static bool guardHolds(const OffsetGuard& g, const AccessRange& r, Frame& f, InstructionRef in) {
  Span span{g.base.get(f), g.base.get(f)};
  for (size_t d = 0; d < g.strides.size(); ++d) span.add(g.strides[d].get(f), r.lo[d], r.hi[d]);
  if (span.inside(g.min, g.max)) [[likely]]
    return true;
  restart(in, f, span.lo, span.hi);
  return false;
}

bool checkAccess(const Access& a, Frame& f, InstructionRef in, bool write, AccessRange& r) {
  const size_t rank = a.shape.size();
  r.base = uintptr_t(a.base.get(f));
  r.empty = false;
  r.full = true;
  Span span;
  for (size_t d = 0; d < rank; ++d) {
    int64_t lo = 0, hi = a.shape[d], stride = a.strides[d].get(f);
    if (a.masked) {
      lo = std::max<int64_t>(0, a.lo[d].get(f));
      hi = std::min<int64_t>(hi, a.hi[d].get(f));
      if (lo >= hi) {
        r.empty = true;
        r.full = false;
        r.begin = r.end = 0;
        return true;
      }
      r.full &= lo == 0 && hi == a.shape[d];
    }
    r.lo[d] = lo;
    r.hi[d] = hi;
    r.strides[d] = stride;
    span.add(stride, lo, hi);
  }
  if (a.guard && !guardHolds(*a.guard, r, f, in)) [[unlikely]]
    return false;
  return spanIsKnown(a, f, in, write, r, span);
}

bool checkRange(const Access& a, Frame& f, InstructionRef in, bool write, AccessRange& r) {
  Span span;
  for (size_t d = 0; d < a.shape.size(); ++d) span.add(r.strides[d], r.lo[d], r.hi[d]);
  return spanIsKnown(a, f, in, write, r, span);
}

std::byte* resolve(const TileOperand& o, Frame& f, int64_t* strides) {
  std::byte* base = f.arena + o.base.v;
  if (o.view) {
    ViewDescriptor& v = *reinterpret_cast<ViewDescriptor*>(base);
    if (v.there != ViewDescriptor::kWhole) copyView(*o.view, f);
    const int64_t* cells = v.strides();
    for (size_t d = 0; d < o.strides.size(); ++d)
      strides[d] = o.strides[d].cell >= 0 ? cells[o.strides[d].cell] : o.strides[d].value;
    return v.data + o.offset;
  }
  for (size_t d = 0; d < o.strides.size(); ++d) strides[d] = o.strides[d].value;
  return base + o.offset;
}

void copyBox(const std::vector<int64_t>& shape, const int64_t* lo, const int64_t* hi, const std::byte* src,
             const int64_t* strides, std::byte* tile, int64_t bytes) {
  const size_t rank = shape.size();
  if (rank == 0) {
    std::memcpy(tile, src, size_t(bytes));
    return;
  }
  int64_t dense[kMaxRank], index[kMaxRank];
  int64_t stride = bytes;
  for (size_t d = rank; d-- > 0;) {
    dense[d] = stride;
    stride *= shape[d];
    index[d] = lo[d];
  }
  const size_t last = rank - 1;
  const int64_t n = hi[last] - lo[last];
  const TwStridedCopyFn copy = tileOps().stridedCopy(bytes);
  do {
    const std::byte* from = src;
    std::byte* to = tile;
    for (size_t d = 0; d < rank; ++d) {
      from += index[d] * strides[d];
      to += index[d] * dense[d];
    }
    if (strides[last] == bytes)
      std::memcpy(to, from, size_t(n * bytes));
    else
      copy(n, to, bytes, from, strides[last]);
  } while (nextIndex(last, index, lo, hi));
}

void pointToTile(const LoadOp& load, ViewDescriptor& v, Frame& f) {
  v.data = f.arena + load.tile.v;
  v.lo = v.hi = 0;
  v.source = nullptr;
  v.there = ViewDescriptor::kWhole;
  int64_t stride = load.access.elementBytes;
  for (size_t d = load.access.shape.size(); d-- > 0;) {
    v.strides()[d] = stride;
    stride *= load.access.shape[d];
  }
}

void copyView(const LoadOp& load, Frame& f) {
  ViewDescriptor& v = f.at<ViewDescriptor>(load.descriptor.v);
  const std::byte* from = v.data;
  const bool cut = v.there != ViewDescriptor::kWhole;
  AccessRange range;
  for (size_t d = 0; d < load.access.shape.size(); ++d) {
    range.lo[d] = 0;
    range.hi[d] = cut ? v.there : load.access.shape[d];
    range.strides[d] = v.strides()[d];
  }
  copyBox(load.access.shape, range.lo, range.hi, from, range.strides, f.arena + load.tile.v, load.access.elementBytes);
  if (cut) fillTile(load, range, f, v.fill);
  pointToTile(load, v, f);
  if (cut) v.source = from;
}

uint64_t fillOf(const LoadOp& load, Frame& f) {
  uint64_t fill = 0;
  if (load.hasOther && !load.otherIsTile) std::memcpy(&fill, f.arena + load.other.v, size_t(load.access.elementBytes));
  return fill;
}

// The outside of the box, or the whole tile where the outside is not one run at each end.
void fillTile(const LoadOp& load, const AccessRange& range, Frame& f, uint64_t fill) {
  int64_t row = load.access.elementBytes, rows = load.access.shape.empty() ? 1 : load.access.shape[0];
  bool ends = !range.empty && !load.access.shape.empty();
  for (size_t d = 1; d < load.access.shape.size(); ++d) {
    row *= load.access.shape[d];
    ends &= range.lo[d] == 0 && range.hi[d] == load.access.shape[d];
  }
  auto fillRows = [&](int64_t first, int64_t last) {
    std::byte* tile = f.arena + load.tile.v + first * row;
    const int64_t bytes = (last - first) * row, element = load.access.elementBytes;
    if (load.otherIsTile)
      std::memcpy(tile, f.arena + load.otherTile.v + first * row, size_t(bytes));
    else if (fill == 0)
      std::memset(tile, 0, size_t(bytes));
    else
      tileOps().stridedCopy(element)(bytes / element, tile, element, &fill, 0);
  };
  fillRows(0, ends ? range.lo[0] : rows);
  if (ends) fillRows(range.hi[0], rows);
}

/// Elements of one row that a load reads from its first on, if it may leave them as a view; else 0.
static int64_t elementsInView(const LoadOp& op, Frame& f, int64_t stride) {
  constexpr int64_t kCutRowBytes = 1024; // a shorter row is copied in less time than its readers take over the cut
  const Access& a = op.access;
  const int64_t n = a.shape[0];
  if (stride <= 0 || (a.masked && a.lo[0].get(f) > 0)) return 0;
  const int64_t hi = a.masked ? a.hi[0].get(f) : n;
  if (hi >= n) return n;
  return stride == a.elementBytes && !op.otherIsTile && n * stride >= kCutRowBytes ? std::max<int64_t>(hi, 0) : 0;
}

/// A load of one row from a known argument leaves a view, though a mask may cut its end. False: it is something else, and nothing
/// was done.
static bool viewRow(const LoadOp& op, Frame& f) {
  const Access& a = op.access;
  const int64_t stride = a.strides[0].get(f), n = elementsInView(op, f, stride);
  if (n == 0) return false;
  if (const OffsetGuard* guard = a.guard) {
    int64_t first = guard->base.get(f), last;
    if (__builtin_mul_overflow(guard->strides[0].get(f), n - 1, &last) || __builtin_add_overflow(first, last, &last) ||
        std::min(first, last) < guard->min || std::max(first, last) > guard->max)
      return false;
  }
  const ArgumentExtent& e = f.launch->extents[size_t(a.root)];
  const uintptr_t begin = uintptr_t(a.base.get(f));
  int64_t span;
  uintptr_t end;
  if (__builtin_mul_overflow(stride, n - 1, &span) ||
      __builtin_add_overflow(begin, uintptr_t(span) + uintptr_t(a.elementBytes), &end) || begin < e.lo || end > e.hi)
    return false;
  ViewDescriptor& v = f.at<ViewDescriptor>(op.descriptor.v);
  v.data = reinterpret_cast<std::byte*>(begin);
  v.lo = begin;
  v.hi = end;
  v.strides()[0] = stride;
  v.there = n < a.shape[0] ? n : ViewDescriptor::kWhole;
  if (n < a.shape[0]) v.fill = fillOf(op, f);
  return true;
}

static InstructionRef load(const LoadOp& op, InstructionRef in, Frame& f) {
  if (op.access.shape.size() == 1 && op.access.root >= 0 && !op.forceCopy && viewRow(op, f)) [[likely]]
    return in + 1;
  AccessRange range;
  if (!checkAccess(op.access, f, in, false, range)) [[unlikely]]
    return nullptr;
  return finishLoad(op, in, f, range);
}

InstructionRef execLoad(InstructionRef in, Frame& f) {
  const LoadOp& op = *static_cast<const LoadOp*>(in->data);
  if (!op.kept) return load(op, in, f);
  int64_t& isThere = f.at<int64_t>(op.state.v);
  if (isThere) return in + 1;
  const InstructionRef next = load(op, in, f);
  isThere = next && op.access.root >= 0 && f.launch->extents[size_t(op.access.root)].settled;
  return next;
}

InstructionRef finishLoad(const LoadOp& op, InstructionRef in, Frame& f, const AccessRange& range) {
  const size_t rank = op.access.shape.size();
  ViewDescriptor& v = f.at<ViewDescriptor>(op.descriptor.v);
  v.there = ViewDescriptor::kWhole;
  if (range.full && !op.forceCopy) [[likely]] {
    v.data = reinterpret_cast<std::byte*>(range.base);
    v.lo = range.begin;
    v.hi = range.end;
    for (size_t d = 0; d < rank; ++d) v.strides()[d] = range.strides[d];
    return in + 1;
  }
  const uint64_t fill = fillOf(op, f);
  if (range.empty && !op.otherIsTile && !op.dense) {
    v.fill = fill;
    v.data = reinterpret_cast<std::byte*>(&v.fill);
    v.lo = v.hi = 0;
    v.source = nullptr;
    for (size_t d = 0; d < rank; ++d) v.strides()[d] = 0;
    return in + 1;
  }
  pointToTile(op, v, f);
  if (!range.full) fillTile(op, range, f, fill);
  if (!range.empty) v.source = reinterpret_cast<const std::byte*>(range.base);
  if (!range.empty)
    copyBox(op.access.shape, range.lo, range.hi, reinterpret_cast<const std::byte*>(range.base), range.strides,
            f.arena + op.tile.v, op.access.elementBytes);
  return in + 1;
}

int64_t firstBadAddress(int64_t lanes, const uint64_t* address, const uint8_t* mask, int64_t size, int32_t root,
                        bool write, Frame& f) {
  if (root >= 0 && f.launch->extents[size_t(root)].buffer >= 0) {
    const ArgumentExtent& e = f.launch->extents[size_t(root)];
    const bool refused = write && e.readOnly;
    return tileOps().checkAddresses(lanes, address, mask, refused ? 1 : e.lo, refused ? 0 : e.hi, uint64_t(size));
  }
  // Pointers that come from no argument: runs of addresses are checked against the buffer that holds the first of them.
  for (int64_t i = 0; i < lanes; ++i) {
    if (mask && !mask[i]) continue;
    if (!checkAddress(address[i], size, root, write, f)) return i;
    for (const KnownRange& k : f.known) {
      if (address[i] < k.lo || address[i] + uint64_t(size) > k.hi || (write && k.readOnly)) continue;
      int64_t good =
          tileOps().checkAddresses(lanes - i, address + i, mask ? mask + i : nullptr, k.lo, k.hi, uint64_t(size));
      if (good < 0) return -1;
      i += good - 1; // the next one is in another buffer, or bad
      break;
    }
  }
  return -1;
}

InstructionRef execGather(InstructionRef in, Frame& f) {
  const GatherOp& op = *static_cast<const GatherOp*>(in->data);
  const uint64_t* address = &f.at<uint64_t>(op.address.v);
  const uint8_t* mask = op.hasMask ? &f.at<uint8_t>(op.mask.v) : nullptr;
  const int64_t bytes = op.elementBytes;
  const int64_t bad = firstBadAddress(op.elements, address, mask, bytes, op.root, op.isStore, f);
  if (bad >= 0) [[unlikely]]
    return raiseAccess(in, f, op.operation, address[bad], bytes, op.root, op.isStore, op.shape, bad);
  if (op.isStore) {
    f.stored = true;
    op.scatter(op.elements, f.arena + op.data.v, op.dataIsCell ? 0 : bytes, address, mask);
  } else {
    op.gather(op.elements, f.arena + op.data.v, address, mask, op.otherKind ? f.arena + op.other.v : nullptr,
              op.otherKind == 2 ? bytes : 0);
  }
  return in + 1;
}

template <class T> static int64_t loadAs(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return int64_t(value);
}
static int64_t loadBits(const void* from, int32_t bytes, bool signExtend) {
  switch (bytes) {
  case 1: return signExtend ? loadAs<int8_t>(from) : loadAs<uint8_t>(from);
  case 2: return signExtend ? loadAs<int16_t>(from) : loadAs<uint16_t>(from);
  case 4: return signExtend ? loadAs<int32_t>(from) : loadAs<uint32_t>(from);
  default: return loadAs<int64_t>(from);
  }
}

InstructionRef execScalarLoad(InstructionRef in, Frame& f) {
  const ScalarAccessOp& op = *static_cast<const ScalarAccessOp*>(in->data);
  if (op.hasMask && !(f.at<int64_t>(op.mask.v) & 1)) {
    f.at<int64_t>(op.data.v) = op.hasOther ? f.at<int64_t>(op.other.v) : 0;
    return in + 1;
  }
  uintptr_t address = f.at<uintptr_t>(op.address.v);
  if (!checkAddress(address, op.bytes, op.root, false, f)) [[unlikely]]
    return raiseAccess(in, f, op.operation, address, op.bytes, op.root, false, {}, -1);
  f.at<int64_t>(op.data.v) = loadBits(reinterpret_cast<const void*>(address), op.bytes, op.signExtend);
  return in + 1;
}

InstructionRef execScalarStore(InstructionRef in, Frame& f) {
  const ScalarAccessOp& op = *static_cast<const ScalarAccessOp*>(in->data);
  if (op.hasMask && !(f.at<int64_t>(op.mask.v) & 1)) return in + 1;
  uintptr_t address = f.at<uintptr_t>(op.address.v);
  if (!checkAddress(address, op.bytes, op.root, true, f)) [[unlikely]]
    return raiseAccess(in, f, op.operation, address, op.bytes, op.root, true, {}, -1);
  f.stored = true;
  std::memcpy(reinterpret_cast<void*>(address), f.arena + op.data.v, size_t(op.bytes));
  return in + 1;
}

} // namespace tiletwin::interp
