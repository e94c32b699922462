// interp/run/ExecuteDescriptor.cpp -- tensor descriptors: what their memory must be like, rows by number, reductions.
// Here:      the check of base and strides, gathers and scatters of rows, atomic updates of whole blocks.
// Not here:  loads and stores of blocks: they are box accesses (ExecuteMemory.cpp, ExecuteGroup.cpp).
// Invariant: nothing is written before every row of a scatter, or the whole block of a reduction, is checked.
#include "interp/run/DescriptorRows.h"
#include "runtime/FloatFormats.h"
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

namespace tiletwin::interp {

InstructionRef execDescriptorCheck(InstructionRef in, Frame& f) {
  const DescriptorCheckOp& op = *static_cast<const DescriptorCheckOp*>(in->data);
  constexpr int64_t kGranule = 16;
  auto fail = [&](std::string text) {
    return raise(in, f, TrapKind::InvalidValue, "tt.make_tensor_descriptor", std::move(text));
  };
  if (uint64_t base = uint64_t(op.base.get(f)); base % kGranule)
    return fail("the base of a descriptor must lie at a multiple of 16 bytes, and its address is " +
                std::to_string(base % kGranule) + " past one");
  for (size_t d = 0; d < op.strides.size(); ++d) {
    int64_t stride = op.strides[d].get(f);
    if (d + 1 == op.strides.size() && stride != 1)
      return fail("the last stride of a descriptor must be 1, got " + std::to_string(stride));
    if (d + 1 < op.strides.size() && stride * op.elementBytes % kGranule)
      return fail("stride " + std::to_string(d) + " of a descriptor must be a multiple of 16 bytes, got " +
                  std::to_string(stride) + " elements of " + std::to_string(op.elementBytes) +
                  " bytes; pad the rows, or use pointers");
  }
  return in + 1;
}

InstructionRef execRoundLoaded(InstructionRef in, Frame& f) {
  const RoundLoadedOp& op = *static_cast<const RoundLoadedOp*>(in->data);
  if (!op.rounds.get(f)) return in + 1;
  std::byte* tile = f.arena + op.tile.base.v;
  if (op.tile.view) {
    tile = f.arena + op.tile.view->tile.v;
    if (f.at<ViewDescriptor>(op.tile.base.v).data != tile) copyView(*op.tile.view, f);
  }
  for (int64_t i = 0; i < op.elements; ++i) { // to nearest even; infinities and NaN stay
    uint32_t bits;
    std::memcpy(&bits, tile + i * 4, 4);
    if ((bits & 0x7F800000) != 0x7F800000) bits = (bits + 0xFFF + (bits >> 13 & 1)) & ~uint32_t(0x1FFF);
    std::memcpy(tile + i * 4, &bits, 4);
  }
  return in + 1;
}

InstructionRef execDescriptorRows(InstructionRef in, Frame& f) {
  const DescriptorRowsOp& op = *static_cast<const DescriptorRowsOp*>(in->data);
  const int64_t count = op.shape[0], width = op.shape[1], bytes = op.elementBytes;
  std::byte* tile = f.arena + op.data.v;
  const DescriptorRowsRange range(op, f);
  const int64_t first = range.first, last = range.last;
  uintptr_t address = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (!range.row(op, f, i, address) || checkAddress(address, (last - first) * bytes, op.root, op.isStore, f))
        [[likely]]
      continue;
    for (int64_t c = first; c < last; ++c)
      if (uintptr_t at = address + uintptr_t((c - first) * bytes); !checkAddress(at, bytes, op.root, op.isStore, f))
        return raiseAccess(in, f, op.operation, at, bytes, op.root, op.isStore, op.shape, i * width + c);
  }
  auto fill = [&](std::byte* to, int64_t n) {
    if (op.hasFill)
      op.copy(n, to, bytes, f.arena + op.fill.v, 0);
    else
      std::memset(to, 0, size_t(n * bytes));
  };
  for (int64_t i = 0; i < count; ++i) {
    std::byte* to = tile + i * width * bytes;
    const bool inside = range.row(op, f, i, address);
    auto* memory = reinterpret_cast<std::byte*>(address);
    if (op.isStore) {
      if (!inside) continue;
      f.stored = true;
      std::memcpy(memory, to + first * bytes, size_t((last - first) * bytes));
    } else if (!inside) {
      fill(to, width);
    } else {
      fill(to, first);
      std::memcpy(to + first * bytes, memory, size_t((last - first) * bytes));
      fill(to + last * bytes, width - last);
    }
  }
  return in + 1;
}

// ---- reductions ----

