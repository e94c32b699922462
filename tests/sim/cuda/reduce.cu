// reduce.cu -- sum, minimum, and maximum with its place, of an array of any length, in one pass over any number of CTAs.
// Idea: warps reduce with shuffles, the warps of a CTA through shared memory; the CTA that ends last combines what all CTAs found,
//       in the order of the CTAs, so that the sum does not depend on who was last.
#include <cfloat>

struct Summary {
  float sum, least, most;
  int place;
};

__device__ unsigned finished; // wraps around to 0: ready for the next launch

__device__ Summary nothing() { return {0.0f, FLT_MAX, -FLT_MAX, -1}; }

__device__ Summary combine(const Summary& a, const Summary& b) {
  const bool takeB = b.most > a.most || (b.most == a.most && unsigned(b.place) < unsigned(a.place));
  return {a.sum + b.sum, fminf(a.least, b.least), takeB ? b.most : a.most, takeB ? b.place : a.place};
}

__device__ Summary ofWarp(Summary s) {
  for (int distance = 16; distance > 0; distance /= 2) {
    Summary other;
    other.sum = __shfl_down_sync(~0u, s.sum, distance);
    other.least = __shfl_down_sync(~0u, s.least, distance);
    other.most = __shfl_down_sync(~0u, s.most, distance);
    other.place = __shfl_down_sync(~0u, s.place, distance);
    s = combine(s, other);
  }
  return s;
}

/// The result is thread 0's.
__device__ Summary ofBlock(Summary s) {
  __shared__ Summary warps[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, count = (blockDim.x + 31) / 32;
  s = ofWarp(s);
  __syncthreads(); // the array may still be read from the last call
  if (lane == 0) warps[warp] = s;
  __syncthreads();
  if (warp == 0) s = ofWarp(lane < count ? warps[lane] : nothing());
  return s;
}

extern "C" __global__ void reduce(const float* x, int n, Summary* partial, Summary* result) {
  __shared__ bool last;
  Summary s = nothing();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    s = combine(s, {x[i], x[i], x[i], i});
  s = ofBlock(s);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = s;
    __threadfence();
    last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  s = nothing();
  for (int i = threadIdx.x; i < gridDim.x; i += blockDim.x) {
    const volatile Summary& p = partial[i];
    s = combine(s, {p.sum, p.least, p.most, p.place});
  }
  s = ofBlock(s);
  if (threadIdx.x == 0) *result = s;
}
