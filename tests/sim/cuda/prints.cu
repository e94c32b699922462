// prints.cu -- printf with its conversions, from threads that take turns; the CTAs of a grid wait for their turn in global memory.
#include <cstdio>

__device__ volatile int turn;

struct Point {
  short x, y;
  double weight;
};

__device__ void printAll(const Point& p, long long wide, const char* name) {
  printf("%s: (%d, %+d) weighs %.3f, %e, %g, %10.2f|%-10.1f|%010.4f\n", name, p.x, p.y, p.weight, p.weight, p.weight,
         p.weight, p.weight, p.weight);
  printf("%lld %llu %llx %#x %X %o %#o %u %5d|%-5d|%05d %% %c%c\n", wide, wide, wide, p.x, 0xBEEFu, 511, 511, p.y, p.x,
         p.x, p.x, 'o', 'k');
  printf("%hd %ld %lu %i %.8s|%12s|%-12s| %a %G %E % d\n", p.x, long(p.x) << 40, sizeof p, -p.x, "truncated", "right",
         "left", 0.15625, 1e-7, 12345.678, p.y);
}

extern "C" __global__ void prints(const double* weights, int* printed) {
  while (threadIdx.x == 0 && turn != blockIdx.x) {}
  __syncthreads();
  for (int i = 0; i < blockDim.x; ++i) {
    if (threadIdx.x == i) {
      const int at = blockIdx.x * blockDim.x + i;
      const Point p{short(at * 1000 - 2000), short(at - 3), weights[at]};
      if (at % 2)
        printAll(p, (long long)(~0ull << at % 9 * 7), "odd");
      else
        printf("thread %d of CTA %d: %f %f\n", i, blockIdx.x, double(float(p.weight)), -p.weight);
      printed[at] = printf("no argument\n") + printf("");
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    printf("CTA %u is done\n", blockIdx.x);
    __threadfence();
    turn = (turn + 1) % gridDim.x;
  }
}
