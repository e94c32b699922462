// runtime/Findings.h -- what a check found in a launch, as a value, and the collector that programs report to.
// Here:      Finding, merging of equal ones.
// Not here:  which checks there are (Checks.h), what makes findings (interp/run), their text for users (python/).
// Invariant: a finding never changes what a program does; add() may be called from any thread.
#pragma once
#include "runtime/Checks.h"
#include "runtime/Trap.h"
#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace tiletwin {

/// Elements that a finding lists; it counts the others.
inline constexpr size_t kListedElements = 4;

/// One mistake at one place (or pair of places) of a kernel. Texts are parts of sentences, without a full stop.
struct Finding {
  Check check = Check::Count;
  bool isNotice = false;  ///< nothing is wrong: the check could not look at something
  bool ofThreads = false; ///< of the simulator: programs are CTAs, elements threads, and shape is {warps, 32}
  SourceLocation where;
  std::string operation; ///< "tt.store"; empty if the place is no operation
  std::string message;   ///< what is wrong, "stores lanes whose value is undefined"
  std::string detail;    ///< of that program, behind the message: ", byte 128 of cells"; may be empty
  std::string advice;    ///< what to do about it; may be empty
  std::array<int32_t, 3> program{-1, 0, 0}; ///< the lowest that did it; x < 0: no program in particular
  int64_t programs = 0;                     ///< how many did
  std::vector<int64_t> shape;               ///< of the tile; empty for scalars
  std::vector<int64_t> elements;            ///< row-major, of that program: the first kListedElements
  int64_t elementCount = 0;                 ///< of that program
  /// The other place, if two are involved.
  std::optional<SourceLocation> second;
  std::string secondOperation;
  std::string secondText; ///< what happened there, "loaded with a mask and without other"; of that program
  std::optional<std::array<int32_t, 3>> secondProgram;
  /// Further places of the same mistake, if there are more than two.
  struct Place {
    SourceLocation where;
    std::string operation, text;
  };
  std::vector<Place> more;
};

/// Gathers the findings of one launch. Equal check, place and second place are one finding.
class FindingCollector {
public:
  /// Adds what one program found, or `finding.programs` did if that is set.
  void add(Finding finding);
  /// The same for a place that reports often: `form` holds everything but program and elements, outlives the launch, and is
  /// recognised by its address.
  void add(const Finding& form, const std::array<int32_t, 3>& program, const std::vector<int64_t>& shape,
           const std::vector<int64_t>& elements, int64_t elementCount);
  bool empty() const;
  /// All findings, by file, line and column, and empties the collector.
  std::vector<Finding> take();

private:
  struct Entry {
    Finding finding;
    std::unordered_set<uint64_t> programs; ///< hashes of ids
  };
  void merge(size_t index, Finding&& finding);
  size_t indexOf(const Finding& finding);

  mutable std::mutex mutex_;
  std::vector<Entry> entries_;                        ///< under mutex_
  std::unordered_map<std::string, size_t> byKey_;     ///< under mutex_
  std::unordered_map<const Finding*, size_t> byForm_; ///< under mutex_
};

} // namespace tiletwin
