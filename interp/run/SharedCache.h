// interp/run/SharedCache.h -- how large the cache is that the cores share.
// Not here:  what follows from it (LaunchState in Execute.cpp).
#pragma once
#include <cpuid.h>
#include <cstdint>

namespace tiletwin::interp {

/// Bytes of the third-level cache of this thread's core; 32 MiB if the processor does not say. Both makers describe caches in one format;
/// sysconf() adds up all caches of a package, of which a core uses one.
inline int64_t sharedCacheBytes() {
  static const int64_t bytes = [] {
    unsigned a, b, c, d;
    for (const unsigned leaf : {4u, 0x8000001Du})
      for (unsigned i = 0; i < 8 && __get_cpuid_count(leaf, i, &a, &b, &c, &d) && (a & 31); ++i)
        if ((a >> 5 & 7) == 3)
          return int64_t((b >> 22) + 1) * ((b >> 12 & 1023) + 1) * ((b & 4095) + 1) * (int64_t(c) + 1);
    return int64_t(32) << 20;
  }();
  return bytes;
}

} // namespace tiletwin::interp
