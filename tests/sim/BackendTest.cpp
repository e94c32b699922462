// tests/sim/BackendTest.cpp -- the simulator behind runtime/Backend.h: what load() takes and refuses, how a run ends.
#define BOOST_TEST_MODULE sim_backend
#include "sim/SimBackend.h"
#include <boost/test/unit_test.hpp>
#include <cstring>

using namespace tiletwin;
using namespace tiletwin::sim;

namespace {

/// out[i] = value * i for i < n, one thread each; prints once a CTA if n is 3.
const std::string kScale = R"(
.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 result) vprintf(.param .b64 format, .param .b64 arguments);
.global .align 1 .b8 text[4] = {104, 105, 10, 0};
.visible .entry scale(.param .u64 .ptr .global out, .param .f32 value, .param .u32 n) .reqntid 32
{
  .reg .pred %p<3>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<6>;
  .reg .f32 %f<4>;
  ld.param.u64 %rd1, [out];
  ld.param.f32 %f1, [value];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %ctaid.x;
  mad.lo.u32 %r2, %r3, 32, %r2;
  setp.ne.u32 %p2, %r2, 0;
  @%p2 bra QUIET;
  setp.ne.u32 %p2, %r1, 3;
  @%p2 bra QUIET;
  {
    .param .b64 a;
    .param .b64 b;
    .param .b32 c;
    mov.u64 %rd3, text;
    cvta.global.u64 %rd3, %rd3;
    st.param.b64 [a], %rd3;
    st.param.b64 [b], 0;
    call.uni (c), vprintf, (a, b);
  }
QUIET:
  setp.ge.u32 %p1, %r2, %r1;
  @%p1 bra END;
  cvt.rn.f32.u32 %f2, %r2;
  mul.rn.f32 %f3, %f1, %f2;
  mul.wide.u32 %rd2, %r2, 4;
  add.u64 %rd2, %rd1, %rd2;
  st.global.f32 [%rd2], %f3;
END:
  ret;
}
.visible .entry takesMap(.param .align 64 .b8 map[128]) { ret; }
.visible .entry anyBlock(.param .u64 out) {
  .reg .b32 %r<3>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %nctaid.x;
  mad.lo.u32 %r1, %r1, 100, %r2;
  st.global.u32 [%rd1], %r1;
  ret;
}
)";

std::shared_ptr<const LoadedKernel> load(std::string_view text, std::string_view entry, std::string& error) {
  return SimBackend().load(std::as_bytes(std::span(text)), entry, error);
}

template <class T> KernelArgument argument(DType type, T value) {
  KernelArgument result;
  result.type = type;
  std::memcpy(&result.bits, &value, sizeof value);
  return result;
}

template <class T> Buffer bufferOf(std::vector<T>& data, std::string name) {
  const auto begin = reinterpret_cast<uintptr_t>(data.data());
  return {std::move(name), begin,  begin + data.size() * sizeof(T), begin, begin + data.size() * sizeof(T),
          false,           nullptr};
}

struct Scaled {
  std::vector<float> out;
  Outcome outcome;
};
Scaled scaled(int32_t grid, uint32_t n, size_t room = 64) {
  Scaled result{std::vector<float>(room, -1), {}};
  std::string error;
  const auto kernel = load(kScale, "scale", error);
  BOOST_REQUIRE_MESSAGE(kernel, error);
  const KernelArgument arguments[] = {argument(DType::Ptr, result.out.data()), argument(DType::F32, 0.5f),
                                      argument(DType::I32, n)};
  const Buffer buffers[] = {bufferOf(result.out, "out")};
  Launch launch;
  launch.grid = {grid, 1, 1};
  launch.arguments = arguments;
  launch.buffers = buffers;
  result.outcome = SimBackend().run(*kernel, launch);
  return result;
}

} // namespace

BOOST_AUTO_TEST_CASE(its_name_and_a_kernels_arguments) {
  std::string error;
  const auto kernel = load(kScale, "scale", error);
  BOOST_REQUIRE_MESSAGE(kernel, error);
  BOOST_TEST(SimBackend().name() == "sim");
  BOOST_TEST(kernel->name() == "scale");
  const std::vector<DType> types(kernel->argumentTypes().begin(), kernel->argumentTypes().end());
  BOOST_TEST((types == std::vector<DType>{DType::Ptr, DType::F32, DType::I32}));
}

BOOST_AUTO_TEST_CASE(a_run_writes_the_buffers) {
  const Scaled result = scaled(2, 40);
  BOOST_TEST(!result.outcome.trap);
  for (size_t i = 0; i < 64; ++i) BOOST_TEST(result.out[i] == (i < 40 ? 0.5f * float(i) : -1.0f));
  BOOST_TEST(result.outcome.printed.empty());
}

BOOST_AUTO_TEST_CASE(what_a_kernel_prints) {
  const Scaled result = scaled(1, 3);
  BOOST_TEST(!result.outcome.trap);
  BOOST_TEST((result.outcome.printed == std::vector<std::string>{"hi\n"}));
}

BOOST_AUTO_TEST_CASE(misbehaviour_is_a_trap) {
  const Scaled outside = scaled(2, 64, 50);
  BOOST_TEST((outside.outcome.trap.kind == TrapKind::OutOfBounds));
  BOOST_TEST(outside.outcome.trap.buffer == "out");
  const Scaled empty = scaled(0, 3);
  BOOST_TEST((empty.outcome.trap.kind == TrapKind::InvalidValue));
}

BOOST_AUTO_TEST_CASE(sizes_come_from_the_launch_or_from_the_kernel) {
  std::string error;
  const auto kernel = load(kScale, "anyBlock", error);
  BOOST_REQUIRE_MESSAGE(kernel, error);
  std::vector<uint32_t> out(1);
  const KernelArgument arguments[] = {argument(DType::I64, out.data())};
  const Buffer buffers[] = {bufferOf(out, "out")};
  Launch launch;
  launch.arguments = arguments;
  launch.buffers = buffers;
  for (const auto& [grid, block, want] : {std::tuple{3, 64, 6403u}, {1, 0, 101u}}) {
    launch.grid = {grid, 1, 1};
    launch.block = {block, 0, 0};
    BOOST_TEST(!SimBackend().run(*kernel, launch).trap);
    BOOST_TEST(out[0] == want);
  }
  launch.arguments = {};
  const Outcome outcome = SimBackend().run(*kernel, launch);
  BOOST_TEST(outcome.trap.message == "anyBlock takes 1 arguments, not 0");
}

BOOST_AUTO_TEST_CASE(what_cannot_be_loaded) {
  std::string error;
  BOOST_TEST(!load("nonsense", "k", error));
  BOOST_TEST(error.starts_with("kernel.ptx:1:1: "));
  BOOST_TEST(!load(kScale, "gone", error));
  BOOST_TEST(error == "kernel.ptx: there is no entry gone");
  BOOST_TEST(!load(kScale, "takesMap", error));
  BOOST_TEST(error.ends_with("map is a structure of 128 bytes; a backend's launch passes numbers and pointers"));
}
