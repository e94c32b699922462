// tests/cuda/FakeCuda.h -- the fake driver (fake_cuda.c) as the driver of this test process, and what tests tell it.
#pragma once
#include <cstdlib>
#include <dlfcn.h>
#include <string>

namespace tiletwin::test {

/// A function of the fake driver, which the code under test opens too.
template <class Function> Function* fakeFunction(const char* name) {
  static void* const library = [] {
    setenv("TILETWIN_LIBCUDA", TILETWIN_FAKE_CUDA, 1);
    return dlopen(TILETWIN_FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);
  }();
  return reinterpret_cast<Function*>(library ? dlsym(library, name) : nullptr);
}

/// For one test: nothing fails, nothing is logged yet, no fault is pending.
struct FakeCuda {
  FakeCuda() {
    fail("", 0);
    set("pending", 0);
    set("capturing", 0);
    set("capability", 90);
    fakeFunction<void()>("fake_clear_log")();
  }
  ~FakeCuda() {
    fail("", 0);
    set("pending", 0);
  }
  void set(const char* name, int value) { fakeFunction<void(const char*, int)>("fake_set")(name, value); }
  void fail(const char* call, int code, int after = 0) {
    fakeFunction<void(const char*, int, int)>("fake_fail")(call, code, after);
  }
  std::string log() const { return fakeFunction<const char*()>("fake_log")(); }
  int allocations() const { return fakeFunction<int()>("fake_allocations")(); }
};

/// Entries that the fake driver runs: add(x, y, out, n), scale(p, factor, n), fault().
inline const std::string kEntries = R"(
.version 9.0
.target sm_80
.visible .entry add(.param .u64 .ptr .global .align 4 x, .param .u64 .ptr .global y, .param .u64 .ptr .global out, .param .u32 n)
.reqntid 128
{ ret; }
.visible .entry scale(.param .u64 p, .param .f32 factor, .param .u32 n) { ret; }
.visible .entry fault() { trap; }
.visible .entry mapped(.param .align 64 .b8 map[128]) { ret; }
)";

} // namespace tiletwin::test
