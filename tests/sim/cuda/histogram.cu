// histogram.cu -- how often each byte occurs, and how often each bin of a sparse set of keys does.
constexpr int kBins = 256;

__device__ void count(unsigned* bins, unsigned four) {
  for (int shift = 0; shift < 32; shift += 8) atomicAdd(&bins[four >> shift & 255], 1u);
}

/// `bytes` is aligned to 16 bytes; n need not be a multiple of anything. `bins` begin as they are.
extern "C" __global__ void histogramBytes(const unsigned char* bytes, unsigned n, unsigned* bins) {
  __shared__ unsigned local[8][kBins]; // one for each warp
  unsigned* mine = local[threadIdx.x / 32];
  for (int i = threadIdx.x; i < 8 * kBins; i += blockDim.x) (&local[0][0])[i] = 0;
  __syncthreads();
  const unsigned whole = n / 16, stride = gridDim.x * blockDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < whole; i += stride) {
    const uint4 v = reinterpret_cast<const uint4*>(bytes)[i];
    count(mine, v.x), count(mine, v.y), count(mine, v.z), count(mine, v.w);
  }
  if (blockIdx.x == gridDim.x - 1)
    for (unsigned i = whole * 16 + threadIdx.x; i < n; i += blockDim.x) atomicAdd(&mine[bytes[i]], 1u);
  __syncthreads();
  for (int bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
    unsigned sum = 0;
    for (int warp = 0; warp < 8; ++warp) sum += local[warp][bin];
    if (sum) atomicAdd(&bins[bin], sum);
  }
}

/// Lanes with the same key elect one of them, which counts for all.
extern "C" __global__ void histogramKeys(const long long* keys, unsigned n, unsigned long long* counts, unsigned mask) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const unsigned active = __activemask();
    const long long key = keys[i];
    const unsigned same = __match_any_sync(active, key);
    int all;
    __match_all_sync(active, key, &all);
    if (all && __popc(active) == 32) {
      if (threadIdx.x % 32 == 0) atomicAdd(&counts[key & mask], 32ull);
    } else if (__ffs(same) - 1 == threadIdx.x % 32) {
      atomicAdd(&counts[key & mask], (unsigned long long)__popc(same));
    }
  }
}
