// codegen/layout/SharedConversion.cpp -- see SharedConversion.h.
#include "codegen/layout/SharedConversion.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

namespace tiletwin::codegen {

constexpr unsigned kLineBytes = 128, kWordBytes = 4, kWidestAccess = 16;

unsigned lanesTogether(unsigned accessBytes) { return kLineBytes / std::max(accessBytes, kWordBytes); }

namespace {

/// What one side accesses: its registers, and its threads.
struct Side {
  Span registers, threads;
  LinearLayout::Bases lanes;

  explicit Side(const LinearLayout& layout) : registers(layout.bases(Part::Register)), lanes(layout.bases(Part::Lane)) {
    for (Part part : {Part::Lane, Part::Warp, Part::Block}) threads.addAll(layout.bases(part));
  }
  /// What lanes that are served together span.
  Span together(unsigned accessBytes) const {
    unsigned bits = std::min<unsigned>(llvm::Log2_32(lanesTogether(accessBytes)), lanes.size());
    return Span(llvm::ArrayRef(lanes).take_front(bits));
  }
};

class Planner {
public:
  Planner(const LinearLayout& from, const LinearLayout& to, unsigned elementBytes)
      : elementBytes_(elementBytes), bits_(from.elementBits()), from_(from), to_(to) {}
  SharedConversion plan(uint32_t maxBytes);

private:
  unsigned log2Of(unsigned bytes) const { return bytes > elementBytes_ ? llvm::Log2_32(bytes / elementBytes_) : 0; }
  void chooseCommonVector();
  Vectors widening(const Side& wide, const Side& narrow) const;
  Span completed(const Side& wide, const Side& narrow) const;
  Vectors chooseLines(const Span& rest) const;
  Span served(const Side& side, unsigned vector) const;

  unsigned elementBytes_, bits_;
  Side from_, to_;
  Vectors vector_;      // of the longer access, those of the shorter one first
  unsigned common_ = 0; // how many of vector_ both sides have in registers
  unsigned store_ = 0, load_ = 0;
};

void Planner::chooseCommonVector() {
  // Threads of either side must not decide the place within a vector.
  Span free = from_.threads;
  free.addAll(to_.threads.vectors());
  Vectors common = intersection(from_.registers, to_.registers);
  llvm::sort(common);
  for (uint32_t candidate : common)
    if (vector_.size() < log2Of(kWidestAccess) && free.add(candidate)) vector_.push_back(candidate);
  common_ = vector_.size();
}

/// More vectors for one side, which the other side's lanes that are served together hold: that side then still reaches
/// all banks.
Vectors Planner::widening(const Side& wide, const Side& narrow) const {
  Vectors more;
  for (uint32_t candidate : intersection(wide.registers, narrow.together(elementBytes_ << common_)))
    if (common_ + more.size() < log2Of(kWidestAccess)) more.push_back(candidate);
  return more;
}

/// Vectors that complete vector_ to a basis, such that the threads of `wide` have no part of vector_, and those of
/// `narrow` none of its first common_ vectors. Gives vector_, then these.
Span Planner::completed(const Side& wide, const Side& narrow) const {
  Span basis(vector_);
  basis.addAll(wide.threads.vectors());
  basis.addAll(narrow.threads.vectors());
  for (unsigned bit = 0; bit < bits_; ++bit) basis.add(1u << bit);
  return basis;
}

/// What the lanes that are served together reach, their words included.
Span Planner::served(const Side& side, unsigned vector) const {
  unsigned low = std::max(vector, log2Of(kWordBytes));
  Span span(llvm::ArrayRef(vector_).take_front(std::min<size_t>(low, vector_.size())));
  span.addAll(side.together(elementBytes_ << vector).vectors());
  return span;
}

Vectors Planner::chooseLines(const Span& rest) const {
  unsigned lineBits = log2Of(kLineBytes);
  Span a = served(from_, store_), b = served(to_, load_);
  Vectors lines;
  llvm::ArrayRef<uint32_t> candidates = rest.vectors();
  while (lines.size() + lineBits < bits_) {
    uint32_t next = outsideOfBoth(a, b, candidates);
    if (!next) break;
    a.add(next), b.add(next);
    lines.push_back(next);
  }
  return lines;
}

SharedConversion Planner::plan(uint32_t maxBytes) {
  chooseCommonVector();
  Vectors forLoads = widening(to_, from_), forStores = widening(from_, to_);
  bool loadsAreWider = forLoads.size() >= forStores.size();
  const Side& wide = loadsAreWider ? to_ : from_;
  const Side& narrow = loadsAreWider ? from_ : to_;
  llvm::append_range(vector_, loadsAreWider ? forLoads : forStores);
  store_ = loadsAreWider ? common_ : unsigned(vector_.size());
  load_ = loadsAreWider ? unsigned(vector_.size()) : common_;

  Span basis = completed(wide, narrow);
  Span rest(llvm::ArrayRef(basis.vectors()).drop_front(vector_.size()));
  // A word that no vector fills: its other bytes come from whatever is left.
  Vectors fill;
  while (vector_.size() + fill.size() < std::min(log2Of(kWordBytes), bits_))
    fill.push_back(rest.vectors()[fill.size()]);
  llvm::append_range(vector_, fill);

  Vectors lines = chooseLines(rest);
  SharedConversion result;
  result.storeVector = store_, result.loadVector = load_;
  // Vectors, banks, lines; lines that no thread's number decides last, for they number the passes.
  Span others(vector_);
  others.addAll(lines);
  Span all(vector_);
  Vectors banks;
  for (uint32_t candidate : rest.vectors())
    if (others.add(candidate)) banks.push_back(candidate);
  all.addAll(banks);
  Span threads = all;
  threads.addAll(from_.threads.vectors()), threads.addAll(to_.threads.vectors());
  Vectors last;
  for (uint32_t line : lines)
    if (threads.add(line))
      last.push_back(line);
    else
      all.add(line);
  all.addAll(last);
  result.offsets = all;
  while ((uint64_t(elementBytes_) << bits_ >> result.passBits) > maxBytes) ++result.passBits;
  return result;
}

} // namespace

LinearLayout SharedConversion::inMemory(const LinearLayout& layout) const {
  std::array<LinearLayout::Bases, 4> bases;
  for (Part part : kParts)
    for (uint32_t basis : layout.bases(part)) bases[size_t(part)].push_back(offsetOf(basis));
  return LinearLayout({int64_t(1) << offsets.dimension()}, std::move(bases));
}

SharedConversion SharedConversion::plan(const LinearLayout& from, const LinearLayout& to, unsigned elementBytes,
                                        uint32_t maxBytes) {
  return Planner(from, to, elementBytes).plan(maxBytes);
}

} // namespace tiletwin::codegen
