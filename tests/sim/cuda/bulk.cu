// bulk.cu -- bulk copies (the engine of TMA, one dimension) between global and shared memory. A ring of stages between one warp that
// fetches and warps that compute, with barriers in shared memory for full and empty; and the same copies through cuda::barrier.
#include <cstdint>
#include <cuda/barrier>
#include <cuda/ptx>

constexpr int kItems = 1024, kStages = 3, kConsumers = 128;

__device__ uint32_t sharedAddress(const void* p) { return uint32_t(__cvta_generic_to_shared(p)); }
__device__ void initialise(uint64_t* barrier, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(sharedAddress(barrier)), "r"(count) : "memory");
}
__device__ void expect(uint64_t* barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(sharedAddress(barrier)),
               "r"(bytes)
               : "memory");
}
__device__ void arrive(uint64_t* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(sharedAddress(barrier)) : "memory");
}
__device__ void waitFor(uint64_t* barrier, uint32_t parity) {
  asm volatile("{\n\t.reg .pred done;\n"
               "again_%=:\n\tmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
               "\t@!done bra again_%=;\n\t}" ::"r"(sharedAddress(barrier)),
               "r"(parity)
               : "memory");
}
__device__ void fetch(void* to, const void* from, uint32_t bytes, uint64_t* barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   sharedAddress(to)),
               "l"(from), "r"(bytes), "r"(sharedAddress(barrier))
               : "memory");
}

/// y = scale x + y; every CTA takes every gridDim.x-th tile of kItems. n is a multiple of 4, arrays are aligned to 16 bytes.
extern "C" __global__ void __launch_bounds__(kConsumers + 32) bulkRing(const float* x, float* y, int n, float scale) {
  __shared__ __align__(128) float xs[kStages][kItems], ys[kStages][kItems];
  __shared__ uint64_t full[kStages], empty[kStages];
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) initialise(&full[s], 1), initialise(&empty[s], 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  const int tiles = (n + kItems - 1) / kItems;
  if (threadIdx.x >= kConsumers) {
    if (threadIdx.x != kConsumers) return;
    for (int tile = blockIdx.x, i = 0; tile < tiles; tile += gridDim.x, ++i) {
      const int s = i % kStages, items = min(kItems, n - tile * kItems);
      waitFor(&empty[s], (i / kStages & 1) ^ 1);
      expect(&full[s], items * 8);
      fetch(xs[s], x + tile * kItems, items * 4, &full[s]);
      fetch(ys[s], y + tile * kItems, items * 4, &full[s]);
    }
    return;
  }
  for (int tile = blockIdx.x, i = 0; tile < tiles; tile += gridDim.x, ++i) {
    const int s = i % kStages, items = min(kItems, n - tile * kItems);
    waitFor(&full[s], i / kStages & 1);
    for (int at = threadIdx.x; at < items; at += kConsumers) ys[s][at] = scale * xs[s][at] + ys[s][at];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("bar.sync 1, %0;" ::"n"(kConsumers) : "memory");
    if (threadIdx.x == 0) {
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(y + tile * kItems),
                   "r"(sharedAddress(ys[s])), "r"(items * 4)
                   : "memory");
      asm volatile("cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group.read 0;" ::: "memory");
      arrive(&empty[s]);
    }
  }
  if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

/// Each CTA reverses its kItems integers, and adds them so, one by one, to the kItems of `total`.
extern "C" __global__ void bulkReverse(const int* in, int* out, int* total) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ __align__(128) int items[kItems], turned[kItems];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ Barrier barrier;
  if (threadIdx.x == 0) {
    init(&barrier, blockDim.x);
    cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
  }
  __syncthreads();
  Barrier::arrival_token token;
  if (threadIdx.x == 0) {
    cuda::device::memcpy_async_tx(items, in + blockIdx.x * kItems, cuda::aligned_size_t<16>(sizeof items), barrier);
    token = cuda::device::barrier_arrive_tx(barrier, 1, sizeof items);
  } else {
    token = barrier.arrive();
  }
  barrier.wait(cuda::std::move(token));
  for (int i = threadIdx.x; i < kItems; i += blockDim.x) turned[kItems - 1 - i] = items[i];
  cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    cuda::ptx::cp_async_bulk(cuda::ptx::space_global, cuda::ptx::space_shared, out + blockIdx.x * kItems, turned,
                             sizeof turned);
    cuda::ptx::cp_reduce_async_bulk(cuda::ptx::space_global, cuda::ptx::space_shared, cuda::ptx::op_add, total, turned,
                                    sizeof turned);
    cuda::ptx::cp_async_bulk_commit_group();
    cuda::ptx::cp_async_bulk_wait_group(cuda::ptx::n32_t<0>());
  }
}
