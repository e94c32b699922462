// sim/driver/Report.h -- what a kernel did wrong, on stderr: the client learns a number.
#pragma once
#include "runtime/Findings.h"
#include "sim/driver/Types.h"
#include <string>
#include <vector>

namespace tiletwin::driver {

/// The error that a GPU reports for what a kernel did wrong.
Result resultOf(const Trap& trap);
/// Says what a kernel did wrong, and which error the client gets.
void reportTrap(const std::string& kernel, const Trap& trap);
/// Says what checks have found: each mistake once a process.
void reportFindings(const std::string& kernel, const std::vector<Finding>& findings);
/// Says that a GPU would have kept the end only of what a kernel printed: each kernel once a process.
void reportLostOutput(const std::string& kernel, uint64_t bytes, uint64_t limit);
/// "CUDA_ERROR_ILLEGAL_ADDRESS"; null: there is no such error.
const char* nameOf(Result result);

} // namespace tiletwin::driver
