// tensormap.cu -- tensor copies with maps that the host made: a tile comes in swizzled and goes out transposed; tiles at the edges
// are filled with zeros and cut off.
#include <cstdint>
#include <cuda.h>

constexpr int kRows = 32, kColumns = 32;

__device__ uint32_t sharedAddress(const void* p) { return uint32_t(__cvta_generic_to_shared(p)); }

/// `in` has tiles of 32 x 32 integers (rows of 128 bytes, swizzled by 128 bytes), `out` the same without swizzle; out = in^T + 1.
extern "C" __global__ void tensorTranspose(const __grid_constant__ CUtensorMap in,
                                           const __grid_constant__ CUtensorMap out, int* sums) {
  __shared__ __align__(1024) int tile[kRows][kColumns];
  __shared__ __align__(128) int turned[kColumns][kRows];
  __shared__ uint64_t barrier;
  const uint32_t at = sharedAddress(&barrier);
  const int x = blockIdx.x * kColumns, y = blockIdx.y * kRows;
  if (threadIdx.x == 0) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(&in) : "memory");
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n\tfence.proxy.async.shared::cta;" ::"r"(at) : "memory");
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at), "n"(sizeof tile) : "memory");
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], "
        "[%4];" ::"r"(sharedAddress(tile)),
        "l"(&in), "r"(x), "r"(y), "r"(at)
        : "memory");
  }
  int done = 0;
  while (!done)
    asm volatile(
        "{\n\t.reg .pred p;\n\tmbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\n\tselp.b32 %0, 1, 0, p;\n\t}"
        : "=r"(done)
        : "r"(at)
        : "memory");
  int sum = 0;
  for (int i = threadIdx.x; i < kRows * kColumns; i += blockDim.x) {
    const int row = i / kColumns, column = i % kColumns, chunk = column / 4 ^ row % 8;
    const int value = tile[row][chunk * 4 + column % 4];
    sum += value;
    turned[column][row] = value + 1;
  }
  atomicAdd(&sums[blockIdx.y * gridDim.x + blockIdx.x], sum);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&out), "r"(y),
                 "r"(x), "r"(sharedAddress(turned))
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group 0;" ::: "memory");
  }
}
