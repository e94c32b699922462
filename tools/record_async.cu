// tools/record_async.cu -- what a GPU does where documents leave details open: tiles of tensors, bulk reductions, elected lanes,
// mbarrier counts, printf. Prints one line a case; tests/data/sim/async_on_h200.txt is what an H200 printed.
// Build and run:  nvcc -std=c++17 -arch=sm_90a -o record_async record_async.cu -lcuda && ./record_async
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <cuda_runtime.h>
#include <functional>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#define CHECK(call)                                                                                                    \
  do {                                                                                                                 \
    if (auto status = (call); int(status) != 0) {                                                                      \
      std::printf("failed %s: %d\n", #call, int(status));                                                              \
      std::exit(1);                                                                                                    \
    }                                                                                                                  \
  } while (0)

struct Tile {
  int type, rank;
  uint64_t dim[5], stride[4]; // stride: bytes, from dimension 1 on
  uint32_t box[5], step[5];
  int at[5];
  int swizzle, fill;
  uint32_t base, bytes; // of the tile in shared memory; bytes that the mbarrier will hear of
  uint32_t shown = 0;   // bytes to print; 0: as many
};

__device__ uint32_t sharedAddress(const void* p) { return uint32_t(__cvta_generic_to_shared(p)); }

__device__ void waitFor(uint32_t barrier, uint32_t parity) {
  uint32_t done = 0;
  while (!done)
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(barrier), "r"(parity)
                 : "memory");
}

template <int kRank> __device__ void load(uint32_t to, const void* map, const int* at, uint32_t barrier) {
  if constexpr (kRank == 1)
    asm volatile(
        "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2}], [%3];" ::"r"(to),
        "l"(map), "r"(at[0]), "r"(barrier)
        : "memory");
  if constexpr (kRank == 2)
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
            to),
        "l"(map), "r"(at[0]), "r"(at[1]), "r"(barrier)
        : "memory");
  if constexpr (kRank == 3)
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];" ::
            "r"(to),
        "l"(map), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(barrier)
        : "memory");
}

__global__ void loadTile(const __grid_constant__ CUtensorMap map, Tile tile, uint8_t* out) {
  extern __shared__ __align__(1024) uint8_t shared[];
  __shared__ __align__(8) uint64_t barrier;
  const uint32_t b = sharedAddress(&barrier), skip = (1024 - sharedAddress(shared) % 1024) % 1024;
  uint8_t* data = shared + skip;
  for (int i = 0; i < 16384; ++i) data[i] = 0xA5;
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\nfence.proxy.async;" ::"r"(b) : "memory");
  asm volatile("{ .reg .b64 t; mbarrier.arrive.expect_tx.shared::cta.b64 t, [%0], %1; }" ::"r"(b), "r"(tile.bytes)
               : "memory");
  const uint32_t to = sharedAddress(data) + tile.base;
  if (tile.rank == 1) load<1>(to, &map, tile.at, b);
  if (tile.rank == 2) load<2>(to, &map, tile.at, b);
  if (tile.rank == 3) load<3>(to, &map, tile.at, b);
  waitFor(b, 0);
  for (uint32_t i = 0; i < (tile.shown ? tile.shown : tile.bytes); ++i) out[i] = data[tile.base + i];
}

__global__ void storeTile(const __grid_constant__ CUtensorMap map, Tile tile, const uint8_t* in, int reduction) {
  extern __shared__ __align__(1024) uint8_t shared[];
  const uint32_t skip = (1024 - sharedAddress(shared) % 1024) % 1024;
  uint8_t* data = shared + skip;
  for (uint32_t i = 0; i < tile.bytes; ++i) data[tile.base + i] = in[i];
  asm volatile("fence.proxy.async;" ::: "memory");
  const uint32_t from = sharedAddress(data) + tile.base;
#define STORE(op)                                                                                                      \
  asm volatile(op " [%0, {%1, %2}], [%3];" ::"l"(&map), "r"(tile.at[0]), "r"(tile.at[1]), "r"(from) : "memory")
  if (reduction == 0) STORE("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group");
  if (reduction == 1) STORE("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group");
  if (reduction == 2) STORE("cp.reduce.async.bulk.tensor.2d.global.shared::cta.min.bulk_group");
  if (reduction == 3) STORE("cp.reduce.async.bulk.tensor.2d.global.shared::cta.max.bulk_group");
  asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
}

