// interp/program/TileModule.cpp -- the one table of tile operations of this process.
// Here:      where the tile modules are: beside this library (a wheel) or in the build folder around it.
// Not here:  the choice of instruction set and its errors (tile/Load.h).
#include "interp/program/TileModule.h"
#include "interp/Interp.h"
#include "interp/tile/Load.h"
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>

namespace tiletwin::interp {

std::string moduleDirectory() {
  namespace fs = std::filesystem;
  Dl_info info;
  if (!dladdr(reinterpret_cast<void*>(&findTileOps), &info) || !info.dli_fname) return ".";
  std::error_code ignored;
  fs::path self = fs::absolute(info.dli_fname, ignored);
  if (fs::path executable = fs::read_symlink("/proc/self/exe", ignored); !fs::exists(self, ignored)) self = executable;
  const fs::path home = self.parent_path();
  fs::path at = home;
  for (int up = 0; up < 5 && at != at.parent_path(); ++up, at = at.parent_path())
    for (const fs::path& candidate : {at, at / "interp" / "tile"})
      if (fs::exists(candidate / "tiletwin_tile_v3.so", ignored)) return candidate;
  return home;
}

const TwTileOps* findTileOps(std::string* error) {
  static std::string problem;
  static const TwTileOps* const table = loadTileOps(moduleDirectory(), &problem);
  if (!table && error) *error = problem;
  return table;
}

const TwTileOps& tileOps() {
  static const TwTileOps& table = *findTileOps(nullptr);
  return table;
}

const char* instructionSet() {
  const TwTileOps* table = findTileOps(nullptr);
  return table ? table->name : "none";
}

} // namespace tiletwin::interp
