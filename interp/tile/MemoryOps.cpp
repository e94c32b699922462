// interp/tile/MemoryOps.cpp -- gather, scatter, strided copies, index sequences, range checks of addresses, streaming
// copies.
// Not here:  deciding whether an access is allowed (interp/run); strips of arithmetic (Elementwise*.cpp).
// Invariant: a lane whose mask is 0 is never dereferenced; nothing outside the named elements is read or written.
#include "interp/tile/Strip.h"
#include "interp/tile/Tables.h"

namespace tiletwin::tile {
namespace {

using Addresses = Vec<uint64_t, 8>;

/// Eight addresses that follow each other: one vector access does.
template <class T> TILETWIN_INLINE bool consecutive(const uint64_t* address) {
  const auto a = loadAs<Addresses>(address);
  const Addresses expected = Addresses{0, 1, 2, 3, 4, 5, 6, 7} * uint64_t(sizeof(T)) + address[0];
  return !anyLane(a ^ expected);
}
TILETWIN_INLINE uint64_t maskOf8(const uint8_t* mask) {
  uint64_t bits;
  std::memcpy(&bits, mask, 8);
  return bits;
}
inline constexpr uint64_t kAllSet = 0x0101010101010101ull;
template <class T> TILETWIN_INLINE T read(uint64_t address) {
  T v;
  std::memcpy(&v, reinterpret_cast<const void*>(address), sizeof v);
  return v;
}
template <class T> TILETWIN_INLINE void write(uint64_t address, T v) {
  std::memcpy(reinterpret_cast<void*>(address), &v, sizeof v);
}

template <class T>
void gather(int64_t n, void* dst, const uint64_t* address, const uint8_t* mask, const void* other,
            int64_t otherStride) {
  auto* out = static_cast<T*>(dst);
  const T zero = 0;
  const auto* fill = other ? static_cast<const T*>(other) : &zero;
  const int64_t fillStep = other && otherStride ? 1 : 0;
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    if (!mask || maskOf8(mask + i) == kAllSet) {
      if (consecutive<T>(address + i))
        storeAs(out + i, loadAs<Vec<T, 8>>(reinterpret_cast<const void*>(address[i])));
      else
        for (int j = 0; j < 8; ++j) out[i + j] = read<T>(address[i + j]);
    } else {
      for (int j = 0; j < 8; ++j) out[i + j] = mask[i + j] ? read<T>(address[i + j]) : fill[(i + j) * fillStep];
    }
  }
  for (; i < n; ++i) out[i] = !mask || mask[i] ? read<T>(address[i]) : fill[i * fillStep];
}

/// srcStride 0: one element for all lanes. Lanes store in order, so the last of equal addresses wins.
template <class T>
void scatter(int64_t n, const void* src, int64_t srcStride, const uint64_t* address, const uint8_t* mask) {
  const auto* in = static_cast<const T*>(src);
  const int64_t step = srcStride ? 1 : 0;
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const uint64_t set = mask ? maskOf8(mask + i) : kAllSet;
    if (set == kAllSet && consecutive<T>(address + i)) {
      storeAs(reinterpret_cast<void*>(address[i]), step ? loadAs<Vec<T, 8>>(in + i) : broadcast<T, 8>(*in));
      continue;
    }
    if (set == 0) continue;
    for (int j = 0; j < 8; ++j)
      if (!mask || mask[i + j]) write<T>(address[i + j], in[(i + j) * step]);
  }
  for (; i < n; ++i)
    if (!mask || mask[i]) write<T>(address[i], in[i * step]);
}

