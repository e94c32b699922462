// interp/plan/Registers.cpp -- see Registers.h: constants, coalescing, and the layout of the arena by liveness.
#include "interp/plan/Registers.h"
#include <algorithm>
#include <cstring>

namespace tiletwin::interp {

Reg Registers::newReg(uint64_t bytes, int level) {
  RegInfo r{.bytes = bytes, .level = level};
  regs_.push_back(r);
  return Reg(regs_.size() - 1);
}

Reg Registers::constantCell(int64_t bits) {
  auto [it, isNew] = constantCells_.try_emplace(bits, kNoReg);
  if (isNew) {
    std::vector<std::byte> bytes(8);
    std::memcpy(bytes.data(), &bits, 8);
    it->second = constantTile(std::move(bytes));
  }
  return it->second;
}

Reg Registers::constantTile(std::vector<std::byte> bytes) {
  Reg r = newReg(std::max<size_t>(8, bytes.size()), 0);
  persist(r);
  constants_.emplace_back(r, std::move(bytes));
  return r;
}

// ---- which registers share a place ----

void Registers::noteReader(Reg r, int node) {
  auto [it, isNew] = lastReader_.try_emplace({sequence_, root(r)}, node);
  if (!isNew) it->second = std::max(it->second, node);
}

void Registers::share(Reg from, Reg into) {
  RegInfo &f = regs_[from], &t = regs_[into];
  f.alias = into;
  t.lastRead = std::max(t.lastRead, f.lastRead);
  t.firstWrite = t.firstWrite ? std::min(t.firstWrite, f.firstWrite) : f.firstWrite;
}

bool Registers::coalesce(Reg from, Reg into, uint64_t intoLiveFrom) {
  from = root(from);
  into = root(into);
  if (from == into) return true;
  const RegInfo &f = regs_[from], &t = regs_[into];
  if (f.persistent || t.persistent || f.bytes != t.bytes || !f.firstWrite || f.firstWrite < intoLiveFrom) return false;
  if (f.firstWrite < t.lastRead) return false;
  if (f.firstWrite == t.lastRead) {
    auto reader = lastReader_.find({f.firstWrite, into});
    auto writer = writerNode_.find({f.firstWrite, from});
    if (reader == lastReader_.end() || writer == writerNode_.end() || writer->second < reader->second) return false;
  }
  share(from, into);
  // What is known of `from` at its instructions now holds for `into`.
  for (auto* table : {&lastReader_, &writerNode_})
    for (auto it = table->begin(); it != table->end(); ++it)
      if (it->first.second == from) table->insert({{it->first.first, into}, it->second});
  return true;
}

bool Registers::coalesceArm(Reg from, Reg into, uint64_t armStart) {
  // The result's register may have been claimed by a tile of the other arm: their lives cannot meet.
  from = root(from);
  into = root(into);
  const RegInfo &f = regs_[from], &t = regs_[into];
  if (from == into || f.persistent || f.bytes != t.bytes || f.firstWrite <= armStart || f.claimed) return false;
  share(from, into);
  return true;
}

// ---- when the code is final ----

void Registers::usedInPrologue(Reg r, bool isNamed) {
  RegInfo& info = regs_[root(r)];
  info.used = true;
  info.persistent |= isNamed;
}

void Registers::usedAt(Reg r, int64_t position) {
  RegInfo& info = regs_[root(r)];
  info.used = true;
  if (info.first < 0) info.first = position;
  info.last = std::max(info.last, position);
}

void Registers::stretchOver(int64_t begin, int64_t end) {
  for (RegInfo& r : regs_)
    if (r.first >= 0 && r.first < begin && r.last >= begin) r.last = std::max(r.last, end);
}

namespace {
/// First-fit allocation of [offset, offset + bytes) for lives [first, last].
class Arena {
public:
  explicit Arena(uint64_t start) : start_(start), top_(start) {}
  uint64_t place(int64_t first, int64_t last, uint64_t bytes, uint64_t align) {
    std::erase_if(live_, [&](const Block& b) { return b.last < first; });
    uint64_t at = (start_ + align - 1) / align * align;
    for (const Block& b : live_) { // sorted by offset
      if (b.offset >= at + bytes) break;
      if (b.offset + b.bytes > at) at = (b.offset + b.bytes + align - 1) / align * align;
    }
    auto pos = std::find_if(live_.begin(), live_.end(), [&](const Block& b) { return b.offset > at; });
    live_.insert(pos, {at, bytes, last});
    top_ = std::max(top_, at + bytes);
    return at;
  }
  uint64_t top() const { return top_; }

private:
  struct Block {
    uint64_t offset, bytes;
    int64_t last;
  };
  std::vector<Block> live_;
  uint64_t start_, top_;
};
} // namespace

void Registers::place(Plan& plan) {
  // Template area: constants, arguments, launch-invariant values. Then cells, then tiles, by liveness.
  uint64_t at = 0;
  for (int pass = 0; pass < 2; ++pass)
    for (RegInfo& r : regs_)
      if (r.persistent && !r.optional && r.used && (r.bytes <= 8) == (pass == 0)) {
        uint64_t align = r.bytes <= 8 ? 8 : 64;
        at = (at + align - 1) / align * align;
        r.offset = uint32_t(at);
        at += r.bytes;
      }
  plan.templateBytes = (at + 63) / 64 * 64;
  std::vector<Reg> order;
  for (size_t r = 0; r < regs_.size(); ++r)
    if (!regs_[r].persistent && regs_[r].used && regs_[r].alias == kNoReg) order.push_back(Reg(r));
  std::sort(order.begin(), order.end(),
            [&](Reg a, Reg b) { return std::make_pair(regs_[a].first, a) < std::make_pair(regs_[b].first, b); });
  Arena cells(plan.templateBytes);
  for (Reg r : order)
    if (regs_[r].bytes <= 8) regs_[r].offset = uint32_t(cells.place(regs_[r].first, regs_[r].last, 8, 8));
  Arena tiles((cells.top() + 63) / 64 * 64);
  for (Reg r : order)
    if (regs_[r].bytes > 8) regs_[r].offset = uint32_t(tiles.place(regs_[r].first, regs_[r].last, regs_[r].bytes, 64));
  plan.frameBytes = (tiles.top() + 64 + 63) / 64 * 64;
  for (RegInfo& r : regs_)
    if (r.optional && r.used) {
      r.offset = uint32_t(plan.frameBytes + plan.optionalBytes);
      plan.optionalBytes += (r.bytes + 63) / 64 * 64;
    }
  for (auto& [reg, bytes] : constants_)
    if (regs_[reg].used) plan.constants.push_back({regs_[reg].offset, bytes});
}

} // namespace tiletwin::interp
