// tests/cuda/DriverTest.cpp -- opening drivers, devices, errors as values of C++.
// Not here: every text and every code (test_fake_driver.py, test_fake_launch.py).
#define BOOST_TEST_MODULE cuda
#include "FakeCuda.h"
#include "runtime/cuda/Device.h"
#include "runtime/cuda/Error.h"
#include "runtime/cuda/Kernel.h"
#include "runtime/cuda/RecentLaunches.h"
#include "runtime/cuda/Stream.h"
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <thread>

using namespace tiletwin::cuda;
using tiletwin::test::FakeCuda;

BOOST_AUTO_TEST_CASE(where_the_driver_is_looked_for) {
  FakeCuda fake; // sets the variable once
  setenv("TILETWIN_LIBCUDA", "/nowhere/libcuda.so.1", 1);
  BOOST_TEST(Driver::candidates() == std::vector<std::string>{"/nowhere/libcuda.so.1"},
             boost::test_tools::per_element());
  unsetenv("TILETWIN_LIBCUDA");
  const std::vector<std::string> places{"libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1",
                                        "/usr/local/nvidia/lib64/libcuda.so.1"};
  BOOST_TEST(Driver::candidates() == places, boost::test_tools::per_element());
  setenv("TILETWIN_LIBCUDA", TILETWIN_FAKE_CUDA, 1);
}

BOOST_AUTO_TEST_CASE(a_library_that_is_not_there) {
  try {
    Driver::open({"/nowhere/a.so", "/nowhere/b.so"});
    BOOST_FAIL("it was opened");
  } catch (const Error& error) {
    const std::string text = error.what();
    BOOST_TEST(int(error.kind) == int(ErrorKind::NoDriver));
    BOOST_TEST(text.find("/nowhere/a.so: ") != text.npos);
    BOOST_TEST(text.find("/nowhere/b.so: ") != text.npos);
  }
}

BOOST_AUTO_TEST_CASE(a_library_that_is_no_driver) {
  BOOST_CHECK_EXCEPTION(Driver::open({"libm.so.6"}), Error, [](const Error& error) {
    const std::string text = error.what();
    return error.kind == ErrorKind::DriverTooOld && text.find("lacks cuInit, cuDriverGetVersion") != text.npos;
  });
}

BOOST_AUTO_TEST_CASE(the_first_that_opens) {
  FakeCuda fake;
  const auto driver = Driver::open({"/nowhere/a.so", TILETWIN_FAKE_CUDA});
  BOOST_TEST(driver->path() == TILETWIN_FAKE_CUDA);
  BOOST_TEST(driver->version() == 13000);
  BOOST_TEST(driver->ptxVersion() == 90);
  BOOST_TEST(&Driver::get() != driver.get());
  BOOST_TEST(&Driver::get() == &Driver::get());
}

BOOST_AUTO_TEST_CASE(versions) {
  BOOST_TEST(ptxVersionOfCuda(11080) == 78);
  BOOST_TEST(ptxVersionOfCuda(12060) == 85);
  BOOST_TEST(ptxVersionOfCuda(13000) == 90);
  BOOST_TEST(ptxVersionText(87) == "8.7");
  BOOST_TEST(cudaVersionText(12080) == "12.8");
}

BOOST_AUTO_TEST_CASE(devices) {
  FakeCuda fake;
  BOOST_TEST(Device::count() == 2);
  Device& one = Device::get(1);
  BOOST_TEST(&one == &Device::get(1));
  BOOST_TEST(one.text() == "device 1 (Fake GPU 1, sm_90)");
  BOOST_TEST(Device::current() == -1);
  {
    ContextScope outer(Device::get(0));
    ContextScope inner(one);
    BOOST_TEST(Device::current() == 1);
    ContextScope same(one); // is not pushed again
    BOOST_TEST(Device::current() == 1);
  }
  BOOST_TEST(Device::current() == -1);
  BOOST_CHECK_EXCEPTION(Device::get(2), Error, [](const Error& e) { return e.kind == ErrorKind::NoDevice; });
  BOOST_CHECK_THROW(Device::get(-1), Error);
}

BOOST_AUTO_TEST_CASE(errors) {
  FakeCuda fake;
  Driver::get();
  BOOST_TEST(describe(kIllegalAddress) == "CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered");
  BOOST_TEST(nameOf(Result(4711)) == "CUDA error 4711");
  BOOST_TEST(isFault(kMisalignedAddress));
  BOOST_TEST(!isFault(kInvalidValue));
  BOOST_CHECK_NO_THROW(check(kSuccess, "cuThing"));
  bool asked = false;
  check(kSuccess, "cuThing", [&] {
    asked = true;
    return std::string();
  });
  BOOST_TEST(!asked);
  BOOST_CHECK_EXCEPTION(
      check(kInvalidValue, "cuThing", [] { return std::string("doing it"); }), Error, [](const Error& error) {
        return error.kind == ErrorKind::Argument && error.code == kInvalidValue &&
               std::string(error.what()) == "doing it: cuThing gave CUDA_ERROR_INVALID_VALUE (1): invalid argument";
      });
}

BOOST_AUTO_TEST_CASE(the_ring_keeps_the_last_launches) {
  for (uint32_t n = 1; n <= 20; ++n) noteLaunch({internName("kernel"), 3, {n, 1, 1}, {32, 2, 1}, 5});
  const std::string text = describeRecentLaunches();
  BOOST_TEST(text.starts_with("\n    kernel: grid (20, 1, 1), block (32, 2, 1), 5 bytes of dynamic shared memory, "
                              "device 3\n    kernel: grid (19, 1, 1)"));
  BOOST_TEST(text.find("grid (13, 1, 1)") != text.npos);
  BOOST_TEST(text.find("grid (12, 1, 1)") == text.npos);
  BOOST_TEST(internName("kernel") == internName(std::string("ker") + "nel"));
}

BOOST_AUTO_TEST_CASE(limits_are_raised_once_by_many_threads) {
  FakeCuda fake;
  auto module = Module::load(Device::get(0), std::as_bytes(std::span(tiletwin::test::kEntries)), "entries.ptx");
  const auto kernel = Kernel::find(module, "scale");
  LaunchShape shape;
  shape.sharedBytes = 100000;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back([&] { kernel->prepare(shape); });
  for (std::thread& thread : threads) thread.join();
  const std::string log = fake.log(), call = "cuFuncSetAttribute(scale, 8, 100000)";
  BOOST_TEST(log.find(call) != log.npos);
  BOOST_TEST(log.find(call, log.find(call) + 1) == log.npos);
}

BOOST_AUTO_TEST_CASE(a_block_of_parameters_has_the_kernels_size) {
  FakeCuda fake;
  auto module = Module::load(Device::get(0), std::as_bytes(std::span(tiletwin::test::kEntries)), "entries.ptx");
  const auto kernel = Kernel::find(module, "scale");
  BOOST_TEST(kernel->parameterBytes() == 16u);
  const std::array<std::byte, 12> block{};
  BOOST_CHECK_EXCEPTION(kernel->launchBlock({}, block), Error, [](const Error& error) {
    return std::string(error.what()) == "scale takes 16 bytes of parameters, not 12";
  });
}
