// transpose.cu -- the transpose of a matrix of any size through a padded tile in shared memory.
constexpr int kTile = 32, kRows = 8;

template <class T> __device__ void transpose(const T* in, T* out, int rows, int columns) {
  __shared__ T tile[kTile][kTile + 1];
  int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows)
    if (x < columns && y + j < rows) tile[threadIdx.y + j][threadIdx.x] = in[size_t(y + j) * columns + x];
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x, y = blockIdx.x * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows)
    if (x < rows && y + j < columns) out[size_t(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];
}

struct Rgb {
  unsigned char r, g, b;
};

extern "C" __global__ void transposeF32(const float* in, float* out, int rows, int columns) {
  transpose(in, out, rows, columns);
}
extern "C" __global__ void transposeF64(const double* in, double* out, int rows, int columns) {
  transpose(in, out, rows, columns);
}
extern "C" __global__ void transposeRgb(const Rgb* in, Rgb* out, int rows, int columns) {
  transpose(in, out, rows, columns);
}
