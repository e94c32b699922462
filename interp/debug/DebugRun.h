// interp/debug/DebugRun.h -- running plans for a native debugger.
#pragma once
#include "interp/run/Frame.h"

namespace tiletwin::interp {

/// Makes ready what a launch of `plan` needs: native code (once per plan), and what the gdb script reads. Empty, or what
/// went wrong, for the user.
std::string beginDebugLaunch(const Plan& plan, const LaunchParams& params, LaunchState& launch);
void endDebugLaunch();
/// As execute(), through native code.
Step executeDebug(const Plan& plan, Frame& frame);

} // namespace tiletwin::interp
