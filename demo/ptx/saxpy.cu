// saxpy.cu -- the source of saxpy.ptx: y = a * x + y, one element a thread.
//   nvcc -ptx -arch=sm_90 -lineinfo saxpy.cu
extern "C" __global__ void saxpy(int n, float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
