// interp/debug/DebugRun.cpp -- see DebugRun.h.
// Here:      the module with the code generator, native code of plans, the calls that native code makes, the state that the
//            gdb script reads.
// Not here:  code generation (jit/), plans (plan/DebugPlan.cpp).
// Invariant: one launch at a time uses the state (DebugTurn); its programs run on one thread, in order of id.
#include "interp/debug/DebugRun.h"
#include "interp/debug/DebugText.h"
#include "interp/debug/jit/Jit.h"
#include "interp/run/ForkLocal.h"
#include "interp/program/TileModule.h"
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <thread>

namespace tiletwin::interp {
namespace {

using debug::JitModule;
using debug::NativeKernel;

/// Null with *error set.
const JitModule* openModule(std::string* error) {
  static std::string problem;
  static const JitModule* const module = []() -> const JitModule* {
    const std::string home = moduleDirectory();
    void* library = nullptr;
    for (const std::string& path : {home + "/tiletwin_gdb.so", home + "/../debug/jit/tiletwin_gdb.so"})
      if (!library) library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL); // stays open
    if (!library) {
      const char* why = dlerror();
      problem = std::string("TILETWIN_GDB=1: cannot open ") + (why ? why : "tiletwin_gdb.so") + "; reinstall tiletwin";
      return nullptr;
    }
    auto entry = reinterpret_cast<debug::JitModuleFn>(dlsym(library, "tiletwinGdbModule"));
    auto interface = reinterpret_cast<uint64_t (*)()>(dlsym(library, "tiletwinGdbInterface"));
    if (entry && interface && interface() == TILETWIN_GDB_INTERFACE) return entry();
    problem = "TILETWIN_GDB=1: tiletwin_gdb.so is from another version, reinstall tiletwin";
    return nullptr;
  }();
  if (!module) *error = problem;
  return module;
}

/// Null: no debug launch has begun.
const JitModule* opened = nullptr; // written by whoever has the turn

/// A program that waits for itself alone: one that gives up waiting after a time is told that the time is over.
bool goesOn(Frame& f) {
  if (f.step != Step::Yielded || !f.wait.timed) return false;
  f.wait.timeIsOver = true;
  f.step = Step::Done;
  return true;
}

const Instruction* step(Frame& f, const Instruction* in) {
  const Instruction* next = in->fn(in, f);
  while (!next && goesOn(f)) next = f.pc->fn(f.pc, f);
  return next;
}

extern "C" int tiletwinDebugRun(void* frame, uint32_t begin, uint32_t end) {
  Frame& f = *static_cast<Frame*>(frame);
  const Instruction* code = f.plan->code.data();
  for (const Instruction* in = code + begin; in != code + end;)
    if (in = step(f, in); !in) return 1;
  return 0;
}

extern "C" int tiletwinDebugJump(void* frame, uint32_t at) {
  Frame& f = *static_cast<Frame*>(frame);
  const Instruction* in = f.plan->code.data() + at;
  const Instruction* next = step(f, in);
  return !next ? 2 : next == in + 1 ? 0 : 1;
}

struct Native {
  NativeKernel kernel = nullptr;
  std::string text; ///< kernelText()
  std::shared_ptr<const DebugInfo> info;
};

/// Native code of a plan, made once. It stays, and so does the DebugInfo, by whose address it is found.
const Native* nativeOf(const Plan& plan, std::string* error) {
  static std::map<const DebugInfo*, Native> made; // of whoever has the turn
  Native& native = made[plan.debug.get()];
  if (native.kernel) return &native;
  const char* problem = "";
  native.kernel = opened->compile(*plan.debug, &tiletwinDebugRun, &tiletwinDebugJump, &problem);
  if (!native.kernel) {
    *error = "TILETWIN_GDB=1: no native code for " + plan.name + ": " + problem;
    return nullptr;
  }
  native.text = kernelText(plan);
  native.info = plan.debug;
  return &native;
}

/// Whether a breakpoint may stop in the program, as far as the gdb script knows.
bool isPicked(const debug::GdbState& state) {
  for (int i = 0; i < std::min(state.picks, debug::GdbState::kMostPicks); ++i) {
    bool picked = true;
    for (int d = 0; d < 3; ++d) picked &= state.only[i][d] < 0 || state.only[i][d] == state.program[d];
    if (picked) return true;
  }
  return state.picks < 0 || state.wanted == state.current || state.wanted == -2;
}

bool isTraced() {
  FILE* status = std::fopen("/proc/self/status", "r");
  if (!status) return false;
  char line[128];
  int tracer = 0;
  while (std::fgets(line, sizeof line, status))
    if (std::sscanf(line, "TracerPid: %d", &tracer) == 1) break;
  std::fclose(status);
  return tracer != 0;
}

/// gdb runs no script that a library brings along unless its user trusts the place: says once what to type.
void adviseOnScript() {
  static bool advised = false;
  if (advised || opened->state->scriptLoaded || !isTraced()) return;
  advised = true;
  Dl_info where;
  if (!dladdr(opened->state, &where) || !where.dli_fname) return;
  std::string folder = where.dli_fname;
  folder.resize(folder.rfind('/'));
  std::fprintf(stderr,
               "tiletwin: gdb has not loaded the commands `tw ...`. For this session, type at its prompt:\n"
               "    source %s/gdb/tw.py\n"
               "For all sessions, put this line into ~/.config/gdb/gdbinit:\n"
               "    add-auto-load-safe-path %s\n",
               folder.c_str(), folder.c_str());
}

} // namespace

