// cooperative.cu -- groups of threads smaller than a warp and as large as the grid: cooperative groups' tiles, reductions and scans,
// coalesced groups, and a barrier of the whole grid that spins on global memory.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

/// All CTAs of the grid have to run at the same time. `state` is 0 in the beginning; its top bit turns with each use.
__device__ void waitForGrid(unsigned* state) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    const unsigned add = blockIdx.x == 0 ? 0x80000000u - (gridDim.x - 1) : 1;
    const unsigned old = atomicAdd(state, add);
    while (((old ^ *static_cast<volatile unsigned*>(state)) & 0x80000000u) == 0) {}
    __threadfence();
  }
  __syncthreads();
}

/// Floyd and Warshall: shortest ways between all pairs of `n` places; each CTA has its rows.
extern "C" __global__ void shortestWays(int* distance, int n, unsigned* state) {
  for (int via = 0; via < n; ++via) {
    for (int row = blockIdx.x; row < n; row += gridDim.x) {
      const int first = __ldcg(&distance[row * n + via]);
      for (int to = threadIdx.x; to < n; to += blockDim.x) {
        const int around = first + __ldcg(&distance[via * n + to]);
        if (row != via && around < __ldcg(&distance[row * n + to])) __stcg(&distance[row * n + to], around);
      }
    }
    waitForGrid(state);
  }
}

/// Each row of 8 numbers gives its sum, its largest one, and its running sums; odd numbers are gathered in one place, counted in groups
/// of those that come at once.
extern "C" __global__ void groups(const int* in, int* sums, int* largest, int* running, int* odd, unsigned* labels) {
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<8>(block);
  const int at = blockIdx.x * block.size() + block.thread_rank(), row = at / 8, x = in[at];
  const int sum = cg::reduce(tile, x, cg::plus<int>()), most = cg::reduce(tile, x, cg::greater<int>());
  running[at] = cg::exclusive_scan(tile, x);
  if (tile.thread_rank() == 0) sums[row] = sum, largest[row] = most;
  if (tile.any(x < 0) && tile.meta_group_rank() % 2) running[at] += tile.shfl(x, 7 - tile.thread_rank()) << 8;

  __shared__ int gathered;
  if (block.thread_rank() == 0) gathered = 0;
  block.sync();
  if (x & 1) {
    cg::coalesced_group together = cg::coalesced_threads();
    int before = 0;
    if (together.thread_rank() == 0) before = atomicAdd(&gathered, int(together.size()));
    before = together.shfl(before, 0);
    odd[blockIdx.x * block.size() + before + together.thread_rank()] = 1;
  }
  block.sync();
  auto warp = cg::tiled_partition<32>(block);
  auto alike = cg::labeled_partition(warp, (x % 5 + 5) % 5);
  labels[at] = alike.size() << 16 | cg::reduce(alike, unsigned(warp.thread_rank()), cg::bit_xor<unsigned>());
  auto halves = cg::binary_partition(warp, x > 0);
  labels[at] += unsigned(cg::inclusive_scan(halves, 1)) << 24;
}
