// tests/tile/StaleModule.cpp -- what an older build's tile module looks like: the same names, other declarations.
#include <cstdint>
#include <cstdlib>

extern "C" [[gnu::visibility("default")]] const void* tiletwinTileOps() { std::abort(); }
extern "C" [[gnu::visibility("default")]] uint64_t tiletwinTileInterface() { return 1; }