// The elements of a tensor: a pattern of bytes, or numbers with something special about them.
static std::vector<uint8_t> patternBytes(size_t n) {
  std::vector<uint8_t> v(n);
  for (size_t i = 0; i < n; ++i) v[i] = uint8_t((uint32_t(i) * 2654435761u) >> 13);
  return v;
}
static const uint32_t kF32[] = {0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007FFFFF, 0x807FFFFF, 0x00800000,
                                0x3F800000, 0x3F800FFF, 0x3F801000, 0x3F801001, 0x3F802000, 0x3F803000, 0xBF801000,
                                0xBF801001, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7F800001, 0x7FC00000,
                                0xFFC12345, 0x7FFFFFFF, 0xFFFFFFFF, 0x7F7FEFFF, 0x7F7FF000, 0x00001000, 0x00000FFF,
                                0x007FF000, 0x3FFFFFFF, 0x40490FDB, 0xC0490FDB};
static const uint16_t kF16[] = {0x0000, 0x8000, 0x0001, 0x8001, 0x03FF, 0x0400, 0x3C00, 0xBC00, 0x7BFF, 0xFBFF, 0x7C00,
                                0xFC00, 0x7C01, 0x7E00, 0xFE12, 0x7FFF, 0xFFFF, 0x3555, 0x4248, 0xC248, 0x2E66, 0x0200,
                                0x8200, 0x3C01, 0x1400, 0x9400, 0x5640, 0x7800, 0x7A00, 0xF800, 0x0003, 0x8003};

static CUtensorMap encode(const Tile& t, void* data) {
  CUtensorMap map;
  CHECK(cuTensorMapEncodeTiled(&map, CUtensorMapDataType(t.type), t.rank, data, t.dim, t.stride, t.box, t.step,
                               CU_TENSOR_MAP_INTERLEAVE_NONE, CUtensorMapSwizzle(t.swizzle),
                               CU_TENSOR_MAP_L2_PROMOTION_NONE, CUtensorMapFloatOOBfill(t.fill)));
  return map;
}
static void printTile(const char* what, const Tile& t) {
  std::printf("%s %d %d", what, t.type, t.rank);
  for (int d = 0; d < t.rank; ++d) std::printf(" %llu", (unsigned long long)t.dim[d]);
  for (int d = 0; d + 1 < t.rank; ++d) std::printf(" %llu", (unsigned long long)t.stride[d]);
  for (int d = 0; d < t.rank; ++d) std::printf(" %u", t.box[d]);
  for (int d = 0; d < t.rank; ++d) std::printf(" %u", t.step[d]);
  for (int d = 0; d < t.rank; ++d) std::printf(" %d", t.at[d]);
  std::printf(" %d %d %u", t.swizzle, t.fill, t.base);
}
static void printBytes(const std::vector<uint8_t>& bytes) {
  std::printf(" : ");
  for (uint8_t b : bytes) std::printf("%02x", b);
  std::printf("\n");
}

/// A case that fails leaves its process without a GPU, so each has one of its own.
static void isolate(const std::function<void()>& record) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    CHECK(cuInit(0));
    CHECK(cudaFree(nullptr));
    record();
    std::fflush(stdout);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
}

static void recordLoad(const char* what, const Tile& t, const std::vector<uint8_t>& tensor) {
  isolate([&] {
    CHECK(cudaFuncSetAttribute(loadTile, cudaFuncAttributeMaxDynamicSharedMemorySize, 32768));
    printTile(what, t);
    uint8_t *data, *out;
    CHECK(cudaMalloc(&data, tensor.size()));
    CHECK(cudaMalloc(&out, 16384));
    CHECK(cudaMemcpy(data, tensor.data(), tensor.size(), cudaMemcpyHostToDevice));
    loadTile<<<1, 1, 32768>>>(encode(t, data), t, out);
    CHECK(cudaDeviceSynchronize());
    std::vector<uint8_t> got(t.shown ? t.shown : t.bytes);
    CHECK(cudaMemcpy(got.data(), out, got.size(), cudaMemcpyDeviceToHost));
    printBytes(got);
  });
}

