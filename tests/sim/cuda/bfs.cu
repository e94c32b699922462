// bfs.cu -- breadth-first search over a graph in rows of neighbours: one level of the search by a grid, whose queue is filled through
// shared memory; and a product of a sparse matrix with a vector, a warp for each row.
constexpr int kRoom = 64;

/// places[0 .. count) are of level `level`; those found are of level + 1 and are appended to `found` in no certain order.
extern "C" __global__ void bfsLevel(const int* starts, const int* neighbours, const int* places, int count, int* levels,
                                    int level, int* found, int* foundCount) {
  __shared__ int queue[kRoom];
  __shared__ int queued, base;
  if (threadIdx.x == 0) queued = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const int place = places[i];
    for (int e = starts[place]; e < starts[place + 1]; ++e) {
      const int to = neighbours[e];
      if (static_cast<volatile int*>(levels)[to] >= 0 || atomicCAS(&levels[to], -1, level + 1) != -1) continue;
      const int at = atomicAdd(&queued, 1);
      if (at < kRoom)
        queue[at] = to;
      else
        found[atomicAdd(foundCount, 1)] = to; // no room left: straight to the other one
    }
  }
  __syncthreads();
  const int kept = min(queued, kRoom);
  if (threadIdx.x == 0 && kept) base = atomicAdd(foundCount, kept);
  __syncthreads();
  for (int i = threadIdx.x; i < kept; i += blockDim.x) found[base + i] = queue[i];
}

/// The whole search in one CTA.
extern "C" __global__ void bfs(const int* starts, const int* neighbours, int* levels, int first, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) levels[i] = i == first ? 0 : -1;
  __syncthreads();
  for (int level = 0;; ++level) {
    bool changed = false;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
      if (static_cast<volatile int*>(levels)[i] != level) continue;
      for (int e = starts[i]; e < starts[i + 1]; ++e)
        if (atomicCAS(&levels[neighbours[e]], -1, level + 1) == -1) changed = true;
    }
    if (!__syncthreads_or(changed)) break;
  }
}

extern "C" __global__ void sparseTimesVector(const int* starts, const int* columns, const float* values, const float* x,
                                             float* y, int rows) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0;
  for (int i = starts[row] + lane; i < starts[row + 1]; i += 32) sum = fmaf(values[i], __ldg(&x[columns[i]]), sum);
#pragma unroll
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (lane == 0) y[row] = sum;
}
