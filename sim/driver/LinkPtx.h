// sim/driver/LinkPtx.h -- several texts of PTX as one, as a linker makes one image of several objects.
// Here:      whose definition a name gets, private names that two texts share, numbers of files.
// Not here:  what a text means: it is read when the image is loaded.
// Source:    "PTX ISA", NVIDIA, chapter 11, linking directives.
// Invariant: one text stays as it is, byte for byte.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace tiletwin::driver {

struct NamedText {
  std::string name; ///< for messages
  std::string text;
};

/// What a linked image begins with where a limit of registers was given: the number stands behind it.
inline constexpr std::string_view kRegisterNote = "// tiletwin: maxrregcount ";

/// False: `error` says which name two texts define, or what cannot be read.
bool linkPtx(std::span<const NamedText> texts, std::string& linked, std::string& error);

} // namespace tiletwin::driver
