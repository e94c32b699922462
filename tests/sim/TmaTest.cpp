// tests/sim/TmaTest.cpp -- tensor maps and tiles: geometry against a plain reference, element by element; then the instructions.
#define BOOST_TEST_MODULE sim_tma
#include "sim/Tensormap.h"
#include "sim/isa/TensorCopy.h"
#include "tests/sim/SimRun.h"
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <random>

using namespace tiletwin;
using namespace tiletwin::sim;

namespace {

/// A tensor of bytes as an array of any strides, and the box that is copied.
struct Case {
  TensorMapType type;
  uint32_t elementBytes;
  std::vector<uint64_t> dim;
  std::vector<uint32_t> box, step;
  std::vector<int32_t> at;
  TensorMapSwizzle swizzle;
};

/// Strides of a dense tensor, each dimension rounded up to a multiple of 16 bytes.
std::vector<uint64_t> stridesOf(const Case& c) {
  std::vector<uint64_t> strides;
  uint64_t bytes = c.dim[0] * c.elementBytes;
  for (size_t d = 1; d < c.dim.size(); ++d) {
    bytes = (bytes + 15) / 16 * 16;
    strides.push_back(bytes);
    bytes *= c.dim[d];
  }
  return strides;
}
uint64_t tensorBytes(const Case& c) {
  const auto strides = stridesOf(c);
  return c.dim.size() == 1 ? (c.dim[0] * c.elementBytes + 15) / 16 * 16 : strides.back() * c.dim.back();
}

/// Where an address goes: bits 4 to 6 are changed by bits 7 to 9, as many of them as the mode has.
uint64_t referenceSwizzle(TensorMapSwizzle mode, uint64_t address) {
  const int bits = mode == TensorMapSwizzle::Bytes32    ? 1
                   : mode == TensorMapSwizzle::Bytes64  ? 2
                   : mode == TensorMapSwizzle::Bytes128 ? 3
                                                        : 0;
  for (int bit = 0; bit < bits; ++bit)
    if (address >> (7 + bit) & 1) address ^= uint64_t(1) << (4 + bit);
  return address;
}

/// Calls visit(offset in the tile, element's offset in the tensor or -1) for each element of the box.
template <class Visit> void eachElement(const Case& c, Visit&& visit) {
  const auto strides = stridesOf(c);
  std::vector<uint32_t> count, index(c.dim.size(), 0);
  uint64_t total = 1;
  for (size_t d = 0; d < c.dim.size(); ++d) {
    count.push_back(d == 0 ? c.box[d] : (c.box[d] + c.step[d] - 1) / c.step[d]);
    total *= count.back();
  }
  for (uint64_t i = 0; i < total; ++i) {
    uint64_t rest = i;
    int64_t offset = 0;
    bool inside = true;
    for (size_t d = 0; d < c.dim.size(); ++d) {
      const int64_t k = int64_t(rest % count[d]);
      rest /= count[d];
      const int64_t coordinate = c.at[d] + k * (d == 0 ? 1 : int64_t(c.step[d]));
      inside &= coordinate >= 0 && coordinate < int64_t(c.dim[d]);
      offset += coordinate * int64_t(d == 0 ? c.elementBytes : strides[d - 1]);
    }
    visit(i * c.elementBytes, inside ? offset : -1);
  }
}

Case randomCase(std::mt19937& random) {
  static constexpr std::pair<TensorMapType, uint32_t> kTypes[] = {{TensorMapType::U8, 1},  {TensorMapType::U16, 2},
                                                                  {TensorMapType::S32, 4}, {TensorMapType::F16, 2},
                                                                  {TensorMapType::F32, 4}, {TensorMapType::F64, 8}};
  Case c;
  std::tie(c.type, c.elementBytes) = kTypes[random() % 6];
  const size_t rank = 1 + random() % 5;
  c.swizzle = TensorMapSwizzle(random() % 4);
  const uint32_t span = c.swizzle == TensorMapSwizzle::None ? 256 : 16u << int(c.swizzle);
  for (size_t d = 0; d < rank; ++d) {
    c.dim.push_back(1 + random() % (d == 0 ? 200 : 7));
    c.step.push_back(d == 0 ? 1 : 1 + random() % 3);
    const uint32_t row = 16 * (1 + random() % (span / 16));
    c.box.push_back(d == 0 ? std::max(row / c.elementBytes, 1u) : 1 + random() % 5);
    c.at.push_back(int32_t(random() % (2 * c.dim[d] + 8)) - int32_t(c.dim[d]) / 2 - 4);
  }
  return c;
}

TensorMap mapOf(const Case& c, const void* tensor, TensorMapFill fill = TensorMapFill::Zero) {
  alignas(64) std::byte bytes[kTensorMapBytes];
  std::string error;
  const auto strides = stridesOf(c);
  BOOST_REQUIRE_MESSAGE(encodeTensorMap(bytes, c.type, uint32_t(c.dim.size()), tensor, c.dim.data(), strides.data(),
                                        c.box.data(), c.step.data(), TensorMapInterleave::None, c.swizzle,
                                        TensorMapPromotion::None, fill, error),
                        error);
  return TensorMap::read(bytes);
}

TensorTile tileOf(const Case& c, const void* tensor, TensorMapFill fill = TensorMapFill::Zero) {
  TensorTile tile{mapOf(c, tensor, fill), {}};
  std::copy(c.at.begin(), c.at.end(), tile.at.begin());
  return tile;
}

std::vector<std::byte> noise(std::mt19937& random, size_t bytes) {
  std::vector<std::byte> result(bytes);
  for (std::byte& b : result) b = std::byte(random());
  return result;
}

struct Aligned {
  explicit Aligned(size_t bytes) : storage(bytes + 16), data(storage.data()) {
    while (reinterpret_cast<uintptr_t>(data) % 16) ++data;
  }
  std::vector<std::byte> storage;
  std::byte* data;
};

} // namespace

