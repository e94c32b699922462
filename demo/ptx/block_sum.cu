// block_sum.cu -- the sum of each block's numbers; a barrier is missing. docs/howto/ptx_without_gpu.md finds it.
//   nvcc -ptx -arch=sm_90 -lineinfo block_sum.cu
extern "C" __global__ void block_sum(const float* x, float* sums) {
  __shared__ float part[256];
  int i = threadIdx.x;
  part[i] = x[blockIdx.x * 256 + i];
  for (int half = 128; half > 0; half /= 2) {
    if (i < half) part[i] += part[i + half];
    __syncthreads();
  }
  if (i == 0) sums[blockIdx.x] = part[0];
}
