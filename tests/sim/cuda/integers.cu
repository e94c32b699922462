// integers.cu -- integers of 8 to 128 bits: dot products and minima of packed ones, bit fields, bytes in any order, wide products,
// division, checksums.
#include <cstdint>

__device__ uint32_t crc32(uint32_t crc, uint32_t word) {
  crc ^= word;
  for (int bit = 0; bit < 32; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
  return crc;
}

__device__ uint32_t packed(uint32_t x, uint32_t y) {
  uint32_t h = __dp4a(int(x), int(y), 17);
  h = __dp4a(x, y, h);
  h ^= __dp2a_lo(int(x), int(y), int(h)) + __dp2a_hi(x, y, h);
  h = crc32(h, __vadd4(x, y) ^ __vsubus4(x, y));
  h = crc32(h, __vabsdiffu4(x, y) + __vsads4(x, y));
  h = crc32(h, __vmaxs2(x, y) ^ __vminu4(x, y) ^ __vavgu4(x, y));
  h = crc32(h, __vcmpgts4(x, y) ^ __vseteq2(x, y));
  h = crc32(h, __viaddmax_s32_relu(int(x), int(y), int(h)) + __vimax3_s16x2(x, y, h));
  return h;
}

__device__ uint32_t bitFields(uint32_t x, uint32_t y) {
  uint32_t h = __byte_perm(x, y, y & 0x7777) ^ __byte_perm(x, y, 0xba98 | (x & 0x1111));
  h += __popc(x) * 3 + __clz(y) * 5 + __ffs(int(x)) * 7 + __popcll((uint64_t(x) << 32) | y);
  h ^= __brev(x) ^ __funnelshift_l(x, y, y) ^ __funnelshift_rc(x, y, x & 63);
  uint32_t field, inserted, prmt, rotated;
  asm("bfe.s32 %0, %1, %2, %3;" : "=r"(field) : "r"(x), "r"(y & 31), "r"(y >> 5 & 31));
  asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(inserted) : "r"(x), "r"(y), "r"(x & 31), "r"(y & 15));
  asm("prmt.b32.b4e %0, %1, %2, %3;" : "=r"(prmt) : "r"(x), "r"(y), "r"(y));
  asm("shf.l.wrap.b32 %0, %1, %2, %3;" : "=r"(rotated) : "r"(x), "r"(x), "r"(y));
  uint32_t logic;
  asm("lop3.b32 %0, %1, %2, %3, 0xE8;" : "=r"(logic) : "r"(x), "r"(y), "r"(h));
  uint32_t top;
  asm("bfind.shiftamt.u32 %0, %1;" : "=r"(top) : "r"(x));
  return h ^ field ^ inserted + prmt ^ rotated ^ logic + top;
}

/// Sums of sliced words with saturation: the video instructions.
__device__ uint32_t video(uint32_t x, uint32_t y, uint32_t z) {
  uint32_t a, b, c, d, e;
  asm("vadd.s32.s32.u32.sat %0, %1.b1, %2.h1;" : "=r"(a) : "r"(x), "r"(y));
  asm("vabsdiff.u32.s32.u32.add %0, %1.h0, %2.b3, %3;" : "=r"(b) : "r"(x), "r"(y), "r"(z));
  asm("vmad.s32.s32.s32.shr7 %0, %1.h0, %2.h1, %3;" : "=r"(c) : "r"(x), "r"(y), "r"(z));
  asm("vshl.u32.u32.u32.clamp %0, %1, %2.b0;" : "=r"(d) : "r"(x), "r"(y));
  asm("vset.u32.u32.ge %0, %1.b2, %2.b0;" : "=r"(e) : "r"(x), "r"(y));
  return a ^ b + c ^ d - e;
}

__device__ uint64_t wide(uint64_t x, uint64_t y) {
  const unsigned __int128 square = (unsigned __int128)x * y + (x ^ y);
  const uint64_t high = __umul64hi(x, y) + uint64_t(__mul64hi(int64_t(x), int64_t(y)));
  const uint64_t divided = y ? x / y + x % (y | 1) : ~0ull;
  const int64_t narrow = int64_t(x) / (int64_t(y) >> 40 | 1) + int64_t(x) % 1000003;
  return uint64_t(square >> 64) ^ uint64_t(square) ^ high ^ divided ^ uint64_t(narrow) ^ __brevll(x) ^ __clzll(y);
}

extern "C" __global__ void integers(const uint32_t* a, const uint32_t* b, uint32_t* out, uint64_t* out64, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const uint32_t x = a[i], y = b[i];
  out[i * 8] = packed(x, y);
  out[i * 8 + 1] = bitFields(x, y);
  out[i * 8 + 2] = video(x, y, x + y);
  out[i * 8 + 3] = __sad(int(x), int(y), 3) + __usad(x, y, 1) + __hadd(int(x), int(y)) + __urhadd(x, y);
  out[i * 8 + 4] = __mulhi(int(x), int(y)) ^ __umulhi(x, y) ^ __mul24(int(x), int(y)) ^ __umul24(x, y);
  out[i * 8 + 5] = y ? x / y * 31 + x % y : 1;
  out[i * 8 + 6] = int(y) ? int(x) % (int(y) | 1) - int(x) / (int(y) >> 9 | 1) : 2;
  out[i * 8 + 7] =
      int8_t(x) * int16_t(y) + uint8_t(y >> 3) - int16_t(x >> 8) % 7 + (int(x) >> (y & 31)) + (x << (y >> 27));
  out64[i] = wide(uint64_t(x) << 32 | y, uint64_t(y) << 13 ^ x);
}
