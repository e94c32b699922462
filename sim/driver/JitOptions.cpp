// sim/driver/JitOptions.cpp -- see JitOptions.h.
#include "sim/driver/JitOptions.h"
#include "sim/driver/Types.h"
#include <algorithm>
#include <cstring>

namespace tiletwin::driver {

JitOptions::JitOptions(unsigned count, int* options, void** values)
    : count_(options && values ? count : 0), options_(options), values_(values) {
  for (unsigned i = 0; i < count_; ++i)
    if (options[i] == cuda::kJitMaxRegisters) maxRegisters_ = int(reinterpret_cast<intptr_t>(values[i]));
}

void JitOptions::write(int log, const std::string& text) const {
  char* buffer = nullptr;
  void** size = nullptr;
  for (unsigned i = 0; i < count_; ++i) {
    if (options_[i] == log) buffer = static_cast<char*>(values_[i]);
    if (options_[i] == log + 1) size = &values_[i]; // the option of a log's size is the next one
  }
  if (!buffer || !size || !*size) return;
  const size_t written = std::min(text.size(), reinterpret_cast<size_t>(*size) - 1);
  std::memcpy(buffer, text.data(), written);
  buffer[written] = '\0';
  *size = reinterpret_cast<void*>(written); // NOLINT: a number, as the driver has it
}

void JitOptions::writeErrors(const std::string& text) const { write(cuda::kJitErrorLog, text); }
void JitOptions::writeInfo(const std::string& text) const { write(cuda::kJitInfoLog, text); }

} // namespace tiletwin::driver