/// Every third byte: 16 of 48 by three shuffles. The last 16 elements are left to the caller, as 48 bytes are read
/// for 46.
int64_t copyEveryThirdByte(int64_t n, uint8_t* dst, const uint8_t* src) {
  const __m128i first = _mm_setr_epi8(0, 3, 6, 9, 12, 15, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
  const __m128i second = _mm_setr_epi8(-1, -1, -1, -1, -1, -1, 2, 5, 8, 11, 14, -1, -1, -1, -1, -1);
  const __m128i third = _mm_setr_epi8(-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 1, 4, 7, 10, 13);
  int64_t i = 0;
  for (; i + 17 <= n; i += 16) {
    const uint8_t* p = src + 3 * i;
    const __m128i a = _mm_shuffle_epi8(loadAs<__m128i>(p), first),
                  b = _mm_shuffle_epi8(loadAs<__m128i>(p + 16), second);
    storeAs(dst + i, _mm_or_si128(_mm_or_si128(a, b), _mm_shuffle_epi8(loadAs<__m128i>(p + 32), third)));
  }
  return i;
}
/// Every second or fourth element by compiler shuffles of `Step` vectors; stops early enough to read nothing past the
/// last element.
template <class T, int Step> int64_t copyEvery(int64_t n, T* dst, const T* src) {
  constexpr int L = 32 / int(sizeof(T));
  int64_t i = 0;
  for (; i + L + 1 <= n; i += L) {
    Vec<T, L> out;
    const auto in = loadAs<Vec<T, L * Step>>(src + i * Step);
    for (int j = 0; j < L; ++j) out[j] = in[j * Step];
    storeAs(dst + i, out);
  }
  return i;
}

template <class T> void stridedCopy(int64_t n, void* dst, int64_t dstStride, const void* src, int64_t srcStride) {
  constexpr int64_t kSize = sizeof(T);
  auto* out = static_cast<uint8_t*>(dst);
  const auto* in = static_cast<const uint8_t*>(src);
  int64_t i = 0;
  if (dstStride == kSize) {
    if (srcStride == kSize) {
      std::memcpy(dst, src, size_t(n * kSize));
      return;
    }
    auto* to = static_cast<T*>(dst);
    const auto* from = static_cast<const T*>(src);
    if (srcStride == 0) {
      T v;
      std::memcpy(&v, src, kSize);
      for (; i + 32 / kSize <= n; i += 32 / kSize) storeAs(to + i, broadcast<T, 32 / int(kSize)>(v));
    } else if (srcStride == 2 * kSize) {
      i = copyEvery<T, 2>(n, to, from);
    } else if (srcStride == 4 * kSize && kSize < 8) {
      i = copyEvery<T, 4>(n, to, from);
    } else if (srcStride == 3 && kSize == 1) {
      i = copyEveryThirdByte(n, out, in);
    }
  }
  const auto at = [](auto* p, int64_t offset) { return reinterpret_cast<uint64_t>(p) + uint64_t(offset); };
  for (; i + 4 <= n; i += 4) {
    const T a = read<T>(at(in, i * srcStride)), b = read<T>(at(in, (i + 1) * srcStride));
    const T c = read<T>(at(in, (i + 2) * srcStride)), d = read<T>(at(in, (i + 3) * srcStride));
    write<T>(at(out, i * dstStride), a);
    write<T>(at(out, (i + 1) * dstStride), b);
    write<T>(at(out, (i + 2) * dstStride), c);
    write<T>(at(out, (i + 3) * dstStride), d);
  }
  for (; i < n; ++i) write<T>(at(out, i * dstStride), read<T>(at(in, i * srcStride)));
}

template <class T> void iota(int64_t n, void* dst, int64_t start, int64_t step) {
  constexpr int L = 2 * kVectorBytes / int(sizeof(T));
  Vec<T, L> v;
  for (int j = 0; j < L; ++j) v[j] = T(uint64_t(start) + uint64_t(step) * uint64_t(j));
  const T advance = T(uint64_t(step) * L);
  auto* out = static_cast<T*>(dst);
  int64_t i = 0;
  for (; i + L <= n; i += L, v += advance) storeAs(out + i, v);
  if (i < n) copyTail(out + i, &v, n - i, sizeof(T));
}
void iotaI1(int64_t n, void* dst, int64_t start, int64_t step) {
  for (int64_t i = 0; i < n; ++i) static_cast<uint8_t*>(dst)[i] = uint8_t((start + step * i) & 1);
}

template <class Fn> struct SizeRow {
  int64_t bytes;
  Fn fn;
};
template <class Fn, size_t N> Fn findSize(const SizeRow<Fn> (&rows)[N], int64_t bytes) {
  for (const auto& row : rows)
    if (row.bytes == bytes) return row.fn;
  return nullptr;
}
constexpr SizeRow<TwGatherFn> kGathers[] = {
    {1, gather<uint8_t>}, {2, gather<uint16_t>}, {4, gather<uint32_t>}, {8, gather<uint64_t>}};
constexpr SizeRow<TwScatterFn> kScatters[] = {
    {1, scatter<uint8_t>}, {2, scatter<uint16_t>}, {4, scatter<uint32_t>}, {8, scatter<uint64_t>}};
constexpr SizeRow<TwStridedCopyFn> kStridedCopies[] = {
    {1, stridedCopy<uint8_t>}, {2, stridedCopy<uint16_t>}, {4, stridedCopy<uint32_t>}, {8, stridedCopy<uint64_t>}};
constexpr SizeRow<TwIotaFn> kIotas[] = {
    {1, iota<uint8_t>}, {2, iota<uint16_t>}, {4, iota<uint32_t>}, {8, iota<uint64_t>}};

} // namespace

TwGatherFn findGather(int64_t elementBytes) { return findSize(kGathers, elementBytes); }
TwScatterFn findScatter(int64_t elementBytes) { return findSize(kScatters, elementBytes); }
TwStridedCopyFn findStridedCopy(int64_t elementBytes) { return findSize(kStridedCopies, elementBytes); }
TwIotaFn findIota(DType type) {
  if (isFloat(type)) return nullptr;
  return type == DType::I1 ? iotaI1 : findSize(kIotas, int64_t(sizeOf(type)));
}

int64_t checkAddresses(int64_t n, const uint64_t* address, const uint8_t* mask, uint64_t lo, uint64_t hi,
                       uint64_t size) {
  const bool fits = hi >= lo && hi - lo >= size;
  const uint64_t last = fits ? hi - lo - size : 0; // the largest allowed address - lo
  constexpr int L = 16;
  int64_t i = 0;
  if (fits) {
    for (; i + L <= n; i += L) {
      auto bad = __builtin_convertvector(loadAs<Vec<uint64_t, L>>(address + i) - lo > last, Vec<int8_t, L>);
      if (mask) bad &= loadAs<Vec<int8_t, L>>(mask + i) != int8_t(0);
      if (anyLane(bad)) break;
    }
  }
  for (; i < n; ++i)
    if ((!mask || mask[i]) && (!fits || address[i] - lo > last)) return i;
  return -1;
}

void streamCopy(void* dst, const void* src, int64_t bytes) {
  auto* out = static_cast<uint8_t*>(dst);
  const auto* in = static_cast<const uint8_t*>(src);
  int64_t head = int64_t(-reinterpret_cast<uintptr_t>(dst) & 31);
  if (bytes < 128) head = bytes;
  std::memcpy(out, in, size_t(head));
  out += head, in += head, bytes -= head;
  for (; bytes >= 64; bytes -= 64, out += 64, in += 64) {
    const __m256i a = loadAs<__m256i>(in), b = loadAs<__m256i>(in + 32);
    _mm256_stream_si256(reinterpret_cast<__m256i*>(out), a);
    _mm256_stream_si256(reinterpret_cast<__m256i*>(out + 32), b);
  }
  std::memcpy(out, in, size_t(bytes));
}

} // namespace tiletwin::tile
