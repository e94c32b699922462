// runtime/Trap.h -- what a kernel did wrong, as a value: a backend reports it, python/ turns it into an exception.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tiletwin {

enum class TrapKind : uint8_t {
  None,
  OutOfBounds,    ///< access outside every known buffer                -> OutOfBoundsError
  ReadOnly,       ///< store to a buffer that must not be written       -> ValueError
  Assert,         ///< tt.assert failed                                 -> AssertionError
  OffsetOverflow, ///< 32-bit address arithmetic wrapped around         -> OutOfBoundsError
  Unsupported,    ///< the backend cannot run this                      -> NotImplementedError
  Interrupted,    ///< Ctrl-C                                           -> KeyboardInterrupt
  InvalidValue,   ///< a value that the operation does not take          -> ValueError
  OutOfMemory,    ///< no memory for the launch itself                  -> MemoryError
  Misaligned,     ///< atomic access at no multiple of its size         -> ValueError
  Deadlock,       ///< programs wait for each other for ever            -> DeadlockError
};

/// Source position of an operation, as the front end recorded it.
struct SourceLocation {
  std::string file;     ///< path as Python knows it; empty if unknown
  int line = 0;         ///< 1-based; 0 if unknown
  int column = 0;       ///< 1-based; 0 if unknown
  std::string variable; ///< name of the assigned Python variable, if any
};

/// One program of a deadlock.
struct WaitingProgram {
  std::array<int32_t, 3> program{};
  SourceLocation where;  ///< the access it waits on
  std::string operation; ///< "tt.atomic_cas"
  std::string detail;    ///< what that memory is and holds, "lock at byte 0, which holds 1"; empty if unknown
};

/// The first thing that went wrong in a launch (lowest program id among those that ran).
struct Trap {
  TrapKind kind = TrapKind::None;
  SourceLocation where;
  std::string operation;            ///< "tt.load"
  std::array<int32_t, 3> program{}; ///< program id
  int64_t element = -1;             ///< row-major index inside the tile; -1: scalar
  std::string index;                ///< the same as coordinates, "(3, 17)"; empty for scalars
  std::string buffer;               ///< nearest buffer's name; empty if none is known
  int64_t offset = 0;               ///< byte offset from that buffer's first byte (may be negative)
  int64_t bufferBytes = 0;          ///< bytes of that buffer's storage
  bool ofView = false;              ///< the buffer was passed as a view, which is not its whole storage:
  int64_t viewOffset = 0;           ///< byte offset from the view's lowest byte (may be negative)
  int64_t viewBytes = 0;            ///< bytes from its lowest to its highest
  int64_t accessBytes = 0;          ///< bytes the access touches
  bool originUnknown = false; ///< of an access: its pointer comes from no argument (a number, or loaded from memory)
  uint64_t address = 0;       ///< first byte of the access, if there was one
  std::vector<WaitingProgram> waiting; ///< Deadlock: every program that waits, by id
  int64_t notStarted = 0;              ///< Deadlock: programs that could not begin
  int64_t resident = 0;                ///< Deadlock: programs that could run at the same time
  /// From launch(): complete text for the user (where, what, expected, got). Inside a backend, before describeAccess
  /// and formatTrap (TrapText.h) complete it: the detail only, such as an assertion's own text.
  std::string message;

  explicit operator bool() const { return kind != TrapKind::None; }
  static Trap of(TrapKind kind, std::string message) {
    Trap trap;
    trap.kind = kind;
    trap.message = std::move(message);
    return trap;
  }
};

} // namespace tiletwin