namespace {

/// An element type in memory: the word that is exchanged atomically, and the numbers it stands for.
template <class T> struct Number {
  using Word = T;
  static T decode(Word w) { return w; }
  static Word encode(T v) { return v; }
};
struct Half {};
struct Brain {};
template <> struct Number<Half> {
  using Word = uint16_t;
  static float decode(Word w) { return f16ToF32(w); }
  static Word encode(float v) { return f32ToF16(v); }
};
template <> struct Number<Brain> {
  using Word = uint16_t;
  static float decode(Word w) { return bf16ToF32(w); }
  static Word encode(float v) { return f32ToBF16(v); }
};
template <> struct Number<float> {
  using Word = uint32_t;
  static float decode(Word w) { return std::bit_cast<float>(w); }
  static Word encode(float v) { return std::bit_cast<Word>(v); }
};

constexpr auto kAdd = [](auto a, auto b) {
  if constexpr (std::is_integral_v<decltype(a)>)
    return decltype(a)(std::make_unsigned_t<decltype(a)>(a) + std::make_unsigned_t<decltype(b)>(b));
  else
    return a + b;
};
// A NaN loses against a number.
constexpr auto kMin = [](auto a, auto b) { return b < a || a != a ? b : a; };
constexpr auto kMax = [](auto a, auto b) { return b > a || a != a ? b : a; };
constexpr auto kAnd = [](auto a, auto b) { return a & b; };
constexpr auto kOr = [](auto a, auto b) { return a | b; };
constexpr auto kXor = [](auto a, auto b) { return a ^ b; };
constexpr auto kInc = [](auto a, auto b) { return a >= b ? 0 : a + 1; };
constexpr auto kDec = [](auto a, auto b) { return a == 0 || a > b ? b : a - 1; };

template <class T, auto Op> void reduceRun(int64_t n, std::byte* memory, int64_t stride, const std::byte* source) {
  using N = Number<T>;
  using Word = typename N::Word;
  for (int64_t i = 0; i < n; ++i, memory += stride, source += sizeof(Word)) {
    Word bits;
    std::memcpy(&bits, source, sizeof bits);
    const auto operand = N::decode(bits);
    std::atomic_ref<Word> cell(*reinterpret_cast<Word*>(memory));
    Word seen = cell.load(std::memory_order_relaxed);
    while (!cell.compare_exchange_weak(seen, N::encode(Op(N::decode(seen), operand)), std::memory_order_relaxed)) {}
  }
}

template <class S, class U> DescriptorReduceFn integerReduce(DescriptorReduceKind kind, bool isUnsigned) {
  switch (kind) {
  case DescriptorReduceKind::Add: return reduceRun<U, kAdd>;
  case DescriptorReduceKind::Min: return isUnsigned ? reduceRun<U, kMin> : reduceRun<S, kMin>;
  case DescriptorReduceKind::Max: return isUnsigned ? reduceRun<U, kMax> : reduceRun<S, kMax>;
  case DescriptorReduceKind::Inc: return reduceRun<U, kInc>;
  case DescriptorReduceKind::Dec: return reduceRun<U, kDec>;
  case DescriptorReduceKind::And: return reduceRun<U, kAnd>;
  case DescriptorReduceKind::Or: return reduceRun<U, kOr>;
  case DescriptorReduceKind::Xor: return reduceRun<U, kXor>;
  }
  return nullptr;
}
template <class T> DescriptorReduceFn floatReduce(DescriptorReduceKind kind) {
  switch (kind) {
  case DescriptorReduceKind::Add: return reduceRun<T, kAdd>;
  case DescriptorReduceKind::Min: return reduceRun<T, kMin>;
  case DescriptorReduceKind::Max: return reduceRun<T, kMax>;
  default: return nullptr;
  }
}

} // namespace

DescriptorReduceFn descriptorReduceFn(DescriptorReduceKind kind, DType type, bool isUnsigned) {
  switch (type) {
  case DType::I32: return integerReduce<int32_t, uint32_t>(kind, isUnsigned);
  case DType::I64: return integerReduce<int64_t, uint64_t>(kind, isUnsigned);
  case DType::F16: return floatReduce<Half>(kind);
  case DType::BF16: return floatReduce<Brain>(kind);
  case DType::F32: return floatReduce<float>(kind);
  default: return nullptr;
  }
}

InstructionRef execDescriptorReduce(InstructionRef in, Frame& f) {
  const DescriptorReduceOp& op = *static_cast<const DescriptorReduceOp*>(in->data);
  AccessRange range;
  if (!checkAccess(op.access, f, in, true, range)) [[unlikely]]
    return nullptr;
  if (range.empty) return in + 1;
  f.stored = true;
  const size_t rank = op.access.shape.size(), last = rank - 1;
  const int64_t bytes = op.access.elementBytes;
  int64_t index[kMaxRank], dense[kMaxRank];
  for (size_t d = rank, run = size_t(bytes); d-- > 0;) {
    index[d] = range.lo[d];
    dense[d] = int64_t(run);
    run *= size_t(op.access.shape[d]);
  }
  do {
    auto* memory = reinterpret_cast<std::byte*>(range.base);
    const std::byte* source = f.arena + op.data.v;
    for (size_t d = 0; d < rank; ++d) {
      memory += index[d] * range.strides[d];
      source += index[d] * dense[d];
    }
    op.fn(range.hi[last] - range.lo[last], memory, range.strides[last], source);
  } while (nextIndex(last, index, range.lo, range.hi));
  return in + 1;
}

} // namespace tiletwin::interp
