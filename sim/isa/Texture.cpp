// sim/isa/Texture.cpp -- tex, tld4, txq, suld.b, sust.b, suq: images by handle.
// Here:      decoding, lanes.
// Not here:  what an image gives (numerics/Sampling.h), who makes handles (sim/numerics/Texture.h).
// Source:    PTX ISA, "Texture Instructions" and "Surface Instructions". Handles are 64-bit values (objects); references by name,
//            gradients, sust.p and sured are errors when the module is loaded.
// Accesses are told to no observer: checks of races do not see them.
#include "sim/isa/Forms.h"
#include "sim/numerics/Sampling.h"
#include <cstring>

namespace tiletwin::sim {
namespace {

using ptx::Operand;
using ptx::Type;
using Kind = Operand::Kind;

enum class Geometry : uint8_t { Line, Flat, Solid, Lines, Flats, Cube, Cubes };
constexpr std::pair<std::string_view, Geometry> kGeometries[] = {
    {"1d", Geometry::Line},   {"2d", Geometry::Flat},   {"3d", Geometry::Solid},   {"a1d", Geometry::Lines},
    {"a2d", Geometry::Flats}, {"cube", Geometry::Cube}, {"acube", Geometry::Cubes}};
enum class Outside : uint8_t { Trap, Clamp, Zero };

bool isLayered(Geometry g) { return g == Geometry::Lines || g == Geometry::Flats || g == Geometry::Cubes; }
int coordinatesOf(Geometry g) {
  switch (g) {
  case Geometry::Line:
  case Geometry::Lines: return 1;
  case Geometry::Flat:
  case Geometry::Flats: return 2;
  default: return 3;
  }
}

struct ImageForm {
  Geometry geometry = Geometry::Flat;
  Outside outside = Outside::Trap;
  bool isIndex = false; ///< integer coordinates
  bool hasLevel = false;
  int channel = -1;         ///< tld4
  int count = 4, bytes = 4; ///< parts of the result or of what is stored, and bytes of each
  Slot handle, level;
  std::array<Slot, 4> values, at;
  enum class Query : uint8_t { Width, Height, Depth, Channels } query = Query::Width;
};

/// The texture of a lane's handle; null: a trap.
std::shared_ptr<const Texture> find(const ImageForm& form, Warp& warp, int lane, bool isSurface) {
  const uint64_t handle = warp.lanes<uint64_t>(form.handle)[lane];
  std::shared_ptr<const Texture> found = TextureTable::instance().find(handle);
  if (found && found->isSurface == isSurface) return found;
  warp.fail(TrapKind::InvalidValue,
            std::string("uses ") + std::to_string(handle) + ", which is no " + (isSurface ? "surface" : "texture") +
                " object, or one that was destroyed",
            lane);
  return nullptr;
}

/// The same for a lane after another, which mostly has the same handle. False: a trap.
class Current {
public:
  bool find(const ImageForm& form, Warp& warp, int lane, bool isSurface) {
    const uint64_t handle = warp.lanes<uint64_t>(form.handle)[lane];
    if (texture && handle == handle_) return true;
    handle_ = handle;
    texture = sim::find(form, warp, lane, isSurface);
    return texture != nullptr;
  }
  std::shared_ptr<const Texture> texture;

private:
  uint64_t handle_ = 0;
};

Step runSample(const Inst& in, Warp& warp, LaneMask active) {
  const auto& form = *static_cast<const ImageForm*>(in.data);
  const int first = isLayered(form.geometry), count = coordinatesOf(form.geometry);
  Current current;
  std::array<Texel, kLanes> texels;
  bool isGood = true;
  eachLane(active, [&](int lane) {
    isGood = isGood && current.find(form, warp, lane, false);
    if (!isGood) return;
    const int layer = first ? warp.lanes<int32_t>(form.at[0])[lane] : 0;
    if (form.isIndex) {
      std::array<int, 3> at{};
      for (int d = 0; d < count; ++d) at[size_t(d)] = warp.lanes<int32_t>(form.at[size_t(d) + size_t(first)])[lane];
      texels[size_t(lane)] =
          fetch(*current.texture, at, layer, form.hasLevel ? warp.lanes<int32_t>(form.level)[lane] : 0);
      return;
    }
    SamplePlace place;
    place.layer = layer;
    for (int d = 0; d < count; ++d) place.at[size_t(d)] = warp.lanes<float>(form.at[size_t(d) + size_t(first)])[lane];
    if (form.hasLevel) place.level = warp.lanes<float>(form.level)[lane];
    texels[size_t(lane)] =
        form.channel < 0 ? sample(*current.texture, place) : gather(*current.texture, place, form.channel);
  });
  if (!isGood) return Step::Trap;
  for (size_t c = 0; c < 4; ++c)
    if (form.values[c])
      eachLane(active, [&](int lane) { warp.lanes<uint32_t>(form.values[c])[lane] = texels[size_t(lane)][c]; });
  return Step::Next;
}

/// Where a lane's bytes of a surface lie; null: nowhere, which is a trap, or the lane reads zeros and stores nothing.
std::byte* place(const ImageForm& form, Warp& warp, int lane, const Texture& texture) {
  const ImageLevel& level = texture.image.levels[0];
  const int first = isLayered(form.geometry), count = coordinatesOf(form.geometry);
  std::array<int64_t, 3> at{};
  for (int d = 0; d < count; ++d) at[size_t(d)] = warp.lanes<int32_t>(form.at[size_t(d) + size_t(first)])[lane];
  if (first) at[2] = warp.lanes<int32_t>(form.at[0])[lane];
  const int64_t bytes = int64_t(form.count) * form.bytes, row = int64_t(level.width) * texture.image.texelBytes();
  const std::array<int64_t, 3> most{row - bytes, int64_t(level.height) - 1, int64_t(level.depth) - 1};
  for (size_t d = 0; d < 3; ++d) {
    if (at[d] >= 0 && at[d] <= most[d]) continue;
    if (form.outside == Outside::Zero) return nullptr;
    if (form.outside == Outside::Clamp && most[d] >= 0) {
      at[d] = at[d] < 0 ? 0 : most[d];
      continue;
    }
    warp.fail(TrapKind::OutOfBounds,
              "accesses " + std::to_string(bytes) + " bytes at (byte " + std::to_string(at[0]) + ", row " +
                  std::to_string(at[1]) + ", slice " + std::to_string(at[2]) + ") of a surface of " +
                  std::to_string(row) + " x " + std::to_string(level.height) + " x " + std::to_string(level.depth),
              lane);
    return nullptr;
  }
  return level.data + size_t(at[2]) * level.slice + size_t(at[1]) * level.pitch + size_t(at[0]);
}

template <bool kStores> Step runSurface(const Inst& in, Warp& warp, LaneMask active) {
  const auto& form = *static_cast<const ImageForm*>(in.data);
  Current current;
  bool isGood = true;
  eachLane(active, [&](int lane) {
    isGood = isGood && current.find(form, warp, lane, true);
    if (!isGood) return;
    std::byte* at = place(form, warp, lane, *current.texture);
    if (!at && form.outside != Outside::Zero) isGood = false;
    if (!isGood) return;
    for (int i = 0; i < form.count; ++i) {
      auto* value = reinterpret_cast<std::byte*>(warp.lanes<std::byte>(form.values[size_t(i)])) +
                    size_t(lane) * size_t(std::max(form.bytes, 2));
      uint64_t held = 0;
      if constexpr (kStores) {
        if (at) std::memcpy(at + i * form.bytes, value, size_t(form.bytes));
      } else {
        if (at) std::memcpy(&held, at + i * form.bytes, size_t(form.bytes));
        std::memcpy(value, &held, size_t(std::max(form.bytes, 2)));
      }
    }
  });
  return isGood ? Step::Next : Step::Trap;
}

template <bool kSurface> Step runQuery(const Inst& in, Warp& warp, LaneMask active) {
  const auto& form = *static_cast<const ImageForm*>(in.data);
  Current current;
  bool isGood = true;
  eachLane(active, [&](int lane) {
    isGood = isGood && current.find(form, warp, lane, kSurface);
    if (!isGood) return;
    const Image& image = current.texture->image;
    const uint32_t sizes[] = {image.levels[0].width, image.levels[0].height, image.levels[0].depth,
                              uint32_t(image.channels)};
    warp.lanes<uint32_t>(form.values[0])[lane] = sizes[int(form.query)];
  });
  return isGood ? Step::Next : Step::Trap;
}

/// [handle, {coordinates}]; vectors may be longer than the coordinates are.
bool decodePlace(Decoder& decoder, const Operand& operand, Type type, ImageForm& form) {
  if (operand.kind != Kind::Address || operand.parts.size() < 2 || operand.integer)
    return decoder.fail(operand, "an image wants [handle, {coordinates}] here");
  if (operand.parts[0].kind != Kind::Register)
    return decoder.fail(operand, "textures and surfaces by name are not implemented: CUDA 12 has objects instead");
  if (!decoder.source(operand.parts[0], Type::B64, form.handle)) return false;
  const Operand& list = operand.parts[1];
  const bool isVector = list.kind == Kind::Vector;
  const size_t wanted = size_t(coordinatesOf(form.geometry)) + size_t(isLayered(form.geometry));
  if ((isVector ? list.parts.size() : 1) < wanted)
    return decoder.fail(list, "this geometry wants " + std::to_string(wanted) + " coordinates");
  for (size_t d = 0; d < wanted; ++d) {
    const bool isLayer = d == 0 && isLayered(form.geometry);
    if (!decoder.source(isVector ? list.parts[d] : list, isLayer ? Type::B32 : type, form.at[d], isLayer)) return false;
  }
  return true;
}

bool decodeValues(Decoder& decoder, const Operand& operand, Type type, ImageForm& form, bool isDestination) {
  const bool isVector = operand.kind == Kind::Vector;
  if ((isVector ? operand.parts.size() : 1) != size_t(form.count))
    return decoder.fail(operand, "wants " + std::to_string(form.count) + " registers");
  for (size_t i = 0; i < size_t(form.count); ++i) {
    const Operand& one = isVector ? operand.parts[i] : operand;
    if (!(isDestination ? decoder.destination(one, type, form.values[i], true, true)
                        : decoder.source(one, type, form.values[i], true)))
      return false;
  }
  return true;
}

bool decodeTex(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  auto* form = decoder.make<ImageForm>();
  form->hasLevel = words.take("level");
  if (words.take("grad")) return decoder.refuse("gradients are not implemented");
  words.take("base");
  const auto geometry = words.takeNamed(kGeometries);
  if (!geometry || !words.take("v4")) return decoder.refuse("wants a geometry and .v4");
  form->geometry = *geometry;
  const Type result = words.takeType(), coordinate = words.takeType();
  if (result != Type::F32 && result != Type::S32 && result != Type::U32) return decoder.failType(".f32, .s32, .u32");
  if (coordinate != Type::F32 && coordinate != Type::S32) return decoder.refuse("wants coordinates of .f32 or .s32");
  form->isIndex = coordinate == Type::S32;
  if (!decoder.operands(in, form->hasLevel ? 3 : 2)) return false;
  out.run = runSample;
  out.data = form;
  return decodeValues(decoder, in.operands[0], Type::B32, *form, true) &&
         decodePlace(decoder, in.operands[1], coordinate, *form) &&
         (!form->hasLevel || decoder.source(in.operands[2], form->isIndex ? Type::S32 : Type::F32, form->level));
}

bool decodeGather(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  auto* form = decoder.make<ImageForm>();
  constexpr std::pair<std::string_view, int> kChannels[] = {{"r", 0}, {"g", 1}, {"b", 2}, {"a", 3}};
  const auto channel = words.takeNamed(kChannels);
  const auto geometry = words.takeNamed(kGeometries);
  if (!channel || !geometry || !words.take("v4")) return decoder.refuse("wants a channel, a geometry and .v4");
  if (*geometry != Geometry::Flat && *geometry != Geometry::Flats)
    return decoder.refuse("is implemented for .2d and .a2d");
  form->geometry = *geometry;
  form->channel = *channel;
  const Type result = words.takeType();
  if (result != Type::F32 && result != Type::S32 && result != Type::U32) return decoder.failType(".f32, .s32, .u32");
  if (words.takeType() != Type::F32) return decoder.refuse("wants coordinates of .f32");
  if (!decoder.operands(in, 2)) return false;
  out.run = runSample;
  out.data = form;
  return decodeValues(decoder, in.operands[0], Type::B32, *form, true) &&
         decodePlace(decoder, in.operands[1], Type::F32, *form);
}

template <bool kStores> bool decodeSurface(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  auto* form = decoder.make<ImageForm>();
  if (!words.take("b")) return decoder.refuse("is implemented for bytes (.b)");
  const auto geometry = words.takeNamed(kGeometries);
  if (!geometry || *geometry == Geometry::Cube || *geometry == Geometry::Cubes)
    return decoder.refuse("wants a geometry");
  form->geometry = *geometry;
  words.takeOneOf({"ca", "cg", "cs", "cv", "wb", "wt"});
  form->count = words.take("v4") ? 4 : words.take("v2") ? 2 : 1;
  const Type type = words.takeType();
  switch (type) {
  case Type::B8: form->bytes = 1; break;
  case Type::B16: form->bytes = 2; break;
  case Type::B32: form->bytes = 4; break;
  case Type::B64: form->bytes = 8; break;
  default: return decoder.failType(".b8, .b16, .b32, .b64");
  }
  constexpr std::pair<std::string_view, Outside> kOutside[] = {
      {"trap", Outside::Trap}, {"clamp", Outside::Clamp}, {"zero", Outside::Zero}};
  const auto outside = words.takeNamed(kOutside);
  form->outside = outside.value_or(Outside::Trap);
  if (!decoder.operands(in, 2)) return false;
  out.run = runSurface<kStores>;
  out.data = form;
  const Type held = type == Type::B8 ? Type::B16 : type; // the smallest registers
  return decodeValues(decoder, in.operands[kStores], held, *form, !kStores) &&
         decodePlace(decoder, in.operands[!kStores], Type::S32, *form);
}

template <bool kSurface> bool decodeQuery(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  auto* form = decoder.make<ImageForm>();
  using Query = ImageForm::Query;
  constexpr std::pair<std::string_view, Query> kQueries[] = {
      {"width", Query::Width}, {"height", Query::Height}, {"depth", Query::Depth}, {"channels", Query::Channels}};
  const auto query = words.takeNamed(kQueries);
  if (!query || !words.take("b32")) return decoder.refuse("wants .width, .height, .depth or .channels, and .b32");
  form->query = *query;
  if (!decoder.operands(in, 2)) return false;
  const Operand& handle = in.operands[1];
  if (handle.kind != Kind::Address || handle.parts[0].kind != Kind::Register)
    return decoder.fail(handle, "textures and surfaces by name are not implemented: CUDA 12 has objects instead");
  out.run = runQuery<kSurface>;
  out.data = form;
  return decoder.destination(in.operands[0], Type::B32, form->values[0], true) &&
         decoder.source(handle.parts[0], Type::B64, form->handle);
}

constexpr OpcodeRow kRows[] = {{"tex", decodeTex},
                               {"tld4", decodeGather},
                               {"txq", decodeQuery<false>},
                               {"suld", decodeSurface<false>},
                               {"sust", decodeSurface<true>},
                               {"suq", decodeQuery<true>}};

} // namespace

constinit OpcodeTable kTextureOpcodes = kRows;

} // namespace tiletwin::sim
