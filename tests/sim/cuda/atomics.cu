// atomics.cu -- atomic operations of all kinds, on global and shared memory; what they leave does not depend on who comes first.
#include <cuda/atomic>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

enum { kAdd, kSub, kMin, kMax, kAnd, kOr, kXor, kInc, kDec, kCas, kKinds };

template <class T> __device__ T swapLoop(T* at, T value) { // the larger one stays
  T old = *static_cast<volatile T*>(at);
  for (;;) {
    const T best = value > old ? value : old;
    const T seen = atomicCAS(at, old, best);
    if (seen == old) return seen;
    old = seen;
  }
}

__device__ void all32(int* cell, unsigned x) {
  unsigned* u = reinterpret_cast<unsigned*>(cell);
  atomicAdd(cell + kAdd, int(x));
  atomicSub(cell + kSub, int(x));
  atomicMin(cell + kMin, int(x));
  atomicMax(u + kMax, x);
  atomicAnd(u + kAnd, x | 0x0ff0u << (x & 7));
  atomicOr(u + kOr, 1u << (x & 31));
  atomicXor(u + kXor, x);
  atomicInc(u + kInc, 100);
  atomicDec(u + kDec, 77);
  swapLoop(cell + kCas, int(x >> 1));
}
__device__ void all64(unsigned long long* cell, unsigned long long x) {
  atomicAdd(cell + kAdd, x);
  atomicAdd(cell + kSub, 0 - x);
  atomicMin(reinterpret_cast<long long*>(cell) + kMin, (long long)x);
  atomicMax(cell + kMax, x);
  atomicAnd(cell + kAnd, x | 0xffffull << (x & 31));
  atomicOr(cell + kOr, 1ull << (x & 63));
  atomicXor(cell + kXor, x);
  swapLoop(cell + kCas, x);
}

extern "C" __global__ void atomics(const unsigned* in, int* cells32, unsigned long long* cells64, int* shared32,
                                   unsigned long long* swapped) {
  __shared__ int local32[kKinds];
  __shared__ unsigned long long local64[kKinds], sum;
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x < kKinds) local32[threadIdx.x] = cells32[threadIdx.x], local64[threadIdx.x] = 1000 + threadIdx.x;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  const unsigned x = in[at];
  const unsigned long long wide = (unsigned long long)x * 0x9e3779b97f4a7c15ull;
  all32(cells32 + kKinds, x);
  all64(cells64, wide);
  all32(local32, x ^ 0x55555555);
  all64(local64, wide >> 7);
  // Values go around by exchange: the set of all stays the same.
  __shared__ unsigned long long place;
  if (threadIdx.x == 0) place = 0;
  __syncthreads();
  atomicAdd(&sum, atomicExch(&place, wide | 1));
  __syncthreads();
  if (threadIdx.x == 0) swapped[blockIdx.x] = sum + place;
  if (threadIdx.x < kKinds) {
    atomicAdd(&shared32[threadIdx.x], local32[threadIdx.x]);
    atomicXor(&swapped[gridDim.x + threadIdx.x], local64[threadIdx.x]);
  }
}

/// Sums of small whole numbers in floating point are exact in any order.
extern "C" __global__ void atomicFloats(const int* in, float* f32, double* f64, __half2* f16x2, __nv_bfloat162* bf16x2,
                                        unsigned short* locks) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x, x = in[at] & 15;
  atomicAdd(f32 + at % 3, float(x - 7));
  atomicAdd(f64 + at % 3, double(x) * 0.125);
  atomicAdd(f16x2, __floats2half2_rn(float(x & 1), float(-(x & 2))));
  if (at < 64) atomicAdd(bf16x2, __floats2bfloat162_rn(float(x & 1), float(x >> 2 & 1)));
  unsigned short seen = 0, old = 0;
  do {
    old = seen;
    seen = atomicCAS(locks + at % 5, old, static_cast<unsigned short>(old + x));
  } while (seen != old);
}

struct Message {
  int values[4];
};
/// One thread of each pair of CTAs passes messages on to the other by flags with release and acquire.
extern "C" __global__ void messages(Message* boxes, int* flags, long long* out, int rounds) {
  const int pair = blockIdx.x / 2, side = blockIdx.x % 2;
  cuda::atomic_ref<int, cuda::thread_scope_device> flag(flags[pair]);
  Message& box = boxes[pair];
  long long sum = 0;
  for (int round = 0; round < rounds; ++round) {
    const int turn = round * 2 + side;
    while (flag.load(cuda::memory_order_acquire) != turn) {}
    for (int i = 0; i < 4; ++i) {
      sum = sum * 3 + box.values[i];
      box.values[i] += (i + 1) * (side ? -turn : turn) + pair;
    }
    flag.fetch_add(1, cuda::memory_order_acq_rel);
  }
  cuda::atomic_ref<long long, cuda::thread_scope_system> total(out[pair]);
  total.fetch_xor(sum, cuda::memory_order_relaxed);
  out[gridDim.x / 2 + blockIdx.x] = sum;
}
