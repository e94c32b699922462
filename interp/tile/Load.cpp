// interp/tile/Load.cpp -- see Load.h.
#include "interp/tile/Load.h"
#include <cstdlib>
#include <dlfcn.h>

namespace tiletwin {
namespace {

bool cpuHasV3() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("lzcnt") &&
         __builtin_cpu_supports("movbe");
}
bool cpuHasV4() {
  return cpuHasV3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

struct Level {
  const char* name;
  const char* needs;
  bool (*supported)();
};
constexpr Level kLevels[] = {
    // best first
    {"v4", "AVX-512 (F, BW, CD, DQ, VL)", cpuHasV4},
    {"v3", "AVX2, FMA, F16C, BMI1, BMI2, LZCNT and MOVBE (Intel Haswell, AMD Zen, or newer)", cpuHasV3},
};

/// The level to open, or null with *error set.
const Level* chooseLevel(std::string* error) {
  __builtin_cpu_init();
  const char* wanted = std::getenv("TILETWIN_ISA");
  if (wanted && *wanted) {
    for (const Level& level : kLevels) {
      if (std::string(level.name) != wanted) continue;
      if (level.supported()) return &level;
      *error = "TILETWIN_ISA=" + std::string(wanted) + ": this CPU lacks what x86-64-" + level.name +
               " needs: " + level.needs + "; unset TILETWIN_ISA to let tiletwin choose";
      return nullptr;
    }
    *error = "TILETWIN_ISA must be v3 or v4, got \"" + std::string(wanted) + "\"; unset it to let tiletwin choose";
    return nullptr;
  }
  for (const Level& level : kLevels)
    if (level.supported()) return &level;
  *error = std::string("this CPU is too old for tiletwin: it needs x86-64-v3, that is ") + kLevels[1].needs;
  return nullptr;
}

} // namespace

const char* tileLevel(std::string* error) {
  const Level* level = chooseLevel(error);
  return level ? level->name : nullptr;
}

const TwTileOps* loadTileOps(const std::string& directory, std::string* error) {
  std::string ignored;
  if (!error) error = &ignored;
  const Level* level = chooseLevel(error);
  if (!level) return nullptr;
  const std::string path = (directory.empty() ? std::string(".") : directory) + "/tiletwin_tile_" + level->name + ".so";
  void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL); // stays open: the table points into it
  if (!module) {
    const char* why = dlerror();
    *error = "cannot open the tile operations " + path + ": " + (why ? why : "unknown error") +
             "; reinstall tiletwin, or build all of it: `make build`";
    return nullptr;
  }
  auto entry = reinterpret_cast<const TwTileOps* (*)()>(dlsym(module, "tiletwinTileOps"));
  auto interface = reinterpret_cast<uint64_t (*)()>(dlsym(module, "tiletwinTileInterface"));
  if (!entry || !interface || interface() != TILETWIN_TILE_INTERFACE) {
    *error = path + (entry ? " was built for" : " does not export tiletwinTileOps; it is from") +
             " another version of tiletwin; reinstall tiletwin, or build all of it again";
    dlclose(module);
    return nullptr;
  }
  return entry();
}

} // namespace tiletwin
