// sim/isa/Printf.h -- the text that vprintf makes of a format and a buffer of arguments.
// Not here:  where the bytes come from, and where the text goes (Builtins.cpp).
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace tiletwin::sim {

/// A kernel's arguments: packed one behind the other, each at a multiple of its size; int and smaller have 4 bytes, long, pointers
/// and double 8. Both functions return false after a trap.
struct PrintfArguments {
  std::function<bool(uint64_t offset, void* to, uint32_t bytes)> read;
  std::function<bool(uint64_t address, std::string& text)> readString;
};

/// Appends to `text`; returns the number of arguments, or -1 if a function of `arguments` returned false.
/// A conversion that does not exist, and %n, are copied as they stand.
int formatPrintf(std::string_view format, const PrintfArguments& arguments, std::string& text);

} // namespace tiletwin::sim
