// python/src/ProgramLaunch.cpp -- see ProgramLaunch.h.
#include "ProgramLaunch.h"
#include "CheckReport.h"
#include "Gil.h"
#include "LaunchHooks.h"
#include "RaiseTrap.h"
#include "interp/program/Plan.h"
#include "runtime/Environment.h"
#include <string>
#include <vector>

namespace tiletwin::python {
namespace {

bool collectArguments(const std::string& name, const interp::Program& program, const Call& call,
                      std::vector<uint64_t>& bits, std::vector<int32_t>& bufferOf) {
  auto types = program.argumentTypes();
  if (!takesArguments(name, types.size(), call)) return false;
  bits.resize(types.size());
  bufferOf.resize(types.size());
  for (size_t i = 0; i < types.size(); ++i) {
    if (!argumentBits(call.leaves[i], types[i], bits[i])) return false;
    bits[i] |= descriptorFacts(call.leaves[i]);
    bufferOf[i] = call.leaves[i].buffer;
  }
  return true;
}

/// Runs a program. False with an exception set.
bool runProgram(const std::string& name, const interp::Program& program, interp::LaunchParams params,
                const EagerProgram& runEagerly) {
  LaunchHooks hooks(name);
  hooks.printing.grid = params.grid;
  hooks.printing.buffers = params.buffers;
  if (runEagerly && program.plan().breaks) {
    hooks.printing.runEagerly = runEagerly;
    params.startsAgain = true;
  }
  interp::Hooks callbacks = hooks.hooks();
  FindingCollector findings;
  if (program.plan().hasProbes) params.findings = &findings;
  Trap trap;
  std::string fault;
  bool badEnvironment = false;
  try {
    const GilReleased released;
    trap = interp::launch(program, params, callbacks);
  } catch (const environment::Error& error) {
    fault = error.what();
    badEnvironment = true;
  } catch (const std::exception& error) { fault = error.what(); }
  hooks.finish();
  if (PyErr_Occurred()) return false; // a signal handler raised
  if (!fault.empty()) {
    PyErr_Format(badEnvironment ? PyExc_ValueError : PyExc_RuntimeError, "%s: %s", name.c_str(), fault.c_str());
    return false;
  }
  if (params.findings && !reportFindings(name, findings.take(), /*raises=*/!trap)) return false;
  if (trap) {
    raiseTrap(trap);
    return false;
  }
  return true;
}

} // namespace

bool launchCall(const std::string& name, const interp::Program& program, const Call& call,
                const std::array<int32_t, 3>& grid, std::span<const int64_t> onlyPrograms,
                const EagerProgram& runEagerly) {
  std::vector<uint64_t> bits;
  std::vector<int32_t> bufferOf;
  if (!collectArguments(name, program, call, bits, bufferOf)) return false;
  interp::LaunchParams params;
  params.grid = grid;
  params.arguments = bits;
  params.buffers = call.buffers;
  params.bufferOf = bufferOf;
  params.onlyPrograms = onlyPrograms;
  return runProgram(name, program, params, runEagerly);
}

} // namespace tiletwin::python
