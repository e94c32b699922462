// runtime/cuda/Error.cpp -- see Error.h.
#include "runtime/cuda/Error.h"
#include "runtime/cuda/Driver.h"
#include "runtime/cuda/RecentLaunches.h"
#include <algorithm>
#include <iterator>

namespace tiletwin::cuda {
namespace {

/// What a code means to someone who did not write the driver.
struct Advice {
  Result code;
  const char* text;
  bool isFault = false;
  TrapKind trap = TrapKind::None; ///< of a kernel's fault
};
constexpr Advice kAdvice[] = {
    {kNotInitialized,
     "the driver has to be opened again in a process that was forked: CUDA cannot be used after fork(); "
     "start processes with the method spawn"},
    {kDeinitialized, "the process is ending"},
    {kEccUncorrectable, "the GPU's memory is damaged, no kernel's fault", true},
    {kIllegalAddress,
     "a kernel read or wrote memory that is not allocated on this GPU; compute-sanitizer names the thread, the "
     "interpreter (TILETWIN_INTERPRET=1) the line",
     true, TrapKind::OutOfBounds},
    {kLaunchTimeout, "a kernel ran longer than the driver allows on a GPU that also draws a screen", true,
     TrapKind::Deadlock},
    {kAssert, "an assertion of a kernel failed; its text went to standard output", true, TrapKind::Assert},
    {kHardwareStackError, "a kernel overflowed or destroyed its call stack", true, TrapKind::OutOfBounds},
    {kIllegalInstruction, "a kernel came to an instruction that the GPU does not have, or to a trap", true,
     TrapKind::Unsupported},
    {kMisalignedAddress, "a kernel read or wrote at an address that is no multiple of the access's size", true,
     TrapKind::Misaligned},
    {kInvalidAddressSpace, "a kernel used an address of another space than its instruction wants", true,
     TrapKind::OutOfBounds},
    {kInvalidPc, "a kernel jumped to an address that holds no code", true, TrapKind::OutOfBounds},
    {kLaunchFailed,
     "a kernel was stopped for a reason that the GPU does not tell: often shared memory out of bounds, or a "
     "bulk copy or tensor map that is wrong",
     true, TrapKind::OutOfBounds},
    {kTensorMemoryLeak, "a kernel ended without freeing its tensor memory", true},
    {kStreamCaptureUnsupported, "this is not allowed while the stream is being captured into a graph: do it before"},
};

/// The row of a code, or null.
const Advice* adviceOf(Result code) {
  const auto* row = std::ranges::find(kAdvice, code, &Advice::code);
  return row == std::end(kAdvice) ? nullptr : row;
}

ErrorKind kindOf(Result code) {
  if (isFault(code)) return ErrorKind::Fault;
  switch (code) {
  case kInvalidValue: return ErrorKind::Argument;
  case kOutOfMemory: return ErrorKind::Memory;
  case kNoDevice:
  case kInvalidDevice: return ErrorKind::NoDevice;
  default: return ErrorKind::Other;
  }
}

} // namespace

std::string nameOf(Result result) {
  const char* name = nullptr;
  const Driver* driver = Driver::opened();
  if (driver && driver->cuGetErrorName(result, &name) == kSuccess && name) return name;
  return "CUDA error " + std::to_string(int(result));
}

std::string describe(Result result) {
  const char* text = nullptr;
  const Driver* driver = Driver::opened();
  if (!driver || driver->cuGetErrorString(result, &text) != kSuccess || !text) return nameOf(result);
  return nameOf(result) + " (" + std::to_string(int(result)) + "): " + text;
}

bool isFault(Result result) {
  const Advice* advice = adviceOf(result);
  return advice && advice->isFault;
}

TrapKind trapOfFault(Result result) {
  const Advice* advice = adviceOf(result);
  return advice ? advice->trap : TrapKind::None;
}

void fail(Result result, const char* call, const std::string& doing) {
  std::string text = doing.empty() ? std::string() : doing + ": ";
  text += std::string(call) + " gave " + describe(result);
  if (const Advice* advice = adviceOf(result)) text += "\n  " + std::string(advice->text);
  if (isFault(result)) {
    const std::string launches = describeRecentLaunches();
    if (!launches.empty()) text += "\n  the last kernels launched, newest first; one of them did it:" + launches;
    text += "\n  the GPU's context is lost: this process cannot use that GPU any more, start a new one";
  }
  throw Error(kindOf(result), text, result);
}

} // namespace tiletwin::cuda
