// tests/runtime/TrapTextTest.cpp -- the exact texts of traps.
#include "runtime/TrapText.h"
#include <boost/test/unit_test.hpp>

using namespace tiletwin;

static Trap loadTrap() {
  Trap trap;
  trap.kind = TrapKind::OutOfBounds;
  trap.where = {"kernel.py", 14, 9, "a"};
  trap.operation = "tt.load";
  trap.program = {2, 0, 0};
  trap.element = 37;
  trap.index = "(1, 5)";
  trap.accessBytes = 4;
  return trap;
}

static Buffer x() {
  Buffer buffer;
  buffer.name = "x";
  buffer.begin = 0x10000;
  buffer.end = 0x11000;
  return buffer;
}

static std::string complete(Trap trap, std::span<const Buffer> buffers) {
  completeTrap(trap, buffers);
  return trap.message;
}

BOOST_AUTO_TEST_CASE(past_the_end) {
  Trap trap = loadTrap();
  trap.address = 0x11000;
  Buffer buffers[] = {x()};
  BOOST_TEST(complete(trap, buffers) ==
             "kernel.py:14:9: tl.load: program (2, 0, 0), element 37 (index (1, 5)): reads 4 bytes at offset 4096 of x "
             "(4096 bytes): 4 bytes past the end; is a mask missing, or does it allow too much?");
  trap.address = 0x10ffe; // straddles the end
  BOOST_TEST(complete(trap, buffers).find("at offset 4094 of x (4096 bytes): 2 bytes past the end") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_view_says_both_numbers) {
  Trap trap = loadTrap();
  Buffer buffers[] = {x()};
  buffers[0].viewBegin = 0x10010;
  buffers[0].viewEnd = 0x10800;
  trap.address = 0x11000;
  BOOST_TEST(complete(trap, buffers)
                 .find("reads 4 bytes at offset 4080 of x (a view of 2032 bytes; the access is at "
                       "offset 4096 of its storage's 4096 bytes): 4 bytes past the end of the "
                       "storage; is a mask missing") != std::string::npos);
  trap.address = 0x10000 - 8;
  BOOST_TEST(complete(trap, buffers)
                 .find("at offset -24 of x (a view of 2032 bytes; the access is at offset -8 of its "
                       "storage's 4096 bytes): 8 bytes before the start of the storage") != std::string::npos);
  buffers[0].viewBegin = buffers[0].begin; // the whole storage
  buffers[0].viewEnd = buffers[0].end;
  BOOST_TEST(complete(trap, buffers).find("at offset -8 of x (4096 bytes): 8 bytes before the start;") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(before_the_start) {
  Trap trap = loadTrap();
  trap.operation = "tt.store";
  trap.index = "(37)";
  trap.address = 0x10000 - 1;
  trap.accessBytes = 1;
  Buffer buffers[] = {x()};
  BOOST_TEST(complete(trap, buffers) ==
             "kernel.py:14:9: tl.store: program (2, 0, 0), element 37: writes 1 byte at offset -1 of x (4096 bytes): "
             "1 byte before the start; is an index negative, or a mask missing?");
}

BOOST_AUTO_TEST_CASE(arguments_are_named_in_preference_to_registered_buffers) {
  Buffer same = x();
  same.name = "registered";
  BufferRegistry::instance().add(same);
  Trap trap = loadTrap();
  trap.address = 0x11000;
  Buffer buffers[] = {x()};
  BOOST_TEST(complete(trap, buffers).find("of x (4096 bytes)") != std::string::npos);
  BOOST_TEST(complete(trap, {}).find("of registered (4096 bytes)") != std::string::npos);
  BufferRegistry::instance().remove(same.begin);
}

BOOST_AUTO_TEST_CASE(wild_and_null_pointers) {
  Trap trap = loadTrap();
  trap.element = -1;
  trap.index = "";
  trap.address = 0x7f0000001000;
  Buffer buffers[] = {x()};
  BOOST_TEST(
      complete(trap, buffers) ==
      "kernel.py:14:9: tl.load: program (2, 0, 0): reads 4 bytes at address 0x7f0000001000, which is far from every "
      "buffer known: check the pointer arithmetic; memory that is not an argument of the launch, nor of a torch tensor "
      "on "
      "the CPU, must be named with tiletwin.register(...)");
  trap.address = 0x10;
  BOOST_TEST(complete(trap, {}) == "kernel.py:14:9: tl.load: program (2, 0, 0): reads 4 bytes at address 0x10: a null "
                                   "pointer, or an offset added to one");
}

BOOST_AUTO_TEST_CASE(read_only) {
  Trap trap = loadTrap();
  trap.kind = TrapKind::ReadOnly;
  trap.operation = "tt.store";
  trap.address = 0x10008;
  Buffer buffers[] = {x()};
  BOOST_TEST(complete(trap, buffers).find("writes 4 bytes at offset 8 of x (4096 bytes), which is read-only") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(other_kinds) {
  Trap trap = loadTrap();
  trap.kind = TrapKind::Assert;
  trap.operation = "tt.assert";
  trap.message = "x must be positive";
  BOOST_TEST(trapText(trap) == "kernel.py:14:9: tl.device_assert: program (2, 0, 0), element 37 (index (1, 5)): "
                               "assertion failed: x must be positive");
  trap.kind = TrapKind::OffsetOverflow;
  trap.operation = "tt.addptr";
  trap.element = -1;
  trap.message = "";
  BOOST_TEST(trapText(trap) ==
             "kernel.py:14:9: pointer arithmetic: program (2, 0, 0): 32-bit offset arithmetic wrapped "
             "around; make an operand 64 bits wide, for example with .to(tl.int64)");
  trap.kind = TrapKind::Interrupted;
  BOOST_TEST(trapText(trap) == "kernel.py:14:9: interrupted");
  trap.kind = TrapKind::OutOfMemory;
  trap.where = {};
  trap.operation = "";
  BOOST_TEST(trapText(trap) == "program (2, 0, 0): out of memory");
}

BOOST_AUTO_TEST_CASE(operations_are_called_what_the_user_wrote) {
  BOOST_TEST(userNameOf("tt.load") == "tl.load");
  BOOST_TEST(userNameOf("tt.make_range") == "tl.arange");
  BOOST_TEST(userNameOf("arith.divsi") == "//");
  BOOST_TEST(userNameOf("math.exp") == "exp");
  BOOST_TEST(userNameOf("") == "");
}

BOOST_AUTO_TEST_CASE(what_is_waited_on_is_named) {
  BOOST_TEST(waitedOnText("flags", 4, 4, false, 0xFFFFFFFF) == "flags (byte 4), which holds -1");
  BOOST_TEST(waitedOnText("flags", 0, 2, true, 7) == "flags (from byte 0 on), whose first element is 7");
  BOOST_TEST(waitedOnText("flags", 8, 8, false, uint64_t(1) << 63) ==
             "flags (byte 8), which holds -9223372036854775808");
}
