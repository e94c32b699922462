// tests/cuda/CudaBackendTest.cpp -- the backend "cuda" on the fake driver: host buffers in and out, faults as traps.
#include "runtime/cuda/CudaBackend.h"
#include "FakeCuda.h"
#include "runtime/cuda/Error.h"
#include <algorithm>
#include <bit>
#include <boost/test/unit_test.hpp>

using namespace tiletwin;
using tiletwin::test::FakeCuda;

namespace {

Buffer bufferOf(const std::vector<float>& values) {
  Buffer buffer;
  buffer.begin = buffer.viewBegin = reinterpret_cast<uintptr_t>(values.data());
  buffer.end = buffer.viewEnd = buffer.begin + values.size() * sizeof(float);
  return buffer;
}
KernelArgument pointer(const std::vector<float>& values, int buffer, size_t first = 0) {
  return {DType::Ptr, reinterpret_cast<uint64_t>(values.data() + first), buffer};
}

std::shared_ptr<const LoadedKernel> load(cuda::CudaBackend& backend, const char* entry) {
  std::string error;
  auto kernel = backend.load(std::as_bytes(std::span(test::kEntries)), entry, error);
  BOOST_REQUIRE_MESSAGE(kernel, error);
  return kernel;
}

} // namespace

BOOST_AUTO_TEST_CASE(buffers_are_copied_there_and_back) {
  FakeCuda fake;
  cuda::CudaBackend backend;
  BOOST_TEST(backend.name() == "cuda");
  const auto kernel = load(backend, "add");
  BOOST_TEST(kernel->name() == "add");
  const DType types[] = {DType::Ptr, DType::Ptr, DType::Ptr, DType::I32};
  BOOST_TEST(std::ranges::equal(kernel->argumentTypes(), types));
  std::vector<float> x(100, 1), y(100, 2), out(100, 0);
  const Buffer buffers[] = {bufferOf(x), bufferOf(y), bufferOf(out)};
  const KernelArgument arguments[] = {pointer(x, 0), pointer(y, 1), pointer(out, 2), {DType::I32, 99}};
  Launch launch;
  launch.arguments = arguments;
  launch.buffers = buffers;
  const Outcome outcome = backend.run(*kernel, launch);
  BOOST_TEST(!outcome.trap);
  BOOST_TEST(out[98] == 3);
  BOOST_TEST(out[99] == 0);
  BOOST_TEST(fake.allocations() == 0);
  BOOST_TEST(fake.log().find("cuLaunchKernel(add, 1 1 1, 128 1 1, 0, ") != std::string::npos); // .reqntid
}

BOOST_AUTO_TEST_CASE(buffers_that_overlap_share_their_copy) {
  FakeCuda fake;
  cuda::CudaBackend backend;
  const auto kernel = load(backend, "add");
  std::vector<float> all(300);
  for (size_t i = 0; i < all.size(); ++i) all[i] = float(i);
  Buffer whole = bufferOf(all), part = whole;
  part.begin += 100 * sizeof(float);
  const Buffer buffers[] = {part, whole};
  const KernelArgument arguments[] = {pointer(all, 1), pointer(all, 0, 100), pointer(all, 0, 200), {DType::I32, 50}};
  Launch launch;
  launch.arguments = arguments;
  launch.buffers = buffers;
  BOOST_TEST(!backend.run(*kernel, launch).trap);
  BOOST_TEST(all[200] == 100);
  BOOST_TEST(all[249] == 198);
  const std::string log = fake.log();
  BOOST_TEST(log.find("cuMemAlloc_v2") == log.rfind("cuMemAlloc_v2"));
}