struct DebugTurn::Turns {
  std::timed_mutex mutex;
  std::atomic<std::thread::id> owner{};
  static Turns& ofProcess() {
    static auto* object = new ForkLocal<Turns>;
    return object->get();
  }
};

DebugTurn::DebugTurn(const std::function<bool()>& goOn) : turns_(Turns::ofProcess()), state_(State::Taken) {
  if (turns_.owner.load() == std::this_thread::get_id()) {
    state_ = State::Nested;
    return;
  }
  while (!turns_.mutex.try_lock_for(std::chrono::milliseconds(20)))
    if (!goOn()) {
      state_ = State::GivenUp;
      return;
    }
  turns_.owner.store(std::this_thread::get_id());
}

DebugTurn::~DebugTurn() {
  if (state_ != State::Taken) return;
  turns_.owner.store({});
  turns_.mutex.unlock();
}

std::string beginDebugLaunch(const Plan& plan, const LaunchParams& params, LaunchState& launch) {
  static std::string text; // the gdb script reads it
  std::string error;
  if (!opened) opened = openModule(&error);
  if (!opened) return error;
  const Native* native = nativeOf(plan, &error);
  if (!native) return error;
  launch.native = reinterpret_cast<void*>(native->kernel);
  text = launchText(plan, params);
  debug::GdbState& state = *opened->state;
  state.launch = text.data();
  state.launchBytes = text.size();
  state.kernel = native->text.data();
  state.kernelBytes = native->text.size();
  state.total = 1;
  for (int d = 0; d < 3; ++d) {
    state.grid[d] = params.grid[size_t(d)];
    state.total *= params.grid[size_t(d)];
  }
  adviseOnScript();
  return {};
}

void endDebugLaunch() {
  if (opened) opened->state->current = opened->state->wanted = -1; // picks stay: breakpoints do
}

Step executeDebug(const Plan& plan, Frame& f) {
  f.step = Step::Done;
  f.stored = f.storedBefore = f.restart = false;
  f.pc = nullptr;
  if (f.trap) f.trap = Trap();
  debug::GdbState& state = *opened->state;
  for (int d = 0; d < 3; ++d) state.program[d] = f.program[size_t(d)];
  state.current = f.program[0] + int64_t(f.grid[0]) * (f.program[1] + int64_t(f.grid[1]) * f.program[2]);
  if (!isPicked(state)) return execute(plan, f); // the same instructions, and no stop of gdb's for nothing
  if (state.wanted == state.current || state.wanted == -2) opened->reached();
  if (tiletwinDebugRun(&f, 0, plan.debug->functions[0].begin) == 0)
    reinterpret_cast<NativeKernel>(f.launch->native)(&f, f.arena);
  return f.step;
}

} // namespace tiletwin::interp
