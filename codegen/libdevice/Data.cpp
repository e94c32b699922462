// codegen/libdevice/Data.cpp -- libdevice.10.bc as a piece of the library. TILETWIN_LIBDEVICE is the file's path.
#include "codegen/libdevice/Data.h"

asm(".section .rodata.tw_libdevice,\"a\",@progbits\n"
    ".balign 16\n"
    "tw_libdevice_begin:\n"
    ".incbin \"" TILETWIN_LIBDEVICE "\"\n"
    "tw_libdevice_end:\n"
    ".byte 0\n"
    ".text\n");

extern "C" {
[[gnu::visibility("hidden")]] extern const char tw_libdevice_begin[], tw_libdevice_end[];
}

namespace tiletwin::codegen {

std::string_view libdeviceBitcode() { return {tw_libdevice_begin, size_t(tw_libdevice_end - tw_libdevice_begin)}; }

} // namespace tiletwin::codegen
