// sim/driver/Image.h -- what a client loads: PTX text, or a fat binary that holds some; machine code is refused with advice.
// Here:      the PTX of an image.
// Not here:  modules (Code.h), several texts as one (LinkPtx.h).
// Source:    fat binaries are not documented. The layout was read off what nvcc 11 to 13 write; tests compare with nvcc where it
//            is installed.
#pragma once
#include "sim/driver/Types.h"
#include <map>
#include <string>

namespace tiletwin::driver {

class VirtualDevice;

struct Image {
  std::string ptx;
  std::map<std::string, int>
      registers; ///< of a thread, by function: what machine code for the device says; empty: there is none
};

/// What is read of `image` for a device: the PTX of the newest target that the device runs. bytes: 0 where nobody says how long
/// it is; then text ends with a zero, and other images say their length. On failure a driver's result, and `why` says more.
Result readImage(const void* image, size_t bytes, const VirtualDevice& device, Image& read, std::string& why);

} // namespace tiletwin::driver
