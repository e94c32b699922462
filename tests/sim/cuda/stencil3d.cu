// stencil3d.cu -- a wave in a box: 13 points in f64, planes along z pass through registers and one plane through shared memory.
constexpr int kX = 16, kY = 8, kRadius = 2;
__constant__ double weights[kRadius + 1] = {-2.5, 4.0 / 3, -1.0 / 12};

/// next = 2 now - before + rate * laplacian(now); two cells at each face stay as they are. `before` becomes next.
extern "C" __global__ void wave(const double* now, double* before, int nx, int ny, int nz, double rate) {
  __shared__ double plane[kY + 2 * kRadius][kX + 2 * kRadius];
  const int x = blockIdx.x * kX + threadIdx.x, y = blockIdx.y * kY + threadIdx.y, size = nx * ny;
  const int sx = threadIdx.x + kRadius, sy = threadIdx.y + kRadius;
  const bool exists = x < nx && y < ny, moves = x >= kRadius && x < nx - kRadius && y >= kRadius && y < ny - kRadius;
  auto at = [&](int cx, int cy, int z) {
    return cx >= 0 && cx < nx && cy >= 0 && cy < ny ? now[z * size + cy * nx + cx] : 0.0;
  };

  double column[2 * kRadius + 1]; // this thread's cells at z - 2 ... z + 2
  for (int i = 0; i < 2 * kRadius; ++i) column[i + 1] = at(x, y, i);
  for (int z = kRadius; z < nz - kRadius; ++z) {
#pragma unroll
    for (int i = 0; i < 2 * kRadius; ++i) column[i] = column[i + 1];
    column[2 * kRadius] = at(x, y, z + kRadius);
    __syncthreads();
    plane[sy][sx] = column[kRadius];
    if (threadIdx.x < kRadius) {
      plane[sy][threadIdx.x] = at(x - kRadius, y, z);
      plane[sy][sx + kX] = at(x + kX, y, z);
    }
    if (threadIdx.y < kRadius) {
      plane[threadIdx.y][sx] = at(x, y - kRadius, z);
      plane[sy + kY][sx] = at(x, y + kY, z);
    }
    __syncthreads();
    if (!exists || !moves) continue;
    double sum = 3 * weights[0] * column[kRadius];
#pragma unroll
    for (int r = 1; r <= kRadius; ++r)
      sum += weights[r] * (plane[sy][sx - r] + plane[sy][sx + r] + plane[sy - r][sx] + plane[sy + r][sx] +
                           column[kRadius - r] + column[kRadius + r]);
    double& old = before[z * size + y * nx + x];
    old = 2 * column[kRadius] - old + rate * sum;
  }
}
