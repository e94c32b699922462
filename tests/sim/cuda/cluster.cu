// cluster.cu -- CTAs of a cluster use each other's shared memory: a histogram whose bins are spread over the CTAs, and a ring in which
// each CTA hands its values to the next one.
#include <cooperative_groups.h>
#include <cstdint>
namespace cg = cooperative_groups;

/// `bins` is a multiple of the cluster's size; a CTA holds bins / size of them.
extern "C" __global__ void clusterHistogram(const int* values, int n, int bins, int* counts) {
  extern __shared__ int mine[];
  cg::cluster_group cluster = cg::this_cluster();
  const int size = cluster.num_blocks(), rank = cluster.block_rank(), own = bins / size;
  for (int i = threadIdx.x; i < own; i += blockDim.x) mine[i] = 0;
  cluster.sync();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const int bin = min(max(values[i], 0), bins - 1);
    int* there = cluster.map_shared_rank(mine, bin / own);
    atomicAdd(there + bin % own, 1);
  }
  cluster.sync();
  for (int i = threadIdx.x; i < own; i += blockDim.x) atomicAdd(&counts[rank * own + i], mine[i]);
}

/// Values go around the ring once, each CTA adds its own: all CTAs of a cluster end with the same sums. Clusters have 4 CTAs.
extern "C" __global__ void __cluster_dims__(4, 1, 1) clusterRing(const int* in, int* out, int rounds) {
  __shared__ int box[2][128];
  cg::cluster_group cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank(), size = cluster.num_blocks(), next = (rank + 1) % size;
  const int at = blockIdx.x * blockDim.x + threadIdx.x, own = in[at];
  int sum = own, carried = own;
  for (int round = 0; round < rounds; ++round) {
    cluster.map_shared_rank(&box[round % 2][0], next)[threadIdx.x] = carried;
    cg::cluster_group::arrival_token token = cluster.barrier_arrive();
    const int turned = __shfl_xor_sync(~0u, own, round & 31); // something to do while others come
    cluster.barrier_wait(cuda::std::move(token));
    carried = box[round % 2][threadIdx.x];
    sum += carried ^ turned;
  }
  cluster.sync(); // nobody ends while others still write to it
  out[at] = sum;
}

/// A CTA sends its numbers straight to the memory and the barrier of CTA 0 of its cluster, which adds them up.
extern "C" __global__ void __cluster_dims__(2, 1, 1) clusterSend(const int* in, long long* out) {
  __shared__ int inbox[2][64];
  __shared__ uint64_t barrier;
  cg::cluster_group cluster = cg::this_cluster();
  const uint32_t local = uint32_t(__cvta_generic_to_shared(&barrier));
  const uint32_t slot = uint32_t(__cvta_generic_to_shared(&inbox[cluster.block_rank()][threadIdx.x]));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n\tfence.mbarrier_init.release.cluster;" ::"r"(local)
                 : "memory");
    asm volatile("mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [%0], %1;" ::"r"(local), "r"(2 * 64 * 4)
                 : "memory");
  }
  cluster.sync();
  uint32_t there, thatBarrier;
  asm("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(there) : "r"(slot));
  asm("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(thatBarrier) : "r"(local));
  const int value = in[blockIdx.x * blockDim.x + threadIdx.x];
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(there), "r"(value),
               "r"(thatBarrier)
               : "memory");
  if (cluster.block_rank() == 0) {
    asm volatile("{\n\t.reg .pred p;\n"
                 "again_%=:\n\tmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], 0;\n"
                 "\t@!p bra again_%=;\n\t}" ::"r"(local)
                 : "memory");
    const long long sum = (long long)inbox[0][threadIdx.x] * inbox[1][63 - threadIdx.x];
    out[blockIdx.x / 2 * blockDim.x + threadIdx.x] = sum;
  }
  cluster.sync();
}
