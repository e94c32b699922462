// python/src/CheckReport.cpp -- see CheckReport.h.
#include "CheckReport.h"
#include "Parts.h"
#include "ReadEnvironment.h"
#include "frontend/PackageObject.h"
#include "frontend/PyFunctions.h"

namespace tiletwin::python {
namespace {

PyRef programOrNone(const std::array<int32_t, 3>& id) { return id[0] < 0 ? none() : toPython(id); }

/// (file, line, column, variable, operation)
PyRef placeTuple(const SourceLocation& where, const std::string& operation) {
  return pyTuple(textOrNone(where.file), where.line, where.column, textOrNone(where.variable), textOrNone(operation));
}

/// The arguments of tiletwin.checks.Finding.from_parts; the check of a notice is empty.
PyRef parts(const Finding& f) {
  PyRef second = none();
  if (f.second)
    second = pyTuple(placeTuple(*f.second, f.secondOperation), textOrNone(f.secondText),
                     f.secondProgram ? programOrNone(*f.secondProgram) : none());
  PyRef more = pyList(f.more, [](const Finding::Place& other) {
    return pyTuple(placeTuple(other.where, other.operation), textOrNone(other.text));
  });
  return pyTuple(f.isNotice ? "" : nameOf(f.check), placeTuple(f.where, f.operation), f.message + f.detail, f.advice,
                 programOrNone(f.program), f.programs, pyTupleFrom(f.shape), pyTupleFrom(f.elements), f.elementCount,
                 second, f.ofThreads, more);
}

/// (words, raise, device) of a value of TILETWIN_CHECK.
PyRef parseChecksOf(std::string_view text) {
  CheckSet set;
  if (!readEnvironment([&] { set = parseChecks(text); })) return {};
  std::vector<const char*> words;
  for (unsigned i = 0; i < unsigned(Check::Count); ++i)
    if (set.has(Check(i))) words.push_back(nameOf(Check(i)));
  return pyTuple(pyTupleFrom(words), set.raise, set.device);
}

} // namespace

bool readChecks(CheckSet& checks) {
  return readEnvironment([&] { checks = wantedChecks(); });
}

bool reportFindings(const std::string& kernel, std::vector<Finding>&& findings, bool raises) {
  if (findings.empty()) return true;
  return bool(call(packageObject("report_findings"), kernel, pyList(findings, parts), raises));
}

bool noticeUncheckedInGdb(const std::string& kernel) {
  return bool(call(packageObject("notice_unchecked_in_gdb"), kernel));
}

bool addCheckReport(PyObject* module) {
  return addFunctions(
      module,
      {function<"parse_checks", parseChecksOf>(
          "parse_checks(text): (words, raise, device) of a value of TILETWIN_CHECK; ValueError for a bad word.")});
}

} // namespace tiletwin::python
