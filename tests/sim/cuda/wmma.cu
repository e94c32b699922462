// wmma.cu -- d = a b + c with nvcuda::wmma: f16 in, f32 out, tiles fetched two steps ahead by cuda::pipeline (cp.async).
#include <cooperative_groups.h>
#include <cuda/pipeline>
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

constexpr int kM = 64, kN = 64, kK = 32, kStages = 3, kPad = 8, kThreads = 128;

struct Stage {
  __half a[kM][kK + kPad];
  __half b[kK][kN + kPad];
};

/// m, n, k are multiples of the tile's sizes; a is m x k, b is k x n, c and d are m x n, all row by row.
extern "C" __global__ void __launch_bounds__(kThreads)
    wmmaMatmul(const __half* a, const __half* b, const float* c, float* d, int n, int k) {
  extern __shared__ __align__(128) char memory[];
  Stage* stages = reinterpret_cast<Stage*>(memory);
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
  auto pipe = cuda::make_pipeline(cooperative_groups::this_thread_block(), &state);
  const int row = blockIdx.y * kM, column = blockIdx.x * kN, warp = threadIdx.x / 32;
  const int steps = k / kK, warpRow = warp / 2 * 32, warpColumn = warp % 2 * 32;

  auto fetch = [&](int step) {
    pipe.producer_acquire();
    if (step < steps) {
      Stage& s = stages[step % kStages];
      const auto sixteen = cuda::aligned_size_t<16>(16);
      for (int i = threadIdx.x; i < kM * kK / 8; i += kThreads) {
        const int r = i / (kK / 8), at = i % (kK / 8) * 8;
        cuda::memcpy_async(&s.a[r][at], &a[size_t(row + r) * k + step * kK + at], sixteen, pipe);
      }
      for (int i = threadIdx.x; i < kK * kN / 8; i += kThreads) {
        const int r = i / (kN / 8), at = i % (kN / 8) * 8;
        cuda::memcpy_async(&s.b[r][at], &b[size_t(step * kK + r) * n + column + at], sixteen, pipe);
      }
    }
    pipe.producer_commit();
  };

  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[2][2];
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j)
      wmma::load_matrix_sync(sums[i][j], c + size_t(row + warpRow + i * 16) * n + column + warpColumn + j * 16, n,
                             wmma::mem_row_major);
  for (int step = 0; step < kStages - 1; ++step) fetch(step);
  for (int step = 0; step < steps; ++step) {
    fetch(step + kStages - 1);
    pipe.consumer_wait();
    const Stage& s = stages[step % kStages];
    for (int inner = 0; inner < kK; inner += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> left[2];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> right[2];
      for (int i = 0; i < 2; ++i) {
        wmma::load_matrix_sync(left[i], &s.a[warpRow + i * 16][inner], kK + kPad);
        wmma::load_matrix_sync(right[i], &s.b[inner][warpColumn + i * 16], kN + kPad);
      }
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) wmma::mma_sync(sums[i][j], left[i], right[j], sums[i][j]);
    }
    pipe.consumer_release();
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) {
      for (float& x : sums[i][j].x) x = fmaxf(x, -1.0f);
      wmma::store_matrix_sync(d + size_t(row + warpRow + i * 16) * n + column + warpColumn + j * 16, sums[i][j], n,
                              wmma::mem_row_major);
    }
}
