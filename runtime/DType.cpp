// runtime/DType.cpp -- names of the storage types.
#include "runtime/DType.h"
#include <array>

namespace tiletwin {

static constexpr std::array<const char*, kNumDTypes> kNames = {
    "i1",         "i8",         "i16", "i32",  "i64", "f8E5M2", "f8E4M3FN", "f8E4M3B11FNUZ",
    "f8E5M2FNUZ", "f8E4M3FNUZ", "f16", "bf16", "f32", "f64",    "ptr",
};
static_assert(kNames.back() != nullptr, "a name for every DType");

const char* nameOf(DType t) { return unsigned(t) < unsigned(kNumDTypes) ? kNames[unsigned(t)] : "unknown"; }

} // namespace tiletwin
