// interp/debug/jit/Module.cpp -- what tiletwin_gdb.so exports: its entry, the state that the gdb script reads, and the
// section that makes gdb load the script.
#include "interp/debug/jit/Compile.h"
#include "interp/debug/jit/Jit.h"

using namespace tiletwin::interp::debug;

extern "C" {
[[gnu::visibility("default"), gnu::used]] GdbState tiletwin_gdb_state;
/// gdb stops here before the program that GdbState::wanted asks for.
[[gnu::visibility("default"), gnu::used, gnu::noinline]] void tiletwin_gdb_reached() { asm volatile("" ::: "memory"); }

[[gnu::visibility("default")]] const JitModule* tiletwinGdbModule() {
  static const JitModule module = {&tiletwin_gdb_state, &tiletwin_gdb_reached, &compileKernel};
  return &module;
}
/// Of which declarations the table is (Jit.h).
[[gnu::visibility("default")]] uint64_t tiletwinGdbInterface() { return TILETWIN_GDB_INTERFACE; }
}

// gdb runs this text when it sees the library, if its auto-load safe-path holds it. The section is allocated, or `strip`
// would take it away.
asm(R"(
.pushsection ".debug_gdb_scripts", "aR", @progbits
.byte 4
.ascii "gdb.inlined-script.tiletwin\n"
.ascii "import os, sys\n"
.ascii "def _tiletwin(here):\n"
.ascii "    while here != '/':\n"
.ascii "        for at in (here, os.path.join(here, 'python', 'tiletwin')):\n"
.ascii "            if os.path.exists(os.path.join(at, 'gdb', 'tw.py')):\n"
.ascii "                return os.path.join(at, 'gdb', 'tw.py')\n"
.ascii "        here = os.path.dirname(here)\n"
.ascii "_tiletwin_script = _tiletwin(os.path.dirname(os.path.abspath(gdb.current_objfile().filename)))\n"
.ascii "if _tiletwin_script: gdb.execute('source ' + _tiletwin_script)\n"
.byte 0
.popsection
)");
