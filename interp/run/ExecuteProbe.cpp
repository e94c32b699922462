// interp/run/ExecuteProbe.cpp -- probes of lanes: a scan of bytes that are all 0 nearly always.
#include "interp/program/Probes.h"
#include "interp/run/Execute.h"
#include <algorithm>
#include <cstring>

namespace tiletwin::interp {

/// Index of the first byte in [from, n) that is not 0; n if there is none.
static int64_t nextBad(const uint8_t* bad, int64_t from, int64_t n) {
  int64_t i = from;
  for (; i + 64 <= n; i += 64) {
    uint64_t words[8];
    std::memcpy(words, bad + i, sizeof words);
    if ((words[0] | words[1] | words[2] | words[3]) | (words[4] | words[5] | words[6] | words[7])) break;
  }
  while (i < n && !bad[i]) ++i;
  return i;
}

[[gnu::noinline]] static void note(const LaneProbeOp& op, Frame& f, const uint8_t* bad, int64_t first) {
  auto pendingFor = [&](uint16_t form) -> PendingFinding* {
    for (PendingFinding& known : f.findings)
      if (known.probe == &op && known.form == form) return &known;
    return nullptr;
  };
  const size_t before = f.findings.size(); // forms that fired earlier in this program stay as they are
  int64_t elements = 1;
  for (int64_t s : op.shape) elements *= s;
  const bool isSplat = op.elements < elements;
  for (int64_t i = first; i < op.elements; i = nextBad(bad, i + 1, op.elements)) {
    const uint16_t form = op.formOf[bad[i]];
    PendingFinding* pending = pendingFor(form);
    if (pending && pending < f.findings.data() + before) continue;
    if (!pending) {
      f.findings.emplace_back();
      pending = &f.findings.back();
      pending->probe = &op;
      pending->form = form;
    }
    pending->count += isSplat ? elements : 1;
    if (isSplat)
      for (int64_t e = 0; e < std::min<int64_t>(elements, kListedElements); ++e) pending->elements.push_back(e);
    else if (pending->elements.size() < kListedElements)
      pending->elements.push_back(i);
  }
}

InstructionRef execLaneProbe(InstructionRef in, Frame& f) {
  const LaneProbeOp& op = *static_cast<const LaneProbeOp*>(in->data);
  const uint8_t* bad = &f.at<uint8_t>(op.bad.v);
  const int64_t first = nextBad(bad, 0, op.elements);
  if (first < op.elements) [[unlikely]]
    if (f.launch->params->findings) note(op, f, bad, first);
  return in + 1;
}

void commitFindings(Frame& f) {
  FindingCollector* collector = f.launch->params->findings;
  for (const PendingFinding& found : f.findings)
    if (collector)
      collector->add(found.probe->forms[found.form], f.program, found.probe->shape, found.elements, found.count);
  f.findings.clear();
}

} // namespace tiletwin::interp
