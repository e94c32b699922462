// stencil2d.cu -- heat spreads on a plane: five points, several steps in shared memory before anything is written; and the game of
// life on a torus, a bit for each cell.
constexpr int kTile = 16, kHalo = 3, kSide = kTile + 2 * kHalo;

/// kHalo steps at once; cells outside of the plane are as cold as `border`.
extern "C" __global__ void heat(const float* in, float* out, int width, int height, float rate, float border) {
  __shared__ float cells[2][kSide][kSide];
  const int x0 = blockIdx.x * kTile - kHalo, y0 = blockIdx.y * kTile - kHalo;
  auto inside = [&](int x, int y) { return x0 + x >= 0 && x0 + x < width && y0 + y >= 0 && y0 + y < height; };
  for (int y = threadIdx.y; y < kSide; y += blockDim.y)
    for (int x = threadIdx.x; x < kSide; x += blockDim.x)
      cells[0][y][x] = inside(x, y) ? in[(y0 + y) * width + x0 + x] : border;
  __syncthreads();
  for (int step = 0; step < kHalo; ++step) {
    const auto& now = cells[step % 2];
    auto& next = cells[(step + 1) % 2];
    for (int y = threadIdx.y + step + 1; y < kSide - step - 1; y += blockDim.y)
      for (int x = threadIdx.x + step + 1; x < kSide - step - 1; x += blockDim.x) {
        const float around = (now[y - 1][x] + now[y + 1][x]) + (now[y][x - 1] + now[y][x + 1]);
        next[y][x] = inside(x, y) ? now[y][x] + rate * (around - 4.0f * now[y][x]) : border;
      }
    __syncthreads();
  }
  for (int y = threadIdx.y; y < kTile; y += blockDim.y)
    for (int x = threadIdx.x; x < kTile; x += blockDim.x)
      if (inside(x + kHalo, y + kHalo))
        out[(y0 + kHalo + y) * width + x0 + kHalo + x] = cells[kHalo % 2][y + kHalo][x + kHalo];
}

__device__ void add(unsigned& ones, unsigned& twos, unsigned& fours, unsigned row) {
  const unsigned one = ones & row;
  ones ^= row;
  const unsigned two = twos & one;
  twos ^= one;
  fours |= two;
}

/// One step; a row has `words` words of 32 cells.
extern "C" __global__ void life(const unsigned* in, unsigned* out, int words, int rows) {
  const int w = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (w >= words || y >= rows) return;
  unsigned ones = 0, twos = 0, fours = 0;
  for (int dy = -1; dy <= 1; ++dy) {
    const unsigned* row = in + (y + dy + rows) % rows * words;
    const unsigned here = row[w], left = row[(w + words - 1) % words], right = row[(w + 1) % words];
    add(ones, twos, fours, __funnelshift_l(left, here, 1));
    if (dy) add(ones, twos, fours, here);
    add(ones, twos, fours, __funnelshift_r(here, right, 1));
  }
  out[y * words + w] = twos & ~fours & (ones | in[y * words + w]);
}
