// tests/tile/MemoryTest.cpp -- gather, scatter, strided copies, sequences, address checks and streaming copies.
#include "tests/tile/TileTest.h"
#include <sys/mman.h>

using namespace tiletwin;
using namespace tiletwin::test;

namespace {

enum class Pattern { Consecutive, Strided, Random, Reversed };
/// Addresses of n elements in a pool; masked-off ones are wild.
std::vector<uint64_t> addresses(const std::vector<uint8_t>& pool, int64_t n, int64_t bytes, Pattern pattern,
                                const std::vector<uint8_t>& mask) {
  std::vector<uint64_t> out;
  std::mt19937_64 random(17);
  const uint64_t base = reinterpret_cast<uint64_t>(pool.data());
  for (int64_t i = 0; i < n; ++i) {
    const int64_t index = pattern == Pattern::Consecutive ? i + 1
                          : pattern == Pattern::Strided   ? 3 * i
                          : pattern == Pattern::Reversed  ? n - 1 - i
                                                          : int64_t(random() % uint64_t(4 * n));
    out.push_back(mask.empty() || mask[size_t(i)] ? base + uint64_t(index * bytes) : 0xDEAD0000DEAD0001ull);
  }
  return out;
}
std::vector<std::vector<uint8_t>> masks(int64_t n) {
  std::vector<std::vector<uint8_t>> out(4);
  out[1].assign(size_t(n), 1);
  out[2].assign(size_t(n), 0);
  for (int64_t i = 0; i < n; ++i) out[3].push_back(uint8_t((i / 5) % 3 != 1));
  return out;
}

} // namespace

BOOST_AUTO_TEST_CASE(gather_and_scatter) {
  for (int64_t bytes : {1, 2, 4, 8})
    for (int64_t n : {1, 2, 7, 8, 9, 16, 33, 70, 256})
      for (Pattern pattern : {Pattern::Consecutive, Pattern::Strided, Pattern::Random, Pattern::Reversed})
        for (const auto& mask : masks(n)) {
          std::vector<uint8_t> pool(size_t(n * bytes * 4 + 64));
          for (size_t i = 0; i < pool.size(); ++i) pool[i] = uint8_t(i * 31 + i / 256);
          const auto address = addresses(pool, n, bytes, pattern, mask);
          const uint8_t* m = mask.empty() ? nullptr : mask.data();
          std::vector<uint8_t> other(size_t(n * bytes));
          for (size_t i = 0; i < other.size(); ++i) other[i] = uint8_t(200 + i);
          for (int kind = 0; kind < 3; ++kind) { // no other, one element, many
            Guarded out(size_t(n * bytes), size_t(bytes));
            ops().gather(bytes)(n, out.data(), address.data(), m, kind ? other.data() : nullptr, kind == 2 ? bytes : 0);
            BOOST_REQUIRE(out.whole());
            for (size_t i = 0; i < size_t(n); ++i) {
              const uint64_t want = !m || m[i]  ? readBits(reinterpret_cast<void*>(address[i]), 0, size_t(bytes))
                                    : kind == 0 ? 0
                                                : readBits(other.data(), kind == 2 ? i : 0, size_t(bytes));
              BOOST_REQUIRE(readBits(out.data(), i, size_t(bytes)) == want);
            }
          }
          for (int64_t stride : {int64_t(0), bytes}) {
            std::vector<uint8_t> want = pool;
            for (size_t i = 0; i < size_t(n); ++i)
              if (!m || m[i])
                std::memcpy(want.data() + (address[i] - reinterpret_cast<uint64_t>(pool.data())),
                            other.data() + (stride ? i * size_t(bytes) : 0), size_t(bytes));
            std::vector<uint8_t> saved = pool;
            ops().scatter(bytes)(n, other.data(), stride, address.data(), m);
            BOOST_REQUIRE(pool == want);
            std::memcpy(pool.data(), saved.data(), saved.size()); // the addresses point into pool
          }
        }
  BOOST_TEST(!ops().gather(3));
  BOOST_TEST(!ops().scatter(16));
}

