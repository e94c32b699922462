// bitonic.cu -- each CTA sorts its part of an array of keys with values in dynamic shared memory, by a bitonic network; equal keys
// keep their order.
extern __shared__ unsigned long long pairs[];

/// `count`, the pairs of a CTA, is a power of two; what lies behind n is not touched. Keys are floats; -0 is less than +0.
extern "C" __global__ void bitonicSort(float* keys, unsigned* values, unsigned n, unsigned count) {
  const unsigned base = blockIdx.x * count;
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) {
    unsigned long long pair = ~0ull;
    if (base + i < n) {
      const unsigned bits = __float_as_uint(keys[base + i]);
      pair = (unsigned long long)(bits & 0x80000000 ? ~bits : bits | 0x80000000) << 32 | i;
    }
    pairs[i] = pair;
  }
  for (unsigned size = 2; size <= count; size *= 2)
    for (unsigned distance = size / 2; distance > 0; distance /= 2) {
      __syncthreads();
      for (unsigned i = threadIdx.x; i < count / 2; i += blockDim.x) {
        const unsigned low = (i & ~(distance - 1)) * 2 | (i & (distance - 1)), high = low + distance;
        const bool up = (low & size) == 0;
        const unsigned long long a = pairs[low], b = pairs[high];
        if ((a > b) == up) pairs[low] = b, pairs[high] = a;
      }
    }
  __syncthreads();
  // Values are gathered through registers: a CTA reads all of its own before it writes any.
  unsigned moved[16];
#pragma unroll
  for (int k = 0; k < 16; ++k) {
    const unsigned i = threadIdx.x + k * blockDim.x;
    moved[k] = i < count && base + i < n ? values[base + unsigned(pairs[i])] : 0;
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 16; ++k) {
    const unsigned i = threadIdx.x + k * blockDim.x;
    if (i >= count || base + i >= n) continue;
    const unsigned bits = unsigned(pairs[i] >> 32);
    keys[base + i] = __uint_as_float(bits & 0x80000000 ? bits & 0x7fffffff : ~bits);
    values[base + i] = moved[k];
  }
}
