// codegen/libdevice/Data.h -- the bytes of libdevice.10.bc.
#pragma once
#include <string_view>

namespace tiletwin::codegen {

std::string_view libdeviceBitcode();

} // namespace tiletwin::codegen