/// `tensor` before, `tile` what is stored; prints the tensor after.
static void recordStore(const char* what, const Tile& t, const std::vector<uint8_t>& tensor,
                        const std::vector<uint8_t>& tile, int reduction) {
  isolate([&] {
    printTile(what, t);
    std::printf(" %d", reduction);
    uint8_t *data, *in;
    CHECK(cudaMalloc(&data, tensor.size()));
    CHECK(cudaMalloc(&in, 16384));
    CHECK(cudaMemcpy(data, tensor.data(), tensor.size(), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(in, tile.data(), tile.size(), cudaMemcpyHostToDevice));
    storeTile<<<1, 1, 32768>>>(encode(t, data), t, in, reduction);
    CHECK(cudaDeviceSynchronize());
    std::vector<uint8_t> got(tensor.size());
    CHECK(cudaMemcpy(got.data(), data, got.size(), cudaMemcpyDeviceToHost));
    printBytes(got);
  });
}

template <class T> static std::vector<uint8_t> bytesOf(const T* values, size_t count) {
  std::vector<uint8_t> bytes(count * sizeof(T));
  std::memcpy(bytes.data(), values, bytes.size());
  return bytes;
}

/// Every value of a table with every other: rows hold one value, columns all of them.
template <class T, size_t kCount> static void recordReductions(int type, const T (&values)[kCount], bool onlyAdd) {
  std::vector<T> before, tile;
  for (size_t r = 0; r < kCount; ++r)
    for (size_t c = 0; c < kCount; ++c) {
      before.push_back(values[r]);
      tile.push_back(values[c]);
    }
  Tile t{type,
         2,
         {kCount, kCount},
         {kCount * sizeof(T)},
         {kCount, kCount},
         {1, 1},
         {0, 0},
         0,
         0,
         0,
         uint32_t(kCount * kCount * sizeof(T))};
  for (int op = 1; op <= (onlyAdd ? 1 : 3); ++op)
    recordStore("reduce", t, bytesOf(before.data(), before.size()), bytesOf(tile.data(), tile.size()), op);
}

__global__ void electLanes(uint32_t* out) {
  const uint32_t lane = threadIdx.x;
  uint32_t d = 99, p = 99;
#define ELECT(mask)                                                                                                    \
  asm volatile("{ .reg .pred p; elect.sync %0|p, %2; selp.u32 %1, 1, 0, p; }" : "=r"(d), "=r"(p) : "r"(mask))
  ELECT(0xFFFFFFFFu);
  out[lane] = d * 2 + p;
  if (lane >= 5 && lane < 20) ELECT(0x000FFFE0u);
  out[32 + lane] = d * 2 + p;
  d = p = 99;
  if (lane % 2) ELECT(0xAAAAAAAAu);
  out[64 + lane] = d * 2 + p;
}

__global__ void countArrivals(uint32_t* out) {
  __shared__ __align__(8) uint64_t barrier;
  const uint32_t b = sharedAddress(&barrier);
  uint64_t token = 0;
  uint32_t count = 0, done = 0;
  int n = 0;
#define COUNT()                                                                                                        \
  asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(count) : "l"(token));                                       \
  out[n++] = count
#define TEST()                                                                                                         \
  asm volatile("{ .reg .pred p; mbarrier.test_wait.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"               \
               : "=r"(done)                                                                                            \
               : "r"(b), "l"(token)                                                                                    \
               : "memory");                                                                                            \
  out[n++] = done
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 5;" ::"r"(b) : "memory");
  asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(token) : "r"(b) : "memory");
  COUNT();
  TEST();
  asm volatile("mbarrier.arrive_drop.shared::cta.b64 %0, [%1];" : "=l"(token) : "r"(b) : "memory");
  COUNT();
  asm volatile("mbarrier.arrive.noComplete.shared::cta.b64 %0, [%1], 2;" : "=l"(token) : "r"(b) : "memory");
  COUNT();
  TEST();
  asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(token) : "r"(b) : "memory");
  COUNT();
  TEST();
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 %0, [%1], 48;" : "=l"(token) : "r"(b) : "memory");
  COUNT();
  asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1], 3;" : "=l"(token) : "r"(b) : "memory");
  COUNT();
  TEST();
  asm volatile("mbarrier.complete_tx.shared::cluster.relaxed.cluster.b64 [%0], 48;" ::"r"(b) : "memory");
  TEST();
  asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(token) : "r"(b) : "memory");
  COUNT();
  for (; n < 32;) out[n++] = 0;
}

