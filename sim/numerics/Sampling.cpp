// sim/numerics/Sampling.cpp -- see Sampling.h.
#include "sim/numerics/Sampling.h"
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <immintrin.h>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

namespace tiletwin::sim {
namespace {

constexpr int kOutside = -1;

/// A texel's index along one dimension, or kOutside.
int indexOf(int64_t i, int size, Addressing mode) {
  switch (mode) {
  case Addressing::Wrap: return int(((i % size) + size) % size);
  case Addressing::Mirror: {
    const int64_t period = ((i % (2 * size)) + 2 * size) % (2 * size);
    return int(period < size ? period : 2 * size - 1 - period);
  }
  case Addressing::Clamp: return int(std::clamp<int64_t>(i, 0, size - 1));
  case Addressing::Border: return i < 0 || i >= size ? kOutside : int(i);
  }
  return kOutside;
}

float asFloat(uint32_t bits) { return std::bit_cast<float>(bits); }
uint32_t bitsOf(float value) { return std::bit_cast<uint32_t>(value); }

/// One channel as the instruction's result: integers widened, halves as floats, fractions where the texture gives such.
uint32_t channelOf(const std::byte* at, TexelType type, bool givesFraction) {
  const auto load = [&]<class T>(T) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
  };
  switch (type) {
  case TexelType::U8: return givesFraction ? bitsOf(float(load(uint8_t())) / 255.0f) : load(uint8_t());
  case TexelType::U16: return givesFraction ? bitsOf(float(load(uint16_t())) / 65535.0f) : load(uint16_t());
  case TexelType::S8:
    return givesFraction ? bitsOf(std::max(float(load(int8_t())) / 127.0f, -1.0f)) : uint32_t(load(int8_t()));
  case TexelType::S16:
    return givesFraction ? bitsOf(std::max(float(load(int16_t())) / 32767.0f, -1.0f)) : uint32_t(load(int16_t()));
  case TexelType::F16: return bitsOf(_cvtsh_ss(load(uint16_t())));
  case TexelType::U32:
  case TexelType::S32:
  case TexelType::F32: return load(uint32_t());
  }
  return 0;
}

bool isFloat(const Texture& t) { return t.givesFraction || t.image.type >= TexelType::F16; }

/// The texel at an index; kOutside along one dimension gives the border's colour.
Texel texelAt(const Texture& t, const ImageLevel& level, int x, int y, int z) {
  Texel texel{};
  if (x == kOutside || y == kOutside || z == kOutside) {
    for (size_t c = 0; c < 4; ++c) texel[c] = isFloat(t) ? bitsOf(t.border[c]) : uint32_t(int64_t(t.border[c]));
    return texel;
  }
  const std::byte* at =
      level.data + size_t(z) * level.slice + size_t(y) * level.pitch + size_t(x) * size_t(t.image.texelBytes());
  for (int c = 0; c < t.image.channels; ++c)
    texel[size_t(c)] = channelOf(at + c * bytesOf(t.image.type), t.image.type, t.givesFraction);
  if (isFloat(t) && t.image.channels < 4) texel[3] = t.image.channels < 4 ? bitsOf(1.0f) : texel[3];
  return texel;
}

/// A coordinate in texels. Addressing by halves of a period is done on the fraction, as coordinates from 0 to 1 have it.
float inTexels(float at, int size, Addressing mode, bool isNormalized) {
  if (!(at == at) || std::isinf(at)) at = 0;
  if (!isNormalized) return at;
  if (mode == Addressing::Wrap) at -= std::floor(at);
  if (mode == Addressing::Mirror) {
    const float whole = std::floor(at);
    at -= whole;
    if (std::fmod(whole, 2.0f) != 0) at = 1 - at;
  }
  return at * float(size);
}

/// The two texels that a filter takes along one dimension, and the second one's weight in 1/256.
struct Span {
  int first, second, weight;
};
Span spanOf(float at, int size, Addressing mode) {
  constexpr float kSteps = 256;
  const double scaled = std::floor(double(at) * kSteps - kSteps / 2 + 0.5);
  const auto fixed = int64_t(std::clamp(scaled, -1e15, 1e15));
  const int64_t whole = fixed >> 8;
  const Span span{indexOf(whole, size, mode), indexOf(whole + 1, size, mode), int(fixed & 255)};
  const bool isHeld = mode == Addressing::Clamp && span.first == span.second; // the place is moved to the edge's texel
  return {span.first, span.second, isHeld ? 0 : span.weight};
}

/// Where a place lies: layer or face, and coordinates in texels.
struct Located {
  std::array<float, 3> at{};
  std::array<Addressing, 3> addressing;
  int z = 0;
};

/// The face of a cube that a direction meets, and where.
Located onCube(const Texture& t, const SamplePlace& place, const ImageLevel& level) {
  const auto [x, y, z] = place.at;
  const float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  int face = 0;
  float s = 0, u = 0, m = 1;
  if (ax >= ay && ax >= az)
    face = x >= 0 ? 0 : 1, m = ax, s = x >= 0 ? -z : z, u = -y;
  else if (ay >= az)
    face = y >= 0 ? 2 : 3, m = ay, s = x, u = y >= 0 ? z : -z;
  else
    face = z >= 0 ? 4 : 5, m = az, s = z >= 0 ? x : -x, u = -y;
  Located where;
  where.at[0] = (s / m + 1) / 2 * float(level.width);
  where.at[1] = (u / m + 1) / 2 * float(level.height);
  where.addressing = t.addressing; // at a face's edge the filter stays on the face
  where.z = face + 6 * place.layer;
  return where;
}

Located locate(const Texture& t, const SamplePlace& place, const ImageLevel& level) {
  if (t.image.shape == ImageShape::Cube) return onCube(t, place, level);
  Located where;
  where.addressing = t.addressing;
  const int sizes[] = {int(level.width), int(level.height), int(level.depth)};
  for (size_t d = 0; d < 3; ++d) where.at[d] = inTexels(place.at[d], sizes[d], t.addressing[d], t.isNormalized);
  if (t.image.isLayered) where.z = std::clamp(place.layer, 0, int(level.depth) - 1);
  return where;
}

int dimensionsOf(const Image& image) {
  return image.shape == ImageShape::Line ? 1 : image.shape == ImageShape::Solid ? 3 : 2;
}

Texel nearest(const Texture& t, const Located& where, const ImageLevel& level) {
  const int dimensions = dimensionsOf(t.image);
  const int sizes[] = {int(level.width), int(level.height), int(level.depth)};
  int index[3] = {0, 0, where.z};
  for (int d = 0; d < dimensions; ++d)
    index[d] = indexOf(int64_t(std::clamp(std::floor(double(where.at[size_t(d)])), -1e15, 1e15)), sizes[d],
                       where.addressing[size_t(d)]);
  return texelAt(t, level, index[0], index[1], index[2]);
}

/// The nearest float; of two that are equally near the one farther from zero.
float roundAway(double value) {
  const auto nearest = float(value);
  const float other = std::nextafter(nearest, value > double(nearest) ? HUGE_VALF : -HUGE_VALF);
  const bool isTie = std::fabs(double(other) - value) == std::fabs(double(nearest) - value);
  return isTie && std::fabs(other) > std::fabs(nearest) ? other : nearest;
}

constexpr int kWhole = 256; ///< a weight of one

/// Weights of up to eight texels: bit d of an index is the second texel along dimension d. z divides the whole, x each part of it, y
/// each of these. The second texel's share is rounded, half upwards but where y divides the first texel's along x; the first one
/// has the rest.
std::array<int, 8> weightsOf(const Span (&spans)[3]) {
  std::array<int, 8> weights{};
  const auto share = [](int part, int weight, int half) { return (part * weight + half) / kWhole; };
  const int ofZ[] = {kWhole - spans[2].weight, spans[2].weight};
  for (int z = 0; z < 2; ++z) {
    const int second = share(ofZ[z], spans[0].weight, kWhole / 2);
    const int ofX[] = {ofZ[z] - second, second};
    for (int x = 0; x < 2; ++x) {
      const int last = share(ofX[x], spans[1].weight, x ? kWhole / 2 : kWhole / 2 - 1);
      weights[size_t(x | z << 2)] = ofX[x] - last;
      weights[size_t(x | 2 | z << 2)] = last;
    }
  }
  return weights;
}

/// The same for a half, as a float.
float halfAway(double value) {
  const float part = std::fabs(float(value)) == std::fabs(value) ? float(value) : std::nextafter(float(value), 0.0f);
  const auto code = uint16_t(_cvtss_sh(part, _MM_FROUND_TO_ZERO));
  const float low = _cvtsh_ss(code), high = _cvtsh_ss(uint16_t(code + 1)); // the next one farther from zero
  return std::fabs(double(high) - value) <= std::fabs(double(low) - value) ? high : low;
}

/// Halves that a filter adds are cut to the steps of the largest one's 15 bits, toward zero.
void alignHalves(std::array<double, 8>& terms) {
  constexpr int kBitsBehind = 14;
  double largest = 0;
  for (const double term : terms) largest = std::max(largest, std::fabs(term));
  if (largest == 0 || !std::isfinite(largest)) return;
  const double step = std::ldexp(1.0, std::ilogb(largest) - kBitsBehind);
  for (double& term : terms) term = std::trunc(term / step) * step;
}

/// Steps from 0 to 1 in which a filter's fractions come; 0: they are floats.
int stepsOf(const Texture& t) {
  if (!t.givesFraction) return 0;
  return t.image.type == TexelType::U8 || t.image.type == TexelType::U16 ? 65535 : 32767;
}

/// What a filter adds up: floats, or fractions in steps.
double termOf(const Texture& t, uint32_t bits) {
  const auto value = double(asFloat(bits));
  if (t.image.type == TexelType::U8 && t.givesFraction) return std::round(value * 255) * 257;
  const int steps = stepsOf(t);
  return steps && t.image.type != TexelType::S8 ? std::round(value * steps) : value * std::max(steps, 1);
}

float resultOf(const Texture& t, double sum) {
  if (t.image.type == TexelType::F16) return halfAway(sum);
  const int steps = stepsOf(t);
  return steps ? float(std::round(sum) / steps) : roundAway(sum);
}

/// The weighted sum of up to eight texels, rounded once.
Texel filtered(const Texture& t, const Located& where, const ImageLevel& level) {
  int dimensions = dimensionsOf(t.image);
  const int sizes[] = {int(level.width), int(level.height), int(level.depth)};
  Span spans[3];
  for (int d = 0; d < 3; ++d)
    spans[d] = d < dimensions ? spanOf(where.at[size_t(d)], sizes[d], where.addressing[size_t(d)]) : Span{0, 0, 0};
  if (dimensions < 3) spans[2] = {where.z, where.z, 0};
  if (dimensions == 1 && where.addressing[1] == Addressing::Border) { // a line is one row, looked at from its edge
    spans[1] = {kOutside, 0, kWhole / 2};
    dimensions = 2;
  }
  const std::array<int, 8> weights = weightsOf(spans);
  std::array<std::array<double, 8>, 4> terms{}; // by channel
  for (int corner = 0; corner < 1 << dimensions; ++corner) {
    if (!weights[size_t(corner)]) continue;
    int index[3] = {spans[0].first, spans[1].first, spans[2].first};
    for (int d = 0; d < dimensions; ++d)
      if (corner >> d & 1) index[d] = spans[d].second;
    const Texel texel = texelAt(t, level, index[0], index[1], index[2]);
    for (size_t c = 0; c < 4; ++c) terms[c][size_t(corner)] = termOf(t, texel[c]);
  }
  Texel result;
  for (size_t c = 0; c < 4; ++c) {
    if (t.image.type == TexelType::F16) alignHalves(terms[c]);
    double sum = 0;
    for (size_t corner = 0; corner < 8; ++corner)
      if (weights[corner]) sum += double(weights[corner]) * terms[c][corner];
    result[c] = bitsOf(resultOf(t, sum / kWhole));
  }
  return result;
}

Texel atLevel(const Texture& t, const SamplePlace& place, const ImageLevel& level) {
  const Located where = locate(t, place, level);
  return t.filters && isFloat(t) ? filtered(t, where, level) : nearest(t, where, level);
}

// ---- The table ------------------------------------------------------------------------------------------------------------------

struct Table {
  std::shared_mutex mutex;
  std::unordered_map<uint64_t, std::shared_ptr<const Texture>> textures; // under mutex
  uint64_t made = 0;                                                     // under mutex
};
Table& table() {
  static auto* const all = new Table; // clients destroy objects at their exit
  return *all;
}

} // namespace

