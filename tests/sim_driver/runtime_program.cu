// A program on the CUDA runtime, for tests of the virtual GPU. Each part prints its name if all of it was as expected.
#include <cooperative_groups.h>
#include <cstdio>
#include <cstring>
#include <vector>

#define EXPECT(condition)                                                                                              \
  if (!(condition)) {                                                                                                  \
    std::printf("line %d: %s\n", __LINE__, #condition);                                                                \
    return false;                                                                                                      \
  }

__constant__ int factor = 3;
__device__ int counted;
__managed__ int shown = 5;

__global__ void scale(const int* x, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = factor * x[i];
  if (!i) counted += 1, shown += 1;
}
__global__ void rounds(int* cells) {
  auto grid = cooperative_groups::this_grid();
  for (int r = 0; r < 3; ++r) {
    atomicAdd(&cells[(blockIdx.x + r) % gridDim.x], 1);
    grid.sync();
    if (cells[blockIdx.x] != r + 1) cells[gridDim.x] = 1;
    grid.sync();
  }
}
__global__ void shares(int* out) {
  extern __shared__ int room[];
  room[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = room[blockDim.x - 1 - threadIdx.x];
}
__global__ void wild(int* out) { out[1 << 20] = 1; }
__global__ void __launch_bounds__(64) narrow() {}

bool launches() {
  const int n = 1000;
  std::vector<int> x(n), y(n);
  for (int i = 0; i < n; ++i) x[i] = i;
  int *dx = nullptr, *dy = nullptr, count = 0, seven = 7;
  EXPECT(!cudaMalloc(&dx, n * 4) && !cudaMalloc(&dy, n * 4));
  EXPECT(!cudaMemcpy(dx, x.data(), n * 4, cudaMemcpyHostToDevice));
  scale<<<(n + 127) / 128, 128>>>(dx, dy, n);
  EXPECT(!cudaGetLastError() && !cudaMemcpy(y.data(), dy, n * 4, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) EXPECT(y[i] == 3 * i);
  EXPECT(!cudaMemcpyToSymbol(factor, &seven, 4));
  scale<<<8, 128>>>(dx, dy, n);
  EXPECT(!cudaMemcpyFromSymbol(&count, counted, 4) && count == 2);
  EXPECT(!cudaDeviceSynchronize() && shown == 7);
  EXPECT(!cudaMemcpy(y.data(), dy, n * 4, cudaMemcpyDefault) && y[10] == 70);
  void* address = nullptr;
  size_t bytes = 0;
  EXPECT(!cudaGetSymbolAddress(&address, factor) && address && !cudaGetSymbolSize(&bytes, factor) && bytes == 4);
  EXPECT(cudaMemcpyToSymbol(factor, &seven, 4, 2) == cudaErrorInvalidValue);
  EXPECT(cudaGetSymbolSize(&bytes, &seven) == cudaErrorInvalidSymbol);
  shares<<<1, 64, 64 * 4>>>(dy);
  EXPECT(!cudaMemcpy(y.data(), dy, 64 * 4, cudaMemcpyDeviceToHost) && y[0] == 63 && y[63] == 0);
  return !cudaFree(dx) && !cudaFree(dy) && !cudaFree(nullptr);
}

bool grids() {
  int* cells = nullptr;
  const int blocks = 6;
  EXPECT(!cudaMalloc(&cells, (blocks + 1) * 4) && !cudaMemset(cells, 0, (blocks + 1) * 4));
  void* arguments[] = {&cells};
  EXPECT(!cudaLaunchCooperativeKernel((void*)rounds, blocks, 32, arguments, 0, nullptr));
  int found[blocks + 1];
  EXPECT(!cudaMemcpy(found, cells, sizeof found, cudaMemcpyDeviceToHost));
  for (int b = 0; b < blocks; ++b) EXPECT(found[b] == 3 * 32);
  return !cudaFree(cells);
}

bool refusals() {
  int *device = nullptr, host = 0;
  EXPECT(!cudaMalloc(&device, 4));
  scale<<<1, 2048>>>(device, device, 1);
  EXPECT(cudaPeekAtLastError() == cudaErrorInvalidConfiguration && cudaGetLastError() == cudaErrorInvalidConfiguration);
  EXPECT(cudaGetLastError() == cudaSuccess);
  narrow<<<1, 128>>>();
  EXPECT(cudaGetLastError() != cudaSuccess);
  EXPECT(cudaLaunchKernel((void*)&host, 1, 1, nullptr, 0, nullptr) == cudaErrorInvalidDeviceFunction);
  EXPECT(cudaMemcpy(&host, &host, 4, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  EXPECT(cudaMemcpy(device, &host, 4, (cudaMemcpyKind)9) == cudaErrorInvalidMemcpyDirection);
  EXPECT(cudaMemcpy2D(device, 2, &host, 4, 4, 1, cudaMemcpyHostToDevice) == cudaErrorInvalidPitchValue);
  EXPECT(cudaSetDevice(99) == cudaErrorInvalidDevice && cudaGetLastError() == cudaErrorInvalidDevice);
  EXPECT(!std::strcmp(cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation"));
  EXPECT(!std::strcmp(cudaGetErrorString(cudaErrorInvalidConfiguration), "invalid configuration argument"));
  EXPECT(!std::strcmp(cudaGetErrorString(cudaErrorIllegalAddress), "an illegal memory access was encountered"));
  cudaExternalMemory_t other = nullptr;
  EXPECT(cudaImportExternalMemory(&other, nullptr) == cudaErrorNotSupported);
  EXPECT(cudaGetLastError() == cudaErrorNotSupported);
  return !cudaFree(device);
}

bool memory() {
  const size_t width = 100, height = 7;
  std::vector<char> from(width * height), to(width * height);
  for (size_t i = 0; i < from.size(); ++i) from[i] = char(i);
  char *pitched = nullptr, *pinned = nullptr, *managed = nullptr;
  size_t pitch = 0;
  EXPECT(!cudaMallocPitch(&pitched, &pitch, width, height) && pitch >= width && pitch % 32 == 0);
  EXPECT(!cudaMemset2D(pitched, pitch, 9, width, height));
  EXPECT(!cudaMemcpy2D(to.data(), width, pitched, pitch, width, height, cudaMemcpyDeviceToHost) && to[699] == 9);
  EXPECT(!cudaMemcpy2D(pitched, pitch, from.data(), width, width, height, cudaMemcpyHostToDevice));
  EXPECT(!cudaMemcpy2D(to.data(), width, pitched, pitch, width, height, cudaMemcpyDeviceToHost) && to == from);
  EXPECT(!cudaMallocHost(&pinned, 64) && !cudaMallocManaged(&managed, 64));
  cudaPointerAttributes facts;
  EXPECT(!cudaPointerGetAttributes(&facts, pinned) && facts.type == cudaMemoryTypeHost && facts.devicePointer);
  EXPECT(!cudaPointerGetAttributes(&facts, managed) && facts.type == cudaMemoryTypeManaged);
  EXPECT(!cudaPointerGetAttributes(&facts, pitched) && facts.type == cudaMemoryTypeDevice && !facts.hostPointer);
  EXPECT(!cudaPointerGetAttributes(&facts, from.data()) && facts.type == cudaMemoryTypeUnregistered);
  cudaPitchedPtr box;
  EXPECT(!cudaMalloc3D(&box, make_cudaExtent(8, 3, 2)) && box.ysize == 3);
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(from.data(), 8, 8, 3);
  copy.dstPtr = box;
  copy.extent = make_cudaExtent(8, 3, 2);
  copy.kind = cudaMemcpyHostToDevice;
  EXPECT(!cudaMemcpy3D(&copy) && !cudaMemcpy(to.data(), (char*)box.ptr + box.pitch * 4, 8, cudaMemcpyDeviceToHost));
  EXPECT(!std::memcmp(to.data(), from.data() + 32, 8));
  void* none = &box;
  EXPECT(!cudaMalloc(&none, 0) && !none);
  return !cudaFree(pitched) && !cudaFreeHost(pinned) && !cudaFree(managed) && !cudaFree(box.ptr);
}

bool order() {
  cudaStream_t stream;
  cudaEvent_t begin, end;
  float took = -1;
  int *x = nullptr, y[4];
  EXPECT(!cudaStreamCreate(&stream) && !cudaEventCreate(&begin) && !cudaEventCreate(&end));
  EXPECT(!cudaMallocAsync(&x, 16, stream) && !cudaEventRecord(begin, stream));
  cudaGraph_t graph;
  cudaGraphExec_t run;
  EXPECT(!cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  shares<<<1, 4, 16, stream>>>(x);
  EXPECT(!cudaStreamEndCapture(stream, &graph) && !cudaGraphInstantiate(&run, graph, 0) && !cudaGraphLaunch(run, stream));
  EXPECT(!cudaMemcpyAsync(y, x, 16, cudaMemcpyDeviceToHost, stream) && !cudaEventRecord(end, stream));
  EXPECT(!cudaStreamSynchronize(stream) && y[0] == 3 && y[3] == 0 && !cudaEventElapsedTime(&took, begin, end) && took >= 0);
  EXPECT(!cudaGraphExecDestroy(run) && !cudaGraphDestroy(graph) && !cudaFreeAsync(x, stream));
  return !cudaStreamDestroy(stream) && !cudaEventDestroy(begin) && !cudaEventDestroy(end);
}

bool devices() {
  cudaDeviceProp p;
  cudaFuncAttributes f;
  int count = 0, version = 0, blocks = 0, grid = 0, block = 0;
  EXPECT(!cudaGetDeviceCount(&count) && count == 2 && !cudaGetDeviceProperties(&p, 1));
  EXPECT(p.major == 9 && p.multiProcessorCount == 132 && p.warpSize == 32 && p.sharedMemPerBlockOptin == 232448);
  EXPECT(p.maxThreadsDim[2] == 64 && p.clusterLaunch == 1 && p.memoryPoolsSupported == 1);
  EXPECT(!cudaRuntimeGetVersion(&version) && version / 1000 == 13);
  EXPECT(!cudaFuncGetAttributes(&f, narrow) && f.maxThreadsPerBlock == 64);
  EXPECT(!cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, narrow, 64, 0) && blocks == 32);
  EXPECT(!cudaOccupancyMaxPotentialBlockSize(&grid, &block, narrow) && block == 64);
  EXPECT(!cudaSetDevice(1) && !cudaGetDevice(&count) && count == 1 && !cudaSetDevice(0));
  int *x = nullptr, y[4];
  EXPECT(!cudaDeviceReset() && !cudaMalloc(&x, 16));
  shares<<<1, 4, 16>>>(x);
  EXPECT(!cudaGetLastError() && !cudaMemcpy(y, x, 16, cudaMemcpyDeviceToHost) && y[0] == 3);
  return !cudaFree(x);
}

bool errors_stay() {
  int* x = nullptr;
  EXPECT(!cudaMalloc(&x, 4));
  wild<<<1, 1>>>(x);
  EXPECT(cudaDeviceSynchronize() == cudaErrorIllegalAddress && cudaMalloc(&x, 4) == cudaErrorIllegalAddress);
  return true;
}

int main() {
  bool (*const parts[])() = {launches, grids, refusals, memory, order, devices, errors_stay};
  const char* const names[] = {"launches", "grids", "refusals", "memory", "order", "devices", "errors_stay"};
  for (int i = 0; i < 7; ++i)
    if (parts[i]()) std::printf("%s\n", names[i]);
  return 0;
}