BOOST_AUTO_TEST_CASE(loads_agree_with_the_reference) {
  std::mt19937 random(1);
  for (int i = 0; i < 600; ++i) {
    const Case c = randomCase(random);
    const uint64_t bytes = tensorBytes(c);
    Aligned tensor(bytes);
    const auto source = noise(random, bytes);
    std::memcpy(tensor.data, source.data(), bytes);
    const TensorTile tile = tileOf(c, tensor.data);
    const uint64_t address = 128 * (random() % 16), end = touchedBytes(tile);
    BOOST_REQUIRE_LE(tile.bytes(), end);
    std::vector<std::byte> got(end, std::byte(0xA5)), want(end, std::byte(0xA5));
    loadTile(tile, got.data(), address);
    eachElement(c, [&](uint64_t to, int64_t from) {
      for (uint32_t b = 0; b < c.elementBytes; ++b)
        want[referenceSwizzle(c.swizzle, address + to + b) - address] =
            from < 0 ? std::byte(0) : source[size_t(from) + b];
    });
    BOOST_REQUIRE(got == want);
  }
}

BOOST_AUTO_TEST_CASE(stores_agree_with_the_reference) {
  std::mt19937 random(2);
  for (int i = 0; i < 600; ++i) {
    const Case c = randomCase(random);
    const uint64_t bytes = tensorBytes(c);
    Aligned tensor(bytes);
    const auto before = noise(random, bytes);
    std::memcpy(tensor.data, before.data(), bytes);
    std::vector<std::byte> want = before;
    const TensorTile tile = tileOf(c, tensor.data);
    const uint64_t address = 128 * (random() % 16);
    const auto shared = noise(random, touchedBytes(tile));
    storeTile(tile, shared.data(), address, nullptr);
    eachElement(c, [&](uint64_t from, int64_t to) {
      for (uint32_t b = 0; to >= 0 && b < c.elementBytes; ++b)
        want[size_t(to) + b] = shared[referenceSwizzle(c.swizzle, address + from + b) - address];
    });
    BOOST_REQUIRE(std::memcmp(tensor.data, want.data(), bytes) == 0);
  }
}

BOOST_AUTO_TEST_CASE(a_store_undoes_a_load) {
  std::mt19937 random(3);
  for (int i = 0; i < 200; ++i) {
    Case c = randomCase(random);
    for (uint32_t& step : c.step) step = 1;
    const uint64_t bytes = tensorBytes(c);
    Aligned first(bytes), second(bytes);
    std::memcpy(first.data, noise(random, bytes).data(), bytes);
    std::memcpy(second.data, first.data, bytes);
    const TensorTile load = tileOf(c, first.data), store = tileOf(c, second.data);
    std::vector<std::byte> shared(touchedBytes(load));
    loadTile(load, shared.data(), 256);
    storeTile(store, shared.data(), 256, nullptr);
    BOOST_REQUIRE(std::memcmp(first.data, second.data, bytes) == 0);
  }
}

BOOST_AUTO_TEST_CASE(maps_that_the_driver_refuses) {
  alignas(64) std::byte bytes[kTensorMapBytes];
  alignas(16) static std::byte tensor[64];
  struct Parameters {
    uint32_t rank = 2;
    const std::byte* address = tensor;
    uint64_t dim[2] = {4, 4}, stride[1] = {16};
    uint32_t box[2] = {4, 4}, step[2] = {1, 1};
    TensorMapType type = TensorMapType::F32;
    TensorMapInterleave interleave = TensorMapInterleave::None;
    TensorMapSwizzle swizzle = TensorMapSwizzle::None;
    TensorMapFill fill = TensorMapFill::Zero;
  };
  const auto errorOf = [&](const Parameters& p) {
    std::string error;
    const bool ok = encodeTensorMap(bytes, p.type, p.rank, p.address, p.dim, p.stride, p.box, p.step, p.interleave,
                                    p.swizzle, TensorMapPromotion::Bytes128, p.fill, error);
    BOOST_TEST(ok == error.empty());
    return error;
  };
  BOOST_TEST(errorOf({}) == "");
  Parameters p;
  const auto fails = [&](auto change, std::string_view text) {
    p = {};
    change();
    BOOST_TEST(errorOf(p).find(text) != std::string::npos, errorOf(p) << " lacks: " << text);
  };
  fails([&] { p.rank = 6; }, "has 1 to 5 dimensions, not 6");
  fails([&] { p.address = tensor + 8; }, "no multiple of 16");
  fails([&] { p.dim[1] = 0; }, "1 to 2^32 elements");
  fails([&] { p.stride[0] = 24; }, "the stride 24 along dimension 1");
  fails([&] { p.box[0] = 257; }, "a box of 257 elements along dimension 0");
  fails([&] { p.box[0] = 3; }, "rows have 12 bytes");
  fails([&] { p.step[1] = 9; }, "the element stride 9 along dimension 1");
  fails([&] { p.interleave = TensorMapInterleave::Bytes16; }, "interleaved");
  fails([&] { p.swizzle = TensorMapSwizzle::Bytes32, p.box[0] = 16; }, "more than the 32 of its swizzle mode");
  fails([&] { p.type = TensorMapType::S32, p.fill = TensorMapFill::NaN; }, "fills with NaN");
}
