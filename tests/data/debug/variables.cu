// variables.cu -- values of many types, and a block's sum without a barrier; for the debugger's tests.
//   nvcc -ptx -G -arch=sm_80 variables.cu; .file lost the folder in front of the name
namespace {
enum Mode { kAdd, kMultiply = 5 };
struct Point {
  float x;
  short counts[2];
};
struct Node {
  const Point* point;
  Point own;
  Mode mode;
  bool isLast;
};
typedef unsigned long long Word;
} // namespace

__device__ int launches = 41;

template <class T> __device__ T scaled(T value, int times) {
  T result = value * T(times);
  return result;
}

__device__ int depth(int n) {
  int below = 0;
  if (n > 0) below = depth(n - 1);
  return below + 1;
}

__global__ void variables(const float* numbers, const Point* points, float* sums, double factor) {
  __shared__ float part[64];
  int grid[2][3] = {{1, 2, 3}, {4, 5, 6}};
  int i = threadIdx.x;
  Word wide = (Word(1) << 40) + i;
  signed char letter = 'a' + i % 26;
  Node node = {points + i % 2, {factor > 1 ? 1.5f : 2.5f, {short(i), short(-i)}}, kMultiply, i == 63};
  part[i] = scaled(numbers[i], 2);
  for (int half = 32; half > 0; half /= 2) { // a barrier is missing in front
    if (i < half) part[i] += part[i + half];
    __syncthreads();
  }
  if (i == 0) {
    float total = part[0] + node.point->x;
    total += scaled(factor, grid[1][2]) + letter + wide + node.own.x + launches + depth(int(factor));
    sums[blockIdx.x] = total;
  }
}
