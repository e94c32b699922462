// radix.cu -- one CTA sorts up to 4096 keys of 64 bits by their digits, least significant first; a digit's place is found with ballots.
constexpr int kThreads = 256, kWarps = kThreads / 32, kDigits = 16;

__shared__ unsigned counts[kDigits][kWarps]; // keys of a warp with a digit, then where the first of them goes

/// The lanes whose key exists and has the same digit; called by whole warps.
__device__ unsigned sameDigit(unsigned digit, bool exists) {
  unsigned same = __ballot_sync(~0u, exists);
#pragma unroll
  for (int bit = 0; bit < 4; ++bit) {
    const bool set = digit >> bit & 1;
    const unsigned with = __ballot_sync(~0u, set);
    same &= set ? with : ~with;
  }
  return same;
}

__device__ void startOfEachDigit() {
  static_assert(kDigits * kWarps == 128);
  __shared__ unsigned sums[4];
  const int i = threadIdx.x, lane = i % 32;
  unsigned own = 0, upTo = 0;
  if (i < 128) {
    own = upTo = (&counts[0][0])[i];
    for (int d = 1; d < 32; d *= 2) {
      const unsigned below = __shfl_up_sync(~0u, upTo, d);
      upTo += lane >= d ? below : 0;
    }
    if (lane == 31) sums[i / 32] = upTo;
  }
  __syncthreads();
  if (i < 128) {
    for (int w = 0; w < i / 32; ++w) upTo += sums[w];
    (&counts[0][0])[i] = upTo - own;
  }
  __syncthreads();
}

extern "C" __global__ void __launch_bounds__(kThreads) radixSort(long long* keys, long long* other, int n) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int perWarp = ((n + kWarps - 1) / kWarps + 31) & ~31, begin = warp * perWarp, end = min(n, begin + perWarp);
  const unsigned below = (1u << lane) - 1;
  long long *from = keys, *to = other;
  for (int shift = 0; shift < 64; shift += 4) {
    auto digitOf = [&](long long key) { return unsigned((key ^ (1ll << 63)) >> shift & 15); };
    if (threadIdx.x < kDigits * kWarps) (&counts[0][0])[threadIdx.x] = 0;
    __syncthreads();
    for (int i = begin + lane; i - lane < end; i += 32) {
      const bool exists = i < end;
      const unsigned digit = exists ? digitOf(from[i]) : 0, same = sameDigit(digit, exists);
      if (exists && (same & below) == 0) counts[digit][warp] += __popc(same);
      __syncwarp();
    }
    __syncthreads();
    startOfEachDigit();
    for (int i = begin + lane; i - lane < end; i += 32) {
      const bool exists = i < end;
      const long long key = exists ? from[i] : 0;
      const unsigned digit = exists ? digitOf(key) : 0, same = sameDigit(digit, exists);
      const unsigned place = counts[digit][warp] + __popc(same & below);
      __syncwarp();
      if (exists && (same & below) == 0) counts[digit][warp] += __popc(same);
      __syncwarp();
      if (exists) to[place] = key;
    }
    __syncthreads();
    long long* t = from;
    from = to, to = t;
  }
}