__global__ void print(int* out) {
  const char* none = nullptr;
  int n = 0;
  out[n++] = printf("printf plain\n");
  out[n++] = printf("printf %%|%d|%5d|%-5d|%05d|%+d|% d|%i|\n", -42, 42, 42, 42, 42, 42, 7);
  out[n++] = printf("printf %u|%x|%X|%#x|%o|%#o|%.4d|\n", 4000000000u, 255u, 255u, 255u, 8u, 8u, 42);
  out[n++] = printf("printf %ld|%lu|%llx|%hd|\n", -5000000000l, 5000000000ul, 0x123456789ABCDEFull, (short)-3);
  out[n++] = printf("printf %f|%.2f|%10.3f|%-10.1f|%e|%E|%g|%G|%a|\n", 3.14159, 2.5, 2.5, 2.5, 12345.678, 0.00012, 1e10,
                    1e-10, 1.0);
  out[n++] = printf("printf %f|%f|%8.1e|\n", 1.0 / 0.0, -1.0 / 0.0, 1e300);
  out[n++] = printf("printf %c|%s|%10s|%-10s|%.2s|%5c|\n", 'x', "abc", "abc", "abc", "abc", 'y');
  out[n++] = printf("printf %*d|%-*d|%*d|\n", 6, 42, 6, 42, -6, 42);
  out[n++] = printf("printf %p|%s|\n", (void*)0x1234, none);
  out[n++] = printf("printf %d %c %f %s %ld\n", 1, 'c', 2.0, "s", 3l);
}

