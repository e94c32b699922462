// runtime/Findings.cpp -- see Findings.h.
#include "runtime/Findings.h"
#include <algorithm>
#include <tuple>

namespace tiletwin {

static std::string keyOf(const Finding& finding) {
  auto place = [](const SourceLocation& l) {
    return l.file + ":" + std::to_string(l.line) + ":" + std::to_string(l.column) + ":" + l.variable;
  };
  return std::string(nameOf(finding.check)) + "|" + place(finding.where) + "|" + finding.operation + "|" +
         finding.message + "|" + (finding.second ? place(*finding.second) : "") + "|" + finding.secondOperation;
}

static uint64_t packed(const std::array<int32_t, 3>& id) {
  return uint64_t(uint32_t(id[0])) | uint64_t(uint32_t(id[1])) << 32 | uint64_t(uint32_t(id[2])) << 48;
}

/// Programs run with x fastest.
static bool isBefore(const std::array<int32_t, 3>& a, const std::array<int32_t, 3>& b) {
  return std::tie(a[2], a[1], a[0]) < std::tie(b[2], b[1], b[0]);
}

size_t FindingCollector::indexOf(const Finding& finding) {
  auto [at, isNew] = byKey_.try_emplace(keyOf(finding), entries_.size());
  if (isNew) {
    entries_.emplace_back();
    entries_.back().finding = finding;
    entries_.back().finding.programs = 0;
  }
  return at->second;
}

void FindingCollector::merge(size_t index, Finding&& finding) {
  Entry& entry = entries_[index];
  Finding& known = entry.finding;
  if (finding.program[0] < 0) return;
  const bool isFirst = entry.programs.empty();
  entry.programs.insert(packed(finding.program));
  known.programs = std::max({known.programs, finding.programs, int64_t(entry.programs.size())});
  if (!isFirst && !isBefore(finding.program, known.program)) return;
  known.program = finding.program;
  known.shape = std::move(finding.shape);
  known.elements = std::move(finding.elements);
  known.elementCount = finding.elementCount;
  known.secondProgram = finding.secondProgram;
  if (!finding.detail.empty()) known.detail = std::move(finding.detail);
  if (!finding.secondText.empty()) known.secondText = std::move(finding.secondText);
}

void FindingCollector::add(Finding finding) {
  std::lock_guard lock(mutex_);
  merge(indexOf(finding), std::move(finding));
}

void FindingCollector::add(const Finding& form, const std::array<int32_t, 3>& program,
                           const std::vector<int64_t>& shape, const std::vector<int64_t>& elements,
                           int64_t elementCount) {
  std::lock_guard lock(mutex_);
  auto [at, isNew] = byForm_.try_emplace(&form, 0);
  if (isNew) at->second = indexOf(form);
  Finding seen;
  seen.program = program;
  seen.shape = shape;
  seen.elements = elements;
  seen.elementCount = elementCount;
  merge(at->second, std::move(seen));
}

bool FindingCollector::empty() const {
  std::lock_guard lock(mutex_);
  return entries_.empty();
}

std::vector<Finding> FindingCollector::take() {
  std::lock_guard lock(mutex_);
  std::vector<Finding> all;
  for (Entry& entry : entries_) all.push_back(std::move(entry.finding));
  entries_.clear();
  byKey_.clear();
  byForm_.clear();
  auto key = [](const Finding& f) { return std::tie(f.where.file, f.where.line, f.where.column, f.message); };
  std::sort(all.begin(), all.end(), [&](const Finding& a, const Finding& b) { return key(a) < key(b); });
  return all;
}

} // namespace tiletwin
