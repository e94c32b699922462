// mma.cu -- a bf16 matrix product of any size with mma.sync and ldmatrix in inline PTX: three stages of cp.async with zeros behind
// the edges, rows in shared memory swizzled against bank conflicts, a bias and a gate at the end.
#include <cstdint>
#include <cuda_bf16.h>

constexpr int kM = 64, kN = 32, kK = 32, kStages = 3, kThreads = 128;
constexpr int kStageBytes = (kM + kN) * kK * 2;

__device__ uint32_t sharedAddress(const void* p) { return uint32_t(__cvta_generic_to_shared(p)); }

/// 16 bytes, or zeros.
__device__ void copy16(uint32_t to, const void* from, bool exists) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(exists ? 16 : 0));
}
template <int kLeft> __device__ void waitForCopies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory");
}

/// Where 16 bytes of a row of 64 lie: rows two apart exchange their chunks.
__device__ uint32_t swizzled(int row, int chunk) { return row * (kK * 2) + ((chunk ^ (row / 2 % 4)) * 16); }

__device__ void load4(uint32_t (&r)[4], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address));
}
__device__ void multiply(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
               "{%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ float gate(float x) { return x / (1.0f + __expf(-x)); }

/// d = gate(a b^T + bias): a is m x k, b is n x k, d is m x n; k is a multiple of 8, n of 2.
extern "C" __global__ void __launch_bounds__(kThreads)
    mmaMatmul(const __nv_bfloat16* a, const __nv_bfloat16* b, const float* bias, __nv_bfloat16* d, int m, int n,
              int k) {
  __shared__ __align__(128) char memory[kStages * kStageBytes];
  const int row = blockIdx.y * kM, column = blockIdx.x * kN, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int steps = (k + kK - 1) / kK;
  const uint32_t base = sharedAddress(memory);

  auto fetch = [&](int step) {
    if (step < steps) {
      const uint32_t stage = base + step % kStages * kStageBytes;
      for (int i = threadIdx.x; i < (kM + kN) * (kK / 8); i += kThreads) {
        const int r = i / (kK / 8), chunk = i % (kK / 8), at = step * kK + chunk * 8;
        const bool ofA = r < kM;
        const int source = ofA ? row + r : column + r - kM;
        const bool exists = at < k && source < (ofA ? m : n);
        const __nv_bfloat16* from = exists ? (ofA ? a : b) + size_t(source) * k + at : a;
        copy16(stage + (ofA ? 0 : kM * kK * 2) + swizzled(ofA ? r : r - kM, chunk), from, exists);
      }
    }
    asm volatile("cp.async.commit_group;");
  };

  float sums[kN / 8][4] = {};
  for (int step = 0; step < kStages - 1; ++step) fetch(step);
  for (int step = 0; step < steps; ++step) {
    waitForCopies<kStages - 2>();
    __syncthreads();
    fetch(step + kStages - 1);
    const uint32_t stage = base + step % kStages * kStageBytes;
#pragma unroll
    for (int inner = 0; inner < kK / 16; ++inner) {
      uint32_t left[4];
      load4(left, stage + swizzled(warp * 16 + lane % 16, inner * 2 + lane / 16));
#pragma unroll
      for (int pair = 0; pair < kN / 16; ++pair) {
        uint32_t right[4];
        load4(right, stage + kM * kK * 2 + swizzled(pair * 16 + lane % 8 + lane / 16 * 8, inner * 2 + lane / 8 % 2));
        multiply(sums[pair * 2], left, right[0], right[1]);
        multiply(sums[pair * 2 + 1], left, right[2], right[3]);
      }
    }
  }
  waitForCopies<0>();
#pragma unroll
  for (int j = 0; j < kN / 8; ++j)
    for (int half = 0; half < 2; ++half) {
      const int r = row + warp * 16 + lane / 4 + half * 8, c = column + j * 8 + lane % 4 * 2;
      if (r >= m || c >= n) continue;
      const float x = gate(sums[j][half * 2] + bias[c]), y = gate(sums[j][half * 2 + 1] + bias[c + 1]);
      *reinterpret_cast<__nv_bfloat162*>(&d[size_t(r) * n + c]) = __floats2bfloat162_rn(x, y);
    }
}
