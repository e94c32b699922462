// interp/debug/DebugText.h -- what the gdb script reads of a kernel and of a launch, as JSON.
#pragma once
#include "interp/Interp.h"
#include "interp/program/Plan.h"
#include <string>

namespace tiletwin::interp {

/// {"name", "files": [...], "statements": [{"file", "line", "function", "ttir": [...]}],
///  "variables": [{"name", "type", "shape", "function"}], "functions": [{"name", "file", "line"}]}
std::string kernelText(const Plan& plan);
/// {"kernel", "grid", "arguments": [{"name", "type", "bits", "buffer"}],
///  "buffers": [{"name", "begin", "end", "viewBegin", "viewEnd", "readOnly"}]}
std::string launchText(const Plan& plan, const LaunchParams& params);

} // namespace tiletwin::interp