Texel sample(const Texture& t, const SamplePlace& place) {
  const auto levels = int(t.image.levels.size());
  const float wanted = std::clamp(place.level + t.levelBias, t.leastLevel, std::max(t.mostLevel, t.leastLevel));
  const float lod = std::clamp(wanted, 0.0f, float(levels - 1));
  if (levels == 1) return atLevel(t, place, t.image.levels[0]);
  if (!t.filtersLevels) return atLevel(t, place, t.image.levels[size_t(std::floor(lod + 0.5f))]);
  const int first = std::min(int(lod), levels - 1), second = std::min(first + 1, levels - 1);
  const double weight = std::floor((double(lod) - first) * 256 + 0.5) / 256;
  const Texel a = atLevel(t, place, t.image.levels[size_t(first)]),
              b = atLevel(t, place, t.image.levels[size_t(second)]);
  Texel result;
  for (size_t c = 0; c < 4; ++c)
    result[c] = bitsOf(float((1 - weight) * double(asFloat(a[c])) + weight * double(asFloat(b[c]))));
  return result;
}

Texel fetch(const Texture& t, std::array<int, 3> at, int layer, int level) {
  const ImageLevel& image = t.image.levels[size_t(std::clamp(level, 0, int(t.image.levels.size()) - 1))];
  const int sizes[] = {int(image.width), int(image.height), int(image.depth)};
  const int dimensions = dimensionsOf(t.image);
  if (t.image.isLayered) at[2] = std::clamp(layer, 0, sizes[2] - 1);
  for (int d = 0; d < dimensions; ++d)
    if (at[size_t(d)] < 0 || at[size_t(d)] >= sizes[d]) return {};
  return texelAt(t, image, at[0], dimensions > 1 ? at[1] : 0, dimensions > 2 || t.image.isLayered ? at[2] : 0);
}

