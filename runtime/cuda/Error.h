// runtime/cuda/Error.h -- what the CUDA driver refuses or reports, as an exception with a text for the user.
// Here:      Error, and `check`, which stands around every call of the driver.
// Not here:  the texts of single situations: no driver (Driver.cpp), code that cannot be loaded (Module.cpp), launches that are
//            refused (ExplainLaunch.cpp).
#pragma once
#include "runtime/Trap.h"
#include "runtime/cuda/DriverTypes.h"
#include <stdexcept>
#include <string>

namespace tiletwin::cuda {

enum class ErrorKind : uint8_t {
  NoDriver,     ///< libcuda.so.1 cannot be opened
  NoDevice,     ///< the driver works and sees no GPU, or none of that number
  DriverTooOld, ///< for this PTX version, or for a function that is needed
  Image,        ///< PTX or a cubin that cannot be loaded here
  Resources,    ///< a launch wants more of something than the GPU has: see required, limit, resource
  Launch,       ///< a launch that is refused
  Fault,        ///< a kernel that ran did something wrong; its context is lost
  Memory,       ///< no memory left on the GPU
  Argument,     ///< the caller's mistake
  Other,
};

/// what() is a complete text.
class Error : public std::runtime_error {
public:
  Error(ErrorKind kind, const std::string& text, Result code = kSuccess)
      : std::runtime_error(text), kind(kind), code(code) {}
  static Error resources(const std::string& text, std::string resource, int64_t required, int64_t limit) {
    Error error(ErrorKind::Resources, text);
    error.resource = std::move(resource);
    error.required = required;
    error.limit = limit;
    return error;
  }
  ErrorKind kind;
  Result code;                     ///< the driver's; kSuccess where we found it ourselves
  std::string resource;            ///< "shared memory"
  int64_t required = 0, limit = 0; ///< of `resource`
};

/// "CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered".
std::string describe(Result result);
/// "CUDA_ERROR_ILLEGAL_ADDRESS".
std::string nameOf(Result result);

/// A kernel that ran caused it: every later call in its context fails too.
bool isFault(Result result);
/// The kind of trap that a kernel's fault becomes; None: no kernel caused this code.
TrapKind trapOfFault(Result result);

/// Throws the Error of a call that failed. `doing`: begins the text; may be empty.
[[noreturn]] void fail(Result result, const char* call, const std::string& doing);

/// Throws unless `result` is success. call: the driver's function.
inline void check(Result result, const char* call) {
  if (result != kSuccess) [[unlikely]]
    fail(result, call, {});
}
/// doing(): a string that says what for; asked only where the call failed.
template <class Doing> inline void check(Result result, const char* call, const Doing& doing) {
  if (result != kSuccess) [[unlikely]]
    fail(result, call, doing());
}

} // namespace tiletwin::cuda