int main() {
  const auto pattern = patternBytes(65536);
  // Boxes in and out of bounds, element strides, swizzles with rows as wide as their span and narrower, at several addresses.
  for (int swizzle = 0; swizzle < 4; ++swizzle) {
    const uint32_t span = swizzle ? 16u << swizzle : 64;
    for (uint32_t base : {0u, 128u, 384u, 1024u}) {
      recordLoad("load", {0, 2, {256, 64}, {256}, {span, 10}, {1, 1}, {16, 3}, swizzle, 0, base, span * 10}, pattern);
      if (span > 16)
        recordLoad("load",
                   {0,
                    2,
                    {256, 64},
                    {256},
                    {span / 2, 16},
                    {1, 1},
                    {16, 3},
                    swizzle,
                    0,
                    base,
                    span * 8,
                    span * (swizzle ? 16 : 8)},
                   pattern);
    }
  }
  recordLoad("load", {1, 2, {20, 9}, {64}, {8, 8}, {1, 1}, {-8, -2}, 0, 0, 0, 128}, pattern);
  recordLoad("load", {1, 2, {20, 9}, {64}, {8, 8}, {1, 1}, {16, 5}, 0, 0, 0, 128}, pattern);
  recordLoad("load", {2, 2, {20, 40}, {96}, {8, 12}, {1, 3}, {4, 1}, 0, 0, 0, 4 * 32}, pattern);
  recordLoad("load", {2, 2, {20, 40}, {96}, {8, 13}, {1, 3}, {4, 30}, 0, 0, 0, 5 * 32}, pattern);
  recordLoad("load", {2, 2, {20, 40}, {96}, {8, 4}, {2, 1}, {4, 1}, 0, 0, 0, 4 * 32}, pattern);
  recordLoad("load", {2, 3, {20, 10, 10}, {96, 960}, {4, 5, 6}, {1, 2, 4}, {4, 2, 3}, 0, 0, 0, 3 * 2 * 16}, pattern);
  recordLoad("load", {2, 1, {50}, {}, {16}, {1}, {40}, 0, 0, 0, 64}, pattern);
  recordLoad("load", {5, 1, {50}, {}, {16}, {1}, {-4}, 0, 0, 0, 128}, pattern);
  // The first coordinate: only multiples of 16 bytes are taken.
  for (int x : {-8, -1, 1, 4, 8, 12, 20, 24})
    recordLoad("load", {1, 2, {20, 9}, {64}, {8, 8}, {1, 1}, {x, 0}, 0, 0, 0, 128}, pattern);
  for (int y : {-9, -8, 1, 5, 9})
    recordLoad("load", {1, 2, {20, 9}, {64}, {8, 8}, {1, 1}, {0, y}, 0, 0, 0, 128}, pattern);
  // Numbers: conversions and what stands for elements out of bounds.
  const auto floats = bytesOf(kF32, 32), halves = bytesOf(kF16, 32);
  for (int type : {7, 10, 11, 12})
    for (int fill : {0, 1})
      recordLoad("floats", {type, 2, {32, 1}, {128}, {40, 2}, {1, 1}, {0, 0}, 0, fill, 0, 320}, floats);
  for (int type : {6, 9}) recordLoad("halves", {type, 2, {32, 1}, {64}, {40, 2}, {1, 1}, {0, 0}, 0, 1, 0, 160}, halves);
  recordLoad("doubles", {8, 2, {16, 1}, {128}, {20, 2}, {1, 1}, {0, 0}, 0, 1, 0, 320}, floats);
  for (int type : {7, 10, 11, 12})
    recordStore("store", {type, 2, {32, 1}, {128}, {32, 1}, {1, 1}, {0, 0}, 0, 0, 0, 128}, std::vector<uint8_t>(128),
                floats, 0);
  for (int swizzle = 1; swizzle < 4; ++swizzle) {
    const uint32_t span = 16u << swizzle;
    recordStore("store", {0, 2, {128, 20}, {128}, {span / 2, 8}, {1, 1}, {16, 3}, swizzle, 0, 384, span * 8},
                std::vector<uint8_t>(2560), patternBytes(span * 8), 0);
    recordStore("store", {0, 2, {128, 20}, {128}, {span, 8}, {1, 1}, {112, 15}, swizzle, 0, 384, span * 8},
                std::vector<uint8_t>(2560), patternBytes(span * 8), 0);
  }
  recordStore("store", {1, 2, {20, 9}, {64}, {8, 8}, {1, 1}, {-4, 0}, 0, 0, 0, 128}, std::vector<uint8_t>(576),
              patternBytes(128), 0);
  // A strided store touches every third row only.
  recordStore("store", {2, 2, {8, 10}, {32}, {8, 9}, {1, 3}, {0, 1}, 0, 0, 0, 96}, std::vector<uint8_t>(320),
              patternBytes(96), 0);
  recordReductions(7, kF32, true);
  recordReductions(10, kF32, true);
  recordReductions(6, kF16, false);
  recordReductions(9, kF16, false);

  uint32_t host[96];
  isolate([&] {
    uint32_t* out;
    CHECK(cudaMalloc(&out, sizeof host));
    electLanes<<<1, 32>>>(out);
    CHECK(cudaMemcpy(host, out, 96 * 4, cudaMemcpyDeviceToHost));
    std::printf("elect :");
    for (int i = 0; i < 96; ++i) std::printf(" %u", host[i]);
    std::printf("\n");
  });
  isolate([&] {
    uint32_t* out;
    CHECK(cudaMalloc(&out, sizeof host));
    countArrivals<<<1, 1>>>(out);
    CHECK(cudaMemcpy(host, out, 32 * 4, cudaMemcpyDeviceToHost));
    std::printf("arrivals :");
    for (int i = 0; i < 32; ++i) std::printf(" %u", host[i]);
    std::printf("\n");
  });
  isolate([&] {
    uint32_t* out;
    CHECK(cudaMalloc(&out, sizeof host));
    print<<<1, 1>>>(reinterpret_cast<int*>(out));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(host, out, 10 * 4, cudaMemcpyDeviceToHost));
    std::printf("printed :");
    for (int i = 0; i < 10; ++i) std::printf(" %d", int(host[i]));
    std::printf("\n");
  });
}
