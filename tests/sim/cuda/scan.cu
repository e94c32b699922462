// scan.cu -- exclusive prefix sums in one pass: each CTA looks back over the tiles in front of its own until it finds a whole sum.
// Idea: a tile's state is one word of 64 bits, its sum below what is known of it, so that both are read at once.
#include <cuda/atomic>

constexpr int kThreads = 128, kItems = 4, kTile = kThreads * kItems;
enum State : unsigned { kUnknown, kOwnSum, kWholeSum };
using Word = unsigned long long;
using Atomic = cuda::atomic_ref<Word, cuda::thread_scope_device>;

__device__ Word word(State state, unsigned sum) { return Word(state) << 32 | sum; }

__device__ unsigned inclusiveOfWarp(unsigned x) {
  for (int distance = 1; distance < 32; distance *= 2) {
    const unsigned below = __shfl_up_sync(~0u, x, distance);
    if (threadIdx.x % 32 >= distance) x += below;
  }
  return x;
}

/// Sum of all tiles in front of `tile`; by the lanes of one warp, each of which waits for one tile.
__device__ unsigned lookBack(Word* states, int tile) {
  const int lane = threadIdx.x % 32;
  unsigned sum = 0;
  for (int end = tile;; end -= 32) {
    const int mine = end - 1 - lane; // lane 0 looks at the nearest one
    Word found = word(kWholeSum, 0);
    if (mine >= 0) {
      while ((found = Atomic(states[mine]).load(cuda::memory_order_acquire)) >> 32 == kUnknown) __nanosleep(20);
    }
    const unsigned whole = __ballot_sync(~0u, found >> 32 == kWholeSum);
    const int nearest = whole ? __ffs(whole) - 1 : 31;
    unsigned part = lane <= nearest ? unsigned(found) : 0;
    sum += __reduce_add_sync(~0u, part);
    if (whole) return sum;
  }
}

extern "C" __global__ void scan(const unsigned* in, unsigned* out, int n, Word* states, int* next) {
  __shared__ int sharedTile;
  __shared__ unsigned warpSums[kThreads / 32];
  __shared__ unsigned before;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (threadIdx.x == 0)
    sharedTile = atomicAdd(next, 1); // tiles begin in this order: nobody waits for one that has not begun
  __syncthreads();
  const int tile = sharedTile, first = tile * kTile + threadIdx.x * kItems;

  unsigned items[kItems], own = 0;
  for (int i = 0; i < kItems; ++i) {
    items[i] = first + i < n ? in[first + i] : 0;
    own += items[i];
  }
  const unsigned inclusive = inclusiveOfWarp(own);
  if (lane == 31) warpSums[warp] = inclusive;
  __syncthreads();
  if (warp == 0) {
    unsigned sum = lane < kThreads / 32 ? warpSums[lane] : 0;
    const unsigned upTo = inclusiveOfWarp(sum), total = __shfl_sync(~0u, upTo, kThreads / 32 - 1);
    if (lane < kThreads / 32) warpSums[lane] = upTo - sum;
    if (lane == 0) Atomic(states[tile]).store(word(tile ? kOwnSum : kWholeSum, total), cuda::memory_order_release);
    const unsigned front = tile ? lookBack(states, tile) : 0;
    if (lane == 0) {
      if (tile) Atomic(states[tile]).store(word(kWholeSum, front + total), cuda::memory_order_release);
      before = front;
    }
  }
  __syncthreads();
  unsigned sum = before + warpSums[warp] + inclusive - own;
  for (int i = 0; i < kItems; ++i) {
    if (first + i < n) out[first + i] = sum;
    sum += items[i];
  }
}