BOOST_AUTO_TEST_CASE(strided_copies_touch_only_their_elements) {
  // The source ends at the end of a page that nothing follows: a read past the last element would fault.
  const size_t page = 4096, size = 16 * page;
  auto* memory =
      static_cast<uint8_t*>(mmap(nullptr, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  BOOST_REQUIRE(memory != MAP_FAILED);
  mprotect(memory + size, page, PROT_NONE);
  for (size_t i = 0; i < size; ++i) memory[i] = uint8_t(i * 7 + i / 256);
  for (int64_t bytes : {1, 2, 4, 8})
    for (int64_t n : {1, 3, 15, 16, 17, 18, 32, 33, 34, 65, 300})
      for (int64_t srcStride : {int64_t(0), bytes, 2 * bytes, 3 * bytes, 4 * bytes, 5 * bytes, -bytes, 3 * bytes + 1})
        for (int64_t dstStride : {bytes, 3 * bytes}) {
          const uint8_t* src = memory + int64_t(size) - bytes - (srcStride > 0 ? (n - 1) * srcStride : 0);
          Guarded out(size_t((n - 1) * dstStride + bytes), 1);
          std::memset(out.data(), 0x5A, size_t((n - 1) * dstStride + bytes));
          ops().stridedCopy(bytes)(n, out.data(), dstStride, src, srcStride);
          BOOST_REQUIRE(out.whole());
          for (int64_t i = 0; i < n; ++i) {
            BOOST_REQUIRE(std::memcmp(out.data() + i * dstStride, src + i * srcStride, size_t(bytes)) == 0);
            if (dstStride > bytes && i + 1 < n) BOOST_REQUIRE(out.data()[i * dstStride + bytes] == 0x5A);
          }
        }
  munmap(memory, size + page);
}

BOOST_AUTO_TEST_CASE(sequences_wrap) {
  for (DType t : {DType::I1, DType::I8, DType::I16, DType::I32, DType::I64, DType::Ptr})
    for (int64_t n = 1; n < 150; n += 3)
      for (int64_t step : {int64_t(1), int64_t(0), int64_t(-3), int64_t(1) << 33}) {
        Guarded out(size_t(n) * sizeOf(t), 1);
        ops().iota(t)(n, out.data(), -5, step);
        BOOST_REQUIRE(out.whole());
        const uint64_t all = t == DType::I1 ? 1 : sizeOf(t) == 8 ? ~0ull : (1ull << sizeOf(t) * 8) - 1;
        for (int64_t i = 0; i < n; ++i)
          BOOST_REQUIRE(readBits(out.data(), size_t(i), sizeOf(t)) ==
                        ((uint64_t(-5) + uint64_t(step) * uint64_t(i)) & all));
      }
  BOOST_TEST(!ops().iota(DType::F32));
}

BOOST_AUTO_TEST_CASE(address_checks_find_the_first_bad_lane) {
  const uint64_t lo = 0x10000, hi = 0x20000;
  for (int64_t n : {1, 5, 15, 16, 17, 40, 100})
    for (uint64_t size : {1, 4, 8}) {
      std::vector<uint64_t> address(static_cast<size_t>(n), lo);
      address.back() = hi - size;
      std::vector<uint8_t> mask(static_cast<size_t>(n), 1);
      BOOST_REQUIRE(ops().checkAddresses(n, address.data(), nullptr, lo, hi, size) == -1);
      for (uint64_t bad : {lo - 1, hi - size + 1, uint64_t(0), ~uint64_t(0), ~uint64_t(0) - 7, hi})
        for (size_t at = 0; at < size_t(n); at += 3) {
          auto wrong = address;
          wrong[at] = bad;
          BOOST_REQUIRE(ops().checkAddresses(n, wrong.data(), nullptr, lo, hi, size) == int64_t(at));
          BOOST_REQUIRE(ops().checkAddresses(n, wrong.data(), mask.data(), lo, hi, size) == int64_t(at));
          mask[at] = 0;
          BOOST_REQUIRE(ops().checkAddresses(n, wrong.data(), mask.data(), lo, hi, size) == -1);
          mask[at] = 1;
        }
      BOOST_REQUIRE(ops().checkAddresses(n, address.data(), nullptr, lo, lo + size - 1, size) == 0); // nothing fits
    }
}

BOOST_AUTO_TEST_CASE(streaming_copies) {
  std::vector<uint8_t> src(5000);
  for (size_t i = 0; i < src.size(); ++i) src[i] = uint8_t(i * 13 + i / 200);
  for (int64_t bytes : {0, 1, 31, 127, 128, 129, 1000, 4096, 4500})
    for (size_t offset : {0, 1, 7, 33}) {
      Guarded out(size_t(bytes), offset);
      ops().streamCopy(out.data(), src.data() + offset, bytes);
      BOOST_REQUIRE(out.whole());
      BOOST_REQUIRE(std::memcmp(out.data(), src.data() + offset, size_t(bytes)) == 0);
    }
}
