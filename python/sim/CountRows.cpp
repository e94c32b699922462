#include "CountRows.h"
#include "frontend/PyValues.h"

namespace tiletwin::python {
namespace {

PyRef placesOf(const sim::ptx::Module& module, int32_t source) {
  PyRef places = PyRef::steal(PyList_New(0));
  while (places && source >= 0) {
    const sim::ptx::SourceLine& line = module.sourceLines[size_t(source)];
    const bool isKnown = line.file >= 0 && size_t(line.file) < module.files.size();
    const PyRef place = pyTuple(textOrNone(isKnown ? std::string_view(module.files[size_t(line.file)]) : ""), line.line,
                                line.column, textOrNone(line.inlinedFrom));
    if (!place || PyList_Append(places.get(), place.get()) < 0) return {};
    source = line.inlinedAt;
  }
  return places;
}

PyRef memoryOf(const sim::MemoryCounts& m) {
  return pyTuple(m.requests, m.sectors, m.wavefronts, m.conflicts, m.loopWavefronts, m.loopConflicts, m.bytes,
                 m.distinct);
}

PyRef worstOf(const std::optional<sim::AccessSample>& worst) {
  if (!worst) return none();
  return pyTuple(int(worst->space), worst->active, worst->bytes, worst->cost, worst->addresses);
}

PyRef instructionRow(const sim::FunctionCounts& function, size_t at, const sim::ptx::Module& module) {
  const sim::InstructionCounts& n = function.body[at];
  const sim::ptx::Instruction& in = function.function->body[at];
  return pyTuple(at, in.at.line, in.at.column, in.text, placesOf(module, in.source), n.executed, n.executedOn,
                 n.threads, n.threadsOn, n.parted, n.bulkBytes, pyTupleFrom(n.memory, memoryOf),
                 worstOf(function.worst[at]), function.accesses[at].reduces);
}

PyRef timelineRow(const sim::TimelineSums& timeline) {
  return pyTuple(timeline.ctas, timeline.warps, timeline.meetings, timeline.cycles, timeline.longest, timeline.busy);
}

PyRef trafficRow(const sim::BufferTraffic& one) {
  const sim::TrafficSums& sums = one.sums;
  return pyTuple(one.name, one.bytes, sums.ofCtas[0], sums.ofCtas[1], sums.distinct[0], sums.distinct[1]);
}

PyRef functionRows(const sim::LaunchCounts& counts, const sim::ptx::Module& module) {
  PyRef functions = PyRef::steal(PyList_New(0));
  for (const sim::FunctionCounts& function : counts.functions) {
    if (function.body.empty()) continue;
    PyRef rows = PyRef::steal(PyList_New(0));
    for (size_t i = 0; rows && i < function.body.size(); ++i) {
      if (!function.body[i].executed) continue;
      const PyRef row = instructionRow(function, i, module);
      if (!row || PyList_Append(rows.get(), row.get()) < 0) return {};
    }
    const PyRef one = pyTuple(function.function->name, function.function->isEntry, rows);
    if (!functions || !one || PyList_Append(functions.get(), one.get()) < 0) return {};
  }
  return functions;
}

} // namespace

PyRef countRows(const sim::LaunchCounts& counts, const sim::ptx::Module& module) {
  return pyTuple(functionRows(counts, module), timelineRow(counts.timeline), pyTupleFrom(counts.traffic, trafficRow));
}

} // namespace tiletwin::python
