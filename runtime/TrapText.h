// runtime/TrapText.h -- from a trap's fields to the text a user reads.
// Here:      the nearest buffer to a bad address, the one-line message of each kind of trap.
// Not here:  detection of bad accesses (backends), Python exceptions (python/).
// Invariant: a message says where, what, expected and got; it never holds an IR operation's name.
#pragma once
#include "runtime/Buffer.h"
#include "runtime/Trap.h"
#include <span>
#include <string>
#include <string_view>

namespace tiletwin {

/// What the user wrote for an operation: "tt.load" is "tl.load", "tt.assert" is "tl.device_assert". Other dialects'
/// names lose their dialect.
std::string userNameOf(std::string_view operation);

/// Fills what a trap says of the buffer that its access was meant for. `unnamed` is its name if it has none.
void nameBuffer(Trap& trap, const Buffer& buffer, std::string_view unnamed);

/// nameBuffer() for trap.address: the nearest of the launch's buffers and the registered ones.
/// A buffer at the address or a few pages away is named; a wild address names none. Does nothing if they are filled
/// already.
void describeAccess(Trap& trap, std::span<const Buffer> buffers);

/// The complete message of a trap whose other fields are filled; `trap.message` is taken as the detail.
/// Example: "kernel.py:14:9: tl.load: program (2, 0, 0), element 37 (index (1, 5)): reads 4 bytes at offset 4096 of x
/// (4096 bytes): 4 bytes past the end; is a mask missing, or does it allow too much?"
std::string trapText(const Trap& trap);

/// describeAccess, then message = trapText.
void completeTrap(Trap& trap, std::span<const Buffer> buffers);

/// What a program waits on: "flag_ptr (byte 4), which holds 0". `bits`: the element as an integer; of a tile the
/// first element.
std::string waitedOnText(std::string_view buffer, int64_t offset, uint32_t bytes, bool isTile, uint64_t bits);

} // namespace tiletwin