BOOST_AUTO_TEST_CASE(numbers_and_sizes) {
  FakeCuda fake;
  cuda::CudaBackend backend(1);
  const auto kernel = load(backend, "scale");
  const DType types[] = {DType::I64, DType::F32, DType::I32};
  BOOST_TEST(std::ranges::equal(kernel->argumentTypes(), types));
  std::vector<float> x(10, 2);
  const Buffer buffers[] = {bufferOf(x)};
  const KernelArgument arguments[] = {pointer(x, 0), {DType::F32, std::bit_cast<uint32_t>(1.5f)}, {DType::I32, 10}};
  Launch launch;
  launch.arguments = arguments;
  launch.buffers = buffers;
  launch.grid = {4, 2, 1};
  launch.block = {64, 0, 0};
  launch.cluster = {2, 0, 0};
  launch.sharedBytes = 64;
  BOOST_TEST(!backend.run(*kernel, launch).trap);
  BOOST_TEST(x[9] == 3);
  BOOST_TEST(fake.log().find("cuLaunchKernelEx(scale, 64, ") != std::string::npos);
  BOOST_TEST(fake.log().find(" 4:2x1x1)") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_loaded) {
  FakeCuda fake;
  cuda::CudaBackend backend;
  std::string error;
  BOOST_TEST(!backend.load(std::as_bytes(std::span(test::kEntries)), "nothing", error));
  BOOST_TEST(error == "nothing has no entry nothing; it has add, scale, fault, mapped");
  BOOST_TEST(!backend.load(std::as_bytes(std::span(test::kEntries)), "mapped", error));
  BOOST_TEST(error ==
             "mapped: parameter 0 is a structure of 128 bytes; a backend's launch passes numbers and pointers");
  BOOST_TEST(!backend.load(std::as_bytes(std::span("hello", 5)), "add", error));
  BOOST_TEST(error == "add is neither PTX (there is no .version line) nor a cubin");
  cuda::CudaBackend third(2);
  BOOST_TEST(!third.load(std::as_bytes(std::span(test::kEntries)), "add", error));
  BOOST_TEST(error.starts_with("there is no CUDA device 2"));
}

BOOST_AUTO_TEST_CASE(launches_that_are_refused) {
  FakeCuda fake;
  cuda::CudaBackend backend;
  const auto kernel = load(backend, "scale");
  const KernelArgument arguments[] = {{DType::I64, 0}, {DType::F32, 0}, {DType::I32, 0}};
  struct Row {
    Launch launch;
    const char* text;
  };
  Launch few, many, nowhere;
  many.arguments = nowhere.arguments = arguments;
  many.block = {2000, 1, 1};
  const KernelArgument wrong[] = {{DType::I64, 0, 3}, {DType::F32, 0}, {DType::I32, 0}};
  nowhere.arguments = wrong;
  Launch shared;
  shared.arguments = arguments;
  shared.sharedBytes = 300000;
  for (const Row& row : {Row{few, "scale takes 3 arguments, not 0"}, Row{many, "a block has 2000 threads"},
                         Row{nowhere, "argument 0 names buffer 3 of 0"}, Row{shared, "a block needs 301024 bytes"}}) {
    const Trap trap = backend.run(*kernel, row.launch).trap;
    BOOST_TEST(int(trap.kind) == int(TrapKind::InvalidValue));
    BOOST_TEST(trap.message.find(row.text) != std::string::npos, trap.message);
  }
}

BOOST_AUTO_TEST_CASE(faults_are_traps_of_the_kernel_that_made_them) {
  struct Row {
    int code;
    TrapKind kind;
  };
  for (const Row& row :
       {Row{700, TrapKind::OutOfBounds}, Row{716, TrapKind::Misaligned}, Row{710, TrapKind::Assert},
        Row{715, TrapKind::Unsupported}, Row{719, TrapKind::OutOfBounds}, Row{702, TrapKind::Deadlock}}) {
    FakeCuda fake;
    cuda::CudaBackend backend;
    const auto kernel = load(backend, "fault");
    fake.fail("cuStreamSynchronize", row.code);
    const Trap trap = backend.run(*kernel, {}).trap;
    BOOST_TEST(int(trap.kind) == int(row.kind));
    BOOST_TEST(trap.message.find("fault: grid (1, 1, 1)") != std::string::npos, trap.message);
  }
}

BOOST_AUTO_TEST_CASE(faults_of_earlier_kernels_are_no_traps) {
  FakeCuda fake;
  cuda::CudaBackend backend;
  const auto kernel = load(backend, "fault");
  BOOST_TEST(bool(backend.run(*kernel, {}).trap));
  BOOST_CHECK_EXCEPTION(backend.run(*kernel, {}), cuda::Error,
                        [](const cuda::Error& error) { return error.kind == cuda::ErrorKind::Fault; });
  fake.set("pending", 0);
  fake.fail("cuStreamSynchronize", 214); // the GPU's memory is damaged
  const auto add = load(backend, "scale");
  const KernelArgument arguments[] = {{DType::I64, 0}, {DType::F32, 0}, {DType::I32, 0}};
  Launch launch;
  launch.arguments = arguments;
  BOOST_CHECK_THROW(backend.run(*add, launch), cuda::Error);
}

BOOST_AUTO_TEST_CASE(no_memory) {
  FakeCuda fake;
  cuda::CudaBackend backend;
  const auto kernel = load(backend, "add");
  std::vector<float> x(10);
  const Buffer buffers[] = {bufferOf(x)};
  const KernelArgument arguments[] = {pointer(x, 0), pointer(x, 0), pointer(x, 0), {DType::I32, 10}};
  Launch launch;
  launch.arguments = arguments;
  launch.buffers = buffers;
  fake.fail("cuMemAlloc_v2", 2);
  const Trap trap = backend.run(*kernel, launch).trap;
  BOOST_TEST(int(trap.kind) == int(TrapKind::OutOfMemory));
  BOOST_TEST(trap.message.find("CUDA_ERROR_OUT_OF_MEMORY") != std::string::npos);
}
