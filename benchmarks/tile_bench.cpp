// benchmarks/tile_bench.cpp -- speed of the tile operations in the cache: G elements/s and GB/s of strips, GFLOP/s of
// dots and their share of the core's peak (measured here with independent fused multiply-adds). Usage: tw_tile_bench
// [part of a name]
#include "interp/tile/Load.h"
#include "runtime/FloatFormats.h"
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

using namespace tiletwin;
using E = TwElementwise;

namespace {

const TwTileOps* ops;
const char* filter = "";

/// Seconds of one call: the best of many short runs, so that other work on the machine disturbs little.
double secondsOf(const std::function<void()>& work) {
  using Clock = std::chrono::steady_clock;
  const auto run = [&](int64_t calls) {
    const auto start = Clock::now();
    for (int64_t i = 0; i < calls; ++i) work();
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  int64_t calls = 1;
  while (run(calls) < 1e-4) calls *= 2;
  double best = 1e9;
  for (int i = 0; i < 200; ++i) best = std::min(best, run(calls) / double(calls));
  return best;
}

struct Buffer {
  std::vector<uint8_t> memory;
  uint8_t* at;
  explicit Buffer(size_t bytes)
      : memory(bytes + 64), at(memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64) % 64) {}
};

void fill(void* p, DType t, int64_t n) {
  std::mt19937_64 random(1);
  for (int64_t i = 0; i < n; ++i) {
    const float v = float(random() % 2000) / 1000.f + 0.1f;
    auto* at = static_cast<uint8_t*>(p) + i * int64_t(sizeOf(t));
    if (t == DType::F32)
      std::memcpy(at, &v, 4);
    else if (t == DType::F64) {
      const double d = v;
      std::memcpy(at, &d, 8);
    } else if (isFloat(t)) {
      const uint32_t c = encodeSmallFloat(smallFloat(t), v);
      std::memcpy(at, &c, sizeOf(t));
    } else {
      const uint64_t c = t == DType::I1 ? random() & 1 : random() % 100 + 1;
      std::memcpy(at, &c, sizeOf(t));
    }
  }
}

void strip(const std::string& name, TwStripFn fn, std::vector<DType> types, DType result, int64_t n,
           uint32_t splat = 0) {
  if (name.find(filter) == std::string::npos) return;
  if (!fn) {
    std::printf("%-26s missing\n", name.c_str());
    return;
  }
  std::vector<Buffer> buffers;
  const void* src[3] = {};
  double bytes = double(sizeOf(result));
  for (size_t i = 0; i < types.size(); ++i) {
    buffers.emplace_back(size_t(n) * 8);
    fill(buffers.back().at, types[i], n);
    bytes += splat >> i & 1 ? 0 : double(sizeOf(types[i]));
  }
  for (size_t i = 0; i < types.size(); ++i) src[i] = buffers[i].at;
  Buffer out(size_t(n) * 8);
  const double s = secondsOf([&] { fn(n, out.at, src, splat); });
  std::printf("%-26s n=%-6ld %8.1f ns %7.2f G/s %7.1f GB/s\n", name.c_str(), long(n), s * 1e9, double(n) / s * 1e-9,
              bytes * double(n) / s * 1e-9);
}

double peakGflops() {
#if defined(__x86_64__)
  float result[8];
  const int64_t steps = 20000;
  const double seconds = secondsOf([&] {
    __asm__ volatile(
        "vxorps %%ymm0,%%ymm0,%%ymm0\n vmovaps %%ymm0,%%ymm1\n vmovaps %%ymm0,%%ymm2\n vmovaps %%ymm0,%%ymm3\n vmovaps "
        "%%ymm0,%%ymm4\n"
        "vmovaps %%ymm0,%%ymm5\n vmovaps %%ymm0,%%ymm6\n vmovaps %%ymm0,%%ymm7\n vmovaps %%ymm0,%%ymm8\n vmovaps "
        "%%ymm0,%%ymm9\n"
        "vmovaps %%ymm0,%%ymm10\n mov %1,%%rcx\n"
        "1: vfmadd231ps %%ymm10,%%ymm10,%%ymm0\n vfmadd231ps %%ymm10,%%ymm10,%%ymm1\n vfmadd231ps "
        "%%ymm10,%%ymm10,%%ymm2\n"
        "vfmadd231ps %%ymm10,%%ymm10,%%ymm3\n vfmadd231ps %%ymm10,%%ymm10,%%ymm4\n vfmadd231ps %%ymm10,%%ymm10,%%ymm5\n"
        "vfmadd231ps %%ymm10,%%ymm10,%%ymm6\n vfmadd231ps %%ymm10,%%ymm10,%%ymm7\n vfmadd231ps %%ymm10,%%ymm10,%%ymm8\n"
        "vfmadd231ps %%ymm10,%%ymm10,%%ymm9\n dec %%rcx\n jnz 1b\n vmovups %%ymm0,(%0)\n"
        :
        : "r"(result), "r"(steps)
        : "rcx", "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10");
  });
  return double(steps) * 160 / seconds * 1e-9;
#endif
}

double peak;
void dot(const std::string& name, DType t, DType acc, TwDotPrecision p, int64_t m, int64_t n, int64_t k, int64_t row,
         bool ta = false, bool tb = false) {
  if (name.find(filter) == std::string::npos) return;
  const TwDotFn fn = ops->dot(t, t, acc, p);
  if (!fn) {
    std::printf("%-26s missing\n", name.c_str());
    return;
  }
  Buffer a(size_t(std::max(m, k) * row + 2048) * sizeOf(t)), b(size_t(std::max(n, k) * row + 2048) * sizeOf(t)),
      c(size_t(m * n) * 8);
  fill(a.at, t, std::max(m, k) * row), fill(b.at, t, std::max(n, k) * row);
  Buffer scratch(size_t(ops->dotScratchBytes(m, n, k)));
  const TwDot d{m,       n, k,    a.at, ta ? 1 : row, ta ? row : 1, b.at, tb ? 1 : row, tb ? row : 1,
                nullptr, n, c.at, n,    scratch.at};
  TwDot call = d;
  call.c = c.at;
  const double s = secondsOf([&] { fn(&call); }), flops = 2.0 * double(m * n * k) / s * 1e-9;
  std::printf("%-26s %3ldx%3ldx%3ld row %5ld%s%s %8.1f us %7.1f GFLOP/s %5.1f%% of peak\n", name.c_str(), long(m),
              long(n), long(k), long(row), ta ? " aT" : "", tb ? " bT" : "", s * 1e6, flops, flops / peak * 100);
}

void reduce(const std::string& name, TwReduce op, DType t, int64_t outer, int64_t axis, int64_t inner) {
  if (name.find(filter) == std::string::npos) return;
  const int64_t n = outer * axis * inner;
  Buffer src(size_t(n) * 8), dst(size_t(n) * 8);
  fill(src.at, t, n);
  const TwReduceFn fn = ops->reduce(op, t);
  const TwRows rows{src.at, axis * inner * int64_t(sizeOf(t))};
  const double s = secondsOf([&] { fn(outer, axis, inner, dst.at, &rows); });
  std::printf("%-26s [%ld][%ld][%ld] %8.1f ns %7.2f G/s\n", name.c_str(), long(outer), long(axis), long(inner), s * 1e9,
              double(n) / s * 1e-9);
}

} // namespace

