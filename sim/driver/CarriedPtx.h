// sim/driver/CarriedPtx.h -- machine code that carries the PTX from which it was made, in a section of its own.
// Here:      putting it there, as the virtual GPU's ptxas does, and reading it, as its driver does; what ptxas noted of registers.
// Not here:  other images (Image.h).
// Idea:      what clients do with machine code (load it, cache it, disassemble it) still works, also on a real GPU.
// Source:    ELF-64, "System V Application Binary Interface". Notes of registers are not documented: they were read off what ptxas
//            13 writes, and a test compares them with what it says.
#pragma once
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace tiletwin::driver {

inline constexpr std::string_view kElfMagic = "\x7f"
                                              "ELF";

/// `image` with one more section; empty PTX: with none. What it carried before (a linker of NVIDIA's keeps an input's) is
/// forgotten. Nothing: it is no ELF file of 64 bits with section names.
std::optional<std::string> withPtx(std::string_view image, std::string_view ptx);

/// The PTX in an image that begins with kElfMagic. bytes: its length; 0: nobody knows, its headers are trusted.
/// Nothing: it carries none.
std::optional<std::string> carriedPtx(const std::byte* image, size_t bytes);

/// Registers of a thread by function's name, as ptxas has noted them in its machine code; empty where it has not. bytes: as above.
std::map<std::string, int> notedRegisters(const std::byte* image, size_t bytes);

} // namespace tiletwin::driver
