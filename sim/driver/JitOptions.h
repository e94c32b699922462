// sim/driver/JitOptions.h -- options of a call that compiles or links: where a client wants to read what went wrong.
// Options about code (levels of optimisation, line tables) change nothing here: nothing is compiled. A limit of registers is told
// to clients that ask how many a kernel takes.
#pragma once
#include <cstddef>
#include <string>

namespace tiletwin::driver {

class JitOptions {
public:
  JitOptions() = default;
  /// The driver's lists; a value stands where a pointer to it would.
  JitOptions(unsigned count, int* options, void** values);
  /// Both end with a zero, cut to the client's buffer; the client's size becomes what was written.
  void writeErrors(const std::string& text) const;
  void writeInfo(const std::string& text) const;

  /// CU_JIT_MAX_REGISTERS; 0: not given.
  int maxRegisters() const { return maxRegisters_; }

private:
  void write(int log, const std::string& text) const;
  unsigned count_ = 0;
  int maxRegisters_ = 0;
  int* options_ = nullptr;
  void** values_ = nullptr;
};

} // namespace tiletwin::driver