int main(int argc, char** argv) {
  if (argc > 1) filter = argv[1];
  std::string error;
  ops = loadTileOps(TILETWIN_TILE_DIR, &error);
  if (!ops) {
    std::fprintf(stderr, "%s\n", error.c_str());
    return 1;
  }
  peak = peakGflops();
  std::printf("%s, peak of one core with 256-bit vectors %.1f GFLOP/s\n", ops->name, peak);
  const DType f32 = DType::F32, f16 = DType::F16, bf16 = DType::BF16, i32 = DType::I32, i64 = DType::I64,
              i8 = DType::I8;
  for (int64_t n : {16, 256, 1024, 4096}) strip("add f32", ops->elementwise(E::AddF, f32), {f32, f32}, f32, n);
  strip("add f32 splat", ops->elementwise(E::AddF, f32), {f32, f32}, f32, 1024, 2);
  strip("add f32 scalar", ops->elementwise(E::AddF, f32), {f32, f32}, f32, 1, 3);
  for (DType t : {f16, bf16, DType::F64, DType::F8E4M3FN})
    strip(std::string("add ") + (t == f16          ? "f16"
                                 : t == bf16       ? "bf16"
                                 : t == DType::F64 ? "f64"
                                                   : "f8"),
          ops->elementwise(E::AddF, t), {t, t}, t, 1024);
  strip("div f32", ops->elementwise(E::DivF, f32), {f32, f32}, f32, 1024);
  strip("rem f32", ops->elementwise(E::RemF, f32), {f32, f32}, f32, 1024);
  strip("maxnum f32", ops->elementwise(E::MaxNumF, f32), {f32, f32}, f32, 1024);
  strip("fma f32", ops->elementwise(E::Fma, f32), {f32, f32, f32}, f32, 1024);
  strip("select f32", ops->elementwise(E::Select, f32), {DType::I1, f32, f32}, f32, 1024);
  strip("cmp f32", ops->elementwise(E::CmpFOLT, f32), {f32, f32}, DType::I1, 1024);
  strip("cmp i32", ops->elementwise(E::CmpSLT, i32), {i32, i32}, DType::I1, 1024, 2);
  strip("and i1", ops->elementwise(E::AndI, DType::I1), {DType::I1, DType::I1}, DType::I1, 1024);
  for (E op : {E::AddI, E::MulI, E::DivSI, E::RemSI}) {
    const char* name = op == E::AddI ? "add" : op == E::MulI ? "mul" : op == E::DivSI ? "div" : "rem";
    strip(std::string(name) + " i32", ops->elementwise(op, i32), {i32, i32}, i32, 1024, 2);
    strip(std::string(name) + " i64", ops->elementwise(op, i64), {i64, i64}, i64, 1024, 2);
    strip(std::string(name) + " i8", ops->elementwise(op, i8), {i8, i8}, i8, 1024, 2);
  }
  const std::pair<const char*, E> functions[] = {{"exp", E::Exp},   {"exp2", E::Exp2},   {"log", E::Log},
                                                 {"log2", E::Log2}, {"sin", E::Sin},     {"cos", E::Cos},
                                                 {"sqrt", E::Sqrt}, {"rsqrt", E::Rsqrt}, {"erf", E::Erf}};
  for (const auto& [name, op] : functions) {
    strip(std::string(name) + " f32", ops->elementwise(op, f32), {f32}, f32, 1024);
    strip(std::string(name) + " f16", ops->elementwise(op, f16), {f16}, f16, 1024);
  }
  for (const auto& [from, to] :
       {std::pair(f32, f16), std::pair(f16, f32), std::pair(f32, bf16), std::pair(bf16, f32),
        std::pair(f32, DType::F8E4M3FN), std::pair(DType::F8E4M3FN, f32), std::pair(i32, f32), std::pair(f32, i32),
        std::pair(f32, i8), std::pair(i32, i64), std::pair(i64, i32), std::pair(i8, i32), std::pair(i64, f32)})
    strip("cast " + std::to_string(int(from)) + "->" + std::to_string(int(to)),
          ops->cast(from, to, TwCastKind::SignedInt), {from}, to, 1024);
  reduce("sum f32", TwReduce::AddF, f32, 1, 1024, 1);
  reduce("sum f32", TwReduce::AddF, f32, 64, 64, 1);
  reduce("sum f32", TwReduce::AddF, f32, 1, 64, 64);
  reduce("max f32", TwReduce::MaxNumF, f32, 1, 1024, 1);
  reduce("max f32", TwReduce::MaxNumF, f32, 64, 64, 1);
  reduce("max f32", TwReduce::MaxNumF, f32, 1, 64, 64);
  reduce("sum f16", TwReduce::AddF, f16, 1, 1024, 1);
  reduce("sum i32", TwReduce::AddI, i32, 1, 1024, 1);
  for (int64_t row : {128, 2048, 2053}) {
    dot("dot f32", f32, f32, TwDotPrecision::Tf32, 128, 128, 64, row);
    dot("dot f32", f32, f32, TwDotPrecision::F32, 64, 64, 32, row);
    dot("dot f32", f32, f32, TwDotPrecision::F32, 16, 16, 16, row);
    dot("dot f32", f32, f32, TwDotPrecision::F32, 16, 64, 64, row);
    dot("dot f16", f16, f32, TwDotPrecision::F32, 128, 128, 64, row);
    dot("dot f16", f16, f32, TwDotPrecision::F32, 64, 64, 32, row);
    dot("dot bf16", bf16, f32, TwDotPrecision::F32, 128, 128, 64, row);
    dot("dot i8", i8, DType::I32, TwDotPrecision::F32, 128, 128, 64, row);
  }
  dot("dot f32", f32, f32, TwDotPrecision::F32, 256, 256, 256, 2048);
  dot("dot f16 acc f16", f16, f16, TwDotPrecision::F32, 128, 128, 64, 2048);
  dot("dot f8", DType::F8E4M3FN, f32, TwDotPrecision::F32, 128, 128, 64, 2048);
  dot("dot f64", DType::F64, DType::F64, TwDotPrecision::F32, 64, 64, 64, 2048);
  dot("dot f32 ieee", f32, f32, TwDotPrecision::Ieee, 64, 64, 64, 2048);
  for (int64_t row : {64, 2048}) {
    dot("dot f32", f32, f32, TwDotPrecision::F32, 128, 64, 64, row, false, true);
    dot("dot f32", f32, f32, TwDotPrecision::F32, 128, 128, 64, row + 64, true, false);
    dot("dot f16", f16, f32, TwDotPrecision::F32, 128, 64, 64, row, false, true);
    dot("dot f16", f16, f32, TwDotPrecision::F32, 128, 128, 64, row + 64, true, false);
  }
  if (std::string("copy").find(filter) != std::string::npos) {
    Buffer a(1 << 22), b(1 << 22);
    for (int64_t bytes : {1, 4})
      for (int64_t stride : {1, 2, 3, 4, 2048}) {
        const int64_t n = 1024;
        const double s =
            secondsOf([&] { ops->stridedCopy(bytes)(n, b.at, bytes, a.at, stride == 2048 ? 2048 : stride * bytes); });
        std::printf("strided copy %ld byte stride %4ld: %7.2f G/s\n", long(bytes), long(stride), double(n) / s * 1e-9);
      }
    std::vector<uint64_t> address(1024);
    std::vector<uint8_t> mask(1024, 1);
    for (int random : {0, 1}) {
      for (size_t i = 0; i < 1024; ++i)
        address[i] = reinterpret_cast<uint64_t>(a.at) + (random ? i * 2654435761u % 1024 : i) * 4;
      const double s = secondsOf([&] { ops->gather(4)(1024, b.at, address.data(), mask.data(), nullptr, 0); });
      const double c = secondsOf([&] {
        if (ops->checkAddresses(1024, address.data(), mask.data(), address[0] & ~0xFFFFFull, ~0ull, 4) >= 0)
          std::abort();
      });
      std::printf("gather 4 bytes %s: %7.2f G/s, check %7.2f G/s\n", random ? "random" : "consecutive",
                  1.024 / s * 1e-6, 1.024 / c * 1e-6);
    }
  }
  return 0;
}
