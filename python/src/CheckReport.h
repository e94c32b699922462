// python/src/CheckReport.h -- what checks found in a launch, handed to tiletwin.checks.
// Not here:  which checks run (runtime/Checks.h), how findings are shown (python/tiletwin/checks.py).
#pragma once
#include "frontend/PyRef.h"
#include "runtime/Findings.h"
#include <string>
#include <vector>

namespace tiletwin::python {

/// TILETWIN_CHECK parsed. False with a ValueError set if it holds a word that is none.
bool readChecks(CheckSet& checks);

/// Calls tiletwin.checks.report. False with an exception set: CheckError if TILETWIN_CHECK has the word raise. Needs the
/// GIL. `raises` false: never raises CheckError, because another error is on its way.
bool reportFindings(const std::string& kernel, std::vector<Finding>&& findings, bool raises);

/// Says once for a kernel that no check looks at it, because its launches run for gdb. False with an exception set.
bool noticeUncheckedInGdb(const std::string& kernel);

} // namespace tiletwin::python