Texel gather(const Texture& t, const SamplePlace& place, int channel) {
  const ImageLevel& level = t.image.levels[0];
  const Located where = locate(t, place, level);
  const Span x = spanOf(where.at[0], int(level.width), where.addressing[0]);
  const Span y = spanOf(where.at[1], int(level.height), where.addressing[1]);
  const auto one = [&](int i, int j) { return texelAt(t, level, i, j, where.z)[size_t(channel)]; };
  return {one(x.first, y.second), one(x.second, y.second), one(x.second, y.first), one(x.first, y.first)};
}

TextureTable& TextureTable::instance() {
  static TextureTable all;
  return all;
}
uint64_t TextureTable::add(std::shared_ptr<const Texture> texture) {
  constexpr uint64_t kFirst = 0x100000000; // no address, and no small number
  const std::unique_lock lock(table().mutex);
  const uint64_t handle = kFirst + ++table().made;
  table().textures.emplace(handle, std::move(texture));
  return handle;
}
bool TextureTable::remove(uint64_t handle) {
  const std::unique_lock lock(table().mutex);
  return table().textures.erase(handle) != 0;
}
std::shared_ptr<const Texture> TextureTable::find(uint64_t handle) const {
  const std::shared_lock lock(table().mutex);
  const auto at = table().textures.find(handle);
  return at == table().textures.end() ? nullptr : at->second;
}

} // namespace tiletwin::sim
