// tests/sim/TensorMapTest.cpp -- tensor maps and tiles: geometry against a plain reference, element by element, and against what
// an H200 made of tiles.
// Not here:  the instructions (TmaTest.cpp).
#define BOOST_TEST_MODULE sim_tensor_map
#include "sim/Tensormap.h"
#include "sim/isa/TensorCopy.h"
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <fstream>
#include <map>
#include <random>
#include <sstream>

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

/// Calls visit(offset in the tile, element's offset in the tensor or -1) for each element of the box. Rows of swizzled tiles are a
/// span of the swizzle apart.
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
    const uint64_t pitch = c.swizzle == TensorMapSwizzle::None ? c.box[0] * c.elementBytes : 16u << int(c.swizzle);
    visit(i / count[0] * pitch + i % count[0] * c.elementBytes, inside ? offset : -1);
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
    uint64_t elements = 0;
    eachElement(c, [&](uint64_t, int64_t) { ++elements; });
    BOOST_REQUIRE_EQUAL(tile.bytes(), elements * c.elementBytes);
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

// ---- What an H200 gave: tools/record_async.cu.

namespace {

struct Recorded {
  std::string kind;
  int type = 0;
  Case c;
  int fill = 0, reduction = 0;
  uint64_t base = 0;
  std::vector<uint64_t> strides;
  std::vector<std::byte> bytes; ///< empty: the GPU refused it
};

std::vector<Recorded> recordings() {
  std::ifstream file(TILETWIN_TEST_DATA "/sim/async_on_h200.txt");
  BOOST_REQUIRE(file);
  std::vector<Recorded> result;
  for (std::string line; std::getline(file, line);) {
    std::istringstream in(line);
    Recorded r;
    size_t rank = 0;
    if (!(in >> r.kind >> r.type >> rank)) continue;
    const auto numbers = [&](auto& to, size_t count) {
      to.resize(count);
      for (auto& each : to) in >> each;
    };
    numbers(r.c.dim, rank);
    numbers(r.strides, rank - 1);
    numbers(r.c.box, rank);
    numbers(r.c.step, rank);
    numbers(r.c.at, rank);
    int swizzle = 0;
    in >> swizzle >> r.fill >> r.base;
    r.c.swizzle = TensorMapSwizzle(swizzle);
    r.c.type = TensorMapType(r.type);
    if (r.kind == "store" || r.kind == "reduce") in >> r.reduction;
    std::string colon, hex;
    if (in >> colon >> hex && colon == ":")
      for (size_t i = 0; i + 1 < hex.size(); i += 2)
        r.bytes.push_back(std::byte(std::stoi(hex.substr(i, 2), nullptr, 16)));
    result.push_back(std::move(r));
  }
  return result;
}

std::vector<std::byte> pattern(size_t count) {
  std::vector<std::byte> bytes(count);
  for (size_t i = 0; i < count; ++i) bytes[i] = std::byte(uint32_t(i) * 2654435761u >> 13);
  return bytes;
}
const uint32_t kF32[] = {0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007FFFFF, 0x807FFFFF, 0x00800000,
                         0x3F800000, 0x3F800FFF, 0x3F801000, 0x3F801001, 0x3F802000, 0x3F803000, 0xBF801000,
                         0xBF801001, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7F800001, 0x7FC00000,
                         0xFFC12345, 0x7FFFFFFF, 0xFFFFFFFF, 0x7F7FEFFF, 0x7F7FF000, 0x00001000, 0x00000FFF,
                         0x007FF000, 0x3FFFFFFF, 0x40490FDB, 0xC0490FDB};
const uint16_t kF16[] = {0x0000, 0x8000, 0x0001, 0x8001, 0x03FF, 0x0400, 0x3C00, 0xBC00, 0x7BFF, 0xFBFF, 0x7C00,
                         0xFC00, 0x7C01, 0x7E00, 0xFE12, 0x7FFF, 0xFFFF, 0x3555, 0x4248, 0xC248, 0x2E66, 0x0200,
                         0x8200, 0x3C01, 0x1400, 0x9400, 0x5640, 0x7800, 0x7A00, 0xF800, 0x0003, 0x8003};
template <class T> std::vector<std::byte> asBytes(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

TensorTile tileOf(const Recorded& r, const void* tensor) {
  alignas(64) std::byte map[kTensorMapBytes];
  std::string error;
  BOOST_REQUIRE_MESSAGE(encodeTensorMap(map, r.c.type, uint32_t(r.c.dim.size()), tensor, r.c.dim.data(),
                                        r.strides.data(), r.c.box.data(), r.c.step.data(), TensorMapInterleave::None,
                                        r.c.swizzle, TensorMapPromotion::None, TensorMapFill(r.fill), error),
                        error);
  TensorTile tile{TensorMap::read(map), {}};
  std::copy(r.c.at.begin(), r.c.at.end(), tile.at.begin());
  return tile;
}

} // namespace

BOOST_AUTO_TEST_CASE(tiles_are_as_an_h200_makes_them) {
  std::map<std::string, int> seen;
  for (const Recorded& r : recordings()) {
    if (r.bytes.empty()) continue;
    ++seen[r.kind];
    std::vector<std::byte> source;
    if (r.kind == "load") source = pattern(65536);
    if (r.kind == "floats" || r.kind == "doubles") source = asBytes(std::vector<uint32_t>(kF32, kF32 + 32));
    if (r.kind == "halves") source = asBytes(std::vector<uint16_t>(kF16, kF16 + 32));
    if (!source.empty()) {
      Aligned tensor(source.size());
      std::memcpy(tensor.data, source.data(), source.size());
      std::vector<std::byte> shared(r.bytes.size() + 16384, std::byte(0xA5));
      loadTile(tileOf(r, tensor.data), shared.data(), r.base);
      shared.resize(r.bytes.size());
      BOOST_TEST((shared == r.bytes), r.kind << " " << r.type << " swizzle " << int(r.c.swizzle) << " base " << r.base);
      continue;
    }
    // Stores print the tensor afterwards; it was zero, or one value a row for reductions.
    Aligned tensor(r.bytes.size());
    std::memset(tensor.data, 0, r.bytes.size());
    std::vector<std::byte> shared = pattern(16384);
    ReduceElements reduce = nullptr;
    if (r.kind == "store" && r.c.type != TensorMapType::U8 && r.c.type != TensorMapType::U32)
      shared = asBytes(std::vector<uint32_t>(kF32, kF32 + 32));
    if (r.kind == "reduce") {
      std::vector<uint32_t> before, values;
      const bool isHalf = r.c.type == TensorMapType::F16 || r.c.type == TensorMapType::BF16;
      std::vector<uint16_t> beforeHalf, valuesHalf;
      for (size_t row = 0; row < 32; ++row)
        for (size_t column = 0; column < 32; ++column) {
          before.push_back(kF32[row]), values.push_back(kF32[column]);
          beforeHalf.push_back(kF16[row]), valuesHalf.push_back(kF16[column]);
        }
      const auto bytes = isHalf ? asBytes(beforeHalf) : asBytes(before);
      shared = isHalf ? asBytes(valuesHalf) : asBytes(values);
      std::memcpy(tensor.data, bytes.data(), bytes.size());
      const ReduceOp op = r.reduction == 1 ? ReduceOp::Add : r.reduction == 2 ? ReduceOp::Min : ReduceOp::Max;
      reduce = reducer(op, TensorElement(tileOf(r, tensor.data).map.element));
      BOOST_REQUIRE(reduce);
    }
    storeTile(tileOf(r, tensor.data), shared.data(), r.base, reduce);
    BOOST_TEST(std::memcmp(tensor.data, r.bytes.data(), r.bytes.size()) == 0,
               r.kind << " " << r.type << " swizzle " << int(r.c.swizzle) << " operation " << r.reduction);
  }
  BOOST_TEST(seen["load"] >= 40);
  BOOST_TEST(seen["floats"] == 8);
  BOOST_TEST(seen["halves"] == 2);
  BOOST_TEST(seen["doubles"] == 1);
  BOOST_TEST(seen["store"] == 11);
  BOOST_TEST(seen["reduce"] == 8);
}

BOOST_AUTO_TEST_CASE(what_an_h200_refuses_begins_between_16_bytes) {
  for (const Recorded& r : recordings()) {
    const uint32_t elementBytes = r.c.type == TensorMapType::U8 ? 1 : r.c.type == TensorMapType::U16 ? 2 : 4;
    if (r.kind == "load" || r.kind == "store")
      BOOST_TEST(r.bytes.empty() == (r.c.at[0] * int(elementBytes) % 16 != 0), r.kind << " at " << r.c.at[0]);
  }
}
